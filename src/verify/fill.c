/* Filling host memory. */
#include "verify.h"

#include "../cpu/cpu.h"
#include "../status.h"
#include "curand.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that a thread takes at a time; a multiple of 16. */
#define PIECE ((size_t)1 << 20)

/* Bytes of the buffer through which cuRAND fills what is no whole aligned word: a multiple of 16,
 * and large, for a call of cuRAND takes long even for few words. */
#define STAGE_BYTES ((size_t)4 << 20)

/* cuRAND's generators are slow to start and to seek: each gets this much at least. */
#define SHARE_BYTES ((size_t)16 << 20)

static void fill_computed(const struct tsw_content *content, unsigned char *a, size_t nbytes,
			  int nthreads)
{
	const size_t pieces = nbytes / PIECE + (nbytes % PIECE != 0);
	const int most = tsw_cpu_threads(nthreads);
	const int threads = pieces < (size_t)most ? (int)pieces : most;

	if (threads <= 1) {
		tsw_content_bytes(content, 0, a, nbytes);
		return;
	}
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)
#endif
	for (size_t p = 0; p < pieces; p++) {
		const size_t at = p * PIECE, left = nbytes - at;

		tsw_content_bytes(content, at, a + at, left < PIECE ? left : PIECE);
	}
}

/* cuRAND writes whole words to aligned addresses; what is left goes through a small buffer. */
static tsw_status copy_staged(const struct tsw_curand *curand, tsw_curand_generator generator,
			      unsigned char *a, size_t nbytes, unsigned *stage)
{
	for (size_t at = 0; at < nbytes; at += STAGE_BYTES) {
		const size_t left = nbytes - at;
		const size_t part = left < STAGE_BYTES ? left : STAGE_BYTES;

		TRY(tsw_curand_words(curand, generator, stage, (part + 3) / 4));
		memcpy(a + at, stage, part);
	}
	return TSW_OK;
}

static tsw_status fill_staged(const struct tsw_curand *curand, tsw_curand_generator generator,
			      unsigned char *a, size_t nbytes)
{
	const size_t bytes = nbytes < STAGE_BYTES ? nbytes + 16 : STAGE_BYTES;
	unsigned *stage = nbytes ? malloc(bytes) : NULL;
	tsw_status status;

	if (nbytes && !stage)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no %zu bytes of memory for cuRAND", bytes);
	status = copy_staged(curand, generator, a, nbytes, stage);
	free(stage);
	return status;
}

/* Bytes from .. from + nbytes - 1 of the span at `a`; `from` is a multiple of 16. */
static tsw_status fill_by_generator(const struct tsw_curand *curand, tsw_curand_generator generator,
				    unsigned char *a, size_t from, size_t nbytes, uint64_t seed)
{
	const size_t whole = (uintptr_t)a % 4 ? 0 : nbytes - nbytes % 16;

	TRY(tsw_curand_seek(curand, generator, seed, from / 4));
	TRY(tsw_curand_words(curand, generator, (unsigned *)(void *)(a + from), whole / 4));
	return fill_staged(curand, generator, a + from + whole, nbytes - whole);
}

static tsw_status fill_share(const struct tsw_curand *curand, unsigned char *a, size_t from,
			     size_t nbytes, uint64_t seed)
{
	tsw_curand_generator generator;
	tsw_status status;

	TRY_CURAND(curand->create_host(&generator, TSW_CURAND_PHILOX));
	status = fill_by_generator(curand, generator, a, from, nbytes, seed);
	curand->destroy(generator);
	return status;
}

/* A generator for each thread, each with a share of its own. */
static tsw_status fill_by_curand(unsigned char *a, size_t nbytes, uint64_t seed, int nthreads)
{
	const size_t most = (size_t)tsw_cpu_threads(nthreads), worth = nbytes / SHARE_BYTES + 1;
	const size_t shares = worth < most ? worth : most;
	const size_t each = nbytes / shares / 16 * 16;
	const struct tsw_curand *curand;
	size_t failed = 0;

	TRY(tsw_curand_load(&curand));
	if (shares == 1)
		return fill_share(curand, a, 0, nbytes, seed);
#ifdef _OPENMP
#pragma omp parallel for num_threads((int)shares) reduction(+ : failed)
#endif
	for (size_t s = 0; s < shares; s++)
		failed += fill_share(curand, a, s * each, s + 1 < shares ? each : nbytes - s * each,
				     seed) != TSW_OK;
	/* The detail is another thread's. */
	if (failed)
		return tsw_fail(TSW_ERR_UNSUPPORTED, "cuRAND failed in %zu of %zu threads", failed,
				shares);
	return TSW_OK;
}

tsw_status tsw_fill_host_from(enum tsw_source source, void *a, size_t nbytes, uint64_t seed,
			      int nthreads, const char **used)
{
	const struct tsw_content content = {seed, TSW_PATTERN_RANDOM};
	const char *by = "curand";
	tsw_status status = source == TSW_SOURCE_PHILOX ? TSW_ERR_UNSUPPORTED
							: fill_by_curand(a, nbytes, seed, nthreads);

	if (status != TSW_OK && source == TSW_SOURCE_CURAND)
		return status;
	if (status != TSW_OK) {
		tsw_forget_failure();
		fill_computed(&content, a, nbytes, nthreads);
		by = "philox";
	}
	if (used)
		*used = by;
	return TSW_OK;
}

tsw_status tsw_fill_content_host(const struct tsw_content *content, void *a, size_t nbytes,
				 int nthreads, const char **used)
{
	if (content->pattern == TSW_PATTERN_RANDOM)
		return tsw_fill_host(a, nbytes, content->seed, nthreads, used);
	fill_computed(content, a, nbytes, nthreads);
	if (used)
		*used = "computed";
	return TSW_OK;
}
