#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES ((size_t)1 << 20)

struct line {
	struct tsw_job *first, **last;
};

struct tsw_pool {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct line line[TSW_LINES]; /* jobs with indices left */
	unsigned turn;		     /* the line to look at first */
	int stopping;
	unsigned threads;
	uint64_t random;
	pthread_t thread[];
};

/* ---- under the lock -------------------------------------------------------------------------- */

static struct line *line_of(struct tsw_pool *p, const struct tsw_job *job)
{
	return &p->line[job->line];
}

static void append(struct tsw_pool *p, struct tsw_job *job)
{
	struct line *line = line_of(p, job);

	job->link = NULL;
	*line->last = job;
	line->last = &job->link;
}

static void take(struct tsw_pool *p, struct tsw_job **at)
{
	const struct tsw_job *job = *at;

	*at = job->link;
	if (!job->link)
		line_of(p, job)->last = at;
	if (job->alone)
		pthread_cond_broadcast(&p->work);
}

/* Takes the job out of the line if it stands there. */
static void withdraw(struct tsw_pool *p, const struct tsw_job *job)
{
	for (struct tsw_job **at = &line_of(p, job)->first; *at; at = &(*at)->link)
		if (*at == job) {
			take(p, at);
			return;
		}
}

static void finish(struct tsw_pool *p, struct tsw_job *job, tsw_status status)
{
	job->done++;
	if (status == TSW_OK || job->status != TSW_OK)
		return;
	job->status = status;
	snprintf(job->detail, sizeof job->detail, "%s", tsw_last_error());
	job->done += job->count - job->next; /* those that will not be begun */
	job->next = job->count;
	withdraw(p, job);
}

static int is_done(const struct tsw_job *job)
{
	return job->done == job->count;
}

static int is_full(const struct tsw_job *job)
{
	return job->most && job->running >= job->most;
}

static int is_alone(const struct tsw_job *job)
{
	return job && job->alone;
}

/* Where the first job stands that may have one more thread, in the line whose turn it is or else in
 * the next; NULL if none may. */
static struct tsw_job **first_open(struct tsw_pool *p)
{
	for (unsigned i = 0; i < TSW_LINES; i++) {
		const unsigned line = (p->turn + i) % TSW_LINES;
		struct tsw_job **at = &p->line[line].first;

		if (line == TSW_TO_READ && is_alone(p->line[TSW_TO_WRITE].first))
			continue;
		while (*at && is_full(*at))
			at = &(*at)->link;
		if (*at)
			return at;
	}
	return NULL;
}

/* Works on one index of the job that stands at *at; the lock is let go meanwhile. */
static void work_on(struct tsw_pool *p, struct tsw_job **at)
{
	struct tsw_job *job = *at;
	uint64_t index = job->next++;
	tsw_status status;

	p->turn = (job->line + 1) % TSW_LINES;
	job->running++;
	if (job->next == job->count)
		take(p, at);
	pthread_mutex_unlock(&p->lock);
	status = job->run(job->arg, index);
	pthread_mutex_lock(&p->lock);
	if (is_full(job))
		pthread_cond_signal(&p->work);
	job->running--;
	finish(p, job, status);
	if (is_done(job))
		pthread_cond_broadcast(&p->done);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *worker(void *arg)
{
	struct tsw_pool *p = arg;
	struct tsw_job **at;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!(at = first_open(p)) && !p->stopping)
			pthread_cond_wait(&p->work, &p->lock);
		if (!at)
			break;
		work_on(p, at);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Signals are for the caller's threads.  Stacks of the usual size would take a good part of a small
 * RLIMIT_AS. */
static int start_threads(struct tsw_pool *p, unsigned threads)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int error = pthread_attr_init(&attr);

	if (error)
		return error;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (!error && p->threads < threads) {
		error = pthread_create(&p->thread[p->threads], &attr, worker, p);
		p->threads += !error;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return error;
}

tsw_status tsw_pool_start(struct tsw_pool **pool, unsigned threads, uint64_t seed)
{
	struct tsw_pool *p = calloc(1, sizeof *p + threads * sizeof p->thread[0]);

	*pool = p;
	if (!p)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no memory for %u threads", threads);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->done, NULL);
	for (unsigned i = 0; i < TSW_LINES; i++)
		p->line[i].last = &p->line[i].first;
	p->random = seed;
	/* Fewer threads are slower, none is an error. */
	if (threads && start_threads(p, threads) && !p->threads) {
		tsw_pool_stop(p);
		*pool = NULL;
		return tsw_fail(TSW_ERR_NO_MEMORY, "no thread could be started");
	}
	return TSW_OK;
}

void tsw_pool_stop(struct tsw_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stopping = 1;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->threads; i++)
		pthread_join(pool->thread[i], NULL);
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

void tsw_pool_submit(struct tsw_pool *pool, struct tsw_job *job)
{
	job->next = job->done = 0;
	job->running = 0;
	job->status = TSW_OK;
	job->submitted = 1;
	if (!job->count)
		return;
	pthread_mutex_lock(&pool->lock);
	append(pool, job);
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

/* One index of some job, drawn by lot. */
static void work_by_lot(struct tsw_pool *p)
{
	struct tsw_job **at;
	unsigned jobs = 0, skip;

	for (unsigned i = 0; i < TSW_LINES; i++)
		for (at = &p->line[i].first; *at; at = &(*at)->link)
			jobs++;
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	skip = (unsigned)(p->random >> 33) % jobs;
	for (unsigned i = 0; i < TSW_LINES; i++)
		for (at = &p->line[i].first; *at; at = &(*at)->link)
			if (!skip--) {
				work_on(p, at);
				return;
			}
}

tsw_status tsw_pool_wait(struct tsw_pool *pool, struct tsw_job *job)
{
	if (!job->submitted)
		return TSW_OK;
	pthread_mutex_lock(&pool->lock);
	while (!is_done(job)) {
		if (pool->threads)
			pthread_cond_wait(&pool->done, &pool->lock);
		else
			work_by_lot(pool);
	}
	pthread_mutex_unlock(&pool->lock);
	job->submitted = 0;
	return job->status == TSW_OK ? TSW_OK : tsw_fail(job->status, "%s", job->detail);
}

int tsw_pool_ended(struct tsw_pool *pool, const struct tsw_job *job)
{
	int ended;

	pthread_mutex_lock(&pool->lock);
	ended = !job->submitted || is_done(job);
	pthread_mutex_unlock(&pool->lock);
	return ended;
}
