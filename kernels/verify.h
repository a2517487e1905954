/* The C side of kernels/verify.cu: filling and checking on the device.  No part of the library. */
#ifndef TSW_VERIFY_LAUNCH_H
#define TSW_VERIFY_LAUNCH_H

#include "../src/verify/layout.h"
#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows that a thread of the element check walks down. */
#define TSW_VERIFY_ROWS 64

/* What a check adds up; `first` is the smallest number of a wrong element that is at least the
 * task's `from`, `first_padding` the first wrong byte of padding: both begin as all ones. */
struct tsw_verify_found {
	unsigned long long elements, padding_bytes, first, first_padding;
};

/* Fills bytes 0 .. nbytes - 1; each block takes 4096 bytes. */
struct tsw_verify_fill {
	unsigned char *base;
	uint64_t nbytes;
	uint64_t first; /* the first block of the launch */
	struct tsw_content content;
};

/* Elements: block k takes TSW_VERIFY_ROWS rows of 256 columns of one matrix.  Gaps: each warp takes
 * gap after gap.  A block k of the elements' launch is k = first + its number. */
struct tsw_verify_task {
	const unsigned char *base;
	struct tsw_verify_found *found;
	struct tsw_layout layout;
	uint64_t first, from;
	uint64_t strips, bands; /* of one matrix: groups of columns, groups of rows */
	uint32_t unit;		/* of an element: 1, 2, 4 or 8 bytes */
};

const struct tsw_kernel *tsw_kernel_fill(void);
const struct tsw_kernel *tsw_kernel_check_elements(void);
const struct tsw_kernel *tsw_kernel_check_gaps(void);

#ifdef __cplusplus
}
#endif

#endif /* TSW_VERIFY_LAUNCH_H */
