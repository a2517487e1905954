/* The input is a matrix on a simulated disk, the moment at which its transposing is stopped, and
 * what then befalls the journal, the attribute or the file: bytes changed, blocks swapped, hashes
 * made right again.  The next run must come back.
 *
 * After one fault that no hash was mended for, it must do so with the matrix whole, transposed or
 * not, or refuse and change nothing.  Hashes that fit what was changed are no accident: then it
 * must only do no wrong to memory. */
#include "fuzz.h"

#include "../crash/scene.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define MOST_EDITS 12

struct stop {
	uint64_t at, calls; /* the call that is struck; 0: none */
	enum disk_event event;
	unsigned part; /* of 256: where the progress callback says stop; 0: nowhere */
};

static enum disk_event strike(void *user, enum disk_call call)
{
	struct stop *s = user;

	(void)call;
	return ++s->calls == s->at ? s->event : DISK_NOTHING;
}

static int progress(void *user, uint64_t done, uint64_t total)
{
	const struct stop *s = user;

	return s->part && done >= total / 256 * s->part;
}

/* ---- the journal, edited --------------------------------------------------------------------- */

struct edit {
	struct scene *s;
	struct fuzz_input *in;
	int data, journal; /* as the disk knows them; journal < 0: there is none */
	uint64_t slot_bytes, bytes;
	unsigned faults; /* that an accident could make */
	int mended;	 /* a hash was made right, or the matrix itself changed */
};

/* Header, done mark, two records. */
static uint64_t block_at(const struct edit *e, unsigned block)
{
	return block < 2 ? block * TSW_BLOCK
			 : 2 * TSW_BLOCK + (block - 2) * (TSW_BLOCK + e->slot_bytes);
}

static size_t block_bytes(unsigned block)
{
	return block == 0   ? sizeof(struct tsw_journal_header)
	       : block == 1 ? sizeof(struct tsw_done)
			    : sizeof(struct tsw_record);
}

static void read_journal(const struct edit *e, void *to, size_t bytes, uint64_t at)
{
	memset(to, 0, bytes);
	e->s->disk.io.read(&e->s->disk, e->journal, to, bytes, at);
}

static void write_journal(const struct edit *e, const void *from, size_t bytes, uint64_t at)
{
	e->s->disk.io.write(&e->s->disk, e->journal, from, bytes, at);
}

static void change_bytes(struct edit *e)
{
	const uint64_t at = block_at(e, (unsigned)fuzz_take(e->in, 1) % 4) + fuzz_take(e->in, 2);
	const unsigned bytes = 1 + (unsigned)fuzz_take(e->in, 1) % 8;
	const uint64_t value = fuzz_take(e->in, bytes);

	if (at + bytes <= e->bytes)
		write_journal(e, &value, bytes, at);
}

/* A field becomes a number; magic, nonce and hash are made right. */
static void change_field(struct edit *e)
{
	static const char magic[4][8] = {"TSWJ\2\r\n", "TSWD\1\r\n", "TSWR\1\r\n", "TSWR\1\r\n"};
	const unsigned block = (unsigned)fuzz_take(e->in, 1) % 4;
	const size_t bytes = block_bytes(block), at = (size_t)fuzz_take(e->in, 1) % (bytes / 8) * 8;
	unsigned char b[TSW_BLOCK];
	const uint64_t value = fuzz_number(e->in);
	tsw_hash hash;

	read_journal(e, b, sizeof b, block_at(e, block));
	memcpy(b, magic[block], sizeof magic[block]);
	if (block)
		read_journal(e, b + sizeof magic[block], TSW_NONCE_BYTES, sizeof magic[block]);
	memcpy(b + at, &value, sizeof value);
	hash = tsw_hash_bytes(b, bytes - sizeof hash);
	memcpy(b + bytes - sizeof hash, &hash, sizeof hash);
	write_journal(e, b, sizeof b, block_at(e, block));
	e->mended = 1;
}

static void copy_block(struct edit *e)
{
	const unsigned pair = (unsigned)fuzz_take(e->in, 1);
	unsigned char b[TSW_BLOCK];

	read_journal(e, b, sizeof b, block_at(e, pair % 4));
	write_journal(e, b, sizeof b, block_at(e, pair / 4 % 4));
}

static void change_length(struct edit *e)
{
	e->bytes = fuzz_take(e->in, 2) * (1 + fuzz_take(e->in, 1) % 4);
	e->s->disk.io.truncate(&e->s->disk, e->journal, e->bytes);
}

static void change_mark(struct edit *e)
{
	const unsigned at = (unsigned)fuzz_take(e->in, 1) % TSW_MARK_BYTES;
	unsigned char mark[TSW_MARK_BYTES] = {0};

	e->s->disk.io.get_mark(&e->s->disk, e->data, mark);
	mark[at] = (unsigned char)fuzz_take(e->in, 1);
	if (!e->s->disk.no_marks)
		e->s->disk.io.set_mark(&e->s->disk, e->data, mark);
}

