/* The file engine on a simulated disk, one fault at a time: the n-th call fails for every n, the
 * disk is full, the journal is another's, the file was restored, and what must then be said. */
#include "crash/scene.h"
#include "support.h"

#include "file/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static struct scene scene;

static const struct tsw_grid plain = {.n = 7, .ld = 7, .elem_size = 3, .tile = 2, .offset = 130};

static void begin(struct tsw_grid grid)
{
	uint64_t seed = tsw_seed();

	scene_new(&scene, grid, 5, 0, tsw_random(&seed));
}

static void finish(void)
{
	scene_free(&scene);
}

/* ---- whole runs ------------------------------------------------------------------------------ */

START_TEST(moves_no_more_than_it_must)
{
	struct tsw_grid g = plain;
	const uint64_t volume = g.n * g.n * g.elem_size;
	struct tsw_run_result r;

	begin(g);
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert_msg(!scene_wrong(&scene, 1), "%s", scene_wrong(&scene, 1));
	ck_assert_uint_eq(r.traffic.read, volume);
	/* All but the main diagonal; half of that to the journal, and a block a record. */
	ck_assert_uint_eq(r.traffic.written, volume - g.n * g.elem_size);
	ck_assert_uint_eq(r.traffic.journalled,
			  r.traffic.written / 2 + r.pairs_written * TSW_BLOCK);
	ck_assert(r.resumed_from == TSW_NO_PAIR && !r.already_done);
	ck_assert(scene_nothing_left(&scene));
	finish();
}
END_TEST

/* Zeros are written where room is not promised, and only there. */
START_TEST(zeros_take_room_where_none_is_promised)
{
	struct tsw_grid g = plain;
	struct tsw_run_result r[2];

	for (int no_room = 0; no_room < 2; no_room++) {
		begin(g);
		scene.disk.no_room = no_room;
		tsw_assert_ok(scene_run(&scene, &r[no_room]));
		ck_assert_msg(!scene_wrong(&scene, 1), "%s", scene_wrong(&scene, 1));
		finish();
	}
	ck_assert_uint_eq(r[1].traffic.journalled, r[0].traffic.journalled + TSW_BLOCK +
							   2 * (TSW_BLOCK + tsw_slot_bytes(&g)));
	ck_assert_uint_eq(r[1].traffic.written, r[0].traffic.written);
}
END_TEST

START_TEST(symmetric_pairs_are_not_written)
{
	struct tsw_run_result r;

	scene_new(&scene, plain, 0, 1, 1);
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert_uint_eq(r.traffic.written, 0);
	ck_assert_uint_eq(r.traffic.journalled, 0);
	ck_assert(!scene_wrong(&scene, 0) && !scene_wrong(&scene, 1));
	finish();
}
END_TEST

/* Where there are squares on the diagonal it is written as well, and all of them are half A's. */
START_TEST(moves_no_more_than_it_must_with_squares)
{
	struct tsw_grid g = plain;
	struct tsw_run_result r;

	for (g.tile = 1; g.tile <= 7; g.tile++)
		for (g.square = 1; g.square <= g.tile; g.square++) {
			/* A last tile of one element is its own transpose. */
			const uint64_t alone = g.tile == 1 ? g.n : g.n % g.tile == 1;
			const uint64_t volume = g.n * g.n * g.elem_size,
				       written = volume - alone * g.elem_size;
			uint64_t squares = 0; /* both triangles of them */

			for (uint64_t at = 0; at < g.n; at += g.tile)
				for (uint64_t d = at; d < g.n && d < at + g.tile; d += g.square) {
					uint64_t end = d + g.square;

					end = end < at + g.tile ? end : at + g.tile;
					end = end < g.n ? end : g.n;
					squares += (end - d) * (end - d) * g.elem_size;
				}
			begin(g);
			tsw_assert_ok(scene_run(&scene, &r));
			ck_assert_msg(!scene_wrong(&scene, 1), "%s", scene_wrong(&scene, 1));
			ck_assert_uint_eq(r.traffic.read, volume);
			ck_assert_uint_eq(r.traffic.written, written);
			squares -= alone * g.elem_size;
			ck_assert_uint_eq(r.traffic.journalled,
					  (written + squares) / 2 + r.pairs_written * TSW_BLOCK);
			finish();
		}
}
END_TEST

/* The journal stays within 0.51 V; squares are whole grains, and parts of whole pages. */
START_TEST(chooses_squares_that_lengthen_the_journal_little)
{
	unsigned chosen = 0;

	for (size_t size = 1; size <= 4096; size += size < 8 ? 1 : size)
		for (uint64_t n = 4096; n <= 1 << 17; n *= 2)
			for (size_t grain = 0; grain <= 4096; grain = grain ? 2 * grain : 512) {
				struct tsw_grid g = {.n = n, .ld = n, .elem_size = size};

				tsw_choose_cuts(&g, (uint64_t)1 << 30, grain);
				if (!g.square)
					continue;
				chosen++;
				ck_assert(grain && g.square * size % grain == 0);
				ck_assert_uint_eq(g.tile % g.square, 0);
				ck_assert_uint_le(100 * g.square, n);
			}
	ck_assert_uint_gt(chosen, 50);
}
END_TEST

