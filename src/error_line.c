/* The detail of a thread's last failure, in a unit of its own: the libraries that stand on this one
 * have a copy of everything else that is hidden, but the line must be there once. */
#include "status.h"
#include "tileswap_dist.h"

static _Thread_local char line[TSW_ERROR_LINE];

char *tsw_error_line(int failed)
{
	tsw_failed = failed;
	return line;
}

const char *tsw_last_error(void)
{
	return tsw_failed ? line : "";
}
