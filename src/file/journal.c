#include "journal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header_magic[8] = "TSWJ\2\r\n";
static const char record_magic[8] = "TSWR\1\r\n";
static const char done_magic[8] = "TSWD\1\r\n";
static const char mismatch_magic[8] = "TSWV\1\r\n"; /* a done mark that is none */

/* A block on the disk begins with one of the three structures, whose last member is the hash of
 * what stands before it. */
union block {
	struct tsw_journal_header header;
	struct tsw_record record;
	struct tsw_done done;
	unsigned char bytes[TSW_BLOCK];
};

/* ---- places ---------------------------------------------------------------------------------- */

static uint64_t whole_blocks(uint64_t bytes)
{
	return (bytes + TSW_BLOCK - 1) / TSW_BLOCK * TSW_BLOCK;
}

uint64_t tsw_slot_bytes(const struct tsw_grid *g)
{
	const struct tsw_region only = tsw_region_at(g, 0, 0, TSW_UPPER);

	if (tsw_grid_tiles(g) <= 1)
		return whole_blocks(tsw_region_bytes(&only));
	return whole_blocks((uint64_t)g->tile * g->tile * g->elem_size);
}

uint64_t tsw_journal_bytes(const struct tsw_journal_header *h)
{
	return 2 * TSW_BLOCK + 2 * (TSW_BLOCK + h->slot_bytes);
}

