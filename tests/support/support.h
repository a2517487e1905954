/* What the test programs share: a runner that counts what Check does not, seeded random numbers,
 * matrices whose every byte tells its place, memory with unmapped pages on both sides. */
#ifndef TSW_SUPPORT_H
#define TSW_SUPPORT_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>

/* ---- running --------------------------------------------------------------------------------- */

typedef Suite *tsw_suite(void);

/* Runs the suites and prints a last line "N passed, N failed, N skipped".  The result is main's:
 * not 0 if a test failed or a suite ran none.  TSW_FORK_TESTS gives each test a process of its own,
 * where the library uses one thread (as in any child of a fork); TSW_SAME_PROCESS is for threads
 * and GPUs, and a crash ends the program. */
enum tsw_how { TSW_FORK_TESTS, TSW_SAME_PROCESS };
int tsw_test_main(enum tsw_how how, tsw_suite *const *suites, size_t count);

/* In the body of a test: counts it as skipped and leaves it. */
#define tsw_skip(reason)                                                                           \
	do {                                                                                       \
		tsw_note_skip(reason);                                                             \
		return;                                                                            \
	} while (0)

/* The same for want of a GPU: a failure where REQUIRE_GPU=1 says there is one. */
#define tsw_skip_gpu(reason)                                                                       \
	do {                                                                                       \
		if (tsw_gpu_required())                                                            \
			ck_abort_msg("REQUIRE_GPU=1, but %s", reason);                             \
		tsw_skip(reason);                                                                  \
	} while (0)

/* main() of a suite for GPUs, in a build without CUDA: skips. */
int tsw_main_without_cuda(void);

void tsw_note_skip(const char *reason);
int tsw_gpu_required(void);

/* As ck_assert_msg, for inner loops: Check tells its parent of every assertion that holds. */
#define tsw_require(condition, ...)                                                                \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

/* A status, with the detail in the message if it is another one. */
#define tsw_assert_status(call, expected)                                                          \
	do {                                                                                       \
		tsw_status status_ = (call);                                                       \
		ck_assert_msg(status_ == (expected), "%s: status %d (%s), expected %d", #call,     \
			      status_, tsw_last_error(), (int)(expected));                         \
	} while (0)
#define tsw_assert_ok(call) tsw_assert_status(call, TSW_OK)

/* Runs this program anew with `mode` as its only argument and `setting`, "NAME=value" or NULL, in
 * its environment, by the emulator that TSW_EMULATOR names, if any.  The exit status, or 128 + the
 * signal that ended it. */
int tsw_run_again(const char *mode, const char *setting);

/* ---- random numbers -------------------------------------------------------------------------- */

/* The seed of this run: TSW_SEED, or one taken from the clock.  It is printed. */
uint64_t tsw_seed(void);
void tsw_choose_seed(void); /* by tsw_test_main() already */

/* The next number of a stream; begin with a state made from tsw_seed(). */
uint64_t tsw_random(uint64_t *state);

/* Uniform enough in [0, limit). */
uint64_t tsw_random_below(uint64_t *state, uint64_t limit);

/* ---- matrices -------------------------------------------------------------------------------- */

/* The bytes that tsw_fill() writes, `bytes` of them: each 64-bit word is a mix of its number, so
 * that a byte in a wrong place shows, whatever the width of an element, and so does one in the
 * padding. The pointer stays valid, the contents never change. */
const unsigned char *tsw_pattern(size_t bytes);

void tsw_fill(void *p, size_t bytes);

struct tsw_shape {
	size_t n, ld, elem_size;
};

/* Bytes from the first to the last of the matrix. */
size_t tsw_shape_bytes(struct tsw_shape s);

/* Writes the transpose of `before` into the window of `after`, one element after the other; bytes
 * of `after` outside the window are left. */
void tsw_oracle_window(const unsigned char *before, unsigned char *after, struct tsw_shape s);

/* NULL if `a` is the transpose of `before`, padding kept; else the first wrong byte, in words (one
 * static buffer a thread). */
const char *tsw_wrong_transpose(const unsigned char *a, const unsigned char *before,
				struct tsw_shape s);

/* NULL if the bytes are equal; else the first that differs. */
const char *tsw_wrong_bytes(const unsigned char *a, const unsigned char *expected, size_t bytes);

/* ---- guard pages ----------------------------------------------------------------------------- */

enum tsw_flush { TSW_FLUSH_LEFT, TSW_FLUSH_RIGHT }; /* against the unmapped page before, or after */

struct tsw_guarded {
	unsigned char *p; /* the bytes asked for */
	size_t bytes;
	unsigned char *map;
	size_t map_bytes;
};

/* `bytes` bytes between two unmapped pages.  The slack of the last page is filled and looked at by
 * tsw_guarded_spoilt(). */
struct tsw_guarded tsw_guarded_new(size_t bytes, enum tsw_flush flush);
void tsw_guarded_free(struct tsw_guarded *g);

/* NULL if the slack is as it was; else a text. */
const char *tsw_guarded_spoilt(const struct tsw_guarded *g);

#endif /* TSW_SUPPORT_H */
