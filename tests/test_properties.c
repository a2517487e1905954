/* Laws that hold whatever the matrix, drawn at random: a call does what the oracle does and nothing
 * beside, twice is nothing, the digest law, and that neither threads, their number, the order of
 * the work, the instruction set nor a neighbour's call can be told from the result. */
#include "cpu/cpu.h"
#include "cpu/plan.h"
#include "support.h"
#include "tileswap.h"
#include "trial.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ThreadSanitizer is slow: fewer rounds, smaller matrices. */
#if defined(__SANITIZE_THREAD__)
#define SLOW 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLOW 1
#endif
#endif
#ifdef SLOW
enum { ROUNDS = 6, MOST_BYTES = 1 << 21, CALLS = 12, ISA_CALLS = 20 };
#else
enum { ROUNDS = 40, MOST_BYTES = 1 << 22, CALLS = 40, ISA_CALLS = 120 };
#endif

static unsigned char *get(size_t bytes)
{
	unsigned char *p = malloc(bytes + 1);

	tsw_require(p, "no memory for %zu bytes", bytes);
	return p;
}

/* ---- one call -------------------------------------------------------------------------------- */

/* The trial's bytes between other bytes of ours, between unmapped pages: flush against one of them,
 * at any address otherwise. */
struct ground {
	struct tsw_guarded g;
	unsigned char *a, *expected;
	size_t ahead, bytes;
};

static struct ground ground_new(const struct tsw_trial *t, uint64_t *state)
{
	const enum tsw_flush flush = (enum tsw_flush)tsw_random_below(state, 2);
	const size_t beside = (size_t)tsw_random_below(state, 130);
	struct ground x = {.bytes = tsw_trial_bytes(t),
			   .ahead = flush == TSW_FLUSH_RIGHT ? beside : 0};

	x.g = tsw_guarded_new(x.bytes + beside, flush);
	x.a = x.g.p + x.ahead;
	x.expected = get(x.g.bytes);
	tsw_fill(x.g.p, x.g.bytes);
	tsw_fill(x.expected, x.g.bytes);
	return x;
}

static void ground_free(struct ground *x)
{
	free(x->expected);
	tsw_guarded_free(&x->g);
}

/* The matrices are as expected, and so is all around them. */
static void require_as_expected(const struct ground *x, const struct tsw_trial *t, const char *law)
{
	const size_t behind = x->ahead + x->bytes;
	const char *wrong = tsw_trial_wrong(t, x->a, x->expected + x->ahead);

	tsw_require(!wrong, "%s: %s", law, wrong);
	wrong = tsw_wrong_bytes(x->g.p, x->expected, x->ahead);
	if (!wrong)
		wrong = tsw_wrong_bytes(x->g.p + behind, x->expected + behind, x->g.bytes - behind);
	if (!wrong)
		wrong = tsw_guarded_spoilt(&x->g);
	tsw_require(!wrong, "%s: %s: outside the matrices: %s", law, tsw_trial_text(t), wrong);
}

static tsw_digest digest_of(const struct ground *x, const struct tsw_trial *t, size_t b,
			    int transposed, uint64_t *state)
{
	tsw_digest d;

	tsw_assert_ok(tsw_checksum_host(x->a + tsw_trial_place(t, b), t->shape.n, t->shape.ld,
					t->shape.elem_size, transposed, &d,
					(int)tsw_random_below(state, 4)));
	return d;
}

static int equal(tsw_digest x, tsw_digest y)
{
	return x.placed == y.placed && x.values == y.values;
}

START_TEST(once_is_the_oracle_and_nothing_beside)
{
	uint64_t state = tsw_seed() + (uint64_t)_i;

	for (int round = 0; round < ROUNDS; round++) {
		const struct tsw_trial t = tsw_trial_random(&state, MOST_BYTES, 1);
		struct ground x = ground_new(&t, &state);

		tsw_trial_expect(&t, tsw_pattern(x.g.bytes) + x.ahead, x.expected + x.ahead);
		tsw_assert_ok(tsw_trial_run(&t, x.a));
		require_as_expected(&x, &t, "once");
		ground_free(&x);
	}
}
END_TEST

