/* The walk: threads over tile pairs. */
#include "cpu.h"

#include "../tilepair.h"
#include "caches.h"
#include "plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* Below this many bytes a thread is not worth waking. */
#define BYTES_PER_THREAD (512u << 10)

/* Strips that rows which collide are fetched ahead. */
#define LEAD 2

/* Bytes of small matrices that are turned, then finished. */
#define HANDFUL (8u << 10)

/* One matrix cut into tiles.  The first tile is as small as it takes for the others to begin on a
 * cache line:
 *
 *     |first|   tile   |   tile   | ... |rest|
 */
struct grid {
	const struct tsw_plan *plan;
	unsigned char *base;
	size_t first;
	uint64_t tiles;
	unsigned char *stage; /* two buffers of stage_bytes() each, or NULL */
};

/* A tile pair: rows x cols elements at a, cols x rows at b. */
struct tiles {
	unsigned char *a, *b;
	size_t rows, cols;
	size_t stride;
};

static struct grid grid_over(const struct tsw_plan *p, unsigned char *base, unsigned char *stage)
{
	struct grid g = {.plan = p, .base = base, .first = p->tile, .stage = stage};
	size_t ahead = -(uintptr_t)base % TSW_LINE;

	if (p->align && ahead && ahead % p->width == 0)
		g.first = ahead / p->width;
	g.tiles = p->n <= g.first ? 1 : 1 + tsw_tile_count(p->n - g.first, p->tile);
	return g;
}

static size_t tile_start(const struct grid *g, uint64_t t)
{
	return t ? g->first + (t - 1) * g->plan->tile : 0;
}

static size_t tile_side(const struct grid *g, uint64_t t)
{
	size_t left = g->plan->n - tile_start(g, t), side = t ? g->plan->tile : g->first;

	return left < side ? left : side;
}

/* The tile that holds row or column x. */
static uint64_t tile_of(const struct grid *g, size_t x)
{
	return x < g->first ? 0 : 1 + (x - g->first) / g->plan->tile;
}

static struct tiles tiles_at(const struct grid *g, struct tsw_pair p)
{
	const struct tsw_plan *plan = g->plan;
	size_t i = tile_start(g, p.i), j = tile_start(g, p.j);

	return (struct tiles){.a = g->base + i * plan->stride + j * plan->width,
			      .b = g->base + j * plan->stride + i * plan->width,
			      .rows = tile_side(g, p.i),
			      .cols = tile_side(g, p.j),
			      .stride = plan->stride};
}

/* ---- one pair -------------------------------------------------------------------------------- */

/* Lines that nbytes of a row touch, at most. */
static size_t row_lines(const struct tsw_plan *p, size_t nbytes)
{
	return (nbytes + TSW_LINE - 1) / TSW_LINE + (p->stride % TSW_LINE != 0);
}

/* What imatcopy does to values that were moved as they are, while they lie in the first-level
 * cache; blocks of a strip are finished on their way. */
static void finish(const struct tsw_plan *p, unsigned char *a, size_t stride, size_t rows,
		   size_t cols)
{
	if (p->finish)
		p->isa->finish(p->finish, a, stride, rows, cols * p->width);
}

/* The strip of blocks that begins at block (r, c) of tile a and (c, r) of tile b, while what lies
 * at next_a and next_b, not NULL if that is not, is fetched. */
static void swap_strip(const struct tsw_plan *p, const struct tiles *t, size_t r, size_t c,
		       size_t count, int diagonal, const unsigned char *next_a,
		       const unsigned char *next_b)
{
	size_t down = p->block * t->stride, right = p->block * p->width;
	struct tsw_strip s = {.a = t->a + r * down + c * right,
			      .b = t->b + c * down + r * right,
			      .sa = t->stride,
			      .sb = t->stride,
			      .step_a = diagonal ? down + right : right,
			      .step_b = diagonal ? down + right : down,
			      .next_a = next_a,
			      .next_b = next_b,
			      .count = count,
			      .lines = next_a && !diagonal ? row_lines(p, count * right) : 0,
			      .width = p->width,
			      .colliding = p->colliding && next_a,
			      .finish = p->finish};

	if (count)
		p->kernel->swap(&s);
}

