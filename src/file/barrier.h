/* The barriers of the crash protocol (journal.h has the protocol): every place where something must
 * have reached the disk before something else is begun.  A sync names the barrier it stands for, so
 * that a simulated disk can leave out one of them, and a test can show that each is needed. */
#ifndef TSW_BARRIER_H
#define TSW_BARRIER_H

enum tsw_barrier {
	TSW_SYNC_BIRTH,	 /* the journal's first contents, before it gets its name */
	TSW_SYNC_NAME,	 /* the journal's name, before the first data write of a run */
	TSW_SYNC_MARK,	 /* the data file's attribute, before the first data write of a run */
	TSW_SYNC_RECORD, /* a record, before its pair's first half is written */
	TSW_SYNC_HALF,	 /* a first half, before the second half; also the second half of the pair
			  * before, whose record may then be overwritten */
	TSW_SYNC_LAST,	 /* the last second half, before the done mark */
	TSW_SYNC_RESUME, /* the records found, written anew, before recovery's first data write */
	TSW_SYNC_REDO_HALF, /* as TSW_SYNC_HALF, in recovery */
	TSW_SYNC_REDO_END,  /* what recovery wrote, before the first new record or the done mark */
	TSW_SYNC_DONE,	    /* the done mark in the journal, before the attribute says done */
	TSW_SYNC_DONE_MARK, /* the attribute that says done, before the journal is unlinked */
	TSW_SYNC_UNLINK,    /* the unlinked name, before the attribute is removed */
	TSW_SYNC_UNMARK,    /* the removed attribute, before success is reported */
	TSW_BARRIERS
};

#endif /* TSW_BARRIER_H */
