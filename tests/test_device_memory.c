/* No call for the device allocates, and none but those that return a result waits: on a real GPU,
 * with every function of the CUDA runtime that allocates, frees or waits replaced, by the linker's
 * --wrap, by one that counts (the Makefile has their names, too), and by the memory that is free.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "tileswap.h"
#include "verify/verify.h"

#if TSW_HAVE_CUDA

#include "gpu.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static unsigned allocations, waits; /* calls that have come by */

/* `__real_name` is the runtime's own function. */
#define COUNT(counter, name, parameters, arguments)                                                \
	cudaError_t __real_##name parameters;                                                      \
	cudaError_t __wrap_##name parameters;                                                      \
	cudaError_t __wrap_##name parameters                                                       \
	{                                                                                          \
		counter++;                                                                         \
		return __real_##name arguments;                                                    \
	}

COUNT(allocations, cudaMalloc, (void **p, size_t bytes), (p, bytes))
COUNT(allocations, cudaMallocAsync, (void **p, size_t bytes, cudaStream_t stream),
      (p, bytes, stream))
COUNT(allocations, cudaMallocFromPoolAsync,
      (void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream), (p, bytes, pool, stream))
COUNT(allocations, cudaMallocManaged, (void **p, size_t bytes, unsigned flags), (p, bytes, flags))
COUNT(allocations, cudaMallocHost, (void **p, size_t bytes), (p, bytes))
COUNT(allocations, cudaHostAlloc, (void **p, size_t bytes, unsigned flags), (p, bytes, flags))
COUNT(allocations, cudaHostRegister, (void *p, size_t bytes, unsigned flags), (p, bytes, flags))
COUNT(allocations, cudaMallocPitch, (void **p, size_t *pitch, size_t width, size_t height),
      (p, pitch, width, height))
COUNT(allocations, cudaFree, (void *p), (p))
COUNT(allocations, cudaFreeAsync, (void *p, cudaStream_t stream), (p, stream))
COUNT(allocations, cudaFreeHost, (void *p), (p))
COUNT(allocations, cudaStreamCreate, (cudaStream_t * stream), (stream))
COUNT(allocations, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),
      (stream, flags))
COUNT(allocations, cudaStreamCreateWithPriority,
      (cudaStream_t * stream, unsigned flags, int priority), (stream, flags, priority))
COUNT(allocations, cudaEventCreate, (cudaEvent_t * event), (event))
COUNT(allocations, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags))
COUNT(waits, cudaDeviceSynchronize, (void), ())
COUNT(waits, cudaStreamSynchronize, (cudaStream_t stream), (stream))
COUNT(waits, cudaEventSynchronize, (cudaEvent_t event), (event))

/* ---- the calls ---------------------------------------------------------------------------------
 */

struct call {
	tsw_status (*run)(const struct call *call, char *a, void **array);
	size_t n, ld, width;
	size_t stride, count; /* 0: a single matrix */
	char op;
	tsw_type type;
	double re, im;
	int waits;
};

static tsw_status run_single(const struct call *c, char *a, void **array)
{
	(void)array;
	return tsw_transpose_device(a, c->n, c->ld, c->width, NULL);
}

static tsw_status run_anywhere(const struct call *c, char *a, void **array)
{
	(void)array;
	return tsw_transpose(a, c->n, c->ld, c->width);
}

static tsw_status run_batch(const struct call *c, char *a, void **array)
{
	(void)array;
	return tsw_transpose_batch_device(a, c->n, c->ld, c->width, c->stride, c->count, NULL);
}

static tsw_status run_array(const struct call *c, char *a, void **array)
{
	(void)a;
	return tsw_transpose_array_device(array, c->n, c->ld, c->width, c->count, NULL);
}

static tsw_status run_imatcopy(const struct call *c, char *a, void **array)
{
	const float f[2] = {(float)c->re, (float)c->im};
	const double d[2] = {c->re, c->im};
	const int wide = c->type == TSW_DOUBLE || c->type == TSW_COMPLEX_DOUBLE;

	(void)array;
	return tsw_imatcopy_batch_device(c->op, c->type, c->n, wide ? (void *)d : (void *)f, a,
					 c->ld, c->stride, c->count ? c->count : 1, NULL);
}

static tsw_status run_checksum(const struct call *c, char *a, void **array)
{
	tsw_digest digest;

	(void)array;
	return tsw_checksum_device(a, c->n, c->ld, c->width, 0, &digest, NULL);
}

