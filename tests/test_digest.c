/* The checksum on the host: its frozen definition, the faults it must notice, its laws. */
#include "support.h"

#include "digest/digest.h"
#include "digest/rows.h"
#include "tileswap.h"

#include <stdlib.h>
#include <string.h>

/* ---- the definition, read from tileswap.h and nowhere else ------------------------------------
 */

typedef unsigned __int128 wide;

static const uint64_t p61 = ((uint64_t)1 << 61) - 1;

static uint64_t z(uint64_t seed, uint64_t index)
{
	uint64_t s = seed + (index + 1) * 0x9e3779b97f4a7c15u;

	s ^= s >> 30;
	s *= 0xbf58476d1ce4e5b9u;
	s ^= s >> 27;
	s *= 0x94d049bb133111ebu;
	s ^= s >> 31;
	return s;
}

static uint64_t f(uint64_t number)
{
	uint64_t x = number >> 3;

	if (x == p61)
		x = 0;
	return x ? x : 1;
}

/* The little-endian number in bytes at .. at + width - 1 of an element, beyond its end zero. */
static uint64_t part(const unsigned char *element, size_t size, size_t at, size_t width)
{
	uint64_t x = 0;

	for (size_t b = 0; b < width && at + b < size; b++)
		x += (uint64_t)element[at + b] << (8 * b);
	return x;
}

static tsw_digest reference(const unsigned char *a, struct tsw_shape s, int transposed)
{
	uint64_t placed = 0, values = 0;

	for (size_t r = 0; r < s.n; r++)
		for (size_t c = 0; c < s.n; c++) {
			const unsigned char *e = a + (r * s.ld + c) * s.elem_size;
			uint64_t alpha = f(z(TSW_DIGEST_ALPHA, transposed ? c : r));
			uint64_t beta = f(z(TSW_DIGEST_BETA, transposed ? r : c));
			uint64_t limbs = 0, y = 0;

			for (size_t l = 0; 4 * l < s.elem_size; l++)
				limbs = (uint64_t)(((wide)part(e, s.elem_size, 4 * l, 4) *
							    (l ? f(z(TSW_DIGEST_GAMMA, l)) : 1) +
						    limbs) %
						   p61);
			for (size_t m = 0; 8 * m < s.elem_size; m++)
				y += part(e, s.elem_size, 8 * m, 8) *
				     (m ? z(TSW_DIGEST_DELTA, m) | 1 : 1);
			limbs = (uint64_t)((wide)limbs * alpha % p61);
			placed = (uint64_t)(((wide)limbs * beta + placed) % p61);
			values += y * (2 * y + 1);
		}
	return (tsw_digest){placed, values};
}

/* ---- helpers --------------------------------------------------------------------------------- */

static const size_t widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 24, 100, 333, 4100};

#define WIDTHS (sizeof widths / sizeof *widths)

static void ck_same(tsw_digest got, tsw_digest wanted, struct tsw_shape s)
{
	ck_assert_msg(got.placed == wanted.placed && got.values == wanted.values,
		      "n = %zu, ld = %zu, elem_size = %zu: placed %016jx, values %016jx, "
		      "expected %016jx, %016jx",
		      s.n, s.ld, s.elem_size, (uintmax_t)got.placed, (uintmax_t)got.values,
		      (uintmax_t)wanted.placed, (uintmax_t)wanted.values);
}

static tsw_digest digest_by(const void *a, struct tsw_shape s, int transposed, int nthreads)
{
	tsw_digest out;

	tsw_assert_ok(tsw_checksum_host(a, s.n, s.ld, s.elem_size, transposed, &out, nthreads));
	return out;
}

static tsw_digest digest(const void *a, struct tsw_shape s, int transposed)
{
	return digest_by(a, s, transposed, 0);
}

static unsigned char *random_matrix(struct tsw_shape s, uint64_t *state)
{
	size_t bytes = tsw_shape_bytes(s);
	unsigned char *a = malloc(bytes + 8);

	ck_assert_ptr_nonnull(a);
	for (size_t b = 0; b < bytes + 8; b++)
		a[b] = (unsigned char)(tsw_random(state) >> 17);
	return a;
}

