/* GPU memory: ceilings and timing.
 *
 * Timing: a spinning kernel holds the stream while everything of one pair of measurements is queued
 * behind it, then is let go:
 *
 *     spin | event 0 | a a a a | event 1 | b b b b | event 2
 *
 * so that neither the launch of the first nor the host's speed is in the figures. */
#include "bench.h"

#if TSW_HAVE_CUDA

#include <stdlib.h>
#include <string.h>

#include "../src/cuda/cuda.h"
#include "gpu.h"

/* Many times any L2; what is timed walks through all of it. */
#define WORKING_SET ((size_t)5 << 28)
/* More launches than this may not fit in the stream's queue, where they wait for the spin. */
#define MOST_CALLS 200

/* Queueing takes a few milliseconds; what fills the queue is freed after this. */
#define SPIN_TIMEOUT_NS 500000000u

/* Left over for what drivers and libraries allocate themselves. */
#define SPARE_BYTES ((size_t)256 << 20)

#define MAX_GRAPHS 64

static struct {
	cudaStream_t stream;
	cudaEvent_t event[3];
	int *flag; /* mapped */
	const int *device_flag;
	unsigned long long *wrong;
	struct cudaDeviceProp properties;
	struct {
		const struct bench_entry *entry;
		cudaGraphExec_t graph;
	} graphs[MAX_GRAPHS];
	size_t graph_count;
} gpu;

static int start(void)
{
	CHECK_CUDA(cudaSetDevice(0));
	CHECK_CUDA(cudaGetDeviceProperties(&gpu.properties, 0));
	CHECK_CUDA(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking));
	for (int i = 0; i < 3; i++)
		CHECK_CUDA(cudaEventCreate(&gpu.event[i]));
	CHECK_CUDA(cudaHostAlloc((void **)&gpu.flag, sizeof *gpu.flag, cudaHostAllocMapped));
	CHECK_CUDA(cudaHostGetDevicePointer((void **)&gpu.device_flag, gpu.flag, 0));
	CHECK_CUDA(cudaMalloc((void **)&gpu.wrong, sizeof *gpu.wrong));
	return BENCH_OK;
}

int bench_cuda_start(void)
{
	if (tsw_cuda_status() != TSW_OK) {
		bench_complain("--device cuda: %s", tsw_last_error());
		return 3;
	}
	return start() ? 1 : 0;
}

static void hold(void)
{
	__atomic_store_n(gpu.flag, 0, __ATOMIC_SEQ_CST);
}

static void let_go(void)
{
	__atomic_store_n(gpu.flag, 1, __ATOMIC_SEQ_CST);
}

/* ---- ceilings -------------------------------------------------------------------------------- */

/* A ceiling is aligned, whatever the offset of the matrix. */
static char *aligned_copy(const struct bench_set *set, char *base, size_t copy)
{
	return base - set->shape.offset + copy * set->pitch;
}

static int apply_rmw(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	(void)entry;
	CHECK_CUDA(
		bench_launch_rmw(aligned_copy(set, set->in, copy), set->moved_bytes, set->stream));
	return BENCH_OK;
}

static int apply_copy(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	(void)entry;
	CHECK_CUDA(bench_launch_copy(aligned_copy(set, set->out, copy),
				     aligned_copy(set, set->in, copy), set->moved_bytes,
				     set->stream));
	return BENCH_OK;
}

static int apply_memcpy(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	(void)entry;
	CHECK_CUDA(cudaMemcpyAsync(aligned_copy(set, set->out, copy),
				   aligned_copy(set, set->in, copy), set->moved_bytes,
				   cudaMemcpyDeviceToDevice, set->stream));
	return BENCH_OK;
}

static int apply_read(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	const unsigned vectors = *(const unsigned *)entry->self;

	CHECK_CUDA(bench_launch_read(aligned_copy(set, set->in, copy), set->moved_bytes, vectors,
				     gpu.wrong, set->stream));
	return BENCH_OK;
}

/* Vectors that a thread has in flight. */
static const unsigned one = 1, four = 4, eight = 8;

static const struct bench_entry read_ceilings[] = {
	{.name = "ceiling:read1", .apply = apply_read, .self = &one},
	{.name = "ceiling:read4", .apply = apply_read, .self = &four},
	{.name = "ceiling:read8", .apply = apply_read, .self = &eight},
	{.name = NULL},
};

