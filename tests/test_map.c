/* The map k <-> (i, j): every pair up to T = 4096, and the places where a square root goes wrong.
 */
#include "support.h"
#include "tilepair.h"

#include <fenv.h>

typedef unsigned __int128 wide;

/* The largest grid the map promises. */
#define MOST_TILES UINT32_MAX

/* j(j+1)/2, in arithmetic that cannot overflow. */
static wide first_of_column(uint64_t j)
{
	return (wide)j * (j + 1) / 2;
}

static void check_pair(uint64_t k)
{
	struct tsw_pair p = tsw_pair_at(k);

	tsw_require(p.i <= p.j, "k = %ju: i = %u > j = %u", (uintmax_t)k, p.i, p.j);
	tsw_require(first_of_column(p.j) + p.i == k, "k = %ju is not pair (%u, %u)", (uintmax_t)k,
		    p.i, p.j);
	tsw_require(tsw_pair_index(p.i, p.j) == k, "(%u, %u) is k = %ju, not %ju", p.i, p.j,
		    (uintmax_t)k, (uintmax_t)tsw_pair_index(p.i, p.j));
}

/* The pairs of a T x T grid are the first pairs of every larger one, so one walk proves all T. */
START_TEST(every_pair_up_to_4096_tiles)
{
	uint64_t k = 0;

	for (uint32_t j = 0; j < 4096; j++) {
		ck_assert_uint_eq(tsw_pair_count(j), k);
		for (uint32_t i = 0; i <= j; i++, k++) {
			struct tsw_pair p = tsw_pair_at(k);

			if (p.i != i || p.j != j || tsw_pair_index(i, j) != k)
				ck_abort_msg("k = %ju is (%u, %u), the map says (%u, %u); back %ju",
					     (uintmax_t)k, i, j, p.i, p.j,
					     (uintmax_t)tsw_pair_index(i, j));
		}
	}
	ck_assert_uint_eq(tsw_pair_count(4096), k);
}
END_TEST

START_TEST(along_rows_from_the_last_on)
{
	for (uint32_t tiles = 1; tiles < 100; tiles++) {
		uint64_t k = 0;

		for (uint32_t i = tiles; i-- > 0;)
			for (uint32_t j = tiles; j-- > i; k++) {
				const struct tsw_pair p = tsw_pair_along_rows(k, tiles);

				if (p.i != i || p.j != j)
					ck_abort_msg("T = %u: k = %ju is (%u, %u), the map says "
						     "(%u, %u)",
						     tiles, (uintmax_t)k, i, j, p.i, p.j);
			}
		ck_assert_uint_eq(k, tsw_pair_count(tiles));
	}
}
END_TEST

static void check_around_column(uint64_t j)
{
	for (int64_t d = -3; d <= 3; d++) {
		wide k = first_of_column(j) + (wide)(__int128)d;

		if (k < first_of_column(MOST_TILES))
			check_pair((uint64_t)k);
	}
}

START_TEST(column_edges_near_powers_of_two)
{
	for (unsigned bits = 0; bits <= 32; bits++)
		for (int64_t d = -2; d <= 2; d++) {
			int64_t j = ((int64_t)1 << bits) + d;

			if (j >= 0 && j <= MOST_TILES)
				check_around_column((uint64_t)j);
		}
}
END_TEST

/* The square root may come out on either side of an edge: a caller may have set any rounding mode.
 */
START_TEST(column_edges_in_every_rounding_mode)
{
	static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};
	uint64_t state = tsw_seed() + 3;

	for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
		ck_assert_int_eq(fesetround(modes[m]), 0);
		for (int round = 0; round < 20000; round++)
			check_around_column(tsw_random(&state) >> (32 + round % 32));
	}
}
END_TEST

START_TEST(the_last_pairs)
{
	uint64_t last = tsw_pair_count(MOST_TILES) - 1;
	struct tsw_pair p = tsw_pair_at(last);

	ck_assert_uint_eq(p.i, MOST_TILES - 1);
	ck_assert_uint_eq(p.j, MOST_TILES - 1);
	for (uint64_t back = 0; back < 1000; back++)
		check_pair(last - back);
}
END_TEST

START_TEST(column_edges_at_random)
{
	uint64_t state = tsw_seed();

	for (int round = 0; round < 200000; round++)
		check_around_column(tsw_random(&state) >> (32 + round % 32));
}
END_TEST

START_TEST(pairs_at_random)
{
	uint64_t state = tsw_seed() + 1, most = tsw_pair_count(MOST_TILES);

	for (int round = 0; round < 500000; round++)
		check_pair(tsw_random_below(&state, most >> round % 63));
}
END_TEST

START_TEST(counts_are_exact)
{
	uint64_t state = tsw_seed() + 2;

	ck_assert_uint_eq(tsw_pair_count(0), 0);
	ck_assert_uint_eq(tsw_pair_count(1), 1);
	for (int round = 0; round < 200000; round++) {
		uint64_t tiles = tsw_random(&state) >> (32 + round % 32);

		tsw_require(tsw_pair_count(tiles) == first_of_column(tiles), "T = %ju",
			    (uintmax_t)tiles);
	}
	ck_assert(tsw_pair_count(MOST_TILES) == first_of_column(MOST_TILES));
}
END_TEST

static void check_tile_count(uint64_t n, uint64_t tile)
{
	uint64_t got = tsw_tile_count(n, tile);

	tsw_require(got == ((wide)n + tile - 1) / tile, "n = %ju, tile = %ju: %ju tiles",
		    (uintmax_t)n, (uintmax_t)tile, (uintmax_t)got);
}

START_TEST(tile_counts_round_up)
{
	static const uint64_t tiles[] = {1,  2,	 3,   8,   31,	       32,
					 33, 64, 100, 128, UINT32_MAX, UINT64_MAX};

	for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++) {
		for (uint64_t n = 0; n < 300; n++) {
			check_tile_count(n, tiles[t]);
			check_tile_count(UINT64_MAX - n, tiles[t]);
		}
		check_tile_count(tiles[t] - 1, tiles[t]);
		check_tile_count(tiles[t], tiles[t]);
	}
}
END_TEST

static Suite *map_suite(void)
{
	Suite *suite = suite_create("map");
	TCase *tc = tcase_create("map");

	tcase_add_test(tc, every_pair_up_to_4096_tiles);
	tcase_add_test(tc, along_rows_from_the_last_on);
	tcase_add_test(tc, column_edges_near_powers_of_two);
	tcase_add_test(tc, column_edges_in_every_rounding_mode);
	tcase_add_test(tc, the_last_pairs);
	tcase_add_test(tc, column_edges_at_random);
	tcase_add_test(tc, pairs_at_random);
	tcase_add_test(tc, counts_are_exact);
	tcase_add_test(tc, tile_counts_round_up);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){map_suite}, 1);
}
