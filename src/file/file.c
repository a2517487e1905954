/* tsw_transpose_file: options, the file, its format, its lock; then the engine. */
#include "engine.h"
#include "memory.h"
#include "npy.h"
#include "place.h"

#include "../cpu/cpu.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Enough to keep a disk busy; most of them wait most of the time. */
#define IO_THREADS 32

/* Less of it, and tiles that are neighbours leave for the disk one by one; more, and there is too
 * much to wait for at the end. */
#define EARLY_BYTES ((uint64_t)256 << 20)

/* Where nothing is known of the memory. */
#define MEMORY_UNKNOWN ((uint64_t)256 << 20)

struct call {
	tsw_file_options o;
	const struct tsw_io *io;
	char resolved[PATH_MAX], journal[PATH_MAX + 8];
	struct tsw_file file;
	struct tsw_place place;
	struct tsw_run_result done;
};

/* ---- options -----------------------------------------------------------------------------------
 */

/* What the first release had, for good: members behind it are 0 where the caller has none. */
#define FIRST_OPTIONS (offsetof(tsw_file_options, force) + sizeof(int))

/* A caller built against a later header may set what is not known here. */
static tsw_status take_options(tsw_file_options *o, const tsw_file_options *given)
{
	const unsigned char *const bytes = (const unsigned char *)given;

	if (!given)
		return tsw_fail(TSW_ERR_NULL, "options is NULL");
	if (given->struct_size < FIRST_OPTIONS)
		return tsw_fail(TSW_ERR_OPTION,
				"struct_size = %zu: begin with TSW_FILE_OPTIONS_INIT",
				given->struct_size);
	for (size_t i = sizeof *o; i < given->struct_size; i++)
		if (bytes[i])
			return tsw_fail(TSW_ERR_OPTION,
					"an option is set that version %s does not have",
					tsw_version());
	memset(o, 0, sizeof *o);
	memcpy(o, given, given->struct_size < sizeof *o ? given->struct_size : sizeof *o);
	return TSW_OK;
}

static tsw_status check_options(const tsw_file_options *o)
{
	if (o->nthreads < 0)
		return tsw_fail(TSW_ERR_THREADS, "nthreads = %d is negative", o->nthreads);
	if (o->durability != TSW_DURABLE_POWER && o->durability != TSW_DURABLE_PROCESS)
		return tsw_fail(TSW_ERR_OPTION, "durability = %d is none", o->durability);
	if (o->format < TSW_FORMAT_AUTO || o->format > TSW_FORMAT_SAFETENSORS)
		return tsw_fail(TSW_ERR_OPTION, "format = %d is none", o->format);
	if (o->out_path && (o->once || o->flag_only))
		return tsw_fail(TSW_ERR_OPTION, "out_path goes with neither once nor flag_only");
	if (o->out_path && !*o->out_path)
		return tsw_fail(TSW_ERR_OPTION, "out_path is empty");
	if (o->flag_only && (o->once || o->verify))
		return tsw_fail(TSW_ERR_OPTION, "flag_only goes with neither once nor verify");
	if (o->format == TSW_FORMAT_RAW && !o->elem_size)
		return tsw_fail(TSW_ERR_ELEM_SIZE, "elem_size is 0");
	return TSW_OK;
}

/* ---- the file ----------------------------------------------------------------------------------
 */

static tsw_status open_file(struct call *c, const char *path)
{
	const int read_only = c->o.out_path != NULL;

	if (!path)
		return tsw_fail(TSW_ERR_NULL, "path is NULL");
	/* One file has one journal, by whatever name it is called. */
	if (!realpath(path, c->resolved))
		return tsw_io_failed(path, "open");
	snprintf(c->journal, sizeof c->journal, "%s.tswj", c->resolved);
	c->file.fd =
		c->io->open(c->io->user, c->resolved, read_only ? TSW_OPEN_READ : TSW_OPEN_DATA, 0);
	if (c->file.fd < 0 && errno == EISDIR)
		return tsw_fail(TSW_ERR_FORMAT, "'%s' is not a regular file", path);
	if (c->file.fd < 0)
		return tsw_io_failed(path, read_only ? "open" : "open for reading and writing");
	return TSW_OK;
}

/* Who only reads shares the file with other readers, and does without a lock where there are none.
 */
static tsw_status lock(struct call *c, int shared)
{
	if (!c->io->lock(c->io->user, c->file.fd, shared))
		return TSW_OK;
	if (errno == EWOULDBLOCK)
		return tsw_fail(TSW_ERR_LOCKED, "'%s' is held by another run", c->file.path);
	return shared ? TSW_OK : tsw_io_failed(c->file.path, "lock");
}

