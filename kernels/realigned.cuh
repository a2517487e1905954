/* Tile pairs of narrow elements, 1, 2, 3 or 6 bytes, for rows of any alignment: nothing goes unit
 * by unit but the ends of rows.
 *
 *   1. Each row of a tile comes into shared memory as it is, by the smallest superset of whole
 *      vectors, and so begins m bytes past where it might, m different from row to row.
 *   2. A thread takes blocks of 4 x 4 elements, four rows of `width` words, which it realigns in
 *      registers, and turns.
 *   3. When everybody has read, the turned blocks go back over the same shared memory, where the
 *      tile now lies transposed and every row begins at a vector.
 *   4. Rows are read as the other place's rows are cut into vectors, which begin t bytes before a
 *      vector of memory does: two vectors of shared memory give one for memory.
 *   5. What is left are the two ends of each row, shared with neighbours: unit by unit, a thread
 *      for each unit of a vector, so that an end is one request to memory.
 *
 *      memory   ..|....abcd|efghijkl|mn......|..    step 1: kept as it is
 *                      <--------->
 *      shared     |abcdefgh|ijklmn  |               steps 2, 3: turned, its rows from a vector on
 *      memory   ..|......ab|cdefghij|klmn....|..    steps 4, 5
 *
 * A warp takes 8 x 4 blocks, of 2-byte elements 16 x 2.  A row of the transposed tile keeps its
 * vectors XORed with the number of the row's blocks, so that step 3 meets 32 different banks, and
 * eight neighbouring threads eight different groups of banks in step 4.  Where a row of a block is
 * an even number of words, they go in pairs.
 *
 * From one of its rows to the next a thread goes on a multiple of the period after which rows begin
 * alike, whatever ld is: what follows from that is computed once.
 *
 * Included once per form. */

#define REALIGNED_PASTE_(a, b) a##b
#define REALIGNED_PASTE(a, b) REALIGNED_PASTE_(a, b)
#define REALIGNED_NAME(part) REALIGNED_PASTE(REALIGNED_KERNEL, part)
#define REALIGNED_VECTORS (REALIGNED_SIDE * REALIGNED_WIDTH / 16) /* of a row */
#define REALIGNED_RAW TSW_REALIGNED_RAW(REALIGNED_SIDE, REALIGNED_WIDTH)
#define REALIGNED_OUT TSW_REALIGNED_OUT(REALIGNED_SIDE, REALIGNED_WIDTH)
#define REALIGNED_TILE TSW_REALIGNED_TILE(REALIGNED_SIDE, REALIGNED_WIDTH)
#define REALIGNED_GRAIN TSW_REALIGNED_GRAIN(REALIGNED_WIDTH)
/* Blocks of a warp beside and below one another; and warps; and what is left for each thread. */
#define REALIGNED_X (REALIGNED_WIDTH == 2 ? 16 : 8)
#define REALIGNED_Y (32 / REALIGNED_X)
#define REALIGNED_ACROSS (REALIGNED_SIDE / 4 / REALIGNED_X)
#define REALIGNED_DOWN (REALIGNED_THREADS / 32 / REALIGNED_ACROSS)
#define REALIGNED_EACH (REALIGNED_SIDE / 4 / REALIGNED_Y / REALIGNED_DOWN)
#if REALIGNED_WIDTH % 2
#define REALIGNED_UNIT uint8_t
#define REALIGNED_PERIOD 16 /* units of a vector; and rows after which they begin alike in one */
#else
#define REALIGNED_UNIT uint16_t
#define REALIGNED_PERIOD 8
#endif
/* Rows that step 4 and step 5 take at once. */
#define REALIGNED_PASS (REALIGNED_THREADS / REALIGNED_VECTORS / REALIGNED_PERIOD * REALIGNED_PERIOD)
#define REALIGNED_ENDS (REALIGNED_THREADS / REALIGNED_PERIOD / REALIGNED_PERIOD * REALIGNED_PERIOD)

#if REALIGNED_ACROSS * REALIGNED_DOWN * 32 != REALIGNED_THREADS ||                                 \
	REALIGNED_EACH * REALIGNED_DOWN * REALIGNED_Y * 4 != REALIGNED_SIDE ||                     \
	REALIGNED_RAW % REALIGNED_GRAIN || REALIGNED_PASS == 0 || REALIGNED_ENDS == 0
#error "a form of the realigned kernel whose threads do not share out its tile evenly"
#endif

/* A tile in shared memory, where it came from and where it goes. */
struct REALIGNED_NAME(_tile) {
	unsigned char *shared;
	char *from, *to;     /* its first element, and the other place's */
	uint32_t rows, cols; /* as it came */
};

/* A block: four rows of words. */
struct REALIGNED_NAME(_block) {
	uint32_t row[4][REALIGNED_WIDTH];
};

