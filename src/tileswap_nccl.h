/* tileswap over NCCL: one matrix in the memory of many GPUs, of one process or of many on any
 * hosts, transposed where it lies.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Link with libtileswap_nccl, libtileswap and NCCL, 2.19 or later.  The layout of the matrix is a
 * tsw_dist (tileswap_dist.h); rank r of the communicator holds the local matrix of rank r of the
 * layout.  tsw_dist_bytes() says beforehand what travels between any two ranks.
 */
#ifndef TILESWAP_NCCL_H
#define TILESWAP_NCCL_H

#include <nccl.h>

#include "tileswap_dist.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element (r, c) and element (c, r) change places, wherever they lie.  Collective: every rank of
 * `comm` makes the same call with the same layout, elem_size and stage_bytes.  `a` is this rank's
 * local matrix on the communicator's device, with leading dimension `ld`; both are this rank's own
 * affair, and `a` may be NULL where the rank holds nothing.  Each rank swaps with one partner at a
 * time, chunk by chunk, through at most `stage_bytes` bytes of device memory, which are given back
 * in the order of `stream`; 0 means 256 MiB.  NCCL's own buffers are not counted.
 *
 * The ranks agree before anything is touched, which waits for all of them to make the call, though
 * not for the work on their streams: if one of them has wrong arguments, arguments that differ from
 * another's, or no memory, every rank returns a failure, with the details on the rank that is to
 * blame.  From there on asynchronous: ordered on `stream`, which belongs to the communicator's
 * device, after what is there.  Of several ranks in one thread each would wait for the others: give
 * each a thread.  The current device is kept.
 *
 * TSW_ERR_NULL, _LD, _ELEM_SIZE, _OVERFLOW, _ALIGN, _WHERE, _OPTION (the layout; a grid that has
 * not as many ranks as the communicator; stage_bytes too small for four elements; arguments that
 * differ between ranks; another rank's failure), _NO_MEMORY, _NO_CUDA, _NO_DEVICE: nothing has been
 * changed. _COMM: NCCL failed.  _CUDA.  After the last two the matrix is undefined, and, as with
 * any collective call, other ranks may wait until the communicator is aborted.  _UNSUPPORTED: an
 * element of 2^32 units or more, of 4 GiB at least. */
TSW_API tsw_status tsw_nccl_transpose(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
				      size_t stage_bytes, ncclComm_t comm, tsw_stream stream);

/* The same through `staging`, the caller's own memory of the communicator's device: stage_bytes
 * bytes, the same number on every rank, at a multiple of 256; it is free again when `stream` has
 * got there.  stage_bytes then says how much there is: 0 stands for no default but is
 * TSW_ERR_OPTION.  With a staging of NULL this is tsw_nccl_transpose().
 *
 * Between GPUs of one host NCCL spares itself a copy on either side if it knows the memory it sends
 * from and receives into.  So for repeated calls take it from NCCL (2.19 and later) and tell the
 * communicator, on all ranks or on none, as NCCL demands:
 *
 *     ncclMemAlloc(&staging, bytes);
 *     ncclCommRegister(comm, staging, bytes, &handle);
 *     tsw_nccl_transpose_staged(a, ld, elem_size, &dist, staging, bytes, comm, stream);
 *     ...
 *     cudaStreamSynchronize(stream);
 *     ncclCommDeregister(comm, handle);
 *     ncclMemFree(staging);
 *
 * Errors as above; TSW_ERR_OPTION and _WHERE also of the staging. */
TSW_API tsw_status tsw_nccl_transpose_staged(void *a, size_t ld, size_t elem_size,
					     const tsw_dist *dist, void *staging,
					     size_t stage_bytes, ncclComm_t comm,
					     tsw_stream stream);

#ifdef __cplusplus
}
#endif

#endif /* TILESWAP_NCCL_H */
