/* The same matrix by libtileswap_nccl, loaded at run time: a thread for each GPU, which is what a
 * communicator of several GPUs in one process wants. */
#include "multi.h"

#include "bench.h"

#if TSW_HAVE_CUDA

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>

/* Prototypes of our own: the benchmark builds without NCCL. */
typedef tsw_status transpose_call(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
				  void *staging, size_t stage_bytes, void *comm, tsw_stream stream);
typedef int init_call(void **comms, int count, const int *devices);
typedef int allocate_call(void **p, size_t bytes);
typedef int register_call(void *comm, void *p, size_t bytes, void **handle);
typedef const char *error_call(void);

static struct {
	transpose_call *transpose;
	error_call *last_error;
	allocate_call *allocate;
	register_call *registers;
	void *comm[BENCH_MOST_DEVICES];
} nccl;

int bench_nccl_open(int devices)
{
	void *const lib = dlopen("libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
	void *const ours = lib ? dlopen("libtileswap_nccl.so", RTLD_NOW) : NULL;
	void *const core = ours ? dlopen("libtileswap.so", RTLD_NOW) : NULL;
	init_call *init;

	if (!core) {
		bench_complain("nccl: %s", dlerror());
		return BENCH_UNSUPPORTED;
	}
	*(void **)&init = dlsym(lib, "ncclCommInitAll");
	*(void **)&nccl.allocate = dlsym(lib, "ncclMemAlloc");
	*(void **)&nccl.registers = dlsym(lib, "ncclCommRegister");
	*(void **)&nccl.transpose = dlsym(ours, "tsw_nccl_transpose_staged");
	*(void **)&nccl.last_error = dlsym(core, "tsw_last_error");
	if (!init || !nccl.transpose || !nccl.last_error || init(nccl.comm, devices, NULL)) {
		bench_complain("nccl: no communicator of %d devices", devices);
		return BENCH_FAILED;
	}
	return BENCH_OK;
}

/* Kept until the program ends. */
int bench_nccl_staging(int devices, size_t bytes, void **staging)
{
	void *handle;

	for (int d = 0; d < devices; d++) {
		if (cudaSetDevice(d) != cudaSuccess || !nccl.allocate || !nccl.registers ||
		    nccl.allocate(&staging[d], bytes) ||
		    nccl.registers(nccl.comm[d], staging[d], bytes, &handle)) {
			bench_complain("nccl: no %zu bytes of registered staging", bytes);
			return BENCH_FAILED;
		}
	}
	return BENCH_OK;
}

struct rank {
	pthread_t thread;
	int number, failed;
	size_t elem_size, stage_bytes;
	const tsw_dist *dist;
	const tsw_multi_part *part;
};

static void *run_rank(void *context)
{
	struct rank *const r = context;

	(void)cudaSetDevice(r->part->device);
	r->failed = nccl.transpose(r->part->a, r->part->ld, r->elem_size, r->dist, r->part->staging,
				   r->stage_bytes, nccl.comm[r->number], r->part->stream) != TSW_OK;
	if (r->failed)
		bench_complain("nccl, rank %d: %s", r->number, nccl.last_error());
	return NULL;
}

int bench_nccl_transpose(const tsw_dist *dist, size_t elem_size, const tsw_multi_part *parts,
			 size_t stage_bytes)
{
	const int count = dist->nprow * dist->npcol;
	struct rank ranks[BENCH_MOST_DEVICES];
	int failed = 0, started = 0;

	for (; started < count; started++) {
		ranks[started] = (struct rank){.number = started,
					       .elem_size = elem_size,
					       .stage_bytes = stage_bytes,
					       .dist = dist,
					       .part = &parts[started]};
		if (pthread_create(&ranks[started].thread, NULL, run_rank, &ranks[started]))
			break;
	}
	for (int r = 0; r < started; r++) {
		pthread_join(ranks[r].thread, NULL);
		failed |= ranks[r].failed;
	}
	return failed || started < count ? BENCH_FAILED : BENCH_OK;
}

#endif