/* Step 2: reads block (x, y), row by row, and turns it. */
static inline __device__ void REALIGNED_NAME(_take)(const struct REALIGNED_NAME(_tile) * tile,
						    uint64_t pitch, uint32_t x, uint32_t y,
						    struct REALIGNED_NAME(_block) * block)
{
	const uint32_t first = (uint32_t)(uintptr_t)tile->from, step = (uint32_t)pitch;
	const uint32_t at = x * 4 * REALIGNED_WIDTH, bytes = tile->cols * REALIGNED_WIDTH;
	const uint32_t wanted = at < bytes ? bytes - at : 0;

#pragma unroll
	for (uint32_t q = 0; q < 4; q++) {
		const uint32_t e = y * 4 + q;

		tsw_words_at(tile->shared + e * REALIGNED_RAW + at,
			     (first + e * step) & (REALIGNED_GRAIN - 1),
			     e < tile->rows ? wanted : 0, block->row[q], REALIGNED_WIDTH);
	}
	REALIGNED_PASTE(tsw_turn_words_, REALIGNED_WIDTH)(block->row);
}

/* Vector v of row r of the transposed tile. */
static inline __device__ unsigned char *
REALIGNED_NAME(_vector)(const struct REALIGNED_NAME(_tile) * tile, uint32_t r, uint32_t v)
{
	return tile->shared + r * REALIGNED_OUT + (v ^ (r / 4 & 7)) * 16;
}

/* Step 3: puts the turned block (x, y) where it belongs in the transposed tile. */
static inline __device__ void REALIGNED_NAME(_put)(const struct REALIGNED_NAME(_tile) * tile,
						   uint32_t x, uint32_t y,
						   const struct REALIGNED_NAME(_block) * block)
{
#pragma unroll
	for (uint32_t q = 0; q < 4; q++)
#pragma unroll
		for (uint32_t w = 0; w < REALIGNED_WIDTH; w += 2 - REALIGNED_WIDTH % 2) {
			const uint32_t word = y * REALIGNED_WIDTH + w;
			uint32_t *const to =
				(uint32_t *)REALIGNED_NAME(_vector)(tile, x * 4 + q, word / 4) +
				word % 4;

#if REALIGNED_WIDTH % 2
			*to = block->row[q][w];
#else
			*(uint2 *)to = make_uint2(block->row[q][w], block->row[q][w + 1]);
#endif
		}
}

/* Steps 2 and 3 for a tile; others may still be at step 3 of it afterwards. */
static inline __device__ void REALIGNED_NAME(_turn)(const struct REALIGNED_NAME(_tile) * tile,
						    uint64_t pitch)
{
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const uint32_t x = warp % REALIGNED_ACROSS * REALIGNED_X + lane % REALIGNED_X;
	const uint32_t y = warp / REALIGNED_ACROSS * REALIGNED_Y + lane / REALIGNED_X;
	struct REALIGNED_NAME(_block) block[REALIGNED_EACH];

#pragma unroll
	for (uint32_t i = 0; i < REALIGNED_EACH; i++)
		REALIGNED_NAME(_take)
	(tile, pitch, x, y + i * REALIGNED_Y * REALIGNED_DOWN, &block[i]);
	__syncthreads();
#pragma unroll
	for (uint32_t i = 0; i < REALIGNED_EACH; i++)
		REALIGNED_NAME(_put)(tile, x, y + i * REALIGNED_Y * REALIGNED_DOWN, &block[i]);
}

/* Step 4: writes the vectors of memory that rows of the transposed tile fill. */
static inline __device__ void REALIGNED_NAME(_write)(const struct REALIGNED_NAME(_tile) * tile,
						     uint64_t pitch)
{
	const uint32_t first = threadIdx.x / REALIGNED_VECTORS, v = threadIdx.x % REALIGNED_VECTORS;
	char *row = tile->to + first * pitch;
	const uint32_t t = (uint32_t)(uintptr_t)row & 15, back = t ? 1 : 0;
	const uint32_t s = v * 16 - t; /* the vector's first byte of the row */

	if (first >= REALIGNED_PASS || v < back || s + 16 > tile->rows * REALIGNED_WIDTH)
		return;
#pragma unroll 4
	for (uint32_t r = first; r < tile->cols; r += REALIGNED_PASS, row += REALIGNED_PASS * pitch)
		*(uint4 *)(row + s) = tsw_vector_of_two(REALIGNED_NAME(_vector)(tile, r, v - back),
							REALIGNED_NAME(_vector)(tile, r, v), s & 15,
							REALIGNED_WIDTH);
}

/* The unit at byte s of row r of the transposed tile. */
static inline __device__ REALIGNED_UNIT REALIGNED_NAME(_unit)(const struct REALIGNED_NAME(_tile) *
								      tile,
							      uint32_t r, int s)
{
	return *(const REALIGNED_UNIT *)(REALIGNED_NAME(_vector)(tile, r, (uint32_t)s / 16) +
					 s % 16);
}

/* Step 5: a thread for each unit of the vector that a row begins in and of the one that it ends in.
 * Of a row of whole vectors it has something to write in one of the two only. */
