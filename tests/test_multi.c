/* tsw_multi_transpose on real GPUs: every method over grids, layouts, widths and staging sizes,
 * what is queued before and after it, and what the header promises about errors.  Parts are dealt
 * to the devices there are, so that one GPU suffices for most of it; what crosses a link needs two.
 *
 *     REQUIRE_GPUS=K     fewer than K GPUs are a failure */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "matrices.h"
#include "parts.h"
#include "support.h"
#include "tileswap_multi.h"

#if TSW_HAVE_CUDA

#include "gpu.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- a matrix on devices --------------------------------------------------------------------- */

#define GUARD 256 /* bytes on both sides of a part, and behind the staging, that must stay */

struct rig {
	struct tsw_parts parts;
	unsigned char *image[TSW_MOST_PARTS]; /* of a part with its guards, on the host */
	unsigned char *device[TSW_MOST_PARTS];
	unsigned char *staging[TSW_MOST_PARTS];
	size_t image_bytes[TSW_MOST_PARTS], staging_bytes;
	tsw_multi_part part[TSW_MOST_PARTS];
	tsw_dist dist;
};

static void rig_part(struct rig *rig, int r, size_t offset, size_t staging_bytes)
{
	const size_t bytes = rig->parts.bytes[r] + offset + 2 * GUARD;
	cudaStream_t stream;

	rig->image_bytes[r] = bytes;
	rig->part[r].device = r % devices();
	CUDA(cudaSetDevice(r % devices()));
	CUDA(cudaMallocHost((void **)&rig->image[r], bytes));
	memset(rig->image[r], 0x5a, bytes);
	rig->parts.a[r] = rig->image[r] + GUARD + offset;
	CUDA(cudaMalloc((void **)&rig->device[r], bytes));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	rig->part[r].stream = stream;
	rig->part[r].a = rig->device[r] + GUARD + offset;
	rig->part[r].ld = rig->parts.ld[r];
	if (!staging_bytes)
		return;
	CUDA(cudaMalloc((void **)&rig->staging[r], staging_bytes + GUARD));
	/* In the stream's order: one of no stream could still be running when chunks arrive. */
	CUDA(cudaMemsetAsync(rig->staging[r], 0x5a, staging_bytes + GUARD, stream));
	rig->part[r].staging = rig->staging[r];
}

/* With staging_bytes the caller gives the staging. */
static struct rig rig_new(struct tsw_layout l, size_t offset, size_t staging_bytes)
{
	struct rig rig = {.parts = tsw_parts_new(l), .dist = tsw_parts_dist(&l)};

	rig.staging_bytes = staging_bytes;
	for (int r = 0; r < rig.parts.count; r++)
		rig_part(&rig, r, offset, staging_bytes);
	tsw_parts_fill(&rig.parts);
	return rig;
}

/* Queued on the parts' streams, with nothing waited for: what the call does must come between. */
static void rig_upload(struct rig *rig)
{
	for (int r = 0; r < rig->parts.count; r++) {
		CUDA(cudaSetDevice(r % devices()));
		CUDA(cudaMemcpyAsync(rig->device[r], rig->image[r], rig->image_bytes[r],
				     cudaMemcpyHostToDevice, rig->part[r].stream));
	}
}

static void rig_download(struct rig *rig)
{
	for (int r = 0; r < rig->parts.count; r++) {
		CUDA(cudaSetDevice(r % devices()));
		CUDA(cudaMemcpyAsync(rig->image[r], rig->device[r], rig->image_bytes[r],
				     cudaMemcpyDeviceToHost, rig->part[r].stream));
	}
	for (int r = 0; r < rig->parts.count; r++) {
		CUDA(cudaSetDevice(r % devices()));
		CUDA(cudaStreamSynchronize(rig->part[r].stream));
	}
}

static const char *spoilt(const unsigned char *p, size_t bytes, const char *what)
{
	for (size_t b = 0; b < bytes; b++)
		if (p[b] != 0x5a)
			return what;
	return NULL;
}

