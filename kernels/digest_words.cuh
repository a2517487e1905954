/* The checksum kernel for elements of 1, 2, 4 and 8 bytes, and of 16 in rows aligned to 16.  Such
 * an element never straddles a vector (16 bytes), wherever its row begins, so rows are cut into
 * vectors as they lie, from the multiple of DIGEST_ALIGN left of their first byte:
 *
 *     class of rows:   ..|  aaaaaa|aaaaaaaa|aaaaaaaa|aaaaaaaa|aaa.....|..
 *                         <- warp 0, 256 bytes -> <- warp 1 ...
 *
 * A warp keeps the weights of its 256 bytes in registers and walks down the band, 16 rows at a
 * time: lane 4 g + t takes rows g and g + 8, and of each vectors t, t + 4, t + 8 and t + 12.
 * `values` is summed up from the same registers.  Included with WORDS_KERNEL and WORDS_SIZE.
 */
#define WORDS_PASTE_(x, y) x##_##y
#define WORDS_PASTE(x, y) WORDS_PASTE_(x, y)
#define WORDS_VALUES WORDS_PASTE(WORDS_KERNEL, values)
#define WORDS_ADD WORDS_PASTE(WORDS_KERNEL, add)
#define WORDS_TOTAL WORDS_PASTE(WORDS_KERNEL, total)
#define WORDS_WEIGH WORDS_PASTE(WORDS_KERNEL, weigh)
#define WORDS_FIRST WORDS_PASTE(WORDS_KERNEL, first)
#define WORDS_LOAD WORDS_PASTE(WORDS_KERNEL, load)

/* What is known of the sums of y and of y^2. */
struct WORDS_VALUES {
#if WORDS_SIZE == 1 /* a thread has at most 4096 bytes: 2^28 */
	uint32_t y, square;
#elif WORDS_SIZE == 2
	uint32_t y;
	uint64_t square;
#elif WORDS_SIZE == 8
	uint64_t y, square; /* of low^2 */
	uint32_t low_high;  /* of low high: it is to be shifted by 33 */
#else
	uint64_t y, square;
#endif
};

static inline __device__ void WORDS_ADD(struct WORDS_VALUES *a, const uint4 v)
{
	const uint32_t x[4] = {v.x, v.y, v.z, v.w};

#if WORDS_SIZE == 16
	const uint64_t y =
		(x[0] | (uint64_t)x[1] << 32) + tsw_delta(1) * (x[2] | (uint64_t)x[3] << 32);

	a->y += y;
	a->square += y * y;
#else
#pragma unroll
	for (int i = 0; i < 4; i++) {
#if WORDS_SIZE == 1
		a->y = __dp4a(x[i], 0x01010101u, a->y);
		a->square = __dp4a(x[i], x[i], a->square);
#elif WORDS_SIZE == 2
		const uint32_t low = x[i] & 0xffff, high = x[i] >> 16;

		a->y += low + high;
		a->square += (uint64_t)low * low;
		a->square += (uint64_t)high * high;
#elif WORDS_SIZE == 4
		a->y += x[i];
		a->square += (uint64_t)x[i] * x[i];
#else
		if (i % 2 == 0) {
			a->y += x[i] | (uint64_t)x[i + 1] << 32;
			a->square += (uint64_t)x[i] * x[i];
			a->low_high += x[i] * x[i + 1];
		}
#endif
	}
#endif
}

static inline __device__ uint64_t WORDS_TOTAL(const struct WORDS_VALUES *a)
{
#if WORDS_SIZE == 8
	return 2 * (a->square + ((uint64_t)a->low_high << 33)) + a->y;
#else
	return 2 * (uint64_t)a->square + a->y;
#endif
}

/* The weights of the four bytes from byte `at` of a row on: 0 outside of the row. */
static inline __device__ void WORDS_WEIGH(const struct tsw_digest_task *p, uint64_t at,
					  uint64_t *weight)
{
	const uint64_t bytes = p->n * WORDS_SIZE;

#if WORDS_SIZE < 4
#pragma unroll
	for (int i = 0; i < 4; i++)
		weight[i] = at + i < bytes
				    ? tsw_shift_p(tsw_weight(p->col_seed, (at + i) / WORDS_SIZE),
						  8 * ((at + i) % WORDS_SIZE))
				    : 0;
#else
	const uint64_t limb = at < bytes ? tsw_mul_p(tsw_weight(p->col_seed, at / WORDS_SIZE),
						     tsw_gamma(at % WORDS_SIZE / 4))
					 : 0;

#pragma unroll
	for (int i = 0; i < 4; i++)
		weight[i] = tsw_shift_p(limb, 8 * i);
#endif
}

/* The first n bytes of a word. */
static inline __device__ uint32_t WORDS_FIRST(int64_t n)
{
	return n <= 0 ? 0 : n >= 4 ? 0xffffffffu : (1u << 8 * n) - 1;
}

