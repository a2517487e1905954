/* Intel MKL: mkl_?imatcopy.  `pip install mkl` has the library; TSW_MKL names another. */
#include "peers.h"

struct complex16 {
	double re, im;
};

static void (*simatcopy)(char order, char trans, size_t rows, size_t cols, float alpha, float *a,
			 size_t lda, size_t ldb);
static void (*dimatcopy)(char order, char trans, size_t rows, size_t cols, double alpha, double *a,
			 size_t lda, size_t ldb);
static void (*zimatcopy)(char order, char trans, size_t rows, size_t cols, struct complex16 alpha,
			 struct complex16 *a, size_t lda, size_t ldb);
static void (*set_threads)(int threads);

static int load(void)
{
	static const char *const names[] = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so",
					    NULL};
	static void *library;

	if (!library)
		library = peer_open("TSW_MKL", names);
	if (!library)
		return -1;
	*(void **)&simatcopy = peer_symbol(library, "MKL_Simatcopy");
	*(void **)&dimatcopy = peer_symbol(library, "MKL_Dimatcopy");
	*(void **)&zimatcopy = peer_symbol(library, "MKL_Zimatcopy");
	*(void **)&set_threads = peer_symbol(library, "MKL_Set_Num_Threads");
	return simatcopy && dimatcopy && zimatcopy && set_threads ? 0 : -1;
}

static int transpose(void *a, const struct bench_shape *s, int threads)
{
	const struct complex16 one = {1, 0};

	set_threads(threads);
	if (s->elem_size == 4)
		simatcopy('R', 'T', s->n, s->n, 1, a, s->ld, s->ld);
	else if (s->elem_size == 8)
		dimatcopy('R', 'T', s->n, s->n, 1, a, s->ld, s->ld);
	else if (s->elem_size == 16)
		zimatcopy('R', 'T', s->n, s->n, one, a, s->ld, s->ld);
	else
		return BENCH_UNSUPPORTED;
	return BENCH_OK;
}

const struct host_peer peer_mkl = {"peer:mkl", 0, load, NULL, transpose};
