/* The transposing kernels' own text, run by tests/simt: every unit, odd shapes, split grids, batches,
 * in several orders of threads and blocks, the matrix flush against unmapped pages. */
#include "launch.h"
#include "launch_simt.h"
#include "matrices.h"
#include "support.h"
#include "tilepair.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

SIMT_DEFINE_CALL(tsw_tiles)

struct job {
	struct tsw_shape shape;
	unsigned unit;
	uint64_t grid_limit; /* 0: one launch */
	size_t stride, count; /* elements from matrix to matrix */
	char *const *array;
	uint64_t order;
};

static const size_t sides[] = {1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129};

static const struct {
	size_t elem_size;
	unsigned unit;
} widths[] = {
	{1, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 16}, {3, 1}, {6, 2}, {12, 4}, {16, 8}, {24, 8}, {100, 4},
};

/* Launches as src/cuda/transpose.c does. */
static const char *launch(const struct job *job, unsigned char *base)
{
	const struct tsw_kernel *kernel = tsw_kernel_tile33(job->unit);
	struct tsw_tiles p = {
		.base = (char *)base,
		.array = job->array,
		.stride = job->stride * job->shape.elem_size,
		.n = job->shape.n,
		.ld = job->shape.ld,
		.pairs = tsw_pair_count(tsw_tile_count(job->shape.n, kernel->tile)),
		.units = job->shape.elem_size / job->unit,
	};
	uint64_t total = p.pairs * job->count;
	uint64_t limit = job->grid_limit ? job->grid_limit : total;
	const char *wrong = NULL;

	for (p.first = 0; !wrong && p.first < total; p.first += limit)
		wrong = simt_launch(&(struct simt_launch){
			.call = simt_call_tsw_tiles,
			.entry = kernel->entry,
			.param = &p,
			.grid = total - p.first < limit ? total - p.first : limit,
			.block_x = kernel->threads_x,
			.block_y = kernel->threads_y,
			.order = job->order,
		});
	return wrong;
}

static void require_none(const char *wrong, const struct job *job)
{
	tsw_require(!wrong,
	            "n = %zu, ld = %zu, elem_size = %zu, unit = %u, limit = %ju, order = %ju: %s",
	            job->shape.n, job->shape.ld, job->shape.elem_size, job->unit,
	            (uintmax_t)job->grid_limit, (uintmax_t)job->order, wrong);
}

/* One matrix between unmapped pages; padding may not be written. */
static void check_one(const struct job *job, enum tsw_flush flush)
{
	struct tsw_shape s = job->shape;
	struct tsw_guarded g = tsw_guarded_new(tsw_shape_bytes(s), flush);

	tsw_fill(g.p, g.bytes);
	simt_allow_nothing();
	simt_allow(g.p, g.bytes, s.n * s.elem_size, s.ld * s.elem_size);
	require_none(launch(job, g.p), job);
	require_none(tsw_wrong_transpose(g.p, tsw_pattern(g.bytes), s), job);
	require_none(tsw_guarded_spoilt(&g), job);
	tsw_guarded_free(&g);
}

static int aligned(const struct job *job, enum tsw_flush flush)
{
	return flush == TSW_FLUSH_LEFT || tsw_shape_bytes(job->shape) % job->unit == 0;
}

START_TEST(shapes)
{
	static const size_t wider[] = {0, 1, 13};
	uint64_t order = tsw_seed();

	for (size_t side = 0; side < COUNT_OF(sides); side++) {
		for (size_t w = 0; w < COUNT_OF(wider); w++) {
			size_t n = sides[side];
			struct job job = {.shape = {n, n + wider[w], widths[_i].elem_size},
			                  .unit = widths[_i].unit,
			                  .count = 1};

			if (n > 65 && w != side % 3)
				continue; /* one of the three: time */
			/* First to last, last to first, shuffled, in turn. */
			job.order = (side + w) % 3 < 2 ? (side + w) % 3 : tsw_random(&order) | 2;
			check_one(&job, TSW_FLUSH_LEFT);
			if (aligned(&job, TSW_FLUSH_RIGHT))
				check_one(&job, TSW_FLUSH_RIGHT);
		}
	}
}
END_TEST

START_TEST(every_order_of_threads)
{
	uint64_t state = tsw_seed();

	for (int round = 0; round < 12; round++) {
		struct job job = {.shape = {70, 71, widths[_i].elem_size},
		                  .unit = widths[_i].unit,
		                  .count = 1,
		                  .order = round < 2 ? (uint64_t)round : tsw_random(&state) | 2};

		check_one(&job, TSW_FLUSH_LEFT);
	}
}
END_TEST

