/* The checksum of a matrix in host memory.
 *
 * A row of n elements is a row of limbs x_j, and limb l of column c has the weight
 * beta(c) gamma(l).  So `placed` is, over runs of limbs that many rows share,
 *
 *                 weights of a run  ->  w w w w w w w w
 *         row r                         x x x x x x x x   . w  =  s_r
 *         row r + 1                     x x x x x x x x   . w  =  s_r+1        sum_r alpha(r) s_r
 *
 * with the weights computed once for all rows of the part, and a single multiplication mod p for
 * every row and run.  Elements that are no whole number of limbs are spread out into limbs first.
 */
#include "digest.h"

#include "../cpu/cpu.h"
#include "bytes.h"
#include "digest_math.h"
#include "rows.h"

#include <string.h>

/* A thread is not worth waking for less. */
#define BYTES_PER_THREAD (256u << 10)

/* Rows taken together. */
#define BAND 8

/* Words of an element whose deltas are kept; the deltas of longer ones are computed for a band. */
#define DELTAS 32

/* Limbs of a run that is read twice, the second time from the first-level cache. */
#define PLACED_LIMBS 960

/* Limbs of a spread-out run. */
#define SPREAD_LIMBS 256

/* Rows of a part that a thread takes: enough to share the cost of the weights. */
#define PART_ROWS 2048

/* Fewer are not worth cutting weights into pieces. */
#define BYTE_ROWS 48

struct sums {
	uint64_t placed, values;
	struct tsw_squares squares;
};

/* How the elements of a part are cut into limbs. */
struct shape {
	const struct tsw_dot *set;
	enum tsw_rows kind;
	int by_bytes;	   /* elements of one byte, by set->dot_bytes */
	int spread;	   /* limbs are gathered in a buffer first */
	size_t limbs;	   /* of one element */
	size_t limb_bytes; /* of a limb in memory */
	size_t run;	   /* limbs of a run */
	int whole;	   /* a run is made of whole elements */
	uint64_t delta[DELTAS];
};

/* Runs of weights, of limbs or of bytes. */
union weights {
	struct tsw_weights limbs;
	struct tsw_pieces bytes;
};

static enum tsw_rows kind_of(size_t elem_size)
{
	static const enum tsw_rows kind[9] = {0,	  TSW_ROWS_1, TSW_ROWS_2,
					      TSW_ROWS_3, TSW_ROWS_4, TSW_ROWS_8,
					      TSW_ROWS_8, TSW_ROWS_8, TSW_ROWS_8};

	return elem_size <= 8 ? kind[elem_size] : TSW_ROWS_PLACED;
}

static struct shape shape_of(const struct tsw_part *part)
{
	const size_t size = part->elem_size;
	struct shape s = {.set = tsw_dot_best(),
			  .kind = kind_of(size),
			  .limbs = size / 4 + (size % 4 != 0),
			  .limb_bytes = size < 4 ? size : 4,
			  .spread = size > 4 && size % 4,
			  .run = TSW_ROW_LIMBS};

	if (s.kind == TSW_ROWS_PLACED)
		s.run = PLACED_LIMBS;

	s.by_bytes = size == 1 && s.set->dot_bytes && part->rows >= BYTE_ROWS;
	if (s.by_bytes)
		s.run = TSW_BYTE_RUN;
	else if (s.spread)
		s.run = SPREAD_LIMBS;
	for (size_t m = 0; m < DELTAS && 2 * m < s.limbs; m++)
		s.delta[m] = tsw_delta(m);
	s.whole = s.limbs <= s.run;
	if (s.whole)
		s.run -= s.run % s.limbs;
	return s;
}

/* The weights of limbs first .. first + limbs - 1 of the part's rows. */
static void weigh(const struct tsw_part *part, const struct shape *s, uint64_t col_seed,
		  size_t first, size_t limbs, union weights *w)
{
	uint64_t col = part->col + first / s->limbs, limb = first % s->limbs;
	uint64_t beta = tsw_weight(col_seed, col);

	if (s->by_bytes) {
		s->set->weigh_bytes(col_seed, col, limbs, &w->bytes);
		return;
	}
	for (size_t j = 0; j < limbs; j++) {
		const uint64_t weight = limb ? tsw_mul_p(beta, tsw_gamma(limb)) : beta;

		w->limbs.half[j % 2][j / 2] = weight;
		if (++limb == s->limbs) {
			limb = 0;
			beta = tsw_weight(col_seed, ++col);
		}
	}
}

