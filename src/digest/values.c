/* What elements of several limbs add to `values`: y (2 y + 1) for y = sum over m of delta(m)
 * word(m). */
#include "rows.h"

#include "digest_math.h"

#include <string.h>

static uint64_t word_at(const unsigned char *p, size_t nbytes)
{
	uint64_t word = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&word, p, nbytes);
#else
	for (size_t b = 0; b < nbytes; b++)
		word |= (uint64_t)p[b] << 8 * b;
#endif
	return word;
}

/* Inlined with a constant number of limbs to an element. */
static inline __attribute__((always_inline)) uint64_t
values_of(const unsigned char *limb, size_t limbs, const size_t each, const uint64_t *delta)
{
	uint64_t values = 0;

	for (; limbs; limbs -= each, limb += 4 * each) {
		uint64_t y = each % 2 ? delta[each / 2] * word_at(limb + 4 * (each - 1), 4) : 0;

		for (size_t m = 0; m < each / 2; m++)
			y += delta[m] * word_at(limb + 8 * m, 8);
		values += tsw_value(y);
	}
	return values;
}

uint64_t tsw_values_plain(const unsigned char *limb, size_t limbs, size_t each,
			  const uint64_t *delta)
{
	switch (each) {
	case 3:
		return values_of(limb, limbs, 3, delta);
	case 4:
		return values_of(limb, limbs, 4, delta);
	case 6:
		return values_of(limb, limbs, 6, delta);
	default:
		return values_of(limb, limbs, each, delta);
	}
}

#ifdef __x86_64__
#include <immintrin.h>

#define DQ_TARGET __attribute__((target("avx512f,avx512dq")))

/* The words of eight elements of three or four limbs; delta(0) = 1. */
DQ_TARGET static inline __m512i eight(__m512i word0, __m512i word1, __m512i delta)
{
	const __m512i y = _mm512_add_epi64(word0, _mm512_mullo_epi64(word1, delta));
	const __m512i twice = _mm512_add_epi64(y, y);

	return _mm512_mullo_epi64(y, _mm512_or_si512(twice, _mm512_set1_epi64(1)));
}

DQ_TARGET static uint64_t sum_of(__m512i x)
{
	uint64_t lane[8], sum = 0;

	_mm512_storeu_si512(lane, x);
	for (int i = 0; i < 8; i++)
		sum += lane[i];
	return sum;
}

/* 12 bytes: the eight lie in one and a half vectors, and are picked out of both. */
DQ_TARGET static uint64_t values3(const unsigned char *p, size_t eights, uint64_t delta)
{
	const __m512i first =
		_mm512_setr_epi32(0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22);
	const __m512i second =
		_mm512_setr_epi32(2, 0, 5, 0, 8, 0, 11, 0, 14, 0, 17, 0, 20, 0, 23, 0);
	__m512i sum = _mm512_setzero_si512();

	for (; eights; eights--, p += 96) {
		const __m512i a = _mm512_loadu_si512(p);
		const __m512i b = _mm512_castsi256_si512(
			_mm256_loadu_si256((const __m256i *)(const void *)(p + 64)));

		sum = _mm512_add_epi64(sum,
				       eight(_mm512_permutex2var_epi32(a, first, b),
					     _mm512_maskz_permutex2var_epi32(0x5555, a, second, b),
					     _mm512_set1_epi64((long long)delta)));
	}
	return sum_of(sum);
}

DQ_TARGET static uint64_t values4(const unsigned char *p, size_t eights, uint64_t delta)
{
	__m512i sum = _mm512_setzero_si512();

	for (; eights; eights--, p += 128) {
		const __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64);

		sum = _mm512_add_epi64(sum, eight(_mm512_unpacklo_epi64(a, b),
						  _mm512_unpackhi_epi64(a, b),
						  _mm512_set1_epi64((long long)delta)));
	}
	return sum_of(sum);
}

uint64_t tsw_values_avx512(const unsigned char *limb, size_t limbs, size_t each,
			   const uint64_t *delta)
{
	const size_t eights = limbs / each / 8, done = 8 * eights * each;
	uint64_t sum = 0;

	if (each != 3 && each != 4)
		return tsw_values_plain(limb, limbs, each, delta);
	sum = each == 3 ? values3(limb, eights, delta[1]) : values4(limb, eights, delta[1]);
	return sum + tsw_values_plain(limb + 4 * done, limbs - done, each, delta);
}
#endif
