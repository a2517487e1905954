/* The device engine on a real GPU: every kernel against the oracle, shapes past 32 bits, streams,
 * graphs, and what the header promises about errors.  One process, no fork: CUDA does not survive
 * one.  TSW_DEVICE_SMALL=1 leaves out what is too large for compute-sanitizer's memcheck, 2 what is
 * too large for its racecheck. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "imatcopy.h"
#include "support.h"
#include "support/imatcopy.h"
#include "tileswap.h"
#include "tilepair.h"
#include "verify/verify.h"

#if TSW_HAVE_CUDA

#include "gpu.h"

static int small(void)
{
	const char *value = getenv("TSW_DEVICE_SMALL");

	return value ? atoi(value) : 0;
}

/* ---- a buffer on the device and its image on the host ---------------------------------------- */

#define GUARD 256 /* bytes on both sides of the matrix that must stay as they are */

struct buffer {
	unsigned char *device, *before, *after;
	size_t bytes; /* GUARD + offset + what is asked for + GUARD */
	size_t offset;
};

static struct buffer buffer_new(size_t bytes, size_t offset)
{
	struct buffer b = {.bytes = bytes + offset + 2 * GUARD, .offset = GUARD + offset};

	b.before = malloc(b.bytes);
	b.after = malloc(b.bytes);
	ck_assert_ptr_nonnull(b.before);
	ck_assert_ptr_nonnull(b.after);
	CUDA(cudaMalloc((void **)&b.device, b.bytes));
	tsw_fill(b.before, b.bytes);
	CUDA(cudaMemcpy(b.device, b.before, b.bytes, cudaMemcpyHostToDevice));
	return b;
}

static void *buffer_matrix(const struct buffer *b)
{
	return b->device + b->offset;
}

static void buffer_fetch(struct buffer *b)
{
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(b->after, b->device, b->bytes, cudaMemcpyDeviceToHost));
}

static void buffer_free(struct buffer *b)
{
	CUDA(cudaFree(b->device));
	free(b->before);
	free(b->after);
}

/* NULL, or what is wrong with the buffer after matrices of shape `s` at `places` were transposed.
 */
static const char *buffer_wrong(struct buffer *b, struct tsw_shape s, const size_t *places,
				size_t count)
{
	unsigned char *expected = malloc(b->bytes);
	const char *wrong;

	ck_assert_ptr_nonnull(expected);
	memcpy(expected, b->before, b->bytes);
	for (size_t k = 0; k < count; k++)
		tsw_oracle_window(b->before + b->offset + places[k],
				  expected + b->offset + places[k], s);
	buffer_fetch(b);
	wrong = tsw_wrong_bytes(b->after, expected, b->bytes);
	free(expected);
	return wrong;
}

/* ---- every kernel against the oracle --------------------------------------------------------- */

static struct tsw_matrices matrices(void *a, struct tsw_shape s)
{
	return (struct tsw_matrices){
		.base = a, .n = s.n, .ld = s.ld, .elem_size = s.elem_size, .count = 1};
}

/* Runs one kernel on one shape; false if the kernel does not serve it. */
static int try_kernel(const char *kernel, struct tsw_shape s, size_t offset, uint64_t grid_limit)
{
	struct buffer b = buffer_new(tsw_shape_bytes(s), offset);
	const struct tsw_matrices m = matrices(buffer_matrix(&b), s);
	const size_t place = 0;
	tsw_status status = kernel ? tsw_cuda_transpose_by(kernel, &m, NULL, grid_limit)
				   : tsw_cuda_transpose(&m, NULL, grid_limit);

	if (status == TSW_OK) {
		const char *wrong = buffer_wrong(&b, s, &place, 1);

		ck_assert_msg(!wrong, "%s: n = %zu, ld = %zu, elem_size = %zu, offset = %zu: %s",
			      kernel ? kernel : "auto", s.n, s.ld, s.elem_size, offset, wrong);
	} else {
		ck_assert_msg(kernel && status == TSW_ERR_UNSUPPORTED, "%s: n = %zu: %s",
			      kernel ? kernel : "auto", s.n, tsw_last_error());
	}
	buffer_free(&b);
	return status == TSW_OK;
}

static const size_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 100, 512};
static const size_t sizes[] = {0,   1,	 2,   3,   7,	16,  31,  32,	33,   63,   64,	  65,  96,
			       127, 128, 129, 255, 256, 257, 300, 1000, 1023, 1024, 1025, 4097};
static const size_t pads[] = {0, 1, 2, 13};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Kernel number `index`, NULL standing for the library's own choice. */
static void sweep(const char *kernel, uint64_t grid_limit, size_t largest_bytes)
{
	unsigned served = 0;

	for (size_t w = 0; w < LENGTH(widths); w++)
		for (size_t i = 0; i < LENGTH(sizes); i++)
			for (size_t d = 0; d < LENGTH(pads); d++) {
				const struct tsw_shape s = {sizes[i], sizes[i] + pads[d],
							    widths[w]};
				const size_t unit = tsw_elem_unit(s.elem_size);

				if (small() > 1 && (i % 5 != 2 || d > 1))
					continue;
				if (s.n == 0 || tsw_shape_bytes(s) > largest_bytes ||
				    (small() && d % 2))
					continue;
				served += try_kernel(kernel, s, 0, grid_limit);
				served += try_kernel(kernel, s, unit, grid_limit);
				if (s.n < 300)
					served += try_kernel(kernel, s, 3 * unit, grid_limit);
			}
	ck_assert_msg(served > 0, "kernel %s served no shape at all", kernel ? kernel : "auto");
}

START_TEST(the_choice_of_the_library_is_right_on_every_shape)
{
	NEED_GPU();
	sweep(NULL, 0, small() ? (size_t)1 << 17 : (size_t)70 << 20);
}
END_TEST

START_TEST(every_kernel_is_right_on_every_shape_it_serves)
{
	const char *kernel;

	NEED_GPU();
	for (size_t i = 0; (kernel = tsw_cuda_kernel_name(i)) != NULL; i++)
		sweep(kernel, 0, small() ? (size_t)1 << 17 : (size_t)5 << 20);
}
END_TEST

