/* What the checksum kernels share.
 *
 * A block takes a strip of columns and a band of rows.  The rows of a band are `step` apart, so
 * that all of them lie equally to the vectors that are loaded: what depends on a byte's place
 * within its vector is the same for every row, and found out once.
 *
 *          alpha      bytes of a strip              rows 0, step, 2 step ... of the matrix, or
 *         +-----+    +-------------------------+    1, step + 1, 2 step + 1 ..., and so on: step
 *    r    |  p  |    | x x x x x x x x x x x x |    classes of rows.  step = 1 where the stride is
 *    r'   |  p  |    | x x x x x x x x x x x x |    a multiple of the vector.
 *    ...  |  p  |    | x x x x x x x x x x x x |
 *         +-----+    +-------------------------+
 *            beta(c) gamma(l) 2^(8 b):  weights
 *
 * `placed` is linear in the bytes of the matrix: byte b of limb l of column c has the weight
 * beta(c) gamma(l) 2^(8 b) mod p, eight bytes wide.  So a product of matrices of bytes, which GPUs
 * have an instruction for, brings rows of x to eight sums, one for each byte of the weights; those
 * are multiplied by alpha, and put together once at the end of the band.
 */
#ifndef TSW_DIGEST_CUH
#define TSW_DIGEST_CUH

#include "../src/digest/digest_math.h"
#include "device.cuh"
#include "digest.h"

#define DIGEST_THREADS 256
#define DIGEST_WARPS (DIGEST_THREADS / 32)

/* Bytes of a row that a block, and a warp, of digest_words.cuh takes.  Rows are cut into such
 * strips from the multiple of DIGEST_ALIGN (a sector) left of their first byte. */
#define DIGEST_PART 256
#define DIGEST_STRIP (DIGEST_WARPS * DIGEST_PART)
#define DIGEST_ALIGN 32

/* ---- the place of a block -------------------------------------------------------------------- */

struct digest_place {
	uint64_t row;	  /* its first */
	uint64_t strip;	  /* its number */
	uint64_t pitch;	  /* bytes from one of its rows to its next */
	const char *base; /* of row `row` */
	uint32_t rows;
};

static inline __device__ struct digest_place digest_place_of(const struct tsw_digest_task *p,
							     uint64_t block)
{
	const uint64_t line = block / p->strips; /* strips side by side */
	const uint64_t first = line & ((1u << p->step_log) - 1);
	const uint64_t before = (line >> p->step_log) * p->band_rows; /* rows of its class */
	const uint64_t row = first + (before << p->step_log);
	const uint64_t left = row < p->n ? ((p->n - row - 1) >> p->step_log) + 1 : 0;
	struct digest_place at;

	at.row = row;
	at.strip = block - line * p->strips;
	at.pitch = p->stride << p->step_log;
	at.base = p->base + row * p->stride;
	at.rows = (uint32_t)(left < p->band_rows ? left : p->band_rows);
	return at;
}

/* alpha of row number r of the block; 0 past its last. */
static inline __device__ uint64_t digest_alpha(const struct tsw_digest_task *p,
					       const struct digest_place *at, uint32_t r)
{
	return r < at->rows ? tsw_weight(p->row_seed, at->row + ((uint64_t)r << p->step_log)) : 0;
}

/* The halves of alpha of the block's rows, 16 by 16, for all threads. */
static inline __device__ void digest_alpha_halves(const struct tsw_digest_task *p,
						  const struct digest_place *at, uint2 *alpha)
{
	for (uint32_t r = threadIdx.x; r < (at->rows + 15) / 16 * 16; r += DIGEST_THREADS) {
		const uint64_t w = digest_alpha(p, at, r);

		alpha[r] = make_uint2(tsw_half0(w), tsw_half1(w));
	}
	__syncthreads();
}

/* Where the matrix's last row ends: nothing is read from there on. */
static inline __device__ const char *digest_end(const struct tsw_digest_task *p)
{
	return p->base + (p->n - 1) * p->stride + p->n * p->elem_size;
}

