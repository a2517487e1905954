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
	const char
		*at; /* its first byte in row 0 of the block, but for the element's misalignment */
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

/* Adds up y of the rows g and g + 8 from the sums of the row's four lanes, and clears them: lanes
 * of even t are left with that of row g, the others with that of row g + 8. */
static inline __device__ uint64_t digest_wide_y(uint32_t *d)
{
	const uint32_t t = threadIdx.x % 4;
	const uint64_t y0 = (d[0] + ((uint64_t)d[1] << 8)) << 16 * t;
	const uint64_t y8 = (d[2] + ((uint64_t)d[3] << 8)) << 16 * t;
	uint64_t y = t % 2 ? y8 : y0;

	y += __shfl_xor_sync(0xffffffffu, t % 2 ? y0 : y8, 1);
	y += __shfl_xor_sync(0xffffffffu, y, 2);
	d[0] = d[1] = d[2] = d[3] = 0;
	return y;
}

__global__ void __launch_bounds__(DIGEST_THREADS, 3) tsw_digest_wide(const struct tsw_digest_task p)
{
	__shared__ uint2 alpha[TSW_DIGEST_ROWS];
	__shared__ __align__(16) uint32_t placed[WIDE_CHUNKS * 4][8][4];
	__shared__ __align__(16) uint32_t delta[WIDE_CHUNKS * 4][8][4];
	__shared__ uint2 chunk[WIDE_CHUNKS];	    /* place; vectors, and 256 if it is the last */
	__shared__ uint64_t whole[TSW_DIGEST_ROWS]; /* y of elements in pieces */
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint32_t lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warp = threadIdx.x / 32;
	const int pieces = p.chunks > WIDE_CHUNKS;
	const uint64_t col = at.strip * p.strip;
	const uint32_t elements = (uint32_t)(p.n - col < p.strip ? p.n - col : p.strip);
	const char *const end = digest_end(&p);
	struct digest_products products = {{{0}}};
	uint32_t d[4] = {0}, dy[4] = {0};
	uint64_t values = 0;

	if (at.rows == 0)
		return;
	for (uint32_t r = threadIdx.x; pieces && r < TSW_DIGEST_ROWS; r += DIGEST_THREADS)
		whole[r] = 0;
	digest_alpha_halves(&p, &at, alpha);
	for (uint64_t first = 0; first < p.chunks; first += WIDE_CHUNKS) {
		const struct digest_piece piece = {
			.col = col,
			.first = first,
			.each = pieces ? WIDE_CHUNKS : (uint32_t)p.chunks,
			.chunks = !pieces			   ? elements * (uint32_t)p.chunks
				  : p.chunks - first < WIDE_CHUNKS ? (uint32_t)(p.chunks - first)
								   : WIDE_CHUNKS,
			.at = at.base + col * p.elem_size + first * 64,
		};

		for (uint32_t i = threadIdx.x; i < WIDE_CHUNKS * 16; i += DIGEST_THREADS) {
			const uint32_t q = i / 16, word = i % 16;
			const struct digest_chunk c = digest_chunk_of(&p, &piece, q);
			const uint32_t vectors = c.bytes < 64 ? (uint32_t)(c.bytes + 15) / 16 : 4;
			uint64_t for_placed[4], for_values[4];

			if (word == 0)
				chunk[q] = make_uint2(c.at, q >= piece.chunks ? 0
							    : c.bytes <= 64 || q == piece.chunks - 1
								    ? vectors | 256
								    : vectors);
			if (q >= piece.chunks)
				continue;
			digest_wide_weights(&p, c.col, c.byte + 4 * word, for_placed, for_values);
			digest_put_weights(placed[i / 4], i % 4, for_placed);
			digest_put_weights(delta[i / 4], i % 4, for_values);
		}
		__syncthreads();
		for (uint32_t r = 16 * warp; r < at.rows; r += 16 * DIGEST_WARPS) {
			const char *const row = piece.at + (r + g) * at.pitch + 16 * t;
			/* All that these rows could ask for lies in the matrix. */
			const int inside =
				r + 16 <= at.rows && piece.at + r * at.pitch - 16 >= p.base &&
				end - (piece.at + (r + 15) * at.pitch) >= WIDE_CHUNKS * 64;

			for (uint32_t q = 0; q < piece.chunks; q += WIDE_LOADED) {
				uint4 x[WIDE_LOADED], x8[WIDE_LOADED];

#pragma unroll
				for (int i = 0; i < WIDE_LOADED; i++) {
					const char *const v = row + (int32_t)chunk[q + i].x;
					const int there = t < chunk[q + i].y % 256;

					x[i] = x8[i] = make_uint4(0, 0, 0, 0);
					if (inside && there) {
						x[i] = *(const uint4 *)v;
						x8[i] = *(const uint4 *)(v + 8 * at.pitch);
					} else if (there) {
						if (r + g < at.rows)
							x[i] = digest_load(&p, v);
						if (r + g + 8 < at.rows)
							x8[i] = digest_load(&p, v + 8 * at.pitch);
					}
				}
#pragma unroll
				for (int i = 0; i < WIDE_LOADED; i++) {
					const uint32_t about = chunk[q + i].y;

					if (about == 0) /* the same for all lanes */
						continue;
					digest_multiply(d, x[i], x8[i],
							digest_get_weights(&placed[(q + i) * 4]));
					digest_multiply(dy, x[i], x8[i],
							digest_get_weights(&delta[(q + i) * 4]));
					if (about >= 256) {
						const uint64_t y = digest_wide_y(dy);

						if (t < 2 && pieces)
							whole[r + g + 8 * t] += y;
						else if (t < 2)
							values += tsw_value(y);
					}
				}
			}
			digest_times_alpha(&products, d, alpha + r);
		}
#pragma unroll
		for (int i = 0; i < 2; i++)
			for (int half = 0; half < 2; half++)
				products.s[i][half] = tsw_mod_p(products.s[i][half]);
		__syncthreads();
	}
	for (uint32_t r = threadIdx.x; pieces && r < at.rows; r += DIGEST_THREADS)
		values += tsw_value(whole[r]);
	digest_add_block(p.slot, digest_placed(&products), values);
}
