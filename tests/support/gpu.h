/* What tests on a real GPU begin with. */
#ifndef TESTS_GPU_H
#define TESTS_GPU_H

#include <cuda_runtime_api.h>
#include <stdlib.h>

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

static inline int devices(void)
{
	int count;

	CUDA(cudaGetDeviceCount(&count));
	return count;
}

/* A test of its own: REQUIRE_GPUS=K demands K of them. */
#define NEED_GPUS()                                                                                \
	do {                                                                                       \
		const char *wanted = getenv("REQUIRE_GPUS");                                       \
		const int count = tsw_cuda_status() == TSW_OK ? devices() : 0;                     \
		ck_assert_msg(!wanted || count >= atoi(wanted),                                    \
			      "REQUIRE_GPUS=%s, but there are %d", wanted, count);                 \
		if (count < 2)                                                                     \
			tsw_skip("needs two GPUs");                                                \
	} while (0)

#endif /* TESTS_GPU_H */
