/* tsw_multi_transpose without a GPU: src/cuda/{multi,team,rect}.c as they are, on streams and
 * events that run in random order (tests/order), kernels by their own text (tests/simt).  Shows
 * that what is queued waits for what it needs, in every order that the events allow, that nothing
 * is leaked, and that every call of the runtime may fail.  What a GPU does with it is test_multi's.
 */
#include <stdlib.h>
#include <string.h>

#include "launch_simt.h"
#include "order/rename.h"
#include "parts.h"
#include "support.h"

#include "../src/cuda/multi.c"

/* ---- a matrix on devices that are not there -------------------------------------------------- */

struct rig {
	struct tsw_parts parts;
	struct tsw_spread spread;
	tsw_multi_part part[TSW_MOST_PARTS];
	unsigned char *before[TSW_MOST_PARTS], *after[TSW_MOST_PARTS], *staging[TSW_MOST_PARTS];
};

static struct rig rig_new(struct tsw_layout l, size_t staging_bytes)
{
	struct rig rig = {.parts = tsw_parts_new(l)};
	const tsw_dist dist = tsw_parts_dist(&l);

	simt_allow_nothing();
	tsw_assert_ok(tsw_spread_of(&dist, &rig.spread));
	for (int r = 0; r < rig.parts.count; r++) {
		const size_t bytes = rig.parts.bytes[r] + 16;

		rig.before[r] = aligned_alloc(16, (bytes + 15) / 16 * 16);
		rig.after[r] = aligned_alloc(16, (bytes + 15) / 16 * 16);
		rig.part[r].a = aligned_alloc(16, (bytes + 15) / 16 * 16);
		ck_assert(rig.before[r] && rig.after[r] && rig.part[r].a);
		memset(rig.part[r].a, 0x77, bytes);
		rig.parts.a[r] = rig.before[r];
		rig.part[r].device = r % order_devices;
		rig.part[r].stream = order_stream(rig.part[r].device);
		rig.part[r].ld = rig.parts.ld[r];
		if (!staging_bytes)
			continue;
		rig.staging[r] = aligned_alloc(256, (staging_bytes + 255) / 256 * 256);
		ck_assert_ptr_nonnull(rig.staging[r]);
		rig.part[r].staging = rig.staging[r];
	}
	tsw_parts_fill(&rig.parts);
	return rig;
}

static void rig_copy(struct rig *rig, unsigned char *const *to, unsigned char *const *from)
{
	for (int r = 0; r < rig->parts.count; r++) {
		order_set_device(rig->part[r].device);
		if (rig->parts.bytes[r])
			order_copy(to ? to[r] : rig->part[r].a, from ? from[r] : rig->part[r].a,
				   rig->parts.bytes[r], cudaMemcpyDefault, rig->part[r].stream);
	}
	order_set_device(0);
}

static void rig_free(struct rig *rig)
{
	for (int r = 0; r < rig->parts.count; r++) {
		free(rig->before[r]);
		free(rig->after[r]);
		free(rig->part[r].a);
		free(rig->staging[r]);
	}
	tsw_parts_free(&rig->parts);
}

static tsw_multi_options options(int method, size_t staging_bytes, int buffers)
{
	tsw_multi_options o = TSW_MULTI_OPTIONS_INIT;

	o.method = method;
	o.staging_bytes = staging_bytes;
	o.buffers = buffers;
	o.copies = 1 + buffers % 3;
	return o;
}

/* What the caller queues before it and after it, `times` calls between, everything in one of the
 * orders that are allowed. */
