/* The text of imatcopy's kernels, run by tests/simt: every type, kind of alpha and form of kernel,
 * odd shapes and addresses, several orders of threads; what is not the window may not be written.
 */
#include "imatcopy.h"
#include "launch.h"
#include "launch_simt.h"
#include "matrices.h"
#include "support/imatcopy.h"
#include "tilepair.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

SIMT_DEFINE_CALL(tsw_tiles)
SIMT_DEFINE_CALL(tsw_chunks)

enum form { VECTOR, SHIFTED, STREAM, ROWS };

static const char *const form_names[] = {"vector", "shifted", "stream", "rows"};

/* A type in a form of a kernel, and the bytes that every row begins at a multiple of. */
static const struct subject {
	tsw_type type;
	enum form form;
	unsigned shared_bytes; /* little of it makes small tiles */
	size_t alignment;
} subjects[] = {
	{TSW_FLOAT, VECTOR, 1 << 20, 16},
	{TSW_DOUBLE, VECTOR, 1 << 20, 16},
	{TSW_COMPLEX_FLOAT, VECTOR, 1 << 20, 16},
	{TSW_COMPLEX_DOUBLE, VECTOR, 1 << 20, 16},
	{TSW_FLOAT, SHIFTED, 1 << 20, 4},
	{TSW_FLOAT, SHIFTED, 48 << 10, 4},
	{TSW_DOUBLE, SHIFTED, 1 << 20, 8},
	{TSW_DOUBLE, SHIFTED, 48 << 10, 8},
	{TSW_COMPLEX_FLOAT, SHIFTED, 1 << 20, 8},
	{TSW_COMPLEX_FLOAT, SHIFTED, 48 << 10, 8},
	{TSW_COMPLEX_DOUBLE, SHIFTED, 44 << 10, 8},
	{TSW_COMPLEX_DOUBLE, SHIFTED, 44 << 10, 16},
	{TSW_HALF, VECTOR, 1 << 20, 16},
	{TSW_BFLOAT16, VECTOR, 48 << 10, 16},
	{TSW_HALF, SHIFTED, 1 << 20, 2},
	{TSW_HALF, SHIFTED, 48 << 10, 2},
	{TSW_BFLOAT16, SHIFTED, 1 << 20, 2},
	{TSW_BFLOAT16, SHIFTED, 48 << 10, 2},
	{TSW_DOUBLE, VECTOR, 16 << 10, 16},
	{TSW_FLOAT, STREAM, 1 << 20, 4},
	{TSW_DOUBLE, STREAM, 1 << 20, 8},
	{TSW_COMPLEX_FLOAT, STREAM, 1 << 20, 8},
	{TSW_COMPLEX_DOUBLE, STREAM, 1 << 20, 8},
	{TSW_COMPLEX_DOUBLE, STREAM, 1 << 20, 16},
	{TSW_HALF, STREAM, 1 << 20, 2},
	{TSW_BFLOAT16, STREAM, 1 << 20, 2},
	{TSW_HALF, ROWS, 0, 2},
	{TSW_BFLOAT16, ROWS, 0, 2},
	{TSW_FLOAT, ROWS, 0, 4},
	{TSW_DOUBLE, ROWS, 0, 8},
	{TSW_COMPLEX_FLOAT, ROWS, 0, 8},
	{TSW_COMPLEX_DOUBLE, ROWS, 0, 8},
};

struct job {
	const struct subject *subject;
	struct tsw_imat x;
	size_t n, ld, stride, count;
	size_t offset; /* bytes from a multiple of 16 to the first matrix */
	uint64_t grid_limit, order;
};

/* A kernel, its parameter and how many blocks it takes, as src/cuda/transpose.c has it. */
struct work {
	struct tsw_kernel kernel;
	struct tsw_tiles tiles;
	struct tsw_chunks chunks;
	uint64_t blocks;
};

