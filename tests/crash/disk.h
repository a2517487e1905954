/* A simulated disk behind the file engine's I/O table.
 *
 * What is written lies in the page cache until a sync covers it.  A power loss applies or drops
 * every sector of every write that no sync has covered, each by itself; a kill keeps the cache and
 * may cut a write short.  A sync that fails leaves the cache as it is and marks it clean: no later
 * sync writes it.  Names and attributes are lost and kept in the same way. */
#ifndef TSW_DISK_H
#define TSW_DISK_H

#include "../../src/file/io.h"

#include <stdint.h>

enum disk_event {
	DISK_NOTHING,
	DISK_KILL,
	DISK_POWER_LOSS,
	DISK_SYNC_FAILS,
	DISK_ERROR,
	DISK_SHORT
};

/* What is being called. */
enum disk_call { DISK_OPEN, DISK_READ, DISK_WRITE, DISK_SYNC, DISK_SYNC_NAME, DISK_OTHER };

#define DISK_FILES 12
#define DISK_NAMES 4
#define DISK_PENDING 8192

struct disk_file {
	unsigned char *cache, *disk; /* `room` bytes each, zeros past their ends */
	uint64_t cache_bytes, disk_bytes, room;
	unsigned char cache_mark[TSW_MARK_BYTES], disk_mark[TSW_MARK_BYTES]; /* zeros: none */
};

struct disk_pending {
	int file; /* or -1: a name */
	int lost;
	enum { DISK_BYTES, DISK_MARK, DISK_SIZE, DISK_NAME } kind;
	uint64_t at, bytes; /* DISK_NAME: which name, which file + 1 */
	unsigned char *data;
};

struct disk {
	struct tsw_io io;
	struct disk_file file[DISK_FILES];
	char name[DISK_NAMES][64];
	int cache_name[DISK_NAMES], disk_name[DISK_NAMES]; /* file, or -1 */
	struct disk_pending pending[DISK_PENDING];
	unsigned pendings;
	size_t sector;
	size_t block;	   /* transfers past the page cache are whole ones; 0: there are none */
	size_t grain;	   /* not 0: of these, not of blocks */
	int dead;	   /* killed, or without power: every call fails */
	int no_marks;	   /* a file system without attributes */
	int no_room;	   /* one that promises no room */
	int unmarking;	   /* the attribute has been removed in this command */
	uint64_t capacity; /* 0: endless; else what the files may take together */
	unsigned without;  /* a barrier that does nothing */
	unsigned boots;
	uint64_t random, calls, syncs, past; /* past: bytes moved past the page cache */
	enum disk_event (*strike)(void *user, enum disk_call call);
	void *user;
};

void disk_new(struct disk *d, uint64_t seed);
void disk_free(struct disk *d);

/* A file that lies on the disk. */
void disk_put(struct disk *d, const char *path, const void *contents, uint64_t bytes);
/* What a reader sees; NULL if there is none. */
const struct disk_file *disk_get(const struct disk *d, const char *path);

void disk_lose_power(struct disk *d);
/* Everything that waits to be written has been, as it happens when time passes. */
void disk_settle(struct disk *d);
/* The next command begins: calls work again. */
void disk_revive(struct disk *d);

#endif /* TSW_DISK_H */
