/* The inner loop of the host checksum: dot products of rows of 32-bit limbs with a row of weights.
 * One text (rows_body.h) compiled per instruction set, picked at run time. */
#ifndef TSW_ROWS_H
#define TSW_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* Limbs of a row that are taken at a time: few enough that 64-bit sums do not overflow, and that
 * the weights lie in the first-level cache. */
#define TSW_ROW_LIMBS 1440

/* The weights of a run of limbs, below p: those of even and of odd limbs, as vectors take them. */
struct tsw_weights {
	uint64_t half[2][TSW_ROW_LIMBS / 2];
};

/* How a row holds its limbs, and which elements `values` is to be summed over. */
enum tsw_rows {
	TSW_ROWS_1,	/* limbs of one byte, each an element */
	TSW_ROWS_2,	/* limbs of two bytes, each an element */
	TSW_ROWS_3,	/* limbs of three bytes, each an element */
	TSW_ROWS_4,	/* limbs of four bytes, each an element */
	TSW_ROWS_8,	/* limbs of four bytes, each pair an element: an even number of limbs */
	TSW_ROWS_PLACED /* limbs of four bytes; `values` is not wanted */
};

/* For the sums of y (2 y + 1) over elements y = low + high 2^32: y^2 mod 2^64 is
 * low^2 + low high 2^33, so the three sums are all it takes. */
struct tsw_squares {
	uint64_t y, low_low, low_high;
};

/* Adds to sum[r], mod p, for each of `rows` rows that lie `stride` bytes apart, the products of its
 * limbs with the weights; and to `squares` its elements'. */
typedef void (*tsw_dot_rows)(const unsigned char *row, size_t stride, size_t rows, size_t limbs,
			     enum tsw_rows kind, const struct tsw_weights *w, uint64_t *sum,
			     struct tsw_squares *squares);

/* What `limbs` limbs of four bytes, `each` to an element, add to `values`; delta(0) .. of its
 * words. */
typedef uint64_t (*tsw_limb_values)(const unsigned char *limb, size_t limbs, size_t each,
				    const uint64_t *delta);

struct tsw_pieces;

/* The sums of rows of one-byte elements (bytes.h). */
typedef void (*tsw_byte_weights)(uint64_t col_seed, uint64_t col, size_t bytes,
				 struct tsw_pieces *w);
typedef void (*tsw_dot_bytes)(const unsigned char *row, size_t stride, size_t rows, size_t bytes,
			      const struct tsw_pieces *w, uint64_t *sum,
			      struct tsw_squares *squares);

struct tsw_dot {
	const char *name;
	int (*usable)(void);
	tsw_dot_rows dot;
	tsw_limb_values values;
	tsw_byte_weights weigh_bytes; /* both NULL where limbs serve bytes, too */
	tsw_dot_bytes dot_bytes;
};

/* Entry `index` of the list of instruction sets, the plainest first; NULL past its end. */
const struct tsw_dot *tsw_dot_at(size_t index);

/* Forces entry `index`, for tests; a negative index returns to the best usable one. */
void tsw_dot_force(int index);

/* The best usable entry, or the forced one. */
const struct tsw_dot *tsw_dot_best(void);

/* values.c */
uint64_t tsw_values_plain(const unsigned char *limb, size_t limbs, size_t each,
			  const uint64_t *delta);
#ifdef __x86_64__
uint64_t tsw_values_avx512(const unsigned char *limb, size_t limbs, size_t each,
			   const uint64_t *delta);
#endif

#endif /* TSW_ROWS_H */
