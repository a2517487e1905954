/* The calls over MPI: check, agree, exchange, agree on the end. */
#include "../tileswap_mpi.h"

#include "../cpu/cpu.h"
#include "../status.h"
#include "agree.h"
#include "exchange.h"

#include <limits.h>
#include <stdlib.h>

#define DEFAULT_STAGE ((size_t)8 << 20)
#define LINE 64

/* No message is larger, since MPI counts its bytes by an int. */
#define MOST_BYTES ((size_t)1 << 30)

/* The arguments of a call, checked. */
struct call {
	struct tsw_spread spread;
	struct tsw_mpi_part part;
};

static tsw_status check_comm(const struct tsw_spread *s, MPI_Comm own, int *me)
{
	int ranks;

	TRY(tsw_mpi_check(MPI_Comm_size(own, &ranks), "MPI_Comm_size"));
	TRY(tsw_mpi_check(MPI_Comm_rank(own, me), "MPI_Comm_rank"));
	if ((uint32_t)ranks != tsw_spread_ranks(s))
		return tsw_fail(TSW_ERR_OPTION, "a grid of %u x %u for a communicator of %d ranks",
				s->nprow, s->npcol, ranks);
	return TSW_OK;
}

/* Everything but the address, which is asked for last. */
static tsw_status check(struct call *c, const tsw_dist *dist)
{
	struct tsw_mpi_part *p = &c->part;
	int me;

	if (p->nthreads < 0)
		return tsw_fail(TSW_ERR_THREADS, "nthreads = %d is negative", p->nthreads);
	TRY(tsw_spread_of_bytes(dist, p->elem_size, &c->spread));
	TRY(check_comm(&c->spread, p->comm, &me));
	p->spread = &c->spread;
	p->rank = (uint32_t)me;
	return tsw_check_local(&c->spread, p->rank, p->a, p->ld, p->elem_size);
}

/* Where chunks are cut follows from `each`, which is the same on all ranks. */
static tsw_status take_stage(struct call *c, size_t stage_bytes)
{
	struct tsw_mpi_part *p = &c->part;
	size_t each = (stage_bytes ? stage_bytes : DEFAULT_STAGE) / 4;

	each = each < MOST_BYTES ? each : MOST_BYTES;
	if (each < p->elem_size)
		return tsw_fail(TSW_ERR_OPTION,
				"stage_bytes = %zu: a quarter of it, at most %zu bytes, does not "
				"hold an element of %zu bytes",
				stage_bytes, MOST_BYTES, p->elem_size);
	if (each - each % LINE >= p->elem_size)
		each -= each % LINE;
	p->each = each;
	if (tsw_spread_ranks(&c->spread) == 1)
		return TSW_OK;
	p->stage = aligned_alloc(LINE, (4 * each + LINE - 1) / LINE * LINE);
	if (!p->stage)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no %zu bytes of memory for staging", 4 * each);
	return TSW_OK;
}

/* A rank that fares ill may have no layout to compare. */
static tsw_status agree(const struct call *c, tsw_status mine, const tsw_dist *dist,
			size_t stage_bytes)
{
	const struct tsw_terms terms =
		tsw_terms_of(mine == TSW_OK ? dist : NULL, c->part.elem_size, stage_bytes);

	return tsw_mpi_agree(c->part.comm, mine, &terms);
}

static tsw_status transpose(struct call *c, const tsw_dist *dist, size_t stage_bytes)
{
	tsw_status status = check(c, dist);

	if (status == TSW_OK)
		status = take_stage(c, stage_bytes);
	status = agree(c, status, dist, stage_bytes);
	if (status == TSW_OK)
		status = tsw_mpi_agree(c->part.comm, tsw_mpi_exchange(&c->part), NULL);
	free(c->part.stage);
	return status;
}

tsw_status tsw_mpi_transpose(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
			     size_t stage_bytes, int nthreads, MPI_Comm comm)
{
	struct call c = {.part = {.a = a, .ld = ld, .elem_size = elem_size, .nthreads = nthreads}};
	tsw_status status;

	tsw_error_line(0); /* the one of libtileswap.so, not this library's copy */
	TRY(tsw_mpi_usable(comm));
	TRY(tsw_mpi_open(comm, &c.part.comm));
	status = transpose(&c, dist, stage_bytes);
	MPI_Comm_free(&c.part.comm);
	return status;
}

/* ---- relabelling ----------------------------------------------------------------------------- */

/* *m becomes the square about the local matrix; of side 0 where the rank holds nothing. */
static tsw_status check_square(struct call *c, const tsw_dist *d, MPI_Comm *turned,
			       struct tsw_matrices *m)
{
	struct tsw_seat seat;
	uint64_t rows, cols;

	TRY(check(c, d));
	if (!turned)
		return tsw_fail(TSW_ERR_NULL, "turned is NULL");
	if (d->nprow != d->npcol || d->mb != d->nb || d->rsrc != d->csrc)
		return tsw_fail(TSW_ERR_UNSUPPORTED,
				"a grid of %d x %d, blocks of %zu x %zu from %d, %d: ranks can be "
				"renumbered where both sides of each are alike",
				d->nprow, d->npcol, d->mb, d->nb, d->rsrc, d->csrc);
	seat = tsw_seat_of(&c->spread, c->part.rank);
	rows = tsw_local_rows(&c->spread, seat.row);
	cols = tsw_local_cols(&c->spread, seat.col);
	*m = (struct tsw_matrices){.base = c->part.a,
				   .n = !rows || !cols ? 0
					: rows > cols  ? rows
						       : cols,
				   .ld = c->part.ld,
				   .elem_size = c->part.elem_size,
				   .count = 1};
	/* Its detail speaks of n: the local matrix is ragged, and n is its longer side. */
	return tsw_check_matrices(m);
}

/* The rank whose part this rank holds when it has transposed its own. */
static int new_rank(const struct call *c)
{
	const struct tsw_spread *s = &c->spread;
	struct tsw_seat seat = tsw_seat_of(s, c->part.rank);

	return (int)(s->by_columns ? seat.row * s->nprow + seat.col
				   : seat.col * s->npcol + seat.row);
}

static tsw_status relabel(struct call *c, const tsw_dist *dist, MPI_Comm comm, MPI_Comm *turned)
{
	struct tsw_matrices m;
	MPI_Comm made = MPI_COMM_NULL;
	int error;

	TRY(agree(c, check_square(c, dist, turned, &m), dist, 0));
	error = MPI_Comm_split(comm, 0, new_rank(c), &made);
	TRY(tsw_mpi_agree(c->part.comm, tsw_mpi_check(error, "MPI_Comm_split"), NULL));
	if (!tsw_nothing_to_do(&m))
		tsw_cpu_transpose(&m, c->part.nthreads);
	*turned = made;
	return TSW_OK;
}

tsw_status tsw_mpi_transpose_relabel(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
				     int nthreads, MPI_Comm comm, MPI_Comm *turned)
{
	struct call c = {.part = {.a = a, .ld = ld, .elem_size = elem_size, .nthreads = nthreads}};
	tsw_status status;

	tsw_error_line(0); /* the one of libtileswap.so, not this library's copy */
	TRY(tsw_mpi_usable(comm));
	TRY(tsw_mpi_open(comm, &c.part.comm));
	status = relabel(&c, dist, comm, turned);
	MPI_Comm_free(&c.part.comm);
	return status;
}
