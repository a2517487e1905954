/* How many threads a call may use. */
#include "cpu.h"

#include <pthread.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* OpenMP run times keep their threads in a pool; fork() copies the book-keeping of the pool but not
 * the threads, and the child's next parallel region waits for them for ever.  So the child is told
 * that it is one, by the only hook that runs there. */
static int forked;

static void in_child(void)
{
	forked = 1;
}

__attribute__((constructor)) static void watch_forks(void)
{
	/* A failure (no memory at start) leaves `forked` clear, as without this file. */
	(void)pthread_atfork(NULL, NULL, in_child);
}

#ifdef _OPENMP
/* Run times of OpenMP end the process where they cannot begin a thread, in the middle of a matrix:
 * no wish is granted that no machine like this one has a use for. */
#define ALWAYS_GRANTED 64
#define A_PROCESSOR 8

static int granted(int nthreads)
{
	long most = ALWAYS_GRANTED, useful;

	if (nthreads <= most)
		return nthreads;
	useful = A_PROCESSOR * sysconf(_SC_NPROCESSORS_ONLN);
	most = useful > most ? useful : most;
	most = omp_get_max_threads() > most ? omp_get_max_threads() : most;
	return nthreads < most ? nthreads : (int)most;
}
#endif

int tsw_cpu_threads(int nthreads)
{
	if (forked)
		return 1;
#ifdef _OPENMP
	return nthreads > 0 ? granted(nthreads) : omp_get_max_threads();
#else
	(void)nthreads;
	return 1;
#endif
}
