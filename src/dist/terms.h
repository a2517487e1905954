/* The arguments that must be alike on every rank of a collective call. */
#ifndef TSW_TERMS_H
#define TSW_TERMS_H

#include "../tileswap_dist.h"

#include <stdint.h>

#define TSW_MOST_TERMS 16

/* Numbers, with the names of the arguments that they are. */
struct tsw_terms {
	unsigned count;
	const char *name[TSW_MOST_TERMS];
	uint64_t value[TSW_MOST_TERMS];
};

/* Of a transpose, as they were given.  `d` is NULL on a rank that fares ill and may have no layout:
 * then the numbers are those of none. */
struct tsw_terms tsw_terms_of(const tsw_dist *d, size_t elem_size, size_t stage_bytes);

#endif /* TSW_TERMS_H */