/* As many threads for the second time as chance wants. */
START_TEST(twice_is_nothing)
{
	uint64_t state = tsw_seed() + (uint64_t)_i + 100;

	for (int round = 0; round < ROUNDS; round++) {
		struct tsw_trial t = tsw_trial_random(&state, MOST_BYTES, 1);
		struct ground x;

		t.x.null_alpha = 1; /* moves bits: also N, R and C undo themselves */
		x = ground_new(&t, &state);
		tsw_assert_ok(tsw_trial_run(&t, x.a));
		t.nthreads = (int)tsw_random_below(&state, 7);
		tsw_assert_ok(tsw_trial_run(&t, x.a));
		require_as_expected(&x, &t, "twice");
		ground_free(&x);
	}
}
END_TEST

START_TEST(the_digest_law)
{
	uint64_t state = tsw_seed() + (uint64_t)_i + 200;

	for (int round = 0; round < ROUNDS; round++) {
		struct tsw_trial t = tsw_trial_random(&state, MOST_BYTES / 4, 1);
		struct ground x;
		tsw_digest before, sideways, after;

		if (tsw_trial_is_imatcopy(&t) || !t.count)
			continue;
		x = ground_new(&t, &state);
		for (size_t b = 0; b < t.count && b < 5; b++) {
			before = digest_of(&x, &t, b, 0, &state);
			sideways = digest_of(&x, &t, b, 1, &state);
			tsw_assert_ok(tsw_trial_run(&t, x.a));
			after = digest_of(&x, &t, b, 1, &state);
			tsw_require(equal(before, after), "%s: the law fails", tsw_trial_text(&t));
			after = digest_of(&x, &t, b, 0, &state);
			tsw_require(equal(sideways, after), "%s: the law fails, the other way",
				    tsw_trial_text(&t));
			/* Larger ones are not symmetric. */
			tsw_require(t.shape.n < 8 || before.placed != after.placed,
				    "%s: blind to places", tsw_trial_text(&t));
		}
		ground_free(&x);
	}
}
END_TEST

/* ---- what must not show in the result -------------------------------------------------------- */

START_TEST(any_number_of_threads)
{
	uint64_t state = tsw_seed() + (uint64_t)_i + 300;

	for (int round = 0; round < ROUNDS / 4 + 1; round++) {
		struct tsw_trial t = tsw_trial_random(&state, MOST_BYTES, 1);
		const size_t bytes = tsw_trial_bytes(&t);
		unsigned char *one = get(bytes), *many = get(bytes);

		t.nthreads = 1;
		tsw_fill(one, bytes);
		tsw_assert_ok(tsw_trial_run(&t, one));
		for (t.nthreads = 2; t.nthreads <= 9; t.nthreads++) {
			tsw_fill(many, bytes);
			tsw_assert_ok(tsw_trial_run(&t, many));
			/* Bit for bit, calculated NaNs too. */
			tsw_require(!tsw_wrong_bytes(many, one, bytes), "%s: %s",
				    tsw_trial_text(&t), tsw_wrong_bytes(many, one, bytes));
		}
		free(one);
		free(many);
	}
}
END_TEST

static void share(const struct tsw_trial *t)
{
	const size_t bytes = tsw_trial_bytes(t);
	unsigned char *a = get(bytes), *expected = get(bytes);
	const char *wrong;

	tsw_fill(a, bytes);
	tsw_fill(expected, bytes);
	tsw_trial_expect(t, tsw_pattern(bytes), expected);
	tsw_assert_ok(tsw_trial_run(t, a));
	wrong = tsw_trial_wrong(t, a, expected);
	tsw_require(!wrong, "%s", wrong);
	free(a);
	free(expected);
}

