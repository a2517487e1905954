/* tileswap stress: fill, digest, transpose an odd number of times, digest, compare every element.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../verify/device.h"
#include "arena.h"
#include "cli.h"
#include "hostmem.h"
#include "json.h"
#include "number.h"
#include "progress.h"
#include "signals.h"

#define TRANSPOSES 3		/* odd: an even number would pass a transpose that does nothing */
#define PASSES (TRANSPOSES + 4) /* fill, digest, transposes, digest, check */
#define DEFAULT_ELEM_SIZE 4

struct round {
	uint64_t number, seed;
	const char *fill;
	double time_ms, gb_per_s; /* of one transpose, the median */
	int digest_differs;
	struct tsw_wrong wrong;
};

struct totals {
	uint64_t rounds, bad_rounds, wrong, wrong_padding_bytes;
	double begun, bytes, time_ms;
};

/* ---- a round --------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static tsw_status transpose_all(struct arena *arena, struct round *r)
{
	double times[TRANSPOSES], n = (double)arena->n;

	for (int i = 0; i < TRANSPOSES; i++) {
		tsw_status status = arena_transpose(arena, &times[i]);

		if (status)
			return status;
		progress_add("transposing", arena->span_bytes);
	}
	qsort(times, TRANSPOSES, sizeof *times, compare_doubles);
	r->time_ms = times[TRANSPOSES / 2];
	r->gb_per_s = r->time_ms > 0 ? 2 * n * n * (double)arena->elem_size / r->time_ms / 1e6 : 0;
	return TSW_OK;
}

/* The steps in order; a signal is looked for between them. */
static tsw_status step(struct arena *arena, struct round *r, int number, tsw_digest digests[2])
{
	switch (number) {
	case 0:
		return arena_fill(arena, r->seed, &r->fill);
	case 1:
		return arena_digest(arena, 0, &digests[0]);
	case 2:
		return transpose_all(arena, r);
	case 3:
		return arena_digest(arena, 1, &digests[1]);
	default:
		return arena_check(arena, r->seed, &r->wrong);
	}
}

/* EXIT_OK also for a round that was stopped by a signal or found something wrong. */
static int run_round(struct arena *arena, struct round *r)
{
	static const char *const names[] = {"filling", "digesting", "transposing", "digesting",
					    "checking"};
	tsw_digest digests[2] = {{0, 0}, {0, 0}};

	for (int i = 0; i < 5 && !signals_noted(); i++) {
		progress_add(names[i], 0);
		if (step(arena, r, i, digests)) {
			complain("%s, %s: %s", arena->name, names[i], tsw_last_error());
			return EXIT_FAILED;
		}
		if (i != 2)
			progress_add(names[i], arena->span_bytes);
	}
	r->digest_differs =
		digests[0].placed != digests[1].placed || digests[0].values != digests[1].values;
	return EXIT_OK;
}

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

/* ---- what is printed ------------------------------------------------------------------------- */

static int is_bad(const struct round *r)
{
	return r->digest_differs || r->wrong.elements || r->wrong.padding_bytes;
}

static void round_json(const struct arena *arena, const struct round *r)
{
	struct json j;

	json_begin(&j, stdout);
	json_text(&j, "command", "stress");
	json_text(&j, "kind", "round");
	json_whole(&j, "round", r->number);
	json_text(&j, "device", arena->name);
	json_whole(&j, "n", arena->n);
	json_whole(&j, "ld", arena->ld);
	json_whole(&j, "elem_size", arena->elem_size);
	json_hex(&j, "seed", r->seed);
	json_text(&j, "fill", r->fill);
	json_whole(&j, "transposes", TRANSPOSES);
	json_real(&j, "time_ms", r->time_ms);
	json_real(&j, "gb_per_s", r->gb_per_s);
	json_bool(&j, "digest_equal", !r->digest_differs);
	json_whole(&j, "wrong", r->wrong.elements);
	json_whole(&j, "wrong_padding_bytes", r->wrong.padding_bytes);
	json_end(&j);
}

static void round_text(const struct arena *arena, const struct round *r)
{
	printf("round %" PRIu64 ": %s n=%zu ld=%zu elem_size=%zu seed=%016" PRIx64
	       " fill=%s time_ms=%.3f gb_per_s=%.3f digest=%s wrong=%" PRIu64
	       " wrong_padding_bytes=%" PRIu64 "\n",
	       r->number, arena->name, arena->n, arena->ld, arena->elem_size, r->seed, r->fill,
	       r->time_ms, r->gb_per_s, r->digest_differs ? "differs" : "equal", r->wrong.elements,
	       r->wrong.padding_bytes);
}