/* Bytes read, written and read back in tiles whose every row begins and ends on a block; on the
 * diagonal in those with squares of whole grains.  One element there is not written. */
static uint64_t bytes_past(const struct tsw_grid *g, size_t block, size_t grain)
{
	const uint64_t s = g->elem_size, tiles = tsw_grid_tiles(g);
	const int diagonal = g->square && g->square * s % grain == 0;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < tiles; i++)
		for (uint32_t j = 0; j < tiles; j++) {
			const uint64_t at = g->offset + tsw_grid_start(g, i) * g->ld * s +
					    tsw_grid_start(g, j) * s;
			const uint64_t rows = tsw_grid_side(g, i), row = tsw_grid_side(g, j) * s;

			if ((i != j || diagonal) && at % block == 0 && row % block == 0 &&
			    g->ld * s % block == 0 && g->tile * s % block == 0)
				bytes += rows * row * (i == j && rows == 1 ? 2 : 3);
		}
	return bytes;
}

/* Every n around multiples of the tile, elements of 1 to 5 bytes, windows. */
START_TEST(shapes)
{
	struct tsw_run_result r;

	for (uint64_t n = 0; n <= 13; n++)
		for (size_t tile = 1; tile <= 6; tile++)
			for (size_t size = 1; size <= 5; size += 2) {
				struct tsw_grid g = {.n = n,
						     .ld = n + tile % 3,
						     .elem_size = size,
						     .tile = tile,
						     .first = n % 2 ? tile / 2 : 0,
						     .offset = 61 * n};

				begin(g);
				scene.o.verify = 1;
				tsw_require(scene_run(&scene, &r) == TSW_OK, "n = %ju: %s",
					    (uintmax_t)n, tsw_last_error());
				tsw_require(!scene_wrong(&scene, 1), "n = %ju, tile = %zu: %s",
					    (uintmax_t)n, tile, scene_wrong(&scene, 1));
				finish();
			}
}
END_TEST

/* What consists of whole blocks goes past the page cache, and nothing else: not a triangle, not a
 * run that begins or ends within a block; squares make stairs of a triangle, which may. */
START_TEST(whole_blocks_go_past_the_cache)
{
	struct tsw_run_result r;

	for (size_t block = 1; block <= 8; block *= 2)
		for (uint64_t n = 0; n <= 16; n++)
			for (unsigned kind = 0; kind < 64; kind++) {
				const size_t grain = kind & 16 && block > 1 ? block / 2 : block;
				struct tsw_grid g = {.n = n,
						     .ld = n + n % 2 * (kind & 1),
						     .elem_size = kind & 2 ? 4 : 3,
						     .tile = kind & 4 ? 4 : 2,
						     .offset = kind & 8 ? 6 : 8,
						     .square = kind & 32 ? 1 + kind % 2 : 0};

				if (g.tile > n)
					g.tile = n ? n : 1;
				begin(g);
				scene.disk.block = scene.o.block = block;
				scene.disk.grain = grain;
				scene.o.verify = 1;
				tsw_require(scene_run(&scene, &r) == TSW_OK, "n = %ju: %s",
					    (uintmax_t)n, tsw_last_error());
				tsw_require(!scene_wrong(&scene, 1), "n = %ju, block %zu: %s",
					    (uintmax_t)n, block, scene_wrong(&scene, 1));
				tsw_require(scene.disk.past == bytes_past(&g, block, grain),
					    "n = %ju, block %zu: %ju bytes", (uintmax_t)n, block,
					    (uintmax_t)scene.disk.past);
				finish();
			}
}
END_TEST

static void put_another_file_there(void)
{
	static const unsigned char nothing[1];

	scene.o.fd = scene.disk.io.open(&scene.disk, SCENE_DATA, TSW_OPEN_DATA, 0);
	disk_put(&scene.disk, "elsewhere", nothing, 1);
	scene.disk.io.rename(&scene.disk, "elsewhere", SCENE_DATA);
}

/* The lock is on the file that was opened first. */
START_TEST(the_name_goes_to_another_file)
{
	const struct disk_file *locked;
	struct tsw_run_result r;

	begin(plain);
	scene.disk.block = scene.o.block = 1;
	put_another_file_there();
	locked = &scene.disk.file[scene.o.fd];
	tsw_assert_ok(tsw_engine_run(&scene.o, &r));
	ck_assert_uint_eq(scene.disk.past, 0);
	ck_assert(!memcmp(locked->cache, scene.after, scene.bytes));
	finish();
}
END_TEST

static size_t row_of_a_triangle(const void *arg, size_t r, const void **start)
{
	*start = (const unsigned char *)arg + r * (r + 1) / 2;
	return r + 1;
}

/* Rows by whatever vectors, of all lengths, hash as one piece of memory does by the plain ones. */
START_TEST(hashes_alike_in_rows_and_in_one)
{
	const unsigned char *bytes = tsw_pattern(1000 * 1001 / 2);

	for (size_t rows = 1; rows <= 1000; rows += rows < 100 ? 1 : 50)
		tsw_require(tsw_hash_equal(tsw_hash_rows(row_of_a_triangle, bytes, 0, rows),
					   tsw_hash_bytes(bytes, rows * (rows + 1) / 2)),
			    "%zu rows", rows);
}
END_TEST

