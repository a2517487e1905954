/* Tile pairs by 16-byte vectors, for rows that all begin at a multiple of 16 bytes.
 *
 * V = 16 / width elements make a vector; a tile is V * VECTOR_ROW elements a side, so that each of
 * its rows is VECTOR_ROW vectors: 256 bytes, for 16, is what this memory likes.  A thread owns a
 * block of V x V elements: it loads V vectors, one below the other, turns the block in its
 * registers, and puts it into shared memory, where the tile then lies transposed:
 *
 *        global tile                 registers            shared tile (transposed)
 *      + - + - + - + - +          a b      a c          + - + - +
 *      |   |a b|   |   |  V rows       ->               |   |   |
 *      |   |c d|   |   |          c d      b d          |a c|   |   row (j V + q), vector i
 *      + - + - + - + - +                                |b d|   |
 *        vector column j, block row i
 *
 * After the barrier the threads read the shared rows vector by vector, as they will be written. The
 * vector's index within a shared row is XORed with the number of the row's block, so that eight
 * neighbouring threads meet eight different groups of banks on the way in and on the way out.
 *
 * n need not be a multiple of V: the last vector of a row may reach past the window.  Such vectors
 * go element by element, and so does a whole matrix that an array of pointers puts at an address
 * that is no multiple of 16, which the host cannot know.
 *
 * VECTOR_ALONG_ROWS, if defined, takes the pairs row by row, from the last on, instead of column by
 * column; VECTOR_GROUPED takes p.group columns together, and if that is more than one, loads for
 * the neighbours, too.  Things of the memory, not of the kernel (docs/PERFORMANCE.md).
 *
 * VECTOR_EXACT is for matrices that begin at multiples of 16, with n a multiple of V: every block
 * lies within the window or past it, and what goes element by element is not there.  It is what one
 * small matrix waits for.
 *
 * VECTOR_SPLIT = 1 gives each tile of the pair to one half of the block, where both halves of the
 * registers would be too many.  Included once per width; VECTOR_UNIT is the element, or
 * half of it for 16 bytes, which an array of pointers may put at a multiple of 8.  VECTOR_FINISH,
 * if defined, names the functions that values go through on their way out (epilogue.cuh).
 */

#define VECTOR_V (16 / VECTOR_WIDTH)
#define VECTOR_UNITS (VECTOR_WIDTH / (uint32_t)sizeof(VECTOR_UNIT)) /* of an element */
#define VECTOR_SIDE (VECTOR_V * VECTOR_ROW)
#define VECTOR_TILE (VECTOR_SIDE * VECTOR_ROW) /* vectors of one tile */
#define VECTOR_THREADS (VECTOR_ROW * VECTOR_ROW)

#define VECTOR_PASTE_(a, b) a##b
#define VECTOR_PASTE(a, b) VECTOR_PASTE_(a, b)
#define VECTOR_NAME(part) VECTOR_PASTE(VECTOR_KERNEL, part)
#define VECTOR_TURN VECTOR_PASTE(tsw_turn_, VECTOR_WIDTH)

#if defined VECTOR_ALONG_ROWS
#define VECTOR_PAIR(p, k) tsw_pair_along_rows(k, (p).tiles)
#elif defined VECTOR_GROUPED
#define VECTOR_PAIR(p, k) tsw_pair_at_grouped(k, (p).tiles, (p).group)
#else
#define VECTOR_PAIR(p, k) tsw_pair_at(k)
#endif

#ifdef VECTOR_EXACT
#define VECTOR_WITHIN(q, b) 1 /* all rows of a whole block */
#else
#define VECTOR_WITHIN(q, b) ((q) < (b).rows)
#endif

#ifdef VECTOR_FINISH
#define VECTOR_OUT(p, v) VECTOR_PASTE(VECTOR_FINISH, _vector)(&(p)->epilogue, v)
#if VECTOR_WIDTH < 16
#define VECTOR_OUT_UNIT(p, u) VECTOR_FINISH(&(p)->epilogue, u)
#else
#define VECTOR_OUT_UNIT(p, u) (u) /* not reached: elements are vectors, at multiples of 16 */
#endif
#else
#define VECTOR_OUT(p, v) ((void)(p), (v))
#define VECTOR_OUT_UNIT(p, u) (u)
#endif

/* Vector y of row x of a transposed tile. */
static inline __device__ uint4 *VECTOR_NAME(_at)(uint4 *tile, uint32_t x, uint32_t y)
{
	return tile + x * VECTOR_ROW + (y ^ (x / VECTOR_V & (VECTOR_ROW - 1) & 7));
}

