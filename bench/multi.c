/* One matrix over several GPUs, beside what the links allow. */
#include "multi.h"

#include <math.h>
#include <time.h>

#include "bench.h"

#if TSW_HAVE_CUDA

#include "../src/dist/plan.h"
#include "gpu.h"
#include "spread.h"

#define MOST_REPS 64

/* The matrix, and one setting. */
struct scene {
	const struct bench_multi_options *o;
	tsw_dist dist;
	struct tsw_spread spread;
	tsw_multi_part part[BENCH_MOST_DEVICES];
	struct bench_part coded[BENCH_MOST_DEVICES];
	unsigned long long *wrong[BENCH_MOST_DEVICES];
	struct bench_links links;
	/* Enough for every setting, unless the call takes it; what NCCL knows of. */
	void *staging[BENCH_MOST_DEVICES], *known[BENCH_MOST_DEVICES];
	tsw_multi_options set;
};

struct result {
	double ms[MOST_REPS], link_gb_per_s;
	uint64_t wrong, extra_bytes;
};

static int devices_of(const struct scene *s)
{
	return s->o->devices;
}

static int wait_all(const struct scene *s)
{
	for (int d = 0; d < devices_of(s); d++) {
		CHECK_CUDA(cudaSetDevice(d));
		CHECK_CUDA(cudaDeviceSynchronize());
	}
	return BENCH_OK;
}

static int free_bytes(int device, size_t *bytes)
{
	size_t total;

	CHECK_CUDA(cudaSetDevice(device));
	CHECK_CUDA(cudaMemGetInfo(bytes, &total));
	return BENCH_OK;
}

/* The side that fills that share of all memory, as round as vectors and tiles like it. */
static int choose_n(const struct bench_multi_options *o, size_t *n)
{
	const size_t step = 256 * (size_t)o->devices;
	double bytes = 0;

	*n = o->n;
	if (*n)
		return BENCH_OK;
	for (int d = 0; d < o->devices; d++) {
		size_t available, total;

		CHECK_CUDA(cudaSetDevice(d));
		CHECK_CUDA(cudaMemGetInfo(&available, &total));
		bytes += (double)total;
	}
	*n = (size_t)sqrt(o->fill * bytes / (double)o->elem_size) / step * step;
	return BENCH_OK;
}

static size_t share(size_t n, int parts)
{
	return (n + (size_t)parts - 1) / (size_t)parts;
}

static int lay_out(struct scene *s)
{
	const tsw_dist fresh = TSW_DIST_INIT;

	s->dist = fresh;
	if (choose_n(s->o, &s->dist.n))
		return BENCH_FAILED;
	s->dist.nprow = s->o->nprow;
	s->dist.npcol = s->o->npcol;
	s->dist.mb = s->o->mb ? s->o->mb : share(s->dist.n, s->o->nprow);
	s->dist.nb = s->o->nb ? s->o->nb : share(s->dist.n, s->o->npcol);
	return bench_answer("layout", tsw_spread_of_bytes(&s->dist, s->o->elem_size, &s->spread));
}

static int make_part(struct scene *s, int d)
{
	const struct tsw_seat seat = tsw_seat_of(&s->spread, (uint32_t)d);
	const unsigned word = bench_word_bytes(s->o->elem_size);
	const size_t rows = tsw_local_rows(&s->spread, seat.row);
	const size_t cols = tsw_local_cols(&s->spread, seat.col);
	cudaStream_t stream;
	void *a = NULL;

	CHECK_CUDA(cudaSetDevice(d));
	CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK_CUDA(cudaMalloc(&a, rows * cols * s->o->elem_size));
	CHECK_CUDA(cudaMalloc((void **)&s->wrong[d], sizeof **s->wrong));
	s->part[d] = (tsw_multi_part){.device = d, .stream = stream, .a = a, .ld = cols};
	s->coded[d] = (struct bench_part){
		.a = a,
		.n = s->dist.n,
		.rows = rows,
		.cols = cols,
		.ld = cols,
		.mb = s->spread.mb,
		.nb = s->spread.nb,
		.nprow = s->spread.nprow,
		.npcol = s->spread.npcol,
		.row = seat.row,
		.col = seat.col,
		.words = s->o->elem_size / word,
		.word_bytes = word,
	};
	return BENCH_OK;
}

static size_t most_staging(const struct scene *s)
{
	size_t most = 0;

	for (size_t i = 0; i < s->o->stagings; i++)
		if (s->o->staging[i] > most)
			most = s->o->staging[i];
	return most;
}

static int make_staging(struct scene *s)
{
	const size_t most = most_staging(s);

	for (int d = 0; d < devices_of(s) && !s->o->take; d++) {
		CHECK_CUDA(cudaSetDevice(d));
		CHECK_CUDA(cudaMalloc(&s->staging[d], most));
	}
	return BENCH_OK;
}

