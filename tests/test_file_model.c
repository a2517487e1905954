/* The crash protocol of the file engine, proven on its model: every crash of small cases, random
 * storms of crashes, and every barrier and rule left out in turn, which must be noticed. */
#include "crash/model.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const barrier_name[] = {
	[TSW_SYNC_BIRTH] = "BIRTH",	    [TSW_SYNC_NAME] = "NAME",
	[TSW_SYNC_MARK] = "MARK",	    [TSW_SYNC_RECORD] = "RECORD",
	[TSW_SYNC_HALF] = "HALF",	    [TSW_SYNC_LAST] = "LAST",
	[TSW_SYNC_RESUME] = "RESUME",	    [TSW_SYNC_REDO_HALF] = "REDO_HALF",
	[TSW_SYNC_REDO_END] = "REDO_END",   [TSW_SYNC_DONE] = "DONE",
	[TSW_SYNC_DONE_MARK] = "DONE_MARK", [TSW_SYNC_UNLINK] = "UNLINK",
	[TSW_SYNC_UNMARK] = "UNMARK",
};
_Static_assert(sizeof barrier_name / sizeof *barrier_name == TSW_BARRIERS, "a barrier has no name");

static struct model_case a_case(unsigned pairs, unsigned symmetric, unsigned diagonal)
{
	return (struct model_case){.pairs = pairs,
				   .symmetric = symmetric,
				   .diagonal = diagonal,
				   .commands = 2,
				   .without_barrier = TSW_BARRIERS,
				   .without_rule = MODEL_RULES};
}

/* ---- every choice in turn -------------------------------------------------------------------- */

/* A run makes a list of decisions; the next run repeats the list up to the last decision that has
 * an untried option and takes that.  Crashes are limited in number, so that the tree ends. */
struct explorer {
	unsigned taken[4096], options[4096], length, at;
	unsigned crashes, crashes_left;
	int overflow;
};

static unsigned decide(struct explorer *e, unsigned options)
{
	if (options < 2)
		return 0;
	if (e->at == sizeof e->taken / sizeof *e->taken) {
		e->overflow = 1;
		return 0;
	}
	if (e->at == e->length) {
		e->taken[e->at] = 0;
		e->options[e->at] = options;
		e->length++;
	}
	return e->taken[e->at++];
}

static unsigned explore_choose(void *user, unsigned options)
{
	return decide(user, options);
}

static int explore_strike(void *user, int is_sync)
{
	struct explorer *e = user;
	unsigned event;

	if (!e->crashes_left)
		return MODEL_NOTHING;
	if (is_sync == 2)
		event = decide(e, 2) ? MODEL_SYNC_FAILS : MODEL_NOTHING;
	else
		event = decide(e, 3);
	e->crashes_left -= event != MODEL_NOTHING;
	return (int)event;
}

/* On to the next list of decisions; false when there is none. */
static int explore_next(struct explorer *e)
{
	while (e->length && e->taken[e->length - 1] + 1 == e->options[e->length - 1])
		e->length--;
	if (!e->length)
		return 0;
	e->taken[e->length - 1]++;
	e->at = 0;
	e->crashes_left = e->crashes;
	return 1;
}

/* Runs every way that a case with so many crashes can go, up to `limit` ways. */
static const char *explore(struct model_case c, unsigned crashes, uint64_t limit,
			   struct model_hits *hits, uint64_t *runs)
{
	static struct explorer e;
	const char *wrong = NULL;

	memset(&e, 0, sizeof e);
	e.crashes = e.crashes_left = crashes;
	c.chance = (struct model_chance){explore_choose, explore_strike, &e};
	*runs = 0;
	do {
		wrong = model_run(&c, hits);
		++*runs;
	} while (!wrong && *runs < limit && explore_next(&e));
	if (e.overflow)
		return "the list of decisions is too long";
	return wrong;
}

START_TEST(every_crash_of_small_cases)
{
	static const struct {
		unsigned pairs, symmetric, diagonal, commands, crashes;
	} small[] = {{1, 0, 0, 1, 2}, {2, 0, 0, 1, 2}, {3, 0, 0, 2, 1}, {3, 2, 0, 2, 1},
		     {2, 1, 0, 1, 1}, {1, 1, 0, 2, 1}, {4, 0, 0, 1, 1}, {1, 0, 1, 1, 2},
		     {2, 0, 1, 1, 2}, {2, 0, 2, 1, 2}, {3, 0, 5, 2, 1}, {3, 2, 7, 2, 1}};
	struct model_hits hits = {0};

	for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
		struct model_case c = a_case(small[i].pairs, small[i].symmetric, small[i].diagonal);
		uint64_t runs;
		const char *wrong;

		c.commands = small[i].commands;
		wrong = explore(c, small[i].crashes, UINT64_MAX, &hits, &runs);
		ck_assert_msg(!wrong, "%u pairs, symmetric %u, diagonal %u: %s", c.pairs,
			      c.symmetric, c.diagonal, wrong);
		printf("  %u pairs, symmetric mask %u, diagonal mask %u, %u transposes, up to %u "
		       "crashes: all %ju ways\n",
		       c.pairs, c.symmetric, c.diagonal, c.commands, small[i].crashes,
		       (uintmax_t)runs);
	}
}
END_TEST

