/* The real file engine on a simulated disk: kills, power losses, failed syncs and errors in
 * sequence, and after each command the matrix must be right. */
#include "crash/disk.h"
#include "file/engine.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA "m"
#define JOURNAL "m.tswj"

/* ---- a matrix on a disk ---------------------------------------------------------------------- */

struct scene {
	struct disk disk;
	struct tsw_run_options o;
	struct tsw_run_result total;   /* of all runs, the ways of coming back */
	unsigned char *before, *after; /* the whole file, before and after a transpose */
	uint64_t bytes;
	uint64_t random;
};

static void transpose_file(const struct tsw_grid *g, const unsigned char *from, unsigned char *to)
{
	const struct tsw_shape shape = {g->n, g->ld, g->elem_size};

	if (g->n)
		tsw_oracle_window(from + g->offset, to + g->offset, shape);
}

/* Random bytes; now and then a tile pair that is its own transpose. */
static void fill(struct scene *s, unsigned symmetric_in)
{
	const struct tsw_grid *g = &s->o.grid;

	for (uint64_t i = 0; i < s->bytes; i++)
		s->before[i] = (unsigned char)tsw_random(&s->random);
	for (uint64_t k = 0; symmetric_in && g->n && k < tsw_grid_pairs(g); k++) {
		struct tsw_region a = tsw_half(g, tsw_pair_at(k), 0),
				  b = tsw_half(g, tsw_pair_at(k), 1);

		if (tsw_random_below(&s->random, symmetric_in))
			continue;
		for (size_t r = 0; r < a.rows; r++)
			for (size_t c = a.shape == TSW_UPPER ? r + 1 : 0; c < a.cols; c++)
				memcpy(s->before + b.at + c * b.pitch + r * b.elem_size,
				       s->before + a.at + r * a.pitch + c * a.elem_size,
				       a.elem_size);
	}
	memcpy(s->after, s->before, s->bytes);
	transpose_file(g, s->before, s->after);
}

static void scene_new(struct scene *s, struct tsw_grid grid, uint64_t tail, unsigned symmetric_in,
		      uint64_t seed)
{
	memset(s, 0, sizeof *s);
	s->random = seed;
	disk_new(&s->disk, seed);
	s->bytes = tsw_grid_end(&grid) + tail;
	s->before = malloc(s->bytes + 1);
	s->after = malloc(s->bytes + 1);
	if (!s->before || !s->after)
		abort();
	s->o = (struct tsw_run_options){
		.io = &s->disk.io, .path = DATA, .journal_path = JOURNAL, .grid = grid};
	fill(s, symmetric_in);
	disk_put(&s->disk, DATA, s->before, s->bytes);
}

static void scene_free(struct scene *s)
{
	disk_free(&s->disk);
	free(s->before);
	free(s->after);
}

static struct tsw_grid random_grid(uint64_t *random)
{
	struct tsw_grid g = {.n = tsw_random_below(random, 10),
			     .elem_size = 1 + tsw_random_below(random, 3),
			     .offset = tsw_random_below(random, 700)};

	if (tsw_random_below(random, 4) == 0)
		g.elem_size = 100 + tsw_random_below(random, 300);
	g.ld = g.n + (tsw_random_below(random, 2) ? tsw_random_below(random, 4) : 0);
	g.tile = 1 + tsw_random_below(random, 4);
	if (tsw_random_below(random, 8) == 0)
		g.tile = 12;
	if (g.tile > g.n)
		g.tile = g.n ? g.n : 1;
	return g;
}

static void add_hits(struct scene *s, const struct tsw_run_result *r)
{
	s->total.redone_both += r->redone_both;
	s->total.redone_second += r->redone_second;
	s->total.redone_alone += r->redone_alone;
	s->total.found_unborn += r->found_unborn;
	s->total.found_done += r->found_done;
	s->total.found_end += r->found_end;
}

/* One run of the engine; the file is opened first, as the caller does. */
static tsw_status run(struct scene *s, struct tsw_run_result *r)
{
	tsw_status status;

	memset(r, 0, sizeof *r);
	s->o.seed = tsw_random(&s->random);
	s->o.fd = s->disk.io.open(&s->disk, DATA, TSW_OPEN_DATA, 0);
	status = s->o.fd < 0 ? tsw_fail(TSW_ERR_IO, "open") : tsw_engine_run(&s->o, r);
	add_hits(s, r);
	return status;
}

/* NULL if the file reads as the matrix after that many transposes. */
static const char *wrong_file(const struct scene *s, unsigned commands)
{
	const struct disk_file *f = disk_get(&s->disk, DATA);

	if (!f || f->cache_bytes != s->bytes)
		return "the file has another size";
	return tsw_wrong_bytes(f->cache, commands % 2 ? s->after : s->before, s->bytes);
}

/* Nothing is left to resume, so only the report is missing. */
static int nothing_left(const struct scene *s)
{
	static const unsigned char none[TSW_MARK_BYTES];
	const struct disk_file *f = disk_get(&s->disk, DATA);

	return !disk_get(&s->disk, JOURNAL) && !memcmp(f->cache_mark, none, sizeof none);
}

/* The same command until it reports success.  NULL, or what is wrong. */
static const char *until_done(struct scene *s, unsigned command)
{
	static char text[512];
	struct tsw_run_result r;

	s->disk.unmarking = 0;
	for (int tries = 0; tries < 100; tries++) {
		tsw_status status = run(s, &r);

		disk_revive(&s->disk);
		if (status != TSW_OK && s->disk.unmarking && nothing_left(s)) {
			disk_settle(&s->disk);
			status = TSW_OK;
		}
		if (status == TSW_OK)
			return wrong_file(s, command);
		if (status != TSW_ERR_IO && status != TSW_ERR_INTERRUPTED) {
			snprintf(text, sizeof text, "status %d: %s", status, tsw_last_error());
			return text;
		}
	}
	return "does not come to an end";
}

