/* The checksum kernel for wide elements, of any size at any address.  An element is taken as it
 * lies, in chunks of 64 bytes from the multiple of 16 left of it:
 *
 *     rows g, g + 8     |..aaaaaa|aaaaaaaa|aaaaaaaa|aaaaaaaa|  |aaaaabbb|bbbbbbbb|bb......|
 *     lane 4 g + t       t = 0    1        2        3           0
 *
 * `placed` and an element's y are both linear in its bytes, with weights of eight bytes, which are
 * 0 for bytes of the neighbours.  So one product of matrices of bytes brings all of a strip to
 * `placed`, a second one each element to y, which the four lanes of a row then add up and square.
 *
 * The weights lie in shared memory, WIDE_CHUNKS chunks at a time: as many whole elements as that is
 * enough for, or a piece of one element.  What the pieces of an element add up to is kept for each
 * row meanwhile.  Warps take 16 rows each.
 */
#define WIDE_LOADED 4 /* chunks loaded together */

/* Where the elements of a strip, or a piece of one, lie. */
struct digest_piece {
	uint64_t col;	 /* of its first element */
	uint64_t first;	 /* chunk of that element */
	uint32_t each;	 /* chunks kept for an element */
	uint32_t chunks; /* of the piece */
	const char *at;	 /* byte 64 * first of that element, in row 0 of the block */
};

/* A chunk of a piece. */
struct digest_chunk {
	uint64_t col;
	uint64_t byte;	/* of the element, where the chunk begins: less than 0 if left of it */
	uint64_t bytes; /* from there to the element's end */
	uint32_t at;	/* bytes from the piece's `at`, mod 2^32 */
};

static inline __device__ struct digest_chunk
digest_chunk_of(const struct tsw_digest_task *p, const struct digest_piece *piece, uint32_t q)
{
	const uint32_t e = q / piece->each, j = q - e * piece->each;
	const uint32_t from = e * (uint32_t)p->elem_size;
	/* Of the element, not of the piece, whose chunks begin multiples of 64 later. */
	const uint32_t off = (uint32_t)((uintptr_t)piece->at + from) % 16;
	struct digest_chunk c;

	c.col = piece->col + e;
	c.byte = (piece->first + j) * 64 - off;
	c.bytes = (int64_t)c.byte < (int64_t)p->elem_size ? p->elem_size - c.byte : 0;
	c.at = from + j * 64 - off;
	return c;
}

/* The weights of four bytes of an element from `byte` on, for `placed` and for y: 0 outside. */
static inline __device__ void digest_wide_weights(const struct tsw_digest_task *p, uint64_t col,
						  uint64_t byte, uint64_t *placed, uint64_t *values)
{
	const uint64_t beta = tsw_weight(p->col_seed, col);
	uint64_t limb = 0, delta = 0;

#pragma unroll
	for (int i = 0; i < 4; i++, byte++) {
		const int there = byte < p->elem_size;

		if (there && (i == 0 || byte % 4 == 0))
			limb = tsw_mul_p(beta, tsw_gamma(byte / 4));
		if (there && (i == 0 || byte % 8 == 0))
			delta = tsw_delta(byte / 8);
		placed[i] = there ? tsw_shift_p(limb, byte % 4 * 8) : 0;
		values[i] = there ? delta << byte % 8 * 8 : 0;
	}
}

/* What a block keeps in shared memory of its piece, and where its rows are. */
struct digest_wide {
	const uint32_t (*placed)[8][4], (*delta)[8][4];
	const uint2 *chunk; /* its place; vectors, and 256 if it is an element's last */
	const char *at;	    /* as in struct digest_piece */
	uint64_t pitch;
	uint32_t rows, chunks;
};

