/* Who swaps which rectangle with whom. */
#include "plan.h"

#include "../matrices.h"
#include "../status.h"

#include <limits.h>
#include <string.h>

/* ---- checking -------------------------------------------------------------------------------- */

/* Fields that a newer caller has set and this library does not know are refused. */
static tsw_status check_size(const tsw_dist *dist)
{
	const unsigned char *bytes = (const unsigned char *)dist;

	if (dist->struct_size < sizeof *dist)
		return tsw_fail(TSW_ERR_OPTION,
				"struct_size = %zu of the layout is less than %zu: begin with "
				"TSW_DIST_INIT",
				dist->struct_size, sizeof *dist);
	for (size_t i = sizeof *dist; i < dist->struct_size; i++)
		if (bytes[i])
			return tsw_fail(TSW_ERR_OPTION,
					"the layout sets a field that this library does not know, "
					"at byte %zu",
					i);
	return TSW_OK;
}

static tsw_status check_side(const char *block_name, size_t block, const char *grid_name, int grid,
			     const char *source_name, int source)
{
	if (block == 0)
		return tsw_fail(TSW_ERR_OPTION, "%s = 0 must be at least 1", block_name);
	if (grid < 1)
		return tsw_fail(TSW_ERR_OPTION, "%s = %d must be at least 1", grid_name, grid);
	if (source < 0 || source >= grid)
		return tsw_fail(TSW_ERR_OPTION, "%s = %d is outside the grid of %s = %d",
				source_name, source, grid_name, grid);
	return TSW_OK;
}

static tsw_status check_dist(const tsw_dist *d)
{
	uint64_t elements;
	int ranks;

	if (!d)
		return tsw_fail(TSW_ERR_NULL, "dist is NULL");
	TRY(check_size(d));
	TRY(check_side("mb", d->mb, "nprow", d->nprow, "rsrc", d->rsrc));
	TRY(check_side("nb", d->nb, "npcol", d->npcol, "csrc", d->csrc));
	if (__builtin_mul_overflow(d->nprow, d->npcol, &ranks))
		return tsw_fail(TSW_ERR_OPTION, "nprow = %d times npcol = %d is more than %d ranks",
				d->nprow, d->npcol, INT_MAX);
	if (d->rank_order != TSW_RANKS_BY_ROWS && d->rank_order != TSW_RANKS_BY_COLUMNS)
		return tsw_fail(TSW_ERR_OPTION, "rank_order = %d is no tsw_rank_order",
				d->rank_order);
	if (d->storage != TSW_STORED_BY_ROWS && d->storage != TSW_STORED_BY_COLUMNS)
		return tsw_fail(TSW_ERR_OPTION, "storage = %d is no tsw_storage", d->storage);
	if (__builtin_mul_overflow((uint64_t)d->n, (uint64_t)d->n, &elements) ||
	    elements > INT64_MAX)
		return tsw_fail(TSW_ERR_OVERFLOW, "n = %zu: n * n elements pass 2^63 - 1", d->n);
	return TSW_OK;
}

/* One rank in a direction holds everything, whatever the blocks; so does the first one if a block
 * is no smaller than the matrix. */
static uint64_t block_of(uint64_t n, uint64_t block, int grid)
{
	uint64_t most = n ? n : 1;

	return grid == 1 || block > most ? most : block;
}

tsw_status tsw_spread_of(const tsw_dist *dist, struct tsw_spread *s)
{
	tsw_dist d;

	TRY(check_dist(dist));
	d = *dist;
	if (d.storage == TSW_STORED_BY_COLUMNS)
		TRY(tsw_dist_turn(&d, &d));
	*s = (struct tsw_spread){.n = d.n,
				 .mb = block_of(d.n, d.mb, d.nprow),
				 .nb = block_of(d.n, d.nb, d.npcol),
				 .nprow = (uint32_t)d.nprow,
				 .npcol = (uint32_t)d.npcol,
				 .rsrc = (uint32_t)d.rsrc,
				 .csrc = (uint32_t)d.csrc,
				 .by_columns = d.rank_order == TSW_RANKS_BY_COLUMNS};
	return TSW_OK;
}

