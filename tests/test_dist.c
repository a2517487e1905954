/* The plan of a distributed transpose against what its header says, element by element: who holds
 * what, who swaps what with whom, and ranks that are played in this process. */
#include "dist/plan.h"

#include "cpu/cpu.h"
#include "cpu/kernels.h"
#include "support.h"
#include "tileswap_multi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

/* ---- layouts --------------------------------------------------------------------------------- */

static tsw_dist dist_of(size_t n, size_t mb, size_t nb, int nprow, int npcol)
{
	tsw_dist d = TSW_DIST_INIT;

	d.n = n;
	d.mb = mb;
	d.nb = nb;
	d.nprow = nprow;
	d.npcol = npcol;
	return d;
}

static tsw_dist random_dist(uint64_t *state)
{
	tsw_dist d = dist_of(tsw_random_below(state, 60), 1 + tsw_random_below(state, 20),
			     1 + tsw_random_below(state, 20), 1 + (int)tsw_random_below(state, 4),
			     1 + (int)tsw_random_below(state, 4));

	if (tsw_random_below(state, 8) == 0)
		d.mb = SIZE_MAX;
	d.rsrc = (int)tsw_random_below(state, (uint64_t)d.nprow);
	d.csrc = (int)tsw_random_below(state, (uint64_t)d.npcol);
	d.rank_order = (int)tsw_random_below(state, 2);
	d.storage = (int)tsw_random_below(state, 2);
	return d;
}

static const char *name_of(const tsw_dist *d)
{
	static char text[200];

	snprintf(text, sizeof text,
		 "n %zu, blocks %zu x %zu, grid %d x %d from %d, %d, order %d, "
		 "storage %d",
		 d->n, d->mb, d->nb, d->nprow, d->npcol, d->rsrc, d->csrc, d->rank_order,
		 d->storage);
	return text;
}

/* The header's formula. */
static int owner_of(const tsw_dist *d, size_t r, size_t c)
{
	int row = (int)((r / d->mb + (size_t)d->rsrc) % (size_t)d->nprow);
	int col = (int)((c / d->nb + (size_t)d->csrc) % (size_t)d->npcol);

	return d->rank_order == TSW_RANKS_BY_ROWS ? row * d->npcol + col : col * d->nprow + row;
}

/* How many rows before r lie in the same grid row; columns before c in the same grid column. */
static size_t rows_before(const tsw_dist *d, size_t r)
{
	size_t count = 0;

	for (size_t x = 0; x < r; x++)
		count += (x / d->mb + (size_t)d->rsrc) % (size_t)d->nprow ==
			 (r / d->mb + (size_t)d->rsrc) % (size_t)d->nprow;
	return count;
}

static size_t cols_before(const tsw_dist *d, size_t c)
{
	size_t count = 0;

	for (size_t x = 0; x < c; x++)
		count += (x / d->nb + (size_t)d->csrc) % (size_t)d->npcol ==
			 (c / d->nb + (size_t)d->csrc) % (size_t)d->npcol;
	return count;
}

/* Where element (r, c) lies in its owner's memory, in elements. */
static size_t place_of(const tsw_dist *d, size_t r, size_t c, size_t ld)
{
	size_t i = rows_before(d, r), j = cols_before(d, c);

	return d->storage == TSW_STORED_BY_ROWS ? i * ld + j : j * ld + i;
}

START_TEST(local_matrices_hold_what_the_formula_gives_them)
{
	uint64_t state = tsw_seed() + 1;

	for (int round = 0; round < 200; round++) {
		tsw_dist d = random_dist(&state);
		size_t held[16] = {0}, sum = 0;

		for (size_t r = 0; r < d.n; r++)
			for (size_t c = 0; c < d.n; c++)
				held[owner_of(&d, r, c)]++;
		for (int rank = 0; rank < d.nprow * d.npcol; rank++) {
			size_t rows, cols;

			tsw_assert_ok(tsw_dist_local(&d, rank, &rows, &cols));
			tsw_require(rows * cols == held[rank], "%s: rank %d: %zu x %zu, not %zu",
				    name_of(&d), rank, rows, cols, held[rank]);
			sum += rows * cols;
		}
		tsw_require(sum == d.n * d.n, "%s: %zu elements in all", name_of(&d), sum);
	}
}
END_TEST

