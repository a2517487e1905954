/* The checksum kernels' own text, run by tests/simt, against the checksum on the host. */
#include "../kernels/digest.h"
#include "digest/digest_math.h"
#include "launch_simt.h"
#include "matrices.h"
#include "support.h"
#include "tileswap.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

SIMT_DEFINE_CALL(tsw_digest_task)

struct job {
	struct tsw_shape shape;
	size_t offset; /* of the matrix from a multiple of 64 */
	int transposed;
	uint32_t band_rows;
	uint64_t grid_limit, order;
	uint64_t blocks; /* of them only so many, if not 0 */
};

/* Launches as src/cuda/checksum.c does. */
static const char *launch(const struct job *job, const unsigned char *base, tsw_digest *out)
{
	struct tsw_digest_slot slot = {0, 0, 0};
	struct tsw_digest_task p = {
		.base = (const char *)base,
		.slot = &slot,
		.n = job->shape.n,
		.stride = job->shape.ld * job->shape.elem_size,
		.elem_size = job->shape.elem_size,
		.row_seed = tsw_row_seed(job->transposed),
		.col_seed = tsw_col_seed(job->transposed),
	};
	const unsigned shared[] = {64 << 10, 228 << 10}; /* two steps of rows, and three */
	struct tsw_kernel kernel;
	const char *wrong;

	tsw_kernel_digest(&p, shared[job->order / 2 % 2], &kernel);
	if (p.band_rows > job->band_rows)
		p.band_rows = job->band_rows;
	simt_allow(&slot, sizeof slot, 0, 0);
	wrong = simt_launch_split(&kernel, simt_call_tsw_digest_task, &p, &p.first,
				  job->blocks ? job->blocks : tsw_digest_blocks(&p),
				  job->grid_limit, job->order);
	out->placed =
		tsw_add_p(tsw_mod_p(slot.placed_low), tsw_shift_p(tsw_mod_p(slot.placed_high), 32));
	out->values = slot.values;
	return wrong;
}

static void check(struct job job)
{
	struct tsw_shape s = job.shape;
	struct tsw_guarded g = tsw_guarded_new(tsw_shape_bytes(s) + job.offset, TSW_FLUSH_LEFT);
	const unsigned char *base = g.p + job.offset;
	tsw_digest host, simt;
	const char *wrong;

	tsw_fill(g.p, g.bytes);
	tsw_assert_ok(tsw_checksum_host(base, s.n, s.ld, s.elem_size, job.transposed, &host, 1));
	simt_allow_nothing();
	simt_allow(base, tsw_shape_bytes(s), 0, 1);
	wrong = launch(&job, base, &simt);
	if (!wrong && (host.placed != simt.placed || host.values != simt.values))
		wrong = host.placed == simt.placed ? "values differs" : "placed differs";
	if (!wrong)
		wrong = tsw_wrong_bytes(g.p, tsw_pattern(g.bytes), g.bytes);
	tsw_require(!wrong,
		    "n = %zu, ld = %zu, elem_size = %zu, offset %zu, band %u, order %ju: %s", s.n,
		    s.ld, s.elem_size, job.offset, job.band_rows, (uintmax_t)job.order, wrong);
	tsw_guarded_free(&g);
}

static const size_t widths[] = {1,   2,	  3,   4,   5,	  6,	7,    8,   9,	10,  11,
				12,  13,  14,  15,  16,	  17,	20,   24,  32,	33,  36,
				48,  50,  64,  65,  80,	  88,	100,  123, 130, 160, 165,
				177, 200, 264, 505, 1009, 1010, 2048, 2100};

/* TSW_WIDTHS=1,3,36: only those, for mutants, of which each is one kernel's. */
static int wanted(size_t width)
{
	const char *list = getenv("TSW_WIDTHS");

	while (list && strtoull(list, NULL, 10) != width) {
		list = strchr(list, ',');
		if (!list)
			return 0;
		list++;
	}
	return 1;
}

