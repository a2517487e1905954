/* Rows of elements of one or two bytes: dot products byte by byte.
 *
 * Limbs of a byte in lanes of 64 bits use an eighth of a register.  Here bytes stay where they are,
 * and weights are cut instead, into pieces of 7 bits that a multiply-add of bytes takes:
 *
 *     weight of byte b of limb l   =  w(l) 2^(8 b)  mod p  =  sum over k of piece[k] 2^(7 k)
 *
 *     row             x x x x x x x x ...        64 bytes a vector, four products a 32-bit lane
 *     piece 0         . . . . . . . . ...   ->   s[0]
 *      ...                                                      row . weights = sum s[k] 2^(7 k)
 *     piece 8         . . . . . . . . ...   ->   s[8]
 */
#include "bytes.h"

#include "digest_math.h"

#ifdef __x86_64__
#include <immintrin.h>

#define VNNI_TARGET __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define VNNI static inline __attribute__((always_inline)) VNNI_TARGET

#define CHUNK 64u /* bytes of a vector */

int tsw_has_vnni(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vnni");
}

/* ---- weights ----------------------------------------------------------------------------------
 */

VNNI_TARGET static void cut(const uint64_t *weight, unsigned char (*piece)[CHUNK])
{
	const __m512i mask = _mm512_set1_epi64(127);

	for (unsigned j = 0; j < CHUNK; j += 8) {
		__m512i w = _mm512_loadu_si512(weight + j);

		for (unsigned k = 0; k < TSW_PIECES; k++) {
			_mm_storel_epi64((__m128i *)(void *)(piece[k] + j),
					 _mm512_cvtepi64_epi8(_mm512_and_si512(w, mask)));
			w = _mm512_srli_epi64(w, 7);
		}
	}
}

