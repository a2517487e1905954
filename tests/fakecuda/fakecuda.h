/* A CUDA runtime without a GPU, for src/cuda and src/verify as they are: the calls that they make,
 * and no others, so that a new one does not link until it is thought of here.
 *
 * - Memory of a device lies at addresses that the host can touch only while queued work runs, and
 *   is looked at through a second mapping.  Pinned memory has another address on the device.
 * - A kernel is its own text, run by tests/simt.
 * - Work that is queued runs when somebody waits for it, not before.  Between the last but one and
 *   the last piece of a stream's work all other streams' work runs: an order that CUDA allows.
 * - Every thread has its own last error and current device.
 * - Any call can be made to fail (fake_fail); the functions that only report errors never do. */
#ifndef FAKECUDA_H
#define FAKECUDA_H

#include <cuda_runtime_api.h>

#include <stddef.h>

/* ---- the machine, and what has happened on it -------------------------------------------------
 */

struct fake {
	/* What a test may set. */
	int devices;	   /* that the driver finds */
	int driver;	   /* its version; 0: none is installed */
	int shared_bytes;  /* that a block may ask for */
	int major;	   /* of the compute capability */
	int none_is_error; /* cudaGetDeviceCount() does not say 0 but fails */
	int set_moves;	   /* a cudaSetDevice() that fails has changed the device all the same */

	/* What it may read. */
	unsigned calls;	      /* that could fail, since fake_fail() or fake_fail_nothing() */
	const char *failed;   /* the first of them that was made to fail, or NULL */
	cudaError_t sticky;   /* not cudaSuccess: the context is lost */
	int home_refused;     /* a cudaSetDevice() back to `home` failed */
	int home;	      /* the current device when that was last set */
	unsigned allocations; /* calls that allocate or free */
	unsigned waits;	      /* calls that wait */
	unsigned launches;    /* accepted */
	unsigned executed;    /* launches that have run */
	unsigned live;	      /* allocations and events that the code under test holds */
	const void *entry;    /* the kernel launched last */
	char misuse[800]; /* what no correct program does, a kernel's fault included; or empty */
};
extern struct fake fake;

/* ---- failing calls -----------------------------------------------------------------------------
 */

enum fake_mode {
	FAKE_ONCE,
	FAKE_FROM_THEN_ON /* every later call fails, too */
};

/* The `number`-th call from now (from 1) fails with `error` and has no effect.  An error that loses
 * the context (see fake_sticky) stays: later calls return it. */
void fake_fail(unsigned number, cudaError_t error, enum fake_mode mode);

/* Ends that, gives the context back and counts calls from 0 again. */
void fake_fail_nothing(void);

int fake_sticky(cudaError_t error);

int fake_current(void); /* the calling thread's device */

/* As if a call of the caller's own had failed. */
void fake_set_pending(cudaError_t error);

/* ---- memory and streams ------------------------------------------------------------------------
 */

enum fake_kind { FAKE_DEVICE, FAKE_MANAGED, FAKE_PINNED, FAKE_HOST };

/* What a caller's cudaMalloc() and its like give: a multiple of 4096. */
void *fake_memory(enum fake_kind kind, int device, size_t bytes);
void fake_release(void *p);

/* Where the host may look at the memory at `p`. */
unsigned char *fake_view(void *p);

cudaStream_t fake_stream(int device); /* non-blocking; ends with the process */

/* Runs everything that is queued. */
void fake_finish(void);

/* ---- capture ------------------------------------------------------------------------------------
 */

void fake_capture_begin(cudaStream_t stream);
void fake_capture_end(cudaStream_t stream);

/* Queues what was captured. */
void fake_replay(cudaStream_t stream);

/* ---- kernels ------------------------------------------------------------------------------------
 */

/* "direct", "stream", "vector", "realigned", "shifted", "tile33", three of them after "imatcopy ",
 * "rows", "digest" or "verify". */
const char *fake_family(const void *entry);

#endif /* FAKECUDA_H */
