#include "model.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* ---- the disk -------------------------------------------------------------------------------- */

/* Everything that can be written is a sector with a value: two sectors a tile, three a record (the
 * header and the two of its bytes), the header and the done mark of a journal, and, as sectors of
 * their own, the attribute of the data file and the journal's entry in its directory. */
enum { TILE = 2, RECORD = 1 + TILE, JOURNAL = 2 + 2 * RECORD, JOURNALS = 4 };

#define DATA_AT(pair, half, s) (((pair)*2u + (half)) * TILE + (s))
#define ATTRIBUTE (MODEL_PAIRS * 2u * TILE)
#define NAME (ATTRIBUTE + 1u)
#define JOURNAL_AT(j) (NAME + 1u + (j)*JOURNAL)
#define SECTORS JOURNAL_AT(JOURNALS)
#define PENDING 512

/* What one sync covers. */
enum area { AREA_DATA, AREA_DIRECTORY, AREA_JOURNAL };

static enum area area_of(unsigned sector)
{
	return sector <= ATTRIBUTE ? AREA_DATA : sector == NAME ? AREA_DIRECTORY : AREA_JOURNAL;
}

struct pending {
	uint32_t value;
	uint16_t sector;
	uint8_t lost; /* a sync of it failed: no later sync will write it */
};

/* What a record says. */
struct record {
	unsigned pair, sequence, nonce;
	int next, previous; /* pairs, or -1 */
};

#define RECORDS 4096
#define NONCES 64

struct world {
	const struct model_case *c;
	struct model_hits *hits;
	uint32_t cache[SECTORS], disk[SECTORS];
	struct pending pending[PENDING];
	unsigned pendings;
	struct record record[RECORDS]; /* what the header with value HEADER + index says */
	unsigned records, nonces;
	int first[NONCES]; /* what the header of a journal says of the first pair */
	unsigned command;  /* how many transposes have been reported */
	int ending;	   /* the attribute is being removed */
	int rotted;
	jmp_buf stopped;
	const char *wrong;
};

enum stop { STOP_CRASH = 1, STOP_WRONG = 2, STOP_REFUSED = 3 };

static void refuse(struct world *w, const char *why)
{
	w->wrong = why;
	longjmp(w->stopped, w->rotted ? STOP_REFUSED : STOP_WRONG);
}

/* The lights go out: of every write that no sync covers, either may have happened. */
static void lose_power(struct world *w)
{
	for (unsigned i = 0; i < w->pendings; i++)
		if (w->c->chance.choose(w->c->chance.user, 2))
			w->disk[w->pending[i].sector] = w->pending[i].value;
	w->pendings = 0;
	memcpy(w->cache, w->disk, sizeof w->cache);
}

/* A sector of a record goes bad, once, unseen. */
static void rot(struct world *w)
{
	unsigned journal = w->cache[NAME];
	unsigned sector =
		JOURNAL_AT(journal - 1) + 2 + w->c->chance.choose(w->c->chance.user, 2) * RECORD;

	if (!w->c->rot || w->rotted || !journal || !w->cache[sector])
		return;
	w->rotted = 1;
	w->cache[sector] = w->disk[sector] = 1;
}

static void operation(struct world *w, int is_sync)
{
	switch (w->c->chance.strike(w->c->chance.user, is_sync)) {
	case MODEL_KILL:
		w->hits->kills++;
		break;
	case MODEL_POWER_LOSS:
		w->hits->power_losses++;
		lose_power(w);
		break;
	default:
		return;
	}
	rot(w);
	longjmp(w->stopped, STOP_CRASH);
}

static void put(struct world *w, unsigned sector, uint32_t value)
{
	operation(w, 0);
	if (w->pendings == PENDING)
		abort();
	w->cache[sector] = value;
	w->pending[w->pendings++] = (struct pending){.sector = (uint16_t)sector, .value = value};
}

/* A sector that has been written since cannot get its older value any more. */
static unsigned forget_lost(struct world *w, unsigned count, unsigned sector)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++)
		if (w->pending[i].sector != sector)
			w->pending[kept++] = w->pending[i];
	return kept;
}

