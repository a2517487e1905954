/* What the host backend and the host peers share. */
#ifndef TSW_BENCH_HOST_H
#define TSW_BENCH_HOST_H

#include "bench.h"
#include "coded.h"

/* As many threads as OpenMP would use. */
int bench_all_threads(void);

/* Runs work(context, part, parts) on `threads` threads, part = 0 ... parts - 1. */
void bench_parallel(int threads, void (*work)(void *context, size_t part, size_t parts),
		    void *context);

/* The part-th of `parts` nearly equal shares of 0 ... total - 1, in multiples of `grain`. */
void bench_share(size_t total, size_t grain, size_t part, size_t parts, size_t *first, size_t *end);

/* Codes the whole of copy 0, and of the second place if `out`. */
void bench_code_host(struct bench_set *set, int out);

/* Counts elements of copy 0 (of the second place if `out`) that are not as `expect` says. */
uint64_t bench_check_host(struct bench_set *set, int out, enum bench_expect expect);

#endif /* TSW_BENCH_HOST_H */