/* libhdf5 takes a lock of its own while it looks: ours waits. */
static tsw_status find_matrix(struct call *c)
{
	const tsw_file_options *o = &c->o;
	const struct tsw_wanted wanted = {.format = o->format,
					  .n = o->n,
					  .ld = o->ld,
					  .elem_size = o->elem_size,
					  .offset = o->offset_bytes,
					  .described =
						  o->n || o->ld || o->elem_size || o->offset_bytes,
					  .dataset = o->dataset};

	if (!o->out_path) {
		TRY(lock(c, 0));
		c->io->unlock(c->io->user, c->file.fd);
	}
	TRY(tsw_place_find(&c->file, &wanted, &c->place));
	return lock(c, o->out_path != NULL);
}

/* ---- running -----------------------------------------------------------------------------------
 */

/* A file that is in the page cache and may stay there keeps the processors busy and no disk: one
 * thread for each of them, one that begins to write to the disk and waits there, one more. */
static unsigned io_threads(const struct call *c, int cached)
{
	const unsigned few = (unsigned)tsw_cpu_threads(c->o.nthreads) + 2;

	return cached && few < IO_THREADS ? few : IO_THREADS;
}

static struct tsw_run_options run_options(const struct call *c)
{
	const tsw_file_options *o = &c->o;
	const struct tsw_memory memory = tsw_memory_now();
	const uint64_t half = memory.available_bytes ? memory.available_bytes / 2 : MEMORY_UNKNOWN;
	const uint64_t span = tsw_place_span(&c->place);
	/* A file that fits twice may stay in the page cache. */
	const int stays = span <= half, process_only = o->durability == TSW_DURABLE_PROCESS,
		  lazy = stays && process_only && !o->out_path;
	const int cached = lazy && c->io->is_cached(c->io->user, c->file.fd, c->place.offset, span);

	return (struct tsw_run_options){
		.io = c->io,
		.path = c->file.path,
		.journal_path = c->journal,
		.fd = c->file.fd,
		.grid = {.n = c->place.n,
			 .ld = c->place.ld,
			 .offset = c->place.offset,
			 .elem_size = c->place.elem_size},
		.memory_bytes = o->memory_bytes ? o->memory_bytes : half,
		.memory_given = o->memory_bytes != 0,
		.io_threads = io_threads(c, cached),
		.nthreads = o->nthreads,
		.process_only = process_only,
		.verify = o->verify != 0,
		.once = o->once != 0,
		.swap_digest = c->place.column_major,
		.forget = !stays,
		.cached = cached,
		.early = lazy ? EARLY_BYTES : 0,
		.block = !stays && !o->out_path ? TSW_PAGE : 0,
		.progress = o->progress,
		.user = o->user,
	};
}

static tsw_status run(struct call *c)
{
	struct tsw_run_options r;

	if (c->o.flag_only)
		return tsw_npy_flip(&c->file, c->journal, &c->place, &c->done.traffic.written);
	r = run_options(c);
	if (!c->o.out_path)
		return tsw_engine_run(&r, &c->done);
	TRY(tsw_journal_check_whole(&c->file, c->journal));
	return tsw_stream_run(&r, c->o.out_path, c->o.force, &c->done);
}

static void tell(const struct call *c, tsw_file_result *result)
{
	const struct tsw_run_result *d = &c->done;
	const tsw_file_result all = {.struct_size = result->struct_size,
				     .n = c->place.n,
				     .ld = c->place.ld,
				     .elem_size = c->place.elem_size,
				     .offset_bytes = c->place.offset,
				     .format = c->place.format,
				     .column_major = c->place.column_major,
				     .bytes_read = d->traffic.read,
				     .bytes_written = d->traffic.written,
				     .bytes_journalled = d->traffic.journalled,
				     .resumed_from_pair = d->resumed_from,
				     .pairs = d->pairs,
				     .already_done = d->already_done,
				     .before = d->before,
				     .after = d->after};

	memcpy(result, &all, result->struct_size < sizeof all ? result->struct_size : sizeof all);
}

static tsw_status transpose(struct call *c, const char *path, const tsw_file_options *options)
{
	tsw_status status;

	TRY(take_options(&c->o, options));
	TRY(check_options(&c->o));
	status = open_file(c, path);
	if (status == TSW_OK)
		status = find_matrix(c);
	if (status == TSW_OK)
		status = run(c);
	if (c->file.fd >= 0)
		c->io->close(c->io->user, c->file.fd);
	return status;
}

tsw_status tsw_transpose_file(const char *path, const tsw_file_options *options,
			      tsw_file_result *result)
{
	struct call *c;
	tsw_status status;

	tsw_forget_failure();
	if (result && result->struct_size < sizeof result->struct_size)
		return tsw_fail(TSW_ERR_OPTION,
				"result: struct_size = %zu: begin with TSW_FILE_RESULT_INIT",
				result->struct_size);
	c = calloc(1, sizeof *c);
	if (!c)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no memory for %zu bytes", sizeof *c);
	c->io = &tsw_system_io;
	c->file = (struct tsw_file){c->io, path, -1};
	c->done.resumed_from = TSW_NO_PAIR;
	status = transpose(c, path, options);
	if (result)
		tell(c, result);
	free(c);
	return status;
}
