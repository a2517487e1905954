#include "support.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t tsw_random(uint64_t *state)
{
	return mix(*state += 0x9e3779b97f4a7c15u);
}

uint64_t tsw_random_below(uint64_t *state, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)tsw_random(state) * limit >> 64);
}

/* Reserved once, filled as far as it is asked for. */
#define PATTERN_RESERVED ((size_t)1 << 32)

const unsigned char *tsw_pattern(size_t bytes)
{
	static uint64_t *words;
	static size_t have;

	tsw_require(bytes < PATTERN_RESERVED, "no pattern of %zu bytes", bytes);
	if (!words) {
		void *map = mmap(NULL, PATTERN_RESERVED, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		tsw_require(map != MAP_FAILED, "no address space for the pattern");
		words = map;
	}
	for (; have < bytes / 8 + 1; have++)
		words[have] = mix((have + 1) * 0x9e3779b97f4a7c15u);
	return (const unsigned char *)words;
}

void tsw_fill(void *p, size_t bytes)
{
	memcpy(p, tsw_pattern(bytes), bytes);
}

size_t tsw_shape_bytes(struct tsw_shape s)
{
	return s.n ? ((s.n - 1) * s.ld + s.n) * s.elem_size : 0;
}

void tsw_oracle_window(const unsigned char *before, unsigned char *after, struct tsw_shape s)
{
	for (size_t r = 0; r < s.n; r++)
		for (size_t c = 0; c < s.n; c++)
			memcpy(after + (c * s.ld + r) * s.elem_size,
			       before + (r * s.ld + c) * s.elem_size, s.elem_size);
}

static _Thread_local char text[320];

const char *tsw_wrong_bytes(const unsigned char *a, const unsigned char *expected, size_t bytes)
{
	size_t b = 0;

	if (bytes == 0 || memcmp(a, expected, bytes) == 0)
		return NULL;
	while (a[b] == expected[b])
		b++;
	snprintf(text, sizeof text, "byte %zu of %zu is %02x, expected %02x", b, bytes, a[b],
		 expected[b]);
	return text;
}

/* Where the element that stands at (r, c) came from, for the message. */
static void find_origin(const unsigned char *found, const unsigned char *before, struct tsw_shape s,
			char *origin, size_t size)
{
	for (size_t r = 0; r < s.n; r++) {
		for (size_t c = 0; c < s.n; c++) {
			if (memcmp(found, before + (r * s.ld + c) * s.elem_size, s.elem_size))
				continue;
			snprintf(origin, size, "the element that was at (%zu, %zu)", r, c);
			return;
		}
	}
	snprintf(origin, size, "no element of the matrix");
}

static const char *wrong_element(const unsigned char *a, const unsigned char *before,
				 struct tsw_shape s, size_t r, size_t c)
{
	char origin[80];

	find_origin(a + (r * s.ld + c) * s.elem_size, before, s, origin, sizeof origin);
	snprintf(text, sizeof text,
		 "n = %zu, ld = %zu, elem_size = %zu: at (%zu, %zu) stands %s, expected (%zu, %zu)",
		 s.n, s.ld, s.elem_size, r, c, origin, c, r);
	return text;
}

/* Element by element, for a constant `size`: the compiler makes loads and compares of the memcmp.
 */
static inline __attribute__((always_inline)) int row_is_column(const unsigned char *row,
							       const unsigned char *column,
							       size_t n, size_t column_step,
							       size_t size)
{
	size_t wrong = 0;

	for (size_t c = 0; c < n; c++)
		wrong += memcmp(row + c * size, column + c * column_step, size) != 0;
	return wrong == 0;
}

static int row_is_right(const unsigned char *a, const unsigned char *before, struct tsw_shape s,
			size_t r)
{
	const unsigned char *row = a + r * s.ld * s.elem_size, *column = before + r * s.elem_size;
	size_t step = s.ld * s.elem_size;

	switch (s.elem_size) {
	case 1:
		return row_is_column(row, column, s.n, step, 1);
	case 2:
		return row_is_column(row, column, s.n, step, 2);
	case 4:
		return row_is_column(row, column, s.n, step, 4);
	case 8:
		return row_is_column(row, column, s.n, step, 8);
	case 16:
		return row_is_column(row, column, s.n, step, 16);
	default:
		return row_is_column(row, column, s.n, step, s.elem_size);
	}
}

const char *tsw_wrong_transpose(const unsigned char *a, const unsigned char *before,
				struct tsw_shape s)
{
	size_t width = s.n * s.elem_size, pitch = s.ld * s.elem_size;

	for (size_t r = 0; r < s.n; r++) {
		size_t c = 0;

		if (!row_is_right(a, before, s, r)) {
			while (!memcmp(a + (r * s.ld + c) * s.elem_size,
				       before + (c * s.ld + r) * s.elem_size, s.elem_size))
				c++;
			return wrong_element(a, before, s, r, c);
		}
		if (r + 1 < s.n &&
		    memcmp(a + r * pitch + width, before + r * pitch + width, pitch - width)) {
			snprintf(text, sizeof text,
				 "n = %zu, ld = %zu, elem_size = %zu: the padding of row %zu "
				 "changed",
				 s.n, s.ld, s.elem_size, r);
			return text;
		}
	}
	return NULL;
}
