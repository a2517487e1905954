/* A file that holds a square matrix: where it lies in the file and what it is. */
#ifndef TSW_MATFILE_H
#define TSW_MATFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../file/place.h"
#include "options.h"

struct matfile {
	const char *path;
	int fd;
	struct stat stat;
	uint64_t offset_bytes; /* of element (0, 0) */
	size_t n, ld, elem_size;
	size_t span_bytes; /* from the first to the last byte of the matrix */
	int column_major;
};

/* What the command line alone can tell about the options that describe a raw file: EXIT_OK, or
 * EXIT_USAGE after a complaint. */
int matfile_check_options(const struct options *o);

/* What the options say of the file, as the library wants it. */
struct tsw_wanted matfile_wanted(const struct options *o);

/* Opens and judges o->file: EXIT_OK, or EXIT_FAILED after a complaint. */
int matfile_open(struct matfile *m, const struct options *o);
void matfile_close(struct matfile *m);

/* Memory for the matrix; NULL after a complaint. */
void *matfile_alloc(const struct matfile *m);

/* Reads the span of the matrix from `fd`, a file laid out as `m` is, into `buf`. `what` is for the
 * progress bar, `path` for complaints.  EXIT_OK or EXIT_FAILED. */
int matfile_read(const struct matfile *m, int fd, const char *path, void *buf, const char *what);

#endif /* TSW_MATFILE_H */
