/* Which engine serves a device. */
#include "job.h"

#include "../status.h"

const struct dist_engine *dist_engine_of(int device)
{
	if (device == DIST_CPU)
		return &dist_engine_cpu;
#if TSW_HAVE_NCCL
	extern const struct dist_engine dist_engine_cuda;

	return &dist_engine_cuda;
#else
	tsw_fail(TSW_ERR_NO_CUDA, "--device cuda: this tileswap-dist was built without NCCL");
	return NULL;
#endif
}
