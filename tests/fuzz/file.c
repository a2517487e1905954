/* A file in memory, behind the calls that the formats make. */
#include "fuzz.h"

#include "file/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fuzz_file_new(struct fuzz_file *f, const uint8_t *contents, size_t stored, uint64_t bytes)
{
	*f = (struct fuzz_file){.contents = malloc(stored), .stored = stored, .bytes = bytes};
	if (stored && !f->contents)
		abort();
	if (stored)
		memcpy(f->contents, contents, stored);
}

void fuzz_file_free(struct fuzz_file *f)
{
	free(f->contents);
}

static int64_t read_at(void *user, int fd, void *to, size_t bytes, uint64_t at)
{
	const struct fuzz_file *f = user;
	uint64_t left = at < f->bytes ? f->bytes - at : 0, kept = 0;

	(void)fd;
	if (left < bytes)
		bytes = (size_t)left;
	if (at < f->stored)
		kept = bytes < f->stored - at ? bytes : f->stored - at;
	if (kept)
		memcpy(to, f->contents + at, kept);
	memset((unsigned char *)to + kept, 0, bytes - kept);
	return (int64_t)bytes;
}

static int64_t write_at(void *user, int fd, const void *from, size_t bytes, uint64_t at)
{
	struct fuzz_file *f = user;

	(void)fd;
	fuzz_require(at <= f->stored && bytes <= f->stored - at,
		     "%zu bytes written at %ju of a file of %ju", bytes, (uintmax_t)at,
		     (uintmax_t)f->stored);
	memcpy(f->contents + at, from, bytes);
	f->writes++;
	return (int64_t)bytes;
}

static int status(void *user, int fd, struct tsw_file_status *s)
{
	const struct fuzz_file *f = user;

	(void)fd;
	*s = (struct tsw_file_status){.bytes = f->bytes, .regular = 1};
	return 0;
}

static int sync_all(void *user, int fd, enum tsw_barrier why)
{
	(void)user;
	(void)fd;
	(void)why;
	return 0;
}

/* No other file is there, and no attribute. */
static int open_none(void *user, const char *path, enum tsw_open how, unsigned mode)
{
	(void)user;
	(void)path;
	(void)how;
	(void)mode;
	errno = ENOENT;
	return -1;
}

static int no_mark(void *user, int fd, void *mark)
{
	(void)user;
	(void)fd;
	(void)mark;
	errno = ENODATA;
	return -1;
}

struct tsw_file fuzz_file_open(struct fuzz_file *f, struct tsw_io *io)
{
	*io = (struct tsw_io){.user = f,
			      .open = open_none,
			      .read = read_at,
			      .write = write_at,
			      .sync = sync_all,
			      .status = status,
			      .get_mark = no_mark};
	return (struct tsw_file){io, "FILE", 3};
}
