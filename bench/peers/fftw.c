/* FFTW: a transform of rank 0, which is a transpose, planned by measuring up to 64 MiB.
 * TSW_FFTW and TSW_FFTWF name other libraries for double and float. */
#include "peers.h"

#define MEASURE_BYTES ((size_t)64 << 20)

/* fftw_iodim64 on 64-bit Linux. */
struct iodim {
	ptrdiff_t n, is, os;
};

enum { FORWARD = -1, MEASURE = 0, ESTIMATE = 1 << 6 };

/* The calls of libfftw3 and of libfftw3f, alike but for the type. */
struct calls {
	void *(*plan_real)(int rank, const struct iodim *dims, int loops, const struct iodim *loop,
			   void *in, void *out, const int *kinds, unsigned flags);
	void *(*plan_complex)(int rank, const struct iodim *dims, int loops,
			      const struct iodim *loop, void *in, void *out, int sign,
			      unsigned flags);
	void (*execute_real)(void *plan, void *in, void *out);
	void (*execute_complex)(void *plan, void *in, void *out);
	void (*destroy)(void *plan);
};

static struct calls fftw, fftwf;
static void *plan;

static int load_calls(void *library, struct calls *c, int is_float)
{
	static const char *const names[][5] = {
		{"fftw_plan_guru64_r2r", "fftw_plan_guru64_dft", "fftw_execute_r2r",
		 "fftw_execute_dft", "fftw_destroy_plan"},
		{"fftwf_plan_guru64_r2r", "fftwf_plan_guru64_dft", "fftwf_execute_r2r",
		 "fftwf_execute_dft", "fftwf_destroy_plan"},
	};

	*(void **)&c->plan_real = peer_symbol(library, names[is_float][0]);
	*(void **)&c->plan_complex = peer_symbol(library, names[is_float][1]);
	*(void **)&c->execute_real = peer_symbol(library, names[is_float][2]);
	*(void **)&c->execute_complex = peer_symbol(library, names[is_float][3]);
	*(void **)&c->destroy = peer_symbol(library, names[is_float][4]);
	return c->plan_real && c->plan_complex && c->execute_real && c->execute_complex &&
			       c->destroy
		       ? 0
		       : -1;
}

static int load(void)
{
	static const char *const names[] = {"libfftw3.so.3", NULL};
	static const char *const float_names[] = {"libfftw3f.so.3", NULL};
	static void *library, *float_library;

	if (!library)
		library = peer_open("TSW_FFTW", names);
	if (!float_library)
		float_library = peer_open("TSW_FFTWF", float_names);
	if (!library || !float_library)
		return -1;
	return load_calls(library, &fftw, 0) || load_calls(float_library, &fftwf, 1) ? -1 : 0;
}

static int prepare(struct bench_set *set)
{
	const struct bench_shape *const s = &set->shape;
	const ptrdiff_t n = (ptrdiff_t)s->n, ld = (ptrdiff_t)s->ld;
	const struct iodim loop[2] = {{n, ld, 1}, {n, 1, ld}};
	const unsigned flags = set->moved_bytes / s->count > MEASURE_BYTES ? ESTIMATE : MEASURE;

	if (plan)
		fftw.destroy(plan);
	plan = NULL;
	if (s->elem_size == 4)
		plan = fftwf.plan_real(0, NULL, 2, loop, set->in, set->in, NULL, flags);
	else if (s->elem_size == 8)
		plan = fftw.plan_real(0, NULL, 2, loop, set->in, set->in, NULL, flags);
	else if (s->elem_size == 16)
		plan = fftw.plan_complex(0, NULL, 2, loop, set->in, set->in, FORWARD, flags);
	return plan ? BENCH_OK : BENCH_UNSUPPORTED;
}

static int transpose(void *a, const struct bench_shape *s, int threads)
{
	(void)threads;
	if (s->elem_size == 4)
		fftwf.execute_real(plan, a, a);
	else if (s->elem_size == 8)
		fftw.execute_real(plan, a, a);
	else
		fftw.execute_complex(plan, a, a);
	return BENCH_OK;
}

const struct host_peer peer_fftw = {"peer:fftw", 1, load, prepare, transpose};
