/* tsw_transpose_host: every width, ragged sizes, any address, threads, batches; bit for bit,
 * padding and surroundings included.  In one process, because a forked test would use one thread.
 */
#include "cpu/cpu.h"
#include "cpu/plan.h"
#include "support.h"
#include "tileswap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const size_t widths[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 100, 512};
static const size_t small_sides[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129};
static const size_t large_sides[] = {1000, 1023, 1024, 1025};
static const size_t wider[] = {0, 1, 13};
static const int thread_counts[] = {1, 2, 3, 0};

static void require_right(const unsigned char *a, struct tsw_shape s, int nthreads)
{
	const char *wrong = tsw_wrong_transpose(a, tsw_pattern(tsw_shape_bytes(s)), s);

	tsw_require(!wrong, "nthreads = %d: %s", nthreads, wrong);
}

static void check_one(struct tsw_shape s, int nthreads, enum tsw_flush flush)
{
	struct tsw_guarded g = tsw_guarded_new(tsw_shape_bytes(s), flush);
	const char *wrong;

	tsw_fill(g.p, g.bytes);
	tsw_assert_ok(tsw_transpose_host(g.p, s.n, s.ld, s.elem_size, nthreads));
	require_right(g.p, s, nthreads);
	wrong = tsw_guarded_spoilt(&g);
	tsw_require(!wrong, "n = %zu, ld = %zu, elem_size = %zu: %s", s.n, s.ld, s.elem_size,
		    wrong);
	tsw_guarded_free(&g);
}

START_TEST(small_shapes)
{
	for (size_t side = 0; side < COUNT_OF(small_sides); side++) {
		for (size_t w = 0; w < COUNT_OF(wider); w++) {
			size_t n = small_sides[side];
			struct tsw_shape s = {n, n + wider[w], widths[_i]};

			check_one(s, thread_counts[(side + w) % 4], TSW_FLUSH_LEFT);
			check_one(s, thread_counts[(side + w + 1) % 4], TSW_FLUSH_RIGHT);
		}
	}
}
END_TEST

/* Large enough for several threads to take part. */
START_TEST(large_shapes)
{
	size_t width = widths[_i];

	if (width > 24) {
		check_one((struct tsw_shape){257, 258, width}, 0, TSW_FLUSH_RIGHT);
		check_one((struct tsw_shape){200, 200, width}, 3, TSW_FLUSH_LEFT);
		return;
	}
	for (size_t side = 0; side < COUNT_OF(large_sides); side++) {
		size_t n = large_sides[side];
		size_t w = (side + (size_t)_i) % COUNT_OF(wider);
		struct tsw_shape s = {n, n + wider[w], width};

		check_one(s, thread_counts[side], side % 2 ? TSW_FLUSH_LEFT : TSW_FLUSH_RIGHT);
	}
}
END_TEST

START_TEST(more_than_a_cache)
{
	check_one((struct tsw_shape){4097, 4097, 1}, 2, TSW_FLUSH_LEFT);
	check_one((struct tsw_shape){4096, 4096, 4}, 0, TSW_FLUSH_RIGHT);
	check_one((struct tsw_shape){2049, 2062, 8}, 3, TSW_FLUSH_RIGHT);
}
END_TEST

START_TEST(every_thread_count)
{
	for (int nthreads = 0; nthreads <= 9; nthreads++) {
		check_one((struct tsw_shape){700, 701, 8}, nthreads, TSW_FLUSH_LEFT);
		check_one((struct tsw_shape){1030, 1030, 3}, nthreads, TSW_FLUSH_LEFT);
	}
	check_one((struct tsw_shape){700, 701, 8}, 1000, TSW_FLUSH_LEFT);
}
END_TEST

