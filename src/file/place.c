#include "place.h"

#include "../matrices.h"

#include <string.h>

uint64_t tsw_place_span(const struct tsw_place *p)
{
	return p->n ? (((uint64_t)p->n - 1) * p->ld + p->n) * p->elem_size : 0;
}

tsw_status tsw_read_some(const struct tsw_file *f, void *to, size_t bytes, uint64_t at, size_t *got)
{
	struct tsw_file_status s;

	*got = 0;
	if (f->io->status(f->io->user, f->fd, &s))
		return tsw_io_failed(f->path, "stat");
	if (at >= s.bytes)
		return TSW_OK;
	*got = bytes < s.bytes - at ? bytes : (size_t)(s.bytes - at);
	return tsw_read_all(f, to, *got, at);
}

tsw_status tsw_place_set(const struct tsw_file *f, uint64_t file_bytes, struct tsw_place *p)
{
	const struct tsw_matrices m = {
		.base = p, .n = p->n, .ld = p->ld, .elem_size = p->elem_size, .count = 1};
	uint64_t span;

	TRY(tsw_check_matrices(&m));
	span = tsw_place_span(p);
	if (p->offset > INT64_MAX - span)
		return tsw_fail(TSW_ERR_OVERFLOW, "offset_bytes = %ju is larger than a file can be",
				(uintmax_t)p->offset);
	if (p->offset + span > file_bytes)
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s' is truncated: it has %ju bytes; %ju + %ju are needed for "
				"offset + matrix (n = %zu, ld = %zu, %zu-byte elements)",
				f->path, (uintmax_t)file_bytes, (uintmax_t)p->offset,
				(uintmax_t)span, p->n, p->ld, p->elem_size);
	return TSW_OK;
}

/* ---- raw ---------------------------------------------------------------------------------------
 */

tsw_status tsw_find_raw(const struct tsw_file *f, uint64_t file_bytes,
			const struct tsw_wanted *wanted, struct tsw_place *p)
{
	uint64_t end;

	p->n = wanted->n;
	p->ld = wanted->ld ? wanted->ld : wanted->n;
	p->elem_size = wanted->elem_size;
	p->offset = wanted->offset;
	TRY(tsw_place_set(f, file_bytes, p));
	end = p->offset + tsw_place_span(p);
	/* A wrong n would give a wrong file in silence. */
	if (end < file_bytes && !wanted->offset && !wanted->ld)
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s' is longer than the matrix: it has %ju bytes, n = %zu of "
				"%zu-byte elements takes %ju; say --offset 0 (in C: ld = n) if the "
				"rest is to be kept",
				f->path, (uintmax_t)file_bytes, p->n, p->elem_size, (uintmax_t)end);
	return TSW_OK;
}

/* ---- which format ------------------------------------------------------------------------------
 */

static int is_npy(const unsigned char *head, size_t bytes)
{
	return bytes >= 6 && !memcmp(head, "\x93NUMPY", 6);
}

static int is_hdf5(const unsigned char *head, size_t bytes)
{
	return bytes >= 8 && !memcmp(head, "\x89HDF\r\n\x1a\n", 8);
}

/* The length of a JSON object that fits into the file, then the object. */
static int is_safetensors(const unsigned char *head, size_t bytes)
{
	return bytes >= 9 && head[8] == '{' && !head[6] && !head[7] && !head[5];
}

static int is_text(const unsigned char *head, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if ((head[i] < 0x20 && !(head[i] && strchr("\t\n\v\f\r", head[i]))) ||
		    head[i] > 0x7e)
			return 0;
	return bytes > 0;
}

static const struct format {
	const char *name; /* with its article */
	int (*is)(const unsigned char *head, size_t bytes);
	tsw_status (*find)(const struct tsw_file *f, uint64_t file_bytes,
			   const struct tsw_wanted *wanted, struct tsw_place *place);
	int describes_itself, has_datasets;
} formats[] = {
	[TSW_FORMAT_RAW] = {"a raw", NULL, tsw_find_raw, 0, 0},
	[TSW_FORMAT_NPY] = {"a .npy", is_npy, tsw_find_npy, 1, 0},
	[TSW_FORMAT_HDF5] = {"an HDF5", is_hdf5, tsw_find_hdf5, 1, 1},
	[TSW_FORMAT_SAFETENSORS] = {"a safetensors", is_safetensors, tsw_find_safetensors, 1, 1},
};

