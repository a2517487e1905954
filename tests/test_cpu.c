/* The host engine from inside: every instruction set this machine can run, every width, sides
 * around the edges of blocks and tiles, every order of blocks, any address, any split into parts;
 * no byte outside the window is written, no page outside it is touched.  Bit for bit. */
#include "cpu/cpu.h"
#include "cpu/plan.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const isa_names[] = {"avx512", "avx2", "neon", "c"};
static const size_t widths[] = {1,  2,	3,  4,	5,  6,	7,  8,	9,  10, 11, 12,	 13,  14,
				15, 16, 17, 20, 24, 31, 32, 48, 63, 64, 65, 100, 512, 4096};
static const enum tsw_order orders[] = {TSW_ROWS, TSW_DIAGONALS, TSW_STAGED};

#define PER_ISA COUNT_OF(widths)

/* ---- instruction sets whose kernels are counted ------------------------------------------------
 */

enum { SWAP, SWAP_RAGGED, TURN, TURN_ROW, SLANTS, KERNELS };

/* One this machine can run, and its table with a counter before every function. */
struct counted {
	const struct tsw_isa *real;
	struct tsw_isa isa;
	struct tsw_microkernel kernel[17];
	unsigned long calls[17][KERNELS], wide, copy;
};

static struct counted isas[COUNT_OF(isa_names)], *now; /* now: of the test that runs */
static size_t isa_count;

static const struct tsw_microkernel *real_kernel(size_t width, int which)
{
	__atomic_fetch_add(&now->calls[width][which], 1, __ATOMIC_RELAXED);
	return now->real->kernel[width];
}

/* Strips in the order in which a single thread does them. */
static struct {
	struct tsw_strip strip[128];
	size_t count;
} done;

static void count_swap(const struct tsw_strip *s)
{
	if (done.count < COUNT_OF(done.strip))
		done.strip[done.count++] = *s;
	real_kernel(s->width, SWAP)->swap(s);
}

static void count_swap_ragged(unsigned char *a, size_t sa, unsigned char *b, size_t sb, size_t rows,
			      size_t cols, size_t width)
{
	real_kernel(width, SWAP_RAGGED)->swap_ragged(a, sa, b, sb, rows, cols, width);
}

static void count_turn(unsigned char *a, size_t sa, size_t side, size_t width,
		       const unsigned char *next)
{
	real_kernel(width, TURN)->turn(a, sa, side, width, next);
}

static void count_turn_row(const struct tsw_row *row)
{
	real_kernel(row->width, TURN_ROW)->turn_row(row);
}

static void count_slants(const struct tsw_slants *s)
{
	/* Or lines are not whole, which only takes longer. */
	ck_assert_uint_eq((uintptr_t)s->base % 64, s->first * s->width);
	real_kernel(s->width, SLANTS)->slants(s);
}

static void count_wide(unsigned char *a, size_t sa, unsigned char *b, size_t sb, size_t rows,
		       size_t cols, size_t width, const unsigned char *next_a,
		       const unsigned char *next_b)
{
	__atomic_fetch_add(&now->wide, 1, __ATOMIC_RELAXED);
	now->real->wide(a, sa, b, sb, rows, cols, width, next_a, next_b);
}

static void count_copy(unsigned char *dst, size_t ds, const unsigned char *src, size_t ss,
		       size_t rows, size_t nbytes, int in)
{
	__atomic_fetch_add(&now->copy, 1, __ATOMIC_RELAXED);
	now->real->copy(dst, ds, src, ss, rows, nbytes, in);
}

static void count_isa(struct counted *c, const struct tsw_isa *isa)
{
	*c = (struct counted){.real = isa,
			      .isa = {.name = isa->name, .wide = count_wide, .copy = count_copy}};
	for (size_t width = 1; width <= 16; width++) {
		c->kernel[width] = (struct tsw_microkernel){.block = isa->kernel[width]->block,
							    .swap = count_swap,
							    .swap_ragged = count_swap_ragged,
							    .turn = count_turn,
							    .turn_row = count_turn_row};
		if (isa->kernel[width]->slants)
			c->kernel[width].slants = count_slants;
		c->isa.kernel[width] = &c->kernel[width];
	}
}

