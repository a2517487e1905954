#include "hash.h"

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
			XXH3_128bits_update(&state, start, bytes);
	}
	return from_xxh(XXH3_128bits_digest(&state));
}
