/* The C side of kernels/digest.cu: what a host needs in order to launch the checksum. */
#ifndef TSW_DIGEST_LAUNCH_H
#define TSW_DIGEST_LAUNCH_H

#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the blocks of one call add up.  `placed` is kept in two halves, the lower 32 and the upper
 * 29 bits, so that adding needs no mod: 2^32 blocks may add to each. */
struct tsw_digest_slot {
	unsigned long long placed_low, placed_high, values;
};

/* Slots of each device; one is claimed for each call in flight.  The bits of a 64-bit number. */
#define TSW_DIGEST_SLOTS 64

/* Rows that a block of the kernels whose threads own columns takes at most: few enough that no sum
 * overflows.  Others, for which a band is dearer to end, have a limit of their own. */
#define TSW_DIGEST_ROWS 512

/* The parameter of every checksum kernel.  Block b of the launch takes block k = first + b of the
 * matrix: strip k % strips of columns, and k / strips tells which band_rows rows (digest.cuh). */
struct tsw_digest_task {
	const char *base;
	struct tsw_digest_slot *slot;
	uint64_t n;		     /* elements a side */
	uint64_t stride;	     /* bytes from row to row */
	uint64_t elem_size;	     /* bytes */
	uint64_t row_seed, col_seed; /* streams of rows and columns */
	uint64_t first, strips;
	/* Bytes of an element that are taken at a time: all, but of one that is wider than a strip
	 * may be an equal share, rounded up to a multiple of 16.  digest_wide's alone. */
	uint64_t piece;
	uint32_t band_rows; /* a multiple of 8 */
	uint32_t blocks;    /* that a call had better have, even if its bands are short then */
	uint32_t strip;	    /* columns of a strip */
	uint32_t stages;    /* steps of rows that there is room for (digest_product.cuh) */
	uint32_t step_log;  /* the rows of a band are 2^step_log apart */
};

/* The kernel for the matrix whose base, n, stride and elem_size *p holds, on a device whose
 * multiprocessors have that much shared memory.  Fills in *kernel and strip, strips, piece,
 * step_log, stages, blocks, and band_rows, the most rows that a band may have. */
void tsw_kernel_digest(struct tsw_digest_task *p, unsigned shared_bytes, struct tsw_kernel *kernel);

/* How many blocks that is with p->band_rows. */
uint64_t tsw_digest_blocks(const struct tsw_digest_task *p);

/* Number `index` of all those kernels, for tests; NULL past the last. */
const struct tsw_kernel *tsw_kernel_digest_at(unsigned index);

/* The symbol of the slots, TSW_DIGEST_SLOTS of them, for cudaGetSymbolAddress. */
const void *tsw_digest_slots(void);

#ifdef __cplusplus
}
#endif

#endif /* TSW_DIGEST_LAUNCH_H */
