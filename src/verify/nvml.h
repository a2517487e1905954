/* How a GPU is doing, asked of NVIDIA's management library (NVML), which the driver brings along.
 * It is loaded at run time; its few prototypes are our own. */
#ifndef TSW_NVML_H
#define TSW_NVML_H

#include "../tileswap.h"

/* What cannot be learnt is negative. */
struct tsw_health {
	double temperature_c, power_w;
	double sm_mhz, memory_mhz;
	/* Errors of the memory that its code (ECC) mended or found since the driver started. */
	double ecc_corrected, ecc_uncorrected;
};

typedef struct nvmlDevice_st *tsw_nvml_device;

/* One device; all zeros answers to every question that nothing is known. */
struct tsw_nvml {
	tsw_nvml_device device;
	int (*temperature)(tsw_nvml_device device, int sensor, unsigned *celsius);
	int (*clock)(tsw_nvml_device device, int type, unsigned *mhz);
	int (*power)(tsw_nvml_device device, unsigned *milliwatts);
	int (*ecc)(tsw_nvml_device device, int kind, int counter, unsigned long long *count);
};

/* Finds the device at a PCI address ("0000:3b:00.0").  `library` is the file to load, NULL for the
 * driver's.  TSW_ERR_UNSUPPORTED, with what the loader or NVML said, where that is impossible;
 * *nvml is all zeros then. */
tsw_status tsw_nvml_open(const char *library, const char *pci, struct tsw_nvml *nvml);

struct tsw_health tsw_nvml_health(const struct tsw_nvml *nvml);

#endif /* TSW_NVML_H */
