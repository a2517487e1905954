/* Filling device memory. */
#include "verify.h"

#include "../status.h"

#if TSW_HAVE_CUDA

#include "../../kernels/verify.h"
#include "../cuda/runtime.h"
#include "curand.h"
#include "device.h"

/* Bytes of the buffer, on the device, through which cuRAND fills what is no whole aligned word. */
#define STAGE_BYTES ((size_t)4 << 20)

/* cuRAND writes vectors of four words. */
#define VECTOR_BYTES 16

static tsw_status fill_computed(const struct tsw_content *content, void *a, size_t nbytes,
				tsw_stream stream)
{
	const struct tsw_kernel *kernel = tsw_kernel_fill();
	const uint64_t blocks = tsw_tile_count(nbytes, kernel->tile), limit = tsw_cuda_grid(0);
	struct tsw_verify_fill p = {.nbytes = nbytes, .content = *content};
	void *address;

	TRY(tsw_cuda_reach(a, "a", &address));
	p.base = address;
	while (p.first < blocks) {
		const uint64_t left = blocks - p.first, part = left < limit ? left : limit;

		TRY(tsw_cuda_launch(kernel, &p, part, stream));
		p.first += part;
	}
	TRY_CUDA(cudaStreamSynchronize(stream));
	return TSW_OK;
}

static tsw_status copy_staged(const struct tsw_curand *curand, tsw_curand_generator generator,
			      unsigned char *a, size_t from, size_t nbytes, void *stage,
			      tsw_stream stream)
{
	for (size_t at = from; at < nbytes; at += STAGE_BYTES) {
		const size_t left = nbytes - at, part = left < STAGE_BYTES ? left : STAGE_BYTES;

		TRY(tsw_curand_words(curand, generator, stage,
				     (part + VECTOR_BYTES - 1) / VECTOR_BYTES * 4));
		TRY_CUDA(cudaMemcpyAsync(a + at, stage, part, cudaMemcpyDefault, stream));
	}
	return TSW_OK;
}

/* From byte `from`, a multiple of 16, on. */
static tsw_status fill_staged(const struct tsw_curand *curand, tsw_curand_generator generator,
			      unsigned char *a, size_t from, size_t nbytes, tsw_stream stream)
{
	const size_t left = nbytes - from;
	tsw_status status;
	void *stage;

	if (left == 0)
		return TSW_OK;
	TRY(tsw_device_alloc(left < STAGE_BYTES ? left + VECTOR_BYTES : STAGE_BYTES, &stage));
	status = copy_staged(curand, generator, a, from, nbytes, stage, stream);
	return ALSO_CUDA(status, cudaFree(stage));
}

static tsw_status fill_by_generator(const struct tsw_curand *curand, tsw_curand_generator generator,
				    void *a, size_t nbytes, uint64_t seed, tsw_stream stream)
{
	const size_t words = (uintptr_t)a % VECTOR_BYTES ? 0 : nbytes / VECTOR_BYTES * 4;

	TRY_CURAND(curand->set_stream(generator, stream));
	TRY(tsw_curand_seek(curand, generator, seed, 0));
	TRY(tsw_curand_words(curand, generator, a, words));
	TRY(fill_staged(curand, generator, a, 4 * words, nbytes, stream));
	TRY_CUDA(cudaStreamSynchronize(stream));
	return TSW_OK;
}

static tsw_status fill_by_curand(void *a, size_t nbytes, uint64_t seed, tsw_stream stream)
{
	const struct tsw_curand *curand;
	tsw_curand_generator generator;
	tsw_status status;
	void *address;

	TRY(tsw_curand_load(&curand));
	TRY(tsw_cuda_reach(a, "a", &address));
	TRY_CURAND(curand->create(&generator, TSW_CURAND_PHILOX));
	status = fill_by_generator(curand, generator, address, nbytes, seed, stream);
	curand->destroy(generator);
	return status;
}

tsw_status tsw_fill_device_from(enum tsw_source source, void *a, size_t nbytes, uint64_t seed,
				tsw_stream stream, const char **used)
{
	const struct tsw_content content = {seed, TSW_PATTERN_RANDOM};
	const char *by = "curand";
	tsw_status status = TSW_ERR_UNSUPPORTED;

	TRY(tsw_cuda_usable());
	if (source != TSW_SOURCE_PHILOX && nbytes)
		status = fill_by_curand(a, nbytes, seed, stream);
	if (status != TSW_OK && source == TSW_SOURCE_CURAND && nbytes)
		return status;
	if (status != TSW_OK) {
		tsw_forget_failure();
		if (nbytes)
			TRY(fill_computed(&content, a, nbytes, stream));
		by = "philox";
	}
	if (used)
		*used = by;
	return TSW_OK;
}

tsw_status tsw_fill_content_device(const struct tsw_content *content, void *a, size_t nbytes,
				   tsw_stream stream, const char **used)
{
	if (content->pattern == TSW_PATTERN_RANDOM)
		return tsw_fill_device(a, nbytes, content->seed, stream, used);
	TRY(tsw_cuda_usable());
	if (nbytes)
		TRY(fill_computed(content, a, nbytes, stream));
	if (used)
		*used = "computed";
	return TSW_OK;
}

#else

tsw_status tsw_fill_device_from(enum tsw_source source, void *a, size_t nbytes, uint64_t seed,
				tsw_stream stream, const char **used)
{
	(void)source, (void)a, (void)nbytes, (void)seed, (void)stream, (void)used;
	return tsw_fail(TSW_ERR_NO_CUDA, "this build of tileswap has no CUDA support");
}

tsw_status tsw_fill_content_device(const struct tsw_content *content, void *a, size_t nbytes,
				   tsw_stream stream, const char **used)
{
	return tsw_fill_device(a, nbytes, content->seed, stream, used);
}

#endif
