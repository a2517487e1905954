#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "support.h"
#include "verify/device.h"

#define GUARD 256   /* bytes before and behind the matrices */
#define SEED 11	    /* of fills */
#define LITTLE 4200 /* bytes of shared memory, enough for tile33 alone */

/* ---- the calls ---------------------------------------------------------------------------------
 */

static void *matrix(const struct scene *scene)
{
	return scene->memory + scene->at;
}

static tsw_status run_anywhere(struct scene *scene)
{
	const struct subject *s = scene->subject;

	return tsw_transpose(matrix(scene), s->n, s->ld, s->width);
}

int looks_where(const struct subject *subject)
{
	return subject->run == run_anywhere;
}

static tsw_status run_device(struct scene *scene)
{
	const struct subject *s = scene->subject;

	return tsw_transpose_device(matrix(scene), s->n, s->ld, s->width, scene->stream);
}

static tsw_status run_batch(struct scene *scene)
{
	const struct subject *s = scene->subject;

	return tsw_transpose_batch_device(matrix(scene), s->n, s->ld, s->width, s->stride, s->count,
					  scene->stream);
}

static tsw_status run_array(struct scene *scene)
{
	const struct subject *s = scene->subject;

	return tsw_transpose_array_device(scene->array, s->n, s->ld, s->width, s->count,
					  scene->stream);
}

static struct tsw_matrices matrices(const struct scene *scene)
{
	const struct subject *s = scene->subject;

	return (struct tsw_matrices){.base = matrix(scene),
				     .n = s->n,
				     .ld = s->ld,
				     .elem_size = s->width,
				     .stride = s->stride,
				     .count = s->count ? s->count : 1};
}

/* In several launches. */
static tsw_status run_named(struct scene *scene)
{
	const struct tsw_matrices m = matrices(scene);

	return tsw_cuda_transpose_by(scene->subject->family, &m, scene->stream,
				     scene->subject->grid_limit);
}

static tsw_status run_imatcopy(struct scene *scene)
{
	const struct subject *s = scene->subject;

	return tsw_imatcopy_device(s->x.op, s->x.type, s->n, tsw_imat_alpha(&s->x), matrix(scene),
				   s->ld, scene->stream);
}

static tsw_status run_imatcopy_batch(struct scene *scene)
{
	const struct subject *s = scene->subject;

	return tsw_imatcopy_batch_device(s->x.op, s->x.type, s->n, tsw_imat_alpha(&s->x),
					 matrix(scene), s->ld, s->stride, s->count, scene->stream);
}

static tsw_status run_checksum(struct scene *scene)
{
	const struct subject *s = scene->subject;

	return tsw_checksum_device(matrix(scene), s->n, s->ld, s->width, s->flag, &scene->digest,
				   scene->stream);
}

static tsw_status run_status(struct scene *scene)
{
	(void)scene;
	return tsw_cuda_status();
}

static tsw_status run_fill(struct scene *scene)
{
	return tsw_fill_device_from(
		TSW_SOURCE_PHILOX, matrix(scene),
		tsw_shape_bytes((struct tsw_shape){scene->subject->n, scene->subject->ld,
						   scene->subject->width}),
		SEED, scene->stream, NULL);
}

static tsw_status run_check(struct scene *scene)
{
	const struct tsw_matrices m = matrices(scene);

	return tsw_check_batch_device(&m, SEED, 0, scene->stream, &scene->wrong);
}

static tsw_status transpose_on_null(void *scene)
{
	const struct subject *s = ((struct scene *)scene)->subject;

	return tsw_transpose_device(matrix(scene), s->n, s->ld, s->width, NULL);
}

static tsw_status run_timed(struct scene *scene)
{
	return tsw_device_timed(transpose_on_null, scene, &scene->time_ms);
}

static tsw_status run_alloc(struct scene *scene)
{
	void *p;
	tsw_status status = tsw_device_alloc(1000, &p);

	(void)scene;
	return status == TSW_OK ? tsw_device_free(p) : status;
}

