/* Rectangles: their maps, and which kernel moves them. */
#include "rect.h"

#include "../../kernels/exchange.h"
#include "../status.h"
#include "cuda.h"
#include "launch.h"

/* ---- maps ------------------------------------------------------------------------------------ */

/* Some consecutive indices of a set, few enough runs for a kernel's maps: where they lie as rows of
 * a local matrix, and as columns. */
struct window {
	struct edge {
		uint64_t origin; /* local index of the first */
		struct tsw_index_map map;
	} row, col;
	uint64_t at, count; /* indices of the walk before it, and in it */
};

/* Adds a run that begins at index `at`.  0 if the map is full. */
static int append(struct edge *e, uint64_t at, uint64_t local)
{
	struct tsw_index_map *map = &e->map;
	const struct tsw_run *last = map->runs ? &map->run[map->runs - 1] : NULL;

	if (!last)
		e->origin = local;
	else if (local - e->origin - last->local == at - last->at)
		return 1; /* goes on where the last run ends */
	if (map->runs == TSW_INDEX_RUNS)
		return 0;
	map->run[map->runs++] = (struct tsw_run){(uint32_t)at, (uint32_t)(local - e->origin)};
	return 1;
}

/* One run that no period cuts is index for index, which kernels need not look up. */
static void finish(struct edge *e, uint64_t count, uint64_t period, uint64_t step)
{
	e->map.count = (uint32_t)count;
	e->map.period = (uint32_t)period;
	e->map.step = (uint32_t)step;
	if (e->map.runs == 1 && (period >= count || period == step))
		e->map.runs = 0;
}

static uint64_t common_multiple(uint64_t x, uint64_t y)
{
	uint64_t a = x, b = y, product;

	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return __builtin_mul_overflow(x / a, y, &product) ? UINT64_MAX : product;
}

/* Indices after which owners and distances repeat; UINT64_MAX if beyond every matrix.  Where a grid
 * has one row, or one column, that side's blocks deal nothing out. */
static uint64_t repeats_after(const struct tsw_spread *s)
{
	uint64_t down = 1, right = 1;

	if (s->nprow > 1 && __builtin_mul_overflow(s->mb, (uint64_t)s->nprow, &down))
		return UINT64_MAX;
	if (s->npcol > 1 && __builtin_mul_overflow(s->nb, (uint64_t)s->npcol, &right))
		return UINT64_MAX;
	return common_multiple(down, right);
}

/* Takes the next window off *rest, all of it if the runs of one period fit; 0 if nothing is left.
 */
static int next_window(struct tsw_walk *rest, struct window *out)
{
	const struct tsw_spread *s = rest->of.spread;
	const uint64_t left = rest->left, cycle = repeats_after(s);
	uint64_t count = 0, end = UINT64_MAX;
	struct tsw_walk w = *rest;

	*out = (struct window){.at = rest->at + rest->len, .count = left};
	while (tsw_walk_next(&w)) {
		if (count == 0 && w.first <= UINT64_MAX - cycle)
			end = w.first + cycle;
		if (w.first >= end)
			break;
		if (!append(&out->row, count, w.row) || !append(&out->col, count, w.col)) {
			out->count = count;
			break;
		}
		count += w.first + w.len < end ? w.len : end - w.first;
		*rest = w;
		if (w.first + w.len >= end)
			break;
	}
	/* Where a cycle ended first, the rest repeats it. */
	if (out->count == left)
		rest->left = 0;
	finish(&out->row, out->count, count, cycle / s->nprow);
	finish(&out->col, out->count, count, cycle / s->npcol);
	return out->count != 0;
}

static char *element(const struct tsw_rect *r, const struct window *down,
		     const struct window *across)
{
	return r->a + (down->row.origin * r->ld + across->col.origin) * r->elem_size;
}

static struct tsw_place place_of(const struct tsw_rect *r, const struct window *down,
				 const struct window *across)
{
	return (struct tsw_place){.a = element(r, down, across),
				  .pitch = (uint64_t)r->ld * r->elem_size,
				  .rows = down->row.map,
				  .cols = across->col.map};
}

