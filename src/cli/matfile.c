#include "matfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../file/journal.h"
#include "../file/place.h"
#include "cli.h"
#include "dtype.h"
#include "hostmem.h"
#include "number.h"
#include "progress.h"

#define CHUNK_BYTES ((size_t)4 << 20) /* of one read */

/* ---- what the command line says -------------------------------------------------------------- */

static int is_raw_described(const struct options *o)
{
	return given(o, OPT_N) || given(o, OPT_DTYPE) || given(o, OPT_ELEM_SIZE) ||
	       given(o, OPT_OFFSET) || given(o, OPT_LD);
}

static size_t raw_ld(const struct options *o)
{
	return given(o, OPT_LD) ? o->ld : o->n;
}

static size_t raw_elem_size(const struct options *o)
{
	return given(o, OPT_DTYPE) ? dtype_bytes(o->dtype - 1) : o->elem_size;
}

static const char *options_fault(const struct options *o)
{
	int raw = is_raw_described(o);

	if (o->format != FORMAT_AUTO && o->format != FORMAT_RAW && raw)
		return "--n, --dtype, --elem-size, --offset and --ld describe raw files; the "
		       "others tell their own shape";
	if (given(o, OPT_DTYPE) && given(o, OPT_ELEM_SIZE))
		return "--dtype and --elem-size say the same thing: give one of them";
	if ((raw || o->format == FORMAT_RAW) && !given(o, OPT_N))
		return "a raw file needs --n; files of other formats tell their own shape";
	if ((raw || o->format == FORMAT_RAW) && !given(o, OPT_DTYPE) && !given(o, OPT_ELEM_SIZE))
		return "a raw file needs --dtype or --elem-size; files of other formats tell "
		       "their own shape";
	return NULL;
}

int matfile_check_options(const struct options *o)
{
	const char *fault = options_fault(o);
	size_t span_bytes;

	if (fault) {
		complain("%s", fault);
		return EXIT_USAGE;
	}
	if (given(o, OPT_LD) && o->ld < o->n) {
		complain("--ld %zu is smaller than --n %zu", o->ld, o->n);
		return EXIT_USAGE;
	}
	if (number_span(o->n, raw_ld(o), raw_elem_size(o), &span_bytes)) {
		complain("n = %zu, ld = %zu, element size %zu: the matrix is larger than the "
			 "address "
			 "space",
			 o->n, raw_ld(o), raw_elem_size(o));
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static int cannot_read(const char *path, int error)
{
	complain("cannot read '%s': %s", path, strerror(error));
	return EXIT_FAILED;
}

/* Reads up to `len` bytes at `offset`, fewer only at the end of the file; -1 for a fault. */
static ssize_t read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t got = pread(fd, (char *)buf + done, len - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* ---- any file -------------------------------------------------------------------------------- */

struct tsw_wanted matfile_wanted(const struct options *o)
{
	static const int formats[] = {[FORMAT_AUTO] = TSW_FORMAT_AUTO,
				      [FORMAT_NPY] = TSW_FORMAT_NPY,
				      [FORMAT_RAW] = TSW_FORMAT_RAW,
				      [FORMAT_HDF5] = TSW_FORMAT_HDF5,
				      [FORMAT_SAFETENSORS] = TSW_FORMAT_SAFETENSORS};
	struct tsw_wanted w = {.format = formats[o->format],
			       .described = is_raw_described(o),
			       .dataset = o->dataset};

	if (!is_raw_described(o))
		return w;
	w.n = o->n;
	w.elem_size = raw_elem_size(o);
	w.offset = o->offset_bytes;
	/* Without either the file must be as long as the matrix. */
	w.ld = given(o, OPT_LD) || given(o, OPT_OFFSET) ? raw_ld(o) : 0;
	return w;
}

/* A matrix that is half transposed is nobody's to read. */
static tsw_status check_whole(const struct tsw_file *file)
{
	char resolved[PATH_MAX], journal[PATH_MAX + 8];

	if (!realpath(file->path, resolved))
		return tsw_io_failed(file->path, "open");
	/* Kept until the file is closed: no run begins in it while it is read. */
	if (file->io->lock(file->io->user, file->fd, 1) && errno == EWOULDBLOCK)
		return tsw_fail(TSW_ERR_LOCKED, "'%s' is held by another run", file->path);
	snprintf(journal, sizeof journal, "%s.tswj", resolved);
	return tsw_journal_check_whole(file, journal);
}

static int judge(struct matfile *m, const struct options *o)
{
	const struct tsw_file file = {&tsw_system_io, m->path, m->fd};
	const struct tsw_wanted wanted = matfile_wanted(o);
	struct tsw_place place;

	if (tsw_place_find(&file, &wanted, &place) || check_whole(&file)) {
		complain("%s", tsw_last_error());
		return EXIT_FAILED;
	}
	m->n = place.n;
	m->ld = place.ld;
	m->elem_size = place.elem_size;
	m->offset_bytes = place.offset;
	m->span_bytes = (size_t)tsw_place_span(&place);
	m->column_major = place.column_major;
	return EXIT_OK;
}

int matfile_open(struct matfile *m, const struct options *o)
{
	*m = (struct matfile){.path = o->file};
	/* Without O_NONBLOCK opening a FIFO would wait for its writer. */
	m->fd = open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (m->fd < 0) {
		complain("cannot open '%s': %s", m->path, strerror(errno));
		return EXIT_FAILED;
	}
	if (fstat(m->fd, &m->stat)) {
		cannot_read(m->path, errno);
	} else if (!S_ISREG(m->stat.st_mode)) {
		complain("'%s' is %s, not a regular file", m->path,
			 S_ISDIR(m->stat.st_mode) ? "a directory" : "a device or a pipe");
	} else if (judge(m, o) == EXIT_OK) {
		return EXIT_OK;
	}
	matfile_close(m);
	return EXIT_FAILED;
}

void matfile_close(struct matfile *m)
{
	close(m->fd);
	m->fd = -1;
}

void *matfile_alloc(const struct matfile *m)
{
	uint64_t total = hostmem_now().total_bytes;
	void *buf = NULL;

	/* Linux promises memory it does not have and kills later; what can never fit is refused. */
	if (!total || m->span_bytes <= total)
		buf = pages_alloc(m->span_bytes);
	if (!buf)
		complain("'%s' needs %zu bytes of memory, more than there are", m->path,
			 m->span_bytes);
	return buf;
}

int matfile_read(const struct matfile *m, int fd, const char *path, void *buf, const char *what)
{
	for (size_t done = 0; done < m->span_bytes;) {
		size_t left = m->span_bytes - done;
		size_t len = left < CHUNK_BYTES ? left : CHUNK_BYTES;
		ssize_t got = read_at(fd, (char *)buf + done, len, m->offset_bytes + done);

		if (got < 0)
			return cannot_read(path, errno);
		if ((size_t)got < len) {
			complain("'%s' became shorter while it was read", path);
			return EXIT_FAILED;
		}
		done += len;
		progress_add(what, len);
	}
	return EXIT_OK;
}