static void find_isas(void)
{
	isa_count = 0;
	for (size_t i = 0; i < COUNT_OF(isa_names); i++) {
		const struct tsw_isa *isa = tsw_cpu_isa_named(isa_names[i]);

		if (isa)
			count_isa(&isas[isa_count++], isa);
	}
}

/* Case `i` of the loops below. */
static const struct tsw_isa *case_isa(int i)
{
	now = &isas[(size_t)i / PER_ISA];
	return &now->isa;
}

static size_t case_width(int i)
{
	return widths[(size_t)i % PER_ISA];
}

static size_t block_of(const struct tsw_isa *isa, size_t width)
{
	return width <= 16 ? isa->kernel[width]->block : 4;
}

/* One matrix with surroundings of its own: `offset` bytes before it, filled like the rest. */
struct specimen {
	struct tsw_shape s;
	struct tsw_guarded g;
	size_t offset;
	unsigned char *a;
	const struct tsw_isa *isa;
};

static struct specimen specimen(const struct tsw_isa *isa, struct tsw_shape s, size_t offset,
				enum tsw_flush flush)
{
	struct specimen x = {.s = s, .offset = offset, .isa = isa};

	x.g = tsw_guarded_new(tsw_shape_bytes(s) + offset, flush);
	x.a = x.g.p + offset;
	tsw_fill(x.a, tsw_shape_bytes(s));
	memset(x.g.p, 0xa5, offset);
	return x;
}

static void finish(struct specimen *x, const char *how)
{
	const char *wrong = tsw_wrong_transpose(x->a, tsw_pattern(tsw_shape_bytes(x->s)), x->s);
	const char *spoilt = tsw_guarded_spoilt(&x->g);

	tsw_require(!wrong && !spoilt, "%s, n = %zu, ld = %zu, elem_size = %zu, offset %zu, %s: %s",
		    x->isa->name, x->s.n, x->s.ld, x->s.elem_size, x->offset, how,
		    wrong ? wrong : spoilt);
	for (size_t i = 0; i < x->offset; i++)
		tsw_require(x->g.p[i] == 0xa5, "%s: byte %zu before the matrix changed",
			    x->isa->name, x->offset - i);
	tsw_guarded_free(&x->g);
}

static struct tsw_matrices matrices(const struct specimen *x)
{
	return (struct tsw_matrices){
		.base = x->a, .n = x->s.n, .ld = x->s.ld, .elem_size = x->s.elem_size, .count = 1};
}

/* The plan for a matrix far larger than this one, so that a small matrix has many tiles. */
static struct tsw_plan plan_as_if_large(const struct tsw_matrices *m, const struct tsw_isa *isa,
					enum tsw_order order, size_t blocks)
{
	struct tsw_plan p = tsw_cpu_plan(m, isa);

	p.order = p.kernel ? order : TSW_ROWS;
	p.tile = blocks * p.block;
	p.fetch = 1;
	return p;
}

/* All parts, one after the other from the last to the first: they do not depend on each other. */
static void run_in_parts(const struct tsw_plan *p, const struct tsw_matrices *m, uint64_t parts)
{
	for (uint64_t part = parts; part; part--)
		tsw_cpu_run_part(p, m, part - 1, parts);
}

static void check_plan(const struct tsw_isa *isa, struct tsw_shape s, size_t offset,
		       enum tsw_order order, size_t blocks, uint64_t parts, enum tsw_flush flush)
{
	struct specimen x = specimen(isa, s, offset, flush);
	struct tsw_matrices m = matrices(&x);
	struct tsw_plan p = plan_as_if_large(&m, isa, order, blocks);
	char how[80];

	snprintf(how, sizeof how, "order %d, tile %zu, %d parts", (int)order, p.tile, (int)parts);
	run_in_parts(&p, &m, parts);
	finish(&x, how);
}