static void check(struct tsw_layout l, tsw_multi_options o, int given, int times, uint64_t seed)
{
	struct rig rig = rig_new(l, given ? o.staging_bytes : 0);
	const char *wrong;

	order_calls = order_fail = 0;
	rig_copy(&rig, NULL, rig.before);
	for (int i = 0; i < times; i++)
		tsw_assert_ok(multi_under_test(&rig.spread, l.elem_size, rig.part, &o));
	rig_copy(&rig, rig.after, NULL);
	wrong = order_run(seed);
	for (int r = 0; r < rig.parts.count; r++)
		rig.parts.a[r] = rig.after[r];
	if (!wrong)
		wrong = tsw_parts_wrong(&rig.parts);
	tsw_require(!wrong, "%s, method %d, %d buffers, seed %ju: %s", tsw_layout_text(&l),
		    o.method, o.buffers, (uintmax_t)seed, wrong);
	rig_free(&rig);
	ck_assert_int_eq(order_held(), 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const struct tsw_layout layouts[] = {
	{48, 24, 48, 2, 1, 0, 0, 4, 0}, {48, 48, 12, 1, 4, 0, 2, 4, 0},
	{40, 20, 20, 2, 2, 0, 1, 4, 1}, {33, 3, 4, 2, 2, 1, 0, 8, 0},
	{30, 7, 30, 3, 1, 2, 0, 3, 1},	{30, 5, 4, 2, 3, 1, 2, 1, 0},
};

/* Many small chunks, so that buffers are used again and again; 0: as many as the library likes. */
START_TEST(any_order_that_events_allow)
{
	uint64_t state = tsw_seed();

	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		for (int buffers = 0; buffers <= 4; buffers += buffers ? 1 : 2)
			for (int round = 0; round < 3; round++)
				check(layouts[i], options(_i, 2400, buffers), round % 2,
				      round == 2 ? 3 : 1, tsw_random(&state));
}
END_TEST

START_TEST(without_peers)
{
	uint64_t state = tsw_seed();
	struct rig rig;
	tsw_multi_options o;

	order_without_peers = 1;
	for (int round = 0; round < 5; round++)
		check(layouts[round], options(TSW_MULTI_AUTO, 2400, 2), round % 2, 1,
		      tsw_random(&state));
	for (int method = TSW_MULTI_COPY; method <= TSW_MULTI_SWAP; method++) {
		rig = rig_new(layouts[0], 0);
		o = options(method, 2400, 2);
		tsw_assert_status(multi_under_test(&rig.spread, 4, rig.part, &o),
				  TSW_ERR_UNSUPPORTED);
		ck_assert_ptr_null(order_run(1));
		rig_free(&rig);
		ck_assert_int_eq(order_held(), 0);
	}
}
END_TEST

/* What travels is copied, and packed first where it lies in many pieces; never swapped, for whether
 * kernels may reach the partner's memory is not known. */
START_TEST(what_auto_stands_for)
{
	static const struct {
		size_t n, block, elem_size;
		int parts, method;
	} cases[] = {
		{2, 1, 4, 2, TSW_MULTI_COPY},	      {14480, 7240, 4, 2, TSW_MULTI_COPY},
		{28964, 14482, 1, 2, TSW_MULTI_COPY}, {7242, 3621, 16, 2, TSW_MULTI_COPY},
		{14336, 256, 4, 2, TSW_MULTI_PACK},   {15360, 256, 4, 2, TSW_MULTI_PACK},
		{28964, 7241, 4, 4, TSW_MULTI_COPY},  {400000, 100000, 4, 4, TSW_MULTI_COPY},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tsw_layout l = {
			cases[i].n, cases[i].block, cases[i].block, 1, cases[i].parts, 0, 0, 0, 0};
		const tsw_dist dist = tsw_parts_dist(&l);
		struct tsw_spread spread;
		int method;

		tsw_assert_ok(tsw_spread_of(&dist, &spread));
		method = order_method(&spread, cases[i].elem_size, 0);
		tsw_require(method == cases[i].method, "n %zu, %zu bytes, %d parts: method %d",
			    cases[i].n, cases[i].elem_size, cases[i].parts, method);
		ck_assert_int_eq(order_method(&spread, cases[i].elem_size, 1), TSW_MULTI_AUTO);
	}
}
END_TEST

/* Every call of the runtime fails in turn: the status says so and nothing is leaked. */
START_TEST(every_call_may_fail)
{
	const struct tsw_layout l = {12, 6, 12, 2, 1, 0, 0, 4, 0};
	const tsw_multi_options o = options(_i, 96, 2);
	unsigned calls = 0;

	for (unsigned number = 1; number == 1 || number <= calls; number++) {
		struct rig rig = rig_new(l, 0);
		tsw_status status;

		order_calls = 0;
		order_fail = number == 1 ? 0 : number - 1;
		status = multi_under_test(&rig.spread, 4, rig.part, &o);
		if (number == 1)
			calls = order_calls + 1;
		tsw_require((status == TSW_OK) == (number == 1), "call %u of %u: status %d",
			    number - 1, calls - 1, status);
		order_fail = 0;
		tsw_require(!order_run(number), "call %u: %s", number - 1, order_run(number));
		rig_free(&rig);
		tsw_require(order_held() == 0, "call %u: something is leaked", number - 1);
	}
	ck_assert_uint_gt(calls, 50);
}
END_TEST

static Suite *order_suite(void)
{
	Suite *suite = suite_create("multi_order");
	TCase *tc = tcase_create("order");

	tcase_add_loop_test(tc, any_order_that_events_allow, 0, TSW_MULTI_HOST + 1);
	tcase_add_test(tc, without_peers);
	tcase_add_test(tc, what_auto_stands_for);
	tcase_add_loop_test(tc, every_call_may_fail, 0, TSW_MULTI_HOST + 1);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){order_suite}, 1);
}
