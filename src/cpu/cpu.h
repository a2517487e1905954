/* The host engine: threads over tile pairs. */
#ifndef TSW_CPU_H
#define TSW_CPU_H

#include "../epilogue.h"
#include "../matrices.h"

/* How many threads a call that asks for `nthreads` may use, at least 1: 0 means what OpenMP would
 * use; always 1 in a process that was forked, where an OpenMP region can hang. */
int tsw_cpu_threads(int nthreads);

/* Transposes a single matrix that is too small for more than one thread or tile; true if done.  The
 * arguments need not have been checked: what is wrong with them makes it false, and so does a
 * larger matrix.  Calls by the million come here, so it does nothing else. */
int tsw_cpu_turn_small(void *a, size_t n, size_t ld, size_t elem_size);

/* Transposes every matrix of `m` (checked, not tsw_nothing_to_do) with up to `nthreads` threads
 * (0 = all available).  Cannot fail. */
void tsw_cpu_transpose(const struct tsw_matrices *m, int nthreads);

/* Applies *e to every matrix of `m` (strided, checked, n and count not 0), transposing if it says
 * so. Cannot fail. */
void tsw_cpu_imatcopy(const struct tsw_matrices *m, const struct tsw_epilogue *e, int nthreads);

/* rows x cols elements of `width` bytes at a, rows sa bytes apart, and cols x rows at b, rows sb
 * bytes apart, change places, each turned.  The two do not overlap.  Cannot fail. */
void tsw_cpu_swap(void *a, size_t sa, void *b, size_t sb, size_t rows, size_t cols, size_t width,
		  int nthreads);

#endif /* TSW_CPU_H */