/* Large enough for four threads, whatever the width: what ThreadSanitizer is to look at. */
START_TEST(threads_that_share_a_matrix)
{
	static const size_t widths[] = {1, 2, 3, 4, 8, 12, 16, 40};
	static const enum tsw_trial_kind kinds[] = {TSW_TRIAL_ONE, TSW_TRIAL_IMATCOPY};

	for (size_t i = 0; i < COUNT_OF(widths) * COUNT_OF(kinds); i++) {
		struct tsw_trial t = {.kind = kinds[i % 2], .count = 1, .nthreads = 4};

		/* T and N, some with an alpha, every type. */
		t.x = tsw_imat_at(
			TSW_IMAT_INDEX((size_t)_i * 5, i / 2 % TSW_IMAT_TYPES, i % 4 / 2));
		t.shape.elem_size = i % 2 ? tsw_imat_size(t.x.type) : widths[i / 2];
		t.shape.n = (size_t)sqrt(2.2e6 / (double)t.shape.elem_size);
		t.shape.ld = t.shape.n + 7 * (size_t)_i;
		share(&t);
	}
}
END_TEST

static void shuffle(size_t *order, size_t count, uint64_t *state)
{
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; i > 1; i--) {
		const size_t k = (size_t)tsw_random_below(state, i), kept = order[k];

		order[k] = order[i - 1];
		order[i - 1] = kept;
	}
}

/* The shares of the threads, one after the other in any order: pairs are disjoint. */
START_TEST(any_order_of_the_pairs)
{
	uint64_t state = tsw_seed() + (uint64_t)_i + 400;

	for (int round = 0; round < ROUNDS; round++) {
		const struct tsw_trial t = tsw_trial_random(&state, MOST_BYTES, 1);
		const size_t parts = 1 + (size_t)tsw_random_below(&state, 40);
		struct ground x;
		struct tsw_matrices m;
		struct tsw_plan plan;
		size_t order[40];

		if (t.kind == TSW_TRIAL_ARRAY || tsw_trial_is_imatcopy(&t) || t.shape.n < 2 ||
		    !t.count)
			continue;
		x = ground_new(&t, &state);
		m = (struct tsw_matrices){.base = x.a,
					  .n = t.shape.n,
					  .ld = t.shape.ld,
					  .elem_size = t.shape.elem_size,
					  .stride = t.stride,
					  .count = t.count};
		plan = tsw_cpu_plan(&m, tsw_cpu_isa());
		if (plan.kernel)
			plan.order = (enum tsw_order)tsw_random_below(&state, 3);
		shuffle(order, parts, &state);
		for (size_t p = 0; p < parts; p++)
			tsw_cpu_run_part(&plan, &m, order[p], parts);
		tsw_trial_expect(&t, tsw_pattern(x.g.bytes) + x.ahead, x.expected + x.ahead);
		require_as_expected(&x, &t, "parts in any order");
		ground_free(&x);
	}
}
END_TEST

/* ---- instruction sets: each in a process of its own ------------------------------------------ */

#define CHILD_MODE "--hash-of-results"

/* Floating-point numbers that no operation makes a NaN of: its bits would be free. */
static void fill_finite(unsigned char *a, size_t bytes, tsw_type type, uint64_t *state)
{
	const size_t size = tsw_imat_size(type) >> tsw_imat_is_complex(type);

	for (size_t at = 0; at + size <= bytes; at += size) {
		const double d = (double)(int64_t)tsw_random(state) * 0x1p-40;
		const float f = (float)d;
		const uint16_t narrow = tsw_random(state) & 0xbfff; /* below 2 in either type */
		const void *value = size == 8	? (const void *)&d
				    : size == 4 ? (const void *)&f
						: (const void *)&narrow;

		memcpy(a + at, value, size);
	}
}

static uint64_t hash(uint64_t h, const void *p, size_t bytes)
{
	const unsigned char *b = p;

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ b[i]) * 0x100000001b3u;
	return h;
}

