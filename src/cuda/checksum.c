/* The checksum on the device.
 *
 * The device path allocates nothing, so the sums of a call lie in a slot of a pool that came with
 * the kernels' module: one pool on every device, and one set of claims for all of them. */
#include "runtime.h"

#include "../../kernels/digest.h"
#include "../digest/digest_math.h"

#include <sched.h>
#include <stdatomic.h>

static _Atomic uint64_t claimed; /* bit s: slot s is in use */

static unsigned claim_slot(void)
{
	uint64_t before = atomic_load(&claimed);

	for (;;) {
		if (~before == 0) { /* as many calls in flight as slots: one will end soon */
			sched_yield();
			before = atomic_load(&claimed);
			continue;
		}
		unsigned slot = (unsigned)__builtin_ctzll(~before);

		if (atomic_compare_exchange_weak(&claimed, &before, before | (uint64_t)1 << slot))
			return slot;
	}
}

static void release_slot(unsigned slot)
{
	atomic_fetch_and(&claimed, ~((uint64_t)1 << slot));
}

/* Short bands where the matrix is small, so that there are blocks for all of the device. */
static void shorten_bands(struct tsw_digest_task *p)
{
	while (p->band_rows > 32 && tsw_digest_blocks(p) < p->blocks)
		p->band_rows /= 2;
}

static tsw_status launch_all(const struct tsw_kernel *kernel, struct tsw_digest_task *p,
			     tsw_stream stream, uint64_t grid_limit)
{
	const uint64_t total = tsw_digest_blocks(p);
	const uint64_t limit = tsw_cuda_grid(grid_limit);

	for (p->first = 0; p->first < total;) {
		const uint64_t left = total - p->first;
		const uint64_t blocks = left < limit ? left : limit;

		TRY(tsw_cuda_launch(kernel, p, blocks, stream));
		p->first += blocks;
	}
	return TSW_OK;
}

static tsw_status sum_in_slot(const struct tsw_kernel *kernel, struct tsw_digest_task *p,
			      unsigned index, tsw_digest *out, tsw_stream stream,
			      uint64_t grid_limit)
{
	struct tsw_digest_slot sums;
	void *pool;

	TRY_CUDA(cudaGetSymbolAddress(&pool, tsw_digest_slots()));
	p->slot = (struct tsw_digest_slot *)pool + index;
	TRY_CUDA(cudaMemsetAsync(p->slot, 0, sizeof *p->slot, stream));
	TRY(launch_all(kernel, p, stream, grid_limit));
	TRY_CUDA(cudaMemcpyAsync(&sums, p->slot, sizeof sums, cudaMemcpyDeviceToHost, stream));
	TRY_CUDA(cudaStreamSynchronize(stream));
	out->placed =
		tsw_add_p(tsw_mod_p(sums.placed_low), tsw_shift_p(tsw_mod_p(sums.placed_high), 32));
	out->values = sums.values;
	return TSW_OK;
}

/* Waiting inside a capture would spoil the caller's graph: it is refused before anything is queued.
 */
static tsw_status check_not_capturing(tsw_stream stream)
{
	enum cudaStreamCaptureStatus capture;

	TRY_CUDA(cudaStreamIsCapturing(stream, &capture));
	if (capture != cudaStreamCaptureStatusNone)
		return tsw_fail(TSW_ERR_CUDA, "stream is being captured: a checksum waits for its "
					      "result and cannot be part of a graph");
	return TSW_OK;
}

tsw_status tsw_cuda_checksum(const struct tsw_matrices *m, int transposed, tsw_digest *out,
			     tsw_stream stream, uint64_t grid_limit)
{
	struct tsw_digest_task p = {
		.n = m->n,
		.stride = m->ld * m->elem_size,
		.elem_size = m->elem_size,
		.row_seed = tsw_row_seed(transposed),
		.col_seed = tsw_col_seed(transposed),
	};
	struct tsw_kernel kernel;
	unsigned slot, shared;
	tsw_status status;
	void *address;

	TRY(tsw_cuda_reach(m->base, "a", &address));
	TRY(check_not_capturing(stream));
	p.base = (const char *)address;
	TRY(tsw_cuda_multiprocessor_shared_bytes(&shared));
	tsw_kernel_digest(&p, shared, &kernel);
	shorten_bands(&p);
	slot = claim_slot();
	status = sum_in_slot(&kernel, &p, slot, out, stream, grid_limit);
	/* What a call that fails has queued may still add to the slot. */
	if (status != TSW_OK)
		status = ALSO_CUDA(status, cudaStreamSynchronize(stream));
	release_slot(slot);
	return status;
}
