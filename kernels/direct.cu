#include "device.cuh"
#include "launch.h"

#include "direct_forms.cuh"

const struct tsw_kernel *tsw_kernel_direct(unsigned elem_size, unsigned alignment, uint64_t n,
					   uint64_t count)
{
	/* The first that serves is taken, with at most `most` tile pairs: from there on the next
	 * one is ahead, or another kernel (docs/PERFORMANCE.md); with rows that begin at multiples
	 * of `not_at` another one is. name, entry, threads, elements a side of a tile, shared
	 * memory, form, overlaps */
	static const struct {
		unsigned elem_size, block, most, not_at;
		struct tsw_kernel kernel;
	} table[] = {
		{1, 4, 45, 0, {"direct", (const void *)tsw_direct_1_4x8, 64, 1, 32, 0, 0, 1}},
		{1, 8, 153, 0, {"direct", (const void *)tsw_direct_1_8x4, 16, 1, 32, 0, 1, 1}},
		{1, 8, 600, 0, {"direct", (const void *)tsw_direct_1_8x8, 64, 1, 64, 0, 2, 1}},
		{1, 4, 600, 16, {"direct", (const void *)tsw_direct_1_4x8, 64, 1, 32, 0, 0, 1}},
		{1, 1, 1275, 0, {"direct", (const void *)tsw_direct_1_1x8, 64, 1, 8, 0, 3, 1}},
		{2, 1, 325, 0, {"direct", (const void *)tsw_direct_2_1x8, 64, 1, 8, 0, 0, 1}},
		{2, 4, 45, 0, {"direct", (const void *)tsw_direct_2_4x8, 64, 1, 32, 0, 1, 1}},
		{2, 8, 200, 0, {"direct", (const void *)tsw_direct_2_8x4, 16, 1, 32, 0, 2, 1}},
		{2, 1, 1275, 16, {"direct", (const void *)tsw_direct_2_1x8, 64, 1, 8, 0, 0, 1}},
		{4, 1, 500, 0, {"direct", (const void *)tsw_direct_4_1x8, 64, 1, 8, 0, 0, 1}},
		{4, 4, 600, 0, {"direct", (const void *)tsw_direct_4_4x4, 16, 1, 16, 0, 1, 1}},
		{4, 1, 600, 16, {"direct", (const void *)tsw_direct_4_1x16, 256, 1, 16, 0, 2, 1}},
		{8, 1, 595, 0, {"direct", (const void *)tsw_direct_8_1x8, 64, 1, 8, 0, 0, 1}},
		{8, 1, 600, 16, {"direct", (const void *)tsw_direct_8_1x16, 256, 1, 16, 0, 1, 1}},
		{16, 1, 1275, 0, {"direct", (const void *)tsw_direct_16_1x8, 64, 1, 8, 0, 0, 1}},
	};

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		const struct tsw_kernel *const k = &table[i].kernel;

		if (table[i].elem_size == elem_size && n % table[i].block == 0 &&
		    alignment % (table[i].block * elem_size) == 0 &&
		    !(table[i].not_at && alignment % table[i].not_at == 0) &&
		    tsw_pair_count(tsw_tile_count(n, k->tile)) <= table[i].most / count)
			return k;
	}
	return NULL;
}