static uint64_t one_result(uint64_t h, uint64_t *state, int nthreads)
{
	struct tsw_trial t = tsw_trial_random(state, 1 << 19, 1);
	const size_t bytes = tsw_trial_bytes(&t);
	unsigned char *a = get(bytes);
	tsw_digest d;

	t.nthreads = nthreads;
	tsw_fill(a, bytes);
	if (tsw_trial_is_imatcopy(&t))
		fill_finite(a, bytes, t.x.type, state);
	if (!isfinite(t.x.re) || !isfinite(t.x.im))
		t.x.null_alpha = 1;
	if (tsw_trial_run(&t, a) != TSW_OK)
		exit(8);
	h = hash(h, a, bytes);
	if (!t.count)
		t.shape.n = 0;
	if (tsw_checksum_host(a, t.shape.n, t.shape.ld, t.shape.elem_size, 0, &d, nthreads))
		exit(9);
	free(a);
	return hash(h, &d, sizeof d);
}

/* Prints the hash of what many calls give; the environment names the instruction set. */
static int child(const char *isa, const char *seed, const char *nthreads)
{
	uint64_t state = strtoull(seed, NULL, 0), h = 0xcbf29ce484222325u;

	if (strcmp(tsw_cpu_isa()->name, isa) != 0)
		return 7;
	for (int call = 0; call < ISA_CALLS; call++)
		h = one_result(h, &state, atoi(nthreads));
	printf("%016jx\n", (uintmax_t)h);
	return 0;
}

static void exec_child(int out, const char *isa, uint64_t seed, const char *nthreads)
{
	char text[24];

	snprintf(text, sizeof text, "0x%jx", (uintmax_t)seed);
	setenv("TILESWAP_ISA", isa, 1);
	dup2(out, STDOUT_FILENO);
	execl("/proc/self/exe", "test_properties", CHILD_MODE, isa, text, nthreads, (char *)NULL);
	_exit(6);
}

static void ask_child(const char *isa, uint64_t seed, const char *nthreads, char hash_text[17])
{
	int ends[2], status;
	ssize_t got;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		exec_child(ends[1], isa, seed, nthreads);
	close(ends[1]);
	got = read(ends[0], hash_text, 16);
	close(ends[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s, %s threads: status %x",
		      isa, nthreads, (unsigned)status);
	ck_assert_int_eq(got, 16);
	hash_text[16] = '\0';
}

START_TEST(any_instruction_set)
{
	static const char *const names[] = {"c", "avx2", "avx512", "neon"};
	char first[17], other[17];
	const uint64_t seed = tsw_seed() + (uint64_t)_i + 500;

	ask_child("c", seed, "1", first);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (!tsw_cpu_isa_named(names[i]))
			continue; /* of another machine */
		ask_child(names[i], seed, "3", other);
		ck_assert_msg(!strcmp(first, other), "%s and c give different results", names[i]);
	}
}
END_TEST

/* ---- neighbours ------------------------------------------------------------------------------ */

enum { NEIGHBOURS = 6, PLOT = 300000 + 7 }; /* plots touch, at odd addresses */

struct neighbour {
	unsigned char *plot;
	uint64_t seed;
	int threads; /* of its calls; 0: as drawn */
	tsw_digest digest;
	char complaint[512];
};

static void complain(struct neighbour *me, const struct tsw_trial *t, const char *what)
{
	if (!*me->complaint)
		snprintf(me->complaint, sizeof me->complaint, "%s: %s", tsw_trial_text(t), what);
}

/* A failure in between: its detail is the thread's own. */
static void fail_once(struct neighbour *me, const struct tsw_trial *t)
{
	const size_t n = 10 + (size_t)(me->seed % 1000);
	char expected[80];

	snprintf(expected, sizeof expected, "ld = 3 is smaller than n = %zu", n);
	if (tsw_transpose_host(me->plot, n, 3, 1, 1) != TSW_ERR_LD ||
	    strcmp(tsw_last_error(), expected) != 0)
		complain(me, t, tsw_last_error());
}