START_TEST(chooses_tiles_that_fit)
{
	for (uint64_t n = 1; n < 100000; n = n * 3 + 1)
		for (size_t size = 1; size <= 4096; size *= 8)
			for (uint64_t memory = 1 << 16; memory < (uint64_t)1 << 36; memory *= 16) {
				struct tsw_grid g = {.n = n, .ld = n, .elem_size = size};

				g.tile = tsw_choose_tile(&g, memory);
				tsw_require(g.tile <= n, "tile %zu, n %ju", g.tile, (uintmax_t)n);
				if (g.tile)
					tsw_require(3 * tsw_work_bytes(&g) <= memory,
						    "n %ju, %zu bytes, memory %ju: too much",
						    (uintmax_t)n, size, (uintmax_t)memory);
				else
					tsw_require(6 * size + 400 > memory,
						    "%zu bytes, memory %ju: none", size,
						    (uintmax_t)memory);
			}
}
END_TEST

/* A file in the page cache gets as much memory as serves there, but what its elements need. */
START_TEST(cached_files_take_little_memory)
{
	struct tsw_run_result r;
	struct tsw_run_options o = {.memory_bytes = (uint64_t)8 << 30};
	struct tsw_engine e = {.o = &o, .result = &r};
	const struct tsw_grid ordinary = {.n = 16384, .ld = 16384, .elem_size = 8};
	const struct tsw_grid enormous = {.n = 5, .ld = 5, .elem_size = (size_t)40 << 20};

	for (o.cached = 0; o.cached <= 1; o.cached++) {
		e.shop.grid = ordinary;
		tsw_assert_ok(tsw_engine_choose_tile(&e));
		ck_assert_uint_eq(e.shop.grid.tile, o.cached ? 2048 : 2560);
		e.shop.grid = enormous;
		tsw_assert_ok(tsw_engine_choose_tile(&e));
		ck_assert_uint_eq(e.shop.grid.tile, 1);
	}
	o.memory_bytes = (uint64_t)26 << 20;
	e.shop.grid = ordinary;
	tsw_assert_ok(tsw_engine_choose_tile(&e));
	ck_assert_uint_eq(e.shop.grid.tile, 512);
}
END_TEST

static unsigned told;
static uint64_t told_of; /* bytes, each time */

static void count_what_is_told(void *user, int fd, uint64_t at, uint64_t bytes)
{
	(void)user;
	(void)fd;
	(void)at;
	told++;
	told_of = bytes;
}

/* The disk hears of everything at once, each time so many bytes have been written, and of no piece
 * by itself; of the journal, which nothing waits for, never. */
START_TEST(the_disk_hears_of_many_pairs_at_once)
{
	struct tsw_run_result r;

	begin(plain);
	scene.disk.io.start_writing = count_what_is_told;
	scene.o.process_only = 1;
	told = 0;
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert_uint_ge(told, 2 * r.pairs_written - plain.n / plain.tile);
	scene.o.early = r.traffic.written / 3;
	told = 0;
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert_uint_ge(told, 1);
	ck_assert_uint_le(told, 3);
	ck_assert_uint_eq(told_of, tsw_grid_end(&plain) - plain.offset);
	ck_assert_msg(!scene_wrong(&scene, 2), "%s", scene_wrong(&scene, 2));
	/* After each pair, if what was begun then has come to an end. */
	scene.o.early = 1;
	for (unsigned run = 3; run < 30; run++) {
		told = 0;
		tsw_assert_ok(scene_run(&scene, &r));
		ck_assert(told > 0 && told <= r.pairs_written);
		ck_assert_msg(!scene_wrong(&scene, run), "%s", scene_wrong(&scene, run));
	}
	finish();
}
END_TEST

/* ---- one call fails -------------------------------------------------------------------------- */

struct failing {
	uint64_t at, count;
	enum disk_event event;
	int struck;
};

static enum disk_event fail_nth(void *user, enum disk_call call)
{
	struct failing *f = user;

	if (++f->count != f->at)
		return DISK_NOTHING;
	f->struck = 1;
	if (f->event == DISK_SYNC_FAILS && call != DISK_SYNC)
		return DISK_ERROR;
	return f->event;
}

static int stop_half_way(void *user, uint64_t done, uint64_t total)
{
	(void)user;
	return done >= total / 2 && done < total;
}

/* A run that has been stopped in the middle, so that the next one has something to recover. */
static void leave_half_done(void)
{
	struct tsw_run_result r;

	scene.o.progress = stop_half_way;
	tsw_assert_status(scene_run(&scene, &r), TSW_ERR_INTERRUPTED);
	scene.o.progress = NULL;
}

/* Walks n upwards until the run passes with nothing struck.  After every failure the next run puts
 * things right. */
