/* The calls of the CUDA runtime. */
#include "internal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernels/digest.h"

#define SHARED_FOR_ALL (48u << 10)
#define ENTRIES 128

struct fake fake = {.devices = 2, .driver = CUDART_VERSION, .shared_bytes = 227 << 10, .major = 9};

static struct {
	unsigned number; /* 0: no call fails */
	cudaError_t error;
	enum fake_mode mode;
} fault;

static _Thread_local cudaError_t pending;
static _Thread_local int current;

/* ---- errors ------------------------------------------------------------------------------------
 */

#define ERROR(name, text)                                                                          \
	{                                                                                          \
		name, #name, text                                                                  \
	}

static const struct {
	cudaError_t error;
	const char *name, *text;
} errors[] = {
	ERROR(cudaSuccess, "no error"),
	ERROR(cudaErrorInvalidValue, "invalid argument"),
	ERROR(cudaErrorMemoryAllocation, "out of memory"),
	ERROR(cudaErrorInitializationError, "initialization error"),
	ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
	ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
	ERROR(cudaErrorStubLibrary, "the driver is a stub"),
	ERROR(cudaErrorInsufficientDriver, "driver version is insufficient"),
	ERROR(cudaErrorDevicesUnavailable, "devices are busy or unavailable"),
	ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
	ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
	ERROR(cudaErrorNoKernelImageForDevice, "no kernel image for the device"),
	ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error"),
	ERROR(cudaErrorOperatingSystem, "OS call failed"),
	ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
	ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
	ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
	ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
	ERROR(cudaErrorMisalignedAddress, "misaligned address"),
	ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
	ERROR(cudaErrorNotPermitted, "operation not permitted"),
	ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
	ERROR(cudaErrorSystemDriverMismatch, "driver and library do not match"),
	ERROR(cudaErrorCompatNotSupportedOnDevice, "forward compatibility not supported"),
	ERROR(cudaErrorMpsConnectionFailed, "no connection to the MPS server"),
	ERROR(cudaErrorMpsRpcFailure, "MPS: remote procedure call failed"),
	ERROR(cudaErrorMpsServerNotReady, "MPS server is not ready"),
	ERROR(cudaErrorMpsMaxClientsReached, "MPS: too many clients"),
	ERROR(cudaErrorMpsMaxConnectionsReached, "MPS: too many connections"),
	ERROR(cudaErrorStreamCaptureUnsupported, "not permitted while a stream is captured"),
	ERROR(cudaErrorUnknown, "unknown error"),
};

#define ERRORS (sizeof errors / sizeof *errors)

const char *cudaGetErrorName(cudaError_t error)
{
	for (size_t i = 0; i < ERRORS; i++)
		if (errors[i].error == error)
			return errors[i].name;
	return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	for (size_t i = 0; i < ERRORS; i++)
		if (errors[i].error == error)
			return errors[i].text;
	return "unrecognized error code";
}

cudaError_t cudaPeekAtLastError(void)
{
	return pending;
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t error = pending;

	pending = fake.sticky;
	return error;
}

void fake_set_pending(cudaError_t error)
{
	pending = error;
}

int fake_current(void)
{
	return current;
}

int fake_sticky(cudaError_t error)
{
	return error == cudaErrorECCUncorrectable || error == cudaErrorIllegalAddress ||
	       error == cudaErrorMisalignedAddress || error == cudaErrorLaunchFailure;
}

/* ---- failing -----------------------------------------------------------------------------------
 */

void fake_fail(unsigned number, cudaError_t error, enum fake_mode mode)
{
	fake_fail_nothing();
	fault.number = number;
	fault.error = error;
	fault.mode = mode;
}

void fake_fail_nothing(void)
{
	memset(&fault, 0, sizeof fault);
	fake.calls = fake.allocations = fake.waits = fake.launches = fake.executed = 0;
	fake.failed = NULL;
	fake.entry = NULL;
	fake.sticky = cudaSuccess;
	fake.home_refused = 0;
	fake.home = current;
	pending = cudaSuccess;
}

static cudaError_t set(cudaError_t error)
{
	if (error != cudaSuccess)
		pending = error;
	return error;
}