static void sync_area(struct world *w, enum area area, enum tsw_barrier barrier)
{
	unsigned kept = 0;
	int fails;

	if (w->c->without_barrier == barrier)
		return;
	operation(w, 1);
	/* A directory whose sync fails has failed its whole file system: not modelled. */
	fails = area != AREA_DIRECTORY &&
		w->c->chance.strike(w->c->chance.user, 2) == MODEL_SYNC_FAILS;
	for (unsigned i = 0; i < w->pendings; i++) {
		struct pending p = w->pending[i];

		if (area_of(p.sector) == area && !p.lost && !fails) {
			w->disk[p.sector] = p.value;
			kept = forget_lost(w, kept, p.sector);
			continue;
		}
		p.lost |= area_of(p.sector) == area;
		w->pending[kept++] = p;
	}
	w->pendings = kept;
	if (fails) {
		w->hits->failed_syncs++;
		longjmp(w->stopped, STOP_CRASH);
	}
}

/* ---- contents -------------------------------------------------------------------------------- */

/* Sector s of the tile that half `half` of a pair had at first; transposing it flips a bit. */
#define TRANSPOSED 0x10000u
#define HEADER 0x20000u /* + index of the record */
#define FIRST 0x40000u	/* header of a journal, + nonce; the done mark is one more */
#define DONE 0x80000u

static uint32_t first_content(const struct model_case *c, unsigned pair, unsigned half, unsigned s)
{
	if (half && c->symmetric >> pair & 1)
		return first_content(c, pair, 0, s) ^ TRANSPOSED;
	return 0x100 + (pair * 2 + half) * TILE + s;
}

/* On the diagonal the last sector of half A is a square that changes places with itself; that of
 * half B is nobody's. */
static int is_square(const struct world *w, unsigned pair, unsigned s)
{
	return s == TILE - 1 && (w->c->diagonal >> pair & 1);
}

static unsigned half_sectors(const struct world *w, unsigned pair, unsigned half)
{
	return half && is_square(w, pair, TILE - 1) ? TILE - 1 : TILE;
}

static uint32_t square_content(const struct world *w, unsigned command, unsigned pair,
			       unsigned half, unsigned s)
{
	const int turns = !half && command % 2 && !(w->c->symmetric >> pair & 1);

	return first_content(w->c, pair, half, s) ^ (turns ? TRANSPOSED : 0);
}

/* What must stand there after `command` transposes. */
static uint32_t content(const struct world *w, unsigned command, unsigned pair, unsigned half,
			unsigned s)
{
	if (is_square(w, pair, s))
		return square_content(w, command, pair, half, s);
	return command % 2 ? first_content(w->c, pair, !half, s) ^ TRANSPOSED
			   : first_content(w->c, pair, half, s);
}

/* Is the tile in the file as it is before (0) or after (1) the transpose now running? */
static int tile_is(const struct world *w, unsigned pair, unsigned half, unsigned after)
{
	for (unsigned s = 0; s < TILE; s++)
		if (w->cache[DATA_AT(pair, half, s)] !=
		    content(w, w->command + after, pair, half, s))
			return 0;
	return 1;
}

static int is_symmetric(const struct world *w, unsigned pair)
{
	for (unsigned s = 0; s < half_sectors(w, pair, 1); s++)
		if (w->cache[DATA_AT(pair, 1, s)] != (w->cache[DATA_AT(pair, 0, s)] ^ TRANSPOSED))
			return 0;
	return 1;
}

/* ---- the protocol ---------------------------------------------------------------------------- */

struct run {
	struct world *w;
	unsigned journal; /* number of the journal, from 1 */
	unsigned nonce;
	unsigned sequence;
	int previous;
};

static unsigned slot_at(const struct run *r, unsigned slot)
{
	return JOURNAL_AT(r->journal - 1) + 2 + slot * RECORD;
}

static int next_written(const struct world *w, unsigned from)
{
	for (unsigned p = from; p < w->c->pairs; p++)
		if (!is_symmetric(w, p))
			return (int)p;
	return -1;
}

/* Writes sectors that may be written in any order. */
static void put_all(struct world *w, unsigned sector, const uint32_t *value, unsigned count)
{
	unsigned start = w->c->chance.choose(w->c->chance.user, 1) % count;

	for (unsigned i = 0; i < count; i++)
		put(w, sector + (start + i) % count, value[(start + i) % count]);
}

static void put_half(struct world *w, unsigned pair, unsigned half, const uint32_t *from)
{
	uint32_t value[TILE];

	for (unsigned s = 0; s < TILE; s++)
		value[s] = from[s] ^ TRANSPOSED;
	put_all(w, DATA_AT(pair, half, 0), value, half_sectors(w, pair, half));
}

