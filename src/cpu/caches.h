/* What the machine says about its caches. */
#ifndef TSW_CPU_CACHES_H
#define TSW_CPU_CACHES_H

#include <stddef.h>

#define TSW_LINE 64 /* bytes of a cache line */

struct tsw_caches {
	size_t l2_bytes, l2_ways; /* of one core's second-level cache */
};

/* Asked once; cautious numbers where the machine will not say. */
const struct tsw_caches *tsw_cpu_caches(void);

#endif /* TSW_CPU_CACHES_H */