/* Bytes around the matrix keep their values, wherever it begins. */
static void check_offset(struct tsw_shape s, size_t offset)
{
	size_t bytes = tsw_shape_bytes(s), all = bytes + 192;
	struct tsw_guarded g = tsw_guarded_new(all, TSW_FLUSH_LEFT);
	const unsigned char *pattern = tsw_pattern(all);
	const char *wrong;

	tsw_fill(g.p, all);
	tsw_assert_ok(tsw_transpose_host(g.p + offset, s.n, s.ld, s.elem_size, 0));
	wrong = tsw_wrong_transpose(g.p + offset, pattern + offset, s);
	tsw_require(!wrong, "offset %zu: %s", offset, wrong);
	tsw_require(!tsw_wrong_bytes(g.p, pattern, offset), "offset %zu, before: %s", offset,
		    tsw_wrong_bytes(g.p, pattern, offset));
	wrong = tsw_wrong_bytes(g.p + offset + bytes, pattern + offset + bytes, 192 - offset);
	tsw_require(!wrong, "offset %zu, after: %s", offset, wrong);
	tsw_guarded_free(&g);
}

START_TEST(any_address)
{
	for (size_t offset = 0; offset < 64; offset++) {
		check_offset((struct tsw_shape){33, 33, widths[_i]}, offset);
		check_offset((struct tsw_shape){66, 71, widths[_i]}, offset);
		if (widths[_i] <= 16 && offset % 8 == (size_t)_i % 8)
			check_offset((struct tsw_shape){301, 301, widths[_i]}, offset);
	}
}
END_TEST

START_TEST(random_shapes)
{
	uint64_t state = tsw_seed() + (uint64_t)_i;

	for (int round = 0; round < 60; round++) {
		size_t n = tsw_random_below(&state, 300), width = 1 + tsw_random_below(&state, 40);
		struct tsw_shape s = {n, n + tsw_random_below(&state, 70), width};

		check_offset(s, tsw_random_below(&state, 192));
		check_one(s, (int)tsw_random_below(&state, 5),
			  tsw_random(&state) % 2 ? TSW_FLUSH_LEFT : TSW_FLUSH_RIGHT);
	}
}
END_TEST

/* ---- orders and instruction sets that this machine may not pick -------------------------------
 */

/* Small tiles, so that a small matrix has whole ones, ragged ones and several pairs. */
static void check_plan(struct tsw_shape s, const struct tsw_isa *isa, enum tsw_order order,
		       int fetch, enum tsw_flush flush)
{
	struct tsw_guarded g = tsw_guarded_new(tsw_shape_bytes(s), flush);
	struct tsw_matrices m = {
		.base = g.p, .n = s.n, .ld = s.ld, .elem_size = s.elem_size, .count = 1};
	struct tsw_plan plan = tsw_cpu_plan(&m, isa);
	const char *wrong;

	plan.order = plan.kernel ? order : TSW_ROWS;
	plan.fetch = fetch;
	plan.tile = plan.kernel ? 2 * plan.block : 8;
	tsw_fill(g.p, g.bytes);
	tsw_cpu_run(&plan, &m, 1);
	wrong = tsw_wrong_transpose(g.p, tsw_pattern(g.bytes), s);
	if (!wrong)
		wrong = tsw_guarded_spoilt(&g);
	tsw_require(!wrong, "%s, order %d, fetch %d: %s", isa->name, order, fetch, wrong);
	tsw_guarded_free(&g);
}

START_TEST(every_order_on_every_instruction_set)
{
	static const char *const names[] = {"c", "avx2", "avx512", "neon"};
	/* One tile; several with a ragged edge; rows on cache lines; more tiles on a side than two.
	 */
	static const struct tsw_shape shapes[] = {
		{70, 71, 0}, {140, 140, 0}, {192, 192, 0}, {333, 335, 0}};
	unsigned tried = 0;

	for (size_t i = 0; i < COUNT_OF(names) * COUNT_OF(shapes) * 6; i++) {
		const struct tsw_isa *isa = tsw_cpu_isa_named(names[i % COUNT_OF(names)]);
		struct tsw_shape s = shapes[i / COUNT_OF(names) % COUNT_OF(shapes)];
		size_t rest = i / COUNT_OF(names) / COUNT_OF(shapes);

		s.elem_size = (size_t)_i;
		if (!isa)
			continue; /* of another machine */
		check_plan(s, isa, (enum tsw_order)(rest % 3), (int)(rest / 3), TSW_FLUSH_LEFT);
		check_plan(s, isa, (enum tsw_order)(rest % 3), (int)(rest / 3), TSW_FLUSH_RIGHT);
		tried++;
	}
	ck_assert_uint_ge(tried, COUNT_OF(shapes) * 6); /* "c" runs everywhere */
}
END_TEST

