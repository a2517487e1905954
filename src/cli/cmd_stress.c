/* tileswap stress: rounds of fill, digest, transpose, digest, compare, on each device at once. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli.h"
#include "hostmem.h"
#include "number.h"
#include "signals.h"
#include "stress.h"

#define DEFAULT_ELEM_SIZE 4

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Round 1 takes the seed itself, so that any round can be repeated by the seed it prints. */
static uint64_t round_seed(uint64_t seed, uint64_t number)
{
	uint64_t z = seed + number * 0x9e3779b97f4a7c15u;

	if (number == 1)
		return seed;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* The patterns in turn, unless one was asked for. */
static uint32_t round_pattern(const struct options *o, uint64_t number)
{
	if (o->pattern > PATTERN_CYCLE)
		return (uint32_t)(o->pattern - PATTERN_CYCLE - 1);
	return (uint32_t)((number - 1) % TSW_PATTERNS);
}

static void count(struct worker *w, const struct round *r)
{
	struct totals *t = &w->totals;
	const enum fault fault = fault_of(r);

	t->rounds++;
	t->bad_rounds += fault != FAULT_NONE;
	t->faults[fault]++;
	t->wrong += r->wrong.elements;
	t->wrong_padding_bytes += r->wrong.padding_bytes;
	t->bytes += 2 * (uint64_t)w->arena.n * w->arena.n * w->arena.elem_size;
	t->time_ms += r->time_ms;
	if (r->health.temperature_c > t->temperature_max)
		t->temperature_max = r->health.temperature_c;
}

static int goes_on(const struct stress *s, uint64_t number)
{
	const struct options *o = s->o;
	uint64_t rounds = given(o, OPT_ROUNDS) ? o->rounds : given(o, OPT_SECONDS) ? UINT64_MAX : 1;

	if (signals_noted() || ferror(stdout) || number > rounds)
		return 0;
	return number == 1 || !given(o, OPT_SECONDS) || seconds_now() - s->begun < o->seconds;
}

static int run_rounds(struct worker *w)
{
	struct stress *s = w->all;

	for (uint64_t number = 1; goes_on(s, number); number++) {
		struct round r = {.number = number,
				  .content = {.seed = round_seed(s->seed, number),
					      .pattern = round_pattern(s->o, number)}};
		int result = round_run(w, &r);

		if (result)
			return result;
		if (!r.finished)
			break;
		pthread_mutex_lock(&s->lock);
		count(w, &r);
		print_round(w, &r);
		pthread_mutex_unlock(&s->lock);
	}
	return EXIT_OK;
}

/* A device that fails ends alone: the others go on. */
static void *work(void *arg)
{
	struct worker *w = arg;
	int result = run_rounds(w);

	pthread_mutex_lock(&w->all->lock);
	w->result = result;
	w->ended = 1;
	pthread_cond_signal(&w->all->ended);
	pthread_mutex_unlock(&w->all->lock);
	return NULL;
}

/* ---- setting up ------------------------------------------------------------------------------ */

static struct worker *add_worker(struct stress *s, int device)
{
	struct worker *w = &s->workers[s->count++];

	w->all = s;
	w->totals.temperature_max = -1;
	w->now.number = 1;
	w->step = "starting";
	arena_init(&w->arena, device, s->o->threads);
	return w;
}

/* Makes the workers that --device asks for; there is room for the host and every device.  0, or an
 * exit code after a complaint. */
static int choose(struct stress *s)
{
	const enum device device = (enum device)s->o->device;
	tsw_status cuda = device == DEVICE_CPU ? TSW_ERR_NO_CUDA : tsw_cuda_status();

	if (device == DEVICE_CUDA && cuda) {
		complain("--device cuda: %s", tsw_last_error());
		return EXIT_NO_BACKEND;
	}
	if (device == DEVICE_ALL && cuda)
		complain("only the host is here: %s", tsw_last_error());
	if (!cuda)
		for (int i = 0; i < (device == DEVICE_ALL ? tsw_device_count() : 1); i++)
			add_worker(s, i);
	if (device == DEVICE_ALL || !s->count)
		add_worker(s, -1);
	return EXIT_OK;
}

static int no_room(const struct arena *arena, size_t elem_size, uint64_t bytes)
{
	complain("%s: no matrix of %zu-byte elements fits in %" PRIu64 " bytes", arena->name,
		 elem_size, bytes);
	return EXIT_FAILED;
}

/* Where the size is ours to choose, a little less is tried if the memory that is free is not free
 * in one piece. */
static int alloc_what_fits(struct arena *arena, unsigned percent, size_t elem_size)
{
	uint64_t bytes = 0;
	size_t n;
	tsw_status status = arena->device < 0 ? TSW_OK : arena_warm_up(arena);

	if (!status)
		status = arena_spare(arena, percent, &bytes);
	for (int tries = 0; !status && tries < 32; tries++) {
		n = largest_n(bytes, elem_size);
		if (!n)
			return no_room(arena, elem_size, bytes);
		status = arena_alloc(arena, n, n, elem_size);
		if (!status)
			return EXIT_OK;
		if (status == TSW_ERR_NO_MEMORY)
			status = TSW_OK;
		bytes -= bytes / 128;
	}
	if (status)
		complain("%s: %s", arena->name, tsw_last_error());
	else
		no_room(arena, elem_size, bytes);
	return EXIT_FAILED;
}

static int alloc(const struct options *o, struct arena *arena)
{
	size_t elem_size = given(o, OPT_STRESS_ELEM_SIZE) ? o->elem_size : DEFAULT_ELEM_SIZE;
	size_t n = given(o, OPT_MEMORY) ? largest_n(o->memory.bytes, elem_size) : o->n;

	if (!given(o, OPT_STRESS_N) && !o->memory.bytes)
		return alloc_what_fits(arena, o->memory.percent, elem_size);
	if (arena_alloc(arena, n, given(o, OPT_LD) ? o->ld : n, elem_size) == TSW_OK)
		return EXIT_OK;
	complain("%s: no memory for a matrix of n = %zu, %zu-byte elements", arena->name, n,
		 elem_size);
	return EXIT_FAILED;
}

static int check_options(const struct options *o)
{
	size_t elem_size = given(o, OPT_STRESS_ELEM_SIZE) ? o->elem_size : DEFAULT_ELEM_SIZE, span;

	if (given(o, OPT_STRESS_N) && given(o, OPT_MEMORY))
		complain("--n and --memory both set the size: give one of them");
	else if (given(o, OPT_LD) && !given(o, OPT_STRESS_N))
		complain("--ld needs --n");
	else if (given(o, OPT_LD) && o->ld < o->n)
		complain("--ld %zu is smaller than --n %zu", o->ld, o->n);
	else if (given(o, OPT_STRESS_N) &&
		 number_span(o->n, given(o, OPT_LD) ? o->ld : o->n, elem_size, &span))
		complain("--n %zu: the matrix is larger than the address space", o->n);
	else if (o->memory.bytes && o->memory.bytes < elem_size)
		complain("--memory %" PRIu64 " holds no element of %zu bytes", o->memory.bytes,
			 elem_size);
	else
		return EXIT_OK;
	return EXIT_USAGE;
}

static uint64_t fresh_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
		return seed;
	return (uint64_t)(seconds_now() * 1e9);
}

