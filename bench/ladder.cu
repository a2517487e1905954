/* The ladder: four ways to write the transpose of a rows x cols matrix to another place, from the
 * obvious to the good, and the copy that bounds them all.  Read from top to bottom; the text that
 * goes with it is docs/LADDER.md.
 *
 * All of them walk 32 x 32 tiles with blocks of 32 x 8 threads: a warp is one row of a tile, and
 * every thread has four elements to move, eight rows apart. */
#include "streams.h"

#define TILE 32
#define ROWS_AT_ONCE 8

/* Rung 0, the ceiling: the same walk without transposing.  Every element is read once and written
 * once; a transpose does just that, only to other addresses. */
template <typename T>
static __global__ void rung_copy(T *out, const T *in, uint64_t rows, uint64_t cols)
{
	const uint64_t x = (uint64_t)blockIdx.x * TILE + threadIdx.x;
	const uint64_t y = (uint64_t)blockIdx.y * TILE + threadIdx.y;

	for (unsigned k = 0; k < TILE; k += ROWS_AT_ONCE)
		if (x < cols && y + k < rows)
			out[(y + k) * cols + x] = in[(y + k) * cols + x];
}

/* Rung 1, naive: a warp reads 32 neighbours (one or two transactions) and writes 32 elements that
 * are `rows` apart: 32 sectors of 32 bytes, of which one element each is used. */
template <typename T>
static __global__ void rung_naive(T *out, const T *in, uint64_t rows, uint64_t cols)
{
	const uint64_t x = (uint64_t)blockIdx.x * TILE + threadIdx.x;
	const uint64_t y = (uint64_t)blockIdx.y * TILE + threadIdx.y;

	for (unsigned k = 0; k < TILE; k += ROWS_AT_ONCE)
		if (x < cols && y + k < rows)
			out[x * rows + (y + k)] = in[(y + k) * cols + x];
}

/* Rungs 2 and 3, through shared memory: the tile is read by rows, and after the barrier taken out
 * by columns, so that the write, too, is by rows: of the tile that has exchanged coordinates.
 *
 *   PAD = 0   a column of a [32][32] tile of 4-byte elements lies in one bank: 32-way conflict
 *   PAD = 1   [32][33] moves each row on by one bank: no conflict
 *
 * For 8-byte elements a warp's access is served in two halves of 16 threads, two banks each: with
 * 33 columns the half's 16 threads begin at banks 0, 2, 4 ... 30, no conflict either. */
template <typename T, int PAD>
static __global__ void rung_shared(T *out, const T *in, uint64_t rows, uint64_t cols)
{
	__shared__ T tile[TILE][TILE + PAD];
	uint64_t x = (uint64_t)blockIdx.x * TILE + threadIdx.x;
	uint64_t y = (uint64_t)blockIdx.y * TILE + threadIdx.y;

	for (unsigned k = 0; k < TILE; k += ROWS_AT_ONCE)
		if (x < cols && y + k < rows)
			tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * cols + x];
	__syncthreads();

	/* The output has `cols` rows of `rows` elements: the limits change places too. */
	x = (uint64_t)blockIdx.y * TILE + threadIdx.x;
	y = (uint64_t)blockIdx.x * TILE + threadIdx.y;
	for (unsigned k = 0; k < TILE; k += ROWS_AT_ONCE)
		if (x < rows && y + k < cols)
			out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}

/* What comes next, in place, is the library's own: kernels/tile33.cuh and its faster kin. */

template <typename T> static const void *rung_kernel(enum bench_rung rung)
{
	switch (rung) {
	case BENCH_RUNG_COPY:
		return (const void *)rung_copy<T>;
	case BENCH_RUNG_NAIVE:
		return (const void *)rung_naive<T>;
	case BENCH_RUNG_TILE32:
		return (const void *)rung_shared<T, 0>;
	case BENCH_RUNG_TILE33:
		return (const void *)rung_shared<T, 1>;
	}
	return NULL;
}

extern "C" cudaError_t bench_launch_rung(enum bench_rung rung, void *out, const void *in,
					 uint64_t rows, uint64_t cols, unsigned elem_size,
					 cudaStream_t stream)
{
	const dim3 grid((unsigned)((cols + TILE - 1) / TILE), (unsigned)((rows + TILE - 1) / TILE));
	const void *kernel = elem_size == 4 ? rung_kernel<float>(rung) : rung_kernel<double>(rung);
	void *arguments[] = {&out, &in, &rows, &cols};

	return cudaLaunchKernel(kernel, grid, dim3(TILE, ROWS_AT_ONCE), arguments, 0, stream);
}
