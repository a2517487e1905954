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

/* Rows that a block takes at most: a multiple of 8, and few enough that no sum overflows. */
#define TSW_DIGEST_ROWS 512

/* The parameter of every checksum kernel.  Block b of the launch takes block k = first + b of the
 * matrix: band k / strips of band_rows rows, strip k % strips of columns. */
struct tsw_digest_task {
	const char *base;
	struct tsw_digest_slot *slot;
	uint64_t n;		     /* elements a side */
	uint64_t stride;	     /* bytes from row to row */
	uint64_t elem_size;	     /* bytes */
	uint64_t row_seed, col_seed; /* streams of rows and columns */
	uint64_t first, strips;
	uint32_t band_rows; /* a multiple of 8, at most TSW_DIGEST_ROWS */
	uint32_t strip;	    /* columns of a strip */
};

/* The kernel for elements of `elem_size` bytes where base and stride are multiples of `alignment`,
 * itself a multiple of the element's unit.  Never NULL; *strip becomes the columns of a strip. */
const struct tsw_kernel *tsw_kernel_digest(uint64_t elem_size, uint64_t alignment, uint32_t *strip);

/* Number `index` of all those kernels, for tests; NULL past the last. */
const struct tsw_kernel *tsw_kernel_digest_at(unsigned index);

/* The symbol of the slots, TSW_DIGEST_SLOTS of them, for cudaGetSymbolAddress. */
const void *tsw_digest_slots(void);

#ifdef __cplusplus
}
#endif

#endif /* TSW_DIGEST_LAUNCH_H */