static void change_matrix(struct edit *e)
{
	const struct disk_file *f = &e->s->disk.file[e->data];
	const unsigned char value = (unsigned char)fuzz_take(e->in, 1);
	const uint64_t at = fuzz_take(e->in, 2);

	e->mended = 1;
	if (at < f->cache_bytes)
		e->s->disk.io.write(&e->s->disk, e->data, &value, 1, at);
}

static void remove_journal(struct edit *e)
{
	e->s->disk.io.unlink(&e->s->disk, SCENE_JOURNAL);
	e->journal = -1;
	/* Nothing else would tell of the run. */
	if (e->s->disk.no_marks)
		e->mended = 1;
}

static void one_edit(struct edit *e)
{
	static void (*const edits[])(struct edit *) = {change_bytes, change_field, copy_block,
						       change_length, remove_journal};
	const unsigned kind = (unsigned)fuzz_take(e->in, 1) % 8;

	e->faults++;
	if (kind == 7)
		change_matrix(e);
	else if (kind >= 5)
		change_mark(e);
	else if (e->journal >= 0)
		edits[kind](e);
}

static void edit_all(struct edit *e)
{
	struct disk *d = &e->s->disk;
	struct tsw_journal_header h;

	e->data = d->io.open(d, SCENE_DATA, TSW_OPEN_DATA, 0);
	e->journal = d->io.open(d, SCENE_JOURNAL, TSW_OPEN_JOURNAL, 0);
	if (e->journal >= 0) {
		e->bytes = d->file[e->journal].cache_bytes;
		read_journal(e, &h, sizeof h, 0);
		e->slot_bytes = h.slot_bytes % ((uint64_t)1 << 20); /* of a torn header: anything */
	}
	while (e->in->at < e->in->end && e->faults < MOST_EDITS)
		one_edit(e);
}

/* ---- two runs -------------------------------------------------------------------------------- */

static void first_run(struct scene *s, struct fuzz_input *in)
{
	const unsigned how = (unsigned)fuzz_take(in, 1);
	/* Durability "process" promises nothing for a loss of power. */
	struct stop stop = {.event = how & 1 && !s->o.process_only ? DISK_POWER_LOSS : DISK_KILL};
	struct tsw_run_result r;

	if (how & 2)
		stop.part = (unsigned)fuzz_take(in, 1);
	else
		stop.at = fuzz_take(in, 2) % 600;
	s->o.progress = progress;
	s->o.user = &stop;
	s->disk.strike = strike;
	s->disk.user = &stop;
	scene_run(s, &r);
	s->o.progress = NULL;
	s->disk.strike = NULL;
	disk_revive(&s->disk);
}

static void check(const struct scene *s, const struct edit *e, tsw_status status,
		  const unsigned char *left)
{
	const struct disk_file *f = disk_get(&s->disk, SCENE_DATA);

	fuzz_require(f && f->cache_bytes == s->bytes, "the file has another size");
	if (e->mended || e->faults > 1)
		return;
	fuzz_require(status == TSW_OK || !memcmp(f->cache, left, s->bytes),
		     "status %d (%s), and yet the file has changed", status, tsw_last_error());
	fuzz_require(status != TSW_OK || !scene_wrong(s, 0) || !scene_wrong(s, 1),
		     "said to be done, but: %s", scene_wrong(s, 1));
}

static void second_run(struct scene *s, struct fuzz_input *in)
{
	struct edit e = {.s = s, .in = in};
	struct tsw_run_result r;
	unsigned char *left = malloc(s->bytes + 1);
	tsw_status status;

	if (!left)
		abort();
	edit_all(&e);
	memcpy(left, disk_get(&s->disk, SCENE_DATA)->cache, s->bytes);
	tsw_forget_failure();
	status = scene_run(s, &r);
	fuzz_require_detail(status);
	check(s, &e, status, left);
	free(left);
}

void fuzz_journal(const uint8_t *data, size_t size)
{
	static struct scene s;
	struct fuzz_input in = {data, data + size};
	uint64_t random = fuzz_take(&in, 2);
	const unsigned flags = (unsigned)fuzz_take(&in, 1);
	const struct tsw_grid grid = scene_random_grid(&random);

	scene_new(&s, grid, flags >> 5, 1 + (flags >> 4 & 1) * 3, random);
	s.o.verify = flags & 1;
	s.o.once = flags >> 1 & 1;
	s.o.process_only = flags >> 2 & 1;
	s.disk.no_marks = flags >> 3 & 1;
	first_run(&s, &in);
	second_run(&s, &in);
	scene_free(&s);
}
