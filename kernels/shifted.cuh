/* Tile pairs for rows of any alignment and elements of any width, as long as addresses are
 * multiples of the unit.
 *
 * Loads take whole 16-byte vectors, the smallest aligned superset of each row of a tile, and leave
 * it in shared memory as it is, so that row e lies there at its own misalignment m(e):
 *
 *     global    ..|.......abc|defghijk|lmno.......|..        | every 16 bytes
 *     shared      |.......abc|defghijk|lmno.......|          what lies left of a and
 *                  <-m(e)->                                  right of o belongs to
 *                                                            others: never looked at
 *
 * Stores gather one column of a tile for each row of the other place.  A warp writes a row, its
 * lanes laid out by the 128-byte lines of memory, so that a row costs one request for every line
 * that it touches.  Where a row is a whole number of lines long, the lanes that would lie before
 * its first unit take the ones after its last full line instead: the two share an instruction.
 *
 * Row e is kept in class e mod V, V = 16 / unit.  Gathering a column, neighbouring lanes meet
 * neighbouring rows: where the rows' misalignments run through all multiples of the unit, as with
 * an odd ld, V rows of different classes share a 16-byte column of banks and differ in m(e), and
 * the rows of one class lie an odd number of vectors apart: no two lanes meet in one bank.
 *
 * Included once per unit and form.  SHIFTED_SIDE > 0: elements of one unit, tiles of that side.
 * SHIFTED_SIDE = 0: elements of several units, tiles of p.side; elements of more than
 * TSW_SHIFTED_SLICE units go slice by slice, a tile being one element.  SHIFTED_FINISH, if defined,
 * is what elements, of one unit or of two halves, go through on their way out (epilogue.cuh).
 */

#define SHIFTED_PASTE_(a, b) a##b
#define SHIFTED_PASTE(a, b) SHIFTED_PASTE_(a, b)
#define SHIFTED_NAME(part) SHIFTED_PASTE(SHIFTED_KERNEL, part)
#define SHIFTED_V (16 / SHIFTED_WIDTH)
#define SHIFTED_LINE (128 / SHIFTED_WIDTH) /* units of a line */
#define SHIFTED_WORD (4 / SHIFTED_WIDTH)   /* units of a 4-byte word, for narrow units */
#if defined SHIFTED_FINISH && SHIFTED_SIDE == 0
#define SHIFTED_OUT_PART(tile, unit, other, half) SHIFTED_FINISH((tile)->finish, unit, other, half)
#elif defined SHIFTED_FINISH
#define SHIFTED_OUT(tile, unit) SHIFTED_FINISH((tile)->finish, unit)
#define SHIFTED_OUT_WORD(tile, word) SHIFTED_PASTE(SHIFTED_FINISH, _word)((tile)->finish, word)
#else
#define SHIFTED_OUT(tile, unit) (unit)
#define SHIFTED_OUT_WORD(tile, word) (word)
#endif

/* A tile in shared memory, and where it came from. */
struct SHIFTED_NAME(_tile) {
	unsigned char *shared;
	tsw_shared address; /* the same place, for copies */
	struct tsw_shifted_layout at;
	uint32_t first,
		step;	/* row e of the tile began first + e * step bytes past a vector, mod 16 */
	uint32_t units; /* of an element, this slice of it */
#ifdef SHIFTED_FINISH
	const struct tsw_epilogue *finish;
#endif
	uint32_t reciprocal;	/* 2^32 / units, rounded up: divides x where x * units < 2^32 */
	const uint32_t *places; /* of the rows and one more, if elements have several units */
};

/* Where row e of the tile begins, from tile->shared on. */
static inline __device__ uint32_t SHIFTED_NAME(_place)(const struct SHIFTED_NAME(_tile) * tile,
						       uint32_t e)
{
	return e % SHIFTED_V * tile->at.klass + e / SHIFTED_V * tile->at.row +
	       ((tile->first + e * tile->step) & 15);
}

/* Loads `rows` rows of `bytes` bytes, the first at `a`, the next `pitch` bytes on.  Nothing is read
 * from `end` on. */
