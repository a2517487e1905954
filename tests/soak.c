/* Many threads that call the library with all kinds of matrices for a long time, in laps: a lap
 * ends with all threads gone, and then memory, files and threads of the process must be what they
 * were after the first ones.  Every result is compared with the oracle's, and digests with each
 * other.
 *
 *     soak [--seconds S] [--threads T] [--bytes B] [--seed X] [--device]
 *
 * --device: the matrices lie on the current GPU, each thread keeps several streams busy.  The last
 * line is "N passed, N failed, N skipped". */
#include "soak/device.h"
#include "support.h"
#include "tileswap.h"
#include "trial.h"

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LAPS 12
#define WARM_LAPS (wanted.device ? 4u : 1u) /* until drivers and allocators have what they keep */
#define LANES 4 /* streams of a thread; on the host one call at a time */
#define MOST_THREADS 256

static struct {
	double seconds;
	size_t bytes; /* of a lane's matrices, at most */
	unsigned threads;
	int device;
} wanted = {.seconds = 600, .bytes = 3 << 20};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one call after the other ---------------------------------------------------------------- */

struct lane {
	struct tsw_trial trial;
	const unsigned char *before; /* of tsw_pattern() */
	unsigned char *a, *expected;
	struct soak_stream *stream;
	tsw_status status;
};

struct worker {
	pthread_t thread;
	struct lane lane[LANES];
	unsigned lanes;
	uint64_t state, calls, wrong;
	double bytes, until;
};

static void say_wrong(struct worker *w, const struct tsw_trial *t, const char *what)
{
	if (w->wrong++ < 3) {
		printf("WRONG: %s: %s\n", tsw_trial_text(t), what);
		fflush(stdout);
	}
}

static void begin(struct worker *w, struct lane *l)
{
	const size_t start = (size_t)tsw_random_below(&w->state, 4096) * 8;
	size_t bytes;

	l->trial = tsw_trial_random(&w->state, wanted.bytes, wanted.device ? 8 : 1);
	bytes = tsw_trial_bytes(&l->trial);
	l->before = tsw_pattern(0) + start;
	memcpy(l->a, l->before, bytes);
	l->status = l->stream ? soak_stream_begin(l->stream, &l->trial, l->a, bytes)
			      : tsw_trial_run(&l->trial, l->a);
}

/* Of the first matrix, taken where it lies, and of what stood there, taken the other way. */
static void compare_digests(struct worker *w, const struct lane *l)
{
	const struct tsw_trial *t = &l->trial;
	const struct tsw_shape s = t->shape;
	tsw_digest found, due;
	tsw_status status;

	if (tsw_trial_is_imatcopy(t) || !t->count)
		return;
	status = l->stream
			 ? soak_stream_checksum(l->stream, s, &found)
			 : tsw_checksum_host(l->a, s.n, s.ld, s.elem_size, 1, &found, t->nthreads);
	if (status != TSW_OK)
		say_wrong(w, t, tsw_last_error());
	else if (tsw_checksum_host(l->before, s.n, s.ld, s.elem_size, 0, &due, 1) != TSW_OK)
		say_wrong(w, t, tsw_last_error());
	else if (found.placed != due.placed || found.values != due.values)
		say_wrong(w, t, "the digests differ");
}

static void end(struct worker *w, struct lane *l)
{
	const struct tsw_trial *t = &l->trial;
	const size_t bytes = tsw_trial_bytes(t);
	const char *wrong = NULL;

	if (l->status == TSW_OK && l->stream)
		l->status = soak_stream_end(l->stream, l->a, bytes);
	memcpy(l->expected, l->before, bytes);
	tsw_trial_expect(t, l->before, l->expected);
	if (l->status != TSW_OK)
		wrong = tsw_strerror(l->status);
	else
		wrong = tsw_trial_wrong(t, l->a, l->expected);
	if (wrong)
		say_wrong(w, t, wrong);
	else
		compare_digests(w, l);
	w->calls++;
	w->bytes += 2.0 * (double)bytes;
}

static void *work(void *argument)
{
	struct worker *w = argument;

	while (now() < w->until) {
		for (unsigned i = 0; i < w->lanes; i++)
			begin(w, &w->lane[i]);
		for (unsigned i = 0; i < w->lanes; i++)
			end(w, &w->lane[i]);
	}
	return NULL;
}

static int workers_new(struct worker *all)
{
	for (unsigned i = 0; i < wanted.threads; i++) {
		struct worker *w = &all[i];

		w->state = tsw_seed() + i;
		w->lanes = wanted.device ? LANES : 1;
		for (unsigned k = 0; k < w->lanes; k++) {
			struct lane *l = &w->lane[k];

			l->a = malloc(wanted.bytes);
			l->expected = malloc(wanted.bytes);
			if (wanted.device)
				l->stream = soak_stream_new(wanted.bytes);
			if (!l->a || !l->expected || (wanted.device && !l->stream))
				return -1;
			/* All of it is resident from now on. */
			memset(l->a, 1, wanted.bytes);
			memset(l->expected, 1, wanted.bytes);
		}
	}
	return 0;
}

static void workers_free(struct worker *all)
{
	for (unsigned i = 0; i < wanted.threads; i++)
		for (unsigned k = 0; k < all[i].lanes; k++) {
			soak_stream_free(all[i].lane[k].stream);
			free(all[i].lane[k].a);
			free(all[i].lane[k].expected);
		}
}

/* ---- what a process has ---------------------------------------------------------------------- */

struct state {
	size_t heap_bytes, resident_bytes, device_bytes;
	unsigned files, threads;
};

static size_t status_number(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[200];
	size_t value = 0;

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, key, strlen(key)))
			value = strtoull(line + strlen(key), NULL, 10);
	if (f)
		fclose(f);
	return value;
}

