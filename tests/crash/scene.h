/* A matrix on the simulated disk, and the engine run on it. */
#ifndef TSW_SCENE_H
#define TSW_SCENE_H

#include "../../src/file/engine.h"
#include "disk.h"

#define SCENE_DATA "m"
#define SCENE_JOURNAL "m.tswj"

struct scene {
	struct disk disk;
	struct tsw_run_options o;
	struct tsw_run_result total;   /* of all runs, the ways of coming back */
	unsigned char *before, *after; /* the whole file, before and after a transpose */
	uint64_t bytes;
	uint64_t random;
};

/* `tail` bytes behind the matrix; every `symmetric_in`-th pair is its own transpose (0: none). */
void scene_new(struct scene *s, struct tsw_grid grid, uint64_t tail, unsigned symmetric_in,
	       uint64_t seed);
void scene_free(struct scene *s);

/* Small, odd in every way. */
struct tsw_grid scene_random_grid(uint64_t *random);

/* One run of the engine. */
tsw_status scene_run(struct scene *s, struct tsw_run_result *r);

/* NULL if the file reads as the matrix after that many transposes. */
const char *scene_wrong(const struct scene *s, unsigned commands);

/* Neither journal nor attribute. */
int scene_nothing_left(const struct scene *s);

/* The same command until it reports success.  NULL, or what is wrong. */
const char *scene_until_done(struct scene *s, unsigned command);

#endif /* TSW_SCENE_H */