tsw_status tsw_spread_of_bytes(const tsw_dist *dist, size_t elem_size, struct tsw_spread *s)
{
	uint64_t bytes;

	TRY(tsw_spread_of(dist, s));
	if (elem_size == 0)
		return tsw_fail(TSW_ERR_ELEM_SIZE, "elem_size = 0 must be at least 1");
	if (__builtin_mul_overflow(s->n * s->n, (uint64_t)elem_size, &bytes) || bytes > INT64_MAX)
		return tsw_fail(TSW_ERR_OVERFLOW,
				"n = %zu, elem_size = %zu: the matrix has more than 2^63 - 1 bytes",
				dist->n, elem_size);
	return TSW_OK;
}

tsw_status tsw_check_units(size_t elem_size)
{
	const size_t unit = tsw_elem_unit(elem_size);

	if (elem_size / unit > UINT32_MAX)
		return tsw_fail(TSW_ERR_UNSUPPORTED,
				"elem_size = %zu is 2^32 units of %zu bytes or more", elem_size,
				unit);
	return TSW_OK;
}

tsw_status tsw_check_local(const struct tsw_spread *s, uint32_t rank, const void *a, size_t ld,
			   size_t elem_size)
{
	struct tsw_seat seat = tsw_seat_of(s, rank);
	uint64_t rows = tsw_local_rows(s, seat.row), cols = tsw_local_cols(s, seat.col), bytes;

	if (ld < cols)
		return tsw_fail(TSW_ERR_LD, "ld = %zu of rank %u is smaller than its rows' %ju", ld,
				rank, (uintmax_t)cols);
	if (rows == 0 || cols == 0)
		return TSW_OK;
	if (__builtin_mul_overflow(rows - 1, (uint64_t)ld, &bytes) ||
	    __builtin_add_overflow(bytes, cols, &bytes) ||
	    __builtin_mul_overflow(bytes, (uint64_t)elem_size, &bytes) || bytes > PTRDIFF_MAX)
		return tsw_fail(TSW_ERR_OVERFLOW,
				"ld = %zu, elem_size = %zu of rank %u: its %ju rows span more than "
				"PTRDIFF_MAX bytes",
				ld, elem_size, rank, (uintmax_t)rows);
	if (!a)
		return tsw_fail(TSW_ERR_NULL, "a of rank %u is NULL", rank);
	return TSW_OK;
}

/* ---- seats ----------------------------------------------------------------------------------- */

struct tsw_seat tsw_seat_of(const struct tsw_spread *s, uint32_t rank)
{
	if (s->by_columns)
		return (struct tsw_seat){rank % s->nprow, rank / s->nprow};
	return (struct tsw_seat){rank / s->npcol, rank % s->npcol};
}

/* Indices of 0 .. n-1, dealt in blocks, that go to number `who`. */
static uint64_t share(uint64_t n, uint64_t block, uint32_t grid, uint32_t source, uint32_t who)
{
	uint64_t blocks = n / block, ahead = ((uint64_t)who + grid - source) % grid;
	uint64_t mine = blocks / grid * block;

	if (ahead < blocks % grid)
		return mine + block;
	return ahead == blocks % grid ? mine + n % block : mine;
}

uint64_t tsw_local_rows(const struct tsw_spread *s, uint32_t grid_row)
{
	return share(s->n, s->mb, s->nprow, s->rsrc, grid_row);
}

uint64_t tsw_local_cols(const struct tsw_spread *s, uint32_t grid_col)
{
	return share(s->n, s->nb, s->npcol, s->csrc, grid_col);
}

/* ---- walking --------------------------------------------------------------------------------- */

/* How many blocks after `block` the next one of `who` comes; 0 if it is his. */
static uint64_t blocks_ahead(uint64_t block, uint32_t grid, uint32_t source, uint32_t who)
{
	uint32_t holder = (uint32_t)((block + source) % grid);

	return who >= holder ? who - holder : who + grid - holder;
}

/* Sets the run that begins at or after w->x, whole; 0 if there is none.  n < 2^32 and grids are
 * below 2^31, so nothing overflows. */
static int find_run(struct tsw_walk *w)
{
	const struct tsw_spread *s = w->of.spread;
	uint64_t x = w->x, end;

	for (;;) {
		uint64_t row_block = x / s->mb, col_block = x / s->nb;
		uint64_t down = blocks_ahead(row_block, s->nprow, s->rsrc, w->of.row);
		uint64_t right = blocks_ahead(col_block, s->npcol, s->csrc, w->of.col);

		if (x >= s->n)
			return 0;
		if (!down && !right)
			break;
		if (down)
			x = (row_block + down) * s->mb;
		else
			x = (col_block + right) * s->nb;
	}
	end = (x / s->mb + 1) * s->mb;
	if (end > (x / s->nb + 1) * s->nb)
		end = (x / s->nb + 1) * s->nb;
	w->first = x;
	w->len = (end < s->n ? end : s->n) - x;
	return 1;
}

