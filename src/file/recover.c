/* Coming back: what a journal and an attribute say about the run that was stopped. */
#include "engine.h"

#include "../digest/digest.h"

#include <errno.h>
#include <string.h>

static tsw_status refuse(const struct tsw_engine *e, const char *why, const char *what_to_do)
{
	return tsw_fail(TSW_ERR_JOURNAL, "%s: %s; nothing was changed; %s", e->o->path, why,
			what_to_do);
}

#define RESTORE                                                                                    \
	"restore the file and its journal together, or the file alone and remove the journal"

/* ---- is it this file's, and this run's? -------------------------------------------------------
 */

/* A header whose hash is right may still be nobody's: no cut that is not one is believed. */
static int is_cut(const struct tsw_journal_header *h)
{
	const struct tsw_grid g = {.n = h->n,
				   .ld = h->ld,
				   .elem_size = h->elem_size,
				   .tile = h->tile,
				   .first = h->first_side,
				   .square = h->square};

	return g.tile && g.tile <= (g.n ? g.n : 1) && g.first <= g.tile && g.square <= g.tile &&
	       tsw_grid_tiles(&g) <= UINT32_MAX && h->slot_bytes == tsw_slot_bytes(&g);
}

static tsw_status check_asked(const struct tsw_engine *e)
{
	const struct tsw_journal_header *h = &e->journal.header;
	const struct tsw_grid *g = &e->shop.grid;
	const struct {
		const char *name;
		uint64_t asked, begun;
	} option[] = {
		{"n", g->n, h->n},
		{"ld", g->ld, h->ld},
		{"elem_size", g->elem_size, h->elem_size},
		{"offset_bytes", g->offset, h->offset},
		{"once", (uint64_t)e->o->once, h->once},
	};

	for (size_t i = 0; i < sizeof option / sizeof *option; i++)
		if (option[i].asked != option[i].begun)
			return tsw_fail(TSW_ERR_JOURNAL,
					"%s: the run that %s resumes was begun with %s = %ju, not "
					"%ju; nothing was changed; call it with the same options",
					e->o->path, e->o->journal_path, option[i].name,
					(uintmax_t)option[i].begun, (uintmax_t)option[i].asked);
	if (e->o->process_only != (h->durability != 0))
		return refuse(e, "the run to be resumed was begun with another durability",
			      h->durability ? "resume it with \"process\""
					    : "resume it with \"power\"");
	if (!is_cut(h))
		return refuse(e, "its journal tells of tiles that it cannot have", RESTORE);
	if (e->o->verify && !h->verify)
		return refuse(e, "the run to be resumed was begun without verifying",
			      "resume it without");
	return TSW_OK;
}

static tsw_status check_boot(const struct tsw_engine *e)
{
	const struct tsw_io *io = e->o->io;
	char boot[TSW_BOOT_BYTES];

	if (!e->journal.header.durability)
		return TSW_OK;
	if (io->boot(io->user, boot))
		return tsw_io_failed("/proc/sys/kernel/random/boot_id", "read");
	if (memcmp(boot, e->journal.header.boot, sizeof boot))
		return refuse(e,
			      "the run was one of durability \"process\", and the system has been "
			      "started anew since: the matrix may be damaged",
			      "restore it from a backup and remove the journal");
	return TSW_OK;
}

/* The matrix is cut as it was when the run began. */
static void take_cuts(struct tsw_engine *e)
{
	e->shop.grid.tile = e->journal.header.tile;
	e->shop.grid.first = e->journal.header.first_side;
	e->shop.grid.square = e->journal.header.square;
}

static int is_ours(const struct tsw_engine *e, const struct tsw_mark *mark)
{
	return !memcmp(mark->nonce, e->journal.header.nonce, sizeof mark->nonce);
}

