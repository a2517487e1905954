/* Where stress works: one matrix on the host or on one CUDA device, and what can be done to it. */
#ifndef TSW_ARENA_H
#define TSW_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "../tileswap.h"
#include "../verify/verify.h"

struct arena {
	const struct arena_ops *ops;
	int device; /* CUDA's number, -1 for the host */
	char name[16];
	int threads;
	void *a;
	size_t n, ld, elem_size, span_bytes;
};

/* The host (device = -1) or a CUDA device; nothing is allocated yet. */
void arena_init(struct arena *arena, int device, int threads);

/* Bytes that stress may take when nobody says how many: nearly all of a device, half of a host. */
tsw_status arena_spare(const struct arena *arena, uint64_t *bytes);

/* Memory for a matrix.  n >= 1, ld >= n, and the span has been checked. */
tsw_status arena_alloc(struct arena *arena, size_t n, size_t ld, size_t elem_size);
void arena_free(struct arena *arena);

/* Random bits over the whole span; *source says who made them. */
tsw_status arena_fill(struct arena *arena, uint64_t seed, const char **source);
tsw_status arena_digest(struct arena *arena, int transposed, tsw_digest *digest);
tsw_status arena_transpose(struct arena *arena, double *time_ms);

/* Compares the transpose of what arena_fill made with what is there, padding too. */
tsw_status arena_check(struct arena *arena, uint64_t seed, struct tsw_wrong *wrong);

#endif /* TSW_ARENA_H */
