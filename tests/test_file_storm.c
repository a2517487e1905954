/* The real file engine on a simulated disk: kills, power losses, failed syncs and errors in
 * sequence, and after each command the matrix must be right. */
#include "crash/scene.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	/* Syncs are few, and the moments around them matter most. */
	if (!s->events_left ||
	    tsw_random_below(&s->random, call == DISK_SYNC ? 1 + s->one_in / 8 : s->one_in))
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
	struct tsw_grid grid = scene_random_grid(&random);
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
	s.disk.no_room = (int)tsw_random_below(&random, 2);
	/* Blocks of one byte let every tile off the diagonal go past the page cache, longer ones
	 * some; on the diagonal those with squares of whole grains. */
	s.disk.block = (size_t)1 << tsw_random_below(&random, 4) >> 1;
	s.disk.grain = s.disk.block > 1 ? s.disk.block >> tsw_random_below(&random, 2) : 0;
	for (unsigned command = 1; command <= 2 && !wrong; command++) {
		wrong = scene_until_done(&s, command);
		/* What was reported is on the disk. */
		if (!wrong && tsw_random_below(&random, 2)) {
			disk_lose_power(&s.disk);
			wrong = scene_wrong(&s, command);
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
