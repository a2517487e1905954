/* The instruction sets of the host checksum. */
#include "rows.h"

#include "bytes.h"
#include "digest_math.h"

static inline __attribute__((always_inline)) size_t limb_bytes(const enum tsw_rows kind)
{
	return kind == TSW_ROWS_1 ? 1 : kind == TSW_ROWS_2 ? 2 : kind == TSW_ROWS_3 ? 3 : 4;
}

static uint32_t limb_at(const unsigned char *p, size_t size)
{
	uint32_t limb = 0;

	for (size_t b = 0; b < size; b++)
		limb |= (uint32_t)p[b] << 8 * b;
	return limb;
}

static void tail(const unsigned char *p, size_t l, size_t limbs, enum tsw_rows kind,
		 const struct tsw_weights *w, uint64_t *sum, struct tsw_squares *squares)
{
	const size_t size = limb_bytes(kind);
	uint64_t low = 0;

	for (; l < limbs; l++, p += size) {
		uint64_t x = limb_at(p, size);

		*sum = tsw_add_p(*sum, tsw_mul_p(x, w->half[l % 2][l / 2]));
		if (kind == TSW_ROWS_PLACED)
			continue;
		if (kind == TSW_ROWS_8 && l % 2) {
			squares->y += x << 32;
			squares->low_high += low * x;
			continue;
		}
		low = x;
		squares->y += x;
		squares->low_low += x * x;
	}
}

static int always(void)
{
	return 1;
}

/* Every machine: a vector of one 64-bit lane. */
static inline uint64_t load4(const void *from)
{
	const unsigned char *p = from;

	return limb_at(p, 4) | (uint64_t)limb_at(p + 4, 4) << 32;
}

/* A product is below 2^93, and so a 128-bit sum has room for 2^35 of them. */
struct plain_weights {
	uint64_t even, odd;
};

static inline uint64_t plain_sum(unsigned __int128 s)
{
	const uint64_t high = (uint64_t)(s >> 61);

	return tsw_add_p(tsw_mod_p(high), (uint64_t)s & TSW_P);
}

#define DOT_NAME dot_plain
#define DOT_TARGET
#define DOT_ROWS 4
#define VEC uint64_t
#define LANES 1
#define VZERO 0
#define VADD(x, y) ((x) + (y))
#define VLOW(x) ((x)&0xffffffffu)
#define VHIGH(x) ((x) >> 32)
#define VSUM(x) (x)
#define VMUL(x, y) ((x) * (y))
#define WEIGHTS struct plain_weights
#define WLOAD(w, l)                                                                                \
	{                                                                                          \
		(w)->half[0][(l) / 2], (w)->half[1][(l) / 2]                                       \
	}
#define SUMS unsigned __int128
#define WZERO(s) ((s) = 0)
#define WADD(s, x, y, w)                                                                           \
	((s) += (unsigned __int128)(x) * (w).even + (unsigned __int128)(y) * (w).odd)
#define WSUM(s) plain_sum(s)
#define VLOAD4(p) load4(p)
#define VLOAD3(p) (limb_at(p, 3) | (uint64_t)limb_at((p) + 3, 3) << 32)
#define VLOAD2(p) (limb_at(p, 2) | (uint64_t)limb_at((p) + 2, 2) << 32)
#define VLOAD1(p) ((p)[0] | (uint64_t)(p)[1] << 32)
#include "rows_body.h"

#ifdef __x86_64__
#include <immintrin.h>

static int has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static int has_ifma(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512ifma");
}

static int has_ifma_and_vnni(void)
{
	return has_ifma() && tsw_has_vnni();
}

__attribute__((target("avx2"))) static uint64_t sum256(__m256i x)
{
	uint64_t lane[4];

	_mm256_storeu_si256((__m256i *)lane, x);
	return lane[0] + lane[1] + lane[2] + lane[3];
}

/* Weights in three pieces (digest_math.h): products below 2^53, 2048 of which fit in 64 bits. */
struct avx2_weights {
	__m256i even[3], odd[3];
};

