/* imatcopy, one element after the other: what every engine is compared with, bit for bit. */
#ifndef TSW_SUPPORT_IMATCOPY_H
#define TSW_SUPPORT_IMATCOPY_H

#include "support.h"
#include "tileswap.h"

struct tsw_imat {
	char op;
	tsw_type type;
	int null_alpha; /* alpha is given as NULL */
	double re, im;	/* else these, rounded to alpha's type; real types use re */
};

/* Combinations of op (NTCRntcr), type and alpha, numbered from 0: ops first, then types. */
#define TSW_IMAT_OPS 8
#define TSW_IMAT_TYPES 6
#define TSW_IMAT_INDEX(alpha, type, op)                                                            \
	((size_t)(alpha)*TSW_IMAT_OPS * TSW_IMAT_TYPES + (size_t)(type)*TSW_IMAT_OPS + (size_t)(op))
struct tsw_imat tsw_imat_at(size_t index);
size_t tsw_imat_count(void);

size_t tsw_imat_size(tsw_type type);   /* bytes of an element */
int tsw_imat_in_floats(tsw_type type); /* alpha is a float or two, else a double or two */
int tsw_imat_is_complex(tsw_type type);

/* Alpha as the library wants it, in one static buffer a thread; NULL for NULL.  And its bytes. */
const void *tsw_imat_alpha(const struct tsw_imat *x);
size_t tsw_imat_alpha_bytes(tsw_type type);

/* In words, in one static buffer a thread. */
const char *tsw_imat_text(const struct tsw_imat *x);

/* Writes alpha * op(before) into the window of `after`. */
void tsw_oracle_imatcopy(const struct tsw_imat *x, const unsigned char *before,
			 unsigned char *after, size_t n, size_t ld);

/* NULL if `a` is as `expected`: the same bits, but that a NaN that was calculated may be any. */
const char *tsw_wrong_imatcopy(const struct tsw_imat *x, const unsigned char *a,
			       const unsigned char *expected, size_t bytes);

#endif /* TSW_SUPPORT_IMATCOPY_H */
