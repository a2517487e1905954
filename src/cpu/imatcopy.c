/* The host engine of imatcopy: what transposes goes by the walk over tile pairs, whose tiles are
 * finished while they lie in the cache; what does not, row by row. */
#include "cpu.h"

#include "finish.h"
#include "plan.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* Part `part` of `parts` of all rows of all matrices. */
static void finish_rows(const struct tsw_matrices *m, const struct tsw_epilogue *e, size_t part,
			size_t parts)
{
	/* count * n elements lie apart in memory, so the product does not overflow. */
	const size_t rows = m->count * m->n;
	const size_t begin = rows / parts * part + rows % parts * part / parts;
	const size_t end = rows / parts * (part + 1) + rows % parts * (part + 1) / parts;
	const size_t pitch = m->ld * m->elem_size;
	const struct tsw_isa *isa = tsw_cpu_isa();

	for (size_t row = begin; row < end;) {
		const size_t b = row / m->n, r = row % m->n;
		const size_t count = m->n - r < end - row ? m->n - r : end - row;
		unsigned char *a = (unsigned char *)m->base + b * m->stride * m->elem_size;

		tsw_cpu_finish(isa, e, a + r * pitch, pitch, count, m->n);
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
	struct tsw_plan plan;

	if (!e->transposes || e->kind == TSW_ZERO || m->n == 1) {
		if (e->kind != TSW_KEEP)
			finish_in_place(m, e, nthreads);
		return;
	}
	if (e->kind == TSW_KEEP) {
		tsw_cpu_transpose(m, nthreads);
		return;
	}
	plan = tsw_cpu_plan(m, tsw_cpu_isa());
	plan.finish = e;
	tsw_cpu_run(&plan, m, nthreads);
}