static void walk(int half_done, int verify, int once, int process_only, enum disk_event event,
		 size_t block)
{
	uint64_t failures = 0;

	for (uint64_t n = 1;; n++) {
		struct failing f = {.at = n, .event = event};
		struct tsw_run_result r;
		tsw_status status;

		begin(plain);
		scene.o.verify = verify;
		scene.o.once = once;
		scene.o.process_only = process_only;
		scene.disk.block = scene.o.block = block;
		if (half_done)
			leave_half_done();
		scene.disk.strike = fail_nth;
		scene.disk.user = &f;
		status = scene_run(&scene, &r);
		scene.disk.strike = NULL;
		if (!f.struck) {
			tsw_require(status == TSW_OK, "%s", tsw_last_error());
			finish();
			break;
		}
		/* Some failures do not matter: the leftover journal that is not there to remove. */
		if (status != TSW_OK) {
			failures++;
			tsw_require(status == TSW_ERR_IO, "call %ju: %s", (uintmax_t)n,
				    tsw_last_error());
			if (!(scene.disk.unmarking && scene_nothing_left(&scene)))
				tsw_require(scene_run(&scene, &r) == TSW_OK, "after call %ju: %s",
					    (uintmax_t)n, tsw_last_error());
		}
		tsw_require(!scene_wrong(&scene, 1), "after call %ju: %s", (uintmax_t)n,
			    scene_wrong(&scene, 1));
		disk_lose_power(&scene.disk);
		tsw_require(!scene_wrong(&scene, 1), "after call %ju and a power loss: %s",
			    (uintmax_t)n, scene_wrong(&scene, 1));
		finish();
	}
	ck_assert_msg(failures > 50, "only %ju calls failed", (uintmax_t)failures);
}

START_TEST(the_nth_call_fails)
{
	const int half_done = _i & 1, verify = _i >> 1 & 1, once = _i >> 2 & 1;

	for (size_t block = 0; block < 2; block++) {
		walk(half_done, verify, once, 0, DISK_ERROR, block);
		walk(half_done, verify, once, 0, DISK_SYNC_FAILS, block);
		walk(half_done, verify, once, 1, DISK_ERROR, block);
	}
}
END_TEST

/* A short transfer is gone on with, wherever it comes. */
START_TEST(the_nth_transfer_is_short)
{
	int struck = 1;

	for (uint64_t n = 1; struck; n++) {
		struct failing f = {.at = n, .event = DISK_SHORT};
		struct tsw_run_result r;

		begin(plain);
		scene.disk.strike = fail_nth;
		scene.disk.user = &f;
		tsw_require(scene_run(&scene, &r) == TSW_OK, "call %ju: %s", (uintmax_t)n,
			    tsw_last_error());
		tsw_require(!scene_wrong(&scene, 1), "%s", scene_wrong(&scene, 1));
		struck = f.struck;
		finish();
	}
}
END_TEST

/* The disk takes more and more: as long as the journal does not fit, nothing is changed; then the
 * run passes, and never stops between.  With a file system that promises room (0) and without (1).
 */
START_TEST(a_full_disk_stops_only_the_beginning)
{
	struct tsw_run_result r;
	tsw_status status = TSW_ERR_IO;
	uint64_t capacity;

	for (capacity = 1; status != TSW_OK; capacity += 777) {
		begin(plain);
		scene.disk.no_room = _i;
		scene.disk.capacity = scene.bytes + capacity;
		status = scene_run(&scene, &r);
		tsw_require(status == TSW_OK || (status == TSW_ERR_IO && !scene_wrong(&scene, 0) &&
						 scene_nothing_left(&scene)),
			    "capacity %ju: %s", (uintmax_t)capacity, tsw_last_error());
		if (status != TSW_OK)
			ck_assert_msg(strstr(tsw_last_error(), strerror(ENOSPC)), "%s",
				      tsw_last_error());
		finish();
	}
	ck_assert_uint_gt(capacity, 4 * TSW_BLOCK);
}
END_TEST

/* ---- stopping and asking differently --------------------------------------------------------- */

START_TEST(stops_and_goes_on)
{
	struct tsw_run_result r;

	begin(plain);
	leave_half_done();
	ck_assert(scene_wrong(&scene, 0) && scene_wrong(&scene, 1));
	scene.o.memory_bytes = 1;
	scene.o.memory_given = 1;
	tsw_assert_status(scene_run(&scene, &r), TSW_ERR_OPTION);
	scene.o.memory_given = 0;
	scene.o.grid.tile = 5; /* the journal knows better */
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert(r.resumed_from != TSW_NO_PAIR && r.resumed_from > 0);
	ck_assert_uint_eq(r.tile, plain.tile);
	ck_assert_msg(!scene_wrong(&scene, 1), "%s", scene_wrong(&scene, 1));
	finish();
}
END_TEST

START_TEST(other_options_are_refused)
{
	struct tsw_run_options asked;
	struct tsw_run_result r;

	begin(plain);
	leave_half_done();
	asked = scene.o;
#define WITH(change)                                                                               \
	do {                                                                                       \
		scene.o = asked;                                                                   \
		scene.o.change;                                                                    \
		tsw_assert_status(scene_run(&scene, &r), TSW_ERR_JOURNAL);                         \
	} while (0)
	WITH(grid.n = 6);
	WITH(grid.ld = 8);
	WITH(grid.elem_size = 2);
	WITH(grid.offset = 131);
	WITH(process_only = 1);
	WITH(once = 1);
	WITH(verify = 1);
	scene.o = asked;
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert_msg(!scene_wrong(&scene, 1), "%s", scene_wrong(&scene, 1));
	finish();
}
END_TEST

