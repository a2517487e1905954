/* How a matrix of a given shape is walked, decided once a call. */
#ifndef TSW_CPU_PLAN_H
#define TSW_CPU_PLAN_H

#include "../epilogue.h"
#include "../matrices.h"
#include "kernels.h"

enum tsw_order {
	TSW_ROWS,      /* blocks of a tile row by row; the next pair is fetched meanwhile */
	TSW_DIAGONALS, /* blocks along the diagonals of a tile; the next diagonal is fetched */
	TSW_STAGED,    /* both tiles by way of a buffer */
	TSW_SLANTS     /* no tiles: slants across the diagonal, where rows allow it */
};

struct tsw_plan {
	const struct tsw_isa *isa;
	const struct tsw_microkernel *kernel; /* NULL: whole elements are swapped */
	enum tsw_order order;
	size_t block, tile;   /* sides in elements; a tile is a whole number of blocks */
	size_t width, stride; /* bytes of an element, bytes from row to row */
	size_t n;
	int fetch;     /* worth fetching ahead: the matrix is larger than the second-level cache */
	int colliding; /* rows fall into few sets of the cache */
	const struct tsw_epilogue *finish; /* what tiles get before they leave the cache, or NULL */
	int align; /* tiles may be shifted so that their rows begin on a cache line */
	int whole; /* one tile, but for what that shift takes */
};

struct tsw_plan tsw_cpu_plan(const struct tsw_matrices *m, const struct tsw_isa *isa);

/* For a single thread: no tiles where the diagonals of the whole matrix do better. */
void tsw_cpu_plan_alone(struct tsw_plan *plan);

/* What thread `part` of `parts` does: the parts are disjoint, together the whole, and of equal
 * work. */
void tsw_cpu_run_part(const struct tsw_plan *plan, const struct tsw_matrices *m, uint64_t part,
		      uint64_t parts);

/* How many threads that work is worth, of the `nthreads` that a call asks for. */
int tsw_cpu_threads_worth(const struct tsw_matrices *m, int nthreads);

/* Transposes with that plan. */
void tsw_cpu_run(const struct tsw_plan *plan, const struct tsw_matrices *m, int nthreads);

/* Transposes with the best plan for so many threads, and finishes values if `finish` is not NULL.
 */
void tsw_cpu_run_best(const struct tsw_matrices *m, const struct tsw_epilogue *finish,
		      int nthreads);

#endif /* TSW_CPU_PLAN_H */
