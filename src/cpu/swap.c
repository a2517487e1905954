/* Two windows that change places, each turned: what a transpose is where a piece and its mirror
 * image lie in different matrices. */
#include "cpu.h"

#include "caches.h"
#include "kernels.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* Below this many bytes a thread is not worth waking. */
#define BYTES_PER_THREAD (512u << 10)

/* rows x cols elements at a, cols x rows at b; cut into tiles of at most tile x tile. */
struct windows {
	const struct tsw_isa *isa;
	const struct tsw_microkernel *kernel; /* NULL: whole elements are swapped */
	unsigned char *a, *b;
	size_t sa, sb, rows, cols, width;
	size_t block, tile;
};

static size_t least(size_t x, size_t y)
{
	return x < y ? x : y;
}

/* Rows of a tile long enough for memory to stream; this pair of tiles and the next together in half
 * of the second-level cache. */
static size_t tile_side(size_t block, size_t width)
{
	size_t quarter = tsw_cpu_caches()->l2_bytes / 8, side = 512 / width;

	while (side > block && side * side * width > quarter)
		side -= block;
	side = side / block * block;
	return side ? side : block;
}

/* Tile t, counted row by row: a part of the windows that is like them. */
static struct windows tile_at(const struct windows *w, size_t t)
{
	size_t across = (w->cols + w->tile - 1) / w->tile;
	size_t r = t / across * w->tile, c = t % across * w->tile;
	struct windows part = *w;

	part.a += r * w->sa + c * w->width;
	part.b += c * w->sb + r * w->width;
	part.rows = least(w->tile, w->rows - r);
	part.cols = least(w->tile, w->cols - c);
	return part;
}

/* The whole blocks of a tile, while those of the next one are fetched. */
static void swap_blocks(const struct windows *w, const struct windows *next)
{
	size_t block = w->block, right = block * w->width;

	for (size_t r = 0; r + block <= w->rows; r += block) {
		struct tsw_strip s = {.a = w->a + r * w->sa,
				      .b = w->b + r * w->width,
				      .sa = w->sa,
				      .sb = w->sb,
				      .step_a = right,
				      .step_b = block * w->sb,
				      .count = w->cols / block,
				      .width = w->width};

		if (next) {
			s.next_a = next->a + r * w->sa;
			s.next_b = next->b + r * w->sb;
			s.lines = (s.count * right + 63) / 64;
		}
		if (s.count)
			w->kernel->swap(&s);
	}
}

/* What the whole blocks leave at the right and lower edges. */
static void swap_edges(const struct windows *w)
{
	size_t block = w->block;
	size_t whole_rows = w->rows / block * block, whole_cols = w->cols / block * block;

	for (size_t r = 0; r < w->rows; r += block)
		for (size_t c = r < whole_rows ? whole_cols : 0; c < w->cols; c += block)
			w->kernel->swap_ragged(w->a + r * w->sa + c * w->width, w->sa,
					       w->b + c * w->sb + r * w->width, w->sb,
					       least(block, w->rows - r), least(block, w->cols - c),
					       w->width);
}

static void swap_tiles(const struct windows *w, size_t from, size_t to)
{
	for (size_t t = from; t < to; t++) {
		struct windows part = tile_at(w, t), next;

		if (!w->kernel) {
			w->isa->wide(part.a, w->sa, part.b, w->sb, part.rows, part.cols, w->width,
				     NULL, NULL);
			continue;
		}
		if (t + 1 < to)
			next = tile_at(w, t + 1);
		swap_blocks(&part, t + 1 < to ? &next : NULL);
		swap_edges(&part);
	}
}

void tsw_cpu_swap(void *a, size_t sa, void *b, size_t sb, size_t rows, size_t cols, size_t width,
		  int nthreads)
{
	const struct tsw_isa *isa = tsw_cpu_isa();
	struct windows w = {.isa = isa,
			    .kernel = width <= 16 ? isa->kernel[width] : NULL,
			    .a = a,
			    .b = b,
			    .sa = sa,
			    .sb = sb,
			    .rows = rows,
			    .cols = cols,
			    .width = width};
	size_t tiles, worth = rows * cols * width / BYTES_PER_THREAD;
	int threads;

	if (!rows || !cols)
		return;
	w.block = w.kernel ? w.kernel->block : 1;
	w.tile = w.kernel ? tile_side(w.block, width) : 8;
	tiles = ((rows + w.tile - 1) / w.tile) * ((cols + w.tile - 1) / w.tile);
	threads = worth < 2 ? 1 : tsw_cpu_threads(nthreads);
	if ((size_t)threads > worth)
		threads = worth < 2 ? 1 : (int)worth;
	if (threads == 1) {
		swap_tiles(&w, 0, tiles);
		return;
	}
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
	{
		size_t part = (size_t)omp_get_thread_num(), parts = (size_t)omp_get_num_threads();

		swap_tiles(&w, tiles / parts * part + tiles % parts * part / parts,
			   tiles / parts * (part + 1) + tiles % parts * (part + 1) / parts);
	}
#endif
}