/* The vector at `v`, which lies `at` bytes (or less than none) into a row of so many bytes: what is
 * not the row's is 0. */
static inline __device__ uint4 WORDS_LOAD(const struct tsw_digest_task *p, const char *v,
					  int64_t at)
{
	const int64_t left = (int64_t)(p->n * WORDS_SIZE) - at;
	uint4 x = make_uint4(0, 0, 0, 0);

	if (left > 0 && at > -16) {
		x = digest_load(p, v);
		x.x &= WORDS_FIRST(left) & ~WORDS_FIRST(-at);
		x.y &= WORDS_FIRST(left - 4) & ~WORDS_FIRST(-at - 4);
		x.z &= WORDS_FIRST(left - 8) & ~WORDS_FIRST(-at - 8);
		x.w &= WORDS_FIRST(left - 12) & ~WORDS_FIRST(-at - 12);
	}
	return x;
}

__global__ void __launch_bounds__(DIGEST_THREADS, 3) WORDS_KERNEL(const struct tsw_digest_task p)
{
	__shared__ uint2 alpha[TSW_DIGEST_ROWS];
	__shared__ __align__(16) uint32_t weights[DIGEST_STRIP / 16][8][4];
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint32_t lane = threadIdx.x % 32, g = lane / 4, warp = threadIdx.x / 32;
	const uint64_t bytes = p.n * WORDS_SIZE;
	/* Bytes of a row left of the strip, of the warp's part of it, of the lane's first vector:
	 * negative, that is huge, where they lie left of the row. */
	const uint64_t strip = at.strip * DIGEST_STRIP - (uintptr_t)at.base % DIGEST_ALIGN;
	const uint64_t part = strip + warp * DIGEST_PART, mine = part + lane % 4 * 16;
	const char *row = at.base + (int64_t)mine + g * at.pitch;
	const int64_t here = (int64_t)(bytes - strip);
	const uint32_t parts = here >= DIGEST_STRIP
				       ? DIGEST_WARPS
				       : (uint32_t)(here + DIGEST_PART - 1) / DIGEST_PART;
	struct WORDS_VALUES values = {0};
	struct digest_products products = {{{0}}};
	uint32_t r = 0, d[4] = {0};
	uint4 w[4];

	if (at.rows == 0 || here <= 0)
		return;
	for (uint32_t i = threadIdx.x; i < parts * DIGEST_PART / 4; i += DIGEST_THREADS) {
		uint64_t weight[4];

		WORDS_WEIGH(&p, strip + 4 * i, weight);
		digest_put_weights(weights[i / 4], i % 4, weight);
	}
	digest_alpha_halves(&p, &at, alpha);
#pragma unroll
	for (int i = 0; i < 4 && warp < parts; i++)
		w[i] = digest_get_weights(&weights[warp * (DIGEST_PART / 16) + 4 * i]);
	if (part < bytes && bytes - part >= DIGEST_PART) {
		for (; r + 16 <= at.rows; r += 16, row += 16 * at.pitch) {
			const char *const row8 = row + 8 * at.pitch;
			uint4 x[4], x8[4];

#pragma unroll
			for (int i = 0; i < 4; i++)
				x[i] = *(const uint4 *)(row + 64 * i);
#pragma unroll
			for (int i = 0; i < 4; i++)
				x8[i] = *(const uint4 *)(row8 + 64 * i);
#pragma unroll
			for (int i = 0; i < 4; i++) {
				digest_multiply(d, x[i], x8[i], w[i]);
				WORDS_ADD(&values, x[i]);
				WORDS_ADD(&values, x8[i]);
			}
			digest_times_alpha(&products, d, alpha + r);
		}
	}
	/* A part that is not all the row's, and rows that the band lacks. */
	for (; warp < parts && r < at.rows; r += 16, row += 16 * at.pitch) {
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const char *const v = row + 64 * i;
			const int64_t byte = (int64_t)mine + 64 * i;
			uint4 x = make_uint4(0, 0, 0, 0), x8 = x;

			if (r + g < at.rows)
				x = WORDS_LOAD(&p, v, byte);
			if (r + g + 8 < at.rows)
				x8 = WORDS_LOAD(&p, v + 8 * at.pitch, byte);
			digest_multiply(d, x, x8, w[i]);
			WORDS_ADD(&values, x);
			WORDS_ADD(&values, x8);
		}
		digest_times_alpha(&products, d, alpha + r);
	}
	digest_add_block(p.slot, digest_placed(&products), WORDS_TOTAL(&values));
}

#undef WORDS_PASTE_
#undef WORDS_PASTE
#undef WORDS_VALUES
#undef WORDS_ADD
#undef WORDS_TOTAL
#undef WORDS_WEIGH
#undef WORDS_FIRST
#undef WORDS_LOAD
#undef WORDS_KERNEL
#undef WORDS_SIZE
