#include "disk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw(struct disk *d, uint64_t limit)
{
	uint64_t z = d->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % limit;
}

/* ---- contents -------------------------------------------------------------------------------- */

static void make_room(struct disk_file *f, uint64_t bytes)
{
	uint64_t room = f->room ? f->room : 4096;

	while (room < bytes)
		room *= 2;
	if (room == f->room)
		return;
	f->cache = realloc(f->cache, room);
	f->disk = realloc(f->disk, room);
	if (!f->cache || !f->disk)
		abort();
	memset(f->cache + f->room, 0, room - f->room);
	memset(f->disk + f->room, 0, room - f->room);
	f->room = room;
}

static void store(unsigned char *to, uint64_t *size, uint64_t at, const void *from, uint64_t bytes)
{
	memcpy(to + at, from, bytes);
	if (*size < at + bytes)
		*size = at + bytes;
}

static void resize(unsigned char *p, uint64_t *size, uint64_t bytes)
{
	if (bytes < *size)
		memset(p + bytes, 0, *size - bytes);
	*size = bytes;
}

static struct disk_pending *add_pending(struct disk *d, int file, int kind)
{
	struct disk_pending *p = &d->pending[d->pendings];

	if (d->pendings == DISK_PENDING)
		abort();
	d->pendings++;
	memset(p, 0, sizeof *p);
	p->file = file;
	p->kind = kind;
	return p;
}

static void drop_pending(struct disk *d, unsigned i)
{
	free(d->pending[i].data);
	memmove(&d->pending[i], &d->pending[i + 1], (--d->pendings - i) * sizeof d->pending[0]);
}

/* Bytes first .. end - 1 of a pending write reach the disk. */
static void apply(struct disk *d, const struct disk_pending *p, uint64_t first, uint64_t end)
{
	struct disk_file *f = p->file < 0 ? NULL : &d->file[p->file];

	if (p->kind == DISK_NAME)
		d->disk_name[p->at] = (int)p->bytes - 1;
	else if (p->kind == DISK_MARK)
		memcpy(f->disk_mark, p->data, sizeof f->disk_mark);
	else if (p->kind == DISK_SIZE)
		resize(f->disk, &f->disk_bytes, p->bytes);
	else
		store(f->disk, &f->disk_bytes, p->at + first, p->data + first, end - first);
}

static void apply_some_sectors(struct disk *d, const struct disk_pending *p)
{
	uint64_t at = 0;

	if (p->kind != DISK_BYTES) {
		if (draw(d, 2))
			apply(d, p, 0, 0);
		return;
	}
	while (at < p->bytes) {
		uint64_t end = ((p->at + at) / d->sector + 1) * d->sector - p->at;

		if (end > p->bytes)
			end = p->bytes;
		if (draw(d, 2))
			apply(d, p, at, end);
		at = end;
	}
}

static void cache_is_disk(struct disk *d)
{
	for (int i = 0; i < DISK_FILES; i++) {
		struct disk_file *f = &d->file[i];

		if (f->room)
			memcpy(f->cache, f->disk, f->room);
		f->cache_bytes = f->disk_bytes;
		memcpy(f->cache_mark, f->disk_mark, sizeof f->cache_mark);
	}
	memcpy(d->cache_name, d->disk_name, sizeof d->cache_name);
}

void disk_lose_power(struct disk *d)
{
	for (unsigned i = 0; i < d->pendings; i++)
		apply_some_sectors(d, &d->pending[i]);
	while (d->pendings)
		drop_pending(d, d->pendings - 1);
	cache_is_disk(d);
	d->boots++;
}

void disk_settle(struct disk *d)
{
	for (unsigned i = 0; i < d->pendings; i++)
		apply(d, &d->pending[i], 0, d->pending[i].bytes);
	while (d->pendings)
		drop_pending(d, d->pendings - 1);
}

/* ---- what befalls a call --------------------------------------------------------------------- */

