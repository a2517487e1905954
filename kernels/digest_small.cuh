/* The checksum kernel for narrow elements of one size that is no power of two: a thread owns one
 * column and keeps sums for each limb, as digest_limbs.cuh does.  Included with SMALL_KERNEL,
 * SMALL_SIZE (bytes of an element, at most 32) and SMALL_UNIT (the type of its unit, at most 4
 * bytes or 8).
 */
#define SMALL_LIMBS ((SMALL_SIZE + 3) / 4)
#define SMALL_WORDS ((SMALL_SIZE + 7) / 8)
#define SMALL_UNITS (SMALL_SIZE / (int)sizeof(SMALL_UNIT))
#define SMALL_ROWS 4 /* loaded together */
#define SMALL_PASTE_(x, y) x##_##y
#define SMALL_PASTE(x, y) SMALL_PASTE_(x, y)
#define SMALL_LOAD SMALL_PASTE(SMALL_KERNEL, load)

/* The element's limbs, and a limb of zeros where the last word has but one. */
static inline __device__ void SMALL_LOAD(const char *at, uint32_t *x)
{
	const SMALL_UNIT *const e = (const SMALL_UNIT *)at;

#pragma unroll
	for (int l = 0; l < 2 * SMALL_WORDS; l++)
		x[l] = 0;
#pragma unroll
	for (int u = 0; u < SMALL_UNITS; u++) {
		const int byte = u * (int)sizeof(SMALL_UNIT);
		const uint64_t unit = e[u];

		x[byte / 4] |= (uint32_t)unit << 8 * (byte % 4);
		if (sizeof(SMALL_UNIT) == 8)
			x[byte / 4 + 1] = (uint32_t)(unit >> 32);
	}
}

__global__ void __launch_bounds__(DIGEST_THREADS, 2) SMALL_KERNEL(const struct tsw_digest_task p)
{
	__shared__ uint32_t alpha[TSW_DIGEST_ROWS][4];
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint64_t col = at.col + threadIdx.x;
	const char *row = at.base + col * SMALL_SIZE;
	uint64_t s[SMALL_LIMBS][3] = {{0}}, sum = 0, square = 0, placed = 0;

	digest_alpha(&p, &at, alpha);
	for (uint32_t r = 0; col < p.n && r < at.rows; r += SMALL_ROWS) {
		uint32_t x[SMALL_ROWS][2 * SMALL_WORDS];

#pragma unroll
		for (uint32_t i = 0; i < SMALL_ROWS; i++, row += p.stride) {
			if (r + i < at.rows)
				SMALL_LOAD(row, x[i]);
			else /* a row of zeros adds nothing */
#pragma unroll
				for (int l = 0; l < 2 * SMALL_WORDS; l++)
					x[i][l] = 0;
		}
#pragma unroll
		for (uint32_t i = 0; i < SMALL_ROWS; i++) {
			uint64_t y = 0;

#pragma unroll
			for (int l = 0; l < SMALL_LIMBS; l++)
#pragma unroll
				for (int k = 0; k < 3; k++)
					s[l][k] += (uint64_t)x[i][l] * alpha[r + i][k];
#pragma unroll
			for (int m = 0; m < SMALL_WORDS; m++)
				y += tsw_delta(m) * (x[i][2 * m] | (uint64_t)x[i][2 * m + 1] << 32);
			sum += y;
			square += y * y;
		}
	}
#pragma unroll
	for (int l = 0; l < SMALL_LIMBS; l++)
		placed = tsw_add_p(placed, tsw_mul_p(tsw_join_pieces(s[l][0], s[l][1], s[l][2]),
						     tsw_gamma(l)));
	placed = tsw_mul_p(placed, tsw_weight(p.col_seed, col));
	digest_add_block(p.slot, placed, 2 * square + sum);
}

#undef SMALL_LIMBS
#undef SMALL_WORDS
#undef SMALL_UNITS
#undef SMALL_ROWS
#undef SMALL_PASTE_
#undef SMALL_PASTE
#undef SMALL_LOAD
#undef SMALL_KERNEL
#undef SMALL_SIZE
#undef SMALL_UNIT