START_TEST(a_grid_split_into_launches_of_seven_blocks_is_whole)
{
	const char *kernel;

	NEED_GPU();
	sweep(NULL, 7, (size_t)1 << 19);
	for (size_t i = 0; (kernel = tsw_cuda_kernel_name(i)) != NULL; i++)
		sweep(kernel, 7, (size_t)1 << 16);
}
END_TEST

START_TEST(random_shapes_widths_and_addresses)
{
	uint64_t state = tsw_seed();

	NEED_GPU();
	for (int round = 0; round < (small() > 1 ? 8 : small() ? 40 : 1500); round++) {
		const size_t elem_size = 1 + tsw_random_below(&state, 40);
		const size_t n = 1 + tsw_random_below(&state, small() ? 150 : 700);
		const struct tsw_shape s = {n, n + tsw_random_below(&state, 20), elem_size};

		try_kernel(NULL, s, tsw_random_below(&state, 9) * tsw_elem_unit(elem_size), 0);
	}
}
END_TEST

/* ---- past 32 bits ---------------------------------------------------------------------------- */

/* Fills on the device, transposes once, checks every element and all padding, and the digests.
 * False if the device has too little memory. */
static int check_large(struct tsw_shape s)
{
	const size_t bytes = tsw_shape_bytes(s);
	struct tsw_wrong wrong;
	tsw_digest before, after;
	void *a;

	if (cudaMalloc(&a, bytes) != cudaSuccess) {
		cudaGetLastError();
		return 0;
	}
	tsw_assert_ok(tsw_fill_device(a, bytes, 7, NULL, NULL));
	tsw_assert_ok(tsw_checksum_device(a, s.n, s.ld, s.elem_size, 0, &before, NULL));
	tsw_assert_ok(tsw_transpose_device(a, s.n, s.ld, s.elem_size, NULL));
	tsw_assert_ok(tsw_check_device(a, s.n, s.ld, s.elem_size, 7, 1, NULL, &wrong));
	ck_assert_uint_eq(wrong.elements, 0);
	ck_assert_uint_eq(wrong.padding_bytes, 0);
	tsw_assert_ok(tsw_checksum_device(a, s.n, s.ld, s.elem_size, 1, &after, NULL));
	ck_assert_uint_eq(before.placed, after.placed);
	ck_assert_uint_eq(before.values, after.values);
	CUDA(cudaFree(a));
	return 1;
}

static void check_all_large(const struct tsw_shape shapes[4])
{
	int fit = 0;

	if (small())
		tsw_skip("left out under compute-sanitizer");
	for (int i = 0; i < 4; i++)
		fit += check_large(shapes[i]);
	if (fit < 4)
		tsw_skip("too little device memory for every matrix past 32 bits");
}

START_TEST(more_than_two_to_the_31_elements)
{
	static const struct tsw_shape shapes[4] = {
		{46400, 46400, 1}, {46401, 46403, 2}, {65600, 65600, 1}, {46400, 46400, 4}};

	NEED_GPU();
	check_all_large(shapes);
}
END_TEST

START_TEST(tile_rows_more_than_two_to_the_32_bytes_apart)
{
	static const struct tsw_shape shapes[4] = {{33, ((size_t)1 << 25) + 8, 4},
						   {33, ((size_t)1 << 25) + 3, 4},
						   {70, ((size_t)1 << 27) + 1, 1},
						   {33, ((size_t)1 << 24) + 5, 12}};

	NEED_GPU();
	check_all_large(shapes);
}
END_TEST

/* ---- what verifies --------------------------------------------------------------------------- */

static void check_digests(struct tsw_shape s, size_t offset)
{
	struct buffer b = buffer_new(tsw_shape_bytes(s), offset);
	tsw_digest host, device;

	for (int transposed = 0; transposed < 2; transposed++) {
		tsw_assert_ok(tsw_checksum_host(b.before + b.offset, s.n, s.ld, s.elem_size,
						transposed, &host, 2));
		tsw_assert_ok(tsw_checksum_device(buffer_matrix(&b), s.n, s.ld, s.elem_size,
						  transposed, &device, NULL));
		ck_assert_msg(host.placed == device.placed && host.values == device.values,
			      "n = %zu, ld = %zu, elem_size = %zu: the digests differ", s.n, s.ld,
			      s.elem_size);
	}
	buffer_free(&b);
}

START_TEST(device_and_host_have_the_same_digest)
{
	uint64_t state = tsw_seed();

	NEED_GPU();
	for (int round = 0; round < (small() > 1 ? 22 : small() ? 30 : 400); round++) {
		const size_t elem_size =
			round < 20 ? (size_t)round + 1 : 1 + tsw_random_below(&state, 130);
		const size_t n = 1 + tsw_random_below(&state, small() ? 90 : 400);
		const struct tsw_shape s = {n, n + tsw_random_below(&state, 9), elem_size};

		check_digests(s, tsw_random_below(&state, 17) * tsw_elem_unit(elem_size));
	}
}
END_TEST

/* Several strips, bands and pieces of elements; rows at every place within a vector, and at one. */
START_TEST(device_and_host_have_the_same_digest_of_large_ones)
{
	static const struct {
		size_t n, elem_size;
	} large[] = {{5003, 1}, {2603, 2}, {2203, 3}, {1501, 4},  {601, 6},    {1103, 8}, {601, 12},
		     {601, 15}, {603, 16}, {603, 24}, {303, 100}, {150, 2400}, {30, 9001}};

	NEED_GPU();
	if (small())
		tsw_skip("left out under compute-sanitizer");
	for (size_t i = 0; i < LENGTH(large); i++) {
		const size_t n = large[i].n, size = large[i].elem_size;

		check_digests((struct tsw_shape){n, n, size}, 0);
		check_digests((struct tsw_shape){n, (n + 31) / 32 * 32, size}, tsw_elem_unit(size));
		check_digests((struct tsw_shape){n, (n + 31) / 32 * 32, size}, 0);
	}
}
END_TEST

