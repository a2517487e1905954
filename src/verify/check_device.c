/* The element check in device memory. */
#include "check.h"

#include "../status.h"

#if TSW_HAVE_CUDA

#include "../../kernels/verify.h"
#include "../cuda/runtime.h"
#include "device.h"

#include <string.h>

/* Blocks of the kernel that walks the gaps: enough to fill any device. */
#define GAP_BLOCKS 2048

static tsw_status check_elements(struct tsw_verify_task *p, tsw_stream stream)
{
	const struct tsw_kernel *kernel = tsw_kernel_check_elements();
	const uint64_t limit = tsw_cuda_grid(0);
	uint64_t blocks;

	p->strips = tsw_tile_count(p->layout.n, kernel->tile);
	p->bands = tsw_tile_count(p->layout.n, TSW_VERIFY_ROWS);
	blocks = p->strips * p->bands * p->layout.count;
	for (p->first = 0; p->first < blocks;) {
		const uint64_t left = blocks - p->first, part = left < limit ? left : limit;

		TRY(tsw_cuda_launch(kernel, p, part, stream));
		p->first += part;
	}
	return TSW_OK;
}

/* One pass over the batch; found->first is the first wrong element from number `from` on. */
static tsw_status pass(struct tsw_verify_task *p, uint64_t from, int gaps, tsw_stream stream,
		       struct tsw_verify_found *found)
{
	const struct tsw_verify_found none = {0, 0, ~0ull, ~0ull};

	p->from = from;
	TRY_CUDA(cudaMemcpyAsync(p->found, &none, sizeof none, cudaMemcpyHostToDevice, stream));
	TRY(check_elements(p, stream));
	if (gaps)
		TRY(tsw_cuda_launch(tsw_kernel_check_gaps(), p, GAP_BLOCKS, stream));
	TRY_CUDA(cudaMemcpyAsync(found, p->found, sizeof *found, cudaMemcpyDeviceToHost, stream));
	TRY_CUDA(cudaStreamSynchronize(stream));
	return TSW_OK;
}

/* Expected and found bytes of a wrong element: the first 16 that differ. */
static tsw_status describe(const struct tsw_verify_task *p, uint64_t key, tsw_stream stream,
			   struct tsw_wrong_place *place)
{
	const unsigned char *element = p->base + tsw_wrong_place_of(&p->layout, key, place);
	size_t at = 0;

	do {
		tsw_wrong_expect(&p->layout, at, place);
		TRY_CUDA(cudaMemcpyAsync(place->found, element + at, place->nbytes,
					 cudaMemcpyDefault, stream));
		TRY_CUDA(cudaStreamSynchronize(stream));
		at += TSW_WRONG_BYTES;
	} while (at < p->layout.elem_size && !memcmp(place->expected, place->found, place->nbytes));
	return TSW_OK;
}

static tsw_status describe_padding(const struct tsw_verify_task *p, uint64_t at, tsw_stream stream,
				   struct tsw_wrong *wrong)
{
	unsigned char byte;

	TRY_CUDA(cudaMemcpyAsync(&byte, p->base + at, 1, cudaMemcpyDefault, stream));
	TRY_CUDA(cudaStreamSynchronize(stream));
	tsw_wrong_padding(&p->layout, at, byte, wrong);
	return TSW_OK;
}

static tsw_status check(struct tsw_verify_task *p, tsw_stream stream, struct tsw_wrong *wrong)
{
	struct tsw_verify_found found;

	TRY(pass(p, 0, 1, stream, &found));
	wrong->elements = found.elements;
	wrong->padding_bytes = found.padding_bytes;
	if (found.padding_bytes)
		TRY(describe_padding(p, found.first_padding, stream, wrong));
	/* Only a failed check comes here: a pass over the batch for each place to report. */
	while (found.first != ~0ull && wrong->places < TSW_WRONG_PLACES) {
		TRY(describe(p, found.first, stream, &wrong->place[wrong->places]));
		wrong->places++;
		TRY(pass(p, found.first + 1, 0, stream, &found));
	}
	return TSW_OK;
}

tsw_status tsw_check_content_device(const struct tsw_matrices *m, const struct tsw_content *content,
				    int transposed, tsw_stream stream, struct tsw_wrong *wrong)
{
	struct tsw_verify_task p = {.unit = (uint32_t)tsw_elem_unit(m->elem_size)};
	tsw_status status;
	void *address, *found;

	*wrong = (struct tsw_wrong){0};
	TRY(tsw_layout_of(m, content, transposed, &p.layout));
	TRY(tsw_check_alignment(m));
	TRY(tsw_cuda_usable());
	if (m->n == 0 || m->count == 0)
		return TSW_OK;
	TRY(tsw_cuda_reach(m->base, "a", &address));
	TRY(tsw_device_alloc(sizeof *p.found, &found));
	p.base = address;
	p.found = found;
	status = check(&p, stream, wrong);
	return ALSO_CUDA(status, cudaFree(found));
}

#else

tsw_status tsw_check_content_device(const struct tsw_matrices *m, const struct tsw_content *content,
				    int transposed, tsw_stream stream, struct tsw_wrong *wrong)
{
	(void)m, (void)content, (void)transposed, (void)stream, (void)wrong;
	return tsw_fail(TSW_ERR_NO_CUDA, "this build of tileswap has no CUDA support");
}

#endif
