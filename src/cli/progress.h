/* A progress bar on stderr: what is being done, how far, rate, time left.  Drawn only after a
 * second and only on a terminal, unless the user says otherwise. */
#ifndef TSW_PROGRESS_H
#define TSW_PROGRESS_H

#include <stdint.h>

#include "options.h"

/* One job of `total_bytes`, of which `done_bytes` are done already and say nothing of the rate;
 * `show` is an enum show. */
void progress_begin(int show, uint64_t total_bytes, uint64_t done_bytes);

/* `done_bytes` more are done, and the job is now at `what` ("reading"). */
void progress_add(const char *what, uint64_t done_bytes);

/* In place of the bar a line of the caller's own, cut off at the width of the terminal. */
void progress_line(const char *text);

/* Takes the bar off the screen, so that a line can be printed; the next progress_add draws anew. */
void progress_hide(void);

/* The job is over. */
void progress_end(void);

#endif /* TSW_PROGRESS_H */
