/* imatcopy: the library's own call, verified on position-coded numbers and timed like a transpose.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* Bytes that are looked at at a time. */
#define CHUNK ((size_t)64 << 20)

int bench_imatcopy_complex(const struct bench_imatcopy *x)
{
	return x->type == TSW_COMPLEX_FLOAT || x->type == TSW_COMPLEX_DOUBLE;
}

int bench_imatcopy_single(const struct bench_imatcopy *x)
{
	return x->type == TSW_FLOAT || x->type == TSW_COMPLEX_FLOAT;
}

int bench_imatcopy_narrow(const struct bench_imatcopy *x)
{
	return x->type == TSW_HALF || x->type == TSW_BFLOAT16;
}

const void *bench_imatcopy_alpha(const struct bench_imatcopy *x, float room[2])
{
	if (!bench_imatcopy_single(x) && !bench_imatcopy_narrow(x))
		return x->alpha;
	room[0] = (float)x->alpha[0];
	room[1] = (float)x->alpha[1];
	return room;
}

/* ---- what must stand where ------------------------------------------------------------------- */

struct checking {
	struct bench_set *set;
	const struct bench_imatcopy *x;
	const char *rows;   /* from element (first, 0) of matrix b on */
	size_t b, matrices; /* several, or some rows of one */
	size_t first, end;
	uint64_t wrong;
};

static double component(const struct bench_imatcopy *x, const void *p)
{
	float f;
	double d;

	if (bench_imatcopy_single(x)) {
		memcpy(&f, p, sizeof f);
		return (double)f;
	}
	memcpy(&d, p, sizeof d);
	return d;
}

/* Component l of element (r, c) of matrix b before the call. */
static double coded(const struct checking *k, size_t r, size_t c, size_t l)
{
	const struct bench_shape *const s = &k->set->shape;
	const size_t parts = bench_imatcopy_complex(k->x) ? 2 : 1;
	const uint64_t word = ((k->b * s->stride + r * s->ld + c) * parts + l);
	const uint64_t code = bench_code(word, bench_imatcopy_single(k->x) ? 4 : 8);

	return component(k->x, &code);
}

/* To the precision of the type.  Products and sums of two floats, taken in double, round to what
 * they are in float. */
static double rounded(const struct bench_imatcopy *x, double v)
{
	return bench_imatcopy_single(x) ? (double)(float)v : v;
}

static void expected(const struct checking *k, size_t r, size_t c, double out[2])
{
	const struct bench_imatcopy *const x = k->x;
	const int transposes = x->op == 'T' || x->op == 'C', is_complex = bench_imatcopy_complex(x);
	const size_t from_r = transposes ? c : r, from_c = transposes ? r : c;
	const double a = rounded(x, x->alpha[0]), b = rounded(x, is_complex ? x->alpha[1] : 0);
	const double u = coded(k, from_r, from_c, 0);
	double v = is_complex ? coded(k, from_r, from_c, 1) : 0;

	if (x->op == 'C' || x->op == 'R')
		v = -v;
	out[0] = rounded(x, u * a);
	out[1] = rounded(x, v * a);
	if (b != 0) {
		const double vb = rounded(x, v * b), ub = rounded(x, u * b);

		out[0] = rounded(x, out[0] - vb);
		out[1] = rounded(x, ub + out[1]);
	}
}

static size_t word_bytes(const struct bench_imatcopy *x)
{
	return bench_imatcopy_narrow(x) ? 2 : bench_imatcopy_single(x) ? 4 : 8;
}

/* 2-byte numbers, of which the codes are all there are: alpha is 1 or -1. */
static int is_narrow_wrong(const struct checking *k, const char *p, size_t r, size_t c)
{
	const struct bench_shape *const s = &k->set->shape;
	const int transposes = k->x->op == 'T' || k->x->op == 'C', inside = c < s->n;
	const uint64_t at = inside && transposes ? c * s->ld + r : r * s->ld + c;
	const uint16_t infinity = k->x->type == TSW_HALF ? 0x7c00 : 0x7f80;
	uint16_t is, should = (uint16_t)bench_code(k->b * s->stride + at, 2);

	memcpy(&is, p, sizeof is);
	if (inside && k->x->alpha[0] < 0)
		should ^= 0x8000;
	return is != should &&
	       !(inside && (is & 0x7fff) > infinity && (should & 0x7fff) > infinity);
}

