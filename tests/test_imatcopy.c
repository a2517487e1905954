/* imatcopy on the host: every op, type and kind of alpha against one element after the other, bit
 * for bit, padding included; every order of the engine; OpenBLAS where it is installed. */
#include "cpu/cpu.h"
#include "cpu/plan.h"
#include "imatcopy.h"
#include "support/imatcopy.h"

#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- against the oracle ---------------------------------------------------------------------- */

/* `offset` bytes, then the matrix, then what its last row leaves of ld. */
struct specimen {
	unsigned char *buffer, *expected;
	size_t bytes, offset;
};

static struct specimen specimen(const struct tsw_imat *x, size_t n, size_t ld, size_t count,
				size_t stride, size_t offset)
{
	const size_t size = tsw_imat_size(x->type);
	struct specimen s = {.bytes = offset + ((count - 1) * stride + n * ld) * size + 1,
			     .offset = offset};

	s.buffer = malloc(s.bytes);
	s.expected = malloc(s.bytes);
	ck_assert(s.buffer && s.expected);
	tsw_fill(s.buffer + offset, s.bytes - offset);
	memset(s.buffer, 0xa5, offset);
	memcpy(s.expected, s.buffer, s.bytes);
	for (size_t b = 0; b < count; b++)
		tsw_oracle_imatcopy(x, s.buffer + offset + b * stride * size,
				    s.expected + offset + b * stride * size, n, ld);
	return s;
}

static void finish(struct specimen *s, const struct tsw_imat *x, const char *what, size_t n,
		   size_t ld)
{
	const char *wrong = tsw_wrong_bytes(s->buffer, s->expected, s->offset);

	if (!wrong)
		wrong = tsw_wrong_imatcopy(x, s->buffer + s->offset, s->expected + s->offset,
					   s->bytes - s->offset - 1);
	tsw_require(!wrong && s->buffer[s->bytes - 1] == s->expected[s->bytes - 1],
		    "%s, %s, n = %zu, ld = %zu, offset %zu: %s", tsw_imat_text(x), what, n, ld,
		    s->offset, wrong ? wrong : "the byte behind the matrix is spoilt");
	free(s->buffer);
	free(s->expected);
}

static void check(const struct tsw_imat *x, size_t n, size_t ld, size_t offset, int threads)
{
	struct specimen s = specimen(x, n, ld, 1, 0, offset);

	tsw_assert_ok(tsw_imatcopy_host(x->op, x->type, n, tsw_imat_alpha(x), s.buffer + offset, ld,
					threads));
	finish(&s, x, threads == 1 ? "one thread" : "threads", n, ld);
}

START_TEST(every_case_on_small_matrices)
{
	static const size_t sides[] = {0, 1, 2, 3, 7, 31, 32, 33};
	static const size_t wider[] = {0, 1, 13}, offsets[] = {0, 1, 8};

	for (size_t i = 0; i < tsw_imat_count(); i++) {
		const struct tsw_imat x = tsw_imat_at(i);

		for (size_t s = 0; s < COUNT_OF(sides); s++)
			for (size_t w = 0; w < COUNT_OF(wider); w++)
				check(&x, sides[s], sides[s] + wider[w], offsets[(s + w + i) % 3],
				      1);
	}
}
END_TEST

START_TEST(every_case_on_larger_ones)
{
	static const size_t sides[] = {100, 257};

	for (size_t i = 0; i < tsw_imat_count(); i++) {
		const struct tsw_imat x = tsw_imat_at(i);

		if (i % 8 < 4) /* the letters are alike in either case, as seen above */
			for (size_t s = 0; s < COUNT_OF(sides); s++)
				check(&x, sides[s], sides[s] + (i + s) % 3, i % 2 * 4, 3);
	}
}
END_TEST

/* Past the second-level cache, rows that collide in it and rows that do not. */
START_TEST(matrices_of_many_tiles)
{
	static const size_t lds[] = {1024, 1031};

	for (size_t i = 0; i < tsw_imat_count(); i += 3) {
		const struct tsw_imat x = tsw_imat_at(i);

		if (i % 8 < 4 && i / 32 < 11)
			for (int threads = 1; threads <= 3; threads += 2)
				check(&x, 600 + i % 5, lds[i / 3 % 2], 0, threads);
	}
}
END_TEST

/* Orders that this machine's caches would not ask for, and every instruction set. */
START_TEST(every_order_finishes_its_tiles)
{
	static const char *const names[] = {"avx512", "avx2", "neon", "c"};
	static const size_t indices[] = {32 * 5 + 1, 32 * 9 + 8 + 1, 32 * 9 + 16 + 2,
					 32 * 9 + 24 + 2, 24 + 2};

	for (size_t i = 0; i < COUNT_OF(indices) * COUNT_OF(names); i++) {
		const struct tsw_isa *isa = tsw_cpu_isa_named(names[i % COUNT_OF(names)]);
		const struct tsw_imat x = tsw_imat_at(indices[i / COUNT_OF(names)]);

		for (int order = TSW_ROWS; isa && order <= TSW_STAGED; order++) {
			const size_t n = 301, ld = order == TSW_DIAGONALS ? 320 : 307;
			struct specimen s = specimen(&x, n, ld, 1, 0, 0);
			struct tsw_matrices m = {.base = s.buffer, .n = n, .ld = ld, .count = 1};
			struct tsw_epilogue e;
			struct tsw_plan plan;

			tsw_assert_ok(tsw_epilogue_of(x.op, x.type, tsw_imat_alpha(&x), &e,
						      &m.elem_size));
			plan = tsw_cpu_plan(&m, isa);
			plan.order = (enum tsw_order)order;
			plan.tile = 4 * plan.block;
			plan.finish = &e;
			tsw_cpu_run(&plan, &m, 2);
			finish(&s, &x, isa->name, n, ld);
		}
	}
}
END_TEST

