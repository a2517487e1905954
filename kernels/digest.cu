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

#define ANY_KERNEL tsw_digest_any_1
#define ANY_UNIT uint8_t
#include "digest_any.cuh"

#define ANY_KERNEL tsw_digest_any_2
#define ANY_UNIT uint16_t
#include "digest_any.cuh"

#define ANY_KERNEL tsw_digest_any_4
#define ANY_UNIT uint32_t
#include "digest_any.cuh"

#define ANY_KERNEL tsw_digest_any_8
#define ANY_UNIT uint64_t
#include "digest_any.cuh"

__device__ struct tsw_digest_slot tsw_digest_slot_pool[TSW_DIGEST_SLOTS];

const void *tsw_digest_slots(void)
{
	return (const void *)tsw_digest_slot_pool;
}

/* The first row that fits is taken.  elem_size 0 stands for any. */
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
	{0, 8, {"digest_any8", (const void *)tsw_digest_any_8, DIGEST_THREADS, 1, 256}},
	{0, 4, {"digest_any4", (const void *)tsw_digest_any_4, DIGEST_THREADS, 1, 256}},
	{0, 2, {"digest_any2", (const void *)tsw_digest_any_2, DIGEST_THREADS, 1, 256}},
	{0, 1, {"digest_any1", (const void *)tsw_digest_any_1, DIGEST_THREADS, 1, 256}},
};

#define DIGEST_CHOICES (sizeof digest_choices / sizeof *digest_choices)

const struct tsw_kernel *tsw_kernel_digest(uint64_t elem_size, uint64_t alignment)
{
	const struct digest_choice *c = digest_choices;

	/* What all rows allow and every element, too: the unit. */
	while (!((c->elem_size == elem_size ||
		  (c->elem_size == 0 && elem_size % c->alignment == 0)) &&
		 alignment % c->alignment == 0))
		c++;
	return &c->kernel;
}

const struct tsw_kernel *tsw_kernel_digest_at(unsigned index)
{
	return index < DIGEST_CHOICES ? &digest_choices[index].kernel : NULL;
}
