/* LU of a row-major matrix that fills most of a GPU, by cuSOLVER.
 *
 *     cusolver_lu [FRACTION | N]      of the device's memory (default: 0.6), or rows
 *
 * cuSOLVER wants columns.  A transposed copy of a matrix that fills more than half of the memory
 * has no place to lie; transposed in place, it needs none.  Solves A x = b for b = A (1, 1, ...)^T
 * and checks x.
 */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <curand.h>
#include <cusolverDn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tileswap.h>

/* Every call here returns 0 for success. */
#define DO(call)                                                                                   \
	do {                                                                                       \
		int status_ = (int)(call);                                                         \
		if (status_ != 0) {                                                                \
			fprintf(stderr, "%s: status %d\n", #call, status_);                        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct lu {
	cudaStream_t stream;
	cusolverDnHandle_t solver;
	int64_t n;
	double *a;	/* device, n x n */
	double *b;	/* device, n */
	int64_t *pivot; /* device, n */
	int *info;	/* device */
};

/* Row-major A, uniform in (0, 1], and b = A (1, 1, ...)^T. */
static void make_system(struct lu *s)
{
	const double one = 1, zero = 0;
	double *ones = NULL, *host = malloc((size_t)s->n * sizeof *host);
	curandGenerator_t random;
	cublasHandle_t blas;

	DO(curandCreateGenerator(&random, CURAND_RNG_PSEUDO_PHILOX4_32_10));
	DO(curandSetStream(random, s->stream));
	DO(curandSetPseudoRandomGeneratorSeed(random, 5));
	DO(curandGenerateUniformDouble(random, s->a, (size_t)s->n * (size_t)s->n));
	DO(curandDestroyGenerator(random));

	for (int64_t i = 0; i < s->n; i++)
		host[i] = 1;
	DO(cudaMalloc((void **)&ones, (size_t)s->n * sizeof *ones));
	DO(cudaMemcpy(ones, host, (size_t)s->n * sizeof *ones, cudaMemcpyHostToDevice));
	DO(cublasCreate(&blas));
	DO(cublasSetStream(blas, s->stream));
	/* To cuBLAS the row-major A is A^T, hence the 'T'. */
	DO(cublasDgemv_64(blas, CUBLAS_OP_T, s->n, s->n, &one, s->a, s->n, ones, 1, &zero, s->b,
			  1));
	DO(cudaStreamSynchronize(s->stream));
	DO(cublasDestroy(blas));
	DO(cudaFree(ones));
	free(host);
}

/* A column-major: factors it in place and overwrites b by x. */
static void factor_and_solve(struct lu *s)
{
	void *device_work = NULL, *host_work = NULL;
	size_t device_bytes, host_bytes;
	int info;

	DO(cusolverDnXgetrf_bufferSize(s->solver, NULL, s->n, s->n, CUDA_R_64F, s->a, s->n,
				       CUDA_R_64F, &device_bytes, &host_bytes));
	DO(cudaMalloc(&device_work, device_bytes ? device_bytes : 1));
	host_work = malloc(host_bytes ? host_bytes : 1);
	DO(cusolverDnXgetrf(s->solver, NULL, s->n, s->n, CUDA_R_64F, s->a, s->n, s->pivot,
			    CUDA_R_64F, device_work, device_bytes, host_work, host_bytes, s->info));
	DO(cudaMemcpy(&info, s->info, sizeof info, cudaMemcpyDeviceToHost));
	DO(info);
	DO(cusolverDnXgetrs(s->solver, NULL, CUBLAS_OP_N, s->n, 1, CUDA_R_64F, s->a, s->n, s->pivot,
			    CUDA_R_64F, s->b, s->n, s->info));
	DO(cudaStreamSynchronize(s->stream));
	DO(cudaFree(device_work));
	free(host_work);
}

/* The largest |x_i - 1|. */
static double error_of(const struct lu *s)
{
	double *x = malloc((size_t)s->n * sizeof *x), worst = 0;

	DO(cudaMemcpy(x, s->b, (size_t)s->n * sizeof *x, cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < s->n; i++)
		worst = isfinite(x[i]) ? fmax(worst, fabs(x[i] - 1)) : INFINITY;
	free(x);
	return worst;
}

static float elapsed_ms(cudaEvent_t from, cudaEvent_t to)
{
	float ms;

	DO(cudaEventSynchronize(to));
	DO(cudaEventElapsedTime(&ms, from, to));
	return ms;
}

int main(int argc, char **argv)
{
	double size = argc > 1 ? strtod(argv[1], NULL) : 0.6, worst;
	size_t free_bytes, total_bytes;
	cudaEvent_t event[3];
	struct lu s = {0};
	size_t bytes;

	DO(cudaMemGetInfo(&free_bytes, &total_bytes));
	s.n = (int64_t)(size < 1 ? sqrt(size * (double)total_bytes / sizeof(double)) : size);
	bytes = (size_t)s.n * (size_t)s.n * sizeof(double);
	DO(cudaStreamCreate(&s.stream));
	DO(cusolverDnCreate(&s.solver));
	DO(cusolverDnSetStream(s.solver, s.stream));
	DO(cudaMalloc((void **)&s.a, bytes));
	DO(cudaMalloc((void **)&s.b, (size_t)s.n * sizeof *s.b));
	DO(cudaMalloc((void **)&s.pivot, (size_t)s.n * sizeof *s.pivot));
	DO(cudaMalloc((void **)&s.info, sizeof *s.info));
	for (int i = 0; i < 3; i++)
		DO(cudaEventCreate(&event[i]));

	make_system(&s);
	DO(cudaEventRecord(event[0], s.stream));
	DO(tsw_transpose_device(s.a, (size_t)s.n, (size_t)s.n, sizeof *s.a, s.stream));
	DO(cudaEventRecord(event[1], s.stream));
	factor_and_solve(&s);
	DO(cudaEventRecord(event[2], s.stream));
	worst = error_of(&s);

	printf("cusolver_lu n=%lld matrix_gb=%.1f device_gb=%.1f fraction=%.2f transpose_ms=%.1f "
	       "transpose_gb_per_s=%.0f factor_and_solve_ms=%.0f max_error=%.1e\n",
	       (long long)s.n, (double)bytes / 1e9, (double)total_bytes / 1e9,
	       (double)bytes / (double)total_bytes, (double)elapsed_ms(event[0], event[1]),
	       2e-6 * (double)bytes / (double)elapsed_ms(event[0], event[1]),
	       (double)elapsed_ms(event[1], event[2]), worst);
	cudaFree(s.a);
	return !(worst < 1e-5);
}
