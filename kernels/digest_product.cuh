/* Sums of rows of any alignment as products of matrices of bytes: for digest_bytes.cuh,
 * digest_words.cuh and digest_wide.cuh.
 *
 * `placed` is linear in the bytes of the matrix, and a 61-bit weight is eight bytes: what a column
 * of bytes comes to is a product of matrices of bytes, which GPUs have an instruction for,
 *
 *      alpha, 8 bytes a row             x, 8 columns of bytes          sums
 *
 *     row  r   r+1  ...  r+15           a0 a1 a2 ...   row r
 *         +--------------------+        b0 b1 b2 ...   row r+1        +---------+
 *  byte 0 | .    .         .   |   x    c0 c1 c2 ...   row r+2   +=   | 8 x 8   |
 *  ...    |                    |        ...                           |         |
 *  byte 7 | .    .         .   |        p0 p1 p2 ...   row r+15       +---------+
 *         +--------------------+
 *
 * Only at the end of the band are the eight sums of a column put together and multiplied by what is
 * left of its weight, beta(c) gamma(l) 2^(8 b).  The instruction wants four rows of a column side
 * by side in a word: an instruction that loads turned pairs of bytes, and one more, do that.
 *
 * BYTES_STEP rows of a strip are summed up while the next ones are copied to shared memory; what
 * lies right of the strip and below the band is 0 there.  All rows of a block lie equally to the
 * vectors (digest_place_of), so a column of bytes of the tile is one of the matrix.
 */
#ifndef TSW_DIGEST_PRODUCT_CUH
#define TSW_DIGEST_PRODUCT_CUH

#include "device.cuh"
#include "digest.cuh"

#define BYTES_STEP 16	 /* rows in shared memory at a time, those of one product */
#define BYTES_VECTORS 64 /* of a row, of 16 bytes: 8 for each warp */
/* Vectors from row to row of the tile: odd, so that the rows and vectors that lanes ask for
 * together lie in different banks. */
#define BYTES_PITCH (BYTES_VECTORS + 1)
#define BYTES_ROWS DIGEST_THREADS    /* whose alpha is in shared memory at a time */
#define BYTES_BAND (16 * BYTES_ROWS) /* rows of a band at most: no sum of 32 bits overflows */
#define BYTES_ALPHA (BYTES_ROWS / BYTES_STEP) /* steps that those are */
/* Bytes of shared memory: alpha, and after it room for two or three steps, p->stages.  All of it is
 * dynamic: a kernel that asks for much of that may have little else. */
#define BYTES_STAGE (BYTES_STEP * BYTES_PITCH * 16)
#define BYTES_SHARED (BYTES_ALPHA * 128 + 2 * BYTES_STAGE)

typedef uint4 bytes_row[BYTES_PITCH];

#define BYTES_ABREAST (DIGEST_THREADS / BYTES_VECTORS) /* rows that all threads copy together */

/* ---- rows to shared memory ------------------------------------------------------------------- */

/* A thread copies its vector of every fourth row. */
struct bytes_copy {
	const char *vector; /* in its first row */
	uint64_t pitch;
	uint32_t off;	   /* bytes of the first vector left of the strip */
	uint32_t from, to; /* the bytes of the thread's vector that are the strip's */
	uint32_t rows;
};

/* Of the strip of so many bytes that begins `first` bytes into each row. */
static inline __device__ struct bytes_copy bytes_copy_of(const struct digest_place *at,
							 uint64_t first, uint32_t bytes)
{
	const uint32_t vector = threadIdx.x % BYTES_VECTORS, row = threadIdx.x / BYTES_VECTORS;
	const char *const begin = at->base + first;
	struct bytes_copy c;
	uint32_t end;

	c.off = (uint32_t)(uintptr_t)begin % 16;
	c.vector = begin - c.off + vector * 16 + row * at->pitch;
	c.pitch = at->pitch;
	c.from = vector ? 0 : c.off;
	end = c.off + bytes;
	c.to = end <= vector * 16 ? 0 : end - vector * 16 < 16 ? end - vector * 16 : 16;
	c.rows = at->rows;
	return c;
}