/* The little-endian number in up to 8 bytes, padded with zeros. */
static uint64_t word_at(const unsigned char *p, size_t nbytes)
{
	uint64_t word = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (nbytes == 8) {
		memcpy(&word, p, 8);
		return word;
	}
	if (nbytes == 4) {
		memcpy(&word, p, 4);
		return word;
	}
#endif
	for (size_t b = 0; b < nbytes; b++)
		word |= (uint64_t)p[b] << 8 * b;
	return word;
}

/* Limbs first .. first + limbs - 1 of a row whose elements are no whole number of limbs. */
static void spread(const struct tsw_part *part, const struct shape *s, const unsigned char *row,
		   size_t first, size_t limbs, unsigned char *out)
{
	const size_t size = part->elem_size, last = s->limbs - 1, left = size - 4 * last;
	const unsigned char *element = row + first / s->limbs * size;
	const unsigned char *const end = row + part->cols * size - size; /* the last element */
	static const unsigned char mask[4][4] = {{0}, {255}, {255, 255}, {255, 255, 255}};
	uint32_t keep, x;
	size_t limb = first % s->limbs;

	memcpy(&keep, mask[left], 4);
	for (; limbs; limbs--, out += 4) {
		if (limb < last) {
			memcpy(out, element + 4 * limb++, 4);
			continue;
		}
		if (element < end) { /* the first bytes of the next element are cut off */
			memcpy(&x, element + 4 * last, 4);
			x &= keep;
			memcpy(out, &x, 4);
		} else {
			memset(out, 0, 4);
			memcpy(out, element + 4 * last, left);
		}
		limb = 0;
		element += size;
	}
}

/* Adds to `values` the elements of one column in up to BAND rows; for those that the dot products
 * do not square on their way. */
static uint64_t column_values(const unsigned char *element, size_t stride, size_t rows,
			      size_t elem_size)
{
	uint64_t y[BAND] = {0}, values = 0;

	for (size_t b = 0; b < elem_size; b += 8) {
		const uint64_t delta = tsw_delta(b / 8);
		const size_t nbytes = elem_size - b < 8 ? elem_size - b : 8;

		for (size_t r = 0; r < rows; r++)
			y[r] += delta * word_at(element + r * stride + b, nbytes);
	}
	for (size_t r = 0; r < rows; r++)
		values += tsw_value(y[r]);
	return values;
}

static uint64_t band_values(const unsigned char *row, size_t stride, size_t rows, size_t cols,
			    size_t elem_size)
{
	uint64_t values = 0;

	for (size_t c = 0; c < cols; c++)
		values += column_values(row + c * elem_size, stride, rows, elem_size);
	return values;
}

/* One run of limbs in one or, where they lie as limbs, all rows of a band. */
static void add_rows(const struct shape *s, const unsigned char *limb, size_t stride, size_t rows,
		     size_t limbs, const union weights *w, uint64_t *sum, struct sums *sums)
{
	if (s->by_bytes) {
		s->set->dot_bytes(limb, stride, rows, limbs, &w->bytes, sum, &sums->squares);
		return;
	}
	s->set->dot(limb, stride, rows, limbs, s->kind, &w->limbs, sum, &sums->squares);
	if (s->kind == TSW_ROWS_PLACED && s->whole && s->limbs <= 2 * DELTAS)
		for (size_t b = 0; b < rows; b++)
			sums->values +=
				s->set->values(limb + b * stride, limbs, s->limbs, s->delta);
}

static void add_band(const struct tsw_part *part, const struct shape *s, size_t r, size_t rows,
		     size_t first, size_t limbs, const union weights *w, uint64_t *sum,
		     struct sums *sums)
{
	const unsigned char *row = (const unsigned char *)part->base + r * part->stride;
	unsigned char buffer[4 * SPREAD_LIMBS];

