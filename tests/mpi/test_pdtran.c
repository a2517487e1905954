/* tsw_mpi_transpose against ScaLAPACK's pdtran, which needs a second matrix: the same bytes on
 * every rank, for every grid of the ranks of this mpirun and random block sizes and sources. */
#include "scalapack.h"

#include "tileswap_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, ranks;
static uint64_t state;

static size_t below(size_t limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(state >> 33) % limit;
}

/* What pdtran makes of `a`, into `c`. */
static int reference(const tsw_dist *d, int ld, const double *a, double *c)
{
	const int n = (int)d->n, mb = (int)d->mb, nb = (int)d->nb, one = 1;
	const double alpha = 1, beta = 0;
	int context = Csys2blacs_handle(MPI_COMM_WORLD), desc[9], info;

	Cblacs_gridinit(&context, d->rank_order == TSW_RANKS_BY_ROWS ? "Row" : "Col", d->nprow,
			d->npcol);
	descinit_(desc, &n, &n, &mb, &nb, &d->rsrc, &d->csrc, &context, &ld, &info);
	if (info == 0)
		pdtran_(&n, &n, &alpha, a, &one, &one, desc, &beta, c, &one, &one, desc);
	Cblacs_gridexit(context);
	return info;
}

static int same(const tsw_dist *d, size_t ld, size_t cols)
{
	size_t words = ld * cols + 1;
	double *a = malloc(words * sizeof *a), *c = malloc(words * sizeof *c);
	int info, good;

	for (size_t i = 0; i < words; i++)
		a[i] = c[i] = (double)((uint64_t)me << 40 | i);
	info = reference(d, (int)ld, a, c);
	good = info == 0 &&
	       tsw_mpi_transpose(a, ld, sizeof *a, d, 32 + below(64000), 1, MPI_COMM_WORLD) ==
		       TSW_OK &&
	       !memcmp(a, c, words * sizeof *a);
	free(a);
	free(c);
	MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	return good;
}

static int try(int nprow, int npcol)
{
	tsw_dist d = TSW_DIST_INIT;
	size_t rows, cols, ld;
	int good;

	d.n = 1 + below(200);
	d.mb = 1 + below(40);
	d.nb = 1 + below(40);
	d.nprow = nprow;
	d.npcol = npcol;
	d.rsrc = (int)below((size_t)nprow);
	d.csrc = (int)below((size_t)npcol);
	d.rank_order = (int)below(2);
	d.storage = TSW_STORED_BY_COLUMNS;
	if (tsw_dist_local(&d, me, &rows, &cols) != TSW_OK)
		return 0;
	ld = rows + below(3);
	good = same(&d, ld ? ld : 1, cols);
	if (!good && me == 0)
		printf("FAILED: n %zu, blocks %zu x %zu, grid %d x %d from %d, %d, order %d\n", d.n,
		       d.mb, d.nb, nprow, npcol, d.rsrc, d.csrc, d.rank_order);
	return good;
}

int main(int argc, char **argv)
{
	const char *given = getenv("TSW_SEED");
	unsigned passed = 0, failed = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	state = given && *given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	MPI_Bcast(&state, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	if (me == 0)
		printf("TSW_SEED=0x%jx\n", (uintmax_t)state);
	for (int nprow = 1; nprow <= ranks; nprow++)
		for (int i = 0; ranks % nprow == 0 && i < 30; i++)
			if (try(nprow, ranks / nprow))
				passed++;
			else
				failed++;
	if (me == 0)
		printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	MPI_Finalize();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
