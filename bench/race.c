/* Entries against the ceiling of the same run.
 *
 * First the ceilings alone, in turn; the fastest by its median is the ceiling of this shape.  Then
 * every entry: verified on fresh data after a single application (an even number would pass one
 * that does nothing), then timed in pairs with the ceiling, the first of a pair in alternation:
 *
 *     ceiling entry | entry ceiling | ceiling entry | ...        one ratio per pair
 *
 * so that a machine that slows down for a while slows both.  The row's ratio is the median of the
 * pairs' ratios, not the ratio of two medians. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define MAX_CEILINGS 8
#define MAX_REPS 1000000 /* options.c allows no more */

/* A disturbed run is measured again this often before it is called void. */
#define RETRIES 2

/* Too little data in one launch says nothing about the memory: start-up is in the way. */
#define FLOOR_BYTES 1000000000u

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, ascending);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct tsw_matrices bench_matrices(const struct bench_set *set, size_t copy, int out)
{
	const struct bench_shape *s = &set->shape;

	return (struct tsw_matrices){
		.base = (out ? set->out : set->in) + copy * set->pitch,
		.array = s->array && !out ? (void *const *)set->arrays + copy * s->count : NULL,
		.n = s->n,
		.ld = s->ld,
		.elem_size = s->elem_size,
		.stride = s->stride,
		.count = s->count,
	};
}

void bench_plan(struct bench_set *set, size_t working_set, size_t most_calls)
{
	const struct bench_shape *s = &set->shape;
	const size_t one = ((s->n - 1) * s->ld + (s->cols ? s->cols : s->n)) * s->elem_size;

	/* Side by side in one larger matrix the last matrix does not begin past the span of one. */
	set->span_bytes = (s->count - 1) * s->stride * s->elem_size + one;
	set->moved_bytes = s->count * s->n * (s->cols ? s->cols : s->n) * s->elem_size;
	/* 64 bytes beyond the span may be loaded by pattern kernels, which round up to vectors. */
	set->pitch = (set->span_bytes + s->offset + 64 + 255) / 256 * 256;
	set->copies = 1;
	set->calls = 1;
	if (set->mode == BENCH_STREAM) {
		set->copies = (working_set + set->moved_bytes - 1) / set->moved_bytes;
		set->calls = set->copies < most_calls ? set->copies : most_calls;
	} else if (set->mode == BENCH_RESIDENT) {
		const size_t enough = ((size_t)64 << 20) / set->moved_bytes + 1;

		set->calls = enough < most_calls ? enough : most_calls;
	} else if (set->mode == BENCH_GRAPH) {
		set->calls = 1000;
	}
}

int bench_apply_calls(const struct bench_entry *entry, struct bench_set *set)
{
	size_t next = set->next;

	for (size_t call = 0; call < set->calls; call++) {
		const int status = entry->apply(entry, set, next);

		if (status)
			return status;
		next = next + 1 < set->copies ? next + 1 : 0;
	}
	set->next = next;
	return BENCH_OK;
}

static double gb_per_s(const struct bench_set *set, double ms)
{
	return set->passes * (double)set->moved_bytes / ms / 1e6;
}

static int is_disturbed(const struct bench_backend *backend, const struct bench_set *set, double ms)
{
	const double floor = backend->floor_gb_per_s();

	return floor > 0 && set->passes == 2 && set->mode == BENCH_STREAM &&
	       set->moved_bytes >= FLOOR_BYTES && gb_per_s(set, ms) < floor;
}

/* Fills in the statistics of a row from its pairs; times are of one application. */
static void summarize(struct bench_row *row, double *ms, double *ceiling_ms, size_t reps)
{
	double *const ratio = malloc(reps * sizeof *ratio);

	row->ratio = row->ratio_min = row->ratio_max = NAN;
	if (ratio) {
		for (size_t i = 0; i < reps; i++)
			ratio[i] = ceiling_ms[i] / ms[i];
		row->ratio = bench_median(ratio, reps);
		row->ratio_min = ratio[0];
		row->ratio_max = ratio[reps - 1];
	}
	free(ratio);
	row->reps = (int)reps;
	row->ms_median = bench_median(ms, reps);
	row->ms_min = ms[0];
	row->ms_max = ms[reps - 1];
	row->gb_per_s = gb_per_s(row->set, row->ms_median);
	row->ceiling_ms_median = bench_median(ceiling_ms, reps);
	row->ceiling_gb_per_s = gb_per_s(row->set, row->ceiling_ms_median);
}

