/* A file that appears complete or not at all: written beside its place under a temporary name,
 * synced, then renamed. */
#ifndef TSW_OUTFILE_H
#define TSW_OUTFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct outfile {
	const char *path;
	char *place; /* path, symbolic links followed if it exists */
	char *temp;  /* NULL once it is gone */
	int force;   /* may replace */
	int fd;
};

/* May `path` become the output, `in` being the status of the input?  EXIT_OK; EXIT_FAILED or, where
 * both are one file, EXIT_USAGE after a complaint.  Touches nothing. */
int outfile_check(const char *path, const struct stat *in, int force);

/* Creates the temporary file, readable by nobody else.  It is removed if a signal ends the process.
 * Every call: EXIT_OK, or EXIT_FAILED after a complaint. */
int outfile_begin(struct outfile *out, const char *path, int force);
int outfile_write(struct outfile *out, const void *buf, size_t bytes, uint64_t offset);
int outfile_copy(struct outfile *out, int from, const char *from_path, uint64_t begin,
		 uint64_t end);

/* Everything is on the disk. */
int outfile_sync(struct outfile *out);

/* Gives the file `mode` (less the umask) and its name.  Once it succeeds signals are ignored. */
int outfile_commit(struct outfile *out, mode_t mode);

/* Removes what is left of an output that was not committed; frees the rest.  Always call it. */
void outfile_end(struct outfile *out);

#endif /* TSW_OUTFILE_H */
