/* What the files of src/cuda share: checked calls of the CUDA runtime. */
#ifndef TSW_RUNTIME_H
#define TSW_RUNTIME_H

#include <cuda_runtime_api.h>

#include "../status.h"
#include "cuda.h"
#include "launch.h"

/* Records which call failed with what, and takes our own error back out of the runtime's
 * last-error slot, where it would look like the caller's. */
tsw_status tsw_cuda_fail(cudaError_t error, const char *call);

/* Of a call made after `status` is known, to tidy up: the first failure is the one to report, and
 * nothing of a later one stays behind. */
tsw_status tsw_cuda_also(tsw_status status, cudaError_t error, const char *call);

#define ALSO_CUDA(status, call) tsw_cuda_also(status, call, #call)

/* Every call of the runtime, launches included, is judged by the value it returns, never by
 * cudaGetLastError(): an error that the caller has pending there is left alone. */
#define TRY_CUDA(call)                                                                             \
	do {                                                                                       \
		cudaError_t cuda_error_ = (call);                                                  \
		if (cuda_error_ != cudaSuccess)                                                    \
			return tsw_cuda_fail(cuda_error_, #call);                                  \
	} while (0)

/* Can the current device reach the memory at `p`?  If so *address is what the device calls it
 * (pinned memory may have another address there).  `name` is the argument's, for the detail.
 * TSW_ERR_WHERE for plain host memory and for the memory of another device. */
tsw_status tsw_cuda_reach(const void *p, const char *name, void **address);

/* The most dynamic shared memory that a block may ask for on the current device. */
tsw_status tsw_cuda_shared_bytes(unsigned *bytes);

/* The shared memory that the blocks of one of its multiprocessors have together. */
tsw_status tsw_cuda_multiprocessor_shared_bytes(unsigned *bytes);

#endif /* TSW_RUNTIME_H */