/* Sides around one, two and three tiles of two blocks. */
START_TEST(sides_around_edges)
{
	const struct tsw_isa *isa = case_isa(_i);
	size_t width = case_width(_i);
	uint64_t state = tsw_seed() + (uint64_t)_i;

	for (size_t blocks = 1; blocks <= 6; blocks++)
		for (size_t around = 0; around < 3; around++) {
			size_t n = blocks * block_of(isa, width) + around - 1;
			struct tsw_shape s = {n, n + tsw_random_below(&state, 3), width};
			size_t offset = tsw_random_below(&state, 64);

			if (tsw_shape_bytes(s) > 8 << 20 || n < 2)
				continue;
			check_plan(isa, s, offset, orders[(blocks + around) % 3], 2,
				   1 + tsw_random_below(&state, 5),
				   around % 2 ? TSW_FLUSH_LEFT : TSW_FLUSH_RIGHT);
		}
}
END_TEST

START_TEST(every_small_side)
{
	const struct tsw_isa *isa = case_isa(_i);
	size_t width = case_width(_i), most = 2 * block_of(isa, width) + 2;

	for (size_t n = 2; n <= most && n <= 70; n++)
		for (size_t pad = 0; pad < 2; pad++) {
			struct tsw_shape s = {n, n + pad, width};
			struct specimen x =
				specimen(isa, s, 0, pad ? TSW_FLUSH_LEFT : TSW_FLUSH_RIGHT);
			struct tsw_matrices m = matrices(&x);
			struct tsw_plan p = tsw_cpu_plan(&m, isa);

			tsw_cpu_run(&p, &m, 1);
			finish(&x, "as planned");
		}
}
END_TEST

/* Every base address within a cache line, rows that are whole lines and rows that are not, in every
 * order, so that the shifted grid and the aligned copies meet every case. */
START_TEST(every_offset)
{
	const struct tsw_isa *isa = case_isa(_i);
	size_t width = case_width(_i);
	size_t n = 5 * block_of(isa, width) + 3;
	size_t lines = (n * width + 63) / 64 * 64;

	if (width > 100)
		return;
	for (size_t offset = 0; offset < 64; offset++) {
		size_t ld = lines % width ? n : lines / width;

		check_plan(isa, (struct tsw_shape){n, ld, width}, offset, orders[offset % 3], 2, 3,
			   TSW_FLUSH_LEFT);
		check_plan(isa, (struct tsw_shape){n, n, width}, offset, orders[(offset + 1) % 3],
			   1 + offset % 3, 2, TSW_FLUSH_RIGHT);
	}
}
END_TEST

/* Rows a multiple of a line and one element apart: every side up to some lines, every place in a
 * line where the matrix begins, with padding and without, in parts; and addresses that are no
 * multiple of the element, which have no slants. */
START_TEST(slants)
{
	const struct tsw_isa *isa = case_isa(_i);
	size_t width = case_width(_i), line = 64 / width, most = 9 * line + 3;
	uint64_t state = tsw_seed() + (uint64_t)_i;

	if (width > 16 || !isa->kernel[width]->slants)
		return;
	for (size_t n = line + 1; n <= most; n++)
		for (size_t offset = 0; offset < 64; offset += n % 8 ? width : 1) {
			size_t ld = (n + line - 2) / line * line + 1;
			struct tsw_shape s = {n, ld + line * tsw_random_below(&state, 2), width};

			check_plan(isa, s, offset, TSW_SLANTS, 1, 1 + tsw_random_below(&state, 4),
				   offset / width % 2 ? TSW_FLUSH_LEFT : TSW_FLUSH_RIGHT);
		}
}
END_TEST

/* The column of tiles, four blocks each, that a strip is in. */
static size_t column_of(const struct tsw_strip *s, const unsigned char *base)
{
	return (size_t)(s->a - base) % s->sa / 256;
}

/* Where rows collide: tile a two strips before its turn, tile b while the pair before it is
 * swapped, both row by row and to the ends of the rows; across a tile on the diagonal nothing is
 * promised. */
