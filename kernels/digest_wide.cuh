/* The checksum kernel for wide elements of any size, in rows of any alignment (digest_product.cuh).
 * A strip is as many whole elements as surely lie in BYTES_VECTORS vectors; of an element larger
 * than that, pieces are taken one after the other.
 *
 * y of an element is a sum of its bytes times weights, too: byte b of word m counts delta(m) 2^(8
 * b) mod 2^64.  So it is a product of matrices as well, of 16 rows with the eight bytes of those
 * weights, 32 bytes of a row at a time, which are taken from the tile as they lie:
 *
 *       x, 32 bytes of 16 rows            weights, 8 bytes each      sums
 *
 *           byte 0  1  2 ... 31             byte 0  1 ... 7
 *          +--------------------+          +----------------+       +--------+
 *     r    | .  .            .  |      0   |                |       |        |
 *     r+1  | .  .            .  |      1   |                |       |        |
 *     ...  |                    |   x  ..  |                |   +=  | 16 x 8 |
 *     r+15 |                    |      31  |                |       |        |
 *          +--------------------+          +----------------+       +--------+
 *
 * A warp has the 128 bytes of each row that it has for `placed`.  Of the elements there it makes
 * one after the other, with weights of 0 where another element is; parts of elements that other
 * warps have, too, are added up after the next barrier.
 */
#define WIDE_WORDS 128 /* of 8 bytes, that a piece has at most */
#define WIDE_WARPS (DIGEST_THREADS / 32)
#define WIDE_LEAST 65 /* bytes of an element */
/* Weights that a warp needs at most, for 32 bytes each: four, and one more for each element that
 * begins inside of its 128 bytes. */
#define WIDE_PRODUCTS (4 + 127 / WIDE_LEAST + 1)
#define WIDE_BAND 1024 /* rows of a band at most, if elements are taken in pieces */

struct wide_shared {
	uint64_t delta[WIDE_WORDS];
	/* What a warp has of elements that others have, too: of its first, and of its last. */
	uint64_t part[2][WIDE_WARPS][2][BYTES_STEP];
	uint64_t whole[WIDE_BAND]; /* y of elements in pieces, so far */
	uint2 weights[WIDE_WARPS][WIDE_PRODUCTS][32];
};

#define WIDE_SHARED (BYTES_SHARED(BYTES_STAGES) + sizeof(struct wide_shared))

/* The part of a strip that a warp has, if any; the strip lies `off` bytes into the tile's rows. */
struct wide_part {
	uint32_t begin, end;  /* bytes of the tile's rows */
	uint32_t first, last; /* elements, from first on and before last: 0 if there are none */
};

static inline __device__ struct wide_part wide_part_of(uint32_t warp, uint32_t off, uint32_t bytes,
						       uint32_t each)
{
	struct wide_part w = {warp ? warp * 128 : off, warp * 128 + 128, 0, 0};

	if (w.end > off + bytes)
		w.end = off + bytes;
	if (w.end > w.begin) {
		w.first = (w.begin - off) / each;
		w.last = (w.end - 1 - off) / each + 1;
	}
	return w;
}

/* Bytes of weights of four bytes of an element from byte `at` on, which may be outside of it: byte
 * `byte` of each. */
static inline __device__ uint32_t wide_weights(const uint64_t *delta, int32_t at, int32_t each,
					       uint32_t byte)
{
	uint32_t weights = 0;

#pragma unroll
	for (int32_t i = 0; i < 4; i++) {
		const int32_t b = at + i;

		if (b >= 0 && b < each && (uint32_t)b % 8 <= byte)
			weights |= (uint32_t)(delta[b / 8] >> (byte - (uint32_t)b % 8) * 8 & 0xff)
				   << 8 * i;
	}
	return weights;
}

/* Adds the product of four words of x and two of weights. */
static inline __device__ void wide_multiply(uint32_t *d, const uint32_t *x, uint2 w)
{
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
	asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
	    "{%8, %9}, {%0, %1, %2, %3};"
	    : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
	    : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(w.x), "r"(w.y));