static const struct call calls[] = {
	{run_single, 1000, 1000, 1},
	{run_single, 1024, 1024, 1},
	{run_single, 1024, 1024, 2},
	{run_single, 1024, 1024, 4},
	{run_single, 1024, 1024, 8},
	{run_single, 1024, 1024, 16},
	{run_single, 1000, 1001, 1},
	{run_single, 1000, 1001, 2},
	{run_single, 1000, 1001, 4},
	{run_single, 1000, 1001, 8},
	{run_single, 1000, 1001, 16},
	{run_single, 999, 999, 3},
	{run_single, 500, 500, 100},
	{run_single, 30, 30, 4},
	{run_anywhere, 1000, 1001, 4, .waits = 1},
	{run_batch, 9, 9, 4, 81, 5000},
	{run_batch, 130, 131, 8, 17100, 20},
	{run_array, 9, 9, 4, 81, 5000},
	{run_array, 130, 131, 8, 17100, 20},
	{run_imatcopy, 1024, 1024, 4, 0, 0, 'T', TSW_FLOAT, 2, 0},
	{run_imatcopy, 1000, 1001, 8, 0, 0, 'T', TSW_DOUBLE, 2, 0},
	{run_imatcopy, 1000, 1001, 8, 0, 0, 'C', TSW_COMPLEX_FLOAT, 1, 2},
	{run_imatcopy, 1000, 1001, 16, 0, 0, 'C', TSW_COMPLEX_DOUBLE, 1, 2},
	{run_imatcopy, 1000, 1001, 4, 0, 0, 'N', TSW_FLOAT, 2, 0},
	{run_imatcopy, 100, 101, 8, 11000, 20, 'T', TSW_DOUBLE, 2, 0},
	{run_checksum, 1000, 1000, 1, .waits = 1},
	{run_checksum, 1000, 1001, 4, .waits = 1},
	{run_checksum, 500, 500, 24, .waits = 1},
	{run_checksum, 500, 500, 100, .waits = 1},
};

/* ---- the tests ---------------------------------------------------------------------------------
 */

#define CUDA_UNCOUNTED(call) CUDA(__real_##call)

static void **array_of(const struct call *c, char *a)
{
	const size_t bytes = (c->count ? c->count : 1) * sizeof(void *);
	void **on_host = malloc(bytes), **array;

	ck_assert_ptr_nonnull(on_host);
	for (size_t b = 0; b < bytes / sizeof(void *); b++)
		on_host[b] = a + b * c->stride * c->width;
	CUDA_UNCOUNTED(cudaMalloc((void **)&array, bytes));
	CUDA(cudaMemcpy(array, on_host, bytes, cudaMemcpyHostToDevice));
	free(on_host);
	return array;
}

static void call_once(const struct call *c, char *a, void **array)
{
	allocations = waits = 0;
	tsw_assert_ok(c->run(c, a, array));
	ck_assert_uint_eq(allocations, 0);
	if (!c->waits)
		ck_assert_uint_eq(waits, 0);
	CUDA_UNCOUNTED(cudaDeviceSynchronize());
}

/* Is as much memory free after a call as before it?  Other processes may allocate meanwhile, so one
 * of a few calls decides; the first call of all loads the kernels. */
static int keeps_what_is_free(const struct call *c, char *a, void **array)
{
	for (int round = 0; round < 8; round++) {
		size_t before, after, total;

		CUDA(cudaMemGetInfo(&before, &total));
		call_once(c, a, array);
		CUDA(cudaMemGetInfo(&after, &total));
		if (before == after)
			return 1;
	}
	return 0;
}

START_TEST(no_call_allocates_or_waits)
{
	const struct call *c = &calls[_i];
	const size_t bytes = ((c->count ? c->count - 1 : 0) * c->stride + c->n * c->ld) * c->width;
	void **array;
	char *a;

	NEED_GPU();
	CUDA_UNCOUNTED(cudaMalloc((void **)&a, bytes));
	CUDA(cudaMemset(a, 0, bytes));
	array = array_of(c, a);
	CUDA_UNCOUNTED(cudaDeviceSynchronize());
	call_once(c, a, array);
	ck_assert_msg(keeps_what_is_free(c, a, array),
		      "n = %zu, ld = %zu, width = %zu, count = %zu: less memory is free after each "
		      "of 8 calls",
		      c->n, c->ld, c->width, c->count);
	CUDA_UNCOUNTED(cudaFree(array));
	CUDA_UNCOUNTED(cudaFree(a));
}
END_TEST

/* The element check, which is no part of the library, allocates and waits: both are seen. */
START_TEST(the_counters_count)
{
	struct tsw_wrong wrong;
	void *a;

	NEED_GPU();
	allocations = waits = 0;
	CUDA(cudaMalloc(&a, 4096));
	ck_assert_uint_eq(allocations, 1);
	tsw_assert_ok(tsw_check_device(a, 32, 32, 4, 1, 0, NULL, &wrong));
	ck_assert_uint_eq(allocations, 3); /* and freed */
	ck_assert_uint_gt(waits, 0);
	CUDA(cudaFree(a));
}
END_TEST

static Suite *memory_suite(void)
{
	Suite *suite = suite_create("device memory");
	TCase *tcase = tcase_create("device");

	tcase_add_test(tcase, the_counters_count);
	tcase_add_loop_test(tcase, no_call_allocates_or_waits, 0, (int)LENGTH(calls));
	suite_add_tcase(suite, tcase);
	return suite;
}

/* One process, no fork: CUDA does not survive one. */
int main(void)
{
	return tsw_test_main(TSW_SAME_PROCESS, (tsw_suite *[]){memory_suite}, 1);
}

#else

int main(void)
{
	return tsw_main_without_cuda();
}

#endif