START_TEST(bytes_of_a_link_are_those_of_its_elements)
{
	uint64_t state = tsw_seed() + 2;

	for (int round = 0; round < 200; round++) {
		tsw_dist d = random_dist(&state);
		size_t elem_size = 1 + tsw_random_below(&state, 16), moved[16][16] = {{0}};
		int ranks = d.nprow * d.npcol;

		for (size_t r = 0; r < d.n; r++)
			for (size_t c = 0; c < d.n; c++)
				moved[owner_of(&d, r, c)][owner_of(&d, c, r)] += elem_size;
		for (int from = 0; from < ranks; from++) {
			uint64_t nbytes, sum = 0;

			for (int to = 0; to < ranks; to++) {
				tsw_assert_ok(tsw_dist_bytes(&d, elem_size, from, to, &nbytes));
				tsw_require(nbytes == moved[from][to],
					    "%s: %d to %d: %ju bytes, not %zu", name_of(&d), from,
					    to, (uintmax_t)nbytes, moved[from][to]);
				sum += from == to ? 0 : nbytes;
			}
			tsw_assert_ok(tsw_dist_egress(&d, elem_size, from, &nbytes));
			tsw_require(nbytes == sum, "%s: rank %d sends %ju, not %ju", name_of(&d),
				    from, (uintmax_t)nbytes, (uintmax_t)sum);
		}
	}
}
END_TEST

/* What a document or a user may rely on: V/4 over two GPUs, 3V/16 over 1 x 4, V/4 over 2 x 2. */
START_TEST(largest_egress_is_as_documented)
{
	static const struct {
		int nprow, npcol;
		uint64_t sixteenths;
	} rows[] = {{1, 1, 0}, {1, 2, 4}, {2, 1, 4}, {1, 4, 3}, {4, 1, 3}, {2, 2, 4}};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		size_t n = 4096;
		tsw_dist d = dist_of(n, n / (size_t)rows[i].nprow, n / (size_t)rows[i].npcol,
				     rows[i].nprow, rows[i].npcol);
		uint64_t most = 0, nbytes;

		for (int rank = 0; rank < d.nprow * d.npcol; rank++) {
			tsw_assert_ok(tsw_dist_egress(&d, 8, rank, &nbytes));
			most = nbytes > most ? nbytes : most;
		}
		ck_assert_uint_eq(most, n * n * 8 / 16 * rows[i].sixteenths);
	}
}
END_TEST

/* Matrices that no machine holds: 64-bit arithmetic, and no time or memory that grows with n * n.
 */
START_TEST(huge_matrices_are_counted)
{
	tsw_dist d = dist_of(3037000499u, 999983, 1000003, 5, 7);
	uint64_t nbytes, sum = 0, rows_sum = 0;
	size_t rows, cols;

	d.rsrc = 3;
	d.csrc = 4;
	for (int from = 0; from < 35; from++) {
		for (int to = 0; to < 35; to++) {
			uint64_t back;

			tsw_assert_ok(tsw_dist_bytes(&d, 1, from, to, &nbytes));
			tsw_assert_ok(tsw_dist_bytes(&d, 1, to, from, &back));
			ck_assert_uint_eq(nbytes, back);
			sum += nbytes;
		}
		tsw_assert_ok(tsw_dist_local(&d, from, &rows, &cols));
		rows_sum += rows * cols;
	}
	ck_assert_uint_eq(sum, (uint64_t)d.n * d.n);
	ck_assert_uint_eq(rows_sum, (uint64_t)d.n * d.n);
	/* Blocks of one element: a walk along n would take minutes. */
	d.mb = d.nb = 1;
	sum = 0;
	tsw_assert_ok(tsw_dist_local(&d, 3, &rows, &cols));
	for (int to = 0; to < 35; to++) {
		tsw_assert_ok(tsw_dist_bytes(&d, 1, 3, to, &nbytes));
		sum += nbytes;
	}
	ck_assert_uint_eq(sum, rows * cols);
}
END_TEST

/* ---- turned layouts -------------------------------------------------------------------------- */

/* If every rank transposes its local matrix, element (r, c) of the transposed matrix lies where
 * element (c, r) lay. */
