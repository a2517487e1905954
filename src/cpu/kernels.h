/* Register micro-kernels: one table per instruction set, from the width of an element to the
 * functions that transpose blocks of it.
 *
 * A block is `block` x `block` elements.  Where the width is a power of two up to 16 its rows are
 * 64 bytes, one cache line if the matrix is aligned:
 *
 *     width      1      2      4     8    16        3     5..7   9..15
 *     block  64x64  32x32  16x16   8x8   4x4    16x16     8x8     4x4
 *
 * The odd widths below 16 are spread to the next power of two in registers or on the stack,
 * transposed there, and packed again.  Elements wider than 16 bytes have no blocks: whole elements
 * are swapped through vector registers.
 */
#ifndef TSW_CPU_KERNELS_H
#define TSW_CPU_KERNELS_H

#include <stddef.h>

struct tsw_epilogue;

/* `count` pairs of blocks.  Pair q is the block at a + q * step_a, whose rows are sa bytes apart,
 * and the block at b + q * step_b with rows sb bytes apart; each goes transposed into the other's
 * place.  If next_a is not NULL, the blocks at next_a and next_b, stepping alike, are fetched into
 * the second-level cache meanwhile; they may lie outside any matrix. */
struct tsw_strip {
	unsigned char *a, *b;
	size_t sa, sb;
	size_t step_a, step_b;
	const unsigned char *next_a, *next_b;
	size_t count;
	size_t lines;  /* of a row to fetch, row by row; 0 where it is block by block */
	size_t width;  /* bytes of an element */
	int colliding; /* the rows of a block fall into few sets of the cache */
	const struct tsw_epilogue *finish; /* what is done to the elements on their way, or NULL */
};

/* `count` matrices of side <= block: those that `array` points to, or, where it is NULL, from `a`
 * on, `step` bytes apart. */
struct tsw_row {
	unsigned char *a;
	void *const *array;
	size_t stride, step, side, count, width;
};

static inline unsigned char *tsw_row_at(const struct tsw_row *row, size_t q)
{
	return row->array ? row->array[q] : row->a + q * row->step;
}

/* Bands `from` ... `to` - 1 of an n x n matrix whose rows lie a multiple of a line and one element
 * apart.  Band k is all that is off the diagonal and has (first + i + j) / N = k, where N elements
 * are a line and the matrix begins `first` elements after the beginning of one. */
struct tsw_slants {
	unsigned char *base;
	size_t stride, n, first;
	size_t from, to;
	size_t width;			   /* bytes of an element */
	const struct tsw_epilogue *finish; /* what is done to the elements on their way, or NULL */
};

struct tsw_microkernel {
	size_t block; /* side in elements */
	void (*swap)(const struct tsw_strip *s);

	/* The same for one pair of blocks cut short: rows x cols elements at a, cols x rows at b.
	 */
	void (*swap_ragged)(unsigned char *a, size_t sa, unsigned char *b, size_t sb, size_t rows,
			    size_t cols, size_t width);

	/* Transposes side x side elements in their own place, any side, and fetches the square at
	 * `next`, if not NULL, with the same stride. */
	void (*turn)(unsigned char *a, size_t sa, size_t side, size_t width,
		     const unsigned char *next);

	/* The same for many. */
	void (*turn_row)(const struct tsw_row *row);

	/* `turn`, and *e applied to every element.  NULL for odd widths. */
	void (*turn_finish)(const struct tsw_epilogue *e, unsigned char *a, size_t sa, size_t side,
			    const unsigned char *next);

	/* Transposes slants.  NULL where that is not worth it. */
	void (*slants)(const struct tsw_slants *s);
};

/* rows x cols elements of `width` > 16 bytes at a, cols x rows at b, change places; where a == b
 * only those above the diagonal.  next_a and next_b as in a strip. */
typedef void tsw_swap_wide(unsigned char *a, size_t sa, unsigned char *b, size_t sb, size_t rows,
			   size_t cols, size_t width, const unsigned char *next_a,
			   const unsigned char *next_b);

/* Copies `rows` rows of nbytes, ss bytes apart at src and ds at dst, which are congruent modulo 64,
 * in whole cache lines but for the ends.  Lines of the side that is a matrix are fetched a few rows
 * before their turn: src if `in`, else dst. */
typedef void tsw_copy_rows(unsigned char *dst, size_t ds, const unsigned char *src, size_t ss,
			   size_t rows, size_t nbytes, int in);

/* Applies *e, neither TSW_KEEP nor TSW_ZERO, to rows of `nbytes`, whole elements, `stride` bytes
 * apart. */
typedef void tsw_finish_rows(const struct tsw_epilogue *e, unsigned char *a, size_t stride,
			     size_t rows, size_t nbytes);

struct tsw_isa {
	const char *name;
	const struct tsw_microkernel *kernel[17]; /* by width; [0] unused */
	tsw_swap_wide *wide;
	tsw_copy_rows *copy;
	tsw_finish_rows *finish;
};

extern const struct tsw_isa tsw_isa_c;
#if defined(__x86_64__)
extern const struct tsw_isa tsw_isa_avx2, tsw_isa_avx512;
#elif defined(__aarch64__)
extern const struct tsw_isa tsw_isa_neon;
#endif

/* The best one this machine can run, or what TILESWAP_ISA names if it can run that. */
const struct tsw_isa *tsw_cpu_isa(void);

/* By name, NULL if unknown or not runnable here: for tests and benchmarks. */
const struct tsw_isa *tsw_cpu_isa_named(const char *name);

#endif /* TSW_CPU_KERNELS_H */
