/* Every load and store of a kernel, looked at.
 *
 * Kernels compiled with -fsanitize=thread announce each access by calling __tsan_read4() and its
 * like.  Linked without ThreadSanitizer's own run time these calls come here, where we know what it
 * cannot: which CUDA thread runs, which barriers its block has passed, and which bytes the launch
 * may touch.  A fault is thus found in any order of threads, and before it is committed:
 *
 *   - two threads touch a byte, one of them writing, with no barrier between them (threads of
 *     different blocks: ever);
 *   - a byte of shared memory is read that this block has not written;
 *   - an access lies outside of the memory the launch was given, of the window that may be written,
 *     of the shared arrays; or it is misaligned, which is a fault on a GPU.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define WARP 32
#define MANY UINT16_MAX	     /* threads of more than one warp */
#define MANY_OF_WARP 0x8000u /* or-ed to the number of a warp: several of its threads */
#define MANY_BLOCKS UINT32_MAX

/* Who touched a byte last.  `run` tells whether that was in this launch (global memory) or in this
 * run of this block (shared memory); otherwise the byte is untouched. */
struct mark {
	uint32_t run, block, epoch;
	uint16_t thread, warp_epoch;
};

struct shadow {
	struct mark wrote, read;
};

struct range {
	const char *base;
	size_t bytes, row_bytes, pitch_bytes;
	struct shadow *shadow;
};

#define MAX_RANGES 64

static struct range ranges[MAX_RANGES];
static size_t range_count;
static struct range shared_range, dynamic_range;

#if defined(__SANITIZE_THREAD__)
#define TRACE 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TRACE 0
#endif
#endif
#ifndef TRACE
#define TRACE 1
#endif

static int traced;

int simt_traced(void)
{
	return traced;
}

void simt_allow(const void *base, size_t bytes, size_t row_bytes, size_t pitch_bytes)
{
	if (!traced || bytes == 0)
		return;
	if (range_count == MAX_RANGES)
		abort();
	ranges[range_count] = (struct range){base, bytes, row_bytes, pitch_bytes,
					     calloc(bytes, sizeof(struct shadow))};
	if (!ranges[range_count++].shadow)
		abort();
}

void simt_allow_nothing(void)
{
	while (range_count)
		free(ranges[--range_count].shadow);
}

/* ---- races ----------------------------------------------------------------------------------- */

/* Does a barrier stand between the access that left `m` and this one, or was it the thread's own?
 */
static int ordered(const struct mark *m)
{
	unsigned warp = simt_now.thread / WARP;

	if (m->block != simt_now.block)
		return 0;
	if (m->epoch != simt_now.epoch || m->thread == simt_now.thread)
		return 1;
	if (m->thread == MANY)
		return 0;
	if (m->thread & MANY_OF_WARP ? (m->thread ^ MANY_OF_WARP) == warp
				     : m->thread / WARP == warp)
		return m->warp_epoch != (uint16_t)simt_now.warp_epoch;
	return 0;
}

static struct mark mine(uint32_t this_run)
{
	return (struct mark){this_run, simt_now.block, simt_now.epoch, (uint16_t)simt_now.thread,
			     (uint16_t)simt_now.warp_epoch};
}

/* Adds this thread to the readers of a byte. */
static void add_reader(struct mark *m, uint32_t this_run)
{
	struct mark me = mine(this_run);
	unsigned warp = simt_now.thread / WARP, other;

	if (m->run == this_run && m->block != simt_now.block) {
		m->block = MANY_BLOCKS;
		return;
	}
	if (m->run == this_run && !ordered(m)) {
		other = m->thread & MANY_OF_WARP ? m->thread ^ MANY_OF_WARP : m->thread / WARP;
		me.thread =
			m->thread != MANY && other == warp ? (uint16_t)(MANY_OF_WARP | warp) : MANY;
	}
	*m = me;
}