static uint64_t local_index(uint64_t x, uint64_t block, uint32_t grid)
{
	return x / block / grid * block + x % block;
}

int tsw_walk_next(struct tsw_walk *w)
{
	const struct tsw_spread *s = w->of.spread;

	w->at += w->len;
	w->len = 0;
	if (!w->left || !find_run(w))
		return 0;
	if (w->len > w->left)
		w->len = w->left;
	w->left -= w->len;
	w->x = w->first + w->len;
	w->row = local_index(w->first, s->mb, s->nprow);
	w->col = local_index(w->first, s->nb, s->npcol);
	return 1;
}

/* Indices of a set below `end`. */
static uint64_t count_below(struct tsw_set set, uint64_t end)
{
	struct tsw_walk w = {.of = set, .left = UINT64_MAX};
	uint64_t count = 0;

	while (tsw_walk_next(&w) && w.first < end)
		count += w.first + w.len < end ? w.len : end - w.first;
	return count;
}

/* The owners of x and of x + period are the same: a whole number of rounds of dealing in both
 * directions, of which one that has a single rank asks nothing.  At most n. */
static uint64_t period_of(const struct tsw_spread *s)
{
	uint64_t down = s->nprow > 1 ? s->mb * s->nprow : 1, x = down;
	uint64_t right = s->npcol > 1 ? s->nb * s->npcol : 1, y = right, both;

	while (y) {
		uint64_t rest = x % y;

		x = y;
		y = rest;
	}
	return __builtin_mul_overflow(down / x, right, &both) || both > s->n ? s->n : both;
}

/* One period is walked, not the matrix: blocks may be small and n large. */
uint64_t tsw_set_size(struct tsw_set set)
{
	uint64_t n = set.spread->n, period = period_of(set.spread);

	if (n == 0)
		return 0;
	return n / period * count_below(set, period) + count_below(set, n % period);
}

/* ---- links ----------------------------------------------------------------------------------- */

struct tsw_link tsw_link_between(const struct tsw_spread *s, uint32_t me, uint32_t peer)
{
	struct tsw_seat mine = tsw_seat_of(s, me), theirs = tsw_seat_of(s, peer);
	struct tsw_link link = {.rows_of = {s, mine.row, theirs.col},
				.cols_of = {s, theirs.row, mine.col},
				.turned = peer < me};

	link.rows = tsw_set_size(link.rows_of);
	link.cols = tsw_set_size(link.cols_of);
	return link;
}

static uint64_t least(uint64_t x, uint64_t y)
{
	return x < y ? x : y;
}

static uint64_t square_root(uint64_t x)
{
	uint64_t r = 0;

	for (uint64_t bit = (uint64_t)1 << 31; bit; bit /= 2)
		if ((r + bit) * (r + bit) <= x)
			r += bit;
	return r;
}

/* Of windows that are as equal as multiples of the grain allow, or of as much of it as fits. */
static uint64_t side(uint64_t size, uint64_t most, uint64_t grain)
{
	uint64_t windows, even;

	if (size <= most)
		return size;
	while (grain > most)
		grain = grain > TSW_CHUNK_GRAIN ? grain / 2 : 1;
	most = most / grain * grain;
	windows = size / most + (size % most != 0);
	even = size / windows + (size % windows != 0);
	return (even + grain - 1) / grain * grain;
}

/* As square as can be, so that rows are long on both sides. */
struct tsw_cutting tsw_chunks_of(const struct tsw_link *link, uint64_t most, uint64_t grain)
{
	struct tsw_cutting c = {.axis = {{.of = link->rows_of, .size = link->rows},
					 {.of = link->cols_of, .size = link->cols}},
				.inner = !link->turned};
	struct tsw_axis *inner = &c.axis[c.inner], *outer = &c.axis[!c.inner];

	if (!link->rows || !link->cols)
		return c;
	outer->most = side(outer->size, square_root(most), grain);
	inner->most = side(inner->size, most / outer->most, grain);
	outer->most = side(outer->size, most / inner->most, grain);
	return c;
}

static struct tsw_walk window(const struct tsw_axis *a)
{
	return (struct tsw_walk){.of = a->of, .x = a->x, .left = least(a->most, a->size - a->at)};
}