static inline __device__ void SHIFTED_NAME(_fetch)(struct SHIFTED_NAME(_tile) * tile, const char *a,
						   uint64_t pitch, uint32_t rows, uint32_t bytes,
						   const char *end)
{
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const uint64_t policy = tsw_keep_policy();

	for (uint32_t e = warp; e < rows; e += warps) {
		const char *const row = a + e * pitch;
		const uint32_t m = (uint32_t)(uintptr_t)row & 15;
		const uint32_t to = e % SHIFTED_V * tile->at.klass + e / SHIFTED_V * tile->at.row;
		/* Lanes begin at the line's first vector: one request a line. */
		const uint32_t line = (uint32_t)(uintptr_t)row % 128 / 16;

#pragma unroll 4
		for (uint32_t v = lane; v < line + (m + bytes + 15) / 16; v += 32) {
			const uint32_t at = (v - line) * 16;
			const uint32_t to_byte = m + bytes - at < 16 ? m + bytes - at : 16;

			if (v < line)
				continue;
			if (row - m + at + 16 <= end)
				tsw_copy_vector(tile->address + to + at, row - m + at, at ? 0 : m,
						to_byte, policy);
			else
				tsw_copy_bytes(tile->shared + to + at, row - m + at, at ? 0 : m,
					       to_byte);
		}
	}
}

/* Unit u of the column x of the tile, counted through its elements from the top. */
static inline __device__ SHIFTED_UNIT SHIFTED_NAME(_get)(const struct SHIFTED_NAME(_tile) * tile,
							 uint32_t x, uint32_t u)
{
#if SHIFTED_SIDE
	const uint32_t at = SHIFTED_NAME(_place)(tile, u) + x * SHIFTED_WIDTH;
#else
	const uint32_t e = tile->units == 1 ? u : __umulhi(u, tile->reciprocal);
	const uint32_t at =
		tile->places[e] + (x * tile->units + u - e * tile->units) * SHIFTED_WIDTH;
#endif

	return *(const SHIFTED_UNIT *)(tile->shared + at);
}

#if SHIFTED_WIDTH < 4

#define SHIFTED_MOST (SHIFTED_WORD - 1) /* units of a head or a tail */

/* Narrow units are written in whole 4-byte words.  This writes the units of words that rows share
 * with their neighbours: 2 * SHIFTED_MOST lanes a row, for its head and its tail. */
static inline __device__ void SHIFTED_NAME(_ends)(const struct SHIFTED_NAME(_tile) * tile, char *a,
						  uint64_t pitch, uint32_t rows, uint32_t count)
{
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const uint32_t bytes = count * SHIFTED_WIDTH;

	for (uint32_t z = lane; warp + z / (2 * SHIFTED_MOST) * warps < rows; z += 32) {
		const uint32_t x = warp + z / (2 * SHIFTED_MOST) * warps,
			       q = z % (2 * SHIFTED_MOST);
		char *const row = a + x * pitch;
		const uint32_t before = (4 - (uint32_t)(uintptr_t)row % 4) % 4;
		const uint32_t head = before < bytes ? before : bytes;
		const uint32_t tail = (uint32_t)((uintptr_t)row + bytes) % 4;
		const uint32_t at = q < SHIFTED_MOST
					    ? q * SHIFTED_WIDTH
					    : bytes - tail + (q - SHIFTED_MOST) * SHIFTED_WIDTH;

		/* A row that lies within one word is all head. */
		if (q < SHIFTED_MOST ? at < head : head + tail <= bytes && at < bytes)
			*(SHIFTED_UNIT *)(row + at) =
				SHIFTED_OUT(tile, SHIFTED_NAME(_get)(tile, x, at / SHIFTED_WIDTH));
	}
}

#endif

#if SHIFTED_SIDE

/* Writes `rows` rows of `count` units, the first at `a`: row x is column x of the tile.  The rows
 * of a warp are a multiple of V apart, so they all begin alike, mod 16, and the units that a lane
 * gathers are all of one class: what does not change is computed once. */

#if SHIFTED_WIDTH >= 4

