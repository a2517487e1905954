/* Random fills and the element check: the bits are the published ones and cuRAND's, every fault is
 * noticed, counted and placed. */
#include "support.h"

#include "tileswap.h"
#include "verify/nvml.h"
#include "verify/philox.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

#define SEED 0x0123456789abcdefu

/* ---- Philox ---------------------------------------------------------------------------------- */

/* The known answers of the Random123 distribution, kat_vectors, philox4x32 10. */
START_TEST(known_answers)
{
	static const struct {
		struct tsw_philox counter;
		uint32_t key[2];
		struct tsw_philox bits;
	} known[] = {
		{{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
		{{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
		 {0xffffffff, 0xffffffff},
		 {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
		{{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
		 {0xa4093822, 0x299f31d0},
		 {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct tsw_philox got =
			tsw_philox4x32_10(known[i].counter, known[i].key[0], known[i].key[1]);

		ck_assert_mem_eq(&got, &known[i].bits, sizeof got);
	}
}
END_TEST

/* Word x of a seed, from the sentence in philox.h. */
static uint32_t word_at(uint64_t seed, uint64_t x)
{
	uint64_t s = x / 4 % 65536, q = x / 262144;
	struct tsw_philox counter = {{(uint32_t)q, (uint32_t)(q >> 32), (uint32_t)s, 0}};

	return tsw_philox4x32_10(counter, (uint32_t)seed, (uint32_t)(seed >> 32)).word[x % 4];
}

/* Any run of bytes, from any place, also past 2^32 words and where the streams begin anew. */
START_TEST(any_run_of_bytes)
{
	static const uint64_t places[] = {0,
					  1,
					  15,
					  16,
					  17,
					  1048560,
					  1048575,
					  1048576,
					  4294967290,
					  17179869180,
					  ((uint64_t)1 << 50) + 3};
	unsigned char run[700];

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		for (size_t bytes = 0; bytes < sizeof run; bytes += bytes < 40 ? 1 : 97) {
			memset(run, 0xee, sizeof run);
			tsw_philox_bytes(SEED, places[i], run, bytes);
			for (size_t b = 0; b < sizeof run; b++) {
				uint64_t at = places[i] + b;
				unsigned char byte =
					(unsigned char)(word_at(SEED, at / 4) >> 8 * (at % 4));

				ck_assert_msg(run[b] == (b < bytes ? byte : 0xee),
					      "byte %zu of %zu from %ju", b, bytes,
					      (uintmax_t)places[i]);
			}
		}
}
END_TEST

static void ck_filled(const unsigned char *a, size_t nbytes, uint64_t seed)
{
	unsigned char wanted[4096];

	for (size_t at = 0; at < nbytes; at += sizeof wanted) {
		size_t part = nbytes - at < sizeof wanted ? nbytes - at : sizeof wanted;

		tsw_philox_bytes(seed, at, wanted, part);
		ck_assert_msg(!memcmp(a + at, wanted, part), "bytes %zu .. of %zu", at, nbytes);
	}
}

/* Every length near a word, a block and a piece, at every misalignment; nothing is written outside.
 */
static void fill_all_shapes(enum tsw_source source, const char *name)
{
	static const size_t sizes[] = {0,    1,	   2,	 3,	  4,	   5,	   7,
				       15,   16,   17,	 63,	  64,	   4095,   4096,
				       4097, 8191, 9001, 1048573, 1048576, 1200007};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (size_t offset = 0; offset<9; offset += sizes[i]> 9000 ? 3 : 1) {
			struct tsw_guarded g =
				tsw_guarded_new(sizes[i] + offset + 8, TSW_FLUSH_RIGHT);
			const char *used = NULL;

			memset(g.p, 0xee, g.bytes);
			tsw_assert_ok(tsw_fill_host_from(source, g.p + offset, sizes[i], SEED + i,
							 2, &used));
			ck_assert_str_eq(used, name);
			ck_filled(g.p + offset, sizes[i], SEED + i);
			for (size_t b = 0; b < offset; b++)
				ck_assert_uint_eq(g.p[b], 0xee);
			for (size_t b = 0; b < 8; b++)
				ck_assert_uint_eq(g.p[offset + sizes[i] + b], 0xee);
			tsw_guarded_free(&g);
		}
}

START_TEST(fills_by_philox)
{
	fill_all_shapes(TSW_SOURCE_PHILOX, "philox");
}
END_TEST

/* cuRAND's host generator needs no GPU. */
START_TEST(fills_by_curand_alike)
{
	if (tsw_curand_usable() != TSW_OK)
		tsw_skip("cuRAND is not installed");
	fill_all_shapes(TSW_SOURCE_CURAND, "curand");
}
END_TEST

START_TEST(fills_by_what_there_is)
{
	unsigned char a[101];
	const char *used = NULL;

	tsw_assert_ok(tsw_fill_host(a, sizeof a, SEED, 0, &used));
	ck_assert_str_eq(used, tsw_curand_usable() == TSW_OK ? "curand" : "philox");
	ck_filled(a, sizeof a, SEED);
	tsw_assert_ok(tsw_fill_host(a, sizeof a, SEED + 1, 0, NULL));
	ck_filled(a, sizeof a, SEED + 1);
}
END_TEST

/* ---- the other patterns ---------------------------------------------------------------------- */

/* Byte `at` of a pattern, from the sentences in content.h. */
static unsigned char pattern_byte(uint32_t pattern, uint64_t seed, uint64_t at)
{
	uint64_t w = at / 8, word;
	unsigned bit = (unsigned)((w % 64 + seed % 64) % 64);

	switch (pattern) {
	case TSW_PATTERN_RANDOM:
		return (unsigned char)(word_at(seed, at / 4) >> 8 * (at % 4));
	case TSW_PATTERN_POSITION:
		word = (w + seed) * 0x9e3779b97f4a7c15u;
		return (unsigned char)(word >> 8 * (at % 8));
	case TSW_PATTERN_WALK1:
		return bit / 8 == at % 8 ? (unsigned char)(1u << bit % 8) : 0;
	case TSW_PATTERN_WALK0:
		return bit / 8 == at % 8 ? (unsigned char)~(1u << bit % 8) : 0xff;
	case TSW_PATTERN_CHECK5:
		return w % 2 ? 0xaa : 0x55;
	default:
		return w % 2 ? 0x55 : 0xaa;
	}
}

START_TEST(any_run_of_a_pattern)
{
	static const uint64_t places[] = {0, 1, 7, 8, 509, 4097, ((uint64_t)1 << 45) + 3};
	unsigned char run[300];

	for (uint32_t p = 0; p < TSW_PATTERNS; p++)
		for (uint64_t seed = SEED; seed < SEED + 70; seed += 23)
			for (size_t i = 0; i < sizeof places / sizeof *places; i++)
				for (size_t n = 0; n < sizeof run; n += n < 20 ? 1 : 93) {
					const struct tsw_content content = {seed, p};

					memset(run, 0xee, sizeof run);
					tsw_content_bytes(&content, places[i], run, n);
					for (size_t b = 0; b < n; b++)
						tsw_require(run[b] == pattern_byte(p, seed,
										   places[i] + b),
							    "pattern %u, byte %zu of %zu from %ju",
							    p, b, n, (uintmax_t)places[i]);
					ck_assert_uint_eq(run[n], 0xee);
				}
}
END_TEST

/* No two words of position codes are equal, and each tells its place. */
START_TEST(position_codes_are_unique)
{
	const struct tsw_content content = {SEED, TSW_PATTERN_POSITION};
	uint64_t inverse = 0x9e3779b97f4a7c15u; /* by Newton, mod 2^64 */

	for (int i = 0; i < 6; i++)
		inverse *= 2 - 0x9e3779b97f4a7c15u * inverse;
	for (uint64_t w = 0; w < (uint64_t)1 << 60; w = 3 * w + 1)
		ck_assert(tsw_content_word(&content, w) * inverse - SEED == w);
}
END_TEST

START_TEST(fills_with_every_pattern)
{
	static const size_t sizes[] = {0, 1, 9, 4095, 1048576, 2100011};

	for (uint32_t p = 0; p < TSW_PATTERNS; p++)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
			for (int threads = 1; threads < 4; threads += 2) {
				const struct tsw_content content = {SEED + i, p};
				struct tsw_guarded g =
					tsw_guarded_new(sizes[i] + 3, TSW_FLUSH_RIGHT);
				const char *used = NULL;

				memset(g.p, 0xee, g.bytes);
				tsw_assert_ok(tsw_fill_content_host(&content, g.p + 3, sizes[i],
								    threads, &used));
				ck_assert_int_eq(!strcmp(used, "computed"),
						 p != TSW_PATTERN_RANDOM);
				for (size_t b = 0; b < sizes[i]; b++)
					tsw_require(g.p[3 + b] == pattern_byte(p, SEED + i, b),
						    "pattern %u, byte %zu of %zu", p, b, sizes[i]);
				ck_assert(g.p[0] == 0xee && g.p[2] == 0xee);
				tsw_guarded_free(&g);
			}
}
END_TEST

/* ---- the element check ----------------------------------------------------------------------- */

static const struct tsw_matrices layouts[] = {
	/* n, ld, stride, count; elem_size is put in */
	{.n = 1, .ld = 1, .count = 1},
	{.n = 7, .ld = 7, .count = 1},
	{.n = 65, .ld = 65, .count = 1},
	{.n = 65, .ld = 70, .count = 1},
	{.n = 6, .ld = 8, .stride = 46, .count = 5}, /* apart, no byte between two */
	{.n = 6, .ld = 6, .stride = 40, .count = 5}, /* apart, with gaps */
	{.n = 6, .ld = 40, .stride = 8, .count = 5}, /* side by side */
	{.n = 6, .ld = 30, .stride = 6, .count = 5}, /* side by side, gapless */
	{.n = 1, .ld = 1, .stride = 3, .count = 9},
};

#define LAYOUTS (sizeof layouts / sizeof *layouts)

static const size_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 100, 700};

#define WIDTHS (sizeof widths / sizeof *widths)

/* A filled batch, transposed by the tests' own loops. */
struct batch {
	struct tsw_matrices m;
	unsigned char *a, *before;
	size_t bytes;
	struct tsw_content content;
};

static size_t at(const struct tsw_matrices *m, size_t b, size_t r, size_t c)
{
	return (b * m->stride + r * m->ld + c) * m->elem_size;
}

static struct batch batch_with(struct tsw_matrices m, size_t elem_size, int transposed,
			       uint32_t pattern)
{
	struct batch x = {.m = m, .content = {SEED, pattern}};

	x.m.elem_size = elem_size;
	x.bytes = tsw_batch_bytes(&x.m);
	x.a = malloc(x.bytes);
	x.before = malloc(x.bytes);
	ck_assert(x.a && x.before);
	x.m.base = x.a;
	tsw_assert_ok(tsw_fill_content_host(&x.content, x.before, x.bytes, 1, NULL));
	memcpy(x.a, x.before, x.bytes);
	for (size_t b = 0; transposed && b < m.count; b++)
		for (size_t r = 0; r < m.n; r++)
			for (size_t c = 0; c < m.n; c++)
				memcpy(x.a + at(&x.m, b, r, c), x.before + at(&x.m, b, c, r),
				       elem_size);
	return x;
}

static struct batch batch_new(struct tsw_matrices m, size_t elem_size, int transposed)
{
	return batch_with(m, elem_size, transposed, TSW_PATTERN_RANDOM);
}

static void batch_free(struct batch *x)
{
	free(x->a);
	free(x->before);
}

static struct tsw_wrong check(const struct batch *x, int transposed, int nthreads)
{
	struct tsw_wrong wrong;

	tsw_assert_ok(tsw_check_content_host(&x->m, &x->content, transposed, nthreads, &wrong));
	return wrong;
}

#define ck_wrong(wrong, wrong_elements, wrong_padding)                                             \
	do {                                                                                       \
		ck_assert_uint_eq((wrong).elements, (wrong_elements));                             \
		ck_assert_uint_eq((wrong).padding_bytes, (wrong_padding));                         \
		ck_assert_uint_eq((wrong).places, (wrong).elements < TSW_WRONG_PLACES              \
							  ? (wrong).elements                       \
							  : TSW_WRONG_PLACES);                     \
	} while (0)

START_TEST(the_span_of_a_batch)
{
	static const size_t spans[] = {1,
				       49,
				       4225,
				       64 * 70 + 65,
				       4 * 46 + 46,
				       4 * 40 + 36,
				       5 * 40 + 4 * 8 + 6,
				       5 * 30 + 4 * 6 + 6,
				       25};

	for (size_t i = 0; i < LAYOUTS; i++) {
		struct tsw_matrices m = layouts[i];

		m.elem_size = 3;
		ck_assert_uint_eq(tsw_batch_bytes(&m), 3 * spans[i]);
		m.n = 0;
		ck_assert_uint_eq(tsw_batch_bytes(&m), 0);
	}
}
END_TEST

START_TEST(accepts_what_is_right)
{
	for (size_t i = 0; i < LAYOUTS; i++)
		for (size_t w = 0; w < WIDTHS; w++)
			for (int transposed = 0; transposed < 2; transposed++) {
				struct batch x = batch_new(layouts[i], widths[w], transposed);

				ck_wrong(check(&x, transposed, 1), 0, 0);
				ck_wrong(check(&x, transposed, 3), 0, 0);
				batch_free(&x);
			}
}
END_TEST

/* Every pattern, right, then with a bit flipped at a random place of the span: the element or the
 * byte of padding is named, with what stands there and what must. */
START_TEST(looks_for_every_pattern)
{
	uint64_t state = tsw_seed();

	for (uint32_t p = 0; p < TSW_PATTERNS; p++)
		for (size_t i = 0; i < LAYOUTS; i++)
			for (size_t w = 0; w < WIDTHS; w++) {
				struct batch x = batch_with(layouts[i], widths[w], 1, p);
				size_t byte = tsw_random_below(&state, x.bytes);
				struct tsw_wrong wrong = check(&x, 1, 2);
				unsigned char before = x.a[byte];

				ck_wrong(wrong, 0, 0);
				x.a[byte] ^= 0x10;
				wrong = check(&x, 1, 2);
				ck_assert_uint_eq(wrong.elements + wrong.padding_bytes, 1);
				if (wrong.elements) {
					const struct tsw_wrong_place *at_ = &wrong.place[0];
					size_t in = byte - at(&x.m, at_->matrix, at_->r, at_->c) -
						    at_->at;

					ck_assert_uint_lt(in, at_->nbytes);
					ck_assert_uint_eq(at_->expected[in], before);
					ck_assert_uint_eq(at_->found[in], before ^ 0x10);
				} else {
					ck_assert_uint_eq(wrong.padding_at, byte);
					ck_assert_uint_eq(wrong.padding_expected, before);
					ck_assert_uint_eq(wrong.padding_found, before ^ 0x10);
				}
				batch_free(&x);
			}
}
END_TEST

START_TEST(names_the_first_byte_of_padding)
{
	struct batch x = batch_new(layouts[3], 3, 1);
	size_t first = at(&x.m, 0, 2, 65) + 4;

	for (int threads = 1; threads < 5; threads++) {
		x.a[first] ^= 1;
		x.a[first + 1] ^= 2;
		x.a[at(&x.m, 0, 63, 66)] ^= 4;
		ck_wrong(check(&x, 1, threads), 0, 3);
		ck_assert_uint_eq(check(&x, 1, threads).padding_at, first);
		memcpy(x.a + first, x.before + first, 2);
		x.a[at(&x.m, 0, 63, 66)] ^= 4;
	}
	batch_free(&x);
}
END_TEST

START_TEST(accepts_what_the_library_did)
{
	struct tsw_shape s = {300, 307, 4};
	unsigned char *a = malloc(tsw_shape_bytes(s));
	struct tsw_wrong wrong;

	ck_assert_ptr_nonnull(a);
	tsw_assert_ok(tsw_fill_host(a, tsw_shape_bytes(s), SEED, 0, NULL));
	for (int times = 1; times <= 3; times++) {
		tsw_assert_ok(tsw_transpose_host(a, s.n, s.ld, s.elem_size, 0));
		tsw_assert_ok(
			tsw_check_host(a, s.n, s.ld, s.elem_size, SEED, times % 2, 0, &wrong));
		ck_wrong(wrong, 0, 0);
	}
	free(a);
}
END_TEST

/* The number of elements that a transpose of random data moves: nearly all off the diagonal;
 * counted here by comparing bytes. */
static uint64_t moved(const struct batch *x)
{
	uint64_t count = 0;

	for (size_t b = 0; b < x->m.count; b++)
		for (size_t r = 0; r < x->m.n; r++)
			for (size_t c = 0; c < x->m.n; c++)
				count +=
					memcmp(x->before + at(&x->m, b, r, c),
					       x->before + at(&x->m, b, c, r), x->m.elem_size) != 0;
	return count;
}

START_TEST(notices_a_transpose_that_did_not_happen)
{
	for (size_t i = 0; i < LAYOUTS; i++)
		for (size_t w = 0; w < WIDTHS; w++)
			for (int transposed = 0; transposed < 2; transposed++) {
				/* As if done twice, and as if done where it should not be. */
				struct batch x = batch_new(layouts[i], widths[w], transposed);

				ck_wrong(check(&x, !transposed, 2), moved(&x), 0);
				batch_free(&x);
			}
}
END_TEST

START_TEST(notices_every_flipped_bit)
{
	for (size_t w = 0; w < WIDTHS; w++) {
		struct batch x = batch_new(layouts[3], widths[w], 1);
		size_t size = widths[w];

		for (size_t bit = 0; bit < 8 * size; bit += size < 20 ? 1 : 61) {
			size_t r = bit * 7 % 65, c = bit * 11 % 65, b = bit / 8;
			unsigned char *e = x.a + at(&x.m, 0, r, c),
				      mask = (unsigned char)(1 << bit % 8);
			struct tsw_wrong wrong;
			const struct tsw_wrong_place *p = wrong.place;

			e[b] ^= mask;
			wrong = check(&x, 1, 1);
			ck_wrong(wrong, 1, 0);
			ck_assert(p->matrix == 0 && p->r == r && p->c == c && p->at == b / 16 * 16);
			ck_assert_uint_eq(p->nbytes, size - p->at < 16 ? size - p->at : 16);
			ck_assert_mem_eq(p->found, e + p->at, p->nbytes);
			ck_assert_mem_eq(p->expected, x.before + at(&x.m, 0, c, r) + p->at,
					 p->nbytes);
			ck_assert_uint_eq(p->found[b % 16] ^ p->expected[b % 16], mask);
			e[b] ^= mask;
		}
		ck_wrong(check(&x, 1, 1), 0, 0);
		batch_free(&x);
	}
}
END_TEST

START_TEST(notices_swapped_elements)
{
	for (size_t w = 0; w < WIDTHS; w++) {
		struct batch x = batch_new(layouts[2], widths[w], 1);
		unsigned char *p = x.a + at(&x.m, 0, 9, 64), *q = x.a + at(&x.m, 0, 60, 3);
		unsigned char keep[700];
		struct tsw_wrong wrong;

		/* Of one byte, two may be equal by chance. */
		while (!memcmp(p, q, widths[w]))
			q += widths[w];
		memcpy(keep, p, widths[w]);
		memcpy(p, q, widths[w]);
		memcpy(q, keep, widths[w]);
		wrong = check(&x, 1, 2);
		ck_wrong(wrong, 2, 0);
		ck_assert(wrong.place[0].r == 9 && wrong.place[0].c == 64);
		ck_assert(wrong.place[1].r == 60 && wrong.place[1].c >= 3);
		batch_free(&x);
	}
}
END_TEST

START_TEST(notices_a_shifted_row)
{
	struct batch x = batch_new(layouts[2], 8, 1);
	unsigned char *row = x.a + at(&x.m, 0, 31, 0);
	struct tsw_wrong wrong;

	memmove(row + 8, row, 64 * 8);
	wrong = check(&x, 1, 2);
	ck_wrong(wrong, 64, 0);
	for (unsigned i = 0; i < wrong.places; i++)
		ck_assert(wrong.place[i].r == 31 && wrong.place[i].c == 1 + i);
	batch_free(&x);
}
END_TEST

/* Is byte `byte` of the span inside a matrix? */
static int inside(const struct batch *x, size_t byte)
{
	for (size_t b = 0; b < x->m.count; b++)
		for (size_t r = 0; r < x->m.n; r++)
			if (byte >= at(&x->m, b, r, 0) && byte < at(&x->m, b, r, x->m.n))
				return 1;
	return 0;
}

/* Every byte of the span, changed alone, is reported once: as an element or as padding. */
START_TEST(notices_every_byte_of_the_span)
{
	for (size_t i = 3; i < LAYOUTS; i++)
		for (int transposed = 0; transposed < 2; transposed++) {
			struct batch x = batch_new(layouts[i], i == 3 ? 1 : 3, transposed);
			size_t padding = 0;

			for (size_t b = 0; b < x.bytes; b += i == 3 ? 17 : 1) {
				int in = inside(&x, b);

				x.a[b] ^= 0x40;
				ck_wrong(check(&x, transposed, 1), in ? 1u : 0u, in ? 0u : 1u);
				x.a[b] ^= 0x40;
				padding += !in;
			}
			ck_assert((padding == 0) == (i == 7));
			batch_free(&x);
		}
}
END_TEST

/* More wrong ones than are reported: the first by matrix, row, column, for any number of threads.
 */
START_TEST(reports_the_first_in_order)
{
	for (size_t i = 4; i < 8; i++) {
		struct batch x = batch_new(layouts[i], 4, 1);

		for (size_t b = x.m.count; b-- > 2;)
			for (size_t r = 6; r-- > 3;) {
				x.a[at(&x.m, b, r, 5)] ^= 1;
				x.a[at(&x.m, b, r, 1)] ^= 1;
			}
		for (int threads = 1; threads < 5; threads++) {
			struct tsw_wrong wrong = check(&x, 1, threads);

			ck_wrong(wrong, 18, 0);
			for (unsigned k = 0; k < TSW_WRONG_PLACES; k++) {
				ck_assert_uint_eq(wrong.place[k].matrix, 2 + k / 6);
				ck_assert_uint_eq(wrong.place[k].r, 3 + k % 6 / 2);
				ck_assert_uint_eq(wrong.place[k].c, k % 2 ? 5 : 1);
			}
		}
		batch_free(&x);
	}
}
END_TEST

START_TEST(checks_its_arguments)
{
	struct tsw_matrices m = {.base = &m, .n = 4, .ld = 3, .elem_size = 1, .count = 1};
	struct tsw_wrong wrong;
	void *array[1] = {&m};

	tsw_assert_status(tsw_check_batch_host(&m, SEED, 1, 0, &wrong), TSW_ERR_LD);
	m.ld = 4;
	m.base = NULL;
	tsw_assert_status(tsw_check_batch_host(&m, SEED, 1, 0, &wrong), TSW_ERR_NULL);
	m.array = array;
	tsw_assert_status(tsw_check_batch_host(&m, SEED, 1, 0, &wrong), TSW_ERR_UNSUPPORTED);
	m = (struct tsw_matrices){.n = 0, .ld = 3, .elem_size = 1, .count = 1};
	tsw_assert_ok(tsw_check_batch_host(&m, SEED, 1, 0, &wrong));
	ck_wrong(wrong, 0, 0);
}
END_TEST

/* ---- NVML ------------------------------------------------------------------------------------ */

/* A driver's library, played by this program: "" names the program itself. */
#define PLAYED __attribute__((visibility("default")))

static int played_init, played_device, played_silent;

PLAYED int nvmlInit_v2(void);
PLAYED int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, tsw_nvml_device *device);
PLAYED int nvmlDeviceGetTemperature(tsw_nvml_device device, int sensor, unsigned *celsius);
PLAYED int nvmlDeviceGetClockInfo(tsw_nvml_device device, int type, unsigned *mhz);
PLAYED int nvmlDeviceGetPowerUsage(tsw_nvml_device device, unsigned *milliwatts);

int nvmlInit_v2(void)
{
	return played_init;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, tsw_nvml_device *device)
{
	*device = (tsw_nvml_device)(void *)&played_device;
	return strcmp(bus, "0000:3b:00.0") ? 6 : 0;
}

int nvmlDeviceGetTemperature(tsw_nvml_device device, int sensor, unsigned *celsius)
{
	*celsius = sensor == 0 && (void *)device == &played_device ? 61 : 0;
	return played_silent;
}

int nvmlDeviceGetClockInfo(tsw_nvml_device device, int type, unsigned *mhz)
{
	*mhz = (void *)device != &played_device ? 0 : type == 1 ? 1755 : type == 2 ? 2619 : 0;
	return played_silent;
}

int nvmlDeviceGetPowerUsage(tsw_nvml_device device, unsigned *milliwatts)
{
	*milliwatts = (void *)device == &played_device ? 412500 : 0;
	return played_silent;
}

static void ck_nothing_known(const struct tsw_nvml *nvml)
{
	const struct tsw_health h = tsw_nvml_health(nvml);

	ck_assert(h.temperature_c < 0 && h.power_w < 0 && h.sm_mhz < 0 && h.memory_mhz < 0);
	ck_assert(h.ecc_corrected < 0 && h.ecc_uncorrected < 0);
}

START_TEST(asks_nvml_how_a_gpu_is)
{
	struct tsw_nvml nvml;
	struct tsw_health h;

	tsw_assert_ok(tsw_nvml_open("", "0000:3b:00.0", &nvml));
	h = tsw_nvml_health(&nvml);
	ck_assert(h.temperature_c == 61 && h.power_w == 412.5);
	ck_assert(h.sm_mhz == 1755 && h.memory_mhz == 2619);
	/* A call that is not there, and calls that fail. */
	ck_assert(h.ecc_corrected < 0 && h.ecc_uncorrected < 0);
	played_silent = 3;
	ck_nothing_known(&nvml);
	played_silent = 0;
}
END_TEST

START_TEST(does_without_nvml)
{
	struct tsw_nvml nvml = {.device = (tsw_nvml_device)(void *)&played_device};

	tsw_assert_status(tsw_nvml_open("libno-such-library.so.9", "0000:3b:00.0", &nvml),
			  TSW_ERR_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "libno-such-library"));
	ck_nothing_known(&nvml);
	tsw_assert_status(tsw_nvml_open("", "0000:3c:00.0", &nvml), TSW_ERR_UNSUPPORTED);
	ck_nothing_known(&nvml);
	played_init = 9;
	tsw_assert_status(tsw_nvml_open("", "0000:3b:00.0", &nvml), TSW_ERR_UNSUPPORTED);
	ck_nothing_known(&nvml);
	played_init = 0;
	/* A library without these calls. */
	tsw_assert_status(tsw_nvml_open("libm.so.6", "0000:3b:00.0", &nvml), TSW_ERR_UNSUPPORTED);
	ck_nothing_known(&nvml);
}
END_TEST

static Suite *verify_suite(void)
{
	Suite *suite = suite_create("verify");
	TCase *fill = tcase_create("fill"), *elements = tcase_create("elements");
	TCase *nvml = tcase_create("nvml");

	tcase_add_test(fill, known_answers);
	tcase_add_test(fill, any_run_of_bytes);
	tcase_add_test(fill, fills_by_philox);
	tcase_add_test(fill, fills_by_curand_alike);
	tcase_add_test(fill, fills_by_what_there_is);
	tcase_add_test(fill, any_run_of_a_pattern);
	tcase_add_test(fill, position_codes_are_unique);
	tcase_add_test(fill, fills_with_every_pattern);
	suite_add_tcase(suite, fill);
	tcase_add_test(elements, the_span_of_a_batch);
	tcase_add_test(elements, accepts_what_is_right);
	tcase_add_test(elements, looks_for_every_pattern);
	tcase_add_test(elements, names_the_first_byte_of_padding);
	tcase_add_test(elements, accepts_what_the_library_did);
	tcase_add_test(elements, notices_a_transpose_that_did_not_happen);
	tcase_add_test(elements, notices_every_flipped_bit);
	tcase_add_test(elements, notices_swapped_elements);
	tcase_add_test(elements, notices_a_shifted_row);
	tcase_add_test(elements, notices_every_byte_of_the_span);
	tcase_add_test(elements, reports_the_first_in_order);
	tcase_add_test(elements, checks_its_arguments);
	suite_add_tcase(suite, elements);
	tcase_add_test(nvml, asks_nvml_how_a_gpu_is);
	tcase_add_test(nvml, does_without_nvml);
	suite_add_tcase(suite, nvml);
	return suite;
}

/* In one process: a forked child would have only one thread. */
int main(void)
{
	static tsw_suite *const suites[] = {verify_suite};

	return tsw_test_main(TSW_SAME_PROCESS, suites, 1);
}
