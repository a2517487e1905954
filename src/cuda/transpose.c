/* Transposing on the device: which kernel, and how many launches. */
#include "runtime.h"

#include "../tilepair.h"

/* The widest unit all elements allow.  16-byte elements have one of their own where the address is
 * known to be a multiple of 16; what an array points to is not known here. */
static unsigned unit_of(const struct tsw_matrices *m)
{
	if (m->elem_size == 16 && !m->array && (uintptr_t)m->base % 16 == 0)
		return 16;
	return (unsigned)tsw_elem_unit(m->elem_size);
}

static tsw_status launch_all(const struct tsw_kernel *kernel, struct tsw_tiles *p, uint64_t count,
                             tsw_stream stream, uint64_t grid_limit)
{
	const uint64_t limit = tsw_cuda_grid(grid_limit);
	uint64_t total;

	if (__builtin_mul_overflow(p->pairs, count, &total))
		return tsw_fail(TSW_ERR_OVERFLOW, "count = %ju matrices have more than 2^64 tile pairs",
		                (uintmax_t)count);
	for (p->first = 0; p->first < total;) {
		uint64_t left = total - p->first;
		uint64_t blocks = left < limit ? left : limit;

		TRY(tsw_cuda_launch(kernel, p, blocks, stream));
		p->first += blocks;
	}
	return TSW_OK;
}

tsw_status tsw_cuda_transpose(const struct tsw_matrices *m, tsw_stream stream, uint64_t grid_limit)
{
	const unsigned unit = unit_of(m);
	const struct tsw_kernel *kernel = tsw_kernel_tile33(unit);
	struct tsw_tiles p = {
		.stride = m->stride * m->elem_size,
		.n = m->n,
		.ld = m->ld,
		.pairs = tsw_pair_count(tsw_tile_count(m->n, kernel->tile)),
		.units = m->elem_size / unit,
	};
	void *address;

	TRY(tsw_cuda_reach(m->array ? (const void *)m->array : m->base, "a", &address));
	if (m->array)
		p.array = (char *const *)address;
	else
		p.base = (char *)address;
	if (tsw_nothing_to_do(m))
		return TSW_OK;
	return launch_all(kernel, &p, m->count, stream, grid_limit);
}

tsw_status tsw_cuda_transpose_on(const struct tsw_matrices *m, int device)
{
	tsw_status status;
	int before;

	TRY_CUDA(cudaGetDevice(&before));
	TRY_CUDA(cudaSetDevice(device));
	status = tsw_cuda_transpose(m, NULL, 0);
	if (status == TSW_OK) {
		cudaError_t error = cudaStreamSynchronize(NULL);

		if (error != cudaSuccess)
			status = tsw_cuda_fail(error, "cudaStreamSynchronize");
	}
	/* The first failure is the one to report; the caller's device comes back in any case. */
	if (cudaSetDevice(before) != cudaSuccess && status == TSW_OK)
		status = tsw_fail(TSW_ERR_CUDA, "cudaSetDevice(%d) failed after the transpose", before);
	return status;
}
