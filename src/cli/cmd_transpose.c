/* tileswap transpose FILE -o OUT: read the matrix, transpose it in memory, write it anew. */
#include <inttypes.h>
#include <stdio.h>

#include "../tileswap.h"
#include "cli.h"
#include "hostmem.h"
#include "inplace.h"
#include "json.h"
#include "matfile.h"
#include "outfile.h"
#include "progress.h"

struct job {
	const struct options *o;
	struct matfile in;
	struct outfile out;
	void *a;
	tsw_digest before, after; /* with --verify */
	uint64_t bytes_read, bytes_written;
	double time_ms, transpose_ms;
};

static int library_failed(void)
{
	complain("%s", tsw_last_error());
	return EXIT_FAILED;
}

static int digest(const struct job *j, int transposed, tsw_digest *out)
{
	const struct matfile *m = &j->in;

	return tsw_checksum_host(j->a, m->n, m->ld, m->elem_size, transposed ^ m->column_major, out,
				 j->o->threads)
		       ? library_failed()
		       : EXIT_OK;
}

static int load(struct job *j)
{
	int result = matfile_read(&j->in, j->in.fd, j->in.path, j->a, "reading");

	j->bytes_read += j->in.span_bytes;
	if (result || !j->o->verify)
		return result;
	return digest(j, 0, &j->before);
}

static int transpose(struct job *j)
{
	const struct matfile *m = &j->in;
	double begun = seconds_now();

	progress_add("transposing", 0);
	if (tsw_transpose_host(j->a, m->n, m->ld, m->elem_size, j->o->threads))
		return library_failed();
	j->transpose_ms = 1e3 * (seconds_now() - begun);
	return EXIT_OK;
}

static int store(struct job *j)
{
	struct matfile *m = &j->in;
	uint64_t end = m->offset_bytes + m->span_bytes, size = (uint64_t)m->stat.st_size;
	int result = outfile_copy(&j->out, m->fd, m->path, 0, m->offset_bytes);

	if (!result)
		result = outfile_write(&j->out, j->a, m->span_bytes, m->offset_bytes);
	if (!result)
		result = outfile_copy(&j->out, m->fd, m->path, end, size);
	progress_add("syncing", 0);
	if (!result)
		result = outfile_sync(&j->out);
	j->bytes_read += size - m->span_bytes;
	j->bytes_written += size;
	return result;
}

/* What was written is read back, so that the way to the file is verified too. */
static int verify(struct job *j)
{
	if (matfile_read(&j->in, j->out.fd, j->out.path, j->a, "verifying") ||
	    digest(j, 1, &j->after))
		return EXIT_FAILED;
	j->bytes_read += j->in.span_bytes;
	if (j->before.placed == j->after.placed && j->before.values == j->after.values)
		return EXIT_OK;
	complain("verification failed: placed=%016" PRIx64 " values=%016" PRIx64
		 " before, placed=%016" PRIx64 " values=%016" PRIx64 " after; nothing was written",
		 j->before.placed, j->before.values, j->after.placed, j->after.values);
	return EXIT_FAILED;
}

static double gb_per_s(const struct job *j)
{
	double bytes = 2.0 * (double)j->in.n * (double)j->in.n * (double)j->in.elem_size;

	return j->time_ms > 0 ? bytes / j->time_ms / 1e6 : 0;
}

static void report_json(const struct job *j)
{
	struct json out;

	json_begin(&out, stdout);
	json_text(&out, "command", "transpose");
	json_text(&out, "in", j->in.path);
	json_text(&out, "out", j->out.path);
	json_whole(&out, "n", j->in.n);
	json_whole(&out, "ld", j->in.ld);
	json_whole(&out, "elem_size", j->in.elem_size);
	json_whole(&out, "bytes_read", j->bytes_read);
	json_whole(&out, "bytes_written", j->bytes_written);
	json_real(&out, "time_ms", j->time_ms);
	json_real(&out, "transpose_ms", j->transpose_ms);
	json_real(&out, "gb_per_s", gb_per_s(j));
	json_bool(&out, "verified", j->o->verify);
	if (j->o->verify) {
		json_hex(&out, "placed", j->after.placed);
		json_hex(&out, "values", j->after.values);
	}
	json_end(&out);
}

static void report(const struct job *j)
{
	if (j->o->json) {
		report_json(j);
		return;
	}
	printf("%s: n=%zu elem_size=%zu time_ms=%.3f gb_per_s=%.3f", j->out.path, j->in.n,
	       j->in.elem_size, j->time_ms, gb_per_s(j));
	if (j->o->verify)
		printf(" verified placed=%016" PRIx64 " values=%016" PRIx64, j->after.placed,
		       j->after.values);
	putchar('\n');
}

static int write_out(struct job *j)
{
	int result = outfile_begin(&j->out, j->o->out, j->o->force);

	if (!result)
		result = store(j);
	if (!result && j->o->verify)
		result = verify(j);
	if (!result)
		result = outfile_commit(&j->out, j->in.stat.st_mode);
	outfile_end(&j->out);
	return result;
}

static int in_memory(struct job *j)
{
	uint64_t span = j->in.span_bytes, size = (uint64_t)j->in.stat.st_size;
	double begun = seconds_now();
	int result;

	j->a = matfile_alloc(&j->in);
	if (!j->a)
		return EXIT_FAILED;
	progress_begin(j->o->show, span + size + (j->o->verify ? span : 0));
	result = load(j);
	if (!result)
		result = transpose(j);
	if (!result)
		result = write_out(j);
	progress_end();
	pages_free(j->a, span);
	j->time_ms = 1e3 * (seconds_now() - begun);
	return result;
}

/* What goes with the one way of transposing and not with the other. */
static const char *mixed(const struct options *o)
{
	if (given(o, OPT_OUT)) {
		if (o->once || o->flag_only || given(o, OPT_FILE_MEMORY) ||
		    given(o, OPT_DURABILITY))
			return "--once, --flag-only, --memory and --durability are for FILE "
			       "itself; "
			       "they do not go with -o";
		return NULL;
	}
	if (o->force)
		return "--force goes with -o";
	if (o->flag_only && (o->once || o->verify))
		return "--flag-only moves nothing: neither --once nor --verify goes with it";
	return NULL;
}

int cmd_transpose(const struct options *o)
{
	struct job j = {.o = o};
	int result = matfile_check_options(o);
	const char *fault = mixed(o);

	if (!result && fault) {
		complain("%s", fault);
		result = EXIT_USAGE;
	}
	if (result)
		return result;
	if (!given(o, OPT_OUT))
		return transpose_in_place(o);
	result = matfile_open(&j.in, o);
	if (result)
		return result;
	result = outfile_check(o->out, &j.in.stat, o->force);
	if (!result)
		result = in_memory(&j);
	matfile_close(&j.in);
	if (!result)
		report(&j);
	return result;
}
