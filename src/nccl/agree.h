/* What the ranks of a communicator agree upon before anything is touched. */
#ifndef TSW_NCCL_AGREE_H
#define TSW_NCCL_AGREE_H

#include "../cuda/runtime.h"
#include "../dist/terms.h"
#include "../tileswap_nccl.h"

/* Collective, on `stream`, and waits for the answer.  `mine` is how this rank fares, with its
 * detail in tsw_last_error(), which a rank that fares ill keeps.  If another rank fares ill or a
 * term differs: TSW_ERR_OPTION. */
tsw_status tsw_nccl_agree(ncclComm_t comm, int rank, tsw_status mine, const struct tsw_terms *terms,
			  cudaStream_t stream);

/* TSW_OK, or TSW_ERR_COMM with what NCCL says. */
tsw_status tsw_nccl_check(ncclResult_t result, ncclComm_t comm, const char *call);

#define TRY_NCCL(comm, call) TRY(tsw_nccl_check(call, comm, #call))

#endif /* TSW_NCCL_AGREE_H */
