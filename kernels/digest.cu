/* The checksum kernels: their widths, and which is for what. */
#include "digest.h"

#include "digest.cuh"

#define BYTES_KERNEL tsw_digest_1
#define BYTES_VECTOR 0
#include "digest_bytes.cuh"

#define BYTES_KERNEL tsw_digest_1_vector
#define BYTES_VECTOR 1
#include "digest_bytes.cuh"

#define HALVES_KERNEL tsw_digest_2
#define HALVES_VECTOR 0
#include "digest_halves.cuh"

#define HALVES_KERNEL tsw_digest_2_vector
#define HALVES_VECTOR 1
#include "digest_halves.cuh"

#define LIMBS_KERNEL tsw_digest_4
#define LIMBS_SIZE 4
#define LIMBS_VECTOR 0
#include "digest_limbs.cuh"

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

#define SMALL_KERNEL tsw_digest_3
#define SMALL_SIZE 3
#define SMALL_UNIT uint8_t
#include "digest_small.cuh"

#define SMALL_KERNEL tsw_digest_6
#define SMALL_SIZE 6
#define SMALL_UNIT uint16_t
#include "digest_small.cuh"

#define SMALL_KERNEL tsw_digest_12
#define SMALL_SIZE 12
#define SMALL_UNIT uint32_t
#include "digest_small.cuh"

#define SMALL_KERNEL tsw_digest_24
#define SMALL_SIZE 24
#define SMALL_UNIT uint64_t
#include "digest_small.cuh"

#define WIDE_KERNEL tsw_digest_wide_1
#define WIDE_UNIT uint8_t
#include "digest_wide.cuh"

#define WIDE_KERNEL tsw_digest_wide_2
#define WIDE_UNIT uint16_t
#include "digest_wide.cuh"

#define WIDE_KERNEL tsw_digest_wide_4
#define WIDE_UNIT uint32_t
#include "digest_wide.cuh"

#define WIDE_KERNEL tsw_digest_wide_8
#define WIDE_UNIT uint64_t
#include "digest_wide.cuh"

__device__ struct tsw_digest_slot tsw_digest_slot_pool[TSW_DIGEST_SLOTS];

const void *tsw_digest_slots(void)
{
	return (const void *)tsw_digest_slot_pool;
}

/* The first row that fits is taken.  elem_size 0 stands for any; tile is the columns of a strip. */
static const struct digest_choice {
	uint64_t elem_size, alignment;
	struct tsw_kernel kernel;
} digest_choices[] = {
	{1, 4, {"digest1v", (const void *)tsw_digest_1_vector, DIGEST_THREADS, 1, 1024}},
	{1, 1, {"digest1", (const void *)tsw_digest_1, DIGEST_THREADS, 1, 1024}},
	{2, 8, {"digest2v", (const void *)tsw_digest_2_vector, DIGEST_THREADS, 1, 1024}},
	{2, 2, {"digest2", (const void *)tsw_digest_2, DIGEST_THREADS, 1, 1024}},
	{4, 16, {"digest4v", (const void *)tsw_digest_4_vector, DIGEST_THREADS, 1, 1024}},
	{4, 4, {"digest4", (const void *)tsw_digest_4, DIGEST_THREADS, 1, 1024}},
	{8, 16, {"digest8v", (const void *)tsw_digest_8_vector, DIGEST_THREADS, 1, 512}},
	{8, 8, {"digest8", (const void *)tsw_digest_8, DIGEST_THREADS, 1, 512}},
	{16, 16, {"digest16v", (const void *)tsw_digest_16_vector, DIGEST_THREADS, 1, 256}},
	{16, 8, {"digest16", (const void *)tsw_digest_16, DIGEST_THREADS, 1, 256}},
	{3, 1, {"digest3", (const void *)tsw_digest_3, DIGEST_THREADS, 1, 256}},
	{6, 2, {"digest6", (const void *)tsw_digest_6, DIGEST_THREADS, 1, 256}},
	{12, 4, {"digest12", (const void *)tsw_digest_12, DIGEST_THREADS, 1, 256}},
	{24, 8, {"digest24", (const void *)tsw_digest_24, DIGEST_THREADS, 1, 256}},
	{0, 8, {"digest_wide8", (const void *)tsw_digest_wide_8, DIGEST_THREADS, 1, 0}},
	{0, 4, {"digest_wide4", (const void *)tsw_digest_wide_4, DIGEST_THREADS, 1, 0}},
	{0, 2, {"digest_wide2", (const void *)tsw_digest_wide_2, DIGEST_THREADS, 1, 0}},
	{0, 1, {"digest_wide1", (const void *)tsw_digest_wide_1, DIGEST_THREADS, 1, 0}},
};

#define DIGEST_CHOICES (sizeof digest_choices / sizeof *digest_choices)

const struct tsw_kernel *tsw_kernel_digest(uint64_t elem_size, uint64_t alignment, uint32_t *strip)
{
	const struct digest_choice *c = digest_choices;

	while (!((c->elem_size == elem_size ||
		  (c->elem_size == 0 && elem_size % c->alignment == 0)) &&
		 alignment % c->alignment == 0))
		c++;
	*strip = c->kernel.tile;
	if (*strip == 0) { /* as many whole elements as there are threads for their units */
		*strip = (uint32_t)(DIGEST_THREADS * c->alignment / elem_size);
		if (*strip == 0)
			*strip = 1;
	}
	return &c->kernel;
}

const struct tsw_kernel *tsw_kernel_digest_at(unsigned index)
{
	return index < DIGEST_CHOICES ? &digest_choices[index].kernel : NULL;
}