START_TEST(a_turned_layout_keeps_every_element_on_its_rank)
{
	uint64_t state = tsw_seed() + 3;

	for (int round = 0; round < 100; round++) {
		tsw_dist d = random_dist(&state), turned, back;

		tsw_assert_ok(tsw_dist_turn(&d, &turned));
		for (size_t r = 0; r < d.n; r++)
			for (size_t c = 0; c < d.n; c++)
				tsw_require(owner_of(&turned, c, r) == owner_of(&d, r, c) &&
						    rows_before(&turned, c) == cols_before(&d, c),
					    "%s: (%zu, %zu)", name_of(&d), r, c);
		tsw_assert_ok(tsw_dist_turn(&turned, &back));
		ck_assert_mem_eq(&back, &d, sizeof d);
	}
}
END_TEST

/* ---- links and chunks ------------------------------------------------------------------------ */

/* All ranks of a matrix, in one process; the words of the matrix are its elements' numbers. */
struct world {
	tsw_dist d;
	struct tsw_spread s;
	uint32_t *local[16];
	size_t ld[16], words[16];
};

static void world_new(struct world *w, const tsw_dist *d, uint64_t *state)
{
	w->d = *d;
	tsw_assert_ok(tsw_spread_of(d, &w->s));
	for (int rank = 0; rank < d->nprow * d->npcol; rank++) {
		size_t rows, cols;

		tsw_assert_ok(tsw_dist_local(d, rank, &rows, &cols));
		if (d->storage == TSW_STORED_BY_COLUMNS) {
			size_t swap = rows;

			rows = cols;
			cols = swap;
		}
		w->ld[rank] = cols + tsw_random_below(state, 3);
		w->words[rank] = rows * w->ld[rank];
		w->local[rank] = malloc((w->words[rank] + 1) * sizeof(uint32_t));
		ck_assert_ptr_nonnull(w->local[rank]);
		memset(w->local[rank], 0xee, (w->words[rank] + 1) * sizeof(uint32_t));
	}
	for (size_t r = 0; r < d->n; r++)
		for (size_t c = 0; c < d->n; c++) {
			int rank = owner_of(d, r, c);

			w->local[rank][place_of(d, r, c, w->ld[rank])] = (uint32_t)(r * d->n + c);
		}
}

static void world_check(struct world *w)
{
	size_t elements = 0, padding = 0, n = w->d.n, words = 0;

	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c++) {
			int rank = owner_of(&w->d, r, c);
			uint32_t found = w->local[rank][place_of(&w->d, r, c, w->ld[rank])];

			tsw_require(found == c * n + r, "%s: (%zu, %zu) is %u", name_of(&w->d), r,
				    c, found);
			elements++;
		}
	for (int rank = 0; rank < w->d.nprow * w->d.npcol; rank++) {
		for (size_t i = 0; i <= w->words[rank]; i++)
			padding += w->local[rank][i] == 0xeeeeeeeeu;
		words += w->words[rank] + 1;
		free(w->local[rank]);
	}
	tsw_require(elements + padding == words, "%s: %zu words of padding, not %zu",
		    name_of(&w->d), padding, words - elements);
}

/* Copies a chunk's pieces between a local matrix and a buffer. */
static void pack(const struct world *w, uint32_t rank, const struct tsw_chunk *k, uint32_t *buffer)
{
	for (struct tsw_walk r = k->down; tsw_walk_next(&r);)
		for (struct tsw_walk c = k->across; tsw_walk_next(&c);)
			for (size_t i = 0; i < r.len; i++)
				memcpy(buffer + (r.at + i) * k->cols + c.at,
				       w->local[rank] + (r.row + i) * w->ld[rank] + c.col,
				       c.len * sizeof *buffer);
}

static void unpack(const struct world *w, uint32_t rank, const struct tsw_chunk *k,
		   const uint32_t *buffer)
{
	for (struct tsw_walk r = k->down; tsw_walk_next(&r);)
		for (struct tsw_walk c = k->across; tsw_walk_next(&c);)
			for (size_t i = 0; i < r.len; i++)
				for (size_t j = 0; j < c.len; j++)
					w->local[rank][(r.row + i) * w->ld[rank] + c.col + j] =
						buffer[(c.at + j) * k->rows + r.at + i];
}