struct race {
	const struct bench_backend *backend;
	const struct bench_options *options;
	struct bench_set set;
	const struct bench_entry *ceilings, *ceiling; /* all, and the best */
	double *ms, *ceiling_ms;		      /* one a repetition */
};

static int usable(const struct bench_entry *entry, const struct bench_set *set)
{
	return !entry->out_of_place || set->out;
}

/* The ceilings alone, and which is the best. */
static int race_ceilings(struct race *race)
{
	const struct bench_entry *const list = race->ceilings;
	const size_t reps = (size_t)race->options->reps;
	double *const times = malloc(MAX_CEILINGS * reps * sizeof *times);
	double best = INFINITY, pair[2];
	size_t count = 0, best_index = 0;
	int status = times ? BENCH_OK : BENCH_FAILED;

	for (; list[count].name; count++) {
		/* A repetition before the first is the warm-up. */
		for (size_t i = 0; usable(&list[count], &race->set) && i < 1 && !status; i++)
			status = race->backend->time_pair(&list[count], NULL, &race->set, pair);
	}
	for (size_t i = 0; i < reps && !status; i++) {
		for (size_t c = 0; c < count && !status; c++) {
			if (!usable(&list[c], &race->set))
				continue;
			status = race->backend->time_pair(&list[c], NULL, &race->set, pair);
			times[c * reps + i] = pair[0];
		}
	}
	for (size_t c = 0; c < count && !status; c++) {
		if (!usable(&list[c], &race->set))
			continue;
		memcpy(race->ms, times + c * reps, reps * sizeof *times);
		if (bench_median(race->ms, reps) < best) {
			best = bench_median(race->ms, reps);
			best_index = c;
		}
	}
	race->ceiling = &list[best_index];
	for (size_t c = 0; c < count && !status; c++) {
		struct bench_row row = {
			.backend = race->backend->name,
			.entry = &list[c],
			.set = &race->set,
			.threads = race->set.threads,
			.ceiling = list[best_index].name,
			.is_void = is_disturbed(race->backend, &race->set, best),
		};

		if (!usable(&list[c], &race->set))
			continue;
		memcpy(race->ms, times + c * reps, reps * sizeof *times);
		memcpy(race->ceiling_ms, times + best_index * reps, reps * sizeof *times);
		summarize(&row, race->ms, race->ceiling_ms, reps);
		bench_print_row(race->options, &row);
	}
	free(times);
	return status;
}

/* The digest before a transpose and after it must agree, and the place must count. */
static int verify_checksum(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong)
{
	const struct bench_backend *const backend = entry->self;
	tsw_digest before, after, same;
	int status = backend->verify(&bench_library, set, wrong);

	if (!status)
		status = bench_call_checksum(set, 0, 0, &before);
	if (!status)
		status = bench_library.apply(&bench_library, set, 0);
	if (!status)
		status = bench_call_checksum(set, 0, 1, &after);
	if (!status)
		status = bench_call_checksum(set, 0, 0, &same);
	if (!status)
		*wrong += (before.placed != after.placed) + (before.values != after.values) +
			  (set->shape.n > 1 && before.placed == same.placed);
	return status;
}

static int apply_checksum(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	tsw_digest digest;

	(void)entry;
	return bench_call_checksum(set, copy, 0, &digest);
}

size_t bench_checksum_entries(const struct bench_backend *backend, struct bench_entry *list)
{
	list[0] = (struct bench_entry){
		.name = "checksum",
		.kind = BENCH_KERNEL,
		.self = backend,
		.apply = apply_checksum,
		.verify = verify_checksum,
	};
	return 1;
}