/* Every byte 0xff: the largest limbs and words, where a sum would overflow first. */
static unsigned char *full_matrix(struct tsw_shape s)
{
	size_t bytes = tsw_shape_bytes(s);
	unsigned char *a = malloc(bytes);

	ck_assert_ptr_nonnull(a);
	return memset(a, 255, bytes);
}

/* ---- the value ------------------------------------------------------------------------------- */

/* Frozen: these may never change.  n = 5, ld = 7, and 64-bit word k of the span is z(0, k). */
START_TEST(golden_values)
{
	static const struct {
		size_t elem_size;
		tsw_digest plain, transposed;
	} golden[] = {
		{1,
		 {0x0b1e5ed99d3b297fu, 0x00000000001243cdu},
		 {0x13026fcf8a694ee3u, 0x00000000001243cdu}},
		{2,
		 {0x0c21ce8efc1794feu, 0x0000000f5402a869u},
		 {0x019a96467200f9ddu, 0x0000000f5402a869u}},
		{3,
		 {0x1ce85ba4221c47a6u, 0x000f383944e26036u},
		 {0x0207ab5b96f017b1u, 0x000f383944e26036u}},
		{4,
		 {0x1f868cac5cc6df3du, 0x6c73ad8ef390e70au},
		 {0x0677d2cd6532d1d3u, 0x6c73ad8ef390e70au}},
		{8,
		 {0x064db20afb5e68d7u, 0xd40bd27099c2fbcdu},
		 {0x1285e2132d614b13u, 0xd40bd27099c2fbcdu}},
		{12,
		 {0x03a21d832de7faeeu, 0x9e5cc751787c7b72u},
		 {0x070d03cc7930beebu, 0x9e5cc751787c7b72u}},
		{16,
		 {0x15dca3db9af6f1c1u, 0x13deda7ba05df5e3u},
		 {0x1f63546a790059c7u, 0x13deda7ba05df5e3u}},
		{24,
		 {0x184cf8386ddce1f2u, 0x87be0aa7778e6300u},
		 {0x09e86df8c4c8c2f6u, 0x87be0aa7778e6300u}},
		{100,
		 {0x01a16bfc879e57e8u, 0x4e88b00b6679a935u},
		 {0x19dc156a05991601u, 0x4e88b00b6679a935u}},
	};

	for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
		struct tsw_shape s = {5, 7, golden[i].elem_size};
		unsigned char a[8 * 512];

		ck_assert_uint_le(tsw_shape_bytes(s), sizeof a);
		for (size_t b = 0; b < sizeof a; b++)
			a[b] = (unsigned char)(z(0, b / 8) >> 8 * (b % 8));
		ck_same(digest(a, s, 0), golden[i].plain, s);
		ck_same(digest(a, s, 1), golden[i].transposed, s);
	}
}
END_TEST

START_TEST(equals_the_definition)
{
	static const size_t sides[] = {1, 2, 9, 33, 130};
	uint64_t state = tsw_seed();

	for (size_t w = 0; w < WIDTHS; w++)
		for (size_t i = 0; i < 5; i++) {
			struct tsw_shape s = {sides[i], sides[i] + i % 3, widths[w]};
			unsigned char *a;

			if (s.n * s.elem_size > 10000)
				continue;
			a = random_matrix(s, &state);
			/* Any address is accepted. */
			memmove(a + i, a, tsw_shape_bytes(s));
			ck_same(digest(a + i, s, 0), reference(a + i, s, 0), s);
			ck_same(digest(a + i, s, 1), reference(a + i, s, 1), s);
			free(a);
		}
}
END_TEST

/* Rows longer than a run of limbs, of the largest values there are. */
START_TEST(does_not_overflow)
{
	static const size_t few[] = {1, 2, 3, 4, 8, 16, 24};

	for (size_t w = 0; w < sizeof few / sizeof *few; w++) {
		struct tsw_shape s = {1600, 1600, few[w]};
		unsigned char *a = full_matrix(s);

		ck_same(digest(a, s, 0), reference(a, s, 0), s);
		free(a);
	}
}
END_TEST

