/* The element check in host memory.
 *
 * What must stand in column c of a tile is what was filled into row c: a run of the bytes of a
 * pattern.  So the expected bytes of a tile are generated run by run into a buffer and compared
 * crosswise:
 *
 *          matrix                         buffer: run c = bytes of (c, r), (c, r+1), ...
 *         c   c+1                         +---------------+
 *     r   x    y   ..                c    | x  z  ..      |
 *     r+1 z    w   ..                c+1  | y  w  ..      |
 *                                         +---------------+
 *
 * Elements wider than the buffer allows are compared piece by piece.
 */
#include "check.h"

#include "../cpu/cpu.h"
#include "../status.h"

#include <string.h>

#define BUFFER_BYTES 32768
#define MOST_SIDE 64

struct check {
	struct tsw_layout l;
	const unsigned char *base;
	size_t side;  /* elements of a tile's side */
	size_t piece; /* bytes of an element that are compared at a time */
};

/* What one task finds. */
struct found {
	uint64_t elements, padding_bytes;
	uint64_t padding_at; /* all ones: none */
	unsigned places;
	uint64_t key[TSW_WRONG_PLACES]; /* ascending */
};

static void note(struct found *f, uint64_t key)
{
	unsigned at = f->places;

	while (at > 0 && f->key[at - 1] > key)
		at--;
	if (at == TSW_WRONG_PLACES)
		return;
	if (f->places < TSW_WRONG_PLACES)
		f->places++;
	memmove(&f->key[at + 1], &f->key[at], (f->places - 1 - at) * sizeof *f->key);
	f->key[at] = key;
}

static void note_padding(struct found *f, uint64_t at)
{
	f->padding_bytes++;
	if (at < f->padding_at)
		f->padding_at = at;
}

static void merge(struct found *all, const struct found *part)
{
	all->elements += part->elements;
	all->padding_bytes += part->padding_bytes;
	if (part->padding_at < all->padding_at)
		all->padding_at = part->padding_at;
	for (unsigned i = 0; i < part->places; i++)
		note(all, part->key[i]);
}

struct tile {
	uint64_t matrix, r, c;
	size_t rows, cols;
};

static size_t least(size_t x, uint64_t y)
{
	return x < y ? x : (size_t)y;
}

/* Fills the buffer with bytes at .. at + piece - 1 of what must stand in the tile; element (i, j)
 * of the tile lies at ((transposed ? j : i) * side + (transposed ? i : j)) * piece. */
static void expect_tile(const struct check *k, const struct tile *t, size_t at, size_t piece,
			unsigned char *buffer)
{
	const int crosswise = k->l.transposed != 0;
	const size_t runs = crosswise ? t->cols : t->rows, each = crosswise ? t->rows : t->cols;
	const size_t size = k->l.elem_size;

	for (size_t i = 0; i < runs; i++) {
		uint64_t first = crosswise ? tsw_layout_source(&k->l, t->matrix, t->r, t->c + i)
					   : tsw_layout_source(&k->l, t->matrix, t->r + i, t->c);
		unsigned char *run = buffer + i * k->side * piece;

		if (piece == size) {
			tsw_content_bytes(&k->l.content, first * size, run, each * size);
			continue;
		}
		for (size_t j = 0; j < each; j++)
			tsw_content_bytes(&k->l.content, (first + j) * size + at, run + j * piece,
					  piece);
	}
}

/* Elements whose piece differs are flagged. */
static inline __attribute__((always_inline)) size_t
compare(const struct check *k, const struct tile *t, size_t at, const size_t piece,
	const unsigned char *buffer, unsigned char (*wrong)[MOST_SIDE])
{
	const size_t size = k->l.elem_size, row = k->l.transposed ? 1 : k->side;
	const size_t col = k->l.transposed ? k->side : 1;
	size_t differences = 0;

	for (size_t i = 0; i < t->rows; i++) {
		const unsigned char *a =
			k->base + tsw_layout_at(&k->l, t->matrix, t->r + i, t->c) * size + at;

		for (size_t j = 0; j < t->cols; j++)
			if (memcmp(a + j * size, buffer + (i * row + j * col) * piece, piece)) {
				wrong[i][j] = 1;
				differences++;
			}
	}
	return differences;
}

