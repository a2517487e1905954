/* The checksum kernel for elements of so many words of 8 bytes in rows of any alignment
 * (digest_product.cuh): of WORDS words, the last of which may be part of one; of more than 8 also
 * of a word less.  A strip is as many whole elements as surely lie in BYTES_VECTORS aligned
 * vectors. For `values` a thread takes an element of one row.  Included with WORDS_KERNEL and
 * WORDS.
 */
#define WORDS_PASTE_(x, y) x##_##y
#define WORDS_PASTE(x, y) WORDS_PASTE_(x, y)
#define WORDS_VALUES WORDS_PASTE(WORDS_KERNEL, values)
#define WORDS_ALIGNED WORDS_PASTE(WORDS_KERNEL, aligned)
#define WORDS_FIRST WORDS_PASTE(WORDS_KERNEL, first)
#define WORDS_MASK WORDS_PASTE(WORDS_KERNEL, mask)

#define WORDS_ASIDE (DIGEST_THREADS / BYTES_STEP) /* elements of a row at a time */

/* A warp takes eight rows and four elements.  Rows are four banks apart, so the elements had better
 * begin at four different words mod 4: that is, if their bytes are odd, every fourth one. */
static inline __device__ uint32_t WORDS_FIRST(uint32_t elem_size)
{
	const uint32_t apart = elem_size % 2 ? 4 : elem_size % 4 ? 2 : 1;
	const uint32_t four = threadIdx.x / 64, of_four = threadIdx.x % 32 / 8;

	return four / apart * 4 * apart + four % apart + of_four * apart;
}

/* Of all elements of a row, from `first` on every sixteenth, where they begin at vectors, or their
 * words are odd, at words. */
static inline __device__ uint64_t WORDS_ALIGNED(const uint64_t *row, uint32_t first,
						uint32_t elements)
{
	uint64_t values = 0;

#pragma unroll 1
	for (uint32_t e = first; e < elements; e += WORDS_ASIDE) {
		const uint64_t *const x = row + e * WORDS;
		uint64_t y = 0;

#if WORDS % 2
#pragma unroll
		for (int m = 0; m < WORDS; m++)
			y += tsw_delta(m) * x[m];
#else
#pragma unroll
		for (int m = 0; m < WORDS; m += 2) {
			const uint4 v = *(const uint4 *)(x + m);

			y += tsw_delta(m) * (v.x | (uint64_t)v.y << 32);
			y += tsw_delta(m + 1) * (v.z | (uint64_t)v.w << 32);
		}
#endif
		values += tsw_value(y);
	}
	return values;
}

/* The same at any alignment.  The strip begins `off` bytes into the rows; `mask` has the bits of
 * the last two words that are the element's. */
static inline __device__ uint64_t WORDS_VALUES(const bytes_row *tile, uint32_t off,
					       uint32_t elem_size, uint32_t elements,
					       const uint64_t *mask)
{
	const uint32_t *row = (const uint32_t *)tile[threadIdx.x / 32 % 2 * 8 + threadIdx.x % 8];
	const uint32_t first = WORDS_FIRST(elem_size), at = off + first * elem_size;
	uint64_t values = 0;

	if (elem_size == 8 * WORDS && off % (WORDS % 2 ? 8 : 16) == 0)
		return WORDS_ALIGNED((const uint64_t *)row + off / 8, first, elements);
	row += at / 4;
#pragma unroll 1
	for (uint32_t e = first; e < elements;
	     e += WORDS_ASIDE, row += WORDS_ASIDE / 4 * elem_size) {
		uint32_t x[2 * WORDS + 1];
		uint64_t y = 0;

#pragma unroll
		for (int l = 0; l <= 2 * WORDS; l++)
			x[l] = row[l];
#pragma unroll
		for (int m = 0; m < WORDS; m++) {
			const uint32_t low = __funnelshift_r(x[2 * m], x[2 * m + 1], at % 4 * 8);
			const uint32_t high =
				__funnelshift_r(x[2 * m + 1], x[2 * m + 2], at % 4 * 8);
			uint64_t word = low | (uint64_t)high << 32;

			if (m == WORDS - 1)
				word &= mask[1];
			else if (WORDS > 8 && m == WORDS - 2)
				word &= mask[0];
			y += tsw_delta(m) * word;
		}
		values += tsw_value(y);
	}
	return values;
}

/* The bits of word m of an element that are its own. */
static inline __device__ uint64_t WORDS_MASK(uint32_t elem_size, uint32_t m)
{
	return elem_size >= 8 * m + 8 ? ~0ull
	       : elem_size <= 8 * m   ? 0
				      : ~(~0ull << elem_size % 8 * 8);
}

__global__ void __launch_bounds__(DIGEST_THREADS, 4) WORDS_KERNEL(const struct tsw_digest_task p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_digest_tile);
	uint32_t(*const alpha)[32] = (uint32_t(*)[32])tsw_digest_tile;
	bytes_row(*const tile)[BYTES_STEP] = (bytes_row(*)[BYTES_STEP])(alpha + BYTES_ALPHA);
	uint64_t *const sums = (uint64_t *)tile; /* in the end */
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint32_t elem_size = (uint32_t)p.elem_size;
	const uint64_t left = p.n - at.col;
	const uint64_t mask[2] = {WORDS_MASK(elem_size, WORDS - 2),
				  WORDS_MASK(elem_size, WORDS - 1)};
	const uint32_t elements = (uint32_t)(left < p.strip ? left : p.strip);
	const uint32_t bytes = elements * elem_size;
	const struct bytes_copy copy = bytes_copy_of(&at, at.col * elem_size, bytes);
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	uint32_t d[16][2] = {{0}};
	uint64_t values = 0;

	if (at.rows == 0)
		return;
	if (threadIdx.x < p.stages * BYTES_STEP) /* the last words may lie past the last vector */
		tile[threadIdx.x / BYTES_STEP][threadIdx.x % BYTES_STEP][BYTES_VECTORS] =
			make_uint4(0, 0, 0, 0);
	bytes_copy_first(&copy, tile, p.stages);
	for (uint32_t r = 0; r < at.rows; r += BYTES_STEP) {
		const bytes_row *const now = bytes_next_step(&copy, tile, p.stages, r);

		if (r % BYTES_ROWS == 0) {
			bytes_alpha(&p, &at, r, alpha);
			__syncthreads();
		}
		if (warp * 128 < copy.off + bytes)
			bytes_add_all(d, alpha[r % BYTES_ROWS / BYTES_STEP][lane], now);
		values += WORDS_VALUES(now, copy.off, elem_size, elements, mask);
	}
	__syncthreads();
	bytes_join(d, sums);
	__syncthreads();
	digest_add_block(p.slot, bytes_placed(&p, sums + copy.off, elements, at.col, elem_size, 0),
			 values);
}

#undef WORDS_PASTE_
#undef WORDS_PASTE
#undef WORDS_VALUES
#undef WORDS_ALIGNED
#undef WORDS_FIRST
#undef WORDS_MASK
#undef WORDS_ASIDE
#undef WORDS_KERNEL
#undef WORDS