/* What half A is made of: half B, and the square that it has itself. */
static void put_first(struct world *w, unsigned pair, const uint32_t *a, const uint32_t *b)
{
	uint32_t from[TILE];

	for (unsigned s = 0; s < TILE; s++)
		from[s] = is_square(w, pair, s) ? a[s] : b[s];
	put_half(w, pair, 0, from);
}

static void put_record(struct run *r, unsigned pair, const uint32_t *a)
{
	struct world *w = r->w;
	const int by_pair = w->c->without_rule == MODEL_SLOT_BY_SEQUENCE;
	const unsigned at = slot_at(r, (by_pair ? pair : r->sequence) % 2);
	uint32_t value[RECORD];

	if (w->records == RECORDS)
		abort();
	w->record[w->records] = (struct record){.pair = pair,
						.sequence = r->sequence,
						.nonce = r->nonce,
						.next = next_written(w, pair + 1),
						.previous = r->previous};
	value[0] = HEADER + w->records++;
	memcpy(value + 1, a, TILE * sizeof *a);
	put_all(w, at, value, RECORD);
	sync_area(w, AREA_JOURNAL, TSW_SYNC_RECORD);
}

/* From the first pair that is not done to the last, then the end. */
static void go_on(struct run *r, unsigned from)
{
	struct world *w = r->w;

	for (int p = next_written(w, from); p >= 0; p = next_written(w, (unsigned)p + 1)) {
		uint32_t tile[2][TILE];

		memcpy(tile, &w->cache[DATA_AT(p, 0, 0)], sizeof tile);
		put_record(r, (unsigned)p, tile[0]);
		put_first(w, (unsigned)p, tile[0], tile[1]);
		sync_area(w, AREA_DATA, TSW_SYNC_HALF);
		put_half(w, (unsigned)p, 1, tile[0]);
		r->previous = p;
		r->sequence++;
	}
	sync_area(w, AREA_DATA, TSW_SYNC_LAST);
}

static void forget_mark(struct world *w)
{
	w->ending = 1;
	put(w, ATTRIBUTE, 0);
	sync_area(w, AREA_DATA, TSW_SYNC_UNMARK);
}

static void end(struct run *r, int mark)
{
	struct world *w = r->w;

	if (mark)
		put(w, JOURNAL_AT(r->journal - 1) + 1, DONE + r->nonce);
	sync_area(w, AREA_JOURNAL, TSW_SYNC_DONE);
	put(w, ATTRIBUTE, r->nonce * 2 + 1);
	sync_area(w, AREA_DATA, TSW_SYNC_DONE_MARK);
	put(w, NAME, 0);
	sync_area(w, AREA_DIRECTORY, TSW_SYNC_UNLINK);
	forget_mark(w);
}

static void name_and_mark(struct run *r)
{
	struct world *w = r->w;

	sync_area(w, AREA_DIRECTORY, TSW_SYNC_NAME);
	put(w, ATTRIBUTE, r->nonce * 2);
	sync_area(w, AREA_DATA, TSW_SYNC_MARK);
}

/* A journal that no name refers to, or may refer to after a power loss. */
static unsigned unused_journal(const struct world *w)
{
	unsigned used = 1u << w->cache[NAME] | 1u << w->disk[NAME], j = 1;

	for (unsigned i = 0; i < w->pendings; i++)
		if (w->pending[i].sector == NAME)
			used |= 1u << w->pending[i].value;
	while (used >> j & 1)
		j++;
	if (j > JOURNALS)
		abort();
	return j;
}

/* A new file: nothing written to its predecessor in this place matters any more. */
static void create_journal(struct world *w, unsigned journal)
{
	const unsigned at = JOURNAL_AT(journal - 1);
	unsigned kept = 0;

	for (unsigned i = 0; i < w->pendings; i++)
		if (w->pending[i].sector < at || w->pending[i].sector >= at + JOURNAL)
			w->pending[kept++] = w->pending[i];
	w->pendings = kept;
	memset(w->cache + at, 0, JOURNAL * sizeof *w->cache);
	memset(w->disk + at, 0, JOURNAL * sizeof *w->disk);
}

static void begin(struct world *w)
{
	struct run r = {.w = w, .journal = unused_journal(w), .nonce = ++w->nonces, .previous = -1};

	w->hits->births++;
	w->first[r.nonce % NONCES] = next_written(w, 0);
	create_journal(w, r.journal);
	put(w, JOURNAL_AT(r.journal - 1), FIRST + r.nonce);
	sync_area(w, AREA_JOURNAL, TSW_SYNC_BIRTH);
	put(w, NAME, r.journal);
	name_and_mark(&r);
	go_on(&r, 0);
	end(&r, 1);
}