static const char *rig_wrong_guards(struct rig *rig, int r)
{
	const size_t before = (size_t)(rig->parts.a[r] - rig->image[r]);
	unsigned char guard[GUARD];
	const char *wrong = spoilt(rig->image[r], before, "what lies before a part changed");

	if (!wrong)
		wrong = spoilt(rig->parts.a[r] + rig->parts.bytes[r], GUARD,
			       "what lies behind a part changed");
	if (!wrong && rig->staging[r]) {
		CUDA(cudaMemcpy(guard, rig->staging[r] + rig->staging_bytes, GUARD,
				cudaMemcpyDeviceToHost));
		wrong = spoilt(guard, GUARD, "what lies behind the staging changed");
	}
	return wrong;
}

/* NULL, or what is wrong. */
static const char *rig_wrong(struct rig *rig)
{
	for (int r = 0; r < rig->parts.count; r++) {
		const char *wrong = rig_wrong_guards(rig, r);

		if (wrong)
			return wrong;
	}
	return tsw_parts_wrong(&rig->parts);
}

static void rig_free(struct rig *rig)
{
	for (int r = 0; r < rig->parts.count; r++) {
		CUDA(cudaSetDevice(r % devices()));
		CUDA(cudaStreamDestroy(rig->part[r].stream));
		CUDA(cudaFree(rig->device[r]));
		CUDA(cudaFree(rig->staging[r]));
		CUDA(cudaFreeHost(rig->image[r]));
	}
	tsw_parts_free(&rig->parts);
	CUDA(cudaSetDevice(0));
}

static const char *const methods[] = {"auto", "copy", "pack", "push", "swap", "host"};

/* One transpose, or another odd number of them. */
static void check(struct tsw_layout l, tsw_multi_options o, size_t offset, int given, int times)
{
	struct rig rig = rig_new(l, offset, given ? o.staging_bytes : 0);
	const char *wrong;

	rig_upload(&rig);
	for (int i = 0; i < times; i++)
		tsw_assert_ok(tsw_multi_transpose(&rig.dist, l.elem_size, rig.part, &o));
	rig_download(&rig);
	wrong = rig_wrong(&rig);
	tsw_require(!wrong, "%s, %s, %zu bytes of staging, %d buffers: %s wrong",
		    tsw_layout_text(&l), methods[o.method], o.staging_bytes, o.buffers, wrong);
	rig_free(&rig);
}

static tsw_multi_options options(int method, size_t staging_bytes)
{
	tsw_multi_options o = TSW_MULTI_OPTIONS_INIT;

	o.method = method;
	o.staging_bytes = staging_bytes;
	return o;
}

/* ---- tests ----------------------------------------------------------------------------------- */

START_TEST(enough_devices)
{
	NEED_GPUS();
	printf("parts are dealt to %d GPUs\n", devices());
}
END_TEST

static const size_t widths[] = {1, 2, 3, 4, 8, 12, 16, 24, 100};

static const struct tsw_layout layouts[] = {
	{512, 256, 512, 2, 1, 0, 0},  {512, 512, 256, 1, 2, 0, 1}, {1024, 256, 1024, 4, 1, 1, 0},
	{768, 768, 192, 1, 4, 0, 0},  {512, 256, 256, 2, 2, 0, 0}, {512, 64, 64, 2, 2, 1, 1},
	{1001, 251, 500, 4, 1, 3, 0}, {501, 126, 99, 2, 2, 1, 0},  {300, 16, 24, 2, 3, 1, 2},
	{333, 7, 5, 1, 4, 0, 2},      {257, 1, 1, 2, 2, 0, 0},	   {640, 64, 64, 1, 3, 0, 1},
	{100, 3, 2, 3, 2, 2, 1},      {9, 4, 2, 2, 3, 0, 0},	   {1, 1, 1, 2, 2, 1, 1},
	{400, 400, 400, 1, 1, 0, 0},
};

