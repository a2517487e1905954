/* What the files of tests/fakecuda tell each other. */
#ifndef FAKECUDA_INTERNAL_H
#define FAKECUDA_INTERNAL_H

#include "fakecuda.h"
#include "launch_simt.h"

/* Notes what went wrong first. */
void fake_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- memory.c ----------------------------------------------------------------------------------
 */

struct fake_block {
	enum fake_kind kind;
	int device;
	size_t bytes;
	unsigned char *host, *on_device; /* the same bytes; equal in managed memory */
	int own;			 /* allocated by the code under test */
};

/* The block that holds the byte at `p`, by either address; NULL for plain host memory. */
struct fake_block *fake_block_of(const void *p);

struct fake_block *fake_block_new(enum fake_kind kind, int device, size_t bytes);
void fake_block_free(struct fake_block *block);

/* Opens device memory to this process, or shuts it.  While it is open tests/simt knows what a
 * kernel on `device` may touch. */
void fake_open(int device);
void fake_shut(void);

/* ---- queue.c -----------------------------------------------------------------------------------
 */

struct CUstream_st {
	int device, capturing;
};

#define FAKE_PARAMETER 320 /* bytes, at most */

struct fake_work {
	cudaStream_t stream;
	int device;
	enum { FAKE_LAUNCH, FAKE_SET, FAKE_COPY } what;
	struct simt_launch launch;
	_Alignas(16) unsigned char parameter[FAKE_PARAMETER];
	/* FAKE_SET, FAKE_COPY */
	unsigned char *to, data[64];
	size_t bytes;
};

void fake_queue(const struct fake_work *work);

/* Runs what is queued on `stream`, whose device is `device` if it is NULL. */
void fake_run_stream(cudaStream_t stream);

/* ---- kernels.c ---------------------------------------------------------------------------------
 */

struct fake_kernel {
	const char *family;
	simt_call *call;
	size_t bytes; /* of its parameter */
};
struct fake_kernel fake_kernel_of(const void *entry);

#endif /* FAKECUDA_INTERNAL_H */
