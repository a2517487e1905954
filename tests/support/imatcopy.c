#include "imatcopy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char ops[] = "NTCRntcr";

static const struct {
	int null;
	double re, im;
} alphas[] = {
	{1, 0, 0},    {0, 1, 0},	{0, 1, -0.0}, {0, 0, 0},
	{0, -0.0, 0}, {0, 2, 0},	{0, -1, 0},   {0, 0.1, -0.0},
	{0, 0, 1},    {0, 1.5, -0.25},	{0, -3, 1e3}, {0, INFINITY, 0},
	{0, NAN, 0},  {0, 0, INFINITY}, {0, 1, NAN},  {0, 1, 1e-30},
};

size_t tsw_imat_count(void)
{
	return strlen(ops) * 4 * COUNT_OF(alphas);
}

struct tsw_imat tsw_imat_at(size_t index)
{
	const size_t alpha = index / 32 % COUNT_OF(alphas);

	return (struct tsw_imat){
		.op = ops[index % 8],
		.type = (tsw_type)(index / 8 % 4),
		.null_alpha = alphas[alpha].null,
		.re = alphas[alpha].re,
		.im = alphas[alpha].im,
	};
}

static int is_double(tsw_type type)
{
	return type == TSW_DOUBLE || type == TSW_COMPLEX_DOUBLE;
}

static int is_complex(tsw_type type)
{
	return type == TSW_COMPLEX_FLOAT || type == TSW_COMPLEX_DOUBLE;
}

size_t tsw_imat_size(tsw_type type)
{
	return (size_t)(is_double(type) ? 8 : 4) * (is_complex(type) ? 2 : 1);
}

const void *tsw_imat_alpha(const struct tsw_imat *x)
{
	static _Thread_local float f[2];
	static _Thread_local double d[2];

	if (x->null_alpha)
		return NULL;
	f[0] = (float)x->re;
	f[1] = (float)x->im;
	d[0] = x->re;
	d[1] = x->im;
	return is_double(x->type) ? (void *)d : (void *)f;
}

const char *tsw_imat_text(const struct tsw_imat *x)
{
	static _Thread_local char text[80];

	if (x->null_alpha)
		snprintf(text, sizeof text, "op %c, type %d, alpha NULL", x->op, x->type);
	else
		snprintf(text, sizeof text, "op %c, type %d, alpha (%g, %g)", x->op, x->type, x->re,
			 is_complex(x->type) ? x->im : 0);
	return text;
}

static int conjugates(const struct tsw_imat *x)
{
	return is_complex(x->type) && strchr("CcRr", x->op) != NULL;
}

static double alpha_im(const struct tsw_imat *x)
{
	return is_complex(x->type) ? x->im : 0;
}

static int moves_bits(const struct tsw_imat *x)
{
	return x->null_alpha || (x->re == 1 && alpha_im(x) == 0);
}

/* One element: the same text for both precisions. */
#define DEFINE_ELEMENT(real)                                                                       \
	static void element_##real(const struct tsw_imat *x, const unsigned char *from,            \
				   unsigned char *to)                                              \
	{                                                                                          \
		const real a = (real)x->re, b = (real)alpha_im(x);                                 \
		real v[2] = {0, 0}, out[2];                                                        \
                                                                                                   \
		memcpy(v, from, tsw_imat_size(x->type));                                           \
		if (conjugates(x))                                                                 \
			v[1] = -v[1];                                                              \
		out[0] = v[0] * a;                                                                 \
		out[1] = v[1] * a;                                                                 \
		if (b != 0) {                                                                      \
			const real yb = v[1] * b, xb = v[0] * b;                                   \
                                                                                                   \
			out[0] = out[0] - yb;                                                      \
			out[1] = xb + out[1];                                                      \
		} else if (a == 0) {                                                               \
			out[0] = out[1] = 0;                                                       \
		}                                                                                  \
		memcpy(to, out, tsw_imat_size(x->type));                                           \
	}

DEFINE_ELEMENT(float)
DEFINE_ELEMENT(double)

static void element(const struct tsw_imat *x, const unsigned char *from, unsigned char *to)
{
	const size_t size = tsw_imat_size(x->type);

	if (moves_bits(x)) {
		memcpy(to, from, size);
		if (conjugates(x))
			to[size - 1] ^=
				0x80; /* little-endian: the last byte of the imaginary part */
	} else if (is_double(x->type)) {
		element_double(x, from, to);
	} else {
		element_float(x, from, to);
	}
}

void tsw_oracle_imatcopy(const struct tsw_imat *x, const unsigned char *before,
			 unsigned char *after, size_t n, size_t ld)
{
	const size_t size = tsw_imat_size(x->type);
	const int transposes = strchr("TtCc", x->op) != NULL;

	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c++)
			element(x, before + (transposes ? c * ld + r : r * ld + c) * size,
				after + (r * ld + c) * size);
}

static int is_nan_at(tsw_type type, const unsigned char *p)
{
	float f;
	double d;

	if (is_double(type)) {
		memcpy(&d, p, sizeof d);
		return isnan(d);
	}
	memcpy(&f, p, sizeof f);
	return isnan(f);
}

const char *tsw_wrong_imatcopy(const struct tsw_imat *x, const unsigned char *a,
			       const unsigned char *expected, size_t bytes)
{
	const size_t step = is_double(x->type) ? 8 : 4;
	static _Thread_local char text[160];

	if (moves_bits(x) || memcmp(a, expected, bytes) == 0)
		return tsw_wrong_bytes(a, expected, bytes);
	for (size_t at = 0; at < bytes; at += step) {
		if (memcmp(a + at, expected + at, step) == 0)
			continue;
		if (is_nan_at(x->type, a + at) && is_nan_at(x->type, expected + at))
			continue;
		snprintf(text, sizeof text, "%s: component %zu is wrong", tsw_imat_text(x),
			 at / step);
		return text;
	}
	return NULL;
}