static const struct bench_entry ceilings[] = {
	{.name = "ceiling:rmw", .apply = apply_rmw},
	{.name = "ceiling:copy", .apply = apply_copy, .out_of_place = 1},
	{.name = "ceiling:memcpy", .apply = apply_memcpy, .out_of_place = 1},
	{.name = NULL},
};

/* ---- memory ---------------------------------------------------------------------------------- */

static int make_arrays(struct bench_set *set)
{
	const struct bench_shape *s = &set->shape;
	const size_t total = set->copies * s->count;
	void **host = malloc(total * sizeof *host);
	cudaError_t error;

	if (!host) {
		bench_complain("out of host memory for %zu pointers", total);
		return BENCH_FAILED;
	}
	for (size_t k = 0; k < total; k++)
		host[k] = set->in + k / s->count * set->pitch +
			  k % s->count * s->stride * s->elem_size;
	error = cudaMalloc((void **)&set->arrays, total * sizeof *host);
	if (error == cudaSuccess)
		error = cudaMemcpy(set->arrays, host, total * sizeof *host, cudaMemcpyHostToDevice);
	free(host);
	CHECK_CUDA(error);
	return BENCH_OK;
}

/* Memory is never timed as it comes: zeros can be faster than data. */
static int take(char **p, size_t bytes, size_t offset)
{
	CHECK_CUDA(cudaMalloc((void **)p, bytes));
	*p += offset;
	CHECK_CUDA(bench_launch_code(*p - offset, bytes, 8, gpu.stream));
	return BENCH_OK;
}

/* Kernels are loaded when they are first launched, which may wait for the GPU to be idle: not while
 * a spinning kernel waits for us. */
static int warm_up(struct bench_set *set, const struct bench_entry *list)
{
	for (; list->name && set->mode != BENCH_PROFILE; list++) {
		if (list->out_of_place && !set->out)
			continue;
		if (list->apply(list, set, 0))
			return BENCH_FAILED;
	}
	CHECK_CUDA(cudaStreamSynchronize(gpu.stream));
	return BENCH_OK;
}

static int cuda_open(struct bench_set *set, const struct bench_options *options)
{
	size_t available, total, bytes, array_bytes;

	set->stream = gpu.stream;
	bench_plan(set, WORKING_SET, MOST_CALLS);
	bytes = set->copies * set->pitch;
	array_bytes = set->shape.array ? set->copies * set->shape.count * sizeof(void *) : 0;
	CHECK_CUDA(cudaMemGetInfo(&available, &total));
	if (bytes + array_bytes > available) {
		bench_complain(
			"n = %zu, elem_size = %zu: %zu bytes are needed, %zu of %zu are free",
			set->shape.n, set->shape.elem_size, bytes + array_bytes, available, total);
		return BENCH_FAILED;
	}
	if (take(&set->in, bytes, set->shape.offset))
		return BENCH_FAILED;
	/* In a graph the yardstick is the read-modify-write kernel alone. */
	if (set->mode != BENCH_GRAPH && 2 * bytes + array_bytes + SPARE_BYTES < available &&
	    take(&set->out, bytes, set->shape.offset))
		return BENCH_FAILED;
	if (set->shape.array && make_arrays(set))
		return BENCH_FAILED;
	return warm_up(set, options->checksum ? read_ceilings : ceilings);
}

/* Errors here have been reported by what came before; the next shape starts afresh or fails. */
static void cuda_close(struct bench_set *set)
{
	let_go();
	(void)cudaStreamSynchronize(gpu.stream);
	for (size_t i = 0; i < gpu.graph_count; i++)
		(void)cudaGraphExecDestroy(gpu.graphs[i].graph);
	gpu.graph_count = 0;
	if (set->in)
		(void)cudaFree(set->in - set->shape.offset);
	if (set->out)
		(void)cudaFree(set->out - set->shape.offset);
	(void)cudaFree(set->arrays);
	(void)cudaGetLastError();
}

/* ---- entries --------------------------------------------------------------------------------- */

static int apply_kernel(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	const struct tsw_matrices m = bench_matrices(set, copy, 0);

	if (tsw_nothing_to_do(&m))
		return BENCH_UNSUPPORTED;
	return bench_answer(entry->name, tsw_cuda_transpose_by(entry->self, &m, set->stream, 0));
}

static int cuda_code(struct bench_set *set)
{
	return bench_code_cuda(set, 0);
}

