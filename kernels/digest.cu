/* The checksum kernels: their widths, and which is for what. */
#include "digest.h"

#include "digest.cuh"
#include "digest_product.cuh"

#define BYTES_KERNEL tsw_digest_bytes_1
#define BYTES_SIZE 1
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_2
#define BYTES_SIZE 2
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_3
#define BYTES_SIZE 3
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_4
#define BYTES_SIZE 4
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_5
#define BYTES_SIZE 5
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_6
#define BYTES_SIZE 6
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_7
#define BYTES_SIZE 7
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_9
#define BYTES_SIZE 9
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_10
#define BYTES_SIZE 10
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_11
#define BYTES_SIZE 11
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_13
#define BYTES_SIZE 13
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_14
#define BYTES_SIZE 14
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_15
#define BYTES_SIZE 15
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_bytes_20
#define BYTES_SIZE 20
#include "digest_bytes.cuh"

#include "digest_halves.cuh"

#define LIMBS_KERNEL tsw_digest_4_vector
#define LIMBS_SIZE 4
#define LIMBS_VECTOR 1
#include "digest_limbs.cuh"

#define LIMBS_KERNEL tsw_digest_8
#define LIMBS_SIZE 8
#define LIMBS_VECTOR 0
#include "digest_limbs.cuh"

#define LIMBS_KERNEL tsw_digest_8_vector
#define LIMBS_SIZE 8
#define LIMBS_VECTOR 1
#include "digest_limbs.cuh"

#define LIMBS_KERNEL tsw_digest_16
#define LIMBS_SIZE 16
#define LIMBS_VECTOR 0
#include "digest_limbs.cuh"

#define LIMBS_KERNEL tsw_digest_16_vector
#define LIMBS_SIZE 16
#define LIMBS_VECTOR 1
#include "digest_limbs.cuh"

#define SMALL_KERNEL tsw_digest_12
#define SMALL_SIZE 12
#define SMALL_UNIT uint32_t
#include "digest_small.cuh"

#define SMALL_KERNEL tsw_digest_24
#define SMALL_SIZE 24
#define SMALL_UNIT uint64_t
#include "digest_small.cuh"

#define WORDS_KERNEL tsw_digest_words_3
#define WORDS 3
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_4
#define WORDS 4
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_5
#define WORDS 5
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_6
#define WORDS 6
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_7
#define WORDS 7
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_8
#define WORDS 8
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_10
#define WORDS 10
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_12
#define WORDS 12
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_14
#define WORDS 14
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_16
#define WORDS 16
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_18
#define WORDS 18
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_20
#define WORDS 20
#include "digest_words.cuh"

#define WORDS_KERNEL tsw_digest_words_22
#define WORDS 22
#include "digest_words.cuh"

#include "digest_wide.cuh"

__device__ struct tsw_digest_slot tsw_digest_slot_pool[TSW_DIGEST_SLOTS];

const void *tsw_digest_slots(void)
{
	return (const void *)tsw_digest_slot_pool;
}

/* The first row that fits is taken: elements of `least` to `most` bytes.  Rows of a band, `band` of
 * them at most, lie equally to `vector` bytes, which is 1 where that does not matter; tile is the
 * columns of a strip, 0 stands for as many as fit. */
