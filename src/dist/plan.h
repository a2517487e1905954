/* The plan of a distributed transpose: who swaps which rectangle with whom.
 *
 * Blocks are mb x nb, so the transposed matrix is cut elsewhere than the matrix.  Cut the indices
 * 0 .. n-1 at the multiples of mb and at those of nb, and use the same cuts for rows and columns:
 *
 *          s       t                    piece (s, t) is a rectangle on one rank,
 *      +---+---+-----+--+               its mirror image (t, s) one on another (or the same),
 *      |   |   |     |  |               and the two change places.
 *    s +---+---+-----+--+
 *      |   |   |(s,t)|  |               s belongs to grid row prow(s) as rows, and to grid
 *      +---+---+-----+--+               column pcol(s) as columns: piece (s, t) lies at
 *      |   |(t,|     |  |
 *    t |   | s)|     |  |                       (prow(s), pcol(t))
 *      +---+---+-----+--+
 *      |   |   |     |  |               and its mirror image at (prow(t), pcol(s)).
 *      +---+---+-----+--+
 *
 * Let {i, j} be the indices x whose row block belongs to grid row i and whose column block belongs
 * to grid column j.  What rank (p, q) has for rank (p', q') is then a whole product:
 *
 *     rows  s in {p, q'}    x    columns  t in {p', q}
 *
 * that is, a matrix of |{p, q'}| x |{p', q}| elements scattered over the local matrix in
 * rectangles, and the partner holds its counterpart of |{p', q}| x |{p, q'}|.  Packed together, the
 * two are cut into chunks like any matrix: a window of rows and columns here, the turned window
 * there.
 *
 * Nothing is stored: a set is walked from cut to cut.  Everything here is normalised to local
 * matrices stored by rows; a matrix stored by columns is the transposed one stored by rows, and
 * transposing it is the same deed.
 */
#ifndef TSW_DIST_PLAN_H
#define TSW_DIST_PLAN_H

#include "../tileswap_dist.h"

/* A layout that has been checked. */
struct tsw_spread {
	uint64_t n, mb, nb; /* 1 <= mb, nb <= max(n, 1) */
	uint32_t nprow, npcol, rsrc, csrc;
	int by_columns; /* rank = column * nprow + row */
};

/* A rank's seat in the grid. */
struct tsw_seat {
	uint32_t row, col;
};

/* Checks `dist` and normalises it.  TSW_ERR_NULL, _OPTION, _OVERFLOW. */
tsw_status tsw_spread_of(const tsw_dist *dist, struct tsw_spread *s);

/* The same, and that the whole matrix of elements of that size can be counted in bytes.
 * TSW_ERR_ELEM_SIZE, _OVERFLOW. */
tsw_status tsw_spread_of_bytes(const tsw_dist *dist, size_t elem_size, struct tsw_spread *s);

static inline uint32_t tsw_spread_ranks(const struct tsw_spread *s)
{
	return s->nprow * s->npcol;
}

struct tsw_seat tsw_seat_of(const struct tsw_spread *s, uint32_t rank);

/* Rows and columns that the local matrix of a seat has. */
uint64_t tsw_local_rows(const struct tsw_spread *s, uint32_t grid_row);
uint64_t tsw_local_cols(const struct tsw_spread *s, uint32_t grid_col);

/* The row or column of the whole matrix that is local number `local` of grid row or column `who`.
 */
static inline uint64_t tsw_global_index(uint64_t local, uint64_t block, uint32_t grid,
					uint32_t source, uint32_t who)
{
	return (local / block * grid + ((uint64_t)who + grid - source) % grid) * block +
	       local % block;
}

/* Kernels count the units of an element in 32 bits. */
tsw_status tsw_check_units(size_t elem_size);

/* Can this local matrix be reached?  NULL is accepted where it has no elements.
 * TSW_ERR_LD, _OVERFLOW, _NULL; the detail names the rank. */
tsw_status tsw_check_local(const struct tsw_spread *s, uint32_t rank, const void *a, size_t ld,
			   size_t elem_size);

/* ---- walking the indices of a set ------------------------------------------------------------ */

/* The set {row, col}. */
struct tsw_set {
	const struct tsw_spread *spread;
	uint32_t row, col;
};

