#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The largest transfer Linux makes in one call. */
#define MOST_BYTES 0x7ffff000u

#define MARK_NAME "user.tileswap"

/* ---- whole transfers ------------------------------------------------------------------------- */

tsw_status tsw_io_failed(const char *path, const char *what)
{
	int error = errno;
	char text[128];

	return tsw_fail(TSW_ERR_IO, "cannot %s '%s': %s", what, path,
			strerror_r(error, text, sizeof text));
}

tsw_status tsw_read_all(const struct tsw_file *f, void *to, size_t bytes, uint64_t at)
{
	unsigned char *p = to;

	while (bytes) {
		size_t piece = bytes < MOST_BYTES ? bytes : MOST_BYTES;
		int64_t got = f->io->read(f->io->user, f->fd, p, piece, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tsw_io_failed(f->path, "read");
		if (got == 0)
			return tsw_fail(TSW_ERR_IO, "'%s' ends at byte %ju, %zu bytes too early",
					f->path, (uintmax_t)at, bytes);
		p += got;
		at += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return TSW_OK;
}

tsw_status tsw_write_all(const struct tsw_file *f, const void *from, size_t bytes, uint64_t at)
{
	const unsigned char *p = from;

	while (bytes) {
		size_t piece = bytes < MOST_BYTES ? bytes : MOST_BYTES;
		int64_t put = f->io->write(f->io->user, f->fd, p, piece, at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put == 0)
			errno = ENOSPC;
		if (put <= 0)
			return tsw_io_failed(f->path, "write");
		p += put;
		at += (uint64_t)put;
		bytes -= (size_t)put;
	}
	return TSW_OK;
}

/* Once, whatever comes: after a failed sync Linux takes the pages for clean, and a second sync
 * would report a success that is none. */
tsw_status tsw_sync(const struct tsw_file *f, enum tsw_barrier why)
{
	if (f->io->sync(f->io->user, f->fd, why))
		return tsw_io_failed(f->path, "sync");
	return TSW_OK;
}

/* ---- the system ------------------------------------------------------------------------------ */

/* What the file system says.  One that is silent is not asked by trying: a write it refuses would
 * come in the middle of a run. */
static size_t sys_grain(void *user, int fd)
{
#ifdef STATX_DIOALIGN
	struct statx s;
	size_t grain;

	(void)user;
	if (sysconf(_SC_PAGESIZE) > (long)TSW_PAGE ||
	    statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &s))
		return 0;
	if (!(s.stx_mask & STATX_DIOALIGN) || !s.stx_dio_offset_align || !s.stx_dio_mem_align)
		return 0;
	grain = s.stx_dio_offset_align > s.stx_dio_mem_align ? s.stx_dio_offset_align
							     : s.stx_dio_mem_align;
	/* Of two powers of two the larger is a multiple of both. */
	return TSW_PAGE % s.stx_dio_offset_align || TSW_PAGE % s.stx_dio_mem_align ? 0 : grain;
#else
	(void)user;
	(void)fd;
	return 0;
#endif
}

static int sys_open(void *user, const char *path, enum tsw_open how, unsigned mode)
{
	static const int flags[] = {
		[TSW_OPEN_DATA] = O_RDWR,
		[TSW_OPEN_DIRECT] = O_RDWR | O_DIRECT,
		[TSW_OPEN_READ] = O_RDONLY,
		[TSW_OPEN_JOURNAL] = O_RDWR | O_NOFOLLOW,
		[TSW_CREATE_JOURNAL] = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
		[TSW_CREATE_OUT] = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
	};
	int fd;

	(void)user;
	fd = open(path, flags[how] | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, (mode_t)mode);
	/* Runs are read where they are wanted; what the kernel would read ahead is not. */
	if (fd >= 0)
		posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	if (fd >= 0 && how == TSW_OPEN_DIRECT && !sys_grain(user, fd)) {
		close(fd);
		errno = ENOTSUP;
		return -1;
	}
	return fd;
}

static void sys_close(void *user, int fd)
{
	(void)user;
	close(fd);
}

static int64_t sys_read(void *user, int fd, void *to, size_t bytes, uint64_t at)
{
	(void)user;
	return pread(fd, to, bytes, (off_t)at);
}

static int64_t sys_write(void *user, int fd, const void *from, size_t bytes, uint64_t at)
{
	(void)user;
	return pwrite(fd, from, bytes, (off_t)at);
}

/* An attribute, or a file's first size, needs more than fdatasync. */
static int sys_sync(void *user, int fd, enum tsw_barrier why)
{
	int all = why == TSW_SYNC_BIRTH || why == TSW_SYNC_MARK || why == TSW_SYNC_DONE_MARK ||
		  why == TSW_SYNC_UNMARK;

	(void)user;
	return all ? fsync(fd) : fdatasync(fd);
}

static int sys_sync_name(void *user, const char *path, enum tsw_barrier why)
{
	char copy[PATH_MAX];
	int fd, result;

	(void)user;
	(void)why;
	if (strlen(path) >= sizeof copy) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(copy, path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	result = fsync(fd);
	close(fd);
	return result;
}

static int sys_status(void *user, int fd, struct tsw_file_status *status)
{
	struct stat s;

	(void)user;
	if (fstat(fd, &s))
		return -1;
	*status = (struct tsw_file_status){.bytes = (uint64_t)s.st_size,
					   .device = (uint64_t)s.st_dev,
					   .inode = (uint64_t)s.st_ino,
					   .mode = s.st_mode & 07777,
					   .regular = S_ISREG(s.st_mode)};
	return 0;
}

static int sys_truncate(void *user, int fd, uint64_t bytes)
{
	(void)user;
	return ftruncate(fd, (off_t)bytes);
}

static int sys_reserve(void *user, int fd, uint64_t bytes)
{
	int result;

	(void)user;
	do
		result = fallocate(fd, 0, 0, (off_t)bytes);
	while (result && errno == EINTR);
	if (result && errno == ENOSYS)
		errno = ENOTSUP;
	return result;
}

static int sys_rename(void *user, const char *from, const char *to)
{
	(void)user;
	return rename(from, to);
}

static int sys_rename_new(void *user, const char *from, const char *to)
{
	(void)user;
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system that cannot: the gap between the two calls is small. */
	if (!faccessat(AT_FDCWD, to, F_OK, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return -1;
	}
	return rename(from, to);
}

static int sys_unlink(void *user, const char *path)
{
	(void)user;
	return unlink(path);
}

static int sys_lock(void *user, int fd, int shared)
{
	(void)user;
	return flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
}

static void sys_unlock(void *user, int fd)
{
	(void)user;
	flock(fd, LOCK_UN);
}

static int sys_get_mark(void *user, int fd, void *mark)
{
	ssize_t got = fgetxattr(fd, MARK_NAME, mark, TSW_MARK_BYTES);

	(void)user;
	if (got == TSW_MARK_BYTES)
		return 0;
	if (got >= 0 || errno == ERANGE)
		errno = EBADMSG;
	return -1;
}

static int sys_set_mark(void *user, int fd, const void *mark)
{
	(void)user;
	return fsetxattr(fd, MARK_NAME, mark, TSW_MARK_BYTES, 0);
}

static int sys_remove_mark(void *user, int fd)
{
	(void)user;
	return fremovexattr(fd, MARK_NAME);
}

static int sys_chance(void *user, void *to, size_t bytes)
{
	(void)user;
	return getrandom(to, bytes, 0) == (ssize_t)bytes ? 0 : -1;
}

static int sys_boot(void *user, char id[TSW_BOOT_BYTES])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, id, TSW_BOOT_BYTES - 1);

	(void)user;
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return -1;
	memset(id + got, 0, (size_t)(TSW_BOOT_BYTES - got));
	return 0;
}

/* If a tenth is missing, one file in a thousand passes. */
#define LOOKS 64

static int sys_is_cached(void *user, int fd, uint64_t at, uint64_t bytes)
{
	(void)user;
#ifdef RWF_NOWAIT
	for (uint64_t i = 0; i < LOOKS && bytes; i++) {
		char byte;
		const struct iovec to = {&byte, sizeof byte};
		const uint64_t look = at + bytes / LOOKS * i;

		if (preadv2(fd, &to, 1, (off_t)look, RWF_NOWAIT) != sizeof byte)
			return 0;
	}
	return 1;
#else
	(void)fd;
	(void)at;
	(void)bytes;
	return 0;
#endif
}

static void sys_start_writing(void *user, int fd, uint64_t at, uint64_t bytes)
{
	(void)user;
	sync_file_range(fd, (off_t)at, (off_t)bytes, SYNC_FILE_RANGE_WRITE);
}

static void sys_forget(void *user, int fd, uint64_t at, uint64_t bytes, int wait)
{
	(void)user;
	if (wait)
		sync_file_range(fd, (off_t)at, (off_t)bytes,
				SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
					SYNC_FILE_RANGE_WAIT_AFTER);
	posix_fadvise(fd, (off_t)at, (off_t)bytes, POSIX_FADV_DONTNEED);
}

const struct tsw_io tsw_system_io = {
	.open = sys_open,
	.close = sys_close,
	.read = sys_read,
	.write = sys_write,
	.sync = sys_sync,
	.sync_name = sys_sync_name,
	.status = sys_status,
	.grain = sys_grain,
	.truncate = sys_truncate,
	.reserve = sys_reserve,
	.rename = sys_rename,
	.rename_new = sys_rename_new,
	.unlink = sys_unlink,
	.lock = sys_lock,
	.unlock = sys_unlock,
	.get_mark = sys_get_mark,
	.set_mark = sys_set_mark,
	.remove_mark = sys_remove_mark,
	.chance = sys_chance,
	.boot = sys_boot,
	.is_cached = sys_is_cached,
	.start_writing = sys_start_writing,
	.forget = sys_forget,
};
