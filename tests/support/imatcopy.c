#include "imatcopy.h"

#include <float.h>
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
	return TSW_IMAT_INDEX(COUNT_OF(alphas), 0, 0);
}

struct tsw_imat tsw_imat_at(size_t index)
{
	const size_t alpha = index / TSW_IMAT_INDEX(1, 0, 0) % COUNT_OF(alphas);

	return (struct tsw_imat){
		.op = ops[index % TSW_IMAT_OPS],
		.type = (tsw_type)(index / TSW_IMAT_OPS % TSW_IMAT_TYPES),
		.null_alpha = alphas[alpha].null,
		.re = alphas[alpha].re,
		.im = alphas[alpha].im,
	};
}

static int is_double(tsw_type type)
{
	return type == TSW_DOUBLE || type == TSW_COMPLEX_DOUBLE;
}

int tsw_imat_in_floats(tsw_type type)
{
	return !is_double(type);
}

static int is_narrow(tsw_type type)
{
	return type == TSW_HALF || type == TSW_BFLOAT16;
}

int tsw_imat_is_complex(tsw_type type)
{
	return type == TSW_COMPLEX_FLOAT || type == TSW_COMPLEX_DOUBLE;
}

size_t tsw_imat_size(tsw_type type)
{
	return (size_t)(is_double(type)	  ? 8
			: is_narrow(type) ? 2
					  : 4) *
	       (tsw_imat_is_complex(type) ? 2 : 1);
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

size_t tsw_imat_alpha_bytes(tsw_type type)
{
	return (size_t)(is_double(type) ? 8 : 4) * (tsw_imat_is_complex(type) ? 2 : 1);
}

const char *tsw_imat_text(const struct tsw_imat *x)
{
	static _Thread_local char text[80];

	if (x->null_alpha)
		snprintf(text, sizeof text, "op %c, type %d, alpha NULL", x->op, x->type);
	else
		snprintf(text, sizeof text, "op %c, type %d, alpha (%g, %g)", x->op, x->type, x->re,
			 tsw_imat_is_complex(x->type) ? x->im : 0);
	return text;
}

static int conjugates(const struct tsw_imat *x)
{
	return tsw_imat_is_complex(x->type) && strchr("CcRr", x->op) != NULL;
}

static double alpha_im(const struct tsw_imat *x)
{
	return tsw_imat_is_complex(x->type) ? x->im : 0;
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

/* A 2-byte number: sign, exponent, `digits` - 1 bits of fraction. */
struct narrow {
	int digits, least; /* the exponent of the least number that is not subnormal */
};

static struct narrow narrow_of(tsw_type type)
{
	return type == TSW_HALF ? (struct narrow){11, -14} : (struct narrow){8, -126};
}

static float widened(struct narrow t, uint16_t bits)
{
	const int exponent = (bits & 0x7fff) >> (t.digits - 1), hidden = 1 << (t.digits - 1);
	const int fraction = bits & (hidden - 1), sign = bits >> 15 ? -1 : 1;

	if (exponent == 3 - 2 * t.least) /* all ones */
		return fraction ? NAN : (float)sign * INFINITY;
	if (exponent == 0)
		return (float)sign * ldexpf((float)fraction, t.least - (t.digits - 1));
	return (float)sign *
	       ldexpf((float)(hidden + fraction), exponent - 1 + t.least - (t.digits - 1));
}

static uint16_t narrowed(struct narrow t, float x)
{
	const unsigned sign = signbit(x) ? 0x8000 : 0, hidden = 1u << (t.digits - 1);
	const unsigned infinite = (unsigned)(3 - 2 * t.least) << (t.digits - 1);
	const double size = fabs((double)x);
	int exponent = size > 0 && size <= DBL_MAX ? ilogb(size) : t.least;
	double steps;

	if (isnan(x))
		return (uint16_t)(infinite | 1);
	if (isinf(x))
		return (uint16_t)(sign | infinite);
	if (exponent < t.least)
		exponent = t.least;
	steps = nearbyint(ldexp(size, t.digits - 1 - exponent)); /* ties to even */
	if (steps < hidden)
		return (uint16_t)(sign | (unsigned)steps);
	/* A carry runs into the exponent. */
	steps += (double)((unsigned)(exponent - t.least + 1) << (t.digits - 1)) - hidden;
	return (uint16_t)(sign | (steps < infinite ? (unsigned)steps : infinite));
}

static void element_narrow(const struct tsw_imat *x, const unsigned char *from, unsigned char *to)
{
	const struct narrow t = narrow_of(x->type);
	uint16_t bits;

	memcpy(&bits, from, sizeof bits);
	bits = x->re == 0 ? 0 : narrowed(t, widened(t, bits) * (float)x->re);
	memcpy(to, &bits, sizeof bits);
}

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
	} else if (is_narrow(x->type)) {
		element_narrow(x, from, to);
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
	if (is_narrow(type)) {
		uint16_t bits;

		memcpy(&bits, p, sizeof bits);
		return isnan(widened(narrow_of(type), bits));
	}
	memcpy(&f, p, sizeof f);
	return isnan(f);
}

const char *tsw_wrong_imatcopy(const struct tsw_imat *x, const unsigned char *a,
			       const unsigned char *expected, size_t bytes)
{
	const size_t step = tsw_imat_size(x->type) >> tsw_imat_is_complex(x->type);
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
