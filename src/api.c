/* The entry points: check arguments once, pick where the matrix lies, hand over. */
#include "cpu/cpu.h"
#include "cuda/cuda.h"
#include "digest/digest.h"
#include "imatcopy.h"
#include "matrices.h"
#include "status.h"

static struct tsw_matrices one(const void *a, size_t n, size_t ld, size_t elem_size)
{
	return (struct tsw_matrices){
		.base = (void *)(uintptr_t)a, .n = n, .ld = ld, .elem_size = elem_size, .count = 1};
}

/* A single row has no next one: its ld is any number that is not 0, products of which may wrap. */
static void forget_ld(struct tsw_matrices *m)
{
	if (m->n == 1)
		m->ld = 1;
}

static tsw_status check_threads(int nthreads)
{
	if (nthreads < 0)
		return tsw_fail(TSW_ERR_THREADS, "nthreads = %d is negative", nthreads);
	return TSW_OK;
}

static tsw_status on_host(const struct tsw_matrices *m, int nthreads)
{
	TRY(check_threads(nthreads));
	TRY(tsw_check_matrices(m));
	if (!tsw_nothing_to_do(m))
		tsw_cpu_transpose(m, nthreads);
	return TSW_OK;
}

static tsw_status on_device(const struct tsw_matrices *m, tsw_stream stream)
{
	TRY(tsw_check_matrices(m));
	TRY(tsw_check_alignment(m));
	TRY(tsw_cuda_usable());
	if (m->n == 0 || m->count == 0)
		return TSW_OK;
	return tsw_cuda_transpose(m, stream, 0);
}

tsw_status tsw_cuda_status(void)
{
	tsw_forget_failure();
	return tsw_cuda_usable();
}

tsw_status tsw_transpose(void *a, size_t n, size_t ld, size_t elem_size)
{
	struct tsw_matrices m = one(a, n, ld, elem_size);
	int device;

	tsw_forget_failure();
	TRY(tsw_check_matrices(&m));
	if (n == 0)
		return TSW_OK;
	TRY(tsw_cuda_owner(a, &device));
	if (device < 0)
		return on_host(&m, 0);
	TRY(tsw_check_alignment(&m));
	return tsw_cuda_transpose_on(&m, device);
}

tsw_status tsw_transpose_host(void *a, size_t n, size_t ld, size_t elem_size, int nthreads)
{
	struct tsw_matrices m;

	tsw_forget_failure();
	if (nthreads >= 0 && tsw_cpu_turn_small(a, n, ld, elem_size))
		return TSW_OK;
	m = one(a, n, ld, elem_size);
	return on_host(&m, nthreads);
}

tsw_status tsw_transpose_device(void *a, size_t n, size_t ld, size_t elem_size, tsw_stream stream)
{
	struct tsw_matrices m = one(a, n, ld, elem_size);

	tsw_forget_failure();
	return on_device(&m, stream);
}

static struct tsw_matrices strided(void *a, size_t n, size_t ld, size_t elem_size, size_t stride,
				   size_t count)
{
	struct tsw_matrices m = one(a, n, ld, elem_size);

	m.stride = stride;
	m.count = count;
	return m;
}

tsw_status tsw_transpose_batch_host(void *a, size_t n, size_t ld, size_t elem_size, size_t stride,
				    size_t count, int nthreads)
{
	struct tsw_matrices m = strided(a, n, ld, elem_size, stride, count);

	tsw_forget_failure();
	return on_host(&m, nthreads);
}

tsw_status tsw_transpose_batch_device(void *a, size_t n, size_t ld, size_t elem_size, size_t stride,
				      size_t count, tsw_stream stream)
{
	struct tsw_matrices m = strided(a, n, ld, elem_size, stride, count);

	tsw_forget_failure();
	return on_device(&m, stream);
}

static struct tsw_matrices pointed(void *const *a, size_t n, size_t ld, size_t elem_size,
				   size_t count)
{
	struct tsw_matrices m = one(NULL, n, ld, elem_size);

	m.array = a;
	/* Without the array there is nothing beyond the first matrix to check. */
	m.count = a || count == 0 ? count : 1;
	return m;
}

tsw_status tsw_transpose_array_host(void *const *a, size_t n, size_t ld, size_t elem_size,
				    size_t count, int nthreads)
{
	struct tsw_matrices m = pointed(a, n, ld, elem_size, count);

	tsw_forget_failure();
	TRY(check_threads(nthreads));
	TRY(tsw_check_matrices(&m));
	for (size_t b = 0; n && b < count; b++)
		if (!a[b])
			return tsw_fail(TSW_ERR_NULL, "a[%zu] is NULL", b);
	return on_host(&m, nthreads);
}