#define FORMATS ((int)(sizeof formats / sizeof *formats))

static tsw_status unknown(const struct tsw_file *f, const unsigned char *head, size_t bytes)
{
	const char *why = "it is empty";

	if (bytes >= 4 && !memcmp(head, "PK\3\4", 4))
		why = "it looks like a zip archive (.npz?)";
	else if (is_text(head, bytes))
		why = "it looks like text; convert it first, for example with NumPy";
	else if (bytes)
		why = "a raw file needs n and elem_size (--n, and --dtype or --elem-size)";
	return tsw_fail(TSW_ERR_FORMAT, "'%s' is of no format known here: %s", f->path, why);
}

/* An HDF5 file may have a block of the user's before it: 512, 1024, 2048 ... bytes. */
static tsw_status probe_user_block(const struct tsw_file *f, uint64_t file_bytes, int *is)
{
	unsigned char head[8];
	size_t got;

	*is = 0;
	for (uint64_t at = 512; at < file_bytes && at <= 1u << 20 && !*is; at *= 2) {
		TRY(tsw_read_some(f, head, sizeof head, at, &got));
		*is = is_hdf5(head, got);
	}
	return TSW_OK;
}

/* *format: what the first bytes say, automatic if nothing; they are left in `head`. */
static tsw_status recognise(const struct tsw_file *f, unsigned char head[TSW_PROBE_BYTES],
			    size_t *got, int *format)
{
	*format = TSW_FORMAT_AUTO;
	TRY(tsw_read_some(f, head, TSW_PROBE_BYTES, 0, got));
	for (int i = 0; i < FORMATS && *format == TSW_FORMAT_AUTO; i++)
		if (formats[i].is && formats[i].is(head, *got))
			*format = i;
	return TSW_OK;
}

/* Another format than the one that was asked for is named. */
static tsw_status check_said(const struct tsw_file *f, int said)
{
	unsigned char head[TSW_PROBE_BYTES];
	size_t got;
	int is;

	if (!formats[said].describes_itself)
		return TSW_OK;
	TRY(recognise(f, head, &got, &is));
	if (is == TSW_FORMAT_AUTO || is == said)
		return TSW_OK;
	return tsw_fail(TSW_ERR_FORMAT, "'%s' is %s file, not %s one", f->path, formats[is].name,
			formats[said].name);
}

static tsw_status guess(const struct tsw_file *f, uint64_t file_bytes,
			const struct tsw_wanted *wanted, int *format)
{
	unsigned char head[TSW_PROBE_BYTES];
	size_t got;
	int is;

	TRY(recognise(f, head, &got, format));
	if (wanted->described && *format != TSW_FORMAT_AUTO && *format != TSW_FORMAT_SAFETENSORS)
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s' is %s file, which tells its own shape; --format raw (in C: "
				"TSW_FORMAT_RAW) takes it as raw bytes nevertheless",
				f->path, formats[*format].name);
	if (wanted->described) {
		*format = TSW_FORMAT_RAW;
		return TSW_OK;
	}
	if (*format != TSW_FORMAT_AUTO)
		return TSW_OK;
	TRY(probe_user_block(f, file_bytes, &is));
	if (!is)
		return unknown(f, head, got);
	*format = TSW_FORMAT_HDF5;
	return TSW_OK;
}

tsw_status tsw_place_find(const struct tsw_file *f, const struct tsw_wanted *wanted,
			  struct tsw_place *place)
{
	struct tsw_file_status s;
	int format = wanted->format;

	if (f->io->status(f->io->user, f->fd, &s))
		return tsw_io_failed(f->path, "stat");
	if (!s.regular)
		return tsw_fail(TSW_ERR_FORMAT, "'%s' is not a regular file", f->path);
	if (format == TSW_FORMAT_AUTO)
		TRY(guess(f, s.bytes, wanted, &format));
	else
		TRY(check_said(f, format));
	if (formats[format].describes_itself && wanted->described)
		return tsw_fail(TSW_ERR_OPTION,
				"n, ld, elem_size and offset_bytes describe raw files; %s file "
				"tells its own shape",
				formats[format].name);
	if (wanted->dataset && !formats[format].has_datasets)
		return tsw_fail(TSW_ERR_OPTION, "dataset = '%s': %s file has no datasets",
				wanted->dataset, formats[format].name);
	*place = (struct tsw_place){.format = format};
	return formats[format].find(f, s.bytes, wanted, place);
}