static void check_batch(const struct tsw_imat *x, size_t n, size_t ld, size_t stride, size_t count,
			int threads)
{
	struct specimen s = specimen(x, n, ld, count, stride, 0);

	tsw_assert_ok(tsw_imatcopy_batch_host(x->op, x->type, n, tsw_imat_alpha(x), s.buffer, ld,
					      stride, count, threads));
	finish(&s, x, "batch", n, ld);
}

START_TEST(batches)
{
	for (size_t i = 0; i < tsw_imat_count(); i += 5) {
		const struct tsw_imat x = tsw_imat_at(i);

		check_batch(&x, 1, 1, 3, 50, 1);
		check_batch(&x, 5, 6, 31, 20, 1);
		check_batch(&x, 33, 40, 33 * 40, 7, 2);
		check_batch(&x, 9, 40, 9, 4, 1); /* side by side */
	}
	for (size_t i = 0; i < 4; i++) {
		const struct tsw_imat x = tsw_imat_at(32 * 9 + 24 + i);

		check_batch(&x, 150, 151, 150 * 151, 9, 3);
	}
}
END_TEST

/* ---- what the header says, in values --------------------------------------------------------- */

START_TEST(bits_move_and_signs_flip)
{
	const uint64_t payload = 0x7ff4000000abcdefu, negative_zero = 0x8000000000000000u;
	uint64_t a[8] = {payload, payload, 1, 2, 3, negative_zero, 5, 0};
	const uint64_t sign = negative_zero;

	tsw_assert_ok(tsw_imatcopy_host('C', TSW_COMPLEX_DOUBLE, 2, NULL, a, 2, 1));
	ck_assert_uint_eq(a[0], payload);
	ck_assert_uint_eq(a[1], payload | sign);
	ck_assert_uint_eq(a[2], 3);
	ck_assert_uint_eq(a[3], 0);
	ck_assert_uint_eq(a[4], 1);
	ck_assert_uint_eq(a[5], 2 | sign);
	ck_assert_uint_eq(a[6], 5);
	ck_assert_uint_eq(a[7], sign);
}
END_TEST

START_TEST(zero_wipes_out_nan_and_infinity)
{
	const double zero[2] = {-0.0, 0};
	double a[8] = {NAN, INFINITY, -INFINITY, NAN, 1, 2, 3, -0.0};
	static const double zeros[8];

	tsw_assert_ok(tsw_imatcopy_host('n', TSW_COMPLEX_DOUBLE, 2, zero, a, 2, 0));
	ck_assert_int_eq(memcmp(a, zeros, sizeof a), 0);
}
END_TEST

START_TEST(infinity_stays_beside_a_finite_partner)
{
	const float two[2] = {2, -0.0f};
	float a[2] = {INFINITY, 3};

	tsw_assert_ok(tsw_imatcopy_host('R', TSW_COMPLEX_FLOAT, 1, two, a, 1, 0));
	ck_assert(isinf(a[0]) && a[0] > 0);
	ck_assert(a[1] == -6);
}
END_TEST

START_TEST(the_typed_calls_are_the_typed_calls)
{
	float s[4] = {1, 2, 3, 4};
	double d[4] = {1, 2, 3, 4};
	float _Complex c[1] = {3 + 4 * I};
	double _Complex z[4] = {1, 2, 3 + 1 * I, 4};

	tsw_assert_ok(tsw_simatcopy_host('T', 2, 2, s, 2, 1));
	ck_assert(s[1] == 6 && s[2] == 4);
	tsw_assert_ok(tsw_dimatcopy_host('t', 2, -1, d, 2, 1));
	ck_assert(d[1] == -3 && d[2] == -2);
	tsw_assert_ok(tsw_cimatcopy_host('N', 1, I, c, 1, 1));
	ck_assert(crealf(c[0]) == -4 && cimagf(c[0]) == 3);
	tsw_assert_ok(tsw_zimatcopy_host('c', 2, 2 * I, z, 2, 1));
	ck_assert(creal(z[1]) == 2 && cimag(z[1]) == 6); /* 2i (3 - i) */
	tsw_assert_status(tsw_simatcopy_host('x', 2, 2, s, 2, 1), TSW_ERR_OP);
}
END_TEST

