/* The transposing kernels' own text, run by tests/simt: every unit, odd shapes, split grids,
 * batches, in several orders of threads and blocks, the matrix flush against unmapped pages. */
#include "launch.h"
#include "launch_simt.h"
#include "matrices.h"
#include "support.h"
#include "tilepair.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

SIMT_DEFINE_CALL(tsw_tiles)
SIMT_DEFINE_CALL(tsw_chunks)

/* A kernel, and the elements it is given. */
static const struct subject {
	const char *name;
	size_t elem_size;
	unsigned unit;	       /* of tile33 and shifted */
	unsigned shared_bytes; /* that the kernel may use; little of it makes small tiles */
	size_t alignment;      /* of every row */
	int alone;	       /* vector: 1 the form for a small matrix, 2 the least one; direct:
				* how many of the forms that serve it to leave out */
} subjects[] = {
	{"tile33", 1, 1, 0, 1},		  {"tile33", 2, 2, 0, 2},
	{"tile33", 4, 4, 0, 4},		  {"tile33", 8, 8, 0, 8},
	{"tile33", 16, 16, 0, 16},	  {"tile33", 3, 1, 0, 1},
	{"tile33", 6, 2, 0, 2},		  {"tile33", 12, 4, 0, 4},
	{"tile33", 16, 8, 0, 8},	  {"tile33", 24, 8, 0, 8},
	{"tile33", 100, 4, 0, 4},	  {"direct", 1, 1, 0, 1},
	{"direct", 1, 4, 0, 4},		  {"direct", 1, 8, 0, 8, 1},
	{"direct", 1, 8, 0, 8, 2},	  {"direct", 2, 2, 0, 2},
	{"direct", 2, 16, 0, 16, 1},	  {"direct", 2, 16, 0, 16, 2},
	{"direct", 4, 4, 0, 4},		  {"direct", 4, 16, 0, 16, 1},
	{"direct", 4, 4, 0, 4, 1},	  {"direct", 8, 8, 0, 8},
	{"direct", 8, 8, 0, 8, 1},	  {"direct", 16, 16, 0, 16},
	{"vector", 1, 1, 1 << 20, 16},	  {"vector", 1, 1, 48 << 10, 16},
	{"vector", 2, 2, 1 << 20, 16},	  {"vector", 2, 2, 48 << 10, 16},
	{"vector", 4, 4, 1 << 20, 16},	  {"vector", 8, 8, 1 << 20, 16},
	{"vector", 16, 16, 1 << 20, 16},  {"vector", 1, 1, 1 << 20, 16, 1},
	{"vector", 2, 2, 1 << 20, 16, 1}, {"vector", 4, 4, 1 << 20, 16, 1},
	{"vector", 8, 8, 1 << 20, 16, 1}, {"vector", 2, 2, 1 << 20, 16, 2},
	{"vector", 4, 4, 1 << 20, 16, 2}, {"vector", 8, 8, 1 << 20, 16, 2},
	{"vector", 8, 8, 12000, 16},	  {"vector", 16, 16, 1 << 20, 16, 1},
	{"shifted", 2, 2, 1 << 20, 2},	  {"shifted", 2, 2, 60000, 2},
	{"shifted", 4, 4, 60000, 4},	  {"shifted", 4, 4, 1 << 20, 4},
	{"shifted", 8, 8, 60000, 8},	  {"shifted", 16, 16, 10000, 16},
	{"shifted", 3, 1, 12000, 1},	  {"shifted", 5, 1, 12000, 1},
	{"shifted", 6, 2, 12000, 2},	  {"shifted", 12, 4, 12000, 4},
	{"shifted", 16, 8, 12000, 8},	  {"shifted", 24, 8, 12000, 8},
	{"shifted", 48, 16, 12000, 16},	  {"shifted", 100, 4, 12000, 4},
	{"realigned", 1, 1, 1 << 20, 1},  {"realigned", 1, 1, 60000, 1},
	{"realigned", 2, 2, 1 << 20, 2},  {"realigned", 3, 1, 1 << 20, 1},
	{"realigned", 3, 1, 40000, 1},	  {"realigned", 6, 2, 1 << 20, 2},
	{"stream", 1, 1, 40000, 1},	  {"stream", 2, 2, 40000, 2},
	{"stream", 4, 4, 80000, 4},	  {"stream", 4, 4, 3000, 4},
	{"stream", 8, 8, 160000, 8},	  {"stream", 16, 16, 1 << 20, 16},
	{"stream", 16, 8, 1 << 20, 8},	  {"stream", 3, 1, 60000, 1},
	{"stream", 6, 2, 40000, 2},	  {"stream", 12, 4, 40000, 4},
	{"stream", 48, 16, 100000, 16},
};

