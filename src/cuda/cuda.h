/* The device engine.  Plain C; the kernels themselves are behind kernels/launch.h.  A build without
 * CUDA links absent.c in its place: the same calls, each returning TSW_ERR_NO_CUDA. */
#ifndef TSW_CUDA_H
#define TSW_CUDA_H

#include "../digest/digest.h"
#include "../dist/plan.h"
#include "../epilogue.h"
#include "../matrices.h"
#include "../tileswap_multi.h"

/* Can a GPU be used: the answer of tsw_cuda_status(), taken anew each time. */
tsw_status tsw_cuda_usable(void);

/* If `p` lies in device or managed memory, *device is the device that owns it, else -1.  Without a
 * usable GPU everything is host memory: *device = -1 and TSW_OK. */
tsw_status tsw_cuda_owner(const void *p, int *device);

/* Queues the transposes of `m` (checked, not tsw_nothing_to_do) on `stream`.  At most `grid_limit`
 * blocks go into one launch; 0 means as many as the device takes. */
tsw_status tsw_cuda_transpose(const struct tsw_matrices *m, tsw_stream stream, uint64_t grid_limit);

/* The names of the kernels, for benchmarks and tests; NULL past the last one. */
const char *tsw_cuda_kernel_name(size_t index);

/* As tsw_cuda_transpose, by the kernel of that name.  TSW_ERR_UNSUPPORTED if the kernel cannot
 * serve this shape, address or device. */
tsw_status tsw_cuda_transpose_by(const char *kernel, const struct tsw_matrices *m,
				 tsw_stream stream, uint64_t grid_limit);

/* Transposes on `device`'s legacy stream, waits for the end and restores the current device. */
tsw_status tsw_cuda_transpose_on(const struct tsw_matrices *m, int device);

/* Queues *e on every matrix of `m` (strided, checked, n and count not 0). */
tsw_status tsw_cuda_imatcopy(const struct tsw_matrices *m, const struct tsw_epilogue *e,
			     tsw_stream stream, uint64_t grid_limit);

/* Writes the digest of one matrix (checked, n >= 1) to `out` and waits for it. */
tsw_status tsw_cuda_checksum(const struct tsw_matrices *m, int transposed, tsw_digest *out,
			     tsw_stream stream, uint64_t grid_limit);

/* Transposes a matrix over several devices; layout, elem_size, options and what the host can see of
 * the parts are checked, and no option is left at 0. */
tsw_status tsw_cuda_multi(const struct tsw_spread *spread, size_t elem_size,
			  const tsw_multi_part *parts, const tsw_multi_options *options);

#endif /* TSW_CUDA_H */
