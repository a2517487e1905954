/* tileswap checksum FILE: the digest of the matrix, indexed as NumPy indexes it. */
#include <inttypes.h>
#include <stdio.h>

#include "../tileswap.h"
#include "cli.h"
#include "hostmem.h"
#include "json.h"
#include "matfile.h"
#include "progress.h"

static int digest_of(const struct matfile *m, const struct options *o, tsw_digest *digest)
{
	void *a = matfile_alloc(m);
	int result = EXIT_FAILED;

	if (!a)
		return result;
	progress_begin(o->show, m->span_bytes, 0);
	result = matfile_read(m, m->fd, m->path, a, "reading");
	/* A column-major file holds the transpose of what NumPy sees, row by row. */
	if (!result && tsw_checksum_host(a, m->n, m->ld, m->elem_size,
					 o->transposed ^ m->column_major, digest, o->threads)) {
		complain("%s", tsw_last_error());
		result = EXIT_FAILED;
	}
	progress_end();
	pages_free(a, m->span_bytes);
	return result;
}

static void report(const struct matfile *m, const struct options *o, tsw_digest digest)
{
	struct json out;

	if (!o->json) {
		printf("placed=%016" PRIx64 " values=%016" PRIx64 "\n", digest.placed,
		       digest.values);
		return;
	}
	json_begin(&out, stdout);
	json_text(&out, "command", "checksum");
	json_text(&out, "in", m->path);
	json_whole(&out, "n", m->n);
	json_whole(&out, "ld", m->ld);
	json_whole(&out, "elem_size", m->elem_size);
	json_bool(&out, "transposed", o->transposed);
	json_hex(&out, "placed", digest.placed);
	json_hex(&out, "values", digest.values);
	json_end(&out);
}

int cmd_checksum(const struct options *o)
{
	struct matfile m;
	tsw_digest digest;
	int result = matfile_check_options(o);

	if (!result)
		result = matfile_open(&m, o);
	if (result)
		return result;
	result = digest_of(&m, o, &digest);
	matfile_close(&m);
	if (!result)
		report(&m, o, digest);
	return result;
}