static size_t compare_piece(const struct check *k, const struct tile *t, size_t at, size_t piece,
			    const unsigned char *buffer, unsigned char (*wrong)[MOST_SIDE])
{
	switch (piece) {
	case 1:
		return compare(k, t, at, 1, buffer, wrong);
	case 2:
		return compare(k, t, at, 2, buffer, wrong);
	case 4:
		return compare(k, t, at, 4, buffer, wrong);
	case 8:
		return compare(k, t, at, 8, buffer, wrong);
	case 16:
		return compare(k, t, at, 16, buffer, wrong);
	default:
		return compare(k, t, at, piece, buffer, wrong);
	}
}

static void count_wrong(const struct check *k, const struct tile *t,
			unsigned char (*wrong)[MOST_SIDE], struct found *f)
{
	for (size_t i = 0; i < t->rows; i++)
		for (size_t j = 0; j < t->cols; j++)
			if (wrong[i][j]) {
				f->elements++;
				note(f, tsw_wrong_key(&k->l, t->matrix, t->r + i, t->c + j));
			}
}

static void check_tile(const struct check *k, const struct tile *t, struct found *f)
{
	unsigned char buffer[BUFFER_BYTES], wrong[MOST_SIDE][MOST_SIDE] = {{0}};
	size_t differences = 0;

	for (size_t at = 0; at < k->l.elem_size; at += k->piece) {
		const size_t piece = least(k->piece, k->l.elem_size - at);

		expect_tile(k, t, at, piece, buffer);
		differences += compare_piece(k, t, at, piece, buffer, wrong);
	}
	if (differences)
		count_wrong(k, t, wrong, f);
}

/* The bytes between run `run` and the next one. */
static void check_gap(const struct check *k, uint64_t run, struct found *f)
{
	uint64_t at = (tsw_layout_run(&k->l, run) + k->l.n) * k->l.elem_size;
	const uint64_t end = tsw_layout_run(&k->l, run + 1) * k->l.elem_size;
	unsigned char buffer[1024];

	while (at < end) {
		const size_t part = least(sizeof buffer, end - at);

		tsw_content_bytes(&k->l.content, at, buffer, part);
		for (size_t b = 0; b < part; b++)
			if (k->base[at + b] != buffer[b])
				note_padding(f, at + b);
		at += part;
	}
}

/* Task `task` takes a band of rows of one matrix, and as many gaps. */
static void check_band(const struct check *k, uint64_t task, struct found *f)
{
	const uint64_t bands = tsw_tile_count(k->l.n, k->side);
	struct tile t = {.matrix = task / bands, .r = task % bands * k->side};

	t.rows = least(k->side, k->l.n - t.r);
	for (t.c = 0; t.c < k->l.n; t.c += k->side) {
		t.cols = least(k->side, k->l.n - t.c);
		check_tile(k, &t, f);
	}
	for (size_t i = 0; i < t.rows; i++)
		check_gap(k, t.matrix * k->l.n + t.r + i, f);
}

static void check_all(const struct check *k, int nthreads, struct found *all)
{
	const uint64_t tasks = tsw_tile_count(k->l.n, k->side) * k->l.count;
	const int threads = tasks > 1 ? tsw_cpu_threads(nthreads) : 1;

	if (threads == 1) {
		for (uint64_t task = 0; task < tasks; task++)
			check_band(k, task, all);
		return;
	}
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
	{
		struct found mine = {.padding_at = UINT64_MAX};

#ifdef _OPENMP
#pragma omp for schedule(guided) nowait
#endif
		for (uint64_t task = 0; task < tasks; task++)
			check_band(k, task, &mine);
#ifdef _OPENMP
#pragma omp critical(tsw_check)
#endif
		merge(all, &mine);
	}
}

