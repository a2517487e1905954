/* The checksum kernel for elements of 4, 8 and 16 bytes: a thread owns four limbs, 16 bytes of a
 * row.  Included with
 *
 *     LIMBS_KERNEL  the kernel
 *     LIMBS_SIZE    bytes of an element
 *     LIMBS_VECTOR  1 if rows are multiples of 16 bytes apart and aligned so: one load; 0 if they
 *                   allow loads of the element's unit only, which is 8.  The loads of neighbouring
 *                   threads then lie side by side, each thread's own elements a block's width
 *                   apart.
 */
#define LIMBS_PASTE_(x, y) x##_##y
#define LIMBS_PASTE(x, y) LIMBS_PASTE_(x, y)
#define LIMBS_SUMS LIMBS_PASTE(LIMBS_KERNEL, sums)
#define LIMBS_LOAD LIMBS_PASTE(LIMBS_KERNEL, load)
#define LIMBS_LOAD_SOME LIMBS_PASTE(LIMBS_KERNEL, load_some)
#define LIMBS_ADD LIMBS_PASTE(LIMBS_KERNEL, add)

#define LIMBS_EACH (LIMBS_SIZE / 4)		       /* limbs of an element */
#define LIMBS_COLS (16 / LIMBS_SIZE)		       /* elements of a thread */
#define LIMBS_STEP (LIMBS_VECTOR ? 1 : DIGEST_THREADS) /* columns from one to the thread's next */

struct LIMBS_SUMS {
	uint64_t s[4][3];
	uint64_t y, square; /* sums of y, and of y^2 as far as it is known */
	uint32_t low_high;  /* of low high: it is to be shifted by 33 */
};

static inline __device__ void LIMBS_ADD(struct LIMBS_SUMS *a, const uint32_t *x,
					const uint32_t *alpha)
{
	for (int l = 0; l < 4; l++)
		for (int k = 0; k < 3; k++)
			a->s[l][k] += (uint64_t)x[l] * alpha[k];
	for (int l = 0; l < 4; l += LIMBS_EACH) {
#if LIMBS_SIZE == 4
		a->y += x[l];
		a->square += (uint64_t)x[l] * x[l];
#elif LIMBS_SIZE == 8
		a->y += x[l] | (uint64_t)x[l + 1] << 32;
		a->square += (uint64_t)x[l] * x[l];
		a->low_high += x[l] * x[l + 1];
#else
		const uint64_t y = (x[0] | (uint64_t)x[1] << 32) +
				   tsw_delta(1) * (x[2] | (uint64_t)x[3] << 32);

		a->y += y;
		a->square += y * y;
#endif
	}
}

static inline __device__ void LIMBS_LOAD(const char *at, uint32_t *x)
{
#if LIMBS_VECTOR
	const uint4 v = *(const uint4 *)at;

	x[0] = v.x;
	x[1] = v.y;
	x[2] = v.z;
	x[3] = v.w;
#else
	for (int l = 0; l < 2; l++) {
		const uint64_t v =
			*(const uint64_t *)(at + l * (LIMBS_SIZE == 8 ? LIMBS_STEP : 1) * 8);

		x[2 * l] = (uint32_t)v;
		x[2 * l + 1] = (uint32_t)(v >> 32);
	}
#endif
}

/* As LIMBS_LOAD where only the first `cols` elements of the thread are there; the others are 0 and
 * add nothing. */
static inline __device__ void LIMBS_LOAD_SOME(const char *at, uint32_t cols, uint32_t *x)
{
	for (uint32_t c = 0; c < LIMBS_COLS; c++)
		for (uint32_t l = 0; l < LIMBS_EACH; l += 1)
			x[c * LIMBS_EACH + l] =
				c < cols ? *(const uint32_t *)(at + c * LIMBS_STEP * LIMBS_SIZE +
							       4 * l)
					 : 0;
}

__global__ void __launch_bounds__(DIGEST_THREADS, 4) LIMBS_KERNEL(const struct tsw_digest_task p)
{
	__shared__ uint32_t alpha[TSW_DIGEST_ROWS][4];
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint32_t t = threadIdx.x;
	const uint64_t col = at.col + (LIMBS_VECTOR ? t * LIMBS_COLS : t);
	const char *row = at.base + col * LIMBS_SIZE;
	struct LIMBS_SUMS a = {{{0}}, 0, 0, 0};
	uint64_t placed = 0, values;
	uint32_t cols = 0, r = 0;

	digest_alpha(&p, &at, alpha);
	while (cols < LIMBS_COLS && col + cols * LIMBS_STEP < p.n)
		cols++;
	if (cols == LIMBS_COLS) {
		for (; r + 4 <= at.rows; r += 4) {
			uint32_t x[4][4];

#pragma unroll
			for (int i = 0; i < 4; i++, row += p.stride)
				LIMBS_LOAD(row, x[i]);
#pragma unroll
			for (int i = 0; i < 4; i++)
				LIMBS_ADD(&a, x[i], alpha[r + i]);
		}
	}
	for (; cols && r < at.rows; r++, row += p.stride) {
		uint32_t x[4];

		LIMBS_LOAD_SOME(row, cols, x);
		LIMBS_ADD(&a, x, alpha[r]);
	}
#pragma unroll
	for (uint32_t c = 0; c < LIMBS_COLS; c++) {
		uint64_t element = 0;

#pragma unroll
		for (uint32_t l = 0; l < LIMBS_EACH; l++) {
			const uint64_t *s = a.s[c * LIMBS_EACH + l];

			element = tsw_add_p(element, tsw_mul_p(tsw_join_pieces(s[0], s[1], s[2]),
							       tsw_gamma(l)));
		}
		placed = tsw_add_p(
			placed, tsw_mul_p(element, tsw_weight(p.col_seed, col + c * LIMBS_STEP)));
	}
	values = 2 * (a.square + ((uint64_t)a.low_high << 33)) + a.y;
	digest_add_block(p.slot, placed, values);
}

#undef LIMBS_PASTE_
#undef LIMBS_PASTE
#undef LIMBS_SUMS
#undef LIMBS_LOAD
#undef LIMBS_LOAD_SOME
#undef LIMBS_ADD
#undef LIMBS_EACH
#undef LIMBS_COLS
#undef LIMBS_STEP
#undef LIMBS_KERNEL
#undef LIMBS_SIZE
#undef LIMBS_VECTOR
