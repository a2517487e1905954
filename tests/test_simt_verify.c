/* The text of the kernels that fill and check on the device, run by tests/simt. */
#include "../kernels/verify.h"
#include "launch_simt.h"
#include "support.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define SEED 0x0123456789abcdefu

extern const struct tsw_kernel simt_kernel_fill, simt_kernel_check_elements, simt_kernel_check_gaps;

SIMT_DEFINE_CALL(tsw_verify_fill)
SIMT_DEFINE_CALL(tsw_verify_task)

/* ---- fill -------------------------------------------------------------------------------------
 */

/* In launches of one and of two blocks, at any address. */
static void check_fill(size_t bytes, size_t offset, enum tsw_flush flush, uint32_t pattern)
{
	struct tsw_guarded g = tsw_guarded_new(bytes + offset, flush);
	struct tsw_verify_fill p = {
		.base = g.p + offset, .nbytes = bytes, .content = {SEED, pattern}};
	uint64_t blocks = tsw_tile_count(bytes, simt_kernel_fill.tile);
	unsigned char *expected = malloc(bytes + 1);
	const char *wrong = NULL;

	ck_assert_ptr_nonnull(expected);
	tsw_content_bytes(&p.content, 0, expected, bytes);
	memset(g.p, 0, g.bytes);
	simt_allow_nothing();
	simt_allow(p.base, bytes, 0, 0);
	for (; !wrong && p.first < blocks; p.first += 2)
		wrong = simt_launch_kernel(&simt_kernel_fill, simt_call_tsw_verify_fill, &p,
					   blocks - p.first < 2 ? 1 : 2, p.first);
	if (!wrong)
		wrong = tsw_wrong_bytes(p.base, expected, bytes);
	tsw_require(!wrong, "pattern %u, %zu bytes at offset %zu: %s", pattern, bytes, offset,
		    wrong);
	free(expected);
	tsw_guarded_free(&g);
}

START_TEST(fills_every_byte)
{
	static const size_t lengths[] = {1, 15, 16, 17, 255, 4095, 4096, 4097, 8192, 20000};

	for (size_t l = 0; l < COUNT_OF(lengths); l++)
		for (size_t offset = 0; offset < 17; offset += offset < 4 ? 1 : 4) {
			check_fill(lengths[l], offset, TSW_FLUSH_LEFT, (uint32_t)_i);
			check_fill(lengths[l], offset, TSW_FLUSH_RIGHT, (uint32_t)_i);
		}
}
END_TEST

/* ---- check ------------------------------------------------------------------------------------
 */

#define RANDOM                                                                                     \
	{                                                                                          \
		SEED, TSW_PATTERN_RANDOM                                                           \
	}

static const struct tsw_layout layouts[] = {
	{1, 1, 1, 0, 1, 0, 1, RANDOM},
	{2, 5, 3, 0, 1, 0, 1, RANDOM},
	{33, 34, 4, 0, 1, 0, 0, RANDOM},
	{65, 70, 8, 0, 1, 0, 1, RANDOM},
	{70, 70, 12, 0, 1, 0, 1, RANDOM},
	{130, 133, 2, 0, 1, 0, 1, RANDOM},
	{300, 301, 1, 0, 1, 0, 1, RANDOM},
	{20, 22, 100, 0, 1, 0, 1, RANDOM},
	{20, 25, 16, 600, 3, 0, 1, RANDOM}, /* apart */
	{20, 70, 6, 22, 3, 1, 1, RANDOM},   /* side by side */
	{70, 75, 1, 0, 1, 0, 1, {SEED, TSW_PATTERN_POSITION}},
	{40, 43, 2, 0, 1, 0, 1, {SEED, TSW_PATTERN_WALK1}},
	{40, 43, 4, 0, 1, 0, 1, {SEED, TSW_PATTERN_WALK0}},
	{40, 41, 8, 0, 1, 0, 1, {SEED, TSW_PATTERN_CHECK5}},
	{40, 41, 16, 0, 1, 0, 1, {SEED, TSW_PATTERN_CHECKA}},
	{20, 21, 12, 0, 1, 0, 1, {SEED, TSW_PATTERN_POSITION}},
};

static size_t span_of(const struct tsw_layout *l)
{
	return tsw_layout_at(l, l->count - 1, l->n - 1, l->n) * l->elem_size;
}

/* What a right transpose of a filled span leaves. */
static void make_right(const struct tsw_layout *l, unsigned char *a)
{
	size_t size = l->elem_size;

	tsw_content_bytes(&l->content, 0, a, span_of(l));
	for (uint64_t b = 0; b < l->count; b++)
		for (uint64_t r = 0; r < l->n; r++)
			for (uint64_t c = 0; c < l->n; c++)
				tsw_content_bytes(&l->content, tsw_layout_source(l, b, r, c) * size,
						  a + tsw_layout_at(l, b, r, c) * size, size);
}

