/* libFuzzer's way in: TSW_FUZZ names the target. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("TSW_FUZZ");

	(void)argc;
	(void)argv;
	for (size_t i = 0; name && i < fuzz_target_count; i++)
		if (!strcmp(fuzz_targets[i].name, name))
			target = &fuzz_targets[i];
	if (target)
		return 0;
	fputs("TSW_FUZZ must name one of:", stderr);
	for (size_t i = 0; i < fuzz_target_count; i++)
		fprintf(stderr, " %s", fuzz_targets[i].name);
	fputc('\n', stderr);
	exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	target->run(data, size);
	return 0;
}
