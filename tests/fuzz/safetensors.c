/* The input is the name of a tensor, a zero byte, and a safetensors file.  The length before the
 * JSON text may be mended: mutations that move it find little. */
#include "fuzz.h"

#include "file/place.h"

#include <stdlib.h>
#include <string.h>

static uint64_t json_bytes(const struct fuzz_file *f)
{
	uint64_t bytes = 0;

	for (unsigned i = 8; i--;)
		bytes = bytes << 8 | f->contents[i];
	return bytes;
}

/* Whatever was found lies behind the text and within the file. */
static void check_place(const struct fuzz_file *f, const struct tsw_place *p)
{
	const uint64_t data_at = 8 + json_bytes(f), span = tsw_place_span(p);

	fuzz_require(p->format == TSW_FORMAT_SAFETENSORS && p->n == p->ld && p->elem_size >= 1,
		     "n = %zu, ld = %zu, elem_size = %zu", p->n, p->ld, p->elem_size);
	fuzz_require(span == (unsigned __int128)p->n * p->n * p->elem_size, "a span of %ju",
		     (uintmax_t)span);
	fuzz_require(data_at <= f->bytes && p->offset >= data_at && p->offset <= f->bytes &&
			     span <= f->bytes - p->offset,
		     "%ju bytes at %ju of %ju, where the tensors begin at %ju", (uintmax_t)span,
		     (uintmax_t)p->offset, (uintmax_t)f->bytes, (uintmax_t)data_at);
}

static void find(struct fuzz_file *f, const char *name)
{
	const struct tsw_wanted wanted = {.format = TSW_FORMAT_SAFETENSORS, .dataset = name};
	struct tsw_io io;
	const struct tsw_file file = fuzz_file_open(f, &io);
	struct tsw_place place;
	tsw_status status;

	tsw_forget_failure();
	status = tsw_place_find(&file, &wanted, &place);
	fuzz_require_detail(status);
	fuzz_require(status == TSW_OK || status == TSW_ERR_FORMAT || status == TSW_ERR_OPTION ||
			     status == TSW_ERR_UNSUPPORTED || status == TSW_ERR_OVERFLOW,
		     "status %d", status);
	fuzz_require(!f->writes, "the file was written to");
	if (status == TSW_OK)
		check_place(f, &place);
}

/* Where the object's last brace is taken to be the end of the text. */
static void mend_length(struct fuzz_file *f)
{
	uint64_t bytes = f->stored - 8;

	while (bytes && f->contents[8 + bytes - 1] != '}')
		bytes--;
	for (unsigned i = 0; i < 8; i++)
		f->contents[i] = (unsigned char)(bytes >> 8 * i);
}

void fuzz_safetensors(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
	const size_t name_bytes = zero ? (size_t)(zero - data) + 1 : 0;
	const char *name = name_bytes > 1 ? (const char *)data : NULL;
	struct fuzz_file f;

	fuzz_file_new(&f, data + name_bytes, size - name_bytes, size - name_bytes);
	find(&f, name);
	if (f.stored > 8) {
		mend_length(&f);
		find(&f, name);
		find(&f, name ? NULL : "weight");
	}
	fuzz_file_free(&f);
}
