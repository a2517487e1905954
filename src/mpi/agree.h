/* What the ranks of a communicator agree upon. */
#ifndef TSW_MPI_AGREE_H
#define TSW_MPI_AGREE_H

#include "../dist/terms.h"
#include "../tileswap_mpi.h"

/* Can the calling rank make collective calls on `comm`?  The ranks cannot agree on this. */
tsw_status tsw_mpi_usable(MPI_Comm comm);

/* A communicator of our own over the ranks of `comm`, which reports errors instead of aborting. */
tsw_status tsw_mpi_open(MPI_Comm comm, MPI_Comm *own);

/* Collective.  `mine` is how this rank fares, with its detail in tsw_last_error().  If a rank fares
 * ill, all return one such rank's status and detail; else, if a term differs, TSW_ERR_OPTION with
 * its name; else TSW_OK.  `terms` may be NULL, on all ranks. */
tsw_status tsw_mpi_agree(MPI_Comm own, tsw_status mine, const struct tsw_terms *terms);

/* TSW_OK, or TSW_ERR_COMM with what MPI says to `error`, returned by `call`. */
tsw_status tsw_mpi_check(int error, const char *call);

#endif /* TSW_MPI_AGREE_H */
