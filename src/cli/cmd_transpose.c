/* tileswap transpose FILE: in place, or, with -o, to a new file.  The library does the work; this
 * asks for it and tells what came of it. */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../tileswap.h"
#include "cli.h"
#include "json.h"
#include "matfile.h"
#include "outfile.h"
#include "progress.h"
#include "signals.h"

struct job {
	const struct options *o;
	uint64_t shown; /* bytes that the bar knows of */
	int begun;
	double time_ms;
};

/* The library calls this between pairs: a signal that came is taken here, where a stop is cheap. */
static int show(void *user, uint64_t done_bytes, uint64_t total_bytes)
{
	struct job *j = user;

	/* What the first call tells of may have been done by an earlier run. */
	if (!j->begun) {
		progress_begin(j->o->show, total_bytes, done_bytes);
		j->shown = done_bytes;
	}
	j->begun = 1;
	progress_add("transposing", done_bytes - j->shown);
	j->shown = done_bytes;
	return signals_noted() != 0;
}

/* ---- telling -----------------------------------------------------------------------------------
 */

/* A word as a shell reads it. */
static void put_word(FILE *f, const char *word)
{
	if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "-_=+./:,@%") == strlen(word)) {
		fputs(word, f);
		return;
	}
	fputc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

static void tell_command(const struct options *o, const char *what_for)
{
	fprintf(stderr, "%s: tileswap transpose", what_for);
	for (int i = 0; i < o->argc; i++) {
		fputc(' ', stderr);
		put_word(stderr, o->argv[i]);
	}
	fputc('\n', stderr);
}

static int stopped(const struct options *o, int sig)
{
	const char *name = sig == SIGINT ? "INT" : sig == SIGTERM ? "TERM" : "HUP";

	if (given(o, OPT_OUT)) {
		complain("stopped by SIG%s; no file was written", name);
	} else {
		complain("stopped by SIG%s; %s is half transposed and safe", name, o->file);
		tell_command(o, "resume it with");
	}
	return 128 + sig;
}

static int failed(const struct options *o, tsw_status status)
{
	const int sig = signals_noted();

	if (status == TSW_ERR_INTERRUPTED && sig)
		return stopped(o, sig);
	complain("%s", tsw_last_error());
	if (status == TSW_ERR_MISMATCH && !given(o, OPT_OUT)) {
		complain(
			"something changed %s between the two reads, or one of them went wrong; if "
			"they differ again, restore it from a backup, as a new file, and remove "
			"its "
			"journal",
			o->file);
		tell_command(o, "compare once more with");
	}
	return EXIT_FAILED;
}

static double gb_per_s(const struct job *j, const tsw_file_result *r)
{
	const double bytes = (double)r->bytes_read + (double)r->bytes_written;

	return j->time_ms > 0 ? bytes / j->time_ms / 1e6 : 0;
}

static void report_journal(struct json *out, const tsw_file_result *r)
{
	json_whole(out, "bytes_journalled", r->bytes_journalled);
	json_whole(out, "pairs", r->pairs);
	if (r->resumed_from_pair == UINT64_MAX)
		json_null(out, "resumed_from_pair");
	else
		json_whole(out, "resumed_from_pair", r->resumed_from_pair);
	json_bool(out, "already_done", r->already_done);
}

static void report_json(const struct job *j, const tsw_file_result *r)
{
	struct json out;

	json_begin(&out, stdout);
	json_text(&out, "command", "transpose");
	json_text(&out, "in", j->o->file);
	if (given(j->o, OPT_OUT))
		json_text(&out, "out", j->o->out);
	json_whole(&out, "n", r->n);
	json_whole(&out, "ld", r->ld);
	json_whole(&out, "elem_size", r->elem_size);
	json_whole(&out, "bytes_read", r->bytes_read);
	json_whole(&out, "bytes_written", r->bytes_written);
	if (!given(j->o, OPT_OUT))
		report_journal(&out, r);
	json_real(&out, "time_ms", j->time_ms);
	json_real(&out, "gb_per_s", gb_per_s(j, r));
	json_bool(&out, "verified", j->o->verify);
	if (j->o->verify) {
		json_hex(&out, "placed", r->after.placed);
		json_hex(&out, "values", r->after.values);
	}
	json_end(&out);
}

