/* Random fills and the element check: the bits are the published ones and cuRAND's, every fault is
 * noticed, counted and placed. */
#include "support.h"

#include "tileswap.h"
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
};

static size_t at(const struct tsw_matrices *m, size_t b, size_t r, size_t c)
{
	return (b * m->stride + r * m->ld + c) * m->elem_size;
}

static struct batch batch_new(struct tsw_matrices m, size_t elem_size, int transposed)
{
	struct batch x = {.m = m};

	x.m.elem_size = elem_size;
	x.bytes = tsw_batch_bytes(&x.m);
	x.a = malloc(x.bytes);
	x.before = malloc(x.bytes);
	ck_assert(x.a && x.before);
	x.m.base = x.a;
	tsw_assert_ok(tsw_fill_host_from(TSW_SOURCE_PHILOX, x.before, x.bytes, SEED, 1, NULL));
	memcpy(x.a, x.before, x.bytes);
	for (size_t b = 0; transposed && b < m.count; b++)
		for (size_t r = 0; r < m.n; r++)
			for (size_t c = 0; c < m.n; c++)
				memcpy(x.a + at(&x.m, b, r, c), x.before + at(&x.m, b, c, r),
				       elem_size);
	return x;
}

static void batch_free(struct batch *x)
{
	free(x->a);
	free(x->before);
}

static struct tsw_wrong check(const struct batch *x, int transposed, int nthreads)
{
	struct tsw_wrong wrong;

	tsw_assert_ok(tsw_check_batch_host(&x->m, SEED, transposed, nthreads, &wrong));
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

static Suite *verify_suite(void)
{
	Suite *suite = suite_create("verify");
	TCase *fill = tcase_create("fill"), *elements = tcase_create("elements");

	tcase_add_test(fill, known_answers);
	tcase_add_test(fill, any_run_of_bytes);
	tcase_add_test(fill, fills_by_philox);
	tcase_add_test(fill, fills_by_curand_alike);
	tcase_add_test(fill, fills_by_what_there_is);
	suite_add_tcase(suite, fill);
	tcase_add_test(elements, the_span_of_a_batch);
	tcase_add_test(elements, accepts_what_is_right);
	tcase_add_test(elements, accepts_what_the_library_did);
	tcase_add_test(elements, notices_a_transpose_that_did_not_happen);
	tcase_add_test(elements, notices_every_flipped_bit);
	tcase_add_test(elements, notices_swapped_elements);
	tcase_add_test(elements, notices_a_shifted_row);
	tcase_add_test(elements, notices_every_byte_of_the_span);
	tcase_add_test(elements, reports_the_first_in_order);
	tcase_add_test(elements, checks_its_arguments);
	suite_add_tcase(suite, elements);
	return suite;
}

/* In one process: a forked child would have only one thread. */
int main(void)
{
	static tsw_suite *const suites[] = {verify_suite};

	return tsw_test_main(TSW_SAME_PROCESS, suites, 1);
}