/* ---- what the elements mean does not matter ---------------------------------------------------
 */

START_TEST(special_floats_survive)
{
	static const uint32_t special[] = {
		0x7f800001, 0xff800001, 0x7fc00000, 0xffc12345,
		0x7fffffff,					/* NaNs, with payloads */
		0x80000000, 0x00000000, 0x00000001, 0x807fffff, /* -0, 0, denormals */
		0x7f800000, 0xff800000,
	};
	enum { N = 67 };
	float *a = malloc(sizeof(float) * N * N);

	ck_assert_ptr_nonnull(a);
	for (size_t e = 0; e < N * N; e++)
		memcpy(&a[e], &special[e * e % COUNT_OF(special)], 4);
	tsw_assert_ok(tsw_transpose_host(a, N, N, sizeof *a, 0));
	for (size_t r = 0; r < N; r++)
		for (size_t c = 0; c < N; c++) {
			size_t e = c * N + r;

			tsw_require(!memcmp(&a[r * N + c], &special[e * e % COUNT_OF(special)], 4),
				    "(%zu, %zu) lost its bits", r, c);
		}
	free(a);
}
END_TEST

/* ---- batches ----------------------------------------------------------------------------------
 */

struct batch {
	struct tsw_shape shape;
	size_t stride, count; /* stride 0: by an array, in scattered order */
};

static size_t batch_offset(const struct batch *b, size_t matrix)
{
	size_t each = tsw_shape_bytes(b->shape) + 5; /* odd addresses, too */

	if (b->stride)
		return matrix * b->stride * b->shape.elem_size;
	return (matrix * 7 + 3) % b->count * each; /* a permutation unless 7 divides count */
}

static size_t batch_bytes(const struct batch *b)
{
	if (b->stride)
		return batch_offset(b, b->count - 1) + tsw_shape_bytes(b->shape);
	return b->count * (tsw_shape_bytes(b->shape) + 5);
}

static void check_batch(struct batch b, int nthreads)
{
	size_t bytes = batch_bytes(&b), n = b.shape.n, ld = b.shape.ld, size = b.shape.elem_size;
	struct tsw_guarded g = tsw_guarded_new(bytes, TSW_FLUSH_RIGHT);
	unsigned char *expected = malloc(bytes);
	void **array = calloc(b.count, sizeof *array);
	const char *wrong;

	ck_assert(expected && array);
	tsw_fill(g.p, bytes);
	tsw_fill(expected, bytes);
	for (size_t m = 0; m < b.count; m++) {
		array[m] = g.p + batch_offset(&b, m);
		tsw_oracle_window(tsw_pattern(bytes) + batch_offset(&b, m),
				  expected + batch_offset(&b, m), b.shape);
	}
	if (b.stride)
		tsw_assert_ok(
			tsw_transpose_batch_host(g.p, n, ld, size, b.stride, b.count, nthreads));
	else
		tsw_assert_ok(tsw_transpose_array_host(array, n, ld, size, b.count, nthreads));
	wrong = tsw_wrong_bytes(g.p, expected, bytes);
	tsw_require(!wrong, "n = %zu, ld = %zu, elem_size = %zu, stride = %zu, count = %zu: %s", n,
		    ld, size, b.stride, b.count, wrong);
	free(array);
	free(expected);
	tsw_guarded_free(&g);
}

