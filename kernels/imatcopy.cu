#include "device.cuh"
#include "epilogue.cuh"
#include "launch.h"
#include "shifted.h"
#include "stream.cuh"

#include "../src/tileswap.h"

#define ROWS_THREADS 256
#define ROWS_DEPTH 4			/* vectors that a lane has in flight */
#define ROWS_SEGMENT (ROWS_DEPTH * 512) /* bytes of a warp */

#define SHIFTED_Z_SIDE 32 /* of a tile in tsw_imatcopy_shifted_z_32 */

#include "imatcopy_types.cuh"

#define ENTRY(kernel) ((const void *)tsw_imatcopy_##kernel)

/* By tsw_type; each in the forms that the transposing kernels of its width have. */
static const struct {
	unsigned size; /* bytes of an element */
	const void *vector[3], *shifted[2], *stream[2], *rows;
} types[] = {
	{4,
	 {ENTRY(vector_s), ENTRY(vector_s_small), ENTRY(vector_s_least)},
	 {ENTRY(shifted_s_128), ENTRY(shifted_s_64)},
	 {ENTRY(stream_s), ENTRY(stream_s_units)},
	 ENTRY(rows_s)},
	{8,
	 {ENTRY(vector_d), ENTRY(vector_d_small), ENTRY(vector_d_least)},
	 {ENTRY(shifted_d_64), ENTRY(shifted_d_32)},
	 {ENTRY(stream_d), ENTRY(stream_d_units)},
	 ENTRY(rows_d)},
	{8,
	 {ENTRY(vector_c), ENTRY(vector_c_small), ENTRY(vector_c_least)},
	 {ENTRY(shifted_c_64), ENTRY(shifted_c_32)},
	 {ENTRY(stream_c), ENTRY(stream_c_units)},
	 ENTRY(rows_c)},
	/* By whole elements, or by halves. */
	{16,
	 {ENTRY(vector_z), ENTRY(vector_z_small)},
	 {ENTRY(shifted_z_32), ENTRY(shifted_z_halves_many)},
	 {ENTRY(stream_z), ENTRY(stream_z_halves)},
	 ENTRY(rows_z)},
	{2,
	 {ENTRY(vector_h), ENTRY(vector_h_small), ENTRY(vector_h_least)},
	 {ENTRY(shifted_h_192), ENTRY(shifted_h_64)},
	 {ENTRY(stream_h), ENTRY(stream_h_units)},
	 ENTRY(rows_h)},
	{2,
	 {ENTRY(vector_b), ENTRY(vector_b_small), ENTRY(vector_b_least)},
	 {ENTRY(shifted_b_192), ENTRY(shifted_b_64)},
	 {ENTRY(stream_b), ENTRY(stream_b_units)},
	 ENTRY(rows_b)},
};

int tsw_kernel_imatcopy(struct tsw_tiles *p, uint64_t count, int vectors, unsigned shared_bytes,
			struct tsw_kernel *kernel)
{
	const uint32_t type = p->epilogue.type;
	const unsigned size = types[type].size;

	if (vectors) {
		const struct tsw_kernel *const plain =
			tsw_kernel_vector(size, shared_bytes, p->n, count, 1);

		if (!plain)
			return 0;
		*kernel = *plain;
		kernel->entry = types[type].vector[plain->form];
		p->units = 1;
		return 1;
	}
	p->units = size == 16 && (uintptr_t)p->base % 16 ? 2 : 1;
	if (!tsw_kernel_shifted(p, count, size / (unsigned)p->units, shared_bytes, kernel))
		return 0;
	/* The tiles of 16-byte elements are as large wherever a block may have 40 KB. */
	if (size == 16 && p->units == 1 && kernel->tile != SHIFTED_Z_SIDE)
		return 0;
	kernel->entry = types[type].shifted[size == 16 ? p->units - 1 : kernel->form];
	return 1;
}

void tsw_kernel_imatcopy_stream(const struct tsw_chunks *p, struct tsw_kernel *kernel)
{
	const uint32_t type = p->epilogue.type;

	kernel->entry = types[type].stream[types[type].size == 16 ? p->units - 1 : kernel->form];
}

void tsw_kernel_rows(struct tsw_tiles *p, uint64_t count, struct tsw_kernel *kernel,
		     uint64_t *blocks)
{
	const unsigned size = types[p->epilogue.type].size;
	uint64_t rows;

	p->side = (uint32_t)p->n;
	if (p->ld == p->n) {
		p->side = 1;
		p->n *= p->n;
		if (count == 1 || p->stride == p->n * size) {
			p->n *= count;
			count = 1;
		}
	}
	/* A row may begin up to 15 bytes past a vector. */
	p->units = (p->n * size + 15 + ROWS_SEGMENT - 1) / ROWS_SEGMENT;
	/* The rows lie apart in an address space of 63 bits, and a segment has at least 2 bytes. */
	rows = count * p->side;
	p->pairs = rows * p->units;
	*blocks = (p->pairs + ROWS_THREADS / 32 - 1) / (ROWS_THREADS / 32);
	*kernel = (struct tsw_kernel){
		.name = "rows",
		.entry = types[p->epilogue.type].rows,
		.threads_x = ROWS_THREADS,
		.threads_y = 1,
		.tile = size,
	};
}
