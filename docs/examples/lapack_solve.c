/* A dense system A x = b, A row-major, solved by LAPACK at half the memory.
 *
 *     lapack_solve N          solve it both ways, each in a process of its own, and compare the
 * peaks
 *
 * LAPACK wants columns.  LAPACKE_dgetrf(LAPACK_ROW_MAJOR, ...) makes a transposed copy, factors
 * that and copies it back: two matrices in memory.  Transposed where it lies, A is column-major and
 * dgetrf takes it as it is: one matrix.  The factors and pivots are those of A itself, so they are
 * what a caller may go on with: refinement, a condition estimate, an update.
 *
 * (If all you want is x, the factors of A^T and dgetrs with 'T' will do without any transpose. That
 * way is closed where the factors of A itself are wanted, pivoted by its rows, and with drivers
 * that have no 'T': dsgesv, dgesvd, dgeev.)
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tileswap.h>
#include <unistd.h>

/* Element (r, c) of A, the same in every process: uniform in [-1, 1), the diagonal made heavier. */
static double element(size_t n, size_t r, size_t c)
{
	uint64_t z = (uint64_t)(r * n + c + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (double)(int64_t)(z ^ z >> 31) * 0x1p-63 + (r == c ? 4 : 0);
}

/* Peak resident memory of this process, in bytes. */
static double peak_bytes(void)
{
	char line[128];
	double kib = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %lf", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

static int solve_tileswap(lapack_int n, double *a, lapack_int *pivot, double *b)
{
	lapack_int one = 1, info;

	if (tsw_transpose_host(a, (size_t)n, (size_t)n, sizeof *a, 0) != TSW_OK) {
		fprintf(stderr, "%s\n", tsw_last_error());
		return -1;
	}
	LAPACK_dgetrf(&n, &n, a, &n, pivot, &info);
	if (info == 0)
		LAPACK_dgetrs("N", &n, &one, a, &n, pivot, b, &n, &info);
	return info;
}

static int solve_lapacke(lapack_int n, double *a, lapack_int *pivot, double *b)
{
	int info = LAPACKE_dgetrf(LAPACK_ROW_MAJOR, n, n, a, n, pivot);

	return info ? info : LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', n, 1, a, n, pivot, b, 1);
}

/* Solves for b = A (1, 1, ...)^T and prints the peak and the error of x.  0 if x is right. */
static int run(size_t n, const char *way)
{
	double *a = malloc(n * n * sizeof *a), *b = calloc(n, sizeof *b), worst = 0;
	lapack_int *pivot = malloc(n * sizeof *pivot);
	int info;

	if (!a || !b || !pivot) {
		fputs("out of memory\n", stderr);
		return 1;
	}
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c++)
			b[r] += a[r * n + c] = element(n, r, c);
	info = (strcmp(way, "tileswap") ? solve_lapacke : solve_tileswap)((lapack_int)n, a, pivot,
									  b);
	for (size_t r = 0; r < n; r++)
		worst = fmax(worst, fabs(b[r] - 1));
	printf("%-9s n=%zu matrix_mib=%.0f peak_mib=%.0f peak_per_matrix=%.2f max_error=%.1e "
	       "info=%d\n",
	       way, n, (double)(n * n * sizeof *a) / 0x1p20, peak_bytes() / 0x1p20,
	       peak_bytes() / (double)(n * n * sizeof *a), worst, info);
	free(a);
	free(b);
	free(pivot);
	return info != 0 || !(worst < 1e-8);
}

int main(int argc, char **argv)
{
	const char *ways[] = {"tileswap", "lapacke"};
	int status, bad = 0;

	if (argc == 3)
		return run(strtoull(argv[1], NULL, 10), argv[2]);
	if (argc != 2) {
		fputs("usage: lapack_solve N\n", stderr);
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) { /* a fresh program: its peak is its own */
			execl("/proc/self/exe", argv[0], argv[1], ways[i], (char *)NULL);
			_exit(127);
		}
		if (wait(&status) < 0 || status != 0)
			bad = 1;
	}
	return bad;
}