START_TEST(a_digest_survives_a_stop)
{
	struct tsw_run_result whole, resumed;

	begin(plain);
	scene.o.verify = 1;
	tsw_assert_ok(scene_run(&scene, &whole));
	tsw_assert_ok(scene_run(&scene, &resumed)); /* and back */
	leave_half_done();
	tsw_assert_ok(scene_run(&scene, &resumed));
	ck_assert(resumed.resumed_from != TSW_NO_PAIR);
	ck_assert(!memcmp(&whole.before, &resumed.before, sizeof whole.before));
	ck_assert(!memcmp(&whole.after, &resumed.after, sizeof whole.after));
	finish();
}
END_TEST

START_TEST(once_is_once)
{
	struct tsw_run_result r;

	begin(plain);
	scene.o.once = 1;
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert(!r.already_done && !scene_wrong(&scene, 1));
	for (int i = 0; i < 3; i++) {
		tsw_assert_ok(scene_run(&scene, &r));
		ck_assert(r.already_done && !scene_wrong(&scene, 1));
		disk_lose_power(&scene.disk);
	}
	scene.o.once = 0;
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert(!r.already_done && !scene_wrong(&scene, 0) && scene_nothing_left(&scene));
	finish();
}
END_TEST

START_TEST(once_without_attributes)
{
	struct tsw_run_result r;
	unsigned char *m;

	begin(plain);
	scene.disk.no_marks = 1;
	scene.o.once = 1;
	tsw_assert_ok(scene_run(&scene, &r));
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert(r.already_done && !scene_wrong(&scene, 1));
	/* Another matrix under the old name is not taken for done. */
	m = disk_get(&scene.disk, SCENE_DATA)->cache;
	for (uint64_t i = 0; i < scene.bytes; i++)
		m[i] ^= 0x55;
	tsw_assert_status(scene_run(&scene, &r), TSW_ERR_JOURNAL);
	finish();
}
END_TEST

/* ---- what is not what it was ----------------------------------------------------------------- */

static struct disk_file *file_of(const char *name)
{
	return (struct disk_file *)(uintptr_t)disk_get(&scene.disk, name);
}

/* A half-done run, then `spoil`; the next run must refuse and change nothing. */
static void refused_after(void (*spoil)(void), const char *words)
{
	static unsigned char before[4096];
	struct tsw_run_result r;

	begin(plain);
	leave_half_done();
	spoil();
	ck_assert_uint_le(scene.bytes, sizeof before);
	memcpy(before, file_of(SCENE_DATA)->cache, scene.bytes);
	tsw_assert_status(scene_run(&scene, &r), TSW_ERR_JOURNAL);
	ck_assert_msg(strstr(tsw_last_error(), words), "'%s' does not say '%s'", tsw_last_error(),
		      words);
	ck_assert(!tsw_wrong_bytes(file_of(SCENE_DATA)->cache, before, scene.bytes));
	finish();
}

static void lose_journal(void)
{
	scene.disk.io.unlink(&scene.disk, SCENE_JOURNAL);
}

static void lose_mark(void)
{
	memset(file_of(SCENE_DATA)->cache_mark, 0, TSW_MARK_BYTES);
}

static void change_mark(void)
{
	file_of(SCENE_DATA)->cache_mark[3] ^= 1;
}

static void restore_backup(void)
{
	memcpy(file_of(SCENE_DATA)->cache, scene.before, scene.bytes);
}

static void put_result_in_place(void)
{
	memcpy(file_of(SCENE_DATA)->cache, scene.after, scene.bytes);
}

static void spoil_header(void)
{
	file_of(SCENE_JOURNAL)->cache[40] ^= 1;
}

static void cut_journal(void)
{
	file_of(SCENE_JOURNAL)->cache_bytes = 100;
}

static void spoil_both_records(void)
{
	struct disk_file *f = file_of(SCENE_JOURNAL);

	for (uint64_t at = 2 * TSW_BLOCK; at < f->cache_bytes; at += TSW_BLOCK)
		f->cache[at + 30] ^= 1;
}

/* The header's hash is right: somebody meant it. */
static void forge(uint64_t tile, uint64_t first, uint64_t square)
{
	struct tsw_journal_header h;
	struct tsw_grid g = plain;

	memcpy(&h, file_of(SCENE_JOURNAL)->cache, sizeof h);
	h.tile = g.tile = tile;
	h.first_side = g.first = first;
	h.square = g.square = square;
	if (tile)
		h.slot_bytes = tsw_slot_bytes(&g);
	h.hash = tsw_hash_bytes(&h, sizeof h - sizeof h.hash);
	memcpy(file_of(SCENE_JOURNAL)->cache, &h, sizeof h);
}

static void forge_no_tile(void)
{
	forge(0, 0, 0);
}

static void forge_large_tile(void)
{
	forge(plain.n + 1, 0, 0);
}

static void forge_large_first(void)
{
	forge(plain.tile, plain.tile + 1, 0);
}

static void forge_large_square(void)
{
	forge(plain.tile, 0, plain.tile + 1);
}

