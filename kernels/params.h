/* What a transposing kernel is given: one POD structure by value, so that a launch, a CUDA graph
 * and a host that runs the kernel text all pass it the same way.  C and CUDA. */
#ifndef TSW_PARAMS_H
#define TSW_PARAMS_H

#include <stdint.h>

#include "../src/epilogue.h"

struct tsw_tiles {
	char *base;	    /* first matrix, where `array` is NULL */
	char *const *array; /* device array of matrices, or NULL */
	uint64_t stride;    /* bytes from matrix to matrix, with `base` */
	uint64_t n;	    /* elements a side */
	uint64_t ld;	    /* elements from row to row */
	uint64_t pairs;	    /* tile pairs of one matrix */
	uint64_t first;	    /* block 0 of this launch takes pair `first` of all the batch's pairs */
	uint64_t units;	    /* units of the kernel's width in one element */
	uint32_t side;	    /* elements a side of a tile, for kernels that can choose */
	uint32_t tiles;	    /* of a row of them, for those too */
	uint32_t group;	    /* columns of tiles that are walked together, likewise; at least 1 */
	struct tsw_epilogue epilogue; /* of imatcopy's kernels; the others do not look */
};

/* What the kernel for many small matrices is given: chunks of `group` whole matrices (stream.cuh
 * has the words). */
struct tsw_chunks {
	char *base;	      /* first matrix, where `array` is NULL */
	char *const *array;   /* device array of matrices, or NULL */
	uint64_t stride;      /* bytes from matrix to matrix, with `base` */
	uint64_t count;	      /* of matrices */
	uint64_t pitch;	      /* bytes from row to row */
	uint64_t span;	      /* bytes from the first to the last of a matrix */
	uint64_t first;	      /* block 0 of this launch takes chunk `first` */
	uint32_t n;	      /* elements a side */
	uint32_t elements;    /* n * n */
	uint32_t units;	      /* of the kernel's width in one element */
	uint32_t group;	      /* matrices of a chunk; the last one may have fewer */
	uint32_t runs;	      /* of one matrix: its rows, or 1; 0 where the chunk is one run */
	uint32_t run_bytes;   /* of a run; where the chunk is one, of each matrix in it */
	uint32_t slot;	      /* vectors of shared memory for a run */
	uint32_t whole;	      /* as many as every run has; slot - whole <= 1 are its end, if any */
	uint32_t matrix_step; /* bytes of shared memory from matrix to matrix */
	uint32_t row_step;    /* and from row to row */
	uint32_t swizzle;     /* bits of an address there that are scrambled */
	uint32_t by_units, by_n, by_matrix, by_whole; /* reciprocals, of `elements` the third */
	struct tsw_epilogue epilogue; /* of imatcopy's kernels; the others do not look */
};

#endif /* TSW_PARAMS_H */
