/* GPU memory and NCCL: a GPU of its own for each rank of a host, as NCCL wants it. */
#if TSW_HAVE_NCCL && TSW_HAVE_CUDA

#include "job.h"

#include "../cuda/runtime.h"
#include "../nccl/agree.h"
#include "../status.h"

#include <stdlib.h>
#include <string.h>

#define BAND_BYTES ((size_t)64 << 20)
#define DEFAULT_STAGE ((size_t)256 << 20)

/* What a rank has beside the job. */
static struct {
	ncclComm_t comm;
	cudaStream_t stream;
	void *band; /* some rows on the host, on their way */
	size_t band_rows;
	void *staging,
		*known; /* which NCCL gave, and its word for that the communicator knows it */
	size_t stage_bytes;
} gpu;

/* By their numbers on the host, dealt round where a rank sees fewer; a batch system may show each
 * rank another one. */
static tsw_status choose_device(int number, cudaUUID_t *id)
{
	struct cudaDeviceProp props;
	int count;

	TRY(tsw_cuda_usable());
	TRY_CUDA(cudaGetDeviceCount(&count));
	TRY_CUDA(cudaSetDevice(number % count));
	TRY_CUDA(cudaGetDeviceProperties(&props, number % count));
	*id = props.uuid;
	return TSW_OK;
}

/* Of ranks that share a GPU NCCL turns down those, and leaves the others waiting.  Zeros are no
 * GPU. */
static tsw_status check_alone(MPI_Comm host, int number, const cudaUUID_t *mine)
{
	const cudaUUID_t none = {{0}};
	int ranks, shares = -1;

	MPI_Comm_size(host, &ranks);
	for (int r = 0; r < ranks; r++) {
		cudaUUID_t other = *mine;

		MPI_Bcast(&other, sizeof other, MPI_BYTE, r, host);
		if (r != number && !memcmp(&other, mine, sizeof other) &&
		    memcmp(mine, &none, sizeof none))
			shares = r;
	}
	if (shares < 0)
		return TSW_OK;
	return tsw_fail(
		TSW_ERR_OPTION,
		"ranks %d and %d of a host have one GPU between them, and NCCL wants one for each",
		number, shares);
}

static tsw_status take_device(MPI_Comm comm)
{
	cudaUUID_t id = {{0}};
	tsw_status status, alone;
	MPI_Comm host;
	int number;

	MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
	MPI_Comm_rank(host, &number);
	status = choose_device(number, &id);
	alone = check_alone(host, number, &id);
	MPI_Comm_free(&host);
	return status == TSW_OK ? alone : status;
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

/* Staging that NCCL sends from and receives into without a copy of its own. */
static tsw_status take_staging(const struct dist_job *j)
{
	gpu.stage_bytes = j->o->stage_bytes ? j->o->stage_bytes : DEFAULT_STAGE;
	TRY_NCCL(gpu.comm, ncclMemAlloc(&gpu.staging, gpu.stage_bytes));
	TRY_NCCL(gpu.comm, ncclCommRegister(gpu.comm, gpu.staging, gpu.stage_bytes, &gpu.known));
	return TSW_OK;
}

static tsw_status open_device(struct dist_job *j)
{
	tsw_status status = take_device(j->comm);

	if (status == TSW_OK && j->o->relabel)
		status = tsw_fail(TSW_ERR_UNSUPPORTED, "--relabel is for --device cpu");
	if (status == TSW_OK)
		status = take_memory(j);
	TRY(open_comm(j, status));
	return take_staging(j);
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
	TRY(tsw_nccl_transpose_staged(j->a, j->ld, j->o->elem_size, &j->o->dist, gpu.staging,
				      gpu.stage_bytes, gpu.comm, gpu.stream));
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
	if (gpu.known)
		ncclCommDeregister(gpu.comm, gpu.known);
	if (gpu.staging)
		ncclMemFree(gpu.staging);
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
