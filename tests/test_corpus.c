/* The fuzz targets of tests/fuzz without libFuzzer: every stored input, every beginning of it, and
 * copies of it with a few bytes changed.  An input that once broke something stays in
 * tests/fuzz/corpus/TARGET/. */
#include "fuzz/fuzz.h"
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INPUTS 4000
#define MOST_BYTES 65536
#define CHANGED_COPIES 60

static struct input {
	const struct fuzz_target *target;
	char path[512];
} inputs[MOST_INPUTS];

static size_t input_count;
static unsigned of_target[16];

/* Run from the top of the tree, unless TSW_CORPUS says where the corpus is. */
static const char *corpus(void)
{
	const char *given = getenv("TSW_CORPUS");

	return given && *given ? given : "tests/fuzz/corpus";
}

static void add(const struct fuzz_target *target, const char *folder, const char *name)
{
	struct input *input = &inputs[input_count];

	if (name[0] == '.' || input_count == MOST_INPUTS)
		return;
	input->target = target;
	snprintf(input->path, sizeof input->path, "%s/%s", folder, name);
	input_count++;
	of_target[target - fuzz_targets]++;
}

static void find_inputs(void)
{
	char folder[200];

	for (size_t t = 0; t < fuzz_target_count; t++) {
		struct dirent **names;
		int count;

		snprintf(folder, sizeof folder, "%s/%s", corpus(), fuzz_targets[t].name);
		count = scandir(folder, &names, NULL, alphasort);
		for (int i = 0; i < count; i++) {
			add(&fuzz_targets[t], folder, names[i]->d_name);
			free(names[i]);
		}
		if (count >= 0)
			free(names);
	}
}

static unsigned char *read_input(const struct input *input, size_t *size)
{
	unsigned char *bytes = malloc(MOST_BYTES);
	FILE *f = fopen(input->path, "rb");

	ck_assert_msg(f && bytes, "cannot read %s", input->path);
	*size = fread(bytes, 1, MOST_BYTES, f);
	ck_assert_msg(feof(f) && !ferror(f), "%s is longer than %d bytes", input->path, MOST_BYTES);
	fclose(f);
	return bytes;
}

/* In memory of just that size, so that a sanitizer sees what is read past it. */
static void run(const struct input *input, const unsigned char *bytes, size_t size)
{
	unsigned char *copy = malloc(size);

	ck_assert(copy || !size);
	if (size)
		memcpy(copy, bytes, size);
	input->target->run(copy, size);
	free(copy);
}

START_TEST(every_target_has_inputs)
{
	for (size_t t = 0; t < fuzz_target_count; t++)
		ck_assert_msg(of_target[t] >= 3,
			      "%s/%s has %u inputs (the tests are run from the "
			      "top of the tree)",
			      corpus(), fuzz_targets[t].name, of_target[t]);
	ck_assert_uint_lt(input_count, MOST_INPUTS);
}
END_TEST

/* A crash ends this test alone: each has a process of its own. */
START_TEST(stored_inputs)
{
	const struct input *input = &inputs[_i];
	size_t size, step;
	unsigned char *bytes = read_input(input, &size);

	fprintf(stderr, "%s\n", input->path); /* what a crash stands below */
	run(input, bytes, size);
	step = 1 + size / 256;
	for (size_t cut = 0; cut < size; cut += step)
		run(input, bytes, cut);
	free(bytes);
}
END_TEST

static void change(uint64_t *state, unsigned char *bytes, size_t size)
{
	static const unsigned char interesting[] = {0, 1, 0x7f, 0x80, 0xff, '9', ']', '"', '\''};
	const size_t at = (size_t)tsw_random_below(state, size);

	switch (tsw_random_below(state, 3)) {
	case 0:
		bytes[at] ^= (unsigned char)(1u << tsw_random_below(state, 8));
		break;
	case 1:
		bytes[at] = interesting[tsw_random_below(state, sizeof interesting)];
		break;
	default:
		bytes[at] = bytes[tsw_random_below(state, size)];
	}
}

START_TEST(changed_inputs)
{
	const struct input *input = &inputs[_i];
	uint64_t state = tsw_seed() + (uint64_t)_i;
	size_t size;
	unsigned char *bytes = read_input(input, &size), *copy = malloc(size + 1);

	ck_assert_ptr_nonnull(copy);
	fprintf(stderr, "%s, changed\n", input->path);
	for (int round = 0; round < CHANGED_COPIES && size; round++) {
		memcpy(copy, bytes, size);
		for (uint64_t changes = 1 + tsw_random_below(&state, 4); changes--;)
			change(&state, copy, size);
		run(input, copy, size);
	}
	free(copy);
	free(bytes);
}
END_TEST

static Suite *corpus_suite(void)
{
	Suite *suite = suite_create("corpus");
	TCase *tc = tcase_create("corpus");

	tcase_add_test(tc, every_target_has_inputs);
	tcase_add_loop_test(tc, stored_inputs, 0, (int)input_count);
	tcase_add_loop_test(tc, changed_inputs, 0, (int)input_count);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	find_inputs();
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){corpus_suite}, 1);
}