static int cuda_fetch(struct bench_set *set, size_t offset, size_t bytes, void *to)
{
	CHECK_CUDA(
		cudaMemcpyAsync(to, set->in + offset, bytes, cudaMemcpyDeviceToHost, set->stream));
	CHECK_CUDA(cudaStreamSynchronize(set->stream));
	return BENCH_OK;
}

size_t bench_cuda_entries(const struct bench_options *options, struct bench_entry *list)
{
	const char *name;
	size_t count = 0;

	list[count++] = bench_library;
	for (size_t i = 0; options->kernels && (name = tsw_cuda_kernel_name(i)) != NULL; i++)
		list[count++] = (struct bench_entry){
			.name = name,
			.kind = BENCH_KERNEL,
			.self = name,
			.apply = apply_kernel,
		};
	if (options->peers)
		count += bench_cuda_peers(list + count);
	return count;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static int capture(const struct bench_entry *entry, struct bench_set *set, cudaGraphExec_t *graph)
{
	cudaGraph_t recorded = NULL;
	cudaError_t error;
	int status;

	CHECK_CUDA(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal));
	status = bench_apply_calls(entry, set);
	error = cudaStreamEndCapture(gpu.stream, &recorded);
	if (status)
		return status;
	CHECK_CUDA(error);
	CHECK_CUDA(cudaGraphInstantiateWithFlags(graph, recorded, 0));
	CHECK_CUDA(cudaGraphDestroy(recorded));
	CHECK_CUDA(cudaGraphUpload(*graph, gpu.stream));
	CHECK_CUDA(cudaStreamSynchronize(gpu.stream));
	return BENCH_OK;
}

/* The graph of an entry on this set, captured at its first use. */
static int graph_of(const struct bench_entry *entry, struct bench_set *set, cudaGraphExec_t *graph)
{
	int status;

	for (size_t i = 0; i < gpu.graph_count; i++) {
		if (gpu.graphs[i].entry == entry) {
			*graph = gpu.graphs[i].graph;
			return BENCH_OK;
		}
	}
	if (gpu.graph_count == MAX_GRAPHS) {
		bench_complain("more than %d entries with --graph", MAX_GRAPHS);
		return BENCH_FAILED;
	}
	status = capture(entry, set, graph);
	if (!status) {
		gpu.graphs[gpu.graph_count].entry = entry;
		gpu.graphs[gpu.graph_count++].graph = *graph;
	}
	return status;
}

static int queue_one(const struct bench_entry *entry, struct bench_set *set, cudaGraphExec_t graph,
		     cudaEvent_t end)
{
	if (graph) {
		CHECK_CUDA(cudaGraphLaunch(graph, gpu.stream));
	} else {
		const int status = bench_apply_calls(entry, set);

		if (status)
			return status;
	}
	CHECK_CUDA(cudaEventRecord(end, gpu.stream));
	return BENCH_OK;
}

static int queue_pair(const struct bench_entry *a, const struct bench_entry *b,
		      struct bench_set *set, const cudaGraphExec_t graphs[2])
{
	int status;

	/* A profiler runs kernels one by one and would wait for a spin that waits for the host. */
	if (set->mode != BENCH_PROFILE && !set->waits)
		CHECK_CUDA(bench_launch_spin(gpu.device_flag, SPIN_TIMEOUT_NS, gpu.stream));
	CHECK_CUDA(cudaEventRecord(gpu.event[0], gpu.stream));
	status = queue_one(a, set, graphs[0], gpu.event[1]);
	if (!status && b)
		status = queue_one(b, set, graphs[1], gpu.event[2]);
	return status;
}

static int cuda_time_pair(const struct bench_entry *a, const struct bench_entry *b,
			  struct bench_set *set, double ms[2])
{
	cudaGraphExec_t graphs[2] = {NULL, NULL};
	float elapsed;
	int status = BENCH_OK;

	if (set->mode == BENCH_GRAPH) {
		status = graph_of(a, set, &graphs[0]);
		if (!status && b)
			status = graph_of(b, set, &graphs[1]);
	}
	hold();
	if (!status)
		status = queue_pair(a, b, set, graphs);
	let_go();
	CHECK_CUDA(cudaStreamSynchronize(gpu.stream));
	if (status)
		return status;
	CHECK_CUDA(cudaEventElapsedTime(&elapsed, gpu.event[0], gpu.event[1]));
	ms[0] = elapsed / (double)set->calls;
	if (b) {
		CHECK_CUDA(cudaEventElapsedTime(&elapsed, gpu.event[1], gpu.event[2]));
		ms[1] = elapsed / (double)set->calls;
	}
	return BENCH_OK;
}

