/* The checksum kernel for narrow elements whose size is no power of two, at any address: a thread
 * owns an element, or several side by side, and walks down the rows.  It loads the aligned words
 * that hold a byte of them; how far they are to be shifted is the same for all rows of the band:
 *
 *     words       |...a|aaab|bbcc|c...|        4 elements of 3 bytes
 *     shifted     |aaab|bbcc|cddd|
 *     limbs       |aaa.|bbb.|ccc.|ddd.|
 *
 * Sums of limbs times alpha, alpha cut into pieces so that 64 bits hold them, stay with the thread;
 * at the end of the band they are multiplied by beta(c) gamma(l).  Included with SMALL_KERNEL,
 * SMALL_LIMBS (of an element), SMALL_COLS (elements of a thread) and SMALL_SIZE (bytes of an
 * element; 0 stands for any of so many limbs, if SMALL_COLS is 1).
 */
#define SMALL_WORDS (SMALL_COLS == 1 ? SMALL_LIMBS : SMALL_COLS * SMALL_SIZE / 4)
#define SMALL_ROWS (SMALL_LIMBS == 2 ? 8 : 4) /* loaded together, 48 bytes or so */
#define SMALL_PIECES (SMALL_LIMBS == 1 ? 2 : 3)
#define SMALL_PASTE_(x, y) x##_##y
#define SMALL_PASTE(x, y) SMALL_PASTE_(x, y)
#define SMALL_SUMS SMALL_PASTE(SMALL_KERNEL, sums)
#define SMALL_ADD SMALL_PASTE(SMALL_KERNEL, add)
#define SMALL_LOAD SMALL_PASTE(SMALL_KERNEL, load)

struct SMALL_SUMS {
	uint64_t s[SMALL_COLS * SMALL_LIMBS][SMALL_PIECES];
	uint64_t y, square;
};

/* The elements of one row, from their words, shifted.  mask[c]: the bytes of an element's last limb
 * that are its own; 0 where there is no element. */
static inline __device__ void SMALL_ADD(struct SMALL_SUMS *a, const uint32_t *x,
					const uint32_t *mask, const uint32_t *alpha)
{
#pragma unroll
	for (int c = 0; c < SMALL_COLS; c++) {
		uint64_t y = 0;

#pragma unroll
		for (int l = 0; l < SMALL_LIMBS; l++) {
			const int byte = c * SMALL_SIZE + 4 * l;
			const uint32_t high = byte / 4 + 1 < SMALL_WORDS ? x[byte / 4 + 1] : 0;
			uint32_t limb = byte % 4 ? __funnelshift_r(x[byte / 4], high, byte % 4 * 8)
						 : x[byte / 4];

			if (l == SMALL_LIMBS - 1)
				limb &= mask[c];
#pragma unroll
			for (int k = 0; k < SMALL_PIECES; k++)
				a->s[c * SMALL_LIMBS + l][k] += (uint64_t)limb * alpha[k];
			y += tsw_delta(l / 2) * ((uint64_t)limb << l % 2 * 32);
		}
		a->y += y;
		a->square += y * y;
	}
}

/* The same words byte by byte: near the ends of the matrix. */
static inline __device__ void SMALL_LOAD(const char *at, uint32_t bytes, uint32_t *x)
{
#pragma unroll
	for (int w = 0; w < SMALL_WORDS; w++)
		x[w] = 0;
#pragma unroll
	for (uint32_t b = 0; b < 4 * SMALL_WORDS; b++)
		if (b < bytes)
			x[b / 4] |= (uint32_t) * (const unsigned char *)(at + b) << b % 4 * 8;
}

