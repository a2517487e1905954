/* Copies to shared memory that run beside their thread (cp.async): nothing of one is there before
 * the thread has waited for its group, and what stood there is gone when it has begun.  So a kernel
 * that waits for too few groups, or not at all, computes with poison. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 1024
#define VECTOR 16
#define POISON 0x5a /* not that of gaps: a vector that reaches into one shows there */

struct copy {
	unsigned char *shared;
	const unsigned char *global;
	unsigned from, to, end;
	uint32_t group;
};

/* A thread's copies in the order in which they began; kept from block to block for the room. */
static struct queue {
	struct copy *copies;
	size_t count, room;
	uint32_t group;	    /* of the next copy; those before it are closed */
	uint32_t block_run; /* whose copies these are */
} queues[MAX_THREADS];

static struct queue *mine(void)
{
	struct queue *q = &queues[simt_now.thread];

	if (q->block_run != simt_now.block_run) {
		q->count = q->group = 0;
		q->block_run = simt_now.block_run;
	}
	return q;
}

/* Both when it begins and when it is done: in between it may read and write at any time. */
static void touch(const struct copy *c)
{
	simt_trace_copy(c->shared + c->from, c->end - c->from, c->global + c->from,
			c->to - c->from);
	memset(c->shared, POISON, VECTOR);
}

static void finish(const struct copy *c)
{
	touch(c);
	memcpy(c->shared + c->from, c->global + c->from, c->to - c->from);
	memset(c->shared + c->to, 0, c->end - c->to);
}

void simt_copy(void *shared, const void *global, uint32_t from, uint32_t to, uint32_t end)
{
	struct queue *q = mine();
	const struct copy c = {shared, global, to < from ? to : from, to, end, q->group};

	if ((uintptr_t)shared % VECTOR)
		simt_fail("copies a vector to a misaligned address, %p", shared);
	if (q->count == q->room) {
		q->room = q->room ? 2 * q->room : 64;
		q->copies = realloc(q->copies, q->room * sizeof *q->copies);
		if (!q->copies)
			abort();
	}
	touch(&c);
	q->copies[q->count++] = c;
}

void simt_copies_commit(void)
{
	mine()->group++;
}

void simt_copies_wait(uint32_t groups)
{
	struct queue *q = mine();
	size_t done = 0;

	for (; done < q->count && q->copies[done].group + groups < q->group; done++)
		finish(&q->copies[done]);
	if (!done)
		return;
	q->count -= done;
	memmove(q->copies, q->copies + done, q->count * sizeof *q->copies);
}