/* A vector from global to shared memory, once bytes_next_step() has waited for it.  Bytes
 * from `to` on are not read, and 0; those before `from` may be anything. */
static inline __device__ void bytes_copy_vector(uint4 *shared, const char *global, uint32_t from,
						uint32_t to)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	(void)from;
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
		     :
		     : "r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(global), "r"(to)
		     : "memory");
#elif defined(__CUDA_ARCH__)
	if (from == 0 && to == 16) {
		*shared = *(const uint4 *)global;
	} else {
		*shared = make_uint4(0, 0, 0, 0);
		tsw_copy_bytes(shared, global, from, to);
	}
#else
	/* What may be anything is written, too. */
	for (uint32_t b = 0; b < from; b++)
		((unsigned char *)shared)[b] = 0xa5;
	TSW_COPY(shared, global, from, to, 16);
#endif
}

/* Begins to copy the rows from `r` on, if there are any. */
static inline __device__ void bytes_copy_step(const struct bytes_copy *c, bytes_row *tile,
					      uint32_t r)
{
	const uint32_t row = threadIdx.x / BYTES_VECTORS, left = r < c->rows ? c->rows - r : 0;
	uint4 *const to = &tile[row][threadIdx.x % BYTES_VECTORS];
	const char *const from = c->vector + r * c->pitch;

	/* One for all threads: most steps have all of their rows, and less to reckon. */
	if (left >= BYTES_STEP) {
#pragma unroll
		for (uint32_t i = 0; i < BYTES_STEP; i += BYTES_ABREAST)
			bytes_copy_vector(to + i * BYTES_PITCH, from + i * c->pitch, c->from,
					  c->to);
	} else if (left) {
#pragma unroll
		for (uint32_t i = 0; i < BYTES_STEP; i += BYTES_ABREAST)
			bytes_copy_vector(to + i * BYTES_PITCH, from + i * c->pitch, c->from,
					  i + row < left ? c->to : 0);
	}
	tsw_copies_commit();
}

/* Where the step of rows from `r` on lies. */
static inline __device__ uint32_t bytes_stage_of(uint32_t r, uint32_t stages)
{
	const uint32_t step = r / BYTES_STEP;

	return stages == 2 ? step % 2 : step % 3;
}

/* Of a tile's steps, two or three, one is summed up, the others are on their way.  Begins with the
 * first. */
static inline __device__ void bytes_copy_first(const struct bytes_copy *c,
					       bytes_row (*tile)[BYTES_STEP], uint32_t stages)
{
	for (uint32_t s = 0; s < stages - 1; s++)
		bytes_copy_step(c, tile[s], s * BYTES_STEP);
}

/* Waits until the step of rows from `r` on is here, for all threads, and returns where.  They have
 * all done with the step before then, whose place is taken by a step to come. */
static inline __device__ const bytes_row *bytes_next_step(const struct bytes_copy *c,
							  bytes_row (*tile)[BYTES_STEP],
							  uint32_t stages, uint32_t r)
{
	const uint32_t stage = bytes_stage_of(r, stages);

	tsw_copies_wait(stages - 2);
	__syncthreads();
	bytes_copy_step(c, tile[stage ? stage - 1 : stages - 1], r + (stages - 1) * BYTES_STEP);
	return (const bytes_row *)tile[stage];
}

/* ---- products -------------------------------------------------------------------------------- */

/* Lane 4 g + t of a warp holds
 *
 *     x       columns g and g + 8 of four rows, those of t
 *     a       of those rows byte g of alpha
 *     d[0]    of column g the sums of bytes 2 t and 2 t + 1 of alpha
 *     d[1]    those of column g + 8
 *
 * Which four rows those are is free, as long as both agree: 2 t, 2 t + 1, and 8 further down each.
 * Which columns is free, too: the even and the odd bytes of a vector. */
