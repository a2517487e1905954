/* GNU Scientific Library: gsl_matrix_transpose.  TSW_GSL names another library. */
#include "peers.h"

/* gsl_matrix; those of float and of complex numbers look alike. */
struct gsl_matrix {
	size_t size1, size2, tda;
	void *data;
	void *block;
	int owner;
};

static int (*transpose_float)(struct gsl_matrix *m);
static int (*transpose_double)(struct gsl_matrix *m);
static int (*transpose_complex)(struct gsl_matrix *m);

static int load(void)
{
	static const char *const names[] = {"libgsl.so.28", "libgsl.so.27", "libgsl.so.25",
					    "libgsl.so", NULL};
	static void *library;

	if (!library)
		library = peer_open("TSW_GSL", names);
	if (!library)
		return -1;
	*(void **)&transpose_float = peer_symbol(library, "gsl_matrix_float_transpose");
	*(void **)&transpose_double = peer_symbol(library, "gsl_matrix_transpose");
	*(void **)&transpose_complex = peer_symbol(library, "gsl_matrix_complex_transpose");
	return transpose_float && transpose_double && transpose_complex ? 0 : -1;
}

static int transpose(void *a, const struct bench_shape *s, int threads)
{
	struct gsl_matrix m = {s->n, s->n, s->ld, a, NULL, 0};

	(void)threads;
	if (s->elem_size == 4)
		return transpose_float(&m) ? BENCH_FAILED : BENCH_OK;
	if (s->elem_size == 8)
		return transpose_double(&m) ? BENCH_FAILED : BENCH_OK;
	if (s->elem_size == 16)
		return transpose_complex(&m) ? BENCH_FAILED : BENCH_OK;
	return BENCH_UNSUPPORTED;
}

const struct host_peer peer_gsl = {"peer:gsl", 1, load, NULL, transpose};
