/* Ceilings, the spinning kernel, and position-coded data on the GPU.
 *
 * The ceilings move one 16-byte vector a thread in blocks of 256: more vectors a thread are slower
 * on an H200, because blocks then spread over a wider window of addresses. */
#include "streams.h"

#define THREADS 256

static unsigned blocks_for(uint64_t items)
{
	return (unsigned)((items + THREADS - 1) / THREADS);
}

/* Enough blocks to fill any GPU; the kernels with this grid stride over their work. */
#define FILLING_GRID 4096

static __global__ void __launch_bounds__(THREADS)
	copy_kernel(uint4 *__restrict__ to, const uint4 *__restrict__ from, uint64_t nbytes)
{
	const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < nbytes / 16)
		to[i] = from[i];
	else if (i == nbytes / 16)
		for (uint64_t b = nbytes / 16 * 16; b < nbytes; b++)
			((uint8_t *)to)[b] = ((const uint8_t *)from)[b];
}

static __global__ void __launch_bounds__(THREADS) rmw_kernel(uint4 *p, uint64_t nbytes)
{
	const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < nbytes / 16) {
		uint4 v = p[i];

		v.x = ~v.x, v.y = ~v.y, v.z = ~v.z, v.w = ~v.w;
		p[i] = v;
	} else if (i == nbytes / 16) {
		for (uint64_t b = nbytes / 16 * 16; b < nbytes; b++)
			((uint8_t *)p)[b] = (uint8_t) ~((uint8_t *)p)[b];
	}
}

template <int VECTORS>
static __global__ void __launch_bounds__(THREADS)
	read_kernel(const uint4 *p, uint64_t vectors, unsigned long long *sink)
{
	const uint64_t first = (uint64_t)blockIdx.x * THREADS * VECTORS + threadIdx.x;
	uint4 v[VECTORS] = {};
	unsigned all = 0;

#pragma unroll
	for (int k = 0; k < VECTORS; k++)
		if (first + k * THREADS < vectors)
			v[k] = p[first + k * THREADS];
#pragma unroll
	for (int k = 0; k < VECTORS; k++)
		all |= v[k].x ^ v[k].y * 3 ^ v[k].z * 5 ^ v[k].w * 7;
	if (all == 0x12345678)
		*sink = all;
}

static __global__ void spin_kernel(const volatile int *flag, uint64_t timeout_ns)
{
	uint64_t start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do {
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	} while (!*flag && now - start < timeout_ns);
}

template <typename W> static __global__ void code_kernel(W *p, uint64_t words)
{
	uint64_t w = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	for (; w < words; w += (uint64_t)gridDim.x * blockDim.x)
		p[w] = (W)bench_code(w, sizeof(W));
}

/* A block takes one row of one matrix after another. */
template <typename W>
static __global__ void check_kernel(const char *base, struct bench_coded m, uint64_t count,
				    uint64_t stride_bytes, unsigned long long *wrong)
{
	const uint64_t rows = m.rows * count;
	const uint64_t words_apart = stride_bytes / sizeof(W);
	unsigned long long bad = 0;

	for (uint64_t k = blockIdx.x; k < rows; k += gridDim.x) {
		const uint64_t b = k / m.rows, r = k - b * m.rows;
		const uint64_t cols = r + 1 < m.rows ? m.ld : m.width;
		const W *row = (const W *)(base + b * stride_bytes) + r * m.ld * m.words;

		m.first = b * words_apart;
		for (uint64_t c = threadIdx.x; c < cols; c += blockDim.x) {
			int differs = 0;

			for (uint64_t l = 0; l < m.words; l++)
				differs |= row[c * m.words + l] !=
					   (W)bench_expected(&m, r, c, l, sizeof(W));
			bad += (unsigned)differs;
		}
	}
	if (bad)
		atomicAdd(wrong, bad);
}

static cudaError_t launch(const void *kernel, unsigned blocks, unsigned threads, void **arguments,
			  cudaStream_t stream)
{
	return blocks ? cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), arguments, 0, stream)
		      : cudaSuccess;
}

extern "C" cudaError_t bench_launch_copy(void *to, const void *from, size_t nbytes,
					 cudaStream_t stream)
{
	void *arguments[] = {&to, &from, &nbytes};

	return launch((const void *)copy_kernel, blocks_for(nbytes / 16 + (nbytes % 16 != 0)),
		      THREADS, arguments, stream);
}

extern "C" cudaError_t bench_launch_rmw(void *p, size_t nbytes, cudaStream_t stream)
{
	void *arguments[] = {&p, &nbytes};

	return launch((const void *)rmw_kernel, blocks_for(nbytes / 16 + (nbytes % 16 != 0)),
		      THREADS, arguments, stream);
}

extern "C" cudaError_t bench_launch_read(const void *p, size_t nbytes, unsigned vectors,
					 unsigned long long *sink, cudaStream_t stream)
{
	uint64_t count = nbytes / 16;
	void *arguments[] = {&p, &count, &sink};
	const void *kernel = vectors == 8   ? (const void *)read_kernel<8>
			     : vectors == 4 ? (const void *)read_kernel<4>
					    : (const void *)read_kernel<1>;

	return launch(kernel, blocks_for((count + vectors - 1) / vectors), THREADS, arguments,
		      stream);
}

extern "C" cudaError_t bench_launch_spin(const volatile int *flag, uint64_t timeout_ns,
					 cudaStream_t stream)
{
	void *arguments[] = {&flag, &timeout_ns};

	return launch((const void *)spin_kernel, 1, 1, arguments, stream);
}

extern "C" cudaError_t bench_launch_code(void *p, size_t nbytes, unsigned word_bytes,
					 cudaStream_t stream)
{
	uint64_t words = nbytes / word_bytes;
	void *arguments[] = {&p, &words};
	const void *kernel = word_bytes == 8   ? (const void *)code_kernel<uint64_t>
			     : word_bytes == 4 ? (const void *)code_kernel<uint32_t>
			     : word_bytes == 2 ? (const void *)code_kernel<uint16_t>
					       : (const void *)code_kernel<uint8_t>;

	return launch(kernel, FILLING_GRID, THREADS, arguments, stream);
}

extern "C" cudaError_t bench_launch_check(const void *p, const struct bench_coded *m,
					  uint64_t count, uint64_t stride_bytes,
					  unsigned word_bytes, unsigned long long *wrong,
					  cudaStream_t stream)
{
	struct bench_coded coded = *m;
	void *arguments[] = {&p, &coded, &count, &stride_bytes, &wrong};
	const void *kernel = word_bytes == 8   ? (const void *)check_kernel<uint64_t>
			     : word_bytes == 4 ? (const void *)check_kernel<uint32_t>
			     : word_bytes == 2 ? (const void *)check_kernel<uint16_t>
					       : (const void *)check_kernel<uint8_t>;

	return launch(kernel, FILLING_GRID, THREADS, arguments, stream);
}
