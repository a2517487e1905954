/* Host memory: ceilings and timing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../src/cpu/cpu.h"
#include "../src/cpu/kernels.h"
#include "host.h"

/* Enough to leave every cache behind; what is timed walks through all of it. */
#define WORKING_SET ((size_t)1 << 30)
#define MOST_CALLS ((size_t)1 << 24)

#define HUGE_PAGE ((size_t)2 << 20)

/* Starting threads costs more than copying this much. */
#define PARALLEL_BYTES ((size_t)1 << 20)

/* ---- ceilings -------------------------------------------------------------------------------- */

/* Read, modify, write the same bytes.  One function an instruction set, because a matrix in cache
 * is limited by the width of the stores. */
typedef uint64_t line_t __attribute__((vector_size(64), may_alias));

#define TOUCH                                                                                      \
	for (size_t i = 0; i < lines; i++)                                                         \
	p[i] += 1

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void touch_avx512(line_t *p, size_t lines)
{
	TOUCH;
}

__attribute__((target("avx2"))) static void touch_avx2(line_t *p, size_t lines)
{
	TOUCH;
}
#endif

static void touch_plain(line_t *p, size_t lines)
{
	TOUCH;
}

static void (*touch_best(void))(line_t *, size_t)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return touch_avx512;
	if (__builtin_cpu_supports("avx2"))
		return touch_avx2;
#endif
	return touch_plain;
}

/* Read only. */
#define READ                                                                                       \
	line_t sum[4] = {{0}};                                                                     \
	size_t i = 0;                                                                              \
                                                                                                   \
	for (; i + 4 <= lines; i += 4)                                                             \
		for (size_t k = 0; k < 4; k++)                                                     \
			sum[k] ^= p[i + k];                                                        \
	for (; i < lines; i++)                                                                     \
		sum[0] ^= p[i];                                                                    \
	sum[0] ^= sum[1] ^ sum[2] ^ sum[3];                                                        \
	return sum[0][0] ^ sum[0][1] ^ sum[0][2] ^ sum[0][3] ^ sum[0][4] ^ sum[0][5] ^ sum[0][6] ^ \
	       sum[0][7]

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static uint64_t read_avx512(const line_t *p, size_t lines)
{
	READ;
}

__attribute__((target("avx2"))) static uint64_t read_avx2(const line_t *p, size_t lines)
{
	READ;
}
#endif

static uint64_t read_plain(const line_t *p, size_t lines)
{
	READ;
}

static uint64_t (*read_best(void))(const line_t *, size_t)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return read_avx512;
	if (__builtin_cpu_supports("avx2"))
		return read_avx2;
#endif
	return read_plain;
}

struct streaming {
	char *to, *from;
	size_t bytes;
};

static void rmw_part(void *context, size_t part, size_t parts)
{
	const struct streaming *const s = context;
	size_t first, end;

	bench_share(s->bytes, 4096, part, parts, &first, &end);
	touch_best()((line_t *)(s->to + first), (end - first) / sizeof(line_t));
	for (size_t i = end - (end - first) % sizeof(line_t); i < end; i++)
		s->to[i]++;
}

static void memcpy_part(void *context, size_t part, size_t parts)
{
	const struct streaming *const s = context;
	size_t first, end;

	bench_share(s->bytes, 4096, part, parts, &first, &end);
	memcpy(s->to + first, s->from + first, end - first);
}

static int threads_for(const struct bench_set *set)
{
	return set->moved_bytes < PARALLEL_BYTES ? 1 : set->threads;
}

/* A ceiling is aligned, whatever the offset of the matrix. */
static int apply_rmw(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	struct streaming s = {.bytes = set->moved_bytes};

	(void)entry;
	s.to = set->in - set->shape.offset + copy * set->pitch;
	bench_parallel(threads_for(set), rmw_part, &s);
	return BENCH_OK;
}

static int apply_memcpy(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	const size_t at = copy * set->pitch;
	struct streaming s = {
		set->out - set->shape.offset + at,
		set->in - set->shape.offset + at,
		set->moved_bytes,
	};

	(void)entry;
	bench_parallel(threads_for(set), memcpy_part, &s);
	return BENCH_OK;
}

/* What has been read has to be used for something. */
static uint64_t sink;

static void read_part(void *context, size_t part, size_t parts)
{
	const struct streaming *const s = context;
	size_t first, end;

	bench_share(s->bytes, 4096, part, parts, &first, &end);
	__atomic_fetch_xor(
		&sink, read_best()((const line_t *)(s->to + first), (end - first) / sizeof(line_t)),
		__ATOMIC_RELAXED);
}

static int apply_read(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	struct streaming s = {.bytes = set->moved_bytes};

	(void)entry;
	s.to = set->in - set->shape.offset + copy * set->pitch;
	bench_parallel(threads_for(set), read_part, &s);
	return BENCH_OK;
}

static const struct bench_entry read_ceilings[] = {
	{.name = "ceiling:read", .apply = apply_read},
	{.name = NULL},
};