tsw_status tsw_transpose_array_device(void *const *a, size_t n, size_t ld, size_t elem_size,
				      size_t count, tsw_stream stream)
{
	struct tsw_matrices m = pointed(a, n, ld, elem_size, count);

	tsw_forget_failure();
	return on_device(&m, stream);
}

/* ---- imatcopy */

/* What is asked for: which matrices, where elem_size comes of the type, and what to do to them. */
struct imatcopy {
	char op;
	tsw_type type;
	const void *alpha;
	struct tsw_matrices m;
};

static tsw_status imatcopy_on_host(struct imatcopy x, int nthreads)
{
	struct tsw_epilogue e;

	tsw_forget_failure();
	TRY(tsw_epilogue_of(x.op, x.type, x.alpha, &e, &x.m.elem_size));
	TRY(check_threads(nthreads));
	TRY(tsw_check_matrices(&x.m));
	forget_ld(&x.m);
	if (x.m.n && x.m.count)
		tsw_cpu_imatcopy(&x.m, &e, nthreads);
	return TSW_OK;
}

static tsw_status imatcopy_on_device(struct imatcopy x, tsw_stream stream)
{
	struct tsw_epilogue e;

	tsw_forget_failure();
	TRY(tsw_epilogue_of(x.op, x.type, x.alpha, &e, &x.m.elem_size));
	TRY(tsw_check_matrices(&x.m));
	forget_ld(&x.m);
	TRY(tsw_check_alignment(&x.m));
	TRY(tsw_cuda_usable());
	if (x.m.n == 0 || x.m.count == 0)
		return TSW_OK;
	return tsw_cuda_imatcopy(&x.m, &e, stream, 0);
}

tsw_status tsw_imatcopy_host(char op, tsw_type type, size_t n, const void *alpha, void *a,
			     size_t ld, int nthreads)
{
	return imatcopy_on_host((struct imatcopy){op, type, alpha, one(a, n, ld, 0)}, nthreads);
}

tsw_status tsw_imatcopy_device(char op, tsw_type type, size_t n, const void *alpha, void *a,
			       size_t ld, tsw_stream stream)
{
	return imatcopy_on_device((struct imatcopy){op, type, alpha, one(a, n, ld, 0)}, stream);
}

tsw_status tsw_imatcopy_batch_host(char op, tsw_type type, size_t n, const void *alpha, void *a,
				   size_t ld, size_t stride, size_t count, int nthreads)
{
	return imatcopy_on_host(
		(struct imatcopy){op, type, alpha, strided(a, n, ld, 0, stride, count)}, nthreads);
}

tsw_status tsw_imatcopy_batch_device(char op, tsw_type type, size_t n, const void *alpha, void *a,
				     size_t ld, size_t stride, size_t count, tsw_stream stream)
{
	return imatcopy_on_device(
		(struct imatcopy){op, type, alpha, strided(a, n, ld, 0, stride, count)}, stream);
}

/* ---- checksum */

static tsw_status check_checksum(struct tsw_matrices *m, const tsw_digest *out)
{
	TRY(tsw_check_matrices(m));
	forget_ld(m);
	if (!out)
		return tsw_fail(TSW_ERR_NULL, "out is NULL");
	return TSW_OK;
}

tsw_status tsw_checksum_host(const void *a, size_t n, size_t ld, size_t elem_size, int transposed,
			     tsw_digest *out, int nthreads)
{
	struct tsw_matrices m = one(a, n, ld, elem_size);

	tsw_forget_failure();
	TRY(check_threads(nthreads));
	TRY(check_checksum(&m, out));
	*out = tsw_digest_host(&m, transposed, nthreads);
	return TSW_OK;
}

tsw_status tsw_checksum_device(const void *a, size_t n, size_t ld, size_t elem_size, int transposed,
			       tsw_digest *out, tsw_stream stream)
{
	struct tsw_matrices m = one(a, n, ld, elem_size);

	tsw_forget_failure();
	TRY(check_checksum(&m, out));
	TRY(tsw_check_alignment(&m));
	TRY(tsw_cuda_usable());
	*out = (tsw_digest){0, 0};
	if (n == 0)
		return TSW_OK;
	return tsw_cuda_checksum(&m, transposed, out, stream, 0);
}