static enum disk_event befalls(struct disk *d, enum disk_call call)
{
	enum disk_event event;

	if (d->dead) {
		errno = EIO;
		return DISK_KILL;
	}
	d->calls++;
	event = d->strike ? d->strike(d->user, call) : DISK_NOTHING;
	if (event == DISK_POWER_LOSS)
		disk_lose_power(d);
	if (event == DISK_KILL || event == DISK_POWER_LOSS)
		d->dead = 1;
	errno = EIO;
	return event;
}

static int stopped(enum disk_event event)
{
	return event == DISK_KILL || event == DISK_POWER_LOSS || event == DISK_ERROR;
}

/* ---- names ----------------------------------------------------------------------------------- */

static int name_of(struct disk *d, const char *path)
{
	for (int i = 0; i < DISK_NAMES; i++)
		if (!strcmp(d->name[i], path))
			return i;
	for (int i = 0; i < DISK_NAMES; i++)
		if (!d->name[i][0]) {
			snprintf(d->name[i], sizeof d->name[i], "%s", path);
			return i;
		}
	abort();
}

static void set_name(struct disk *d, int name, int file)
{
	struct disk_pending *p = add_pending(d, -1, DISK_NAME);

	d->cache_name[name] = file;
	p->at = (uint64_t)name;
	p->bytes = (uint64_t)(file + 1);
}

static int is_used(const struct disk *d, int file)
{
	for (int i = 0; i < DISK_NAMES; i++)
		if (d->cache_name[i] == file || d->disk_name[i] == file)
			return 1;
	for (unsigned i = 0; i < d->pendings; i++)
		if (d->pending[i].kind == DISK_NAME && (int)d->pending[i].bytes - 1 == file)
			return 1;
	return 0;
}

/* A new inode: nothing that was written to its predecessor matters any more. */
static int new_file(struct disk *d)
{
	int file = 0;

	while (is_used(d, file))
		if (++file == DISK_FILES)
			abort();
	for (unsigned i = d->pendings; i--;)
		if (d->pending[i].file == file)
			drop_pending(d, i);
	if (d->file[file].room) {
		memset(d->file[file].cache, 0, d->file[file].room);
		memset(d->file[file].disk, 0, d->file[file].room);
	}
	d->file[file].cache_bytes = d->file[file].disk_bytes = 0;
	memset(d->file[file].cache_mark, 0, TSW_MARK_BYTES);
	memset(d->file[file].disk_mark, 0, TSW_MARK_BYTES);
	return file;
}

/* ---- past the page cache --------------------------------------------------------------------- */

/* Added to the number of a file that was opened so.  It may be less durable than it seems there,
 * too: until a sync has covered it, what was written is in the disk's own cache. */
#define PAST DISK_FILES

static int file_of(int fd)
{
	return fd < PAST ? fd : fd - PAST;
}

static size_t grain_of(const struct disk *d)
{
	return d->grain ? d->grain : d->block;
}

