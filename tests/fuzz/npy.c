/* The input is a .npy file: its header is parsed, judged against the file's length, and flipped. */
#include "fuzz.h"

#include "file/npy.h"
#include "file/place.h"

#include <stdlib.h>
#include <string.h>

/* What a header that was taken must be. */
static void check_taken(const struct tsw_npy *npy, const unsigned char *bytes, size_t size)
{
	const char *word = npy->fortran ? "True" : "False";

	fuzz_require(npy->header_bytes <= size, "a header of %zu bytes of %zu", npy->header_bytes,
		     size);
	fuzz_require(npy->header_bytes == tsw_npy_header_bytes(bytes, size), "%zu bytes of header",
		     npy->header_bytes);
	fuzz_require(npy->elem_size > 0 &&
			     (unsigned __int128)npy->n * npy->n <= PTRDIFF_MAX / npy->elem_size,
		     "n = %zu, elem_size = %zu", npy->n, npy->elem_size);
	fuzz_require(npy->data_bytes == npy->n * npy->n * npy->elem_size, "data_bytes = %zu",
		     npy->data_bytes);
	fuzz_require(npy->order_at + strlen(word) <= npy->header_bytes &&
			     !memcmp(bytes + npy->order_at, word, strlen(word)),
		     "no %s at %zu", word, npy->order_at);
}

static void check_refused(const char *err, size_t room)
{
	fuzz_require(memchr(err, '\0', room) != NULL, "a message without an end");
	fuzz_require(*err, "no message");
	for (; *err; err++)
		fuzz_require(*err >= 0x20 && *err < 0x7f, "byte %02x in a message",
			     (unsigned char)*err);
}

/* The words have different lengths, the header keeps its own: flipped twice it is as it was. */
static void check_flip(struct fuzz_file *f, const struct tsw_file *file,
		       const struct tsw_place *place, const uint8_t *data,
		       const struct tsw_npy *npy)
{
	struct tsw_npy flipped;
	uint64_t written = 0;
	char err[256];

	if (tsw_npy_flip(file, "FILE.tswj", place, &written)) {
		fuzz_require(!f->writes && !memcmp(f->contents, data, f->stored),
			     "refused, and yet the file has changed");
		return;
	}
	fuzz_require(written == npy->header_bytes, "%ju bytes written", (uintmax_t)written);
	fuzz_require(!tsw_npy_parse(f->contents, f->stored, &flipped, err, sizeof err),
		     "the flipped header cannot be read: %s", err);
	fuzz_require(flipped.fortran == !npy->fortran && flipped.n == npy->n &&
			     flipped.elem_size == npy->elem_size &&
			     flipped.header_bytes == npy->header_bytes,
		     "the flipped header says something else");
	fuzz_require(!tsw_npy_flip(file, "FILE.tswj", place, &written),
		     "what was flipped cannot be flipped back: %s", tsw_last_error());
	fuzz_require(!memcmp(f->contents, data, f->stored), "flipped twice is not what it was");
}

static void check_file(const uint8_t *data, size_t size, uint64_t bytes, const struct tsw_npy *npy)
{
	const struct tsw_wanted wanted = {.format = TSW_FORMAT_NPY};
	struct tsw_place place;
	struct fuzz_file f;
	struct tsw_io io;
	struct tsw_file file;
	tsw_status status;

	fuzz_file_new(&f, data, size, bytes);
	file = fuzz_file_open(&f, &io);
	tsw_forget_failure();
	status = tsw_place_find(&file, &wanted, &place);
	fuzz_require_detail(status);
	fuzz_require((status == TSW_OK) == (npy && npy->header_bytes + npy->data_bytes == bytes),
		     "status %d: %s", status, tsw_last_error());
	if (status == TSW_OK) {
		fuzz_require(place.n == npy->n && place.ld == npy->n &&
				     place.elem_size == npy->elem_size &&
				     place.offset == npy->header_bytes &&
				     place.column_major == npy->fortran,
			     "the place is not the header's");
		check_flip(&f, &file, &place, data, npy);
	}
	fuzz_file_free(&f);
}

void fuzz_npy(const uint8_t *data, size_t size)
{
	unsigned char *bytes = malloc(size);
	struct tsw_npy npy;
	char err[96] = ""; /* shorter than some messages */
	int taken;

	if (!bytes && size)
		abort();
	if (size)
		memcpy(bytes, data, size);
	taken = !tsw_npy_parse(bytes, size, &npy, err, sizeof err);
	if (taken)
		check_taken(&npy, bytes, size);
	else
		check_refused(err, sizeof err);
	check_file(data, size, size, taken ? &npy : NULL);
	if (taken)
		check_file(data, size, npy.header_bytes + npy.data_bytes, &npy);
	free(bytes);
}
