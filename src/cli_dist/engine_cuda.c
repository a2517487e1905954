/* GPU memory and NCCL: a GPU for each rank of a host, dealt round where there are fewer. */
#if TSW_HAVE_NCCL && TSW_HAVE_CUDA

#include "job.h"

#include "../cuda/runtime.h"
#include "../nccl/agree.h"
#include "../status.h"

#include <stdlib.h>

#define BAND_BYTES ((size_t)64 << 20)

/* What a rank has beside the job. */
static struct {
	ncclComm_t comm;
	cudaStream_t stream;
	void *band; /* some rows on the host, on their way */
	size_t band_rows;
} gpu;

/* This rank's number among those of its host. */
static int local_rank(MPI_Comm comm)
{
	MPI_Comm host;
	int rank;

	MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
	MPI_Comm_rank(host, &rank);
	MPI_Comm_free(&host);
	return rank;
}

static tsw_status choose_device(MPI_Comm comm)
{
	const int number = local_rank(comm);
	int count;

	TRY(tsw_cuda_usable());
	TRY_CUDA(cudaGetDeviceCount(&count));
	TRY_CUDA(cudaSetDevice(number % count));
	return TSW_OK;
}

static tsw_status take_memory(struct dist_job *j)
{
	const size_t row = j->ld * j->o->elem_size;

	TRY_CUDA(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking));
	if (cudaMalloc(&j->a, j->nbytes ? j->nbytes : 1) != cudaSuccess)
		return tsw_fail(TSW_ERR_NO_MEMORY,
				"no %zu bytes of device memory for the local matrix", j->nbytes);
	gpu.band_rows = row && BAND_BYTES / row ? BAND_BYTES / row : 1;
	gpu.band = malloc(row ? gpu.band_rows * row : 1);
	if (!gpu.band)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no memory for %zu rows of %zu bytes",
				gpu.band_rows, row);
	return TSW_OK;
}

/* All ranks come here, whatever became of the others: the identifier is sent in any case, and a
 * communicator is made if all are well. */
static tsw_status open_comm(struct dist_job *j, tsw_status mine)
{
	ncclUniqueId id = {{0}};
	int well = mine == TSW_OK, all;

	if (j->rank == 0 && well)
		well = ncclGetUniqueId(&id) == ncclSuccess;
	MPI_Allreduce(&well, &all, 1, MPI_INT, MPI_MIN, j->comm);
	MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, j->comm);
	TRY(mine);
	if (!all)
		return tsw_fail(TSW_ERR_COMM, "another rank has no GPU, or NCCL does not start");
	return tsw_nccl_check(ncclCommInitRank(&gpu.comm, j->ranks, id, j->rank), NULL,
			      "ncclCommInitRank");
}

static tsw_status open_device(struct dist_job *j)
{
	tsw_status status = choose_device(j->comm);

	if (status == TSW_OK && j->o->relabel)
		status = tsw_fail(TSW_ERR_UNSUPPORTED, "--relabel is for --device cpu");
	if (status == TSW_OK)
		status = take_memory(j);
	return open_comm(j, status);
}

static size_t rows_from(const struct dist_job *j, size_t first)
{
	return j->rows - first < gpu.band_rows ? j->rows - first : gpu.band_rows;
}

static char *row_at(const struct dist_job *j, size_t row)
{
	return (char *)j->a + row * j->ld * j->o->elem_size;
}

static tsw_status fill_device(struct dist_job *j)
{
	for (size_t first = 0, rows; first < j->rows; first += rows) {
		rows = rows_from(j, first);
		dist_fill_rows(j, gpu.band, first, rows);
		TRY_CUDA(cudaMemcpy(row_at(j, first), gpu.band, rows * j->ld * j->o->elem_size,
				    cudaMemcpyHostToDevice));
	}
	return TSW_OK;
}

static tsw_status transpose_device(struct dist_job *j)
{
	TRY(tsw_nccl_transpose(j->a, j->ld, j->o->elem_size, &j->o->dist, j->o->stage_bytes,
			       gpu.comm, gpu.stream));
	TRY_CUDA(cudaStreamSynchronize(gpu.stream));
	return TSW_OK;
}

static tsw_status check_device(struct dist_job *j, struct dist_wrong *wrong)
{
	for (size_t first = 0, rows; first < j->rows; first += rows) {
		rows = rows_from(j, first);
		TRY_CUDA(cudaMemcpy(gpu.band, row_at(j, first), rows * j->ld * j->o->elem_size,
				    cudaMemcpyDeviceToHost));
		dist_check_rows(j, gpu.band, first, rows, wrong);
	}
	return TSW_OK;
}

static void close_device(struct dist_job *j)
{
	if (gpu.comm)
		ncclCommDestroy(gpu.comm);
	if (gpu.stream)
		cudaStreamDestroy(gpu.stream);
	cudaFree(j->a);
	free(gpu.band);
}

const struct dist_engine dist_engine_cuda = {"cuda",	       open_device,  fill_device,
					     transpose_device, check_device, close_device};

#else

/* ISO C wants something in every unit. */
typedef int dist_no_cuda;

#endif
