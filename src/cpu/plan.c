/* Which tiles, in which order. */
#include "plan.h"

#include "caches.h"

/* Rows that are a multiple of 4096 bytes apart, or nearly, fall into the same few sets of the
 * caches: a tile's lines throw each other out long before the cache is full.  Every other row
 * doing so is no better, nor is every fourth where a block has as many as 64. */
static int rows_collide(size_t stride, size_t block)
{
	for (size_t k = 1; k <= (block >= 64 ? 4 : 2); k *= 2) {
		size_t past = k * (stride % 4096) % 4096;
		size_t distance = past < 2048 ? past : 4096 - past;

		if (distance < TSW_LINE)
			return 1;
	}
	return 0;
}

/* In the second-level cache, or not far beyond it. */
static int is_small(const struct tsw_plan *p)
{
	return p->n <= 2 * tsw_cpu_caches()->l2_bytes / (p->n * p->width);
}

/* Where sets are wide, lines that are thrown out come back in time from the third level and small
 * tiles in plain order are best.  Where they are narrow, the blocks along a diagonal spread over
 * all sets; rows that do not begin on a cache line deny that, and both tiles go by way of a buffer.
 * Rows that lie a multiple of 4096 bytes and one element apart have slants, whose lines are whole;
 * where only every other row collides, those gain nothing and small matrices lose by them. */
static enum tsw_order order_of(const struct tsw_plan *p)
{
	if (p->align && p->width == 16 && !p->fetch) /* of so few rows, all blocks gain by it */
		return TSW_DIAGONALS;
	if (!p->kernel || !p->colliding)
		return TSW_ROWS;
	if (p->kernel->slants && p->stride % 4096 == p->width && p->fetch)
		return TSW_SLANTS;
	if (is_small(p)) /* the first level's sets are always narrow */
		return p->align ? TSW_DIAGONALS : TSW_ROWS;
	if (tsw_cpu_caches()->l2_ways > 8)
		return TSW_ROWS;
	return p->align ? TSW_DIAGONALS : TSW_STAGED;
}

/* The side of a tile: a run of rows long enough for memory to stream and for the ends of the run
 * not to matter, but this pair and the next together in half of the second-level cache. */
static size_t tile_side(const struct tsw_plan *p)
{
	size_t quarter = tsw_cpu_caches()->l2_bytes / 8, side;

	if (p->order == TSW_DIAGONALS || !p->fetch)
		side = 1024 / p->width;
	else if (p->order != TSW_STAGED && p->colliding)
		side = 256 / p->width;
	else
		side = 512 / p->width;
	while (side > p->block && side * side * p->width > quarter)
		side -= p->block;
	side = side / p->block * p->block;
	if (!p->kernel) /* a few elements at the least, or there is nothing to fetch ahead */
		return side < 8 ? 8 : side;
	return side ? side : p->block;
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
	p.align = p.kernel && p.stride % TSW_LINE == 0 && p.block * p.width == TSW_LINE;
	p.colliding = rows_collide(p.stride, p.block);
	p.order = order_of(&p);
	p.tile = tile_side(&p);
	return p;
}

void tsw_cpu_plan_alone(struct tsw_plan *p)
{
	if (p->order != TSW_DIAGONALS || !is_small(p))
		return;
	p->whole = 1;
	p->tile = (p->n + p->block - 1) / p->block * p->block;
}