/* Rows that begin where vectors do, and rows that do not. */
START_TEST(shapes)
{
	static const size_t sides[] = {1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 65, 100};
	size_t width = widths[_i], unit = tsw_elem_unit(width);

	for (size_t side = wanted(width) ? 0 : COUNT_OF(sides); side < COUNT_OF(sides); side++) {
		size_t n = sides[side], vector = (n + 15) / 16 * 16;
		uint64_t order = side < 2 ? side : side * 77;

		if ((width > 264 && n > 8) || (width > 24 && n > 33))
			continue;
		check((struct job){{n, n, width}, 0, 0, 32, 0, order});
		check((struct job){{n, n + 3, width}, unit, 1, 8, 0, order});
		check((struct job){{n, vector, width}, 0, 1, 512, 0, order});
		check((struct job){{n, vector, width}, 16 - unit, 0, 16, 0, order});
	}
}
END_TEST

/* More columns than one strip has. */
START_TEST(several_strips)
{
	size_t width = widths[_i], n;
	uint64_t limit = width % 2 ? 7 : 1;
	struct tsw_digest_task p = {.n = 1, .stride = 16 * width, .elem_size = width};
	struct tsw_kernel kernel;

	if (!wanted(width))
		return;
	tsw_kernel_digest(&p, 0, &kernel);
	n = p.strip + 9;
	check((struct job){{n, n, width}, 0, 0, 512, 0, tsw_seed() | 2});
	check((struct job){{n, n + 1, width}, 0, 1, 256, limit, 0});
}
END_TEST

/* More rows in a band than the weights in shared memory are of: one block of a matrix whose other
 * elements are 0.  `classes`: of rows that begin alike, 1 or 2; the block's are every second one.
 */
static void check_long_band(size_t width, size_t classes)
{
	const size_t n = 277 * classes;
	size_t ld = n;
	struct tsw_digest_task p = {.elem_size = width, .n = n};
	struct tsw_kernel kernel;
	struct tsw_guarded g;
	struct tsw_shape s;
	struct job job;
	tsw_digest host, simt;
	const char *wrong;

	while (ld * width % 16 != (classes - 1) * 8)
		ld++;
	p.stride = ld * width;
	s = (struct tsw_shape){n, ld, width};
	job = (struct job){s, 0, 0, 0, 0, tsw_seed() | 2};
	tsw_kernel_digest(&p, 0, &kernel);
	ck_assert_uint_eq((size_t)1 << p.step_log, classes);
	job.band_rows = p.band_rows;
	job.blocks = 1;
	g = tsw_guarded_new(tsw_shape_bytes(s), TSW_FLUSH_LEFT);
	memset(g.p, 0, g.bytes);
	for (size_t r = 0; r < n; r += classes)
		tsw_fill(g.p + r * ld * width, (p.strip < n ? p.strip : n) * width);
	tsw_assert_ok(tsw_checksum_host(g.p, n, ld, width, 0, &host, 1));
	simt_allow_nothing();
	simt_allow(g.p, tsw_shape_bytes(s), 0, 1);
	wrong = launch(&job, g.p, &simt);
	tsw_require(!wrong, "elem_size = %zu: %s", width, wrong);
	ck_assert_uint_eq(host.placed, simt.placed);
	ck_assert_uint_eq(host.values, simt.values);
	tsw_guarded_free(&g);
}

START_TEST(long_band)
{
	static const size_t long_widths[] = {1, 3, 17, 123, 264, 1100};

	if (wanted(long_widths[_i]))
		check_long_band(long_widths[_i], 1);
}
END_TEST

START_TEST(long_band_of_every_second_row)
{
	static const size_t long_widths[] = {1, 3, 17, 123, 264};

	if (wanted(long_widths[_i]))
		check_long_band(long_widths[_i], 2);
}
END_TEST

START_TEST(split_launches)
{
	size_t width = widths[_i];

	for (uint64_t limit = 1; limit <= 7 && wanted(width); limit += 3)
		check((struct job){{width > 24 ? 20 : 70, 80, width}, 0, 0, 8, limit, limit});
}
END_TEST

