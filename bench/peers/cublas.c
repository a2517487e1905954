/* cuBLAS: ?geam_64, out of place (twice the memory).  Loaded at run time; TSW_CUBLAS names another
 * library than the loader finds. */
#include "../bench.h"

#if TSW_HAVE_CUDA

#include "../gpu.h"
#include "peers.h"

/* One call for each matrix: above this many in one measurement, launches would be measured. */
#define MOST_LAUNCHES 400

enum { OP_N = 0, OP_T = 1 };

typedef int (*geam_t)(void *handle, int transa, int transb, int64_t m, int64_t n, const void *alpha,
		      const void *a, int64_t lda, const void *beta, const void *b, int64_t ldb,
		      void *c, int64_t ldc);

static geam_t sgeam, dgeam, zgeam;
static int (*set_stream)(void *handle, cudaStream_t stream);
static void *handle;

static int load(void)
{
	static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
					    NULL};
	int (*create)(void **handle);
	void *library;

	if (handle)
		return 0;
	library = peer_open("TSW_CUBLAS", names);
	if (!library)
		return -1;
	*(void **)&create = peer_symbol(library, "cublasCreate_v2");
	*(void **)&set_stream = peer_symbol(library, "cublasSetStream_v2");
	*(void **)&sgeam = peer_symbol(library, "cublasSgeam_64");
	*(void **)&dgeam = peer_symbol(library, "cublasDgeam_64");
	*(void **)&zgeam = peer_symbol(library, "cublasZgeam_64");
	if (!create || !set_stream || !sgeam || !dgeam || !zgeam)
		return -1;
	return create(&handle);
}

static int apply(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	static const float one_f = 1, zero_f = 0;
	static const double one[2] = {1, 0}, zero[2] = {0, 0};
	const struct bench_shape *const s = &set->shape;
	const size_t elem = s->elem_size;
	const geam_t geam = elem == 4 ? sgeam : elem == 8 ? dgeam : zgeam;
	const void *alpha = elem == 4 ? (const void *)&one_f : one;
	const void *beta = elem == 4 ? (const void *)&zero_f : zero;
	const int64_t n = (int64_t)s->n, ld = (int64_t)s->ld;

	if ((elem != 4 && elem != 8 && elem != 16) || s->count * set->calls > MOST_LAUNCHES ||
	    s->offset % elem != 0)
		return BENCH_UNSUPPORTED;
	if (set_stream(handle, set->stream))
		return BENCH_FAILED;
	for (size_t b = 0; b < s->count; b++) {
		const size_t at = copy * set->pitch + b * s->stride * elem;
		const int status = geam(handle, OP_T, OP_N, n, n, alpha, set->in + at, ld, beta,
					set->out + at, ld, set->out + at, ld);

		if (status) {
			bench_complain("%s: status %d", entry->name, status);
			return BENCH_FAILED;
		}
	}
	return BENCH_OK;
}

size_t bench_cuda_peers(struct bench_entry *list)
{
	if (load())
		return 0;
	list[0] = (struct bench_entry){
		.name = "peer:cublas-geam",
		.kind = BENCH_PEER,
		.out_of_place = 1,
		.apply = apply,
		.verify = bench_verify_coded,
	};
	return 1;
}

#endif
