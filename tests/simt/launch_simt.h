/* Launching kernel text on the host: what tests, and kernels through simt.h, know of simt.c. */
#ifndef LAUNCH_SIMT_H
#define LAUNCH_SIMT_H

#include <stddef.h>
#include <stdint.h>

struct simt_dim3 {
	unsigned x, y, z;
};

/* ---- for tests ------------------------------------------------------------------------------- */

/* Calls the kernel at `entry` with the one structure at `param`. */
typedef void simt_call(const void *entry, const void *param);

/* Defines the simt_call of kernels that take a `struct name`. */
#define SIMT_DEFINE_CALL(name)                                                                     \
	static void simt_call_##name(const void *entry, const void *param)                         \
	{                                                                                          \
		((void (*)(struct name))(uintptr_t)entry)(*(const struct name *)param);            \
	}

struct simt_launch {
	simt_call *call;
	const void *entry, *param;
	uint64_t grid;		   /* blocks, a 1-D grid */
	unsigned block_x, block_y; /* threads of a block, at most 1024 */
	size_t shared_bytes;	   /* dynamic shared memory */
	uint64_t order;		   /* order of blocks and threads: 0 first to last, 1 last to first,
				    * any other number seeds a shuffle */
};

/* Runs every thread of every block.  NULL, or what went wrong first, in words (valid until the next
 * launch). */
const char *simt_launch(const struct simt_launch *launch);

/* The same of a kernel as the library knows it. */
struct tsw_kernel;
const char *simt_launch_kernel(const struct tsw_kernel *kernel, simt_call *call, const void *param,
			       uint64_t blocks, uint64_t order);

/* In launches of at most `limit` blocks, 0 meaning all at once, as the engines do it: *first, which
 * lies in *param, is the first block of each. */
const char *simt_launch_split(const struct tsw_kernel *kernel, simt_call *call, const void *param,
			      uint64_t *first, uint64_t blocks, uint64_t limit, uint64_t order);

/* Memory that the following launches may touch.  Once some is named, trace.c reports an access of
 * any other.  `row_bytes` of every `pitch_bytes` may be written, all of it read; a pitch of 0
 * allows all.  Without trace.c's instrumentation these do nothing. */
void simt_allow(const void *base, size_t bytes, size_t row_bytes, size_t pitch_bytes);
void simt_allow_nothing(void);

/* True if loads and stores of kernels come to trace.c in this build. */
int simt_traced(void);

/* ---- for kernels, through simt.h ------------------------------------------------------------- */

struct simt_site {
	const char *file;
	int line;
	int number; /* of this barrier among all: two may stand on one line */
};

enum simt_shuffle { SIMT_LANE, SIMT_XOR, SIMT_UP, SIMT_DOWN };
enum simt_atomic {
	SIMT_ADD,
	SIMT_MIN,
	SIMT_MAX,
	SIMT_OR,
	SIMT_AND,
	SIMT_EXCLUSIVE_OR,
	SIMT_EXCHANGE,
	SIMT_COMPARE
};

extern struct simt_dim3 simt_thread_idx, simt_block_idx, simt_block_dim, simt_grid_dim;

void simt_barrier(const struct simt_site *site);
void simt_syncwarp(const struct simt_site *site, uint32_t mask);
void simt_shuffle(const struct simt_site *site, enum simt_shuffle how, uint32_t mask,
		  const void *in, void *out, size_t size, int lane, int width);
uint32_t simt_ballot(const struct simt_site *site, uint32_t mask, int predicate);
uint64_t simt_atomic(enum simt_atomic how, void *p, size_t size, int is_signed, uint64_t value,
		     uint64_t compare);
void *simt_dynamic_shared(void);
void simt_reads(const void *p, size_t bytes); /* and drops what it read */

/* Begins to copy bytes `from` up to `to` of a vector to shared memory, and zeros from there up to
 * `end`; the vector's other bytes become anything. */
void simt_copy(void *shared, const void *global, uint32_t from, uint32_t to, uint32_t end);

/* Closes this thread's group of copies; waits until no more than `groups` closed ones are under
 * way.
 */
void simt_copies_commit(void);
void simt_copies_wait(uint32_t groups);

#endif /* LAUNCH_SIMT_H */
