#include "exchange.h"
#include "places.cuh"

#include "exchange_widths.cuh"

#define EXCHANGE_THREADS 256
#define EXCHANGE_TILE_BYTES (20u << 10) /* of a tile of several units; two fit into 48 KiB */
#define EXCHANGE_SLICE_BYTES 4096u

/* The number of a unit of 1, 2, 4, 8 or 16 bytes. */
static unsigned power_of(unsigned unit)
{
	unsigned power = 0;

	while (power < 4 && 1u << power < unit)
		power++;
	return power;
}

static uint64_t tiles_of(struct tsw_exchange *p)
{
	const uint64_t down = tsw_tile_count(p->from.rows.count, p->side);

	p->tiles = (uint32_t)tsw_tile_count(p->from.cols.count, p->side);
	return p->square ? tsw_pair_count(down) : down * p->tiles;
}

static struct tsw_kernel by_vectors(struct tsw_exchange *p, unsigned width)
{
	static const struct {
		const void *entry;
		unsigned row; /* vectors of a row of a tile */
	} table[] = {
		{(const void *)tsw_exchange_vector_1, 8},
		{(const void *)tsw_exchange_vector_2, 8},
		{(const void *)tsw_exchange_vector_4, 16},
		{(const void *)tsw_exchange_vector_8, 16},
		{(const void *)tsw_exchange_vector_16, 16},
	};
	const unsigned at = power_of(width), row = table[at].row;

	p->slice = 1;
	p->side = row * (16 / width);
	return (struct tsw_kernel){
		"exchange-vector", table[at].entry,
		row * row,	   1,
		p->side,	   p->side * (32u + (p->both ? 2 : 1) * row * 16),
	};
}

static struct tsw_kernel by_units(struct tsw_exchange *p, unsigned unit)
{
	static const struct {
		const void *entry;
		unsigned side; /* where an element is one unit */
	} table[] = {
		{(const void *)tsw_exchange_1, 128}, {(const void *)tsw_exchange_2, 64},
		{(const void *)tsw_exchange_4, 64},  {(const void *)tsw_exchange_8, 32},
		{(const void *)tsw_exchange_16, 32},
	};
	const unsigned at = power_of(unit);

	p->slice = p->units < EXCHANGE_SLICE_BYTES / unit ? p->units : EXCHANGE_SLICE_BYTES / unit;
	p->side = table[at].side;
	while (p->side > 1 &&
	       p->side * tsw_exchange_pitch(p->side, p->slice, unit) > EXCHANGE_TILE_BYTES)
		p->side--;
	return (struct tsw_kernel){
		"exchange",
		table[at].entry,
		EXCHANGE_THREADS,
		1,
		p->side,
		p->side * (32u + (p->both ? 2 : 1) * tsw_exchange_pitch(p->side, p->slice, unit)),
	};
}

struct tsw_kernel tsw_kernel_exchange(struct tsw_exchange *p, unsigned unit, int vectors,
				      uint64_t *blocks)
{
	const struct tsw_kernel kernel = vectors ? by_vectors(p, unit) : by_units(p, unit);

	*blocks = tiles_of(p);
	return kernel;
}

struct tsw_kernel tsw_kernel_gather(struct tsw_gather *p, unsigned unit, uint64_t *blocks)
{
	static const void *const table[] = {
		(const void *)tsw_gather_1, (const void *)tsw_gather_2,	 (const void *)tsw_gather_4,
		(const void *)tsw_gather_8, (const void *)tsw_gather_16,
	};
	const uint64_t units = (uint64_t)p->from.cols.count * p->units;

	p->segments = (uint32_t)tsw_tile_count(units, TSW_GATHER_THREADS * TSW_GATHER_DEPTH);
	*blocks = tsw_tile_count(p->from.rows.count, TSW_GATHER_ROWS) * p->segments;
	return (struct tsw_kernel){"gather", table[power_of(unit)], TSW_GATHER_THREADS,
				   1,	     TSW_GATHER_ROWS,	    0};
}
