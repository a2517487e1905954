/* cuRAND, loaded at run time: it is 133 MB and not everywhere.  The few prototypes are our own, so
 * that no header of its is needed either. */
#ifndef TSW_CURAND_H
#define TSW_CURAND_H

#include "../tileswap.h"

#define TSW_CURAND_PHILOX 161 /* CURAND_RNG_PSEUDO_PHILOX4_32_10 */

typedef struct curandGenerator_st *tsw_curand_generator;

/* The calls of cuRAND that are used; each returns 0 for success. */
struct tsw_curand {
	int (*create)(tsw_curand_generator *generator, int type);
	int (*create_host)(tsw_curand_generator *generator, int type);
	int (*destroy)(tsw_curand_generator generator);
	int (*set_stream)(tsw_curand_generator generator, tsw_stream stream);
	int (*set_seed)(tsw_curand_generator generator, unsigned long long seed);
	int (*set_offset)(tsw_curand_generator generator, unsigned long long offset);
	int (*generate)(tsw_curand_generator generator, unsigned *out, size_t words);
};

/* Loads cuRAND, once.  TSW_ERR_UNSUPPORTED, with what the loader said, where it is not installed.
 */
tsw_status tsw_curand_load(const struct tsw_curand **curand);

/* Begins the stream of `seed` at word `first`; costly. */
tsw_status tsw_curand_seek(const struct tsw_curand *curand, tsw_curand_generator generator,
			   uint64_t seed, uint64_t first);

/* The next `nwords` words, however many.  All but the last call must ask for a multiple of 4. */
tsw_status tsw_curand_words(const struct tsw_curand *curand, tsw_curand_generator generator,
			    unsigned *out, size_t nwords);

/* The detail of a failed call. */
tsw_status tsw_curand_fail(int error, const char *call);

#define TRY_CURAND(call)                                                                           \
	do {                                                                                       \
		int curand_error_ = (call);                                                        \
		if (curand_error_ != 0)                                                            \
			return tsw_curand_fail(curand_error_, #call);                              \
	} while (0)

#endif /* TSW_CURAND_H */
