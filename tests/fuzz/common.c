#include "fuzz.h"

#include "tileswap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct fuzz_target fuzz_targets[] = {
	{"args", fuzz_args},	     {"journal", fuzz_journal}, {"npy", fuzz_npy},
	{"options", fuzz_options},   {"raw", fuzz_raw},		{"safetensors", fuzz_safetensors},
	{"tilepair", fuzz_tilepair},
};

const size_t fuzz_target_count = sizeof fuzz_targets / sizeof *fuzz_targets;

void fuzz_broken(const char *condition, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("not as promised: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, " (%s)\n", condition);
	va_end(args);
	abort();
}

void fuzz_require_detail(int status)
{
	const char *detail = tsw_last_error();

	fuzz_require((status == TSW_OK) == (*detail == '\0'), "status %d, detail \"%s\"", status,
		     detail);
}

uint64_t fuzz_take(struct fuzz_input *in, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		if (in->at < in->end)
			value |= (uint64_t)*in->at++ << 8 * i;
	return value;
}

uint64_t fuzz_number(struct fuzz_input *in)
{
	const unsigned kind = (unsigned)fuzz_take(in, 1), near = kind >> 3;

	switch (kind % 8) {
	case 0:
	case 1:
		return near;
	case 2:
		return fuzz_take(in, 1);
	case 3:
		return fuzz_take(in, 2);
	case 4:
		return ((uint64_t)1 << fuzz_take(in, 1) % 64) + near - 16;
	case 5:
		return (uint64_t)PTRDIFF_MAX + near - 16;
	case 6:
		return UINT64_MAX - near;
	default:
		return fuzz_take(in, 8);
	}
}