/* One link, both sides, chunk by chunk; returns the number of chunks. */
static size_t exchange(const struct world *w, uint32_t p, uint32_t q, uint64_t most)
{
	struct tsw_link mine = tsw_link_between(&w->s, p, q);
	struct tsw_link theirs = tsw_link_between(&w->s, q, p);
	const uint64_t grain = TSW_CHUNK_GRAIN << most % 4;
	struct tsw_cutting here = tsw_chunks_of(&mine, most, grain);
	struct tsw_cutting there = tsw_chunks_of(&theirs, most, grain);
	uint32_t *out = malloc(most * sizeof *out), *in = malloc(most * sizeof *in);
	struct tsw_chunk a, b;
	uint64_t elements = 0;
	size_t chunks = 0;

	ck_assert(out && in);
	while (tsw_chunks_next(&here, &a)) {
		ck_assert(tsw_chunks_next(&there, &b));
		tsw_require(a.rows == b.cols && a.cols == b.rows && a.rows * a.cols <= most &&
				    a.rows * a.cols > 0,
			    "%s: %u and %u, chunk %zu: %ju x %ju and %ju x %ju of %ju",
			    name_of(&w->d), p, q, chunks, (uintmax_t)a.rows, (uintmax_t)a.cols,
			    (uintmax_t)b.rows, (uintmax_t)b.cols, (uintmax_t)most);
		pack(w, p, &a, out);
		pack(w, q, &b, in);
		unpack(w, p, &a, in);
		unpack(w, q, &b, out);
		elements += a.rows * a.cols;
		chunks++;
	}
	ck_assert(!tsw_chunks_next(&there, &b));
	ck_assert_uint_eq(elements, mine.rows * mine.cols);
	free(out);
	free(in);
	return chunks;
}

static void swap_at_home(const struct world *w, uint32_t rank)
{
	struct tsw_link link = tsw_link_between(&w->s, rank, rank);
	size_t ld = w->ld[rank];

	ck_assert_uint_eq(link.rows, link.cols);
	for (struct tsw_walk s = tsw_chunk_whole(&link).down; tsw_walk_next(&s);) {
		tsw_assert_ok(tsw_transpose_host(w->local[rank] + s.row * ld + s.col, s.len, ld,
						 sizeof(uint32_t), 1));
		for (struct tsw_walk t = s; tsw_walk_next(&t);)
			tsw_cpu_swap(w->local[rank] + s.row * ld + t.col, ld * 4,
				     w->local[rank] + t.row * ld + s.col, ld * 4, s.len, t.len, 4,
				     1);
	}
}

START_TEST(ranks_that_follow_the_plan_transpose)
{
	uint64_t state = tsw_seed() + 4;

	for (int round = 0; round < 300; round++) {
		tsw_dist d = random_dist(&state);
		struct world w;
		uint64_t most = 1 + tsw_random_below(&state, 1 + d.n * d.n / 3);
		uint32_t ranks;

		world_new(&w, &d, &state);
		ranks = tsw_spread_ranks(&w.s);
		for (uint32_t at = 0; at < ranks; at++)
			for (uint32_t me = 0; me < ranks; me++) {
				uint32_t you = tsw_partner(ranks, at, me);

				if (you == me)
					swap_at_home(&w, me);
				else if (me < you)
					exchange(&w, me, you, most);
			}
		world_check(&w);
	}
}
END_TEST

/* Staging need not grow with n: few elements at a time do, and it takes no more chunks than it
 * must, but for what is ragged. */
START_TEST(chunks_are_as_large_as_the_buffer_allows)
{
	tsw_dist d = dist_of(1000, 500, 1000, 2, 1);
	struct tsw_spread s;
	struct tsw_link link;

	tsw_assert_ok(tsw_spread_of(&d, &s));
	link = tsw_link_between(&s, 0, 1);
	ck_assert_uint_eq(link.rows * link.cols, 250000);
	for (uint64_t most = 1; most < 600000; most = most * 3 + 1) {
		struct tsw_cutting cut = tsw_chunks_of(&link, most, TSW_CHUNK_GRAIN);
		struct tsw_chunk k;
		uint64_t chunks = 0, least = (250000 + most - 1) / most;

		while (tsw_chunks_next(&cut, &k))
			chunks++;
		tsw_require(chunks >= least && chunks <= 4 * least,
			    "%ju chunks of %ju elements, %ju would do", (uintmax_t)chunks,
			    (uintmax_t)most, (uintmax_t)least);
	}
}
END_TEST

