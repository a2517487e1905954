/* A transposed copy in a new file: tile pairs read from the one, written crosswise to the other.
 * What is not done is not there: the new file has a temporary name until it is whole and on the
 * disk. */
#include "engine.h"

#include "../digest/digest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPY_BYTES ((size_t)1 << 20)

/* ---- what is not the matrix -------------------------------------------------------------------
 */

static tsw_status copy(struct tsw_engine *e, unsigned char *buffer, uint64_t at, uint64_t end)
{
	while (at < end) {
		const size_t piece = end - at < COPY_BYTES ? (size_t)(end - at) : COPY_BYTES;

		TRY(tsw_read_all(&e->shop.data, buffer, piece, at));
		TRY(tsw_write_all(&e->shop.out, buffer, piece, at));
		e->result->traffic.read += piece;
		e->result->traffic.written += piece;
		at += piece;
	}
	return TSW_OK;
}

/* Before the matrix, between its rows where it is a window, after it. */
static tsw_status copy_rest(struct tsw_engine *e, uint64_t file_bytes)
{
	const struct tsw_grid *g = &e->shop.grid;
	const uint64_t pitch = g->ld * g->elem_size, row = g->n * g->elem_size;
	unsigned char *buffer = malloc(COPY_BYTES);
	tsw_status status;

	if (!buffer)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no memory for %zu bytes", COPY_BYTES);
	status = copy(e, buffer, 0, g->offset);
	for (uint64_t r = 0; status == TSW_OK && row < pitch && r + 1 < g->n; r++)
		status = copy(e, buffer, g->offset + r * pitch + row, g->offset + (r + 1) * pitch);
	if (status == TSW_OK)
		status = copy(e, buffer, tsw_grid_end(g), file_bytes);
	free(buffer);
	return status;
}

/* ---- the matrix -------------------------------------------------------------------------------
 */

static tsw_status begin_writing(struct tsw_work *w)
{
	if (w->diagonal) {
		/* Both halves and the diagonal, in one. */
		w->a.shape = TSW_TILE;
		tsw_work_write_first(w);
		return TSW_OK;
	}
	TRY(tsw_work_second_half(w));
	tsw_work_write_first(w);
	tsw_work_write_second(w);
	return TSW_OK;
}

static tsw_status end_writing(struct tsw_engine *e, struct tsw_work *w)
{
	TRY(tsw_pool_wait(e->shop.pool, &w->first.job));
	TRY(tsw_pool_wait(e->shop.pool, &w->second.job));
	tsw_work_forget(w, 0);
	tsw_engine_release(e, w);
	return TSW_OK;
}

static tsw_status walk(struct tsw_engine *e)
{
	struct tsw_work *before = NULL, *w;

	tsw_engine_read_ahead(e);
	while (e->queued) {
		w = tsw_engine_take(e);
		TRY(tsw_work_first_half(w));
		e->digest = tsw_digest_add(e->digest, w->digest);
		if (before)
			TRY(end_writing(e, before));
		TRY(begin_writing(w));
		if (tsw_engine_report(e, w->k + 1) != TSW_OK)
			return tsw_fail(TSW_ERR_INTERRUPTED,
					"%s: stopped on request, nothing was written",
					e->shop.out.path);
		e->result->pairs_written++;
		before = w;
	}
	return before ? end_writing(e, before) : TSW_OK;
}

static tsw_status fill(struct tsw_engine *e)
{
	struct tsw_file_status s;

	if (e->o->io->status(e->o->io->user, e->o->fd, &s))
		return tsw_io_failed(e->o->path, "stat");
	TRY(copy_rest(e, s.bytes));
	TRY(walk(e));
	TRY(tsw_sync(&e->shop.out, TSW_SYNC_BIRTH));
	if (!e->shop.verify)
		return TSW_OK;
	e->shop.data = e->shop.out;
	return tsw_engine_verify(e);
}

/* ---- the file ---------------------------------------------------------------------------------
 */

/* A link is followed if it leads to a file. */
static tsw_status resolve(const char *path, char *place)
{
	if (realpath(path, place))
		return TSW_OK;
	if (strlen(path) >= PATH_MAX)
		return tsw_fail(TSW_ERR_OPTION, "%s: too long a name", path);
	strcpy(place, path);
	return TSW_OK;
}

