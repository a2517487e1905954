/* What goes wrong between ranks, on demand.  The library's calls of MPI come by here first. */
#ifndef TSW_MPI_FAULTS_H
#define TSW_MPI_FAULTS_H

#include <stdint.h>

struct faults {
	unsigned most_delay_us; /* every call that sends, receives or waits first sleeps up to that
				 */
	int failing_wait;	/* the number of the MPI_Waitall that reports an error; 0: none */
	int failing_memory;	/* non-zero: aligned_alloc returns NULL */
	int waits;		/* calls of MPI_Waitall so far */
	uint64_t random;
};

extern struct faults faults;

#endif /* TSW_MPI_FAULTS_H */