START_TEST(nothing_sums_to_nothing)
{
	static const unsigned char zeros[4 * 4 * 24];
	struct tsw_shape none = {0, 3, 8}, zero = {4, 4, 24};

	ck_same(digest(NULL, none, 0), (tsw_digest){0, 0}, none);
	ck_same(digest(zeros, zero, 1), (tsw_digest){0, 0}, zero);
}
END_TEST

START_TEST(every_instruction_set_agrees)
{
	uint64_t state = tsw_seed();
	int sets = 0;

	for (int i = 0; tsw_dot_at((size_t)i); i++) {
		if (!tsw_dot_at((size_t)i)->usable())
			continue;
		sets++;
		for (size_t w = 0; w < WIDTHS; w++) {
			struct tsw_shape s = {67, 70, widths[w] < 400 ? widths[w] : 400};
			unsigned char *a = random_matrix(s, &state);

			tsw_dot_force(i);
			ck_same(digest(a, s, 0), reference(a, s, 0), s);
			free(a);
		}
		tsw_dot_force(-1);
	}
	ck_assert_int_ge(sets, 1);
}
END_TEST

/* ---- laws ------------------------------------------------------------------------------------ */

START_TEST(transposing_moves_the_digest_along)
{
	uint64_t state = tsw_seed();

	for (size_t w = 0; w < WIDTHS; w++) {
		struct tsw_shape s = {37, 41, widths[w]};
		unsigned char *a = random_matrix(s, &state);
		tsw_digest before = digest(a, s, 0), before_t = digest(a, s, 1);

		tsw_assert_ok(tsw_transpose_host(a, s.n, s.ld, s.elem_size, 1));
		ck_same(digest(a, s, 1), before, s);
		ck_same(digest(a, s, 0), before_t, s);
		ck_assert(before.placed != before_t.placed);
		free(a);
	}
}
END_TEST

START_TEST(padding_does_not_count)
{
	uint64_t state = tsw_seed();

	for (size_t w = 0; w < WIDTHS; w++) {
		struct tsw_shape s = {20, 25, widths[w]};
		unsigned char *a = random_matrix(s, &state);
		tsw_digest before = digest(a, s, 0);

		for (size_t r = 0; r + 1 < s.n; r++)
			memset(a + (r * s.ld + s.n) * s.elem_size, 0x5a,
			       (s.ld - s.n) * s.elem_size);
		ck_same(digest(a, s, 0), before, s);
		free(a);
	}
}
END_TEST

/* The sums of parts in any order are the sums of the whole. */
START_TEST(parts_add_up)
{
	uint64_t state = tsw_seed();

	for (size_t w = 0; w < WIDTHS; w++) {
		struct tsw_shape s = {45, 50, widths[w]};
		unsigned char *a = random_matrix(s, &state);

		for (int t = 0; t < 2; t++) {
			tsw_digest sum = {0, 0};

			for (size_t i = 4; i--;) {
				size_t row = i / 2 ? 17 : 0, col = i % 2 ? 30 : 0;
				struct tsw_part q = {.base = a + (row * s.ld + col) * s.elem_size,
						     .rows = i / 2 ? 28 : 17,
						     .cols = i % 2 ? 15 : 30,
						     .stride = s.ld * s.elem_size,
						     .elem_size = s.elem_size,
						     .row = row,
						     .col = col};

				sum = tsw_digest_add(sum, tsw_digest_part(&q, t));
			}
			ck_same(sum, digest(a, s, t), s);
		}
		free(a);
	}
}
END_TEST

START_TEST(threads_do_not_matter)
{
	static const struct tsw_shape shapes[] = {
		{1600, 1600, 1}, {1500, 1505, 4}, {750, 750, 8}, {600, 600, 12}, {40, 40, 4100}};
	uint64_t state = tsw_seed();

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		unsigned char *a = random_matrix(shapes[i], &state);
		tsw_digest one = digest_by(a, shapes[i], 0, 1);

		for (int threads = 0; threads <= 7; threads++)
			ck_same(digest_by(a, shapes[i], 0, threads), one, shapes[i]);
		free(a);
	}
}
END_TEST