/* Only whole blocks go that way, from and to whole blocks of memory. */
static int goes(struct disk *d, int fd, const void *memory, size_t bytes, uint64_t at)
{
	if (fd < PAST)
		return 1;
	d->past += bytes;
	errno = EINVAL;
	return ((uintptr_t)memory | bytes | at) % grain_of(d) == 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int sim_open(void *user, const char *path, enum tsw_open how, unsigned mode)
{
	struct disk *d = user;
	int name = name_of(d, path);

	(void)mode;
	if (stopped(befalls(d, DISK_OPEN)))
		return -1;
	if (how == TSW_CREATE_JOURNAL || how == TSW_CREATE_OUT) {
		if (d->cache_name[name] >= 0) {
			errno = EEXIST;
			return -1;
		}
		set_name(d, name, new_file(d));
	}
	if (how == TSW_OPEN_DIRECT && !d->block) {
		errno = ENOTSUP;
		return -1;
	}
	errno = ENOENT;
	return d->cache_name[name] +
	       (how == TSW_OPEN_DIRECT && d->cache_name[name] >= 0 ? PAST : 0);
}

static void sim_close(void *user, int fd)
{
	(void)user;
	(void)fd;
}

static size_t shortened(struct disk *d, enum disk_event event, size_t bytes, int fd)
{
	const size_t unit = fd < PAST ? 1 : grain_of(d), most = bytes / unit;

	return event == DISK_SHORT && most > 1 ? (1 + (size_t)draw(d, most - 1)) * unit : bytes;
}

static int64_t sim_read(void *user, int fd, void *to, size_t bytes, uint64_t at)
{
	struct disk *d = user;
	struct disk_file *f = &d->file[file_of(fd)];
	enum disk_event event = befalls(d, DISK_READ);

	if (stopped(event) || !goes(d, fd, to, bytes, at))
		return -1;
	if (at >= f->cache_bytes)
		return 0;
	if (bytes > f->cache_bytes - at)
		bytes = f->cache_bytes - at;
	bytes = shortened(d, event, bytes, fd);
	memcpy(to, f->cache + at, bytes);
	return (int64_t)bytes;
}

static void write_to_cache(struct disk *d, int fd, const void *from, size_t bytes, uint64_t at)
{
	struct disk_file *f = &d->file[fd];
	struct disk_pending *p = add_pending(d, fd, DISK_BYTES);

	make_room(f, at + bytes);
	store(f->cache, &f->cache_bytes, at, from, bytes);
	p->at = at;
	p->bytes = bytes;
	p->data = malloc(bytes);
	if (!p->data)
		abort();
	memcpy(p->data, from, bytes);
}

static int is_full(const struct disk *d, int fd, uint64_t end)
{
	uint64_t used = 0;

	for (int i = 0; i < DISK_FILES; i++)
		if (is_used(d, i))
			used += d->file[i].cache_bytes;
	return d->capacity && end > d->file[fd].cache_bytes &&
	       used + end - d->file[fd].cache_bytes > d->capacity;
}

static int64_t sim_write(void *user, int fd, const void *from, size_t bytes, uint64_t at)
{
	struct disk *d = user;
	enum disk_event event = befalls(d, DISK_WRITE);

	/* A kill may come in the middle of a write. */
	if (event == DISK_KILL && d->dead == 1 && bytes) {
		d->dead = 2;
		bytes = (size_t)draw(d, bytes + 1);
		if (bytes)
			write_to_cache(d, file_of(fd), from, bytes, at);
		errno = EIO;
	}
	if (stopped(event) || !goes(d, fd, from, bytes, at))
		return -1;
	if (is_full(d, file_of(fd), at + bytes)) {
		errno = ENOSPC;
		return -1;
	}
	bytes = shortened(d, event, bytes, fd);
	write_to_cache(d, file_of(fd), from, bytes, at);
	return (int64_t)bytes;
}

static int overlap(const struct disk_pending *p, const struct disk_pending *q)
{
	if (p->file != q->file || p->kind != q->kind)
		return 0;
	if (p->kind == DISK_NAME)
		return p->at == q->at;
	return p->kind != DISK_BYTES || (p->at < q->at + q->bytes && q->at < p->at + p->bytes);
}

/* A lost write whose place has been written since is past. */
static unsigned forget_lost(struct disk *d, unsigned i)
{
	for (unsigned k = i; k--;)
		if (d->pending[k].lost && overlap(&d->pending[k], &d->pending[i])) {
			drop_pending(d, k);
			i--;
		}
	return i;
}

/* Everything of the file (-1: the directory) that waits is on the disk, or lost. */
static void sync_file(struct disk *d, int file, int fails)
{
	for (unsigned i = 0; i < d->pendings; i++) {
		struct disk_pending *p = &d->pending[i];

		if (p->file != file || p->lost)
			continue;
		p->lost = fails;
		if (fails)
			continue;
		apply(d, p, 0, p->bytes);
		i = forget_lost(d, i);
		drop_pending(d, i--);
	}
}

static int sim_sync(void *user, int fd, enum tsw_barrier why)
{
	struct disk *d = user;
	enum disk_event event;

	if (d->without == (unsigned)why)
		return d->dead ? -1 : 0;
	event = befalls(d, DISK_SYNC);
	if (stopped(event))
		return -1;
	d->syncs++;
	sync_file(d, fd, event == DISK_SYNC_FAILS);
	errno = EIO;
	return event == DISK_SYNC_FAILS ? -1 : 0;
}

static int sim_sync_name(void *user, const char *path, enum tsw_barrier why)
{
	struct disk *d = user;

	(void)path;
	if (d->without == (unsigned)why)
		return d->dead ? -1 : 0;
	if (stopped(befalls(d, DISK_SYNC_NAME)))
		return -1;
	sync_file(d, -1, 0);
	return 0;
}

static size_t sim_grain(void *user, int fd)
{
	const struct disk *d = user;

	return fd < PAST ? 0 : grain_of(d);
}

static int sim_status(void *user, int fd, struct tsw_file_status *status)
{
	struct disk *d = user;

	if (stopped(befalls(d, DISK_OTHER)))
		return -1;
	*status = (struct tsw_file_status){.bytes = d->file[file_of(fd)].cache_bytes,
					   .inode = (uint64_t)file_of(fd),
					   .regular = 1};
	return 0;
}

static void set_size(struct disk *d, int fd, uint64_t bytes)
{
	make_room(&d->file[fd], bytes);
	resize(d->file[fd].cache, &d->file[fd].cache_bytes, bytes);
	add_pending(d, fd, DISK_SIZE)->bytes = bytes;
}

static int sim_truncate(void *user, int fd, uint64_t bytes)
{
	struct disk *d = user;

	if (stopped(befalls(d, DISK_OTHER)))
		return -1;
	set_size(d, fd, bytes);
	return 0;
}

static int sim_reserve(void *user, int fd, uint64_t bytes)
{
	struct disk *d = user;

	if (stopped(befalls(d, DISK_OTHER)))
		return -1;
	errno = d->no_room ? ENOTSUP : ENOSPC;
	if (d->no_room || is_full(d, fd, bytes))
		return -1;
	if (bytes > d->file[fd].cache_bytes)
		set_size(d, fd, bytes);
	return 0;
}

static int sim_rename(void *user, const char *from, const char *to)
{
	struct disk *d = user;
	int source = name_of(d, from), target = name_of(d, to);
	int file = d->cache_name[source];

	if (stopped(befalls(d, DISK_OTHER)))
		return -1;
	set_name(d, target, file);
	set_name(d, source, -1);
	return 0;
}

static int sim_unlink(void *user, const char *path)
{
	struct disk *d = user;
	int name = name_of(d, path);

	if (stopped(befalls(d, DISK_OTHER)))
		return -1;
	errno = ENOENT;
	if (d->cache_name[name] < 0)
		return -1;
	set_name(d, name, -1);
	return 0;
}

static int sim_lock(void *user, int fd, int shared)
{
	(void)fd, (void)shared;
	return stopped(befalls(user, DISK_OTHER)) ? -1 : 0;
}

static void sim_unlock(void *user, int fd)
{
	(void)user;
	(void)fd;
}

static int sim_get_mark(void *user, int fd, void *mark)
{
	static const unsigned char none[TSW_MARK_BYTES];
	struct disk *d = user;

	if (stopped(befalls(d, DISK_OTHER)))
		return -1;
	errno = d->no_marks ? ENOTSUP : ENODATA;
	if (d->no_marks || !memcmp(d->file[fd].cache_mark, none, sizeof none))
		return -1;
	memcpy(mark, d->file[fd].cache_mark, TSW_MARK_BYTES);
	return 0;
}

static void change_mark(struct disk *d, int fd, const void *mark)
{
	struct disk_pending *p = add_pending(d, fd, DISK_MARK);

	p->data = malloc(TSW_MARK_BYTES);
	if (!p->data)
		abort();
	memcpy(p->data, mark, TSW_MARK_BYTES);
	memcpy(d->file[fd].cache_mark, mark, TSW_MARK_BYTES);
}

static int sim_set_mark(void *user, int fd, const void *mark)
{
	struct disk *d = user;

	if (stopped(befalls(d, DISK_OTHER)))
		return -1;
	change_mark(d, fd, mark);
	return 0;
}

static int sim_remove_mark(void *user, int fd)
{
	static const unsigned char none[TSW_MARK_BYTES];
	struct disk *d = user;

	if (stopped(befalls(d, DISK_OTHER)))
		return -1;
	d->unmarking = 1;
	change_mark(d, fd, none);
	return 0;
}

static int sim_chance(void *user, void *to, size_t bytes)
{
	struct disk *d = user;
	unsigned char *p = to;

	for (size_t i = 0; i < bytes; i++)
		p[i] = (unsigned char)draw(d, 256);
	return 0;
}

static int sim_boot(void *user, char id[TSW_BOOT_BYTES])
{
	struct disk *d = user;

	memset(id, 0, TSW_BOOT_BYTES);
	snprintf(id, TSW_BOOT_BYTES, "boot %u", d->boots);
	return 0;
}

static void sim_start_writing(void *user, int fd, uint64_t at, uint64_t bytes)
{
	(void)user;
	(void)fd;
	(void)at;
	(void)bytes;
}

static void sim_forget(void *user, int fd, uint64_t at, uint64_t bytes, int wait)
{
	(void)wait;
	sim_start_writing(user, fd, at, bytes);
}

/* ---- from outside ---------------------------------------------------------------------------- */

void disk_new(struct disk *d, uint64_t seed)
{
	memset(d, 0, sizeof *d);
	d->io = (struct tsw_io){.user = d,
				.open = sim_open,
				.close = sim_close,
				.read = sim_read,
				.write = sim_write,
				.sync = sim_sync,
				.sync_name = sim_sync_name,
				.status = sim_status,
				.grain = sim_grain,
				.truncate = sim_truncate,
				.reserve = sim_reserve,
				.rename = sim_rename,
				.rename_new = sim_rename,
				.unlink = sim_unlink,
				.lock = sim_lock,
				.unlock = sim_unlock,
				.get_mark = sim_get_mark,
				.set_mark = sim_set_mark,
				.remove_mark = sim_remove_mark,
				.chance = sim_chance,
				.boot = sim_boot,
				.start_writing = sim_start_writing,
				.forget = sim_forget};
	for (int i = 0; i < DISK_NAMES; i++)
		d->cache_name[i] = d->disk_name[i] = -1;
	d->random = seed;
	d->sector = 512;
	d->without = TSW_BARRIERS;
}

void disk_free(struct disk *d)
{
	while (d->pendings)
		drop_pending(d, d->pendings - 1);
	for (int i = 0; i < DISK_FILES; i++) {
		free(d->file[i].cache);
		free(d->file[i].disk);
	}
}

void disk_put(struct disk *d, const char *path, const void *contents, uint64_t bytes)
{
	int name = name_of(d, path), file = new_file(d);
	struct disk_file *f = &d->file[file];

	make_room(f, bytes);
	store(f->cache, &f->cache_bytes, 0, contents, bytes);
	store(f->disk, &f->disk_bytes, 0, contents, bytes);
	d->cache_name[name] = d->disk_name[name] = file;
}

const struct disk_file *disk_get(const struct disk *d, const char *path)
{
	for (int i = 0; i < DISK_NAMES; i++)
		if (!strcmp(d->name[i], path) && d->cache_name[i] >= 0)
			return &d->file[d->cache_name[i]];
	return NULL;
}

void disk_revive(struct disk *d)
{
	d->dead = 0;
}
