/* A .npy file: its header read, judged, and flipped. */
#include "npy.h"

#include "journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HEADER ((size_t)16 << 20) /* a header past this is not believed */

/* Reads the whole header; *header is the caller's to free. */
static tsw_status read_header(const struct tsw_file *f, unsigned char **header, size_t *bytes)
{
	unsigned char prefix[TSW_NPY_PREFIX_BYTES];
	size_t got;
	tsw_status status;

	*header = NULL;
	TRY(tsw_read_some(f, prefix, sizeof prefix, 0, &got));
	*bytes = tsw_npy_header_bytes(prefix, got);
	if (*bytes > MOST_HEADER)
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s' cannot be taken: its header would have %zu bytes", f->path,
				*bytes);
	if (!*bytes)
		*bytes = got; /* the parser says what is wrong with it */
	*header = malloc(*bytes + 1);
	if (!*header)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no memory for a header of %zu bytes", *bytes);
	status = tsw_read_some(f, *header, *bytes, 0, bytes);
	if (status == TSW_OK)
		return TSW_OK;
	free(*header);
	return status;
}

static tsw_status parse(const struct tsw_file *f, const unsigned char *header, size_t bytes,
			struct tsw_npy *npy)
{
	char fault[256];

	if (tsw_npy_parse(header, bytes, npy, fault, sizeof fault))
		return tsw_fail(TSW_ERR_FORMAT, "'%s' cannot be taken: %s", f->path, fault);
	return TSW_OK;
}

tsw_status tsw_find_npy(const struct tsw_file *f, uint64_t file_bytes,
			const struct tsw_wanted *wanted, struct tsw_place *p)
{
	struct tsw_npy npy;
	unsigned char *header;
	size_t bytes;
	uint64_t end;
	tsw_status status;

	(void)wanted;
	TRY(read_header(f, &header, &bytes));
	status = parse(f, header, bytes, &npy);
	free(header);
	TRY(status);
	end = (uint64_t)npy.header_bytes + npy.data_bytes;
	if (end != file_bytes)
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s' is %s: it has %ju bytes, its header promises %ju", f->path,
				file_bytes < end ? "truncated" : "longer than its matrix",
				(uintmax_t)file_bytes, (uintmax_t)end);
	p->n = p->ld = npy.n;
	p->elem_size = npy.elem_size;
	p->offset = npy.header_bytes;
	p->column_major = npy.fortran;
	return tsw_place_set(f, file_bytes, p);
}

/* ---- flipping the flag -------------------------------------------------------------------------
 */

static tsw_status check_whole(const struct tsw_file *f, const char *journal_path)
{
	const int fd = f->io->open(f->io->user, journal_path, TSW_OPEN_READ, 0);
	struct tsw_mark mark;
	int can;

	if (fd >= 0)
		f->io->close(f->io->user, fd);
	TRY(tsw_mark_read(f, &mark, &can));
	if (mark.state != TSW_MARK_ONCE && (fd >= 0 || mark.state != TSW_MARK_NONE))
		return tsw_fail(
			TSW_ERR_JOURNAL,
			"%s: a run was stopped in it: resume that first (the same call, without "
			"flag_only)",
			f->path);
	return TSW_OK;
}

/* The other word has another length: what follows moves by one, and the spaces before the header's
 * end take it up. */
static int flip(unsigned char *header, size_t bytes, const struct tsw_npy *npy)
{
	const size_t old = npy->fortran ? 4 : 5, rest = npy->order_at + old;
	const char *word = npy->fortran ? "False" : "True";
	const size_t new_bytes = strlen(word), behind = bytes - 1 - rest;

	if (header[bytes - 1] != '\n')
		return -1;
	if (new_bytes > old && (!behind || header[bytes - 2] != ' '))
		return -1; /* no space to spend */
	memmove(header + npy->order_at + new_bytes, header + rest,
		behind - (new_bytes > old ? 1 : 0));
	memcpy(header + npy->order_at, word, new_bytes);
	if (new_bytes < old)
		header[bytes - 2] = ' ';
	return 0;
}

static tsw_status write_flipped(const struct tsw_file *f, unsigned char *header, size_t bytes,
				uint64_t *written)
{
	struct tsw_npy npy, flipped;

	TRY(parse(f, header, bytes, &npy));
	if (flip(header, bytes, &npy))
		return tsw_fail(TSW_ERR_UNSUPPORTED,
				"'%s': its header has no room for the other word", f->path);
	TRY(parse(f, header, bytes, &flipped));
	if (flipped.fortran == npy.fortran || flipped.header_bytes != npy.header_bytes)
		return tsw_fail(TSW_ERR_UNSUPPORTED, "'%s': its header cannot be flipped", f->path);
	/* One write; headers lie in one sector, which is old or new. */
	TRY(tsw_write_all(f, header, bytes, 0));
	*written = bytes;
	return tsw_sync(f, TSW_SYNC_LAST);
}

tsw_status tsw_npy_flip(const struct tsw_file *f, const char *journal_path,
			const struct tsw_place *place, uint64_t *written)
{
	unsigned char *header;
	size_t bytes;
	tsw_status status;

	if (place->format != TSW_FORMAT_NPY)
		return tsw_fail(TSW_ERR_OPTION, "flag_only: '%s' is no .npy file", f->path);
	TRY(check_whole(f, journal_path));
	TRY(read_header(f, &header, &bytes));
	status = write_flipped(f, header, bytes, written);
	free(header);
	return status;
}