/* Element e of row x of a transposed tile, its units. */
static inline __device__ VECTOR_UNIT *VECTOR_NAME(_cell)(uint4 *tile, uint32_t x, uint32_t e)
{
	return (VECTOR_UNIT *)VECTOR_NAME(_at)(tile, x, e / VECTOR_V) + e % VECTOR_V * VECTOR_UNITS;
}

/* One thread's block of the matrix. */
struct VECTOR_NAME(_block) {
	char *a;	     /* its first element */
	uint64_t pitch;	     /* bytes from row to row */
	uint32_t rows, cols; /* of it, what lies within the window; at most V */
	int whole; /* its rows are vectors: all of each lies within the window, and aligned */
};

static inline __device__ struct VECTOR_NAME(_block)
	VECTOR_NAME(_find)(const struct tsw_tiles *p, char *a, uint64_t row, uint64_t col)
{
	struct VECTOR_NAME(_block) b;

	b.pitch = p->ld * VECTOR_WIDTH;
	b.a = a + row * b.pitch + col * VECTOR_WIDTH;
#ifdef VECTOR_EXACT
	b.rows = row < p->n ? VECTOR_V : 0;
	b.cols = col < p->n ? VECTOR_V : 0;
	b.whole = b.rows && b.cols;
#else
	b.rows = row >= p->n ? 0 : p->n - row < VECTOR_V ? (uint32_t)(p->n - row) : VECTOR_V;
	b.cols = col >= p->n ? 0 : p->n - col < VECTOR_V ? (uint32_t)(p->n - col) : VECTOR_V;
	b.whole = b.cols == VECTOR_V && (uintptr_t)a % 16 == 0;
#endif
	return b;
}

static inline __device__ void VECTOR_NAME(_load)(const struct tsw_tiles *p,
						 struct VECTOR_NAME(_block) b, uint4 v[VECTOR_V])
{
	const uint64_t policy = tsw_keep_policy();

#ifdef VECTOR_GROUPED
	if (p->group > 1) {
#pragma unroll
		for (uint32_t q = 0; q < VECTOR_V; q++)
			v[q] = b.whole && VECTOR_WITHIN(q, b)
				       ? tsw_load_vector_around(b.a + q * b.pitch, policy)
				       : make_uint4(0, 0, 0, 0);
		return;
	}
#else
	(void)p;
#endif
#pragma unroll
	for (uint32_t q = 0; q < VECTOR_V; q++)
		v[q] = b.whole && VECTOR_WITHIN(q, b) ? tsw_load_vector(b.a + q * b.pitch, policy)
						      : make_uint4(0, 0, 0, 0);
}

/* Puts the block, block row i, vector column j of its tile, into the transposed tile. */
static inline __device__ void VECTOR_NAME(_put)(struct VECTOR_NAME(_block) b, uint4 v[VECTOR_V],
						uint4 *tile, uint32_t i, uint32_t j)
{
	if (b.whole) {
		VECTOR_TURN(v);
#pragma unroll
		for (uint32_t q = 0; q < VECTOR_V; q++)
			*VECTOR_NAME(_at)(tile, j * VECTOR_V + q, i) = v[q];
		return;
	}
#ifndef VECTOR_EXACT
	for (uint32_t q = 0; q < b.rows; q++)
		for (uint32_t u = 0; u < b.cols * VECTOR_UNITS; u++) {
			VECTOR_UNIT *const cell = VECTOR_NAME(_cell)(
				tile, j * VECTOR_V + u / VECTOR_UNITS, i * VECTOR_V + q);

			cell[u % VECTOR_UNITS] = ((const VECTOR_UNIT *)(b.a + q * b.pitch))[u];
		}
#endif
}

/* Writes the block from a transposed tile. */
static inline __device__ void VECTOR_NAME(_store)(const struct tsw_tiles *p,
						  struct VECTOR_NAME(_block) b, uint4 *tile,
						  uint32_t i, uint32_t j)
{
	if (b.whole) {
#pragma unroll
		for (uint32_t q = 0; q < VECTOR_V; q++)
			if (VECTOR_WITHIN(q, b))
				*(uint4 *)(b.a + q * b.pitch) =
					VECTOR_OUT(p, *VECTOR_NAME(_at)(tile, i * VECTOR_V + q, j));
		return;
	}
#ifndef VECTOR_EXACT
	for (uint32_t q = 0; q < b.rows; q++)
		for (uint32_t u = 0; u < b.cols * VECTOR_UNITS; u++) {
			const VECTOR_UNIT *const cell = VECTOR_NAME(_cell)(
				tile, i * VECTOR_V + q, j * VECTOR_V + u / VECTOR_UNITS);

			((VECTOR_UNIT *)(b.a + q * b.pitch))[u] =
				VECTOR_OUT_UNIT(p, cell[u % VECTOR_UNITS]);
		}
#endif
}