void tsw_weigh_bytes(uint64_t col_seed, uint64_t col, size_t bytes, size_t limb_bytes,
		     struct tsw_pieces *w)
{
	for (size_t first = 0; first < bytes; first += CHUNK) {
		uint64_t weight[CHUNK];

		for (size_t j = 0; j < CHUNK; j += limb_bytes) {
			weight[j] = first + j < bytes ? tsw_weight(col_seed, col++) : 0;
			for (size_t b = 1; b < limb_bytes; b++)
				weight[j + b] = tsw_shift_p(weight[j], (unsigned)(8 * b));
		}
		cut(weight, w->chunk[first / CHUNK]);
	}
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Sums of a row, in 32-bit lanes: TSW_BYTE_RUN / CHUNK steps of at most 4 * 255 * 127 a lane. */
struct row_sums {
	__m512i piece[TSW_PIECES];
};

/* Of both rows: y = low + 256 high, high = 0 for one byte. */
struct value_sums {
	__m512i low, high, low_low, low_high, high_high;
};

/* Lane i of the result is the sum of the lanes of v[i]. */
VNNI __m128i sum4(const __m512i *v)
{
	__m512i x = _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]),
				     _mm512_unpackhi_epi32(v[0], v[1]));
	__m512i y = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]),
				     _mm512_unpackhi_epi32(v[2], v[3]));
	__m512i z = _mm512_add_epi32(_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
	__m256i half = _mm256_add_epi32(_mm512_castsi512_si256(z), _mm512_extracti64x4_epi64(z, 1));

	return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

VNNI uint64_t sum_of(__m512i v)
{
	return (uint32_t)_mm512_reduce_add_epi32(v);
}

VNNI uint64_t row_sum(const struct row_sums *s)
{
	uint32_t sum[TSW_PIECES];
	unsigned __int128 all = 0;

	_mm_storeu_si128((__m128i *)(void *)sum, sum4(s->piece));
	_mm_storeu_si128((__m128i *)(void *)(sum + 4), sum4(s->piece + 4));
	sum[8] = (uint32_t)sum_of(s->piece[8]);
	for (unsigned k = 0; k < TSW_PIECES; k++)
		all += (unsigned __int128)sum[k] << 7 * k;
	return tsw_add_p(tsw_mod_p((uint64_t)(all >> 61)), tsw_mod_p((uint64_t)all & TSW_P));
}

VNNI void add_values(struct value_sums *v, __m512i x, const size_t limb_bytes)
{
	const __m512i zero = _mm512_setzero_si512();

	if (limb_bytes == 1) {
		const __m512i a = _mm512_unpacklo_epi8(x, zero), b = _mm512_unpackhi_epi8(x, zero);

		v->low = _mm512_dpbusd_epi32(v->low, x, _mm512_set1_epi8(1));
		v->low_low = _mm512_dpwssd_epi32(v->low_low, a, a);
		v->low_low = _mm512_dpwssd_epi32(v->low_low, b, b);
	} else {
		const __m512i low = _mm512_and_si512(x, _mm512_set1_epi16(255));
		const __m512i high = _mm512_srli_epi16(x, 8);

		v->low = _mm512_dpbusd_epi32(v->low, x, _mm512_set1_epi16(1));
		v->high = _mm512_dpbusd_epi32(v->high, x, _mm512_set1_epi16(256));
		v->low_low = _mm512_dpwssd_epi32(v->low_low, low, low);
		v->low_high = _mm512_dpwssd_epi32(v->low_high, low, high);
		v->high_high = _mm512_dpwssd_epi32(v->high_high, high, high);
	}
}

VNNI void add_chunk(struct row_sums *s, struct value_sums *v, __m512i x,
		    const unsigned char (*piece)[CHUNK], const size_t limb_bytes)
{
	for (unsigned k = 0; k < TSW_PIECES; k++)
		s->piece[k] = _mm512_dpbusd_epi32(s->piece[k], x, _mm512_load_si512(piece[k]));
	add_values(v, x, limb_bytes);
}

/* One row, or two that share the loads of weights. */
VNNI void some_rows(const unsigned char *row, size_t stride, const size_t rows, size_t bytes,
		    const size_t limb_bytes, const struct tsw_pieces *w, uint64_t *sum,
		    struct tsw_squares *squares)
{
	struct row_sums s[2];
	struct value_sums v = {_mm512_setzero_si512(), _mm512_setzero_si512(),
			       _mm512_setzero_si512(), _mm512_setzero_si512(),
			       _mm512_setzero_si512()};

	for (size_t r = 0; r < rows; r++)
		for (unsigned k = 0; k < TSW_PIECES; k++)
			s[r].piece[k] = _mm512_setzero_si512();
	for (size_t at = 0; at < bytes; at += CHUNK) {
		const size_t left = bytes - at;
		const __mmask64 m = left < CHUNK ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;

		for (size_t r = 0; r < rows; r++) {
			const unsigned char *p = row + r * stride + at;

			/* What the same columns of the next rows hold will be wanted soon. */
			__builtin_prefetch((const void *)((uintptr_t)p + 2 * stride));
			add_chunk(&s[r], &v, _mm512_maskz_loadu_epi8(m, p), w->chunk[at / CHUNK],
				  limb_bytes);
		}
	}
	for (size_t r = 0; r < rows; r++)
		sum[r] = tsw_add_p(sum[r], row_sum(&s[r]));
	squares->y += sum_of(v.low) + (sum_of(v.high) << 8);
	squares->low_low +=
		sum_of(v.low_low) + (sum_of(v.low_high) << 9) + (sum_of(v.high_high) << 16);
}

VNNI void all_rows(const unsigned char *row, size_t stride, size_t rows, size_t bytes,
		   const size_t limb_bytes, const struct tsw_pieces *w, uint64_t *sum,
		   struct tsw_squares *squares)
{
	size_t r = 0;

	for (; r + 2 <= rows; r += 2)
		some_rows(row + r * stride, stride, 2, bytes, limb_bytes, w, sum + r, squares);
	if (r < rows)
		some_rows(row + r * stride, stride, 1, bytes, limb_bytes, w, sum + r, squares);
}

VNNI_TARGET void tsw_dot_bytes_vnni(const unsigned char *row, size_t stride, size_t rows,
				    size_t bytes, size_t limb_bytes, const struct tsw_pieces *w,
				    uint64_t *sum, struct tsw_squares *squares)
{
	if (limb_bytes == 1)
		all_rows(row, stride, rows, bytes, 1, w, sum, squares);
	else
		all_rows(row, stride, rows, bytes, 2, w, sum, squares);
}
#endif
