/* The host engine: threads over tile pairs. */
#ifndef TSW_CPU_H
#define TSW_CPU_H

#include "../epilogue.h"
#include "../matrices.h"

/* How many threads a call that asks for `nthreads` may use, at least 1: 0 means what OpenMP would
 * use; always 1 in a process that was forked, where an OpenMP region can hang. */
int tsw_cpu_threads(int nthreads);

/* Transposes every matrix of `m` (checked, not tsw_nothing_to_do) with up to `nthreads` threads
 * (0 = all available).  Cannot fail. */
void tsw_cpu_transpose(const struct tsw_matrices *m, int nthreads);

/* Applies *e to every matrix of `m` (strided, checked, n and count not 0), transposing if it says
 * so. Cannot fail. */
void tsw_cpu_imatcopy(const struct tsw_matrices *m, const struct tsw_epilogue *e, int nthreads);

#endif /* TSW_CPU_H */