/* So large that bands have more rows than the weights in shared memory are of. */
START_TEST(device_and_host_have_the_same_digest_of_long_bands)
{
	static const struct tsw_shape large[] = {{33001, 33003, 1},
						 {8101, 8101, 17},
						 {2801, 2801, 150},
						 {1801, 1808, 350},
						 {1025, 1028, 1020}};

	NEED_GPU();
	if (small())
		tsw_skip("left out under compute-sanitizer");
	for (size_t i = 0; i < LENGTH(large); i++)
		check_digests(large[i], 0);
}
END_TEST

START_TEST(device_and_host_fill_the_same_bits)
{
	static const size_t sizes_bytes[] = {1, 3, 4, 5, 63, 64, 65, 4097, 1048577, 4194304 + 7};

	NEED_GPU();
	for (size_t i = 0; i < LENGTH(sizes_bytes); i++)
		for (size_t offset = 0; offset < 5; offset++)
			for (int source = TSW_SOURCE_CURAND; source <= TSW_SOURCE_PHILOX;
			     source++) {
				struct buffer b = buffer_new(sizes_bytes[i], offset);
				const char *wrong;
				tsw_status status = tsw_fill_device_from(
					(enum tsw_source)source, buffer_matrix(&b), sizes_bytes[i],
					11, NULL, NULL);

				if (status == TSW_ERR_UNSUPPORTED) {
					buffer_free(&b);
					tsw_skip(tsw_last_error());
				}
				ck_assert_msg(status == TSW_OK, "%s", tsw_last_error());
				tsw_philox_bytes(11, 0, b.before + b.offset, sizes_bytes[i]);
				buffer_fetch(&b);
				wrong = tsw_wrong_bytes(b.after, b.before, b.bytes);
				ck_assert_msg(!wrong, "source %d, %zu bytes at offset %zu: %s",
					      source, sizes_bytes[i], offset, wrong);
				buffer_free(&b);
			}
}
END_TEST

START_TEST(the_element_check_on_the_device_sees_one_flipped_bit)
{
	static const struct tsw_shape s = {300, 303, 4};
	const size_t bytes = tsw_shape_bytes(s);
	struct tsw_wrong wrong;
	unsigned char *a, byte;

	NEED_GPU();
	CUDA(cudaMalloc((void **)&a, bytes));
	tsw_assert_ok(tsw_fill_device(a, bytes, 5, NULL, NULL));
	tsw_assert_ok(tsw_check_device(a, s.n, s.ld, s.elem_size, 5, 1, NULL, &wrong));
	ck_assert_uint_gt(wrong.elements, s.n * (s.n - 1) - 100); /* nothing was transposed yet */
	tsw_assert_ok(tsw_transpose_device(a, s.n, s.ld, s.elem_size, NULL));
	CUDA(cudaMemcpy(&byte, a + (17 * s.ld + 29) * 4 + 2, 1, cudaMemcpyDefault));
	byte ^= 0x10;
	CUDA(cudaMemcpy(a + (17 * s.ld + 29) * 4 + 2, &byte, 1, cudaMemcpyDefault));
	CUDA(cudaMemcpy(&byte, a + (40 * s.ld + 301) * 4, 1, cudaMemcpyDefault));
	byte ^= 1;
	CUDA(cudaMemcpy(a + (40 * s.ld + 301) * 4, &byte, 1, cudaMemcpyDefault));
	tsw_assert_ok(tsw_check_device(a, s.n, s.ld, s.elem_size, 5, 1, NULL, &wrong));
	ck_assert_uint_eq(wrong.elements, 1);
	ck_assert_uint_eq(wrong.padding_bytes, 1);
	ck_assert_uint_eq(wrong.place[0].r, 17);
	ck_assert_uint_eq(wrong.place[0].c, 29);
	ck_assert_uint_eq(wrong.place[0].expected[2] ^ wrong.place[0].found[2], 0x10);
	CUDA(cudaFree(a));
}
END_TEST

/* ---- batches --------------------------------------------------------------------------------- */

static void check_batch(struct tsw_shape s, size_t stride, size_t count, int by_pointers)
{
	const size_t bytes = (count - 1) * stride * s.elem_size + tsw_shape_bytes(s);
	struct buffer b = buffer_new(bytes, 0);
	size_t *places = malloc(count * sizeof *places);
	void **pointers = malloc(count * sizeof *pointers), **array = NULL;
	const char *wrong;

	for (size_t k = 0; k < count; k++) {
		places[k] = k * stride * s.elem_size;
		pointers[count - 1 - k] = (char *)buffer_matrix(&b) + places[k];
	}
	if (by_pointers) {
		CUDA(cudaMalloc((void **)&array, count * sizeof *array));
		CUDA(cudaMemcpy(array, pointers, count * sizeof *array, cudaMemcpyHostToDevice));
		tsw_assert_ok(
			tsw_transpose_array_device(array, s.n, s.ld, s.elem_size, count, NULL));
	} else {
		tsw_assert_ok(tsw_transpose_batch_device(buffer_matrix(&b), s.n, s.ld, s.elem_size,
							 stride, count, NULL));
	}
	wrong = buffer_wrong(&b, s, places, count);
	ck_assert_msg(!wrong, "n = %zu, ld = %zu, elem_size = %zu, stride = %zu, count = %zu%s: %s",
		      s.n, s.ld, s.elem_size, stride, count, by_pointers ? ", by pointers" : "",
		      wrong);
	CUDA(cudaFree(array));
	buffer_free(&b);
	free(places);
	free(pointers);
}

START_TEST(batches_of_every_kind)
{
	static const size_t n[] = {1, 2, 3, 4, 5, 8, 13, 16, 17, 31, 32, 33, 64, 100, 130};
	static const size_t elem_sizes[] = {1, 2, 3, 4, 8, 12, 16, 24};

	NEED_GPU();
	for (size_t i = 0; i < LENGTH(n); i++)
		for (size_t w = 0; w < LENGTH(elem_sizes); w++) {
			const struct tsw_shape dense = {n[i], n[i], elem_sizes[w]};
			const struct tsw_shape padded = {n[i], n[i] + 3, elem_sizes[w]};
			const size_t dense_span = n[i] * n[i];
			const size_t padded_span = (n[i] - 1) * padded.ld + n[i];
			const size_t count = small() > 1 ? 2 : small() ? 5 : n[i] < 32 ? 301 : 13;
			const struct tsw_shape beside = {n[i], count * n[i] + 1, elem_sizes[w]};

			check_batch(dense, dense_span, count, 0);
			check_batch(dense, dense_span + 1, count, 0);
			check_batch(padded, padded_span, count, 0);
			check_batch(padded, padded_span + 5, count, 0);
			check_batch(beside, n[i], count, 0);
			check_batch(dense, dense_span, count, 1);
			check_batch(padded, padded_span + 2, count, 1);
		}
}
END_TEST