/* ---- storms ---------------------------------------------------------------------------------- */

struct storm {
	uint64_t random;
	unsigned events_left, one_in;
	int process_only;
};

static enum disk_event strike(void *user, enum disk_call call)
{
	struct storm *s = user;
	uint64_t kind;

	if ((call == DISK_READ || call == DISK_WRITE) && tsw_random_below(&s->random, 16) == 0)
		return DISK_SHORT;
	if (!s->events_left || tsw_random_below(&s->random, s->one_in))
		return DISK_NOTHING;
	s->events_left--;
	kind = tsw_random_below(&s->random, 8);
	if (kind < 3)
		return DISK_KILL;
	if (s->process_only)
		return kind < 7 || call == DISK_SYNC ? DISK_KILL : DISK_ERROR;
	if (kind < 6)
		return DISK_POWER_LOSS;
	return call == DISK_SYNC	? DISK_SYNC_FAILS
	       : call == DISK_SYNC_NAME ? DISK_NOTHING
					: DISK_ERROR;
}

static int stop_sometimes(void *user, uint64_t done, uint64_t total)
{
	struct storm *s = user;

	(void)done;
	(void)total;
	return s->events_left && tsw_random_below(&s->random, 40) == 0;
}

static const char *one_storm(uint64_t seed, int process_only, unsigned without,
			     struct tsw_run_result *total)
{
	static struct scene s;
	struct storm storm = {.random = seed ^ 0x5851f42d4c957f2du, .process_only = process_only};
	uint64_t random = seed;
	struct tsw_grid grid = random_grid(&random);
	const char *wrong = NULL;

	storm.events_left = 1 + (unsigned)tsw_random_below(&random, 5);
	storm.one_in = 10 + (unsigned)tsw_random_below(&random, 150);
	scene_new(&s, grid, tsw_random_below(&random, 9),
		  1 + (unsigned)tsw_random_below(&random, 4), tsw_random(&random));
	s.o.process_only = process_only;
	s.o.verify = (int)tsw_random_below(&random, 2);
	s.o.progress = stop_sometimes;
	s.o.user = &storm;
	s.disk.strike = strike;
	s.disk.user = &storm;
	s.disk.without = without;
	s.disk.sector = 1u << (4 + tsw_random_below(&random, 6));
	for (unsigned command = 1; command <= 2 && !wrong; command++) {
		wrong = until_done(&s, command);
		/* What was reported is on the disk. */
		if (!wrong && tsw_random_below(&random, 2)) {
			disk_lose_power(&s.disk);
			wrong = wrong_file(&s, command);
		}
	}
	if (total) {
		struct tsw_run_result *t = total;

		t->redone_both += s.total.redone_both;
		t->redone_second += s.total.redone_second;
		t->redone_alone += s.total.redone_alone;
		t->found_unborn += s.total.found_unborn;
		t->found_done += s.total.found_done;
		t->found_end += s.total.found_end;
	}
	scene_free(&s);
	return wrong;
}

static uint64_t storm_count(void)
{
	const char *given = getenv("TSW_STORMS");

	return given ? strtoull(given, NULL, 0) : 6000;
}

static void check_hits(const struct tsw_run_result *t, unsigned least)
{
	const struct {
		const char *name;
		unsigned hits;
	} branch[] = {
		{"both halves redone", t->redone_both},
		{"second half redone", t->redone_second},
		{"pair before a lone record rewritten", t->redone_alone},
		{"journal without a record", t->found_unborn},
		{"journal found done", t->found_done},
		{"attribute found done, journal gone", t->found_end},
	};

	for (size_t i = 0; i < sizeof branch / sizeof *branch; i++) {
		printf("  %s: %u\n", branch[i].name, branch[i].hits);
		ck_assert_msg(branch[i].hits >= least, "%s: only %u times", branch[i].name,
			      branch[i].hits);
	}
}

START_TEST(storms)
{
	struct tsw_run_result total = {0};
	uint64_t random = tsw_seed() + (uint64_t)_i, most = storm_count();

	for (uint64_t i = 0; i < most; i++) {
		uint64_t seed = tsw_random(&random);
		const char *wrong = one_storm(seed, _i, TSW_BARRIERS, &total);

		tsw_require(!wrong, "storm %ju (seed 0x%jx): %s", (uintmax_t)i, (uintmax_t)seed,
			    wrong);
	}
	printf("  %ju storms, durability %s\n", (uintmax_t)most, _i ? "process" : "power");
	check_hits(&total, 10);
}
END_TEST

START_TEST(every_barrier_is_needed)
{
	uint64_t random = tsw_seed();
	const char *wrong = NULL;
	uint64_t i;

	for (i = 0; i < 200000 && !wrong; i++)
		wrong = one_storm(tsw_random(&random), 0, (unsigned)_i, NULL);
	ck_assert_msg(wrong, "without barrier %d nothing went wrong", _i);
	printf("  without barrier %d: storm %ju went wrong\n", _i, (uintmax_t)i);
}
END_TEST

static Suite *storm_suite(void)
{
	Suite *suite = suite_create("file engine: storms");
	TCase *tests = tcase_create("storms");

	tcase_add_loop_test(tests, storms, 0, 2);
	tcase_add_loop_test(tests, every_barrier_is_needed, 0, TSW_BARRIERS);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *const[]){storm_suite}, 1);
}
