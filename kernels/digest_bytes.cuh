/* The checksum kernel for narrow elements of one size, in rows of any alignment
 * (digest_product.cuh). A strip is so many whole elements as surely lie in BYTES_VECTORS aligned
 * vectors.
 *
 * `values` needs elements.  Those of 1, 2 and 4 bytes never straddle a word, and are taken out of
 * the vectors that are multiplied.  Of others a thread takes the fewest side by side that are a
 * whole number of words, shifted by what the strip begins past a word.  Included with BYTES_KERNEL
 * and BYTES_SIZE (bytes of an element).
 */
#define BYTES_PASTE_(x, y) x##_##y
#define BYTES_PASTE(x, y) BYTES_PASTE_(x, y)
#define BYTES_VALUES BYTES_PASTE(BYTES_KERNEL, values)

#define BYTES_IN_WORDS (BYTES_SIZE == 1 || BYTES_SIZE == 2 || BYTES_SIZE == 4)
#define BYTES_LIMBS ((BYTES_SIZE + 3) / 4)
#define BYTES_LAST                                                                                 \
	(0xffffffffu >> (4 * BYTES_LIMBS - BYTES_SIZE) * 8)	     /* the last limb's own bits */
#define BYTES_EACH (BYTES_SIZE % 2 ? 4 : BYTES_SIZE % 4 ? 2 : 1)     /* elements of a thread */
#define BYTES_WORDS (BYTES_SIZE * BYTES_EACH / 4)		     /* and what they fill */
#define BYTES_PLACES ((16 * BYTES_VECTORS - 15) / (4 * BYTES_WORDS)) /* threads for a row */
#define BYTES_GROUPS (DIGEST_THREADS / BYTES_PLACES)		     /* rows at a time */

#if BYTES_IN_WORDS
/* Of one word. */
static inline __device__ void BYTES_VALUES(struct bytes_values *v, uint32_t x)
{
#if BYTES_SIZE == 1
	v->low_square = __dp4a(x, x, v->low_square);
	v->low_y = __dp4a(x, 0x01010101u, v->low_y);
#elif BYTES_SIZE == 2
	const uint32_t low = x & 0xffff, high = x >> 16;

	v->square += (uint64_t)low * low;
	v->square += (uint64_t)high * high;
	v->low_y += low + high;
#else
	v->square += (uint64_t)x * x;
	v->y += x;
#endif
}
#else
/* Of all elements of a step's rows; the strip begins `off` bytes into them. */
static inline __device__ void BYTES_VALUES(struct bytes_values *v, const uint4 (*tile)[BYTES_PITCH],
					   uint32_t off)
{
	const uint32_t place = threadIdx.x % BYTES_PLACES, group = threadIdx.x / BYTES_PLACES;
	const uint32_t word = off / 4 + place * BYTES_WORDS, shift = off % 4 * 8;
	uint32_t y = 0; /* of numbers of 24 bits: few enough */

#pragma unroll
	for (uint32_t i = 0; i < BYTES_STEP; i += BYTES_GROUPS) {
		const uint32_t row = i + group;
		const uint32_t *const w = (const uint32_t *)tile[row % BYTES_STEP] + word;
		uint32_t x[BYTES_WORDS + 1];

		if (group >= BYTES_GROUPS || row >= BYTES_STEP)
			break;
#pragma unroll
		for (int j = 0; j <= BYTES_WORDS; j++)
			x[j] = w[j];
#pragma unroll
		for (int j = 0; j < BYTES_WORDS; j++)
			x[j] = __funnelshift_r(x[j], x[j + 1], shift);
		x[BYTES_WORDS] = 0;
#pragma unroll
		for (int b = 0; b < BYTES_EACH * BYTES_SIZE; b += BYTES_SIZE) {
			uint32_t limb[BYTES_LIMBS + 1];

#pragma unroll
			for (int l = 0; l < BYTES_LIMBS; l++)
				limb[l] = __funnelshift_r(
					x[b / 4 + l],
					b / 4 + l < BYTES_WORDS ? x[b / 4 + l + 1] : 0, b % 4 * 8);
			limb[BYTES_LIMBS - 1] &= BYTES_LAST;
			limb[BYTES_LIMBS] = 0;
#if BYTES_LIMBS == 1
			v->square += (uint64_t)limb[0] * limb[0];
			y += limb[0];
#elif BYTES_LIMBS == 2
			v->square += (uint64_t)limb[0] * limb[0];
			v->low_high += limb[0] * limb[1];
			v->y += limb[0] | (uint64_t)limb[1] << 32;
#else
			uint64_t whole = 0;

#pragma unroll
			for (int l = 0; l < BYTES_LIMBS; l += 2)
				whole += tsw_delta(l / 2) * (limb[l] | (uint64_t)limb[l + 1] << 32);
			v->square += whole * whole;
			v->y += whole;
#endif
		}
	}
	v->y += y;
}
#endif

__global__ void __launch_bounds__(DIGEST_THREADS, 4) BYTES_KERNEL(const struct tsw_digest_task p)
{
	__shared__ __align__(16) uint4 tile[2][BYTES_STEP][BYTES_PITCH];
	__shared__ __align__(16) uint32_t alpha[TSW_DIGEST_ROWS / BYTES_STEP][32];
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint64_t left = p.n - at.col;
	const uint32_t bytes = (uint32_t)(left < p.strip ? left : p.strip) * BYTES_SIZE;
	const struct bytes_copy copy = bytes_copy_of(&at, at.col * BYTES_SIZE, bytes);
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	struct bytes_values values = {0, 0, 0, 0, 0};
	uint32_t d[16][2] = {{0}};
	uint64_t sums[4];
	uint32_t pos;

	if (at.rows == 0)
		return;
	bytes_copy_step(&copy, tile[0], 0);
	bytes_alpha(&p, &at, alpha);
	for (uint32_t r = 0; r < at.rows; r += BYTES_STEP) {
		const uint4(*const now)[BYTES_PITCH] = tile[r / BYTES_STEP % 2];

		bytes_copy_step(&copy, tile[1 - r / BYTES_STEP % 2], r + BYTES_STEP);
		bytes_wait_step();
		__syncthreads();
		if (warp * 128 < copy.off + bytes) {
			uint4 x[4];

			bytes_load(x, now);
#if BYTES_IN_WORDS
			if (warp == 0 && copy.off)
				bytes_clear_left(x, copy.off);
#endif
			bytes_add(d, alpha[r / BYTES_STEP][lane], x);
#if BYTES_IN_WORDS
#pragma unroll
			for (int i = 0; i < 4; i++) {
				BYTES_VALUES(&values, x[i].x);
				BYTES_VALUES(&values, x[i].y);
				BYTES_VALUES(&values, x[i].z);
				BYTES_VALUES(&values, x[i].w);
			}
#endif
		}
#if !BYTES_IN_WORDS
		BYTES_VALUES(&values, now, copy.off);
#endif
		__syncthreads();
	}
	pos = bytes_join(d, sums);
	digest_add_block(p.slot,
			 bytes_placed(&p, sums, pos, copy.off, bytes, at.col, BYTES_SIZE, 0),
			 bytes_total(&values));
}

#undef BYTES_PASTE_
#undef BYTES_PASTE
#undef BYTES_VALUES
#undef BYTES_IN_WORDS
#undef BYTES_LIMBS
#undef BYTES_LAST
#undef BYTES_EACH
#undef BYTES_WORDS
#undef BYTES_PLACES
#undef BYTES_GROUPS
#undef BYTES_KERNEL
#undef BYTES_SIZE
