/* Rectangles of two local parts, or of a part and a dense buffer, exchanged tile by tile, unit by
 * unit, for any width and alignment.
 *
 *       from, R x C                 to, C x R
 *      +---+---+---+               +---+---+
 *      |   | U |   |               |   |   |         U goes to L's place, transposed,
 *      +---+---+---+               +---+---+         and with `both` L to U's
 *      |   |   |   |               | L |   |
 *      +---+---+---+               +---+---+
 *                                  |   |   |
 *                                  +---+---+
 *
 * Rows and columns lie where the places' maps say; a block looks its own up once.  A warp walks
 * along a row, over all units of neighbouring elements.  An element of more than p.slice units goes
 * in several turns.  Included once per unit. */

#define EXCHANGE_PASTE_(a, b) a##b
#define EXCHANGE_PASTE(a, b) EXCHANGE_PASTE_(a, b)
#define EXCHANGE_NAME(part) EXCHANGE_PASTE(EXCHANGE_KERNEL, part)
#define EXCHANGE_WIDTH (uint32_t)sizeof(EXCHANGE_UNIT)
#define EXCHANGE_DEPTH 4 /* rows that a warp has in flight */

/* Units [unit, unit + units) of the elements of a tile, into shared memory as they lie. */
static inline __device__ void EXCHANGE_NAME(_load)(char *tile, uint32_t pitch, const char *a,
						   const uint64_t *row, const uint64_t *col,
						   uint32_t rows, uint32_t cols, uint32_t units)
{
	const uint32_t lane = threadIdx.x % 32, warps = blockDim.x / 32;

	for (uint32_t y = threadIdx.x / 32; y < rows; y += EXCHANGE_DEPTH * warps)
		for (uint32_t f = lane; f < cols * units; f += 32) {
			const uint32_t e = units == 1 ? f : f / units;
			const char *const from = a + col[e] + (f - e * units) * EXCHANGE_WIDTH;
			EXCHANGE_UNIT v[EXCHANGE_DEPTH];

#pragma unroll
			for (uint32_t q = 0; q < EXCHANGE_DEPTH; q++)
				if (y + q * warps < rows)
					v[q] = *(const EXCHANGE_UNIT *)(from + row[y + q * warps]);
#pragma unroll
			for (uint32_t q = 0; q < EXCHANGE_DEPTH; q++)
				if (y + q * warps < rows)
					*(EXCHANGE_UNIT *)(tile + (y + q * warps) * pitch +
							   f * EXCHANGE_WIDTH) = v[q];
		}
}

/* A tile from shared memory to its place, transposed: `rows` and `cols` are the place's. */
static inline __device__ void EXCHANGE_NAME(_store)(const char *tile, uint32_t pitch, char *a,
						    const uint64_t *row, const uint64_t *col,
						    uint32_t rows, uint32_t cols, uint32_t units)
{
	const uint32_t lane = threadIdx.x % 32, warps = blockDim.x / 32;

	for (uint32_t f = lane; f < cols * units; f += 32) {
		const uint32_t e = units == 1 ? f : f / units;
		const uint32_t u = (f - e * units) * EXCHANGE_WIDTH;
		const char *const from = tile + e * pitch + u;
		char *const to = a + col[e] + u;

#pragma unroll 4
		for (uint32_t x = threadIdx.x / 32; x < rows; x += warps)
			*(EXCHANGE_UNIT *)(to + row[x]) =
				*(const EXCHANGE_UNIT *)(from + x * units * EXCHANGE_WIDTH);
	}
}

__global__ void __launch_bounds__(256)
	EXCHANGE_KERNEL(const __grid_constant__ struct tsw_exchange p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_exchange_shared);

	const uint32_t pitch = tsw_exchange_pitch(p.side, p.slice, EXCHANGE_WIDTH);
	uint64_t *const offsets = (uint64_t *)tsw_exchange_shared;
	char *const upper = (char *)(offsets + 4 * p.side);
	char *const lower = upper + p.side * pitch;
	const struct tsw_exchange_tile t = tsw_exchange_find(&p, offsets, p.units * EXCHANGE_WIDTH);

	__syncthreads();
	for (uint32_t unit = 0; unit < p.units; unit += p.slice) {
		const uint32_t units = p.units - unit < p.slice ? p.units - unit : p.slice;
		char *const from = p.from.a + (uint64_t)unit * EXCHANGE_WIDTH;
		char *const to = p.to.a + (uint64_t)unit * EXCHANGE_WIDTH;

		EXCHANGE_NAME(_load)
		(upper, pitch, from, t.from_row, t.from_col, t.rows, t.cols, units);
		if (t.back)
			EXCHANGE_NAME(_load)
		(lower, pitch, to, t.to_row, t.to_col, t.cols, t.rows, units);
		__syncthreads();
		EXCHANGE_NAME(_store)
		(upper, pitch, to, t.to_row, t.to_col, t.cols, t.rows, units);
		if (t.back)
			EXCHANGE_NAME(_store)
		(lower, pitch, from, t.from_row, t.from_col, t.rows, t.cols, units);
		/* The next turn fills the tiles anew: nobody may still be reading them. */
		if (unit + p.slice < p.units)
			__syncthreads();
	}
}

#undef EXCHANGE_PASTE_
#undef EXCHANGE_PASTE
#undef EXCHANGE_NAME
#undef EXCHANGE_WIDTH
#undef EXCHANGE_DEPTH
#undef EXCHANGE_UNIT
#undef EXCHANGE_KERNEL
