/* What the files of the GPU backend share; only for builds with CUDA. */
#ifndef TSW_BENCH_GPU_H
#define TSW_BENCH_GPU_H

#include "bench.h"
#include "streams.h"

/* Reports a failed CUDA call and hands up BENCH_FAILED. */
#define CHECK_CUDA(call)                                                                           \
	do {                                                                                       \
		cudaError_t cuda_error_ = (call);                                                  \
		if (cuda_error_ != cudaSuccess) {                                                  \
			bench_complain("%s:%d: %s: %s (%s)", __FILE__, __LINE__, #call,            \
				       cudaGetErrorString(cuda_error_),                            \
				       cudaGetErrorName(cuda_error_));                             \
			return BENCH_FAILED;                                                       \
		}                                                                                  \
	} while (0)

/* Codes copy 0, and the second place if `out`; asynchronous. */
int bench_code_cuda(struct bench_set *set, int out);

/* Checks copy 0 (the second place if `out`) and waits for the count. */
int bench_check_cuda(struct bench_set *set, int out, enum bench_expect expect, uint64_t *wrong);

/* The same for a matrix described by `m`, `count` of them. */
int bench_check_coded(struct bench_set *set, const void *p, const struct bench_coded *m,
		      uint64_t count, uint64_t stride_bytes, unsigned word_bytes, uint64_t *wrong);

/* Verifies on position-coded data. */
int bench_verify_coded(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong);

#endif /* TSW_BENCH_GPU_H */