static void prepare_stream(const struct job *job, const struct tsw_tiles *t, size_t size,
			   struct work *w)
{
	const unsigned unit = size == 16 && job->subject->alignment == 16 ? 16
			      : size > 8				  ? 8
									  : (unsigned)size;
	w->chunks = (struct tsw_chunks){.base = t->base,
					.stride = t->stride,
					.count = job->count,
					.pitch = job->ld * size,
					.n = (uint32_t)job->n,
					.units = (uint32_t)size / unit,
					.epilogue = t->epilogue};
	ck_assert(tsw_kernel_stream(&w->chunks, unit, job->subject->shared_bytes, &w->kernel));
	tsw_kernel_imatcopy_stream(&w->chunks, &w->kernel);
	w->blocks = (job->count + w->chunks.group - 1) / w->chunks.group;
}

static void prepare(const struct job *job, size_t size, struct work *w)
{
	const struct subject *s = job->subject;

	if (s->form == STREAM) {
		prepare_stream(job, &w->tiles, size, w);
	} else if (s->form == ROWS) {
		tsw_kernel_rows(&w->tiles, job->count, &w->kernel, &w->blocks);
	} else {
		ck_assert(tsw_kernel_imatcopy(&w->tiles, job->count, s->form == VECTOR,
					      s->shared_bytes, &w->kernel));
		w->tiles.tiles = (uint32_t)tsw_tile_count(job->n, w->kernel.tile);
		w->tiles.pairs = tsw_pair_count(w->tiles.tiles);
		w->blocks = w->tiles.pairs * job->count;
	}
	ck_assert_str_eq(w->kernel.name, form_names[s->form]);
	ck_assert_uint_le(w->kernel.shared_bytes, s->form == ROWS ? 0 : s->shared_bytes);
}

static const char *launch(const struct job *job, unsigned char *base)
{
	size_t size;
	struct work w = {.tiles = {.base = (char *)base, .n = job->n, .ld = job->ld}};

	tsw_assert_ok(tsw_epilogue_of(job->x.op, job->x.type, tsw_imat_alpha(&job->x),
				      &w.tiles.epilogue, &size));
	w.tiles.stride = job->stride * size;
	prepare(job, size, &w);
	if (job->subject->form == STREAM)
		return simt_launch_split(&w.kernel, simt_call_tsw_chunks, &w.chunks,
					 &w.chunks.first, w.blocks, job->grid_limit, job->order);
	return simt_launch_split(&w.kernel, simt_call_tsw_tiles, &w.tiles, &w.tiles.first, w.blocks,
				 job->grid_limit, job->order);
}

/* Matrices `stride` apart; the padding of one may be read but not written. */
static void check(const struct job *job)
{
	const size_t size = tsw_imat_size(job->x.type);
	const size_t bytes =
		job->offset +
		((job->count - 1) * job->stride + (job->n - 1) * job->ld + job->n) * size;
	unsigned char *buffer = aligned_alloc(64, (bytes + 127) / 64 * 64);
	unsigned char *a = buffer + job->offset, *expected = malloc(bytes);
	const char *wrong;

	ck_assert(buffer && expected);
	tsw_fill(buffer, bytes);
	memcpy(expected, buffer, bytes);
	simt_allow_nothing();
	if (job->count == 1 && job->ld > job->n)
		simt_allow(a, bytes - job->offset, job->n * size, job->ld * size);
	else
		simt_allow(a, bytes - job->offset, 0, 0);
	if (job->offset) /* what a vector holds before the matrix may be read */
		simt_allow(buffer, job->offset, 0, 1);
	for (size_t b = 0; b < job->count; b++) {
		const size_t at = b * job->stride * size;

		tsw_oracle_imatcopy(&job->x, a + at, expected + job->offset + at, job->n, job->ld);
	}
	wrong = launch(job, a);
	if (!wrong)
		wrong = tsw_wrong_bytes(buffer, expected, job->offset);
	if (!wrong)
		wrong = tsw_wrong_imatcopy(&job->x, a, expected + job->offset, bytes - job->offset);
	tsw_require(!wrong, "%s, %s, n = %zu, ld = %zu, offset = %zu, order = %ju: %s",
		    form_names[job->subject->form], tsw_imat_text(&job->x), job->n, job->ld,
		    job->offset, (uintmax_t)job->order, wrong);
	free(buffer);
	free(expected);
}