static void hex(const unsigned char *bytes, unsigned n, char text[2 * TSW_WRONG_BYTES + 1])
{
	text[0] = '\0';
	for (unsigned i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

static void complain_of(const struct arena *arena, const struct round *r,
			const struct tsw_wrong_place *w)
{
	char expected[2 * TSW_WRONG_BYTES + 1], found[2 * TSW_WRONG_BYTES + 1];

	hex(w->expected, w->nbytes, expected);
	hex(w->found, w->nbytes, found);
	complain("%s, round %" PRIu64 ": element (%" PRIu64 ", %" PRIu64 ") from byte %" PRIu64
		 " is %s, not %s",
		 arena->name, r->number, w->r, w->c, w->at, found, expected);
}

static void print_round(const struct options *o, const struct arena *arena, const struct round *r)
{
	progress_hide();
	(o->json ? round_json : round_text)(arena, r);
	fflush(stdout); /* a failure is noticed by ferror() */
	for (unsigned i = 0; i < r->wrong.places; i++)
		complain_of(arena, r, &r->wrong.place[i]);
}

static void print_summary(const struct options *o, const struct totals *t)
{
	double time_ms = 1e3 * (seconds_now() - t->begun);
	double gb_per_s = t->time_ms > 0 ? t->bytes / t->time_ms / 1e6 : 0;
	struct json j;

	if (!o->json) {
		printf("summary: rounds=%" PRIu64 " bad_rounds=%" PRIu64 " wrong=%" PRIu64
		       " wrong_padding_bytes=%" PRIu64 " gb_per_s=%.3f time_ms=%.3f\n",
		       t->rounds, t->bad_rounds, t->wrong, t->wrong_padding_bytes, gb_per_s,
		       time_ms);
		return;
	}
	json_begin(&j, stdout);
	json_text(&j, "command", "stress");
	json_text(&j, "kind", "summary");
	json_whole(&j, "rounds", t->rounds);
	json_whole(&j, "bad_rounds", t->bad_rounds);
	json_whole(&j, "wrong", t->wrong);
	json_whole(&j, "wrong_padding_bytes", t->wrong_padding_bytes);
	json_real(&j, "gb_per_s", gb_per_s);
	json_real(&j, "time_ms", time_ms);
	json_end(&j);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void count(struct totals *t, const struct arena *arena, const struct round *r)
{
	t->rounds++;
	t->bad_rounds += (uint64_t)is_bad(r);
	t->wrong += r->wrong.elements;
	t->wrong_padding_bytes += r->wrong.padding_bytes;
	t->bytes += 2.0 * (double)arena->n * (double)arena->n * (double)arena->elem_size;
	t->time_ms += r->time_ms;
}

static int goes_on(const struct options *o, const struct totals *t, uint64_t number)
{
	uint64_t rounds = given(o, OPT_ROUNDS) ? o->rounds : given(o, OPT_SECONDS) ? UINT64_MAX : 1;

	if (signals_noted() || ferror(stdout) || number > rounds)
		return 0;
	return number == 1 || !given(o, OPT_SECONDS) || seconds_now() - t->begun < o->seconds;
}

static int run_rounds(const struct options *o, struct arena *arenas, int n, uint64_t seed,
		      struct totals *t)
{
	for (uint64_t number = 1; goes_on(o, t, number); number++)
		for (int i = 0; i < n; i++) {
			struct round r = {.number = number, .seed = round_seed(seed, number)};
			int result;

			progress_begin(o->show, PASSES * arenas[i].span_bytes);
			result = run_round(&arenas[i], &r);
			progress_end();
			if (result)
				return result;
			if (signals_noted())
				break;
			count(t, &arenas[i], &r);
			print_round(o, &arenas[i], &r);
		}
	return EXIT_OK;
}

/* ---- setting up ------------------------------------------------------------------------------ */

/* How many arenas --device asks for, in `arenas`, which has room for the host and every device;
 * 0 after a complaint. */
static int choose(const struct options *o, struct arena *arenas)
{
	tsw_status cuda = o->device == DEVICE_CPU ? TSW_ERR_NO_CUDA : tsw_cuda_status();
	int n = 0;

	if (o->device == DEVICE_CUDA && cuda) {
		complain("--device cuda: %s", tsw_last_error());
		return 0;
	}
	if (o->device == DEVICE_ALL && cuda)
		complain("only the host is here: %s", tsw_last_error());
	if (!cuda)
		for (int i = 0; i < (o->device == DEVICE_ALL ? tsw_device_count() : 1); i++)
			arena_init(&arenas[n++], i, o->threads);
	if (o->device == DEVICE_ALL || !n)
		arena_init(&arenas[n++], -1, o->threads);
	return n;
}

static int no_room(const struct arena *arena, size_t elem_size, uint64_t bytes)
{
	complain("%s: no matrix of %zu-byte elements fits in %" PRIu64 " bytes", arena->name,
		 elem_size, bytes);
	return EXIT_FAILED;
}

/* Without --n and --memory the size is ours to choose, so a little less is tried where the memory
 * that is free is not free in one piece. */
static int alloc_what_fits(struct arena *arena, size_t elem_size)
{
	uint64_t bytes;
	size_t n;
	tsw_status status = arena_spare(arena, &bytes);

	for (int tries = 0; !status && tries < 16; tries++) {
		n = largest_n(bytes, elem_size);
		if (!n)
			return no_room(arena, elem_size, bytes);
		status = arena_alloc(arena, n, n, elem_size);
		if (!status)
			return EXIT_OK;
		if (status == TSW_ERR_NO_MEMORY)
			status = TSW_OK;
		bytes -= bytes / 32;
	}
	if (status)
		complain("%s: %s", arena->name, tsw_last_error());
	else
		no_room(arena, elem_size, bytes);
	return EXIT_FAILED;
}

static int alloc(const struct options *o, struct arena *arena)
{
	size_t elem_size = given(o, OPT_ELEM_SIZE) ? o->elem_size : DEFAULT_ELEM_SIZE;
	size_t n = given(o, OPT_MEMORY) ? largest_n(o->memory_bytes, elem_size) : o->n;

	if (!given(o, OPT_MEMORY) && !given(o, OPT_STRESS_N))
		return alloc_what_fits(arena, elem_size);
	if (arena_alloc(arena, n, given(o, OPT_LD) ? o->ld : n, elem_size) == TSW_OK)
		return EXIT_OK;
	complain("%s: no memory for a matrix of n = %zu, %zu-byte elements", arena->name, n,
		 elem_size);
	return EXIT_FAILED;
}

static int check_options(const struct options *o)
{
	size_t elem_size = given(o, OPT_ELEM_SIZE) ? o->elem_size : DEFAULT_ELEM_SIZE, span;

	if (given(o, OPT_STRESS_N) && given(o, OPT_MEMORY))
		complain("--n and --memory both set the size: give one of them");
	else if (given(o, OPT_LD) && !given(o, OPT_STRESS_N))
		complain("--ld needs --n");
	else if (given(o, OPT_LD) && o->ld < o->n)
		complain("--ld %zu is smaller than --n %zu", o->ld, o->n);
	else if (given(o, OPT_STRESS_N) &&
		 number_span(o->n, given(o, OPT_LD) ? o->ld : o->n, elem_size, &span))
		complain("--n %zu: the matrix is larger than the address space", o->n);
	else if (given(o, OPT_MEMORY) && o->memory_bytes < elem_size)
		complain("--memory %" PRIu64 " holds no element of %zu bytes", o->memory_bytes,
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

static int stress(const struct options *o, struct arena *arenas, int n)
{
	struct totals t = {.begun = seconds_now()};
	int result = EXIT_OK;

	signals_note();
	for (int i = 0; i < n && !result; i++)
		result = alloc(o, &arenas[i]);
	t.begun = seconds_now();
	if (!result) {
		result = run_rounds(o, arenas, n, given(o, OPT_SEED) ? o->seed : fresh_seed(), &t);
		print_summary(o, &t);
	}
	for (int i = 0; i < n; i++)
		arena_free(&arenas[i]);
	if (!result && t.bad_rounds)
		result = EXIT_FAILED;
	return !result && signals_noted() ? 128 + signals_noted() : result;
}

int cmd_stress(const struct options *o)
{
	struct arena *arenas;
	int n, result = check_options(o);

	if (result)
		return result;
	arenas = calloc((size_t)tsw_device_count() + 1, sizeof *arenas);
	if (!arenas) {
		complain("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	n = choose(o, arenas);
	result = n ? stress(o, arenas, n) : EXIT_NO_BACKEND;
	free(arenas);
	return result;
}