static inline __device__ void SHIFTED_NAME(_put)(const struct SHIFTED_NAME(_tile) * tile, char *a,
						 uint64_t pitch, uint32_t rows, uint32_t count)
{
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const uint32_t begins = (uint32_t)(uintptr_t)(a + warp * pitch) / SHIFTED_WIDTH;
	const unsigned char *const from =
		tile->shared + SHIFTED_NAME(_place)(tile, (lane - begins) % SHIFTED_V);

#pragma unroll 4
	for (uint32_t x = warp; x < rows; x += warps) {
		SHIFTED_UNIT *const row = (SHIFTED_UNIT *)(a + x * pitch);
		const int skip = (int)((uint32_t)(uintptr_t)row / SHIFTED_WIDTH % SHIFTED_LINE);

#pragma unroll
		for (int k = 0; k < SHIFTED_SIDE; k += 32) {
			int u = (int)lane + k - skip;

			if (k < SHIFTED_LINE && u < 0)
				u += SHIFTED_SIDE;
			if (u < (int)count)
				row[u] = SHIFTED_OUT(
					tile, *(const SHIFTED_UNIT *)(from +
								      (uint32_t)u / SHIFTED_V *
									      tile->at.row +
								      x * SHIFTED_WIDTH));
		}
	}
}

#else

static inline __device__ void SHIFTED_NAME(_put)(const struct SHIFTED_NAME(_tile) * tile, char *a,
						 uint64_t pitch, uint32_t rows, uint32_t count)
{
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const uint32_t begins = (uint32_t)(uintptr_t)(a + warp * pitch);
	const uint32_t first = (lane * 4 - begins % 16) / SHIFTED_WIDTH % SHIFTED_V;
	uint32_t from[SHIFTED_WORD]; /* of a word's units, counted from the word's row of classes */

#pragma unroll
	for (uint32_t z = 0; z < SHIFTED_WORD; z++)
		from[z] = SHIFTED_NAME(_place)(tile, (first + z) % SHIFTED_V) +
			  (first + z) / SHIFTED_V * tile->at.row;

#pragma unroll 2
	for (uint32_t x = warp; x < rows; x += warps) {
		char *const row = a + x * pitch;
		const int skip = (int)((uint32_t)(uintptr_t)row % 128);

#pragma unroll
		for (int k = 0; k < SHIFTED_SIDE * SHIFTED_WIDTH; k += 128) {
			int b = (int)lane * 4 + k - skip;

			if (k == 0 && b <= -4)
				b += SHIFTED_SIDE * SHIFTED_WIDTH;
			const uint32_t u = (uint32_t)b / SHIFTED_WIDTH;
			const unsigned char *const at =
				tile->shared + u / SHIFTED_V * tile->at.row + x * SHIFTED_WIDTH;

			if (b >= 0 && u + SHIFTED_WORD <= count) {
				uint32_t word = *(const SHIFTED_UNIT *)(at + from[0]);

#pragma unroll
				for (uint32_t z = 1; z < SHIFTED_WORD; z++)
					word |= (uint32_t)(*(const SHIFTED_UNIT *)(at + from[z]))
						<< 8 * SHIFTED_WIDTH * z;
				*(uint32_t *)(row + b) = SHIFTED_OUT_WORD(tile, word);
			}
		}
	}
	SHIFTED_NAME(_ends)(tile, a, pitch, rows, count);
}

#endif

#else /* elements of several units */

#if SHIFTED_WIDTH >= 4

/* Writes row x of the other place, `count` units from `row` on: column x of the tile. */
static inline __device__ void SHIFTED_NAME(_row)(const struct SHIFTED_NAME(_tile) * tile, char *row,
						 uint32_t x, uint32_t count)
{
	const uint32_t skip = (uint32_t)(uintptr_t)row / SHIFTED_WIDTH % SHIFTED_LINE;

#pragma unroll 4
	for (uint32_t v = threadIdx.x % 32; v < skip + count; v += 32)
		if (v >= skip)
			((SHIFTED_UNIT *)row)[v - skip] = SHIFTED_NAME(_get)(tile, x, v - skip);
}

#else

/* The units from unit u of the column x on that make a 4-byte word.  Elements have 3 units at
 * least, so they lie in two elements at most; the last slice of an element may be thinner. */
