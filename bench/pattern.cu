/* Pattern ceilings: the addresses of tile pairs read and written with no transpose at all.
 *
 * A block takes the pair (i, j), i <= j, loads both tiles into registers, meets at a barrier as a
 * transpose must, and stores each tile, its bits turned over, to where it came from.  What is
 * missing to a copy is then the doing of the address pattern, not of any shared memory, shuffle or
 * bank conflict; what a transposing kernel misses beyond that is its own.
 *
 * Tiles are square in elements: `rows` rows of `row_bytes`.  Bits are turned over so that a check
 * can tell that every element was written exactly once. */
#include "../src/tilepair.h"
#include "streams.h"

/* The pair number `k` stands for in one of the orders; false if that number is not used. */
static __device__ bool pair_in_order(enum bench_order order, uint64_t k, uint32_t tiles,
				     struct tsw_pair *p)
{
	if (order == BENCH_COLUMN) {
		*p = tsw_pair_at(k);
		return true;
	}
	if (order == BENCH_SUPER8) {
		/* Super tiles of 8 x 8 in column order; in one on the diagonal half are not used.
		 */
		const struct tsw_pair super = tsw_pair_at(k / 64);

		p->i = super.i * 8 + (uint32_t)(k / 8 % 8);
		p->j = super.j * 8 + (uint32_t)(k % 8);
		return p->i <= p->j && p->j < tiles;
	}
	/* Counted from the end, column order is row order seen in the mirror. */
	*p = tsw_pair_at((uint64_t)tiles * (tiles + 1) / 2 - 1 - k);
	*p = {tiles - 1 - p->j, tiles - 1 - p->i};
	/* Row a has as many pairs as the a-th diagonal above the main one. */
	if (order == BENCH_DIAGONAL)
		*p = {p->j - p->i, p->j};
	return true;
}

/* One tile in registers.  A slot is one 16-byte vector of one row; the slots of a tile are dealt
 * out to the threads of the block, so that neighbours have neighbouring vectors. */
template <int ROWS, int ROW_BYTES, int THREADS, int SLOTS_PER_ROW> struct tile {
	static constexpr int EACH = (ROWS * SLOTS_PER_ROW + THREADS - 1) / THREADS;
	uint4 slot[EACH];
};

static __device__ uint4 flip(uint4 v)
{
	return {~v.x, ~v.y, ~v.z, ~v.w};
}

/* Aligned: every row of a tile is ROW_BYTES / 16 whole vectors, fewer at the right edge. */
template <int ROWS, int ROW_BYTES, int THREADS, typename BODY>
static __device__ void each_aligned(char *a, uint64_t pitch, uint32_t rows, uint32_t bytes,
				    BODY body)
{
	constexpr int SLOTS = ROW_BYTES / 16;

#pragma unroll
	for (int e = 0; e < ROWS * SLOTS / THREADS; e++) {
		const uint32_t s = e * THREADS + threadIdx.x;
		const uint32_t row = s / SLOTS, at = s % SLOTS * 16;

		if (row < rows && at < bytes)
			body(e, (uint4 *)(a + row * pitch + at));
	}
}

template <int ROWS, int ROW_BYTES, int THREADS>
static __global__ void __launch_bounds__(THREADS)
	pattern_aligned(char *a, uint64_t n, uint64_t ld, uint64_t first, enum bench_order order)
{
	constexpr int ELEM = ROW_BYTES / ROWS;
	const uint32_t tiles = (uint32_t)tsw_tile_count(n, ROWS);
	const uint64_t pitch = ld * ELEM;
	tile<ROWS, ROW_BYTES, THREADS, ROW_BYTES / 16> upper, lower;
	struct tsw_pair p;

	if (!pair_in_order(order, first + blockIdx.x, tiles, &p))
		return;
	const uint64_t row = (uint64_t)p.i * ROWS, col = (uint64_t)p.j * ROWS;
	const uint32_t rows = (uint32_t)(n - row < ROWS ? n - row : ROWS);
	const uint32_t cols = (uint32_t)(n - col < ROWS ? n - col : ROWS);
	char *const u = a + row * pitch + col * ELEM, *const l = a + col * pitch + row * ELEM;

	each_aligned<ROWS, ROW_BYTES, THREADS>(u, pitch, rows, cols * ELEM,
					       [&](int e, uint4 *v) { upper.slot[e] = *v; });
	if (row != col)
		each_aligned<ROWS, ROW_BYTES, THREADS>(
			l, pitch, cols, rows * ELEM, [&](int e, uint4 *v) { lower.slot[e] = *v; });
	__syncthreads();
	each_aligned<ROWS, ROW_BYTES, THREADS>(u, pitch, rows, cols * ELEM,
					       [&](int e, uint4 *v) { *v = flip(upper.slot[e]); });
	if (row != col)
		each_aligned<ROWS, ROW_BYTES, THREADS>(
			l, pitch, cols, rows * ELEM,
			[&](int e, uint4 *v) { *v = flip(lower.slot[e]); });
}

/* Unaligned: a row of a tile begins anywhere in a vector and so touches one vector more.  Whole
 * vectors are loaded (up to 15 bytes on either side belong to neighbours and are dropped); inside
 * vectors are stored whole, the two at the ends element by element. */
template <typename ELEM, int ROWS, int ROW_BYTES, int THREADS, typename BODY>
static __device__ void each_unaligned(char *a, uint64_t pitch, uint32_t rows, uint32_t bytes,
				      BODY body)
{
	constexpr int SLOTS = ROW_BYTES / 16 + 1;

#pragma unroll
	for (int e = 0; e < (ROWS * SLOTS + THREADS - 1) / THREADS; e++) {
		const uint32_t s = e * THREADS + threadIdx.x;
		const uint32_t row = s / SLOTS;
		char *const begin = a + row * pitch, *const end = begin + bytes;
		char *const v = (char *)((uintptr_t)begin & ~(uintptr_t)15) + s % SLOTS * 16;

		if (row < rows && v < end)
			body(e, v, begin, end);
	}
}

