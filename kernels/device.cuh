/* What kernel texts share.  Kernel text keeps to the common subset of C11 and CUDA C++, so that a
 * machine without a GPU can run the very same text (tests/simt). */
#ifndef TSW_DEVICE_CUH
#define TSW_DEVICE_CUH

#include "../src/tilepair.h"
#include "params.h"

/* Matrix number `b` of a batch. */
static inline __device__ char *tsw_matrix(const struct tsw_tiles *p, uint64_t b)
{
	return p->array ? p->array[b] : p->base + b * p->stride;
}

#endif /* TSW_DEVICE_CUH */