START_TEST(the_device_wants_the_units_alignment)
{
	static double a[9];

	tsw_assert_status(
		tsw_imatcopy_device('T', TSW_COMPLEX_DOUBLE, 2, NULL, (char *)a + 4, 2, NULL),
		TSW_ERR_ALIGN);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "multiple of 8"));
	tsw_assert_status(tsw_imatcopy_device('N', TSW_FLOAT, 2, NULL, (char *)a + 2, 2, NULL),
			  TSW_ERR_ALIGN);
}
END_TEST

/* ---- OpenBLAS -------------------------------------------------------------------------------- */

/* Calls cblas_?imatcopy, row-major. */
static int openblas(const struct tsw_imat *x, int n, void *a, int ld)
{
	static const char letters[] = "NTCR";
	static const char *const names[] = {"cblas_simatcopy", "cblas_dimatcopy", "cblas_cimatcopy",
					    "cblas_zimatcopy"};
	static void *library;
	const int op = 111 + (int)(strchr(letters, x->op) - letters);
	void (*set_threads)(int);
	void *symbol;

	if (!library)
		library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library || !(symbol = dlsym(library, names[x->type])))
		return -1;
	*(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
	if (set_threads)
		set_threads(1);
	if (x->type == TSW_FLOAT) {
		void (*f)(int, int, int, int, float, float *, int, int);

		*(void **)&f = symbol;
		f(101, op, n, n, (float)x->re, a, ld, ld);
	} else if (x->type == TSW_DOUBLE) {
		void (*f)(int, int, int, int, double, double *, int, int);

		*(void **)&f = symbol;
		f(101, op, n, n, x->re, a, ld, ld);
	} else {
		void (*f)(int, int, int, int, const void *, void *, int, int);

		*(void **)&f = symbol;
		f(101, op, n, n, tsw_imat_alpha(x), a, ld, ld);
	}
	return 0;
}

static double component(const struct tsw_imat *x, const void *a, size_t i)
{
	return x->type == TSW_FLOAT || x->type == TSW_COMPLEX_FLOAT ? (double)((const float *)a)[i]
								    : ((const double *)a)[i];
}

/* Within 2 ulp of the larger of the products that were added. */
static void check_near(const struct tsw_imat *x, const void *a, const void *b, size_t components)
{
	const int single = x->type == TSW_FLOAT || x->type == TSW_COMPLEX_FLOAT;
	const double ulp = single ? 0x1p-23 : 0x1p-52, most = 2 * (fabs(x->re) + fabs(x->im));

	for (size_t i = 0; i < components; i++) {
		const double u = component(x, a, i), v = component(x, b, i);
		const int sum = x->im != 0 && x->type >= TSW_COMPLEX_FLOAT;

		tsw_require(fabs(u - v) <= 2 * ulp * (sum ? most : fabs(v)),
			    "%s: component %zu is %.17g, OpenBLAS has %.17g", tsw_imat_text(x), i,
			    u, v);
	}
}

START_TEST(openblas_agrees)
{
	enum { N = 37, LD = 40 };
	static double ours[2 * N * LD], theirs[2 * N * LD];
	uint64_t state = tsw_seed();

	for (size_t i = 0; i < tsw_imat_count(); i++) {
		const struct tsw_imat x = tsw_imat_at(i);
		const size_t components = sizeof ours / 8 / (x.type >= TSW_COMPLEX_FLOAT ? 1 : 2);

		if (x.null_alpha || i % 8 >= 4 || !isfinite(x.re) || !isfinite(x.im))
			continue;
		for (size_t k = 0; k < components; k++) { /* within (-2, 2) */
			const double v = (double)(int64_t)tsw_random(&state) * 0x1p-62;

			if (x.type == TSW_FLOAT || x.type == TSW_COMPLEX_FLOAT)
				((float *)ours)[k] = (float)v;
			else
				ours[k] = v;
		}
		memcpy(theirs, ours, sizeof ours);
		if (openblas(&x, N, theirs, LD))
			tsw_skip("libopenblas.so.0 is not installed");
		tsw_assert_ok(tsw_imatcopy_host(x.op, x.type, N, tsw_imat_alpha(&x), ours, LD, 1));
		check_near(&x, ours, theirs, components);
	}
}
END_TEST

static Suite *imatcopy_suite(void)
{
	Suite *suite = suite_create("imatcopy");
	TCase *tc = tcase_create("imatcopy");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, every_case_on_small_matrices);
	tcase_add_test(tc, every_case_on_larger_ones);
	tcase_add_test(tc, matrices_of_many_tiles);
	tcase_add_test(tc, every_order_finishes_its_tiles);
	tcase_add_test(tc, batches);
	tcase_add_test(tc, bits_move_and_signs_flip);
	tcase_add_test(tc, zero_wipes_out_nan_and_infinity);
	tcase_add_test(tc, infinity_stays_beside_a_finite_partner);
	tcase_add_test(tc, the_typed_calls_are_the_typed_calls);
	tcase_add_test(tc, the_device_wants_the_units_alignment);
	tcase_add_test(tc, openblas_agrees);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_SAME_PROCESS, (tsw_suite *[]){imatcopy_suite}, 1);
}