START_TEST(batches)
{
	static const struct batch each[] = {
		{{1, 1, 8}, 1, 1000},	    {{1, 5, 4}, 3, 1000},
		{{2, 2, 4}, 4, 5000},	    {{3, 4, 4}, 12, 100000},
		{{33, 33, 2}, 33 * 33, 40}, {{33, 40, 16}, 2000, 40},
		{{500, 501, 8}, 260000, 5}, {{300, 300, 3}, 90000, 11},
		{{33, 33 * 9, 4}, 33, 9},   {{64, 64 * 5 + 3, 1}, 64, 5},
		{{200, 1000, 8}, 200, 5},   {{9, 900, 12}, 9, 100},
		{{64, 64, 8}, 0, 1},	    {{33, 34, 4}, 0, 100},
		{{1, 1, 3}, 0, 50},	    {{400, 401, 8}, 0, 5},
		{{5, 5, 24}, 0, 3000},	    {{700, 700, 4}, 490000, 2},
	};

	for (size_t t = 0; t < COUNT_OF(thread_counts); t++)
		check_batch(each[_i], thread_counts[t]);
}
END_TEST

/* ---- threads of the caller's own --------------------------------------------------------------
 */

struct window {
	unsigned char *a;
	struct tsw_shape shape;
	int nthreads;
	tsw_status status;
};

static void *transpose_window(void *argument)
{
	struct window *w = argument;

	for (int odd = 0; odd < 3; odd++)
		w->status = tsw_transpose_host(w->a, w->shape.n, w->shape.ld, w->shape.elem_size,
					       w->nthreads);
	return NULL;
}

/* Four windows of one matrix, one thread each: nobody may touch a neighbour's bytes. */
START_TEST(disjoint_windows_from_several_threads)
{
	enum { N = 620, LD = 2 * N + 3, SIZE = 4 };
	struct tsw_shape s = {N, LD, SIZE};
	size_t bytes = (size_t)LD * 2 * N * SIZE;
	unsigned char *a = malloc(bytes), *expected = malloc(bytes);
	pthread_t threads[4];
	struct window windows[4];
	const char *wrong;

	ck_assert(a && expected);
	tsw_fill(a, bytes);
	tsw_fill(expected, bytes);
	for (size_t w = 0; w < 4; w++) {
		size_t offset = ((w / 2) * N * LD + (w % 2) * N) * SIZE;

		tsw_oracle_window(tsw_pattern(bytes) + offset, expected + offset, s);
		windows[w] = (struct window){a + offset, s, 1 + (int)w % 2, TSW_ERR_IO};
	}
	for (size_t w = 0; w < 4; w++)
		ck_assert_int_eq(pthread_create(&threads[w], NULL, transpose_window, &windows[w]),
				 0);
	for (size_t w = 0; w < 4; w++) {
		ck_assert_int_eq(pthread_join(threads[w], NULL), 0);
		ck_assert_int_eq(windows[w].status, TSW_OK);
	}
	wrong = tsw_wrong_bytes(a, expected, bytes);
	ck_assert_msg(!wrong, "%s", wrong);
	free(a);
	free(expected);
}
END_TEST

START_TEST(inside_a_parallel_region)
{
#ifdef _OPENMP
	struct tsw_shape s = {600, 601, 8};
	size_t bytes = tsw_shape_bytes(s);
	struct window windows[4];

	for (size_t w = 0; w < 4; w++) {
		windows[w] = (struct window){malloc(bytes), s, (int)w, TSW_ERR_IO};
		ck_assert_ptr_nonnull(windows[w].a);
		tsw_fill(windows[w].a, bytes);
	}
#pragma omp parallel for num_threads(4)
	for (size_t w = 0; w < 4; w++)
		transpose_window(&windows[w]);
	for (size_t w = 0; w < 4; w++) {
		ck_assert_int_eq(windows[w].status, TSW_OK);
		require_right(windows[w].a, s, windows[w].nthreads);
		free(windows[w].a);
	}
#else
	tsw_skip("built without OpenMP");
#endif
}
END_TEST

/* ---- processes --------------------------------------------------------------------------------
 */

