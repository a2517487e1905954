/* Tile pairs for rows of any alignment and elements of any width, as long as addresses are
 * multiples of the unit.
 *
 * Loads take whole 16-byte vectors, the smallest aligned superset of each row of a tile, and leave
 * it in shared memory as it is, so that row e lies there at its own misalignment m(e):
 *
 *     global    ..|.......abc|defghijk|lmno.......|..        | every 16 bytes
 *     shared      |.......abc|defghijk|lmno.......|          what lies left of a and right of o
 * belongs
 *                  <-m(e)->                                  to others, is never looked at
 *
 * Stores gather one column of a tile for each row of the other place.  A warp writes a row, its
 * lanes laid out from the last multiple of 128 bytes before the row's first byte, so that a row
 * costs one request for every 128-byte line that it touches.
 *
 * Row e is kept in class e mod V, V = 16 / unit.  Gathering a column, neighbouring lanes meet
 * neighbouring rows: where the rows' misalignments run through all multiples of the unit, as with
 * an odd ld, V rows of different classes share a 16-byte column of banks and differ in m(e), and
 * the rows of one class lie an odd number of vectors apart: no two lanes meet in one bank.
 *
 * Elements of more than TSW_SHIFTED_SLICE units go slice by slice; a tile is then one element.
 *
 * Included once per unit; SHIFTED_MANY = 1 serves elements of several units.
 */

#define SHIFTED_PASTE_(a, b) a##b
#define SHIFTED_PASTE(a, b) SHIFTED_PASTE_(a, b)
#define SHIFTED_NAME(part) SHIFTED_PASTE(SHIFTED_KERNEL, part)
#define SHIFTED_V (16 / SHIFTED_WIDTH)

/* A tile in shared memory, and where it came from. */
struct SHIFTED_NAME(_tile) {
	unsigned char *shared;
	struct tsw_shifted_layout at;
	uint32_t first,
		step;	/* row e of the tile began first + e * step bytes past a vector, mod 16 */
	uint32_t units; /* of an element, this slice of it */
	uint32_t reciprocal; /* 2^32 / units, rounded up: x / units for x * units < 2^32 */
};

/* Unit u of the column x of the tile, counted through its elements from the top. */
static inline __device__ SHIFTED_UNIT SHIFTED_NAME(_get)(const struct SHIFTED_NAME(_tile) * tile,
							 uint32_t x, uint32_t u)
{
#if SHIFTED_MANY
	const uint32_t e = tile->units == 1 ? u : __umulhi(u, tile->reciprocal);
	const uint32_t within = (x * tile->units + u - e * tile->units) * SHIFTED_WIDTH;
#else
	const uint32_t e = u;
	const uint32_t within = x * SHIFTED_WIDTH;
#endif
	const uint32_t place = e % SHIFTED_V * tile->at.klass + e / SHIFTED_V * tile->at.row;

	return *(const SHIFTED_UNIT *)(tile->shared + place +
				       ((tile->first + e * tile->step) & 15) + within);
}

/* Loads `rows` rows of `bytes` bytes, the first at `a`, the next `pitch` bytes on. */
static inline __device__ void SHIFTED_NAME(_fetch)(struct SHIFTED_NAME(_tile) * tile, const char *a,
						   uint64_t pitch, uint32_t rows, uint32_t bytes)
{
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const uint64_t policy = tsw_keep_policy();

	for (uint32_t e = warp; e < rows; e += warps) {
		const char *const row = a + e * pitch;
		const uint32_t m = (uint32_t)(uintptr_t)row & 15;
		unsigned char *const to = tile->shared + e % SHIFTED_V * tile->at.klass +
					  e / SHIFTED_V * tile->at.row;
		/* Lanes begin at the line's first vector: one request a line. */
		const uint32_t line = (uint32_t)(uintptr_t)row % 128 / 16;

		for (uint32_t v = lane; v < line + (m + bytes + 15) / 16; v += 32) {
			const uint32_t at = (v - line) * 16;

			if (v >= line)
				tsw_copy_vector(to + at, row - m + at, at ? 0 : m,
						m + bytes - at < 16 ? m + bytes - at : 16, policy);
		}
	}
}

#if SHIFTED_WIDTH >= 4

/* Writes row x of the other place, `count` units from `row` on: column x of the tile. */
static inline __device__ void SHIFTED_NAME(_row)(const struct SHIFTED_NAME(_tile) * tile, char *row,
						 uint32_t x, uint32_t count)
{
	const uint32_t skip = (uint32_t)(uintptr_t)row % 128 / SHIFTED_WIDTH;

#pragma unroll 4
	for (uint32_t v = threadIdx.x % 32; v < skip + count; v += 32)
		if (v >= skip)
			((SHIFTED_UNIT *)row)[v - skip] = SHIFTED_NAME(_get)(tile, x, v - skip);
}

#else

/* The same in whole 4-byte words; the units of words that are shared with neighbours come after. */
static inline __device__ void SHIFTED_NAME(_row)(const struct SHIFTED_NAME(_tile) * tile, char *row,
						 uint32_t x, uint32_t count)
{
	const uint32_t skip = (uint32_t)(uintptr_t)row % 128;
	const uint32_t end = skip + count * SHIFTED_WIDTH;

#pragma unroll 2
	for (uint32_t v = threadIdx.x % 32 * 4; v + 4 <= end; v += 128)
		if (v >= skip) {
			const uint32_t u = (v - skip) / SHIFTED_WIDTH;
			uint32_t word = SHIFTED_NAME(_get)(tile, x, u);

#pragma unroll
			for (uint32_t z = 1; z < 4 / SHIFTED_WIDTH; z++)
				word |= (uint32_t)SHIFTED_NAME(_get)(tile, x, u + z)
					<< 8 * SHIFTED_WIDTH * z;
			*(uint32_t *)(row + (v - skip)) = word;
		}
}

