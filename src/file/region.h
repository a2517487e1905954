/* Where a tile pair lies: as runs of bytes in the file, in a buffer and in a journal.
 *
 * The two halves of a pair off the diagonal are its two tiles.  A tile on the diagonal is its own
 * partner: its halves are what lies above its diagonal and what lies below, the diagonal itself
 * stays where it is.
 *
 *        j                                        |
 *    +---+---+        half A: tile (i,j)       +--+--+
 *    |   | A | i      half B: tile (j,i)       | \ A |   half A: the upper triangle
 *    +---+---+                                 |  \  |   half B: the lower one
 *    | B |   | j                               | B \ |
 *    +---+---+                                 +-----+
 *      i
 *
 * So every pair is treated alike: A and B change places, transposed, and only A's bytes, half of
 * the pair's, need be kept while they do.
 *
 * Where the tiles on the diagonal are to go past the page cache, A's rows begin, and B's end, on
 * the bounds of small squares along the diagonal, and the squares are all A's:
 *
 *     +--+--+--+
 *     |##  A   |    A comes to hold B transposed and each of its squares transposed; B comes to
 *     +--+     +    hold what A had beside the squares.
 *     |  |##   |
 *     +  +--+  +
 *     | B   |##|
 *     +-----+--+
 */
#ifndef TSW_REGION_H
#define TSW_REGION_H

#include "../tilepair.h"

#include <stddef.h>
#include <stdint.h>

/* A square matrix in a file, cut into tiles. */
struct tsw_grid {
	uint64_t n, ld, offset; /* elements, elements, bytes */
	size_t elem_size, tile; /* bytes, elements */
	size_t first;		/* side of the first tile, below `tile`; 0: as the others */
	size_t square;		/* side of the squares on the diagonal; 0: none, it stays */
};

enum tsw_shape_of { TSW_TILE, TSW_UPPER, TSW_LOWER };

/* A half, or a whole tile. */
struct tsw_region {
	enum tsw_shape_of shape;
	size_t rows, cols, elem_size, square;
	uint64_t at, pitch;  /* of the tile in the file: first byte, bytes from row to row */
	size_t buffer_pitch; /* in a buffer */
	uint64_t row, col;   /* of the tile's first element */
};

/* Where tile t begins.  A narrower first tile lets all later cuts fall on whole pages:
 *
 *     |first|   tile   |   tile   | ... |rest|
 */
static inline uint64_t tsw_grid_start(const struct tsw_grid *g, uint64_t t)
{
	return t ? (g->first ? g->first : g->tile) + (t - 1) * g->tile : 0;
}

static inline uint64_t tsw_grid_tiles(const struct tsw_grid *g)
{
	const uint64_t first = g->first ? g->first : g->tile;

	return g->n <= first ? g->n != 0 : 1 + tsw_tile_count(g->n - first, g->tile);
}

static inline uint64_t tsw_grid_pairs(const struct tsw_grid *g)
{
	return tsw_pair_count(tsw_grid_tiles(g));
}

static inline size_t tsw_grid_side(const struct tsw_grid *g, uint32_t t)
{
	const uint64_t left = g->n - tsw_grid_start(g, t);
	const size_t side = t || !g->first ? g->tile : g->first;

	return left < side ? (size_t)left : side;
}

/* The first byte after the matrix. */
static inline uint64_t tsw_grid_end(const struct tsw_grid *g)
{
	return g->offset + (g->n ? ((g->n - 1) * g->ld + g->n) * g->elem_size : 0);
}

static inline struct tsw_region tsw_region_at(const struct tsw_grid *g, uint32_t i, uint32_t j,
					      enum tsw_shape_of shape)
{
	const uint64_t row = tsw_grid_start(g, i), col = tsw_grid_start(g, j);

	return (struct tsw_region){.shape = shape,
				   .rows = tsw_grid_side(g, i),
				   .cols = tsw_grid_side(g, j),
				   .elem_size = g->elem_size,
				   .square = g->square,
				   .at = g->offset + (row * g->ld + col) * g->elem_size,
				   .pitch = g->ld * g->elem_size,
				   .buffer_pitch = g->tile * g->elem_size,
				   .row = row,
				   .col = col};
}

/* Half A (0) or B (1) of pair p. */
static inline struct tsw_region tsw_half(const struct tsw_grid *g, struct tsw_pair p, int half)
{
	if (p.i == p.j)
		return tsw_region_at(g, p.i, p.i, half ? TSW_LOWER : TSW_UPPER);
	return half ? tsw_region_at(g, p.j, p.i, TSW_TILE) : tsw_region_at(g, p.i, p.j, TSW_TILE);
}

/* Where the upper half begins in row r, and where the lower one ends, in elements. */
static inline size_t tsw_upper_start(const struct tsw_region *x, size_t r)
{
	return x->square ? r - r % x->square : r + 1;
}

static inline size_t tsw_lower_end(const struct tsw_region *x, size_t r)
{
	return x->square ? r - r % x->square : r;
}

/* The run of row r: its place and length in bytes, counted from the tile's left edge. */
static inline size_t tsw_run_start(const struct tsw_region *x, size_t r)
{
	return x->shape == TSW_UPPER ? tsw_upper_start(x, r) * x->elem_size : 0;
}

static inline size_t tsw_run_bytes(const struct tsw_region *x, size_t r)
{
	if (x->shape == TSW_TILE)
		return x->cols * x->elem_size;
	return (x->shape == TSW_UPPER ? x->cols - tsw_upper_start(x, r) : tsw_lower_end(x, r)) *
	       x->elem_size;
}

/* Elements of the lower half in the rows before r: of `square` rows each 0, square, 2 square ... */
static inline uint64_t tsw_lower_before(const struct tsw_region *x, size_t r)
{
	const uint64_t side = x->square ? x->square : 1, steps = r / side, rest = r % side;

	return side * (side * (steps * (steps - (steps != 0)) / 2) + rest * steps);
}

/* Bytes of the rows before r: the place of row r where the runs stand one after the other. */
static inline uint64_t tsw_run_packed(const struct tsw_region *x, size_t r)
{
	const uint64_t rows = r, all = rows * x->cols, lower = tsw_lower_before(x, r);

	if (x->shape == TSW_TILE)
		return all * x->elem_size;
	if (x->shape == TSW_LOWER)
		return lower * x->elem_size;
	return (all - lower - (x->square ? 0 : rows)) * x->elem_size;
}

static inline uint64_t tsw_region_bytes(const struct tsw_region *x)
{
	return tsw_run_packed(x, x->rows);
}

/* Bytes of the matrix in the pairs before k. */
static inline uint64_t tsw_bytes_before(const struct tsw_grid *g, uint64_t k)
{
	struct tsw_pair p;
	uint64_t side, before, rows;

	if (k == 0)
		return 0;
	if (k >= tsw_grid_pairs(g))
		return g->n * g->n * g->elem_size;
	p = tsw_pair_at(k);
	side = tsw_grid_side(g, p.j);
	before = tsw_grid_start(g, p.j);
	rows = tsw_grid_start(g, p.i);
	return (before * before + 2 * rows * side) * g->elem_size;
}

#endif /* TSW_REGION_H */
