/* Every contact of the file engine with the outside, as a table: tests put a simulated disk, or
 * calls that fail, in the place of the system's.
 *
 * Calls return -1 with errno set, as the system's do.  Nothing here retries, completes or reports:
 * the functions at the end do. */
#ifndef TSW_IO_H
#define TSW_IO_H

#include "../status.h"
#include "barrier.h"

#include <stddef.h>
#include <stdint.h>

/* The attribute of a data file that names the run it is in. */
#define TSW_MARK_BYTES 24
#define TSW_BOOT_BYTES 40
/* Of the page cache; transfers past it begin and end on such bounds, in memory too. */
#define TSW_PAGE 4096u

enum tsw_open {
	TSW_OPEN_DATA,
	TSW_OPEN_DIRECT, /* past the page cache; fails where TSW_PAGE is not alignment enough */
	TSW_OPEN_READ,
	TSW_OPEN_JOURNAL,
	TSW_CREATE_JOURNAL,
	TSW_CREATE_OUT
};

struct tsw_file_status {
	uint64_t bytes, device, inode;
	unsigned mode;
	int regular;
};

struct tsw_io {
	void *user;
	/* mode: of a file that is created; the umask applies. */
	int (*open)(void *user, const char *path, enum tsw_open how, unsigned mode);
	void (*close)(void *user, int fd);
	int64_t (*read)(void *user, int fd, void *to, size_t bytes, uint64_t at);
	int64_t (*write)(void *user, int fd, const void *from, size_t bytes, uint64_t at);
	int (*sync)(void *user, int fd, enum tsw_barrier why); /* contents, size, attributes */
	int (*sync_name)(void *user, const char *path, enum tsw_barrier why); /* its directory */
	int (*status)(void *user, int fd, struct tsw_file_status *status);
	/* Transfers past the page cache begin and end on bounds of so many bytes, a power of two
	 * no larger than TSW_PAGE; 0: there are none. */
	size_t (*grain)(void *user, int fd);
	int (*truncate)(void *user, int fd, uint64_t bytes);
	/* Makes the file that long and gives it the room on the disk; what was not written reads as
	 * zeros.  ENOTSUP: this file system cannot promise room. */
	int (*reserve)(void *user, int fd, uint64_t bytes);
	int (*rename)(void *user, const char *from, const char *to);
	int (*rename_new)(void *user, const char *from,
			  const char *to); /* EEXIST if `to` is taken */
	int (*unlink)(void *user, const char *path);
	int (*lock)(void *user, int fd, int shared); /* EWOULDBLOCK: another holds it */
	void (*unlock)(void *user, int fd);
	/* The attribute: ENODATA if there is none, ENOTSUP if there can be none. */
	int (*get_mark)(void *user, int fd, void *mark);
	int (*set_mark)(void *user, int fd, const void *mark);
	int (*remove_mark)(void *user, int fd);
	int (*chance)(void *user, void *to, size_t bytes); /* random bytes */
	int (*boot)(void *user, char id[TSW_BOOT_BYTES]);  /* of the running system */
	/* Do a few looks find all of it in the page cache?  Nothing is waited for. */
	int (*is_cached)(void *user, int fd, uint64_t at, uint64_t bytes);
	/* Advice: cannot fail. */
	void (*start_writing)(void *user, int fd, uint64_t at, uint64_t bytes);
	void (*forget)(void *user, int fd, uint64_t at, uint64_t bytes, int wait);
};

/* The system's. */
extern const struct tsw_io tsw_system_io;

/* An open file with its name, for messages. */
struct tsw_file {
	const struct tsw_io *io;
	const char *path;
	int fd;
};

/* All the bytes or a failure: short transfers and EINTR are gone on with; the end of the file is
 * TSW_ERR_IO.  Nothing is repeated after an error. */
tsw_status tsw_read_all(const struct tsw_file *f, void *to, size_t bytes, uint64_t at);
tsw_status tsw_write_all(const struct tsw_file *f, const void *from, size_t bytes, uint64_t at);

tsw_status tsw_sync(const struct tsw_file *f, enum tsw_barrier why);

/* TSW_ERR_IO with the text of errno: "cannot write 'FILE': No space left on device". */
tsw_status tsw_io_failed(const char *path, const char *what);

#endif /* TSW_IO_H */