/* Do the halves of a pair hash to this?  Leaves half A in w->x and half B in w->y. */
static tsw_status pair_is(struct tsw_work *w, const struct tsw_pair_hash *expected, int *is)
{
	tsw_hash a, b;

	*is = 1;
	if (expected->k == TSW_NO_PAIR)
		return TSW_OK;
	*is = expected->k < tsw_grid_pairs(&w->shop->grid);
	if (!*is)
		return TSW_OK;
	tsw_work_set(w, expected->k);
	TRY(tsw_half_read(w, &w->a, &w->shop->data, 0, w->x));
	TRY(tsw_half_hash(w, &w->a, w->x, &a));
	TRY(tsw_half_read(w, &w->b, &w->shop->data, 0, w->y));
	TRY(tsw_half_hash(w, &w->b, w->y, &b));
	*is = tsw_hash_equal(a, expected->a) && tsw_hash_equal(b, expected->b);
	return TSW_OK;
}

/* ---- an end that was found ---------------------------------------------------------------------
 */

/* A run that was done does not begin again by itself; a later run without `once` may begin anew. */
static tsw_status begin_anew(struct tsw_engine *e, int *left)
{
	const struct tsw_io *io = e->o->io;

	tsw_journal_close(&e->journal);
	if (io->unlink(io->user, e->o->journal_path) && errno != ENOENT)
		return tsw_io_failed(e->o->journal_path, "remove the done mark");
	*left = 1;
	return tsw_mark_clear(&e->shop.data, e->o->journal_path);
}

/* Where no attribute ties the two together, the last pair must be as the run left it. */
static tsw_status check_last(struct tsw_engine *e, const struct tsw_done *done)
{
	int is;

	take_cuts(e);
	TRY(tsw_engine_set_up(e));
	TRY(pair_is(&e->work[0], &done->last, &is));
	if (!is)
		return refuse(e, "it is not what the run that left the done mark made of it",
			      "remove the journal if the mark is of no use");
	return TSW_OK;
}

static tsw_status end_found(struct tsw_engine *e, struct tsw_done *done,
			    const struct tsw_mark *mark, int *left)
{
	const int settled = mark->state == TSW_MARK_ONCE || !e->journal.header.marked;

	if (e->journal.header.marked && !is_ours(e, mark))
		return refuse(e, "the done mark beside it is another file's",
			      "remove the journal if it is of no use");
	if (done->once && !e->o->once && settled)
		return begin_anew(e, left);
	TRY(check_asked(e));
	if (!e->journal.header.marked)
		TRY(check_last(e, done));
	e->result->before = done->before;
	e->result->after = done->after;
	e->result->already_done = 1;
	e->result->found_done++;
	*left = 0;
	return tsw_journal_finish(&e->journal, done);
}

tsw_status tsw_journal_judge(struct tsw_engine *e, int *left)
{
	struct tsw_mark mark;
	struct tsw_done done;
	int can, valid;

	TRY(tsw_mark_read(&e->shop.data, &mark, &can));
	TRY(tsw_done_read(&e->journal, &done, &valid));
	if (valid)
		return end_found(e, &done, &mark, left);
	if (mark.state != TSW_MARK_NONE && !is_ours(e, &mark))
		return refuse(e, "its journal is another file's, or of another run", RESTORE);
	if (mark.state > TSW_MARK_RUNNING)
		return refuse(e, "its attribute says done, its journal does not", RESTORE);
	TRY(check_asked(e));
	TRY(check_boot(e));
	take_cuts(e);
	e->shop.verify = (int)e->journal.header.verify;
	*left = 1;
	return TSW_OK;
}

tsw_status tsw_mark_judge(struct tsw_engine *e, int *left)
{
	struct tsw_mark mark;
	int can;

	*left = 1;
	TRY(tsw_mark_read(&e->shop.data, &mark, &can));
	if (mark.state == TSW_MARK_RUNNING)
		return refuse(e, "a run was stopped in it, and the journal of that run is gone",
			      "put the journal back beside it, or restore the file from a backup, "
			      "as a new file (the old one keeps the attribute user.tileswap)");
	if (mark.state == TSW_MARK_NONE)
		return TSW_OK;
	if (mark.state == TSW_MARK_ONCE && !e->o->once)
		return begin_anew(e, left);
	e->result->already_done = 1;
	e->result->found_end++;
	*left = 0;
	return mark.state == TSW_MARK_ONCE ? TSW_OK
					   : tsw_mark_clear(&e->shop.data, e->o->journal_path);
}

