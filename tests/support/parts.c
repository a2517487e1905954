#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Deals the indices out; returns what each of the grid has in count[]. */
static void deal(size_t n, size_t block, int grid, int source, int *of, size_t *at, size_t *count)
{
	memset(count, 0, TSW_MOST_PARTS * sizeof *count);
	for (size_t x = 0; x < n; x++) {
		of[x] = (int)((x / block + (size_t)source) % (size_t)grid);
		at[x] = count[of[x]]++;
	}
}

struct tsw_parts tsw_parts_new(struct tsw_layout l)
{
	struct tsw_parts p = {.layout = l, .count = l.nprow * l.npcol};
	size_t rows[TSW_MOST_PARTS], cols[TSW_MOST_PARTS];

	ck_assert_int_le(p.count, TSW_MOST_PARTS);
	p.row_of = calloc(l.n + 1, sizeof *p.row_of);
	p.col_of = calloc(l.n + 1, sizeof *p.col_of);
	p.row_at = calloc(l.n + 1, sizeof *p.row_at);
	p.col_at = calloc(l.n + 1, sizeof *p.col_at);
	ck_assert(p.row_of && p.col_of && p.row_at && p.col_at);
	deal(l.n, l.mb, l.nprow, l.rsrc, p.row_of, p.row_at, rows);
	deal(l.n, l.nb, l.npcol, l.csrc, p.col_of, p.col_at, cols);
	for (int r = 0; r < p.count; r++) {
		p.rows[r] = rows[r / l.npcol];
		p.cols[r] = cols[r % l.npcol];
		p.ld[r] = p.cols[r] + l.gap;
		if (p.rows[r] && p.cols[r])
			p.bytes[r] = ((p.rows[r] - 1) * p.ld[r] + p.cols[r]) * l.elem_size;
	}
	return p;
}

void tsw_parts_free(struct tsw_parts *p)
{
	free(p->row_of);
	free(p->col_of);
	free(p->row_at);
	free(p->col_at);
}

tsw_dist tsw_parts_dist(const struct tsw_layout *l)
{
	tsw_dist dist = TSW_DIST_INIT;

	dist.n = l->n;
	dist.mb = l->mb;
	dist.nb = l->nb;
	dist.nprow = l->nprow;
	dist.npcol = l->npcol;
	dist.rsrc = l->rsrc;
	dist.csrc = l->csrc;
	return dist;
}

static unsigned char *element(const struct tsw_parts *p, size_t r, size_t c)
{
	const int rank = p->row_of[r] * p->layout.npcol + p->col_of[c];

	return p->a[rank] + (p->row_at[r] * p->ld[rank] + p->col_at[c]) * p->layout.elem_size;
}

void tsw_parts_fill(struct tsw_parts *p)
{
	const size_t n = p->layout.n, size = p->layout.elem_size;
	const unsigned char *pattern = tsw_pattern(n * n * size);

	for (int k = 0; k < p->count; k++)
		tsw_fill(p->a[k], p->bytes[k]);
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c++)
			memcpy(element(p, r, c), pattern + (r * n + c) * size, size);
}

static char text[256];

/* With its elements taken out a part leaves the padding. */
static const char *wrong_padding(const struct tsw_parts *p)
{
	const size_t size = p->layout.elem_size;

	for (int k = 0; k < p->count; k++)
		for (size_t row = 0; p->bytes[k] && row + 1 < p->rows[k]; row++)
			for (size_t b = p->cols[k] * size; b < p->ld[k] * size; b++) {
				const size_t at = row * p->ld[k] * size + b;

				if (p->a[k][at] == tsw_pattern(p->bytes[k])[at])
					continue;
				snprintf(text, sizeof text, "padding of part %d, row %zu, byte %zu",
					 k, row, b);
				return text;
			}
	return NULL;
}

const char *tsw_parts_wrong(struct tsw_parts *p)
{
	const size_t n = p->layout.n, size = p->layout.elem_size;
	const unsigned char *pattern = tsw_pattern(n * n * size);

	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c++) {
			if (!memcmp(element(p, r, c), pattern + (c * n + r) * size, size))
				continue;
			snprintf(text, sizeof text, "element (%zu, %zu)", r, c);
			return text;
		}
	return wrong_padding(p);
}

const char *tsw_layout_text(const struct tsw_layout *l)
{
	static char words[160];

	snprintf(words, sizeof words,
		 "n %zu, blocks %zu x %zu, grid %d x %d, source %d, %d, elem_size %zu, gap %zu",
		 l->n, l->mb, l->nb, l->nprow, l->npcol, l->rsrc, l->csrc, l->elem_size, l->gap);
	return words;
}