/* Moves on by one window; 0 after the last one, and stands at the beginning again. */
static int advance(struct tsw_axis *a)
{
	struct tsw_walk w = window(a);

	while (tsw_walk_next(&w))
		;
	a->at += w.at;
	a->x = w.x;
	if (a->at < a->size)
		return 1;
	a->at = a->x = 0;
	return 0;
}

int tsw_chunks_next(struct tsw_cutting *c, struct tsw_chunk *chunk)
{
	struct tsw_axis *inner = &c->axis[c->inner], *outer = &c->axis[!c->inner];

	if (!inner->most || !outer->most)
		return 0;
	chunk->down = window(&c->axis[0]);
	chunk->across = window(&c->axis[1]);
	chunk->rows = chunk->down.left;
	chunk->cols = chunk->across.left;
	if (!advance(inner) && !advance(outer))
		inner->most = 0;
	return 1;
}

struct tsw_chunk tsw_chunk_whole(const struct tsw_link *link)
{
	return (struct tsw_chunk){.down = {.of = link->rows_of, .left = link->rows},
				  .across = {.of = link->cols_of, .left = link->cols},
				  .rows = link->rows,
				  .cols = link->cols};
}

/* ---- public ---------------------------------------------------------------------------------- */

static tsw_status check_rank(const struct tsw_spread *s, const char *name, int rank)
{
	if (rank < 0 || (uint32_t)rank >= tsw_spread_ranks(s))
		return tsw_fail(TSW_ERR_OPTION, "%s = %d is outside the grid of %u ranks", name,
				rank, tsw_spread_ranks(s));
	return TSW_OK;
}

static tsw_status local(const tsw_dist *dist, int rank, size_t *rows, size_t *cols)
{
	struct tsw_spread s;
	struct tsw_seat seat;
	int turned;

	TRY(tsw_spread_of(dist, &s));
	TRY(check_rank(&s, "rank", rank));
	if (!rows || !cols)
		return tsw_fail(TSW_ERR_NULL, "%s is NULL", rows ? "cols" : "rows");
	seat = tsw_seat_of(&s, (uint32_t)rank);
	turned = dist->storage == TSW_STORED_BY_COLUMNS;
	*(turned ? cols : rows) = tsw_local_rows(&s, seat.row);
	*(turned ? rows : cols) = tsw_local_cols(&s, seat.col);
	return TSW_OK;
}

tsw_status tsw_dist_local(const tsw_dist *dist, int rank, size_t *rows, size_t *cols)
{
	tsw_forget_failure();
	return local(dist, rank, rows, cols);
}

tsw_status tsw_dist_bytes(const tsw_dist *dist, size_t elem_size, int from, int to,
			  uint64_t *nbytes)
{
	struct tsw_spread s;
	struct tsw_link link;

	tsw_forget_failure();
	TRY(tsw_spread_of_bytes(dist, elem_size, &s));
	TRY(check_rank(&s, "from", from));
	TRY(check_rank(&s, "to", to));
	if (!nbytes)
		return tsw_fail(TSW_ERR_NULL, "nbytes is NULL");
	link = tsw_link_between(&s, (uint32_t)from, (uint32_t)to);
	*nbytes = link.rows * link.cols * elem_size;
	return TSW_OK;
}

tsw_status tsw_dist_egress(const tsw_dist *dist, size_t elem_size, int rank, uint64_t *nbytes)
{
	uint64_t kept;
	size_t rows, cols;

	tsw_forget_failure();
	TRY(local(dist, rank, &rows, &cols));
	TRY(tsw_dist_bytes(dist, elem_size, rank, rank, &kept));
	if (!nbytes)
		return tsw_fail(TSW_ERR_NULL, "nbytes is NULL");
	*nbytes = (uint64_t)rows * cols * elem_size - kept;
	return TSW_OK;
}

tsw_status tsw_dist_turn(const tsw_dist *dist, tsw_dist *turned)
{
	tsw_dist d;

	tsw_forget_failure();
	TRY(check_dist(dist));
	if (!turned)
		return tsw_fail(TSW_ERR_NULL, "turned is NULL");
	d = *dist;
	d.struct_size = sizeof d;
	d.mb = dist->nb;
	d.nb = dist->mb;
	d.nprow = dist->npcol;
	d.npcol = dist->nprow;
	d.rsrc = dist->csrc;
	d.csrc = dist->rsrc;
	d.rank_order =
		dist->rank_order == TSW_RANKS_BY_ROWS ? TSW_RANKS_BY_COLUMNS : TSW_RANKS_BY_ROWS;
	*turned = d;
	return TSW_OK;
}
