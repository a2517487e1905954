/* Every rank ends with the same status. */
#include "agree.h"

#include "../status.h"

#include <stdio.h>
#include <string.h>

tsw_status tsw_mpi_check(int error, const char *call)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length;

	if (error == MPI_SUCCESS)
		return TSW_OK;
	if (MPI_Error_string(error, text, &length) != MPI_SUCCESS)
		snprintf(text, sizeof text, "error %d", error);
	return tsw_fail(TSW_ERR_COMM, "%s: %.300s", call, text);
}

tsw_status tsw_mpi_usable(MPI_Comm comm)
{
	int initialised = 0, finalised = 0, between = 0;

	MPI_Initialized(&initialised);
	MPI_Finalized(&finalised);
	if (!initialised || finalised)
		return tsw_fail(TSW_ERR_COMM, "MPI is %s",
				finalised ? "finalised" : "not initialised");
	if (comm == MPI_COMM_NULL)
		return tsw_fail(TSW_ERR_NULL, "comm is MPI_COMM_NULL");
	TRY(tsw_mpi_check(MPI_Comm_test_inter(comm, &between), "MPI_Comm_test_inter"));
	if (between)
		return tsw_fail(TSW_ERR_UNSUPPORTED, "comm is an intercommunicator");
	return TSW_OK;
}

tsw_status tsw_mpi_open(MPI_Comm comm, MPI_Comm *own)
{
	int error;

	TRY(tsw_mpi_check(MPI_Comm_dup(comm, own), "MPI_Comm_dup"));
	error = MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
	if (error != MPI_SUCCESS)
		MPI_Comm_free(own);
	return tsw_mpi_check(error, "MPI_Comm_set_errhandler");
}

/* Of several ranks that fare ill the largest status wins, and of those the lowest rank. */
static uint64_t blame(tsw_status status, int rank)
{
	return status == TSW_OK ? 0 : (uint64_t)status << 32 | (UINT32_MAX - (uint32_t)rank);
}

static tsw_status hear(MPI_Comm own, uint64_t worst, int me)
{
	char detail[400] = "";
	int rank = (int)(UINT32_MAX - (uint32_t)worst);

	if (rank == me)
		snprintf(detail, sizeof detail, "%s", tsw_last_error());
	TRY(tsw_mpi_check(MPI_Bcast(detail, sizeof detail, MPI_CHAR, rank, own), "MPI_Bcast"));
	return tsw_fail((tsw_status)(worst >> 32), "rank %d: %s", rank, detail);
}

/* Each term goes in as it is and inverted: one maximum then gives the largest and the smallest. */
tsw_status tsw_mpi_agree(MPI_Comm own, tsw_status mine, const struct tsw_terms *terms)
{
	uint64_t box[1 + 2 * TSW_MOST_TERMS] = {0};
	unsigned count = terms ? terms->count : 0;
	int me;

	TRY(tsw_mpi_check(MPI_Comm_rank(own, &me), "MPI_Comm_rank"));
	box[0] = blame(mine, me);
	for (unsigned i = 0; i < count; i++) {
		box[1 + 2 * i] = terms->value[i];
		box[2 + 2 * i] = ~terms->value[i];
	}
	TRY(tsw_mpi_check(
		MPI_Allreduce(MPI_IN_PLACE, box, 1 + 2 * (int)count, MPI_UINT64_T, MPI_MAX, own),
		"MPI_Allreduce"));
	if (box[0])
		return hear(own, box[0], me);
	for (unsigned i = 0; i < count; i++)
		if (box[1 + 2 * i] != ~box[2 + 2 * i])
			return tsw_fail(TSW_ERR_OPTION, "%s differs between ranks: %ju to %ju",
					terms->name[i], (uintmax_t)~box[2 + 2 * i],
					(uintmax_t)box[1 + 2 * i]);
	return TSW_OK;
}
