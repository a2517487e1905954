/* How large the tiles of a launch are made.  Host code. */
#ifndef TSW_SIDE_H
#define TSW_SIDE_H

#include "../src/tilepair.h"

/* Multiprocessors of a large GPU.  A constant, so that the same call is always served alike. */
#define TSW_MULTIPROCESSORS 132

/* Blocks that keep such a GPU busy; a matrix too small for so many is cut into smaller tiles. */
#define TSW_ENOUGH_BLOCKS TSW_MULTIPROCESSORS
#define TSW_ENOUGH_SMALL_BLOCKS 512 /* of kernels that have several of a multiprocessor */

/* Are the tile pairs of `count` matrices of side n, cut into tiles of side `side`, so many? */
static inline int tsw_busy(uint64_t n, uint64_t count, uint32_t side, uint32_t enough)
{
	return tsw_pair_count(tsw_tile_count(n, side)) >= enough / count;
}

/* What a tile costs besides its elements, in rows of them: a guess that serves. */
#define TSW_SIDE_OVERHEAD 32

/* The side, a multiple of 32 between tile / 2 and `tile`, itself one, with which a GPU that works
 * on `blocks` tile pairs a multiprocessor at a time is done first with `count` matrices of side n:
 * a last round of few blocks, or slivers at the end of a matrix, cost as much as whole ones. */
static inline uint32_t tsw_side(uint64_t n, uint64_t count, uint32_t tile, uint32_t blocks)
{
	double least = 0;
	uint32_t best = tile;

	for (uint32_t side = tile; side > tile / 2 && side >= 32; side -= 32) {
		const double pairs =
			(double)tsw_pair_count(tsw_tile_count(n, side)) * (double)count;
		const double rounds = ceil(pairs / (TSW_MULTIPROCESSORS * blocks));
		const double cost = rounds * side * (side + TSW_SIDE_OVERHEAD);

		/* Larger ones unless it pays. */
		if (side == tile || cost < 0.95 * least) {
			least = cost;
			best = side;
		}
	}
	return best;
}

#endif /* TSW_SIDE_H */
