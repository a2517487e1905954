#include "work.h"

#include "../cpu/cpu.h"
#include "../cpu/plan.h"
#include "../digest/digest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* About so many bytes of a tile have one hash.  Journals hold hashes of those hashes: with another
 * number here, or for LEAST_BANDS, a run cannot be resumed by the new build. */
#define BAND_BYTES (64u << 10)

/* So many bands are one piece of work through the page cache, where the processors set the pace: a
 * thread's turn has to be worth it.  Past the cache a piece is one band: the disk sets the pace,
 * and what the last pieces of a tile leave idle is the less the smaller they are. */
#define CACHED_BANDS 8

/* A file system lets one thread at a time write to a file through the page cache; more of them only
 * wait, and some of them spinning. */
#define WRITERS 2

/* Where none of them waits for the disk either, the second one is of no use. */
#define WRITERS_TO_MEMORY 1

/* Enough bands a tile, and pieces of it, to keep the disk busy. */
#define LEAST_BANDS 16

size_t tsw_band_rows(const struct tsw_grid *g)
{
	const size_t pitch = g->tile * g->elem_size;
	const size_t most = (g->tile + LEAST_BANDS - 1) / LEAST_BANDS;
	const size_t rows = pitch < BAND_BYTES ? BAND_BYTES / pitch : 1;

	return rows < most ? rows : most;
}

static uint64_t bands_of(const struct tsw_shop *shop, size_t rows)
{
	return tsw_tile_count(rows, shop->band);
}

static size_t band_end(const struct tsw_shop *shop, size_t rows, uint64_t band)
{
	const size_t end = ((size_t)band + 1) * shop->band;

	return end < rows ? end : rows;
}

/* Bands first .. end - 1 are piece number `piece` of a tile. */
struct piece {
	uint64_t first, end;
};

static uint64_t bands_a_piece(const struct tsw_shop *shop, size_t rows, int past)
{
	const uint64_t most = bands_of(shop, rows) / LEAST_BANDS;

	if (past || most < 2)
		return 1;
	return most < CACHED_BANDS ? most : CACHED_BANDS;
}

static uint64_t pieces_of(const struct tsw_shop *shop, size_t rows, int past)
{
	return tsw_tile_count(bands_of(shop, rows), bands_a_piece(shop, rows, past));
}

static struct piece piece_at(const struct tsw_shop *shop, size_t rows, int past, uint64_t piece)
{
	const uint64_t bands = bands_of(shop, rows), each = bands_a_piece(shop, rows, past);
	const uint64_t first = piece * each;

	return (struct piece){first, each < bands - first ? first + each : bands};
}

/* ---- past the page cache --------------------------------------------------------------------- */

/* Every row of the tile begins and ends on bounds of blocks, in the file and in a buffer.  So no
 * block has both a byte that goes through the page cache and one that goes past it: on the diagonal
 * both halves go one way. */
static int is_whole_blocks(const struct tsw_region *x, size_t block)
{
	return x->at % block == 0 && x->pitch % block == 0 && x->cols * x->elem_size % block == 0 &&
	       x->buffer_pitch % block == 0;
}

static int halves_fit(const struct tsw_region *x, size_t grain)
{
	return x->shape == TSW_TILE || (x->square && x->square * x->elem_size % grain == 0);
}

static int goes_past(const struct tsw_shop *shop, const struct tsw_region *x)
{
	return shop->direct.fd >= 0 && is_whole_blocks(x, shop->block) &&
	       halves_fit(x, shop->grain);
}

/* The file, by the way that serves the region: within a run always the same one. */
static const struct tsw_file *way(const struct tsw_shop *shop, const struct tsw_file *f,
				  const struct tsw_region *x)
{
	return f->fd == shop->data.fd && goes_past(shop, x) ? &shop->direct : f;
}

/* ---- moving ---------------------------------------------------------------------------------- */

static tsw_status move_piece(const struct tsw_move *m, unsigned char *buffer, size_t bytes,
			     uint64_t at)
{
	if (!bytes)
		return TSW_OK;
	__atomic_fetch_add(m->count, bytes, __ATOMIC_RELAXED);
	if (!m->write)
		return tsw_read_all(m->file, buffer, bytes, at);
	return tsw_write_all(m->file, buffer, bytes, at);
}

