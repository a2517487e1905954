/* Threads that work through jobs.  A job is a function called once for each index below a count;
 * the indices of all submitted jobs are worked on side by side, so that reads and writes keep the
 * disk busy together. */
#ifndef TSW_POOL_H
#define TSW_POOL_H

#include "../status.h"

#include <stdint.h>

/* Jobs of a kind wait for one another, in the order they came; the kinds take turns. */
enum tsw_line { TSW_TO_TURN, TSW_TO_READ, TSW_TO_WRITE, TSW_LINES };

struct tsw_job {
	tsw_status (*run)(void *arg, uint64_t index);
	void *arg;
	uint64_t count;
	unsigned most; /* threads that may work on it at a time; 0: any number */
	enum tsw_line line;
	int alone; /* nothing is read before all of it has been begun */
	/* The pool's: */
	uint64_t next, done;
	unsigned running;
	int submitted;
	tsw_status status;
	char detail[256]; /* of the first failure */
	struct tsw_job *link;
};

struct tsw_pool;

/* With no threads the jobs are run by tsw_pool_wait, in an order drawn from `seed` among all that
 * are submitted, so that a test meets the orders that threads may bring about. */
tsw_status tsw_pool_start(struct tsw_pool **pool, unsigned threads, uint64_t seed);

/* The job stays the caller's and must stay in place until it has been waited for. */
void tsw_pool_submit(struct tsw_pool *pool, struct tsw_job *job);

/* Until every index of the job has been worked on, or one has failed and the others that were begun
 * have ended: the first failure.  A job that was not submitted is done. */
tsw_status tsw_pool_wait(struct tsw_pool *pool, struct tsw_job *job);

/* Is there nothing left to wait for? */
int tsw_pool_ended(struct tsw_pool *pool, const struct tsw_job *job);

static inline tsw_status tsw_pool_run(struct tsw_pool *pool, struct tsw_job *job)
{
	tsw_pool_submit(pool, job);
	return tsw_pool_wait(pool, job);
}

/* Waits for the threads; every job must have been waited for.  NULL is nothing. */
void tsw_pool_stop(struct tsw_pool *pool);

#endif /* TSW_POOL_H */
