/* The C side of kernels/: what src/cuda may know of a kernel in order to launch it. */
#ifndef TSW_LAUNCH_H
#define TSW_LAUNCH_H

#include "params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel takes one structure by value; `entry` is what cudaLaunchKernelExC wants. */
struct tsw_kernel {
	const char *name;
	const void *entry;
	unsigned threads_x, threads_y; /* of one block */
	unsigned tile;		       /* elements a side of a tile */
	unsigned shared_bytes;	       /* dynamic shared memory of one block */
	unsigned form; /* its number among the kernels that differ from it in form alone */
	int overlaps;  /* calls tsw_wait_for_predecessor(): may start while that one runs */
};

/* The readable [32][33] tile-pair kernel for units of 1, 2, 4, 8 or 16 bytes; NULL for others. */
const struct tsw_kernel *tsw_kernel_tile33(unsigned unit);

/* The kernel for a few small matrices, `count` of side n, elements of 1, 2, 4, 8 or 16 bytes, whose
 * rows all begin at multiples of `alignment`, a power of two up to 16; NULL where another is ahead.
 */
const struct tsw_kernel *tsw_kernel_direct(unsigned elem_size, unsigned alignment, uint64_t n,
					   uint64_t count);

/* The 16-byte vector kernel for elements of 1, 2, 4, 8 or 16 bytes whose rows all begin at a
 * multiple of 16 bytes, in the largest form that needs at most `shared_bytes` a block and makes
 * enough blocks of `count` matrices of side n; NULL if none fits.  `aligned`: the matrices are
 * known to begin at such multiples.  Its parameter wants a p->group. */
const struct tsw_kernel *tsw_kernel_vector(unsigned elem_size, unsigned shared_bytes, uint64_t n,
					   uint64_t count, int aligned);

/* The kernel for rows of any alignment: `count` matrices as p->n and p->units say, of units of 1,
 * 2, 4, 8 or 16 bytes at addresses that are multiples of the unit; tiles as large as `shared_bytes`
 * a block allow.  Fills in *kernel, p->side and p->group.  0 if it cannot serve. */
int tsw_kernel_shifted(struct tsw_tiles *p, uint64_t count, unsigned unit, unsigned shared_bytes,
		       struct tsw_kernel *kernel);

/* The kernel for narrow elements on rows of any alignment: `count` matrices of side p->n, elements
 * of 1, 2, 3 or 6 bytes.  Fills in *kernel, p->side and p->group.  0 if it cannot serve. */
int tsw_kernel_realigned(struct tsw_tiles *p, uint64_t count, unsigned elem_size,
			 unsigned shared_bytes, struct tsw_kernel *kernel);

/* The kernel for many small matrices: units of 1, 2, 4, 8 or 16 bytes at addresses that are
 * multiples of the unit, any ld and stride.  Of *p base, array, stride, count, pitch, n and units
 * are given; fills in the others, but for `first`, and *kernel.  0 if a matrix is too large. */
int tsw_kernel_stream(struct tsw_chunks *p, unsigned unit, unsigned shared_bytes,
		      struct tsw_kernel *kernel);

/* The kernel that transposes `count` matrices and applies p->epilogue, whose type is the element's,
 * on the way out: by vectors if rows begin at multiples of 16 bytes and the caller says so, else as
 * the shifted kernel.  Fills in *kernel, p->units and, of the shifted kernel, p->side and p->group.
 * 0 if it cannot serve. */
int tsw_kernel_imatcopy(struct tsw_tiles *p, uint64_t count, int vectors, unsigned shared_bytes,
			struct tsw_kernel *kernel);

/* Makes the stream kernel that tsw_kernel_stream() chose for *p the one that applies p->epilogue on
 * the way out. */
void tsw_kernel_imatcopy_stream(const struct tsw_chunks *p, struct tsw_kernel *kernel);

/* The kernel that applies p->epilogue, TSW_ZERO too, where nothing changes places: `count`
 * matrices, strided.  Fills in *kernel, p->n, p->side, p->units, p->pairs and how many blocks that
 * takes. */
void tsw_kernel_rows(struct tsw_tiles *p, uint64_t count, struct tsw_kernel *kernel,
		     uint64_t *blocks);

#ifdef __cplusplus
}
#endif

#endif /* TSW_LAUNCH_H */