static int is_wrong(const struct checking *k, const char *p, size_t r, size_t c)
{
	const size_t size = word_bytes(k->x);
	double value[2] = {0, 0};

	if (bench_imatcopy_narrow(k->x))
		return is_narrow_wrong(k, p, r, c);
	if (c < k->set->shape.n)
		expected(k, r, c, value);
	else
		for (size_t l = 0; l < 2; l++)
			value[l] = coded(k, r, c, l);
	return component(k->x, p) != value[0] ||
	       (bench_imatcopy_complex(k->x) && component(k->x, p + size) != value[1]);
}

static void check_part(void *context, size_t part, size_t parts)
{
	struct checking *const chunk = context;
	const struct bench_shape *const s = &chunk->set->shape;
	const size_t each = chunk->end - chunk->first; /* rows of a matrix */
	struct checking k = *chunk;
	uint64_t wrong = 0;
	size_t first, end;

	bench_share(chunk->matrices * each, 1, part, parts, &first, &end);
	for (size_t at = first; at < end; at++) {
		const size_t r = chunk->first + at % each;
		const char *const row =
			chunk->rows + (at / each * s->stride + at % each * s->ld) * s->elem_size;
		/* Padding belongs to the row before it; side by side it is other matrices'. */
		const size_t cols = r + 1 < s->n && s->count == 1 ? s->ld : s->n;

		k.b = chunk->b + at / each;
		for (size_t c = 0; c < cols; c++)
			wrong += (unsigned)is_wrong(&k, row + c * s->elem_size, r, c);
	}
	__atomic_fetch_add(&chunk->wrong, wrong, __ATOMIC_RELAXED);
}

/* ---- the entry ------------------------------------------------------------------------------- */

struct self {
	const struct bench_backend *backend;
	const struct bench_imatcopy *x;
};

static int check(const struct self *self, struct checking *k, char *room, uint64_t *wrong)
{
	struct bench_set *const set = k->set;
	const struct bench_shape *const s = &set->shape;
	/* The last row ends with its window. */
	const size_t elements = (k->matrices - 1) * s->stride + (k->end - k->first - 1) * s->ld +
				(k->end < s->n ? s->ld : s->n);

	if (self->backend->fetch(set, (k->b * s->stride + k->first * s->ld) * s->elem_size,
				 elements * s->elem_size, room))
		return BENCH_FAILED;
	bench_parallel(set->threads > 0 ? set->threads : bench_all_threads(), check_part, k);
	*wrong += k->wrong;
	return BENCH_OK;
}

/* As many matrices at a time as a chunk holds, or as many rows of one. */
static int check_all(const struct self *self, struct bench_set *set, char *room, uint64_t *wrong)
{
	const struct bench_shape *const s = &set->shape;
	const size_t pitch = s->ld * s->elem_size, bytes = s->stride * s->elem_size;
	const size_t rows = CHUNK / pitch ? CHUNK / pitch : 1;
	const size_t matrices = bytes && CHUNK / bytes ? CHUNK / bytes : 1;
	const size_t most = s->count > 1 && rows >= s->n ? matrices : 1;
	int status = BENCH_OK;

	for (size_t b = 0; b < s->count && !status; b += most)
		for (size_t r = 0; r < s->n && !status; r += rows) {
			struct checking k = {.set = set, .x = self->x, .rows = room, .b = b};

			k.matrices = s->count - b < most ? s->count - b : most;
			k.first = r;
			k.end = s->n - r < rows ? s->n : r + rows;
			status = check(self, &k, room, wrong);
		}
	return status;
}

static int verify(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong)
{
	const struct self *const self = entry->self;
	const size_t pitch = set->shape.ld * set->shape.elem_size;
	char *room = malloc(pitch > CHUNK ? pitch : CHUNK);
	int status = room ? BENCH_OK : BENCH_FAILED;

	set->word_bytes = (unsigned)word_bytes(self->x);
	if (!status)
		status = self->backend->code(set);
	if (!status)
		status = entry->apply(entry, set, 0);
	if (!status)
		status = check_all(self, set, room, wrong);
	free(room);
	return status;
}

static int apply(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	const struct self *const self = entry->self;

	return bench_call_imatcopy(set, copy, self->x);
}

size_t bench_imatcopy_entries(const struct bench_backend *backend, const struct bench_options *o,
			      struct bench_entry *list)
{
	static struct self self;

	self = (struct self){backend, &o->imatcopy};
	list[0] = (struct bench_entry){
		.name = "auto",
		.kind = BENCH_KERNEL,
		.self = &self,
		.apply = apply,
		.verify = verify,
	};
	return 1;
}