/* Whole grains where the buffer has room for them, halves of them where not. */
START_TEST(chunks_are_cut_at_whole_grains)
{
	static const struct {
		uint64_t most, grain, rows, cols;
	} cuts[] = {
		{16 << 20, 2048, 4096, 4096}, {32 << 20, 4096, 4096, 8192},
		{8 << 20, 2048, 2048, 4096},  {2 << 20, 2048, 1024, 2048},
		{100 * 100, 2048, 64, 128},   {63, 2048, 7, 9},
	};
	tsw_dist d = dist_of(200000, 200000, 100000, 1, 2);
	struct tsw_spread s;
	struct tsw_link link;

	tsw_assert_ok(tsw_spread_of(&d, &s));
	link = tsw_link_between(&s, 0, 1);
	for (size_t i = 0; i < COUNT_OF(cuts); i++) {
		struct tsw_cutting cut = tsw_chunks_of(&link, cuts[i].most, cuts[i].grain);
		struct tsw_chunk k;

		ck_assert(tsw_chunks_next(&cut, &k));
		tsw_require(k.rows == cuts[i].rows && k.cols == cuts[i].cols,
			    "%ju elements, grain %ju: %ju x %ju", (uintmax_t)cuts[i].most,
			    (uintmax_t)cuts[i].grain, (uintmax_t)k.rows, (uintmax_t)k.cols);
	}
}
END_TEST

START_TEST(every_pair_meets_once)
{
	for (uint32_t ranks = 1; ranks < 40; ranks++) {
		unsigned char met[40][40] = {{0}};

		for (uint32_t round = 0; round < ranks; round++) {
			for (uint32_t me = 0; me < ranks; me++) {
				uint32_t you = tsw_partner(ranks, round, me);

				ck_assert_uint_lt(you, ranks);
				ck_assert_uint_eq(tsw_partner(ranks, round, you), me);
				met[me][you]++;
			}
		}
		for (uint32_t me = 0; me < ranks; me++)
			for (uint32_t you = 0; you < ranks; you++)
				ck_assert_uint_eq(met[me][you], 1);
	}
}
END_TEST

/* ---- two windows ----------------------------------------------------------------------------- */

static void try_swap(size_t rows, size_t cols, size_t width, size_t pad_a, size_t pad_b,
		     size_t offset, int nthreads)
{
	size_t sa = (cols + pad_a) * width, sb = (rows + pad_b) * width;
	size_t bytes_a = (rows - 1) * sa + cols * width, bytes_b = (cols - 1) * sb + rows * width;
	struct tsw_guarded a =
		tsw_guarded_new(bytes_a, offset % 2 ? TSW_FLUSH_LEFT : TSW_FLUSH_RIGHT);
	struct tsw_guarded b = tsw_guarded_new(bytes_b, TSW_FLUSH_RIGHT);
	unsigned char *want_a = malloc(bytes_a), *want_b = malloc(bytes_b);
	const unsigned char *pattern = tsw_pattern(bytes_a + bytes_b);

	ck_assert(want_a && want_b);
	memcpy(a.p, pattern, bytes_a);
	memcpy(b.p, pattern + bytes_a, bytes_b);
	memcpy(want_a, a.p, bytes_a);
	memcpy(want_b, b.p, bytes_b);
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < cols; j++) {
			memcpy(want_a + i * sa + j * width, b.p + j * sb + i * width, width);
			memcpy(want_b + j * sb + i * width, a.p + i * sa + j * width, width);
		}
	tsw_cpu_swap(a.p, sa, b.p, sb, rows, cols, width, nthreads);
	tsw_require(!memcmp(a.p, want_a, bytes_a) && !memcmp(b.p, want_b, bytes_b) &&
			    !tsw_guarded_spoilt(&a) && !tsw_guarded_spoilt(&b),
		    "%zu x %zu of %zu bytes, rows %zu and %zu bytes apart", rows, cols, width, sa,
		    sb);
	free(want_a);
	free(want_b);
	tsw_guarded_free(&a);
	tsw_guarded_free(&b);
}

START_TEST(two_windows_change_places_turned)
{
	static const size_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 100};
	uint64_t state = tsw_seed() + 5;

	for (size_t w = 0; w < COUNT_OF(widths); w++)
		for (int round = 0; round < 60; round++) {
			size_t most = round < 40 ? 70 : 300;

			try_swap(1 + tsw_random_below(&state, most),
				 1 + tsw_random_below(&state, most), widths[w],
				 tsw_random_below(&state, 4), tsw_random_below(&state, 4),
				 (size_t)round, 1);
		}
	for (size_t block = 64; block <= 512; block *= 2) {
		try_swap(block, block, 1, 0, 0, 0, 1);
		try_swap(2 * block, block, 8, 0, 0, 1, 1);
	}
}
END_TEST