/* ---- faults it must notice ------------------------------------------------------------------- */

static unsigned char *element(unsigned char *a, struct tsw_shape s, size_t r, size_t c)
{
	return a + (r * s.ld + c) * s.elem_size;
}

static void swap_elements(unsigned char *x, unsigned char *y, size_t size)
{
	for (size_t b = 0; b < size; b++) {
		unsigned char t = x[b];

		x[b] = y[b];
		y[b] = t;
	}
}

START_TEST(notices_every_flipped_bit)
{
	uint64_t state = tsw_seed();

	for (size_t w = 0; w < WIDTHS; w++) {
		struct tsw_shape s = {3, 4, widths[w]};
		unsigned char *a = random_matrix(s, &state);
		tsw_digest before = digest(a, s, 0);

		for (size_t bit = 0; bit < 8 * s.elem_size; bit++) {
			unsigned char *e = element(a, s, bit % 3, bit / 3 % 3);
			tsw_digest after;

			e[bit / 8] ^= (unsigned char)(1 << bit % 8);
			after = digest(a, s, 0);
			ck_assert(after.placed != before.placed);
			ck_assert(after.values != before.values);
			e[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
		ck_same(digest(a, s, 0), before, s);
		free(a);
	}
}
END_TEST

/* Whole elements in wrong places: `placed` differs, `values` agrees. */
static void ck_moved(tsw_digest after, tsw_digest before)
{
	ck_assert(after.placed != before.placed);
	ck_assert(after.values == before.values);
}

START_TEST(notices_two_swapped_elements)
{
	uint64_t state = tsw_seed();

	for (size_t w = 0; w < WIDTHS; w++) {
		struct tsw_shape s = {6, 6, widths[w]};
		unsigned char *a = random_matrix(s, &state);
		static const unsigned pairs[][4] = {
			{1, 2, 1, 4}, {1, 2, 5, 2}, {0, 0, 5, 5}, {0, 1, 1, 0}, {2, 3, 2, 2}};

		for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
			unsigned char *x = element(a, s, pairs[i][0], pairs[i][1]);
			unsigned char *y = element(a, s, pairs[i][2], pairs[i][3]);
			tsw_digest before;

			x[0] = 1;
			y[0] = 2;
			before = digest(a, s, 0);
			swap_elements(x, y, s.elem_size);
			ck_moved(digest(a, s, 0), before);
		}
		free(a);
	}
}
END_TEST

/* +x and -x as integers and as floating point: sums weighted by products of small numbers, or taken
 * mod 2^64 of 64-bit values, let this pass. */
START_TEST(notices_swapped_opposites)
{
	uint64_t a[8][8];
	struct tsw_shape s = {8, 8, 8};
	static const uint64_t pairs[][2] = {
		{1, (uint64_t)-1},
		{0x8000000000000000u, 0},
		{0x3ff0000000000000u, 0xbff0000000000000u},
		{0x7fffffffffffffffu, 0x8000000000000001u},
	};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		for (size_t c = 1; c < 8; c++) {
			tsw_digest before;

			memset(a, 0, sizeof a);
			a[3][0] = pairs[i][0];
			a[3][c] = pairs[i][1];
			before = digest(a, s, 0);
			a[3][0] = pairs[i][1];
			a[3][c] = pairs[i][0];
			ck_moved(digest(a, s, 0), before);
			a[3][0] = a[c][0];
			a[c][0] = pairs[i][0];
			if (c != 3)
				ck_assert(digest(a, s, 0).placed != before.placed);
		}
}
END_TEST

START_TEST(notices_a_transpose_that_did_not_happen)
{
	uint64_t state = tsw_seed();

	for (size_t w = 0; w < WIDTHS; w++) {
		struct tsw_shape s = {17, 17, widths[w]};
		unsigned char *a = random_matrix(s, &state);
		tsw_digest before = digest(a, s, 0);

		ck_moved(digest(a, s, 1), before);
		tsw_assert_ok(tsw_transpose_host(a, s.n, s.ld, s.elem_size, 1));
		tsw_assert_ok(tsw_transpose_host(a, s.n, s.ld, s.elem_size, 1));
		ck_moved(digest(a, s, 1), before);
		free(a);
	}
}
END_TEST

START_TEST(notices_a_shifted_row)
{
	uint64_t state = tsw_seed();

	for (size_t w = 0; w < WIDTHS; w++) {
		struct tsw_shape s = {17, 17, widths[w]};
		unsigned char *a = random_matrix(s, &state);
		tsw_digest before;

		element(a, s, 4, 0)[0] = 1;
		element(a, s, 4, 1)[0] = 2;
		before = digest(a, s, 0);
		for (size_t c = 0; c + 1 < s.n; c++) /* rotates row 4 by one */
			swap_elements(element(a, s, 4, c), element(a, s, 4, c + 1), s.elem_size);
		ck_moved(digest(a, s, 0), before);
		free(a);
	}
}
END_TEST

START_TEST(notices_a_lost_value)
{
	uint64_t state = tsw_seed();

	for (size_t w = 0; w < WIDTHS; w++) {
		struct tsw_shape s = {9, 9, widths[w]};
		unsigned char *a = random_matrix(s, &state);
		tsw_digest before, after;

		element(a, s, 3, 5)[0] = 1;
		element(a, s, 5, 3)[0] = 2;
		before = digest(a, s, 0);
		memcpy(element(a, s, 3, 5), element(a, s, 5, 3), s.elem_size);
		after = digest(a, s, 0);
		ck_assert(after.placed != before.placed);
		ck_assert(after.values != before.values);
		free(a);
	}
}
END_TEST

/* ---- the bytes it reads ---------------------------------------------------------------------- */

START_TEST(reads_nothing_outside)
{
	for (size_t w = 0; w < WIDTHS; w++)
		for (int side = 0; side < 2; side++) {
			struct tsw_shape s = {35, 36, widths[w]};
			struct tsw_guarded g = tsw_guarded_new(
				tsw_shape_bytes(s), side ? TSW_FLUSH_LEFT : TSW_FLUSH_RIGHT);

			tsw_fill(g.p, g.bytes);
			ck_same(digest(g.p, s, 0), reference(g.p, s, 0), s);
			ck_assert_ptr_null(tsw_wrong_bytes(g.p, tsw_pattern(g.bytes), g.bytes));
			tsw_guarded_free(&g);
		}
}
END_TEST

static Suite *digest_suite(void)
{
	Suite *suite = suite_create("digest");
	TCase *value = tcase_create("value"), *laws = tcase_create("laws");
	TCase *faults = tcase_create("faults");

	tcase_add_test(value, golden_values);
	tcase_add_test(value, equals_the_definition);
	tcase_add_test(value, does_not_overflow);
	tcase_add_test(value, nothing_sums_to_nothing);
	tcase_add_test(value, every_instruction_set_agrees);
	tcase_add_test(value, reads_nothing_outside);
	suite_add_tcase(suite, value);
	tcase_add_test(laws, transposing_moves_the_digest_along);
	tcase_add_test(laws, padding_does_not_count);
	tcase_add_test(laws, parts_add_up);
	tcase_add_test(laws, threads_do_not_matter);
	suite_add_tcase(suite, laws);
	tcase_add_test(faults, notices_every_flipped_bit);
	tcase_add_test(faults, notices_two_swapped_elements);
	tcase_add_test(faults, notices_swapped_opposites);
	tcase_add_test(faults, notices_a_transpose_that_did_not_happen);
	tcase_add_test(faults, notices_a_shifted_row);
	tcase_add_test(faults, notices_a_lost_value);
	suite_add_tcase(suite, faults);
	return suite;
}

/* In one process: a forked child would have only one thread. */
int main(void)
{
	static tsw_suite *const suites[] = {digest_suite};

	return tsw_test_main(TSW_SAME_PROCESS, suites, 1);
}
