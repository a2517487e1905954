/* The checksum of tileswap.h on the host. */
#ifndef TSW_DIGEST_H
#define TSW_DIGEST_H

#include "../matrices.h"

/* The digest of one matrix (checked; n may be 0) with up to `nthreads` threads (0 = all).  Cannot
 * fail: it allocates nothing, and needs under 16 KiB of stack a thread. */
tsw_digest tsw_digest_host(const struct tsw_matrices *m, int transposed, int nthreads);

/* A rectangle of a matrix: `rows` rows of `cols` elements, `stride` bytes from row to row, whose
 * first element is element (row, col) of the matrix. */
struct tsw_part {
	const void *base;
	size_t rows, cols, stride, elem_size;
	uint64_t row, col;
};

/* What the part adds to its matrix's digest, by the calling thread alone.  The digests of parts
 * that cover a matrix add up to its digest, in any order. */
tsw_digest tsw_digest_part(const struct tsw_part *part, int transposed);
tsw_digest tsw_digest_add(tsw_digest x, tsw_digest y);

#endif /* TSW_DIGEST_H */
