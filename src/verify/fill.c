/* Filling host memory with random bits. */
#include "verify.h"

#include "../cpu/cpu.h"
#include "../status.h"
#include "curand.h"

#include <string.h>

/* Bytes that a thread takes at a time; a multiple of 16. */
#define PIECE ((size_t)1 << 20)

/* Words of the buffer through which cuRAND fills what is no whole aligned word. */
#define STAGE_WORDS 1024

static void fill_by_philox(unsigned char *a, size_t nbytes, uint64_t seed, int nthreads)
{
	const size_t pieces = nbytes / PIECE + (nbytes % PIECE != 0);
	const int most = tsw_cpu_threads(nthreads);
	const int threads = pieces < (size_t)most ? (int)pieces : most;

#ifdef _OPENMP
#pragma omp parallel for num_threads(threads > 1 ? threads : 1) if (threads > 1)
#endif
	for (size_t p = 0; p < pieces; p++) {
		const size_t at = p * PIECE, left = nbytes - at;

		tsw_philox_bytes(seed, at, a + at, left < PIECE ? left : PIECE);
	}
	(void)threads;
}

/* cuRAND writes whole words to aligned addresses; what is left goes through a small buffer. */
static tsw_status fill_staged(const struct tsw_curand *curand, tsw_curand_generator generator,
			      unsigned char *a, size_t from, size_t nbytes)
{
	unsigned stage[STAGE_WORDS];

	for (size_t at = from; at < nbytes; at += sizeof stage) {
		const size_t left = nbytes - at;
		const size_t part = left < sizeof stage ? left : sizeof stage;

		TRY(tsw_curand_words(curand, generator, at / 4, stage, (part + 3) / 4));
		memcpy(a + at, stage, part);
	}
	return TSW_OK;
}

static tsw_status fill_by_generator(const struct tsw_curand *curand, tsw_curand_generator generator,
				    unsigned char *a, size_t nbytes, uint64_t seed)
{
	const size_t words = (uintptr_t)a % 4 ? 0 : nbytes / 4;

	TRY_CURAND(curand->set_seed(generator, seed));
	TRY(tsw_curand_words(curand, generator, 0, (unsigned *)(void *)a, words));
	return fill_staged(curand, generator, a, 4 * words, nbytes);
}

static tsw_status fill_by_curand(unsigned char *a, size_t nbytes, uint64_t seed)
{
	const struct tsw_curand *curand;
	tsw_curand_generator generator;
	tsw_status status;

	TRY(tsw_curand_load(&curand));
	TRY_CURAND(curand->create_host(&generator, TSW_CURAND_PHILOX));
	status = fill_by_generator(curand, generator, a, nbytes, seed);
	curand->destroy(generator);
	return status;
}

tsw_status tsw_fill_host_from(enum tsw_source source, void *a, size_t nbytes, uint64_t seed,
			      int nthreads, const char **used)
{
	const char *by = "curand";
	tsw_status status =
		source == TSW_SOURCE_PHILOX ? TSW_ERR_UNSUPPORTED : fill_by_curand(a, nbytes, seed);

	if (status != TSW_OK && source == TSW_SOURCE_CURAND)
		return status;
	if (status != TSW_OK) {
		tsw_forget_failure();
		fill_by_philox(a, nbytes, seed, nthreads);
		by = "philox";
	}
	if (used)
		*used = by;
	return TSW_OK;
}