static void touch(struct shadow *s, uint32_t this_run, int writes, const char *what, size_t offset)
{
	if (s->wrote.run == this_run && !ordered(&s->wrote))
		simt_fail("%s byte %zu of %s, which thread %u of block %u wrote with no barrier "
			  "between",
			  writes ? "writes" : "reads", offset, what, s->wrote.thread,
			  s->wrote.block);
	if (!writes) {
		add_reader(&s->read, this_run);
		return;
	}
	if (s->read.run == this_run && !ordered(&s->read))
		simt_fail(
			"writes byte %zu of %s, which another thread reads with no barrier between",
			offset, what);
	s->wrote = mine(this_run);
}

/* ---- places ---------------------------------------------------------------------------------- */

static int inside(const struct range *r, const char *p, size_t size)
{
	return p >= r->base && p < r->base + r->bytes && size <= (size_t)(r->base + r->bytes - p);
}

static void touch_shared(struct range *r, const char *p, size_t size, int writes, const char *name)
{
	for (size_t b = 0; b < size; b++) {
		struct shadow *s = &r->shadow[p + b - r->base];

		if (!writes && s->wrote.run != simt_now.block_run)
			simt_fail("reads byte %zu of %s, which this block has not written",
				  (size_t)(p + b - r->base), name);
		touch(s, simt_now.block_run, writes, name, (size_t)(p + b - r->base));
	}
}

static void in_shared(const char *p, size_t size, int writes)
{
	size_t count;
	char *begin, *end;
	const char *why;
	const struct simt_array *a = simt_shared_arrays(&count, &begin, &end, &why);

	for (size_t i = 0; i < count; i++) {
		struct range r = {a[i].base, a[i].bytes, 0, 0,
				  shared_range.shadow + (a[i].base - shared_range.base)};

		if (inside(&r, p, size)) {
			touch_shared(&r, p, size, writes, a[i].name);
			return;
		}
	}
	simt_fail("%s %zu bytes outside of every shared array", writes ? "stores" : "loads", size);
}

static void in_global(struct range *r, const char *p, size_t size, int writes)
{
	size_t offset = (size_t)(p - r->base);

	if (writes && r->pitch_bytes && offset % r->pitch_bytes + size > r->row_bytes)
		simt_fail("stores %zu bytes at byte %zu, outside of the window (%zu of every %zu "
			  "bytes)",
			  size, offset, r->row_bytes, r->pitch_bytes);
	for (size_t b = 0; b < size; b++)
		touch(&r->shadow[offset + b], simt_now.launch, writes, "global memory", offset + b);
}

/* Distance from the nearest memory that was given, for the message. */
static long nearest(const char *p)
{
	long best = 0;

	for (size_t i = 0; i < range_count; i++) {
		long d = p < ranges[i].base ? (long)(p - ranges[i].base)
					    : (long)(p - (ranges[i].base + ranges[i].bytes)) + 1;

		if (best == 0 || labs(d) < labs(best))
			best = d;
	}
	return best;
}

static void find_shared_range(void)
{
	size_t count;
	char *begin, *end;
	const char *why;

	simt_shared_arrays(&count, &begin, &end, &why);
	shared_range = (struct range){.base = begin, .bytes = (size_t)(end - begin)};
	shared_range.shadow = calloc(shared_range.bytes + 1, sizeof(struct shadow));
	if (!shared_range.shadow)
		abort();
}

static void in_dynamic(const char *p, size_t size, int writes)
{
	static size_t room;

	if (room < simt_dynamic_bytes) {
		free(dynamic_range.shadow);
		room = simt_dynamic_bytes;
		dynamic_range.shadow = calloc(room, sizeof(struct shadow));
		if (!dynamic_range.shadow)
			abort();
	}
	dynamic_range.base = simt_dynamic_base;
	dynamic_range.bytes = simt_dynamic_bytes;
	touch_shared(&dynamic_range, p, size, writes, "dynamic shared memory");
}

