/* tileswap: how one matrix is spread over several ranks, and what must travel to transpose it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank is whatever holds a part of the matrix: a GPU of this process (tsw_multi_transpose), or a
 * process of a communicator (tileswap_mpi.h, tileswap_nccl.h).
 *
 * The layout is ScaLAPACK's.  The n x n matrix is cut into blocks of mb rows and nb columns, the
 * blocks are dealt to a grid of nprow x npcol ranks like cards, and the first block goes to grid
 * row rsrc, grid column csrc:
 *
 *     element (r, c) lies at grid row (r / mb + rsrc) % nprow, grid column (c / nb + csrc) % npcol
 *
 * Each rank keeps its rows and columns in their order, packed together, as one local matrix of
 * tsw_dist_local() rows and columns with a leading dimension of its own.  Blocks as large as the
 * matrix over the grid rows (mb = ceil(n / nprow)) make plain row blocks.
 *
 * The transposed matrix has the same layout: tsw_dist describes it before and after.
 */
#ifndef TILESWAP_DIST_H
#define TILESWAP_DIST_H

#include "tileswap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the ranks are numbered over the grid. */
typedef enum tsw_rank_order {
	TSW_RANKS_BY_ROWS = 0,	 /* rank = grid row * npcol + grid column: BLACS' "Row" */
	TSW_RANKS_BY_COLUMNS = 1 /* rank = grid column * nprow + grid row: BLACS' "Col" */
} tsw_rank_order;

/* How a local matrix lies in memory. */
typedef enum tsw_storage {
	TSW_STORED_BY_ROWS = 0,	  /* local element (i, j) at i * ld + j: C, NumPy */
	TSW_STORED_BY_COLUMNS = 1 /* local element (i, j) at j * ld + i: Fortran, ScaLAPACK */
} tsw_storage;

/* Begin with TSW_DIST_INIT and set what is wanted.  Members are only ever added at the end;
 * struct_size tells which the caller knows.  n, mb, nb count elements. */
typedef struct tsw_dist {
	size_t struct_size;
	size_t n;	  /* the matrix is n x n */
	size_t mb, nb;	  /* rows and columns of a block, at least 1 */
	int nprow, npcol; /* rows and columns of the grid of ranks, at least 1 */
	int rsrc, csrc;	  /* the grid row and column of element (0, 0) */
	int rank_order;	  /* tsw_rank_order */
	int storage;	  /* tsw_storage */
} tsw_dist;

#define TSW_DIST_INIT                                                                              \
	{                                                                                          \
		sizeof(tsw_dist), 0, 1, 1, 1, 1, 0, 0, TSW_RANKS_BY_ROWS, TSW_STORED_BY_ROWS       \
	}

/* Rows and columns of the local matrix of `rank`.  Its leading dimension must be at least its
 * columns (stored by rows) or its rows (stored by columns).
 *
 * TSW_ERR_NULL, _OPTION (a value of the layout, or a rank outside the grid; the detail says which),
 * _OVERFLOW (n * n elements pass 2^63 - 1). */
TSW_API tsw_status tsw_dist_local(const tsw_dist *dist, int rank, size_t *rows, size_t *cols);

/* The bytes that rank `from` sends rank `to` in one transpose: as many as `to` sends `from`.  With
 * from = to: the bytes that stay on the rank.  Known from the layout alone, before anything runs.
 *
 * As tsw_dist_local, and TSW_ERR_ELEM_SIZE; _OVERFLOW if the matrix passes 2^63 - 1 bytes. */
TSW_API tsw_status tsw_dist_bytes(const tsw_dist *dist, size_t elem_size, int from, int to,
				  uint64_t *nbytes);

/* All bytes that `rank` sends, and as many that it receives. */
TSW_API tsw_status tsw_dist_egress(const tsw_dist *dist, size_t elem_size, int rank,
				   uint64_t *nbytes);

/* The layout of the transposed matrix if every rank transposes its local matrix and nothing is
 * sent: blocks, sources and grid change sides, and so does the numbering, so that every rank keeps
 * its number.  `turned` may be `dist`.
 *
 * As tsw_dist_local. */
TSW_API tsw_status tsw_dist_turn(const tsw_dist *dist, tsw_dist *turned);

/* ---- for libraries that stand on this one ---------------------------------------------------- */

/* Where libtileswap_mpi and libtileswap_nccl write what tsw_last_error() returns: this thread's
 * line of TSW_ERROR_LINE bytes.  With `failed` = 0 there is nothing to return from now on. */
#define TSW_ERROR_LINE 512
TSW_API char *tsw_error_line(int failed);

#ifdef __cplusplus
}
#endif

#endif /* TILESWAP_DIST_H */