START_TEST(what_collides_is_fetched_late)
{
	enum { TILE = 4, TILES = 5 };
	const struct tsw_isa *isa = case_isa(_i * PER_ISA);
	struct tsw_shape s = {TILES * 64, 1024, 4};
	struct specimen x = specimen(isa, s, 0, TSW_FLUSH_LEFT);
	struct tsw_matrices m = matrices(&x);
	struct tsw_plan p = plan_as_if_large(&m, isa, TSW_ROWS, TILE);
	size_t compared = 0;

	done.count = 0;
	run_in_parts(&p, &m, 1);
	ck_assert_uint_eq(done.count, TILES * (TILES - 1) / 2 * TILE);
	for (size_t k = 0; k + TILE < done.count; k++) {
		const struct tsw_strip *at = &done.strip[k], *soon = at + 2, *next = at + TILE;

		ck_assert(at->next_a && at->next_b && at->colliding);
		ck_assert_uint_eq(at->lines, 4);
		if (column_of(at, x.a) == column_of(soon, x.a))
			ck_assert_ptr_eq(at->next_a, soon->a);
		if (column_of(at, x.a) != column_of(next, x.a))
			continue;
		ck_assert_ptr_eq(at->next_b, next->b + k % TILE * (16 * at->sb - 64));
		compared++;
	}
	ck_assert_uint_gt(compared, TILE * TILES);
	finish(&x, "strips recorded");
}
END_TEST

/* Row r of the window ends (or begins) where page 2 r + 1 of the map ends (or begins), and the page
 * after (before) it is not there: the padding of a wide matrix may belong to somebody else. */
static void check_unmapped_padding(const struct tsw_isa *isa, size_t width, size_t n, int at_end,
				   enum tsw_order order)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), stride = 2 * page;
	size_t row_bytes = n * width;
	unsigned char *map =
		mmap(NULL, (n + 1) * stride, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *a = map + page + (at_end ? page - row_bytes : 0);
	const unsigned char *pattern = tsw_pattern(n * row_bytes);
	struct tsw_matrices m = {
		.base = a, .n = n, .ld = stride / width, .elem_size = width, .count = 1};
	struct tsw_plan p = plan_as_if_large(&m, isa, order, 1);

	ck_assert_ptr_ne(map, MAP_FAILED);
	for (size_t r = 0; r < n; r++) {
		ck_assert_int_eq(mprotect(map + page + r * stride, page, PROT_READ | PROT_WRITE),
				 0);
		memcpy(a + r * stride, pattern + r * row_bytes, row_bytes);
	}
	run_in_parts(&p, &m, 2);
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c++)
			tsw_require(!memcmp(a + r * stride + c * width,
					    pattern + c * row_bytes + r * width, width),
				    "%s: elem_size %zu, n = %zu: element (%zu, %zu)", isa->name,
				    width, n, r, c);
	munmap(map, (n + 1) * stride);
}

START_TEST(unmapped_padding)
{
	const struct tsw_isa *isa = case_isa(_i);
	size_t width = case_width(_i), page = (size_t)sysconf(_SC_PAGESIZE);

	if (2 * page % width)
		return; /* the stride is a whole number of elements */
	for (size_t more = 0; more < 4; more++) {
		size_t n = 3 * block_of(isa, width) + more;

		if (n * width > page)
			n = page / width;
		check_unmapped_padding(isa, width, n, 1, orders[more % 3]);
		check_unmapped_padding(isa, width, n, 0, orders[(more + 1) % 3]);
	}
}
END_TEST

/* As planned for its own size: past the second-level cache, with colliding rows and without. */
START_TEST(large_as_planned)
{
	static const size_t kinds[] = {0, 1, 2};
	const struct tsw_isa *isa = case_isa(_i);
	size_t width = case_width(_i), n, odd;

	if (width > 16)
		return;
	for (n = 256; n * n * width < 4 << 20; n *= 2)
		;
	odd = n - 3;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		struct tsw_shape s = {k == 2 ? odd : n, n + (k == 1), width};
		struct specimen x = specimen(isa, s, 16 * k, TSW_FLUSH_RIGHT);
		struct tsw_matrices m = matrices(&x);
		struct tsw_plan p = tsw_cpu_plan(&m, isa);

		tsw_cpu_run(&p, &m, 1 + (int)k);
		finish(&x, "as planned");
	}
}
END_TEST

