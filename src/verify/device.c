#include "device.h"

#include <stdio.h>

#include "../status.h"

#if TSW_HAVE_CUDA

#include "../cuda/runtime.h"

int tsw_device_built(void)
{
	return 1;
}

int tsw_device_count(void)
{
	int count = 0;

	if (tsw_cuda_status() != TSW_OK || ALSO_CUDA(TSW_OK, cudaGetDeviceCount(&count)) != TSW_OK)
		return 0;
	return count;
}

tsw_status tsw_device_query(int index, struct tsw_device *out)
{
	struct cudaDeviceProp properties;
	size_t available, total;

	TRY_CUDA(cudaGetDeviceProperties(&properties, index));
	TRY_CUDA(cudaSetDevice(index));
	TRY_CUDA(cudaMemGetInfo(&available, &total));
	*out = (struct tsw_device){.index = index,
				   .major = properties.major,
				   .minor = properties.minor,
				   .total_bytes = total,
				   .free_bytes = available};
	snprintf(out->name, sizeof out->name, "%s", properties.name);
	TRY_CUDA(cudaDeviceGetPCIBusId(out->pci, sizeof out->pci, index));
	return TSW_OK;
}

tsw_status tsw_device_use(int index)
{
	TRY_CUDA(cudaSetDevice(index));
	return TSW_OK;
}

tsw_status tsw_device_alloc(size_t nbytes, void **p)
{
	cudaError_t error = cudaMalloc(p, nbytes);

	if (error == cudaErrorMemoryAllocation) {
		cudaGetLastError();
		return tsw_fail(TSW_ERR_NO_MEMORY, "the device has no %zu bytes in one piece",
				nbytes);
	}
	return tsw_cuda_also(TSW_OK, error, "cudaMalloc");
}

tsw_status tsw_device_free(void *p)
{
	TRY_CUDA(cudaFree(p));
	return TSW_OK;
}

tsw_status tsw_device_copy(void *to, const void *from, size_t nbytes)
{
	TRY_CUDA(cudaMemcpy(to, from, nbytes, cudaMemcpyDefault));
	return TSW_OK;
}

/* Between two events that exist. */
static tsw_status timed(cudaEvent_t begin, cudaEvent_t end, tsw_status (*work)(void *arg),
			void *arg, double *time_ms)
{
	float elapsed_ms;

	TRY_CUDA(cudaEventRecord(begin, NULL));
	TRY(work(arg));
	TRY_CUDA(cudaEventRecord(end, NULL));
	TRY_CUDA(cudaEventSynchronize(end));
	TRY_CUDA(cudaEventElapsedTime(&elapsed_ms, begin, end));
	*time_ms = elapsed_ms;
	return TSW_OK;
}

tsw_status tsw_device_timed(tsw_status (*work)(void *arg), void *arg, double *time_ms)
{
	cudaEvent_t begin, end;
	tsw_status status;

	TRY_CUDA(cudaEventCreate(&begin));
	status = ALSO_CUDA(TSW_OK, cudaEventCreate(&end));
	if (status == TSW_OK) {
		status = timed(begin, end, work, arg, time_ms);
		status = ALSO_CUDA(status, cudaEventDestroy(end));
	}
	return ALSO_CUDA(status, cudaEventDestroy(begin));
}

#else

static tsw_status absent(void)
{
	return tsw_fail(TSW_ERR_NO_CUDA, "this build of tileswap has no CUDA support");
}

int tsw_device_built(void)
{
	return 0;
}

int tsw_device_count(void)
{
	return 0;
}

tsw_status tsw_device_query(int index, struct tsw_device *out)
{
	(void)index;
	(void)out;
	return absent();
}

tsw_status tsw_device_use(int index)
{
	(void)index;
	return absent();
}

tsw_status tsw_device_alloc(size_t nbytes, void **p)
{
	(void)nbytes;
	(void)p;
	return absent();
}

tsw_status tsw_device_free(void *p)
{
	(void)p;
	return absent();
}

tsw_status tsw_device_copy(void *to, const void *from, size_t nbytes)
{
	(void)to;
	(void)from;
	(void)nbytes;
	return absent();
}

tsw_status tsw_device_timed(tsw_status (*work)(void *arg), void *arg, double *time_ms)
{
	(void)work;
	(void)arg;
	(void)time_ms;
	return absent();
}

#endif