__global__ void __launch_bounds__(DIGEST_THREADS, SMALL_LIMBS < 4 ? 4 : 3)
	SMALL_KERNEL(const struct tsw_digest_task p)
{
	__shared__ __align__(16) uint32_t alpha[TSW_DIGEST_ROWS][4];
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint64_t col = at.strip * p.strip + threadIdx.x * SMALL_COLS;
	const uint64_t left = col < p.n ? p.n - col : 0;
	const uint32_t cols = (uint32_t)(left < SMALL_COLS ? left : SMALL_COLS);
	const uint32_t size = SMALL_SIZE ? SMALL_SIZE : (uint32_t)p.elem_size;
	const uint32_t last = size - 4 * (SMALL_LIMBS - 1);
	const char *row = at.base + col * size;
	const uint32_t shift = (uint32_t)(uintptr_t)row % 4 * 8;
	const int more = shift / 8 + cols * size > 4 * SMALL_WORDS;
	const char *const end = digest_end(&p);
	struct SMALL_SUMS a = {{{0}}, 0, 0};
	uint64_t placed = 0;
	uint32_t mask[SMALL_COLS];

	if (at.rows == 0)
		return;
	for (uint32_t r = threadIdx.x; r < (at.rows + 7) / 8 * 8; r += DIGEST_THREADS) {
		const uint64_t weight = digest_alpha(&p, &at, r);

		alpha[r][0] = SMALL_PIECES == 2 ? tsw_half0(weight) : tsw_piece0(weight);
		alpha[r][1] = SMALL_PIECES == 2 ? tsw_half1(weight) : tsw_piece1(weight);
		alpha[r][2] = SMALL_PIECES == 2 ? 0 : tsw_piece2(weight);
	}
	__syncthreads();
#pragma unroll
	for (uint32_t c = 0; c < SMALL_COLS; c++)
		mask[c] = c < cols ? 0xffffffffu >> (32 - 8 * last) : 0;
	for (uint32_t r = 0; cols && r < at.rows; r += SMALL_ROWS) {
		const char *const word = row - shift / 8;
		uint32_t x[SMALL_ROWS][SMALL_WORDS + 1];

		/* Are all words of these rows in the matrix? */
		if (r + SMALL_ROWS <= at.rows && word >= p.base &&
		    end - (word + (SMALL_ROWS - 1) * at.pitch) >= 4 * (SMALL_WORDS + 1)) {
#pragma unroll
			for (int i = 0; i < SMALL_ROWS; i++) {
				const uint32_t *const w = (const uint32_t *)(word + i * at.pitch);

#pragma unroll
				for (int j = 0; j < SMALL_WORDS; j++)
					x[i][j] = w[j];
				x[i][SMALL_WORDS] = more ? w[SMALL_WORDS] : 0;
			}
#pragma unroll
			for (int i = 0; i < SMALL_ROWS; i++)
#pragma unroll
				for (int j = 0; j < SMALL_WORDS; j++)
					x[i][j] = __funnelshift_r(x[i][j], x[i][j + 1], shift);
		} else {
#pragma unroll
			for (int i = 0; i < SMALL_ROWS; i++)
				SMALL_LOAD(row + i * at.pitch, r + i < at.rows ? cols * size : 0,
					   x[i]);
		}
#pragma unroll
		for (int i = 0; i < SMALL_ROWS; i++)
			SMALL_ADD(&a, x[i], mask, alpha[r + i]);
		row += SMALL_ROWS * at.pitch;
	}
#pragma unroll
	for (int c = 0; c < SMALL_COLS; c++) {
		uint64_t element = 0;

#pragma unroll
		for (int l = 0; l < SMALL_LIMBS; l++) {
			const uint64_t *const s = a.s[c * SMALL_LIMBS + l];
			const uint64_t sum =
				SMALL_PIECES == 2
					? tsw_join_halves(s[0], s[1])
					: tsw_join_pieces(s[0], s[1], s[SMALL_PIECES - 1]);

			element = tsw_add_p(element, tsw_mul_p(sum, tsw_gamma(l)));
		}
		placed = tsw_add_p(placed, tsw_mul_p(element, tsw_weight(p.col_seed, col + c)));
	}
	digest_add_block(p.slot, placed, 2 * a.square + a.y);
}

#undef SMALL_WORDS
#undef SMALL_ROWS
#undef SMALL_PIECES
#undef SMALL_PASTE_
#undef SMALL_PASTE
#undef SMALL_SUMS
#undef SMALL_ADD
#undef SMALL_LOAD
#undef SMALL_KERNEL
#undef SMALL_LIMBS
#undef SMALL_COLS
#undef SMALL_SIZE