#define SHIFTED_MOST (4 / SHIFTED_WIDTH - 1) /* units of a head or a tail */

/* Lane q of the 2 * SHIFTED_MOST that write the head and the tail of a row, what _row() leaves. */
static inline __device__ void SHIFTED_NAME(_end)(const struct SHIFTED_NAME(_tile) * tile, char *row,
						 uint32_t x, uint32_t count, uint32_t q)
{
	const uint32_t bytes = count * SHIFTED_WIDTH;
	const uint32_t before = (4 - (uint32_t)(uintptr_t)row % 4) % 4;
	const uint32_t head = before < bytes ? before : bytes;
	const uint32_t tail = (uint32_t)((uintptr_t)row + bytes) % 4;
	const uint32_t at = q < SHIFTED_MOST ? q * SHIFTED_WIDTH
					     : bytes - tail + (q - SHIFTED_MOST) * SHIFTED_WIDTH;

	/* A row that lies within one word is all head. */
	if (q < SHIFTED_MOST ? at < head : head + tail <= bytes && at < bytes)
		*(SHIFTED_UNIT *)(row + at) = SHIFTED_NAME(_get)(tile, x, at / SHIFTED_WIDTH);
}

#endif

/* Writes `rows` rows of `count` units, the first at `a`: row x is column x of the tile. */
static inline __device__ void SHIFTED_NAME(_put)(const struct SHIFTED_NAME(_tile) * tile, char *a,
						 uint64_t pitch, uint32_t rows, uint32_t count)
{
	const uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;

	for (uint32_t x = warp; x < rows; x += warps)
		SHIFTED_NAME(_row)(tile, a + x * pitch, x, count);
#if SHIFTED_WIDTH < 4
	for (uint32_t z = threadIdx.x % 32; warp + z / (2 * SHIFTED_MOST) * warps < rows; z += 32) {
		const uint32_t x = warp + z / (2 * SHIFTED_MOST) * warps;

		SHIFTED_NAME(_end)(tile, a + x * pitch, x, count, z % (2 * SHIFTED_MOST));
	}
#endif
}

__global__ void __launch_bounds__(1024) SHIFTED_KERNEL(const struct tsw_tiles p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_tiles_shared);

	const uint64_t k = p.first + blockIdx.x;
	const uint64_t matrix = k < p.pairs ? 0 : k / p.pairs;
	const uint32_t tiles = (uint32_t)tsw_tile_count(p.n, p.side);
	const struct tsw_pair t = tsw_pair_at_grouped(k - matrix * p.pairs, tiles, p.group);
	char *const a = tsw_matrix(&p, matrix);
	const uint64_t elem_size = p.units * SHIFTED_WIDTH, pitch = p.ld * elem_size;
	const uint64_t row = (uint64_t)t.i * p.side, col = (uint64_t)t.j * p.side;
	const uint32_t rows = (uint32_t)(p.n - row < p.side ? p.n - row : p.side);
	const uint32_t cols = (uint32_t)(p.n - col < p.side ? p.n - col : p.side);
	const uint64_t slice = p.units < TSW_SHIFTED_SLICE(SHIFTED_WIDTH)
				       ? p.units
				       : TSW_SHIFTED_SLICE(SHIFTED_WIDTH);

	for (uint64_t from = 0; from < p.units; from += slice) {
		const uint32_t units = (uint32_t)(p.units - from < slice ? p.units - from : slice);
		char *const u = a + row * pitch + col * elem_size + from * SHIFTED_WIDTH;
		char *const l = a + col * pitch + row * elem_size + from * SHIFTED_WIDTH;
		struct SHIFTED_NAME(_tile) upper, lower;

		upper.at =
			tsw_shifted_layout(p.side, (uint32_t)slice * SHIFTED_WIDTH, SHIFTED_WIDTH);
		upper.shared = (unsigned char *)tsw_tiles_shared;
		upper.first = (uint32_t)(uintptr_t)u & 15;
		upper.step = (uint32_t)pitch & 15;
		upper.units = units;
		upper.reciprocal = 0xffffffffu / units + 1;
		lower = upper;
		lower.shared += upper.at.bytes;
		lower.first = (uint32_t)(uintptr_t)l & 15;

		SHIFTED_NAME(_fetch)(&upper, u, pitch, rows, cols * units * SHIFTED_WIDTH);
		if (row != col)
			SHIFTED_NAME(_fetch)(&lower, l, pitch, cols, rows * units * SHIFTED_WIDTH);
		tsw_copies_done();
		__syncthreads();
		SHIFTED_NAME(_put)(&upper, l, pitch, cols, rows * units);
		if (row != col)
			SHIFTED_NAME(_put)(&lower, u, pitch, rows, cols * units);
		/* The next slice fills the tiles anew: nobody may still be reading them. */
		if (from + slice < p.units)
			__syncthreads();
	}
}

#undef SHIFTED_PASTE_
#undef SHIFTED_PASTE
#undef SHIFTED_NAME
#undef SHIFTED_V
#undef SHIFTED_MOST
#undef SHIFTED_UNIT
#undef SHIFTED_WIDTH
#undef SHIFTED_MANY
#undef SHIFTED_KERNEL
