/* Scaling and conjugating, row by row, on elements that lie in a cache: 16-byte vectors, which
 * every x86-64 and aarch64 has, are faster there than memory, so that no more of them are needed.
 */
#include "finish.h"

#include <string.h>

#include "../tileswap.h"

/* A product is rounded before it is added, here as on a device. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

typedef float floats __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));

static floats load_floats(const unsigned char *p)
{
	floats v;

	memcpy(&v, p, sizeof v);
	return v;
}

static doubles load_doubles(const unsigned char *p)
{
	doubles v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* ---- components one by one: real numbers, or both parts by one factor ------------------------ */

static void scale_floats(unsigned char *a, size_t bytes, float even, float odd)
{
	const floats by = {even, odd, even, odd};
	size_t at = 0;

	for (; at + 16 <= bytes; at += 16) {
		const floats v = load_floats(a + at) * by;

		memcpy(a + at, &v, sizeof v);
	}
	for (; at < bytes; at += 4) {
		float x;

		memcpy(&x, a + at, sizeof x);
		x *= at % 8 ? odd : even;
		memcpy(a + at, &x, sizeof x);
	}
}

static void scale_doubles(unsigned char *a, size_t bytes, double even, double odd)
{
	const doubles by = {even, odd};
	size_t at = 0;

	for (; at + 16 <= bytes; at += 16) {
		const doubles v = load_doubles(a + at) * by;

		memcpy(a + at, &v, sizeof v);
	}
	if (at < bytes) {
		double x;

		memcpy(&x, a + at, sizeof x);
		x *= even;
		memcpy(a + at, &x, sizeof x);
	}
}

/* ---- complex products ------------------------------------------------------------------------ */

/* Two complex numbers, (x, y, u, v), with (y, x, v, u) beside. */
static floats multiply_floats(floats v, floats straight, floats across)
{
	const floats swapped = {v[1], v[0], v[3], v[2]};

	return v * straight + swapped * across;
}

static void multiply_complex_floats(unsigned char *a, size_t bytes, const float by[4])
{
	const floats straight = {by[0], by[3], by[0], by[3]};
	const floats across = {by[1], by[2], by[1], by[2]};
	size_t at = 0;

	for (; at + 16 <= bytes; at += 16) {
		const floats v = multiply_floats(load_floats(a + at), straight, across);

		memcpy(a + at, &v, sizeof v);
	}
	if (at < bytes) {
		floats v = {0};

		memcpy(&v, a + at, 8);
		v = multiply_floats(v, straight, across);
		memcpy(a + at, &v, 8);
	}
}

static void multiply_complex_doubles(unsigned char *a, size_t bytes, const double by[4])
{
	const doubles straight = {by[0], by[3]}, across = {by[1], by[2]};

	for (size_t at = 0; at < bytes; at += 16) {
		const doubles v = load_doubles(a + at), swapped = {v[1], v[0]};
		const doubles product = v * straight + swapped * across;

		memcpy(a + at, &product, sizeof product);
	}
}

/* ---- conjugating ----------------------------------------------------------------------------- */

static void flip(unsigned char *a, size_t bytes, words mask)
{
	size_t at = 0;

	for (; at + 16 <= bytes; at += 16) {
		words v;

		memcpy(&v, a + at, sizeof v);
		v ^= mask;
		memcpy(a + at, &v, sizeof v);
	}
	if (at < bytes) { /* one complex float */
		words v = {0};

		memcpy(&v, a + at, 8);
		v ^= mask;
		memcpy(a + at, &v, 8);
	}
}

/* The sign bits of the imaginary parts, wherever the machine keeps its bytes. */
static words imaginary_signs(uint32_t type)
{
	const floats f = {0, -0.0f, 0, -0.0f};
	const doubles d = {0, -0.0};
	words mask;

	if (type == TSW_COMPLEX_FLOAT)
		memcpy(&mask, &f, sizeof mask);
	else
		memcpy(&mask, &d, sizeof mask);
	return mask;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void scale_row(const struct tsw_epilogue *e, unsigned char *a, size_t cols)
{
	switch (e->type) {
	case TSW_FLOAT:
		scale_floats(a, cols * 4, e->by.f[0], e->by.f[0]);
		break;
	case TSW_DOUBLE:
		scale_doubles(a, cols * 8, e->by.d[0], e->by.d[0]);
		break;
	case TSW_COMPLEX_FLOAT:
		scale_floats(a, cols * 8, e->by.f[0], e->by.f[3]);
		break;
	default:
		scale_doubles(a, cols * 16, e->by.d[0], e->by.d[3]);
	}
}

static size_t size_of(uint32_t type)
{
	return type == TSW_FLOAT ? 4 : type == TSW_COMPLEX_DOUBLE ? 16 : 8;
}

static void finish_row(const struct tsw_epilogue *e, unsigned char *a, size_t cols)
{
	const size_t bytes = cols * size_of(e->type);

	switch (e->kind) {
	case TSW_ZERO:
		memset(a, 0, bytes);
		break;
	case TSW_FLIP:
		flip(a, bytes, imaginary_signs(e->type));
		break;
	case TSW_SCALE:
		scale_row(e, a, cols);
		break;
	default:
		if (e->type == TSW_COMPLEX_FLOAT)
			multiply_complex_floats(a, bytes, e->by.f);
		else
			multiply_complex_doubles(a, bytes, e->by.d);
	}
}

void tsw_cpu_finish(const struct tsw_epilogue *e, unsigned char *a, size_t stride, size_t rows,
		    size_t cols)
{
	for (size_t r = 0; r < rows; r++)
		finish_row(e, a + r * stride, cols);
}