/* An sm_75 multiprocessor has shared memory for two blocks of the large forms. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 && VECTOR_ROW == 16 && VECTOR_BLOCKS > 2
#define VECTOR_MIN_BLOCKS 2
#else
#define VECTOR_MIN_BLOCKS VECTOR_BLOCKS
#endif

__global__ void __launch_bounds__(VECTOR_THREADS *(1 + VECTOR_SPLIT), VECTOR_MIN_BLOCKS)
	VECTOR_KERNEL(const struct tsw_tiles p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_tiles_shared);

	const uint64_t k = p.first + blockIdx.x;
	const uint64_t matrix = k < p.pairs ? 0 : k / p.pairs;
	const struct tsw_pair t = VECTOR_PAIR(p, k - matrix * p.pairs);
	const uint32_t i = threadIdx.x / VECTOR_ROW % VECTOR_ROW;
	const uint32_t j = threadIdx.x % VECTOR_ROW;
	const uint64_t row = (uint64_t)t.i * VECTOR_SIDE;
	const uint64_t col = (uint64_t)t.j * VECTOR_SIDE;
	const uint32_t down = i * VECTOR_V, right = j * VECTOR_V;
	char *const a = (tsw_wait_for_predecessor(), tsw_matrix(&p, matrix));
	const struct VECTOR_NAME(_block) upper = VECTOR_NAME(_find)(&p, a, row + down, col + right);
	const struct VECTOR_NAME(_block) lower = VECTOR_NAME(_find)(&p, a, col + down, row + right);
	uint4 *const upper_tile = tsw_tiles_shared;
	uint4 *const lower_tile = tsw_tiles_shared + VECTOR_TILE;
	const int diagonal = t.i == t.j;

	/* The transposed lower tile goes to the upper place, and the other way round; a diagonal
	 * tile is the upper one and goes to its own, which is the lower place too. */
#if VECTOR_SPLIT
	const int second =
		threadIdx.x >= VECTOR_THREADS; /* this half of the block: the lower tile */
	uint4 *const tile = second ? lower_tile : upper_tile;
	uint4 v[VECTOR_V];

	if (!(second && diagonal)) {
		VECTOR_NAME(_load)(&p, second ? lower : upper, v);
		VECTOR_NAME(_put)(second ? lower : upper, v, tile, i, j);
	}
	__syncthreads();
	tsw_let_successor_start();
	if (!(second && diagonal))
		VECTOR_NAME(_store)(&p, second ? upper : lower, tile, i, j);
#else
	uint4 u[VECTOR_V], v[VECTOR_V];

	VECTOR_NAME(_load)(&p, upper, u);
	if (!diagonal)
		VECTOR_NAME(_load)(&p, lower, v);
	VECTOR_NAME(_put)(upper, u, upper_tile, i, j);
	if (!diagonal)
		VECTOR_NAME(_put)(lower, v, lower_tile, i, j);
	__syncthreads();
	tsw_let_successor_start();
	VECTOR_NAME(_store)(&p, lower, upper_tile, i, j);
	if (!diagonal)
		VECTOR_NAME(_store)(&p, upper, lower_tile, i, j);
#endif
}

#undef VECTOR_V
#undef VECTOR_UNITS
#undef VECTOR_SIDE
#undef VECTOR_TILE
#undef VECTOR_THREADS
#undef VECTOR_PASTE_
#undef VECTOR_PASTE
#undef VECTOR_NAME
#undef VECTOR_TURN
#undef VECTOR_PAIR
#undef VECTOR_ALONG_ROWS
#undef VECTOR_GROUPED
#undef VECTOR_EXACT
#undef VECTOR_WITHIN
#undef VECTOR_OUT
#undef VECTOR_OUT_UNIT
#undef VECTOR_UNIT
#undef VECTOR_WIDTH
#undef VECTOR_ROW
#undef VECTOR_SPLIT
#undef VECTOR_BLOCKS
#undef VECTOR_MIN_BLOCKS
#undef VECTOR_KERNEL