/* Out, and back in. */
static tsw_status run_copy(struct scene *scene)
{
	unsigned char bytes[100];
	tsw_status status = tsw_device_copy(bytes, matrix(scene), sizeof bytes);

	if (status == TSW_OK && memcmp(bytes, scene->before + scene->at, sizeof bytes))
		return TSW_ERR_MISMATCH;
	return status == TSW_OK ? tsw_device_copy(matrix(scene), bytes, sizeof bytes) : status;
}

static tsw_status run_query(struct scene *scene)
{
	struct tsw_device device;

	return tsw_device_query(scene->subject->device, &device);
}

static tsw_status run_use(struct scene *scene)
{
	return tsw_device_use(scene->subject->device);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

#define CALL(name, run, effect, family, ...)                                                       \
	{                                                                                          \
		name, run, family, effect, __VA_ARGS__                                             \
	}
/* family, n, ld, width; of batches stride and count; then members by name */
#define SINGLE(...) CALL("tsw_transpose_device", run_device, TRANSPOSES, __VA_ARGS__)
#define BATCH(...) CALL("tsw_transpose_batch_device", run_batch, TRANSPOSES, __VA_ARGS__)
#define ARRAY(...) CALL("tsw_transpose_array_device", run_array, TRANSPOSES, __VA_ARGS__)
/* By the kernel of that name, in as many launches as the limit, if any, asks for. */
#define NAMED(...) CALL("tsw_cuda_transpose_by", run_named, TRANSPOSES, __VA_ARGS__)
#define ANYWHERE(...) CALL("tsw_transpose", run_anywhere, TRANSPOSES, __VA_ARGS__, .waits = 1)
#define CHECKSUM(...)                                                                              \
	CALL("tsw_checksum_device", run_checksum, READS, "digest", __VA_ARGS__, .waits = 1)
#define IMATCOPY(family, op, type, re, im, ...)                                                    \
	CALL("tsw_imatcopy_device", run_imatcopy, FINISHES, family, __VA_ARGS__,                   \
	     .x = {op, type, 0, re, im})
#define IMATCOPY_BATCH(family, op, type, re, im, ...)                                              \
	CALL("tsw_imatcopy_batch_device", run_imatcopy_batch, FINISHES, family, __VA_ARGS__,       \
	     .x = {op, type, 0, re, im})
#define VERIFY(name, run, family, effect, ...)                                                     \
	CALL(name, run, effect, family, __VA_ARGS__, .waits = 1)

const struct subject subjects[] = {
	{"tsw_cuda_status", run_status},
	SINGLE(NULL, 1, 1, 4),
	SINGLE("direct", 20, 20, 4),
	SINGLE("direct", 80, 80, 1),
	SINGLE("direct", 65, 66, 2),
	SINGLE("direct", 50, 51, 8),
	SINGLE("direct", 9, 9, 16),
	NAMED("stream", 20, 20, 4),
	SINGLE("stream", 7, 7, 3),
	NAMED("stream", 16, 17, 8),
	NAMED("stream", 9, 9, 16),
	SINGLE("stream", 9, 9, 16, .offset = 8),
	NAMED("stream", 12, 12, 1),
	NAMED("stream", 8, 8, 2),
	NAMED("vector", 80, 80, 1),
	NAMED("vector", 72, 72, 2),
	NAMED("vector", 64, 64, 4),
	NAMED("vector", 48, 48, 8),
	NAMED("vector", 40, 40, 16),
	NAMED("tile33", 65, 65, 1),
	NAMED("tile33", 65, 66, 2),
	NAMED("tile33", 65, 67, 4),
	NAMED("tile33", 64, 64, 4, .offset = 4),
	NAMED("shifted", 50, 51, 8),
	NAMED("vector", 41, 43, 16),
	SINGLE("shifted", 41, 43, 16, .offset = 8),
	SINGLE("tile33", 50, 50, 3),
	SINGLE("tile33", 40, 41, 6),
	SINGLE("shifted", 37, 38, 12),
	SINGLE("shifted", 35, 35, 24),
	SINGLE("shifted", 33, 34, 48),
	SINGLE("shifted", 33, 33, 100), /* asks for more shared memory than a kernel has unasked */
	SINGLE("shifted", 30, 31, 76),	/* the same kernel, another size of tiles */
	ARRAY("tile33", 40, 40, 4, 1600, 2, .shared_bytes = LITTLE),
	SINGLE("tile33", 33, 34, 3, .shared_bytes = LITTLE),
	NAMED("shifted", 65, 67, 8, .kind = FAKE_PINNED),
	NAMED("vector", 64, 64, 4, .kind = FAKE_MANAGED),
	BATCH("direct", 5, 5, 4, 25, 50),
	BATCH("stream", 6, 7, 3, 45, 20),
	BATCH("direct", 50, 51, 8, 2600, 3),
	BATCH("realigned", 50, 51, 3, 2600, 32),
	BATCH("direct", 64, 64, 4, 4096, 2),
	BATCH("shifted", 40, 130, 12, 41, 3),
	ARRAY("stream", 6, 6, 4, 40, 20),
	ARRAY("shifted", 50, 51, 8, 2600, 3),
	ARRAY("vector", 64, 64, 4, 4100, 2),
	NAMED("shifted", 150, 151, 8, 0, 0, .grid_limit = 2),
	NAMED("vector", 100, 128, 4, 0, 0, .grid_limit = 4),
	NAMED("stream", 17, 17, 4, 300, 40, .grid_limit = 3),
	NAMED("tile33", 70, 71, 4, 0, 0, .grid_limit = 2, .shared_bytes = LITTLE),
	ANYWHERE("direct", 65, 67, 8),
	ANYWHERE("direct", 65, 67, 8, .device = 1),
	ANYWHERE("direct", 64, 64, 4, .kind = FAKE_MANAGED),
	ANYWHERE("direct", 64, 64, 4, .kind = FAKE_MANAGED, .device = 1),
	ANYWHERE(NULL, 65, 67, 4, .kind = FAKE_PINNED),
	ANYWHERE(NULL, 65, 67, 4, .kind = FAKE_HOST),
	ANYWHERE(NULL, 33, 33, 3, .kind = FAKE_HOST, .offset = 1),
	IMATCOPY("imatcopy vector", 'T', TSW_FLOAT, 2, 0, 64, 64, 4),
	IMATCOPY("imatcopy shifted", 'T', TSW_FLOAT, 2, 0, 50, 51, 4),
	IMATCOPY("imatcopy vector", 'T', TSW_DOUBLE, -3, 0, 48, 48, 8),
	IMATCOPY("imatcopy shifted", 'T', TSW_DOUBLE, 2, 0, 33, 35, 8),
	IMATCOPY("imatcopy vector", 'C', TSW_COMPLEX_FLOAT, 1, 2, 48, 48, 8),
	IMATCOPY("imatcopy shifted", 'C', TSW_COMPLEX_FLOAT, 1, 0, 33, 35, 8),
	IMATCOPY("imatcopy vector", 'C', TSW_COMPLEX_DOUBLE, 1, 2, 40, 40, 16),
	IMATCOPY("imatcopy vector", 'T', TSW_COMPLEX_DOUBLE, 1, 2, 33, 35, 16),
	IMATCOPY("imatcopy shifted", 'T', TSW_COMPLEX_DOUBLE, 1, 2, 33, 35, 16, .offset = 8),
	IMATCOPY("imatcopy stream", 'T', TSW_FLOAT, 2, 0, 20, 20, 4),
	IMATCOPY("imatcopy stream", 'C', TSW_COMPLEX_DOUBLE, 1, 2, 12, 13, 16),
	IMATCOPY("imatcopy vector", 'T', TSW_HALF, 2, 0, 72, 72, 2),
	IMATCOPY("imatcopy shifted", 'T', TSW_BFLOAT16, 2, 0, 50, 51, 2),
	IMATCOPY("rows", 'N', TSW_HALF, 2, 0, 20, 21, 2),
	IMATCOPY("rows", 'N', TSW_FLOAT, 2, 0, 50, 51, 4),
	IMATCOPY("rows", 'N', TSW_DOUBLE, 2, 0, 20, 21, 8),
	IMATCOPY("rows", 'R', TSW_COMPLEX_FLOAT, 1, 0, 20, 21, 8),
	IMATCOPY("rows", 'T', TSW_COMPLEX_DOUBLE, 0, 0, 20, 21, 16),
	IMATCOPY("rows", 'T', TSW_FLOAT, 2, 0, 1, 1, 4),
	IMATCOPY("direct", 'T', TSW_FLOAT, 1, 0, 50, 51, 4),
	IMATCOPY(NULL, 'N', TSW_FLOAT, 1, 0, 50, 51, 4),
	IMATCOPY_BATCH("imatcopy shifted", 'T', TSW_FLOAT, 2, 0, 33, 34, 4, 1200, 3),
	IMATCOPY_BATCH("rows", 'N', TSW_DOUBLE, 2, 0, 20, 21, 8, 500, 3),
	CHECKSUM(40, 40, 1),
	CHECKSUM(40, 41, 1, .flag = 1),
	CHECKSUM(40, 40, 2),
	CHECKSUM(40, 41, 2, .flag = 1),
	CHECKSUM(40, 40, 4),
	CHECKSUM(40, 41, 4, .flag = 1),
	CHECKSUM(40, 40, 8),
	CHECKSUM(40, 41, 8, .flag = 1),
	CHECKSUM(20, 20, 16),
	CHECKSUM(20, 21, 16, .flag = 1, .offset = 8),
	CHECKSUM(20, 21, 3),
	CHECKSUM(20, 21, 6),
	CHECKSUM(20, 21, 12),
	CHECKSUM(20, 21, 24),
	CHECKSUM(20, 21, 5),
	CHECKSUM(20, 21, 10),
	CHECKSUM(20, 21, 20),
	CHECKSUM(20, 21, 40),
	CHECKSUM(40, 41, 4, .kind = FAKE_PINNED),
	VERIFY("tsw_fill_device", run_fill, "verify", FILLS, 40, 41, 4, .offset = 3),
	VERIFY("tsw_check_device", run_check, "verify", READS, 5, 6, 24, .allocates = 1, .slow = 1),
	VERIFY("tsw_device_timed", run_timed, "direct", TRANSPOSES, 65, 67, 4, .allocates = 1),
	VERIFY("tsw_device_alloc", run_alloc, NULL, READS, 0, 0, 1, .allocates = 1),
	VERIFY("tsw_device_copy", run_copy, NULL, READS, 10, 10, 4),
	VERIFY("tsw_device_query", run_query, NULL, READS, 0, 0, 1),
	VERIFY("tsw_device_use", run_use, NULL, READS, 0, 0, 1),
};

const size_t subject_count = sizeof subjects / sizeof *subjects;

/* ---- their memory ------------------------------------------------------------------------------
 */

static size_t count_of(const struct subject *s)
{
	return s->count ? s->count : 1;
}

static struct tsw_shape shape_of(const struct subject *s)
{
	return (struct tsw_shape){s->n, s->ld, s->width};
}

/* Where matrix b of the batch begins. */
static size_t place(const struct scene *scene, size_t b)
{
	return scene->at + b * scene->subject->stride * scene->subject->width;
}

/* Writes what the call makes of `before` into `after`, one element after the other. */
static void apply(const struct scene *scene, const unsigned char *before, unsigned char *after)
{
	const struct subject *s = scene->subject;

	memcpy(after, before, scene->bytes);
	if (s->effect == FILLS)
		tsw_philox_bytes(SEED, 0, after + scene->at, tsw_shape_bytes(shape_of(s)));
	for (size_t b = 0; b < count_of(s); b++) {
		const size_t at = place(scene, b);

		if (s->effect == TRANSPOSES)
			tsw_oracle_window(before + at, after + at, shape_of(s));
		else if (s->effect == FINISHES)
			tsw_oracle_imatcopy(&s->x, before + at, after + at, s->n, s->ld);
	}
}

static unsigned char *image(const struct scene *scene)
{
	unsigned char *p = malloc(scene->bytes);

	if (!p)
		abort();
	return p;
}

/* For the check: a fill, but for byte 20 of element (2, 3) and a byte between two rows. */
static void fill_wrongly(const struct scene *scene)
{
	const struct subject *s = scene->subject;
	unsigned char *a = scene->before + scene->at;

	tsw_philox_bytes(SEED, 0, a, tsw_shape_bytes(shape_of(s)));
	a[(2 * s->ld + 3) * s->width + 20] ^= 4;
	a[(s->ld - 1) * s->width] ^= 1;
}

static void fill(const struct scene *scene)
{
	const struct subject *s = scene->subject;

	tsw_fill(scene->before, scene->bytes);
	if (s->run == run_check)
		fill_wrongly(scene);
	if (s->effect != FINISHES)
		return;
	/* Numbers whose products are no NaN, which may come out as any. */
	for (size_t i = scene->at; i + 8 <= scene->bytes; i += 4) {
		const float f = (float)((i * 37 % 1013) + 1) / 8;

		memcpy(scene->before + i, &f, sizeof f);
	}
}

struct scene scene_new(const struct subject *subject)
{
	struct scene scene = {.subject = subject, .at = GUARD + subject->offset};
	const size_t count = count_of(subject);

	fake.shared_bytes = subject->shared_bytes ? subject->shared_bytes : 227 << 10;
	scene.bytes = place(&scene, count - 1) + tsw_shape_bytes(shape_of(subject)) + GUARD;
	scene.memory = fake_memory(subject->kind, subject->device, scene.bytes);
	scene.view = fake_view(scene.memory);
	scene.stream = fake_stream(0);
	scene.before = image(&scene);
	scene.after = image(&scene);
	scene.after_twice = image(&scene);
	fill(&scene);
	apply(&scene, scene.before, scene.after);
	apply(&scene, scene.after, scene.after_twice);
	if (subject->run == run_array) {
		void **entries;

		scene.array = fake_memory(FAKE_DEVICE, 0, count * sizeof *scene.array);
		entries = (void **)fake_view(scene.array);
		for (size_t b = 0; b < count; b++) /* not in order of address */
			entries[b] = scene.memory + place(&scene, count - 1 - b);
	}
	scene_reset(&scene);
	return scene;
}

void scene_free(struct scene *scene)
{
	fake_release(scene->memory);
	fake_release(scene->array);
	free(scene->stream);
	free(scene->before);
	free(scene->after);
	free(scene->after_twice);
}

void scene_reset(struct scene *scene)
{
	memcpy(scene->view, scene->before, scene->bytes);
	scene->digest = (tsw_digest){0, 0};
}

const char *scene_wrong(const struct scene *scene, const unsigned char *expected)
{
	return tsw_wrong_bytes(scene->view, expected, scene->bytes);
}

/* Where nothing is to change, before and after are the same. */
const char *scene_undefined(const struct scene *scene)
{
	static char text[80];

	for (size_t i = 0; i < scene->bytes; i++)
		if (scene->view[i] != scene->before[i] && scene->view[i] != scene->after[i]) {
			snprintf(text, sizeof text, "byte %zu is neither the old nor the new one",
				 i);
			return text;
		}
	return NULL;
}
