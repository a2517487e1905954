/* The floor under a transpose in place: the same disk moving V bytes of reads and V bytes of writes,
 * mixed half and half, in runs of the same length, from and to one file, the final fsync included.
 *
 *     floor FILE BYTES RUN THREADS [direct]
 *
 * direct: past the page cache, for which RUN is whole pages.  Prints the seconds.  The runs stand in the order of tiles: RUN bytes of many rows, one below the
 * other, then the next column of tiles. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
	int fd, direct;
	uint64_t runs, rows, pitch, next[2];
	size_t run;
} job;

/* Run number i lies in row i % rows, column i / rows. */
static uint64_t place(uint64_t i)
{
	return i % job.rows * job.pitch + i / job.rows * job.run;
}

static void *mover(void *arg)
{
	const int writes = arg != NULL;
	void *buffer;
	ssize_t moved;
	uint64_t i;

	if (posix_memalign(&buffer, 4096, job.run))
		exit(1);
	memset(buffer, 1, job.run);
	while ((i = __atomic_fetch_add(&job.next[writes], 1, __ATOMIC_RELAXED)) < job.runs) {
		/* What is written was read a while ago: half the file away. */
		const uint64_t at = place(writes ? (i + job.runs / 2) % job.runs : i);
		/* No two runs alike: a matrix of one value would need no transposing. */
		memcpy(buffer, &at, sizeof at);
		moved = writes ? pwrite(job.fd, buffer, job.run, (off_t)at)
		               : pread(job.fd, buffer, job.run, (off_t)at);

		if (moved != (ssize_t)job.run) {
			perror("floor");
			exit(1);
		}
		if (writes && !job.direct)
			sync_file_range(job.fd, (off_t)at, (off_t)job.run, SYNC_FILE_RANGE_WRITE);
	}
	free(buffer);
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	pthread_t thread[256];
	int threads;
	uint64_t bytes;
	double begun;

	if (argc < 5)
		return 2;
	bytes = strtoull(argv[2], NULL, 0);
	job.run = (size_t)strtoull(argv[3], NULL, 0);
	threads = atoi(argv[4]);
	job.direct = argc > 5 && !strcmp(argv[5], "direct");
	job.fd = open(argv[1], O_RDWR | (job.direct ? O_DIRECT : 0));
	job.pitch = 1;
	while (job.pitch * job.pitch * 8 < bytes)
		job.pitch++;
	job.pitch = job.pitch * 8 / job.run * job.run;
	job.rows = bytes / job.pitch;
	job.runs = job.rows * (job.pitch / job.run);
	if (job.fd < 0 || threads < 2 || threads > 256)
		return 2;
	posix_fadvise(job.fd, 0, 0, POSIX_FADV_RANDOM);
	begun = now();
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, mover, i % 2 ? &job : NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	if (fsync(job.fd))
		perror("fsync");
	printf("%.3f\n", now() - begun);
	return 0;
}
