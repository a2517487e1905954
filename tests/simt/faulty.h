/* Kernels with one fault each, to show that tests/simt finds it.  All take struct faulty and copy
 * in[] to out[], reversed within a block, by way of shared memory. */
#ifndef SIMT_FAULTY_H
#define SIMT_FAULTY_H

#include <stdint.h>

struct faulty {
	const uint32_t *in;
	uint32_t *out;
	uint32_t one; /* 1, but the compiler does not know */
};

extern const struct faulty_kernel {
	const char *fault;
	const void *entry;
	const char *says;  /* part of the report */
	int needs_trace;   /* found for certain only by trace.c */
	int asan_stops_it; /* under the sanitizers the process ends there */
} faulty_kernels[];
extern const unsigned faulty_kernel_count;

#define FAULTY_THREADS 64

#endif /* SIMT_FAULTY_H */
