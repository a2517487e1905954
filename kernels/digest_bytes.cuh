/* The checksum kernel for narrow elements of one size, in rows of any alignment
 * (digest_product.cuh). A strip is so many whole elements as surely lie in BYTES_VECTORS aligned
 * vectors.
 *
 * `values` needs elements.  Those of 1 and 2 bytes never straddle a word, and are taken out of the
 * vectors that are multiplied.  Of others a thread takes the fewest side by side that are a
 * whole number of words, shifted by what the strip begins past a word.  Included with BYTES_KERNEL
 * and BYTES_SIZE (bytes of an element).
 */
#define BYTES_PASTE_(x, y) x##_##y
#define BYTES_PASTE(x, y) BYTES_PASTE_(x, y)
#define BYTES_VALUES BYTES_PASTE(BYTES_KERNEL, values)

#define BYTES_LIMBS ((BYTES_SIZE + 3) / 4)
#define BYTES_LAST                                                                                 \
	(0xffffffffu >> (4 * BYTES_LIMBS - BYTES_SIZE) * 8)	     /* the last limb's own bits */
#define BYTES_EACH (BYTES_SIZE % 2 ? 4 : BYTES_SIZE % 4 ? 2 : 1)     /* elements of a thread */
#define BYTES_WORDS (BYTES_SIZE * BYTES_EACH / 4)		     /* and what they fill */
#define BYTES_PLACES ((16 * BYTES_VECTORS - 15) / (4 * BYTES_WORDS)) /* such in a row */
#define BYTES_ASIDE (DIGEST_THREADS / BYTES_STEP)		     /* of them at a time */

#if BYTES_SIZE <= 2
/* Of a word of whole elements. */
static inline __device__ void BYTES_VALUES(struct bytes_values *v, uint32_t x)
{
#if BYTES_SIZE == 1
	v->low_square = __dp4a(x, x, v->low_square);
	v->low_y = __dp4a(x, 0x01010101u, v->low_y);
#else
	const uint32_t low = x & 0xffff, high = x >> 16;

	v->square += (uint64_t)low * low;
	v->square += (uint64_t)high * high;
	v->low_y += low + high;
#endif
}
#else
/* Of all elements of a step's rows; the strip begins `off` bytes into them.  A warp takes eight
 * rows and four places, whose banks differ, since their words are odd. */
static inline __device__ void BYTES_VALUES(struct bytes_values *v, const bytes_row *tile,
					   uint32_t off)
{
	const uint32_t row = threadIdx.x / 32 % 2 * 8 + threadIdx.x % 8;
	const uint32_t place = threadIdx.x / 64 * 4 + threadIdx.x % 32 / 8;
	const uint32_t *w = (const uint32_t *)tile[row] + off / 4 + place * BYTES_WORDS;
	const uint32_t shift = BYTES_SIZE == 4 ? 0 : off % 4 * 8;
	uint64_t y = 0;

#pragma unroll
	for (uint32_t i = 0; i < BYTES_PLACES; i += BYTES_ASIDE, w += BYTES_ASIDE * BYTES_WORDS) {
		uint32_t x[BYTES_WORDS + 1];

		if (i + BYTES_ASIDE > BYTES_PLACES && i + place >= BYTES_PLACES)
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
	TSW_DYNAMIC_SHARED(uint4, tsw_digest_tile);
	uint32_t(*const alpha)[32] = (uint32_t(*)[32])tsw_digest_tile;
	bytes_row(*const tile)[BYTES_STEP] = (bytes_row(*)[BYTES_STEP])(alpha + BYTES_ALPHA);
	uint64_t *const sums = (uint64_t *)tile; /* in the end */
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint64_t left = p.n - at.col;
	const uint32_t elements = (uint32_t)(left < p.strip ? left : p.strip);
	const uint32_t bytes = elements * BYTES_SIZE;
	const struct bytes_copy copy = bytes_copy_of(&at, at.col * BYTES_SIZE, bytes);
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	struct bytes_values values = {0, 0, 0, 0, 0};
	uint32_t d[16][2] = {{0}};

	if (at.rows == 0)
		return;
	bytes_copy_first(&copy, tile, p.stages);
	for (uint32_t r = 0; r < at.rows; r += BYTES_STEP) {
		const bytes_row *const now = bytes_next_step(&copy, tile, p.stages, r);

		if (r % BYTES_ROWS == 0) {
			bytes_alpha(&p, &at, r, alpha);
			__syncthreads();
		}
		if (warp * 128 < copy.off + bytes) {
			const uint32_t a = alpha[r % BYTES_ROWS / BYTES_STEP][lane];

#if BYTES_SIZE <= 2
#pragma unroll
			for (uint32_t v = 0; v < 8; v += 2) {
				uint32_t x[4];

				bytes_load(x, now, warp * 8 + v);
				if (v == 0 && warp == 0 && copy.off)
					bytes_clear_left(x, copy.off);
				bytes_add(d, a, x, v);
#pragma unroll
				for (int i = 0; i < 4; i++)
					BYTES_VALUES(&values, x[i]);
			}
#else
			bytes_add_all(d, a, now);
#endif
		}
#if BYTES_SIZE > 2
		BYTES_VALUES(&values, now, copy.off);
#endif
	}
	__syncthreads();
	bytes_join(d, sums);
	__syncthreads();
	digest_add_block(p.slot, bytes_placed(&p, sums + copy.off, elements, at.col, BYTES_SIZE, 0),
			 bytes_total(&values));
}

#undef BYTES_PASTE_
#undef BYTES_PASTE
#undef BYTES_VALUES
#undef BYTES_LIMBS
#undef BYTES_LAST
#undef BYTES_EACH
#undef BYTES_WORDS
#undef BYTES_PLACES
#undef BYTES_ASIDE
#undef BYTES_KERNEL
#undef BYTES_SIZE