static void report(const struct job *j, const tsw_file_result *r)
{
	if (j->o->json) {
		report_json(j, r);
		return;
	}
	printf("%s: n=%zu elem_size=%zu", given(j->o, OPT_OUT) ? j->o->out : j->o->file, r->n,
	       r->elem_size);
	if (r->already_done)
		printf(" already done");
	if (r->resumed_from_pair != UINT64_MAX)
		printf(" resumed_from_pair=%" PRIu64, r->resumed_from_pair);
	printf(" time_ms=%.3f gb_per_s=%.3f", j->time_ms, gb_per_s(j, r));
	if (j->o->verify)
		printf(" verified placed=%016" PRIx64 " values=%016" PRIx64, r->after.placed,
		       r->after.values);
	putchar('\n');
}

/* ---- running -----------------------------------------------------------------------------------
 */

static tsw_file_options file_options(struct job *j)
{
	const struct options *o = j->o;
	const struct tsw_wanted w = matfile_wanted(o);
	tsw_file_options f = TSW_FILE_OPTIONS_INIT;

	f.format = w.format;
	f.n = w.n;
	f.ld = w.ld;
	f.elem_size = w.elem_size;
	f.offset_bytes = w.offset;
	f.dataset = o->dataset;
	f.memory_bytes = o->memory_bytes;
	f.nthreads = o->threads;
	f.durability =
		o->durability == DURABILITY_PROCESS ? TSW_DURABLE_PROCESS : TSW_DURABLE_POWER;
	f.verify = o->verify;
	f.once = o->once;
	f.flag_only = o->flag_only;
	f.out_path = o->out;
	f.force = o->force;
	f.progress = show;
	f.user = j;
	return f;
}

static int transpose(const struct options *o)
{
	struct job j = {.o = o};
	const tsw_file_options f = file_options(&j);
	tsw_file_result r = TSW_FILE_RESULT_INIT;
	const double begun = seconds_now();
	tsw_status status;

	signals_note();
	status = tsw_transpose_file(o->file, &f, &r);
	progress_end();
	if (status)
		return failed(o, status);
	signals_ignore();
	j.time_ms = 1e3 * (seconds_now() - begun);
	report(&j, &r);
	if (!stdout_finish())
		return EXIT_OK;
	/* Who takes this for a failure to transpose would have it undone. */
	if (!given(o, OPT_OUT) && !o->once)
		complain("%s is transposed all the same: this command again would transpose it "
			 "back",
			 o->file);
	return EXIT_FAILED;
}

/* ---- asking ------------------------------------------------------------------------------------
 */

/* What goes with the one way of transposing and not with the other. */
static const char *mixed(const struct options *o)
{
	if (given(o, OPT_OUT) && (o->once || o->flag_only || given(o, OPT_DURABILITY)))
		return "--once, --flag-only and --durability are for FILE itself, not for -o";
	if (!given(o, OPT_OUT) && o->force)
		return "--force goes with -o";
	if (o->flag_only && (o->once || o->verify))
		return "--flag-only moves nothing: neither --once nor --verify goes with it";
	return NULL;
}

/* The input is judged before the output is looked at. */
static int check_out(const struct options *o)
{
	struct matfile in;
	int result = matfile_open(&in, o);

	if (result)
		return result;
	matfile_close(&in);
	return outfile_check(o->out, &in.stat, o->force);
}

int cmd_transpose(const struct options *o)
{
	int result = matfile_check_options(o);
	const char *fault = mixed(o);

	if (!result && fault) {
		complain("%s", fault);
		result = EXIT_USAGE;
	}
	if (!result && given(o, OPT_OUT))
		result = check_out(o);
	return result ? result : transpose(o);
}
