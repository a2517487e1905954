/* The device engine of a build without CUDA: every call says so. */
#include "cuda.h"

#include "../status.h"

tsw_status tsw_cuda_usable(void)
{
	return tsw_fail(TSW_ERR_NO_CUDA, "this build of tileswap has no CUDA support");
}

tsw_status tsw_cuda_owner(const void *p, int *device)
{
	(void)p;
	*device = -1;
	return TSW_OK;
}

tsw_status tsw_cuda_transpose(const struct tsw_matrices *m, tsw_stream stream, uint64_t grid_limit)
{
	(void)m, (void)stream, (void)grid_limit;
	return tsw_cuda_usable();
}

const char *tsw_cuda_kernel_name(size_t index)
{
	(void)index;
	return NULL;
}

tsw_status tsw_cuda_transpose_by(const char *kernel, const struct tsw_matrices *m,
				 tsw_stream stream, uint64_t grid_limit)
{
	(void)kernel, (void)m, (void)stream, (void)grid_limit;
	return tsw_cuda_usable();
}

tsw_status tsw_cuda_transpose_on(const struct tsw_matrices *m, int device)
{
	(void)m, (void)device;
	return tsw_cuda_usable();
}

tsw_status tsw_cuda_imatcopy(const struct tsw_matrices *m, const struct tsw_epilogue *e,
			     tsw_stream stream, uint64_t grid_limit)
{
	(void)m, (void)e, (void)stream, (void)grid_limit;
	return tsw_cuda_usable();
}

tsw_status tsw_cuda_checksum(const struct tsw_matrices *m, int transposed, tsw_digest *out,
			     tsw_stream stream, uint64_t grid_limit)
{
	(void)m, (void)transposed, (void)out, (void)stream, (void)grid_limit;
	return tsw_cuda_usable();
}

tsw_status tsw_cuda_multi(const struct tsw_spread *spread, size_t elem_size,
			  const tsw_multi_part *parts, const tsw_multi_options *options)
{
	(void)spread, (void)elem_size, (void)parts, (void)options;
	return tsw_cuda_usable();
}
