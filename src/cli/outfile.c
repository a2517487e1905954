#include "outfile.h"

#include <errno.h>
#include <string.h>

#include "cli.h"

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
