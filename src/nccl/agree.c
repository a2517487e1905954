#include "agree.h"

#include <stdio.h>

/* Words that travel: each term and its complement, so that one maximum gives the largest and the
 * smallest; then who fares ill. */
#define WORDS (2 * TSW_MOST_TERMS + 1)

tsw_status tsw_nccl_check(ncclResult_t result, ncclComm_t comm, const char *call)
{
	size_t name = 0;

	if (result == ncclSuccess)
		return TSW_OK;
	while (call[name] && call[name] != '(')
		name++;
	return tsw_fail(TSW_ERR_COMM, "%.*s: %s (%s)", (int)name, call, ncclGetErrorString(result),
			comm ? ncclGetLastError(comm) : "no communicator");
}

static tsw_status largest(ncclComm_t comm, uint64_t words[WORDS], void *device, cudaStream_t stream)
{
	const size_t bytes = WORDS * sizeof *words;

	TRY_CUDA(cudaMemcpyAsync(device, words, bytes, cudaMemcpyHostToDevice, stream));
	TRY_NCCL(comm, ncclAllReduce(device, device, WORDS, ncclUint64, ncclMax, comm, stream));
	TRY_CUDA(cudaMemcpyAsync(words, device, bytes, cudaMemcpyDeviceToHost, stream));
	TRY_CUDA(cudaStreamSynchronize(stream));
	return TSW_OK;
}

static tsw_status judge(const uint64_t words[WORDS], int rank, const struct tsw_terms *terms)
{
	const uint64_t ill = words[WORDS - 1];

	if (ill)
		return tsw_fail(TSW_ERR_OPTION, "rank %u of the communicator: %s",
				(unsigned)(ill >> 32), tsw_strerror((tsw_status)(ill & 0xffff)));
	for (unsigned i = 0; i < terms->count; i++)
		if (words[2 * i] != ~words[2 * i + 1])
			return tsw_fail(TSW_ERR_OPTION,
					"%s = %ju of rank %d differs between ranks: the largest is "
					"%ju, the smallest %ju",
					terms->name[i], (uintmax_t)terms->value[i], rank,
					(uintmax_t)words[2 * i], (uintmax_t)~words[2 * i + 1]);
	return TSW_OK;
}

tsw_status tsw_nccl_agree(ncclComm_t comm, int rank, tsw_status mine, const struct tsw_terms *terms,
			  cudaStream_t stream)
{
	uint64_t words[WORDS] = {0};
	char said[400];
	tsw_status status;
	void *device;

	for (unsigned i = 0; i < terms->count; i++) {
		words[2 * i] = terms->value[i];
		words[2 * i + 1] = ~terms->value[i];
	}
	if (mine != TSW_OK)
		words[WORDS - 1] = (uint64_t)(unsigned)rank << 32 | (unsigned)mine;
	snprintf(said, sizeof said, "%s", mine == TSW_OK ? "" : tsw_last_error());
	TRY_CUDA(cudaMallocAsync(&device, sizeof words, stream));
	if (mine != TSW_OK) {
		/* What this rank has to say is more than what the others hear of it. */
		(void)largest(comm, words, device, stream);
		(void)cudaFreeAsync(device, stream);
		return tsw_fail(mine, "%s", said);
	}
	status = largest(comm, words, device, stream);
	TRY_CUDA(cudaFreeAsync(device, stream));
	TRY(status);
	return judge(words, rank, terms);
}
