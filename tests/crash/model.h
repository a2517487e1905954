/* An executable model of the file engine's crash protocol, written from the protocol and not from
 * the engine: no bytes, no threads, only sectors with values on a disk that may lose what was not
 * synced. */
#ifndef TSW_MODEL_H
#define TSW_MODEL_H

#include "../../src/file/barrier.h"

#include <stdint.h>

/* Rules of the protocol that are no barriers.  Each can be broken, and must then be missed. */
enum model_rule {
	MODEL_REWRITE_RECORDS,	/* recovery writes the valid records anew before it syncs them */
	MODEL_REWRITE_PREVIOUS, /* ... and the pair before a record that stands alone */
	MODEL_REWRITE_DONE,	/* recovery writes the done mark anew */
	MODEL_CHECK_NEXT,	/* a record vouches for the next pair's tiles */
	MODEL_CHECK_PREVIOUS,	/* ... and for the pair before as it was written */
	MODEL_SLOT_BY_SEQUENCE, /* a record's slot is its number among records, not its pair's
				   number */
	MODEL_SQUARE_BY_RECORD, /* a square on the diagonal is made anew from the record, not from
				   the file */
	MODEL_RULES
};

/* What a run of the model has to decide, at every operation: 0 is "nothing happens". */
struct model_chance {
	unsigned (*choose)(void *user, unsigned options); /* 0 .. options - 1 */
	int (*strike)(void *user, int is_sync);		  /* enum model_event */
	void *user;
};

enum model_event { MODEL_NOTHING, MODEL_KILL, MODEL_POWER_LOSS, MODEL_SYNC_FAILS };

#define MODEL_PAIRS 8

struct model_case {
	unsigned pairs;		  /* 1 .. MODEL_PAIRS */
	unsigned symmetric;	  /* bit p: the tiles of pair p are each other's transposes */
	unsigned diagonal;	  /* bit p: half A of pair p has a square that is its own partner */
	unsigned commands;	  /* transposes asked for, one after the other */
	unsigned without_barrier; /* enum tsw_barrier, or TSW_BARRIERS for none */
	unsigned without_rule;	  /* enum model_rule, or MODEL_RULES for none */
	unsigned rot;		  /* 1: a sector of the newest record decays at the first crash */
	struct model_chance chance;
};

/* How often each way of coming back was taken. */
struct model_hits {
	uint64_t births, unborn, redo_both, redo_second, done, done_without_journal;
	uint64_t kills, power_losses, failed_syncs;
};

/* Runs `commands` transposes to their end, through whatever strikes.  NULL if the matrix was right
 * after each; else what went wrong. */
const char *model_run(const struct model_case *c, struct model_hits *hits);

#endif /* TSW_MODEL_H */
