/* The checksum of tileswap.h on the host, and the arithmetic that host and device share. */
#ifndef TSW_DIGEST_H
#define TSW_DIGEST_H

#include "../matrices.h"

/* The digest of one matrix (checked; n may be 0) with up to `nthreads` threads (0 = all). */
tsw_digest tsw_digest_host(const struct tsw_matrices *m, int transposed, int nthreads);

#endif /* TSW_DIGEST_H */
