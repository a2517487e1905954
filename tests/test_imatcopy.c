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

		if (i % 8 < 4 && i < TSW_IMAT_INDEX(11, 0, 0))
			for (int threads = 1; threads <= 3; threads += 2)
				check(&x, 600 + i % 5, lds[i / 3 % 2], 0, threads);
	}
}
END_TEST

/* Orders that this machine's caches would not ask for, and every instruction set. */
START_TEST(every_order_finishes_its_tiles)
{
	static const char *const names[] = {"avx512", "avx2", "neon", "c"};
	/* A loop of the engine each, by the alphas: 2, (1.5, -0.25), NULL. */
	static const size_t indices[] = {
		TSW_IMAT_INDEX(5, TSW_FLOAT, 1),	  TSW_IMAT_INDEX(9, TSW_DOUBLE, 1),
		TSW_IMAT_INDEX(5, TSW_COMPLEX_FLOAT, 2),  TSW_IMAT_INDEX(9, TSW_COMPLEX_FLOAT, 2),
		TSW_IMAT_INDEX(0, TSW_COMPLEX_FLOAT, 2),  TSW_IMAT_INDEX(5, TSW_COMPLEX_DOUBLE, 2),
		TSW_IMAT_INDEX(9, TSW_COMPLEX_DOUBLE, 2), TSW_IMAT_INDEX(0, TSW_COMPLEX_DOUBLE, 2),
		TSW_IMAT_INDEX(7, TSW_HALF, 1),		  TSW_IMAT_INDEX(7, TSW_BFLOAT16, 1),
	};

	static const size_t lds[] = {307, 320, 307, 321}; /* by the order */

	for (size_t i = 0; i < COUNT_OF(indices) * COUNT_OF(names); i++) {
		const struct tsw_isa *isa = tsw_cpu_isa_named(names[i % COUNT_OF(names)]);
		const struct tsw_imat x = tsw_imat_at(indices[i / COUNT_OF(names)]);

		for (int order = TSW_ROWS; isa && order <= TSW_SLANTS; order++) {
			const size_t n = 301, ld = lds[order];
			struct specimen s = specimen(&x, n, ld, 1, 0, 0);
			struct tsw_matrices m = {.base = s.buffer, .n = n, .ld = ld, .count = 1};
			struct tsw_epilogue e;
			struct tsw_plan plan;

			tsw_assert_ok(tsw_epilogue_of(x.op, x.type, tsw_imat_alpha(&x), &e,
						      &m.elem_size));
			plan = tsw_cpu_plan(&m, isa);
			if (order != TSW_SLANTS || plan.kernel->slants)
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
		check_batch(&x, 2 + i % 6, 2 + i % 6, (2 + i % 6) * (2 + i % 6), 400, 1 + i % 2);
		check_batch(&x, 5, 6, 31, 20, 1);
		check_batch(&x, 33, 40, 33 * 40, 7, 2);
		check_batch(&x, 9, 40, 9, 4, 1); /* side by side */
	}
	for (size_t i = 0; i < 4; i++) {
		const struct tsw_imat x = tsw_imat_at(TSW_IMAT_INDEX(9, TSW_COMPLEX_DOUBLE, i));

		check_batch(&x, 150, 151, 150 * 151, 9, 3);
	}
}
END_TEST

/* ---- 2-byte numbers -------------------------------------------------------------------------- */

/* All there are, times alphas that make subnormals, ties, infinities and NaNs of them, by every
 * instruction set, moved and not. */
START_TEST(every_half_and_bfloat16)
{
	static const float alphas[] = {
		2,
		-0.5f,
		0.1f,
		3,
		1.0009765625f,
		1.5f,
		0x1p-10f,
		0x1p-14f,
		-0x1.8p-20f,
		65504,
		0x1p24f,
		0x1.fffffep127f,
		0x1p-126f,
		0x1p-149f,
		0x1p-134f,
		1e-3f,
		INFINITY,
		-INFINITY,
		NAN,
		__builtin_nanf("0x3fffff"), /* a payload that rounding would carry out of */
		-1,
	};
	static const char *const names[] = {"avx512", "avx2", "neon", "c"};
	enum { N = 256 };
	uint16_t *a = malloc(N * N * sizeof *a), *expected = malloc(N * N * sizeof *a);

	for (size_t i = 0; i < COUNT_OF(names) * COUNT_OF(alphas) * 4; i++) {
		const struct tsw_isa *isa = tsw_cpu_isa_named(names[i / 4 / COUNT_OF(alphas)]);
		const struct tsw_imat x = {.op = "NT"[i % 2],
					   .type = i / 2 % 2 ? TSW_HALF : TSW_BFLOAT16,
					   .re = (double)alphas[i / 4 % COUNT_OF(alphas)]};
		struct tsw_matrices m = {.base = a, .n = N, .ld = N, .count = 1};
		struct tsw_epilogue e;
		struct tsw_plan plan;
		const char *wrong;

		if (!isa)
			continue;
		for (size_t k = 0; k < N * N; k++)
			a[k] = (uint16_t)k;
		memcpy(expected, a, N * N * sizeof *a);
		tsw_oracle_imatcopy(&x, (void *)a, (void *)expected, N, N);
		tsw_assert_ok(tsw_epilogue_of(x.op, x.type, tsw_imat_alpha(&x), &e, &m.elem_size));
		if (x.op == 'N') {
			isa->finish(&e, (void *)a, 0, 1, N * N * sizeof *a);
		} else {
			plan = tsw_cpu_plan(&m, isa);
			plan.finish = &e;
			plan.tile = 64;
			tsw_cpu_run(&plan, &m, 1);
		}
		wrong = tsw_wrong_imatcopy(&x, (void *)a, (void *)expected, N * N * sizeof *a);
		tsw_require(!wrong, "%s: %s", isa->name, wrong);
	}
	free(a);
	free(expected);
}
END_TEST

START_TEST(halves_in_values)
{
	/* 1, 65504, the least subnormal, -2; Inf, NaN, 0.5, -0 */
	uint16_t a[] = {0x3c00, 0x7bff, 0x0001, 0xc000, 0x7c00, 0x7e01, 0x3800, 0x8000, 0x4000};
	static const uint16_t thirds[] = {0x3555, 0xb955, 0x3155, 0x0000, 0x7c00, 0x3955};
	uint16_t b[] = {0x3f80, 0x7f7f, 0x0001, 0xff80}; /* 1, the largest, the least, -Inf */

	tsw_assert_ok(tsw_himatcopy_host('n', 1, 2, a + 1, 1, 1));
	ck_assert_uint_eq(a[1], 0x7c00); /* past the largest */
	a[1] = 0x7bff;
	tsw_assert_ok(tsw_himatcopy_host('T', 3, 1.0f / 3, a, 3, 1));
	ck_assert_uint_eq(a[0], thirds[0]);
	ck_assert_uint_eq(a[1], thirds[1]);
	ck_assert_uint_eq(a[2], thirds[2]);
	ck_assert_uint_eq(a[4], thirds[4]);
	ck_assert_uint_eq(a[6], thirds[3]);
	ck_assert_uint_eq(a[8], thirds[5]);
	ck_assert_uint_eq(a[5], 0x8000);
	ck_assert_uint_gt(a[7] & 0x7fff, 0x7c00); /* NaN */
	tsw_assert_ok(tsw_bimatcopy_host('C', 2, 0.5f, b, 2, 1));
	ck_assert_uint_eq(b[0], 0x3f00);
	ck_assert_uint_eq(b[1], 0);	 /* half of the least is a tie, and goes to even */
	ck_assert_uint_eq(b[2], 0x7eff); /* exact */
	ck_assert_uint_eq(b[3], 0xff80);
	tsw_assert_status(tsw_bimatcopy_host('x', 2, 0.5f, b, 2, 1), TSW_ERR_OP);
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

/* ---- from threads of the caller's ------------------------------------------------------------ */

/* From inside a parallel region of the caller's, which also asks for more threads than there are;
 * large enough for several. */
START_TEST(inside_the_callers_parallel_region)
{
	enum { CALLS = 4 };
	const struct tsw_imat x[CALLS] = {
		tsw_imat_at(TSW_IMAT_INDEX(9, TSW_COMPLEX_FLOAT, 2)),
		tsw_imat_at(TSW_IMAT_INDEX(5, TSW_DOUBLE, 0)),
		tsw_imat_at(TSW_IMAT_INDEX(7, TSW_HALF, 1)),
		tsw_imat_at(TSW_IMAT_INDEX(3, TSW_COMPLEX_DOUBLE, 2)),
	};
	const size_t n = 400, ld = 403;
	struct specimen s[CALLS];
	tsw_status status[CALLS];

	for (int i = 0; i < CALLS; i++)
		s[i] = specimen(&x[i], n, ld, 1, 0, 0);
#pragma omp parallel for num_threads(CALLS) schedule(static, 1)
	for (int i = 0; i < CALLS; i++)
		status[i] = tsw_imatcopy_host(x[i].op, x[i].type, n, tsw_imat_alpha(&x[i]),
					      s[i].buffer, ld, i % 2 ? 3 : 0);
	for (int i = 0; i < CALLS; i++) {
		tsw_assert_ok(status[i]);
		finish(&s[i], &x[i], "in a parallel region", n, ld);
	}
}
END_TEST

/* ---- OpenBLAS and MKL ------------------------------------------------------------------------ */

/* A call of each, row-major: cblas_?imatcopy and MKL_?imatcopy. */
struct peer {
	const char *symbols[4];
	void (*call)(void *symbol, const struct tsw_imat *x, size_t n, void *a, size_t ld);
};

static void call_openblas(void *symbol, const struct tsw_imat *x, size_t n, void *a, size_t ld)
{
	static const char letters[] = "NTCR";
	const int op = 111 + (int)(strchr(letters, x->op) - letters), rows = (int)n,
		  pitch = (int)ld;
	union {
		void *symbol;
		void (*s)(int, int, int, int, float, float *, int, int);
		void (*d)(int, int, int, int, double, double *, int, int);
		void (*z)(int, int, int, int, const void *, void *, int, int);
	} f = {symbol};

	if (x->type == TSW_FLOAT)
		f.s(101, op, rows, rows, (float)x->re, a, pitch, pitch);
	else if (x->type == TSW_DOUBLE)
		f.d(101, op, rows, rows, x->re, a, pitch, pitch);
	else
		f.z(101, op, rows, rows, tsw_imat_alpha(x), a, pitch, pitch);
}

static void call_mkl(void *symbol, const struct tsw_imat *x, size_t n, void *a, size_t ld)
{
	/* MKL_Complex8 and MKL_Complex16 by value. */
	struct complex8 {
		float re, im;
	} c = {(float)x->re, (float)x->im};
	struct complex16 {
		double re, im;
	} z = {x->re, x->im};
	union {
		void *symbol;
		void (*s)(char, char, size_t, size_t, float, void *, size_t, size_t);
		void (*d)(char, char, size_t, size_t, double, void *, size_t, size_t);
		void (*c)(char, char, size_t, size_t, struct complex8, void *, size_t, size_t);
		void (*z)(char, char, size_t, size_t, struct complex16, void *, size_t, size_t);
	} f = {symbol};

	if (x->type == TSW_FLOAT)
		f.s('R', x->op, n, n, c.re, a, ld, ld);
	else if (x->type == TSW_DOUBLE)
		f.d('R', x->op, n, n, z.re, a, ld, ld);
	else if (x->type == TSW_COMPLEX_FLOAT)
		f.c('R', x->op, n, n, c, a, ld, ld);
	else
		f.z('R', x->op, n, n, z, a, ld, ld);
}

static double component(const struct tsw_imat *x, const void *a, size_t i)
{
	return tsw_imat_in_floats(x->type) ? (double)((const float *)a)[i] : ((const double *)a)[i];
}

/* The last place of a float or a double of that size. */
static double ulp_at(const struct tsw_imat *x, double size)
{
	int exponent;

	frexp(size, &exponent);
	return ldexp(1, exponent - (tsw_imat_in_floats(x->type) ? 24 : 53));
}

/* Bytes that are no part of the window included.  A product is rounded once here and there: equal
 * within 2 ulp of it.  A sum of two may lose digits of both, so there it is 2 ulp of the larger of
 * the two. */
static void check_near(const struct tsw_imat *x, const char *who, const void *a, const void *b,
		       size_t components)
{
	const int sum = x->im != 0 && tsw_imat_is_complex(x->type);
	const double largest = 2 * fmax(fabs(x->re), fabs(x->im)); /* components are below 2 */

	for (size_t i = 0; i < components; i++) {
		const double u = component(x, a, i), v = component(x, b, i);

		tsw_require(fabs(u - v) <= 2 * ulp_at(x, sum ? largest : v),
			    "%s: component %zu is %.17g, %s has %.17g", tsw_imat_text(x), i, u, who,
			    v);
	}
}

static void random_numbers(const struct tsw_imat *x, void *a, size_t components, uint64_t *state)
{
	for (size_t k = 0; k < components; k++) { /* within (-2, 2) */
		const double v = (double)(int64_t)tsw_random(state) * 0x1p-62;

		if (tsw_imat_in_floats(x->type))
			((float *)a)[k] = (float)v;
		else
			((double *)a)[k] = v;
	}
}

/* Every op, type and finite alpha; a whole matrix and a window, of a few tiles and of none. */
static void compare_with(const struct peer *peer, const char *who, void *library)
{
	enum { LD = 150 };
	static const size_t shapes[][2] = {{37, 40}, {64, 64}, {1, 1}, {145, LD}};
	static double ours[2 * LD * LD], theirs[2 * LD * LD];
	uint64_t state = tsw_seed();

	for (size_t i = 0; i < tsw_imat_count(); i++) {
		const struct tsw_imat x = tsw_imat_at(i);
		const size_t n = shapes[i / 8 % 4][0], ld = shapes[i / 8 % 4][1];
		const size_t components = ld * ld * (tsw_imat_is_complex(x.type) ? 2 : 1);
		void *symbol;

		if (x.null_alpha || i % 8 >= 4 || !isfinite(x.re) || !isfinite(x.im) ||
		    x.type > TSW_COMPLEX_DOUBLE)
			continue;
		symbol = dlsym(library, peer->symbols[x.type]);
		tsw_require(symbol, "%s has no %s", who, peer->symbols[x.type]);
		random_numbers(&x, ours, components, &state);
		memcpy(theirs, ours, sizeof ours);
		peer->call(symbol, &x, n, theirs, ld);
		tsw_assert_ok(tsw_imatcopy_host(x.op, x.type, n, tsw_imat_alpha(&x), ours, ld, 1));
		check_near(&x, who, ours, theirs, components);
	}
}

/* The first of the names that loads, or the one that the environment says. */
static void *library_of(const char *variable, const char *const names[])
{
	const char *name = getenv(variable);
	void *library = NULL;

	if (name)
		return dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	for (size_t i = 0; !library && names[i]; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
	return library;
}

static void on_one_thread(void *library, const char *setter)
{
	void (*set)(int);

	*(void **)&set = dlsym(library, setter);
	if (set)
		set(1);
}

START_TEST(openblas_agrees)
{
	static const struct peer peer = {
		{"cblas_simatcopy", "cblas_dimatcopy", "cblas_cimatcopy", "cblas_zimatcopy"},
		call_openblas};
	void *library = library_of("TSW_OPENBLAS", (const char *const[]){"libopenblas.so.0", NULL});

	if (!library)
		tsw_skip("no libopenblas.so.0 (TSW_OPENBLAS names another)");
	on_one_thread(library, "openblas_set_num_threads");
	compare_with(&peer, "OpenBLAS", library);
}
END_TEST

START_TEST(mkl_agrees)
{
	static const struct peer peer = {
		{"MKL_Simatcopy", "MKL_Dimatcopy", "MKL_Cimatcopy", "MKL_Zimatcopy"}, call_mkl};
	void *library;

	setenv("MKL_THREADING_LAYER", "SEQUENTIAL",
	       0); /* its other threads are not in this process */
	library = library_of("TSW_MKL", (const char *const[]){"libmkl_rt.so.3", "libmkl_rt.so.2",
							      "libmkl_rt.so", NULL});
	if (!library)
		tsw_skip("no libmkl_rt.so; `pip install mkl` has one (TSW_MKL names it)");
	on_one_thread(library, "MKL_Set_Num_Threads");
	compare_with(&peer, "MKL", library);
}
END_TEST

static Suite *imatcopy_suite(void)
{
	Suite *suite = suite_create("imatcopy");
	TCase *tc = tcase_create("imatcopy");

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
	tcase_add_test(tc, every_half_and_bfloat16);
	tcase_add_test(tc, halves_in_values);
	tcase_add_test(tc, inside_the_callers_parallel_region);
	tcase_add_test(tc, openblas_agrees);
	tcase_add_test(tc, mkl_agrees);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_SAME_PROCESS, (tsw_suite *[]){imatcopy_suite}, 1);
}