static const struct bench_entry ceilings[] = {
	{.name = "ceiling:rmw", .apply = apply_rmw},
	{.name = "ceiling:memcpy", .apply = apply_memcpy, .out_of_place = 1},
	{.name = NULL},
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Bytes that can be taken without swapping; 0 if the system does not say. */
static size_t available_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	size_t kib = 0;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

static void touch_pages(void *context, size_t part, size_t parts)
{
	const struct streaming *const s = context;
	size_t first, end;

	bench_share(s->bytes, HUGE_PAGE, part, parts, &first, &end);
	memset(s->to + first, 1, end - first);
}

/* On 2 MiB pages where the system grants them, touched by the threads that will use them. */
static char *take(size_t bytes, int threads)
{
	const size_t whole = (bytes + 4095) / 4096 * 4096;
	char *p = mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	struct streaming s = {.bytes = bytes};
	size_t slack;

	if (p == MAP_FAILED)
		return NULL;
	slack = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
	if (slack)
		munmap(p, slack);
	if (HUGE_PAGE - slack)
		munmap(p + slack + whole, HUGE_PAGE - slack);
	s.to = p + slack;
	(void)madvise(s.to, whole, MADV_HUGEPAGE);
	bench_parallel(threads, touch_pages, &s);
	return s.to;
}

static void give(char *p, size_t bytes)
{
	munmap(p, (bytes + 4095) / 4096 * 4096);
}

static size_t buffer_bytes(const struct bench_set *set)
{
	return set->copies * set->pitch;
}

static int make_arrays(struct bench_set *set)
{
	const struct bench_shape *s = &set->shape;

	set->arrays = malloc(set->copies * s->count * sizeof *set->arrays);
	if (!set->arrays)
		return -1;
	for (size_t copy = 0; copy < set->copies; copy++)
		for (size_t b = 0; b < s->count; b++)
			set->arrays[copy * s->count + b] =
				set->in + copy * set->pitch + b * s->stride * s->elem_size;
	return 0;
}

static int cpu_open(struct bench_set *set, const struct bench_options *options)
{
	size_t bytes, available = available_bytes();

	set->threads = tsw_cpu_threads(options->threads);
	set->isa = tsw_cpu_isa()->name;
	bench_plan(set, WORKING_SET, MOST_CALLS);
	bytes = buffer_bytes(set);
	if (available && bytes > available / 10 * 9) {
		bench_complain("n = %zu, elem_size = %zu: %zu bytes are needed, %zu are available",
			       set->shape.n, set->shape.elem_size, bytes, available);
		return BENCH_FAILED;
	}
	set->in = take(bytes, set->threads);
	if (set->in && (!available || 2 * bytes < available / 10 * 9))
		set->out = take(bytes, set->threads);
	if (!set->in || (set->in += set->shape.offset, set->shape.array && make_arrays(set))) {
		bench_complain("out of memory: %zu bytes", bytes);
		return BENCH_FAILED;
	}
	if (set->out)
		set->out += set->shape.offset;
	return BENCH_OK;
}

static void cpu_close(struct bench_set *set)
{
	if (set->in)
		give(set->in - set->shape.offset, buffer_bytes(set));
	if (set->out)
		give(set->out - set->shape.offset, buffer_bytes(set));
	free(set->arrays);
}

/* ---- entries --------------------------------------------------------------------------------- */

static int cpu_code(struct bench_set *set)
{
	set->data = "coded";
	bench_code_host(set, 0);
	return BENCH_OK;
}

static int cpu_fetch(struct bench_set *set, size_t offset, size_t bytes, void *to)
{
	memcpy(to, set->in + offset, bytes);
	return BENCH_OK;
}

size_t bench_cpu_entries(const struct bench_options *options, struct bench_entry *list)
{
	size_t count = 0;

	list[count++] = bench_library;
	if (options->kernels)
		count += bench_cpu_choices(list + count);
	if (options->peers)
		count += bench_host_peers(list + count);
	return count;
}

/* ---- timing and verifying -------------------------------------------------------------------- */

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int time_one(const struct bench_entry *entry, struct bench_set *set, double *ms)
{
	const double start = now_ms();
	const int status = bench_apply_calls(entry, set);

	*ms = (now_ms() - start) / (double)set->calls;
	return status;
}

static int cpu_time_pair(const struct bench_entry *a, const struct bench_entry *b,
			 struct bench_set *set, double ms[2])
{
	int status = time_one(a, set, &ms[0]);

	if (!status && b)
		status = time_one(b, set, &ms[1]);
	return status;
}

static int verify_coded(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong)
{
	int status;

	set->data = "coded";
	bench_code_host(set, entry->out_of_place);
	status = entry->apply(entry, set, 0);
	if (!status)
		*wrong = bench_check_host(set, entry->out_of_place, BENCH_TRANSPOSED);
	return status;
}

/* Random bits are also NaN, which a peer that multiplies would change. */
static int cpu_verify(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong)
{
	return entry->kind == BENCH_PEER ? verify_coded(entry, set, wrong)
					 : bench_verify_random(entry, set, wrong);
}

static double cpu_floor(void)
{
	return 0;
}

const struct bench_backend bench_cpu = {
	.name = "cpu",
	.open = cpu_open,
	.close = cpu_close,
	.verify = cpu_verify,
	.code = cpu_code,
	.fetch = cpu_fetch,
	.time_pair = cpu_time_pair,
	.ceilings = ceilings,
	.read_ceilings = read_ceilings,
	.floor_gb_per_s = cpu_floor,
};