#elif defined(__CUDACC__)
	for (int i = 0; i < 4; i++)
		asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
		    : "+r"(d[i % 2 * 2]), "+r"(d[i % 2 * 2 + 1])
		    : "r"(x[i]), "r"(i < 2 ? w.x : w.y));
#else
	const uint32_t lane = threadIdx.x % 32;

	for (uint32_t t = 0; t < 4; t++) {
		uint32_t rows[4];

		for (uint32_t i = 0; i < 4; i++)
			rows[i] = __shfl_sync(0xffffffffu, x[i], lane / 4 * 4 + t);
		for (uint32_t i = 0; i < 2; i++) {
			const uint2 col = __shfl_sync(0xffffffffu, w, (lane % 4 * 2 + i) * 4 + t);

			d[i] = __dp4a(rows[0], col.x, __dp4a(rows[2], col.y, d[i]));
			d[2 + i] = __dp4a(rows[1], col.x, __dp4a(rows[3], col.y, d[2 + i]));
		}
	}
#endif
}

/* 32 bytes of the tile's 16 rows from vector `v` on: lane 4 g + t has four bytes of rows g, g + 8,
 * and g, g + 8 again 16 bytes on. */
static inline __device__ void wide_load(uint32_t *x, const bytes_row *tile, uint32_t v)
{
	const uint32_t lane = threadIdx.x % 32;

#ifdef __CUDACC__
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
		     : "r"((uint32_t)__cvta_generic_to_shared(&tile[lane % 16][v + lane / 16]))
		     : "memory");
#else
	for (uint32_t i = 0; i < 4; i++)
		x[i] = ((const uint32_t *)&tile[lane / 4 + i % 2 * 8][v + i / 2])[lane % 4];
#endif
}

/* y of rows: lanes 4 g and 4 g + 2 of row g, the others of row g + 8. */
static inline __device__ uint64_t wide_join(const uint32_t *d)
{
	const uint32_t t = threadIdx.x % 4;
	const uint64_t upper = (d[0] + ((uint64_t)d[1] << 8)) << 16 * t;
	const uint64_t lower = (d[2] + ((uint64_t)d[3] << 8)) << 16 * t;
	uint64_t y =
		(t % 2 ? lower : upper) + __shfl_xor_sync(0xffffffffu, t % 2 ? upper : lower, 1);

	return y + __shfl_xor_sync(0xffffffffu, y, 2);
}

/* Of the weights of a warp's part, those of its element `e`: which 32 bytes of the tile's rows. */
static inline __device__ void wide_products(const struct wide_part *w, uint32_t from, uint32_t each,
					    uint32_t *first, uint32_t *end)
{
	const uint32_t to = from + each;

	*first = (from > w->begin ? from : w->begin) / 32;
	*end = ((to < w->end ? to : w->end) + 31) / 32;
}

