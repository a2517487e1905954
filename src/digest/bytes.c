/* Rows of one-byte elements: dot products byte by byte.
 *
 * Limbs of a byte in lanes of 64 bits use an eighth of a register.  Here bytes stay where they are,
 * and weights are cut instead, into pieces of 7 bits that a multiply-add of bytes takes:
 *
 *     weight  =  sum over k of piece[k] 2^(7 k)
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

void tsw_weigh_bytes(uint64_t col_seed, uint64_t col, size_t bytes, struct tsw_pieces *w)
{
	for (size_t first = 0; first < bytes; first += CHUNK) {
		uint64_t weight[CHUNK];

		for (size_t j = 0; j < CHUNK; j++)
			weight[j] = first + j < bytes ? tsw_weight(col_seed, col++) : 0;
		cut(weight, w->chunk[first / CHUNK]);
	}
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Sums of a row, in 32-bit lanes: TSW_BYTE_RUN / CHUNK steps of at most 4 * 255 * 127 a lane. */
struct row_sums {
	__m512i piece[TSW_PIECES];
};

/* Of all rows taken together: the elements, and their squares. */
struct value_sums {
	__m512i y, squares;
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

VNNI void add_chunk(struct row_sums *s, struct value_sums *v, __m512i x,
		    const unsigned char (*piece)[CHUNK])
{
	const __m512i zero = _mm512_setzero_si512();
	const __m512i a = _mm512_unpacklo_epi8(x, zero), b = _mm512_unpackhi_epi8(x, zero);

	/* Unrolled, so that the sums are registers and not an array. */
	_Pragma("GCC unroll 9") for (unsigned k = 0; k < TSW_PIECES; k++) s->piece[k] =
		_mm512_dpbusd_epi32(s->piece[k], x, _mm512_load_si512(piece[k]));
	v->y = _mm512_dpbusd_epi32(v->y, x, _mm512_set1_epi8(1));
	v->squares = _mm512_dpwssd_epi32(v->squares, a, a);
	v->squares = _mm512_dpwssd_epi32(v->squares, b, b);
}

/* Of one row, or of two that share the loads of weights. */
VNNI void some_rows(const unsigned char *row, size_t stride, const size_t rows, size_t bytes,
		    const struct tsw_pieces *w, uint64_t *sum, struct tsw_squares *squares)
{
	const unsigned char *const other = rows > 1 ? row + stride : row;
	struct value_sums v = {_mm512_setzero_si512(), _mm512_setzero_si512()};
	struct row_sums s, t;

	_Pragma("GCC unroll 9") for (unsigned k = 0; k < TSW_PIECES; k++) s.piece[k] = t.piece[k] =
		_mm512_setzero_si512();
	for (size_t at = 0; at < bytes; at += CHUNK) {
		const size_t left = bytes - at;
		const __mmask64 m = left < CHUNK ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;
		const unsigned char(*piece)[CHUNK] = w->chunk[at / CHUNK];

		/* What the same columns of the next rows hold will be wanted soon. */
		__builtin_prefetch((const void *)((uintptr_t)row + at + 2 * stride));
		add_chunk(&s, &v, _mm512_maskz_loadu_epi8(m, row + at), piece);
		if (rows > 1) {
			__builtin_prefetch((const void *)((uintptr_t)other + at + 2 * stride));
			add_chunk(&t, &v, _mm512_maskz_loadu_epi8(m, other + at), piece);
		}
	}
	sum[0] = tsw_add_p(sum[0], row_sum(&s));
	if (rows > 1)
		sum[1] = tsw_add_p(sum[1], row_sum(&t));
	squares->y += sum_of(v.y);
	squares->low_low += sum_of(v.squares);
}

VNNI_TARGET void tsw_dot_bytes_vnni(const unsigned char *row, size_t stride, size_t rows,
				    size_t bytes, const struct tsw_pieces *w, uint64_t *sum,
				    struct tsw_squares *squares)
{
	for (; rows >= 2; rows -= 2, row += 2 * stride, sum += 2)
		some_rows(row, stride, 2, bytes, w, sum, squares);
	if (rows)
		some_rows(row, stride, 1, bytes, w, sum, squares);
}
#endif
