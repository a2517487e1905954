#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TEST_SECONDS "300"	  /* Check's own limit, 4 s, is too low under sanitizers */
#define SAME_PROCESS_SECONDS 1800 /* where Check cannot stop a test that hangs */
#define MAX_REASONS 32

/* Shared with the children that Check forks. */
static struct tally {
	unsigned skipped;
	unsigned reasons;
	char reason[MAX_REASONS][160];
} * tally;

static uint64_t seed;

uint64_t tsw_seed(void)
{
	return seed;
}

void tsw_choose_seed(void)
{
	const char *given = getenv("TSW_SEED");
	struct timespec now;

	if (given && *given) {
		seed = strtoull(given, NULL, 0);
	} else {
		clock_gettime(CLOCK_REALTIME, &now);
		seed = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) ^
		       (uint64_t)getpid() << 40;
	}
	printf("TSW_SEED=0x%016jx\n", (uintmax_t)seed);
	fflush(stdout);
}

int tsw_gpu_required(void)
{
	const char *value = getenv("REQUIRE_GPU");

	return value && *value && strcmp(value, "0") != 0;
}

void tsw_note_skip(const char *reason)
{
	tally->skipped++;
	for (unsigned i = 0; i < tally->reasons; i++)
		if (!strcmp(tally->reason[i], reason))
			return;
	if (tally->reasons < MAX_REASONS)
		snprintf(tally->reason[tally->reasons++], sizeof tally->reason[0], "%s", reason);
}

/* Runs one suite; false if it ran nothing.  A filter of Check's (CK_RUN_CASE) may empty a suite. */
static int run_suite(Suite *suite, enum tsw_how how, unsigned *ran, unsigned *failed)
{
	SRunner *runner = srunner_create(suite);
	unsigned tests;

	srunner_set_fork_status(runner, how == TSW_FORK_TESTS ? CK_FORK : CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	tests = (unsigned)srunner_ntests_run(runner);
	*ran += tests;
	*failed += (unsigned)srunner_ntests_failed(runner);
	srunner_free(runner);
	return tests > 0 || getenv("CK_RUN_SUITE") || getenv("CK_RUN_CASE");
}

static int count(unsigned ran, unsigned failed, int empty_suite)
{
	unsigned skipped = tally->skipped;

	for (unsigned i = 0; i < tally->reasons; i++)
		printf("skipped: %s\n", tally->reason[i]);
	if (empty_suite || ran == 0) {
		printf("a suite ran no test\n");
		failed++;
		ran++;
	}
	printf("%u passed, %u failed, %u skipped\n", ran - failed - skipped, failed, skipped);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int tsw_test_main(enum tsw_how how, tsw_suite *const *suites, size_t suite_count)
{
	unsigned ran = 0, failed = 0;
	int empty_suite = 0;

	tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED) {
		perror("mmap");
		return EXIT_FAILURE;
	}
	setenv("CK_DEFAULT_TIMEOUT", TEST_SECONDS, 0);
	if (how == TSW_SAME_PROCESS)
		alarm(SAME_PROCESS_SECONDS);
	tsw_choose_seed();
	for (size_t i = 0; i < suite_count; i++)
		empty_suite |= !run_suite(suites[i](), how, &ran, &failed);
	return count(ran, failed, empty_suite);
}

START_TEST(needs_cuda)
{
	tsw_skip_gpu("this build has no CUDA");
}
END_TEST

static Suite *no_cuda_suite(void)
{
	Suite *suite = suite_create("without CUDA");
	TCase *tc = tcase_create("without CUDA");

	tcase_add_test(tc, needs_cuda);
	suite_add_tcase(suite, tc);
	return suite;
}

int tsw_main_without_cuda(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){no_cuda_suite}, 1);
}
