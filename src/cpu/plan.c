/* Which tiles, in which order. */
#include "plan.h"

#include "caches.h"

/* Rows that are a multiple of 4096 bytes apart, or nearly, fall into the same few sets of the
 * caches: a tile's lines throw each other out long before the cache is full.  Every other row
 * doing so is no better. */
static int rows_collide(size_t stride)
{
	for (size_t k = 1; k <= 2; k++) {
		size_t past = k * stride % 4096, distance = past < 2048 ? past : 4096 - past;

		if (distance < TSW_LINE)
			return 1;
	}
	return 0;
}

static enum tsw_order order_of(const struct tsw_plan *p)
{
	if (!p->kernel || !p->fetch || !rows_collide(p->stride))
		return TSW_ROWS;
	return p->stride % TSW_LINE == 0 ? TSW_DIAGONALS : TSW_STAGED;
}

/* The side of a tile in bytes of row. */
static size_t tile_bytes(const struct tsw_plan *p)
{
	return p->order == TSW_DIAGONALS ? 1024 : 512;
}

struct tsw_plan tsw_cpu_plan(const struct tsw_matrices *m, const struct tsw_isa *isa)
{
	struct tsw_plan p = {.isa = isa,
	                     .kernel = m->elem_size <= 16 ? isa->kernel[m->elem_size] : NULL,
	                     .width = m->elem_size,
	                     .stride = m->ld * m->elem_size,
	                     .n = m->n};

	p.block = p.kernel ? p.kernel->block : 1;
	p.fetch = m->n > tsw_cpu_caches()->l2_bytes / (m->n * m->elem_size);
	p.order = order_of(&p);
	p.tile = tile_bytes(&p) / p.width / p.block * p.block;
	if (p.tile < p.block)
		p.tile = p.block;
	if (!p.kernel && p.tile < 8)
		p.tile = 8;
	p.align = p.kernel && p.stride % TSW_LINE == 0 && p.block * p.width == TSW_LINE;
	return p;
}
