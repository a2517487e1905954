/* Sums of rows of any alignment as products of matrices of bytes: for digest_bytes.cuh and
 * digest_wide.cuh.
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
 * by side in a word: four vectors of four rows are turned in registers.
 *
 * BYTES_STEP rows of a strip are copied to shared memory while the BYTES_STEP rows before are
 * summed up; what lies right of the strip and below the band is 0 there.  All rows of a block lie
 * equally to the vectors (digest_place_of), so a column of bytes of the tile is one of the matrix.
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

/* A vector from global to shared memory, once bytes_wait_step() and a barrier have passed.  Bytes
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
#else
	if (from == 0 && to == 16) {
		*shared = *(const uint4 *)global;
	} else {
		*shared = make_uint4(0, 0, 0, 0);
		for (uint32_t b = 0; b < to; b++) {
			unsigned char *const byte = (unsigned char *)shared + b;

			/* What may be anything had better be wrong. */
			*byte = b < from ? 0xa5 : *(const unsigned char *)(global + b);
		}
	}
#endif
}

/* Begins to copy the rows from `r` on, if there are any. */
static inline __device__ void bytes_copy_step(const struct bytes_copy *c,
					      uint4 (*tile)[BYTES_PITCH], uint32_t r)
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
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for this thread's copies, but for those of the step begun last. */
static inline __device__ void bytes_wait_step(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

/* ---- products -------------------------------------------------------------------------------- */

/* Lane 4 g + t of a warp holds
 *
 *     a      byte g of alpha of four rows, those of t
 *     x      column g of those rows
 *     d[i]   of byte g of alpha the sum of column 2 t + i
 *
 * Which four rows those are is free, as long as both agree: 2 t, 2 t + 1, and 8 further down each,
 * which vectors of shared memory come from without conflicts. */
#ifdef __CUDACC__
static inline __device__ void bytes_multiply(uint32_t *d, uint32_t a, uint32_t x)
{
	asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
	    : "+r"(d[0]), "+r"(d[1])
	    : "r"(a), "r"(x));
}
#endif

/* Four products at a time: a word of x for each d[j]. */
static inline __device__ void bytes_multiply_4(uint32_t (*d)[2], uint32_t a, uint4 x)
{
#ifdef __CUDACC__
	bytes_multiply(d[0], a, x.x);
	bytes_multiply(d[1], a, x.y);
	bytes_multiply(d[2], a, x.z);
	bytes_multiply(d[3], a, x.w);
#else /* what the instruction does, for tests/simt */
	const uint32_t lane = threadIdx.x % 32;

	for (uint32_t t = 0; t < 4; t++) {
		const uint32_t rows = __shfl_sync(0xffffffffu, a, lane / 4 * 4 + t);

		for (uint32_t i = 0; i < 2; i++) {
			const uint4 col = __shfl_sync(0xffffffffu, x, (lane % 4 * 2 + i) * 4 + t);

			d[0][i] = __dp4a(rows, col.x, d[0][i]);
			d[1][i] = __dp4a(rows, col.y, d[1][i]);
			d[2][i] = __dp4a(rows, col.z, d[2][i]);
			d[3][i] = __dp4a(rows, col.w, d[3][i]);
		}
	}
#endif
}

/* This lane's vector of its four rows. */
static inline __device__ void bytes_load(uint4 *x, const uint4 (*tile)[BYTES_PITCH])
{
	const uint32_t lane = threadIdx.x % 32;

#pragma unroll
	for (int i = 0; i < 4; i++)
		x[i] = tile[i / 2 * 8 + lane % 4 * 2 + i % 2][threadIdx.x / 32 * 8 + lane / 4];
}

/* A mask of those bytes of word at .. at + 3 that are `off` or more. */
static inline __device__ uint32_t bytes_from(uint32_t off, uint32_t at)
{
	return off <= at ? ~0u : off >= at + 4 ? 0 : ~0u << 8 * (off - at);
}

/* Of the warp that has the first vectors: clears what lies left of the strip, no element of it. */
static inline __device__ void bytes_clear_left(uint4 *x, uint32_t off)
{
	if (threadIdx.x % 32 >= 4)
		return;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		x[i].x &= bytes_from(off, 0);
		x[i].y &= bytes_from(off, 4);
		x[i].z &= bytes_from(off, 8);
		x[i].w &= bytes_from(off, 12);
	}
}