static inline __device__ void bytes_multiply(uint32_t (*d)[2], const uint32_t *x, uint32_t a)
{
#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
	asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
	    "{%0, %1, %2, %3};"
	    : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[1][0]), "+r"(d[1][1])
	    : "r"(x[0]), "r"(x[1]), "r"(a));
#elif defined(__CUDACC__)
	for (int i = 0; i < 2; i++)
		asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
		    : "+r"(d[i][0]), "+r"(d[i][1])
		    : "r"(x[i]), "r"(a));
#else /* what the instruction does, for tests/simt */
	const uint32_t lane = threadIdx.x % 32;

	for (uint32_t t = 0; t < 4; t++)
		for (uint32_t i = 0; i < 2; i++) {
			const uint32_t col = __shfl_sync(0xffffffffu, x[i], lane / 4 * 4 + t);

			for (uint32_t k = 0; k < 2; k++)
				d[i][k] = __dp4a(
					__shfl_sync(0xffffffffu, a, (lane % 4 * 2 + k) * 4 + t),
					col, d[i][k]);
		}
#endif
}

/* Bytes 2 g and 2 g + 1 of two vectors, v and v + 1, of lane 4 g + t's four rows: rows 2 t and
 * 2 t + 1 of vector v, the two 8 rows further down, and the same of vector v + 1. */
static inline __device__ void bytes_load(uint32_t *x, const bytes_row *tile, uint32_t v)
{
	const uint32_t lane = threadIdx.x % 32;

#ifdef __CUDACC__
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
		     : "r"((uint32_t)__cvta_generic_to_shared(&tile[lane % 16][v + lane / 16]))
		     : "memory");
#else
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t row = i % 2 * 8 + lane % 4 * 2;

		x[i] = ((const uint16_t *)&tile[row][v + i / 2])[lane / 4] |
		       (uint32_t)((const uint16_t *)&tile[row + 1][v + i / 2])[lane / 4] << 16;
	}
#endif
}

/* Of the first two vectors: clears what lies left of the strip, no element of it. */
static inline __device__ void bytes_clear_left(uint32_t *x, uint32_t off)
{
	const uint32_t byte = threadIdx.x % 32 / 4 * 2;
	const uint32_t mask = (byte < off ? 0 : 0x00ff00ff) | (byte + 1 < off ? 0 : 0xff00ff00);

	x[0] &= mask;
	x[1] &= mask;
}

/* Adds what 16 rows of vectors v and v + 1 of the warp's 8 come to. */
static inline __device__ void bytes_add(uint32_t (*d)[2], uint32_t a, const uint32_t *x, uint32_t v)
{
#pragma unroll
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t columns[2] = {__byte_perm(x[2 * i], x[2 * i + 1], 0x6420),
					     __byte_perm(x[2 * i], x[2 * i + 1], 0x7531)};

		bytes_multiply(d + 2 * (v + i), columns, a);
	}
}

/* The same of all eight. */
static inline __device__ void bytes_add_all(uint32_t (*d)[2], uint32_t a, const bytes_row *tile)
{
#pragma unroll
	for (uint32_t v = 0; v < 8; v += 2) {
		uint32_t x[4];

		bytes_load(x, tile, threadIdx.x / 32 * 8 + v);
		bytes_add(d, a, x, v);
	}
}

/* alpha of BYTES_ROWS rows from `first` on as the lanes want it, zero past the last one; for all
 * threads, which wait at the next barrier. */
