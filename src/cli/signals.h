/* SIGINT, SIGTERM and SIGHUP: the tool ends at once, unless it asked to be told instead. */
#ifndef TSW_SIGNALS_H
#define TSW_SIGNALS_H

/* From here on the signals end the process with 128 + their number; SIGXFSZ becomes a failed write.
 */
void signals_install(void);

/* A signal that comes now comes too late to stop anything: it is ignored. */
void signals_ignore(void);

/* From here on the first signal is only noted; a second one ends the process. */
void signals_note(void);

/* The signal that was noted, 0 for none. */
int signals_noted(void);

#endif /* TSW_SIGNALS_H */