static const struct digest_choice {
	uint64_t least, most, alignment;
	uint32_t vector, band;
	struct tsw_kernel kernel;
} digest_choices[] = {
#define DIGEST_CHOICE(least, most, alignment, vector, name, kernel, tile, shared, band)            \
	{                                                                                          \
		least, most, alignment, vector, band,                                              \
		{                                                                                  \
			name, (const void *)kernel, DIGEST_THREADS, 1, tile, shared                \
		}                                                                                  \
	}
/* Threads own columns; as products of bytes; those of any element of so many words, or of so many
 * and of one less. */
#define DIGEST_COLUMNS(size, alignment, name, kernel, tile)                                        \
	DIGEST_CHOICE(size, size, alignment, 1, name, kernel, tile, 0, TSW_DIGEST_ROWS)
#define DIGEST_BYTES(size, alignment, name, kernel, tile)                                          \
	DIGEST_CHOICE(size, size, alignment, 16, name, kernel, tile, BYTES_SHARED, BYTES_BAND)
#define DIGEST_WORDS(words, name, kernel)                                                          \
	DIGEST_CHOICE(8 * words - 7, 8 * words, 1, 16, name, kernel, 0, BYTES_SHARED, BYTES_BAND)
#define DIGEST_TWO_WORDS(words, name, kernel)                                                      \
	DIGEST_CHOICE(8 * words - 15, 8 * words, 1, 16, name, kernel, 0, BYTES_SHARED, BYTES_BAND)
	DIGEST_BYTES(1, 16, "digest1v", tsw_digest_bytes_1, 1024),
	DIGEST_BYTES(1, 1, "digest1", tsw_digest_bytes_1, 1008),
	DIGEST_COLUMNS(2, 8, "digest2v", tsw_digest_2_vector, 1024),
	DIGEST_BYTES(2, 2, "digest2", tsw_digest_bytes_2, 504),
	DIGEST_BYTES(3, 1, "digest3", tsw_digest_bytes_3, 336),
	DIGEST_COLUMNS(4, 16, "digest4v", tsw_digest_4_vector, 1024),
	DIGEST_BYTES(4, 4, "digest4", tsw_digest_bytes_4, 252),
	DIGEST_BYTES(5, 1, "digest5", tsw_digest_bytes_5, 200),
	DIGEST_BYTES(6, 1, "digest6", tsw_digest_bytes_6, 168),
	DIGEST_BYTES(7, 1, "digest7", tsw_digest_bytes_7, 144),
	DIGEST_COLUMNS(8, 16, "digest8v", tsw_digest_8_vector, 512),
	DIGEST_COLUMNS(8, 8, "digest8", tsw_digest_8, 512),
	DIGEST_BYTES(9, 1, "digest9", tsw_digest_bytes_9, 112),
	DIGEST_BYTES(10, 1, "digest10", tsw_digest_bytes_10, 100),
	DIGEST_BYTES(11, 1, "digest11", tsw_digest_bytes_11, 88),
	DIGEST_COLUMNS(12, 4, "digest12", tsw_digest_12, 256),
	DIGEST_BYTES(13, 1, "digest13", tsw_digest_bytes_13, 76),
	DIGEST_BYTES(14, 1, "digest14", tsw_digest_bytes_14, 72),
	DIGEST_BYTES(15, 1, "digest15", tsw_digest_bytes_15, 64),
	DIGEST_COLUMNS(16, 16, "digest16v", tsw_digest_16_vector, 256),
	DIGEST_COLUMNS(16, 8, "digest16", tsw_digest_16, 256),
	DIGEST_BYTES(20, 1, "digest20", tsw_digest_bytes_20, 50),
	DIGEST_COLUMNS(24, 8, "digest24", tsw_digest_24, 256),
	DIGEST_WORDS(3, "digest_words3", tsw_digest_words_3),
	DIGEST_WORDS(4, "digest_words4", tsw_digest_words_4),
	DIGEST_WORDS(5, "digest_words5", tsw_digest_words_5),
	DIGEST_WORDS(6, "digest_words6", tsw_digest_words_6),
	DIGEST_WORDS(7, "digest_words7", tsw_digest_words_7),
	DIGEST_WORDS(8, "digest_words8", tsw_digest_words_8),
	DIGEST_TWO_WORDS(10, "digest_words10", tsw_digest_words_10),
	DIGEST_TWO_WORDS(12, "digest_words12", tsw_digest_words_12),
	DIGEST_TWO_WORDS(14, "digest_words14", tsw_digest_words_14),
	DIGEST_TWO_WORDS(16, "digest_words16", tsw_digest_words_16),
	DIGEST_TWO_WORDS(18, "digest_words18", tsw_digest_words_18),
	DIGEST_TWO_WORDS(20, "digest_words20", tsw_digest_words_20),
	DIGEST_TWO_WORDS(22, "digest_words22", tsw_digest_words_22),
	DIGEST_CHOICE(WIDE_LEAST, ~0ull, 1, 16, "digest_wide", tsw_digest_wide, 0, WIDE_SHARED,
		      BYTES_BAND),
};

#define DIGEST_CHOICES (sizeof digest_choices / sizeof *digest_choices)

/* Room for three steps of rows, if that takes none of the four blocks away that the registers of a
 * multiprocessor are for, three of digest_wide; the runtime keeps 1 KiB of each for itself. */
static void choose_stages(struct tsw_digest_task *p, unsigned shared_bytes,
			  struct tsw_kernel *kernel)
{
	const unsigned blocks = kernel->entry == (const void *)tsw_digest_wide ? 3 : 4;

	p->stages = 2;
	if ((kernel->shared_bytes + BYTES_STAGE + (2 << 10)) * blocks <= shared_bytes)
		p->stages = 3;
	kernel->shared_bytes += (p->stages - 2) * BYTES_STAGE;
}

void tsw_kernel_digest(struct tsw_digest_task *p, unsigned shared_bytes, struct tsw_kernel *kernel)
{
	const uint64_t rows = (uint64_t)(uintptr_t)p->base | p->stride;
	const struct digest_choice *c = digest_choices;

	while (p->elem_size < c->least || p->elem_size > c->most || rows % c->alignment)
		c++;
	*kernel = c->kernel;
	p->stages = 0;
	if (kernel->shared_bytes)
		choose_stages(p, shared_bytes, kernel);
	p->band_rows = c->band;
	p->blocks = c->band > TSW_DIGEST_ROWS ? 2048 : 4096;
	p->step_log = 0;
	while ((p->stride << p->step_log) % c->vector)
		p->step_log++;
	p->strip = c->kernel.tile;
	p->piece = p->elem_size;
	if (p->strip == 0) { /* whole elements, as many as surely fit, or equal pieces of one */
		const uint64_t unit = (rows | p->elem_size | 16) & -(rows | p->elem_size | 16);
		const uint64_t most = 16 * BYTES_VECTORS - (16 - unit);
		const uint64_t pieces = tsw_tile_count(p->elem_size, most / 16 * 16);

		p->strip = (uint32_t)(most / p->elem_size);
		if (p->strip == 0) {
			p->strip = 1;
			p->piece = tsw_tile_count(p->elem_size, pieces * 16) * 16;
			p->band_rows = WIDE_BAND;
		}
	}
	p->strips = tsw_tile_count(p->n, p->strip);
}

uint64_t tsw_digest_blocks(const struct tsw_digest_task *p)
{
	const uint64_t step = (uint64_t)1 << p->step_log; /* classes of rows */

	return p->strips * step * tsw_tile_count(tsw_tile_count(p->n, step), p->band_rows);
}

const struct tsw_kernel *tsw_kernel_digest_at(unsigned index)
{
	return index < DIGEST_CHOICES ? &digest_choices[index].kernel : NULL;
}
