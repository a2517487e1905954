/* GPU, driver and clocks, for the first row.  NVML is no part of the toolkit and is loaded at run
 * time, by prototypes of our own; without it the clocks are left out. */
#include "bench.h"

#if TSW_HAVE_CUDA

#include <dlfcn.h>

#include "gpu.h"

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

struct nvml {
	void *library;
	int (*init)(void);
	int (*driver)(char *text, unsigned room);
	int (*handle)(const char *bus, void **device);
	int (*clock)(void *device, int which, unsigned *mhz);
	int (*max_clock)(void *device, int which, unsigned *mhz);
};

static int load(struct nvml *n)
{
	n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!n->library)
		return -1;
	*(void **)&n->init = dlsym(n->library, "nvmlInit_v2");
	*(void **)&n->driver = dlsym(n->library, "nvmlSystemGetDriverVersion");
	*(void **)&n->handle = dlsym(n->library, "nvmlDeviceGetHandleByPciBusId_v2");
	*(void **)&n->clock = dlsym(n->library, "nvmlDeviceGetClockInfo");
	*(void **)&n->max_clock = dlsym(n->library, "nvmlDeviceGetMaxClockInfo");
	return n->init && n->driver && n->handle && n->clock && n->max_clock && n->init() == 0 ? 0
											       : -1;
}

static struct bench_fact number(const char *key, double value)
{
	return (struct bench_fact){.key = key, .number = value};
}

/* Clocks while a kernel runs: an idle GPU lowers them. */
static size_t clock_facts(struct bench_fact *facts)
{
	struct nvml n;
	struct bench_fact driver = {.key = "driver", .is_text = 1};
	char bus[32];
	void *device;
	unsigned mhz;
	size_t k = 0;

	if (load(&n) || cudaDeviceGetPCIBusId(bus, sizeof bus, 0) != cudaSuccess ||
	    n.handle(bus, &device))
		return 0;
	if (n.driver(driver.text, sizeof driver.text) == 0)
		facts[k++] = driver;
	if (n.clock(device, NVML_CLOCK_SM, &mhz) == 0)
		facts[k++] = number("sm_clock_mhz", mhz);
	if (n.clock(device, NVML_CLOCK_MEM, &mhz) == 0)
		facts[k++] = number("memory_clock_mhz", mhz);
	if (n.max_clock(device, NVML_CLOCK_SM, &mhz) == 0)
		facts[k++] = number("sm_clock_max_mhz", mhz);
	if (n.max_clock(device, NVML_CLOCK_MEM, &mhz) == 0)
		facts[k++] = number("memory_clock_max_mhz", mhz);
	return k;
}

static size_t attribute_fact(struct bench_fact *fact, const char *key, enum cudaDeviceAttr what)
{
	int value;

	if (cudaDeviceGetAttribute(&value, what, 0) != cudaSuccess) {
		(void)cudaGetLastError();
		return 0;
	}
	*fact = number(key, value);
	return 1;
}

size_t bench_cuda_facts(struct bench_fact *facts, size_t room)
{
	const int *device_flag;
	int *flag = NULL;
	int driver = 0, runtime = 0;
	struct cudaDeviceProp properties;
	size_t k = 0;

	if (room < 20 || cudaGetDeviceProperties(&properties, 0) != cudaSuccess)
		return 0;
	facts[k] = (struct bench_fact){.key = "gpu", .is_text = 1};
	snprintf(facts[k].text, sizeof facts[k].text, "%.95s", properties.name);
	k++;
	facts[k++] = number("compute_capability", properties.major + properties.minor / 10.0);
	facts[k++] = number("gpu_memory_bytes", (double)properties.totalGlobalMem);
	k += attribute_fact(&facts[k], "multiprocessors", cudaDevAttrMultiProcessorCount);
	k += attribute_fact(&facts[k], "l2_bytes", cudaDevAttrL2CacheSize);
	k += attribute_fact(&facts[k], "memory_bus_bits", cudaDevAttrGlobalMemoryBusWidth);
	k += attribute_fact(&facts[k], "memory_clock_khz", cudaDevAttrMemoryClockRate);
	if (cudaDriverGetVersion(&driver) == cudaSuccess)
		facts[k++] = number("cuda_driver_api", driver);
	if (cudaRuntimeGetVersion(&runtime) == cudaSuccess)
		facts[k++] = number("cuda_runtime", runtime);
	if (cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped) == cudaSuccess &&
	    cudaHostGetDevicePointer((void **)&device_flag, flag, 0) == cudaSuccess) {
		*flag = 0;
		if (bench_launch_spin(device_flag, 100000000, NULL) == cudaSuccess)
			k += clock_facts(&facts[k]);
		__atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
	}
	(void)cudaDeviceSynchronize();
	(void)cudaFreeHost(flag);
	return k;
}

#endif