/* The vector at `v`.  What it has from before the matrix or from its end on is not read, but 0. */
static inline __device__ uint4 digest_load(const struct tsw_digest_task *p, const char *v)
{
	const char *const end = digest_end(p);
	uint32_t x[4] = {0};

	if (v >= p->base && end - v >= 16)
		return *(const uint4 *)v;
#pragma unroll
	for (int b = 0; b < 16; b++)
		if (v + b >= p->base && v + b < end)
			x[b / 4] |= (uint32_t) * (const unsigned char *)(v + b) << 8 * (b % 4);
	return make_uint4(x[0], x[1], x[2], x[3]);
}

/* ---- products of matrices of bytes -----------------------------------------------------------
 *
 * Lane 4 g + t of a warp holds parts of
 *
 *     x          16 rows, 32 bytes of each: of rows g and g + 8 the bytes in words t and t + 4
 *     weights    32 bytes down, 8 across, the bytes of a weight: of byte g what belongs to those
 *     d          16 rows of 8 sums: of rows g and g + 8 the sums 2 t and 2 t + 1
 *
 * Which bytes of a row are called word t or t + 4 is free, as long as x and weights agree: here
 * they are words 0 and 2 of a vector, then 1 and 3, which takes the fewest moves between registers.
 */
#ifdef __CUDACC__
static inline __device__ void digest_multiply_words(uint32_t *d, uint32_t x0, uint32_t x8,
						    uint32_t y0, uint32_t y8, uint32_t wx,
						    uint32_t wy)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
	    "{%8, %9}, {%0, %1, %2, %3};"
	    : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
	    : "r"(x0), "r"(x8), "r"(y0), "r"(y8), "r"(wx), "r"(wy));
#else /* the same in quarters */
#define DIGEST_QUARTER(i, x, w)                                                                    \
	asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"       \
	    : "+r"(d[i]), "+r"(d[i + 1])                                                           \
	    : "r"(x), "r"(w))
	DIGEST_QUARTER(0, x0, wx);
	DIGEST_QUARTER(0, y0, wy);
	DIGEST_QUARTER(2, x8, wx);
	DIGEST_QUARTER(2, y8, wy);
#undef DIGEST_QUARTER
#endif
}
#else /* what the instruction does, for tests/simt */
static inline uint32_t digest_dot(const uint4 x, const uint4 w, uint32_t sum)
{
	return __dp4a(x.x, w.x, __dp4a(x.z, w.y, __dp4a(x.y, w.z, __dp4a(x.w, w.w, sum))));
}
#endif

/* A vector of each of the rows g and g + 8: 16 rows, 64 bytes of each. */
static inline __device__ void digest_multiply(uint32_t *d, const uint4 x0, const uint4 x8,
					      const uint4 weights)
{
#ifdef __CUDACC__
	digest_multiply_words(d, x0.x, x8.x, x0.z, x8.z, weights.x, weights.y);
	digest_multiply_words(d, x0.y, x8.y, x0.w, x8.w, weights.z, weights.w);
#else
	const uint32_t lane = threadIdx.x % 32;

	for (uint32_t t = 0; t < 4; t++) {
		const uint4 a0 = __shfl_sync(0xffffffffu, x0, lane / 4 * 4 + t);
		const uint4 a8 = __shfl_sync(0xffffffffu, x8, lane / 4 * 4 + t);

		for (uint32_t i = 0; i < 2; i++) {
			const uint4 w =
				__shfl_sync(0xffffffffu, weights, (lane % 4 * 2 + i) * 4 + t);

			d[i] = digest_dot(a0, w, d[i]);
			d[2 + i] = digest_dot(a8, w, d[2 + i]);
		}
	}
#endif
}

/* Hands out the weights of the four bytes of word `word` of a vector: to[g] are those that lanes of
 * g ask for, in the order in which digest_multiply() takes the words. */
