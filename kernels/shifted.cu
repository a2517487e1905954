#include "shifted.h"
#include "device.cuh"
#include "launch.h"
#include "side.h"

#include "shifted_units.cuh"

static uint32_t smaller(uint32_t side)
{
	return side - (side > 32 ? 8 : side > 8 ? 4 : 1);
}

static struct tsw_kernel kernel_of(const void *entry, unsigned threads, uint32_t side,
				   uint32_t elem_size, unsigned unit)
{
	return (struct tsw_kernel){
		.name = "shifted",
		.entry = entry,
		.threads_x = threads,
		.threads_y = 1,
		.tile = side,
		.shared_bytes = 2 * tsw_shifted_layout(side, elem_size, unit).bytes,
		.overlaps = 1,
	};
}

/* Elements of one unit: forms whose side is fixed, larger ones first. */
static int one_unit(struct tsw_tiles *p, uint64_t count, unsigned unit, unsigned shared_bytes,
		    struct tsw_kernel *kernel)
{
	/* The large ones, where that makes `enough` blocks. */
	static const struct {
		unsigned unit, side, threads, enough;
		const void *entry;
	} table[] = {
		{2, 192, 1024, TSW_ENOUGH_BLOCKS, (const void *)tsw_shifted_2_192},
		{2, 64, 256, 0, (const void *)tsw_shifted_2_64},
		{4, 128, 1024, 80, (const void *)tsw_shifted_4_128},
		{4, 64, 512, 0, (const void *)tsw_shifted_4_64},
		{8, 64, 512, TSW_ENOUGH_BLOCKS, (const void *)tsw_shifted_8_64},
		{8, 32, 256, 0, (const void *)tsw_shifted_8_32},
	};
	unsigned form = 0;
	int found = 0;

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		const uint32_t side = table[i].side;
		struct tsw_kernel k = kernel_of(table[i].entry, table[i].threads, side, unit, unit);

		if (table[i].unit != unit)
			continue;
		k.form = form++;
		if (k.shared_bytes > shared_bytes)
			continue;
		*kernel = k;
		found = 1;
		if (tsw_busy(p->n, count, side, table[i].enough))
			break;
	}
	return found;
}

/* Elements of several units: as many elements as `room` bytes of a tile hold. */
static int many_units(struct tsw_tiles *p, uint64_t count, unsigned unit, unsigned shared_bytes,
		      struct tsw_kernel *kernel)
{
	static const struct {
		unsigned unit;
		const void *entry;
	} table[] = {
		{1, (const void *)tsw_shifted_1_many},	 {2, (const void *)tsw_shifted_2_many},
		{4, (const void *)tsw_shifted_4_many},	 {8, (const void *)tsw_shifted_8_many},
		{16, (const void *)tsw_shifted_16_many},
	};
	const int sliced = p->units > TSW_SHIFTED_SLICE(unit);
	const uint32_t bytes = (uint32_t)(sliced ? TSW_SHIFTED_SLICE(unit) : p->units) * unit;
	/* Wide elements fill a row with few of them: smaller tiles, more blocks. */
	const uint32_t wanted = unit < 16	? (bytes < 64 ? 52u << 10 : 40u << 10)
				: p->units == 1 ? 17u << 10
				: bytes < 64	? 19u << 10
						: 35u << 10;
	const uint32_t room = shared_bytes / 2 < wanted ? shared_bytes / 2 : wanted;
	uint32_t side = sliced ? 1 : TSW_SHIFTED_SIDE;

	while (side > 1 && tsw_shifted_layout(side, bytes, unit).bytes > room)
		side = smaller(side);
	while (side > 32 && !tsw_busy(p->n, count, side, TSW_ENOUGH_BLOCKS))
		side = smaller(side);
	for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].unit == unit) {
			*kernel = kernel_of(table[i].entry, unit == 16 ? 256 : 512, side, bytes,
					    unit);
			return kernel->shared_bytes <= shared_bytes;
		}
	return 0;
}

int tsw_kernel_shifted(struct tsw_tiles *p, uint64_t count, unsigned unit, unsigned shared_bytes,
		       struct tsw_kernel *kernel)
{
	int found = 0;

	if (p->units == 1 && unit < 16)
		found = one_unit(p, count, unit, shared_bytes, kernel);
	else
		found = many_units(p, count, unit, shared_bytes, kernel);
	if (!found)
		return 0;
	p->side = kernel->tile;
	p->group = p->units == 1 && unit < 16 ? 16 : 8;
	return 1;
}