/* One thread alone, in the second-level cache: rows that collide, and some more or fewer. */
START_TEST(alone_as_planned)
{
	const struct tsw_isa *isa = case_isa(_i);
	size_t width = case_width(_i), n = width < 8 ? 2048 / width : 4096 / width;

	if (width > 16)
		return;
	for (size_t k = 0; k < 6; k++) {
		struct tsw_shape s = {n - 5 * (k % 3), n, width};
		struct specimen x =
			specimen(isa, s, k < 3 ? 0 : 16, k % 2 ? TSW_FLUSH_LEFT : TSW_FLUSH_RIGHT);
		struct tsw_matrices m = matrices(&x);
		struct tsw_plan p = tsw_cpu_plan(&m, isa);

		tsw_cpu_plan_alone(&p);
		tsw_cpu_run(&p, &m, 1);
		finish(&x, "alone");
	}
}
END_TEST

/* Batches, apart and side by side, strided and by pointers, split in every number of parts:
 * matrices of one block, of one tile, of several. */
static void check_batch(const struct tsw_isa *isa, size_t width, size_t n, size_t count, int beside,
			int by_pointers, uint64_t parts)
{
	size_t gap = 1, stride = beside ? n + gap : n * (n + 2) + gap;
	size_t ld = beside ? (count - 1) * stride + n + gap : n + 2;
	size_t elements = (count - 1) * stride + (n - 1) * ld + n;
	struct tsw_guarded g = tsw_guarded_new(elements * width, TSW_FLUSH_RIGHT);
	unsigned char *expected = malloc(elements * width);
	void *pointers[64];
	struct tsw_matrices m = {.base = g.p,
				 .n = n,
				 .ld = ld,
				 .elem_size = width,
				 .stride = stride,
				 .count = count};
	struct tsw_plan p;
	const char *wrong;

	ck_assert_ptr_nonnull(expected);
	tsw_fill(g.p, elements * width);
	memcpy(expected, g.p, elements * width);
	for (size_t b = 0; b < count; b++) {
		pointers[b] = g.p + b * stride * width;
		tsw_oracle_window(pointers[b], expected + b * stride * width,
				  (struct tsw_shape){n, ld, width});
	}
	if (by_pointers) {
		m.base = NULL;
		m.array = pointers;
	}
	p = plan_as_if_large(&m, isa, TSW_ROWS, 2);
	run_in_parts(&p, &m, parts);
	wrong = tsw_wrong_bytes(g.p, expected, elements * width);
	tsw_require(
		!wrong,
		"%s: elem_size %zu, %zu matrices of n = %zu, ld = %zu, stride %zu, %d parts: %s",
		isa->name, width, count, n, ld, stride, (int)parts, wrong);
	free(expected);
	tsw_guarded_free(&g);
}

START_TEST(batches)
{
	const struct tsw_isa *isa = case_isa(_i);
	size_t width = case_width(_i), block;

	if (width > 100)
		return;
	block = block_of(isa, width);
	for (int how = 0; how < 4; how++)
		for (uint64_t parts = 1; parts <= 9; parts += 2) {
			size_t sides[] = {1 + parts % 4, block, block + 1, 2 * block,
					  3 * block + 1};

			check_batch(isa, width, sides[parts / 2], 1 + 3 * parts, how % 2, how / 2,
				    parts);
			check_batch(isa, width, sides[4 - parts / 2], 1 + parts / 2, how % 2,
				    how / 2, parts);
		}
}
END_TEST