static inline __device__ void digest_put_weights(uint32_t (*to)[4], uint32_t word,
						 const uint64_t *weight)
{
	const uint32_t w = word % 2 * 2 + word / 2;
	const uint4 low = tsw_turn_bytes((uint32_t)weight[0], (uint32_t)weight[1],
					 (uint32_t)weight[2], (uint32_t)weight[3]);
	const uint4 high = tsw_turn_bytes((uint32_t)(weight[0] >> 32), (uint32_t)(weight[1] >> 32),
					  (uint32_t)(weight[2] >> 32), (uint32_t)(weight[3] >> 32));

	to[0][w] = low.x;
	to[1][w] = low.y;
	to[2][w] = low.z;
	to[3][w] = low.w;
	to[4][w] = high.x;
	to[5][w] = high.y;
	to[6][w] = high.z;
	to[7][w] = high.w;
}

/* The weights that this lane asks for, of the four vectors at `from`. */
static inline __device__ uint4 digest_get_weights(const uint32_t (*from)[8][4])
{
	const uint32_t lane = threadIdx.x % 32;

	return *(const uint4 *)from[lane % 4][lane / 4];
}

/* What a lane has of its rows' products with alpha: those of sums 2 t and 2 t + 1 with the halves
 * of alpha.  A sum is below 255^2 times the bytes of a strip that the warp takes, and 64 bits hold
 * 64 of 256 bytes, or 16 of 2304. */
struct digest_products {
	uint64_t s[2][2];
};

/* Adds the sums of rows g and g + 8, whose alpha is at `alpha` + g and + g + 8, and clears them. */
static inline __device__ void digest_times_alpha(struct digest_products *a, uint32_t *d,
						 const uint2 *alpha)
{
	const uint32_t g = threadIdx.x % 32 / 4;
	const uint2 alpha0 = alpha[g], alpha8 = alpha[g + 8];

#pragma unroll
	for (int i = 0; i < 2; i++) {
		a->s[i][0] += (uint64_t)d[i] * alpha0.x + (uint64_t)d[2 + i] * alpha8.x;
		a->s[i][1] += (uint64_t)d[i] * alpha0.y + (uint64_t)d[2 + i] * alpha8.y;
		d[i] = d[2 + i] = 0;
	}
}

/* What they come to. */
static inline __device__ uint64_t digest_placed(const struct digest_products *a)
{
	const uint32_t t = threadIdx.x % 4;

	return tsw_add_p(tsw_shift_p(tsw_join_halves(a->s[0][0], a->s[0][1]), 16 * t),
			 tsw_shift_p(tsw_join_halves(a->s[1][0], a->s[1][1]), 16 * t + 8));
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Adds up what the threads of a block found, and adds that to the slot. */
static inline __device__ void digest_add_block(struct tsw_digest_slot *slot, uint64_t placed,
					       uint64_t values)
{
	__shared__ uint64_t warp_placed[DIGEST_WARPS];
	__shared__ uint64_t warp_values[DIGEST_WARPS];
	const uint32_t t = threadIdx.x;

	for (uint32_t lanes = 16; lanes; lanes /= 2) {
		placed = tsw_add_p(placed, __shfl_xor_sync(0xffffffffu, placed, lanes));
		values += __shfl_xor_sync(0xffffffffu, values, lanes);
	}
	if (t % 32 == 0) {
		warp_placed[t / 32] = placed;
		warp_values[t / 32] = values;
	}
	__syncthreads();
	if (t == 0) {
		for (uint32_t w = 1; w < DIGEST_WARPS; w++) {
			placed = tsw_add_p(placed, warp_placed[w]);
			values += warp_values[w];
		}
		atomicAdd(&slot->placed_low, (unsigned long long)(placed & 0xffffffffu));
		atomicAdd(&slot->placed_high, (unsigned long long)(placed >> 32));
		atomicAdd(&slot->values, (unsigned long long)values);
	}
}

#endif /* TSW_DIGEST_CUH */
