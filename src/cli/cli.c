#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "progress.h"

static const char *command_name;

void complain_as(const char *command)
{
	command_name = command;
}

void complain(const char *format, ...)
{
	va_list args;

	progress_hide();
	fputs("tileswap: ", stderr);
	if (command_name)
		fprintf(stderr, "%s: ", command_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int stdout_finish(void)
{
	static int told;
	/* An earlier failed write leaves the error mark set even if nothing is left to flush. */
	int lost = ferror(stdout);

	errno = 0;
	if (!told && !fflush(stdout) && !lost)
		return EXIT_OK;
	if (!told)
		complain("cannot write the result to stdout%s%s", errno ? ": " : "",
			 errno ? strerror(errno) : "");
	told = 1;
	return EXIT_FAILED;
}

double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
