/* tests/simt finds the faults it is there to find: a kernel for each, see simt/faulty.c. */
#include "faulty.h"
#include "launch_simt.h"
#include "support.h"

#include <string.h>

#define BLOCKS 3
#define WORDS (BLOCKS * FAULTY_THREADS)
#define ORDERS 6

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#ifndef ASAN
#define ASAN 0
#endif

SIMT_DEFINE_CALL(faulty)

/* Runs one kernel in one order: NULL, or what was found, be it a report or a wrong result. */
static const char *run(const struct faulty_kernel *kernel, uint64_t order)
{
	struct tsw_guarded in = tsw_guarded_new(WORDS * 4, TSW_FLUSH_LEFT);
	struct tsw_guarded out = tsw_guarded_new(WORDS * 4, TSW_FLUSH_RIGHT);
	struct faulty p = {(const uint32_t *)in.p, (uint32_t *)out.p, 1};
	const char *found;

	tsw_fill(in.p, in.bytes);
	memset(out.p, 0, out.bytes);
	simt_allow_nothing();
	simt_allow(in.p, in.bytes, 0, 1);
	simt_allow(out.p, out.bytes, 0, 0);
	found = simt_launch(&(struct simt_launch){.call = simt_call_faulty,
						  .entry = kernel->entry,
						  .param = &p,
						  .grid = BLOCKS,
						  .block_x = FAULTY_THREADS,
						  .block_y = 1,
						  .shared_bytes = FAULTY_THREADS * 4,
						  .order = order});
	for (unsigned w = 0; !found && w < WORDS; w++)
		if (p.out[w] != p.in[w / FAULTY_THREADS * FAULTY_THREADS + FAULTY_THREADS - 1 -
				     w % FAULTY_THREADS])
			found = "wrong result";
	tsw_guarded_free(&in);
	tsw_guarded_free(&out);
	return found;
}

static void check_kernel(const struct faulty_kernel *kernel)
{
	unsigned found_in = 0;

	for (uint64_t order = 0; order < ORDERS; order++) {
		const char *found = run(kernel, order);

		if (!found)
			continue;
		found_in++;
		ck_assert_msg(kernel->says != NULL, "%s, order %ju: %s", kernel->fault,
			      (uintmax_t)order, found);
		ck_assert_msg(strstr(found, kernel->says) != NULL,
			      "%s, order %ju: \"%s\", not \"%s\"", kernel->fault, (uintmax_t)order,
			      found, kernel->says);
	}
	if (kernel->says)
		ck_assert_msg(found_in == ORDERS, "%s: found in %u of %d orders", kernel->fault,
			      found_in, ORDERS);
}

START_TEST(faults_are_found)
{
	const struct faulty_kernel *kernel = &faulty_kernels[_i];

	if (kernel->needs_trace && !simt_traced() && !(ASAN && kernel->asan_stops_it))
		tsw_skip("found only where loads and stores are traced (not in a sanitizer build)");
#ifdef __clang__
	if (!strcmp(kernel->fault, "overrun") && !ASAN)
		tsw_skip("clang assumes away an overrun that it can prove");
#endif
	check_kernel(kernel);
	ck_assert_msg(!(ASAN && kernel->asan_stops_it), "%s: AddressSanitizer said nothing",
		      kernel->fault);
}
END_TEST

/* Only an exit code tells of a stopped process; Check wants it said per test. */
static Suite *simt_itself_suite(void)
{
	Suite *suite = suite_create("simt itself");

	for (int k = 0; k < (int)faulty_kernel_count; k++) {
		TCase *tc = tcase_create(faulty_kernels[k].fault);
		int stops = ASAN && faulty_kernels[k].asan_stops_it;

		tcase_add_loop_exit_test(tc, faults_are_found, stops ? 1 : 0, k, k + 1);
		suite_add_tcase(suite, tc);
	}
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){simt_itself_suite}, 1);
}