/* Matrices without padding, back to back, have kernels of their own. */
START_TEST(dense_batches)
{
	const struct tsw_isa *isa = case_isa(_i);
	size_t width = case_width(_i);

	if (width > 16)
		return;
	for (size_t n = 2; n <= 9; n++) {
		size_t count = 13, bytes = n * n * width;
		struct tsw_guarded g = tsw_guarded_new(count * bytes, TSW_FLUSH_RIGHT);
		const unsigned char *pattern = tsw_pattern(count * bytes);
		struct tsw_matrices m = {.base = g.p,
					 .n = n,
					 .ld = n,
					 .elem_size = width,
					 .stride = n * n,
					 .count = count};
		struct tsw_plan p = tsw_cpu_plan(&m, isa);

		tsw_fill(g.p, count * bytes);
		run_in_parts(&p, &m, n);
		for (size_t b = 0; b < count; b++) {
			const char *wrong =
				tsw_wrong_transpose(g.p + b * bytes, pattern + b * bytes,
						    (struct tsw_shape){n, n, width});

			tsw_require(!wrong, "%s: matrix %zu of n = %zu: %s", isa->name, b, n,
				    wrong);
		}
		tsw_guarded_free(&g);
	}
}
END_TEST

/* Parts of one matrix differ by no more than about a pair of tiles. */
START_TEST(parts_are_of_equal_work)
{
	size_t n = 1000, parts = 7, total = 0, most = 0;
	unsigned char *a = malloc(n * n), *before = malloc(n * n);
	struct tsw_matrices m = {.base = a, .n = n, .ld = n, .elem_size = 1, .count = 1};
	struct tsw_plan p = plan_as_if_large(&m, tsw_cpu_isa_named("c"), TSW_ROWS, 1);

	ck_assert(a && before);
	for (size_t part = 0; part < parts; part++) {
		size_t moved = 0;

		for (size_t x = 0; x < n * n;
		     x++) /* no byte above the diagonal equals its mirror */
			a[x] = (unsigned char)(x / n < x % n);
		memcpy(before, a, n * n);
		tsw_cpu_run_part(&p, &m, part, parts);
		for (size_t x = 0; x < n * n; x++)
			moved += a[x] != before[x];
		total += moved;
		most = moved > most ? moved : most;
	}
	ck_assert_uint_eq(total, n * n - n);
	ck_assert_uint_le(most, total / parts + 3 * 2 * p.tile * p.tile);
	free(a);
	free(before);
}
END_TEST

/* After all of the above: nothing stands in a table that no test has run. */
START_TEST(every_kernel_was_reached)
{
	static const char *const names[KERNELS] = {"swap", "swap_ragged", "turn", "turn_row",
						   "slants"};
	const struct counted *c = &isas[_i];

	for (size_t width = 1; width <= 16; width++)
		for (int which = 0; which < KERNELS; which++)
			ck_assert_msg(c->calls[width][which] > 0 ||
					      (which == SLANTS && !c->kernel[width].slants),
				      "%s: %s of %zu-byte elements was never called", c->real->name,
				      names[which], width);
	ck_assert_msg(c->wide > 0, "%s: wide was never called", c->real->name);
	ck_assert_msg(c->copy > 0, "%s: copy was never called", c->real->name);
}
END_TEST

START_TEST(names_of_instruction_sets)
{
	ck_assert_ptr_null(tsw_cpu_isa_named("mmx"));
	ck_assert_ptr_null(tsw_cpu_isa_named(""));
	ck_assert_ptr_eq(tsw_cpu_isa_named("c"), &tsw_isa_c);
	for (size_t i = 0; i < COUNT_OF(isa_names); i++) {
		const struct tsw_isa *isa = tsw_cpu_isa_named(isa_names[i]);

		ck_assert(!isa || !strcmp(isa->name, isa_names[i]));
	}
}
END_TEST

/* This program, begun anew with TILESWAP_ISA set (by the emulator in TSW_EMULATOR, if any), prints
 * what it picked. */
