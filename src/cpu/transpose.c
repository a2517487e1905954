/* The host engine: threads over tile pairs. */
#include "cpu.h"

#include "../tilepair.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* Below this many bytes a thread is not worth waking. */
#define BYTES_PER_THREAD (512u << 10)

struct walk {
	const struct tsw_matrices *m;
	size_t tile;   /* side of a tile in elements */
	size_t stride; /* bytes from one row to the next */
};

/* Swaps two elements of `size` bytes; inlined with a constant size this is two loads, two stores. */
static inline __attribute__((always_inline)) void swap(unsigned char *x, unsigned char *y,
                                                       size_t size)
{
	unsigned char tx[64], ty[64];

	while (size) {
		size_t part = size < sizeof tx ? size : sizeof tx;

		memcpy(tx, x, part);
		memcpy(ty, y, part);
		memcpy(x, ty, part);
		memcpy(y, tx, part);
		x += part;
		y += part;
		size -= part;
	}
}

/* Element (r, c) of tile `a` and element (c, r) of tile `b` change places; on the diagonal, where
 * `a` is `b`, only those above it are visited. */
static inline __attribute__((always_inline)) void swap_tiles(unsigned char *a, unsigned char *b,
                                                             size_t rows, size_t cols,
                                                             size_t stride, size_t size)
{
	for (size_t r = 0; r < rows; r++)
		for (size_t c = a == b ? r + 1 : 0; c < cols; c++)
			swap(a + r * stride + c * size, b + c * stride + r * size, size);
}

static void swap_tiles_of(unsigned char *a, unsigned char *b, size_t rows, size_t cols,
                          size_t stride, size_t size)
{
	switch (size) {
	case 1:
		swap_tiles(a, b, rows, cols, stride, 1);
		break;
	case 2:
		swap_tiles(a, b, rows, cols, stride, 2);
		break;
	case 4:
		swap_tiles(a, b, rows, cols, stride, 4);
		break;
	case 8:
		swap_tiles(a, b, rows, cols, stride, 8);
		break;
	case 16:
		swap_tiles(a, b, rows, cols, stride, 16);
		break;
	default:
		swap_tiles(a, b, rows, cols, stride, size);
	}
}

static unsigned char *matrix_at(const struct tsw_matrices *m, size_t b)
{
	if (m->array)
		return m->array[b];
	return (unsigned char *)m->base + b * m->stride * m->elem_size;
}

static size_t side(const struct walk *w, size_t tile_index)
{
	size_t left = w->m->n - tile_index * w->tile;

	return left < w->tile ? left : w->tile;
}

static void swap_pair(const struct walk *w, unsigned char *base, struct tsw_pair p)
{
	size_t size = w->m->elem_size;
	unsigned char *a = base + p.i * w->tile * w->stride + p.j * w->tile * size;
	unsigned char *b = base + p.j * w->tile * w->stride + p.i * w->tile * size;

	swap_tiles_of(a, b, side(w, p.i), side(w, p.j), w->stride, size);
}

/* The pair before which `work` elements of one matrix have been visited.  The pairs before (0, j)
 * cover the square of the first j * tile rows and columns; each pair of column j adds the two tiles
 * of its own. */
static uint64_t pair_after(const struct walk *w, uint64_t work)
{
	uint64_t tiles = tsw_tile_count(w->m->n, w->tile), j = (uint64_t)(sqrt((double)work) / w->tile);
	uint64_t square, i;

	if (j >= tiles)
		return tsw_pair_count(tiles);
	square = (uint64_t)j * w->tile * j * w->tile;
	i = work < square ? 0 : (work - square) / (2 * w->tile * side(w, j));
	return tsw_pair_count(j) + (i < j ? i : j);
}

/* Part `part` of `parts`: a contiguous range of (matrix, pair) of equal work. */
static void walk_part(const struct walk *w, uint64_t part, uint64_t parts)
{
	uint64_t each = (uint64_t)w->m->n * w->m->n;
	uint64_t begin = (uint64_t)((double)w->m->count * part / parts * each);
	uint64_t total = w->m->count * each;
	uint64_t end = part + 1 == parts ? total
	                                 : (uint64_t)((double)w->m->count * (part + 1) / parts * each);
	uint64_t pairs = tsw_pair_count(tsw_tile_count(w->m->n, w->tile));

	for (uint64_t b = begin / each; b < w->m->count && b * each < end; b++) {
		uint64_t from = b == begin / each ? pair_after(w, begin % each) : 0;
		uint64_t to = end - b * each < each ? pair_after(w, end - b * each) : pairs;

		for (uint64_t k = from; k < to; k++)
			swap_pair(w, matrix_at(w->m, b), tsw_pair_at(k));
	}
}

static int threads_worth(const struct tsw_matrices *m, int nthreads)
{
	double bytes = (double)m->n * m->n * m->elem_size * m->count;
	double worth = bytes / BYTES_PER_THREAD;
	int most = tsw_cpu_threads(nthreads);

	return worth < 2 ? 1 : worth < most ? (int)worth : most;
}

void tsw_cpu_transpose(const struct tsw_matrices *m, int nthreads)
{
	struct walk w = {.m = m, .tile = m->elem_size < 64 ? 64 : 8, .stride = m->ld * m->elem_size};
	int threads = threads_worth(m, nthreads);

	if (threads == 1) {
		walk_part(&w, 0, 1);
		return;
	}
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
	walk_part(&w, (uint64_t)omp_get_thread_num(), (uint64_t)omp_get_num_threads());
#endif
}
