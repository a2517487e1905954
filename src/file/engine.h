/* The file engine: transposes a matrix in a file where it lies, pair after pair, safe to stop at
 * any moment. */
#ifndef TSW_ENGINE_H
#define TSW_ENGINE_H

#include "journal.h"
#include "work.h"

#define TSW_WORKS 3 /* pairs in memory: one read, one turned, one written */

struct tsw_run_result {
	struct tsw_traffic traffic;
	uint64_t pairs_written, resumed_from; /* resumed_from: TSW_NO_PAIR if it was not */
	uint64_t tile;			      /* side, in elements */
	uint64_t pairs;			      /* of the whole matrix */
	int already_done; /* the run before, or one with `once`, had done it all */
	tsw_digest before, after;
	/* How often each way of coming back was taken. */
	unsigned redone_both, redone_second, redone_alone, found_unborn, found_done, found_end;
};

struct tsw_run_options {
	const struct tsw_io *io;
	const char *path; /* of the data file, links followed */
	const char *journal_path;
	int fd;		       /* open, locked */
	struct tsw_grid grid;  /* tile: 0, or wanted; a journal's own wins */
	uint64_t memory_bytes; /* 0: as much as it takes */
	int memory_given;      /* a journal that needs more is refused */
	unsigned io_threads;   /* twice as many past the page cache; 0: jobs in an order drawn from
				* seed */
	uint64_t seed;
	int nthreads, process_only, verify, once, swap_digest, forget;
	int cached;	/* the file is in the page cache: no more memory than serves there */
	uint64_t early; /* pages stay in the cache, and nothing waits for them: the disk hears of
			 * them each time so many bytes have been written; 0: at once */
	size_t block;	/* runs of whole blocks go past the page cache where they can; 0: none */
	int (*progress)(void *user, uint64_t done_bytes, uint64_t total_bytes);
	void *user;
};

/* The side of the tiles that fit into so many bytes, no larger than serves; 0 if not even single
 * elements fit. */
uint64_t tsw_choose_tile(const struct tsw_grid *grid, uint64_t memory_bytes);

/* Sets tile, first and square.  grain: of transfers past the page cache; 0: there are none. */
void tsw_choose_cuts(struct tsw_grid *grid, uint64_t memory_bytes, size_t grain);

/* Transposes, or goes on where an earlier run was stopped.  TSW_ERR_INTERRUPTED, _IO, _NO_MEMORY:
 * the same call resumes.  TSW_ERR_JOURNAL: refused, nothing was changed.  TSW_ERR_MISMATCH: done,
 * and what was read back is not what should be there. */
tsw_status tsw_engine_run(const struct tsw_run_options *o, struct tsw_run_result *result);

/* Writes the transposed matrix to a new file, which gets its name when it is whole; the rest of the
 * file is copied.  A name that is taken needs `force`. */
tsw_status tsw_stream_run(const struct tsw_run_options *o, const char *out_path, int force,
			  struct tsw_run_result *result);

/* ---- shared by engine.c, recover.c and stream.c
 * -------------------------------------------------------- */

struct tsw_engine {
	const struct tsw_run_options *o;
	struct tsw_run_result *result;
	struct tsw_shop shop;
	struct tsw_journal journal;
	struct tsw_work work[TSW_WORKS];
	struct tsw_work *idle[TSW_WORKS], *queue[TSW_WORKS]; /* free; being read, in order */
	unsigned idles, queued;
	uint64_t ahead, pairs;	       /* the next pair to read; all */
	uint64_t sequence;	       /* of the next record */
	uint64_t settled;	       /* records below it may be overwritten */
	struct tsw_pair_hash previous; /* the last pair written, as it was written */
	tsw_digest digest;	       /* of the pairs taken so far */
	uint64_t done_bytes;
	struct tsw_job early;	/* begins to write what the page cache has */
	uint64_t written_since; /* bytes since that was last begun */
};

/* A sync that a run of durability `process` does without. */
tsw_status tsw_engine_sync(struct tsw_engine *e, const struct tsw_file *f, enum tsw_barrier why);

/* The pairs that are being read: as many as there is memory for, in order. */
void tsw_engine_read_ahead(struct tsw_engine *e);
struct tsw_work *tsw_engine_take(struct tsw_engine *e);
void tsw_engine_release(struct tsw_engine *e, struct tsw_work *w);

/* Tells the caller that the pairs before `pairs_done` are done: TSW_ERR_INTERRUPTED if it wants to
 * stop, without a detail. */
tsw_status tsw_engine_report(struct tsw_engine *e, uint64_t pairs_done);

/* Reads everything once more and compares the digests. */
tsw_status tsw_engine_verify(struct tsw_engine *e);

tsw_status tsw_engine_choose_tile(struct tsw_engine *e);
void tsw_engine_tear_down(struct tsw_engine *e);

/* Threads and memory, for the grid that is known by now. */
tsw_status tsw_engine_set_up(struct tsw_engine *e);

/* A journal was found: does it belong to the file and to the run that is asked for?  *left: it is
 * not done.  With an end found it is brought to its end; the mark of an earlier run with `once` is
 * cleared away for a run without, and the journal is closed then. */
tsw_status tsw_journal_judge(struct tsw_engine *e, int *left);

/* No journal was found: what does the file's attribute say? */
tsw_status tsw_mark_judge(struct tsw_engine *e, int *left);

/* Puts the matrix right by the journal's records.  Leaves sequence, settled, previous, digest and
 * ahead where the run goes on. */
tsw_status tsw_recover(struct tsw_engine *e);

#endif /* TSW_ENGINE_H */