START_TEST(split_launches)
{
	static const uint64_t limits[] = {1, 2, 7, 9, 10, 11};

	for (size_t l = 0; l < COUNT_OF(limits); l++) {
		struct job job = {.shape = {100, 101, widths[_i].elem_size},
		                  .unit = widths[_i].unit,
		                  .count = 1,
		                  .grid_limit = limits[l]};

		check_one(&job, TSW_FLUSH_LEFT);
	}
}
END_TEST

/* `count` matrices at offsets[] (bytes) of one buffer, by stride or by array. */
static void check_many(struct job *job, const size_t *offsets, size_t bytes)
{
	struct tsw_guarded g = tsw_guarded_new(bytes, TSW_FLUSH_LEFT);
	unsigned char *expected = malloc(bytes);
	char **array = calloc(job->count, sizeof *array);

	ck_assert(expected && array);
	tsw_fill(g.p, bytes);
	tsw_fill(expected, bytes);
	for (size_t b = 0; b < job->count; b++) {
		tsw_oracle_window(tsw_pattern(bytes) + offsets[b], expected + offsets[b], job->shape);
		array[b] = (char *)g.p + offsets[b];
	}
	simt_allow_nothing();
	simt_allow(g.p, bytes, 0, 0);
	simt_allow(array, job->count * sizeof *array, 0, 1);
	job->array = job->stride ? NULL : array;
	require_none(launch(job, job->stride ? g.p : NULL), job);
	require_none(tsw_wrong_bytes(g.p, expected, bytes), job);
	free(array);
	free(expected);
	tsw_guarded_free(&g);
}

static void check_strided(struct job job)
{
	size_t offsets[64];

	ck_assert_uint_le(job.count, COUNT_OF(offsets));
	for (size_t b = 0; b < job.count; b++)
		offsets[b] = b * job.stride * job.shape.elem_size;
	check_many(&job, offsets, offsets[job.count - 1] + tsw_shape_bytes(job.shape));
}

START_TEST(strided_batches)
{
	size_t elem_size = widths[_i].elem_size;
	unsigned unit = widths[_i].unit;

	for (uint64_t limit = 0; limit <= 7; limit += 7) {
		check_strided((struct job){{1, 1, elem_size}, unit, limit, 2, 20, NULL, 0});
		check_strided((struct job){{33, 34, elem_size}, unit, limit, 34 * 33, 5, NULL, 1});
		check_strided((struct job){{40, 41, elem_size}, unit, limit, 2000, 3, NULL, 5});
		/* Side by side in one larger matrix. */
		check_strided((struct job){{33, 100, elem_size}, unit, limit, 33, 3, NULL, 6});
	}
}
END_TEST

START_TEST(arrays_of_matrices)
{
	struct tsw_shape s = {37, 38, widths[_i].elem_size};
	size_t each = (tsw_shape_bytes(s) + 63) / 64 * 64, offsets[6];

	for (uint64_t limit = 0; limit <= 7; limit += 7) {
		struct job job = {s, widths[_i].unit, limit, 0, 6, NULL, 9};

		/* Not in order of address. */
		for (size_t b = 0; b < 6; b++)
			offsets[b] = (b * 5 + 2) % 6 * each;
		check_many(&job, offsets, 6 * each);
	}
}
END_TEST

START_TEST(every_unit_has_a_kernel)
{
	for (unsigned unit = 0; unit < 40; unit++) {
		const struct tsw_kernel *kernel = tsw_kernel_tile33(unit);

		ck_assert_int_eq(kernel != NULL, unit && unit <= 16 && (unit & (unit - 1)) == 0);
		if (kernel) {
			ck_assert_str_eq(kernel->name, "tile33");
			ck_assert_uint_eq(kernel->tile, 32);
		}
	}
}
END_TEST

static Suite *simt_suite(void)
{
	Suite *suite = suite_create("simt");
	TCase *tc = tcase_create("tile33");
	int count = (int)COUNT_OF(widths);

	tcase_add_loop_test(tc, shapes, 0, count);
	tcase_add_loop_test(tc, every_order_of_threads, 0, count);
	tcase_add_loop_test(tc, split_launches, 0, count);
	tcase_add_loop_test(tc, strided_batches, 0, count);
	tcase_add_loop_test(tc, arrays_of_matrices, 0, count);
	tcase_add_test(tc, every_unit_has_a_kernel);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){simt_suite}, 1);
}
