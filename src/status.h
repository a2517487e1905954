/* How every fallible function of the library reports: it returns a tsw_status and leaves one line
 * of detail for tsw_last_error(). */
#ifndef TSW_STATUS_H
#define TSW_STATUS_H

#include "tileswap.h"

/* Records the detail of a failure for this thread and returns `status`, so that a failing function
 * ends in `return tsw_fail(...)`. */
tsw_status tsw_fail(tsw_status status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* True while this thread has a detail.  The model spares every small call the search for the
 * thread's block; four bytes fit in what loaders keep free for it. */
extern _Thread_local int tsw_failed
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Every entry point begins with this: an earlier call's detail is forgotten. */
static inline void tsw_forget_failure(void)
{
	tsw_failed = 0;
}

/* Hands a failure up unchanged. */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		tsw_status try_status_ = (call);                                                   \
		if (try_status_ != TSW_OK)                                                         \
			return try_status_;                                                        \
	} while (0)

#endif /* TSW_STATUS_H */
