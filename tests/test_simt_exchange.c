/* A matrix over several parts, exchanged by the kernels' own text, run by tests/simt:
 * src/cuda/rect.c as it is, with launches that go to simt, over every kind of grid and layout.  The
 * parts are host memory between unmapped pages. */
#include "dist/plan.h"
#include "exchange.h"
#include "launch_simt.h"
#include "matrices.h"
#include "parts.h"
#include "status.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- what rect.c calls ----------------------------------------------------------------------- */

static tsw_status launch(const struct tsw_kernel *kernel, const void *parameter, uint64_t blocks,
			 tsw_stream stream);
static uint64_t grid(uint64_t limit);
static tsw_status transpose(const struct tsw_matrices *m, tsw_stream stream, uint64_t grid_limit);

#define tsw_cuda_launch launch
#define tsw_cuda_grid grid
#define tsw_cuda_transpose transpose
#include "../src/cuda/rect.c"

SIMT_DEFINE_CALL(tsw_exchange)
SIMT_DEFINE_CALL(tsw_gather)

static uint64_t order;	    /* of blocks and threads, and how many launches there were */
static uint64_t grid_limit; /* blocks a launch; 0: any */
static int vectors, units, gathers;

static tsw_status launch(const struct tsw_kernel *kernel, const void *parameter, uint64_t blocks,
			 tsw_stream stream)
{
	const int gather = !strcmp(kernel->name, "gather");
	const char *wrong;

	(void)stream;
	gathers += gather;
	vectors += !strcmp(kernel->name, "exchange-vector");
	units += !strcmp(kernel->name, "exchange");
	/* Without asking for more than every device allows. */
	tsw_require(kernel->shared_bytes <= 48 << 10, "%s: %u bytes of shared memory", kernel->name,
		    kernel->shared_bytes);
	wrong = simt_launch_kernel(kernel, gather ? simt_call_tsw_gather : simt_call_tsw_exchange,
				   parameter, blocks, order++ % 4);
	tsw_require(!wrong, "%s: %s", kernel->name, wrong);
	return TSW_OK;
}

static uint64_t grid(uint64_t limit)
{
	(void)limit;
	return grid_limit ? grid_limit : UINT64_MAX;
}

/* Windows that are one piece go to the ordinary kernels, which test_simt proves. */
static tsw_status transpose(const struct tsw_matrices *m, tsw_stream stream, uint64_t limit)
{
	struct tsw_shape s = {m->n, m->ld, m->elem_size};
	unsigned char *before = malloc(tsw_shape_bytes(s));

	(void)stream, (void)limit;
	ck_assert_ptr_nonnull(before);
	memcpy(before, m->base, tsw_shape_bytes(s));
	tsw_oracle_window(before, m->base, s);
	free(before);
	return TSW_OK;
}

/* ---- a matrix in parts ----------------------------------------------------------------------- */

struct spread {
	struct tsw_spread plan;
	struct tsw_parts parts;
	struct tsw_guarded memory[TSW_MOST_PARTS];
};

static size_t shift; /* bytes by which every other part misses where its memory begins */

static struct spread spread_new(struct tsw_layout l, enum tsw_flush flush)
{
	struct spread s = {.parts = tsw_parts_new(l)};
	const tsw_dist dist = tsw_parts_dist(&l);

	tsw_assert_ok(tsw_spread_of(&dist, &s.plan));
	for (int r = 0; r < s.parts.count; r++) {
		const size_t from = r % 2 ? shift : 0;

		s.memory[r] = tsw_guarded_new(s.parts.bytes[r] + from + !s.parts.bytes[r], flush);
		s.parts.a[r] = s.memory[r].p + from;
	}
	tsw_parts_fill(&s.parts);
	return s;
}

