/* The checksum kernels: their widths, and which is for what. */
#include "digest.h"

#include "digest.cuh"

#define WORDS_KERNEL tsw_digest_1
#define WORDS_SIZE 1
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_2
#define WORDS_SIZE 2
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_4
#define WORDS_SIZE 4
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_8
#define WORDS_SIZE 8
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_16
#define WORDS_SIZE 16
#include "digest_words.cuh"

#define SMALL_KERNEL tsw_digest_3
#define SMALL_LIMBS 1
#define SMALL_COLS 4
#define SMALL_SIZE 3
#include "digest_small.cuh"

#define SMALL_KERNEL tsw_digest_5_to_7
#define SMALL_LIMBS 2
#define SMALL_COLS 1
#define SMALL_SIZE 0
#include "digest_small.cuh"

#define SMALL_KERNEL tsw_digest_9_to_12
#define SMALL_LIMBS 3
#define SMALL_COLS 1
#define SMALL_SIZE 0
#include "digest_small.cuh"

#define SMALL_KERNEL tsw_digest_13_to_15
#define SMALL_LIMBS 4
#define SMALL_COLS 1
#define SMALL_SIZE 0
#include "digest_small.cuh"

#define WIDE_CHUNKS 36 /* what static shared memory has room for; a multiple of WIDE_LOADED */
#include "digest_wide.cuh"

__device__ struct tsw_digest_slot tsw_digest_slot_pool[TSW_DIGEST_SLOTS];

const void *tsw_digest_slots(void)
{
	return (const void *)tsw_digest_slot_pool;
}

/* How a kernel cuts rows into strips. */
enum digest_cut { DIGEST_BYTES, DIGEST_COLUMNS, DIGEST_CHUNKS };

/* The first row that fits is taken.  `align` is that of all rows, if the kernel needs it; vectors
 * are the bytes that it loads together; tile is the columns of a strip that is cut by columns. */
static const struct digest_choice {
	uint64_t size_min, size_max;
	uint32_t align, vector;
	enum digest_cut cut;
	struct tsw_kernel kernel;
} digest_choices[] = {
#define DIGEST_CHOICE(name, kernel, tile)                                                          \
	{                                                                                          \
		name, (const void *)kernel, DIGEST_THREADS, 1, tile, 0                             \
	}
	{1, 1, 1, DIGEST_ALIGN, DIGEST_BYTES, DIGEST_CHOICE("digest1", tsw_digest_1, 0)},
	{2, 2, 2, DIGEST_ALIGN, DIGEST_BYTES, DIGEST_CHOICE("digest2", tsw_digest_2, 0)},
	{3, 3, 1, 4, DIGEST_COLUMNS, DIGEST_CHOICE("digest3", tsw_digest_3, 4 * DIGEST_THREADS)},
	{4, 4, 4, DIGEST_ALIGN, DIGEST_BYTES, DIGEST_CHOICE("digest4", tsw_digest_4, 0)},
	{5, 7, 1, 4, DIGEST_COLUMNS, DIGEST_CHOICE("digest5", tsw_digest_5_to_7, DIGEST_THREADS)},
	{8, 8, 8, DIGEST_ALIGN, DIGEST_BYTES, DIGEST_CHOICE("digest8", tsw_digest_8, 0)},
	{9, 12, 1, 4, DIGEST_COLUMNS, DIGEST_CHOICE("digest9", tsw_digest_9_to_12, DIGEST_THREADS)},
	{13, 15, 1, 4, DIGEST_COLUMNS,
	 DIGEST_CHOICE("digest13", tsw_digest_13_to_15, DIGEST_THREADS)},
	{16, 16, 16, DIGEST_ALIGN, DIGEST_BYTES, DIGEST_CHOICE("digest16", tsw_digest_16, 0)},
	{16, 49, 1, 16, DIGEST_CHUNKS, DIGEST_CHOICE("digest_single", tsw_digest_single, 0)},
	{50, UINT64_MAX, 1, 16, DIGEST_CHUNKS, DIGEST_CHOICE("digest_wide", tsw_digest_wide, 0)},
};

#define DIGEST_CHOICES (sizeof digest_choices / sizeof *digest_choices)

/* The largest power of two, at most `most`, that divides x. */
static uint32_t power_in(uint64_t x, uint32_t most)
{
	while (x % most)
		most /= 2;
	return most;
}

const struct tsw_kernel *tsw_kernel_digest(struct tsw_digest_task *p)
{
	const uint64_t rows = (uint64_t)(uintptr_t)p->base | p->stride;
	const struct digest_choice *c = digest_choices;

	while (p->elem_size < c->size_min || p->elem_size > c->size_max || rows % c->align)
		c++;
	p->strip = c->kernel.tile;
	p->chunks = 0;
	p->step_log = 0;
	while ((p->stride << p->step_log) % c->vector)
		p->step_log++;
	if (c->cut == DIGEST_BYTES) { /* and what may lie left of a row */
		p->strips = tsw_tile_count(p->n * p->elem_size + DIGEST_ALIGN -
						   power_in(rows, DIGEST_ALIGN),
					   DIGEST_STRIP);
		return &c->kernel;
	}
	if (c->cut == DIGEST_CHUNKS) {
		p->chunks =
			tsw_tile_count(p->elem_size + 16 - power_in(rows | p->elem_size, 16), 64);
		p->strip = p->chunks < WIDE_CHUNKS ? (uint32_t)(WIDE_CHUNKS / p->chunks) : 1;
	}
	p->strips = tsw_tile_count(p->n, p->strip);
	return &c->kernel;
}

uint64_t tsw_digest_blocks(const struct tsw_digest_task *p)
{
	const uint64_t step = (uint64_t)1 << p->step_log;

	return p->strips * step * tsw_tile_count(tsw_tile_count(p->n, step), p->band_rows);
}

const struct tsw_kernel *tsw_kernel_digest_at(unsigned index)
{
	return index < DIGEST_CHOICES ? &digest_choices[index].kernel : NULL;
}
