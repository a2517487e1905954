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

/* Bytes that stress may take: `percent` of what is free, or, where that is 0, nearly all of a
 * device and half of a host. */
tsw_status arena_spare(const struct arena *arena, unsigned percent, uint64_t *bytes);

/* Memory for a matrix.  n >= 1, ld >= n, and the span has been checked. */
tsw_status arena_alloc(struct arena *arena, size_t n, size_t ld, size_t elem_size);
void arena_free(struct arena *arena);

/* A small matrix is filled, transposed and checked, so that what is loaded when it is first wanted
 * has its memory.  Before arena_spare, on a device. */
tsw_status arena_warm_up(struct arena *arena);

/* Fills the whole span; *source says who made the bits. */
tsw_status arena_fill(struct arena *arena, const struct tsw_content *content, const char **source);
tsw_status arena_digest(struct arena *arena, int transposed, tsw_digest *digest);
tsw_status arena_transpose(struct arena *arena, double *time_ms);

/* Compares the transpose of what arena_fill made with what is there, padding too. */
tsw_status arena_check(struct arena *arena, const struct tsw_content *content,
		       struct tsw_wrong *wrong);

/* Bytes at .. at + nbytes - 1 of the span. */
tsw_status arena_read(struct arena *arena, size_t at, void *to, size_t nbytes);
tsw_status arena_write(struct arena *arena, size_t at, const void *from, size_t nbytes);

#endif /* TSW_ARENA_H */