/* ---- coming back ----------------------------------------------------------------------------- */

static const struct record *valid_record(const struct run *r, unsigned slot)
{
	const struct world *w = r->w;
	const uint32_t *at = &w->cache[slot_at(r, slot)];
	const struct record *x;

	if (at[0] < HEADER || at[0] - HEADER >= w->records)
		return NULL;
	x = &w->record[at[0] - HEADER];
	if (x->nonce != r->nonce)
		return NULL;
	for (unsigned s = 0; s < TILE; s++)
		if (at[1 + s] != content(w, w->command, x->pair, 0, s))
			return NULL;
	return x;
}

static int pristine(const struct run *r, unsigned slot)
{
	const uint32_t *at = &r->w->cache[slot_at(r, slot)];

	for (unsigned s = 0; s < RECORD; s++)
		if (at[s])
			return 0;
	return 1;
}

static void check_next(struct world *w, int next)
{
	if (next < 0 || w->c->without_rule == MODEL_CHECK_NEXT)
		return;
	if (!tile_is(w, (unsigned)next, 0, 0) || !tile_is(w, (unsigned)next, 1, 0))
		refuse(w, "the pair after the newest record has been touched");
}

static void check_record(struct world *w, const struct record *x)
{
	if (!tile_is(w, x->pair, 1, 0) && !tile_is(w, x->pair, 0, 1))
		refuse(w, "a record's pair is neither before nor after its first half");
}

static void check_previous(struct world *w, const struct record *x)
{
	if (x->previous < 0 || w->c->without_rule == MODEL_CHECK_PREVIOUS)
		return;
	if (!tile_is(w, (unsigned)x->previous, 0, 1) || !tile_is(w, (unsigned)x->previous, 1, 1))
		refuse(w, "the pair before the oldest record is not as it was written");
}

static void rewrite(struct run *r, unsigned slot)
{
	uint32_t value[RECORD];

	if (r->w->c->without_rule == MODEL_REWRITE_RECORDS)
		return;
	memcpy(value, &r->w->cache[slot_at(r, slot)], sizeof value);
	put_all(r->w, slot_at(r, slot), value, RECORD);
}

/* First halves, of every record; a half that already looks right is written too. */
static void redo_first(struct run *r, const struct record *x)
{
	struct world *w = r->w;
	uint32_t a[TILE], b[TILE];

	for (unsigned s = 0; s < TILE; s++) {
		a[s] = content(w, w->command, x->pair, 0, s); /* as the record has it */
		b[s] = content(w, w->command, x->pair, 1, s);
	}
	if (w->c->without_rule == MODEL_SQUARE_BY_RECORD)
		memcpy(a, &w->cache[DATA_AT(x->pair, 0, 0)], sizeof a);
	if (tile_is(w, x->pair, 1, 0))
		w->hits->redo_both++;
	else
		w->hits->redo_second++;
	put_first(w, x->pair, a, b);
}

/* The record that would tell how to write the pair before anew is gone.  If it fell to decay, and
 * not to the record that was to follow, that pair may have been written and never have reached the
 * disk. */
static void rewrite_previous(struct world *w, const struct record *x)
{
	uint32_t value[2 * TILE];

	if (x->previous < 0 || w->c->without_rule == MODEL_REWRITE_PREVIOUS)
		return;
	memcpy(value, &w->cache[DATA_AT(x->previous, 0, 0)], sizeof value);
	put_all(w, DATA_AT(x->previous, 0, 0), value, 2 * TILE);
}

static void redo_second(struct run *r, const struct record *x, unsigned slot)
{
	uint32_t a[TILE];

	memcpy(a, &r->w->cache[slot_at(r, slot) + 1], sizeof a);
	put_half(r->w, x->pair, 1, a);
	r->previous = (int)x->pair;
	r->sequence = x->sequence + 1;
}

