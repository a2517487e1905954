/* What the subcommands of the tool share.  Results go to stdout, everything else to stderr. */
#ifndef TSW_CLI_H
#define TSW_CLI_H

#include "options.h"

/* Exit codes.  A signal gives 128 + its number. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,    /* the input, the device, I/O or a verification failed */
	EXIT_USAGE = 2,	    /* the command line is wrong, whatever the files hold */
	EXIT_NO_BACKEND = 3 /* the backend that was asked for is not there */
};

int cmd_transpose(const struct options *o);
int cmd_checksum(const struct options *o);
int cmd_stress(const struct options *o);
int cmd_info(const struct options *o);

/* One line on stderr: "tileswap: COMMAND: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Names the command in complaints from here on; NULL for none. */
void complain_as(const char *command);

/* Everything that was printed on stdout is out: EXIT_OK, or EXIT_FAILED after a complaint, one
 * for all calls. */
int stdout_finish(void);

/* Seconds of a clock that only moves forward. */
double seconds_now(void);

#endif /* TSW_CLI_H */