static void swap_edge(const struct tsw_plan *p, unsigned char *a, unsigned char *b, size_t stride,
		      size_t rows, size_t cols)
{
	p->kernel->swap_ragged(a, stride, b, stride, rows, cols, p->width);
	finish(p, a, stride, rows, cols);
	finish(p, b, stride, cols, rows);
}

static void turn(const struct tsw_plan *p, unsigned char *a, size_t side, const unsigned char *next)
{
	if (p->finish)
		p->kernel->turn_finish(p->finish, a, p->stride, side, next);
	else
		p->kernel->turn(a, p->stride, side, p->width, next);
}

/* What the whole blocks leave of a pair at its right and lower edges. */
static void swap_edges(const struct tsw_plan *p, const struct tiles *t)
{
	size_t block = p->block;
	size_t whole_rows = t->rows / block * block, whole_cols = t->cols / block * block;

	for (size_t r = 0; r < t->rows; r += block)
		for (size_t c = r < whole_rows ? whole_cols : 0; c < t->cols; c += block)
			swap_edge(p, t->a + r * t->stride + c * p->width,
				  t->b + c * t->stride + r * p->width, t->stride,
				  t->rows - r < block ? t->rows - r : block,
				  t->cols - c < block ? t->cols - c : block);
}

/* Tile b of the next pair lies beside b as a rule and is fetched while this pair is swapped.  Tile
 * a of it lies below a: where rows collide, both want the same sets of the second-level cache, so
 * of that one no more is fetched than the next LEAD strips need. */
static void swap_by_rows(const struct tsw_plan *p, const struct tiles *t, const struct tiles *next)
{
	size_t rows = t->rows / p->block, cols = t->cols / p->block, down = p->block * t->stride;
	size_t lead = p->colliding && rows > LEAD ? LEAD : rows;

	for (size_t r = 0; r < rows; r++) {
		const unsigned char *next_a = NULL, *next_b = NULL;

		if (next) {
			next_a = r + lead < rows ? t->a + (r + lead) * down
						 : next->a + (r + lead - rows) * down;
			next_b = next->b + r * down;
		}
		swap_strip(p, t, r, 0, cols, 0, next_a, next_b);
	}
	swap_edges(p, t);
}

/* The block of a tile, or of its mirror image, at which a strip begins. */
static const unsigned char *block_at(const struct tsw_plan *p, const unsigned char *tile, size_t r,
				     size_t c)
{
	return tile ? tile + r * p->block * p->stride + c * p->block * p->width : NULL;
}

/* Diagonal d of a grid of rows x cols blocks begins at (0, d), or, for the part that wraps round,
 * at (side - d, 0). */
static void swap_by_diagonals(const struct tsw_plan *p, const struct tiles *t,
			      const struct tiles *next)
{
	size_t rows = t->rows / p->block, cols = t->cols / p->block;
	size_t side = rows > cols ? rows : cols;

	for (size_t d = 0; d < side; d++) {
		const struct tiles *ahead = next && d + 1 < side ? t : next;
		const unsigned char *a = ahead ? ahead->a : NULL, *b = ahead ? ahead->b : NULL;
		size_t ahead_d = d + 1 < side ? d + 1 : 0, wrap = side - d;
		size_t ahead_r = ahead_d ? wrap - 1 : wrap, ahead_c = ahead_d ? 0 : wrap;

		if (d < cols)
			swap_strip(p, t, 0, d, rows < cols - d ? rows : cols - d, 1,
				   block_at(p, a, 0, ahead_d), block_at(p, b, ahead_d, 0));
		if (wrap < rows)
			swap_strip(p, t, wrap, 0, rows - wrap < cols ? rows - wrap : cols, 1,
				   block_at(p, a, ahead_r, ahead_c),
				   block_at(p, b, ahead_c, ahead_r));
	}
	swap_edges(p, t);
}

