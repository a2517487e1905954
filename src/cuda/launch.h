/* Launching, for files that need nothing else of the CUDA runtime. */
#ifndef TSW_CUDA_LAUNCH_H
#define TSW_CUDA_LAUNCH_H

#include "../../kernels/launch.h"
#include "../tileswap.h"

/* Launches `blocks` blocks (at least 1) of `kernel` with its one parameter, of whatever type. */
tsw_status tsw_cuda_launch(const struct tsw_kernel *kernel, const void *parameter, uint64_t blocks,
			   tsw_stream stream);

/* The most blocks one launch may have, for a caller that asks for `grid_limit` (0 = any). */
uint64_t tsw_cuda_grid(uint64_t grid_limit);

#endif /* TSW_CUDA_LAUNCH_H */