/* ---- storms ---------------------------------------------------------------------------------- */

struct storm {
	uint64_t random;
	unsigned events_left;
	unsigned one_in; /* operations, on average, between two events */
};

static unsigned storm_choose(void *user, unsigned options)
{
	struct storm *s = user;

	return (unsigned)tsw_random_below(&s->random, options < 2 ? 1u << 16 : options);
}

static int storm_strike(void *user, int is_sync)
{
	struct storm *s = user;

	if (!s->events_left || tsw_random_below(&s->random, s->one_in))
		return MODEL_NOTHING;
	s->events_left--;
	if (is_sync == 2)
		return MODEL_SYNC_FAILS;
	return tsw_random_below(&s->random, 2) ? MODEL_KILL : MODEL_POWER_LOSS;
}

static const char *one_storm(struct model_case c, uint64_t seed, struct model_hits *hits)
{
	struct storm s = {.random = seed};

	c.pairs = 1 + (unsigned)tsw_random_below(&s.random, 6);
	c.symmetric =
		(unsigned)(tsw_random(&s.random) & tsw_random(&s.random)) & ((1u << c.pairs) - 1);
	c.diagonal = (unsigned)tsw_random(&s.random) & ((1u << c.pairs) - 1);
	s.events_left = 1 + (unsigned)tsw_random_below(&s.random, 6);
	s.one_in = 4 + (unsigned)tsw_random_below(&s.random, 40);
	c.chance = (struct model_chance){storm_choose, storm_strike, &s};
	return model_run(&c, hits);
}

/* Storms until one goes wrong; how many went right is left in *count. */
static const char *storms(struct model_case c, uint64_t most, uint64_t *count,
			  struct model_hits *hits)
{
	uint64_t seed = tsw_seed();
	const char *wrong = NULL;

	for (*count = 0; *count < most && !wrong; ++*count)
		wrong = one_storm(c, tsw_random(&seed), hits);
	return wrong;
}

START_TEST(a_hundred_thousand_storms)
{
	struct model_hits hits = {0};
	uint64_t count;
	const char *wrong = storms(a_case(1, 0, 0), 100000, &count, &hits);
	const struct {
		const char *name;
		uint64_t hits;
	} branch[] = {
		{"births", hits.births},
		{"journal without a record", hits.unborn},
		{"both halves redone", hits.redo_both},
		{"second half redone", hits.redo_second},
		{"found done", hits.done},
		{"found done, journal gone", hits.done_without_journal},
		{"kills", hits.kills},
		{"power losses", hits.power_losses},
		{"failed syncs", hits.failed_syncs},
	};

	ck_assert_msg(!wrong, "storm %ju: %s", (uintmax_t)count, wrong);
	for (size_t i = 0; i < sizeof branch / sizeof *branch; i++) {
		printf("  %s: %ju\n", branch[i].name, (uintmax_t)branch[i].hits);
		ck_assert_msg(branch[i].hits >= 10, "%s: only %ju times", branch[i].name,
			      (uintmax_t)branch[i].hits);
	}
}
END_TEST

/* A record that decays is refused or harmless, never trusted. */
START_TEST(storms_with_decay)
{
	struct model_case c = a_case(1, 0, 0);
	struct model_hits hits = {0};
	uint64_t count;
	const char *wrong;

	c.rot = 1;
	wrong = storms(c, 50000, &count, &hits);
	ck_assert_msg(!wrong, "storm %ju: %s", (uintmax_t)count, wrong);
}
END_TEST

/* ---- what is left out must be missed --------------------------------------------------------- */

START_TEST(every_barrier_is_needed)
{
	struct model_case c = a_case(1, 0, 0);
	struct model_hits hits = {0};
	uint64_t count;

	c.without_barrier = (unsigned)_i;
	ck_assert_msg(storms(c, 200000, &count, &hits), "without %s nothing went wrong",
		      barrier_name[_i]);
	printf("  without %s: storm %ju went wrong\n", barrier_name[_i], (uintmax_t)count);
}
END_TEST

START_TEST(every_rule_is_needed)
{
	struct model_case c = a_case(1, 0, 0);
	struct model_hits hits = {0};
	uint64_t count;

	c.without_rule = (unsigned)_i;
	c.rot = _i == MODEL_CHECK_NEXT || _i == MODEL_CHECK_PREVIOUS ||
		_i == MODEL_REWRITE_PREVIOUS;
	ck_assert_msg(storms(c, 200000, &count, &hits), "without rule %d nothing went wrong", _i);
	printf("  without rule %d: storm %ju went wrong\n", _i, (uintmax_t)count);
}
END_TEST

static Suite *model_suite(void)
{
	Suite *suite = suite_create("crash model");
	TCase *tests = tcase_create("model");

	tcase_add_test(tests, every_crash_of_small_cases);
	tcase_add_test(tests, a_hundred_thousand_storms);
	tcase_add_test(tests, storms_with_decay);
	tcase_add_loop_test(tests, every_barrier_is_needed, 0, TSW_BARRIERS);
	tcase_add_loop_test(tests, every_rule_is_needed, 0, MODEL_RULES);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *const[]){model_suite}, 1);
}