/* Loop index: the method. */
START_TEST(layouts_and_widths)
{
	NEED_GPU();
	for (size_t i = 0; i < COUNT_OF(layouts); i++)
		for (size_t w = 0; w < COUNT_OF(widths); w++) {
			struct tsw_layout l = layouts[i];

			l.elem_size = widths[w];
			l.gap = (i + w) % 3 == 0 ? 16 / tsw_elem_unit(widths[w]) : (i + w) % 3 == 1;
			check(l, options(_i, 1 << 18), 0, (i + w) % 2, 1);
		}
}
END_TEST

START_TEST(addresses)
{
	const struct tsw_layout l = {300, 150, 75, 2, 2, 0, 0, 4, 0};

	NEED_GPU();
	for (size_t offset = 4; offset < 32; offset += 4)
		check(l, options(_i, 100000), offset, 0, 1);
}
END_TEST

/* From a chunk of one element to more than there is, for each number of buffers. */
START_TEST(staging_of_any_size)
{
	const struct tsw_layout l = {96, 24, 48, 2, 2, 0, 1, 8, 1};
	static const size_t sizes[] = {64, 100, 1000, 4096, 100000, 1 << 20};

	NEED_GPU();
	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		for (int buffers = 2; buffers <= 4; buffers++) {
			tsw_multi_options o = options(_i, sizes[i]);

			o.buffers = buffers;
			o.copies = 1 + (int)(i % 4);
			check(l, o, 0, i % 2 == 0, 1);
		}
}
END_TEST

START_TEST(every_number_of_buffers_and_copies)
{
	const struct tsw_layout l = {1200, 300, 1200, 4, 1, 0, 0, 4, 0};

	NEED_GPU();
	for (int buffers = 2; buffers <= 16; buffers++)
		for (int copies = 1; copies <= 4; copies++) {
			tsw_multi_options o = options(_i, 200000);

			o.buffers = buffers;
			o.copies = copies;
			check(l, o, 0, 1, 1);
		}
}
END_TEST

/* Calls follow each other on the streams with nothing between them. */
START_TEST(again_and_again)
{
	const struct tsw_layout l = {1500, 375, 375, 2, 2, 0, 0, 4, 0};

	NEED_GPU();
	for (int round = 0; round < 4; round++)
		check(l, options(_i, 1 << 20), 0, round % 2, 5);
}
END_TEST

/* Larger than the staging many times over, at the default bound too. */
START_TEST(large)
{
	const size_t n = 8000;

	NEED_GPU();
	check((struct tsw_layout){n, n / 4, n, 4, 1, 0, 0, 4, 0}, options(_i, 4 << 20), 0, 0, 1);
	check((struct tsw_layout){n, n, n / 2, 1, 2, 0, 0, 4, 0}, options(_i, 0), 0, 0, 1);
	check((struct tsw_layout){n - 3, 1999, 1000, 2, 2, 1, 0, 4, 1}, options(_i, 0), 0, 0, 1);
}
END_TEST

/* TSW_MULTI_SECONDS: for so long, instead of a fixed number of them. */
START_TEST(random_layouts)
{
	const char *seconds = getenv("TSW_MULTI_SECONDS");
	const time_t end = seconds ? time(NULL) + atoi(seconds) : 0;
	uint64_t state = tsw_seed();

	NEED_GPU();
	for (int i = 0; seconds ? time(NULL) < end : i < 150; i++) {
		const int nprow = 1 + (int)tsw_random_below(&state, 4);
		const int npcol = 1 + (int)tsw_random_below(&state, 4);
		const size_t n = 1 + tsw_random_below(&state, 600);
		const size_t width = widths[tsw_random_below(&state, COUNT_OF(widths))];
		const struct tsw_layout l = {
			n,
			1 + tsw_random_below(&state, i % 2 ? n : 33),
			1 + tsw_random_below(&state, i % 3 ? n : 33),
			nprow,
			npcol,
			(int)tsw_random_below(&state, (uint64_t)nprow),
			(int)tsw_random_below(&state, (uint64_t)npcol),
			width,
			tsw_random_below(&state, 3),
		};
		tsw_multi_options o = options((int)tsw_random_below(&state, COUNT_OF(methods)),
					      32 * width + tsw_random_below(&state, 500000));

		o.buffers = 2 + (int)tsw_random_below(&state, 4);
		check(l, o, 0, i % 2, 1);
	}
}
END_TEST