START_TEST(a_batch_of_more_than_65535_matrices)
{
	NEED_GPU();
	if (small())
		tsw_skip("left out under compute-sanitizer");
	check_batch((struct tsw_shape){3, 3, 4}, 9, 200003, 0);
	check_batch((struct tsw_shape){33, 33, 1}, 33 * 33, 70001, 0);
	check_batch((struct tsw_shape){3, 3, 4}, 9, 100003, 1);
}
END_TEST

/* ---- imatcopy -------------------------------------------------------------------------------- */

struct imat_shape {
	size_t n, ld, stride, count;
	size_t offset; /* bytes */
};

/* NULL if the device has made of the buffer what the host makes of it. */
static const char *imat_wrong(struct buffer *b, const struct tsw_imat *x, struct imat_shape s)
{
	unsigned char *expected = malloc(b->bytes);
	const char *wrong;

	ck_assert_ptr_nonnull(expected);
	memcpy(expected, b->before, b->bytes);
	tsw_assert_ok(tsw_imatcopy_batch_host(x->op, x->type, s.n, tsw_imat_alpha(x),
					      expected + b->offset, s.ld, s.stride, s.count, 1));
	buffer_fetch(b);
	wrong = tsw_wrong_bytes(b->after, expected, b->offset);
	if (!wrong)
		wrong = tsw_wrong_imatcopy(x, b->after + b->offset, expected + b->offset,
					   b->bytes - b->offset);
	free(expected);
	return wrong;
}

static struct buffer imat_buffer(const struct tsw_imat *x, struct imat_shape s)
{
	const size_t elements = (s.count - 1) * s.stride + (s.n - 1) * s.ld + s.n;

	return buffer_new(elements * tsw_imat_size(x->type), s.offset);
}

/* Alpha is overwritten as soon as the call returns. */
static void check_imatcopy(const struct tsw_imat *x, struct imat_shape s, cudaStream_t stream)
{
	struct buffer b = imat_buffer(x, s);
	const void *given = tsw_imat_alpha(x);
	unsigned char alpha[16];
	const char *wrong;

	if (given)
		memcpy(alpha, given, tsw_imat_alpha_bytes(x->type));
	tsw_assert_ok(s.count == 1 ? tsw_imatcopy_device(x->op, x->type, s.n, given ? alpha : NULL,
							 buffer_matrix(&b), s.ld, stream)
				   : tsw_imatcopy_batch_device(
					     x->op, x->type, s.n, given ? alpha : NULL,
					     buffer_matrix(&b), s.ld, s.stride, s.count, stream));
	memset(alpha, 0xff, sizeof alpha);
	wrong = imat_wrong(&b, x, s);
	ck_assert_msg(!wrong, "%s, n = %zu, ld = %zu, stride = %zu, count = %zu, offset = %zu: %s",
		      tsw_imat_text(x), s.n, s.ld, s.stride, s.count, s.offset, wrong);
	buffer_free(&b);
}

START_TEST(imatcopy_is_as_on_the_host)
{
	static const size_t n[] = {1, 2, 33, 64, 127, 300};

	NEED_GPU();
	for (size_t i = 0; i < tsw_imat_count(); i++) {
		const struct tsw_imat x = tsw_imat_at(i);
		const size_t unit = tsw_elem_unit(tsw_imat_size(x.type));

		for (size_t k = 0; k < LENGTH(n); k++)
			for (size_t pad = 0; pad < 3; pad++)
				if (i % 8 < 4 && !(small() && (k + pad + i) % 5))
					check_imatcopy(
						&x,
						(struct imat_shape){n[k], n[k] + pad * 4 / 3, 0, 1,
								    (i + k + pad) % 3 * unit},
						NULL);
	}
}
END_TEST

START_TEST(imatcopy_of_large_matrices_and_batches)
{
	NEED_GPU();
	for (size_t i = 0; i < tsw_imat_count(); i += small() ? 37 : 3) {
		const struct tsw_imat x = tsw_imat_at(i);

		check_imatcopy(&x, (struct imat_shape){1, 1, 3, 1000, 0}, NULL);
		check_imatcopy(&x, (struct imat_shape){21, 23, 21 * 23 + 2, 50, 0}, NULL);
		check_imatcopy(&x, (struct imat_shape){21, 21 * 8, 21, 8, 0}, NULL);
		check_imatcopy(&x, (struct imat_shape){5, 5, 25, 2999, 0}, NULL);
		check_imatcopy(&x, (struct imat_shape){8, 8, 64, 999, 16}, NULL);
		check_imatcopy(&x, (struct imat_shape){32, 32, 1025, 300, 8}, NULL);
		if (!small() && i % 4 == 0)
			check_imatcopy(&x, (struct imat_shape){1800, 1800 + i % 5, 0, 1, 0},
				       TSW_STREAM_PER_THREAD);
	}
}
END_TEST