/* This lane's vector of chunk q in the rows r + g and r + g + 8. */
static inline __device__ void digest_wide_load(const struct tsw_digest_task *p,
					       const struct digest_wide *b, uint32_t r, uint32_t q,
					       const int inside, uint4 *x, uint4 *x8)
{
	const uint32_t g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
	const uint2 chunk = b->chunk[q];
	const char *const v = b->at + (r + g) * b->pitch + (int32_t)chunk.x + 16 * t;
	const int there = t < chunk.y % 256;

	*x = *x8 = make_uint4(0, 0, 0, 0);
	if (there && (inside || r + g < b->rows))
		*x = inside ? *(const uint4 *)v : digest_load(p, v);
	if (there && (inside || r + g + 8 < b->rows))
		*x8 = inside ? *(const uint4 *)(v + 8 * b->pitch)
			     : digest_load(p, v + 8 * b->pitch);
}

/* This lane's part of y of a row, from its sums 2 t and 2 t + 1. */
static inline __device__ uint64_t digest_wide_part(const uint32_t *d)
{
	return (d[0] + ((uint64_t)d[1] << 8)) << threadIdx.x % 4 * 16;
}

/* Of what the lanes 4 g .. 4 g + 3 have of x and y adds up x for the first two, or those of even
 * numbers if `distance` is 1, and y for the others; in two steps a number for each lane. */
static inline __device__ uint64_t digest_wide_fold(uint64_t x, uint64_t y, uint32_t distance)
{
	const int upper = (threadIdx.x & distance) != 0;

	return (upper ? y : x) + __shfl_xor_sync(0xffffffffu, upper ? x : y, distance);
}

/* The piece's chunks of 16 rows, from row r of the block on.  `inside`: all that is asked for lies
 * in the matrix.  `single`: every chunk is an element; whole: of elements in pieces, else NULL. */
static inline __device__ void digest_wide_rows(const struct tsw_digest_task *p,
					       const struct digest_wide *b, uint32_t r,
					       const int inside, const int single, uint32_t *d,
					       uint64_t *values, uint64_t *whole)
{
	const uint32_t g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
	uint32_t dy[2][4] = {{0}};

	for (uint32_t q = 0; q < b->chunks; q += WIDE_LOADED) {
		uint4 x[WIDE_LOADED], x8[WIDE_LOADED];

#pragma unroll
		for (uint32_t i = 0; i < WIDE_LOADED; i++)
			digest_wide_load(p, b, r, q + i, inside, &x[i], &x8[i]);
#pragma unroll
		for (uint32_t i = 0; i < WIDE_LOADED; i++) {
			uint32_t *const sums = dy[single ? i % 2 : 0];
			uint64_t y;

			digest_multiply(d, x[i], x8[i],
					digest_get_weights(&b->placed[(q + i) * 4]));
			digest_multiply(sums, x[i], x8[i],
					digest_get_weights(&b->delta[(q + i) * 4]));
			if (single ? i % 2 == 0 : b->chunk[q + i].y < 256)
				continue;
			y = digest_wide_fold(digest_wide_part(dy[0]), digest_wide_part(dy[0] + 2),
					     1);
			if (single) /* two elements: four numbers, one for each lane */
				y = digest_wide_fold(y,
						     digest_wide_fold(digest_wide_part(dy[1]),
								      digest_wide_part(dy[1] + 2),
								      1),
						     2);
			else
				y += __shfl_xor_sync(0xffffffffu, y, 2);
			if (whole && t < 2)
				whole[r + g + 8 * t] += y;
			else if (single || t < 2)
				*values += tsw_value(y);
#pragma unroll
			for (int k = 0; k < 4; k++)
				dy[0][k] = dy[1][k] = 0;
		}
	}
}

/* Weights and places of the piece's chunks, and of none to a multiple of WIDE_LOADED. */
static inline __device__ void digest_wide_prepare(const struct tsw_digest_task *p,
						  const struct digest_piece *piece,
						  uint32_t (*placed)[8][4], uint32_t (*delta)[8][4],
						  uint2 *chunk)
{
	const uint32_t chunks = (piece->chunks + WIDE_LOADED - 1) / WIDE_LOADED * WIDE_LOADED;

	for (uint32_t i = threadIdx.x; i < chunks * 16; i += DIGEST_THREADS) {
		const uint32_t q = i / 16, word = i % 16;
		struct digest_chunk c = digest_chunk_of(p, piece, q);
		uint64_t for_placed[4], for_values[4];

		if (q >= piece->chunks) {
			c.byte = p->elem_size;
			c.bytes = 0;
		}
		if (word == 0) {
			const uint32_t vectors = c.bytes < 64 ? (uint32_t)(c.bytes + 15) / 16 : 4;
			const int last = vectors && (c.bytes <= 64 || q == piece->chunks - 1);

			chunk[q] = make_uint2(c.at, vectors + 256 * last);
		}
		digest_wide_weights(p, c.col, c.byte + 4 * word, for_placed, for_values);
		digest_put_weights(placed[i / 4], i % 4, for_placed);
		digest_put_weights(delta[i / 4], i % 4, for_values);
	}
	__syncthreads();
}