uint64_t tsw_slot_at(const struct tsw_journal_header *h, uint64_t sequence)
{
	return 2 * TSW_BLOCK + sequence % 2 * (TSW_BLOCK + h->slot_bytes);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static tsw_status write_block(const struct tsw_journal *j, const void *contents, size_t bytes,
			      uint64_t at)
{
	union block block;

	memset(&block, 0, sizeof block);
	memcpy(&block, contents, bytes);
	return tsw_write_all(&j->file, &block, sizeof block, at);
}

/* *valid: magic, nonce (NULL: any) and hash are right. */
static tsw_status read_block(const struct tsw_journal *j, void *contents, size_t bytes, uint64_t at,
			     const char *magic, const unsigned char *nonce, int *valid)
{
	union block block;
	tsw_hash hash, found;

	TRY(tsw_read_all(&j->file, &block, sizeof block, at));
	memcpy(contents, &block, bytes);
	memcpy(&found, block.bytes + bytes - sizeof found, sizeof found);
	hash = tsw_hash_bytes(&block, bytes - sizeof found);
	*valid = !memcmp(block.bytes, magic, sizeof header_magic) && tsw_hash_equal(hash, found) &&
		 (!nonce || !memcmp(block.bytes + sizeof header_magic, nonce, TSW_NONCE_BYTES));
	return TSW_OK;
}

static tsw_hash hash_before(const void *contents, size_t bytes)
{
	return tsw_hash_bytes(contents, bytes - sizeof(tsw_hash));
}

/* ---- the attribute --------------------------------------------------------------------------- */

tsw_status tsw_mark_read(const struct tsw_file *data, struct tsw_mark *mark, int *can)
{
	*can = 1;
	if (!data->io->get_mark(data->io->user, data->fd, mark)) {
		if (mark->state >= TSW_MARK_RUNNING && mark->state <= TSW_MARK_ONCE)
			return TSW_OK;
		errno = EBADMSG;
	}
	memset(mark, 0, sizeof *mark);
	if (errno == ENODATA)
		return TSW_OK;
	if (errno == EBADMSG)
		return tsw_fail(TSW_ERR_JOURNAL,
				"%s: its attribute user.tileswap is not one of this version's",
				data->path);
	if (errno != ENOTSUP)
		return tsw_io_failed(data->path, "read the attribute user.tileswap of");
	*can = 0;
	return TSW_OK;
}

static tsw_status set_mark(const struct tsw_journal *j, enum tsw_mark_state state,
			   enum tsw_barrier why)
{
	const struct tsw_file *data = j->data;
	struct tsw_mark mark = {.state = state};

	if (!j->header.marked)
		return TSW_OK;
	memcpy(mark.nonce, j->header.nonce, sizeof mark.nonce);
	if (data->io->set_mark(data->io->user, data->fd, &mark))
		return tsw_io_failed(data->path, "set the attribute user.tileswap of");
	return tsw_sync(data, why);
}

static tsw_status sync_name(const struct tsw_file *f, enum tsw_barrier why)
{
	if (f->io->sync_name(f->io->user, f->path, why))
		return tsw_io_failed(f->path, "sync the directory of");
	return TSW_OK;
}

static tsw_status remove_mark(const struct tsw_file *data)
{
	if (data->io->remove_mark(data->io->user, data->fd) && errno != ENODATA)
		return tsw_io_failed(data->path, "remove the attribute user.tileswap of");
	return tsw_sync(data, TSW_SYNC_UNMARK);
}

tsw_status tsw_mark_clear(const struct tsw_file *data, const char *journal_path)
{
	const struct tsw_file journal = {data->io, journal_path, -1};

	TRY(sync_name(&journal, TSW_SYNC_UNLINK));
	return remove_mark(data);
}

/* ---- birth ----------------------------------------------------------------------------------- */

static tsw_status write_zeros(struct tsw_journal *j)
{
	const uint64_t end = tsw_journal_bytes(&j->header);
	const size_t most = 1u << 20;
	unsigned char *zeros = calloc(1, most);
	tsw_status status = TSW_OK;

	if (!zeros)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no memory for %zu bytes", most);
	for (uint64_t at = TSW_BLOCK; status == TSW_OK && at < end;) {
		const size_t piece = end - at < most ? (size_t)(end - at) : most;

		status = tsw_write_all(&j->file, zeros, piece, at);
		j->file.io->start_writing(j->file.io->user, j->file.fd, at, piece);
		at += piece;
		j->zeros += piece;
	}
	free(zeros);
	return status;
}

/* The full size with its room on the disk: holes would let the disk fill up in the middle of the
 * run.  Where the file system promises no room, real zeros take it. */
static tsw_status take_room(struct tsw_journal *j)
{
	const struct tsw_io *io = j->file.io;

	if (!io->reserve(io->user, j->file.fd, tsw_journal_bytes(&j->header)))
		return TSW_OK;
	if (errno != ENOTSUP)
		return tsw_io_failed(j->file.path, "take room on the disk for");
	return write_zeros(j);
}

static tsw_status complete_header(struct tsw_journal *j)
{
	struct tsw_journal_header *h = &j->header;
	const struct tsw_io *io = j->file.io;
	struct tsw_file_status s;
	struct tsw_mark mark;
	int can;

	memcpy(h->magic, header_magic, sizeof h->magic);
	if (io->chance(io->user, h->nonce, sizeof h->nonce))
		return tsw_io_failed(j->file.path, "draw a random number for");
	if (io->boot(io->user, h->boot))
		return tsw_io_failed("/proc/sys/kernel/random/boot_id", "read");
	if (io->status(io->user, j->data->fd, &s))
		return tsw_io_failed(j->data->path, "stat");
	h->file_bytes = s.bytes;
	h->device = s.device;
	h->inode = s.inode;
	TRY(tsw_mark_read(j->data, &mark, &can));
	h->marked = (uint32_t)can;
	h->hash = hash_before(h, sizeof *h);
	return TSW_OK;
}

static tsw_status write_and_rename(struct tsw_journal *j, const char *temporary)
{
	const struct tsw_io *io = j->file.io;

	TRY(write_block(j, &j->header, sizeof j->header, 0));
	TRY(take_room(j));
	TRY(tsw_sync(&j->file, TSW_SYNC_BIRTH));
	if (io->rename(io->user, temporary, j->file.path))
		return tsw_io_failed(j->file.path, "give the journal its name");
	return TSW_OK;
}

tsw_status tsw_journal_create(struct tsw_journal *j)
{
	const struct tsw_io *io = j->file.io;
	char temporary[PATH_MAX + 8];
	tsw_status status;

	TRY(complete_header(j));
	snprintf(temporary, sizeof temporary, "%s.new", j->file.path);
	io->unlink(io->user, temporary); /* left by a run that was stopped here */
	j->file.fd = io->open(io->user, temporary, TSW_CREATE_JOURNAL, 0600);
	if (j->file.fd < 0)
		return tsw_io_failed(temporary, "create the journal");
	status = write_and_rename(j, temporary);
	if (status != TSW_OK) {
		io->unlink(io->user, temporary);
		return status;
	}
	return tsw_journal_name_and_mark(j);
}

tsw_status tsw_journal_name_and_mark(struct tsw_journal *j)
{
	TRY(sync_name(&j->file, TSW_SYNC_NAME));
	return set_mark(j, TSW_MARK_RUNNING, TSW_SYNC_MARK);
}

/* ---- opening --------------------------------------------------------------------------------- */

static tsw_status damaged(const struct tsw_journal *j, const char *how)
{
	return tsw_fail(
		TSW_ERR_JOURNAL,
		"%s: %s; the matrix in %s may be half transposed: restore both from a backup, "
		"or, if you know that the matrix is whole, remove the journal",
		j->file.path, how, j->data->path);
}

/* The journal, opened as `how` says, its header read; *found: there is one. */
static tsw_status open_as(struct tsw_journal *j, enum tsw_open how, int *found)
{
	const struct tsw_io *io = j->file.io;
	struct tsw_file_status s;
	int valid;

	*found = 0;
	j->file.fd = io->open(io->user, j->file.path, how, 0);
	/* A name too long for a journal has none; a run could not begin there either. */
	if (j->file.fd < 0 && (errno == ENOENT || (how == TSW_OPEN_READ && errno == ENAMETOOLONG)))
		return TSW_OK;
	if (j->file.fd < 0)
		return tsw_io_failed(j->file.path, "open the journal");
	*found = 1;
	if (io->status(io->user, j->file.fd, &s))
		return tsw_io_failed(j->file.path, "stat");
	if (!s.regular || s.bytes < 2 * TSW_BLOCK)
		return damaged(j, "not a whole journal");
	TRY(read_block(j, &j->header, sizeof j->header, 0, header_magic, NULL, &valid));
	if (!valid)
		return damaged(j, "damaged, or not a journal of this version");
	return TSW_OK;
}

tsw_status tsw_journal_open(struct tsw_journal *j, int *found)
{
	return open_as(j, TSW_OPEN_JOURNAL, found);
}

void tsw_journal_close(struct tsw_journal *j)
{
	if (j->file.fd >= 0)
		j->file.io->close(j->file.io->user, j->file.fd);
	j->file.fd = -1;
}

/* ---- records --------------------------------------------------------------------------------- */

tsw_status tsw_record_write(struct tsw_journal *j, struct tsw_record *r)
{
	memcpy(r->magic, record_magic, sizeof r->magic);
	memcpy(r->nonce, j->header.nonce, sizeof r->nonce);
	r->hash = hash_before(r, sizeof *r);
	return write_block(j, r, sizeof *r, tsw_slot_at(&j->header, r->sequence));
}

tsw_status tsw_record_read(const struct tsw_journal *j, unsigned slot, struct tsw_record *r,
			   int *valid)
{
	TRY(read_block(j, r, sizeof *r, tsw_slot_at(&j->header, slot), record_magic,
		       j->header.nonce, valid));
	*valid = *valid && r->sequence % 2 == slot && r->payload_bytes <= j->header.slot_bytes;
	return TSW_OK;
}

tsw_status tsw_slot_pristine(const struct tsw_journal *j, unsigned slot, int *pristine)
{
	const uint64_t at = tsw_slot_at(&j->header, slot),
		       end = at + TSW_BLOCK + j->header.slot_bytes;
	unsigned char block[TSW_BLOCK];

	*pristine = 1;
	for (uint64_t p = at; p < end && *pristine; p += sizeof block) {
		TRY(tsw_read_all(&j->file, block, sizeof block, p));
		for (size_t i = 0; i < sizeof block; i++)
			*pristine &= block[i] == 0;
	}
	return TSW_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

tsw_status tsw_done_read(const struct tsw_journal *j, struct tsw_done *d, int *valid)
{
	return read_block(j, d, sizeof *d, TSW_BLOCK, done_magic, j->header.nonce, valid);
}

static tsw_status leave_mark(struct tsw_journal *j)
{
	const struct tsw_io *io = j->file.io;

	if (io->truncate(io->user, j->file.fd, 2 * TSW_BLOCK))
		return tsw_io_failed(j->file.path, "truncate");
	return tsw_sync(&j->file, TSW_SYNC_UNLINK);
}

static tsw_status write_done(const struct tsw_journal *j, struct tsw_done *d, const char *magic)
{
	memcpy(d->magic, magic, sizeof d->magic);
	memcpy(d->nonce, j->header.nonce, sizeof d->nonce);
	d->hash = hash_before(d, sizeof *d);
	return write_block(j, d, sizeof *d, TSW_BLOCK);
}

void tsw_journal_note_mismatch(const struct tsw_journal *j, struct tsw_done *d)
{
	write_done(j, d, mismatch_magic);
}

tsw_status tsw_journal_finish(struct tsw_journal *j, struct tsw_done *d)
{
	const struct tsw_io *io = j->file.io;

	TRY(write_done(j, d, done_magic));
	TRY(tsw_sync(&j->file, TSW_SYNC_DONE));
	TRY(set_mark(j, d->once ? TSW_MARK_ONCE : TSW_MARK_DONE, TSW_SYNC_DONE_MARK));
	if (d->once)
		return leave_mark(j);
	if (io->unlink(io->user, j->file.path))
		return tsw_io_failed(j->file.path, "remove the journal");
	TRY(sync_name(&j->file, TSW_SYNC_UNLINK));
	return j->header.marked ? remove_mark(j->data) : TSW_OK;
}

/* ---- other readers --------------------------------------------------------------------------- */

/* *whole: there is no journal, or one that says that its run has come to the end. */
static tsw_status ask_journal(struct tsw_journal *j, int *whole)
{
	struct tsw_done done;
	int found;

	TRY(open_as(j, TSW_OPEN_READ, &found));
	*whole = !found;
	return found ? tsw_done_read(j, &done, whole) : TSW_OK;
}

/* Did the run that left the journal find, at its end, something else than it should? */
static int tells_of_mismatch(const struct tsw_file *data, const char *journal_path)
{
	struct tsw_journal j = {.file = {data->io, journal_path, -1}, .data = data};
	struct tsw_done note;
	int found, valid = 0;

	if (open_as(&j, TSW_OPEN_READ, &found) == TSW_OK && found &&
	    read_block(&j, &note, sizeof note, TSW_BLOCK, mismatch_magic, j.header.nonce, &valid))
		valid = 0;
	tsw_journal_close(&j);
	return valid;
}

tsw_status tsw_journal_check_whole(const struct tsw_file *data, const char *journal_path)
{
	struct tsw_journal j = {.file = {data->io, journal_path, -1}, .data = data};
	struct tsw_mark mark;
	int can, whole = 0;

	TRY(tsw_mark_read(data, &mark, &can));
	if (mark.state == TSW_MARK_DONE || mark.state == TSW_MARK_ONCE)
		return TSW_OK;
	if (mark.state == TSW_MARK_NONE) {
		const tsw_status status = ask_journal(&j, &whole);

		tsw_journal_close(&j);
		TRY(status);
	}
	if (whole)
		return TSW_OK;
	if (tells_of_mismatch(data, journal_path))
		return tsw_fail(
			TSW_ERR_JOURNAL,
			"%s is transposed, and was not what it should be when it was read back; "
			"the call that began it compares once more, and ends the run if all is "
			"right",
			data->path);
	return tsw_fail(
		TSW_ERR_JOURNAL,
		"%s may be half transposed: a run in it is under way, or has not come to its end "
		"and is to be resumed first (by the call that began it)",
		data->path);
}
