#include "scene.h"

#include "../support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void transpose_file(const struct tsw_grid *g, const unsigned char *from, unsigned char *to)
{
	const struct tsw_shape shape = {g->n, g->ld, g->elem_size};

	if (g->n)
		tsw_oracle_window(from + g->offset, to + g->offset, shape);
}

/* Random bytes; now and then a tile pair that is its own transpose. */
static void fill(struct scene *s, unsigned symmetric_in)
{
	const struct tsw_grid *g = &s->o.grid;

	for (uint64_t i = 0; i < s->bytes; i++)
		s->before[i] = (unsigned char)tsw_random(&s->random);
	for (uint64_t k = 0; symmetric_in && g->n && k < tsw_grid_pairs(g); k++) {
		struct tsw_region a = tsw_half(g, tsw_pair_at(k), 0),
				  b = tsw_half(g, tsw_pair_at(k), 1);

		if (tsw_random_below(&s->random, symmetric_in))
			continue;
		for (size_t r = 0; r < a.rows; r++)
			for (size_t c = a.shape == TSW_UPPER ? r + 1 : 0; c < a.cols; c++)
				memcpy(s->before + b.at + c * b.pitch + r * b.elem_size,
				       s->before + a.at + r * a.pitch + c * a.elem_size,
				       a.elem_size);
	}
	memcpy(s->after, s->before, s->bytes);
	transpose_file(g, s->before, s->after);
}

void scene_new(struct scene *s, struct tsw_grid grid, uint64_t tail, unsigned symmetric_in,
	       uint64_t seed)
{
	memset(s, 0, sizeof *s);
	s->random = seed;
	disk_new(&s->disk, seed);
	s->bytes = tsw_grid_end(&grid) + tail;
	s->before = malloc(s->bytes + 1);
	s->after = malloc(s->bytes + 1);
	if (!s->before || !s->after)
		abort();
	s->o = (struct tsw_run_options){
		.io = &s->disk.io, .path = SCENE_DATA, .journal_path = SCENE_JOURNAL, .grid = grid};
	fill(s, symmetric_in);
	disk_put(&s->disk, SCENE_DATA, s->before, s->bytes);
}

void scene_free(struct scene *s)
{
	disk_free(&s->disk);
	free(s->before);
	free(s->after);
}

struct tsw_grid scene_random_grid(uint64_t *random)
{
	struct tsw_grid g = {.n = tsw_random_below(random, 10),
			     .elem_size = 1 + tsw_random_below(random, 3),
			     .offset = tsw_random_below(random, 700)};

	if (tsw_random_below(random, 4) == 0)
		g.elem_size = 100 + tsw_random_below(random, 300);
	g.ld = g.n + (tsw_random_below(random, 2) ? tsw_random_below(random, 4) : 0);
	g.tile = 1 + tsw_random_below(random, 4);
	if (tsw_random_below(random, 8) == 0)
		g.tile = 12;
	if (g.tile > g.n)
		g.tile = g.n ? g.n : 1;
	if (tsw_random_below(random, 3) == 0)
		g.first = tsw_random_below(random, g.tile + 1);
	if (tsw_random_below(random, 2))
		g.square = tsw_random_below(random, g.tile + 1);
	return g;
}

static void add_hits(struct scene *s, const struct tsw_run_result *r)
{
	s->total.redone_both += r->redone_both;
	s->total.redone_second += r->redone_second;
	s->total.redone_alone += r->redone_alone;
	s->total.found_unborn += r->found_unborn;
	s->total.found_done += r->found_done;
	s->total.found_end += r->found_end;
}

/* One run of the engine; the file is opened first, as the caller does. */
tsw_status scene_run(struct scene *s, struct tsw_run_result *r)
{
	tsw_status status;

	memset(r, 0, sizeof *r);
	s->o.seed = tsw_random(&s->random);
	s->o.fd = s->disk.io.open(&s->disk, SCENE_DATA, TSW_OPEN_DATA, 0);
	status = s->o.fd < 0 ? tsw_fail(TSW_ERR_IO, "open") : tsw_engine_run(&s->o, r);
	add_hits(s, r);
	return status;
}

/* NULL if the file reads as the matrix after that many transposes. */
const char *scene_wrong(const struct scene *s, unsigned commands)
{
	const struct disk_file *f = disk_get(&s->disk, SCENE_DATA);

	if (!f || f->cache_bytes != s->bytes)
		return "the file has another size";
	return tsw_wrong_bytes(f->cache, commands % 2 ? s->after : s->before, s->bytes);
}

/* Nothing is left to resume, so only the report is missing. */
int scene_nothing_left(const struct scene *s)
{
	static const unsigned char none[TSW_MARK_BYTES];
	const struct disk_file *f = disk_get(&s->disk, SCENE_DATA);

	return !disk_get(&s->disk, SCENE_JOURNAL) && !memcmp(f->cache_mark, none, sizeof none);
}

/* The same command until it reports success.  NULL, or what is wrong. */
const char *scene_until_done(struct scene *s, unsigned command)
{
	static char text[512];
	struct tsw_run_result r;

	s->disk.unmarking = 0;
	for (int tries = 0; tries < 100; tries++) {
		tsw_status status;

		/* The way past the page cache depends on the memory that is free at each call. */
		s->o.block = tsw_random_below(&s->random, 3) ? s->disk.block : 0;
		s->o.early =
			tsw_random_below(&s->random, 2) * (1 + tsw_random_below(&s->random, 99));
		status = scene_run(s, &r);
		disk_revive(&s->disk);
		if (status != TSW_OK && s->disk.unmarking && scene_nothing_left(s)) {
			disk_settle(&s->disk);
			status = TSW_OK;
		}
		if (status == TSW_OK)
			return scene_wrong(s, command);
		if (status != TSW_ERR_IO && status != TSW_ERR_INTERRUPTED) {
			snprintf(text, sizeof text, "status %d: %s", status, tsw_last_error());
			return text;
		}
	}
	return "does not come to an end";
}