static inline __device__ void digest_wide_block(const struct tsw_digest_task *p, const int single)
{
	__shared__ uint2 alpha[TSW_DIGEST_ROWS];
	__shared__ __align__(16) uint32_t placed[WIDE_CHUNKS * 4][8][4];
	__shared__ __align__(16) uint32_t delta[WIDE_CHUNKS * 4][8][4];
	__shared__ uint2 chunk[WIDE_CHUNKS];
	__shared__ uint64_t whole[TSW_DIGEST_ROWS]; /* y of elements in pieces */
	const struct digest_place at = digest_place_of(p, p->first + blockIdx.x);
	const int pieces = !single && p->chunks > WIDE_CHUNKS;
	const uint64_t col = at.strip * p->strip;
	const uint32_t elements = (uint32_t)(p->n - col < p->strip ? p->n - col : p->strip);
	const char *const end = digest_end(p);
	struct digest_products products = {{{0}}};
	uint32_t d[4] = {0};
	uint64_t values = 0;

	if (at.rows == 0)
		return;
	for (uint32_t r = threadIdx.x; pieces && r < TSW_DIGEST_ROWS; r += DIGEST_THREADS)
		whole[r] = 0;
	digest_alpha_halves(p, &at, alpha);
	for (uint64_t first = 0; first < p->chunks; first += WIDE_CHUNKS) {
		const uint64_t left = p->chunks - first;
		const struct digest_piece piece = {
			col,
			first,
			pieces ? WIDE_CHUNKS : (uint32_t)p->chunks,
			!pieces		     ? elements * (uint32_t)p->chunks
			: left < WIDE_CHUNKS ? (uint32_t)left
					     : WIDE_CHUNKS,
			at.base + col * p->elem_size + first * 64,
		};
		const struct digest_wide b = {placed,	delta,	 chunk,	      piece.at,
					      at.pitch, at.rows, piece.chunks};

		digest_wide_prepare(p, &piece, placed, delta, chunk);
		for (uint32_t r = threadIdx.x / 32 * 16; r < at.rows; r += 16 * DIGEST_WARPS) {
			const int inside =
				r + 16 <= at.rows && piece.at + r * at.pitch - 16 >= p->base &&
				end - (piece.at + (r + 15) * at.pitch) >= WIDE_CHUNKS * 64;

			if (inside)
				digest_wide_rows(p, &b, r, 1, single, d, &values,
						 pieces ? whole : 0);
			else
				digest_wide_rows(p, &b, r, 0, single, d, &values,
						 pieces ? whole : 0);
			digest_times_alpha(&products, d, alpha + r);
		}
#pragma unroll
		for (int i = 0; i < 4; i++)
			products.s[i / 2][i % 2] = tsw_mod_p(products.s[i / 2][i % 2]);
		__syncthreads();
	}
	for (uint32_t r = threadIdx.x; pieces && r < at.rows; r += DIGEST_THREADS)
		values += tsw_value(whole[r]);
	digest_add_block(p->slot, digest_placed(&products), values);
}

/* Elements of at most 49 bytes: one chunk, wherever they begin. */
__global__ void __launch_bounds__(DIGEST_THREADS, 3)
	tsw_digest_single(const struct tsw_digest_task p)
{
	digest_wide_block(&p, 1);
}

__global__ void __launch_bounds__(DIGEST_THREADS, 3) tsw_digest_wide(const struct tsw_digest_task p)
{
	digest_wide_block(&p, 0);
}
