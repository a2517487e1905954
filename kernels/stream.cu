#include "launch.h"
#include "stream.cuh"

#include "stream_widths.cuh"

/* Bytes of a chunk: what served best on an H200 (docs/PERFORMANCE.md). */
#define CHUNK_BYTES (8u << 10)
#define CHUNK_BYTES_NARROW_ODD (16u << 10)

/* Chunks may be larger than that in order to begin at multiples of 32 bytes. */
#define LARGEST_CHUNK (36u << 10)
#define LARGEST_CHUNK_NARROW (20u << 10)

/* Units of a matrix: a quotient is exact for x * d < 2^31, and neither is more than this or than
 * the units of the largest chunk. */
#define MOST_UNITS 46340u

static uint32_t reciprocal(uint32_t d)
{
	return 0x80000000u / d + 1;
}

static uint32_t slot_of(uint32_t run_bytes, unsigned unit)
{
	return (16 - unit + run_bytes + 15) / 16;
}

/* Sets the runs, and what one matrix takes in shared memory: its step. */
static void set_runs(struct tsw_chunks *p, unsigned unit)
{
	const uint32_t row_bytes = p->n * p->units * unit, matrix_bytes = row_bytes * p->n;

	p->row_step = row_bytes;
	if (p->pitch != row_bytes) {
		p->runs = p->n;
		p->run_bytes = row_bytes;
		p->slot = slot_of(row_bytes, unit);
		p->row_step = p->slot * 16;
		p->matrix_step = p->n * p->row_step;
	} else if (p->array || (p->count > 1 && p->stride != matrix_bytes)) {
		p->runs = 1;
		p->run_bytes = matrix_bytes;
		p->slot = slot_of(matrix_bytes, unit);
		p->matrix_step = p->slot * 16;
	} else {
		p->runs = 0;
		p->run_bytes = matrix_bytes;
		p->matrix_step = matrix_bytes;
	}
}

/* Matrices of a chunk. */
static uint32_t group_of(const struct tsw_chunks *p, unsigned unit, uint32_t matrix_bytes,
			 unsigned shared_bytes)
{
	const int narrow = unit <= 2;
	const uint32_t most = narrow ? LARGEST_CHUNK_NARROW : LARGEST_CHUNK;
	uint32_t target = narrow && p->n % 2 ? CHUNK_BYTES_NARROW_ODD : CHUNK_BYTES;
	uint32_t step = 1, group;

	/* What lies apart needs more of it to keep a block busy. */
	if (p->runs && 2 * target <= shared_bytes - 160)
		target *= 2;
	group = (target + p->matrix_step / 2) / p->matrix_step;
	/* Room for the ends of a run, and for the rounding of it all. */
	while (group * p->matrix_step > shared_bytes - 160)
		group--;
	if (p->runs == 0) {
		while (step * matrix_bytes % 32)
			step *= 2;
		while (step > 1 &&
		       (step * matrix_bytes > most || step * matrix_bytes > shared_bytes - 160))
			step /= 2;
		group = group / step * step;
	}
	if (group < step)
		group = step;
	return p->count < group ? (uint32_t)p->count : group;
}

int tsw_kernel_stream(struct tsw_chunks *p, unsigned unit, unsigned shared_bytes,
		      struct tsw_kernel *kernel)
{
	static const struct {
		unsigned unit;
		const void *vectors, *units;
	} table[] = {
		{1, (const void *)tsw_stream_1, (const void *)tsw_stream_1_units},
		{2, (const void *)tsw_stream_2, (const void *)tsw_stream_2_units},
		{4, (const void *)tsw_stream_4, (const void *)tsw_stream_4_units},
		{8, (const void *)tsw_stream_8, (const void *)tsw_stream_8_units},
		{16, NULL, (const void *)tsw_stream_16_units},
	};
	uint32_t matrix_bytes, bytes, slots;
	int by_vectors;

	if (p->n > 256 || p->units > MOST_UNITS || p->n * p->n > MOST_UNITS / p->units)
		return 0;
	matrix_bytes = p->n * p->n * p->units * unit;
	set_runs(p, unit);
	if (p->matrix_step + 160 > shared_bytes)
		return 0;
	p->elements = p->n * p->n;
	p->span = (p->n - 1) * p->pitch + p->n * p->units * unit;
	p->group = group_of(p, unit, matrix_bytes, shared_bytes);
	if (p->runs == 0)
		p->slot = slot_of(p->group * matrix_bytes, unit);
	slots = p->runs ? p->group * p->runs * p->slot : p->slot;
	bytes = p->group * matrix_bytes;
	p->swizzle = p->n % 2 ? 0 : 0x70;
	p->by_units = reciprocal(p->units);
	p->by_n = reciprocal(p->n);
	p->by_matrix = reciprocal(p->elements);
	p->whole = p->runs && p->slot > 1 && p->run_bytes <= (p->slot - 1) * 16 ? p->slot - 1
										: p->slot;
	p->by_whole = reciprocal(p->whole);
	by_vectors = p->units == 1 && p->runs <= 1 && unit < 16 &&
		     (p->runs == 0 || matrix_bytes >= 32 || matrix_bytes % 16 == 0);
	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		if (table[i].unit != unit)
			continue;
		*kernel = (struct tsw_kernel){
			.name = "stream",
			.entry = by_vectors ? table[i].vectors : table[i].units,
			.threads_x = unit <= 2		  ? 128u
				     : bytes <= 20u << 10 ? 256u
							  : 512u,
			.threads_y = 1,
			.shared_bytes = (slots * 16 + 127) / 128 * 128,
			.form = by_vectors ? 0u : 1u,
			.overlaps = 1,
		};
		return 1;
	}
	return 0;
}