START_TEST(nothing_to_swap_is_not_touched)
{
	tsw_cpu_swap(NULL, 0, NULL, 0, 0, 5, 8, 0);
	tsw_cpu_swap(NULL, 0, NULL, 0, 5, 0, 8, 0);
}
END_TEST

/* In a process of its own (no fork): threads. */
START_TEST(threads_share_the_windows)
{
	try_swap(1500, 1100, 8, 1, 3, 0, 3);
	try_swap(1500, 1100, 3, 0, 0, 0, 2);
	try_swap(3000, 700, 1, 0, 0, 0, 5);
	try_swap(300, 200, 40, 0, 0, 0, 3);
}
END_TEST

/* ---- arguments ------------------------------------------------------------------------------- */

static const struct wrong {
	const char *what, *detail;
	tsw_status status;
	tsw_dist d;
} wrongs[] = {
	{"struct_size", "struct_size = 8", TSW_ERR_OPTION, {8, 1, 1, 1, 1, 1, 0, 0, 0, 0}},
	{"mb", "mb = 0", TSW_ERR_OPTION, {sizeof(tsw_dist), 9, 0, 1, 1, 1, 0, 0, 0, 0}},
	{"nb", "nb = 0", TSW_ERR_OPTION, {sizeof(tsw_dist), 9, 1, 0, 1, 1, 0, 0, 0, 0}},
	{"nprow", "nprow = 0", TSW_ERR_OPTION, {sizeof(tsw_dist), 9, 1, 1, 0, 1, 0, 0, 0, 0}},
	{"npcol", "npcol = -2", TSW_ERR_OPTION, {sizeof(tsw_dist), 9, 1, 1, 1, -2, 0, 0, 0, 0}},
	{"rsrc", "rsrc = 3", TSW_ERR_OPTION, {sizeof(tsw_dist), 9, 1, 1, 3, 1, 3, 0, 0, 0}},
	{"csrc", "csrc = -1", TSW_ERR_OPTION, {sizeof(tsw_dist), 9, 1, 1, 1, 4, 0, -1, 0, 0}},
	{"grid",
	 "nprow = 65536",
	 TSW_ERR_OPTION,
	 {sizeof(tsw_dist), 9, 1, 1, 65536, 65536, 0, 0, 0, 0}},
	{"order", "rank_order = 2", TSW_ERR_OPTION, {sizeof(tsw_dist), 9, 1, 1, 1, 1, 0, 0, 2, 0}},
	{"storage", "storage = -1", TSW_ERR_OPTION, {sizeof(tsw_dist), 9, 1, 1, 1, 1, 0, 0, 0, -1}},
	{"n",
	 "n = 3037000500",
	 TSW_ERR_OVERFLOW,
	 {sizeof(tsw_dist), 3037000500u, 1, 1, 1, 1, 0, 0, 0, 0}},
	{"n",
	 "n = 18446744073709551615",
	 TSW_ERR_OVERFLOW,
	 {sizeof(tsw_dist), SIZE_MAX, 1, 1, 1, 1, 0, 0, 0, 0}},
};

START_TEST(wrong_layouts_are_named)
{
	for (size_t i = 0; i < COUNT_OF(wrongs); i++) {
		size_t rows = 77, cols = 78;
		uint64_t nbytes = 79;
		tsw_dist turned;

		tsw_assert_status(tsw_dist_local(&wrongs[i].d, 0, &rows, &cols), wrongs[i].status);
		tsw_require(strstr(tsw_last_error(), wrongs[i].detail) != NULL, "%s: '%s'",
			    wrongs[i].what, tsw_last_error());
		tsw_assert_status(tsw_dist_bytes(&wrongs[i].d, 1, 0, 0, &nbytes), wrongs[i].status);
		tsw_assert_status(tsw_dist_egress(&wrongs[i].d, 1, 0, &nbytes), wrongs[i].status);
		tsw_assert_status(tsw_dist_turn(&wrongs[i].d, &turned), wrongs[i].status);
		ck_assert(rows == 77 && cols == 78 && nbytes == 79);
	}
}
END_TEST

