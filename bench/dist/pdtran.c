/* Times ScaLAPACK's pdtran, the out-of-place peer of tileswap-dist, on the same layout:
 *
 *     mpirun -n RANKS build/bench-pdtran P Q N MB NB REPS
 *
 * One line of JSON in the words of tileswap-dist.  Every element is compared afterwards. */
#include "../../tests/mpi/scalapack.h"

#include "../../src/tileswap_dist.h"

#include <stdio.h>
#include <stdlib.h>

static int me;

struct layout {
	tsw_dist d;
	int desc[9];
	size_t rows, cols;
};

static double value(const struct layout *l, size_t i, size_t j, int transposed)
{
	const tsw_dist *d = &l->d;
	size_t p = (size_t)d->nprow, q = (size_t)d->npcol;
	size_t r = (i / d->mb * p + (size_t)me / q) * d->mb + i % d->mb;
	size_t c = (j / d->nb * q + (size_t)me % q) * d->nb + j % d->nb;

	return transposed ? (double)(c * d->n + r) : (double)(r * d->n + c);
}

static int ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double time_all(struct layout *l, double *a, double *c, int reps)
{
	const int n = (int)l->d.n, one = 1;
	const double alpha = 1, beta = 0;
	double *times = malloc((size_t)reps * sizeof *times), median;

	for (int i = 0; i < reps; i++) {
		double begun;

		MPI_Barrier(MPI_COMM_WORLD);
		begun = MPI_Wtime();
		pdtran_(&n, &n, &alpha, a, &one, &one, l->desc, &beta, c, &one, &one, l->desc);
		begun = (MPI_Wtime() - begun) * 1e3;
		MPI_Allreduce(&begun, &times[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	}
	qsort(times, (size_t)reps, sizeof *times, ascending);
	median = times[reps / 2];
	free(times);
	return median;
}

static void measure(struct layout *l, int reps)
{
	size_t ld = l->rows ? l->rows : 1;
	double *a = malloc((ld * l->cols + 1) * sizeof *a),
	       *c = calloc(ld * l->cols + 1, sizeof *c);
	double ms, bytes = (double)l->d.n * (double)l->d.n * 8;
	unsigned long long wrong = 0;

	if (!a || !c)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (size_t j = 0; j < l->cols; j++)
		for (size_t i = 0; i < l->rows; i++)
			a[j * ld + i] = c[j * ld + i] = value(l, i, j, 0);
	ms = time_all(l, a, c, reps);
	for (size_t j = 0; j < l->cols; j++)
		for (size_t i = 0; i < l->rows; i++)
			wrong += c[j * ld + i] != value(l, i, j, 1);
	MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (me == 0)
		printf("{\"device\": \"cpu\", \"kernel\": \"peer:pdtran\", \"grid\": \"%dx%d\", "
		       "\"n\": %zu, "
		       "\"mb\": %zu, \"nb\": %zu, \"elem_size\": 8, \"reps\": %d, \"time_ms\": "
		       "%.6g, "
		       "\"payload_gb_per_s\": %.6g, \"wrong\": %llu}\n",
		       l->d.nprow, l->d.npcol, l->d.n, l->d.mb, l->d.nb, reps, ms,
		       bytes / ms * 1e-6, wrong);
	free(a);
	free(c);
}

int main(int argc, char **argv)
{
	struct layout l = {.d = TSW_DIST_INIT};
	int context, info, n, mb, nb, ld, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 7 || atoi(argv[1]) * atoi(argv[2]) != ranks) {
		if (me == 0)
			fprintf(stderr, "usage: mpirun -n P*Q %s P Q N MB NB REPS\n", argv[0]);
		MPI_Finalize();
		return 2;
	}
	l.d.nprow = atoi(argv[1]);
	l.d.npcol = atoi(argv[2]);
	l.d.n = (size_t)(n = atoi(argv[3]));
	l.d.mb = (size_t)(mb = atoi(argv[4]));
	l.d.nb = (size_t)(nb = atoi(argv[5]));
	if (tsw_dist_local(&l.d, me, &l.rows, &l.cols) != TSW_OK)
		MPI_Abort(MPI_COMM_WORLD, 2);
	ld = l.rows ? (int)l.rows : 1;
	context = Csys2blacs_handle(MPI_COMM_WORLD);
	Cblacs_gridinit(&context, "Row", l.d.nprow, l.d.npcol);
	descinit_(l.desc, &n, &n, &mb, &nb, &l.d.rsrc, &l.d.csrc, &context, &ld, &info);
	measure(&l, atoi(argv[6]));
	MPI_Finalize();
	return 0;
}
