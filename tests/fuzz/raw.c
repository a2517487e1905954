/* The input is what a caller says of a raw file (format, n, ld, elem_size, offset), how long the
 * file is, and how it begins. */
#include "fuzz.h"

#include "file/place.h"

#include <string.h>

typedef unsigned __int128 wide;

/* The status of wrong arguments; TSW_OK: none is wrong. */
static tsw_status expected_of(const struct tsw_wanted *w, uint64_t file_bytes)
{
	const uint64_t ld = w->ld ? w->ld : w->n;
	wide elements, end;

	if (!w->elem_size)
		return TSW_ERR_ELEM_SIZE;
	if (ld < w->n)
		return TSW_ERR_LD;
	elements = w->n ? (wide)(w->n - 1) * ld + w->n : 0;
	if (elements > PTRDIFF_MAX / w->elem_size)
		return TSW_ERR_OVERFLOW;
	end = elements * w->elem_size + w->offset;
	if (end > INT64_MAX)
		return TSW_ERR_OVERFLOW;
	if (end > file_bytes || (end < file_bytes && !w->offset && !w->ld))
		return TSW_ERR_FORMAT;
	return TSW_OK;
}

static int begins(const struct fuzz_file *f, const char *magic, size_t bytes)
{
	return f->stored >= bytes && f->bytes >= bytes && !memcmp(f->contents, magic, bytes);
}

/* The format that a file tells of itself; automatic if none. */
static int format_of(const struct fuzz_file *f)
{
	if (begins(f, "\x93NUMPY", 6))
		return TSW_FORMAT_NPY;
	if (begins(f, "\x89HDF\r\n\x1a\n", 8))
		return TSW_FORMAT_HDF5;
	if (f->stored >= 9 && f->bytes >= 9 && !memcmp(f->contents + 5, "\0\0\0{", 4))
		return TSW_FORMAT_SAFETENSORS;
	return TSW_FORMAT_AUTO;
}

/* A file that tells its own shape is not taken for a raw one unless `format` says so, nor for one
 * of another such format; and such a one needs no description. */
static tsw_status expected_with(const struct tsw_wanted *w, const struct fuzz_file *f)
{
	const int is = format_of(f),
		  is_told = is != TSW_FORMAT_AUTO && is != TSW_FORMAT_SAFETENSORS;

	switch (w->format) {
	case TSW_FORMAT_AUTO:
		return is_told ? TSW_ERR_FORMAT : expected_of(w, f->bytes);
	case TSW_FORMAT_RAW:
		return expected_of(w, f->bytes);
	default:
		return is == TSW_FORMAT_AUTO || is == w->format ? TSW_ERR_OPTION : TSW_ERR_FORMAT;
	}
}

static void check(const struct tsw_wanted *w, struct fuzz_file *f)
{
	struct tsw_place place;
	struct tsw_io io;
	const struct tsw_file file = fuzz_file_open(f, &io);
	const tsw_status expected = expected_with(w, f);
	tsw_status status;

	tsw_forget_failure();
	status = tsw_place_find(&file, w, &place);
	fuzz_require_detail(status);
	fuzz_require(status == expected,
		     "status %d (%s), expected %d: format %d, n = %zu, ld = %zu, elem_size = %zu, "
		     "offset = %ju, %ju bytes",
		     status, tsw_last_error(), expected, w->format, w->n, w->ld, w->elem_size,
		     (uintmax_t)w->offset, (uintmax_t)f->bytes);
	if (status == TSW_OK)
		fuzz_require(place.format == TSW_FORMAT_RAW && place.n == w->n &&
				     place.ld == (w->ld ? w->ld : w->n) &&
				     place.elem_size == w->elem_size && place.offset == w->offset &&
				     !place.column_major,
			     "the place is not what was said");
}

/* Nothing is said of the file, and it says nothing itself. */
static void check_undescribed(struct fuzz_file *f)
{
	const struct tsw_wanted nothing = {.format = TSW_FORMAT_AUTO};
	struct tsw_place place;
	struct tsw_io io;
	const struct tsw_file file = fuzz_file_open(f, &io);
	tsw_status status;

	/* Of HDF5 another library judges, by the file's name; safetensors has a target. */
	if (memmem(f->contents, f->stored, "HDF", 3) || memmem(f->contents, f->stored, "{", 1) ||
	    begins(f, "\x93NUMPY", 6))
		return;
	tsw_forget_failure();
	status = tsw_place_find(&file, &nothing, &place);
	fuzz_require(status == TSW_ERR_FORMAT, "status %d: %s", status, tsw_last_error());
	fuzz_require_detail(status);
}

void fuzz_raw(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, data + size};
	struct tsw_wanted w = {.format = (int)(fuzz_take(&in, 1) % 5), .described = 1};
	struct fuzz_file f;
	uint64_t more;

	w.n = fuzz_number(&in);
	w.ld = fuzz_number(&in);
	w.elem_size = fuzz_number(&in);
	w.offset = fuzz_number(&in);
	more = fuzz_number(&in);
	if (more % 4 == 0) /* a length that fits, or fits nearly */
		more = ((w.n - 1) * w.ld + w.n) * w.elem_size + w.offset + more / 4 % 3 - 1;
	more %= (uint64_t)INT64_MAX + 1; /* no file is longer */
	fuzz_file_new(&f, in.at, (size_t)(in.end - in.at), more);
	check(&w, &f);
	check_undescribed(&f);
	fuzz_file_free(&f);
}
