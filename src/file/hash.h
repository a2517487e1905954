/* The hash that tells contents apart: XXH3, 128 bits (src/third_party/xxhash). */
#ifndef TSW_HASH_H
#define TSW_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct tsw_hash {
	uint64_t low, high;
} tsw_hash;

tsw_hash tsw_hash_bytes(const void *p, size_t bytes);

/* Of `rows` pieces of memory, one after the other: row r has bytes(arg, r, &start) bytes. */
tsw_hash tsw_hash_rows(size_t (*piece)(const void *arg, size_t row, const void **start),
		       const void *arg, size_t first, size_t end);

static inline int tsw_hash_equal(tsw_hash x, tsw_hash y)
{
	return x.low == y.low && x.high == y.high;
}

#endif /* TSW_HASH_H */