static uint64_t place(const struct tsw_move *m, size_t r)
{
	const struct tsw_region *x = &m->region;

	return m->packed_at ? m->packed_at + tsw_run_packed(x, r)
			    : x->at + r * x->pitch + tsw_run_start(x, r);
}

/* Rows first .. end - 1.  Where both sides lie in one piece it is moved in one. */
static tsw_status move_rows(const struct tsw_move *m, size_t first, size_t end)
{
	const struct tsw_region *x = &m->region;
	const size_t row = x->cols * x->elem_size;

	if (x->shape == TSW_TILE && row == x->buffer_pitch && (m->packed_at || row == x->pitch))
		return move_piece(m, m->buffer + first * row, (end - first) * row, place(m, first));
	for (size_t r = first; r < end; r++)
		TRY(move_piece(m, m->buffer + r * x->buffer_pitch + tsw_run_start(x, r),
			       tsw_run_bytes(x, r), place(m, r)));
	return TSW_OK;
}

/* Begun now, the writing does not pile up before the next sync.  What lies between the rows is
 * clean, or waits to be written as well. */
static void start_writing(const struct tsw_move *m, size_t first, size_t end)
{
	const struct tsw_io *io = m->file->io;
	const uint64_t at = place(m, first);

	io->start_writing(io->user, m->file->fd, at,
			  place(m, end - 1) + tsw_run_bytes(&m->region, end - 1) - at);
}

static int is_past(const struct tsw_move *m)
{
	return m->file == &m->shop->direct;
}

static tsw_status move_one(void *arg, uint64_t index)
{
	const struct tsw_move *m = arg;
	const struct piece p = piece_at(m->shop, m->region.rows, is_past(m), index);
	const size_t first = (size_t)p.first * m->shop->band,
		     end = band_end(m->shop, m->region.rows, p.end - 1);

	TRY(move_rows(m, first, end));
	if (m->write && !m->lazy && !is_past(m))
		start_writing(m, first, end);
	return TSW_OK;
}

/* A write through the page cache has the file for itself, and each one would wait for all the reads
 * past the cache that were begun before it. */
static int waits_for_reads(const struct tsw_move *m)
{
	return m->write && m->shop->direct.fd >= 0 && m->file->fd == m->shop->data.fd;
}

static unsigned most_threads(const struct tsw_move *m)
{
	if (!m->write || is_past(m))
		return 0;
	return m->shop->early ? WRITERS_TO_MEMORY : WRITERS;
}

static void start_move(struct tsw_move *m)
{
	m->file = way(m->shop, m->file, &m->region);
	m->job = (struct tsw_job){.run = move_one,
				  .arg = m,
				  .line = m->write ? TSW_TO_WRITE : TSW_TO_READ,
				  .count = pieces_of(m->shop, m->region.rows, is_past(m)),
				  .most = most_threads(m),
				  .alone = waits_for_reads(m)};
	tsw_pool_submit(m->shop->pool, &m->job);
}

/* ---- hashing --------------------------------------------------------------------------------- */

static size_t hash_row(const void *arg, size_t r, const void **start)
{
	const struct tsw_bands *b = arg;

	*start = b->buffer + r * b->region.buffer_pitch + tsw_run_start(&b->region, r);
	return tsw_run_bytes(&b->region, r);
}

static void hash_band(const struct tsw_shop *shop, const struct tsw_bands *b, uint64_t band)
{
	b->hash[band] = tsw_hash_rows(hash_row, b, (size_t)band * shop->band,
				      band_end(shop, b->region.rows, band));
}

static tsw_hash join_bands(const struct tsw_shop *shop, const tsw_hash *hash, size_t rows)
{
	return tsw_hash_bytes(hash, bands_of(shop, rows) * sizeof *hash);
}

struct hashing {
	const struct tsw_shop *shop;
	const struct tsw_bands *bands;
};

static tsw_status hash_one(void *arg, uint64_t index)
{
	const struct hashing *h = arg;
	const struct piece p = piece_at(h->shop, h->bands->region.rows, 0, index);

	for (uint64_t band = p.first; band < p.end; band++)
		hash_band(h->shop, h->bands, band);
	return TSW_OK;
}