/* ---- records -----------------------------------------------------------------------------------
 */

struct found {
	struct tsw_record record;
	struct tsw_work *work; /* half A's old contents in x, its new ones in y */
	int valid;
};

/* A record counts if it and its payload are whole. */
static tsw_status load(struct tsw_engine *e, struct found *f, unsigned slot)
{
	struct tsw_work *w = f->work;
	const struct tsw_record *r = &f->record;
	tsw_hash hash;

	TRY(tsw_record_read(&e->journal, slot, &f->record, &f->valid));
	f->valid = f->valid && r->k < e->pairs;
	if (!f->valid)
		return TSW_OK;
	tsw_work_set(w, r->k);
	TRY(tsw_half_read(w, &w->a, &e->journal.file,
			  tsw_slot_at(&e->journal.header, slot) + TSW_BLOCK, w->x));
	TRY(tsw_half_hash(w, &w->a, w->x, &hash));
	f->valid = tsw_hash_equal(hash, r->a);
	return TSW_OK;
}

/* The tile on the diagonal as it was: half A by the record, squares and all, for in the file they
 * may be new already. */
static void put_together(struct tsw_work *w)
{
	for (size_t r = 0; r < w->a.rows; r++) {
		const size_t at = r * w->a.buffer_pitch + tsw_run_start(&w->a, r);

		memcpy(w->y + at, w->x + at, tsw_run_bytes(&w->a, r));
	}
}

/* Where the pair of a record stands; half A's new contents are made. */
static tsw_status judge_record(struct tsw_engine *e, struct found *f)
{
	struct tsw_work *w = f->work;
	const struct tsw_record *r = &f->record;
	tsw_hash hash;

	TRY(tsw_half_read(w, &w->b, &e->shop.data, 0, w->y));
	TRY(tsw_half_hash(w, &w->b, w->y, &hash));
	if (tsw_hash_equal(hash, r->b)) {
		e->result->redone_both++;
		if (w->diagonal)
			put_together(w);
		TRY(tsw_turn(&e->shop, w->y));
	} else {
		e->result->redone_second++;
		TRY(tsw_half_read(w, &w->a, &e->shop.data, 0, w->y));
	}
	TRY(tsw_half_hash(w, &w->a, w->y, &hash));
	if (!tsw_hash_equal(hash, r->new_a))
		return refuse(e, "it has been changed, or restored, since the run was stopped",
			      RESTORE);
	return TSW_OK;
}

/* Byte for byte: what the page cache shows need never have been on the disk. */
static tsw_status rewrite(struct tsw_engine *e, struct found *f)
{
	struct tsw_work *w = f->work;

	TRY(tsw_record_write(&e->journal, &f->record));
	tsw_work_write_payload(w, &e->journal.file,
			       tsw_slot_at(&e->journal.header, f->record.sequence) + TSW_BLOCK);
	return tsw_pool_wait(e->shop.pool, &w->payload.job);
}

static tsw_status redo_second(struct found *f)
{
	struct tsw_work *w = f->work;

	TRY(tsw_turn(w->shop, w->x));
	TRY(tsw_half_hash(w, &w->b, w->x, &w->hb_new));
	return tsw_half_write(w, &w->b, w->x);
}

/* The record that would tell how to write this pair anew is gone.  If it fell to decay, and not to
 * the record that was to follow, the pair may never have reached the disk. */
static tsw_status rewrite_pair(struct tsw_engine *e, struct tsw_work *w)
{
	e->result->redone_alone++;
	TRY(tsw_half_write(w, &w->a, w->x));
	return tsw_half_write(w, &w->b, w->y);
}

/* ---- recovery ----------------------------------------------------------------------------------
 */