/* The same bytes, described as stored by columns: the turned layout. */
START_TEST(stored_by_columns)
{
	const struct tsw_layout l = {500, 100, 60, 2, 3, 1, 2, 4, 3};
	struct rig rig;
	const char *wrong;

	NEED_GPU();
	rig = rig_new(l, 0, 0);
	tsw_assert_ok(tsw_dist_turn(&rig.dist, &rig.dist));
	rig.dist.storage = TSW_STORED_BY_COLUMNS;
	rig_upload(&rig);
	tsw_assert_ok(tsw_multi_transpose(&rig.dist, 4, rig.part, NULL));
	rig_download(&rig);
	wrong = rig_wrong(&rig);
	tsw_require(!wrong, "%s wrong", wrong);
	rig_free(&rig);
}
END_TEST

START_TEST(default_streams_and_the_current_device)
{
	const struct tsw_layout l = {512, 256, 512, 2, 1, 0, 0, 4, 0};
	struct rig rig;
	cudaStream_t own[TSW_MOST_PARTS];
	int now, last;

	NEED_GPU();
	rig = rig_new(l, 0, 0);
	last = devices() - 1;
	rig_upload(&rig);
	for (int r = 0; r < rig.parts.count; r++) {
		CUDA(cudaStreamSynchronize(rig.part[r].stream));
		own[r] = rig.part[r].stream;
		rig.part[r].stream = r % 2 ? NULL : TSW_STREAM_PER_THREAD;
	}
	CUDA(cudaSetDevice(last));
	tsw_assert_ok(tsw_multi_transpose(&rig.dist, 4, rig.part, NULL));
	CUDA(cudaGetDevice(&now));
	ck_assert_int_eq(now, last);
	rig_download(&rig);
	for (int r = 0; r < rig.parts.count; r++)
		rig.part[r].stream = own[r];
	ck_assert_ptr_null(rig_wrong(&rig));
	rig_free(&rig);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

/* The call fails as it should, says `word`, and has changed nothing. */
static void check_refused(struct rig *rig, tsw_multi_options o, tsw_status status, const char *word)
{
	unsigned char *before = malloc(rig->image_bytes[0]);

	ck_assert_ptr_nonnull(before);
	rig_upload(rig);
	tsw_assert_status(
		tsw_multi_transpose(&rig->dist, rig->parts.layout.elem_size, rig->part, &o),
		status);
	ck_assert_msg(strstr(tsw_last_error(), word) != NULL, "\"%s\" lacks \"%s\"",
		      tsw_last_error(), word);
	memcpy(before, rig->image[0], rig->image_bytes[0]);
	rig_download(rig);
	ck_assert(!memcmp(before, rig->image[0], rig->image_bytes[0]));
	free(before);
	/* No failure of ours is left where the caller's would be. */
	CUDA(cudaGetLastError());
}

START_TEST(faults_are_named)
{
	const struct tsw_layout l = {64, 32, 64, 2, 1, 0, 0, 8, 0};
	const tsw_multi_options good = TSW_MULTI_OPTIONS_INIT;
	tsw_multi_options o = good;
	struct rig rig;
	void *kept;
	int other;

	NEED_GPU();
	rig = rig_new(l, 0, 0);

	rig.part[1].device += 1000;
	check_refused(&rig, good, TSW_ERR_OPTION, "parts[1].device = 100");
	rig.part[1].device = -1;
	tsw_assert_status(tsw_multi_transpose(&rig.dist, 8, rig.part, &good), TSW_ERR_OPTION);
	rig.part[1].device = 1 % devices();

	kept = rig.part[0].a;
	rig.part[0].a = NULL;
	check_refused(&rig, good, TSW_ERR_NULL, "rank 0");
	rig.part[0].a = (char *)kept + 4;
	check_refused(&rig, good, TSW_ERR_ALIGN, "parts[0].a");
	rig.part[0].a = malloc(64 * 32 * 8);
	check_refused(&rig, good, TSW_ERR_WHERE, "parts[0].a");
	free(rig.part[0].a);
	other = devices() > 1;
	if (other) {
		rig.part[0].a = rig.part[1].a;
		check_refused(&rig, good, TSW_ERR_WHERE, "device 1");
	}
	rig.part[0].a = kept;

	rig.part[1].ld = 63;
	check_refused(&rig, good, TSW_ERR_LD, "ld = 63");
	rig.part[1].ld = 64;

	o.method = TSW_MULTI_COPY;
	o.staging_bytes = 15;
	check_refused(&rig, o, TSW_ERR_OPTION, "staging_bytes = 15");
	o = good;
	o.buffers = 1;
	check_refused(&rig, o, TSW_ERR_OPTION, "buffers = 1");
	o = good;
	o.copies = 5;
	check_refused(&rig, o, TSW_ERR_OPTION, "copies = 5");
	o = good;
	o.method = 6;
	check_refused(&rig, o, TSW_ERR_OPTION, "method = 6");
	o = good;
	o.struct_size = 3;
	check_refused(&rig, o, TSW_ERR_OPTION, "struct_size = 3");
	rig.part[0].staging = (char *)rig.part[0].a + 8;
	check_refused(&rig, good, TSW_ERR_OPTION, "parts[0].staging");
	rig.part[0].staging = NULL;

	rig.dist.rsrc = 2;
	check_refused(&rig, good, TSW_ERR_OPTION, "rsrc = 2");
	rig_free(&rig);
}
END_TEST

START_TEST(nothing_to_do)
{
	tsw_multi_part part[4] = {{0}};
	tsw_dist dist = TSW_DIST_INIT;

	NEED_GPU();
	dist.nprow = dist.npcol = 2;
	tsw_assert_ok(tsw_multi_transpose(&dist, 4, part, NULL));
	tsw_assert_status(tsw_multi_transpose(&dist, 0, part, NULL), TSW_ERR_ELEM_SIZE);
	tsw_assert_status(tsw_multi_transpose(&dist, 4, NULL, NULL), TSW_ERR_NULL);
	tsw_assert_status(tsw_multi_transpose(NULL, 4, part, NULL), TSW_ERR_NULL);
}
END_TEST

static Suite *multi_suite(void)
{
	const int count = (int)COUNT_OF(methods);
	Suite *suite = suite_create("multi");
	TCase *tc = tcase_create("multi"), *random = tcase_create("random");

	tcase_add_test(tc, enough_devices);
	tcase_add_loop_test(tc, layouts_and_widths, 0, count);
	tcase_add_loop_test(tc, addresses, 0, count);
	tcase_add_loop_test(tc, staging_of_any_size, 0, count);
	tcase_add_loop_test(tc, every_number_of_buffers_and_copies, 0, count);
	tcase_add_loop_test(tc, again_and_again, 0, count);
	tcase_add_loop_test(tc, large, 0, count);
	tcase_add_test(tc, stored_by_columns);
	tcase_add_test(tc, default_streams_and_the_current_device);
	tcase_add_test(tc, faults_are_named);
	tcase_add_test(tc, nothing_to_do);
	suite_add_tcase(suite, tc);
	tcase_add_test(random, random_layouts);
	suite_add_tcase(suite, random);
	return suite;
}

#else

/* A build without CUDA says so. */
START_TEST(no_cuda)
{
	tsw_multi_part part = {0};
	tsw_dist dist = TSW_DIST_INIT;
	char element[4];

	dist.n = 1;
	part.a = element;
	part.ld = 1;
	tsw_assert_status(tsw_multi_transpose(&dist, 4, &part, NULL), TSW_ERR_NO_CUDA);
	tsw_skip_gpu("this build has no CUDA");
}
END_TEST

static Suite *multi_suite(void)
{
	Suite *suite = suite_create("multi");
	TCase *tc = tcase_create("multi");

	tcase_add_test(tc, no_cuda);
	suite_add_tcase(suite, tc);
	return suite;
}

#endif

int main(void)
{
	return tsw_test_main(TSW_SAME_PROCESS, (tsw_suite *[]){multi_suite}, 1);
}
