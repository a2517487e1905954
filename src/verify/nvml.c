#include "nvml.h"

#include "../status.h"

#include <dlfcn.h>
#include <string.h>

/* NVML's numbers, which never change. */
enum {
	SENSOR_GPU = 0,
	CLOCK_SM = 1,
	CLOCK_MEMORY = 2,
	CORRECTED = 0,
	UNCORRECTED = 1,
	VOLATILE = 0
};

/* POSIX makes a pointer to data of what is a function; C has no cast for that. */
static int find(void *library, const char *name, void *call)
{
	void *address = dlsym(library, name);

	memcpy(call, &address, sizeof address);
	return address != NULL;
}

static tsw_status open_device(void *library, const char *pci, struct tsw_nvml *nvml)
{
	int (*init)(void), (*handle)(const char *bus, tsw_nvml_device *out), error;

	if (!find(library, "nvmlInit_v2", &init) ||
	    !find(library, "nvmlDeviceGetHandleByPciBusId_v2", &handle))
		return tsw_fail(TSW_ERR_UNSUPPORTED, "NVML is too old");
	error = init();
	if (error)
		return tsw_fail(TSW_ERR_UNSUPPORTED, "NVML cannot start: status %d", error);
	error = handle(pci, &nvml->device);
	if (error)
		return tsw_fail(TSW_ERR_UNSUPPORTED, "NVML knows no device at %s: status %d", pci,
				error);
	/* One that is missing is as one that the device does not answer. */
	find(library, "nvmlDeviceGetTemperature", &nvml->temperature);
	find(library, "nvmlDeviceGetClockInfo", &nvml->clock);
	find(library, "nvmlDeviceGetPowerUsage", &nvml->power);
	find(library, "nvmlDeviceGetTotalEccErrors", &nvml->ecc);
	return TSW_OK;
}

tsw_status tsw_nvml_open(const char *library, const char *pci, struct tsw_nvml *nvml)
{
	void *handle = dlopen(library ? library : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	tsw_status status;

	*nvml = (struct tsw_nvml){0};
	if (!handle) {
		const char *why = dlerror();

		return tsw_fail(TSW_ERR_UNSUPPORTED, "NVML cannot be loaded: %s",
				why ? why : "no reason given");
	}
	status = open_device(handle, pci, nvml);
	if (status) {
		*nvml = (struct tsw_nvml){0};
		dlclose(handle);
	}
	return status; /* else the library stays: its calls are needed to the end */
}

static double clock_of(const struct tsw_nvml *nvml, int type)
{
	unsigned mhz;

	return nvml->clock && !nvml->clock(nvml->device, type, &mhz) ? (double)mhz : -1;
}

static double ecc_of(const struct tsw_nvml *nvml, int kind)
{
	unsigned long long count;

	return nvml->ecc && !nvml->ecc(nvml->device, kind, VOLATILE, &count) ? (double)count : -1;
}

struct tsw_health tsw_nvml_health(const struct tsw_nvml *nvml)
{
	struct tsw_health h = {.temperature_c = -1, .power_w = -1};
	unsigned value;

	if (nvml->temperature && !nvml->temperature(nvml->device, SENSOR_GPU, &value))
		h.temperature_c = value;
	if (nvml->power && !nvml->power(nvml->device, &value))
		h.power_w = value / 1e3;
	h.sm_mhz = clock_of(nvml, CLOCK_SM);
	h.memory_mhz = clock_of(nvml, CLOCK_MEMORY);
	h.ecc_corrected = ecc_of(nvml, CORRECTED);
	h.ecc_uncorrected = ecc_of(nvml, UNCORRECTED);
	return h;
}