/* May the name be taken? */
static tsw_status check_free(const struct tsw_run_options *o, const char *path, int force)
{
	const struct tsw_io *io = o->io;
	const int fd = io->open(io->user, path, TSW_OPEN_READ, 0);
	struct tsw_file_status in, out;
	int failed;

	if (fd < 0)
		return errno == ENOENT ? TSW_OK : tsw_io_failed(path, "open");
	failed = io->status(io->user, o->fd, &in) || io->status(io->user, fd, &out);
	io->close(io->user, fd);
	if (failed)
		return tsw_io_failed(path, "stat");
	if (in.inode == out.inode && in.device == out.device)
		return tsw_fail(TSW_ERR_OPTION, "%s: is the file that is to be read", path);
	/* A device, a pipe, a directory: its name is not for the result to take. */
	if (!out.regular)
		return tsw_fail(TSW_ERR_OPTION, "%s: is not a regular file", path);
	if (!force)
		return tsw_fail(TSW_ERR_OPTION, "%s: exists, and force is not set", path);
	return TSW_OK;
}

/* "DIR/.BASE.tswtmp-RANDOM", BASE cut to what a directory entry holds; the mode is the input's. */
static tsw_status create(struct tsw_engine *e, char *temporary, size_t bytes, const char *path,
			 const char *given)
{
	const struct tsw_io *io = e->o->io;
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	struct tsw_file_status s;
	unsigned char chance[6];

	if (io->chance(io->user, chance, sizeof chance))
		return tsw_io_failed(path, "draw a random number for");
	if (io->status(io->user, e->o->fd, &s))
		return tsw_io_failed(e->o->path, "stat");
	snprintf(temporary, bytes, "%.*s.%.*s.tswtmp-%02x%02x%02x%02x%02x%02x", (int)(base - path),
		 path, NAME_MAX - 32, base, chance[0], chance[1], chance[2], chance[3], chance[4],
		 chance[5]);
	e->shop.out = (struct tsw_file){
		io, given, io->open(io->user, temporary, TSW_CREATE_OUT, s.mode & 0777)};
	return e->shop.out.fd < 0 ? tsw_io_failed(given, "create a file beside") : TSW_OK;
}

static tsw_status give_name(const struct tsw_io *io, const char *temporary, const char *path,
			    int force)
{
	int failed = force ? io->rename(io->user, temporary, path)
			   : io->rename_new(io->user, temporary, path);

	if (failed)
		return tsw_io_failed(path, "put the result in place as");
	/* Some file systems cannot sync a directory; the file itself is whole either way. */
	io->sync_name(io->user, path, TSW_SYNC_NAME);
	return TSW_OK;
}

tsw_status tsw_stream_run(const struct tsw_run_options *o, const char *out_path, int force,
			  struct tsw_run_result *result)
{
	struct tsw_engine e = {.o = o,
			       .result = result,
			       .shop = {.data = {o->io, o->path, o->fd},
					.direct = {o->io, o->path, -1},
					.grid = o->grid,
					.nthreads = o->nthreads,
					.verify = o->verify,
					.swap_digest = o->swap_digest,
					.forget = o->forget},
			       .journal.file.fd = -1};
	char place[PATH_MAX], temporary[PATH_MAX + 32];
	tsw_status status;

	memset(result, 0, sizeof *result);
	result->resumed_from = TSW_NO_PAIR;
	e.shop.traffic = &result->traffic;
	TRY(resolve(out_path, place));
	TRY(check_free(o, place, force));
	TRY(tsw_engine_choose_tile(&e));
	TRY(create(&e, temporary, sizeof temporary, place, out_path));
	status = tsw_engine_set_up(&e);
	if (status == TSW_OK)
		status = fill(&e);
	tsw_engine_tear_down(&e);
	if (status == TSW_OK)
		status = give_name(o->io, temporary, place, force);
	if (status != TSW_OK)
		o->io->unlink(o->io->user, temporary);
	o->io->close(o->io->user, e.shop.out.fd);
	return status;
}
