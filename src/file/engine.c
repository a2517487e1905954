#include "engine.h"

#include "../digest/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longer runs than this gain nothing on a disk; shorter ones than that lose much. */
#define LONG_RUN ((uint64_t)64 << 10)
#define SHORT_RUN ((uint64_t)16 << 10)
/* With runs below a sector the disk moves a multiple of what is asked for, pair after pair waits
 * for it, and the tiles stay for as long as the journal does: that much memory is demanded. */
#define LEAST_RUN ((uint64_t)512)
/* Larger tiles make a large journal, and a stop wait for long. */
#define LARGE_TILE ((uint64_t)1 << 30)
/* Past the page cache every request waits for the disk: so many times the threads keep it busy. */
#define DIRECT_FACTOR 2
/* Squares on the diagonal lengthen the journal by half of themselves: no more than V/200. */
#define LEAST_SQUARES 100
/* A file in the page cache gains nothing from runs longer than fit into this, and every page of the
 * tiles and of the journal is to be taken from the system first. */
#define CACHED_MEMORY ((uint64_t)200 << 20)
/* Fewer tiles than this leave little to overlap. */
#define LEAST_TILES 6

/* The side of a tile where memory is no matter; at least 1. */
static uint64_t wanted_tile(const struct tsw_grid *g)
{
	const uint64_t most = (uint64_t)sqrt((double)(LARGE_TILE / g->elem_size));
	uint64_t run = tsw_tile_count(g->n, LEAST_TILES) * g->elem_size, tile;

	if (run > LONG_RUN)
		run = LONG_RUN;
	if (run < SHORT_RUN)
		run = SHORT_RUN;
	tile = run / g->elem_size;
	if (tile > most)
		tile = most;
	return tile ? tile : 1;
}

/* Short rows are in the page cache whatever the run: LEAST_TILES of them will do. */
static uint64_t least_tile(const struct tsw_grid *g)
{
	const uint64_t run = tsw_tile_count(LEAST_RUN, g->elem_size),
		       share = tsw_tile_count(g->n, LEAST_TILES);
	const uint64_t tile = run < share ? run : share;

	return tile ? tile : 1;
}

uint64_t tsw_choose_tile(const struct tsw_grid *grid, uint64_t memory_bytes)
{
	const uint64_t pair = memory_bytes / TSW_WORKS, s = grid->elem_size;
	uint64_t tile = (uint64_t)sqrt((double)(pair / 2 / s)), wanted = wanted_tile(grid);
	struct tsw_grid g = *grid;

	if (tile > wanted)
		tile = wanted;
	if (tile > grid->n)
		tile = grid->n ? grid->n : 1;
	/* Hashes of the bands need a little room beside the tiles. */
	for (; tile; tile--) {
		g.tile = tile;
		if (tsw_work_bytes(&g) <= pair)
			break;
	}
	return tile;
}

/* How many elements make up a multiple of so many bytes, a power of two. */
static size_t whole_elements(size_t bytes, size_t elem_size)
{
	for (; bytes > 1 && elem_size % 2 == 0; elem_size /= 2)
		bytes /= 2;
	return bytes;
}

/* Where rows are whole pages apart, the cuts fall on pages: a run that ends in the middle of one
 * would have it read before it is written, and written twice. */
void tsw_choose_cuts(struct tsw_grid *g, uint64_t memory_bytes, size_t grain)
{
	const uint64_t s = g->elem_size, ahead = -g->offset % TSW_PAGE;
	const size_t unit = whole_elements(TSW_PAGE, g->elem_size);
	const size_t square = grain ? whole_elements(grain, g->elem_size) : 0;

	g->tile = (size_t)tsw_choose_tile(g, memory_bytes);
	g->first = g->square = 0;
	if (g->ld * s % TSW_PAGE || ahead % s || g->tile >= g->n || g->tile < unit)
		return;
	g->tile -= g->tile % unit;
	g->first = (size_t)(ahead / s);
	if (g->n / LEAST_SQUARES >= square)
		g->square = square;
}

tsw_status tsw_engine_sync(struct tsw_engine *e, const struct tsw_file *f, enum tsw_barrier why)
{
	return e->o->process_only ? TSW_OK : tsw_sync(f, why);
}

/* ---- reading ahead --------------------------------------------------------------------------- */

