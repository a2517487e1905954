/* A call of the library drawn at random: which entry, what matrices, how many threads; with what it
 * must do to a stretch of bytes.  For tests of properties, of concurrency, and the soak. */
#ifndef TSW_SUPPORT_TRIAL_H
#define TSW_SUPPORT_TRIAL_H

#include "imatcopy.h"
#include "support.h"

enum tsw_trial_kind {
	TSW_TRIAL_ANY,	  /* tsw_transpose */
	TSW_TRIAL_ONE,	  /* tsw_transpose_host */
	TSW_TRIAL_APART,  /* a strided batch, one matrix behind the other */
	TSW_TRIAL_BESIDE, /* a strided batch, side by side in one larger matrix */
	TSW_TRIAL_ARRAY,  /* an array of pointers, in scattered order */
	TSW_TRIAL_IMATCOPY,
	TSW_TRIAL_IMATCOPY_BATCH,
	TSW_TRIAL_KINDS
};

struct tsw_trial {
	enum tsw_trial_kind kind;
	struct tsw_shape shape;
	size_t stride, count; /* elements; an array's matrices lie `each` bytes apart */
	size_t each;
	int nthreads;
	struct tsw_imat x; /* of an imatcopy */
};

/* A trial that fits in `most_bytes`, at least 64; an array's addresses are multiples of `align`. */
struct tsw_trial tsw_trial_random(uint64_t *state, size_t most_bytes, size_t align);

/* Bytes from the first to the last of all its matrices; where matrix b begins. */
size_t tsw_trial_bytes(const struct tsw_trial *t);
size_t tsw_trial_place(const struct tsw_trial *t, size_t b);

/* Makes the call on the bytes at `a`, with t->nthreads. */
tsw_status tsw_trial_run(const struct tsw_trial *t, unsigned char *a);

/* Does to `after` what the call must do to `before`; `after` holds the same bytes. */
void tsw_trial_expect(const struct tsw_trial *t, const unsigned char *before, unsigned char *after);

/* NULL if the bytes are as expected (the bits of a calculated NaN are free), else what is wrong and
 * with which trial. */
const char *tsw_trial_wrong(const struct tsw_trial *t, const unsigned char *a,
			    const unsigned char *expected);

int tsw_trial_is_imatcopy(const struct tsw_trial *t);

/* In words, in one static buffer a thread. */
const char *tsw_trial_text(const struct tsw_trial *t);

#endif /* TSW_SUPPORT_TRIAL_H */
