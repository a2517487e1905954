#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"
#include "signals.h"

#define CHUNK_BYTES ((size_t)4 << 20)
#define SUFFIX ".tswtmp-XXXXXX"

static int failed(const char *what, const char *path)
{
	complain("%s '%s': %s", what, path, strerror(errno));
	return EXIT_FAILED;
}

int outfile_check(const char *path, const struct stat *in, int force)
{
	struct stat s;

	if (stat(path, &s)) {
		if (errno == ENOENT && lstat(path, &s)) /* and no dangling link either */
			return EXIT_OK;
		if (errno != ENOENT)
			return failed("cannot look at", path);
		complain("'%s' is a symbolic link to nothing", path);
		return EXIT_FAILED;
	}
	if (s.st_dev == in->st_dev && s.st_ino == in->st_ino) {
		complain("'%s' is the input itself; OUT must be another file", path);
		return EXIT_USAGE;
	}
	if (!S_ISREG(s.st_mode)) {
		complain("'%s' is %s, not a regular file", path,
			 S_ISDIR(s.st_mode) ? "a directory" : "a device or a pipe");
		return EXIT_FAILED;
	}
	if (!force) {
		complain("'%s' exists; --force replaces it", path);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* "DIR/.BASE.tswtmp-XXXXXX", BASE cut to what a directory entry holds. */
static char *temporary_name(const char *place)
{
	const char *slash = strrchr(place, '/'), *base = slash ? slash + 1 : place;
	int keep = NAME_MAX - 1 - (int)strlen(SUFFIX);
	char *temp;

	if (asprintf(&temp, "%.*s.%.*s" SUFFIX, (int)(base - place), place, keep, base) < 0)
		return NULL;
	return temp;
}

int outfile_begin(struct outfile *out, const char *path, int force)
{
	*out = (struct outfile){.path = path, .force = force, .fd = -1};
	out->place = realpath(path, NULL);
	if (!out->place)
		out->place = strdup(path);
	out->temp = out->place ? temporary_name(out->place) : NULL;
	if (!out->temp)
		return failed("cannot create", path);
	signals_hold();
	out->fd = mkostemp(out->temp, O_CLOEXEC);
	if (out->fd >= 0)
		signals_remove_on_end(out->temp);
	signals_release();
	if (out->fd < 0) {
		failed("cannot create a file beside", path);
		free(out->temp);
		out->temp = NULL;
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

int outfile_write(struct outfile *out, const void *buf, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes;) {
		size_t left = bytes - done;
		ssize_t put =
			pwrite(out->fd, (const char *)buf + done,
			       left < CHUNK_BYTES ? left : CHUNK_BYTES, (off_t)(offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return failed("cannot write", out->path);
		done += (size_t)put;
		progress_add("writing", (uint64_t)put);
	}
	return EXIT_OK;
}

int outfile_copy(struct outfile *out, int from, const char *from_path, uint64_t begin, uint64_t end)
{
	char buf[1 << 16];

	while (begin < end) {
		uint64_t left = end - begin;
		ssize_t got = pread(from, buf, left < sizeof buf ? left : sizeof buf, (off_t)begin);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return failed("cannot read", from_path);
		if (!got) {
			complain("'%s' became shorter while it was read", from_path);
			return EXIT_FAILED;
		}
		if (outfile_write(out, buf, (size_t)got, begin))
			return EXIT_FAILED;
		begin += (uint64_t)got;
	}
	return EXIT_OK;
}

int outfile_sync(struct outfile *out)
{
	return fsync(out->fd) ? failed("cannot write", out->path) : EXIT_OK;
}

/* Without --force a file that appeared meanwhile is not replaced, where the file system can see to
 * that. */
static int rename_to_place(const struct outfile *out)
{
	struct stat s;

	if (out->force)
		return rename(out->temp, out->place);
	if (!renameat2(AT_FDCWD, out->temp, AT_FDCWD, out->place, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (!lstat(out->place, &s)) {
		errno = EEXIST;
		return -1;
	}
	return rename(out->temp, out->place);
}

/* The new name itself reaches the disk.  Some file systems cannot sync a directory: no fault. */
static void sync_directory(const char *place)
{
	const char *slash = strrchr(place, '/');
	char *dir = slash ? strndup(place, (size_t)(slash - place) + 1) : strdup(".");
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(dir);
}

int outfile_commit(struct outfile *out, mode_t mode)
{
	mode_t mask = umask(0);
	int fd = out->fd;

	umask(mask);
	if (fchmod(fd, mode & 0777 & ~mask))
		return failed("cannot set the permissions of", out->path);
	out->fd = -1;
	if (close(fd))
		return failed("cannot write", out->path);
	signals_ignore();
	if (rename_to_place(out))
		return failed("cannot put the result in place as", out->path);
	signals_remove_on_end(NULL);
	free(out->temp);
	out->temp = NULL;
	sync_directory(out->place);
	return EXIT_OK;
}

void outfile_end(struct outfile *out)
{
	if (out->fd >= 0)
		close(out->fd);
	if (out->temp)
		unlink(out->temp);
	signals_remove_on_end(NULL);
	free(out->temp);
	free(out->place);
}
