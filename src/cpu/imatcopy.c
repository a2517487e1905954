/* The host engine of imatcopy: what transposes goes by the walk over tile pairs, whose tiles are
 * finished while they lie in the cache; what does not, row by row. */
#include "cpu.h"

#include "plan.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static void finish(const struct tsw_epilogue *e, unsigned char *a, size_t stride, size_t rows,
		   size_t nbytes)
{
	if (e->kind != TSW_ZERO) {
		tsw_cpu_isa()->finish(e, a, stride, rows, nbytes);
		return;
	}
	for (size_t r = 0; r < rows; r++)
		memset(a + r * stride, 0, nbytes);
}

/* Part `part` of `parts` of all rows of all matrices. */
static void finish_rows(const struct tsw_matrices *m, const struct tsw_epilogue *e, size_t part,
			size_t parts)
{
	/* count * n elements lie apart in memory, so the product does not overflow. */
	const size_t rows = m->count * m->n;
	const size_t begin = rows / parts * part + rows % parts * part / parts;
	const size_t end = rows / parts * (part + 1) + rows % parts * (part + 1) / parts;
	const size_t pitch = m->ld * m->elem_size, nbytes = m->n * m->elem_size;
	unsigned char *const base = m->base;

	if (m->ld == m->n && (m->count == 1 || m->stride == m->n * m->n)) {
		finish(e, base + begin * nbytes, 0, 1, (end - begin) * nbytes);
		return;
	}
	for (size_t row = begin; row < end;) {
		const size_t b = row / m->n, r = row % m->n;
		const size_t count = m->n - r < end - row ? m->n - r : end - row;

		finish(e, base + b * m->stride * m->elem_size + r * pitch, pitch, count, nbytes);
		row += count;
	}
}

static void finish_in_place(const struct tsw_matrices *m, const struct tsw_epilogue *e,
			    int nthreads)
{
	const int threads = tsw_cpu_threads_worth(m, nthreads);

	if (threads == 1) {
		finish_rows(m, e, 0, 1);
		return;
	}
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
	finish_rows(m, e, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
#endif
}

void tsw_cpu_imatcopy(const struct tsw_matrices *m, const struct tsw_epilogue *e, int nthreads)
{
	if (!e->transposes || e->kind == TSW_ZERO || m->n == 1) {
		if (e->kind != TSW_KEEP)
			finish_in_place(m, e, nthreads);
		return;
	}
	if (e->kind == TSW_KEEP) {
		tsw_cpu_transpose(m, nthreads);
		return;
	}
	tsw_cpu_run_best(m, e, nthreads);
}
