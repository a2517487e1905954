#include "device.cuh"
#include "launch.h"
#include "side.h"

#include "vector_widths.cuh"

#define LEAST 2 /* the form that knows VECTOR_EXACT */

const struct tsw_kernel *tsw_kernel_vector(unsigned elem_size, unsigned shared_bytes, uint64_t n,
					   uint64_t count, int aligned)
{
	/* name, entry, threads, elements a side of a tile, bytes of both tiles, form, overlaps;
	 * larger ones first */
	static const struct {
		unsigned elem_size;
		struct tsw_kernel kernel;
	} table[] = {
		{1, {"vector", (const void *)tsw_vector_1, 512, 1, 256, 2 * 256 * 256, 0, 1}},
		{1, {"vector", (const void *)tsw_vector_1_small, 128, 1, 128, 2 * 128 * 128, 1, 1}},
		{2, {"vector", (const void *)tsw_vector_2, 256, 1, 128, 2 * 128 * 256, 0, 1}},
		{2, {"vector", (const void *)tsw_vector_2_small, 128, 1, 64, 2 * 64 * 128, 1, 1}},
		{2, {"vector", (const void *)tsw_vector_2_least, 128, 1, 64, 2 * 64 * 128, 2, 1}},
		{4, {"vector", (const void *)tsw_vector_4, 256, 1, 64, 2 * 64 * 256, 0, 1}},
		{4, {"vector", (const void *)tsw_vector_4_small, 128, 1, 32, 2 * 32 * 128, 1, 1}},
		{4, {"vector", (const void *)tsw_vector_4_least, 128, 1, 32, 2 * 32 * 128, 2, 1}},
		{8, {"vector", (const void *)tsw_vector_8, 256, 1, 32, 2 * 32 * 256, 0, 1}},
		{8, {"vector", (const void *)tsw_vector_8_small, 64, 1, 16, 2 * 16 * 128, 1, 1}},
		{8, {"vector", (const void *)tsw_vector_8_least, 128, 1, 16, 2 * 16 * 128, 2, 1}},
		{16, {"vector", (const void *)tsw_vector_16, 256, 1, 16, 2 * 16 * 256, 0, 1}},
		{16, {"vector", (const void *)tsw_vector_16_small, 64, 1, 8, 2 * 8 * 128, 1, 1}},
	};
	const struct tsw_kernel *found = NULL;

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		const struct tsw_kernel *const k = &table[i].kernel;

		if (table[i].elem_size != elem_size || k->shared_bytes > shared_bytes)
			continue;
		if (k->form == LEAST && !(aligned && n % (16 / elem_size) == 0))
			continue;
		found = k;
		if (tsw_busy(n, count, k->tile, TSW_ENOUGH_SMALL_BLOCKS))
			break;
	}
	return found;
}
