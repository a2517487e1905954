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
 * A warp has the 128 bytes of each row that it has for `placed`: parts of one element, or the end
 * of one and the beginning of the next.  It multiplies all of them by the weights of either, which
 * are 0 where the other is, and joins both; what warps have of an element is added up after the
 * next barrier.
 */
#define WIDE_WORDS 128 /* of 8 bytes, that a piece has at most */
#define WIDE_WARPS (DIGEST_THREADS / 32)
#define WIDE_LEAST                                                                                 \
	177 /* bytes of an element: no warp has three, no strip more than threads add up */
#define WIDE_BAND 1024 /* rows of a band at most, if elements are taken in pieces */

struct wide_shared {
	uint64_t delta[WIDE_WORDS];
	/* What a warp has of its first element and of its second, of this step and of the last. */
	uint64_t part[2][WIDE_WARPS][2][BYTES_STEP];
	uint64_t whole[WIDE_BAND]; /* y of elements in pieces, so far */
};

#define WIDE_SHARED (BYTES_SHARED + sizeof(struct wide_shared))

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

/* y of 16 rows of a warp's first element from sums[0], of its second from sums[1]: the lane's is of
 * element t / 2, row g + t % 2 * 8. */
static inline __device__ uint64_t wide_join(uint32_t (*sums)[4])
{
	const uint32_t t = threadIdx.x % 4, odd = t % 2, second = t / 2;
	const uint32_t byte = odd ? 65536 : 1; /* two lanes' sums fit 58 bits */
	uint64_t y[2], got;

	/* Each time a lane keeps half of the rows, or elements, and gives the other half away. */
#pragma unroll
	for (int e = 0; e < 2; e++) {
		const uint32_t *const d = sums[e];
		const uint64_t upper = (uint64_t)d[0] * byte + (uint64_t)d[1] * (byte << 8);
		const uint64_t lower = (uint64_t)d[2] * byte + (uint64_t)d[3] * (byte << 8);

		y[e] = (odd ? lower : upper) + __shfl_xor_sync(0xffffffffu, odd ? upper : lower, 1);
	}
	got = __shfl_xor_sync(0xffffffffu, second ? y[0] : y[1], 2);
	return second ? got + (y[1] << 32) : y[0] + (got << 32);
}

/* The weights of a warp's bytes, 32 at a time: for its first element, which begins `from` bytes
 * into the tile's rows, and for the second. */
static inline __device__ void wide_weigh(uint2 (*weights)[2], const uint64_t *delta, uint32_t from,
					 uint32_t each)
{
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;

#pragma unroll
	for (uint32_t c = 0; c < 4; c++)
#pragma unroll
		for (uint32_t e = 0; e < 2; e++) {
			const int32_t byte = (int32_t)(warp * 128 + c * 32 + lane % 4 * 4) -
					     (int32_t)(from + e * each);

			weights[c][e] =
				make_uint2(wide_weights(delta, byte, (int32_t)each, lane / 4),
					   wide_weights(delta, byte + 16, (int32_t)each, lane / 4));
		}
}

/* What the warp has of a step's 16 rows. */
static inline __device__ void wide_parts(uint64_t (*part)[BYTES_STEP], const bytes_row *tile,
					 uint2 (*weights)[2])
{
	const uint32_t t = threadIdx.x % 4, g = threadIdx.x % 32 / 4;
	uint32_t sums[2][4] = {{0}};

#pragma unroll
	for (uint32_t c = 0; c < 4; c++) {
		uint32_t x[4];

		wide_load(x, tile, threadIdx.x / 32 * 8 + c * 2);
		wide_multiply(sums[0], x, weights[c][0]);
		wide_multiply(sums[1], x, weights[c][1]);
	}
	part[t / 2][g + t % 2 * 8] = wide_join(sums);
}

/* Half a warp adds up the parts of one element: of warp `owner`, whose second it is, or not, and
 * of the next ones until number `last`. */
struct wide_element {
	uint32_t owner, second, last;
	int exists;
};

static inline __device__ struct wide_element wide_element_of(uint32_t off, uint32_t each,
							     uint32_t elements)
{
	const uint32_t e = threadIdx.x / BYTES_STEP, from = off + e * each;
	struct wide_element w = {from / 128, e && from % 128, (from + each - 1) / 128,
				 e < elements};

	return w;
}

