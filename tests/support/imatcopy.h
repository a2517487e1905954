/* imatcopy, one element after the other: what every engine is compared with, bit for bit. */
#ifndef TSW_SUPPORT_IMATCOPY_H
#define TSW_SUPPORT_IMATCOPY_H

#include "support.h"
#include "tileswap.h"

struct tsw_imat {
	char op;
	tsw_type type;
	int null_alpha; /* alpha is given as NULL */
	double re, im;	/* else these, rounded to the type; real types use re */
};

/* Combinations of op (both cases), type and alpha, numbered from 0. */
struct tsw_imat tsw_imat_at(size_t index);
size_t tsw_imat_count(void);

size_t tsw_imat_size(tsw_type type); /* bytes of an element */

/* Alpha as a value of the type, in one static buffer a thread; NULL for NULL. */
const void *tsw_imat_alpha(const struct tsw_imat *x);

/* In words, in one static buffer a thread. */
const char *tsw_imat_text(const struct tsw_imat *x);

/* Writes alpha * op(before) into the window of `after`. */
void tsw_oracle_imatcopy(const struct tsw_imat *x, const unsigned char *before,
			 unsigned char *after, size_t n, size_t ld);

/* NULL if `a` is as `expected`: the same bits, but that a NaN that was calculated may be any. */
const char *tsw_wrong_imatcopy(const struct tsw_imat *x, const unsigned char *a,
			       const unsigned char *expected, size_t bytes);

#endif /* TSW_SUPPORT_IMATCOPY_H */