/* Rows of a buffer lie a little more than a tile apart, at the same offsets from a cache line as
 * the rows of the matrix. */
static size_t stage_stride(const struct tsw_plan *p)
{
	size_t least = (p->tile * p->width + TSW_LINE - 1) / TSW_LINE * TSW_LINE + TSW_LINE;

	return least + p->stride % TSW_LINE;
}

static size_t stage_bytes(const struct tsw_plan *p)
{
	return (p->tile * stage_stride(p) + 2 * TSW_LINE - 1) / TSW_LINE * TSW_LINE;
}

static void swap_staged(const struct grid *g, const struct tiles *t)
{
	const struct tsw_plan *p = g->plan;
	struct tiles s = {.a = g->stage + (uintptr_t)t->a % TSW_LINE,
			  .b = g->stage + stage_bytes(p) + (uintptr_t)t->b % TSW_LINE,
			  .rows = t->rows,
			  .cols = t->cols,
			  .stride = stage_stride(p)};
	size_t a_bytes = t->cols * p->width, b_bytes = t->rows * p->width;

	p->isa->copy(s.a, s.stride, t->a, t->stride, t->rows, a_bytes, 1);
	p->isa->copy(s.b, s.stride, t->b, t->stride, t->cols, b_bytes, 1);
	swap_by_rows(p, &s, NULL);
	p->isa->copy(t->a, t->stride, s.a, s.stride, t->rows, a_bytes, 0);
	p->isa->copy(t->b, t->stride, s.b, s.stride, t->cols, b_bytes, 0);
}

/* A tile on the diagonal.  The kernel fetches tile a of the next pair, but not b. */
static void turn_diagonal(const struct tsw_plan *p, const struct tiles *t, const struct tiles *next)
{
	size_t lines = next ? row_lines(p, next->rows * p->width) : 0;

	for (size_t r = 0; next && r < next->cols; r++)
		for (size_t x = 0; x < lines; x++)
			__builtin_prefetch(next->b + r * p->stride + x * TSW_LINE, 0, 2);
	turn(p, t->a, t->rows, next ? next->a : NULL);
}

static void swap_pair(const struct grid *g, struct tsw_pair pair, const struct tiles *next)
{
	const struct tsw_plan *p = g->plan;
	struct tiles t = tiles_at(g, pair);

	if (!p->fetch)
		next = NULL;
	if (!p->kernel)
		p->isa->wide(t.a, p->stride, t.b, p->stride, t.rows, t.cols, p->width,
			     next ? next->a : NULL, next ? next->b : NULL);
	else if (pair.i == pair.j)
		turn_diagonal(p, &t, next);
	else if (g->stage)
		swap_staged(g, &t);
	else if (p->order == TSW_DIAGONALS)
		swap_by_diagonals(p, &t, next);
	else
		swap_by_rows(p, &t, next);
}

/* ---- ranges of pairs ------------------------------------------------------------------------- */

static uint64_t root(uint64_t x)
{
	uint64_t r = (uint64_t)sqrt((double)x);

	while (r && r > x / r)
		r--;
	while (r + 1 <= x / (r + 1))
		r++;
	return r;
}

/* The pair before which `work` elements of a matrix have been visited.  The pairs before (0, j)
 * cover a square, the rows and columns before tile j; each pair of column j adds two tiles. */
static uint64_t pair_after(const struct grid *g, uint64_t work)
{
	uint64_t j = tile_of(g, root(work)), start, i;

	if (j >= g->tiles || work == (uint64_t)g->plan->n * g->plan->n)
		return tsw_pair_count(g->tiles);
	start = tile_start(g, j);
	i = tile_of(g, (work - start * start) / (2 * tile_side(g, j)));
	return tsw_pair_count(j) + (i < j ? i : j);
}