/* All that 2 bytes can be, in rows of whole vectors and in others, as the host has them. */
START_TEST(every_half_and_bfloat16)
{
	static const double alphas[] = {0.1, -3, 1.0009765625, 1e30, 0x1p-14, 0x1.8p-134, INFINITY};
	enum { N = 256 };

	NEED_GPU();
	for (size_t i = 0; i < LENGTH(alphas) * 8; i++) {
		const struct tsw_imat x = {.op = "NT"[i % 2],
					   .type = i / 2 % 2 ? TSW_HALF : TSW_BFLOAT16,
					   .re = alphas[i / 8]};
		const struct imat_shape s = {N, N + i / 4 % 2, 0, 1, 0};
		struct buffer b = imat_buffer(&x, s);
		const char *wrong;

		for (uint32_t k = 0; k < N * N; k++) {
			const uint16_t bits = (uint16_t)k;

			memcpy(b.before + b.offset + (k / N * s.ld + k % N) * 2, &bits, 2);
		}
		CUDA(cudaMemcpy(b.device, b.before, b.bytes, cudaMemcpyHostToDevice));
		tsw_assert_ok(tsw_imatcopy_device(x.op, x.type, N, tsw_imat_alpha(&x),
						  buffer_matrix(&b), s.ld, NULL));
		wrong = imat_wrong(&b, &x, s);
		ck_assert_msg(!wrong, "%s, ld = %zu: %s", tsw_imat_text(&x), s.ld, wrong);
		buffer_free(&b);
	}
}
END_TEST

START_TEST(imatcopy_in_launches_of_seven_blocks)
{
	const struct imat_shape s = {150, 151, 0, 1, 0};

	NEED_GPU();
	for (size_t i = 0; i < tsw_imat_count(); i += 5) {
		const struct tsw_imat x = tsw_imat_at(i);
		struct buffer b = imat_buffer(&x, s);
		struct tsw_matrices m = {
			.base = buffer_matrix(&b), .n = s.n, .ld = s.ld, .count = 1};
		struct tsw_epilogue e;
		const char *wrong;

		tsw_assert_ok(tsw_epilogue_of(x.op, x.type, tsw_imat_alpha(&x), &e, &m.elem_size));
		tsw_assert_ok(tsw_cuda_imatcopy(&m, &e, NULL, 7));
		wrong = imat_wrong(&b, &x, s);
		ck_assert_msg(!wrong, "%s: %s", tsw_imat_text(&x), wrong);
		buffer_free(&b);
	}
}
END_TEST

START_TEST(a_captured_imatcopy_keeps_its_alpha)
{
	const struct imat_shape s = {200, 203, 0, 1, 0};
	const struct tsw_imat x = {'C', TSW_COMPLEX_DOUBLE, 0, 1.5, -0.25};
	double alpha[2] = {1.5, -0.25};
	struct buffer b;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t executable;
	const char *wrong;

	NEED_GPU();
	b = imat_buffer(&x, s);
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	tsw_assert_ok(
		tsw_imatcopy_device(x.op, x.type, s.n, alpha, buffer_matrix(&b), s.ld, stream));
	CUDA(cudaStreamEndCapture(stream, &graph));
	alpha[0] = alpha[1] = 99;
	CUDA(cudaGraphInstantiate(&executable, graph, 0));
	CUDA(cudaGraphLaunch(executable, stream));
	wrong = imat_wrong(&b, &x, s);
	ck_assert_msg(!wrong, "%s", wrong);
	CUDA(cudaGraphExecDestroy(executable));
	CUDA(cudaGraphDestroy(graph));
	CUDA(cudaStreamDestroy(stream));
	buffer_free(&b);
}
END_TEST

/* ---- where memory lies ----------------------------------------------------------------------- */

START_TEST(transpose_looks_where_the_pointer_lies)
{
	const struct tsw_shape s = {129, 131, 8};
	const size_t bytes = tsw_shape_bytes(s);
	unsigned char *before = malloc(bytes), *after = malloc(bytes), *memory[4];
	int device, current;

	NEED_GPU();
	tsw_fill(before, bytes);
	memory[0] = malloc(bytes);
	CUDA(cudaMallocHost((void **)&memory[1], bytes));
	CUDA(cudaMallocManaged((void **)&memory[2], bytes, cudaMemAttachGlobal));
	CUDA(cudaMalloc((void **)&memory[3], bytes));
	CUDA(cudaGetDevice(&current));
	for (int i = 0; i < 4; i++) {
		const char *wrong;

		CUDA(cudaMemcpy(memory[i], before, bytes, cudaMemcpyDefault));
		tsw_assert_ok(tsw_transpose(memory[i], s.n, s.ld, s.elem_size));
		CUDA(cudaMemcpy(after, memory[i], bytes, cudaMemcpyDefault));
		wrong = tsw_wrong_transpose(after, before, s);
		ck_assert_msg(!wrong, "memory of kind %d: %s", i, wrong);
		tsw_assert_ok(tsw_cuda_owner(memory[i], &device));
		ck_assert_int_eq(device, i < 2 ? -1 : current);
	}
	/* Pinned memory can also be reached from the device. */
	CUDA(cudaMemcpy(memory[1], before, bytes, cudaMemcpyDefault));
	tsw_assert_ok(tsw_transpose_device(memory[1], s.n, s.ld, s.elem_size, NULL));
	CUDA(cudaDeviceSynchronize());
	ck_assert_ptr_null(tsw_wrong_transpose(memory[1], before, s));
	/* Plain memory cannot. */
	CUDA(cudaMemcpy(memory[0], before, bytes, cudaMemcpyDefault));
	tsw_assert_status(tsw_transpose_device(memory[0], s.n, s.ld, s.elem_size, NULL),
			  TSW_ERR_WHERE);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "host memory"));
	ck_assert_ptr_null(tsw_wrong_bytes(memory[0], before, bytes));
	free(memory[0]);
	CUDA(cudaFreeHost(memory[1]));
	CUDA(cudaFree(memory[2]));
	CUDA(cudaFree(memory[3]));
	free(before);
	free(after);
}
END_TEST

START_TEST(memory_of_another_device_is_refused_and_found)
{
	const struct tsw_shape s = {100, 100, 4};
	struct buffer b;
	int count = 0, current;
	const size_t place = 0;
	const char *wrong;

	NEED_GPU();
	CUDA(cudaGetDeviceCount(&count));
	if (count < 2)
		tsw_skip("needs two devices");
	CUDA(cudaSetDevice(1));
	b = buffer_new(tsw_shape_bytes(s), 0);
	CUDA(cudaSetDevice(0));
	tsw_assert_status(tsw_transpose_device(buffer_matrix(&b), s.n, s.ld, s.elem_size, NULL),
			  TSW_ERR_WHERE);
	tsw_assert_ok(tsw_transpose(buffer_matrix(&b), s.n, s.ld, s.elem_size));
	CUDA(cudaGetDevice(&current));
	ck_assert_int_eq(current, 0);
	wrong = buffer_wrong(&b, s, &place, 1);
	ck_assert_msg(!wrong, "%s", wrong);
	buffer_free(&b);
}
END_TEST