static tsw_status not_begun(struct tsw_engine *e)
{
	struct tsw_mark mark;
	int can, is, untouched[2];

	TRY(tsw_slot_pristine(&e->journal, 0, &untouched[0]));
	TRY(tsw_slot_pristine(&e->journal, 1, &untouched[1]));
	TRY(tsw_mark_read(&e->shop.data, &mark, &can));
	if (!untouched[1])
		return refuse(e, "its journal has been written, and no record of it is whole",
			      RESTORE);
	if (!untouched[0] && e->journal.header.marked && mark.state == TSW_MARK_NONE)
		return refuse(e, "its journal is another file's", RESTORE);
	TRY(pair_is(&e->work[0], &e->journal.header.first, &is));
	if (!is)
		return refuse(e, "it has been changed since its journal was made", RESTORE);
	e->result->found_unborn++;
	e->result->resumed_from = 0;
	return tsw_journal_name_and_mark(&e->journal);
}

/* Nothing is written before everything has been looked at. */
static tsw_status check_all(struct tsw_engine *e, struct found *old, struct found *new)
{
	struct tsw_work *spare = &e->work[2];
	struct tsw_mark mark;
	int can, is;

	TRY(tsw_mark_read(&e->shop.data, &mark, &can));
	if (e->journal.header.marked && mark.state == TSW_MARK_NONE)
		return refuse(e, "its journal is another file's: it does not carry the attribute",
			      RESTORE);
	if (new != old &&new->record.sequence != old->record.sequence + 1)
		return refuse(e, "the records of its journal do not follow one another", RESTORE);
	TRY(pair_is(spare, &new->record.next, &is));
	if (!is)
		return refuse(e, "a pair that no record tells of has been changed", RESTORE);
	TRY(judge_record(e, old));
	if (new != old)
		TRY(judge_record(e, new));
	TRY(pair_is(spare, &old->record.previous, &is));
	if (!is)
		return refuse(e, "it has been changed, or restored, since the run was stopped",
			      RESTORE);
	return TSW_OK;
}

static tsw_status redo(struct tsw_engine *e, struct found *old, struct found *new)
{
	struct found *const all[2] = {old, new};
	const unsigned count = new == old ? 1 : 2;

	for (unsigned i = 0; i < count; i++)
		TRY(rewrite(e, all[i]));
	TRY(tsw_engine_sync(e, &e->journal.file, TSW_SYNC_RESUME));
	TRY(tsw_journal_name_and_mark(&e->journal));
	if (new == old && old->record.previous.k != TSW_NO_PAIR)
		TRY(rewrite_pair(e, &e->work[2]));
	/* Also where it already looks right. */
	for (unsigned i = 0; i < count; i++)
		TRY(tsw_half_write(all[i]->work, &all[i]->work->a, all[i]->work->y));
	TRY(tsw_engine_sync(e, &e->shop.data, TSW_SYNC_REDO_HALF));
	for (unsigned i = 0; i < count; i++)
		TRY(redo_second(all[i]));
	return tsw_engine_sync(e, &e->shop.data, TSW_SYNC_REDO_END);
}

static void go_on_after(struct tsw_engine *e, const struct found *f)
{
	const struct tsw_record *r = &f->record;

	e->sequence = e->settled = r->sequence + 1;
	e->previous = (struct tsw_pair_hash){r->k, r->new_a, f->work->hb_new};
	e->digest = r->digest;
	e->ahead = r->k + 1;
	e->result->resumed_from = e->ahead;
}

tsw_status tsw_recover(struct tsw_engine *e)
{
	struct found f[2] = {{.work = &e->work[0]}, {.work = &e->work[1]}};
	struct found *old = &f[0], *new = &f[1];

	TRY(load(e, &f[0], 0));
	TRY(load(e, &f[1], 1));
	if (!f[0].valid && !f[1].valid)
		return not_begun(e);
	if (!f[0].valid || (f[1].valid && f[1].record.sequence < f[0].record.sequence)) {
		old = &f[1];
		new = &f[0];
	}
	if (!new->valid)
		new = old;
	TRY(check_all(e, old, new));
	TRY(redo(e, old, new));
	go_on_after(e, new);
	return TSW_OK;
}