START_TEST(other_wrong_arguments_are_named)
{
	tsw_dist d = dist_of(10, 2, 3, 2, 3);
	size_t rows, cols;
	uint64_t nbytes;

	tsw_assert_status(tsw_dist_local(NULL, 0, &rows, &cols), TSW_ERR_NULL);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "dist is NULL"));
	tsw_assert_status(tsw_dist_local(&d, 6, &rows, &cols), TSW_ERR_OPTION);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "rank = 6"));
	tsw_assert_status(tsw_dist_local(&d, -1, &rows, &cols), TSW_ERR_OPTION);
	tsw_assert_status(tsw_dist_local(&d, 0, NULL, &cols), TSW_ERR_NULL);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "rows is NULL"));
	tsw_assert_status(tsw_dist_local(&d, 0, &rows, NULL), TSW_ERR_NULL);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "cols is NULL"));
	tsw_assert_status(tsw_dist_bytes(&d, 0, 0, 1, &nbytes), TSW_ERR_ELEM_SIZE);
	tsw_assert_status(tsw_dist_bytes(&d, 8, 6, 1, &nbytes), TSW_ERR_OPTION);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "from = 6"));
	tsw_assert_status(tsw_dist_bytes(&d, 8, 0, 7, &nbytes), TSW_ERR_OPTION);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "to = 7"));
	tsw_assert_status(tsw_dist_bytes(&d, 8, 0, 1, NULL), TSW_ERR_NULL);
	tsw_assert_status(tsw_dist_egress(&d, 8, 0, NULL), TSW_ERR_NULL);
	tsw_assert_status(tsw_dist_turn(&d, NULL), TSW_ERR_NULL);
	d.n = (size_t)1 << 31;
	tsw_assert_status(tsw_dist_bytes(&d, 2, 0, 1, &nbytes), TSW_ERR_OVERFLOW);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "elem_size = 2"));
	tsw_assert_ok(tsw_dist_bytes(&d, 1, 0, 1, &nbytes));
}
END_TEST

START_TEST(local_matrices_are_checked)
{
	tsw_dist d = dist_of(10, 2, 3, 2, 3);
	struct tsw_spread s;
	int here;

	tsw_assert_ok(tsw_spread_of(&d, &s));
	tsw_assert_ok(tsw_check_local(&s, 0, &here, 4, 8));
	tsw_assert_status(tsw_check_local(&s, 0, &here, 3, 8), TSW_ERR_LD);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "ld = 3 of rank 0"));
	tsw_assert_status(tsw_check_local(&s, 3, NULL, 4, 8), TSW_ERR_NULL);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "rank 3"));
	tsw_assert_status(tsw_check_local(&s, 0, &here, (size_t)1 << 61, 8), TSW_ERR_OVERFLOW);
	tsw_assert_status(tsw_check_local(&s, 0, &here, SIZE_MAX, 1), TSW_ERR_OVERFLOW);
	d.n = 2;
	tsw_assert_ok(tsw_spread_of(&d, &s));
	tsw_assert_ok(tsw_check_local(&s, 5, NULL, 0, 8));
}
END_TEST

/* A later caller's field that this library does not know. */
START_TEST(a_longer_layout_must_end_in_zeros)
{
	struct {
		tsw_dist d;
		size_t beyond;
	} longer = {dist_of(10, 2, 3, 2, 3), 0};
	size_t rows, cols;

	longer.d.struct_size = sizeof longer;
	tsw_assert_ok(tsw_dist_local(&longer.d, 0, &rows, &cols));
	longer.beyond = 1;
	tsw_assert_status(tsw_dist_local(&longer.d, 0, &rows, &cols), TSW_ERR_OPTION);
}
END_TEST

/* tsw_multi_transpose looks at them before it looks for a device.  One that it has nothing against
 * ends at the host's memory, or where there is no CUDA. */
