/* The CUDA devices of this machine, for the tool: no CUDA header is needed to ask.  A build without
 * CUDA has the same calls; each returns TSW_ERR_NO_CUDA. */
#ifndef TSW_DEVICE_H
#define TSW_DEVICE_H

#include "../tileswap.h"

struct tsw_device {
	int index;
	char name[256];
	char pci[32];	  /* "0000:3b:00.0" */
	int major, minor; /* compute capability */
	uint64_t total_bytes, free_bytes;
};

/* Was CUDA built in? */
int tsw_device_built(void);

/* How many devices there are; 0 where there is no driver. */
int tsw_device_count(void);

/* What there is to know about a device.  Making it the current one is part of asking. */
tsw_status tsw_device_query(int index, struct tsw_device *out);

tsw_status tsw_device_use(int index); /* makes it the current one */

/* Memory of the current device. */
tsw_status tsw_device_alloc(size_t nbytes, void **p);
tsw_status tsw_device_free(void *p);

/* Copies between host and the current device, either way, and waits. */
tsw_status tsw_device_copy(void *to, const void *from, size_t nbytes);

/* Milliseconds that the current device takes for what `work(arg)` queues on the legacy default
 * stream; returns when it is done. */
tsw_status tsw_device_timed(tsw_status (*work)(void *arg), void *arg, double *time_ms);

#endif /* TSW_DEVICE_H */
