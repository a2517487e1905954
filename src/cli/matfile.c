#include "matfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "dtype.h"
#include "hostmem.h"
#include "npy.h"
#include "number.h"
#include "progress.h"

#define CHUNK_BYTES ((size_t)4 << 20)	    /* of one read */
#define MAX_HEADER_BYTES ((size_t)16 << 20) /* a .npy header past this is not believed */

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

	if (o->format == FORMAT_NPY && raw)
		return "--n, --dtype, --elem-size, --offset and --ld describe raw files; a .npy "
		       "file "
		       "tells its own shape";
	if (given(o, OPT_DTYPE) && given(o, OPT_ELEM_SIZE))
		return "--dtype and --elem-size say the same thing: give one of them";
	if ((raw || o->format == FORMAT_RAW) && !given(o, OPT_N))
		return "a raw file needs --n";
	if ((raw || o->format == FORMAT_RAW) && !given(o, OPT_DTYPE) && !given(o, OPT_ELEM_SIZE))
		return "a raw file needs --dtype or --elem-size";
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

/* ---- raw ------------------------------------------------------------------------------------- */

static int open_raw(struct matfile *m, const struct options *o)
{
	uint64_t size = (uint64_t)m->stat.st_size, end;

	m->n = o->n;
	m->ld = raw_ld(o);
	m->elem_size = raw_elem_size(o);
	m->offset_bytes = o->offset_bytes;
	if (number_span(m->n, m->ld, m->elem_size, &m->span_bytes))
		return EXIT_FAILED;	       /* cannot be: matfile_check_options passed */
	end = m->offset_bytes + m->span_bytes; /* both below 2^63 */
	if (end > size) {
		complain("'%s' is truncated: it has %llu bytes; %llu + %zu are needed for offset + "
			 "matrix (n = %zu, ld = %zu, %zu-byte elements)",
			 m->path, (unsigned long long)size, (unsigned long long)m->offset_bytes,
			 m->span_bytes, m->n, m->ld, m->elem_size);
		return EXIT_FAILED;
	}
	/* A wrong --n would give a wrong file in silence. */
	if (end < size && !given(o, OPT_OFFSET) && !given(o, OPT_LD)) {
		complain("'%s' is longer than the matrix: it has %llu bytes, n = %zu of %zu-byte "
			 "elements takes %zu; say --offset 0 if the rest is to be kept",
			 m->path, (unsigned long long)size, m->n, m->elem_size, m->span_bytes);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* ---- .npy ------------------------------------------------------------------------------------ */

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

static int judge_npy(struct matfile *m, const unsigned char *header, size_t len)
{
	uint64_t size = (uint64_t)m->stat.st_size, end;
	struct npy npy;
	char err[256];

	if (npy_parse(header, len, &npy, err, sizeof err)) {
		complain("'%s' cannot be taken: %s", m->path, err);
		return EXIT_FAILED;
	}
	end = (uint64_t)npy.header_bytes + npy.data_bytes;
	if (end != size) {
		complain("'%s' is %s: it has %llu bytes, its header promises %llu", m->path,
			 size < end ? "truncated" : "longer than its matrix",
			 (unsigned long long)size, (unsigned long long)end);
		return EXIT_FAILED;
	}
	m->n = m->ld = npy.n;
	m->elem_size = npy.elem_size;
	m->offset_bytes = npy.header_bytes;
	m->span_bytes = npy.data_bytes;
	m->column_major = npy.fortran;
	return EXIT_OK;
}

static int open_npy(struct matfile *m, const unsigned char *prefix, size_t len)
{
	size_t bytes = npy_header_bytes(prefix, len);
	unsigned char *header;
	ssize_t got;
	int result;

	if (bytes > MAX_HEADER_BYTES) {
		complain("'%s' cannot be taken: its header would have %zu bytes", m->path, bytes);
		return EXIT_FAILED;
	}
	if (!bytes)
		return judge_npy(m, prefix, len);
	header = malloc(bytes);
	if (!header)
		return cannot_read(m->path, ENOMEM);
	got = read_at(m->fd, header, bytes, 0);
	result = got < 0 ? cannot_read(m->path, errno) : judge_npy(m, header, (size_t)got);
	free(header);
	return result;
}

/* ---- any file -------------------------------------------------------------------------------- */

/* Why a file that is not a .npy file is none, and what may be done about it. */
static const char *resembles(const unsigned char *prefix, size_t len)
{
	if (len >= 4 && !memcmp(prefix, "PK\3\4", 4))
		return "it looks like a zip archive (.npz?)";
	if (len >= 4 && !memcmp(prefix, "\x89HDF", 4))
		return "it looks like HDF5";
	for (size_t i = 0; i < len; i++)
		if ((prefix[i] < 0x20 && !strchr("\t\n\v\f\r", prefix[i])) || prefix[i] > 0x7e ||
		    !prefix[i])
			return "it does not begin as one; a raw file needs --n, and --dtype or "
			       "--elem-size";
	return len ? "it looks like text; convert it first, for example with NumPy" : "it is empty";
}

static int judge(struct matfile *m, const struct options *o)
{
	unsigned char prefix[64];
	ssize_t got = read_at(m->fd, prefix, sizeof prefix, 0);
	size_t len = (size_t)got;

	if (got < 0)
		return cannot_read(m->path, errno);
	if (o->format == FORMAT_RAW)
		return open_raw(m, o);
	if (npy_is_magic(prefix, len) && !is_raw_described(o))
		return open_npy(m, prefix, len);
	if (npy_is_magic(prefix, len)) {
		complain("'%s' is a .npy file, which tells its own shape; --format raw takes it as "
			 "raw bytes nevertheless",
			 m->path);
		return EXIT_FAILED;
	}
	if (is_raw_described(o))
		return open_raw(m, o);
	complain("'%s' is not a .npy file: %s", m->path, resembles(prefix, len));
	return EXIT_FAILED;
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