/* What is to be known of a device, and its memory. */
static int prepare(struct worker *w)
{
	const struct options *o = w->all->o;
	const int is_gpu = w->arena.device >= 0;

	if (is_gpu && tsw_device_query(w->arena.device, &w->device)) {
		complain("%s: %s", w->arena.name, tsw_last_error());
		return EXIT_FAILED;
	}
	if (is_gpu && tsw_nvml_open(NULL, w->device.pci, &w->nvml) && o->verbose)
		complain("%s: no temperature and clocks: %s", w->arena.name, tsw_last_error());
	if (alloc(o, &w->arena))
		return EXIT_FAILED;
	if (o->verbose)
		complain("%s: %s%sn = %zu, elements of %zu bytes, %.2f GiB at %p", w->arena.name,
			 w->device.name, is_gpu ? ", " : "", w->arena.n, w->arena.elem_size,
			 (double)w->arena.span_bytes / (1 << 30), w->arena.a);
	return EXIT_OK;
}

/* Starts every worker, watches them, waits for them. */
static int run_all(struct stress *s)
{
	int started = 0, error = 0;

	while (started < s->count && !error) {
		struct worker *w = &s->workers[started];

		error = pthread_create(&w->thread, NULL, work, w);
		started += !error;
	}
	if (error)
		complain("%s: no thread: %s", s->workers[started].arena.name, strerror(error));
	for (int i = started; i < s->count; i++)
		s->workers[i].ended = 1;
	live_watch(s);
	for (int i = 0; i < started; i++)
		pthread_join(s->workers[i].thread, NULL);
	return error ? EXIT_FAILED : EXIT_OK;
}

static void sum_up(struct totals *sum, const struct totals *t)
{
	sum->rounds += t->rounds;
	sum->bad_rounds += t->bad_rounds;
	for (int i = 0; i < FAULTS; i++)
		sum->faults[i] += t->faults[i];
	sum->wrong += t->wrong;
	sum->wrong_padding_bytes += t->wrong_padding_bytes;
	sum->bytes += t->bytes;
	sum->time_ms += t->time_ms;
	if (t->temperature_max > sum->temperature_max)
		sum->temperature_max = t->temperature_max;
}

/* EXIT_FAILED if a device failed or anything was wrong. */
static int finish(const struct stress *s)
{
	struct totals sum = {.temperature_max = -1};
	int result = EXIT_OK;

	for (int i = 0; i < s->count; i++) {
		const struct worker *w = &s->workers[i];

		if (s->count > 1)
			print_device(w);
		sum_up(&sum, &w->totals);
		if (w->result || w->totals.bad_rounds)
			result = EXIT_FAILED;
	}
	print_summary(s, &sum);
	return result;
}

static int stress(struct stress *s)
{
	int result = EXIT_OK;

	signals_note();
	for (int i = 0; i < s->count && !result; i++)
		result = prepare(&s->workers[i]);
	s->begun = seconds_now();
	if (!result) {
		int ran = run_all(s);

		result = finish(s);
		result = result ? result : ran;
	}
	for (int i = 0; i < s->count; i++)
		arena_free(&s->workers[i].arena);
	return !result && signals_noted() ? 128 + signals_noted() : result;
}

/* The wait of the live line goes by the clock that only moves forward. */
static void make_lock(struct stress *s)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->ended, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

int cmd_stress(const struct options *o)
{
	struct stress s = {.o = o, .seed = given(o, OPT_SEED) ? o->seed : fresh_seed()};
	int result = check_options(o);

	if (!result && inject_parse(getenv("TSW_STRESS_INJECT"), &s.injections))
		result = EXIT_USAGE;
	if (result)
		return result;
	s.workers = calloc((size_t)tsw_device_count() + 1, sizeof *s.workers);
	if (!s.workers) {
		complain("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	make_lock(&s);
	result = choose(&s);
	result = result ? result : stress(&s);
	free(s.workers);
	return result;
}