static tsw_status bands_hash(const struct tsw_shop *shop, const struct tsw_bands *b, tsw_hash *hash)
{
	struct hashing h = {shop, b};
	struct tsw_job job = {
		.run = hash_one, .arg = &h, .count = pieces_of(shop, b->region.rows, 0)};

	TRY(tsw_pool_run(shop->pool, &job));
	*hash = join_bands(shop, b->hash, b->region.rows);
	return TSW_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t tile_bytes(const struct tsw_grid *g)
{
	return g->tile * g->tile * g->elem_size;
}

static size_t most_bands(const struct tsw_grid *g)
{
	return (size_t)tsw_tile_count(g->tile, tsw_band_rows(g));
}

uint64_t tsw_work_bytes(const struct tsw_grid *g)
{
	return 2 * (uint64_t)tile_bytes(g) +
	       most_bands(g) * (2 * sizeof(tsw_hash) + 2 * sizeof(tsw_digest));
}

/* Past the page cache of huge pages where the kernel has them: what the disk takes from them or
 * puts there is in fewer pieces, which was an eighth of the time at runs of 12 KiB.  Through the
 * cache they gain nothing, and a virtual machine may have to ask its host for each of them.
 *
 * They are taken here, by one thread: every thread that meets an untouched huge page takes one, and
 * all but one of those that meet the same give it back, 2 MiB for each thread for a moment, which a
 * small control group does not have.  Kernels that cannot be asked to (before 5.14) get them from
 * where that is little beside the tiles. */
#define HUGE_FROM ((size_t)2 << 20)
#define HUGE_UNTOUCHED_FROM ((size_t)64 << 20)

static void take_pages(void *p, size_t bytes, int past)
{
	if (bytes < HUGE_FROM)
		return;
	if (past)
		madvise(p, bytes, MADV_HUGEPAGE); /* a hint */
#ifdef MADV_POPULATE_WRITE
	if (past && !madvise(p, bytes, MADV_POPULATE_WRITE))
		return;
#endif
	if (bytes < HUGE_UNTOUCHED_FROM)
		madvise(p, bytes, MADV_NOHUGEPAGE);
}

static unsigned char *pages_new(size_t bytes, int past)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	take_pages(p, bytes, past);
	/* A child must not share a page that the disk is reading or writing: old kernels would part
	 * the two by a copy. */
	madvise(p, bytes, MADV_DONTFORK);
	return p;
}

tsw_status tsw_work_new(struct tsw_work *w, const struct tsw_shop *shop)
{
	const size_t bytes = tile_bytes(&shop->grid), bands = most_bands(&shop->grid);

	memset(w, 0, sizeof *w);
	w->shop = shop;
	w->x = pages_new(2 * bytes, shop->direct.fd >= 0);
	w->band_a = calloc(2 * bands, sizeof *w->band_a);
	w->band_digest = calloc(2 * bands, sizeof *w->band_digest);
	if (!w->x || !w->band_a || !w->band_digest) {
		tsw_work_free(w);
		return tsw_fail(TSW_ERR_NO_MEMORY, "no memory for two tiles of %zu bytes", bytes);
	}
	w->y = w->x + bytes;
	w->band_b = w->band_a + bands;
	return TSW_OK;
}

void tsw_work_free(struct tsw_work *w)
{
	if (w->x)
		munmap(w->x, 2 * tile_bytes(&w->shop->grid));
	free(w->band_a);
	free(w->band_digest);
	memset(w, 0, sizeof *w);
}

/* ---- reading --------------------------------------------------------------------------------- */

static tsw_digest band_digest(const struct tsw_shop *shop, const struct tsw_region *x,
			      const unsigned char *buffer, size_t first, size_t end)
{
	const struct tsw_part part = {.base = buffer + first * x->buffer_pitch,
				      .rows = end - first,
				      .cols = x->cols,
				      .stride = x->buffer_pitch,
				      .elem_size = x->elem_size,
				      .row = x->row + first,
				      .col = x->col};

	return tsw_digest_part(&part, shop->swap_digest);
}

/* A band of one tile: read, hashed and added up while it is in the cache.  A tile on the diagonal
 * is turned in the other buffer. */