static void picked_under(const char *setting, char *name, size_t size)
{
	const char *emulator = getenv("TSW_EMULATOR");
	char command[4400], self[4096] = "";
	FILE *out;

	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
	snprintf(command, sizeof command, "TILESWAP_ISA='%s' %.100s '%s' --print-isa", setting,
		 emulator ? emulator : "", self);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	ck_assert_ptr_nonnull(fgets(name, (int)size, out));
	ck_assert_int_eq(pclose(out), 0);
}

START_TEST(environment_forces_one)
{
	const char *best = NULL;
	char name[32];

	for (size_t i = 0; i < COUNT_OF(isa_names); i++) {
		if (!tsw_cpu_isa_named(isa_names[i]))
			continue;
		best = best ? best : isa_names[i];
		picked_under(isa_names[i], name, sizeof name);
		ck_assert_str_eq(name, isa_names[i]);
	}
	picked_under("mmx", name, sizeof name);
	ck_assert_str_eq(name, best);
}
END_TEST

START_TEST(threads_as_asked)
{
#ifdef _OPENMP
	ck_assert_int_eq(tsw_cpu_threads(5), 5);
#else
	ck_assert_int_eq(tsw_cpu_threads(5), 1);
#endif
	ck_assert_int_ge(tsw_cpu_threads(0), 1);
}
END_TEST

/* libgomp's threads do not survive fork(): a region in the child would wait for ever. */
START_TEST(one_thread_after_fork)
{
	struct tsw_shape s = {1500, 1500, 4};
	struct specimen x = specimen(tsw_cpu_isa(), s, 0, TSW_FLUSH_RIGHT);
	struct tsw_matrices m = matrices(&x);
	int status;
	pid_t child;

	tsw_cpu_transpose(&m, 3);
	tsw_cpu_transpose(&m, 3); /* back to the pattern: the child begins with it */
	child = fork();
	if (child == 0) {
		alarm(200); /* a hang ends as a signal */
		if (tsw_cpu_threads(3) != 1)
			_exit(1);
		tsw_cpu_transpose(&m, 3);
		_exit(tsw_wrong_transpose(x.a, tsw_pattern(tsw_shape_bytes(s)), s) ? 2 : 0);
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: status %#x", status);
	tsw_cpu_transpose(&m, 0);
	finish(&x, "after a fork");
}
END_TEST

static Suite *cpu_suite(void)
{
	Suite *suite = suite_create("cpu");
	TCase *shapes = tcase_create("kernels and walk"), *rest = tcase_create("engine");

	int cases;

	find_isas();
	cases = (int)(isa_count * PER_ISA);
	tcase_add_loop_test(shapes, sides_around_edges, 0, cases);
	tcase_add_loop_test(shapes, every_small_side, 0, cases);
	tcase_add_loop_test(shapes, every_offset, 0, cases);
	tcase_add_loop_test(shapes, slants, 0, cases);
	tcase_add_loop_test(shapes, what_collides_is_fetched_late, 0, (int)isa_count);
	tcase_add_loop_test(shapes, unmapped_padding, 0, cases);
	tcase_add_loop_test(shapes, large_as_planned, 0, cases);
	tcase_add_loop_test(shapes, alone_as_planned, 0, cases);
	tcase_add_loop_test(shapes, batches, 0, cases);
	tcase_add_loop_test(shapes, dense_batches, 0, cases);
	tcase_add_loop_test(shapes, every_kernel_was_reached, 0, (int)isa_count);
	tcase_add_test(rest, parts_are_of_equal_work);
	tcase_add_test(rest, names_of_instruction_sets);
	tcase_add_test(rest, environment_forces_one);
	tcase_add_test(rest, threads_as_asked);
	tcase_add_test(rest, one_thread_after_fork);
	suite_add_tcase(suite, shapes);
	suite_add_tcase(suite, rest);
	return suite;
}

int main(int argc, char **argv)
{
	static tsw_suite *const suites[] = {cpu_suite};

	if (argc == 2 && !strcmp(argv[1], "--print-isa")) {
		fputs(tsw_cpu_isa()->name, stdout);
		return 0;
	}
	return tsw_test_main(TSW_SAME_PROCESS, suites, COUNT_OF(suites));
}
