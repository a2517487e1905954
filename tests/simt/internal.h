/* What the files of tests/simt tell each other. */
#ifndef SIMT_INTERNAL_H
#define SIMT_INTERNAL_H

#include "launch_simt.h"

/* ---- simt.c: who is running ------------------------------------------------------------------ */

struct simt_now {
	int running;	     /* a kernel's thread, not the runner */
	uint32_t launch;     /* counts launches */
	uint32_t block_run;  /* counts blocks over all launches */
	uint32_t block;	     /* blockIdx.x */
	uint32_t thread;     /* linear */
	uint32_t epoch;	     /* barriers this block has passed */
	uint32_t warp_epoch; /* barriers of either kind that this warp has passed */
	const char *stack;   /* of this thread */
	size_t stack_bytes;
};
extern struct simt_now simt_now;

/* Called by a kernel's thread: ends the launch with this text, preceded by block and thread. */
_Noreturn void simt_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- shared.c: the shared memory of all kernels in this program ------------------------------ */

struct simt_array {
	const char *name;
	char *base;
	size_t bytes;
};

/* The arrays in order of address; everything else in [*begin, *end) is gap.  NULL and a text in
 * *why if the program's symbol table does not tell. */
const struct simt_array *simt_shared_arrays(size_t *count, char **begin, char **end,
					    const char **why);

/* Before a block: every byte of every array gets a value no kernel wrote. */
void simt_shared_poison(void);

/* After a block: the array next to a gap that was written, or NULL. */
const struct simt_array *simt_shared_overrun(void);

/* Dynamic shared memory of the launch: `bytes` bytes that end at an unmapped page. */
const char *simt_dynamic_begin(size_t bytes);
void simt_dynamic_end(void);

/* ---- trace.c --------------------------------------------------------------------------------- */

/* A load or store of a kernel's thread that the compiler did not announce (atomics). */
void simt_trace_atomic(const void *p, size_t size);

/* Likewise of a copy: `stored` bytes of shared memory from `loaded` bytes of global memory. */
void simt_trace_copy(const void *shared, size_t stored, const void *global, size_t loaded);

/* Where a thread's dynamic shared memory lies. */
extern char *simt_dynamic_base;
extern size_t simt_dynamic_bytes;

#endif /* SIMT_INTERNAL_H */