/* Launches as src/verify/check_device.c does, the elements in two launches. */
static struct tsw_verify_found check(const struct tsw_layout *l, const unsigned char *a,
				     uint64_t from)
{
	struct tsw_verify_found found = {0, 0, ~0ull, ~0ull};
	struct tsw_verify_task p = {.base = a, .found = &found, .layout = *l, .from = from};
	const char *wrong;
	uint64_t blocks;

	p.unit = (uint32_t)tsw_elem_unit(l->elem_size);
	p.strips = tsw_tile_count(l->n, simt_kernel_check_elements.tile);
	p.bands = tsw_tile_count(l->n, TSW_VERIFY_ROWS);
	blocks = p.strips * p.bands * l->count;
	simt_allow_nothing();
	simt_allow(a, span_of(l), 0, 1);
	simt_allow(&found, sizeof found, 0, 0);
	wrong = simt_launch_kernel(&simt_kernel_check_elements, simt_call_tsw_verify_task, &p, 1,
				   0);
	p.first = 1;
	if (!wrong && blocks > 1)
		wrong = simt_launch_kernel(&simt_kernel_check_elements, simt_call_tsw_verify_task,
					   &p, blocks - 1, 1);
	if (!wrong)
		wrong = simt_launch_kernel(&simt_kernel_check_gaps, simt_call_tsw_verify_task, &p,
					   3, 0);
	ck_assert_msg(!wrong, "%s", wrong);
	return found;
}

START_TEST(accepts_what_is_right)
{
	const struct tsw_layout *l = &layouts[_i];
	struct tsw_guarded g = tsw_guarded_new(span_of(l), TSW_FLUSH_LEFT);
	struct tsw_verify_found found;

	make_right(l, g.p);
	found = check(l, g.p, 0);
	ck_assert_uint_eq(found.elements, 0);
	ck_assert_uint_eq(found.padding_bytes, 0);
	ck_assert(found.first == ~0ull && found.first_padding == ~0ull);
	tsw_guarded_free(&g);
}
END_TEST

/* One bit, anywhere in the span: an element or a byte of padding, and which. */
START_TEST(finds_every_flipped_bit)
{
	const struct tsw_layout *l = &layouts[_i];
	struct tsw_guarded g = tsw_guarded_new(span_of(l), TSW_FLUSH_LEFT);
	uint64_t state = tsw_seed() + (uint64_t)_i;

	make_right(l, g.p);
	for (int round = 0; round < 12; round++) {
		size_t at = round == 0	 ? 0
			    : round == 1 ? g.bytes - 1
					 : tsw_random_below(&state, g.bytes);
		struct tsw_verify_found found;

		g.p[at] ^= (unsigned char)(1u << round % 8);
		found = check(l, g.p, 0);
		tsw_require(found.elements + found.padding_bytes == 1,
			    "byte %zu of %zu: %llu, %llu", at, g.bytes, found.elements,
			    found.padding_bytes);
		tsw_require((found.first != ~0ull) == (found.elements == 1), "byte %zu", at);
		tsw_require(found.first_padding == (found.padding_bytes ? at : ~0ull), "byte %zu",
			    at);
		if (found.elements) {
			uint64_t b = found.first / (l->n * l->n), r = found.first / l->n % l->n;
			uint64_t place = tsw_layout_at(l, b, r, found.first % l->n) * l->elem_size;

			tsw_require(at >= place && at < place + l->elem_size, "byte %zu, place %ju",
				    at, (uintmax_t)place);
			/* From the next one on there is none. */
			tsw_require(check(l, g.p, found.first + 1).first == ~0ull, "byte %zu", at);
		}
		g.p[at] ^= (unsigned char)(1u << round % 8);
	}
	tsw_guarded_free(&g);
}
END_TEST

/* All bits of the span flipped: nothing is left out, nothing counted twice. */
START_TEST(counts_everything)
{
	const struct tsw_layout *l = &layouts[_i];
	struct tsw_guarded g = tsw_guarded_new(span_of(l), TSW_FLUSH_LEFT);
	uint64_t elements = l->n * l->n * l->count;
	struct tsw_verify_found found;

	make_right(l, g.p);
	for (size_t b = 0; b < g.bytes; b++)
		g.p[b] ^= 0xff;
	found = check(l, g.p, 0);
	ck_assert_uint_eq(found.elements, elements);
	ck_assert_uint_eq(found.padding_bytes, g.bytes - elements * l->elem_size);
	ck_assert_uint_eq(found.first, 0);
	if (found.padding_bytes)
		ck_assert_uint_eq(found.first_padding,
				  (tsw_layout_run(l, 0) + l->n) * l->elem_size);
	tsw_guarded_free(&g);
}
END_TEST

START_TEST(finds_a_transpose_that_did_not_happen)
{
	struct tsw_layout l = {150, 151, 4, 0, 1, 0, 1, RANDOM};
	struct tsw_guarded g = tsw_guarded_new(span_of(&l), TSW_FLUSH_LEFT);

	tsw_philox_bytes(SEED, 0, g.p, g.bytes);
	ck_assert_uint_eq(check(&l, g.p, 0).elements, 150 * 150 - 150);
	ck_assert_uint_eq(check(&l, g.p, 0).first, 1);
	tsw_guarded_free(&g);
}
END_TEST

static Suite *simt_verify_suite(void)
{
	Suite *suite = suite_create("simt verify");
	TCase *tc = tcase_create("kernels");

	tcase_add_loop_test(tc, fills_every_byte, 0, TSW_PATTERNS);
	tcase_add_loop_test(tc, accepts_what_is_right, 0, (int)COUNT_OF(layouts));
	tcase_add_loop_test(tc, finds_every_flipped_bit, 0, (int)COUNT_OF(layouts));
	tcase_add_loop_test(tc, counts_everything, 0, (int)COUNT_OF(layouts));
	tcase_add_test(tc, finds_a_transpose_that_did_not_happen);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){simt_verify_suite}, 1);
}
