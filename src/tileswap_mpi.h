/* tileswap over MPI: one matrix in the host memory of many processes, transposed where it lies.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Link with libtileswap_mpi and libtileswap.  The layout of the matrix is a tsw_dist
 * (tileswap_dist.h); rank r of the communicator holds the local matrix of rank r of the layout.
 * tsw_dist_bytes() says beforehand what travels between any two ranks.
 *
 * The calls are collective: every rank of the communicator makes the same call with the same
 * layout, elem_size and stage_bytes.  The ranks agree before anything is touched: if one of them
 * has wrong arguments, arguments that differ from another's, or no memory, every rank returns the
 * same status, and tsw_last_error() names the rank that is to blame.  An error that MPI reports on
 * the way is TSW_ERR_COMM on every rank that MPI still reaches; the matrix is then undefined.
 *
 * MPI must be initialised; the thread that calls must be one that may call MPI.  Messages travel on
 * a duplicate of the communicator, so that they never meet the caller's.
 */
#ifndef TILESWAP_MPI_H
#define TILESWAP_MPI_H

#include <mpi.h>

#include "tileswap_dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element (r, c) and element (c, r) change places, wherever they lie.  `a` is this rank's local
 * matrix, with leading dimension `ld`; both are this rank's own affair, and `a` may be NULL where
 * the rank holds nothing.  Each rank swaps with one partner at a time, chunk by chunk, through at
 * most `stage_bytes` bytes of its own memory, which are freed in the end; 0 means 8 MiB.  No other
 * memory is taken, whatever n is, but what MPI takes.  `nthreads` threads copy and turn; 0 means as
 * many as OpenMP would use.
 *
 * TSW_ERR_NULL, _LD, _ELEM_SIZE, _OVERFLOW, _THREADS, _OPTION (the layout; a grid that has not as
 * many ranks as the communicator; stage_bytes too small for four elements; arguments that differ
 * between ranks), _UNSUPPORTED (an intercommunicator), _NO_MEMORY: nothing has been changed.
 * _COMM. */
TSW_API tsw_status tsw_mpi_transpose(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
				     size_t stage_bytes, int nthreads, MPI_Comm comm);

/* The same on a square grid without sending an element: every rank transposes its local matrix, and
 * the ranks are numbered anew.  In *turned, a new communicator that the caller frees, every rank
 * has the number of the part that it now holds; with *turned in the place of comm, `dist` describes
 * the transposed matrix.  The matrix does not go back to the ranks where it was: use this where
 * what comes after takes any communicator.
 *
 * Needs nprow = npcol, mb = nb, rsrc = csrc.  A ragged local matrix has not as many rows as
 * columns: let s be the larger number; `a` must then have room for s rows of s elements, ld >= s,
 * and what lies in that square beside the local matrix is moved about.
 *
 * As tsw_mpi_transpose, without stage_bytes; TSW_ERR_UNSUPPORTED also on another layout
 * (tsw_dist_turn() then describes what a local transpose would make of it). */
TSW_API tsw_status tsw_mpi_transpose_relabel(void *a, size_t ld, size_t elem_size,
					     const tsw_dist *dist, int nthreads, MPI_Comm comm,
					     MPI_Comm *turned);

#ifdef __cplusplus
}
#endif

#endif /* TILESWAP_MPI_H */