/* Of a call that works without a context. */
static cudaError_t begin_bare(const char *name)
{
	fake.calls++;
	if (fault.number == 0 || fake.calls < fault.number ||
	    (fault.mode == FAKE_ONCE && fake.calls > fault.number))
		return cudaSuccess;
	if (!fake.failed)
		fake.failed = name;
	if (fake_sticky(fault.error))
		fake.sticky = fault.error;
	return set(fault.error);
}

/* Is there anything to work with? */
static cudaError_t machine(void)
{
	if (fake.driver < CUDART_VERSION / 1000 * 1000)
		return cudaErrorInsufficientDriver;
	return fake.devices ? cudaSuccess : cudaErrorNoDevice;
}

static cudaError_t begin(const char *name)
{
	cudaError_t error = begin_bare(name);

	if (error == cudaSuccess)
		error = set(machine());
	return error != cudaSuccess ? error : set(fake.sticky);
}

#define BEGIN(how)                                                                                 \
	do {                                                                                       \
		cudaError_t error_ = how(__func__);                                                \
		if (error_ != cudaSuccess)                                                         \
			return error_;                                                             \
	} while (0)

/* ---- devices -----------------------------------------------------------------------------------
 */

cudaError_t cudaDriverGetVersion(int *version)
{
	BEGIN(begin_bare);
	*version = fake.driver;
	return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
	BEGIN(begin_bare);
	*count = fake.devices;
	return fake.none_is_error || fake.devices ? set(machine()) : cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
	BEGIN(begin_bare);
	*device = current;
	return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	cudaError_t error = begin_bare(__func__);

	if (device < 0 || device >= fake.devices)
		return set(cudaErrorInvalidDevice);
	if (error != cudaSuccess && device == fake.home)
		fake.home_refused = 1;
	if (error == cudaSuccess || (fake.set_moves && device != fake.home))
		current = device;
	return error;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
	BEGIN(begin);
	if (device < 0 || device >= fake.devices)
		return set(cudaErrorInvalidDevice);
	memset(properties, 0, sizeof *properties);
	snprintf(properties->name, sizeof properties->name, "fake %d", device);
	properties->major = fake.major;
	return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device)
{
	BEGIN(begin);
	if (device < 0 || device >= fake.devices)
		return set(cudaErrorInvalidDevice);
	snprintf(id, (size_t)size, "0000:%02x:00.0", device);
	return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	BEGIN(begin);
	if (device < 0 || device >= fake.devices)
		return set(cudaErrorInvalidDevice);
	if (attribute == cudaDevAttrComputeCapabilityMajor) {
		*value = fake.major;
		return cudaSuccess;
	}
	if (attribute != cudaDevAttrMaxSharedMemoryPerBlockOptin &&
	    attribute != cudaDevAttrMaxSharedMemoryPerMultiprocessor)
		return set(cudaErrorInvalidValue);
	*value = fake.shared_bytes;
	return cudaSuccess;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *p)
{
	static const enum cudaMemoryType types[] = {
		[FAKE_PINNED] = cudaMemoryTypeHost,
		[FAKE_MANAGED] = cudaMemoryTypeManaged,
		[FAKE_DEVICE] = cudaMemoryTypeDevice,
	};
	const struct fake_block *block = fake_block_of(p);
	size_t at;

	BEGIN(begin);
	memset(attributes, 0, sizeof *attributes);
	attributes->device = -2;
	attributes->hostPointer = (void *)(uintptr_t)p;
	if (!block)
		return cudaSuccess;
	at = (size_t)((const unsigned char *)p - block->host);
	if (at >= block->bytes)
		at = (size_t)((const unsigned char *)p - block->on_device);
	attributes->type = types[block->kind];
	attributes->device = block->device;
	attributes->devicePointer = block->on_device + at;
	attributes->hostPointer = block->kind == FAKE_DEVICE ? NULL : block->host + at;
	return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **p, const void *symbol)
{
	BEGIN(begin);
	if (symbol != tsw_digest_slots())
		return set(cudaErrorInvalidSymbol);
	*p = (void *)(uintptr_t)symbol;
	return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	BEGIN(begin);
	*total = (size_t)1 << 32;
	*available = *total - fake.live;
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
	struct fake_block *block;

	fake.allocations++;
	BEGIN(begin);
	block = fake_block_new(FAKE_DEVICE, current, bytes);
	block->own = 1;
	fake.live++;
	*p = block->on_device;
	return cudaSuccess;
}

