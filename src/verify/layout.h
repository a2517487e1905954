/* Where the windows of a batch lie in its span, and the gaps between them.  One text for C and
 * CUDA.
 *
 * A row of a matrix is a run of n elements.  Numbered by address, run k is followed by gap k, which
 * ends where run k + 1 begins:
 *
 *     matrices apart                       matrices side by side
 *     stride >= (n-1) ld + n               (count-1) stride + n <= ld
 *
 *     0000..  k = matrix * n + row         0000.1111.2222..  k = row * count + matrix
 *     0000..                               0000.1111.2222..
 *     1111..                               0000.1111.2222
 *     1111
 */
#ifndef TSW_LAYOUT_H
#define TSW_LAYOUT_H

#include "content.h"

struct tsw_layout {
	uint64_t n, ld, elem_size, stride, count; /* ld and stride in elements */
	uint32_t beside;			  /* the matrices lie side by side */
	uint32_t transposed;			  /* (r, c) must hold what was at (c, r) */
	struct tsw_content content;		  /* what the whole span was filled with */
};

/* The element of the span that is element (r, c) of matrix b. */
TSW_MAP uint64_t tsw_layout_at(const struct tsw_layout *l, uint64_t b, uint64_t r, uint64_t c)
{
	return b * l->stride + r * l->ld + c;
}

/* The element of the span whose bytes must stand there. */
TSW_MAP uint64_t tsw_layout_source(const struct tsw_layout *l, uint64_t b, uint64_t r, uint64_t c)
{
	return l->transposed ? tsw_layout_at(l, b, c, r) : tsw_layout_at(l, b, r, c);
}

TSW_MAP uint64_t tsw_layout_runs(const struct tsw_layout *l)
{
	return l->n * l->count;
}

/* The first element of run k; of run number tsw_layout_runs(), the end of the span. */
TSW_MAP uint64_t tsw_layout_run(const struct tsw_layout *l, uint64_t k)
{
	const uint64_t per = l->beside ? l->count : l->n;

	if (k == tsw_layout_runs(l))
		return tsw_layout_at(l, l->count - 1, l->n - 1, l->n);
	return l->beside ? tsw_layout_at(l, k % per, k / per, 0)
			 : tsw_layout_at(l, k / per, k % per, 0);
}

#endif /* TSW_LAYOUT_H */