struct avx2_sums {
	__m256i piece[3];
};

__attribute__((target("avx2"), always_inline)) static inline void avx2_pieces(const uint64_t *from,
									      __m256i *piece)
{
	const __m256i w = _mm256_loadu_si256((const __m256i *)(const void *)from);

	piece[0] = _mm256_and_si256(w, _mm256_set1_epi64x(0x1fffff));
	piece[1] = _mm256_and_si256(_mm256_srli_epi64(w, 21), _mm256_set1_epi64x(0xfffff));
	piece[2] = _mm256_srli_epi64(w, 41);
}

__attribute__((target("avx2"), always_inline)) static inline struct avx2_weights
avx2_load(const struct tsw_weights *w, size_t l)
{
	struct avx2_weights out;

	avx2_pieces(w->half[0] + l / 2, out.even);
	avx2_pieces(w->half[1] + l / 2, out.odd);
	return out;
}

/* 24 bytes: the second lane begins with bytes 8 .. 11, which it does not want. */
__attribute__((target("avx2"), always_inline)) static inline __m256i
avx2_load3(const unsigned char *p)
{
	const __m256i both = _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p)),
		_mm_loadu_si128((const __m128i *)(const void *)(p + 8)), 1);

	return _mm256_shuffle_epi8(both, _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9,
							  10, 11, -1, 4, 5, 6, -1, 7, 8, 9, -1, 10,
							  11, 12, -1, 13, 14, 15, -1));
}

#define AVX2_ADD(s, x, y, w, k)                                                                    \
	((s).piece[k] = _mm256_add_epi64(                                                          \
		 _mm256_add_epi64((s).piece[k], _mm256_mul_epu32(x, (w).even[k])),                 \
		 _mm256_mul_epu32(y, (w).odd[k])))

#define DOT_NAME dot_avx2
#define DOT_TARGET __attribute__((target("avx2")))
#define DOT_ROWS 2
#define VEC __m256i
#define LANES 4
#define VZERO _mm256_setzero_si256()
#define VADD(x, y) _mm256_add_epi64(x, y)
#define VLOW(x) _mm256_blend_epi32(x, _mm256_setzero_si256(), 0xaa)
#define VHIGH(x) _mm256_srli_epi64(x, 32)
#define VSUM(x) sum256(x)
#define VMUL(x, y) _mm256_mul_epu32(x, y)
#define VLOAD4(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define VLOAD3(p) avx2_load3(p)
#define VLOAD2(p) _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define VLOAD1(p) _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p)))
#define WEIGHTS struct avx2_weights
#define WLOAD(w, l) avx2_load(w, l)
#define SUMS struct avx2_sums
#define WZERO(v) ((v).piece[0] = (v).piece[1] = (v).piece[2] = VZERO)
#define WADD(v, x, y, w) (AVX2_ADD(v, x, y, w, 0), AVX2_ADD(v, x, y, w, 1), AVX2_ADD(v, x, y, w, 2))
#define WSUM(v) tsw_join_pieces(sum256((v).piece[0]), sum256((v).piece[1]), sum256((v).piece[2]))
#include "rows_body.h"

/* IFMA multiplies 52 bits by 52 bits and adds the lower or the upper 52 bits of the product.  Of a
 * weight it takes the lower 52 bits; the other 9 come in shifted down:
 *
 *     x w = low(x w) + 2^52 (high(x w) + x (w >> 52))      each sum below 1440 2^52 < 2^63
 */
#define IFMA_TARGET __attribute__((target("avx512f,avx512bw,avx512ifma")))

/* Not _mm512_reduce_add_epi64, whose sum is of signed numbers, which may not overflow. */
IFMA_TARGET static uint64_t sum512(__m512i x)
{
	uint64_t lane[8], sum = 0;

	_mm512_storeu_si512(lane, x);
	for (int i = 0; i < 8; i++)
		sum += lane[i];
	return sum;
}

struct ifma_weights {
	__m512i even, odd, even_top, odd_top;
};

