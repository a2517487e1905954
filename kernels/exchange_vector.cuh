/* As exchange.cuh, for places made of whole vectors of 16 bytes: elements of 1, 2, 4, 8 or 16
 * bytes, V = 16 / width to a vector, every count of rows and columns a multiple of V, and every
 * V columns one aligned vector.  A thread turns a block of V x V elements in its registers; the
 * tile then lies transposed in shared memory, as in vector.cuh, whose picture holds here.
 *
 * Included once per width. */

#define EXCHANGE_V (16 / EXCHANGE_WIDTH)
#define EXCHANGE_TILE (EXCHANGE_V * EXCHANGE_ROW * EXCHANGE_ROW) /* vectors of one tile */
#define EXCHANGE_PASTE_(a, b) a##b
#define EXCHANGE_PASTE(a, b) EXCHANGE_PASTE_(a, b)
#define EXCHANGE_NAME(part) EXCHANGE_PASTE(EXCHANGE_KERNEL, part)
#define EXCHANGE_TURN EXCHANGE_PASTE(tsw_turn_, EXCHANGE_WIDTH)

/* Vector y of row x of a transposed tile. */
static inline __device__ uint4 *EXCHANGE_NAME(_at)(uint4 *tile, uint32_t x, uint32_t y)
{
	return tile + x * EXCHANGE_ROW + (y ^ (x / EXCHANGE_V & 7));
}

static inline __device__ void EXCHANGE_NAME(_put)(uint4 v[EXCHANGE_V], uint4 *tile, uint32_t i,
						  uint32_t j)
{
	EXCHANGE_TURN(v);
#pragma unroll
	for (uint32_t q = 0; q < EXCHANGE_V; q++)
		*EXCHANGE_NAME(_at)(tile, j * EXCHANGE_V + q, i) = v[q];
}

static inline __device__ void EXCHANGE_NAME(_store)(uint4 *tile, char *a, const uint64_t *row,
						    uint64_t col, uint32_t i, uint32_t j)
{
#pragma unroll
	for (uint32_t q = 0; q < EXCHANGE_V; q++)
		*(uint4 *)(a + row[q] + col) = *EXCHANGE_NAME(_at)(tile, i * EXCHANGE_V + q, j);
}

__global__ void __launch_bounds__(EXCHANGE_ROW *EXCHANGE_ROW)
	EXCHANGE_KERNEL(const __grid_constant__ struct tsw_exchange p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_exchange_shared);

	uint64_t *const offsets = (uint64_t *)tsw_exchange_shared;
	uint4 *const upper = (uint4 *)(offsets + 4 * EXCHANGE_V * EXCHANGE_ROW);
	uint4 *const lower = upper + EXCHANGE_TILE;
	const struct tsw_exchange_tile t = tsw_exchange_find(&p, offsets, EXCHANGE_WIDTH);
	const uint32_t i = threadIdx.x / EXCHANGE_ROW, j = threadIdx.x % EXCHANGE_ROW;
	const uint32_t down = i * EXCHANGE_V, right = j * EXCHANGE_V;
	/* This thread's block of `from`, and of `to`: is it within the rectangle? */
	const int in_from = down < t.rows && right < t.cols;
	const int in_to = down < t.cols && right < t.rows;
	uint4 u[EXCHANGE_V], v[EXCHANGE_V];

	__syncthreads();
	if (in_from)
#pragma unroll
		for (uint32_t q = 0; q < EXCHANGE_V; q++)
			u[q] = *(const uint4 *)(p.from.a + t.from_row[down + q] +
						t.from_col[right]);
	if (t.back && in_to)
#pragma unroll
		for (uint32_t q = 0; q < EXCHANGE_V; q++)
			v[q] = *(const uint4 *)(p.to.a + t.to_row[down + q] + t.to_col[right]);
	if (in_from)
		EXCHANGE_NAME(_put)(u, upper, i, j);
	if (t.back && in_to)
		EXCHANGE_NAME(_put)(v, lower, i, j);
	__syncthreads();
	if (in_to)
		EXCHANGE_NAME(_store)
	(upper, p.to.a, t.to_row + down, t.to_col[right], i, j);
	if (t.back && in_from)
		EXCHANGE_NAME(_store)
	(lower, p.from.a, t.from_row + down, t.from_col[right], i, j);
}

#undef EXCHANGE_V
#undef EXCHANGE_TILE
#undef EXCHANGE_PASTE_
#undef EXCHANGE_PASTE
#undef EXCHANGE_NAME
#undef EXCHANGE_TURN
#undef EXCHANGE_WIDTH
#undef EXCHANGE_ROW
#undef EXCHANGE_KERNEL