#define STREAMS 11 /* subjects of that name */

static int streams(const struct subject *s)
{
	return !strcmp(s->name, "stream");
}

struct job {
	const struct subject *subject;
	size_t n, ld;
	uint64_t grid_limit;  /* 0: one launch */
	size_t stride, count; /* elements from matrix to matrix */
	char *const *array;
	uint64_t order;
};

static const size_t sides[] = {1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129};

/* The more matrices, the larger the form. */
static const struct tsw_kernel *direct_form(const struct subject *s, uint64_t n)
{
	const struct tsw_kernel *found = NULL, *form;
	int forms = 0;

	for (uint64_t count = 1; forms <= s->alone; count++) {
		form = tsw_kernel_direct((unsigned)s->elem_size, (unsigned)s->alignment, n, count);
		if (!form)
			break;
		forms += form != found;
		found = form;
	}
	return found;
}

/* The kernel of a subject; fills in what its parameter is to say. */
static struct tsw_kernel kernel_of(const struct subject *s, struct tsw_tiles *p, uint64_t count)
{
	const struct tsw_kernel *fixed = NULL;
	struct tsw_kernel kernel = {.name = "none"};
	/* The largest form that fits is the one for many matrices. */
	const uint64_t many = s->shared_bytes == 1 << 20 ? 1 << 20 : count;

	if (!strcmp(s->name, "shifted"))
		tsw_kernel_shifted(p, many, s->unit, s->shared_bytes, &kernel);
	else if (!strcmp(s->name, "realigned"))
		tsw_kernel_realigned(p, many, (unsigned)s->elem_size, s->shared_bytes, &kernel);
	else if (!strcmp(s->name, "vector"))
		/* Or as for many matrices, the largest form that fits.  The least form serves
		 * whole vectors only. */
		fixed = tsw_kernel_vector((unsigned)s->elem_size, s->shared_bytes,
					  s->alone ? (p->n % 16 ? 1 : 16) : p->n,
					  s->alone ? 1 : 1000, s->alone == 2 && !p->array);
	else if (!strcmp(s->name, "direct"))
		fixed = direct_form(s, p->n);
	else
		fixed = tsw_kernel_tile33(s->unit);
	if (fixed)
		kernel = *fixed;
	ck_assert_msg(!strcmp(kernel.name, s->name), "no kernel %s for %zu-byte elements", s->name,
		      s->elem_size);
	return kernel;
}

/* The side of its tiles on a large matrix. */
static size_t tile_of(const struct subject *s)
{
	struct tsw_tiles p = {.n = strcmp(s->name, "direct") ? 98304 : 64,
			      .units = s->elem_size / s->unit};

	/* `stream` has no tiles: any side will do. */
	return streams(s) ? 16 : kernel_of(s, &p, 1).tile;
}

static struct tsw_shape shape_of(const struct job *job)
{
	return (struct tsw_shape){job->n, job->ld, job->subject->elem_size};
}

/* A leading dimension or stride that keeps rows where the kernel wants them. */
static size_t rounded(const struct subject *s, size_t elements)
{
	size_t step = s->elem_size < s->alignment ? s->alignment / s->elem_size : 1;

	return (elements + step - 1) / step * step;
}

/* Chunks of many small matrices.  0 if they are too large for the kernel. */
static int chunks_of(const struct job *job, unsigned char *base, struct tsw_chunks *p,
		     struct tsw_kernel *kernel)
{
	const struct subject *s = job->subject;

	*p = (struct tsw_chunks){
		.base = (char *)base,
		.array = job->array,
		.stride = job->stride * s->elem_size,
		.count = job->count,
		.pitch = job->ld * s->elem_size,
		.n = (uint32_t)job->n,
		.units = (uint32_t)(s->elem_size / s->unit),
	};
	return tsw_kernel_stream(p, s->unit, s->shared_bytes, kernel);
}

static int can_stream(const struct job *job)
{
	struct tsw_kernel kernel;
	struct tsw_chunks p;

	return chunks_of(job, NULL, &p, &kernel);
}

static const char *launch_stream(const struct job *job, unsigned char *base)
{
	struct tsw_kernel kernel = {.name = "none"};
	struct tsw_chunks p;

	ck_assert(chunks_of(job, base, &p, &kernel));
	ck_assert_str_eq(kernel.name, "stream");
	ck_assert_uint_le(kernel.shared_bytes, job->subject->shared_bytes);
	return simt_launch_split(&kernel, simt_call_tsw_chunks, &p, &p.first,
				 (job->count + p.group - 1) / p.group, job->grid_limit, job->order);
}

