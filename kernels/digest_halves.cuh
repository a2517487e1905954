/* The checksum kernel for elements of 2 bytes: a thread owns four columns.  16-bit values leave
 * room for larger pieces of alpha: 31 and 30 bits, whose products stay below 2^47.  For rows that
 * are multiples of 8 bytes apart and aligned so.
 */
struct halves_sums {
	uint64_t s[4][2], square;
	uint32_t y; /* 512 rows of four columns add less than 2^27 */
};

static inline __device__ void halves_add(struct halves_sums *a, const uint32_t *x,
					 const uint32_t *alpha)
{
#pragma unroll
	for (int c = 0; c < 4; c++) {
		a->s[c][0] += (uint64_t)x[c] * alpha[0];
		a->s[c][1] += (uint64_t)x[c] * alpha[1];
		a->square += (uint64_t)x[c] * x[c];
		a->y += x[c];
	}
}

static inline __device__ void halves_load(const char *at, uint32_t *x)
{
	const uint2 v = *(const uint2 *)at;

	x[0] = v.x & 0xffff;
	x[1] = v.x >> 16;
	x[2] = v.y & 0xffff;
	x[3] = v.y >> 16;
}

static inline __device__ void halves_load_some(const char *at, uint32_t cols, uint32_t *x)
{
	for (uint32_t c = 0; c < 4; c++)
		x[c] = c < cols ? *(const uint16_t *)(at + c * 2) : 0;
}

__global__ void __launch_bounds__(DIGEST_THREADS, 4)
	tsw_digest_2_vector(const struct tsw_digest_task p)
{
	__shared__ uint32_t alpha[TSW_DIGEST_ROWS][2];
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint32_t t = threadIdx.x;
	const uint64_t col = at.col + t * 4;
	const char *row = at.base + col * 2;
	struct halves_sums a = {{{0}}, 0, 0};
	uint64_t placed = 0;
	uint32_t cols = 0, r = 0;

	for (uint32_t i = t; i < at.rows; i += DIGEST_THREADS) {
		const uint64_t w = tsw_weight(p.row_seed, at.row + i);

		alpha[i][0] = (uint32_t)w & 0x7fffffff;
		alpha[i][1] = (uint32_t)(w >> 31);
	}
	__syncthreads();
	while (cols < 4 && col + cols < p.n)
		cols++;
	if (cols == 4) {
		for (; r + 8 <= at.rows; r += 8) {
			uint32_t x[8][4];

#pragma unroll
			for (int i = 0; i < 8; i++, row += p.stride)
				halves_load(row, x[i]);
#pragma unroll
			for (int i = 0; i < 8; i++)
				halves_add(&a, x[i], alpha[r + i]);
		}
	}
	for (; cols && r < at.rows; r++, row += p.stride) {
		uint32_t x[4];

		halves_load_some(row, cols, x);
		halves_add(&a, x, alpha[r]);
	}
#pragma unroll
	for (uint32_t c = 0; c < 4; c++) {
		const uint64_t sum =
			tsw_add_p(tsw_mod_p(a.s[c][0]), tsw_shift_p(tsw_mod_p(a.s[c][1]), 31));

		placed = tsw_add_p(placed, tsw_mul_p(sum, tsw_weight(p.col_seed, col + c)));
	}
	digest_add_block(p.slot, placed, 2 * a.square + a.y);
}
