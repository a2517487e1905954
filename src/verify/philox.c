/* Runs of random bytes on the host. */
#include "philox.h"

#include "verify.h"

#include <string.h>

/* The bytes of a block. */
static void put(const struct tsw_philox *block, unsigned char *out)
{
	for (unsigned b = 0; b < 16; b++)
		out[b] = tsw_philox_byte(block, b);
}

static void block_plain(uint64_t seed, uint64_t first, unsigned char *out)
{
	const struct tsw_philox block = tsw_philox_block(seed, first);

	put(&block, out);
}

#ifdef __x86_64__
#include <immintrin.h>

#define PHILOX_NAME blocks_avx2
#define PHILOX_TARGET __attribute__((target("avx2")))
#define PHILOX_LANES 4
#define VEC __m256i
#define VSET(x) _mm256_set1_epi64x(x)
#define VLOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define VSTORE(p, x) _mm256_storeu_si256((__m256i *)(void *)(p), x)
#define VMUL(x, y) _mm256_mul_epu32(x, y)
#define VXOR(x, y) _mm256_xor_si256(x, y)
#define VOR(x, y) _mm256_or_si256(x, y)
#define VAND(x, y) _mm256_and_si256(x, y)
#define VADD(x, y) _mm256_add_epi64(x, y)
#define VSHIFT(x, k) _mm256_srli_epi64(x, k)
#define VUP(x) _mm256_slli_epi64(x, 32)
#include "philox_body.h"

#define PHILOX_NAME blocks_avx512
#define PHILOX_TARGET __attribute__((target("avx512f")))
#define PHILOX_LANES 8
#define VEC __m512i
#define VSET(x) _mm512_set1_epi64(x)
#define VLOAD(p) _mm512_loadu_si512(p)
#define VSTORE(p, x) _mm512_storeu_si512(p, x)
#define VMUL(x, y) _mm512_mul_epu32(x, y)
#define VXOR(x, y) _mm512_xor_si512(x, y)
#define VOR(x, y) _mm512_or_si512(x, y)
#define VAND(x, y) _mm512_and_si512(x, y)
#define VADD(x, y) _mm512_add_epi64(x, y)
#define VSHIFT(x, k) _mm512_srli_epi64(x, k)
#define VUP(x) _mm512_slli_epi64(x, 32)
#include "philox_body.h"
#endif

struct many {
	void (*run)(uint64_t seed, uint64_t first, unsigned char *out);
	size_t blocks; /* of a call */
};

static struct many best(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f"))
		return (struct many){blocks_avx512, 8};
	if (__builtin_cpu_supports("avx2"))
		return (struct many){blocks_avx2, 4};
#endif
	return (struct many){block_plain, 1};
}

void tsw_philox_bytes(uint64_t seed, uint64_t offset, void *out, size_t nbytes)
{
	const struct many many = best();
	unsigned char *to = out, one[16];

	while (nbytes) {
		const size_t skip = offset % 16;
		size_t part = 16 - skip;

		if (skip == 0 && nbytes >= 16 * many.blocks) {
			many.run(seed, offset / 16, to);
			part = 16 * many.blocks;
		} else {
			block_plain(seed, offset / 16, one);
			part = part < nbytes ? part : nbytes;
			memcpy(to, one + skip, part);
		}
		to += part;
		offset += part;
		nbytes -= part;
	}
}
