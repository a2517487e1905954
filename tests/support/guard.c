#include "support.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLACK 0x5c

struct tsw_guarded tsw_guarded_new(size_t bytes, enum tsw_flush flush)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (bytes + page - 1) / page * page;
	struct tsw_guarded g = {.bytes = bytes, .map_bytes = room + 2 * page};

	g.map = mmap(NULL, g.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_msg(g.map != MAP_FAILED, "no memory for %zu guarded bytes", bytes);
	/* An emulator does not take no bytes. */
	ck_assert(!room || !mprotect(g.map + page, room, PROT_READ | PROT_WRITE));
	g.p = g.map + page + (flush == TSW_FLUSH_LEFT ? 0 : room - bytes);
	memset(g.map + page, SLACK, (size_t)(g.p - g.map) - page);
	memset(g.p + bytes, SLACK, (size_t)(g.map + page + room - (g.p + bytes)));
	return g;
}

void tsw_guarded_free(struct tsw_guarded *g)
{
	munmap(g->map, g->map_bytes);
	g->map = NULL;
}

static int spoilt(const unsigned char *begin, const unsigned char *end)
{
	for (; begin < end; begin++)
		if (*begin != SLACK)
			return 1;
	return 0;
}

const char *tsw_guarded_spoilt(const struct tsw_guarded *g)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const unsigned char *end = g->map + g->map_bytes - page;

	if (spoilt(g->map + page, g->p))
		return "bytes before the matrix changed";
	if (spoilt(g->p + g->bytes, end))
		return "bytes after the matrix changed";
	return NULL;
}