/* Launches as src/cuda/transpose.c does. */
static const char *launch(const struct job *job, unsigned char *base)
{
	const size_t elem_size = job->subject->elem_size;
	struct tsw_tiles p = {
		.base = (char *)base,
		.array = job->array,
		.stride = job->stride * elem_size,
		.n = job->n,
		.ld = job->ld,
		.units = elem_size / job->subject->unit,
		.group = job->n % 3 ? 2 : 1, /* for those that do not choose it themselves */
	};
	struct tsw_kernel kernel;

	if (streams(job->subject))
		return launch_stream(job, base);
	kernel = kernel_of(job->subject, &p, job->count);
	p.tiles = (uint32_t)tsw_tile_count(job->n, kernel.tile);
	p.pairs = tsw_pair_count(p.tiles);
	return simt_launch_split(&kernel, simt_call_tsw_tiles, &p, &p.first, p.pairs * job->count,
				 job->grid_limit, job->order);
}

static void require_none(const char *wrong, const struct job *job)
{
	tsw_require(
		!wrong,
		"%s, n = %zu, ld = %zu, elem_size = %zu, unit = %u, limit = %ju, order = %ju: %s",
		job->subject->name, job->n, job->ld, job->subject->elem_size, job->subject->unit,
		(uintmax_t)job->grid_limit, (uintmax_t)job->order, wrong);
}

/* One matrix between unmapped pages; padding may not be written. */
static void check_one(const struct job *job, enum tsw_flush flush)
{
	struct tsw_shape s = shape_of(job);
	struct tsw_guarded g = tsw_guarded_new(tsw_shape_bytes(s), flush);

	tsw_fill(g.p, g.bytes);
	simt_allow_nothing();
	/* All of it where there is no padding: a store may go on into the next row. */
	simt_allow(g.p, g.bytes, s.n * s.elem_size, s.ld > s.n ? s.ld * s.elem_size : 0);
	/* What the matrix's first vector holds before the matrix may be read. */
	if ((uintptr_t)g.p % 16)
		simt_allow(g.p - (uintptr_t)g.p % 16, (uintptr_t)g.p % 16, 0, 1);
	require_none(launch(job, g.p), job);
	require_none(tsw_wrong_transpose(g.p, tsw_pattern(g.bytes), s), job);
	require_none(tsw_guarded_spoilt(&g), job);
	tsw_guarded_free(&g);
}

/* Flush against the page behind it, a matrix begins where its size wants. */
static int can_end_at_a_page(const struct job *job)
{
	return tsw_shape_bytes(shape_of(job)) % job->subject->alignment == 0;
}

static void check_side(const struct subject *subject, size_t n, size_t wider, uint64_t order)
{
	struct job job = {subject, n, rounded(subject, n + wider), 0, 0, 1, NULL, order};

	if (streams(subject) && !can_stream(&job))
		return;
	check_one(&job, TSW_FLUSH_LEFT);
	if (can_end_at_a_page(&job))
		check_one(&job, TSW_FLUSH_RIGHT);
}

START_TEST(shapes)
{
	static const size_t wider[] = {0, 1, 13};
	const struct subject *subject = &subjects[_i];
	uint64_t state = tsw_seed();

	for (size_t side = 0; side < COUNT_OF(sides); side++) {
		for (size_t w = 0; w < COUNT_OF(wider); w++) {
			/* First to last, last to first, shuffled, in turn. */
			uint64_t order =
				(side + w) % 3 < 2 ? (side + w) % 3 : tsw_random(&state) | 2;

			if (sides[side] > 33 && w != (side + (size_t)_i) % 3)
				continue; /* one of the three: time */
			check_side(subject, sides[side], wider[w], order);
		}
	}
}
END_TEST

/* Around the side of a tile, whatever it is, and with three tiles a side. */
START_TEST(shapes_around_a_tile)
{
	const struct subject *subject = &subjects[_i];
	size_t tile = tile_of(subject);

	for (size_t n = tile - 1; n <= tile + 1; n++)
		check_side(subject, n, 0, n % 3);
	check_side(subject, 2 * tile + 3, 2, 5);
	if (subject->alone == 2)
		check_side(subject, 2 * tile + 16, 16, 6);
}
END_TEST