static inline __device__ uint32_t SHIFTED_NAME(_word)(const struct SHIFTED_NAME(_tile) * tile,
						      uint32_t x, uint32_t u)
{
	uint32_t word = 0;

	if (tile->units >= 3) {
		const uint32_t e = __umulhi(u, tile->reciprocal), within = u - e * tile->units;
		const unsigned char *const column = tile->shared + x * tile->units * SHIFTED_WIDTH;
		const SHIFTED_UNIT *const one =
			(const SHIFTED_UNIT *)(column + tile->places[e]) + within;
		const SHIFTED_UNIT *const next =
			(const SHIFTED_UNIT *)(column + tile->places[e + 1]) + within - tile->units;

#pragma unroll
		for (uint32_t z = 0; z < SHIFTED_WORD; z++)
			word |= (uint32_t)(within + z < tile->units ? one : next)[z]
				<< 8 * SHIFTED_WIDTH * z;
	} else {
		for (uint32_t z = 0; z < SHIFTED_WORD; z++)
			word |= (uint32_t)SHIFTED_NAME(_get)(tile, x, u + z)
				<< 8 * SHIFTED_WIDTH * z;
	}
	return word;
}

/* The same in whole 4-byte words; the units of words that are shared with neighbours come after. */
static inline __device__ void SHIFTED_NAME(_row)(const struct SHIFTED_NAME(_tile) * tile, char *row,
						 uint32_t x, uint32_t count)
{
	const uint32_t skip = (uint32_t)(uintptr_t)row % 128;
	const uint32_t end = skip + count * SHIFTED_WIDTH;

#pragma unroll 4
	for (uint32_t v = threadIdx.x % 32 * 4; v + 4 <= end; v += 128)
		if (v >= skip)
			*(uint32_t *)(row + (v - skip)) =
				SHIFTED_NAME(_word)(tile, x, (v - skip) / SHIFTED_WIDTH);
}

#endif

#ifndef SHIFTED_FINISH

/* Writes `rows` rows of `count` units, the first at `a`: row x is column x of the tile. */
static inline __device__ void SHIFTED_NAME(_put)(const struct SHIFTED_NAME(_tile) * tile, char *a,
						 uint64_t pitch, uint32_t rows, uint32_t count)
{
	const uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;

#pragma unroll 2
	for (uint32_t x = warp; x < rows; x += warps)
		SHIFTED_NAME(_row)(tile, a + x * pitch, x, count);
#if SHIFTED_WIDTH < 4
	SHIFTED_NAME(_ends)(tile, a, pitch, rows, count);
#endif
}

#else /* elements of 16 bytes in two halves */

#define SHIFTED_ROWS 2 /* that a warp has in flight */

/* _get() for these; it needs no table of places. */
static inline __device__ SHIFTED_UNIT SHIFTED_NAME(_part)(const struct SHIFTED_NAME(_tile) * tile,
							  uint32_t x, uint32_t u)
{
	const uint32_t at = SHIFTED_NAME(_place)(tile, u / 2) + (x * 2 + u % 2) * SHIFTED_WIDTH;

	return *(const SHIFTED_UNIT *)(tile->shared + at);
}

/* The same, several rows at a time: finishing takes long, and has branches past which the compiler
 * moves no load, so every load comes first. */
static inline __device__ void SHIFTED_NAME(_put)(const struct SHIFTED_NAME(_tile) * tile, char *a,
						 uint64_t pitch, uint32_t rows, uint32_t count)
{
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

#pragma unroll 1
	for (uint32_t x = warp; x < rows; x += warps * SHIFTED_ROWS)
#pragma unroll 1
		for (uint32_t v = lane; v < SHIFTED_LINE - 1 + count; v += 32) {
			SHIFTED_UNIT unit[SHIFTED_ROWS], other[SHIFTED_ROWS];
			uint32_t u[SHIFTED_ROWS];

#pragma unroll
			for (uint32_t q = 0; q < SHIFTED_ROWS; q++) {
				const uint32_t row = x + q * warps;
				const uint32_t skip = (uint32_t)(uintptr_t)(a + row * pitch) /
						      SHIFTED_WIDTH % SHIFTED_LINE;
				const uint32_t at = row < rows && v - skip < count ? v - skip : 0;

				u[q] = row < rows ? v - skip : count;
				unit[q] = SHIFTED_NAME(_part)(tile, row < rows ? row : x, at);
				other[q] = SHIFTED_NAME(_part)(tile, row < rows ? row : x, at ^ 1);
			}
#pragma unroll
			for (uint32_t q = 0; q < SHIFTED_ROWS; q++)
				if (u[q] < count)
					((SHIFTED_UNIT *)(a + (x + q * warps) * pitch))[u[q]] =
						SHIFTED_OUT_PART(tile, unit[q], other[q], u[q] & 1);
		}
}

