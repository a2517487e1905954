/* Entries of the ladder and of the pattern ceilings. */
#include "bench.h"

#if TSW_HAVE_CUDA

#include "gpu.h"

/* ---- the ladder ------------------------------------------------------------------------------ */

struct rung {
	const char *name;
	enum bench_rung rung;
};

static const struct rung rungs[] = {
	{"ladder:copy", BENCH_RUNG_COPY},
	{"ladder:naive", BENCH_RUNG_NAIVE},
	{"ladder:shared32x32", BENCH_RUNG_TILE32},
	{"ladder:shared32x33", BENCH_RUNG_TILE33},
};

static int apply_rung(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	const struct rung *const rung = entry->self;
	const struct bench_shape *const s = &set->shape;
	const size_t at = copy * set->pitch;

	CHECK_CUDA(bench_launch_rung(rung->rung, set->out + at, set->in + at, s->n, s->cols,
				     (unsigned)s->elem_size, set->stream));
	return BENCH_OK;
}

/* The output is cols x n; row r of it holds column r of the input.  The copy must leave the same
 * words at the same places, which is checked as one row of padding. */
static int verify_rung(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong)
{
	const struct rung *const rung = entry->self;
	const struct bench_shape *const s = &set->shape;
	struct bench_coded m = {
		.rows = s->cols,
		.width = s->n,
		.ld = s->n,
		.ld_before = s->cols,
		.words = 1,
		.expect = BENCH_TRANSPOSED,
	};
	int status = bench_code_cuda(set, 0);

	if (rung->rung == BENCH_RUNG_COPY) {
		m.width = 0;
		m.rows++; /* after the last row there is no padding */
	}
	CHECK_CUDA(cudaMemsetAsync(set->out, 0xff, set->span_bytes, set->stream));
	if (!status)
		status = entry->apply(entry, set, 0);
	if (!status)
		status = bench_check_coded(set, set->out, &m, 1, 0, (unsigned)s->elem_size, wrong);
	return status;
}

size_t bench_ladder_entries(size_t elem_size, struct bench_entry *list)
{
	size_t count = 0;

	(void)elem_size;
	for (; count < sizeof rungs / sizeof *rungs; count++)
		list[count] = (struct bench_entry){
			.name = rungs[count].name,
			.kind = BENCH_KERNEL,
			.out_of_place = 1,
			.self = &rungs[count],
			.apply = apply_rung,
			.verify = verify_rung,
		};
	return count;
}

/* ---- pattern ceilings ------------------------------------------------------------------------ */

struct pattern {
	char name[48];
	size_t shape;
	int aligned;
	enum bench_order order;
};

static int apply_pattern(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	const struct pattern *const p = entry->self;

	CHECK_CUDA(bench_launch_pattern(p->shape, p->aligned, p->order, set->in + copy * set->pitch,
					set->shape.n, set->shape.ld, set->stream));
	return BENCH_OK;
}

static int verify_pattern(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong)
{
	int status = bench_code_cuda(set, 0);

	if (!status)
		status = entry->apply(entry, set, 0);
	if (!status)
		status = bench_check_cuda(set, 0, BENCH_FLIPPED, wrong);
	return status;
}

/* Every tile shape of this width in every order, by the kernel for aligned rows if they are. */
size_t bench_pattern_entries(const struct bench_shape *s, struct bench_entry *list)
{
	static const char *const orders[] = {"column", "row", "super8", "diagonal"};
	static struct pattern patterns[BENCH_MAX_ENTRIES];
	const int aligned = s->offset % 16 == 0 && s->ld * s->elem_size % 16 == 0 &&
			    s->n * s->elem_size % 16 == 0;
	struct bench_tile_shape tile;
	size_t count = 0;

	for (size_t i = 0; (tile = bench_tile_shape(i)).elem_size; i++) {
		for (int order = BENCH_COLUMN; order <= BENCH_DIAGONAL; order++) {
			struct pattern *const p = &patterns[count];

			if (tile.elem_size != s->elem_size || count == BENCH_MAX_ENTRIES)
				continue;
			p->shape = i;
			p->aligned = aligned;
			p->order = (enum bench_order)order;
			snprintf(p->name, sizeof p->name, "pattern:%ux%uB/%u/%s%s", tile.rows,
				 tile.row_bytes, tile.threads, orders[order],
				 aligned ? "" : "/unaligned");
			list[count++] = (struct bench_entry){
				.name = p->name,
				.kind = BENCH_CEILING,
				.self = p,
				.apply = apply_pattern,
				.verify = verify_pattern,
			};
		}
	}
	return count;
}

#endif
