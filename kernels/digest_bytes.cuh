/* The checksum kernel for elements of 1 byte.  A 61-bit weight is eight bytes, and __dp4a adds four
 * products of bytes: so bytes of four rows are brought together in a word, column by column, and
 * multiplied by the words that hold byte k of alpha of those four rows,
 *
 *     rows r .. r+3            columns 0 .. 3                 alpha(r) .. alpha(r+3)
 *      a0 a1 a2 a3              a0 b0 c0 d0                    byte 0 of each: word 0
 *      b0 b1 b2 b3   __byte_perm  a1 b1 c1 d1     __dp4a       byte 1 of each: word 1
 *      c0 c1 c2 c3   -------->  a2 b2 c2 d2      -------->     ...
 *      d0 d1 d2 d3              a3 b3 c3 d3                    byte 7 of each: word 7
 *
 * into 32-bit sums: 512 rows add at most 512 255^2 < 2^25.  Included with BYTES_KERNEL, and
 * BYTES_VECTOR 1 if rows are multiples of 4 bytes apart and aligned so.
 */
#define BYTES_PASTE_(x, y) x##_##y
#define BYTES_PASTE(x, y) BYTES_PASTE_(x, y)
#define BYTES_SUMS BYTES_PASTE(BYTES_KERNEL, sums)
#define BYTES_LOAD BYTES_PASTE(BYTES_KERNEL, load)
#define BYTES_LOAD_SOME BYTES_PASTE(BYTES_KERNEL, load_some)
#define BYTES_ADD BYTES_PASTE(BYTES_KERNEL, add)

#define BYTES_STEP (BYTES_VECTOR ? 1 : DIGEST_THREADS) /* columns from one to the thread's next */

struct BYTES_SUMS {
	uint32_t s[4][8];
	uint32_t y, square;
};

/* Four rows of four columns. */
static inline __device__ void BYTES_ADD(struct BYTES_SUMS *a, const uint32_t *x,
					const uint32_t *alpha)
{
	const uint32_t ab01 = __byte_perm(x[0], x[1], 0x5140),
		       ab23 = __byte_perm(x[0], x[1], 0x7362);
	const uint32_t cd01 = __byte_perm(x[2], x[3], 0x5140),
		       cd23 = __byte_perm(x[2], x[3], 0x7362);
	uint32_t col[4];

	col[0] = __byte_perm(ab01, cd01, 0x5410);
	col[1] = __byte_perm(ab01, cd01, 0x7632);
	col[2] = __byte_perm(ab23, cd23, 0x5410);
	col[3] = __byte_perm(ab23, cd23, 0x7632);
#pragma unroll
	for (int c = 0; c < 4; c++) {
#pragma unroll
		for (int k = 0; k < 8; k++)
			a->s[c][k] = __dp4a(col[c], alpha[k], a->s[c][k]);
		a->square = __dp4a(col[c], col[c], a->square);
		a->y = __dp4a(col[c], 0x01010101u, a->y);
	}
}

static inline __device__ uint32_t BYTES_LOAD(const char *at)
{
#if BYTES_VECTOR
	return *(const uint32_t *)at;
#else
	const unsigned char *b = (const unsigned char *)at;

	return b[0] | (uint32_t)b[BYTES_STEP] << 8 | (uint32_t)b[2 * BYTES_STEP] << 16 |
	       (uint32_t)b[3 * BYTES_STEP] << 24;
#endif
}

static inline __device__ uint32_t BYTES_LOAD_SOME(const char *at, uint32_t cols)
{
	const unsigned char *b = (const unsigned char *)at;
	uint32_t x = 0;

	for (uint32_t c = 0; c < cols; c++)
		x |= (uint32_t)b[c * BYTES_STEP] << 8 * c;
	return x;
}

__global__ void __launch_bounds__(DIGEST_THREADS, 4) BYTES_KERNEL(const struct tsw_digest_task p)
{
	/* Word k of four rows: byte b is byte k of alpha of row b. */
	__shared__ __align__(16) unsigned char alpha[TSW_DIGEST_ROWS / 4][8][4];
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint32_t t = threadIdx.x, rows = (at.rows + 3) / 4 * 4;
	const uint64_t col = at.col + (BYTES_VECTOR ? t * 4 : t);
	const char *row = at.base + col;
	struct BYTES_SUMS a = {{{0}}, 0, 0};
	uint64_t placed = 0;
	uint32_t cols = 0, r = 0;

	for (uint32_t i = t; i < rows; i += DIGEST_THREADS) {
		const uint64_t w = i < at.rows ? tsw_weight(p.row_seed, at.row + i) : 0;

		for (int k = 0; k < 8; k++)
			alpha[i / 4][k][i % 4] = (unsigned char)(w >> 8 * k);
	}
	__syncthreads();
	while (cols < 4 && col + cols * BYTES_STEP < p.n)
		cols++;
	if (cols == 4) {
		for (; r + 8 <= at.rows; r += 8) {
			uint32_t x[8];

#pragma unroll
			for (int i = 0; i < 8; i++, row += p.stride)
				x[i] = BYTES_LOAD(row);
			BYTES_ADD(&a, x, (const uint32_t *)alpha[r / 4]);
			BYTES_ADD(&a, x + 4, (const uint32_t *)alpha[r / 4 + 1]);
		}
	}
	for (; cols && r < at.rows; r += 4) {
		uint32_t x[4];

		for (uint32_t i = 0; i < 4; i++, row += p.stride)
			x[i] = r + i < at.rows ? BYTES_LOAD_SOME(row, cols) : 0;
		BYTES_ADD(&a, x, (const uint32_t *)alpha[r / 4]);
	}
#pragma unroll
	for (uint32_t c = 0; c < 4; c++) {
		uint64_t sum = 0;

		/* The sums are below 2^32 and k < 8: shifted by 8 (k % 4) they are below 2^56. */
#pragma unroll
		for (int k = 4; k < 8; k++)
			sum += (uint64_t)a.s[c][k] << 8 * (k - 4);
		sum = tsw_shift_p(tsw_mod_p(sum), 32);
#pragma unroll
		for (int k = 0; k < 4; k++)
			sum += (uint64_t)a.s[c][k] << 8 * k;
		placed = tsw_add_p(placed, tsw_mul_p(tsw_mod_p(sum),
						     tsw_weight(p.col_seed, col + c * BYTES_STEP)));
	}
	digest_add_block(p.slot, placed, 2 * (uint64_t)a.square + a.y);
}

#undef BYTES_PASTE_
#undef BYTES_PASTE
#undef BYTES_SUMS
#undef BYTES_LOAD
#undef BYTES_LOAD_SOME
#undef BYTES_ADD
#undef BYTES_STEP
#undef BYTES_KERNEL
#undef BYTES_VECTOR
