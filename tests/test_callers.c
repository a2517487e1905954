/* The host engine and who calls it: threads with small stacks, a process bound to one CPU, parallel
 * regions of the caller's own, what the caller told OpenMP, children of a fork, no memory left.
 * In one process, because a child of fork() would use one thread. */
#include "cpu/cpu.h"
#include "cpu/plan.h"
#include "support.h"
#include "tileswap.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Large enough for four threads to be worth waking. */
static const struct tsw_shape large = {700, 701, 8};

/* ---- no memory --------------------------------------------------------------------------------
 */

/* The library's only allocation on the host: the buffer of a staged walk.  This definition comes
 * before the C library's. */
static int refuse_memory;
static unsigned long asked;

void *aligned_alloc(size_t alignment, size_t bytes)
{
	void *p = NULL;
	int error;

	__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
	error = refuse_memory ? ENOMEM : posix_memalign(&p, alignment, bytes);
	if (error)
		errno = error;
	return error ? NULL : p;
}

/* ---- every call -------------------------------------------------------------------------------
 */

static const char *wrong_after(const unsigned char *a, struct tsw_shape s)
{
	return tsw_wrong_transpose(a, tsw_pattern(tsw_shape_bytes(s)), s);
}

/* NULL, or what went wrong; no assertion, since any thread may call it. */
static const char *transpose_one(struct tsw_shape s, int nthreads)
{
	const size_t bytes = tsw_shape_bytes(s);
	unsigned char *a = malloc(bytes);
	const char *wrong = "no memory for the test";

	if (!a)
		return wrong;
	tsw_fill(a, bytes);
	wrong = tsw_transpose_host(a, s.n, s.ld, s.elem_size, nthreads) != TSW_OK
			? tsw_last_error()
			: wrong_after(a, s);
	free(a);
	return wrong;
}

static const char *walk_planned(struct tsw_shape s, const struct tsw_isa *isa, enum tsw_order order,
				int nthreads)
{
	const size_t bytes = tsw_shape_bytes(s);
	struct tsw_matrices m = {
		.base = malloc(bytes), .n = s.n, .ld = s.ld, .elem_size = s.elem_size, .count = 1};
	struct tsw_plan plan;
	const char *wrong = "no memory for the test";

	if (!m.base)
		return wrong;
	plan = tsw_cpu_plan(&m, isa);
	plan.order = plan.kernel ? order : TSW_ROWS;
	plan.tile = plan.kernel ? 2 * plan.block : 8;
	plan.fetch = 1;
	tsw_fill(m.base, bytes);
	tsw_cpu_run(&plan, &m, nthreads);
	wrong = wrong_after(m.base, s);
	free(m.base);
	return wrong;
}

/* Scaled by one: what imatcopy leaves is the transpose. */
static const char *imatcopy_and_checksum(int nthreads)
{
	enum { N = 300 };
	static const double one[2] = {1, 0};
	const struct tsw_shape s = {N, N, sizeof(double)};
	tsw_digest before, after;
	double *a = malloc(sizeof *a * N * N);
	const char *wrong = NULL;

	if (!a)
		return "no memory for the test";
	tsw_fill(a, sizeof *a * N * N);
	if (tsw_checksum_host(a, N, N, sizeof *a, 1, &before, nthreads) != TSW_OK ||
	    tsw_imatcopy_host('T', TSW_DOUBLE, N, one, a, N, nthreads) != TSW_OK ||
	    tsw_checksum_host(a, N, N, sizeof *a, 0, &after, nthreads) != TSW_OK)
		wrong = tsw_last_error();
	else if (before.placed != after.placed || before.values != after.values)
		wrong = "the digests differ";
	else
		wrong = wrong_after((unsigned char *)a, s);
	free(a);
	return wrong;
}

static const size_t widths[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 100, 512};