/* What a child does: its exit status is the answer. */
static int transpose_in_child(int nthreads)
{
	struct tsw_shape s = {700, 701, 8};
	unsigned char *a = malloc(tsw_shape_bytes(s));
	int wrong;

	if (!a)
		return 2;
	tsw_fill(a, tsw_shape_bytes(s));
	if (tsw_transpose_host(a, s.n, s.ld, s.elem_size, nthreads) != TSW_OK)
		return 3;
	wrong = tsw_wrong_transpose(a, tsw_pattern(tsw_shape_bytes(s)), s) != NULL;
	free(a);
	return wrong ? 4 : 0;
}

static void require_exit_0(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "the child was stopped by signal %d", WTERMSIG(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* The parent has been in OpenMP regions, whose threads the child lacks: it must not wait for them.
 */
START_TEST(a_forked_child_works)
{
	pid_t child;

	check_one((struct tsw_shape){700, 701, 8}, 3, TSW_FLUSH_LEFT);
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		alarm(200); /* a hang ends as a signal */
		_exit(tsw_cpu_threads(4) == 1 ? transpose_in_child(4) : 5);
	}
	require_exit_0(child);
	check_one((struct tsw_shape){700, 701, 8}, 3, TSW_FLUSH_LEFT);
}
END_TEST

#define CHILD_MODE "--one-thread-child"

static int one_thread_child(void)
{
	return tsw_cpu_threads(0) == 1 ? transpose_in_child(0) : 5;
}

START_TEST(omp_num_threads_is_obeyed)
{
#ifdef _OPENMP
	ck_assert_int_eq(tsw_run_again(CHILD_MODE, "OMP_NUM_THREADS=1"), 0);
#else
	tsw_skip("built without OpenMP");
#endif
}
END_TEST

START_TEST(threads_are_really_used_here)
{
#ifdef _OPENMP
	ck_assert_int_eq(tsw_cpu_threads(3), 3);
	ck_assert_int_ge(tsw_cpu_threads(0), 1);
#else
	ck_assert_int_eq(tsw_cpu_threads(3), 1);
#endif
}
END_TEST

/* ---- the entry that picks ---------------------------------------------------------------------
 */

START_TEST(plain_memory_is_transposed_on_the_host)
{
	struct tsw_shape s = {129, 140, widths[_i]};
	unsigned char *a = malloc(tsw_shape_bytes(s));

	ck_assert_ptr_nonnull(a);
	tsw_fill(a, tsw_shape_bytes(s));
	tsw_assert_ok(tsw_transpose(a, s.n, s.ld, s.elem_size));
	require_right(a, s, 0);
	free(a);
}
END_TEST

static Suite *host_suite(void)
{
	Suite *suite = suite_create("host");
	TCase *tc = tcase_create("host");
	int count = (int)COUNT_OF(widths);

	tcase_add_test(tc, threads_are_really_used_here);
	tcase_add_loop_test(tc, small_shapes, 0, count);
	tcase_add_loop_test(tc, large_shapes, 0, count);
	tcase_add_test(tc, more_than_a_cache);
	tcase_add_test(tc, every_thread_count);
	tcase_add_loop_test(tc, any_address, 0, count);
	tcase_add_loop_test(tc, random_shapes, 0, 5);
	tcase_add_loop_test(tc, every_order_on_every_instruction_set, 1, 20);
	tcase_add_test(tc, special_floats_survive);
	tcase_add_loop_test(tc, batches, 0, 18);
	tcase_add_test(tc, disjoint_windows_from_several_threads);
	tcase_add_test(tc, inside_a_parallel_region);
	tcase_add_test(tc, a_forked_child_works);
	tcase_add_test(tc, omp_num_threads_is_obeyed);
	tcase_add_loop_test(tc, plain_memory_is_transposed_on_the_host, 0, count);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], CHILD_MODE))
		return one_thread_child();
	return tsw_test_main(TSW_SAME_PROCESS, (tsw_suite *[]){host_suite}, 1);
}