static void swap_pairs(const struct grid *g, uint64_t from, uint64_t to)
{
	struct tsw_pair pair, after;

	if (from >= to)
		return;
	pair = tsw_pair_at(from);
	for (uint64_t k = from; k < to; k++, pair = after) {
		struct tiles next;

		after = pair.i < pair.j ? (struct tsw_pair){pair.i + 1, pair.j}
					: (struct tsw_pair){0, pair.j + 1};
		if (k + 1 < to)
			next = tiles_at(g, after);
		swap_pair(g, pair, k + 1 < to ? &next : NULL);
	}
}

/* ---- slants ---------------------------------------------------------------------------------- */

/* The slant before which `work` elements of a matrix have been visited: those whose i + j is less
 * than x are half a square, or all but half a square. */
static size_t slant_after(const struct tsw_plan *p, size_t first, uint64_t work)
{
	uint64_t all = (uint64_t)p->n * p->n, left = all - work;
	size_t line = TSW_LINE / p->width, end = (first + 2 * p->n - 2) / line + 1;
	size_t x = work < left ? root(2 * work) : 2 * p->n - root(2 * left);

	return work == 0 ? 0 : left == 0 ? end : (first + x) / line;
}

/* The diagonal, which is in no slant, is finished by whoever begins. */
static void swap_slants(const struct tsw_plan *p, unsigned char *base, uint64_t from, uint64_t to)
{
	size_t first = (uintptr_t)base % TSW_LINE / p->width;
	struct tsw_slants s = {.base = base,
			       .stride = p->stride,
			       .n = p->n,
			       .first = first,
			       .from = slant_after(p, first, from),
			       .to = slant_after(p, first, to),
			       .width = p->width,
			       .finish = p->finish};

	p->kernel->slants(&s);
	if (from == 0)
		finish(p, base, p->stride + p->width, p->n, 1);
}

/* Elements from ... to - 1 of one matrix, counted as they are visited. */
static void swap_range(const struct tsw_plan *p, unsigned char *base, unsigned char *stage,
		       uint64_t from, uint64_t to)
{
	struct grid g = grid_over(p, base, stage);

	if (p->order == TSW_SLANTS && (uintptr_t)base % p->width == 0)
		swap_slants(p, base, from, to);
	else
		swap_pairs(&g, pair_after(&g, from), pair_after(&g, to));
}

static unsigned char *matrix_at(const struct tsw_matrices *m, size_t b)
{
	if (m->array)
		return m->array[b];
	return (unsigned char *)m->base + b * m->stride * m->elem_size;
}

/* total * part / parts without overflow; part = parts gives total. */
static uint64_t share(uint64_t total, uint64_t part, uint64_t parts)
{
	return total / parts * part + total % parts * part / parts;
}

/* Matrices of one block each.  With something to finish they go by the handful, which the
 * first-level cache holds until it is done. */
static void turn_blocks(const struct tsw_plan *p, const struct tsw_matrices *m, uint64_t part,
			uint64_t parts)
{
	size_t width = m->elem_size, end = share(m->count, part + 1, parts);
	size_t dense = m->n * m->n, few = p->finish ? 1 + HANDFUL / (dense * width) : SIZE_MAX;
	struct tsw_row row = {
		.stride = m->ld * width, .step = m->stride * width, .side = m->n, .width = width};

	for (size_t b = share(m->count, part, parts); b < end; b += row.count) {
		row.count = end - b < few ? end - b : few;
		if (m->array)
			row.array = m->array + b;
		else
			row.a = matrix_at(m, b);
		p->kernel->turn_row(&row);
		if (m->ld == m->n && m->stride == dense)
			finish(p, row.a, 0, 1, row.count * dense);
		else
			for (size_t q = 0; p->finish && q < row.count; q++)
				finish(p, row.a + q * row.step, row.stride, m->n, m->n);
	}
}

