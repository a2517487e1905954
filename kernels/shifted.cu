#include "shifted.h"
#include "device.cuh"
#include "launch.h"

#include "shifted_units.cuh"

/* Blocks that keep a large GPU busy; a matrix too small for so many gets smaller tiles. */
#define ENOUGH_BLOCKS 264

static uint32_t smaller(uint32_t side)
{
	return side - (side > 32 ? 8 : side > 8 ? 4 : 1);
}

/* Elements a side of a tile of at most `room` bytes; `bytes` of an element go at once. */
static uint32_t side_of(const struct tsw_tiles *p, uint32_t bytes, unsigned unit, uint64_t count,
			uint32_t room)
{
	uint32_t side = 256;

	while (side > 1 && tsw_shifted_layout(side, bytes, unit).bytes > room)
		side = smaller(side);
	while (side > 32 && tsw_pair_count(tsw_tile_count(p->n, side)) < ENOUGH_BLOCKS / count)
		side = smaller(side);
	return side;
}

int tsw_kernel_shifted(struct tsw_tiles *p, uint64_t count, unsigned unit, unsigned shared_bytes,
		       struct tsw_kernel *kernel)
{
	static const struct {
		unsigned unit;
		const void *one, *many;
	} table[] = {
		{1, (const void *)tsw_shifted_1, (const void *)tsw_shifted_1_many},
		{2, (const void *)tsw_shifted_2, (const void *)tsw_shifted_2_many},
		{4, (const void *)tsw_shifted_4, (const void *)tsw_shifted_4_many},
		{8, (const void *)tsw_shifted_8, (const void *)tsw_shifted_8_many},
		{16, (const void *)tsw_shifted_16_many, (const void *)tsw_shifted_16_many},
	};
	const uint32_t room =
		shared_bytes / 2 < TSW_SHIFTED_TILE ? shared_bytes / 2 : TSW_SHIFTED_TILE;
	const int sliced = p->units > TSW_SHIFTED_SLICE(unit);
	const uint32_t bytes = (uint32_t)(sliced ? TSW_SHIFTED_SLICE(unit) : p->units) * unit;

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		if (table[i].unit != unit)
			continue;
		p->side = sliced ? 1 : side_of(p, bytes, unit, count, room);
		p->group = 8;
		*kernel = (struct tsw_kernel){
			.name = "shifted",
			.entry = p->units == 1 ? table[i].one : table[i].many,
			.threads_x = 512,
			.threads_y = 1,
			.tile = p->side,
			.shared_bytes = 2 * tsw_shifted_layout(p->side, bytes, unit).bytes,
		};
		if (kernel->shared_bytes > shared_bytes / 2)
			kernel->threads_x = 1024; /* one block a multiprocessor */
		return kernel->shared_bytes <= shared_bytes;
	}
	return 0;
}
