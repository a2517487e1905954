/* The C side of the benchmark's own GPU kernels.  Every launch is judged by the value returned. */
#ifndef TSW_BENCH_STREAMS_H
#define TSW_BENCH_STREAMS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "coded.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ceilings: `nbytes` from `from` to `to`, or changed in place; addresses multiples of 16. */
cudaError_t bench_launch_copy(void *to, const void *from, size_t nbytes, cudaStream_t stream);
cudaError_t bench_launch_rmw(void *p, size_t nbytes, cudaStream_t stream);

/* Only reads, `vectors` (1, 4 or 8) of 16 bytes a thread; what was read goes nowhere unless it has
 * an improbable value, then to *sink. */
cudaError_t bench_launch_read(const void *p, size_t nbytes, unsigned vectors,
			      unsigned long long *sink, cudaStream_t stream);

/* Occupies the stream until *flag (mapped host memory) is set, at most `timeout_ns`, so that what
 * is queued behind it starts without waiting for the host. */
cudaError_t bench_launch_spin(const volatile int *flag, uint64_t timeout_ns, cudaStream_t stream);

/* Position-coded data: fills nbytes from p on, and counts wrong elements of `count` matrices, which
 * begin `stride_bytes` apart; *wrong (device memory) is added to. */
cudaError_t bench_launch_code(void *p, size_t nbytes, unsigned word_bytes, cudaStream_t stream);
cudaError_t bench_launch_check(const void *p, const struct bench_coded *m, uint64_t count,
			       uint64_t stride_bytes, unsigned word_bytes,
			       unsigned long long *wrong, cudaStream_t stream);

/* ---- the ladder, out of place: n x cols -> cols x n, elements of 4 or 8 bytes -----------------
 */

enum bench_rung { BENCH_RUNG_COPY, BENCH_RUNG_NAIVE, BENCH_RUNG_TILE32, BENCH_RUNG_TILE33 };

cudaError_t bench_launch_rung(enum bench_rung rung, void *out, const void *in, uint64_t rows,
			      uint64_t cols, unsigned elem_size, cudaStream_t stream);

/* ---- pattern ceilings -------------------------------------------------------------------------
 */

enum bench_order { BENCH_COLUMN, BENCH_ROW, BENCH_SUPER8, BENCH_DIAGONAL };

struct bench_tile_shape {
	unsigned elem_size, rows, row_bytes, threads;
};

/* The tile shapes there are; .elem_size = 0 past the last. */
struct bench_tile_shape bench_tile_shape(size_t index);

/* Loads tile (i, j) and tile (j, i) of every pair, turns over every bit and stores each to where it
 * came from.  `aligned`: rows, base and ld are multiples of 16 bytes. */
cudaError_t bench_launch_pattern(size_t shape, int aligned, enum bench_order order, void *a,
				 uint64_t n, uint64_t ld, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif /* TSW_BENCH_STREAMS_H */
