/* Linked into tileswap-dist in the place of the real call: one element of one rank ends up wrong.
 */
#include "tileswap_mpi.h"

tsw_status __real_tsw_mpi_transpose(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
				    size_t stage_bytes, int nthreads, MPI_Comm comm);
tsw_status __wrap_tsw_mpi_transpose(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
				    size_t stage_bytes, int nthreads, MPI_Comm comm);

tsw_status __wrap_tsw_mpi_transpose(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
				    size_t stage_bytes, int nthreads, MPI_Comm comm)
{
	tsw_status status =
		__real_tsw_mpi_transpose(a, ld, elem_size, dist, stage_bytes, nthreads, comm);
	int rank;

	MPI_Comm_rank(comm, &rank);
	if (rank == 0)
		((unsigned char *)a)[3 * ld * elem_size + elem_size - 1] ^= 1;
	return status;
}
