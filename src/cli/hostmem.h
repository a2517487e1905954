/* Memory of this machine as this process may use it. */
#ifndef TSW_HOSTMEM_H
#define TSW_HOSTMEM_H

#include <stddef.h>
#include <stdint.h>

struct hostmem {
	uint64_t total_bytes;	  /* what the process could ever have */
	uint64_t available_bytes; /* what it can have now without pushing anything out */
};

/* The machine's memory, less what control groups (version 1 or 2) and resource limits forbid. Where
 * nothing can be learnt, both are 0. */
struct hostmem hostmem_now(void);

/* Processors that this process may run on. */
int host_processors(void);

/* The largest n for which n * n elements take no more than `bytes`. */
uint64_t largest_n(uint64_t bytes, uint64_t elem_size);

/* Page-aligned zeroed memory, on huge pages where the kernel has them; NULL if there is none. Never
 * asks for 0 bytes in vain: 0 gives one page. */
void *pages_alloc(size_t bytes);
void pages_free(void *p, size_t bytes);

#endif /* TSW_HOSTMEM_H */
