/* AVX2 and F16C: two lanes, half a cache line. */
#if defined(__x86_64__)

#include <immintrin.h>
#include <stddef.h>

#define TARGET __attribute__((target("avx2,f16c")))
#define ISA_TABLE tsw_isa_avx2
#define ISA_NAME "avx2"
#define LANES 2

typedef __m256i vec;

#define X256 static inline __attribute__((always_inline)) TARGET

X256 vec load(const unsigned char *p)
{
	return _mm256_loadu_si256((const void *)p);
}

X256 void store(unsigned char *p, vec v)
{
	_mm256_storeu_si256((void *)p, v);
}

X256 vec gather(const unsigned char *p, size_t step)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)p)),
				       _mm_loadu_si128((const void *)(p + step)), 1);
}

#define lo1 _mm256_unpacklo_epi8
#define hi1 _mm256_unpackhi_epi8
#define lo2 _mm256_unpacklo_epi16
#define hi2 _mm256_unpackhi_epi16
#define lo4 _mm256_unpacklo_epi32
#define hi4 _mm256_unpackhi_epi32
#define lo8 _mm256_unpacklo_epi64
#define hi8 _mm256_unpackhi_epi64

#define HAVE_SHUFFLE
X256 vec gather_at(const unsigned char *p, const size_t *at)
{
	return gather(p + at[0], at[1] - at[0]);
}

X256 vec shuffle(vec v, vec which)
{
	return _mm256_shuffle_epi8(v, which);
}

#define HAVE_SCALE_HALVES
X256 vec scale_halves(vec v, __m256 by)
{
	const __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(v));
	const __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(v, 1));
	const __m128i l = _mm256_cvtps_ph(_mm256_mul_ps(low, by), _MM_FROUND_TO_NEAREST_INT);
	const __m128i h = _mm256_cvtps_ph(_mm256_mul_ps(high, by), _MM_FROUND_TO_NEAREST_INT);

	return _mm256_inserti128_si256(_mm256_castsi128_si256(l), h, 1);
}

#include "lanes.inc"

#else
typedef int tsw_isa_avx2_absent; /* not an empty file */
#endif
