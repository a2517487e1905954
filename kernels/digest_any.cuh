/* The checksum kernel for elements of any size: a thread owns one column and adds up, row by row,
 * the limbs of its element times gamma before it multiplies by alpha.  Included with ANY_UNIT, the
 * type of the element's unit, and ANY_KERNEL.
 */
#define ANY_PASTE_(x, y) x##_##y
#define ANY_PASTE(x, y) ANY_PASTE_(x, y)
#define ANY_WORD ANY_PASTE(ANY_KERNEL, word)

/* The little-endian number in up to 8 bytes that begin at a multiple of 8 in the element. */
static inline __device__ uint64_t ANY_WORD(const ANY_UNIT *at, uint32_t units)
{
	uint64_t word = 0;

	for (uint32_t u = 0; u < units; u++)
		word |= (uint64_t)at[u] << 8 * sizeof(ANY_UNIT) * u;
	return word;
}

__global__ void __launch_bounds__(DIGEST_THREADS) ANY_KERNEL(const struct tsw_digest_task p)
{
	/* What there is room for; limbs and words further on are computed when they are needed. */
	__shared__ uint32_t gamma_piece[64][4];
	__shared__ uint64_t delta[32];
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint32_t t = threadIdx.x, per_word = 8 / sizeof(ANY_UNIT);
	const uint64_t col = at.col + t, units = p.elem_size / sizeof(ANY_UNIT);
	uint64_t placed = 0, values = 0;

	if (t < 64) {
		const uint64_t g = tsw_gamma(t);

		gamma_piece[t][0] = tsw_piece0(g);
		gamma_piece[t][1] = tsw_piece1(g);
		gamma_piece[t][2] = tsw_piece2(g);
	} else if (t < 96) {
		delta[t - 64] = tsw_delta(t - 64);
	}
	__syncthreads();
	for (uint32_t r = 0; col < p.n && r < at.rows; r++) {
		const ANY_UNIT *e = (const ANY_UNIT *)(at.base + r * p.stride + col * p.elem_size);
		uint64_t s0 = 0, s1 = 0, s2 = 0, y = 0, element = 0;

		for (uint64_t m = 0; m * per_word < units; m++) {
			const uint64_t left = units - m * per_word;
			const uint64_t w = ANY_WORD(e + m * per_word,
						    (uint32_t)(left < per_word ? left : per_word));
			const uint32_t low = (uint32_t)w, high = (uint32_t)(w >> 32);

			if (m < 32) {
				const uint32_t *g = gamma_piece[2 * m], *h = gamma_piece[2 * m + 1];

				s0 += (uint64_t)low * g[0] + (uint64_t)high * h[0];
				s1 += (uint64_t)low * g[1] + (uint64_t)high * h[1];
				s2 += (uint64_t)low * g[2] + (uint64_t)high * h[2];
				y += delta[m] * w;
				continue;
			}
			element = tsw_add_p(element, tsw_mul_p(low, tsw_gamma(2 * m)));
			element = tsw_add_p(element, tsw_mul_p(high, tsw_gamma(2 * m + 1)));
			y += tsw_delta(m) * w;
		}
		element = tsw_add_p(element, tsw_join_pieces(s0, s1, s2));
		placed = tsw_add_p(placed, tsw_mul_p(element, tsw_weight(p.row_seed, at.row + r)));
		values += tsw_value(y);
	}
	if (col < p.n)
		placed = tsw_mul_p(placed, tsw_weight(p.col_seed, col));
	digest_add_block(p.slot, placed, values);
}

#undef ANY_PASTE_
#undef ANY_PASTE
#undef ANY_WORD
#undef ANY_UNIT
#undef ANY_KERNEL