template <typename ELEM>
static __device__ void store_inside(char *v, uint4 value, const char *begin, const char *end)
{
	constexpr int COUNT = 16 / sizeof(ELEM);

	if (v >= begin && v + 16 <= end) {
		*(uint4 *)v = value;
		return;
	}
	union {
		uint4 vector;
		ELEM elem[COUNT];
	} parts = {value};
#pragma unroll
	for (int k = 0; k < COUNT; k++) {
		char *const at = v + k * sizeof(ELEM);

		if (at >= begin && at < end)
			*(ELEM *)at = parts.elem[k];
	}
}

template <typename ELEM, int ROWS, int ROW_BYTES, int THREADS>
static __global__ void __launch_bounds__(THREADS)
	pattern_unaligned(char *a, uint64_t n, uint64_t ld, uint64_t first, enum bench_order order)
{
	const uint32_t tiles = (uint32_t)tsw_tile_count(n, ROWS);
	const uint64_t pitch = ld * (ROW_BYTES / ROWS);
	tile<ROWS, ROW_BYTES, THREADS, ROW_BYTES / 16 + 1> upper, lower;
	struct tsw_pair p;

	if (!pair_in_order(order, first + blockIdx.x, tiles, &p))
		return;
	const uint64_t row = (uint64_t)p.i * ROWS, col = (uint64_t)p.j * ROWS;
	const uint32_t rows = (uint32_t)(n - row < ROWS ? n - row : ROWS);
	const uint32_t cols = (uint32_t)(n - col < ROWS ? n - col : ROWS);
	char *const u = a + row * pitch + col * (ROW_BYTES / ROWS);
	char *const l = a + col * pitch + row * (ROW_BYTES / ROWS);
	const uint32_t u_bytes = cols * (ROW_BYTES / ROWS), l_bytes = rows * (ROW_BYTES / ROWS);

	each_unaligned<ELEM, ROWS, ROW_BYTES, THREADS>(
		u, pitch, rows, u_bytes,
		[&](int e, char *v, char *, char *) { upper.slot[e] = *(const uint4 *)v; });
	if (row != col)
		each_unaligned<ELEM, ROWS, ROW_BYTES, THREADS>(
			l, pitch, cols, l_bytes,
			[&](int e, char *v, char *, char *) { lower.slot[e] = *(const uint4 *)v; });
	__syncthreads();
	each_unaligned<ELEM, ROWS, ROW_BYTES, THREADS>(
		u, pitch, rows, u_bytes, [&](int e, char *v, char *begin, char *end) {
			store_inside<ELEM>(v, flip(upper.slot[e]), begin, end);
		});
	if (row != col)
		each_unaligned<ELEM, ROWS, ROW_BYTES, THREADS>(
			l, pitch, cols, l_bytes, [&](int e, char *v, char *begin, char *end) {
				store_inside<ELEM>(v, flip(lower.slot[e]), begin, end);
			});
}

struct entry {
	struct bench_tile_shape shape;
	const void *aligned, *unaligned;
};

#define SHAPE(ELEM, ROWS, ROW_BYTES, THREADS)                                                      \
	{                                                                                          \
		{sizeof(ELEM), ROWS, ROW_BYTES, THREADS},                                          \
			(const void *)pattern_aligned<ROWS, ROW_BYTES, THREADS>,                   \
			(const void *)pattern_unaligned<ELEM, ROWS, ROW_BYTES, THREADS>            \
	}

static const struct entry table[] = {
	SHAPE(uint32_t, 32, 128, 256),	SHAPE(uint32_t, 64, 256, 256),
	SHAPE(uint32_t, 64, 256, 512),	SHAPE(uint32_t, 128, 512, 512),
	SHAPE(uint64_t, 16, 128, 128),	SHAPE(uint64_t, 32, 256, 256),
	SHAPE(uint64_t, 64, 512, 512),	SHAPE(uint16_t, 64, 128, 256),
	SHAPE(uint16_t, 128, 256, 512), SHAPE(uint8_t, 128, 128, 256),
};

extern "C" struct bench_tile_shape bench_tile_shape(size_t index)
{
	return index < sizeof table / sizeof *table ? table[index].shape
						    : (struct bench_tile_shape){0, 0, 0, 0};
}

extern "C" cudaError_t bench_launch_pattern(size_t shape, int aligned, enum bench_order order,
					    void *a, uint64_t n, uint64_t ld, cudaStream_t stream)
{
	const struct entry *const e = &table[shape];
	const uint64_t tiles = tsw_tile_count(n, e->shape.rows);
	uint64_t blocks = order == BENCH_SUPER8 ? tsw_pair_count(tsw_tile_count(tiles, 8)) * 64
						: tsw_pair_count(tiles);
	const void *kernel = aligned ? e->aligned : e->unaligned;
	const uint64_t limit = 2147483647;
	uint64_t first = 0;

	while (first < blocks) {
		const uint64_t now = blocks - first < limit ? blocks - first : limit;
		void *arguments[] = {&a, &n, &ld, &first, &order};
		cudaError_t error = cudaLaunchKernel(kernel, dim3((unsigned)now),
						     dim3(e->shape.threads), arguments, 0, stream);

		if (error != cudaSuccess)
			return error;
		first += now;
	}
	return cudaSuccess;
}