static void spread_allow(const struct spread *s)
{
	const size_t size = s->parts.layout.elem_size;

	simt_allow_nothing();
	for (int r = 0; r < s->parts.count; r++)
		if (s->parts.bytes[r])
			simt_allow(s->parts.a[r], s->parts.bytes[r], s->parts.cols[r] * size,
				   s->parts.layout.gap ? s->parts.ld[r] * size : 0);
}

static void spread_check(struct spread *s)
{
	const char *wrong = tsw_parts_wrong(&s->parts);

	tsw_require(!wrong, "%s: %s", tsw_layout_text(&s->parts.layout), wrong);
	for (int r = 0; r < s->parts.count; r++) {
		wrong = tsw_guarded_spoilt(&s->memory[r]);
		tsw_require(!wrong, "%s: part %d: %s", tsw_layout_text(&s->parts.layout), r, wrong);
		tsw_guarded_free(&s->memory[r]);
	}
	tsw_parts_free(&s->parts);
}

/* ---- exchanging ------------------------------------------------------------------------------ */

static struct tsw_rect rect(struct spread *s, uint32_t rank, struct tsw_walk down,
			    struct tsw_walk across)
{
	return (struct tsw_rect){(char *)s->parts.a[rank],
				 s->parts.ld[rank],
				 s->parts.layout.elem_size,
				 down,
				 across,
				 down.left,
				 across.left};
}

static void by_buffers(struct spread *s, uint32_t a, uint32_t b, size_t most)
{
	const struct tsw_link link = tsw_link_between(&s->plan, a, b);
	struct tsw_cutting chunks = tsw_chunks_of(&link, most, TSW_CHUNK_GRAIN);
	struct tsw_chunk k;

	while (tsw_chunks_next(&chunks, &k)) {
		const struct tsw_rect mine = rect(s, a, k.down, k.across);
		const struct tsw_rect theirs = rect(s, b, k.across, k.down);
		struct tsw_guarded x = tsw_guarded_new(tsw_rect_bytes(&mine), TSW_FLUSH_LEFT);
		struct tsw_guarded y = tsw_guarded_new(tsw_rect_bytes(&mine), TSW_FLUSH_LEFT);

		spread_allow(s);
		simt_allow(x.p, x.bytes, 0, 0);
		simt_allow(y.p, y.bytes, 0, 0);
		tsw_assert_ok(tsw_rect_pack(&mine, x.p, NULL));
		tsw_assert_ok(tsw_rect_pack(&theirs, y.p, NULL));
		tsw_assert_ok(tsw_rect_fill(&mine, y.p, NULL));
		tsw_assert_ok(tsw_rect_fill(&theirs, x.p, NULL));
		tsw_guarded_free(&x);
		tsw_guarded_free(&y);
	}
}

static void by_swapping(struct spread *s, uint32_t a, uint32_t b)
{
	const struct tsw_link link = tsw_link_between(&s->plan, a, b);
	const struct tsw_chunk all = tsw_chunk_whole(&link);
	const struct tsw_rect mine = rect(s, a, all.down, all.across);
	const struct tsw_rect theirs = rect(s, b, all.across, all.down);

	if (!link.rows || !link.cols)
		return;
	spread_allow(s);
	tsw_assert_ok(tsw_rect_swap(&mine, &theirs, 1, NULL));
	tsw_assert_ok(tsw_rect_swap(&mine, &theirs, 0, NULL));
}

