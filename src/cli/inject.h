/* For the tests of stress: the environment variable TSW_STRESS_INJECT names faults that are put
 * into the matrix behind the back of a round.  Faults stand apart by blanks; each is
 *
 *     [DEVICE/]flip:WHEN:ROUND:ROW:COL:BIT        bit BIT of an element, from its first byte on
 *     [DEVICE/]swap:WHEN:ROUND:ROW:COL:ROW:COL    two elements change places
 *     [DEVICE/]byte:WHEN:ROUND:BYTE:BIT           bit BIT of a byte of the span, padding too
 *     [DEVICE/]stop:WHEN:ROUND                    Ctrl-C
 *
 * DEVICE is cpu or cuda:I, and everywhere if left out.  WHEN is `filled` (before the first digest),
 * `transposed` (before the second), `digested` (before the elements are compared) or `checked`
 * (behind that). */
#ifndef TSW_INJECT_H
#define TSW_INJECT_H

#include "arena.h"

#define INJECTIONS 8

enum when { WHEN_FILLED, WHEN_TRANSPOSED, WHEN_DIGESTED, WHEN_CHECKED, WHENS };

struct injection {
	char device[16]; /* empty: any */
	unsigned what;	 /* index into inject.c's kinds */
	enum when when;
	uint64_t round, number[4];
};

struct injections {
	struct injection list[INJECTIONS];
	unsigned count;
};

/* Reads `text`; NULL names no fault.  0, or -1 after a complaint. */
int inject_parse(const char *text, struct injections *all);

/* Puts in what is due in this round at this moment.  TSW_ERR_OPTION for a place outside the matrix.
 */
tsw_status inject(const struct injections *all, struct arena *arena, uint64_t round,
		  enum when when);

#endif /* TSW_INJECT_H */
