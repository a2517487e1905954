#ifndef TSW_BENCH_OPTIONS_H
#define TSW_BENCH_OPTIONS_H

#include "bench.h"

/* Fills in what the command line says.  0, or 2 after a message.  --help prints and exits. */
int bench_parse(int argc, char **argv, struct bench_options *options);

#endif /* TSW_BENCH_OPTIONS_H */