__global__ void __launch_bounds__(DIGEST_THREADS, 3) tsw_digest_wide(const struct tsw_digest_task p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_digest_tile);
	bytes_row(*const tile)[BYTES_STEP] = (bytes_row(*)[BYTES_STEP])tsw_digest_tile;
	uint64_t *const sums = (uint64_t *)tsw_digest_tile; /* in the end */
	uint32_t(*const alpha)[32] = (uint32_t(*)[32])(tile + BYTES_STAGES);
	struct wide_shared *const s = (struct wide_shared *)(alpha + BYTES_ALPHA);
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint64_t left = p.n - at.col;
	const uint32_t elements = (uint32_t)(left < p.strip ? left : p.strip);
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = threadIdx.x % 16;
	const int pieces = p.piece != p.elem_size;
	uint64_t placed = 0, values = 0;

	if (at.rows == 0)
		return;
	for (uint32_t r = threadIdx.x; pieces && r < WIDE_BAND; r += DIGEST_THREADS)
		s->whole[r] = 0;
	for (uint64_t skip = 0; skip < p.elem_size; skip += p.piece) {
		const uint64_t rest = p.elem_size - skip;
		const uint32_t each = (uint32_t)(rest < p.piece ? rest : p.piece);
		const uint32_t bytes = elements * each;
		const struct bytes_copy copy =
			bytes_copy_of(&at, at.col * p.elem_size + skip, bytes);
		const struct wide_part mine = wide_part_of(warp, copy.off, bytes, each);
		/* Half a warp adds up parts of the element that begins in the part of warp `owner`
		 * and goes on until the part of warp `until` - 1. */
		const uint32_t owner = threadIdx.x / 16 % WIDE_WARPS;
		const struct wide_part ours = wide_part_of(owner, copy.off, bytes, each);
		uint32_t until = 0, from, first, end, product = 0;
		uint32_t d[16][2] = {{0}};

		bytes_copy_first(&copy, tile, BYTES_STAGES);
		if (threadIdx.x < WIDE_WORDS)
			s->delta[threadIdx.x] = tsw_delta(skip / 8 + threadIdx.x);
		__syncthreads();
		for (uint32_t e = mine.first; e < mine.last; e++) {
			from = copy.off + e * each;
			wide_products(&mine, from, each, &first, &end);
			for (uint32_t c = first; c < end; c++, product++) {
				const int32_t byte = (int32_t)(c * 32 + lane % 4 * 4 - from);

				s->weights[warp][product][lane] = make_uint2(
					wide_weights(s->delta, byte, (int32_t)each, lane / 4),
					wide_weights(s->delta, byte + 16, (int32_t)each, lane / 4));
			}
		}
		if (threadIdx.x < 16 * WIDE_WARPS && ours.last) {
			from = copy.off + (ours.last - 1) * each;
			if (from >= ours.begin && (pieces || from + each > ours.end))
				until = (from + each - 1) / 128 + 1;
		}
		for (uint32_t r = 0; r < at.rows + BYTES_STEP; r += BYTES_STEP) {
			const bytes_row *const now = bytes_next_step(&copy, tile, BYTES_STAGES, r);
			const uint32_t parity = r / BYTES_STEP % 2;

			if (r && until) { /* of the step before */
				uint64_t y = s->part[1 - parity][owner][1][row];

				for (uint32_t w = owner + 1; w < until; w++)
					y += s->part[1 - parity][w][0][row];
				if (pieces)
					s->whole[r - BYTES_STEP + row] += y;
				else
					values += tsw_value(y);
			}
			if (r >= at.rows)
				break;
			if (r % BYTES_ROWS == 0) {
				bytes_alpha(&p, &at, r, alpha);
				__syncthreads();
			}
			if (mine.last)
				bytes_add_all(d, alpha[r % BYTES_ROWS / BYTES_STEP][lane], now);
			product = 0;
			for (uint32_t e = mine.first; e < mine.last; e++) {
				uint32_t sum[4] = {0, 0, 0, 0};
				uint64_t y;

				from = copy.off + e * each;
				wide_products(&mine, from, each, &first, &end);
#pragma unroll 4
				for (uint32_t c = first; c < end; c++, product++) {
					uint32_t x[4];

					wide_load(x, now, c * 2);
					wide_multiply(sum, x, s->weights[warp][product][lane]);
				}
				y = wide_join(sum);
				if (!pieces && from >= mine.begin && from + each <= mine.end)
					values += lane % 4 < 2 ? tsw_value(y) : 0;
				else if (lane % 4 < 2)
					s->part[parity][warp][from >= mine.begin]
					       [lane / 4 + lane % 4 * 8] = y;
			}
		}
		bytes_join(d, sums);
		__syncthreads();
		placed = tsw_add_p(placed,
				   bytes_placed(&p, sums + copy.off, elements, at.col, each, skip));
		__syncthreads();
	}
	for (uint32_t r = threadIdx.x; pieces && threadIdx.x < 16 && r < at.rows; r += 16)
		values += tsw_value(s->whole[r]);
	digest_add_block(p.slot, placed, values);
}