void tsw_engine_read_ahead(struct tsw_engine *e)
{
	while (e->idles && e->ahead < e->pairs) {
		struct tsw_work *w = e->idle[--e->idles];

		e->queue[e->queued++] = w;
		tsw_work_read(w, e->ahead++);
	}
}

void tsw_engine_release(struct tsw_engine *e, struct tsw_work *w)
{
	e->idle[e->idles++] = w;
	tsw_engine_read_ahead(e);
}

struct tsw_work *tsw_engine_take(struct tsw_engine *e)
{
	struct tsw_work *w = e->queue[0];

	memmove(e->queue, e->queue + 1, --e->queued * sizeof e->queue[0]);
	return w;
}

/* Everything that was begun has ended. */
static void drain(struct tsw_engine *e)
{
	if (e->shop.pool)
		tsw_pool_wait(e->shop.pool, &e->early);
	for (unsigned i = 0; i < TSW_WORKS && e->shop.pool; i++) {
		tsw_pool_wait(e->shop.pool, &e->work[i].reading);
		tsw_pool_wait(e->shop.pool, &e->work[i].payload.job);
		tsw_pool_wait(e->shop.pool, &e->work[i].first.job);
		tsw_pool_wait(e->shop.pool, &e->work[i].second.job);
	}
}

tsw_status tsw_engine_report(struct tsw_engine *e, uint64_t pairs_done)
{
	const struct tsw_grid *g = &e->shop.grid;

	e->done_bytes = tsw_bytes_before(g, pairs_done);
	if (e->o->progress &&
	    e->o->progress(e->o->user, e->done_bytes, tsw_bytes_before(g, UINT64_MAX)))
		return TSW_ERR_INTERRUPTED;
	return TSW_OK;
}

/* The next pair whose tiles are not each other's transposes already, with half A's new contents
 * made; *next is NULL after the last. */
static tsw_status take_next(struct tsw_engine *e, struct tsw_work **next)
{
	*next = NULL;
	while (e->queued) {
		struct tsw_work *w = tsw_engine_take(e);

		TRY(tsw_work_first_half(w));
		e->digest = tsw_digest_add(e->digest, w->digest);
		w->digest = e->digest;
		if (!tsw_hash_equal(w->ha, w->ha_new)) {
			*next = w;
			return TSW_OK;
		}
		tsw_work_forget(w, 0);
		tsw_engine_release(e, w);
	}
	return TSW_OK;
}

static struct tsw_pair_hash as_it_is(const struct tsw_work *w)
{
	return w ? (struct tsw_pair_hash){w->k, w->ha, w->hb}
		 : (struct tsw_pair_hash){.k = TSW_NO_PAIR};
}

/* ---- writing early --------------------------------------------------------------------------- */

static tsw_status start_writing_all(void *arg, uint64_t index)
{
	const struct tsw_engine *e = arg;
	const struct tsw_grid *g = &e->shop.grid;
	const struct tsw_file *f = &e->shop.data;

	(void)index;
	f->io->start_writing(f->io->user, f->fd, g->offset, tsw_grid_end(g) - g->offset);
	return TSW_OK;
}

/* The disk gets what many pairs have left in the page cache, in one go: tiles that have become
 * neighbours meanwhile leave in longer runs, and nobody stands in the queue for each of them. */
static void write_early(struct tsw_engine *e, const struct tsw_work *w)
{
	e->written_since += tsw_region_bytes(&w->a) + tsw_region_bytes(&w->b);
	if (!e->o->early || e->written_since < e->o->early ||
	    !tsw_pool_ended(e->shop.pool, &e->early))
		return;
	e->written_since = 0;
	e->early = (struct tsw_job){
		.run = start_writing_all, .arg = e, .line = TSW_TO_WRITE, .count = 1};
	tsw_pool_submit(e->shop.pool, &e->early);
}

/* ---- one pair after the other ---------------------------------------------------------------- */

/* The file has not been cut off below us: a write would make it longer again, with a hole. */
static tsw_status still_whole(struct tsw_engine *e)
{
	const struct tsw_file *f = &e->shop.data;
	struct tsw_file_status s;

	if (f->io->status(f->io->user, f->fd, &s))
		return tsw_io_failed(f->path, "stat");
	if (s.bytes < tsw_grid_end(&e->shop.grid))
		return tsw_fail(TSW_ERR_IO,
				"%s: cut off at %ju bytes while it was being transposed", f->path,
				(uintmax_t)s.bytes);
	return TSW_OK;
}

