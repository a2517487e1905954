/* Verifying a transpose without a second matrix: for the tool, the benchmarks and the tests; no
 * part of the library.
 *
 * A matrix, or a batch of them, is filled over its whole span, padding included, with random bits
 * or another pattern of content.h.  What must stand anywhere, before or after a transpose, can then
 * be computed from the seed and the place alone.
 *
 * Every tsw_status comes with a detail (tsw_last_error()).  "Device" calls work on the current
 * device, on memory that it can reach, and return when the work is done; a build without CUDA
 * answers TSW_ERR_NO_CUDA.
 */
#ifndef TSW_VERIFY_H
#define TSW_VERIFY_H

#include "../matrices.h"
#include "content.h"

/* ---- filling --------------------------------------------------------------------------------- */

/* Who makes random bits.  Both make the same ones; cuRAND is loaded when it is first wanted. */
enum tsw_source {
	TSW_SOURCE_AUTO,   /* cuRAND where it is installed, else our own Philox */
	TSW_SOURCE_CURAND, /* TSW_ERR_UNSUPPORTED where it is not installed */
	TSW_SOURCE_PHILOX
};

/* Fills `nbytes` bytes at any address.  *used (may be NULL) becomes "curand" or "philox".
 * `nthreads` 0 means all. */
tsw_status tsw_fill_host_from(enum tsw_source source, void *a, size_t nbytes, uint64_t seed,
			      int nthreads, const char **used);

/* The same in device memory, ordered on `stream`.  cuRAND takes memory of its own on the device;
 * where that fails, TSW_SOURCE_AUTO goes on with Philox, which takes none. */
tsw_status tsw_fill_device_from(enum tsw_source source, void *a, size_t nbytes, uint64_t seed,
				tsw_stream stream, const char **used);

static inline tsw_status tsw_fill_host(void *a, size_t nbytes, uint64_t seed, int nthreads,
				       const char **used)
{
	return tsw_fill_host_from(TSW_SOURCE_AUTO, a, nbytes, seed, nthreads, used);
}

static inline tsw_status tsw_fill_device(void *a, size_t nbytes, uint64_t seed, tsw_stream stream,
					 const char **used)
{
	return tsw_fill_device_from(TSW_SOURCE_AUTO, a, nbytes, seed, stream, used);
}

/* Any pattern: random bits as above, the others are "computed". */
tsw_status tsw_fill_content_host(const struct tsw_content *content, void *a, size_t nbytes,
				 int nthreads, const char **used);
tsw_status tsw_fill_content_device(const struct tsw_content *content, void *a, size_t nbytes,
				   tsw_stream stream, const char **used);

/* TSW_OK if cuRAND can be loaded here. */
tsw_status tsw_curand_usable(void);

/* Bytes offset .. offset + nbytes - 1 of what a span is filled with, by the calling thread. */
void tsw_content_bytes(const struct tsw_content *content, uint64_t offset, void *out,
		       size_t nbytes);

/* The same of random bits. */
void tsw_philox_bytes(uint64_t seed, uint64_t offset, void *out, size_t nbytes);

/* ---- checking -------------------------------------------------------------------------------- */

#define TSW_WRONG_PLACES 8
#define TSW_WRONG_BYTES 16

/* A wrong element: element (r, c) of matrix `matrix` of the batch, and up to 16 of its bytes, from
 * byte `at` on, a multiple of 16 (elements up to 16 bytes wide are all there, at = 0). */
struct tsw_wrong_place {
	uint64_t matrix, r, c;
	uint64_t at;
	unsigned nbytes;
	unsigned char expected[TSW_WRONG_BYTES], found[TSW_WRONG_BYTES];
};

struct tsw_wrong {
	uint64_t elements;	/* elements that are not as they must be */
	uint64_t padding_bytes; /* bytes of the span outside every matrix that were changed */
	uint64_t padding_at;	/* the first of them, a byte of the span, if there is one */
	unsigned char padding_expected, padding_found;
	unsigned places; /* the first of the wrong elements, by matrix, row, column */
	struct tsw_wrong_place place[TSW_WRONG_PLACES];
};

/* The bytes of a whole batch, from the first to the last; what a fill must cover.  m has passed
 * tsw_check_matrices() and gives no array. */
size_t tsw_batch_bytes(const struct tsw_matrices *m);

/* Compares every element of every matrix, and every byte between rows and matrices, with what must
 * stand there after one continuous fill of the batch and, if `transposed`, one transpose of each
 * matrix.  A difference is no failure of the call: it is in *wrong.  m as for tsw_batch_bytes(); a
 * pointer array gives TSW_ERR_UNSUPPORTED. */
tsw_status tsw_check_content_host(const struct tsw_matrices *m, const struct tsw_content *content,
				  int transposed, int nthreads, struct tsw_wrong *wrong);
tsw_status tsw_check_content_device(const struct tsw_matrices *m, const struct tsw_content *content,
				    int transposed, tsw_stream stream, struct tsw_wrong *wrong);

/* The same after a fill with random bits. */
static inline tsw_status tsw_check_batch_host(const struct tsw_matrices *m, uint64_t seed,
					      int transposed, int nthreads, struct tsw_wrong *wrong)
{
	const struct tsw_content content = {seed, TSW_PATTERN_RANDOM};

	return tsw_check_content_host(m, &content, transposed, nthreads, wrong);
}

static inline tsw_status tsw_check_batch_device(const struct tsw_matrices *m, uint64_t seed,
						int transposed, tsw_stream stream,
						struct tsw_wrong *wrong)
{
	const struct tsw_content content = {seed, TSW_PATTERN_RANDOM};

	return tsw_check_content_device(m, &content, transposed, stream, wrong);
}

/* The same of one matrix. */
static inline tsw_status tsw_check_host(const void *a, size_t n, size_t ld, size_t elem_size,
					uint64_t seed, int transposed, int nthreads,
					struct tsw_wrong *wrong)
{
	const struct tsw_matrices m = {
		.base = (void *)(uintptr_t)a, .n = n, .ld = ld, .elem_size = elem_size, .count = 1};

	return tsw_check_batch_host(&m, seed, transposed, nthreads, wrong);
}

static inline tsw_status tsw_check_device(const void *a, size_t n, size_t ld, size_t elem_size,
					  uint64_t seed, int transposed, tsw_stream stream,
					  struct tsw_wrong *wrong)
{
	const struct tsw_matrices m = {
		.base = (void *)(uintptr_t)a, .n = n, .ld = ld, .elem_size = elem_size, .count = 1};

	return tsw_check_batch_device(&m, seed, transposed, stream, wrong);
}

#endif /* TSW_VERIFY_H */
