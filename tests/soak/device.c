#include "device.h"

#include "status.h"

#include <stdlib.h>

#if TSW_HAVE_CUDA

#include <cuda_runtime_api.h>

#define MOST_POINTERS 64

struct soak_stream {
	cudaStream_t stream;
	unsigned char *a;
	void **array;		       /* on the device */
	void *pointers[MOST_POINTERS]; /* what is copied there */
};

static tsw_status said(cudaError_t error)
{
	if (error == cudaSuccess)
		return TSW_OK;
	return tsw_fail(TSW_ERR_CUDA, "%s", cudaGetErrorString(error));
}

struct soak_stream *soak_stream_new(size_t bytes)
{
	struct soak_stream *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	if (cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking) == cudaSuccess &&
	    cudaMalloc((void **)&s->a, bytes) == cudaSuccess &&
	    cudaMalloc((void **)&s->array, sizeof s->pointers) == cudaSuccess)
		return s;
	soak_stream_free(s);
	return NULL;
}

void soak_stream_free(struct soak_stream *s)
{
	if (!s)
		return;
	if (s->stream)
		cudaStreamDestroy(s->stream);
	cudaFree(s->a);
	cudaFree(s->array);
	free(s);
}

static tsw_status transpose_array(struct soak_stream *s, const struct tsw_trial *t)
{
	for (size_t b = 0; b < t->count; b++)
		s->pointers[b] = s->a + tsw_trial_place(t, b);
	TRY(said(cudaMemcpyAsync(s->array, s->pointers, t->count * sizeof(void *),
				 cudaMemcpyHostToDevice, s->stream)));
	return tsw_transpose_array_device(s->array, t->shape.n, t->shape.ld, t->shape.elem_size,
					  t->count, (tsw_stream)s->stream);
}

static tsw_status call(struct soak_stream *s, const struct tsw_trial *t)
{
	const struct tsw_shape x = t->shape;
	const tsw_stream stream = (tsw_stream)s->stream;

	switch (t->kind) {
	case TSW_TRIAL_ANY: /* on the legacy stream, which these streams do not wait for */
		TRY(said(cudaStreamSynchronize(s->stream)));
		return tsw_transpose(s->a, x.n, x.ld, x.elem_size);
	case TSW_TRIAL_ONE:
		return tsw_transpose_device(s->a, x.n, x.ld, x.elem_size, stream);
	case TSW_TRIAL_ARRAY:
		return transpose_array(s, t);
	case TSW_TRIAL_IMATCOPY:
		return tsw_imatcopy_device(t->x.op, t->x.type, x.n, tsw_imat_alpha(&t->x), s->a,
					   x.ld, stream);
	case TSW_TRIAL_IMATCOPY_BATCH:
		return tsw_imatcopy_batch_device(t->x.op, t->x.type, x.n, tsw_imat_alpha(&t->x),
						 s->a, x.ld, t->stride, t->count, stream);
	default:
		return tsw_transpose_batch_device(s->a, x.n, x.ld, x.elem_size, t->stride, t->count,
						  stream);
	}
}

tsw_status soak_stream_begin(struct soak_stream *s, const struct tsw_trial *t,
			     const unsigned char *a, size_t bytes)
{
	TRY(said(cudaMemcpyAsync(s->a, a, bytes, cudaMemcpyHostToDevice, s->stream)));
	return call(s, t);
}

tsw_status soak_stream_end(struct soak_stream *s, unsigned char *a, size_t bytes)
{
	TRY(said(cudaMemcpyAsync(a, s->a, bytes, cudaMemcpyDeviceToHost, s->stream)));
	return said(cudaStreamSynchronize(s->stream));
}

tsw_status soak_stream_checksum(struct soak_stream *s, struct tsw_shape shape, tsw_digest *out)
{
	return tsw_checksum_device(s->a, shape.n, shape.ld, shape.elem_size, 1, out,
				   (tsw_stream)s->stream);
}

size_t soak_device_used(void)
{
	size_t left = 0, all = 0;

	cudaDeviceSynchronize();
	cudaMemGetInfo(&left, &all);
	return all - left;
}

#else

static tsw_status absent(void)
{
	return tsw_fail(TSW_ERR_NO_CUDA, "built without CUDA");
}

struct soak_stream *soak_stream_new(size_t bytes)
{
	(void)bytes;
	return NULL;
}

void soak_stream_free(struct soak_stream *s)
{
	(void)s;
}

tsw_status soak_stream_begin(struct soak_stream *s, const struct tsw_trial *t,
			     const unsigned char *a, size_t bytes)
{
	(void)s;
	(void)t;
	(void)a;
	(void)bytes;
	return absent();
}

tsw_status soak_stream_end(struct soak_stream *s, unsigned char *a, size_t bytes)
{
	(void)s;
	(void)a;
	(void)bytes;
	return absent();
}

tsw_status soak_stream_checksum(struct soak_stream *s, struct tsw_shape shape, tsw_digest *out)
{
	(void)s;
	(void)shape;
	(void)out;
	return absent();
}

size_t soak_device_used(void)
{
	return 0;
}

#endif
