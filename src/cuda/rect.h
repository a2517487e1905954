/* Rectangles of a distributed matrix's local part on a device: packed, unpacked, exchanged.  All
 * calls queue kernels on a stream of the current device. */
#ifndef TSW_RECT_H
#define TSW_RECT_H

#include "../dist/plan.h"

/* Rows `down` and columns `across` of a local matrix stored by rows. */
struct tsw_rect {
	char *a;   /* the local matrix */
	size_t ld; /* in elements */
	size_t elem_size;
	struct tsw_walk down, across;
	uint64_t rows, cols;
};

static inline uint64_t tsw_rect_bytes(const struct tsw_rect *r)
{
	return r->rows * r->cols * r->elem_size;
}

/* Its first element, if its rows and columns follow each other in the local matrix without gaps
 * between them; else NULL. */
char *tsw_rect_whole(const struct tsw_rect *r);

/* Packs it into `to`, rows x cols, which may be memory of another device or of the host. */
tsw_status tsw_rect_pack(const struct tsw_rect *r, void *to, tsw_stream stream);

/* Fills it with the transpose of `from`, cols x rows. */
tsw_status tsw_rect_fill(const struct tsw_rect *r, const void *from, tsw_stream stream);

/* Exchanges it with its mirror image on another part.  Half 0 and half 1 of the work may be queued
 * on different devices. */
tsw_status tsw_rect_swap(const struct tsw_rect *r, const struct tsw_rect *mirror, unsigned half,
			 tsw_stream stream);

/* Transposes one whose rows and columns are the same set. */
tsw_status tsw_rect_turn(const struct tsw_rect *r, tsw_stream stream);

#endif /* TSW_RECT_H */