START_TEST(a_misaligned_address_is_refused_and_untouched)
{
	const struct tsw_shape s = {40, 41, 8};
	struct buffer b;

	NEED_GPU();
	b = buffer_new(tsw_shape_bytes(s) + 8, 4);
	tsw_assert_status(tsw_transpose_device(buffer_matrix(&b), s.n, s.ld, s.elem_size, NULL),
			  TSW_ERR_ALIGN);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "no multiple of 8"));
	buffer_fetch(&b);
	ck_assert_ptr_null(tsw_wrong_bytes(b.after, b.before, b.bytes));
	buffer_free(&b);
}
END_TEST

/* ---- the caller's CUDA state ----------------------------------------------------------------- */

START_TEST(a_pending_error_of_the_caller_is_neither_returned_nor_cleared)
{
	const struct tsw_shape s = {100, 100, 4};
	struct buffer b;
	tsw_digest digest;

	NEED_GPU();
	b = buffer_new(tsw_shape_bytes(s), 0);
	cudaGetLastError();
	ck_assert_int_eq(cudaSetDevice(9999), cudaErrorInvalidDevice);
	tsw_assert_ok(tsw_cuda_status());
	tsw_assert_ok(tsw_transpose_device(buffer_matrix(&b), s.n, s.ld, s.elem_size, NULL));
	tsw_assert_ok(tsw_transpose(buffer_matrix(&b), s.n, s.ld, s.elem_size));
	tsw_assert_ok(
		tsw_checksum_device(buffer_matrix(&b), s.n, s.ld, s.elem_size, 0, &digest, NULL));
	ck_assert_int_eq(cudaPeekAtLastError(), cudaErrorInvalidDevice);
	ck_assert_int_eq(cudaGetLastError(), cudaErrorInvalidDevice);
	/* And a failure of our own is not left behind. */
	tsw_assert_status(tsw_transpose_device(b.before, s.n, s.ld, s.elem_size, NULL),
			  TSW_ERR_WHERE);
	ck_assert_int_eq(cudaPeekAtLastError(), cudaSuccess);
	buffer_free(&b);
}
END_TEST

START_TEST(nothing_is_allocated)
{
	static const struct tsw_shape shapes[] = {
		{1000, 1000, 4}, {1000, 1001, 4}, {999, 999, 3}, {500, 500, 100}, {1000, 1000, 1}};

	NEED_GPU();
	for (size_t i = 0; i < LENGTH(shapes); i++) {
		const struct tsw_shape s = shapes[i];
		struct buffer b = buffer_new(tsw_shape_bytes(s), 0);
		size_t before = 0, after = 0, total;

		for (int call = 0; call < 2; call++) {
			CUDA(cudaMemGetInfo(&before, &total));
			tsw_assert_ok(tsw_transpose_device(buffer_matrix(&b), s.n, s.ld,
							   s.elem_size, NULL));
			CUDA(cudaDeviceSynchronize());
			CUDA(cudaMemGetInfo(&after, &total));
		}
		/* Another process may give memory back meanwhile. */
		ck_assert_uint_le(before, after);
		buffer_free(&b);
	}
}
END_TEST

/* ---- streams and graphs ---------------------------------------------------------------------- */

