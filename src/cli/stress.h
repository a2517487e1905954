/* What the files of `tileswap stress` share.
 *
 *     cmd_stress.c      options, memory, a thread a device, the summary
 *     stress_round.c    one round on one device, and what its findings mean
 *     stress_print.c    lines of text and of JSON
 *     stress_live.c     the line on the terminal
 *     inject.c          faults on purpose, for the tests
 */
#ifndef TSW_STRESS_H
#define TSW_STRESS_H

#include <pthread.h>

#include "../verify/device.h"
#include "../verify/nvml.h"
#include "arena.h"
#include "inject.h"
#include "options.h"

#define TRANSPOSES 3 /* odd: an even number would pass a transpose that does nothing */

/* What a round's findings mean.  The digests are taken after the fill and after the transposes. */
enum fault {
	FAULT_NONE,
	/* Wrong elements, and `values` differs: bits were lost.  Also if both digests agree: then
	 * what the transposes moved was wrong already, or became wrong afterwards. */
	FAULT_MEMORY,
	FAULT_PLACE,  /* wrong elements, `values` agrees, `placed` differs: whole, but elsewhere */
	FAULT_DIGEST, /* the digests differ, yet every element is right: misread or miscalculated */
	FAULT_PADDING, /* every element is right, but bytes outside were changed */
	FAULTS
};

struct round {
	uint64_t number;
	struct tsw_content content;
	const char *fill;	  /* who made it */
	double time_ms, gb_per_s; /* of one transpose, the median */
	int placed_differs, values_differs;
	int finished; /* no signal came between its steps */
	struct tsw_wrong wrong;
	struct tsw_health health; /* right after the transposes */
};

struct totals {
	uint64_t rounds, bad_rounds, faults[FAULTS], wrong, wrong_padding_bytes;
	uint64_t bytes;		/* read and written by one transpose of each round */
	double time_ms;		/* that it took */
	double temperature_max; /* negative: unknown */
};

struct stress;

/* A device at work. */
struct worker {
	struct stress *all;
	struct arena arena;
	struct tsw_device device; /* of a GPU */
	struct tsw_nvml nvml;
	pthread_t thread;
	int result; /* an exit code */

	/* The rest changes under all->lock. */
	struct totals totals;
	struct round now;
	const char *step;
	int ended;
};

struct stress {
	const struct options *o;
	struct injections injections;
	uint64_t seed;
	double begun;
	struct worker *workers;
	int count;
	/* Also held by whoever prints. */
	pthread_mutex_t lock;
	pthread_cond_t ended; /* a worker has */
};

extern const char *const pattern_names[TSW_PATTERNS + 1]; /* ends in NULL */

/* ---- stress_round.c -------------------------------------------------------------------------- */

enum fault fault_of(const struct round *r);

/* r->number and r->content are given.  EXIT_OK also for a round that a signal stopped, or that
 * found something wrong. */
int round_run(struct worker *w, struct round *r);

/* ---- stress_print.c -------------------------------------------------------------------------- */

/* A finished round, and on stderr what was wrong where. */
void print_round(const struct worker *w, const struct round *r);

/* The sums of one device among several (a line "device"), and of all of them ("summary"). */
void print_device(const struct worker *w);
void print_summary(const struct stress *s, const struct totals *sum);

/* ---- stress_live.c --------------------------------------------------------------------------- */

/* Draws the line until every worker has ended. */
void live_watch(struct stress *s);

#endif /* TSW_STRESS_H */