START_TEST(arguments_for_several_gpus_are_named)
{
	static double a[3][8];
	const tsw_dist d = dist_of(4, 4, 2, 1, 2);
	const tsw_multi_part good[2] = {{.a = a[0], .ld = 2}, {.a = a[1], .ld = 2}};
	struct {
		tsw_multi_options o;
		size_t beyond;
	} options = {TSW_MULTI_OPTIONS_INIT, 0};
	const tsw_multi_options defaults = TSW_MULTI_OPTIONS_INIT;
	tsw_multi_part part[2];

#define REFUSED(status, detail, change)                                                            \
	do {                                                                                       \
		memcpy(part, good, sizeof part);                                                   \
		options.o = defaults;                                                              \
		change;                                                                            \
		tsw_assert_status(tsw_multi_transpose(&d, 8, part, &options.o), status);           \
		tsw_require(strstr(tsw_last_error(), detail) != NULL, "%s: '%s'", #change,         \
			    tsw_last_error());                                                     \
	} while (0)
	tsw_assert_status(tsw_multi_transpose(NULL, 8, good, NULL), TSW_ERR_NULL);
	tsw_assert_status(tsw_multi_transpose(&d, 0, good, NULL), TSW_ERR_ELEM_SIZE);
	tsw_assert_status(tsw_multi_transpose(&d, 8, NULL, NULL), TSW_ERR_NULL);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "parts is NULL"));
	tsw_assert_status(tsw_multi_transpose(&d, ((size_t)1 << 32) + 1, good, NULL),
			  TSW_ERR_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "2^32 units of 1 bytes"));
	REFUSED(TSW_ERR_NULL, "a of rank 1 is NULL", part[1].a = NULL);
	REFUSED(TSW_ERR_LD, "ld = 1 of rank 0", part[0].ld = 1);
	REFUSED(TSW_ERR_ALIGN, "parts[1].a", part[1].a = (char *)a[1] + 4);
	REFUSED(TSW_ERR_OVERFLOW, "ld = ", part[1].ld = SIZE_MAX / 8);
	REFUSED(TSW_ERR_OPTION, "method = 6", options.o.method = 6);
	REFUSED(TSW_ERR_OPTION, "method = -1", options.o.method = -1);
	REFUSED(TSW_ERR_OPTION, "buffers = 1", options.o.buffers = 1);
	REFUSED(TSW_ERR_OPTION, "buffers = 17", options.o.buffers = 17);
	REFUSED(TSW_ERR_OPTION, "copies = 5", options.o.copies = 5);
	REFUSED(TSW_ERR_OPTION, "copies = -1", options.o.copies = -1);
	REFUSED(TSW_ERR_OPTION, "struct_size = 8", options.o.struct_size = 8);
	options.beyond = 1; /* a later caller's, that this library does not know */
	REFUSED(TSW_ERR_OPTION, "does not know", options.o.struct_size = sizeof options);
	options.beyond = 0;
	options.o = defaults;
	options.o.struct_size = sizeof options;
	ck_assert_int_ge(tsw_multi_transpose(&d, 8, good, &options.o), TSW_ERR_WHERE);
	ck_assert_int_ne(tsw_multi_transpose(&d, 8, good, &options.o), TSW_ERR_OPTION);
#undef REFUSED
}
END_TEST

static Suite *plan_suite(void)
{
	Suite *suite = suite_create("dist");
	TCase *layout = tcase_create("layout"), *links = tcase_create("links");
	TCase *arguments = tcase_create("arguments"), *windows = tcase_create("windows");

	tcase_add_test(layout, local_matrices_hold_what_the_formula_gives_them);
	tcase_add_test(layout, bytes_of_a_link_are_those_of_its_elements);
	tcase_add_test(layout, largest_egress_is_as_documented);
	tcase_add_test(layout, huge_matrices_are_counted);
	tcase_add_test(layout, a_turned_layout_keeps_every_element_on_its_rank);
	suite_add_tcase(suite, layout);
	tcase_add_test(links, ranks_that_follow_the_plan_transpose);
	tcase_add_test(links, chunks_are_as_large_as_the_buffer_allows);
	tcase_add_test(links, chunks_are_cut_at_whole_grains);
	tcase_add_test(links, every_pair_meets_once);
	suite_add_tcase(suite, links);
	tcase_add_test(windows, two_windows_change_places_turned);
	tcase_add_test(windows, nothing_to_swap_is_not_touched);
	tcase_add_test(windows, threads_share_the_windows);
	suite_add_tcase(suite, windows);
	tcase_add_test(arguments, wrong_layouts_are_named);
	tcase_add_test(arguments, other_wrong_arguments_are_named);
	tcase_add_test(arguments, local_matrices_are_checked);
	tcase_add_test(arguments, a_longer_layout_must_end_in_zeros);
	tcase_add_test(arguments, arguments_for_several_gpus_are_named);
	suite_add_tcase(suite, arguments);
	return suite;
}

int main(void)
{
	tsw_suite *const suites[] = {plan_suite};

	return tsw_test_main(TSW_SAME_PROCESS, suites, COUNT_OF(suites));
}