static inline __device__ void REALIGNED_NAME(_write_ends)(const struct REALIGNED_NAME(_tile) * tile,
							  uint64_t pitch)
{
	const uint32_t first = threadIdx.x / REALIGNED_PERIOD;
	const int at = (int)(threadIdx.x % REALIGNED_PERIOD * sizeof(REALIGNED_UNIT));
	const int bytes = (int)(tile->rows * REALIGNED_WIDTH);
	char *row = tile->to + first * pitch;
	const int t = (int)((uint32_t)(uintptr_t)row & 15);
	const int last = (t + bytes) / 16 * 16;	       /* the vector that the row ends in */
	const int head = at - t, tail = last + at - t; /* the unit's first byte of the row */
	const int in_head = t && last && head >= 0;    /* a row within one vector is all tail */
	const int in_tail = tail >= 0 && tail < bytes;
	const int s = in_head ? head : tail;

	if (first >= REALIGNED_ENDS || !(in_head || in_tail))
		return;
#pragma unroll 4
	for (uint32_t r = first; r < tile->cols;
	     r += REALIGNED_ENDS, row += REALIGNED_ENDS * pitch) {
		*(REALIGNED_UNIT *)(row + s) = REALIGNED_NAME(_unit)(tile, r, s);
		if (in_head && in_tail)
			*(REALIGNED_UNIT *)(row + tail) = REALIGNED_NAME(_unit)(tile, r, tail);
	}
}

__global__ void __launch_bounds__(REALIGNED_THREADS, REALIGNED_BLOCKS)
	REALIGNED_KERNEL(const struct tsw_tiles p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_tiles_shared);
	TSW_BULK_BARRIER(arrived);
	unsigned char *const shared = (unsigned char *)tsw_tiles_shared;
	const uint64_t k = p.first + blockIdx.x;
	const uint64_t matrix = k < p.pairs ? 0 : k / p.pairs;
	const struct tsw_pair t = tsw_pair_at_grouped(k - matrix * p.pairs, p.tiles, p.group);
	char *const a = (tsw_wait_for_predecessor(), tsw_matrix(&p, matrix));
	const uint64_t pitch = p.ld * REALIGNED_WIDTH;
	const char *const end = a + (p.n - 1) * pitch + p.n * REALIGNED_WIDTH;
	const uint64_t row = tsw_tile_begin(t.i, p.side), col = tsw_tile_begin(t.j, p.side);
	const int diagonal = row == col;
	struct REALIGNED_NAME(_tile) upper, lower;

	upper.shared = shared;
	upper.from = lower.to = a + row * pitch + col * REALIGNED_WIDTH;
	upper.rows = lower.cols = (uint32_t)(p.n - row < p.side ? p.n - row : p.side);
	upper.cols = lower.rows = (uint32_t)(p.n - col < p.side ? p.n - col : p.side);
	lower.shared = shared + REALIGNED_TILE;
	lower.from = upper.to = a + col * pitch + row * REALIGNED_WIDTH;

	tsw_bulk_begin(arrived);
	tsw_fetch_rows(arrived, upper.shared, REALIGNED_RAW, REALIGNED_GRAIN, upper.from, pitch,
		       upper.rows, upper.cols * REALIGNED_WIDTH, end, 0);
	if (!diagonal)
		tsw_fetch_rows(arrived, lower.shared, REALIGNED_RAW, REALIGNED_GRAIN, lower.from,
			       pitch, lower.rows, lower.cols * REALIGNED_WIDTH, end,
			       REALIGNED_THREADS / 2);
	tsw_bulk_end(arrived);

	tsw_let_successor_start();

	REALIGNED_NAME(_turn)(&upper, pitch);
	if (!diagonal)
		REALIGNED_NAME(_turn)(&lower, pitch);
	__syncthreads();
	REALIGNED_NAME(_write)(&upper, pitch);
	REALIGNED_NAME(_write_ends)(&upper, pitch);
	if (!diagonal) {
		REALIGNED_NAME(_write)(&lower, pitch);
		REALIGNED_NAME(_write_ends)(&lower, pitch);
	}
}

#undef REALIGNED_PASTE_
#undef REALIGNED_PASTE
#undef REALIGNED_NAME
#undef REALIGNED_VECTORS
#undef REALIGNED_RAW
#undef REALIGNED_OUT
#undef REALIGNED_TILE
#undef REALIGNED_GRAIN
#undef REALIGNED_X
#undef REALIGNED_Y
#undef REALIGNED_UNIT
#undef REALIGNED_ACROSS
#undef REALIGNED_DOWN
#undef REALIGNED_EACH
#undef REALIGNED_PERIOD
#undef REALIGNED_PASS
#undef REALIGNED_ENDS
#undef REALIGNED_WIDTH
#undef REALIGNED_SIDE
#undef REALIGNED_THREADS
#undef REALIGNED_BLOCKS
#undef REALIGNED_KERNEL