/* One that fails has been tried all the same, so it is no leak. */
cudaError_t cudaFree(void *p)
{
	cudaError_t error = begin(__func__);
	struct fake_block *block = fake_block_of(p);

	fake.allocations++;
	fake.waits++;
	if (!p)
		return error;
	if (!block || !block->own || p != block->on_device) {
		fake_misuse("cudaFree of what was not allocated");
		return set(cudaErrorInvalidValue);
	}
	fake_finish();
	fake_block_free(block);
	fake.live--;
	return error;
}

/* ---- streams and events ------------------------------------------------------------------------
 */

/* NULL and 1 are the legacy stream, 2 is the thread's own: of the current device. */
static cudaStream_t named(cudaStream_t stream)
{
	return (uintptr_t)stream <= 2 ? NULL : stream;
}

static int device_of(cudaStream_t stream)
{
	return named(stream) ? stream->device : current;
}

/* The place that `bytes` bytes at `p` have for the host, if a device may access them. */
static unsigned char *reachable(const void *p, size_t bytes)
{
	const char *pool = tsw_digest_slots(), *at = p;
	const size_t pool_bytes = TSW_DIGEST_SLOTS * sizeof(struct tsw_digest_slot);
	struct fake_block *block = fake_block_of(p);

	if (at >= pool && at + bytes <= pool + pool_bytes)
		return (unsigned char *)(uintptr_t)p;
	if (!block || fake_block_of((const char *)p + bytes - 1) != block)
		return NULL;
	return fake_view((void *)(uintptr_t)p);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
	struct fake_work work = {
		.stream = named(stream), .device = device_of(stream), .what = FAKE_SET};

	BEGIN(begin);
	work.to = reachable(p, bytes);
	if (!work.to)
		return set(cudaErrorInvalidValue);
	work.data[0] = (unsigned char)value;
	work.bytes = bytes;
	fake_queue(&work);
	return cudaSuccess;
}

static cudaError_t copy_to_device(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
	struct fake_work work = {
		.stream = named(stream), .device = device_of(stream), .what = FAKE_COPY};

	work.to = reachable(to, bytes);
	if (!work.to || bytes > sizeof work.data)
		return set(cudaErrorInvalidValue);
	memcpy(work.data, from, bytes);
	work.bytes = bytes;
	fake_queue(&work);
	return cudaSuccess;
}

/* To pageable memory: returns when it is done. */
static cudaError_t copy_to_host(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
	const unsigned char *source = reachable(from, bytes);

	if (!source)
		return set(cudaErrorInvalidValue);
	fake.waits++;
	fake_run_stream(named(stream));
	memcpy(to, source, bytes);
	return set(fake.sticky);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	BEGIN(begin);
	if (kind == cudaMemcpyDefault)
		kind = reachable(from, bytes) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
	return kind == cudaMemcpyDeviceToHost ? copy_to_host(to, from, bytes, stream)
					      : copy_to_device(to, from, bytes, stream);
}