static unsigned open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned count = 0;

	while (d && readdir(d))
		count++;
	if (d)
		closedir(d);
	return count;
}

/* Between laps, when nothing is under way. */
static struct state state_now(void)
{
	struct state s;

	usleep(100000); /* threads that have been joined still leave the kernel */
	malloc_trim(0);
	s.heap_bytes = mallinfo2().uordblks;
	s.resident_bytes = status_number("VmRSS:") << 10;
	s.threads = (unsigned)status_number("Threads:");
	s.files = open_files();
	s.device_bytes = wanted.device ? soak_device_used() : 0;
	return s;
}

/* ---- laps ------------------------------------------------------------------------------------ */

struct total {
	uint64_t calls, wrong;
	double bytes;
};

static int lap(struct worker *all, double seconds)
{
	const double until = now() + seconds;

	for (unsigned i = 0; i < wanted.threads; i++) {
		all[i].until = until;
		if (pthread_create(&all[i].thread, NULL, work, &all[i]))
			return -1;
	}
	for (unsigned i = 0; i < wanted.threads; i++)
		pthread_join(all[i].thread, NULL);
	return 0;
}

static struct total total_of(const struct worker *all)
{
	struct total t = {0, 0, 0};

	for (unsigned i = 0; i < wanted.threads; i++) {
		t.calls += all[i].calls;
		t.wrong += all[i].wrong;
		t.bytes += all[i].bytes;
	}
	return t;
}

static void report(unsigned number, struct total t, struct state s)
{
	printf("lap %2u: %ju calls, %.1f GB moved, %ju wrong; heap %zu KiB, resident %zu KiB, "
	       "device %zu KiB, %u files, %u threads\n",
	       number, (uintmax_t)t.calls, t.bytes / 1e9, (uintmax_t)t.wrong, s.heap_bytes >> 10,
	       s.resident_bytes >> 10, s.device_bytes >> 10, s.files, s.threads);
	fflush(stdout);
}

static unsigned passed, failed;

static void judge(int good, const char *what)
{
	printf("%s: %s\n", good ? "ok" : "FAILED", what);
	passed += good != 0;
	failed += !good;
}

static void judge_flat(const char *what, size_t first, size_t last, size_t slack)
{
	const int flat = last <= first + slack;

	judge(flat, what);
	if (!flat)
		printf("  %zu bytes, then %zu; %zu more are allowed\n", first, last, slack);
}

/* A leak of a few bytes a call shows in the heap; what the allocator and the driver keep at hand
 * may vary a little. */
static void judge_state(struct state first, struct state last)
{
	const int device = wanted.device;

	judge_flat("the heap is flat", first.heap_bytes, last.heap_bytes,
		   device ? 1 << 20 : 64 << 10);
	judge_flat("resident memory is flat", first.resident_bytes, last.resident_bytes,
		   device ? 16 << 20 : 4 << 20);
	judge(last.files == first.files, "no file is left open");
	judge(last.threads <= first.threads, "no thread is left");
	if (device)
		judge_flat("device memory is flat", first.device_bytes, last.device_bytes, 2 << 20);
}

static int run(struct worker *all)
{
	struct state first = {0}, last = {0};

	for (unsigned i = 0; i < LAPS; i++) {
		if (lap(all, wanted.seconds / LAPS)) {
			printf("no thread could be started\n");
			return -1;
		}
		last = state_now();
		if (i + 1 == WARM_LAPS)
			first = last;
		report(i, total_of(all), last);
	}
	judge(total_of(all).calls > 0 && total_of(all).wrong == 0, "nothing was wrong");
	judge_state(first, last);
	return 0;
}

/* ---- options --------------------------------------------------------------------------------- */

static int take(const char *name, const char *value)
{
	if (!strcmp(name, "--seconds"))
		wanted.seconds = atof(value);
	else if (!strcmp(name, "--threads"))
		wanted.threads = (unsigned)atoi(value);
	else if (!strcmp(name, "--bytes"))
		wanted.bytes = strtoull(value, NULL, 0);
	else if (!strcmp(name, "--seed"))
		setenv("TSW_SEED", value, 1);
	else
		return -1;
	return 0;
}

static int take_all(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--device"))
			wanted.device = 1;
		else if (i + 1 == argc || take(argv[i], argv[i + 1]))
			return -1;
		else
			i++;
	}
	if (!wanted.threads)
		wanted.threads = 4 * (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	return wanted.threads > MOST_THREADS || wanted.bytes < 4096 || !(wanted.seconds > 0) ? -1
											     : 0;
}

int main(int argc, char **argv)
{
	static struct worker workers[MOST_THREADS];

	if (take_all(argc, argv)) {
		fprintf(stderr, "usage: soak [--seconds S] [--threads T] [--bytes B] [--seed X] "
				"[--device]\n");
		return 2;
	}
	tsw_choose_seed();
	/* A kernel that is loaded when it is first called would look like a leak. */
	setenv("CUDA_MODULE_LOADING", "EAGER", 0);
	if (wanted.device && tsw_cuda_status() != TSW_OK) {
		const int needed = tsw_gpu_required();

		printf("skipped: --device: %s\n0 passed, %d failed, %d skipped\n", tsw_last_error(),
		       needed, !needed);
		return needed;
	}
	tsw_pattern(wanted.bytes + 8 * 4096); /* made before there are threads */
	printf("%u threads, matrices of up to %zu KiB, %s, %.0f s\n", wanted.threads,
	       wanted.bytes >> 10, wanted.device ? "on a GPU" : "on the host", wanted.seconds);
	if (workers_new(workers) || run(workers))
		judge(0, "there is memory for it");
	workers_free(workers);
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
