#include "device.cuh"
#include "epilogue.cuh"
#include "launch.h"
#include "shifted.h"

#include "../src/tileswap.h"

#define ROWS_THREADS 256
#define ROWS_DEPTH 4			/* vectors that a lane has in flight */
#define ROWS_SEGMENT (ROWS_DEPTH * 512) /* bytes of a warp */

/* Blocks of one multiprocessor, of which sm_75 has shared memory for two. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define IMATCOPY_BLOCKS(most) 2
#else
#define IMATCOPY_BLOCKS(most) (most)
#endif

#include "imatcopy_types.cuh"

/* Blocks that keep a large GPU busy; a matrix too small for so many gets smaller tiles. */
#define ENOUGH_BLOCKS 264

static int makes_enough(const struct tsw_tiles *p, uint64_t count, unsigned tile)
{
	return tsw_pair_count(tsw_tile_count(p->n, tile)) >= ENOUGH_BLOCKS / count;
}

static struct tsw_kernel vector_kernel(uint32_t type)
{
	static const struct tsw_kernel table[] = {
		{"vector", (const void *)tsw_imatcopy_vector_s, 256, 1, 64, 2 * 64 * 256},
		{"vector", (const void *)tsw_imatcopy_vector_d, 256, 1, 32, 2 * 32 * 256},
		{"vector", (const void *)tsw_imatcopy_vector_c, 256, 1, 32, 2 * 32 * 256},
		{"vector", (const void *)tsw_imatcopy_vector_z, 256, 1, 16, 2 * 16 * 256},
	};

	return table[type];
}

/* Elements of one unit: of two forms the larger, if it fits and makes enough blocks. */
static struct tsw_kernel shifted_kernel(const struct tsw_tiles *p, uint64_t count,
					unsigned shared_bytes)
{
	static const struct {
		unsigned type, unit, side, threads;
		const void *entry;
	} table[] = {
		{TSW_FLOAT, 4, 128, 1024, (const void *)tsw_imatcopy_shifted_s_128},
		{TSW_FLOAT, 4, 64, 512, (const void *)tsw_imatcopy_shifted_s_64},
		{TSW_DOUBLE, 8, 64, 512, (const void *)tsw_imatcopy_shifted_d_64},
		{TSW_DOUBLE, 8, 32, 256, (const void *)tsw_imatcopy_shifted_d_32},
		{TSW_COMPLEX_FLOAT, 8, 64, 512, (const void *)tsw_imatcopy_shifted_c_64},
		{TSW_COMPLEX_FLOAT, 8, 32, 256, (const void *)tsw_imatcopy_shifted_c_32},
	};
	struct tsw_kernel kernel = {.name = "shifted", .threads_y = 1};

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		if (table[i].type != p->epilogue.type)
			continue;
		kernel.entry = table[i].entry;
		kernel.threads_x = table[i].threads;
		kernel.tile = table[i].side;
		kernel.shared_bytes =
			2 * tsw_shifted_layout(table[i].side, table[i].unit, table[i].unit).bytes;
		if (kernel.shared_bytes <= shared_bytes && makes_enough(p, count, kernel.tile))
			break;
	}
	return kernel;
}

int tsw_kernel_imatcopy(struct tsw_tiles *p, uint64_t count, int vectors, unsigned shared_bytes,
			struct tsw_kernel *kernel)
{
	p->units = 1;
	if (vectors) {
		*kernel = vector_kernel(p->epilogue.type);
	} else if (p->epilogue.type == TSW_COMPLEX_DOUBLE) {
		const int whole = (uintptr_t)p->base % 16 == 0;

		p->units = whole ? 1 : 2;
		if (!tsw_kernel_shifted(p, count, whole ? 16 : 8, shared_bytes, kernel))
			return 0;
		kernel->entry = whole ? (const void *)tsw_imatcopy_shifted_z
				      : (const void *)tsw_imatcopy_shifted_z_halves;
	} else {
		*kernel = shifted_kernel(p, count, shared_bytes);
	}
	p->side = kernel->tile;
	p->group = 8;
	return kernel->shared_bytes <= shared_bytes;
}

const struct tsw_kernel *tsw_kernel_rows(struct tsw_tiles *p, uint64_t count, uint64_t *blocks)
{
	static const struct tsw_kernel table[] = {
		{"rows", (const void *)tsw_imatcopy_rows_s, ROWS_THREADS, 1, 4, 0},
		{"rows", (const void *)tsw_imatcopy_rows_d, ROWS_THREADS, 1, 8, 0},
		{"rows", (const void *)tsw_imatcopy_rows_c, ROWS_THREADS, 1, 8, 0},
		{"rows", (const void *)tsw_imatcopy_rows_z, ROWS_THREADS, 1, 16, 0},
	};
	const struct tsw_kernel *kernel = &table[p->epilogue.type];
	/* A row may begin up to 15 bytes past a vector. */
	const uint64_t row = p->n * kernel->tile + 15;

	p->units = (row + ROWS_SEGMENT - 1) / ROWS_SEGMENT;
	/* The rows lie apart in an address space of 63 bits, and a segment has at least 4 bytes. */
	p->pairs = count * p->n * p->units;
	*blocks = (p->pairs + ROWS_THREADS / 32 - 1) / (ROWS_THREADS / 32);
	return kernel;
}