static tsw_status write_record(struct tsw_engine *e, const struct tsw_work *w,
			       const struct tsw_work *next)
{
	struct tsw_record r = {.sequence = e->sequence,
			       .k = w->k,
			       .payload_bytes = tsw_region_bytes(&w->a),
			       .a = w->ha,
			       .b = w->hb,
			       .new_a = w->ha_new,
			       .next = as_it_is(next),
			       .previous = e->previous,
			       .digest = w->digest};

	TRY(tsw_record_write(&e->journal, &r));
	e->result->traffic.journalled += TSW_BLOCK;
	return TSW_OK;
}

/* The invariant of the ring: the record that is overwritten now was settled by a sync that began
 * after its last write had ended. */
static tsw_status check_settled(const struct tsw_engine *e)
{
	if (e->sequence >= 2 && e->settled < e->sequence - 1)
		return tsw_fail(TSW_ERR_JOURNAL, "internal: record %ju is not settled",
				(uintmax_t)(e->sequence - 2));
	return TSW_OK;
}

/* Waits for the last write of the pair before; its memory is free then. */
static tsw_status end_pair(struct tsw_engine *e, struct tsw_work *w)
{
	TRY(tsw_pool_wait(e->shop.pool, &w->second.job));
	tsw_work_forget(w, 0);
	write_early(e, w);
	tsw_engine_release(e, w);
	return TSW_OK;
}

/* The pair `w` from its record to the moment its last write is begun; `before` is the pair whose
 * last write is still under way, or NULL.  *next is the pair to come. */
static tsw_status write_pair(struct tsw_engine *e, struct tsw_work *w, struct tsw_work *before,
			     struct tsw_work **next)
{
	struct tsw_journal *j = &e->journal;

	TRY(check_settled(e));
	tsw_work_write_payload(w, &j->file, tsw_slot_at(&j->header, e->sequence) + TSW_BLOCK);
	/* Its memory is read into while the next pair is turned. */
	if (before)
		TRY(end_pair(e, before));
	TRY(take_next(e, next));
	TRY(tsw_pool_wait(e->shop.pool, &w->payload.job));
	TRY(write_record(e, w, *next));
	TRY(tsw_engine_sync(e, &j->file, TSW_SYNC_RECORD));

	TRY(still_whole(e));
	tsw_work_write_first(w);
	TRY(tsw_work_second_half(w));
	TRY(tsw_pool_wait(e->shop.pool, &w->first.job));
	TRY(tsw_engine_sync(e, &e->shop.data, TSW_SYNC_HALF));
	e->settled = e->sequence++;

	tsw_work_write_second(w);
	e->previous = (struct tsw_pair_hash){w->k, w->ha_new, w->hb_new};
	e->result->pairs_written++;
	return TSW_OK;
}

/* Stops where the journal stands right: what was begun is ended and on the disk. */
static tsw_status stop_here(struct tsw_engine *e, struct tsw_work *w)
{
	TRY(tsw_pool_wait(e->shop.pool, &w->second.job));
	TRY(tsw_sync(&e->shop.data, TSW_SYNC_LAST));
	return tsw_fail(TSW_ERR_INTERRUPTED,
			"%s: stopped on request; the same call goes on where it stopped",
			e->shop.data.path);
}

static tsw_status begin_journal(struct tsw_engine *e, const struct tsw_work *w)
{
	struct tsw_journal_header *h = &e->journal.header;
	const struct tsw_grid *g = &e->shop.grid;

	*h = (struct tsw_journal_header){.n = g->n,
					 .ld = g->ld,
					 .elem_size = g->elem_size,
					 .offset = g->offset,
					 .tile = g->tile,
					 .first_side = g->first,
					 .square = g->square,
					 .slot_bytes = tsw_slot_bytes(g),
					 .durability = (uint32_t)e->o->process_only,
					 .verify = (uint32_t)e->o->verify,
					 .once = (uint32_t)e->o->once,
					 .first = as_it_is(w)};
	TRY(tsw_journal_create(&e->journal));
	e->result->traffic.journalled += e->journal.zeros;
	return TSW_OK;
}

/* From the first pair that is not done to the last.  Without a journal one is made for the first
 * pair that has to be written. */