static tsw_status read_band(struct tsw_work *w, int second, const struct tsw_move *move,
			    uint64_t band)
{
	const struct tsw_shop *shop = w->shop;
	const struct tsw_bands a = {w->a, w->x, w->band_a};
	const struct tsw_bands b = {w->b, w->diagonal ? w->x : w->y, w->band_b};
	const struct tsw_region *tile = &move->region;
	const size_t first = (size_t)band * shop->band, end = band_end(shop, tile->rows, band);

	TRY(move_rows(move, first, end));
	if (!second)
		hash_band(shop, &a, band);
	if (second || w->diagonal)
		hash_band(shop, &b, band);
	if (w->diagonal)
		memcpy(w->y + first * tile->buffer_pitch, w->x + first * tile->buffer_pitch,
		       (end - first) * tile->buffer_pitch);
	if (shop->verify)
		w->band_digest[second ? bands_of(shop, w->a.rows) + band : band] =
			band_digest(shop, tile, move->buffer, first, end);
	return TSW_OK;
}

/* Index 0 is the first piece of tile A; those of tile B follow. */
static tsw_status read_one(void *arg, uint64_t index)
{
	struct tsw_work *w = arg;
	const struct tsw_shop *shop = w->shop;
	const uint64_t pieces = pieces_of(shop, w->a.rows, goes_past(shop, &w->a));
	const int second = index >= pieces;
	const struct tsw_region *half = second ? &w->b : &w->a;
	struct tsw_move move = {.shop = shop,
				.region = *half,
				.file = way(shop, &shop->data, half),
				.buffer = second ? w->y : w->x,
				.count = &shop->traffic->read};
	const struct piece p =
		piece_at(shop, half->rows, goes_past(shop, half), second ? index - pieces : index);

	move.region.shape = TSW_TILE;
	for (uint64_t band = p.first; band < p.end; band++)
		TRY(read_band(w, second, &move, band));
	return TSW_OK;
}

void tsw_work_set(struct tsw_work *w, uint64_t k)
{
	const struct tsw_pair p = tsw_pair_at(k);

	w->k = k;
	w->diagonal = p.i == p.j;
	w->a = tsw_half(&w->shop->grid, p, 0);
	w->b = tsw_half(&w->shop->grid, p, 1);
}

static uint64_t pieces_to_read(const struct tsw_work *w)
{
	const struct tsw_shop *shop = w->shop;
	const uint64_t a = pieces_of(shop, w->a.rows, goes_past(shop, &w->a));

	return w->diagonal ? a : a + pieces_of(shop, w->b.rows, goes_past(shop, &w->b));
}

void tsw_work_read(struct tsw_work *w, uint64_t k)
{
	const struct tsw_shop *shop = w->shop;

	tsw_work_set(w, k);
	w->reading = (struct tsw_job){
		.run = read_one, .arg = w, .line = TSW_TO_READ, .count = pieces_to_read(w)};
	tsw_pool_submit(shop->pool, &w->reading);
}

/* ---- turning --------------------------------------------------------------------------------- */

#define MOST_PARTS 64

struct turning {
	struct tsw_plan plan;
	struct tsw_matrices matrix;
	uint64_t parts;
};

static tsw_status turn_part(void *arg, uint64_t part)
{
	const struct turning *t = arg;

	tsw_cpu_run_part(&t->plan, &t->matrix, part, t->parts);
	return TSW_OK;
}

/* By the pool's threads: those of OpenMP would spin for a while after each tile, and take the
 * processors from those that read and write. */
tsw_status tsw_turn(const struct tsw_shop *shop, unsigned char *tile)
{
	const unsigned threads = (unsigned)tsw_cpu_threads(shop->nthreads);
	struct turning t = {.matrix = {.base = tile,
				       .n = shop->grid.tile,
				       .ld = shop->grid.tile,
				       .elem_size = shop->grid.elem_size,
				       .count = 1},
			    .parts = threads > 1 ? MOST_PARTS : 1};
	struct tsw_job job = {.run = turn_part, .arg = &t, .count = t.parts, .most = threads};

	if (tsw_nothing_to_do(&t.matrix))
		return TSW_OK;
	t.plan = tsw_cpu_plan(&t.matrix, tsw_cpu_isa());
	return tsw_pool_run(shop->pool, &job);
}

tsw_digest tsw_work_digest(const struct tsw_work *w)
{
	const uint64_t bands =
		bands_of(w->shop, w->a.rows) + (w->diagonal ? 0 : bands_of(w->shop, w->b.rows));
	tsw_digest sum = {0, 0};

	for (uint64_t i = 0; w->shop->verify && i < bands; i++)
		sum = tsw_digest_add(sum, w->band_digest[i]);
	return sum;
}