START_TEST(foreign_and_stale_are_refused)
{
	static const struct {
		void (*spoil)(void);
		const char *words;
	} cases[] = {
		{lose_journal, "journal of that run is gone"},
		{lose_mark, "another file's"},
		{change_mark, "another file's"},
		{restore_backup, "changed"},
		{put_result_in_place, "changed"},
		{spoil_header, "damaged"},
		{cut_journal, "not a whole journal"},
		{spoil_both_records, "no record of it is whole"},
		{forge_no_tile, "tiles that it cannot have"},
		{forge_large_tile, "tiles that it cannot have"},
		{forge_large_first, "tiles that it cannot have"},
		{forge_large_square, "tiles that it cannot have"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		refused_after(cases[i].spoil, cases[i].words);
}
END_TEST

START_TEST(a_process_journal_ends_with_the_system)
{
	struct tsw_run_result r;

	begin(plain);
	scene.o.process_only = 1;
	leave_half_done();
	scene.disk.boots++;
	tsw_assert_status(scene_run(&scene, &r), TSW_ERR_JOURNAL);
	ck_assert(strstr(tsw_last_error(), "started anew"));
	scene.disk.boots--;
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert(!scene_wrong(&scene, 1));
	finish();
}
END_TEST

/* Half way, when the last tile may have been read: it must not be written to a file that has become
 * shorter, and make it longer again. */
static int cut_off(void *user, uint64_t done, uint64_t total)
{
	(void)user;
	if (done >= total / 2)
		file_of(SCENE_DATA)->cache_bytes = scene.bytes - 10;
	return 0;
}

START_TEST(cut_off_while_it_runs)
{
	static const struct tsw_grid four = {.n = 4, .ld = 4, .elem_size = 3, .tile = 2};
	struct tsw_run_result r;

	begin(_i ? four : plain);
	scene.o.progress = cut_off;
	tsw_assert_status(scene_run(&scene, &r), TSW_ERR_IO);
	ck_assert_uint_eq(file_of(SCENE_DATA)->cache_bytes, scene.bytes - 10);
	finish();
}
END_TEST

/* A byte that goes bad under the run is found by the digests. */
static int spoil_done_byte(void *user, uint64_t done, uint64_t total)
{
	(void)user;
	if (done == total)
		file_of(SCENE_DATA)->cache[plain.offset + 1] ^= 4;
	return 0;
}

START_TEST(verifying_finds_a_wrong_byte)
{
	struct tsw_run_result r;

	begin(plain);
	scene.o.verify = 1;
	scene.o.progress = spoil_done_byte;
	tsw_assert_status(scene_run(&scene, &r), TSW_ERR_MISMATCH);
	ck_assert(disk_get(&scene.disk, SCENE_JOURNAL));
	finish();
}
END_TEST

/* Tiles of more hashes than pieces of work: a piece through the page cache is two rows, the last
 * is one; past the cache (1) each is one. */
START_TEST(pieces_of_large_tiles)
{
	static const struct tsw_grid large = {
		.n = 83, .ld = 83, .elem_size = 1700, .tile = 39, .offset = 130};
	struct tsw_run_result r;

	begin(large);
	scene.disk.block = scene.o.block = (size_t)_i;
	scene.o.verify = 1;
	leave_half_done();
	tsw_assert_ok(scene_run(&scene, &r));
	ck_assert(r.resumed_from != TSW_NO_PAIR);
	ck_assert_msg(!scene_wrong(&scene, 1), "%s", scene_wrong(&scene, 1));
	finish();
}
END_TEST

/* ---- a new file ------------------------------------------------------------------------------ */

static const char *wrong_copy(void)
{
	const struct disk_file *f = disk_get(&scene.disk, "out");

	if (!f || f->cache_bytes != scene.bytes)
		return "the copy is not there, or has another size";
	return tsw_wrong_bytes(f->cache, scene.after, scene.bytes);
}

START_TEST(copies)
{
	struct tsw_grid g = plain;
	struct tsw_run_result r;

	g.ld = 9;
	begin(g);
	scene.o.verify = 1;
	scene.o.fd = scene.disk.io.open(&scene.disk, SCENE_DATA, TSW_OPEN_READ, 0);
	tsw_assert_ok(tsw_stream_run(&scene.o, "out", 0, &r));
	ck_assert_msg(!wrong_copy(), "%s", wrong_copy());
	ck_assert_uint_eq(r.traffic.written, scene.bytes);
	ck_assert(!scene_wrong(&scene, 0));
	disk_lose_power(&scene.disk);
	ck_assert_msg(!wrong_copy(), "after a power loss: %s", wrong_copy());
	tsw_assert_status(tsw_stream_run(&scene.o, "out", 0, &r), TSW_ERR_OPTION);
	tsw_assert_status(tsw_stream_run(&scene.o, SCENE_DATA, 1, &r), TSW_ERR_OPTION);
	finish();
}
END_TEST

START_TEST(the_nth_call_of_a_copy_fails)
{
	int struck = 1;

	for (uint64_t n = 1; struck; n++) {
		struct failing f = {.at = n, .event = DISK_ERROR};
		struct tsw_run_result r;
		tsw_status status;

		begin(plain);
		scene.o.fd = scene.disk.io.open(&scene.disk, SCENE_DATA, TSW_OPEN_READ, 0);
		scene.disk.strike = fail_nth;
		scene.disk.user = &f;
		status = tsw_stream_run(&scene.o, "out", 0, &r);
		struck = f.struck;
		tsw_require(!scene_wrong(&scene, 0), "call %ju: the input was changed",
			    (uintmax_t)n);
		if (status == TSW_OK)
			tsw_require(!wrong_copy(), "call %ju: %s", (uintmax_t)n, wrong_copy());
		else
			tsw_require(status == TSW_ERR_IO && !disk_get(&scene.disk, "out"),
				    "call %ju: status %d", (uintmax_t)n, status);
		finish();
	}
}
END_TEST

/* ---- a real disk ----------------------------------------------------------------------------- */

static int past, past_fd;
static _Atomic uint64_t past_bytes; /* written */

static int notes_the_way(void *user, const char *name, enum tsw_open how, unsigned mode)
{
	const int fd = tsw_system_io.open(user, name, how, mode);

	if (how == TSW_OPEN_DIRECT && fd >= 0) {
		past++;
		past_fd = fd;
	}
	return fd;
}

static int64_t counts_what_goes_past(void *user, int fd, const void *from, size_t bytes,
				     uint64_t at)
{
	if (past && fd == past_fd)
		past_bytes += bytes;
	return tsw_system_io.write(user, fd, from, bytes, at);
}

/* Does the system say that whole pages may go past the cache?  If not, this is one more run through
 * it. */
static int lends_a_way(int fd)
{
#ifdef STATX_DIOALIGN
	struct statx s;

	return sysconf(_SC_PAGESIZE) == TSW_PAGE &&
	       !statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &s) && (s.stx_mask & STATX_DIOALIGN) &&
	       s.stx_dio_mem_align && s.stx_dio_offset_align && s.stx_dio_mem_align <= TSW_PAGE &&
	       s.stx_dio_offset_align <= TSW_PAGE;
#else
	(void)fd;
	return 0;
#endif
}

/* The cuts fall on pages, also behind a header (1); long elements make squares on the diagonal (2),
 * so that all of the matrix goes past, if sectors may.  The file is named through a link. */
START_TEST(on_a_real_disk)
{
	const struct tsw_shape shape =
		_i == 2 ? (struct tsw_shape){416, 416, 128} : (struct tsw_shape){1536, 1536, 8};
	const size_t offset = _i == 1 ? 128 : 0, bytes = offset + tsw_shape_bytes(shape);
	const unsigned char *before = tsw_pattern(bytes);
	unsigned char *after = malloc(bytes);
	struct tsw_io io = tsw_system_io;
	char path[128], link[136], journal[136];
	struct tsw_run_options o = {.io = &io,
				    .path = link,
				    .journal_path = journal,
				    .grid = {.n = shape.n,
					     .ld = shape.n,
					     .elem_size = shape.elem_size,
					     .offset = offset},
				    .memory_bytes = (uint64_t)13 << 20,
				    .io_threads = 8,
				    .verify = 1,
				    .forget = 1,
				    .block = TSW_PAGE};
	struct tsw_run_result r;
	const char *wrong;

	past = 0;
	past_bytes = 0;
	snprintf(path, sizeof path, "%.64s/tsw-engine-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp");
	o.fd = mkstemp(path);
	snprintf(journal, sizeof journal, "%s.tswj", path);
	snprintf(link, sizeof link, "%s.link", path);
	ck_assert(!symlink(path, link) && o.fd >= 0 && after &&
		  write(o.fd, before, bytes) == (ssize_t)bytes);
	io.open = notes_the_way;
	io.write = counts_what_goes_past;
	tsw_assert_ok(tsw_engine_run(&o, &r));
	ck_assert_uint_eq(r.tile, _i == 2 ? 128 : 512);
	ck_assert(pread(o.fd, after, bytes, 0) == (ssize_t)bytes && !memcmp(after, before, offset));
	wrong = tsw_wrong_transpose(after + offset, before + offset, shape);
	ck_assert_msg(!wrong, "%s", wrong);
	printf("  %s the page cache\n", past ? "past" : "only through");
	ck_assert_int_eq(past, lends_a_way(o.fd));
	if (_i == 2 && past && tsw_system_io.grain(NULL, o.fd) <= 512)
		ck_assert_uint_eq(past_bytes, r.traffic.written);
	close(o.fd);
	unlink(path);
	unlink(link);
	free(after);
}
END_TEST

/* Where the file system can tell: what has been written is in the cache, what the cache was told to
 * drop is not. */
START_TEST(looks_into_the_page_cache)
{
	const size_t bytes = 100 * TSW_PAGE;
	const struct tsw_io *io = &tsw_system_io;
	char path[128];
	int fd, is;

	snprintf(path, sizeof path, "%.64s/tsw-cached-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp");
	fd = mkstemp(path);
	ck_assert(fd >= 0 && !unlink(path));
	ck_assert(write(fd, tsw_pattern(bytes), bytes) == (ssize_t)bytes && !fsync(fd));
	is = io->is_cached(NULL, fd, 0, bytes);
	printf("  the page cache %s\n", is ? "tells" : "does not tell");
	ck_assert_int_eq(io->is_cached(NULL, fd, 0, 2 * bytes), 0);
	if (is) {
		ck_assert(!posix_fadvise(fd, (off_t)bytes / 2, (off_t)bytes / 2,
					 POSIX_FADV_DONTNEED));
		ck_assert_int_eq(io->is_cached(NULL, fd, 0, bytes / 4), 1);
		ck_assert_int_eq(io->is_cached(NULL, fd, 0, bytes), 0);
	}
	close(fd);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------------- */

#define MOST 3

struct work_of_a_line {
	unsigned char begun[200];
	_Atomic unsigned running, most_running, count;
	const struct work_of_a_line *before; /* all of whose indices must have been begun */
	unsigned early, fails_at;
};

static tsw_status work_slowly(void *arg, uint64_t index)
{
	struct work_of_a_line *w = arg;
	const unsigned running = ++w->running;
	unsigned most = w->most_running;

	while (running > most && !atomic_compare_exchange_weak(&w->most_running, &most, running))
		;
	w->begun[index]++;
	w->count++;
	/* Up to MOST of them have been begun and not yet counted. */
	if (w->before && w->before->count + MOST < COUNT_OF(w->begun) && !w->before->fails_at)
		w->early = 1;
	usleep(100);
	w->running--;
	if (w->fails_at && index == w->fails_at)
		return tsw_fail(TSW_ERR_IO, "index %ju", (uintmax_t)index);
	return TSW_OK;
}

/* Every index once, no more threads than are allowed, nothing read before all of a job that is
 * alone has been begun; and if that one fails (1), what waited for it goes on. */
START_TEST(threads_take_turns)
{
	static struct work_of_a_line alone, reads, turns;
	struct tsw_job job[] = {
		{.run = work_slowly,
		 .arg = &alone,
		 .count = 200,
		 .most = MOST,
		 .line = TSW_TO_WRITE,
		 .alone = 1},
		{.run = work_slowly, .arg = &reads, .count = 200, .line = TSW_TO_READ},
		{.run = work_slowly, .arg = &turns, .count = 200, .most = 1, .line = TSW_TO_TURN},
	};
	struct tsw_pool *pool;

	reads.before = &alone;
	alone.fails_at = _i ? 20 : 0;
	tsw_assert_ok(tsw_pool_start(&pool, 8, 0));
	for (size_t i = 0; i < COUNT_OF(job); i++)
		tsw_pool_submit(pool, &job[i]);
	tsw_assert_ok(tsw_pool_wait(pool, &job[1]));
	tsw_assert_ok(tsw_pool_wait(pool, &job[2]));
	tsw_assert_status(tsw_pool_wait(pool, &job[0]), _i ? TSW_ERR_IO : TSW_OK);
	tsw_pool_stop(pool);
	for (size_t i = 0; i < COUNT_OF(reads.begun); i++)
		ck_assert(reads.begun[i] == 1 && turns.begun[i] == 1 && alone.begun[i] <= 1);
	ck_assert(_i || alone.count == COUNT_OF(alone.begun));
	ck_assert(!reads.early && alone.most_running <= MOST && turns.most_running == 1);
}
END_TEST

static Suite *engine_suite(void)
{
	Suite *suite = suite_create("file engine");
	TCase *tests = tcase_create("engine");

	tcase_add_test(tests, moves_no_more_than_it_must);
	tcase_add_test(tests, zeros_take_room_where_none_is_promised);
	tcase_add_test(tests, symmetric_pairs_are_not_written);
	tcase_add_test(tests, shapes);
	tcase_add_test(tests, moves_no_more_than_it_must_with_squares);
	tcase_add_test(tests, chooses_squares_that_lengthen_the_journal_little);
	tcase_add_test(tests, whole_blocks_go_past_the_cache);
	tcase_add_test(tests, the_name_goes_to_another_file);
	tcase_add_test(tests, hashes_alike_in_rows_and_in_one);
	tcase_add_test(tests, chooses_tiles_that_fit);
	tcase_add_test(tests, cached_files_take_little_memory);
	tcase_add_test(tests, the_disk_hears_of_many_pairs_at_once);
	tcase_add_loop_test(tests, the_nth_call_fails, 0, 8);
	tcase_add_test(tests, the_nth_transfer_is_short);
	tcase_add_loop_test(tests, a_full_disk_stops_only_the_beginning, 0, 2);
	tcase_add_test(tests, stops_and_goes_on);
	tcase_add_test(tests, other_options_are_refused);
	tcase_add_test(tests, a_digest_survives_a_stop);
	tcase_add_test(tests, once_is_once);
	tcase_add_test(tests, once_without_attributes);
	tcase_add_test(tests, foreign_and_stale_are_refused);
	tcase_add_test(tests, a_process_journal_ends_with_the_system);
	tcase_add_loop_test(tests, cut_off_while_it_runs, 0, 2);
	tcase_add_test(tests, verifying_finds_a_wrong_byte);
	tcase_add_loop_test(tests, pieces_of_large_tiles, 0, 2);
	tcase_add_test(tests, copies);
	tcase_add_test(tests, the_nth_call_of_a_copy_fails);
	tcase_add_loop_test(tests, on_a_real_disk, 0, 3);
	tcase_add_test(tests, looks_into_the_page_cache);
	tcase_add_loop_test(tests, threads_take_turns, 0, 2);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *const[]){engine_suite}, 1);
}
