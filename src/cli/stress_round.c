/* One round of stress: fill, digest, transpose an odd number of times, digest, compare every
 * element.
 */
#include <stdlib.h>

#include "cli.h"
#include "signals.h"
#include "stress.h"

enum { FILL, DIGEST, TRANSPOSE, DIGEST_AGAIN, CHECK, STEPS };

static const char *const step_names[STEPS] = {"filling", "digesting", "transposing", "digesting",
					      "checking"};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void note_rate(struct worker *w, struct round *r, double time_ms)
{
	double n = (double)w->arena.n;

	r->time_ms = time_ms;
	r->gb_per_s = time_ms > 0 ? 2 * n * n * (double)w->arena.elem_size / time_ms / 1e6 : 0;
	pthread_mutex_lock(&w->all->lock);
	w->now = *r;
	pthread_mutex_unlock(&w->all->lock);
}

static tsw_status transpose_all(struct worker *w, struct round *r)
{
	double times[TRANSPOSES];

	for (int i = 0; i < TRANSPOSES; i++) {
		tsw_status status = arena_transpose(&w->arena, &times[i]);

		if (status)
			return status;
		note_rate(w, r, times[i]);
	}
	qsort(times, TRANSPOSES, sizeof *times, compare_doubles);
	note_rate(w, r, times[TRANSPOSES / 2]);
	r->health = tsw_nvml_health(&w->nvml);
	return TSW_OK;
}

/* A step, and the faults that a test has asked for behind it. */
static tsw_status do_step(struct worker *w, struct round *r, int number, tsw_digest digests[2])
{
	static const int when[STEPS] = {[FILL] = WHEN_FILLED,
					[DIGEST] = -1,
					[TRANSPOSE] = WHEN_TRANSPOSED,
					[DIGEST_AGAIN] = WHEN_DIGESTED,
					[CHECK] = WHEN_CHECKED};
	tsw_status status = TSW_OK;

	if (number == FILL)
		status = arena_fill(&w->arena, &r->content, &r->fill);
	else if (number == DIGEST)
		status = arena_digest(&w->arena, 0, &digests[0]);
	else if (number == TRANSPOSE)
		status = transpose_all(w, r);
	else if (number == DIGEST_AGAIN)
		status = arena_digest(&w->arena, 1, &digests[1]);
	else
		status = arena_check(&w->arena, &r->content, &r->wrong);
	if (status || when[number] < 0)
		return status;
	return inject(&w->all->injections, &w->arena, r->number, (enum when)when[number]);
}

static void show_step(struct worker *w, const struct round *r, const char *name)
{
	pthread_mutex_lock(&w->all->lock);
	w->now.number = r->number;
	w->now.content = r->content;
	w->step = name;
	pthread_mutex_unlock(&w->all->lock);
}

int round_run(struct worker *w, struct round *r)
{
	tsw_digest digests[2] = {{0, 0}, {0, 0}};

	for (int i = 0; i < STEPS; i++) {
		/* Not before it is said what made the digests differ. */
		if (signals_noted() && !(i == CHECK && (r->placed_differs || r->values_differs)))
			return EXIT_OK;
		show_step(w, r, step_names[i]);
		if (do_step(w, r, i, digests)) {
			pthread_mutex_lock(&w->all->lock);
			complain("%s, round %llu, %s: %s", w->arena.name,
				 (unsigned long long)r->number, step_names[i], tsw_last_error());
			pthread_mutex_unlock(&w->all->lock);
			return EXIT_FAILED;
		}
		if (i == DIGEST_AGAIN) {
			r->placed_differs = digests[0].placed != digests[1].placed;
			r->values_differs = digests[0].values != digests[1].values;
		}
	}
	r->finished = 1;
	return EXIT_OK;
}

enum fault fault_of(const struct round *r)
{
	if (r->wrong.elements)
		return r->placed_differs && !r->values_differs ? FAULT_PLACE : FAULT_MEMORY;
	if (r->placed_differs || r->values_differs)
		return FAULT_DIGEST;
	return r->wrong.padding_bytes ? FAULT_PADDING : FAULT_NONE;
}
