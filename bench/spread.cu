/* Position-coded data on the parts of a matrix over several GPUs. */
#include "coded.h"
#include "spread.h"

#define THREADS 256
#define BLOCKS 4096

static __device__ uint64_t global_index(uint64_t local, uint64_t block, uint32_t grid, uint32_t at)
{
	return (local / block * grid + at) * block + local % block;
}

template <typename W> static __global__ void code_kernel(struct bench_part p)
{
	for (uint64_t i = blockIdx.x; i < p.rows; i += gridDim.x) {
		const uint64_t r = global_index(i, p.mb, p.nprow, p.row);
		W *row = (W *)p.a + i * p.ld * p.words;

		for (uint64_t j = threadIdx.x; j < p.cols; j += blockDim.x) {
			const uint64_t c = global_index(j, p.nb, p.npcol, p.col);

			for (uint64_t l = 0; l < p.words; l++)
				row[j * p.words + l] =
					(W)bench_code((r * p.n + c) * p.words + l, sizeof(W));
		}
	}
}

template <typename W>
static __global__ void check_kernel(struct bench_part p, unsigned long long *wrong)
{
	unsigned long long bad = 0;

	for (uint64_t i = blockIdx.x; i < p.rows; i += gridDim.x) {
		const uint64_t r = global_index(i, p.mb, p.nprow, p.row);
		const W *row = (const W *)p.a + i * p.ld * p.words;

		for (uint64_t j = threadIdx.x; j < p.cols; j += blockDim.x) {
			const uint64_t c = global_index(j, p.nb, p.npcol, p.col);
			int differs = 0;

			for (uint64_t l = 0; l < p.words; l++)
				differs |= row[j * p.words + l] !=
					   (W)bench_code((c * p.n + r) * p.words + l, sizeof(W));
			bad += (unsigned)differs;
		}
	}
	if (bad)
		atomicAdd(wrong, bad);
}

extern "C" cudaError_t bench_launch_spread_code(const struct bench_part *part, cudaStream_t stream)
{
	struct bench_part p = *part;
	void *arguments[] = {&p};
	const void *kernel = p.word_bytes == 8	 ? (const void *)code_kernel<uint64_t>
			     : p.word_bytes == 4 ? (const void *)code_kernel<uint32_t>
			     : p.word_bytes == 2 ? (const void *)code_kernel<uint16_t>
						 : (const void *)code_kernel<uint8_t>;

	return cudaLaunchKernel(kernel, dim3(BLOCKS), dim3(THREADS), arguments, 0, stream);
}

extern "C" cudaError_t bench_launch_spread_check(const struct bench_part *part,
						 unsigned long long *wrong, cudaStream_t stream)
{
	struct bench_part p = *part;
	void *arguments[] = {&p, &wrong};
	const void *kernel = p.word_bytes == 8	 ? (const void *)check_kernel<uint64_t>
			     : p.word_bytes == 4 ? (const void *)check_kernel<uint32_t>
			     : p.word_bytes == 2 ? (const void *)check_kernel<uint16_t>
						 : (const void *)check_kernel<uint8_t>;

	return cudaLaunchKernel(kernel, dim3(BLOCKS), dim3(THREADS), arguments, 0, stream);
}
