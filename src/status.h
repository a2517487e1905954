/* How every fallible function of the library reports: it returns a tsw_status and leaves one line
 * of detail for tsw_last_error(). */
#ifndef TSW_STATUS_H
#define TSW_STATUS_H

#include "tileswap.h"

/* Records the detail of a failure for this thread and returns `status`, so that a failing function
 * ends in `return tsw_fail(...)`. */
tsw_status tsw_fail(tsw_status status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* True while this thread has a detail.  In no static TLS model: that would bind all thread-local
 * storage of the library, the CUDA runtime's 4 KiB too, to what loaders keep free, and a program
 * that loads it late, such as Python, could not. */
extern _Thread_local int tsw_failed __attribute__((visibility("hidden")));

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
