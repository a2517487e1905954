/* How much memory may be used now: what is free, within the limits of control groups (versions 1
 * and 2) and of the address space. */
#ifndef TSW_MEMORY_H
#define TSW_MEMORY_H

#include <stdint.h>

struct tsw_memory {
	uint64_t total_bytes, available_bytes; /* 0, 0: unknown */
};

struct tsw_memory tsw_memory_now(void);

#endif /* TSW_MEMORY_H */