size_t tsw_batch_bytes(const struct tsw_matrices *m)
{
	const size_t before = m->count > 1 ? (m->count - 1) * m->stride : 0;

	return m->n && m->count ? before * m->elem_size + tsw_span_bytes(m) : 0;
}

tsw_status tsw_layout_of(const struct tsw_matrices *m, const struct tsw_content *content,
			 int transposed, struct tsw_layout *l)
{
	TRY(tsw_check_matrices(m));
	if (m->array)
		return tsw_fail(TSW_ERR_UNSUPPORTED, "a batch given by an array of pointers has no "
						     "span that could be checked");
	*l = (struct tsw_layout){.n = m->n,
				 .ld = m->ld,
				 .elem_size = m->elem_size,
				 .stride = m->count > 1 ? m->stride : 0,
				 .count = m->count,
				 .beside = m->n && m->count > 1 &&
					   m->stride < (m->n - 1) * m->ld + m->n,
				 .transposed = transposed != 0,
				 .content = *content};
	return TSW_OK;
}

uint64_t tsw_wrong_key(const struct tsw_layout *l, uint64_t matrix, uint64_t r, uint64_t c)
{
	return (matrix * l->n + r) * l->n + c;
}

uint64_t tsw_wrong_place_of(const struct tsw_layout *l, uint64_t key, struct tsw_wrong_place *place)
{
	place->c = key % l->n;
	place->r = key / l->n % l->n;
	place->matrix = key / l->n / l->n;
	return tsw_layout_at(l, place->matrix, place->r, place->c) * l->elem_size;
}

void tsw_wrong_expect(const struct tsw_layout *l, size_t at, struct tsw_wrong_place *place)
{
	const uint64_t source = tsw_layout_source(l, place->matrix, place->r, place->c);

	place->at = at;
	place->nbytes = (unsigned)least(TSW_WRONG_BYTES, l->elem_size - at);
	tsw_content_bytes(&l->content, source * l->elem_size + at, place->expected, place->nbytes);
}

void tsw_wrong_padding(const struct tsw_layout *l, uint64_t at, unsigned char found,
		       struct tsw_wrong *wrong)
{
	wrong->padding_at = at;
	wrong->padding_found = found;
	tsw_content_bytes(&l->content, at, &wrong->padding_expected, 1);
}

tsw_status tsw_check_content_host(const struct tsw_matrices *m, const struct tsw_content *content,
				  int transposed, int nthreads, struct tsw_wrong *wrong)
{
	struct check k = {.base = m->base, .side = MOST_SIDE};
	struct found all = {.padding_at = UINT64_MAX};

	*wrong = (struct tsw_wrong){0};
	TRY(tsw_layout_of(m, content, transposed, &k.l));
	if (m->n == 0 || m->count == 0)
		return TSW_OK;
	while (k.side > 8 && k.side * k.side * m->elem_size > BUFFER_BYTES)
		k.side /= 2;
	k.piece = least(BUFFER_BYTES / (k.side * k.side), m->elem_size);
	check_all(&k, nthreads, &all);
	wrong->elements = all.elements;
	wrong->padding_bytes = all.padding_bytes;
	if (all.padding_bytes)
		tsw_wrong_padding(&k.l, all.padding_at, k.base[all.padding_at], wrong);
	wrong->places = all.places;
	for (unsigned i = 0; i < all.places; i++) {
		struct tsw_wrong_place *place = &wrong->place[i];
		const unsigned char *element = k.base + tsw_wrong_place_of(&k.l, all.key[i], place);
		size_t at = 0;

		/* The first 16 bytes that differ; found again, since only the key was kept. */
		do {
			tsw_wrong_expect(&k.l, at, place);
			memcpy(place->found, element + at, place->nbytes);
			at += TSW_WRONG_BYTES;
		} while (at < m->elem_size &&
			 !memcmp(place->expected, place->found, place->nbytes));
	}
	return TSW_OK;
}