/* Every kernel is met by some shape above. */
START_TEST(every_kernel_is_somebodys_choice)
{
	unsigned kernels = 0;

	for (const struct tsw_kernel *k; (k = tsw_kernel_digest_at(kernels)) != NULL; kernels++) {
		int chosen = 0;

		for (size_t w = 0; w < COUNT_OF(widths); w++)
			for (uint64_t alignment = tsw_elem_unit(widths[w]); alignment <= 16;
			     alignment *= 2) {
				struct tsw_kernel kernel;
				struct tsw_digest_task p = {
					.n = 1, .stride = alignment, .elem_size = widths[w]};

				tsw_kernel_digest(&p, 0, &kernel);
				chosen |= kernel.name == k->name;
				ck_assert_uint_gt(p.strip, 0);
			}
		ck_assert_msg(chosen, "no width and alignment here gets %s", k->name);
		/* What a block may have on the least GPU, 64 KiB, less what src/cuda keeps; and
		 * two on those with 100 KiB, of which the runtime keeps 1 KiB a block. */
		ck_assert_uint_le(k->shared_bytes, 60 << 10);
		ck_assert_uint_le(2 * (k->shared_bytes + (1 << 10) + 256), 100 << 10);
	}
	ck_assert_uint_gt(kernels, 1);
}
END_TEST

/* ---- the arithmetic that host and device share ------------------------------------------------
 */

typedef unsigned __int128 wide;

static const uint64_t edges[] = {
	0,	    1,
	2,	    TSW_P / 2,
	TSW_P - 2,  TSW_P - 1,
	TSW_P,	    TSW_P + 1,
	2 * TSW_P,  1u << 31,
	UINT32_MAX, (uint64_t)1 << 61,
	UINT64_MAX, UINT64_MAX - 6,
	7 * TSW_P,  8 * (uint64_t)TSW_P,
};

static void check_math(uint64_t x, uint64_t y)
{
	uint64_t a = tsw_mod_p(x), b = tsw_mod_p(y);

	tsw_require(a == x % TSW_P, "%ju mod p is %ju", (uintmax_t)x, (uintmax_t)a);
	tsw_require(tsw_add_p(a, b) == (uint64_t)(((wide)a + b) % TSW_P), "%ju + %ju", (uintmax_t)a,
		    (uintmax_t)b);
	tsw_require(tsw_mul_p(a, b) == (uint64_t)((wide)a * b % TSW_P), "%ju * %ju", (uintmax_t)a,
		    (uintmax_t)b);
	tsw_require(tsw_shift_p(a, y % 61) == (uint64_t)(((wide)a << y % 61) % TSW_P), "%ju << %ju",
		    (uintmax_t)a, (uintmax_t)(y % 61));
}

START_TEST(arithmetic_mod_p)
{
	uint64_t state = tsw_seed();

	for (size_t x = 0; x < COUNT_OF(edges); x++)
		for (size_t y = 0; y < COUNT_OF(edges); y++)
			check_math(edges[x], edges[y]);
	for (int round = 0; round < 100000; round++)
		check_math(tsw_random(&state) >> round % 60, tsw_random(&state));
}
END_TEST

/* A weight falls into its pieces and comes together again. */
START_TEST(pieces_of_weights)
{
	uint64_t state = tsw_seed() + 1;

	for (int round = 0; round < 100000; round++) {
		uint64_t weight = tsw_weight(tsw_random(&state), (uint64_t)round);
		uint64_t limb = tsw_random(&state) >> 32;

		tsw_require(weight >= 1 && weight < TSW_P, "weight %ju", (uintmax_t)weight);
		tsw_require(tsw_join_pieces(tsw_piece0(weight) * limb, tsw_piece1(weight) * limb,
					    tsw_piece2(weight) * limb) == tsw_mul_p(weight, limb),
			    "weight %ju, limb %ju", (uintmax_t)weight, (uintmax_t)limb);
	}
}
END_TEST

static Suite *simt_digest_suite(void)
{
	Suite *suite = suite_create("simt digest");
	TCase *tc = tcase_create("kernels");
	int count = (int)COUNT_OF(widths);

	tcase_add_loop_test(tc, shapes, 0, count);
	tcase_add_loop_test(tc, several_strips, 0, count);
	tcase_add_loop_test(tc, split_launches, 0, count);
	tcase_add_loop_test(tc, long_band, 0, 6);
	tcase_add_loop_test(tc, long_band_of_every_second_row, 0, 5);
	tcase_add_test(tc, every_kernel_is_somebodys_choice);
	suite_add_tcase(suite, tc);
	tc = tcase_create("arithmetic");
	tcase_add_test(tc, arithmetic_mod_p);
	tcase_add_test(tc, pieces_of_weights);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){simt_digest_suite}, 1);
}