struct ifma_sums {
	__m512i low, high;
};

__attribute__((target("avx512f,avx512bw,avx512ifma"),
	       always_inline)) static inline struct ifma_weights
ifma_load(const struct tsw_weights *w, size_t l)
{
	struct ifma_weights out;

	out.even = _mm512_loadu_si512(w->half[0] + l / 2);
	out.odd = _mm512_loadu_si512(w->half[1] + l / 2);
	out.even_top = _mm512_srli_epi64(out.even, 52);
	out.odd_top = _mm512_srli_epi64(out.odd, 52);
	return out;
}

__attribute__((target("avx512f,avx512bw,avx512ifma"), always_inline)) static inline struct ifma_sums
ifma_add(struct ifma_sums s, __m512i x, __m512i w, __m512i top)
{
	s.low = _mm512_madd52lo_epu64(s.low, x, w);
	s.high = _mm512_madd52hi_epu64(s.high, x, w);
	s.high = _mm512_madd52lo_epu64(s.high, x, top);
	return s;
}

IFMA_TARGET static uint64_t ifma_sum(struct ifma_sums s)
{
	return tsw_add_p(tsw_mod_p(sum512(s.low)), tsw_shift_p(tsw_mod_p(sum512(s.high)), 52));
}

/* 48 bytes: 12 to each lane of 16, where they are spread. */
IFMA_TARGET static inline __attribute__((always_inline)) __m512i ifma_load3(const unsigned char *p)
{
	const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
	const __m512i bytes = _mm512_broadcast_i32x4(
		_mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));

	return _mm512_shuffle_epi8(
		_mm512_permutexvar_epi32(lanes, _mm512_maskz_loadu_epi32(0xfff, p)), bytes);
}

#define DOT_NAME dot_ifma
#define DOT_TARGET IFMA_TARGET
#define DOT_ROWS 4
#define VEC __m512i
#define LANES 8
#define VZERO _mm512_setzero_si512()
#define VADD(x, y) _mm512_add_epi64(x, y)
#define VLOW(x) _mm512_and_si512(x, _mm512_set1_epi64(0xffffffff))
#define VHIGH(x) _mm512_srli_epi64(x, 32)
#define VSUM(x) sum512(x)
#define VMUL(x, y) _mm512_mul_epu32(x, y)
#define VLOAD4(p) _mm512_loadu_si512(p)
#define VLOAD3(p) ifma_load3(p)
#define VLOAD2(p) _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define VLOAD1(p) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define WEIGHTS struct ifma_weights
#define WLOAD(w, l) ifma_load(w, l)
#define SUMS struct ifma_sums
#define WZERO(s) ((s).low = (s).high = VZERO)
#define WADD(s, x, y, w)                                                                           \
	((s) = ifma_add(ifma_add(s, x, (w).even, (w).even_top), y, (w).odd, (w).odd_top))
#define WSUM(s) ifma_sum(s)
#include "rows_body.h"
#endif

static const struct tsw_dot sets[] = {
	{"plain", always, dot_plain, tsw_values_plain, NULL, NULL},
#ifdef __x86_64__
	{"avx2", has_avx2, dot_avx2, tsw_values_plain, NULL, NULL},
	{"avx512ifma", has_ifma, dot_ifma, tsw_values_avx512, NULL, NULL},
	{"avx512vnni", has_ifma_and_vnni, dot_ifma, tsw_values_avx512, tsw_weigh_bytes,
	 tsw_dot_bytes_vnni},
#endif
};

#define SETS (sizeof sets / sizeof *sets)

static int forced = -1;

const struct tsw_dot *tsw_dot_at(size_t index)
{
	return index < SETS ? &sets[index] : NULL;
}

void tsw_dot_force(int index)
{
	forced = index;
}

const struct tsw_dot *tsw_dot_best(void)
{
	size_t best = SETS - 1;

	if (forced >= 0)
		return &sets[forced];
	while (!sets[best].usable())
		best--;
	return &sets[best];
}