/* Transposes through buffers of `most` elements, or by swapping if 0. */
static void check(struct tsw_layout l, size_t most, enum tsw_flush flush)
{
	struct spread s = spread_new(l, flush);

	for (uint32_t a = 0; a < (uint32_t)s.parts.count; a++) {
		const struct tsw_link link = tsw_link_between(&s.plan, a, a);
		const struct tsw_chunk all = tsw_chunk_whole(&link);
		const struct tsw_rect own = rect(&s, a, all.down, all.across);

		spread_allow(&s);
		if (own.rows)
			tsw_assert_ok(tsw_rect_turn(&own, NULL));
		for (uint32_t b = 0; b < a; b++)
			if (most)
				by_buffers(&s, a, b, most);
			else
				by_swapping(&s, a, b);
	}
	spread_check(&s);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const size_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

/* Blocks by rows, by columns, grids, cyclic, ragged, sources. */
static const struct tsw_layout layouts[] = {
	{64, 32, 64, 2, 1, 0, 0},  {64, 64, 32, 1, 2, 0, 1}, {96, 24, 96, 4, 1, 1, 0},
	{64, 16, 16, 2, 2, 0, 0},  {64, 32, 32, 2, 2, 1, 1}, {61, 7, 5, 2, 2, 1, 0},
	{50, 13, 50, 4, 1, 3, 0},  {37, 1, 1, 1, 3, 0, 2},   {40, 3, 4, 2, 3, 1, 2},
	{48, 16, 16, 1, 3, 0, 1},  {33, 2, 33, 3, 1, 0, 0},  {5, 4, 2, 2, 3, 0, 0},
	{128, 16, 32, 2, 1, 0, 0}, {64, 16, 64, 1, 1, 0, 0}, {1, 1, 1, 2, 2, 1, 1},
	{70, 70, 9, 1, 4, 0, 3},
};

START_TEST(through_buffers)
{
	uint64_t state = tsw_seed();

	for (size_t i = 0; i < COUNT_OF(layouts); i++) {
		struct tsw_layout l = layouts[i];

		l.elem_size = widths[_i];
		l.gap = tsw_random_below(&state, 3) ? 0 : 16 / tsw_elem_unit(l.elem_size);
		grid_limit = i % 3 ? 0 : 2;
		check(l, i % 2 ? 1024 : 300, i % 4 ? TSW_FLUSH_LEFT : TSW_FLUSH_RIGHT);
	}
}
END_TEST

START_TEST(by_swapping_in_place)
{
	for (size_t i = 0; i < COUNT_OF(layouts); i++) {
		struct tsw_layout l = layouts[i];

		l.elem_size = widths[_i];
		l.gap = i % 2;
		grid_limit = i % 3 ? 0 : 2;
		check(l, 0, TSW_FLUSH_LEFT);
	}
}
END_TEST

/* The fast forms are really taken where rows, columns and addresses allow it, and not elsewhere. */
START_TEST(vectors_where_they_fit)
{
	const size_t width = (size_t)1 << _i;
	struct tsw_layout l = {256, 128, 256, 2, 1, 0, 0, width, 0};

	vectors = units = 0;
	check(l, 4096, TSW_FLUSH_LEFT);
	ck_assert_int_gt(vectors, 0);
	ck_assert_int_eq(units, 0);
	vectors = units = 0;
	check(l, 0, TSW_FLUSH_LEFT);
	ck_assert_int_gt(vectors, 0);
	ck_assert_int_eq(units, 0);
	/* In runs, with a period. */
	l.mb = 32;
	vectors = units = 0;
	check(l, 4096, TSW_FLUSH_LEFT);
	ck_assert_int_gt(vectors, 0);
	ck_assert_int_eq(units, 0);
	if (width == 16)
		return;
	/* One side of a swap is not aligned. */
	shift = width;
	vectors = units = 0;
	check(l, 0, TSW_FLUSH_LEFT);
	ck_assert_int_gt(units, 0);
	shift = 0;
	l.gap = 1;
	vectors = units = 0;
	check(l, 4096, TSW_FLUSH_LEFT);
	ck_assert_int_eq(vectors, 0);
	ck_assert_int_gt(units, 0);
}
END_TEST

/* Elements larger than what goes at a time. */
START_TEST(wide_elements)
{
	static const size_t wide[] = {100, 512, 4096, 5000, 9000};

	check((struct tsw_layout){9, 2, 3, 2, 2, 0, 1, wide[_i], 0}, 10, TSW_FLUSH_LEFT);
	check((struct tsw_layout){9, 2, 3, 2, 2, 0, 1, wide[_i], 1}, 0, TSW_FLUSH_LEFT);
}
END_TEST

/* More runs than a map has: several windows, also where what stays is cut by them. */
START_TEST(more_runs_than_a_map_holds)
{
	/* 175 runs of one column each, as rows one run. */
	const struct tsw_layout l = {700, 1, 350, 2, 2, 0, 0, (size_t)_i, 0};
	const struct tsw_layout turned = {700, 350, 1, 2, 2, 0, 0, (size_t)_i, 0};

	check(l, 400000, TSW_FLUSH_LEFT);
	check(l, 0, TSW_FLUSH_LEFT);
	check(turned, 400000, TSW_FLUSH_LEFT);
	check(turned, 0, TSW_FLUSH_LEFT);
}
END_TEST

/* Chunks that begin within a run and go on for several periods. */
START_TEST(periods_cut_anywhere)
{
	static const size_t blocks[][2] = {{3, 3}, {5, 2}, {4, 6}, {7, 7}, {1, 3}};

	for (size_t i = 0; i < COUNT_OF(blocks); i++)
		for (size_t most = 700; most < 3000; most += 450) {
			const size_t mb = blocks[i][0], nb = blocks[i][1];

			check((struct tsw_layout){150, mb, nb, 2, 1, 0, 0, 4, 0}, most,
			      TSW_FLUSH_LEFT);
			check((struct tsw_layout){150, mb, nb, 1, 3, 0, 1, 2, 0}, most,
			      TSW_FLUSH_LEFT);
			check((struct tsw_layout){150, mb, nb, 2, 2, 1, 0, 1, 0}, most,
			      TSW_FLUSH_LEFT);
		}
}
END_TEST

START_TEST(buffers_of_few_elements)
{
	for (size_t most = 1; most < 70; most += most < 4 ? 1 : 13)
		check((struct tsw_layout){19, 4, 3, 2, 2, 1, 0, 4, 1}, most, TSW_FLUSH_LEFT);
}
END_TEST

/* Any layout there is. */
START_TEST(random_layouts)
{
	uint64_t state = tsw_seed();

	for (int i = 0; i < 60; i++) {
		const int nprow = 1 + (int)tsw_random_below(&state, 3);
		const int npcol = 1 + (int)tsw_random_below(&state, 4);
		const size_t n = 1 + tsw_random_below(&state, 90);
		const struct tsw_layout l = {
			n,
			1 + tsw_random_below(&state, i % 2 ? n : 8),
			1 + tsw_random_below(&state, i % 3 ? n : 8),
			nprow,
			npcol,
			(int)tsw_random_below(&state, (uint64_t)nprow),
			(int)tsw_random_below(&state, (uint64_t)npcol),
			widths[tsw_random_below(&state, COUNT_OF(widths))],
			tsw_random_below(&state, 3),
		};

		grid_limit = tsw_random_below(&state, 5);
		check(l, i % 4 ? 1 + tsw_random_below(&state, 2000) : 0, TSW_FLUSH_LEFT);
	}
}
END_TEST

static Suite *exchange_suite(void)
{
	Suite *suite = suite_create("simt_exchange");
	TCase *tc = tcase_create("exchange");

	tcase_add_loop_test(tc, through_buffers, 0, COUNT_OF(widths));
	tcase_add_loop_test(tc, by_swapping_in_place, 0, COUNT_OF(widths));
	tcase_add_loop_test(tc, vectors_where_they_fit, 0, 5);
	tcase_add_loop_test(tc, wide_elements, 0, 5);
	tcase_add_loop_test(tc, more_runs_than_a_map_holds, 1, 3);
	tcase_add_test(tc, periods_cut_anywhere);
	tcase_add_test(tc, buffers_of_few_elements);
	tcase_add_test(tc, random_layouts);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){exchange_suite}, 1);
}
