/* What a transposing kernel is given: one POD structure by value, so that a launch, a CUDA graph and
 * a host that runs the kernel text all pass it the same way.  C and CUDA. */
#ifndef TSW_PARAMS_H
#define TSW_PARAMS_H

#include <stdint.h>

struct tsw_tiles {
	char *base;           /* first matrix, where `array` is NULL */
	char *const *array;   /* device array of matrices, or NULL */
	uint64_t stride;      /* bytes from matrix to matrix, with `base` */
	uint64_t n;           /* elements a side */
	uint64_t ld;          /* elements from row to row */
	uint64_t pairs;       /* tile pairs of one matrix */
	uint64_t first;       /* block 0 of this launch takes pair `first` of all the batch's pairs */
	uint64_t units;       /* units of the kernel's width in one element */
	uint32_t side;        /* elements a side of a tile, for kernels that can choose */
	uint32_t group;       /* columns of tiles that are walked together, likewise; at least 1 */
};

#endif /* TSW_PARAMS_H */
