#include "hash.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
/* The way to have more than one kind of vectors in a program. */
#define XXH_X86DISPATCH 1
#define XXH_DISPATCH_AVX2 1
#define XXH_TARGET_AVX2 AVX2
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wunused-function"
#define XXH_INLINE_ALL
#include "../third_party/xxhash/xxhash.h"
#pragma GCC diagnostic pop

static tsw_hash from_xxh(XXH128_hash_t h)
{
	return (tsw_hash){.low = h.low64, .high = h.high64};
}

tsw_hash tsw_hash_bytes(const void *p, size_t bytes)
{
	return from_xxh(XXH3_128bits(p, bytes));
}

/* Longer vectors give the same hash, of bytes in the processor's cache in half the time. */
#if defined(__x86_64__)
AVX2 static void update_avx2(XXH3_state_t *state, const void *p, size_t bytes)
{
	XXH3_update(state, p, bytes, XXH3_accumulate_512_avx2, XXH3_scrambleAcc_avx2);
}

static void update(XXH3_state_t *state, const void *p, size_t bytes)
{
	if (__builtin_cpu_supports("avx2"))
		update_avx2(state, p, bytes);
	else
		XXH3_128bits_update(state, p, bytes);
}
#else
static void update(XXH3_state_t *state, const void *p, size_t bytes)
{
	XXH3_128bits_update(state, p, bytes);
}
#endif

tsw_hash tsw_hash_rows(size_t (*piece)(const void *arg, size_t row, const void **start),
		       const void *arg, size_t first, size_t end)
{
	XXH3_state_t state;
	const void *start;
	size_t bytes;

	XXH3_128bits_reset(&state);
	for (size_t r = first; r < end; r++) {
		bytes = piece(arg, r, &start);
		if (bytes)
			update(&state, start, bytes);
	}
	return from_xxh(XXH3_128bits_digest(&state));
}
