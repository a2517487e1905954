/* OpenBLAS: cblas_?imatcopy, with 32-bit sizes as Debian and PyPI build it.  TSW_OPENBLAS names
 * another library. */
#include "peers.h"

#include <limits.h>

enum { ROW_MAJOR = 101, TRANS = 112 };

static void (*simatcopy)(int order, int trans, int rows, int cols, float alpha, float *a, int lda,
			 int ldb);
static void (*dimatcopy)(int order, int trans, int rows, int cols, double alpha, double *a, int lda,
			 int ldb);
static void (*zimatcopy)(int order, int trans, int rows, int cols, const double *alpha, double *a,
			 int lda, int ldb);
static void (*set_threads)(int threads);

static int load(void)
{
	static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", NULL};
	static void *library;

	if (!library)
		library = peer_open("TSW_OPENBLAS", names);
	if (!library)
		return -1;
	*(void **)&simatcopy = peer_symbol(library, "cblas_simatcopy");
	*(void **)&dimatcopy = peer_symbol(library, "cblas_dimatcopy");
	*(void **)&zimatcopy = peer_symbol(library, "cblas_zimatcopy");
	*(void **)&set_threads = peer_symbol(library, "openblas_set_num_threads");
	return simatcopy && dimatcopy && zimatcopy && set_threads ? 0 : -1;
}

static int transpose(void *a, const struct bench_shape *s, int threads)
{
	static const double one[2] = {1, 0};
	static int set;
	const int n = (int)s->n, ld = (int)s->ld;

	/* Its own index arithmetic is int too. */
	if (s->ld > INT_MAX || s->n * s->ld > INT_MAX)
		return BENCH_UNSUPPORTED;
	if (set != threads)
		set_threads(set = threads);
	if (s->elem_size == 4)
		simatcopy(ROW_MAJOR, TRANS, n, n, 1, a, ld, ld);
	else if (s->elem_size == 8)
		dimatcopy(ROW_MAJOR, TRANS, n, n, 1, a, ld, ld);
	else if (s->elem_size == 16)
		zimatcopy(ROW_MAJOR, TRANS, n, n, one, a, ld, ld);
	else
		return BENCH_UNSUPPORTED;
	return BENCH_OK;
}

const struct host_peer peer_openblas = {"peer:openblas", 1, load, NULL, transpose};
