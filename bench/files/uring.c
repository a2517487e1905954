/* The floor of floor.c once more, past the page cache, by a pool of threads with pread and pwrite
 * or through io_uring: does the library want a second way?  (docs/FILES.md: no.)
 *
 *     cc -O2 -D_GNU_SOURCE -o uring bench/files/uring.c -luring -lpthread
 *     uring FILE BYTES RUN pool|uring IN_FLIGHT [deferred]
 *
 * Half of what is in flight are reads, half are writes.  The ring has registered buffers and a
 * registered file; deferred: its completions are worked on only when they are waited for.  Prints
 * one JSON object. */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MOST 256

static struct {
	int fd, deferred;
	unsigned in_flight;
	uint64_t runs, rows, pitch, next[2];
	size_t run;
	unsigned char *memory; /* a run for each in flight */
} job;

static void fail(const char *what, int error)
{
	fprintf(stderr, "uring: %s: %s\n", what, strerror(error));
	exit(1);
}

/* The place of the next run to be read (0) or written (1), half the file behind; 0: there is none.
 */
static int next_run(int writes, uint64_t *at)
{
	uint64_t i = __atomic_fetch_add(&job.next[writes], 1, __ATOMIC_RELAXED);

	if (i >= job.runs)
		return 0;
	i = (i + (writes ? job.runs / 2 : 0)) % job.runs;
	*at = i % job.rows * job.pitch + i / job.rows * job.run;
	return 1;
}

/* ---- a pool ---------------------------------------------------------------------------------- */

static void *mover(void *arg)
{
	const unsigned number = (unsigned)(uintptr_t)arg;
	const int writes = number % 2;
	unsigned char *buffer = job.memory + number * job.run;
	uint64_t at;

	while (next_run(writes, &at)) {
		ssize_t moved;

		memcpy(buffer, &at, sizeof at);
		moved = writes ? pwrite(job.fd, buffer, job.run, (off_t)at)
			       : pread(job.fd, buffer, job.run, (off_t)at);
		if (moved != (ssize_t)job.run)
			fail("pool", moved < 0 ? errno : EIO);
	}
	return NULL;
}

static void by_pool(void)
{
	pthread_t thread[MOST];

	for (unsigned i = 0; i < job.in_flight; i++)
		pthread_create(&thread[i], NULL, mover, (void *)(uintptr_t)i);
	for (unsigned i = 0; i < job.in_flight; i++)
		pthread_join(thread[i], NULL);
}

/* ---- a ring ---------------------------------------------------------------------------------- */

static void open_ring(struct io_uring *ring)
{
	struct io_uring_params p = {.flags = job.deferred ? IORING_SETUP_SINGLE_ISSUER |
								    IORING_SETUP_DEFER_TASKRUN
							  : 0};
	struct iovec buffer[MOST];
	int error = io_uring_queue_init_params(2 * job.in_flight, ring, &p);

	for (unsigned i = 0; i < job.in_flight; i++)
		buffer[i] = (struct iovec){job.memory + i * job.run, job.run};
	if (!error)
		error = io_uring_register_buffers(ring, buffer, job.in_flight);
	if (!error)
		error = io_uring_register_files(ring, &job.fd, 1);
	if (error)
		fail("set up", -error);
}

/* Number i's next run; 0: there is none. */
static unsigned submit(struct io_uring *ring, unsigned i)
{
	unsigned char *buffer = job.memory + i * job.run;
	struct io_uring_sqe *e;
	uint64_t at;

	if (!next_run(i % 2, &at))
		return 0;
	memcpy(buffer, &at, sizeof at);
	e = io_uring_get_sqe(ring);
	if (i % 2)
		io_uring_prep_write_fixed(e, 0, buffer, (unsigned)job.run, at, (int)i);
	else
		io_uring_prep_read_fixed(e, 0, buffer, (unsigned)job.run, at, (int)i);
	e->flags |= IOSQE_FIXED_FILE;
	e->user_data = i;
	return 1;
}

static void by_ring(void)
{
	unsigned flying = 0, head, seen, begun;
	struct io_uring_cqe *c;
	struct io_uring ring;

	open_ring(&ring);
	for (unsigned i = 0; i < job.in_flight; i++)
		flying += submit(&ring, i);
	while (flying) {
		const int error = io_uring_submit_and_wait(&ring, 1);

		if (error < 0)
			fail("submit", -error);
		seen = begun = 0;
		io_uring_for_each_cqe(&ring, head, c)
		{
			if (c->res != (int)job.run)
				fail("ring", c->res < 0 ? -c->res : EIO);
			begun += submit(&ring, (unsigned)c->user_data);
			seen++;
		}
		io_uring_cq_advance(&ring, seen);
		flying += begun - seen;
	}
	io_uring_queue_exit(&ring);
}

/* ---------------------------------------------------------------------------------------------- */

/* Rows as long as those of a square matrix of doubles, and no shorter than four runs. */
static void lay_out(uint64_t bytes)
{
	uint64_t n = 1;

	while (n * n * 8 < bytes)
		n++;
	job.pitch = n * 8 / job.run * job.run;
	if (job.pitch < 4 * job.run)
		job.pitch = 4 * job.run;
	job.rows = bytes / job.pitch;
	job.runs = job.rows * (job.pitch / job.run);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

int main(int argc, char **argv)
{
	struct rusage used;
	double begun;

	if (argc < 6)
		return 2;
	job.run = (size_t)strtoull(argv[3], NULL, 0);
	job.in_flight = (unsigned)strtoul(argv[5], NULL, 0);
	job.deferred = argc > 6 && !strcmp(argv[6], "deferred");
	job.fd = open(argv[1], O_RDWR | O_DIRECT);
	if (job.fd < 0 || job.in_flight < 2 || job.in_flight > MOST || !job.run)
		return 2;
	if (posix_memalign((void **)&job.memory, 4096, job.in_flight * job.run))
		return 1;
	memset(job.memory, 1, job.in_flight * job.run);
	lay_out(strtoull(argv[2], NULL, 0));
	begun = now();
	if (!strcmp(argv[4], "uring"))
		by_ring();
	else
		by_pool();
	if (fsync(job.fd))
		fail("fsync", errno);
	begun = now() - begun;
	getrusage(RUSAGE_SELF, &used);
	printf("{\"what\": \"%s\", \"run_bytes\": %zu, \"in_flight\": %u, \"seconds\": %.3f, "
	       "\"user_s\": %.2f, \"system_s\": %.2f}\n",
	       argv[4], job.run, job.in_flight, begun, seconds(used.ru_utime),
	       seconds(used.ru_stime));
	return 0;
}
