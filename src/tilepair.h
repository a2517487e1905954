/* The map: pair number k <-> tile pair (i, j), i <= j.
 *
 * A matrix cut into T x T tiles has T(T+1)/2 unordered pairs {(i,j), (j,i)}.  They are numbered
 * column by column of the upper triangle, k = j(j+1)/2 + i:
 *
 *            j = 0   1   2   3   4
 *     i = 0    [0]   1   3   6  10          k = j(j+1)/2 + i
 *         1     .   [2]  4   7  11
 *         2     .    .  [5]  8  12          [k] lies on the diagonal: one tile, its own partner
 *         3     .    .   .  [9] 13          .   is the mirror image of a pair already numbered
 *         4     .    .   .   . [14]
 *
 * Everything that walks a matrix walks this one line of numbers: a CUDA block takes one k, a CPU
 * thread takes a range of k, the file engine takes k after k.  Pairs are disjoint, so nobody waits
 * for anybody.  The number of a pair does not depend on T: a larger matrix only goes on.
 *
 * Exact for T up to 2^32 - 1 (i, j 32-bit, k 64-bit).  One text for the C compiler and for nvcc.
 */
#ifndef TSW_TILEPAIR_H
#define TSW_TILEPAIR_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define TSW_MAP static inline __host__ __device__
#else
#define TSW_MAP static inline
#endif

struct tsw_pair {
	uint32_t i, j; /* i <= j */
};

/* Tiles of `tile` elements that cover n elements: ceil(n / tile), without overflow. */
TSW_MAP uint64_t tsw_tile_count(uint64_t n, uint64_t tile)
{
	return n / tile + (n % tile != 0);
}

/* Pairs of a T x T grid of tiles: T(T+1)/2.  The even factor is halved first, so that nothing
 * overflows up to T = 2^32 - 1. */
TSW_MAP uint64_t tsw_pair_count(uint64_t tiles)
{
	return tiles % 2 ? (tiles + 1) / 2 * tiles : tiles / 2 * (tiles + 1);
}

TSW_MAP uint64_t tsw_pair_index(uint32_t i, uint32_t j)
{
	return tsw_pair_count(j) + i;
}

/* The inverse.  j is the largest integer with j(j+1)/2 <= k, i.e. floor((sqrt(8k + 1) - 1) / 2).
 * The root is taken in double precision: k < 2^63 is rounded to 53 bits and 2k + 1/4 has a root
 * below 2^32, so the relative error of a few 2^-53 is an absolute error far below 1 and the
 * estimate misses j by at most one; the two comparisons below are exact integer arithmetic and mend
 * that. */
TSW_MAP struct tsw_pair tsw_pair_at(uint64_t k)
{
	struct tsw_pair p;
	uint64_t j = (uint64_t)(sqrt(2.0 * (double)k + 0.25) - 0.5);

	if (tsw_pair_count(j) > k)
		j--;
	else if (tsw_pair_count(j + 1) <= k)
		j++;
	p.j = (uint32_t)j;
	p.i = (uint32_t)(k - tsw_pair_count(j));
	return p;
}

/* The same pairs row by row, from the last on: the columns of the plain order, seen in a mirror.
 *
 *     tiles = 4:   9   8   7   6
 *                  .   5   4   3
 *                  .   .   2   1
 *                  .   .   .   0 */
TSW_MAP struct tsw_pair tsw_pair_along_rows(uint64_t k, uint32_t tiles)
{
	const struct tsw_pair p = tsw_pair_at(k);
	const struct tsw_pair mirrored = {tiles - 1 - p.j, tiles - 1 - p.i};

	return mirrored;
}

/* The same pairs in another order, for caches that want neighbouring columns close in time: the
 * columns are taken `group` at a time, and within a group the walk goes row by row.
 *
 *     group = 2:   0   1 |  3   4 | 10        columns 0, 1, then 2, 3, then 4;
 *                  .   2 |  5   6 | 11        a group begins at the number that
 *                  .   . |  7   8 | 12        its first column has in the plain
 *                  .   . |  .   9 | 13        order
 *                  .   . |  .   . | 14
 *
 * group = 1 is the plain order. */
TSW_MAP struct tsw_pair tsw_pair_at_grouped(uint64_t k, uint32_t tiles, uint32_t group)
{
	struct tsw_pair p = tsw_pair_at(k);
	const uint32_t begin = p.j / group * group; /* the group's first column */
	const uint32_t width = tiles - begin < group ? tiles - begin : group;
	const uint64_t at = k - tsw_pair_count(begin);
	const uint64_t above = (uint64_t)begin * width; /* pairs above the group's own triangle */

	if (at < above) {
		p.i = (uint32_t)(at / width);
		p.j = begin + (uint32_t)(at % width);
		return p;
	}
	/* The triangle, row by row: few pairs, so a row is found by counting. */
	p.i = begin;
	for (uint64_t rest = at - above;; p.i++) {
		const uint32_t row = begin + width - p.i;

		if (rest < row) {
			p.j = p.i + (uint32_t)rest;
			return p;
		}
		rest -= row;
	}
}

#endif /* TSW_TILEPAIR_H */