static struct tsw_place dense(char *a, uint64_t pitch, uint64_t rows, uint64_t cols)
{
	return (struct tsw_place){.a = a,
				  .pitch = pitch,
				  .rows = {.count = (uint32_t)rows},
				  .cols = {.count = (uint32_t)cols}};
}

/* ---- how they can be moved ------------------------------------------------------------------- */

/* Do all boundaries of the map lie at multiples of `step`? */
static int divides(const struct tsw_index_map *map, uint32_t step)
{
	if (map->count % step)
		return 0;
	if (map->runs && map->period < map->count && (map->period % step || map->step % step))
		return 0;
	for (uint32_t i = 0; i < map->runs; i++)
		if (map->run[i].at % step || map->run[i].local % step)
			return 0;
	return 1;
}

/* The map with `step` indices as one. */
static struct tsw_index_map scaled(struct tsw_index_map map, uint32_t step)
{
	map.count /= step;
	map.step /= step;
	/* A period that is never reached need not be a multiple. */
	map.period = map.period < step ? 1 : map.period / step;
	for (uint32_t i = 0; i < map.runs; i++) {
		map.run[i].at /= step;
		map.run[i].local /= step;
	}
	return map;
}

/* The largest power of two, at most 16, that divides all bits of x. */
static unsigned unit_of(uint64_t x)
{
	return (unsigned)((x | 16) & (~(x | 16) + 1));
}

static uint64_t address_bits(const struct tsw_place *p)
{
	return (uintptr_t)p->a | p->pitch;
}

/* Are both made of whole aligned vectors, as the vector kernels want? */
static int made_of_vectors(const struct tsw_exchange *p, size_t elem_size)
{
	const uint32_t v = 16 / (uint32_t)elem_size;

	return elem_size <= 16 && 16 % elem_size == 0 &&
	       (address_bits(&p->from) | address_bits(&p->to)) % 16 == 0 &&
	       divides(&p->from.cols, v) && divides(&p->to.cols, v);
}

/* ---- launching ------------------------------------------------------------------------------- */

/* Blocks [first, end), in as many launches as the grid needs; *at is the member of the parameter
 * that says where a launch begins. */
static tsw_status launch_blocks(const struct tsw_kernel *kernel, const void *parameter,
				uint64_t *at, uint64_t first, uint64_t end, tsw_stream stream)
{
	const uint64_t limit = tsw_cuda_grid(0);

	for (*at = first; *at < end;) {
		const uint64_t blocks = end - *at < limit ? end - *at : limit;

		TRY(tsw_cuda_launch(kernel, parameter, blocks, stream));
		*at += blocks;
	}
	return TSW_OK;
}

/* Half 0 or 1 of an exchange, or all of it. */
#define WHOLE 2u

static tsw_status exchange(struct tsw_exchange *p, size_t elem_size, unsigned half,
			   tsw_stream stream)
{
	const int vectors = made_of_vectors(p, elem_size);
	const unsigned unit =
		vectors ? (unsigned)elem_size
			: unit_of(elem_size | address_bits(&p->from) | address_bits(&p->to));
	struct tsw_kernel kernel;
	uint64_t blocks;

	p->units = (uint32_t)(elem_size / unit);
	kernel = tsw_kernel_exchange(p, unit, vectors, &blocks);
	return launch_blocks(&kernel, p, &p->first, half == 1 ? blocks / 2 : 0,
			     half == 0 ? blocks / 2 : blocks, stream);
}

/* ---- the calls ------------------------------------------------------------------------------- */

char *tsw_rect_whole(const struct tsw_rect *r)
{
	struct tsw_walk down = r->down, across = r->across;
	struct window rows, cols;

	if (!next_window(&down, &rows) || !next_window(&across, &cols) || rows.row.map.runs ||
	    cols.col.map.runs || rows.count != r->rows || cols.count != r->cols)
		return NULL;
	return element(r, &rows, &cols);
}