static int time_entry(struct race *race, const struct bench_entry *entry)
{
	const struct bench_backend *const backend = race->backend;
	double pair[2];
	int status = backend->time_pair(entry, NULL, &race->set, pair);

	for (size_t i = 0; i < (size_t)race->options->reps && !status; i++) {
		const int entry_first = i % 2;

		status = entry_first ? backend->time_pair(entry, race->ceiling, &race->set, pair)
				     : backend->time_pair(race->ceiling, entry, &race->set, pair);
		race->ms[i] = pair[!entry_first];
		race->ceiling_ms[i] = pair[entry_first];
	}
	return status;
}

/* One entry: verified, timed, printed.  A row found wrong is printed too, and remembered. */
static int race_entry(struct race *race, const struct bench_entry *entry)
{
	struct bench_row row = {
		.backend = race->backend->name,
		.entry = entry,
		.set = &race->set,
		.threads = entry->threads ? entry->threads : race->set.threads,
		.ceiling = race->ceiling->name,
		.verified = 1,
	};
	int status;

	if (!usable(entry, &race->set))
		return BENCH_OK;
	status = entry->prepare ? entry->prepare(entry, &race->set) : BENCH_OK;
	if (!status)
		status = (entry->verify ? entry->verify : race->backend->verify)(entry, &race->set,
										 &row.wrong);
	if (status == BENCH_UNSUPPORTED)
		return BENCH_OK;
	for (int attempt = 0; attempt <= RETRIES && !status; attempt++) {
		status = time_entry(race, entry);
		if (status)
			break;
		summarize(&row, race->ms, race->ceiling_ms, (size_t)race->options->reps);
		row.is_void = is_disturbed(race->backend, &race->set, row.ceiling_ms_median);
		if (!row.is_void)
			break;
	}
	if (status) {
		bench_complain("%s: failed on n = %zu, elem_size = %zu", entry->name,
			       race->set.shape.n, race->set.shape.elem_size);
		return status;
	}
	bench_print_row(race->options, &row);
	if (row.wrong)
		bench_complain("%s: %ju elements are wrong, n = %zu, ld = %zu, elem_size = %zu",
			       entry->name, (uintmax_t)row.wrong, race->set.shape.n,
			       race->set.shape.ld, race->set.shape.elem_size);
	return row.wrong ? BENCH_FAILED : BENCH_OK;
}

/* For a profiler: every entry once. */
static int profile_entry(struct race *race, const struct bench_entry *entry)
{
	double pair[2];

	return usable(entry, &race->set) ? race->backend->time_pair(entry, NULL, &race->set, pair)
					 : BENCH_OK;
}

int bench_race(const struct bench_backend *backend, const struct bench_options *options,
	       const struct bench_shape *shape, const struct bench_entry *list, size_t entries)
{
	struct race race = {
		.backend = backend,
		.options = options,
		.ceilings = options->checksum ? backend->read_ceilings : backend->ceilings,
		.set = {.shape = *shape,
			.mode = options->mode,
			.seed = options->seed,
			.passes = options->checksum ? 1 : 2,
			.waits = options->checksum},
		.ms = malloc((size_t)options->reps * sizeof(double)),
		.ceiling_ms = malloc((size_t)options->reps * sizeof(double)),
	};
	int status = BENCH_FAILED, failed = 0;

	if (race.ms && race.ceiling_ms)
		status = backend->open(&race.set, options);
	if (!status && options->mode == BENCH_PROFILE) {
		for (size_t i = 0; race.ceilings[i].name; i++)
			failed |= profile_entry(&race, &race.ceilings[i]) == BENCH_FAILED;
		for (size_t i = 0; i < entries; i++)
			failed |= profile_entry(&race, &list[i]) == BENCH_FAILED;
	} else if (!status) {
		status = race_ceilings(&race);
		for (size_t i = 0; i < entries && !status; i++)
			failed |= race_entry(&race, &list[i]) != BENCH_OK;
	}
	backend->close(&race.set);
	free(race.ms);
	free(race.ceiling_ms);
	return status != BENCH_OK || failed;
}