/* On the legacy stream, and waits. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	unsigned char *there = reachable(to, bytes);

	BEGIN(begin);
	if (kind != cudaMemcpyDefault)
		return set(cudaErrorInvalidValue);
	if (!there)
		return copy_to_host(to, from, bytes, NULL);
	fake.waits++;
	fake_run_stream(NULL);
	memcpy(there, from, bytes);
	return set(fake.sticky);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	BEGIN(begin);
	*status = named(stream) && stream->capturing ? cudaStreamCaptureStatusActive
						     : cudaStreamCaptureStatusNone;
	return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	fake.waits++;
	BEGIN(begin);
	if (named(stream) && stream->capturing) {
		fake_misuse("cudaStreamSynchronize on a stream that is captured");
		return set(cudaErrorStreamCaptureUnsupported);
	}
	fake_run_stream(named(stream));
	return set(fake.sticky);
}

struct CUevent_st {
	unsigned recorded;
};

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	fake.allocations++;
	BEGIN(begin);
	*event = calloc(1, sizeof **event);
	if (!*event)
		abort();
	fake.live++;
	return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	cudaError_t error = begin(__func__);

	fake.allocations++;
	free(event);
	fake.live--;
	return error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	static unsigned clock;

	(void)stream;
	BEGIN(begin);
	event->recorded = ++clock;
	return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	fake.waits++;
	BEGIN(begin);
	if (!event->recorded)
		return set(cudaErrorInvalidResourceHandle);
	fake_finish();
	return set(fake.sticky);
}

cudaError_t cudaEventElapsedTime(float *time_ms, cudaEvent_t from, cudaEvent_t to)
{
	BEGIN(begin);
	if (!from->recorded || !to->recorded)
		return set(cudaErrorInvalidResourceHandle);
	*time_ms = (float)(to->recorded - from->recorded);
	return cudaSuccess;
}

/* ---- launches ----------------------------------------------------------------------------------
 */

/* Dynamic shared memory that entries have asked for. */
static struct {
	const void *entry;
	unsigned bytes;
	int asked, of; /* for how much last, on a device that has so much */
} allowed[ENTRIES];

static size_t slot_of(const void *entry)
{
	size_t i = 0;

	while (i < ENTRIES && allowed[i].entry && allowed[i].entry != entry)
		i++;
	if (i == ENTRIES)
		abort();
	if (!allowed[i].entry)
		allowed[i].bytes = SHARED_FOR_ALL;
	allowed[i].entry = entry;
	return i;
}

cudaError_t cudaFuncSetAttribute(const void *entry, enum cudaFuncAttribute attribute, int value)
{
	size_t i;

	BEGIN(begin);
	if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
	    value > fake.shared_bytes)
		return set(cudaErrorInvalidValue);
	i = slot_of(entry);
	if (allowed[i].asked && allowed[i].asked != value && allowed[i].of == fake.shared_bytes)
		fake_misuse("%p may have %d bytes of shared memory, then %d: threads that launch "
			    "it side by side would take them from each other",
			    entry, allowed[i].asked, value);
	allowed[i].bytes = (unsigned)value;
	allowed[i].asked = value;
	allowed[i].of = fake.shared_bytes;
	return cudaSuccess;
}

/* None, or the early start that GPUs since Hopper have. */
static int attributes_are_valid(const cudaLaunchConfig_t *c)
{
	return c->numAttrs == 0 ||
	       (c->numAttrs == 1 && fake.major >= 9 &&
		c->attrs->id == cudaLaunchAttributeProgrammaticStreamSerialization);
}

static int configuration_is_valid(const cudaLaunchConfig_t *c)
{
	const unsigned long long threads = (unsigned long long)c->blockDim.x * c->blockDim.y;

	return c->gridDim.x >= 1 && c->gridDim.x <= INT32_MAX && c->gridDim.y == 1 &&
	       c->gridDim.z == 1 && threads >= 1 && threads <= 1024 && c->blockDim.z == 1 &&
	       attributes_are_valid(c);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *entry,
				void **arguments)
{
	const struct fake_kernel kernel = fake_kernel_of(entry);
	struct fake_work work = {.stream = named(config->stream), .what = FAKE_LAUNCH};

	BEGIN(begin);
	if (!configuration_is_valid(config))
		return set(cudaErrorInvalidConfiguration);
	if (config->dynamicSmemBytes > allowed[slot_of(entry)].bytes)
		return set(cudaErrorInvalidValue);
	if (device_of(config->stream) != current)
		return set(cudaErrorInvalidResourceHandle);
	if (kernel.bytes > sizeof work.parameter)
		abort();
	work.device = current;
	memcpy(work.parameter, arguments[0], kernel.bytes);
	work.launch = (struct simt_launch){
		.call = kernel.call,
		.entry = entry,
		.grid = config->gridDim.x,
		.block_x = config->blockDim.x,
		.block_y = config->blockDim.y,
		.shared_bytes = config->dynamicSmemBytes,
		.order = fake.launches % 3,
	};
	fake.launches++;
	fake.entry = entry;
	fake_queue(&work);
	return cudaSuccess;
}
