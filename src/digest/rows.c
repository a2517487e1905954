/* The instruction sets of the host checksum. */
#include "rows.h"

#include <string.h>

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
	const size_t size = kind == TSW_ROWS_1 ? 1 : kind == TSW_ROWS_2 ? 2 : 4;
	uint64_t low = 0;

	for (; l < limbs; l++, p += size) {
		uint64_t x = limb_at(p, size);

		for (int k = 0; k < 3; k++)
			sum[k] += x * w->piece[k][l];
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
#define VMUL(x, y) (VLOW(x) * VLOW(y))
#define VLOAD4(p) load4(p)
#define VLOAD2(p) (limb_at(p, 2) | (uint64_t)limb_at((p) + 2, 2) << 32)
#define VLOAD1(p) ((p)[0] | (uint64_t)(p)[1] << 32)
#include "rows_body.h"

#ifdef __x86_64__
#include <immintrin.h>

static int has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static int has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

__attribute__((target("avx2"))) static uint64_t sum256(__m256i x)
{
	uint64_t lane[4];

	_mm256_storeu_si256((__m256i *)lane, x);
	return lane[0] + lane[1] + lane[2] + lane[3];
}

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
#define VLOAD2(p) _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define VLOAD1(p) _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p)))
#include "rows_body.h"

/* Not _mm512_reduce_add_epi64, whose sum is of signed numbers, which may not overflow. */
__attribute__((target("avx512f"))) static uint64_t sum512(__m512i x)
{
	uint64_t lane[8], sum = 0;

	_mm512_storeu_si512(lane, x);
	for (int i = 0; i < 8; i++)
		sum += lane[i];
	return sum;
}

#define DOT_NAME dot_avx512
#define DOT_TARGET __attribute__((target("avx512f")))
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
#define VLOAD2(p) _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define VLOAD1(p) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#include "rows_body.h"
#endif

static const struct tsw_dot sets[] = {
	{"plain", always, dot_plain},
#ifdef __x86_64__
	{"avx2", has_avx2, dot_avx2},
	{"avx512", has_avx512, dot_avx512},
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

tsw_dot_rows tsw_dot_best(void)
{
	size_t best = SETS - 1;

	if (forced >= 0)
		return sets[forced].dot;
	while (!sets[best].usable())
		best--;
	return sets[best].dot;
}