static tsw_status walk(struct tsw_engine *e)
{
	struct tsw_work *before = NULL, *w, *next;

	tsw_engine_read_ahead(e);
	TRY(take_next(e, &w));
	if (e->journal.file.fd < 0 && (w || e->o->once))
		TRY(begin_journal(e, w));
	for (; w; before = w, w = next) {
		TRY(write_pair(e, w, before, &next));
		if (tsw_engine_report(e, w->k + 1) != TSW_OK && next)
			return stop_here(e, w);
	}
	if (before)
		TRY(tsw_pool_wait(e->shop.pool, &before->second.job));
	if (e->journal.file.fd >= 0)
		TRY(tsw_sync(&e->shop.data, TSW_SYNC_LAST));
	tsw_engine_report(e, e->pairs); /* too late to stop */
	if (before)
		tsw_work_forget(before, 0);
	return TSW_OK;
}

/* ---- verifying ------------------------------------------------------------------------------- */

static void all_idle(struct tsw_engine *e)
{
	e->queued = e->idles = 0;
	for (unsigned i = 0; i < TSW_WORKS; i++)
		e->idle[e->idles++] = &e->work[i];
}

static struct tsw_done what_is_done(const struct tsw_engine *e)
{
	return (struct tsw_done){.records = e->sequence,
				 .last = e->previous,
				 .before = e->result->before,
				 .after = e->result->after,
				 .once = (uint64_t)e->o->once};
}

