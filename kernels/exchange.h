/* What the kernels of a distributed matrix are given: rectangles of local parts whose rows and
 * columns are picked by a map, and the launch side of the kernels that move them.  C and CUDA. */
#ifndef TSW_EXCHANGE_H
#define TSW_EXCHANGE_H

#include "../src/tilepair.h"
#include "launch.h"

/* So many that two places fit into the 4 KB that a launch passes on every device. */
#define TSW_INDEX_RUNS 112

struct tsw_run {
	uint32_t at, local;
};

/* The rows, or the columns, of a rectangle: which index of the local part each of them has.  In a
 * block-cyclic matrix they come in runs, which repeat with a period:
 *
 *     index      0 1 2 | 3 4 | 5 6 7 | 8 9 | 10 ...     period 5, step 9
 *     local      0 1 2 | 6 7 | 9 ..  | 15  |            runs {0, 0}, {3, 6}
 *
 * Local indices count from that of index 0, which the place's address takes in. */
struct tsw_index_map {
	uint32_t count;	       /* rows, or columns */
	uint32_t period, step; /* indices and local indices from a period to the next */
	uint32_t runs;	       /* of a period, the first at 0; 0: index i is local index i */
	struct tsw_run run[TSW_INDEX_RUNS];
};

struct tsw_place {
	char *a;	/* element (0, 0) of the rectangle */
	uint64_t pitch; /* bytes from one of its rows to the next */
	struct tsw_index_map rows, cols;
};

/* Element (r, c) of `from` goes to (c, r) of `to`, and with `both` the other way round. */
struct tsw_exchange {
	struct tsw_place from, to; /* to.rows are from.cols, and the other way round */
	uint64_t first;		   /* block 0 of this launch takes tile `first` */
	uint32_t units;		   /* of the kernel's width in one element */
	uint32_t slice;		   /* of them that go at a time */
	uint32_t side;		   /* elements a side of a tile */
	uint32_t tiles;		   /* of a row of `from` */
	uint32_t both;
	uint32_t square; /* `from` is `to`: pairs of tiles, numbered by tilepair.h */
};

/* Row r of `from`, closed up, goes to row r of `to`. */
struct tsw_gather {
	struct tsw_place from;
	char *to;
	uint64_t pitch;	   /* bytes from a row of `to` to the next */
	uint64_t first;	   /* block 0 of this launch takes segment `first` */
	uint32_t units;	   /* of the kernel's width in one index of the columns */
	uint32_t segments; /* of a row */
};

#define TSW_GATHER_THREADS 256
#define TSW_GATHER_DEPTH 4 /* units of a row that a thread has in flight */
#define TSW_GATHER_ROWS 8  /* of a block */

/* Bytes of shared memory from a row of a tile to the next: an odd number of words, or of units
 * where those are wider, so that a column of units meets all banks. */
TSW_MAP uint32_t tsw_exchange_pitch(uint32_t side, uint32_t slice, uint32_t unit)
{
	const uint32_t word = unit < 4 ? 4 : unit;

	return ((side * slice * unit + word - 1) / word | 1) * word;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel that exchanges: p->from, to, units, both and square are given; fills in the others but
 * for `first`, and how many blocks there are.  `unit` is 1, 2, 4, 8 or 16: units of the places'
 * elements, at addresses that are multiples of it.  With `vectors` p->units is 1 and both places
 * are made of whole aligned vectors of 16 bytes: addresses, pitches, and every count, run, period
 * and step of either's columns. */
struct tsw_kernel tsw_kernel_exchange(struct tsw_exchange *p, unsigned unit, int vectors,
				      uint64_t *blocks);

/* The kernel that closes up, likewise, by units of 1, 2, 4, 8 or 16 bytes. */
struct tsw_kernel tsw_kernel_gather(struct tsw_gather *p, unsigned unit, uint64_t *blocks);

#ifdef __cplusplus
}
#endif

#endif /* TSW_EXCHANGE_H */