/* Adds what 16 rows of the warp's 8 vectors come to; d[j] are the sums of byte j of the vectors. */
static inline __device__ void bytes_add(uint32_t (*d)[2], uint32_t a, const uint4 *x)
{
	bytes_multiply_4(d, a, tsw_turn_bytes(x[0].x, x[1].x, x[2].x, x[3].x));
	bytes_multiply_4(d + 4, a, tsw_turn_bytes(x[0].y, x[1].y, x[2].y, x[3].y));
	bytes_multiply_4(d + 8, a, tsw_turn_bytes(x[0].z, x[1].z, x[2].z, x[3].z));
	bytes_multiply_4(d + 12, a, tsw_turn_bytes(x[0].w, x[1].w, x[2].w, x[3].w));
}

/* alpha of the block's rows as the lanes want it, zero past the last one; for all threads, which
 * wait at the next barrier. */
static inline __device__ void bytes_alpha(const struct tsw_digest_task *p,
					  const struct digest_place *at, uint32_t (*alpha)[32])
{
	for (uint32_t r = threadIdx.x; r < TSW_DIGEST_ROWS; r += DIGEST_THREADS) {
		const uint64_t w = r < at->rows ? tsw_weight(p->row_seed,
							     at->row + ((uint64_t)r << p->step_log))
						: 0;
		const uint32_t t = r % 8 / 2, byte = r % 16 / 8 * 2 + r % 2;

		for (uint32_t k = 0; k < 8; k++)
			((unsigned char *)&alpha[r / 16][4 * k + t])[byte] =
				(unsigned char)(w >> 8 * k);
	}
}

/* Puts the sums of a column's eight bytes of alpha together, mod p.  d[j] are byte j of the warp's
 * vectors; a lane comes to have four columns side by side, whose first byte of the tile's row is
 * returned. */
static inline __device__ uint32_t bytes_join(uint32_t (*d)[2], uint64_t *sums)
{
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t odd = lane / 4 % 2, second = lane / 8 % 2, upper = lane / 16;
	uint64_t two[16], four[8];

	/* Each time a lane keeps half of the columns and gives the other half away.  A sum is below
	 * 2^25, of two bytes below 2^34, of four below 2^51. */
#pragma unroll
	for (int j = 0; j < 16; j++) {
		const uint64_t kept = odd ? d[j][1] : d[j][0];
		const uint64_t got = __shfl_xor_sync(0xffffffffu, odd ? d[j][0] : d[j][1], 4);

		two[j] = odd ? got + (kept << 8) : kept + (got << 8);
	}
#pragma unroll
	for (int j = 0; j < 8; j++) {
		const uint64_t kept = second ? two[8 + j] : two[j];
		const uint64_t got = __shfl_xor_sync(0xffffffffu, second ? two[j] : two[8 + j], 8);

		four[j] = second ? got + (kept << 16) : kept + (got << 16);
	}
#pragma unroll
	for (int j = 0; j < 4; j++) {
		const uint64_t kept = upper ? four[4 + j] : four[j];
		const uint64_t got =
			__shfl_xor_sync(0xffffffffu, upper ? four[j] : four[4 + j], 16);

		sums[j] = tsw_add_p(upper ? got : kept, tsw_shift_p(upper ? kept : got, 32));
	}
	return (threadIdx.x / 32 * 8 + lane % 4 * 2 + odd) * 16 + second * 8 + upper * 4;
}

/* What those four columns, the first at `pos`, add to `placed`.  Bytes off .. off + bytes of the
 * tile's rows are elements side by side from column `col` on, of `each` bytes; or those of one
 * element from its byte `skip` on. */
static inline __device__ uint64_t bytes_placed(const struct tsw_digest_task *p,
					       const uint64_t *sums, uint32_t pos, uint32_t off,
					       uint32_t bytes, uint64_t col, uint32_t each,
					       uint64_t skip)
{
	uint64_t placed = 0;

#pragma unroll
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t at = pos + i - off; /* huge if left of the strip */
		const uint32_t e = at / each;
		const uint64_t byte = skip + (at - e * each);

		if (at < bytes)
			placed = tsw_add_p(
				placed,
				tsw_mul_p(tsw_mul_p(tsw_shift_p(sums[i], (uint32_t)byte % 4 * 8),
						    tsw_gamma(byte / 4)),
					  tsw_weight(p->col_seed, col + e)));
	}
	return placed;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* What is known of the sums of y and y^2.  32 bits are enough for what a thread has of single bytes
 * and their squares, or of pairs of them: at most 2048 bytes. */
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
