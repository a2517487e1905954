/* What every engine is given: one or many square matrices of one shape, already checked. */
#ifndef TSW_MATRICES_H
#define TSW_MATRICES_H

#include "tileswap.h"

/* `count` matrices of n x n elements.  Matrix b begins at array[b], or, where array is NULL, at
 * base + b * stride * elem_size.  A single matrix is a batch of one. */
struct tsw_matrices {
	void *base;
	void *const *array;
	size_t n, ld, elem_size; /* ld in elements, elem_size in bytes */
	size_t stride, count;	 /* stride in elements */
};

/* Bytes from the first to the last byte of one matrix; the matrix has passed tsw_check_matrices. */
static inline size_t tsw_span_bytes(const struct tsw_matrices *m)
{
	return m->n ? ((m->n - 1) * m->ld + m->n) * m->elem_size : 0;
}

/* The largest power of two that divides elem_size, at most 8: what a device address must be a
 * multiple of, and the widest access that every element allows. */
static inline size_t tsw_elem_unit(size_t elem_size)
{
	size_t unit = elem_size & (~elem_size + 1);

	return unit < 8 ? unit : 8;
}

/* True where the matrices are trivially their own transposes, so that no engine need be asked. */
static inline int tsw_nothing_to_do(const struct tsw_matrices *m)
{
	return m->n <= 1 || m->count == 0;
}

/* The one set of argument checks: sizes first, then the batch, then the pointer "a". */
tsw_status tsw_check_matrices(const struct tsw_matrices *m);

/* What the device asks beside: an address that is a multiple of the element's unit. */
tsw_status tsw_check_alignment(const struct tsw_matrices *m);

#endif /* TSW_MATRICES_H */