/* Every width, every walk on every instruction set of this machine, values and sums; an error. */
static const char *everything(int nthreads)
{
	static const char *const names[] = {"c", "avx2", "avx512", "neon"};
	const char *wrong = NULL;

	for (size_t w = 0; w < COUNT_OF(widths) && !wrong; w++) {
		wrong = transpose_one((struct tsw_shape){9, 9, widths[w]}, nthreads);
		for (size_t i = 0; i < COUNT_OF(names) * 3 && !wrong; i++) {
			const struct tsw_isa *isa = tsw_cpu_isa_named(names[i / 3]);

			if (isa)
				wrong = walk_planned(
					widths[w] > 24 ? (struct tsw_shape){30, 31, widths[w]}
						       : (struct tsw_shape){150, 151, widths[w]},
					isa, (enum tsw_order)(i % 3), nthreads);
		}
	}
	if (!wrong)
		wrong = transpose_one(large, nthreads);
	if (!wrong)
		wrong = imatcopy_and_checksum(nthreads);
	if (!wrong && tsw_transpose_host(NULL, 2, 1, 8, nthreads) != TSW_ERR_LD)
		wrong = "a wrong ld is taken";
	return wrong;
}

/* ---- small stacks -----------------------------------------------------------------------------
 */

#if defined(__SANITIZE_ADDRESS__)
#define SMALL_STACK 256 /* KiB; frames are several times as large there */
#elif defined(__aarch64__)
#define SMALL_STACK 128 /* the least there is */
#else
#define SMALL_STACK 64
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

struct caller {
	int nthreads;
	char wrong[200]; /* the texts of a thread go with it */
};

static void *call_everything(void *argument)
{
	struct caller *c = argument;
	const char *wrong = everything(c->nthreads);

	snprintf(c->wrong, sizeof c->wrong, "%s", wrong ? wrong : "");
	return NULL;
}

/* A stack that is too small runs into the page below it, which is not there. */
START_TEST(threads_with_small_stacks)
{
	struct caller callers[3] = {{.nthreads = 1}, {.nthreads = 2}, {.nthreads = 0}};
	pthread_t thread[COUNT_OF(callers)];
	pthread_attr_t attributes;

	ck_assert_int_eq(pthread_attr_init(&attributes), 0);
	ck_assert_int_eq(pthread_attr_setstacksize(&attributes, SMALL_STACK << 10), 0);
	for (size_t i = 0; i < COUNT_OF(callers); i++)
		ck_assert_int_eq(
			pthread_create(&thread[i], &attributes, call_everything, &callers[i]), 0);
	for (size_t i = 0; i < COUNT_OF(callers); i++) {
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
		ck_assert_msg(!callers[i].wrong[0], "nthreads = %d: %s", callers[i].nthreads,
			      callers[i].wrong);
	}
	pthread_attr_destroy(&attributes);
}
END_TEST

/* ---- one CPU ----------------------------------------------------------------------------------
 */