static tsw_status pack(const struct tsw_rect *r, const struct window *rows,
		       const struct window *cols, char *to, tsw_stream stream)
{
	struct tsw_gather p = {.from = place_of(r, rows, cols), .pitch = r->cols * r->elem_size};
	const unsigned elem_unit = unit_of(r->elem_size);
	struct tsw_kernel kernel;
	unsigned unit;
	uint64_t blocks;

	p.to = to + rows->at * p.pitch + cols->at * r->elem_size;
	unit = unit_of((uintptr_t)p.to | p.pitch | address_bits(&p.from));
	if (elem_unit == r->elem_size) {
		/* Several narrow elements travel as one unit. */
		while (unit > elem_unit && !divides(&p.from.cols, unit / elem_unit))
			unit /= 2;
		if (unit > elem_unit)
			p.from.cols = scaled(p.from.cols, unit / elem_unit);
	}
	unit = elem_unit == r->elem_size || unit < elem_unit ? unit : elem_unit;
	p.units = unit < r->elem_size ? (uint32_t)(r->elem_size / unit) : 1;
	kernel = tsw_kernel_gather(&p, unit, &blocks);
	return launch_blocks(&kernel, &p, &p.first, 0, blocks, stream);
}

tsw_status tsw_rect_pack(const struct tsw_rect *r, void *to, tsw_stream stream)
{
	struct window rows, cols;

	for (struct tsw_walk down = r->down; next_window(&down, &rows);)
		for (struct tsw_walk across = r->across; next_window(&across, &cols);)
			TRY(pack(r, &rows, &cols, to, stream));
	return TSW_OK;
}

tsw_status tsw_rect_fill(const struct tsw_rect *r, const void *from, tsw_stream stream)
{
	const uint64_t pitch = r->rows * r->elem_size; /* `from` is turned */
	struct window rows, cols;

	for (struct tsw_walk down = r->down; next_window(&down, &rows);)
		for (struct tsw_walk across = r->across; next_window(&across, &cols);) {
			char *const a =
				(char *)(uintptr_t)from + cols.at * pitch + rows.at * r->elem_size;
			struct tsw_exchange p = {
				.from = dense(a, pitch, cols.count, rows.count),
				.to = place_of(r, &rows, &cols),
			};

			TRY(exchange(&p, r->elem_size, WHOLE, stream));
		}
	return TSW_OK;
}

tsw_status tsw_rect_swap(const struct tsw_rect *r, const struct tsw_rect *mirror, unsigned half,
			 tsw_stream stream)
{
	struct window rows, cols;

	for (struct tsw_walk down = r->down; next_window(&down, &rows);)
		for (struct tsw_walk across = r->across; next_window(&across, &cols);) {
			struct tsw_exchange p = {
				.from = place_of(r, &rows, &cols),
				.to = place_of(mirror, &cols, &rows),
				.both = 1,
			};

			TRY(exchange(&p, r->elem_size, half, stream));
		}
	return TSW_OK;
}

/* Windows of the one set, pair by pair. */
static tsw_status turn_in_pieces(const struct tsw_rect *r, tsw_stream stream)
{
	struct window rows, cols;

	for (struct tsw_walk down = r->down; next_window(&down, &rows);)
		for (struct tsw_walk across = r->across; next_window(&across, &cols);) {
			struct tsw_exchange p = {
				.from = place_of(r, &rows, &cols),
				.to = place_of(r, &cols, &rows),
				.both = 1,
				.square = rows.at == cols.at,
			};

			if (rows.at <= cols.at)
				TRY(exchange(&p, r->elem_size, WHOLE, stream));
		}
	return TSW_OK;
}

tsw_status tsw_rect_turn(const struct tsw_rect *r, tsw_stream stream)
{
	char *const whole = tsw_rect_whole(r);
	const struct tsw_matrices m = {
		.base = whole, .n = r->rows, .ld = r->ld, .elem_size = r->elem_size, .count = 1};

	if (r->rows <= 1)
		return TSW_OK;
	return whole ? tsw_cuda_transpose(&m, stream, 0) : turn_in_pieces(r, stream);
}
