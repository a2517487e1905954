/* A matrix in parts, by the definition: whose each index is, and how many before it are his too.
 * Shares nothing with src/dist. */
#ifndef TSW_TEST_PARTS_H
#define TSW_TEST_PARTS_H

#include <stddef.h>

#include "tileswap_dist.h"

/* The most parts of a test. */
#define TSW_MOST_PARTS 16

struct tsw_layout {
	size_t n, mb, nb;
	int nprow, npcol, rsrc, csrc;
	size_t elem_size;
	size_t gap; /* the leading dimension is that much more than the columns */
};

struct tsw_parts {
	struct tsw_layout layout;
	int count;
	size_t rows[TSW_MOST_PARTS], cols[TSW_MOST_PARTS], ld[TSW_MOST_PARTS];
	size_t bytes[TSW_MOST_PARTS]; /* from the first to the last element; 0 without any */
	unsigned char
		*a[TSW_MOST_PARTS]; /* host memory, the caller's: every part's first element */
	int *row_of, *col_of;	    /* grid row and column of an index */
	size_t *row_at, *col_at;    /* its local index there */
};

struct tsw_parts tsw_parts_new(struct tsw_layout layout);
void tsw_parts_free(struct tsw_parts *p);

/* The same layout in the library's words. */
tsw_dist tsw_parts_dist(const struct tsw_layout *layout);

/* Fills every part with a pattern, padding included, then puts the pattern of the whole matrix into
 * its elements. */
void tsw_parts_fill(struct tsw_parts *p);

/* NULL if the parts hold the transpose of what was filled in, padding kept; else the first wrong
 * place, in words (one static buffer).  Spoils the parts. */
const char *tsw_parts_wrong(struct tsw_parts *p);

/* The layout in words (one static buffer). */
const char *tsw_layout_text(const struct tsw_layout *layout);

#endif /* TSW_TEST_PARTS_H */