tsw_status tsw_work_first_half(struct tsw_work *w)
{
	const struct tsw_shop *shop = w->shop;
	const struct tsw_bands new_a = {w->a, w->y, w->band_a};

	TRY(tsw_pool_wait(shop->pool, &w->reading));
	w->ha = join_bands(shop, w->band_a, w->a.rows);
	w->hb = join_bands(shop, w->band_b, w->b.rows);
	w->digest = tsw_work_digest(w);
	TRY(tsw_turn(shop, w->y));
	w->new_a = w->y;
	return bands_hash(shop, &new_a, &w->ha_new);
}

tsw_status tsw_work_second_half(struct tsw_work *w)
{
	const struct tsw_bands new_b = {w->b, w->diagonal ? w->y : w->x, w->band_b};

	if (!w->diagonal)
		TRY(tsw_turn(w->shop, w->x));
	w->new_b = w->diagonal ? w->y : w->x;
	return bands_hash(w->shop, &new_b, &w->hb_new);
}

/* ---- writing --------------------------------------------------------------------------------- */

void tsw_work_write_payload(struct tsw_work *w, const struct tsw_file *journal, uint64_t at)
{
	w->payload = (struct tsw_move){.shop = w->shop,
				       .region = w->a,
				       .file = journal,
				       .buffer = w->x,
				       .packed_at = at,
				       .count = &w->shop->traffic->journalled,
				       .write = 1,
				       .lazy = w->shop->process_only};
	start_move(&w->payload);
}

static void write_half(struct tsw_work *w, struct tsw_move *m, const struct tsw_region *region,
		       unsigned char *buffer)
{
	*m = (struct tsw_move){.shop = w->shop,
			       .region = *region,
			       .file = &w->shop->out,
			       .buffer = buffer,
			       .count = &w->shop->traffic->written,
			       .write = 1,
			       .lazy = w->shop->early};
	start_move(m);
}

void tsw_work_write_first(struct tsw_work *w)
{
	write_half(w, &w->first, &w->a, w->new_a);
}

void tsw_work_write_second(struct tsw_work *w)
{
	write_half(w, &w->second, &w->b, w->new_b);
}

/* ---- halves by themselves, for recovery -------------------------------------------------------
 */

tsw_status tsw_half_read(struct tsw_work *w, const struct tsw_region *half,
			 const struct tsw_file *file, uint64_t packed_at, unsigned char *buffer)
{
	struct tsw_move m = {.shop = w->shop,
			     .region = *half,
			     .file = file,
			     .buffer = buffer,
			     .packed_at = packed_at,
			     .count = &w->shop->traffic->read};

	start_move(&m);
	return tsw_pool_wait(w->shop->pool, &m.job);
}

tsw_status tsw_half_write(struct tsw_work *w, const struct tsw_region *half, unsigned char *buffer)
{
	struct tsw_move m;

	write_half(w, &m, half, buffer);
	return tsw_pool_wait(w->shop->pool, &m.job);
}

tsw_status tsw_half_hash(struct tsw_work *w, const struct tsw_region *half,
			 const unsigned char *buffer, tsw_hash *hash)
{
	const struct tsw_bands b = {*half, buffer, w->band_a};

	return bands_hash(w->shop, &b, hash);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void forget_tile(const struct tsw_shop *shop, const struct tsw_file *f,
			const struct tsw_region *x, int wait)
{
	const struct tsw_io *io = f->io;

	if (goes_past(shop, x))
		return;
	for (size_t r = 0; r < x->rows; r++)
		io->forget(io->user, f->fd, x->at + r * x->pitch, x->cols * x->elem_size, wait);
}

void tsw_work_forget(const struct tsw_work *w, int wait)
{
	const struct tsw_shop *shop = w->shop;

	if (!shop->forget)
		return;
	forget_tile(shop, &shop->data, &w->a, wait);
	if (!w->diagonal)
		forget_tile(shop, &shop->data, &w->b, wait);
	if (shop->out.fd == shop->data.fd)
		return;
	forget_tile(shop, &shop->out, &w->a, wait);
	if (!w->diagonal)
		forget_tile(shop, &shop->out, &w->b, wait);
}
