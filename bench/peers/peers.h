/* Other people's libraries in host memory, one file each. */
#ifndef TSW_PEERS_H
#define TSW_PEERS_H

#include "../bench.h"

struct host_peer {
	const char *name;
	int threads; /* 1 where it has only one; 0 where it takes as many as it is told */
	/* Loads the library; 0, or non-zero where it is not installed. */
	int (*load)(void);
	/* Before the first transpose of a set, the data may be overwritten; may be NULL. */
	int (*prepare)(struct bench_set *set);
	/* Transposes one n x n matrix of 4-byte float, 8-byte double or 16-byte complex double in
	 * place; BENCH_UNSUPPORTED for other widths or an ld that the library cannot take. */
	int (*transpose)(void *a, const struct bench_shape *shape, int threads);
};

extern const struct host_peer peer_mkl, peer_openblas, peer_fftw, peer_gsl, peer_eigen,
	peer_armadillo;

/* The first of the sonames (ended by NULL) that can be loaded, or what the environment variable
 * names; NULL if none. */
void *peer_open(const char *variable, const char *const *names);

/* The function of that name, or NULL; *(void **)(&f) = ... is what POSIX prescribes. */
void *peer_symbol(void *library, const char *name);

#endif /* TSW_PEERS_H */