/* Reads everything once more, and adds it up as the transposed matrix. */
tsw_status tsw_engine_verify(struct tsw_engine *e)
{
	tsw_digest sum = {0, 0};

	all_idle(e);
	e->shop.swap_digest = !e->shop.swap_digest;
	e->ahead = 0;
	tsw_engine_read_ahead(e);
	while (e->queued) {
		struct tsw_work *w = tsw_engine_take(e);

		TRY(tsw_pool_wait(e->shop.pool, &w->reading));
		sum = tsw_digest_add(sum, tsw_work_digest(w));
		tsw_work_forget(w, 0);
		tsw_engine_release(e, w);
	}
	e->result->before = e->digest;
	e->result->after = sum;
	if (sum.placed == e->digest.placed && sum.values == e->digest.values)
		return TSW_OK;
	if (e->journal.file.fd >= 0) {
		struct tsw_done note = what_is_done(e);

		tsw_journal_note_mismatch(&e->journal, &note);
	}
	return tsw_fail(TSW_ERR_MISMATCH,
			"%s: transposed, and not what it should be: placed=%016jx values=%016jx "
			"before, placed=%016jx values=%016jx read back",
			e->shop.data.path, (uintmax_t)e->digest.placed, (uintmax_t)e->digest.values,
			(uintmax_t)sum.placed, (uintmax_t)sum.values);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static tsw_status finish(struct tsw_engine *e)
{
	struct tsw_done done = what_is_done(e);

	return e->journal.file.fd < 0 ? TSW_OK : tsw_journal_finish(&e->journal, &done);
}

static void close_direct(struct tsw_engine *e)
{
	struct tsw_file *f = &e->shop.direct;

	if (f->fd >= 0)
		f->io->close(f->io->user, f->fd);
	f->fd = -1;
	e->shop.grain = 0;
}

/* The descriptor that holds the lock stays for what is no whole blocks, and for the syncs, which
 * cover both.  Without a second one everything goes through the page cache. */
static void open_direct(struct tsw_engine *e)
{
	const struct tsw_run_options *o = e->o;
	struct tsw_file_status locked, again;
	int fd;

	if (!o->block)
		return;
	fd = o->io->open(o->io->user, o->path, TSW_OPEN_DIRECT, 0);
	if (fd < 0)
		return;
	e->shop.direct.fd = fd;
	e->shop.grain = o->io->grain(o->io->user, fd);
	/* The name may have gone to another file. */
	if (!e->shop.grain || o->io->status(o->io->user, o->fd, &locked) ||
	    o->io->status(o->io->user, fd, &again) || locked.inode != again.inode ||
	    locked.device != again.device)
		close_direct(e);
}

tsw_status tsw_engine_set_up(struct tsw_engine *e)
{
	const uint64_t need = TSW_WORKS * tsw_work_bytes(&e->shop.grid);

	if (e->o->memory_given && need > e->o->memory_bytes)
		return tsw_fail(TSW_ERR_OPTION,
				"memory_bytes = %ju: the run to be resumed needs %ju",
				(uintmax_t)e->o->memory_bytes, (uintmax_t)need);
	e->pairs = tsw_grid_pairs(&e->shop.grid);
	e->shop.band = tsw_band_rows(&e->shop.grid);
	e->result->tile = e->shop.grid.tile;
	e->result->pairs = e->pairs;
	TRY(tsw_pool_start(&e->shop.pool,
			   e->o->io_threads * (e->shop.direct.fd >= 0 ? DIRECT_FACTOR : 1),
			   e->o->seed));
	for (unsigned i = 0; i < TSW_WORKS; i++)
		TRY(tsw_work_new(&e->work[i], &e->shop));
	all_idle(e);
	return TSW_OK;
}

void tsw_engine_tear_down(struct tsw_engine *e)
{
	drain(e);
	tsw_pool_stop(e->shop.pool);
	for (unsigned i = 0; i < TSW_WORKS; i++)
		if (e->work[i].shop)
			tsw_work_free(&e->work[i]);
	close_direct(e);
	tsw_journal_close(&e->journal);
}

/* A tile's number has 32 bits. */
static tsw_status check_tiles(const struct tsw_engine *e)
{
	const struct tsw_grid *g = &e->shop.grid;

	if (tsw_grid_tiles(g) > UINT32_MAX)
		return tsw_fail(TSW_ERR_OPTION,
				"memory_bytes = %ju: too little for a matrix of n = %ju",
				(uintmax_t)e->o->memory_bytes, (uintmax_t)g->n);
	return TSW_OK;
}

static uint64_t memory_that_serves(const struct tsw_engine *e, uint64_t least)
{
	const uint64_t memory = e->o->memory_bytes;

	if (e->o->cached && CACHED_MEMORY < memory && least <= CACHED_MEMORY)
		return CACHED_MEMORY;
	return memory;
}

tsw_status tsw_engine_choose_tile(struct tsw_engine *e)
{
	struct tsw_grid *g = &e->shop.grid, least = *g;

	if (g->tile)
		return check_tiles(e);
	least.tile = (size_t)least_tile(g);
	tsw_choose_cuts(g, memory_that_serves(e, TSW_WORKS * tsw_work_bytes(&least)),
			e->shop.grain);
	if (g->tile < least.tile)
		return tsw_fail(
			TSW_ERR_OPTION,
			"memory_bytes = %ju: n = %ju and elements of %zu bytes need at least %ju",
			(uintmax_t)e->o->memory_bytes, (uintmax_t)g->n, g->elem_size,
			(uintmax_t)(TSW_WORKS * tsw_work_bytes(&least)));
	return check_tiles(e);
}

/* What is found decides: begin, go on, or only tidy up.  *left: pairs may be left to do. */
static tsw_status begin_or_resume(struct tsw_engine *e, int *left)
{
	int found;

	*left = 1;
	TRY(tsw_journal_open(&e->journal, &found));
	if (found)
		TRY(tsw_journal_judge(e, left));
	else
		TRY(tsw_mark_judge(e, left));
	if (!*left)
		return TSW_OK;
	open_direct(e);
	found = e->journal.file.fd >= 0; /* a done mark may have been cleared away */
	if (!found)
		TRY(tsw_engine_choose_tile(e));
	TRY(tsw_engine_set_up(e));
	return found ? tsw_recover(e) : TSW_OK;
}

tsw_status tsw_engine_run(const struct tsw_run_options *o, struct tsw_run_result *result)
{
	struct tsw_engine e = {.o = o,
			       .result = result,
			       .shop = {.data = {o->io, o->path, o->fd},
					.out = {o->io, o->path, o->fd},
					.direct = {o->io, o->path, -1},
					.block = o->block,
					.grid = o->grid,
					.nthreads = o->nthreads,
					.verify = o->verify,
					.process_only = o->process_only,
					.swap_digest = o->swap_digest,
					.forget = o->forget,
					.early = o->early != 0},
			       .previous = {.k = TSW_NO_PAIR}};
	tsw_status status;
	int left;

	memset(result, 0, sizeof *result);
	result->resumed_from = TSW_NO_PAIR;
	e.shop.traffic = &result->traffic;
	e.journal.file = (struct tsw_file){o->io, o->journal_path, -1};
	e.journal.data = &e.shop.data;
	status = begin_or_resume(&e, &left);
	if (status == TSW_OK && left) {
		status = walk(&e);
		if (status == TSW_OK && e.shop.verify)
			status = tsw_engine_verify(&e);
		if (status == TSW_OK)
			status = finish(&e);
	}
	tsw_engine_tear_down(&e);
	return status;
}
