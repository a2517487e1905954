/* The checksum kernel for wide elements of any size, in rows of any alignment (digest_product.cuh).
 * A strip is as many whole elements as surely lie in BYTES_VECTORS vectors; of an element larger
 * than that, pieces are taken one after the other.
 *
 * For `values` a thread takes an element of one row, or a part of it where elements are few, word
 * by word.  Half a warp is the step's 16 rows:
 *
 *     lanes 0 .. 15    |aaaaaaaaa|bbbbbbbbb|ccc...      16 rows, half warps 0, 1, 2 ...
 *                        0         1         2
 *
 * so that delta and how far words are to be shifted are the same for all of them, and their banks
 * are those of BYTES_PITCH.  Parts are an odd number of words, which keeps the halves of a warp
 * from each other's banks.  They meet in shared memory, after the barrier that ends the step.
 */
#define WIDE_WORDS 128 /* of 8 bytes, that a piece has at most */
#define WIDE_PARTS 64  /* parts that the elements of a strip have together at most */

/* Where the elements of a strip, or a piece of its only one, lie in the tile, and their parts. */
struct wide_strip {
	uint32_t off;  /* bytes left of the first */
	uint32_t each; /* bytes of an element, or of the piece */
	uint32_t elements;
	uint32_t parts_log; /* an element has 2^parts_log parts, the last of which may be empty */
	uint32_t words;	    /* of a part */
};

static inline __device__ struct wide_strip wide_strip_of(uint32_t off, uint32_t each,
							 uint32_t elements, uint32_t capacity)
{
	struct wide_strip s = {off, each, elements, each % 16 == 0, 0};

	while (capacity << s.parts_log < 16)
		s.parts_log++;
	s.words = ((((each + 7) / 8 - 1) >> s.parts_log) + 1) | 1;
	return s;
}

/* y of words begin .. end - 1 of the element that begins at byte `at` of a tile's row. */
static inline __device__ uint64_t wide_y(const uint4 *row, uint32_t at, uint32_t each,
					 uint32_t begin, uint32_t end, const uint64_t *delta)
{
	const uint32_t *w = (const uint32_t *)row + at / 4 + 2 * begin;
	const uint32_t shift = at % 4 * 8, words = (each + 7) / 8;
	uint64_t y = 0, word = 0;
	uint32_t next;

	if (begin >= words)
		return 0;
	next = *w;
#pragma unroll 4
	for (uint32_t m = begin; m < end && m < words; m++, w += 2) {
		const uint32_t low = __funnelshift_r(next, w[1], shift);

		next = w[2];
		word = low | (uint64_t)__funnelshift_r(w[1], next, shift) << 32;
		y += delta[m] * word;
	}
	/* The last word may have bytes that are not the element's. */
	if (each % 8 && end >= words)
		y -= delta[words - 1] * (word & ~0ull << each % 8 * 8);
	return y;
}

__global__ void __launch_bounds__(DIGEST_THREADS, 4) tsw_digest_wide(const struct tsw_digest_task p)
{
	__shared__ __align__(16) uint4 tile[2][BYTES_STEP][BYTES_PITCH];
	__shared__ __align__(16) uint32_t alpha[TSW_DIGEST_ROWS / BYTES_STEP][32];
	__shared__ uint64_t delta[WIDE_WORDS];
	__shared__ uint64_t part[WIDE_PARTS][BYTES_STEP];
	/* y of elements in pieces, so far: those have few parts. */
	uint64_t *const whole = part[WIDE_PARTS - TSW_DIGEST_ROWS / BYTES_STEP];
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint64_t left = p.n - at.col;
	const uint32_t elements = (uint32_t)(left < p.strip ? left : p.strip);
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = threadIdx.x % 16;
	uint64_t placed = 0, values = 0;

	if (at.rows == 0)
		return;
	bytes_alpha(&p, &at, alpha);
	for (uint32_t r = threadIdx.x; r < TSW_DIGEST_ROWS; r += DIGEST_THREADS)
		whole[r] = 0;
	if (threadIdx.x < 2 * BYTES_STEP) /* the last word may lie past the last vector */
		tile[threadIdx.x / BYTES_STEP][row][BYTES_VECTORS] = make_uint4(0, 0, 0, 0);
	for (uint64_t skip = 0; skip < p.elem_size; skip += p.piece) {
		const uint64_t rest = p.elem_size - skip;
		const uint32_t each = (uint32_t)(rest < p.piece ? rest : p.piece);
		const uint32_t bytes = elements * each;
		const struct bytes_copy copy =
			bytes_copy_of(&at, at.col * p.elem_size + skip, bytes);
		const struct wide_strip s = wide_strip_of(copy.off, each, elements, p.strip);
		uint32_t d[16][2] = {{0}};
		uint64_t sums[4];
		uint32_t pos;

		bytes_copy_step(&copy, tile[0], 0);
		if (threadIdx.x < WIDE_WORDS)
			delta[threadIdx.x] = tsw_delta(skip / 8 + threadIdx.x);
		for (uint32_t r = 0; r < at.rows; r += BYTES_STEP) {
			const uint4(*const now)[BYTES_PITCH] = tile[r / BYTES_STEP % 2];

			bytes_copy_step(&copy, tile[1 - r / BYTES_STEP % 2], r + BYTES_STEP);
			bytes_wait_step();
			__syncthreads();
			if (warp * 128 < copy.off + bytes) {
				uint4 x[4];

				bytes_load(x, now);
				bytes_add(d, alpha[r / BYTES_STEP][lane], x);
			}
			for (uint32_t q = threadIdx.x / 16; q < elements << s.parts_log;
			     q += DIGEST_THREADS / 16) {
				const uint32_t e = q >> s.parts_log, k = q - (e << s.parts_log);
				const uint64_t y = wide_y(now[row], s.off + e * each, each,
							  k * s.words, (k + 1) * s.words, delta);

				if (s.parts_log)
					part[q][row] = y;
				else
					values += tsw_value(y);
			}
			__syncthreads();
			for (uint32_t e = threadIdx.x / 16; s.parts_log && e < elements;
			     e += DIGEST_THREADS / 16) {
				uint64_t y = p.strip == 1 ? whole[r + row] : 0;

#pragma unroll 4
				for (uint32_t k = 0; k < 1u << s.parts_log; k++)
					y += part[(e << s.parts_log) + k][row];
				if (p.strip == 1)
					whole[r + row] = y;
				else
					values += tsw_value(y);
			}
		}
		pos = bytes_join(d, sums);
		placed = tsw_add_p(
			placed, bytes_placed(&p, sums, pos, copy.off, bytes, at.col, each, skip));
	}
	for (uint32_t r = threadIdx.x; p.strip == 1 && threadIdx.x < 16 && r < at.rows; r += 16)
		values += tsw_value(whole[r]);
	digest_add_block(p.slot, placed, values);
}
