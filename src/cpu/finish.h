/* Values on their way out of the host engine. */
#ifndef TSW_CPU_FINISH_H
#define TSW_CPU_FINISH_H

#include <stddef.h>

#include "../epilogue.h"
#include "kernels.h"

/* Applies *e to rows x cols elements at a, rows `stride` bytes apart, in the vectors of `isa`.  Not
 * for TSW_KEEP. */
void tsw_cpu_finish(const struct tsw_isa *isa, const struct tsw_epilogue *e, unsigned char *a,
		    size_t stride, size_t rows, size_t cols);

#endif /* TSW_CPU_FINISH_H */
