/* Rows of one-byte elements: dot products byte by byte.
 *
 * Limbs of a byte in lanes of 64 bits use an eighth of a register.  Here bytes stay where they are,
 * and weights are cut instead, into signed pieces of 8 bits that a multiply-add of bytes takes:
 *
 *     weight  =  sum over k of piece[k] 2^(8 k),    -128 <= piece[k] < 128
 *
 *     row             x x x x x x x x ...        64 bytes a vector, four products a 32-bit lane
 *     piece 0         . . . . . . . . ...   ->   s[0]
 *      ...                                                      row . weights = sum s[k] 2^(8 k)
 *     piece 7         . . . . . . . . ...   ->   s[7]
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

/* With 128 added to every byte a weight stays below 2^64, and its bytes are the pieces plus 128. */
VNNI_TARGET static void cut(const uint64_t *weight, signed char (*piece)[CHUNK])
{
	const __m512i bias = _mm512_set1_epi8(-128);

	for (unsigned j = 0; j < CHUNK; j += 8) {
		__m512i w = _mm512_add_epi64(_mm512_loadu_si512(weight + j), bias);

		w = _mm512_xor_si512(w, bias);
		for (unsigned k = 0; k < TSW_PIECES; k++) {
			_mm_storel_epi64((__m128i *)(void *)(piece[k] + j),
					 _mm512_cvtepi64_epi8(w));
			w = _mm512_srli_epi64(w, 8);
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

/* Sums of a row, in 32-bit lanes: TSW_BYTE_RUN / CHUNK steps of at most 4 * 255 * 128 a lane, above
 * or below 0.  Each row has its own, so that no multiply-add waits for the one before it. */
struct row_sums {
	__m512i piece[TSW_PIECES];
	__m512i y, squares; /* of x, and of x (x - 128), whose second factor is a signed byte */
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

VNNI int64_t sum_of(__m512i v)
{
	return _mm512_reduce_add_epi32(v);
}

/* Pieces may be negative, the sum of all is not: what wraps round comes back. */
VNNI uint64_t row_sum(const struct row_sums *s)
{
	int32_t sum[TSW_PIECES];
	unsigned __int128 all = 0;

	_mm_storeu_si128((__m128i *)(void *)sum, sum4(s->piece));
	_mm_storeu_si128((__m128i *)(void *)(sum + 4), sum4(s->piece + 4));
	for (unsigned k = 0; k < TSW_PIECES; k++)
		all += (unsigned __int128)sum[k] << 8 * k;
	return tsw_add_p(tsw_mod_p((uint64_t)(all >> 61)), tsw_mod_p((uint64_t)all & TSW_P));
}

VNNI void add_squares(struct tsw_squares *squares, const struct row_sums *s)
{
	const int64_t y = sum_of(s->y);

	squares->y += (uint64_t)y;
	squares->low_low += (uint64_t)(sum_of(s->squares) + 128 * y);
}

VNNI void add_chunk(struct row_sums *s, __m512i x, const signed char (*piece)[CHUNK])
{
	/* Unrolled, so that the sums are registers and not an array. */
	_Pragma("GCC unroll 8") for (unsigned k = 0; k < TSW_PIECES; k++) s->piece[k] =
		_mm512_dpbusd_epi32(s->piece[k], x, _mm512_load_si512(piece[k]));
	s->y = _mm512_dpbusd_epi32(s->y, x, _mm512_set1_epi8(1));
	s->squares =
		_mm512_dpbusd_epi32(s->squares, x, _mm512_xor_si512(x, _mm512_set1_epi8(-128)));
}

/* Of one row, or of two that share the loads of weights. */
VNNI void some_rows(const unsigned char *row, size_t stride, const size_t rows, size_t bytes,
		    const struct tsw_pieces *w, uint64_t *sum, struct tsw_squares *squares)
{
	const unsigned char *const other = rows > 1 ? row + stride : row;
	const __m512i zero = _mm512_setzero_si512();
	struct row_sums s = {.y = zero, .squares = zero}, t = s;

	_Pragma("GCC unroll 8") for (unsigned k = 0; k < TSW_PIECES; k++) s.piece[k] = t.piece[k] =
		zero;
	for (size_t at = 0; at < bytes; at += CHUNK) {
		const size_t left = bytes - at;
		const __mmask64 m = left < CHUNK ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;
		const signed char(*piece)[CHUNK] = w->chunk[at / CHUNK];

		/* What the same columns of the next rows hold will be wanted soon. */
		__builtin_prefetch((const void *)((uintptr_t)row + at + 2 * stride));
		add_chunk(&s, _mm512_maskz_loadu_epi8(m, row + at), piece);
		if (rows > 1) {
			__builtin_prefetch((const void *)((uintptr_t)other + at + 2 * stride));
			add_chunk(&t, _mm512_maskz_loadu_epi8(m, other + at), piece);
		}
	}
	sum[0] = tsw_add_p(sum[0], row_sum(&s));
	add_squares(squares, &s);
	if (rows > 1) {
		sum[1] = tsw_add_p(sum[1], row_sum(&t));
		add_squares(squares, &t);
	}
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