extern const char __executable_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* `aligned`: the type that the kernel's text names is aligned to its size. */
static void access(const void *address, size_t size, int writes, int aligned)
{
	const char *p = address;

	if (!simt_now.running)
		return;
	if (p >= simt_now.stack && p < simt_now.stack + simt_now.stack_bytes)
		return;
	if (aligned && (uintptr_t)p % size != 0)
		simt_fail("accesses %zu bytes at a misaligned address, %p", size, address);
	if (!shared_range.shadow)
		find_shared_range();
	if (inside(&shared_range, p, 1)) {
		in_shared(p, size, writes);
		return;
	}
	if (inside(&(struct range){.base = simt_dynamic_base, .bytes = simt_dynamic_bytes}, p,
		   size)) {
		in_dynamic(p, size, writes);
		return;
	}
	for (size_t i = 0; i < range_count; i++) {
		if (inside(&ranges[i], p, size)) {
			in_global(&ranges[i], p, size, writes);
			return;
		}
	}
	if (!writes && p >= __executable_start && p < _end)
		return; /* a table of constants */
	if (range_count)
		simt_fail("%s %zu bytes outside of the memory it was given, %ld bytes away",
			  writes ? "stores" : "loads", size, nearest(p));
}

/* Atomics race with nothing that matters here; only their place is looked at. */
void simt_trace_atomic(const void *p, size_t size)
{
	int given = range_count == 0 || !traced;

	for (size_t i = 0; i < range_count; i++)
		given |= inside(&ranges[i], p, size);
	if (shared_range.shadow && inside(&shared_range, p, size))
		given = 1;
	if (!given)
		simt_fail("atomic operation outside of the memory it was given, %ld bytes away",
			  nearest(p));
	if ((uintptr_t)p % size)
		simt_fail("atomic operation at a misaligned address, %p", p);
}

void simt_trace_copy(const void *shared, size_t stored, const void *global, size_t loaded)
{
	if (traced && loaded)
		access(global, loaded, 0, 0);
	if (traced && stored)
		access(shared, stored, 1, 0);
}

/* A vector may begin up to 15 bytes before the memory: no allocation begins inside of one.  It may
 * not end after it: one may end there. */
void simt_reads(const void *address, size_t bytes)
{
	const char *p = address;
	int given = range_count == 0;

	if ((uintptr_t)p % bytes)
		simt_fail("reads %zu bytes at a misaligned address, %p", bytes, address);
	for (size_t i = 0; i < range_count; i++)
		given |=
			p + bytes > ranges[i].base && p + bytes <= ranges[i].base + ranges[i].bytes;
	if (!given)
		simt_fail("reads %zu bytes, not all of the memory it was given, %ld bytes away",
			  bytes, nearest(p + bytes - 1));
}

/* ---- what the compiler calls ----------------------------------------------------------------- */

#if TRACE

/* Declared by the compiler, not by any header. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

void __tsan_init(void)
{
	traced = 1;
}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

/* The unaligned ones are accesses of narrow types that the compiler has joined. */
#define ACCESS(bytes)                                                                              \
	void __tsan_read##bytes(void *p)                                                           \
	{                                                                                          \
		access(p, bytes, 0, 1);                                                            \
	}                                                                                          \
	void __tsan_write##bytes(void *p)                                                          \
	{                                                                                          \
		access(p, bytes, 1, 1);                                                            \
	}                                                                                          \
	void __tsan_unaligned_read##bytes(void *p)                                                 \
	{                                                                                          \
		access(p, bytes, 0, 0);                                                            \
	}                                                                                          \
	void __tsan_unaligned_write##bytes(void *p)                                                \
	{                                                                                          \
		access(p, bytes, 1, 0);                                                            \
	}

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void *p, size_t size)
{
	access(p, size, 0, 0);
}

void __tsan_write_range(void *p, size_t size)
{
	access(p, size, 1, 0);
}

#endif
