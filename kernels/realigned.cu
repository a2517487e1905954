#include "realigned.h"
#include "fetch.cuh"
#include "launch.h"
#include "realign.cuh"
#include "side.h"

#include "realigned_widths.cuh"

int tsw_kernel_realigned(struct tsw_tiles *p, uint64_t count, unsigned elem_size,
			 unsigned shared_bytes, struct tsw_kernel *kernel)
{
	/* The large ones, where that makes `enough` blocks. */
	static const struct {
		unsigned elem_size, side, threads, enough;
		const void *entry;
	} table[] = {
		{1, 192, 384, 8 * TSW_MULTIPROCESSORS, (const void *)tsw_realigned_1_192},
		{1, 128, 256, 0, (const void *)tsw_realigned_1_128},
		{2, 128, 256, 0, (const void *)tsw_realigned_2_128},
		{3, 128, 512, 4 * TSW_MULTIPROCESSORS, (const void *)tsw_realigned_3_128},
		{3, 64, 256, 0, (const void *)tsw_realigned_3_64},
		{6, 64, 256, 0, (const void *)tsw_realigned_6_64},
	};
	int found = 0;

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		const uint32_t side = table[i].side;
		const unsigned bytes = 2 * TSW_REALIGNED_TILE(side, elem_size);

		if (table[i].elem_size != elem_size || bytes > shared_bytes)
			continue;
		*kernel = (struct tsw_kernel){
			.name = "realigned",
			.entry = table[i].entry,
			.threads_x = table[i].threads,
			.threads_y = 1,
			.tile = side,
			.shared_bytes = bytes,
			.overlaps = 1,
		};
		found = 1;
		if (tsw_busy(p->n, count, side, table[i].enough))
			break;
	}
	if (!found)
		return 0;
	p->side = kernel->tile;
	p->group = 16;
	return 1;
}