START_TEST(every_order_of_threads)
{
	const struct subject *subject = &subjects[_i];
	uint64_t state = tsw_seed();

	for (int round = 0; round < 6; round++)
		check_side(subject, 70, 1, round < 2 ? (uint64_t)round : tsw_random(&state) | 2);
}
END_TEST

START_TEST(split_launches)
{
	static const uint64_t limits[] = {1, 2, 7, 9, 10, 11};
	const struct subject *subject = &subjects[_i];
	/* Ten pairs. */
	size_t n = 3 * tile_of(subject) + 4;

	for (size_t l = 0; l < COUNT_OF(limits); l++) {
		struct job job = {subject, n, rounded(subject, n), limits[l], 0, 1, NULL, 0};

		if (n > 200 && limits[l] != 7)
			continue;
		if (streams(subject) && !can_stream(&job))
			continue;
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
		tsw_oracle_window(tsw_pattern(bytes) + offsets[b], expected + offsets[b],
				  shape_of(job));
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
	size_t offsets[256];

	if (streams(job.subject) && !can_stream(&job))
		return;
	ck_assert_uint_le(job.count, COUNT_OF(offsets));
	for (size_t b = 0; b < job.count; b++)
		offsets[b] = b * job.stride * job.subject->elem_size;
	check_many(&job, offsets, offsets[job.count - 1] + tsw_shape_bytes(shape_of(&job)));
}

START_TEST(strided_batches)
{
	const struct subject *s = &subjects[_i];

	for (uint64_t limit = 0; limit <= 7; limit += 7) {
		check_strided((struct job){s, 1, rounded(s, 1), limit, rounded(s, 2), 20, NULL, 0});
		check_strided((struct job){s, 33, rounded(s, 34), limit, rounded(s, 60 * 34), 5,
					   NULL, 1});
		check_strided(
			(struct job){s, 40, rounded(s, 41), limit, rounded(s, 2400), 3, NULL, 5});
		/* Side by side in one larger matrix. */
		check_strided(
			(struct job){s, 33, rounded(s, 160), limit, rounded(s, 33), 3, NULL, 6});
	}
}
END_TEST

/* The vector kernel is told nothing of where the pointers of an array lead: some are not aligned.
 */
START_TEST(arrays_of_matrices)
{
	const struct subject *s = &subjects[_i];
	const size_t n = s->alone == 2 ? 48 : 37; /* that the least form would take */
	struct job job = {s, n, rounded(s, n + 1), 0, 0, 6, NULL, 9};
	size_t each = (tsw_shape_bytes(shape_of(&job)) + 127) / 64 * 64, offsets[6];
	size_t step = strcmp(s->name, "vector") ? s->alignment : tsw_elem_unit(s->elem_size);

	if (streams(s)) {
		if (!can_stream(&job))
			return;
		step = s->unit;
	}
	for (uint64_t limit = 0; limit <= 7; limit += 7) {
		job.grid_limit = limit;
		/* Not in order of address. */
		for (size_t b = 0; b < 6; b++)
			offsets[b] = (b * 5 + 2) % 6 * each + (step < 16 ? b % 3 * step : 0);
		check_many(&job, offsets, 6 * each);
	}
}
END_TEST

/* At pointers that are misaligned in turn, in no order of address; `count` is no multiple of 7. */
static void check_scattered(struct job job)
{
	const struct subject *s = job.subject;
	const size_t each = (tsw_shape_bytes(shape_of(&job)) + 31) / 16 * 16;
	size_t offsets[256];

	ck_assert_uint_le(job.count, COUNT_OF(offsets));
	job.stride = 0;
	for (size_t b = 0; b < job.count; b++)
		offsets[b] = (b * 7 + 3) % job.count * each + b * s->unit % 16;
	check_many(&job, offsets, job.count * each);
}

/* Several chunks of several matrices, the last one ragged. */
START_TEST(chunks_of_small_matrices)
{
	static const size_t small[] = {2, 3, 4, 5, 8, 13, 16};
	const struct subject *s = NULL;
	size_t number = 0;

	for (size_t i = 0; i < COUNT_OF(subjects) && !s; i++)
		if (streams(&subjects[i]) && number++ == (size_t)_i)
			s = &subjects[i];
	for (size_t i = 0; s && i < COUNT_OF(small); i++) {
		const size_t n = small[i], one = n * n * s->elem_size;
		struct job job = {s, n, n, i % 2, n * n, 20000 / one + 1, NULL, i};

		job.count = job.count < 5 ? 5 : job.count > 251 ? 251 : job.count;
		job.count += job.count % 7 == 0; /* for check_scattered() */
		check_strided(job);
		job.stride = n * n + 1;
		check_strided(job);
		check_scattered(job);
		job.ld = n + 1;
		job.stride = n * job.ld + 2;
		check_strided(job);
		check_scattered(job);
		job.ld = job.count * n + 1;
		job.stride = n;
		check_strided(job);
	}
}
END_TEST

/* Whatever the shape, a chunk fits the shared memory there is, and its numbers can be divided. */
START_TEST(chunks_fit)
{
	uint64_t state = tsw_seed();

	for (int round = 0; round < 20000; round++) {
		const unsigned unit = 1u << tsw_random_below(&state, 5);
		const unsigned shared_bytes = (unsigned)tsw_random_below(&state, 230 << 10);
		const uint32_t units = (uint32_t)(1 + tsw_random_below(&state, round % 2 ? 1 : 60));
		const uint32_t n = (uint32_t)(1 + tsw_random_below(&state, round % 3 ? 40 : 300));
		const uint64_t row = (uint64_t)n * units * unit;
		struct tsw_chunks p = {
			.n = n,
			.units = units,
			.count = 1 + tsw_random_below(&state, 1000),
			.pitch = row + (round % 5 ? 0 : unit),
		};
		struct tsw_kernel kernel;
		uint64_t all;

		p.stride = n * p.pitch + (round % 7 ? 0 : unit);
		if (!tsw_kernel_stream(&p, unit, shared_bytes, &kernel))
			continue;
		all = (uint64_t)p.group * n * n * units;
		tsw_require(
			p.group >= 1 && p.group <= p.count && kernel.shared_bytes <= shared_bytes &&
				p.group * (uint64_t)p.matrix_step <= kernel.shared_bytes &&
				all * n * n < UINT64_C(1) << 31 && all * units < UINT64_C(1) << 31,
			"n = %u, %u units of %u, %u bytes: chunks of %u", n, units, unit,
			shared_bytes, p.group);
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

/* Never more shared memory than the device has, never less than would be used well. */
START_TEST(the_vector_kernel_that_fits_is_taken)
{
	for (unsigned elem_size = 0; elem_size <= 40; elem_size++) {
		int served = elem_size && elem_size <= 16 && (elem_size & (elem_size - 1)) == 0;
		unsigned before = 0;

		ck_assert_ptr_null(tsw_kernel_vector(elem_size, 0, 5000, 1, 1));
		ck_assert_int_eq(tsw_kernel_vector(elem_size, 48 << 10, 5000, 1, 1) != NULL,
				 served);
		for (unsigned most = 1 << 10; served && most <= 1 << 20; most *= 2) {
			const struct tsw_kernel *kernel =
				tsw_kernel_vector(elem_size, most, 5000, 1000, 1);

			if (!kernel)
				continue;
			ck_assert_str_eq(kernel->name, "vector");
			ck_assert_uint_le(kernel->shared_bytes, most);
			ck_assert_uint_ge(kernel->shared_bytes, before);
			/* Both tiles lie there. */
			ck_assert_uint_eq(kernel->shared_bytes,
					  2 * kernel->tile * kernel->tile * elem_size);
			before = kernel->shared_bytes;
		}
	}
}
END_TEST

/* The case of one kernel, named after it, so that CK_RUN_CASE can pick it. */
static TCase *kernel_case(int first, int end)
{
	TCase *tc = tcase_create(subjects[first].name);

	tcase_add_loop_test(tc, shapes, first, end);
	tcase_add_loop_test(tc, shapes_around_a_tile, first, end);
	tcase_add_loop_test(tc, every_order_of_threads, first, end);
	tcase_add_loop_test(tc, split_launches, first, end);
	tcase_add_loop_test(tc, strided_batches, first, end);
	tcase_add_loop_test(tc, arrays_of_matrices, first, end);
	if (!strcmp(subjects[first].name, "stream")) {
		tcase_add_loop_test(tc, chunks_of_small_matrices, 0, STREAMS);
		tcase_add_test(tc, chunks_fit);
	}
	return tc;
}

static Suite *simt_suite(void)
{
	Suite *suite = suite_create("simt");
	TCase *tc = tcase_create("choice");
	int count = (int)COUNT_OF(subjects), end;

	for (int first = 0; first < count; first = end) {
		for (end = first; end < count && !strcmp(subjects[end].name, subjects[first].name);
		     end++)
			;
		suite_add_tcase(suite, kernel_case(first, end));
	}
	tcase_add_test(tc, every_unit_has_a_kernel);
	tcase_add_test(tc, the_vector_kernel_that_fits_is_taken);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){simt_suite}, 1);
}
