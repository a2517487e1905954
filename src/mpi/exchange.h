/* The exchange: every chunk of every link, through two pairs of buffers. */
#ifndef TSW_MPI_EXCHANGE_H
#define TSW_MPI_EXCHANGE_H

#include "../dist/plan.h"
#include "agree.h"

/* What one rank brings. */
struct tsw_mpi_part {
	const struct tsw_spread *spread;
	unsigned char *a;
	size_t ld, elem_size;
	int nthreads;
	uint32_t rank;
	MPI_Comm comm;
	unsigned char *stage; /* four buffers of `each` bytes */
	size_t each;	      /* at least one element, at most INT_MAX */
};

/* Collective.  After an error of MPI this rank goes through the motions to the end, so that others
 * need not wait for it; the matrix is undefined then. */
tsw_status tsw_mpi_exchange(const struct tsw_mpi_part *part);

#endif /* TSW_MPI_EXCHANGE_H */
