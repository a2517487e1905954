/* MPI's profiling interface: MPI_X is defined here, PMPI_X is the real one. */
#include "faults.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

struct faults faults;

static void dawdle(void)
{
	if (!faults.most_delay_us)
		return;
	faults.random = faults.random * 6364136223846793005u + 1442695040888963407u;
	usleep((unsigned)(faults.random >> 33) % faults.most_delay_us);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	dawdle();
	return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	dawdle();
	return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
	int error;

	dawdle();
	error = PMPI_Waitall(count, requests, statuses);
	return ++faults.waits == faults.failing_wait ? MPI_ERR_OTHER : error;
}

void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return faults.failing_memory ? NULL : __real_aligned_alloc(alignment, bytes);
}
