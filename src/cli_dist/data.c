/* What stands in a local matrix, known from the seed and the place alone: no rank holds the whole.
 */
#include "job.h"

#include "../verify/verify.h"

#include <string.h>

#define PADDING 0x5c
#define MOST_ROWS 64
#define BUFFER_BYTES 65536

static size_t least(size_t x, size_t y)
{
	return x < y ? x : y;
}

static uint64_t row_of(const struct dist_job *j, size_t i)
{
	const struct tsw_spread *s = &j->spread;

	return tsw_global_index(i, s->mb, s->nprow, s->rsrc, tsw_seat_of(s, (uint32_t)j->rank).row);
}

static uint64_t col_of(const struct dist_job *j, size_t i)
{
	const struct tsw_spread *s = &j->spread;

	return tsw_global_index(i, s->nb, s->npcol, s->csrc, tsw_seat_of(s, (uint32_t)j->rank).col);
}

void dist_job_sit(struct dist_job *j)
{
	struct tsw_seat seat = tsw_seat_of(&j->spread, (uint32_t)j->rank);

	j->rows = tsw_local_rows(&j->spread, seat.row);
	j->cols = tsw_local_cols(&j->spread, seat.col);
}

void dist_fill_rows(const struct dist_job *j, void *a, size_t first, size_t rows)
{
	size_t size = j->o->elem_size, nb = j->spread.nb;

	for (size_t i = 0; i < rows; i++) {
		unsigned char *row = (unsigned char *)a + i * j->ld * size;
		uint64_t r = row_of(j, first + i);

		for (size_t c = 0, len; c < j->cols; c += len) {
			len = least(nb, j->cols - c);
			tsw_philox_bytes(j->o->seed, (r * j->spread.n + col_of(j, c)) * size,
					 row + c * size, len * size);
		}
		memset(row + j->cols * size, PADDING, (j->ld - j->cols) * size);
	}
}

static void check_padding(const struct dist_job *j, const unsigned char *a, size_t rows,
			  struct dist_wrong *wrong)
{
	size_t size = j->o->elem_size;

	for (size_t i = 0; i < rows; i++)
		for (size_t b = j->cols * size; b < j->ld * size; b++)
			wrong->padding_bytes += a[i * j->ld * size + b] != PADDING;
}

static void note(struct dist_wrong *wrong, uint64_t key)
{
	wrong->elements++;
	if (key < wrong->first)
		wrong->first = key;
}

/* Does this element hold the bytes of the stream from `at` on? */
static int holds(const struct dist_job *j, const unsigned char *element, uint64_t at)
{
	unsigned char buffer[1024];
	size_t size = j->o->elem_size;

	for (size_t done = 0, part; done < size; done += part) {
		part = least(sizeof buffer, size - done);
		tsw_philox_bytes(j->o->seed, at + done, buffer, part);
		if (memcmp(element + done, buffer, part))
			return 0;
	}
	return 1;
}

/* Rows r .. r + rows - 1 of the matrix in one column c: a run of the stream, since what must stand
 * at (r, c) was filled into (c, r). */
static void check_column(const struct dist_job *j, const unsigned char *a, uint64_t r, size_t rows,
			 uint64_t c, struct dist_wrong *wrong)
{
	unsigned char buffer[BUFFER_BYTES];
	size_t size = j->o->elem_size, stride = j->ld * size;
	uint64_t n = j->spread.n, at = (c * n + r) * size;
	int whole = rows * size <= sizeof buffer;

	if (whole)
		tsw_philox_bytes(j->o->seed, at, buffer, rows * size);
	for (size_t i = 0; i < rows; i++) {
		int good = whole ? !memcmp(a + i * stride, buffer + i * size, size)
				 : holds(j, a + i * stride, at + i * size);

		if (!good)
			note(wrong, (r + i) * n + c);
	}
}

void dist_check_rows(const struct dist_job *j, const void *a, size_t first, size_t rows,
		     struct dist_wrong *wrong)
{
	const unsigned char *base = a;
	size_t size = j->o->elem_size, mb = j->spread.mb;

	for (size_t i = 0, len; i < rows; i += len) {
		len = least(least(rows - i, MOST_ROWS), mb - (first + i) % mb);
		for (size_t c = 0; c < j->cols; c++)
			check_column(j, base + (i * j->ld + c) * size, row_of(j, first + i), len,
				     col_of(j, c), wrong);
	}
	/* Relabelling moves about what lies in the square around the local matrix. */
	if (!j->o->relabel)
		check_padding(j, base, rows, wrong);
}
