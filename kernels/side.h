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

#endif /* TSW_SIDE_H */