/* Visits indices of a set in ascending order, a run at a time: indices in one block of rows and one
 * block of columns, which lie side by side in any local matrix.
 *
 *     for (struct tsw_walk w = ...; tsw_walk_next(&w);)
 *             ... w.len indices from w.first on; number w.at of this walk and following
 */
struct tsw_walk {
	struct tsw_set of;
	uint64_t x, left; /* where to look next; indices still to visit */
	uint64_t first, len, at;
	uint64_t row, col; /* of `first` in the local matrices of its grid row, its grid column */
};

int tsw_walk_next(struct tsw_walk *w);

/* How many indices a set has. */
uint64_t tsw_set_size(struct tsw_set set);

/* ---- links ----------------------------------------------------------------------------------- */

/* What `me` has for `peer`: rows x cols elements, seen from me.  Seen from the peer it is
 * cols x rows.  With me = peer: rows and columns are the same set. */
struct tsw_link {
	struct tsw_set rows_of, cols_of;
	uint64_t rows, cols;
	int turned; /* the peer has the lower rank, and chunks are counted as it sees them */
};

struct tsw_link tsw_link_between(const struct tsw_spread *s, uint32_t me, uint32_t peer);

/* A link is exchanged chunk by chunk; both sides cut at the same places and in the same order:
 *
 *     lower rank                    higher rank        Chunk 2 is h x w elements here and
 *     +-----+-----+--+              +---+---+-+        w x h there.  Packed row by row, each
 *     |  0  |  1  |2 |              | 0 | 3 |6|        side has in its buffer the rows that
 *     +-----+-----+--+              +---+---+-+        the other side keeps as columns.
 *     |  3  |  4  |5 |              | 1 | 4 |7|
 *     +-----+-----+--+              +---+---+-+
 *     |  6  |  7  |8 |              | 2 | 5 |8|
 *     +-----+-----+--+              +---+---+-+
 *
 * A chunk has at most `most` elements; sides that are cut are multiples of `grain`, a power of two
 * that is at least TSW_CHUNK_GRAIN, or of as much of it as fits.
 *
 * The pieces of a chunk, with the local matrix stored by rows and the buffer of k.rows x k.cols:
 *
 *     for (struct tsw_walk r = k.down; tsw_walk_next(&r);)
 *             for (struct tsw_walk c = k.across; tsw_walk_next(&c);)
 *                     r.len x c.len elements: local (r.row, c.col), buffer (r.at, c.at)
 */
#define TSW_CHUNK_GRAIN 64 /* whole cache lines in the buffer */
struct tsw_chunk {
	struct tsw_walk down, across;
	uint64_t rows, cols;
};

struct tsw_axis {
	struct tsw_set of;
	uint64_t size, most; /* of the link, of one chunk */
	uint64_t at, x;	     /* where the next chunk begins: number in the set, index to look at */
};

struct tsw_cutting {
	struct tsw_axis axis[2]; /* rows, columns, as I see them */
	int inner;		 /* the axis that moves first */
};

/* Chunks of at most `most` elements, most > 0. */
struct tsw_cutting tsw_chunks_of(const struct tsw_link *link, uint64_t most, uint64_t grain);
int tsw_chunks_next(struct tsw_cutting *c, struct tsw_chunk *chunk);

/* All of a link at once. */
struct tsw_chunk tsw_chunk_whole(const struct tsw_link *link);

/* ---- the schedule ---------------------------------------------------------------------------- */

/* In round 0 .. ranks - 1 every rank has one partner.  Each pair meets once, and each rank meets
 * itself once, which is when it does the pieces that stay at home.
 *
 * An odd number of ranks: the partner is (round - me) mod ranks, and in each round one rank meets
 * itself.  An even number: so for all but the last rank, who takes the place of whoever would meet
 * himself; no rank waits in any round but the last, when each meets itself. */
static inline uint32_t tsw_partner(uint32_t ranks, uint32_t round, uint32_t me)
{
	const uint32_t last = ranks - 1, circle = ranks % 2 ? ranks : last;
	uint32_t partner;

	if (round == circle)
		return me;
	if (me == circle)
		return (uint32_t)((uint64_t)round * (ranks / 2) % circle);
	partner = round >= me ? round - me : round + circle - me;
	return partner == me && circle == last ? last : partner;
}

#endif /* TSW_DIST_PLAN_H */