static void *live(void *argument)
{
	struct neighbour *me = argument;
	uint64_t state = me->seed;
	tsw_digest d;

	for (int call = 0; call < CALLS; call++) {
		struct tsw_trial t = tsw_trial_random(&state, PLOT, 1);

		if (me->threads)
			t.nthreads = me->threads;
		if (tsw_trial_run(&t, me->plot) != TSW_OK)
			complain(me, &t, tsw_last_error());
		if (call % 4 == 0)
			fail_once(me, &t);
		if (call % 3 == 0 && tsw_checksum_host(me->plot, 300, 301, 3, 0, &d, t.nthreads))
			complain(me, &t, tsw_last_error());
		if (call % 3 == 0)
			me->digest.placed ^= d.placed + d.values * (uint64_t)call;
	}
	return NULL;
}

/* What each does alone, one after the other and without threads, is what must come out. */
static void live_alone(struct neighbour *all, unsigned char *land)
{
	for (size_t i = 0; i < NEIGHBOURS; i++) {
		all[i].plot = land + i * PLOT;
		all[i].threads = 1;
		live(&all[i]);
		ck_assert_msg(!*all[i].complaint, "%s", all[i].complaint);
	}
}

static void live_together(struct neighbour *all, unsigned char *land)
{
	pthread_t threads[NEIGHBOURS];

	for (size_t i = 0; i < NEIGHBOURS; i++) {
		all[i].plot = land + i * PLOT;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, live, &all[i]), 0);
	}
	for (size_t i = 0; i < NEIGHBOURS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	for (size_t i = 0; i < NEIGHBOURS; i++)
		ck_assert_msg(!*all[i].complaint, "%s", all[i].complaint);
}

/* The first test of all, so that tables that are built when first wanted are wanted by several at
 * once. */
START_TEST(neighbours_do_not_disturb_each_other)
{
	struct neighbour together[NEIGHBOURS] = {{0}}, alone[NEIGHBOURS];
	unsigned char *land = get(NEIGHBOURS * PLOT), *expected = get(NEIGHBOURS * PLOT);
	const char *wrong;

	for (size_t i = 0; i < NEIGHBOURS; i++)
		together[i].seed = tsw_seed() + 600 + (uint64_t)_i * NEIGHBOURS + i;
	memcpy(alone, together, sizeof alone);
	tsw_fill(land, NEIGHBOURS * PLOT);
	tsw_fill(expected, NEIGHBOURS * PLOT);
	live_together(together, land);
	live_alone(alone, expected);
	wrong = tsw_wrong_bytes(land, expected, NEIGHBOURS * PLOT);
	ck_assert_msg(!wrong, "%s", wrong);
	for (size_t i = 0; i < NEIGHBOURS; i++)
		ck_assert_msg(together[i].digest.placed == alone[i].digest.placed,
			      "neighbour %zu saw other digests", i);
	free(land);
	free(expected);
}
END_TEST

static Suite *properties_suite(void)
{
	Suite *suite = suite_create("properties");
	TCase *tc = tcase_create("properties");

	tcase_add_loop_test(tc, neighbours_do_not_disturb_each_other, 0, 3);
	tcase_add_loop_test(tc, once_is_the_oracle_and_nothing_beside, 0, 5);
	tcase_add_loop_test(tc, twice_is_nothing, 0, 5);
	tcase_add_loop_test(tc, the_digest_law, 0, 5);
	tcase_add_loop_test(tc, any_number_of_threads, 0, 3);
	tcase_add_loop_test(tc, threads_that_share_a_matrix, 0, 2);
	tcase_add_loop_test(tc, any_order_of_the_pairs, 0, 3);
	tcase_add_loop_test(tc, any_instruction_set, 0, 3);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], CHILD_MODE))
		return child(argv[2], argv[3], argv[4]);
	return tsw_test_main(TSW_SAME_PROCESS, (tsw_suite *[]){properties_suite}, 1);
}
