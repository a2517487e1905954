/* Host memory and MPI. */
#include "job.h"

#include "../status.h"
#include "../tileswap_mpi.h"

#include <stdlib.h>

static tsw_status open_host(struct dist_job *j)
{
	j->a = malloc(j->nbytes ? j->nbytes : 1);
	if (!j->a)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no %zu bytes of memory for the local matrix",
				j->nbytes);
	return TSW_OK;
}

static tsw_status fill_host(struct dist_job *j)
{
	dist_fill_rows(j, j->a, 0, j->rows);
	return TSW_OK;
}

/* A square grid's ranks are numbered anew: what a rank then holds is another rank's part. */
static tsw_status relabel(struct dist_job *j)
{
	MPI_Comm turned;

	TRY(tsw_mpi_transpose_relabel(j->a, j->ld, j->o->elem_size, &j->o->dist, j->o->threads,
				      j->comm, &turned));
	MPI_Comm_rank(turned, &j->rank);
	dist_job_sit(j);
	if (j->comm != MPI_COMM_WORLD)
		MPI_Comm_free(&j->comm);
	j->comm = turned;
	return TSW_OK;
}

static tsw_status transpose_host(struct dist_job *j)
{
	const struct dist_options *o = j->o;

	if (o->relabel)
		return relabel(j);
	return tsw_mpi_transpose(j->a, j->ld, o->elem_size, &o->dist, o->stage_bytes, o->threads,
				 j->comm);
}

static tsw_status check_host(struct dist_job *j, struct dist_wrong *wrong)
{
	dist_check_rows(j, j->a, 0, j->rows, wrong);
	return TSW_OK;
}

static void close_host(struct dist_job *j)
{
	free(j->a);
}

const struct dist_engine dist_engine_cpu = {"cpu",	    open_host,	fill_host,
					    transpose_host, check_host, close_host};