static inline __device__ void bytes_alpha(const struct tsw_digest_task *p,
					  const struct digest_place *at, uint32_t first,
					  uint32_t (*alpha)[32])
{
	const uint32_t r = threadIdx.x, t = r % 8 / 2, byte = r % 16 / 8 * 2 + r % 2;
	const uint64_t row = at->row + ((uint64_t)(first + r) << p->step_log);
	const uint64_t w = first + r < at->rows ? tsw_weight(p->row_seed, row) : 0;

	for (uint32_t k = 0; k < 8; k++)
		((unsigned char *)&alpha[r / 16][4 * k + t])[byte] = (unsigned char)(w >> 8 * k);
}

/* ---- the end of a band ----------------------------------------------------------------------- */

/* Puts the sums of a column's eight bytes of alpha together, mod p: sums[c] of byte c of the tile's
 * rows. */
static inline __device__ void bytes_join(uint32_t (*d)[2], uint64_t *sums)
{
	const uint32_t lane = threadIdx.x % 32, second = lane % 2, upper = lane / 2 % 2;
	uint64_t four[8];

	/* Each time a lane keeps half of the columns and gives the other half away.  A sum is below
	 * 2^28, of two bytes below 2^37, of four below 2^54. */
#pragma unroll
	for (int j = 0; j < 8; j++) {
		const uint64_t low = d[j][0] + ((uint64_t)d[j][1] << 8);
		const uint64_t high = d[8 + j][0] + ((uint64_t)d[8 + j][1] << 8);
		const uint64_t kept = second ? high : low;
		const uint64_t got = __shfl_xor_sync(0xffffffffu, second ? low : high, 1);

		four[j] = second ? got + (kept << 16) : kept + (got << 16);
	}
	sums += (threadIdx.x / 32 * 8 + second * 4 + upper * 2) * 16 + lane / 4 * 2;
#pragma unroll
	for (int j = 0; j < 4; j++) {
		const uint64_t kept = upper ? four[4 + j] : four[j];
		const uint64_t got = __shfl_xor_sync(0xffffffffu, upper ? four[j] : four[4 + j], 2);

		sums[j / 2 * 16 + j % 2] =
			tsw_add_p(upper ? got : kept, tsw_shift_p(upper ? kept : got, 32));
	}
}

/* What a thread's limbs add to `placed`.  From sums[0] on there are those of `elements` elements
 * side by side from column `col` on, of `each` bytes; or those of one element from its byte `skip`
 * on, a multiple of 4. */
static inline __device__ uint64_t bytes_placed(const struct tsw_digest_task *p,
					       const uint64_t *sums, uint32_t elements,
					       uint64_t col, uint32_t each, uint64_t skip)
{
	const uint32_t limbs = (each + 3) / 4;
	uint64_t placed = 0;

	for (uint32_t i = threadIdx.x; i < elements * limbs; i += DIGEST_THREADS) {
		const uint32_t e = i / limbs, l = i - e * limbs;
		const uint64_t *const byte = sums + e * each + 4 * l;
		uint64_t sum = byte[0];

#pragma unroll
		for (uint32_t b = 1; b < 4; b++)
			if (4 * l + b < each)
				sum += tsw_shift_p(byte[b], 8 * b); /* four are below 2^63 */
		sum = tsw_mod_p(sum);
		if (each > 4 || skip)
			sum = tsw_mul_p(sum, tsw_gamma(skip / 4 + l));
		placed = tsw_add_p(placed, tsw_mul_p(sum, tsw_weight(p->col_seed, col + e)));
	}
	return placed;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* What is known of the sums of y and y^2.  32 bits are enough for what a thread has of single bytes
 * and their squares, or of pairs of them: 64 bytes of each step of a band. */
struct bytes_values {
	uint64_t y, square;
	uint32_t low_y, low_square;
	uint32_t low_high; /* of low high where y = low + high 2^32: to be shifted by 33 */
};

static inline __device__ uint64_t bytes_total(const struct bytes_values *v)
{
	return 2 * (v->square + v->low_square + ((uint64_t)v->low_high << 33)) + v->y + v->low_y;
}

#endif /* TSW_DIGEST_PRODUCT_CUH */