static void recover(struct run *r)
{
	struct world *w = r->w;
	const struct record *x[2] = {valid_record(r, 0), valid_record(r, 1)};
	const struct record *old, *new;
	unsigned slot = 0;

	if (!x[0] && !x[1]) {
		if (!pristine(r, 1))
			refuse(w, "no record is valid, and more than one was written");
		check_next(w, w->first[r->nonce % NONCES]);
		w->hits->unborn++;
		name_and_mark(r);
		go_on(r, 0);
		return;
	}
	if (w->cache[ATTRIBUTE] != r->nonce * 2)
		refuse(w, "records, but the attribute is not theirs");
	if (!x[0] || (x[1] && x[1]->sequence < x[0]->sequence))
		slot = 1;
	old = x[slot];
	new = x[!slot] ? x[!slot] : old;
	if (new != old &&new->sequence != old->sequence + 1)
		refuse(w, "the records do not follow one another");
	check_previous(w, old);
	check_record(w, old);
	check_record(w, new);
	check_next(w, new->next);
	rewrite(r, slot);
	if (new != old)
		rewrite(r, !slot);
	sync_area(w, AREA_JOURNAL, TSW_SYNC_RESUME);
	name_and_mark(r);
	if (new == old)
		rewrite_previous(w, old);
	redo_first(r, old);
	if (new != old)
		redo_first(r, new);
	sync_area(w, AREA_DATA, TSW_SYNC_REDO_HALF);
	redo_second(r, old, slot);
	if (new != old)
		redo_second(r, new, !slot);
	sync_area(w, AREA_DATA, TSW_SYNC_REDO_END);
	go_on(r, new->pair + 1);
}

/* The command. */
static void transpose(struct world *w)
{
	struct run r = {.w = w, .journal = w->cache[NAME], .previous = -1};
	const uint32_t *first = &w->cache[JOURNAL_AT(r.journal - 1)];
	const uint32_t attribute = w->cache[ATTRIBUTE];

	if (!r.journal && !attribute) {
		begin(w);
		return;
	}
	if (!r.journal) {
		if (attribute % 2 == 0)
			refuse(w, "the attribute is there, the journal is not");
		w->hits->done_without_journal++;
		sync_area(w, AREA_DIRECTORY, TSW_SYNC_UNLINK);
		forget_mark(w);
		return;
	}
	if (first[0] < FIRST || first[0] >= DONE)
		refuse(w, "the journal's header is damaged");
	r.nonce = first[0] - FIRST;
	if (attribute && attribute / 2 != r.nonce)
		refuse(w, "the journal is another file's");
	if (first[1] == DONE + r.nonce) {
		if (!attribute)
			refuse(w, "the journal is done, but the attribute is gone");
		w->hits->done++;
		end(&r, w->c->without_rule != MODEL_REWRITE_DONE);
		return;
	}
	if (attribute % 2)
		refuse(w, "the attribute says done, the journal does not");
	recover(&r);
	end(&r, 1);
}

/* ---- the judge ------------------------------------------------------------------------------- */

static void begin_world(struct world *w, const struct model_case *c, struct model_hits *hits)
{
	memset(w, 0, sizeof *w);
	w->c = c;
	w->hits = hits;
	for (unsigned p = 0; p < c->pairs; p++)
		for (unsigned half = 0; half < 2; half++)
			for (unsigned s = 0; s < TILE; s++)
				w->disk[DATA_AT(p, half, s)] = first_content(c, p, half, s);
	memcpy(w->cache, w->disk, sizeof w->cache);
}

static const char *whole(const struct world *w)
{
	for (unsigned p = 0; p < w->c->pairs; p++)
		for (unsigned half = 0; half < 2; half++)
			if (!tile_is(w, p, half, 0))
				return "success was reported, and the matrix is wrong";
	return NULL;
}

static void finish_command(struct world *w)
{
	w->ending = 0;
	w->command++;
	w->wrong = whole(w);
	/* What was reported must stay, whatever happens now. */
	if (!w->wrong && w->c->chance.choose(w->c->chance.user, 2)) {
		lose_power(w);
		w->wrong = whole(w);
	}
}

/* Stopped with nothing left to remove: only the report is missing, and nobody can tell.  Time
 * passes, so that the last removal is on the disk. */
static int ended_unreported(struct world *w)
{
	if (!w->ending || w->cache[NAME] || w->cache[ATTRIBUTE])
		return 0;
	memcpy(w->disk, w->cache, sizeof w->disk);
	w->pendings = 0;
	return 1;
}

const char *model_run(const struct model_case *c, struct model_hits *hits)
{
	static struct world world;
	struct world *w = &world;

	begin_world(w, c, hits);
	while (w->command < c->commands) {
		int stop = setjmp(w->stopped);

		if (stop == STOP_REFUSED)
			return NULL;
		if (!stop)
			transpose(w);
		if (stop && ended_unreported(w))
			stop = 0;
		if (!stop)
			finish_command(w);
		if (w->wrong)
			return w->wrong;
	}
	return NULL;
}