/* Matrices of one tile each. */
static void turn_tiles(const struct tsw_plan *p, const struct tsw_matrices *m, uint64_t part,
		       uint64_t parts)
{
	size_t end = share(m->count, part + 1, parts);

	for (size_t b = share(m->count, part, parts); b < end; b++)
		turn(p, matrix_at(m, b), m->n, b + 1 < end ? matrix_at(m, b + 1) : NULL);
}

/* Part `part` of `parts`: a contiguous range of (matrix, pair) of equal work.  The matrices lie
 * apart in an address space of 64 bits, so count * n * n elements do not overflow. */
void tsw_cpu_run_part(const struct tsw_plan *p, const struct tsw_matrices *m, uint64_t part,
		      uint64_t parts)
{
	uint64_t each = (uint64_t)m->n * m->n;
	uint64_t begin = share(m->count * each, part, parts);
	uint64_t end = share(m->count * each, part + 1, parts);

	unsigned char *stage = NULL;

	if (p->kernel && m->n <= p->block) {
		turn_blocks(p, m, part, parts);
		return;
	}
	if (p->kernel && m->n <= p->tile && !p->whole) {
		turn_tiles(p, m, part, parts);
		return;
	}
	/* Without the buffer it only takes longer. */
	if (p->order == TSW_STAGED)
		stage = aligned_alloc(TSW_LINE, 2 * stage_bytes(p));
	for (uint64_t b = begin / each; b < m->count && b * each < end; b++) {
		uint64_t from = b == begin / each ? begin % each : 0;
		uint64_t to = end - b * each < each ? end - b * each : each;

		swap_range(p, matrix_at(m, b), stage, from, to);
	}
	free(stage);
}

int tsw_cpu_threads_worth(const struct tsw_matrices *m, int nthreads)
{
	double bytes = (double)m->n * m->n * m->elem_size * m->count;
	double worth = bytes / BYTES_PER_THREAD;
	int most = tsw_cpu_threads(nthreads);

	return worth < 2 ? 1 : worth < most ? (int)worth : most;
}

void tsw_cpu_run(const struct tsw_plan *plan, const struct tsw_matrices *m, int nthreads)
{
	int threads = tsw_cpu_threads_worth(m, nthreads);

	if (threads == 1) {
		tsw_cpu_run_part(plan, m, 0, 1);
		return;
	}
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
	tsw_cpu_run_part(plan, m, (uint64_t)omp_get_thread_num(), (uint64_t)omp_get_num_threads());
#endif
}

int tsw_cpu_turn_small(void *a, size_t n, size_t ld, size_t elem_size)
{
	/* Smaller than a thread is worth, and the product of any two of them is no overflow. */
	if (!a || elem_size - 1 >= 16 || n > 256 || n * elem_size > 1024 || ld < n ||
	    ld > UINT32_MAX || n == 0)
		return 0;
	tsw_cpu_isa()->kernel[elem_size]->turn(a, ld * elem_size, n, elem_size, NULL);
	return 1;
}

void tsw_cpu_run_best(const struct tsw_matrices *m, const struct tsw_epilogue *finish, int nthreads)
{
	struct tsw_plan plan = tsw_cpu_plan(m, tsw_cpu_isa());

	plan.finish = finish;
	if (tsw_cpu_threads_worth(m, nthreads) == 1)
		tsw_cpu_plan_alone(&plan);
	tsw_cpu_run(&plan, m, nthreads);
}

void tsw_cpu_transpose(const struct tsw_matrices *m, int nthreads)
{
	if (m->count == 1 && tsw_cpu_turn_small(matrix_at(m, 0), m->n, m->ld, m->elem_size))
		return;
	tsw_cpu_run_best(m, NULL, nthreads);
}
