/* What tests on a real GPU begin with. */
#ifndef TESTS_GPU_H
#define TESTS_GPU_H

#include <cuda_runtime_api.h>

#include "support.h"
#include "tileswap.h"

#define CUDA(call)                                                                                 \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		ck_assert_msg(error_ == cudaSuccess, "%s: %s", #call, cudaGetErrorString(error_)); \
	} while (0)

#define NEED_GPU()                                                                                 \
	do {                                                                                       \
		if (tsw_cuda_status() != TSW_OK)                                                   \
			tsw_skip_gpu(tsw_last_error());                                            \
	} while (0)

#endif /* TESTS_GPU_H */