/* Does this case come to this form of kernel? */
static int belongs(const struct subject *s, const struct tsw_imat *x)
{
	struct tsw_epilogue e;
	size_t size;

	tsw_assert_ok(tsw_epilogue_of(x->op, x->type, tsw_imat_alpha(x), &e, &size));
	if (x->type != s->type || e.kind == TSW_KEEP || x->op >= 'a')
		return 0;
	return (s->form == ROWS) == (!e.transposes || e.kind == TSW_ZERO);
}

static size_t rounded(const struct subject *s, size_t elements)
{
	const size_t size = tsw_imat_size(s->type);
	const size_t step = s->alignment > size ? s->alignment / size : 1;

	return (elements + step - 1) / step * step;
}

static size_t offset_of(const struct subject *s, size_t step)
{
	return step * s->alignment % 32;
}

START_TEST(every_kind_of_alpha)
{
	const struct subject *s = &subjects[_i];
	unsigned made = 0;

	for (size_t i = 0; i < tsw_imat_count(); i++) {
		const struct tsw_imat x = tsw_imat_at(i);

		if (!belongs(s, &x))
			continue;
		check(&(struct job){s, x, 37, rounded(s, 38), 0, 1, offset_of(s, i), 0, i % 3});
		made++;
	}
	ck_assert_uint_gt(made, 10);
}
END_TEST

/* One case of each kind. */
static size_t next_case(const struct subject *s, size_t from)
{
	for (size_t i = from; i < tsw_imat_count(); i++) {
		const struct tsw_imat x = tsw_imat_at(i);

		if (belongs(s, &x))
			return i;
	}
	return from ? next_case(s, 0) : 0;
}

START_TEST(shapes_and_addresses)
{
	static const size_t sides[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 129, 600};
	const struct subject *s = &subjects[_i];
	uint64_t state = tsw_seed();
	size_t i = next_case(s, 0);

	for (size_t k = 0; k < COUNT_OF(sides); k++)
		for (size_t w = 0; w < 3; w++, i = next_case(s, i + 1)) {
			const size_t n = sides[k];

			if (n > 65 && (w != k % 3 || (n == 600 && s->form != ROWS)))
				continue; /* time */
			if (s->form == STREAM && n > 65)
				continue; /* not served */
			check(&(struct job){s, tsw_imat_at(i), n, rounded(s, n + w * 5), 0, 1,
					    offset_of(s, k + w), w == 1 ? 3 : 0,
					    w < 2 ? w : tsw_random(&state) | 2});
		}
}
END_TEST

START_TEST(batches)
{
	const struct subject *s = &subjects[_i];
	size_t i = next_case(s, 0);

	for (size_t k = 0; k < 4; k++, i = next_case(s, i + 1)) {
		const struct tsw_imat x = tsw_imat_at(i);

		check(&(struct job){s, x, 1, rounded(s, 1), rounded(s, 2), 20, 0, 7, 0});
		check(&(struct job){s, x, 33, rounded(s, 34), rounded(s, 1500), 3, offset_of(s, k),
				    0, 1});
		if (s->form == STREAM || s->form == ROWS) { /* dense, and almost */
			check(&(struct job){s, x, 5 + k, 5 + k, (5 + k) * (5 + k), 300,
					    offset_of(s, k), 0, k});
			check(&(struct job){s, x, 5 + k, 5 + k, (5 + k) * (5 + k) + 3, 70,
					    offset_of(s, k), 2, 0});
		}
	}
}
END_TEST

static Suite *simt_suite(void)
{
	Suite *suite = suite_create("simt imatcopy");
	TCase *tc = tcase_create("kernels");

	tcase_add_loop_test(tc, every_kind_of_alpha, 0, (int)COUNT_OF(subjects));
	tcase_add_loop_test(tc, shapes_and_addresses, 0, (int)COUNT_OF(subjects));
	tcase_add_loop_test(tc, batches, 0, (int)COUNT_OF(subjects));
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){simt_suite}, 1);
}
