/* The checksum kernel for elements of so many words of 8 bytes, the last of which may be part of
 * one, in rows of any alignment (digest_product.cuh).  A strip is as many whole elements as surely
 * lie in BYTES_VECTORS aligned vectors.  For `values` a thread takes an element of one row.
 * Included with WORDS_KERNEL and WORDS (3 to 8).
 */
#define WORDS_PASTE_(x, y) x##_##y
#define WORDS_PASTE(x, y) WORDS_PASTE_(x, y)
#define WORDS_VALUES WORDS_PASTE(WORDS_KERNEL, values)

#define WORDS_STAGES 3
#define WORDS_ASIDE (DIGEST_THREADS / BYTES_STEP) /* elements of a row at a time */

/* Of all elements of a step's rows; the strip begins `off` bytes into them, `mask` has the bits of
 * the last word that are the element's. */
static inline __device__ uint64_t WORDS_VALUES(const bytes_row *tile, uint32_t off,
					       uint32_t elem_size, uint32_t elements, uint64_t mask)
{
	/* A warp takes eight rows and four elements, whose banks differ more often than not. */
	const uint32_t first = threadIdx.x / 64 * 4 + threadIdx.x % 32 / 8;
	const uint32_t *const row =
		(const uint32_t *)tile[threadIdx.x / 32 % 2 * 8 + threadIdx.x % 8];
	uint64_t values = 0;

	for (uint32_t e = first; e < elements; e += WORDS_ASIDE) {
		const uint32_t at = off + e * elem_size, shift = at % 4 * 8;
		uint32_t x[2 * WORDS + 1];
		uint64_t y = 0;

#pragma unroll
		for (int l = 0; l <= 2 * WORDS; l++)
			x[l] = row[at / 4 + l];
#pragma unroll
		for (int m = 0; m < WORDS; m++) {
			const uint32_t low = __funnelshift_r(x[2 * m], x[2 * m + 1], shift);
			const uint32_t high = __funnelshift_r(x[2 * m + 1], x[2 * m + 2], shift);
			const uint64_t word = low | (uint64_t)high << 32;

			y += tsw_delta(m) * (m == WORDS - 1 ? word & mask : word);
		}
		values += tsw_value(y);
	}
	return values;
}

__global__ void __launch_bounds__(DIGEST_THREADS, 4) WORDS_KERNEL(const struct tsw_digest_task p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_digest_tile);
	bytes_row(*const tile)[BYTES_STEP] = (bytes_row(*)[BYTES_STEP])tsw_digest_tile;
	uint64_t *const sums = (uint64_t *)tsw_digest_tile; /* in the end */
	uint32_t(*const alpha)[32] = (uint32_t(*)[32])(tile + WORDS_STAGES);
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint32_t elem_size = (uint32_t)p.elem_size;
	const uint64_t left = p.n - at.col, mask = ~0ull >> (8 * WORDS - elem_size) * 8;
	const uint32_t elements = (uint32_t)(left < p.strip ? left : p.strip);
	const uint32_t bytes = elements * elem_size;
	const struct bytes_copy copy = bytes_copy_of(&at, at.col * elem_size, bytes);
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	uint32_t d[16][2] = {{0}};
	uint64_t values = 0;

	if (at.rows == 0)
		return;
	if (threadIdx.x <
	    WORDS_STAGES * BYTES_STEP) /* the last word may lie past the last vector */
		tile[threadIdx.x / BYTES_STEP][threadIdx.x % BYTES_STEP][BYTES_VECTORS] =
			make_uint4(0, 0, 0, 0);
	bytes_copy_first(&copy, tile, WORDS_STAGES);
	for (uint32_t r = 0; r < at.rows; r += BYTES_STEP) {
		const bytes_row *const now = bytes_next_step(&copy, tile, WORDS_STAGES, r);

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
#undef WORDS_ASIDE
#undef WORDS_KERNEL
#undef WORDS