#undef SHIFTED_ROWS
#endif

#endif

__global__ void __launch_bounds__(SHIFTED_THREADS, SHIFTED_BLOCKS)
	SHIFTED_KERNEL(const struct tsw_tiles p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_tiles_shared);
#if SHIFTED_SIDE
	const uint32_t side = SHIFTED_SIDE; /* of a tile that is full; p.side <= side */
	const uint64_t slice = 1;
#else
	__shared__ uint32_t places[2][TSW_SHIFTED_SIDE + 1];
	const uint32_t side = p.side;
	const uint64_t slice = p.units < TSW_SHIFTED_SLICE(SHIFTED_WIDTH)
				       ? p.units
				       : TSW_SHIFTED_SLICE(SHIFTED_WIDTH);
#endif
	unsigned char *const shared = (unsigned char *)tsw_tiles_shared;
	const uint64_t k = p.first + blockIdx.x;
	const uint64_t matrix = k < p.pairs ? 0 : k / p.pairs;
	const struct tsw_pair t = tsw_pair_at_grouped(k - matrix * p.pairs, p.tiles, p.group);
	char *const a = (tsw_wait_for_predecessor(), tsw_matrix(&p, matrix));
	const uint64_t elem_size = p.units * SHIFTED_WIDTH, pitch = p.ld * elem_size;
	const char *const end = a + (p.n - 1) * pitch + p.n * elem_size;
#if SHIFTED_SIDE
	const uint64_t row = tsw_tile_begin(t.i, p.side), col = tsw_tile_begin(t.j, p.side);
#else
	const uint64_t row = (uint64_t)t.i * p.side, col = (uint64_t)t.j * p.side;
#endif
	const uint32_t rows = (uint32_t)(p.n - row < p.side ? p.n - row : p.side);
	const uint32_t cols = (uint32_t)(p.n - col < p.side ? p.n - col : p.side);

	for (uint64_t from = 0; from < p.units; from += slice) {
		const uint32_t units = (uint32_t)(p.units - from < slice ? p.units - from : slice);
		char *const u = a + row * pitch + col * elem_size + from * SHIFTED_WIDTH;
		char *const l = a + col * pitch + row * elem_size + from * SHIFTED_WIDTH;
		struct SHIFTED_NAME(_tile) upper, lower;

		upper.at = tsw_shifted_layout(side, (uint32_t)slice * SHIFTED_WIDTH, SHIFTED_WIDTH);
		upper.shared = shared;
		upper.address = tsw_shared_address(shared);
		upper.first = (uint32_t)(uintptr_t)u & 15;
		upper.step = (uint32_t)pitch & 15;
		upper.units = units;
#ifdef SHIFTED_FINISH
		upper.finish = &p.epilogue;
#endif
		upper.reciprocal = 0xffffffffu / units + 1;
		upper.places = NULL;
		lower = upper;
		lower.shared += upper.at.bytes;
		lower.address += upper.at.bytes;
		lower.first = (uint32_t)(uintptr_t)l & 15;

		SHIFTED_NAME(_fetch)(&upper, u, pitch, rows, cols * units * SHIFTED_WIDTH, end);
		if (row != col)
			SHIFTED_NAME(_fetch)
		(&lower, l, pitch, cols, rows * units * SHIFTED_WIDTH, end);
#if !SHIFTED_SIDE
		upper.places = places[0];
		lower.places = places[1];
		for (uint32_t e = threadIdx.x; e <= side; e += blockDim.x) {
			places[0][e] = SHIFTED_NAME(_place)(&upper, e);
			places[1][e] = SHIFTED_NAME(_place)(&lower, e);
		}
#endif
		tsw_copies_done();
		__syncthreads();
		tsw_let_successor_start();
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
#undef SHIFTED_LINE
#undef SHIFTED_OUT
#undef SHIFTED_OUT_WORD
#undef SHIFTED_OUT_PART
#undef SHIFTED_WORD
#undef SHIFTED_MOST
#undef SHIFTED_UNIT
#undef SHIFTED_WIDTH
#undef SHIFTED_SIDE
#undef SHIFTED_THREADS
#undef SHIFTED_BLOCKS
#undef SHIFTED_KERNEL
