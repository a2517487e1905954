#include "trial.h"

#include "tileswap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_POINTERS 64

int tsw_trial_is_imatcopy(const struct tsw_trial *t)
{
	return t->kind == TSW_TRIAL_IMATCOPY || t->kind == TSW_TRIAL_IMATCOPY_BATCH;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static size_t random_width(uint64_t *state)
{
	switch (tsw_random_below(state, 8)) {
	case 0:
		return 18 + (size_t)tsw_random_below(state, 120);
	case 1:
	case 2:
		return 1 + (size_t)tsw_random_below(state, 17);
	default:
		return (size_t)1 << tsw_random_below(state, 5);
	}
}

/* Up to `most`, near the edges of blocks and tiles as often as not. */
static size_t random_side(uint64_t *state, size_t most)
{
	size_t n = (size_t)tsw_random_below(state, most + 1);

	if (n > 8 && tsw_random(state) % 2)
		n = n / 8 * 8 + (size_t)tsw_random_below(state, 3) - 1;
	return n;
}

/* Rows without padding, with a little, or a multiple of a page apart. */
static size_t random_ld(uint64_t *state, size_t n, size_t width, size_t most_bytes)
{
	size_t ld = n;

	switch (tsw_random_below(state, 4)) {
	case 0:
		break;
	case 1:
		while (ld * width % 4096 && ld < n + 4096)
			ld++;
		break;
	default:
		ld += (size_t)tsw_random_below(state, 20);
	}
	return (ld * (n + 1)) * width <= most_bytes ? ld : n;
}

static size_t span(const struct tsw_trial *t)
{
	return tsw_shape_bytes(t->shape);
}

/* As many matrices as there is room for, and at most as many as drawn. */
static void choose_batch(struct tsw_trial *t, uint64_t *state, size_t most_bytes, size_t align)
{
	const size_t n = t->shape.n, width = t->shape.elem_size;
	const size_t elements = span(t) / width;
	size_t room, wanted = (size_t)tsw_random_below(state, MOST_POINTERS + 1);

	if (t->kind == TSW_TRIAL_BESIDE) {
		t->stride = n + (size_t)tsw_random_below(state, 3);
		room = n && t->stride ? most_bytes / (n * width) / t->stride : wanted;
		t->count = wanted < room ? wanted : room;
		if (t->count > 1) /* else the ld that was drawn holds it */
			t->shape.ld = t->count * t->stride + (size_t)tsw_random_below(state, 3);
		if (span(t) + (t->count * t->stride) * width > most_bytes)
			t->count = t->count ? 1 : 0;
		if (t->count <= 1)
			t->shape.ld = n;
		return;
	}
	t->stride = elements + (size_t)tsw_random_below(state, 9);
	t->each = (span(t) + (size_t)tsw_random_below(state, 9) + align - 1) / align * align;
	room = most_bytes / ((t->kind == TSW_TRIAL_ARRAY ? t->each : t->stride * width) + 1);
	t->count = wanted < room ? wanted : room;
}

struct tsw_trial tsw_trial_random(uint64_t *state, size_t most_bytes, size_t align)
{
	struct tsw_trial t = {.kind = (enum tsw_trial_kind)tsw_random_below(state, TSW_TRIAL_KINDS),
			      .count = 1,
			      .nthreads = (int)tsw_random_below(state, 5)};
	size_t budget = (most_bytes >> tsw_random_below(state, 8)) + 64;

	if (budget > most_bytes)
		budget = most_bytes;
	t.x = tsw_imat_at((size_t)tsw_random_below(state, tsw_imat_count()));
	t.shape.elem_size =
		tsw_trial_is_imatcopy(&t) ? tsw_imat_size(t.x.type) : random_width(state);
	t.shape.n = random_side(state, (size_t)sqrt((double)budget / (double)t.shape.elem_size));
	while (t.shape.n * t.shape.n * t.shape.elem_size > most_bytes)
		t.shape.n--;
	t.shape.ld = random_ld(state, t.shape.n, t.shape.elem_size, most_bytes);
	if (t.kind != TSW_TRIAL_ANY && t.kind != TSW_TRIAL_ONE && t.kind != TSW_TRIAL_IMATCOPY)
		choose_batch(&t, state, most_bytes, align);
	return t;
}

/* ---- what it is ------------------------------------------------------------------------------ */

/* A step that shares no factor with the count visits all. */
static size_t scattered(size_t b, size_t count)
{
	size_t step = count / 2 + 1;

	for (size_t x = step, y = count; y;) {
		const size_t rest = x % y;

		x = y;
		y = rest;
		if (!y && x != 1) { /* a common factor: try the next */
			x = ++step;
			y = count;
		}
	}
	return b * step % count;
}

size_t tsw_trial_place(const struct tsw_trial *t, size_t b)
{
	if (t->kind == TSW_TRIAL_ARRAY)
		return scattered(b, t->count) * t->each;
	return b * t->stride * t->shape.elem_size;
}

size_t tsw_trial_bytes(const struct tsw_trial *t)
{
	if (!t->count)
		return 0;
	if (t->kind == TSW_TRIAL_ARRAY)
		return (t->count - 1) * t->each + span(t);
	return t->shape.n ? (t->count - 1) * t->stride * t->shape.elem_size + span(t) : 0;
}

const char *tsw_trial_text(const struct tsw_trial *t)
{
	static const char *const names[] = {"transpose",	   "transpose_host", "batch, apart",
					    "batch, side by side", "array",	     "imatcopy",
					    "imatcopy batch"};
	static _Thread_local char text[256];

	snprintf(text, sizeof text,
		 "%s%s%s, n = %zu, ld = %zu, elem_size = %zu, stride = %zu, count = %zu, "
		 "nthreads = %d",
		 names[t->kind], tsw_trial_is_imatcopy(t) ? ", " : "",
		 tsw_trial_is_imatcopy(t) ? tsw_imat_text(&t->x) : "", t->shape.n, t->shape.ld,
		 t->shape.elem_size, t->stride, t->count, t->nthreads);
	return text;
}

/* ---- making and judging ---------------------------------------------------------------------- */

tsw_status tsw_trial_run(const struct tsw_trial *t, unsigned char *a)
{
	const struct tsw_shape s = t->shape;
	void *array[MOST_POINTERS];

	switch (t->kind) {
	case TSW_TRIAL_ANY:
		return tsw_transpose(a, s.n, s.ld, s.elem_size);
	case TSW_TRIAL_ONE:
		return tsw_transpose_host(a, s.n, s.ld, s.elem_size, t->nthreads);
	case TSW_TRIAL_ARRAY:
		for (size_t b = 0; b < t->count; b++)
			array[b] = a + tsw_trial_place(t, b);
		return tsw_transpose_array_host(array, s.n, s.ld, s.elem_size, t->count,
						t->nthreads);
	case TSW_TRIAL_IMATCOPY:
		return tsw_imatcopy_host(t->x.op, t->x.type, s.n, tsw_imat_alpha(&t->x), a, s.ld,
					 t->nthreads);
	case TSW_TRIAL_IMATCOPY_BATCH:
		return tsw_imatcopy_batch_host(t->x.op, t->x.type, s.n, tsw_imat_alpha(&t->x), a,
					       s.ld, t->stride, t->count, t->nthreads);
	default:
		return tsw_transpose_batch_host(a, s.n, s.ld, s.elem_size, t->stride, t->count,
						t->nthreads);
	}
}

void tsw_trial_expect(const struct tsw_trial *t, const unsigned char *before, unsigned char *after)
{
	for (size_t b = 0; b < t->count; b++) {
		const size_t at = tsw_trial_place(t, b);

		if (tsw_trial_is_imatcopy(t))
			tsw_oracle_imatcopy(&t->x, before + at, after + at, t->shape.n,
					    t->shape.ld);
		else
			tsw_oracle_window(before + at, after + at, t->shape);
	}
}

const char *tsw_trial_wrong(const struct tsw_trial *t, const unsigned char *a,
			    const unsigned char *expected)
{
	static _Thread_local char text[640];
	const size_t bytes = tsw_trial_bytes(t);
	const char *wrong = tsw_trial_is_imatcopy(t) ? tsw_wrong_imatcopy(&t->x, a, expected, bytes)
						     : tsw_wrong_bytes(a, expected, bytes);

	if (!wrong)
		return NULL;
	snprintf(text, sizeof text, "%s: %s", tsw_trial_text(t), wrong);
	return text;
}
