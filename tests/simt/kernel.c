/* Launches of a kernel as kernels/launch.h describes it. */
#include "launch.h"
#include "launch_simt.h"

const char *simt_launch_kernel(const struct tsw_kernel *kernel, simt_call *call, const void *param,
			       uint64_t blocks, uint64_t order)
{
	return simt_launch(&(struct simt_launch){
		.call = call,
		.entry = kernel->entry,
		.param = param,
		.grid = blocks,
		.block_x = kernel->threads_x,
		.block_y = kernel->threads_y,
		.shared_bytes = kernel->shared_bytes,
		.order = order,
	});
}

const char *simt_launch_split(const struct tsw_kernel *kernel, simt_call *call, const void *param,
			      uint64_t *first, uint64_t blocks, uint64_t limit, uint64_t order)
{
	const char *wrong = NULL;
	uint64_t grid;

	for (*first = 0; !wrong && *first < blocks; *first += grid) {
		grid = limit && limit < blocks - *first ? limit : blocks - *first;
		wrong = simt_launch_kernel(kernel, call, param, grid, order);
	}
	return wrong;
}