/* A swap needs none. */
static int gives_staging(const struct scene *s)
{
	return !s->o->take && s->set.method != TSW_MULTI_SWAP && s->set.method != TSW_MULTI_HOST;
}

static void *staging_of(const struct scene *s, int d)
{
	if (!gives_staging(s))
		return NULL;
	return s->set.method == BENCH_METHOD_NCCL ? s->known[d] : s->staging[d];
}

static int open_nccl(struct scene *s)
{
	if (bench_nccl_open(devices_of(s)))
		return BENCH_FAILED;
	return s->o->take ? BENCH_OK : bench_nccl_staging(devices_of(s), most_staging(s), s->known);
}

static int code(const struct scene *s)
{
	for (int d = 0; d < devices_of(s); d++) {
		CHECK_CUDA(cudaSetDevice(d));
		CHECK_CUDA(bench_launch_spread_code(&s->coded[d], s->part[d].stream));
	}
	return wait_all(s);
}

static int count_wrong(const struct scene *s, uint64_t *wrong)
{
	unsigned long long here;

	*wrong = 0;
	for (int d = 0; d < devices_of(s); d++) {
		CHECK_CUDA(cudaSetDevice(d));
		CHECK_CUDA(cudaMemsetAsync(s->wrong[d], 0, sizeof here, s->part[d].stream));
		CHECK_CUDA(bench_launch_spread_check(&s->coded[d], s->wrong[d], s->part[d].stream));
	}
	for (int d = 0; d < devices_of(s); d++) {
		CHECK_CUDA(cudaSetDevice(d));
		CHECK_CUDA(cudaMemcpyAsync(&here, s->wrong[d], sizeof here, cudaMemcpyDeviceToHost,
					   s->part[d].stream));
		CHECK_CUDA(cudaStreamSynchronize(s->part[d].stream));
		*wrong += here;
	}
	return BENCH_OK;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int queue(const struct scene *s)
{
	if (s->set.method == BENCH_METHOD_NCCL)
		return bench_nccl_transpose(&s->dist, s->o->elem_size, s->part,
					    s->set.staging_bytes);
	return bench_answer("tsw_multi_transpose",
			    tsw_multi_transpose(&s->dist, s->o->elem_size, s->part, &s->set));
}

/* One transpose, from the call to when all devices are done. */
static int transpose(const struct scene *s, double *ms)
{
	double begin;

	if (wait_all(s))
		return BENCH_FAILED;
	begin = seconds();
	if (queue(s))
		return BENCH_FAILED;
	if (wait_all(s))
		return BENCH_FAILED;
	*ms = (seconds() - begin) * 1e3;
	return BENCH_OK;
}

/* Device memory that is taken while the work is under way, the most of any device. */
static int look_at_memory(const struct scene *s, uint64_t *extra)
{
	size_t before[BENCH_MOST_DEVICES], now;

	*extra = 0;
	for (int d = 0; d < devices_of(s); d++)
		if (free_bytes(d, &before[d]))
			return BENCH_FAILED;
	if (queue(s))
		return BENCH_FAILED;
	for (int d = 0; d < devices_of(s); d++) {
		if (free_bytes(d, &now))
			return BENCH_FAILED;
		if (before[d] > now && before[d] - now > *extra)
			*extra = before[d] - now;
	}
	return wait_all(s);
}

/* An even number of transposes before the last one, so that the check sees an odd number. */
static int measure(struct scene *s, struct result *r)
{
	double ms;

	if (code(s) || transpose(s, &ms) || look_at_memory(s, &r->extra_bytes))
		return BENCH_FAILED;
	if (bench_links_measure(&s->links, &r->link_gb_per_s))
		return BENCH_FAILED;
	for (int i = 0; i < s->o->reps; i++)
		if (transpose(s, &r->ms[i]))
			return BENCH_FAILED;
	if (s->o->reps % 2 == 0 && transpose(s, &ms))
		return BENCH_FAILED;
	return count_wrong(s, &r->wrong);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What leaves the device that sends most, and what leaves all. */
static void traffic(const struct scene *s, uint64_t *most, uint64_t *all)
{
	*most = *all = 0;
	for (int d = 0; d < devices_of(s); d++) {
		uint64_t egress = 0;

		(void)tsw_dist_egress(&s->dist, s->o->elem_size, d, &egress);
		*all += egress;
		if (egress > *most)
			*most = egress;
	}
}

static void print(const struct scene *s, struct result *r)
{
	const double v = (double)s->dist.n * (double)s->dist.n * (double)s->o->elem_size;
	const double median = bench_median(r->ms, (size_t)s->o->reps); /* sorts */
	uint64_t most, all;
	double bound_ms;

	traffic(s, &most, &all);
	bound_ms = r->link_gb_per_s > 0 ? (double)most / r->link_gb_per_s * 1e-6 : 0;
	if (!s->o->json) {
		printf("%-5s grid %dx%d n %zu blocks %zux%zu elem %zu staging %zu x%d copies %d: "
		       "%.3f ms, %.1f GB/s, link %.1f GB/s, bound %.3f ms, ratio %.3f, extra %ju, "
		       "wrong %ju\n",
		       bench_method_name(s->set.method), s->dist.nprow, s->dist.npcol, s->dist.n,
		       s->dist.mb, s->dist.nb, s->o->elem_size, s->set.staging_bytes,
		       s->set.buffers, s->set.copies, median, v / median * 1e-6, r->link_gb_per_s,
		       bound_ms, bound_ms / median, (uintmax_t)r->extra_bytes, (uintmax_t)r->wrong);
		return;
	}
	printf("{\"row\":\"multi\",\"case\":\"%s\",\"method\":\"%s\",\"devices\":%d,"
	       "\"grid\":\"%dx%d\",\"n\":%zu,\"mb\":%zu,\"nb\":%zu,\"elem_size\":%zu,"
	       "\"staging_bytes\":%zu,\"staging_given\":%s,\"buffers\":%d,\"copies\":%d,\"reps\":%"
	       "d,",
	       s->o->case_name ? s->o->case_name : "", bench_method_name(s->set.method),
	       devices_of(s), s->dist.nprow, s->dist.npcol, s->dist.n, s->dist.mb, s->dist.nb,
	       s->o->elem_size, s->set.method == TSW_MULTI_SWAP ? 0 : s->set.staging_bytes,
	       gives_staging(s) ? "true" : "false", s->set.buffers, s->set.copies, s->o->reps);
	printf("\"time_ms_median\":%.6g,\"time_ms_min\":%.6g,\"time_ms_max\":%.6g,"
	       "\"payload_gb_per_s\":%.5g,\"bytes_over_links\":%ju,\"egress_most_bytes\":%ju,"
	       "\"link_gb_per_s\":%.5g,\"bound_ms\":%.6g,\"ratio\":%.4f,"
	       "\"extra_device_bytes\":%ju,\"wrong\":%ju}\n",
	       median, r->ms[0], r->ms[s->o->reps - 1], v / median * 1e-6, (uintmax_t)all,
	       (uintmax_t)most, r->link_gb_per_s, bound_ms, bound_ms / median,
	       (uintmax_t)r->extra_bytes, (uintmax_t)r->wrong);
}

static int run_setting(struct scene *s)
{
	struct result r = {.wrong = 0};

	for (int d = 0; d < devices_of(s); d++)
		s->part[d].staging = staging_of(s, d);
	if (measure(s, &r))
		return BENCH_FAILED;
	/* What it was given is extra, too. */
	if (gives_staging(s))
		r.extra_bytes += s->set.staging_bytes;
	print(s, &r);
	fflush(stdout);
	return r.wrong ? BENCH_FAILED : BENCH_OK;
}

/* Buffers and copies mean nothing to a swap and to NCCL, staging nothing to a swap. */
static int run_method(struct scene *s, int method)
{
	const struct bench_multi_options *o = s->o;
	const tsw_multi_options fresh = TSW_MULTI_OPTIONS_INIT;
	const int swap = method == TSW_MULTI_SWAP, nccl = method == BENCH_METHOD_NCCL;
	int failed = 0;

	for (size_t i = 0; i < (swap ? 1 : o->stagings); i++)
		for (size_t b = 0; b < (swap || nccl ? 1 : o->buffer_counts); b++)
			for (size_t c = 0; c < (swap || nccl ? 1 : o->copy_counts); c++) {
				s->set = fresh;
				s->set.method = method;
				s->set.staging_bytes = o->staging[i];
				s->set.buffers = (int)o->buffers[b];
				s->set.copies = (int)o->copies[c];
				failed |= run_setting(s) != BENCH_OK;
			}
	return failed;
}

int bench_multi_run(const struct bench_multi_options *o)
{
	struct scene s = {.o = o};
	int failed = 0, count;

	if (cudaGetDeviceCount(&count) != cudaSuccess || count < o->devices) {
		bench_complain("--devices %d: there are %d", o->devices, count);
		return 3;
	}
	if (o->reps > MOST_REPS) {
		bench_complain("--reps %d: at most %d", o->reps, MOST_REPS);
		return 2;
	}
	if (lay_out(&s) || bench_links_open(&s.links, o->devices))
		return 1;
	for (int d = 0; d < o->devices; d++)
		if (make_part(&s, d))
			return 1;
	if (make_staging(&s))
		return 1;
	for (int m = 0; m < o->method_count; m++) {
		if (o->methods[m] == BENCH_METHOD_NCCL && open_nccl(&s))
			failed = 1;
		else
			failed |= run_method(&s, o->methods[m]);
	}
	bench_links_close(&s.links);
	return failed;
}

#else

int bench_multi_run(const struct bench_multi_options *o)
{
	bench_complain("--devices %d: this build has no CUDA", o->devices);
	return 3;
}

#endif