/* Leaves the calling thread one of its CPUs; *all is what it had. */
static void bind_to_one(cpu_set_t *all)
{
	cpu_set_t one;
	int cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof *all, all), 0);
	while (!CPU_ISSET(cpu, all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

static void require_everything(int nthreads)
{
	const char *wrong = everything(nthreads);

	ck_assert_msg(!wrong, "nthreads = %d: %s", nthreads, wrong);
}

/* The caller's threads are the ones it bound; the library's own may run elsewhere. */
START_TEST(bound_to_one_cpu_after_the_start)
{
	cpu_set_t all;

	bind_to_one(&all);
	for (int nthreads = 0; nthreads <= 3; nthreads++)
		require_everything(nthreads);
	ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
}
END_TEST

/* ---- programs of their own ---------------------------------------------------------------------
 */

/* Threads of this process. */
static int threads_now(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = 0;

	while (tasks && readdir(tasks))
		count++;
	if (tasks)
		closedir(tasks);
	return count - 2; /* "." and ".." */
}

/* The exit status says what was wrong: 1 a result, 10 + how many threads were begun. */
static int begun_by(int nthreads, int expected)
{
	const int before = threads_now();
	const char *wrong = transpose_one(large, nthreads);

	if (wrong) {
		puts(wrong);
		return 1;
	}
	return threads_now() - before == expected ? 0 : 10 + threads_now() - before;
}

static int begins_none(void)
{
	return tsw_cpu_threads(0) == 1 ? begun_by(0, 0) : 2;
}

static int begins_one(void)
{
	return tsw_cpu_threads(0) == 2 ? begun_by(0, 1) : 2;
}

static int begins_two_of_three(void)
{
	return begun_by(3, 2);
}

/* Fewer threads than asked for come: every part is done all the same. */
static int gets_what_it_gets(void)
{
	return everything(5) != NULL;
}

/* How many threads OpenMP wants on one CPU is its own affair: gcc's looks at the mask, clang's
 * counts the machine's processors. */
static int transposes_and_knows_one_cpu(void)
{
#ifdef __clang__
	const int wanted = tsw_cpu_threads(0);
#else
	const int wanted = 1;
#endif

	return tsw_cpu_threads(0) == wanted ? everything(0) != NULL || everything(4) != NULL : 2;
}

static const struct mode {
	const char *name;
	int (*run)(void);
} modes[] = {
	{"--none", begins_none},
	{"--one", begins_one},
	{"--two-of-three", begins_two_of_three},
	{"--limited", gets_what_it_gets},
	{"--one-cpu", transposes_and_knows_one_cpu},
};

#ifdef _OPENMP
static void again(const char *mode, const char *setting)
{
	const int status = tsw_run_again(mode, setting);

	ck_assert_msg(status == 0, "%s with %s: exit status %d", mode,
		      setting ? setting : "nothing set", status);
}
#endif

START_TEST(what_the_environment_tells_openmp_holds)
{
#ifdef _OPENMP
	again("--none", "OMP_NUM_THREADS=1");
	again("--one", "OMP_NUM_THREADS=2");
	again("--two-of-three", "OMP_NUM_THREADS=1"); /* the call's own wish comes first */
	again("--limited", "OMP_THREAD_LIMIT=2");
	again("--limited", "OMP_DYNAMIC=true");
	again("--limited", "OMP_MAX_ACTIVE_LEVELS=0");
	again("--limited", "OMP_WAIT_POLICY=passive");
	again("--limited", "OMP_PROC_BIND=close");
	again("--limited", "OMP_STACKSIZE=" TEXT(SMALL_STACK) "k");
#else
	tsw_skip("built without OpenMP");
#endif
}
END_TEST

START_TEST(a_program_bound_to_one_cpu)
{
#ifdef _OPENMP
	cpu_set_t all;

	unsetenv("OMP_NUM_THREADS");
	bind_to_one(&all);
	again("--one-cpu", NULL);
#ifndef __clang__ /* whose OpenMP begins threads for every processor of the machine */
	again("--none", NULL);
#endif
	ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
#else
	tsw_skip("built without OpenMP");
#endif
}
END_TEST

/* ---- the caller's own OpenMP -------------------------------------------------------------------
 */

START_TEST(omp_set_num_threads_is_obeyed)
{
#ifdef _OPENMP
	const int had = omp_get_max_threads();

	for (int threads = 1; threads <= 4; threads++) {
		omp_set_num_threads(threads);
		ck_assert_int_eq(tsw_cpu_threads(0), threads);
		ck_assert_int_eq(tsw_cpu_threads(3), 3);
		require_everything(0);
		ck_assert_int_eq(omp_get_max_threads(), threads);
	}
	omp_set_num_threads(had);
#else
	tsw_skip("built without OpenMP");
#endif
}
END_TEST

/* A wish that cannot be granted would end the process. */
START_TEST(no_more_threads_than_are_of_use)
{
#ifdef _OPENMP
	const int had = omp_get_max_threads();
	const long useful = 8 * sysconf(_SC_NPROCESSORS_ONLN);
	const int most = (int)(useful > 64 ? useful : 64);

	omp_set_num_threads(2);
	ck_assert_int_eq(tsw_cpu_threads(64), 64);
	ck_assert_int_eq(tsw_cpu_threads(most), most);
	ck_assert_int_eq(tsw_cpu_threads(most + 1), most);
	ck_assert_int_eq(tsw_cpu_threads(INT_MAX), most);
	omp_set_num_threads(most + 5);
	ck_assert_int_eq(tsw_cpu_threads(INT_MAX), most + 5);
	ck_assert_int_eq(tsw_cpu_threads(0), most + 5);
	omp_set_num_threads(had);
	require_everything(INT_MAX);
#else
	tsw_skip("built without OpenMP");
#endif
}
END_TEST

/* A call leaves every setting of the caller's as it was. */
START_TEST(settings_are_left_alone)
{
#ifdef _OPENMP
	const int threads = omp_get_max_threads(), dynamic = omp_get_dynamic();
	const int levels = omp_get_max_active_levels();
	omp_sched_t schedule, schedule_after;
	int chunk, chunk_after;
	cpu_set_t cpus, cpus_after;

	omp_get_schedule(&schedule, &chunk);
	ck_assert_int_eq(sched_getaffinity(0, sizeof cpus, &cpus), 0);
	require_everything(3);
	require_everything(0);
	omp_get_schedule(&schedule_after, &chunk_after);
	ck_assert_int_eq(sched_getaffinity(0, sizeof cpus_after, &cpus_after), 0);
	ck_assert_int_eq(omp_get_max_threads(), threads);
	ck_assert_int_eq(omp_get_dynamic(), dynamic);
	ck_assert_int_eq(omp_get_max_active_levels(), levels);
	ck_assert(schedule == schedule_after && chunk == chunk_after);
	ck_assert(CPU_EQUAL(&cpus, &cpus_after));
#else
	tsw_skip("built without OpenMP");
#endif
}
END_TEST

#ifdef _OPENMP
static int wrong_calls;

static void call_from_here(int nthreads)
{
	if (everything(nthreads))
		__atomic_fetch_add(&wrong_calls, 1, __ATOMIC_RELAXED);
}

/* Regions in regions, as deep as `levels` allows to be active. */
static void call_from_nested_regions(int levels)
{
	const int had = omp_get_max_active_levels();

	omp_set_max_active_levels(levels);
#pragma omp parallel num_threads(2)
	{
#pragma omp parallel num_threads(2)
		call_from_here(omp_get_thread_num());
#pragma omp single
		call_from_here(3);
	}
	omp_set_max_active_levels(had);
}
#endif

START_TEST(nested_regions)
{
#ifdef _OPENMP
	wrong_calls = 0;
	for (int levels = 1; levels <= 3; levels++)
		call_from_nested_regions(levels);
	ck_assert_int_eq(wrong_calls, 0);
#else
	tsw_skip("built without OpenMP");
#endif
}
END_TEST

START_TEST(tasks_and_sections)
{
#ifdef _OPENMP
	wrong_calls = 0;
#pragma omp parallel num_threads(2)
	{
#pragma omp single
		for (int t = 0; t < 4; t++) {
#pragma omp task firstprivate(t)
			call_from_here(t);
		}
#pragma omp sections
		{
#pragma omp section
			call_from_here(0);
#pragma omp section
			call_from_here(2);
		}
	}
	ck_assert_int_eq(wrong_calls, 0);
#else
	tsw_skip("built without OpenMP");
#endif
}
END_TEST

/* ---- fork -------------------------------------------------------------------------------------
 */

static void *call_in_child(void *argument)
{
	int *status = argument;

	*status = everything(4) ? 4 : 0;
	return NULL;
}

/* In a child: its first thread, a thread of its own, a child of its own. */
static int in_child(int generations)
{
	pthread_t thread;
	int status = 5;
	pid_t child;

	if (tsw_cpu_threads(4) != 1 || tsw_cpu_threads(0) != 1)
		return 2;
	if (everything(0) || everything(3))
		return 3;
	if (pthread_create(&thread, NULL, call_in_child, &status) || pthread_join(thread, NULL) ||
	    status)
		return status;
	if (!generations)
		return 0;
	child = fork();
	if (child == 0)
		_exit(in_child(generations - 1));
	return waitpid(child, &status, 0) == child && status == 0 ? 0 : 6;
}

static void *fork_here(void *argument)
{
	int *status = argument;
	pid_t child = fork();

	if (child == 0) {
		alarm(200); /* a hang ends as a signal */
		_exit(in_child(1));
	}
	if (waitpid(child, status, 0) != child)
		*status = -1;
	return NULL;
}

/* The parent has been in parallel regions, whose threads the child lacks. */
START_TEST(children_and_grandchildren)
{
	pthread_t thread;
	int status = -1;

	require_everything(3);
	fflush(NULL);
	fork_here(&status);
	ck_assert_msg(status == 0, "a child of the first thread: status %#x", status);
	ck_assert_int_eq(pthread_create(&thread, NULL, fork_here, &status), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_msg(status == 0, "a child of another thread: status %#x", status);
	require_everything(3);
}
END_TEST

/* ---- memory -----------------------------------------------------------------------------------
 */

/* The walk goes on without its buffer. */
START_TEST(no_memory_for_the_buffer)
{
	const char *wrong = NULL;
	unsigned long before = asked;

	refuse_memory = 1;
	for (size_t w = 0; w < COUNT_OF(widths) && !wrong; w++)
		for (int nthreads = 1; nthreads <= 3 && !wrong; nthreads++)
			if (widths[w] <= 16)
				wrong = walk_planned((struct tsw_shape){900, 901, widths[w]},
						     tsw_cpu_isa(), TSW_STAGED, nthreads);
	refuse_memory = 0;
	ck_assert_msg(!wrong, "%s", wrong);
	ck_assert_uint_gt(asked, before);
}
END_TEST

START_TEST(a_buffer_only_where_rows_are_staged)
{
	unsigned long before = asked;

	tsw_assert_ok(tsw_transpose_host(NULL, 0, 0, 8, 0));
	for (size_t w = 0; w < COUNT_OF(widths); w++)
		for (int order = TSW_ROWS; order <= TSW_DIAGONALS; order++)
			ck_assert_ptr_null(walk_planned((struct tsw_shape){300, 301, widths[w]},
							tsw_cpu_isa(), (enum tsw_order)order, 2));
	ck_assert_ptr_null(imatcopy_and_checksum(2));
	ck_assert_uint_eq(asked, before);
	ck_assert_ptr_null(
		walk_planned((struct tsw_shape){300, 301, 8}, tsw_cpu_isa(), TSW_STAGED, 1));
	ck_assert_uint_eq(asked, before + 1);
}
END_TEST

static Suite *callers_suite(void)
{
	Suite *suite = suite_create("callers");
	TCase *tc = tcase_create("callers");

	tcase_add_test(tc, threads_with_small_stacks);
	tcase_add_test(tc, bound_to_one_cpu_after_the_start);
	tcase_add_test(tc, what_the_environment_tells_openmp_holds);
	tcase_add_test(tc, a_program_bound_to_one_cpu);
	tcase_add_test(tc, omp_set_num_threads_is_obeyed);
	tcase_add_test(tc, no_more_threads_than_are_of_use);
	tcase_add_test(tc, settings_are_left_alone);
	tcase_add_test(tc, nested_regions);
	tcase_add_test(tc, tasks_and_sections);
	tcase_add_test(tc, children_and_grandchildren);
	tcase_add_test(tc, no_memory_for_the_buffer);
	tcase_add_test(tc, a_buffer_only_where_rows_are_staged);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(int argc, char **argv)
{
	static tsw_suite *const suites[] = {callers_suite};

	tsw_pattern((size_t)16 << 20); /* threads that want it later find it made */
	for (size_t i = 0; argc == 2 && i < COUNT_OF(modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run();
	return tsw_test_main(TSW_SAME_PROCESS, suites, COUNT_OF(suites));
}
