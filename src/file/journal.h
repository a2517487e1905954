/* The journal FILE.tswj and the attribute of FILE that go with it.
 *
 *     +--------+--------+---------------------------+---------------------------+
 *     | header | done   | slot 0: record, A's bytes | slot 1: record, A's bytes |
 *     +--------+--------+---------------------------+---------------------------+
 *       4 KiB    4 KiB    4 KiB + half a pair         the same
 *
 * Record number q lies in slot q mod 2.  A pair (A, B) is written so:
 *
 *     record and A's bytes to the slot   -> sync RECORD
 *     B transposed over A                -> sync HALF     (covers the last step of the pair before)
 *     A transposed over B                                 (covered by HALF of the next, or LAST)
 *
 * and a slot is overwritten only after the sync that covers its record's last step.  Coming back, a
 * record whose pair has B untouched begins again with the second line, and one whose A is already
 * B transposed with the third.  docs/FILES.md has the whole protocol; tests/crash/model.c runs it.
 */
#ifndef TSW_JOURNAL_H
#define TSW_JOURNAL_H

#include "hash.h"
#include "io.h"
#include "region.h"

#define TSW_BLOCK 4096u
#define TSW_NONCE_BYTES 16
#define TSW_NO_PAIR UINT64_MAX

/* A pair as it is, or as it is to be. */
struct tsw_pair_hash {
	uint64_t k; /* TSW_NO_PAIR: none */
	tsw_hash a, b;
};

struct tsw_journal_header {
	char magic[8];
	unsigned char nonce[TSW_NONCE_BYTES];
	char boot[TSW_BOOT_BYTES];
	uint64_t n, ld, elem_size, offset, tile,
		first_side; /* the order of the pairs is that of tilepair.h */
	uint64_t square;
	uint64_t slot_bytes;
	uint64_t file_bytes, device, inode; /* only advice: they do not decide */
	uint32_t durability, verify, marked, once;
	struct tsw_pair_hash first; /* as it is before anything is written */
	tsw_hash hash;		    /* of all before it */
};

struct tsw_record {
	char magic[8];
	unsigned char nonce[TSW_NONCE_BYTES];
	uint64_t sequence, k, payload_bytes;
	tsw_hash a, b, new_a;	       /* A and B as they were; what A becomes */
	struct tsw_pair_hash next;     /* the pair of the next record, as it is */
	struct tsw_pair_hash previous; /* the pair of the record before, as it was written */
	tsw_digest digest;	       /* of pairs 0 .. k */
	tsw_hash hash;
};

struct tsw_done {
	char magic[8];
	unsigned char nonce[TSW_NONCE_BYTES];
	uint64_t records;
	struct tsw_pair_hash last; /* as it was written */
	tsw_digest before, after;
	uint64_t once;
	tsw_hash hash;
};

enum tsw_mark_state { TSW_MARK_NONE, TSW_MARK_RUNNING, TSW_MARK_DONE, TSW_MARK_ONCE };

struct tsw_mark {
	unsigned char nonce[TSW_NONCE_BYTES];
	uint64_t state; /* enum tsw_mark_state */
};
_Static_assert(sizeof(struct tsw_mark) == TSW_MARK_BYTES, "the attribute has one size");

struct tsw_journal {
	struct tsw_file file;
	const struct tsw_file *data;
	struct tsw_journal_header header;
	uint64_t zeros; /* bytes that were written to take room */
};

/* Bytes of a slot's payload, the largest of any pair, and of the whole journal. */
uint64_t tsw_slot_bytes(const struct tsw_grid *g);
uint64_t tsw_journal_bytes(const struct tsw_journal_header *h);
uint64_t tsw_slot_at(const struct tsw_journal_header *h, uint64_t sequence);

/* Writes the journal under a temporary name at its full size, renames it, and marks the data file.
 * The header is complete but for magic, nonce, boot, marked and hash. */
tsw_status tsw_journal_create(struct tsw_journal *j);

/* Opens the journal if there is one: *found tells.  TSW_ERR_JOURNAL if it is damaged. */
tsw_status tsw_journal_open(struct tsw_journal *j, int *found);
void tsw_journal_close(struct tsw_journal *j);

/* The name on the disk, the data file marked: before the first data write of a run. */
tsw_status tsw_journal_name_and_mark(struct tsw_journal *j);

tsw_status tsw_record_write(struct tsw_journal *j, struct tsw_record *r);
/* *valid: the record is whole; its payload is not looked at. */
tsw_status tsw_record_read(const struct tsw_journal *j, unsigned slot, struct tsw_record *r,
			   int *valid);
/* *pristine: the slot is all zeros, as it was made. */
tsw_status tsw_slot_pristine(const struct tsw_journal *j, unsigned slot, int *pristine);

tsw_status tsw_done_read(const struct tsw_journal *j, struct tsw_done *d, int *valid);

/* In the place of the done mark: all pairs are written, and what was read back is not what was
 * there.  Only for those who ask what state the matrix is in: nothing is synced, nothing depends on
 * it, and where it cannot be written it is left out. */
void tsw_journal_note_mismatch(const struct tsw_journal *j, struct tsw_done *d);

/* The end: the done mark; the attribute says done; the journal goes, the attribute goes.  With
 * `once` set the journal is cut down to header and mark and stays, and so does the attribute. */
tsw_status tsw_journal_finish(struct tsw_journal *j, struct tsw_done *d);

/* The attribute of the data file.  *can: the file system has attributes.  A foreign attribute is
 * TSW_ERR_JOURNAL. */
tsw_status tsw_mark_read(const struct tsw_file *data, struct tsw_mark *mark, int *can);

/* The last step of an end that was cut short after the journal was unlinked; also forgets the mark
 * of an earlier --once. */
tsw_status tsw_mark_clear(const struct tsw_file *data, const char *journal_path);

/* For readers of the matrix: TSW_ERR_JOURNAL if a run is under way in it or was stopped in it, or
 * if that cannot be told.  The mark of an earlier --once is none. */
tsw_status tsw_journal_check_whole(const struct tsw_file *data, const char *journal_path);

#endif /* TSW_JOURNAL_H */