	for (size_t b = 0; s->spread && b < rows; b++) {
		spread(part, s, row + b * part->stride, first, limbs, buffer);
		add_rows(s, buffer, 0, 1, limbs, w, sum + b, sums);
	}
	if (!s->spread)
		add_rows(s, row + first * s->limb_bytes, part->stride, rows, limbs, w, sum, sums);
	if (s->kind == TSW_ROWS_PLACED && s->whole && s->limbs > 2 * DELTAS)
		sums->values += band_values(row + first / s->limbs * part->elem_size, part->stride,
					    rows, limbs / s->limbs, part->elem_size);
}

static void add_run(const struct tsw_part *part, const struct shape *s, size_t first, size_t limbs,
		    const union weights *w, uint64_t row_seed, struct sums *sums)
{
	for (size_t r = 0; r < part->rows; r += BAND) {
		const size_t rows = part->rows - r < BAND ? part->rows - r : BAND;
		uint64_t sum[BAND] = {0};

		add_band(part, s, r, rows, first, limbs, w, sum, sums);
		for (size_t b = 0; b < rows; b++) {
			uint64_t alpha = tsw_weight(row_seed, part->row + r + b);

			sums->placed = tsw_add_p(sums->placed, tsw_mul_p(alpha, sum[b]));
		}
	}
}

/* Elements wider than a run: `values` takes a pass of its own. */
static void add_wide_values(const struct tsw_part *part, struct sums *sums)
{
	for (size_t r = 0; r < part->rows; r += BAND)
		sums->values += band_values(
			(const unsigned char *)part->base + r * part->stride, part->stride,
			part->rows - r < BAND ? part->rows - r : BAND, part->cols, part->elem_size);
}

tsw_digest tsw_digest_add(tsw_digest x, tsw_digest y)
{
	return (tsw_digest){tsw_add_p(x.placed, y.placed), x.values + y.values};
}

tsw_digest tsw_digest_part(const struct tsw_part *part, int transposed)
{
	const struct shape s = shape_of(part);
	const size_t limbs = part->cols * s.limbs;
	struct sums sums = {0};
	union weights w;

	for (size_t first = 0; first < limbs; first += s.run) {
		size_t run = limbs - first < s.run ? limbs - first : s.run;

		weigh(part, &s, tsw_col_seed(transposed), first, run, &w);
		add_run(part, &s, first, run, &w, tsw_row_seed(transposed), &sums);
	}
	if (!s.whole)
		add_wide_values(part, &sums);
	sums.values += 2 * (sums.squares.low_low + (sums.squares.low_high << 33)) + sums.squares.y;
	return (tsw_digest){sums.placed, sums.values};
}

/* Rows row .. row + rows - 1 of a matrix. */
static tsw_digest digest_rows(const struct tsw_matrices *m, int transposed, size_t row, size_t rows)
{
	const size_t stride = m->ld * m->elem_size;
	const struct tsw_part part = {
		.base = (const unsigned char *)m->base + row * stride,
		.rows = rows,
		.cols = m->n,
		.stride = stride,
		.elem_size = m->elem_size,
		.row = row,
	};

	return tsw_digest_part(&part, transposed);
}

static int threads_worth(const struct tsw_matrices *m, int nthreads)
{
	double worth = (double)m->n * m->n * m->elem_size / BYTES_PER_THREAD;
	int most = tsw_cpu_threads(nthreads);

	return worth < 2 ? 1 : worth < most ? (int)worth : most;
}

/* A few parts for each thread, so that all end at about the same time. */
static size_t rows_of_part(size_t n, int threads)
{
	size_t rows = n / (4 * (size_t)threads);

	return rows < BAND ? BAND : rows < PART_ROWS ? rows - rows % BAND : PART_ROWS;
}

tsw_digest tsw_digest_host(const struct tsw_matrices *m, int transposed, int nthreads)
{
	const int threads = threads_worth(m, nthreads);
	const size_t rows = rows_of_part(m->n, threads);
	tsw_digest all = {0, 0};

	if (m->n == 0) /* base may be NULL */
		return all;
	if (threads == 1)
		return digest_rows(m, transposed, 0, m->n);
		/* The sums are exact, so that the order in which threads add theirs does not
		 * matter. */
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic)
#endif
	for (size_t row = 0; row < m->n; row += rows) {
		tsw_digest part =
			digest_rows(m, transposed, row, m->n - row < rows ? m->n - row : rows);
#ifdef _OPENMP
#pragma omp critical(tsw_digest)
#endif
		all = tsw_digest_add(all, part);
	}
	return all;
}
