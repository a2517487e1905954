#include "runtime.h"

/* More shared memory than this is a kernel's only if it asks. */
#define SHARED_FOR_ALL (48u << 10)

/* What kernels may have besides the dynamic shared memory that a launch gives. */
#define SHARED_STATIC (4u << 10)

/* The compute capability from which on a kernel may start while the one before it ends. */
#define EARLY_STARTS 9

/* The x dimension of a grid, on every device since compute capability 3.0. */
#define MAX_GRID_X 2147483647u

tsw_status tsw_cuda_fail(cudaError_t error, const char *call)
{
	size_t name = 0;

	cudaGetLastError();
	while (call[name] && call[name] != '(')
		name++;
	return tsw_fail(TSW_ERR_CUDA, "%.*s: %s (%s)", (int)name, call, cudaGetErrorString(error),
			cudaGetErrorName(error));
}

tsw_status tsw_cuda_also(tsw_status status, cudaError_t error, const char *call)
{
	if (error == cudaSuccess)
		return status;
	if (status == TSW_OK)
		return tsw_cuda_fail(error, call);
	cudaGetLastError();
	return status;
}

/* Is this how cudaGetDeviceCount() says that CUDA cannot be started in this process?  Then no
 * memory of a device can be at hand.  With any other code CUDA may well be running. */
static int cannot_start(cudaError_t error)
{
	switch (error) {
	case cudaErrorInitializationError:
	case cudaErrorStubLibrary:
	case cudaErrorInsufficientDriver:
	case cudaErrorNoDevice:
	case cudaErrorOperatingSystem:
	case cudaErrorSystemNotReady:
	case cudaErrorSystemDriverMismatch:
	case cudaErrorCompatNotSupportedOnDevice:
	case cudaErrorMpsConnectionFailed:
	case cudaErrorMpsRpcFailure:
	case cudaErrorMpsServerNotReady:
	case cudaErrorMpsMaxClientsReached:
	case cudaErrorMpsMaxConnectionsReached:
	case cudaErrorUnknown:
		return 1;
	default:
		return 0;
	}
}

static tsw_status no_driver(cudaError_t error)
{
	int version = 0;

	if (error == cudaErrorNoDevice)
		return tsw_fail(TSW_ERR_NO_DEVICE, "the CUDA driver finds no device");
	if (cudaDriverGetVersion(&version) != cudaSuccess)
		cudaGetLastError();
	if (version == 0)
		return tsw_fail(TSW_ERR_NO_CUDA, "no CUDA driver is installed");
	if (error == cudaErrorInsufficientDriver)
		return tsw_fail(
			TSW_ERR_NO_CUDA,
			"the CUDA driver is too old: it serves CUDA %d.%d, this build needs %d.%d",
			version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
			CUDART_VERSION % 1000 / 10);
	return tsw_fail(TSW_ERR_NO_CUDA, "the CUDA driver cannot be used: %s (%s)",
			cudaGetErrorString(error), cudaGetErrorName(error));
}

tsw_status tsw_cuda_usable(void)
{
	int count = 0;
	cudaError_t error = cudaGetDeviceCount(&count);

	if (error != cudaSuccess && !cannot_start(error))
		return tsw_cuda_fail(error, "cudaGetDeviceCount");
	if (error != cudaSuccess) {
		cudaGetLastError();
		return no_driver(error);
	}
	return count ? TSW_OK : no_driver(cudaErrorNoDevice);
}

tsw_status tsw_cuda_owner(const void *p, int *device)
{
	struct cudaPointerAttributes where;
	const tsw_status usable = tsw_cuda_usable();

	*device = -1;
	if (usable == TSW_ERR_NO_CUDA || usable == TSW_ERR_NO_DEVICE) {
		tsw_forget_failure();
		return TSW_OK;
	}
	TRY(usable);
	TRY_CUDA(cudaPointerGetAttributes(&where, p));
	if (where.type == cudaMemoryTypeDevice || where.type == cudaMemoryTypeManaged)
		*device = where.device;
	return TSW_OK;
}

tsw_status tsw_cuda_reach(const void *p, const char *name, void **address)
{
	struct cudaPointerAttributes where;
	int current;

	TRY_CUDA(cudaPointerGetAttributes(&where, p));
	if (where.devicePointer == NULL)
		return tsw_fail(TSW_ERR_WHERE, "%s = %p is host memory that no device can reach",
				name, p);
	if (where.type == cudaMemoryTypeDevice) {
		TRY_CUDA(cudaGetDevice(&current));
		if (where.device != current)
			return tsw_fail(TSW_ERR_WHERE,
					"%s = %p is memory of device %d, the current device is %d",
					name, p, where.device, current);
	}
	*address = where.devicePointer;
	return TSW_OK;
}

tsw_status tsw_cuda_shared_bytes(unsigned *bytes)
{
	int device, most;

	TRY_CUDA(cudaGetDevice(&device));
	TRY_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
	*bytes = (unsigned)most - SHARED_STATIC;
	return TSW_OK;
}

tsw_status tsw_cuda_multiprocessor_shared_bytes(unsigned *bytes)
{
	int device, all;

	TRY_CUDA(cudaGetDevice(&device));
	TRY_CUDA(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
	*bytes = (unsigned)all;
	return TSW_OK;
}

uint64_t tsw_cuda_grid(uint64_t grid_limit)
{
	return grid_limit && grid_limit < MAX_GRID_X ? grid_limit : MAX_GRID_X;
}

/* Lets a kernel have as much shared memory as any can.  The limit is the kernel's, for all threads:
 * were it set to what one launch needs, another thread could lower it just before that launch. */
static tsw_status allow_shared(const void *entry)
{
	unsigned most;

	TRY(tsw_cuda_shared_bytes(&most));
	TRY_CUDA(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
				      (int)most));
	return TSW_OK;
}

tsw_status tsw_cuda_launch(const struct tsw_kernel *kernel, const void *parameter, uint64_t blocks,
			   tsw_stream stream)
{
	cudaLaunchConfig_t config = {
		.gridDim = {(unsigned)blocks, 1, 1},
		.blockDim = {kernel->threads_x, kernel->threads_y, 1},
		.dynamicSmemBytes = kernel->shared_bytes,
		.stream = stream,
	};
	void *arguments[] = {(void *)(uintptr_t)parameter};
	cudaLaunchAttribute early = {.id = cudaLaunchAttributeProgrammaticStreamSerialization};
	int device, major;

	early.val.programmaticStreamSerializationAllowed = 1;
	if (kernel->overlaps) {
		TRY_CUDA(cudaGetDevice(&device));
		TRY_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
		if (major >= EARLY_STARTS) {
			config.attrs = &early;
			config.numAttrs = 1;
		}
	}
	if (kernel->shared_bytes + SHARED_STATIC > SHARED_FOR_ALL)
		TRY(allow_shared(kernel->entry));
	TRY_CUDA(cudaLaunchKernelExC(&config, kernel->entry, arguments));
	return TSW_OK;
}
