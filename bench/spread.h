/* The C side of the kernels that fill and check a part of a matrix over several GPUs. */
#ifndef TSW_BENCH_SPREAD_H
#define TSW_BENCH_SPREAD_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A part: local row i is row ((i / mb) * nprow + row) * mb + i % mb of the matrix, where grid row
 * `row` is counted from the one that has the first block; columns likewise. */
struct bench_part {
	char *a;
	uint64_t n, rows, cols, ld; /* the last three of the part */
	uint64_t mb, nb;
	uint32_t nprow, npcol, row, col;
	uint64_t words; /* of word_bytes, in one element */
	unsigned word_bytes;
};

/* Element (r, c) gets the code of its place (coded.h); asynchronous, on the current device. */
cudaError_t bench_launch_spread_code(const struct bench_part *part, cudaStream_t stream);

/* Adds to *wrong (device memory) how many elements are not those of the transposed place. */
cudaError_t bench_launch_spread_check(const struct bench_part *part, unsigned long long *wrong,
				      cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif /* TSW_BENCH_SPREAD_H */
