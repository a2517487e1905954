/* How large the tiles of a launch are made.  Host code. */
#ifndef TSW_SIDE_H
#define TSW_SIDE_H

#include "../src/tilepair.h"

/* Multiprocessors of a large GPU.  A constant, so that the same call is always served alike. */
#define TSW_MULTIPROCESSORS 132

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
