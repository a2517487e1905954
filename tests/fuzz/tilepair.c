/* The input is a pair number, a grid of tiles, a grouping: src/tilepair.h and the file engine's
 * src/file/region.h against arithmetic that is slow and cannot overflow. */
#include "fuzz.h"

#include "file/region.h"

#include <stdlib.h>

typedef unsigned __int128 wide;

#define MOST_TILES UINT32_MAX

/* T(T+1)/2 */
static wide triangle(uint64_t tiles)
{
	return (wide)tiles * (tiles + 1) / 2;
}

/* The largest j with j(j+1)/2 <= k, by halving. */
static uint64_t column_of(uint64_t k)
{
	uint64_t low = 0, high = MOST_TILES;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (triangle(middle) <= k)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void check_pair(uint64_t k)
{
	const struct tsw_pair p = tsw_pair_at(k);
	const uint64_t j = column_of(k);

	fuzz_require(p.j == j && p.i == k - triangle(j), "k = %ju is (%ju, %ju), not (%u, %u)",
		     (uintmax_t)k, (uintmax_t)(k - triangle(j)), (uintmax_t)j, p.i, p.j);
	fuzz_require(tsw_pair_index(p.i, p.j) == k, "(%u, %u) is k = %ju, not %ju", p.i, p.j,
		     (uintmax_t)k, (uintmax_t)tsw_pair_index(p.i, p.j));
}

static void check_counts(uint64_t n, uint64_t tile, uint64_t tiles)
{
	fuzz_require(tsw_tile_count(n, tile) == ((wide)n + tile - 1) / tile,
		     "n = %ju, tile = %ju: %ju tiles", (uintmax_t)n, (uintmax_t)tile,
		     (uintmax_t)tsw_tile_count(n, tile));
	fuzz_require(tsw_pair_count(tiles) == triangle(tiles), "T = %ju: %ju pairs",
		     (uintmax_t)tiles, (uintmax_t)tsw_pair_count(tiles));
}

/* The number of (i, j) in the grouped order, counted from its definition. */
static wide grouped_number(uint32_t i, uint32_t j, uint64_t tiles, uint32_t group)
{
	const uint64_t begin = j / group * (uint64_t)group;
	const uint64_t width = tiles - begin < group ? tiles - begin : group;
	const uint64_t row = i < begin ? 0 : i - begin;

	if (i < begin)
		return triangle(begin) + (wide)i * width + (j - begin);
	/* Rows begin, begin + 1, ... of the triangle have width, width - 1, ... pairs. */
	return triangle(begin) + (wide)begin * width + (wide)row * width -
	       (row ? triangle(row - 1) : 0) + (j - i);
}

static void check_grouped(uint64_t k, uint32_t tiles, uint32_t group)
{
	const struct tsw_pair p = tsw_pair_at_grouped(k, tiles, group);

	fuzz_require(p.i <= p.j && p.j < tiles, "k = %ju, T = %u, group = %u: (%u, %u)",
		     (uintmax_t)k, tiles, group, p.i, p.j);
	fuzz_require(grouped_number(p.i, p.j, tiles, group) == k,
		     "k = %ju, T = %u, group = %u is not (%u, %u)", (uintmax_t)k, tiles, group, p.i,
		     p.j);
}

/* ---- the grid of a file ---------------------------------------------------------------------- */

/* Rows of a half follow one another without a gap, and end within the matrix. */
static void check_half(const struct tsw_grid *g, const struct tsw_region *x, size_t r)
{
	fuzz_require(x->rows && x->cols && x->row + x->rows <= g->n && x->col + x->cols <= g->n,
		     "%zu x %zu at (%ju, %ju), n = %ju", x->rows, x->cols, (uintmax_t)x->row,
		     (uintmax_t)x->col, (uintmax_t)g->n);
	fuzz_require(x->at == g->offset + ((wide)x->row * g->ld + x->col) * g->elem_size,
		     "(%ju, %ju) at byte %ju", (uintmax_t)x->row, (uintmax_t)x->col,
		     (uintmax_t)x->at);
	r %= x->rows;
	fuzz_require(tsw_run_packed(x, r + 1) - tsw_run_packed(x, r) == tsw_run_bytes(x, r),
		     "row %zu of %zu x %zu, shape %d", r, x->rows, x->cols, x->shape);
	fuzz_require(tsw_run_start(x, r) + tsw_run_bytes(x, r) <= x->cols * x->elem_size,
		     "row %zu of %zu x %zu, shape %d is too long", r, x->rows, x->cols, x->shape);
}

/* Every element off the diagonal lies in one half, with squares every element of the diagonal too,
 * and bytes_before adds up. */
static void paint(const struct tsw_grid *g)
{
	unsigned char *seen = calloc(g->n, g->n);
	uint64_t bytes = 0;

	if (!seen)
		abort();
	for (uint64_t k = 0; k < 2 * tsw_grid_pairs(g); k++) {
		const struct tsw_region x = tsw_half(g, tsw_pair_at(k / 2), k % 2);

		if (k % 2 == 0)
			fuzz_require(tsw_bytes_before(g, k / 2) == bytes,
				     "%ju bytes before pair %ju, not %ju", (uintmax_t)bytes,
				     (uintmax_t)k / 2, (uintmax_t)tsw_bytes_before(g, k / 2));
		for (size_t r = 0; r < x.rows; r++) {
			const size_t start = tsw_run_start(&x, r) / x.elem_size,
				     end = start + tsw_run_bytes(&x, r) / x.elem_size;

			for (size_t c = start; c < end; c++)
				seen[(x.row + r) * g->n + x.col + c]++;
		}
		bytes += tsw_region_bytes(&x);
		if (x.shape == TSW_LOWER && !x.square)
			bytes += x.rows * x.elem_size; /* the diagonal */
	}
	for (size_t e = 0; e < g->n * g->n; e++)
		fuzz_require(seen[e] == (g->square || e / g->n != e % g->n),
			     "element %zu of n = %ju: %u times", e, (uintmax_t)g->n, seen[e]);
	fuzz_require(bytes == g->n * g->n * g->elem_size, "%ju bytes", (uintmax_t)bytes);
	free(seen);
}

/* False: no grid that a file can have. */
static int make_grid(struct fuzz_input *in, struct tsw_grid *g)
{
	wide end;

	g->n = fuzz_number(in);
	g->ld = g->n + fuzz_number(in) % 1000;
	g->elem_size = 1 + fuzz_number(in) % 5000;
	g->offset = fuzz_number(in) >> 1;
	g->tile = fuzz_number(in);
	g->first = fuzz_number(in);
	g->square = fuzz_number(in);
	if (!g->n || g->ld < g->n)
		return 0;
	g->tile = 1 + g->tile % (g->n < 1 << 20 ? g->n : 1 << 20);
	g->first %= g->tile;
	g->square %= g->tile + 1;
	end = ((wide)(g->n - 1) * g->ld + g->n) * g->elem_size + g->offset;
	return end <= INT64_MAX && tsw_grid_tiles(g) <= MOST_TILES;
}

static void check_grid(struct fuzz_input *in)
{
	struct tsw_grid g;
	struct tsw_pair p;
	uint64_t k, tiles;

	if (!make_grid(in, &g))
		return;
	k = fuzz_number(in) % tsw_grid_pairs(&g);
	p = tsw_pair_at(k);
	tiles = tsw_grid_tiles(&g);
	fuzz_require(tsw_grid_start(&g, tiles - 1) < g.n &&
			     g.n - tsw_grid_start(&g, tiles - 1) <=
				     (tiles > 1 || !g.first ? g.tile : g.first),
		     "%ju tiles of %zu, first %zu, for n = %ju", (uintmax_t)tiles, g.tile, g.first,
		     (uintmax_t)g.n);
	for (int half = 0; half < 2; half++) {
		const struct tsw_region x = tsw_half(&g, p, half);

		check_half(&g, &x, fuzz_number(in));
	}
	if (g.n <= 40)
		paint(&g);
}

void fuzz_tilepair(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, data + size};
	const uint64_t tiles = 1 + fuzz_number(&in) % MOST_TILES, k = fuzz_number(&in);
	const uint64_t n = fuzz_number(&in), tile = fuzz_number(&in);
	const uint32_t group = 1 + (uint32_t)(fuzz_number(&in) % 5000);

	check_counts(n, tile ? tile : 1, tiles);
	check_pair(k % tsw_pair_count(MOST_TILES));
	check_pair(k % tsw_pair_count(tiles));
	check_grouped(k % tsw_pair_count(tiles), (uint32_t)tiles, group);
	check_grid(&in);
}
