/* What the ranks of a communicator agree upon before anything is touched. */
#ifndef TSW_NCCL_AGREE_H
#define TSW_NCCL_AGREE_H

#include "../cuda/runtime.h"
#include "../tileswap_nccl.h"

#define TSW_MOST_TERMS 16

/* Numbers that must be the same on every rank, with the names of the arguments that they are. */
struct tsw_terms {
	unsigned count;
	const char *name[TSW_MOST_TERMS];
	uint64_t value[TSW_MOST_TERMS];
};

/* Collective, on `stream`, and waits for the answer.  `mine` is how this rank fares, with its
 * detail in tsw_last_error(), which a rank that fares ill keeps.  If another rank fares ill or a
 * term differs: TSW_ERR_OPTION. */
tsw_status tsw_nccl_agree(ncclComm_t comm, int rank, tsw_status mine, const struct tsw_terms *terms,
			  cudaStream_t stream);

/* TSW_OK, or TSW_ERR_COMM with what NCCL says. */
tsw_status tsw_nccl_check(ncclResult_t result, ncclComm_t comm, const char *call);

#define TRY_NCCL(comm, call) TRY(tsw_nccl_check(call, comm, #call))

#endif /* TSW_NCCL_AGREE_H */