START_TEST(many_streams_at_once)
{
	enum { STREAMS = 8 };
	const struct tsw_shape s = {777, 779, 4};
	struct buffer b[STREAMS];
	cudaStream_t stream[STREAMS];
	const size_t place = 0;

	NEED_GPU();
	for (int i = 0; i < STREAMS; i++) {
		CUDA(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
		b[i] = buffer_new(tsw_shape_bytes(s), 0);
	}
	CUDA(cudaDeviceSynchronize());
	for (int round = 0; round < 7; round++)
		for (int i = 0; i < STREAMS; i++)
			tsw_assert_ok(tsw_transpose_device(buffer_matrix(&b[i]), s.n, s.ld,
							   s.elem_size, stream[i]));
	for (int i = 0; i < STREAMS; i++) {
		const char *wrong = buffer_wrong(&b[i], s, &place, 1);

		ck_assert_msg(!wrong, "stream %d: %s", i, wrong);
		buffer_free(&b[i]);
		CUDA(cudaStreamDestroy(stream[i]));
	}
}
END_TEST

/* A host thread with a matrix on device number % devices: on a stream of its own, then on its own
 * default stream. */
struct worker {
	pthread_t thread;
	int number, devices;
	struct buffer b;
	struct tsw_shape shape;
	const char *wrong;
};

static const char *work_on_streams(const struct worker *w)
{
	cudaStream_t stream;
	int device;

	if (cudaSetDevice(w->number % w->devices) != cudaSuccess ||
	    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
		return "no stream";
	for (int round = 0; round < 20; round++)
		if (tsw_transpose_device(w->b.device + w->b.offset, w->shape.n, w->shape.ld,
					 w->shape.elem_size, stream) != TSW_OK)
			return tsw_last_error();
	if (cudaStreamSynchronize(stream) != cudaSuccess ||
	    cudaStreamDestroy(stream) != cudaSuccess)
		return "the stream failed";
	if (tsw_transpose_device(w->b.device + w->b.offset, w->shape.n, w->shape.ld,
				 w->shape.elem_size, TSW_STREAM_PER_THREAD) != TSW_OK)
		return tsw_last_error();
	if (cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess)
		return "the thread's stream failed";
	if (cudaGetDevice(&device) != cudaSuccess || device != w->number % w->devices)
		return "the current device has changed";
	return NULL;
}

static void *worker(void *argument)
{
	struct worker *const w = argument;

	w->wrong = work_on_streams(w);
	return NULL;
}

START_TEST(threads_on_streams_of_every_device)
{
	enum { WORKERS = 8 };
	struct worker w[WORKERS];
	const size_t place = 0;
	int devices;

	NEED_GPU();
	CUDA(cudaGetDeviceCount(&devices));
	for (int i = 0; i < WORKERS; i++) {
		w[i] = (struct worker){.number = i,
				       .devices = devices,
				       .shape = {500 + (size_t)i, 520, i % 2 ? 4 : 12}};
		CUDA(cudaSetDevice(i % devices));
		w[i].b = buffer_new(tsw_shape_bytes(w[i].shape), 0);
		CUDA(cudaDeviceSynchronize());
	}
	CUDA(cudaSetDevice(0));
	for (int i = 0; i < WORKERS; i++)
		ck_assert_int_eq(pthread_create(&w[i].thread, NULL, worker, &w[i]), 0);
	for (int i = 0; i < WORKERS; i++)
		ck_assert_int_eq(pthread_join(w[i].thread, NULL), 0);
	for (int i = 0; i < WORKERS; i++) {
		const char *wrong = w[i].wrong;

		if (!wrong) /* 21 transposes are one */
			wrong = buffer_wrong(&w[i].b, w[i].shape, &place, 1);
		ck_assert_msg(!wrong, "thread %d: %s", i, wrong);
		buffer_free(&w[i].b);
	}
}
END_TEST

/* A kernel may start before the one ahead of it in the stream has ended, but then waits for it:
 * every call here needs all that the call before it wrote. */
START_TEST(a_long_chain_of_calls_on_one_matrix)
{
	static const struct tsw_shape shapes[] = {{33, 33, 4},	  {64, 64, 4},	 {100, 103, 8},
						  {257, 257, 4},  {300, 300, 1}, {301, 301, 2},
						  {256, 256, 16}, {200, 200, 3}, {90, 90, 100}};
	const int calls = small() ? 21 : 1001;
	const size_t place = 0;
	cudaStream_t stream;

	NEED_GPU();
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (size_t i = 0; i < LENGTH(shapes); i++) {
		const struct tsw_shape s = shapes[i];
		struct buffer b = buffer_new(tsw_shape_bytes(s), 0);
		const char *wrong;

		CUDA(cudaDeviceSynchronize());
		for (int call = 0; call < calls; call++)
			tsw_assert_ok(tsw_transpose_device(buffer_matrix(&b), s.n, s.ld,
							   s.elem_size, stream));
		wrong = buffer_wrong(&b, s, &place, 1);
		ck_assert_msg(!wrong, "n = %zu, elem_size = %zu: %s", s.n, s.elem_size, wrong);
		buffer_free(&b);
	}
	CUDA(cudaStreamDestroy(stream));
}
END_TEST

START_TEST(the_default_streams)
{
	const struct tsw_shape s = {200, 200, 2};
	const size_t place = 0;
	struct buffer b;

	NEED_GPU();
	b = buffer_new(tsw_shape_bytes(s), 0);
	tsw_assert_ok(tsw_transpose_device(buffer_matrix(&b), s.n, s.ld, s.elem_size, NULL));
	tsw_assert_ok(tsw_transpose_device(buffer_matrix(&b), s.n, s.ld, s.elem_size, NULL));
	tsw_assert_ok(tsw_transpose_device(buffer_matrix(&b), s.n, s.ld, s.elem_size,
					   TSW_STREAM_PER_THREAD));
	ck_assert_ptr_null(buffer_wrong(&b, s, &place, 1));
	buffer_free(&b);
}
END_TEST

/* Captures transposes of several shapes in one graph and replays it `replays` times (odd). */
static void capture_and_replay(int replays)
{
	static const struct tsw_shape shapes[] = {{300, 300, 4},  {300, 301, 4}, {301, 301, 1},
						  {100, 100, 12}, {64, 64, 16},	 {50, 50, 512}};
	struct buffer b[LENGTH(shapes)];
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t executable;
	const size_t place = 0;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (size_t i = 0; i < LENGTH(shapes); i++)
		b[i] = buffer_new(tsw_shape_bytes(shapes[i]), 0);
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (size_t i = 0; i < LENGTH(shapes); i++)
		tsw_assert_ok(tsw_transpose_device(buffer_matrix(&b[i]), shapes[i].n, shapes[i].ld,
						   shapes[i].elem_size, stream));
	CUDA(cudaStreamEndCapture(stream, &graph));
	CUDA(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < replays; i++)
		CUDA(cudaGraphLaunch(executable, stream));
	for (size_t i = 0; i < LENGTH(shapes); i++) {
		const char *wrong = buffer_wrong(&b[i], shapes[i], &place, 1);

		ck_assert_msg(!wrong, "shape %zu: %s", i, wrong);
		buffer_free(&b[i]);
	}
	CUDA(cudaGraphExecDestroy(executable));
	CUDA(cudaGraphDestroy(graph));
	CUDA(cudaStreamDestroy(stream));
}

START_TEST(a_captured_transpose_replays)
{
	NEED_GPU();
	capture_and_replay(1);
	capture_and_replay(5);
}
END_TEST

/* In a new process, whose first call of the library is captured: nothing of it is loaded yet. */
START_TEST(capture_as_the_first_call_of_a_process)
{
	NEED_GPU();
	if (small())
		tsw_skip("left out under compute-sanitizer");
	ck_assert_int_eq(system("TSW_FIRST_CALL_CAPTURED=1 /proc/$PPID/exe >/dev/null"), 0);
}
END_TEST

/* Filled on the device as on the host; transposed there it is what the check wants; a flipped bit
 * is named with its place. */
static void check_pattern(uint32_t pattern, struct tsw_shape s)
{
	const struct tsw_content content = {0x1234567, pattern};
	const size_t bytes = tsw_shape_bytes(s), at = (2 * s.ld + 7) * s.elem_size;
	struct tsw_matrices m = {.n = s.n, .ld = s.ld, .elem_size = s.elem_size, .count = 1};
	struct buffer b = buffer_new(bytes, 0);
	struct tsw_wrong wrong;
	const char *differs;
	unsigned char byte;

	m.base = buffer_matrix(&b);
	tsw_assert_ok(tsw_fill_content_device(&content, m.base, bytes, NULL, NULL));
	tsw_content_bytes(&content, 0, b.before + b.offset, bytes);
	buffer_fetch(&b);
	differs = tsw_wrong_bytes(b.after, b.before, b.bytes);
	ck_assert_msg(!differs, "pattern %u: %s", pattern, differs);
	tsw_assert_ok(tsw_transpose_device(m.base, s.n, s.ld, s.elem_size, NULL));
	tsw_assert_ok(tsw_check_content_device(&m, &content, 1, NULL, &wrong));
	ck_assert_uint_eq(wrong.elements + wrong.padding_bytes, 0);
	CUDA(cudaMemcpy(&byte, b.device + b.offset + at, 1, cudaMemcpyDefault));
	byte ^= 4;
	CUDA(cudaMemcpy(b.device + b.offset + at, &byte, 1, cudaMemcpyDefault));
	tsw_assert_ok(tsw_check_content_device(&m, &content, 1, NULL, &wrong));
	ck_assert_uint_eq(wrong.elements, 1);
	ck_assert(wrong.place[0].r == 2 && wrong.place[0].c == 7);
	ck_assert_uint_eq(wrong.place[0].found[0], byte);
	ck_assert_uint_eq(wrong.place[0].expected[0], byte ^ 4);
	buffer_free(&b);
}

START_TEST(every_pattern_on_the_device)
{
	NEED_GPU();
	for (uint32_t p = 0; p < TSW_PATTERNS; p++)
		for (size_t w = 0; w < LENGTH(widths); w++)
			check_pattern(p, (struct tsw_shape){67, 71, widths[w]});
}
END_TEST

START_TEST(the_first_byte_of_padding_on_the_device)
{
	static const struct tsw_shape s = {300, 303, 4};
	const size_t bytes = tsw_shape_bytes(s), first = (40 * s.ld + 301) * 4 + 3;
	struct tsw_wrong wrong;
	unsigned char *a, five[5];

	NEED_GPU();
	CUDA(cudaMalloc((void **)&a, bytes));
	tsw_assert_ok(tsw_fill_device(a, bytes, 5, NULL, NULL));
	CUDA(cudaMemcpy(five, a + first, 5, cudaMemcpyDefault));
	for (int i = 0; i < 5; i++)
		five[i] ^= 0x81;
	CUDA(cudaMemcpy(a + first, five, 5, cudaMemcpyDefault));
	tsw_assert_ok(tsw_check_device(a, s.n, s.ld, s.elem_size, 5, 0, NULL, &wrong));
	ck_assert_uint_eq(wrong.elements, 0);
	ck_assert_uint_eq(wrong.padding_bytes, 5);
	ck_assert_uint_eq(wrong.padding_at, first);
	ck_assert_uint_eq(wrong.padding_found, five[0]);
	ck_assert_uint_eq(wrong.padding_expected, five[0] ^ 0x81);
	CUDA(cudaFree(a));
}
END_TEST

static Suite *capture_suite(void)
{
	Suite *suite = suite_create("capture");
	TCase *tcase = tcase_create("first call");

	tcase_add_test(tcase, a_captured_transpose_replays);
	suite_add_tcase(suite, tcase);
	return suite;
}

static Suite *device_suite(void)
{
	Suite *suite = suite_create("device");
	TCase *tcase = tcase_create("device"), *digest = tcase_create("digest");

	tcase_add_test(tcase, the_choice_of_the_library_is_right_on_every_shape);
	tcase_add_test(tcase, every_kernel_is_right_on_every_shape_it_serves);
	tcase_add_test(tcase, a_grid_split_into_launches_of_seven_blocks_is_whole);
	tcase_add_test(tcase, random_shapes_widths_and_addresses);
	tcase_add_test(tcase, more_than_two_to_the_31_elements);
	tcase_add_test(tcase, tile_rows_more_than_two_to_the_32_bytes_apart);
	tcase_add_test(digest, device_and_host_have_the_same_digest);
	tcase_add_test(digest, device_and_host_have_the_same_digest_of_large_ones);
	tcase_add_test(digest, device_and_host_have_the_same_digest_of_long_bands);
	tcase_add_test(tcase, device_and_host_fill_the_same_bits);
	tcase_add_test(tcase, the_element_check_on_the_device_sees_one_flipped_bit);
	tcase_add_test(tcase, every_pattern_on_the_device);
	tcase_add_test(tcase, the_first_byte_of_padding_on_the_device);
	tcase_add_test(tcase, batches_of_every_kind);
	tcase_add_test(tcase, a_batch_of_more_than_65535_matrices);
	tcase_add_test(tcase, imatcopy_is_as_on_the_host);
	tcase_add_test(tcase, imatcopy_of_large_matrices_and_batches);
	tcase_add_test(tcase, every_half_and_bfloat16);
	tcase_add_test(tcase, imatcopy_in_launches_of_seven_blocks);
	tcase_add_test(tcase, a_captured_imatcopy_keeps_its_alpha);
	tcase_add_test(tcase, transpose_looks_where_the_pointer_lies);
	tcase_add_test(tcase, memory_of_another_device_is_refused_and_found);
	tcase_add_test(tcase, a_misaligned_address_is_refused_and_untouched);
	tcase_add_test(tcase, a_pending_error_of_the_caller_is_neither_returned_nor_cleared);
	tcase_add_test(tcase, nothing_is_allocated);
	tcase_add_test(tcase, many_streams_at_once);
	tcase_add_test(tcase, threads_on_streams_of_every_device);
	tcase_add_test(tcase, a_long_chain_of_calls_on_one_matrix);
	tcase_add_test(tcase, the_default_streams);
	tcase_add_test(tcase, a_captured_transpose_replays);
	tcase_add_test(tcase, capture_as_the_first_call_of_a_process);
	suite_add_tcase(suite, tcase);
	suite_add_tcase(suite, digest);
	return suite;
}

int main(void)
{
	tsw_suite *const all[] = {device_suite};
	tsw_suite *const capture[] = {capture_suite};

	if (getenv("TSW_FIRST_CALL_CAPTURED"))
		return tsw_test_main(TSW_SAME_PROCESS, capture, 1);
	return tsw_test_main(TSW_SAME_PROCESS, all, 1);
}

#else

int main(void)
{
	return tsw_main_without_cuda();
}

#endif