/* ---- verifying ------------------------------------------------------------------------------- */

int bench_code_cuda(struct bench_set *set, int out)
{
	const unsigned word_bytes =
		set->word_bytes ? set->word_bytes : bench_word_bytes(set->shape.elem_size);

	set->data = "coded";
	CHECK_CUDA(bench_launch_code(set->in, set->span_bytes, word_bytes, gpu.stream));
	if (out)
		CHECK_CUDA(bench_launch_code(set->out, set->span_bytes, word_bytes, gpu.stream));
	return BENCH_OK;
}

int bench_check_coded(struct bench_set *set, const void *p, const struct bench_coded *m,
		      uint64_t count, uint64_t stride_bytes, unsigned word_bytes, uint64_t *wrong)
{
	unsigned long long found = 0;

	CHECK_CUDA(cudaMemsetAsync(gpu.wrong, 0, sizeof found, set->stream));
	CHECK_CUDA(
		bench_launch_check(p, m, count, stride_bytes, word_bytes, gpu.wrong, set->stream));
	CHECK_CUDA(cudaMemcpyAsync(&found, gpu.wrong, sizeof found, cudaMemcpyDeviceToHost,
				   set->stream));
	CHECK_CUDA(cudaStreamSynchronize(set->stream));
	*wrong = found;
	return BENCH_OK;
}

int bench_check_cuda(struct bench_set *set, int out, enum bench_expect expect, uint64_t *wrong)
{
	const struct bench_shape *const s = &set->shape;
	const unsigned word_bytes = bench_word_bytes(s->elem_size);
	const struct bench_coded m = {
		.rows = s->n,
		.width = s->n,
		.ld = s->ld,
		.ld_before = s->ld,
		.words = s->elem_size / word_bytes,
		.expect = expect,
	};

	return bench_check_coded(set, out ? set->out : set->in, &m, s->count,
				 s->stride * s->elem_size, word_bytes, wrong);
}

int bench_verify_coded(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong)
{
	int status = bench_code_cuda(set, entry->out_of_place);

	if (!status)
		status = entry->apply(entry, set, 0);
	if (!status)
		status = bench_check_cuda(set, entry->out_of_place, BENCH_TRANSPOSED, wrong);
	return status;
}

static double cuda_floor(void)
{
	return strstr(gpu.properties.name, "H200") ? 4100 : 0;
}

const struct bench_backend bench_cuda = {
	.name = "cuda",
	.open = cuda_open,
	.close = cuda_close,
	.verify = bench_verify_random,
	.code = cuda_code,
	.fetch = cuda_fetch,
	.time_pair = cuda_time_pair,
	.ceilings = ceilings,
	.read_ceilings = read_ceilings,
	.floor_gb_per_s = cuda_floor,
};

#else /* without CUDA */

int bench_cuda_start(void)
{
	(void)tsw_cuda_status();
	bench_complain("--device cuda: %s", tsw_last_error());
	return 3;
}

/* Never reached: bench_cuda_start() has ended the program. */
static int absent_open(struct bench_set *set, const struct bench_options *options)
{
	(void)set, (void)options;
	return BENCH_FAILED;
}

static void absent_close(struct bench_set *set)
{
	(void)set;
}

static const struct bench_entry no_ceilings[] = {{.name = NULL}};

const struct bench_backend bench_cuda = {
	.name = "cuda",
	.open = absent_open,
	.close = absent_close,
	.ceilings = no_ceilings,
	.read_ceilings = no_ceilings,
};

size_t bench_cuda_entries(const struct bench_options *options, struct bench_entry *list)
{
	(void)options, (void)list;
	return 0;
}

size_t bench_pattern_entries(const struct bench_shape *shape, struct bench_entry *list)
{
	(void)shape, (void)list;
	return 0;
}

size_t bench_ladder_entries(size_t elem_size, struct bench_entry *list)
{
	(void)elem_size, (void)list;
	return 0;
}

size_t bench_cuda_facts(struct bench_fact *facts, size_t room)
{
	(void)facts, (void)room;
	return 0;
}

#endif