/* y of the element, row threadIdx.x % 16 of a step. */
static inline __device__ uint64_t wide_sum(uint64_t (*part)[2][BYTES_STEP],
					   const struct wide_element *w)
{
	const uint32_t row = threadIdx.x % BYTES_STEP;
	uint64_t y = part[w->owner][w->second][row];

#pragma unroll
	for (uint32_t i = 1; i < WIDE_WARPS; i++)
		if (w->owner + i <= w->last)
			y += part[w->owner + i][0][row];
	return y;
}

/* Takes the elements of a strip, or pieces of them from byte `skip` on: returns what they add to
 * `placed`, and adds to *values, or to s->whole. */
static inline __device__ uint64_t wide_strip(const struct tsw_digest_task *p,
					     const struct digest_place *at, uint32_t (*alpha)[32],
					     struct wide_shared *s, uint64_t skip, uint64_t *values)
{
	bytes_row(*const tile)[BYTES_STEP] = (bytes_row(*)[BYTES_STEP])(s + 1);
	uint64_t *const sums = (uint64_t *)tile; /* in the end */
	const uint64_t left = p->n - at->col, rest = p->elem_size - skip;
	const uint32_t elements = (uint32_t)(left < p->strip ? left : p->strip);
	const uint32_t each = (uint32_t)(rest < p->piece ? rest : p->piece);
	const struct bytes_copy copy =
		bytes_copy_of(at, at->col * p->elem_size + skip, elements * each);
	const struct wide_element whole = wide_element_of(copy.off, each, elements);
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const uint32_t begin = warp ? warp * 128 : copy.off, end = copy.off + elements * each;
	uint32_t d[16][2] = {{0}};
	uint2 weights[4][2];
	uint64_t placed;

	bytes_copy_first(&copy, tile, p->stages);
	if (threadIdx.x < WIDE_WORDS)
		s->delta[threadIdx.x] = tsw_delta(skip / 8 + threadIdx.x);
	__syncthreads();
	wide_weigh(weights, s->delta, copy.off + (begin - copy.off) / each * each, each);
	for (uint32_t r = 0; r < at->rows + BYTES_STEP; r += BYTES_STEP) {
		const bytes_row *const now = bytes_next_step(&copy, tile, p->stages, r);
		const uint32_t parity = r / BYTES_STEP % 2;

		if (r && whole.exists) { /* of the step before */
			const uint64_t y = wide_sum(s->part[1 - parity], &whole);

			if (p->piece != p->elem_size)
				s->whole[r - BYTES_STEP + threadIdx.x] += y;
			else
				*values += tsw_value(y);
		}
		if (r >= at->rows)
			break;
		if (r % BYTES_ROWS == 0) {
			bytes_alpha(p, at, r, alpha);
			__syncthreads();
		}
		if (begin < end) {
			bytes_add_all(d, alpha[r % BYTES_ROWS / BYTES_STEP][lane], now);
			wide_parts(s->part[parity][warp], now, weights);
		}
	}
	bytes_join(d, sums);
	__syncthreads();
	placed = bytes_placed(p, sums + copy.off, elements, at->col, each, skip);
	__syncthreads();
	return placed;
}

__global__ void __launch_bounds__(DIGEST_THREADS, 3) tsw_digest_wide(const struct tsw_digest_task p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_digest_tile);
	uint32_t(*const alpha)[32] = (uint32_t(*)[32])tsw_digest_tile;
	struct wide_shared *const s = (struct wide_shared *)(alpha + BYTES_ALPHA);
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const int pieces = p.piece != p.elem_size;
	uint64_t placed = 0, values = 0;

	if (at.rows == 0)
		return;
	for (uint32_t r = threadIdx.x; pieces && r < WIDE_BAND; r += DIGEST_THREADS)
		s->whole[r] = 0;
	for (uint64_t skip = 0; skip < p.elem_size; skip += p.piece)
		placed = tsw_add_p(placed, wide_strip(&p, &at, alpha, s, skip, &values));
	for (uint32_t r = threadIdx.x; pieces && r < at.rows; r += DIGEST_THREADS)
		values += tsw_value(s->whole[r]);
	digest_add_block(p.slot, placed, values);
}
