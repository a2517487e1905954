/* The file that transpose -o is to write. */
#ifndef TSW_OUTFILE_H
#define TSW_OUTFILE_H

#include <sys/stat.h>

/* May `path` become the output, `in` being the status of the input?  EXIT_OK; EXIT_FAILED or, where
 * both are one file, EXIT_USAGE after a complaint.  Touches nothing. */
int outfile_check(const char *path, const struct stat *in, int force);

#endif /* TSW_OUTFILE_H */
