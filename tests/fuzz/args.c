/* The input is a call of the library and its arguments.  Wrong ones must be refused with a status
 * that is due and nothing touched; right ones, where the matrix is small, must do what they say. */
#include "fuzz.h"

#include "../support/imatcopy.h"
#include "support.h"
#include "tileswap.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 wide;

#define MOST_BYTES ((size_t)1 << 15) /* of a matrix that is really there */
#define MOST_POINTERS 8

enum entry { ANY, HOST, BATCH, ARRAY, IMATCOPY, IMATCOPY_BATCH, CHECKSUM, ENTRIES };

struct call {
	enum entry entry;
	int on_device;
	size_t n, ld, elem_size, stride, count;
	int nthreads, transposed, null_a, null_out;
	unsigned null_entry; /* of an array: below count */
	struct tsw_imat x;   /* op, type, alpha */
	size_t offset;	     /* of the address */
};

static int is_imatcopy(const struct call *c)
{
	return c->entry == IMATCOPY || c->entry == IMATCOPY_BATCH;
}

static int is_strided(const struct call *c)
{
	return c->entry == BATCH || c->entry == IMATCOPY_BATCH;
}

static size_t width_of(const struct call *c)
{
	if (!is_imatcopy(c))
		return c->elem_size;
	return (unsigned)c->x.type < TSW_IMAT_TYPES ? tsw_imat_size(c->x.type) : 1;
}

/* ---- what is wrong with it ------------------------------------------------------------------- */

static wide span_of(const struct call *c)
{
	return c->n ? (wide)(c->n - 1) * c->ld + c->n : 0;
}

static int fits(const struct call *c, wide elements)
{
	return elements <= PTRDIFF_MAX / width_of(c);
}

static wide stride_faults(const struct call *c)
{
	const wide last = (wide)(c->count - 1) * c->stride;
	const int apart = c->stride >= span_of(c),
		  beside = c->stride >= c->n && last + c->n <= c->ld;

	if (!apart && !beside)
		return (wide)1 << TSW_ERR_STRIDE;
	return fits(c, last + span_of(c)) ? 0 : (wide)1 << TSW_ERR_OVERFLOW;
}

/* A bit for each status that would be due. */
static wide faults(const struct call *c)
{
	const wide one = 1;
	wide all = 0;

	if (is_imatcopy(c) && (!c->x.op || !strchr("NTCRntcr", c->x.op)))
		all |= one << TSW_ERR_OP;
	if (is_imatcopy(c) && (unsigned)c->x.type >= TSW_IMAT_TYPES)
		all |= one << TSW_ERR_TYPE;
	if (c->entry != ANY && !c->on_device && c->nthreads < 0)
		all |= one << TSW_ERR_THREADS;
	if (!width_of(c))
		return all | one << TSW_ERR_ELEM_SIZE;
	if (c->ld < c->n)
		return all | one << TSW_ERR_LD;
	if (!fits(c, span_of(c)))
		return all | one << TSW_ERR_OVERFLOW;
	if (is_strided(c) && c->count > 1 && c->n)
		all |= stride_faults(c);
	if (c->n && c->count && (c->null_a || (c->entry == ARRAY && c->null_entry < c->count)))
		all |= one << TSW_ERR_NULL;
	if (c->entry == CHECKSUM && c->null_out)
		all |= one << TSW_ERR_NULL;
	return all;
}

/* ---- the memory ------------------------------------------------------------------------------ */

struct memory {
	unsigned char *all, *a, *before, *expected;
	size_t bytes;
	void *array[MOST_POINTERS];
	tsw_digest out;
};

/* Bytes from `a` to the last of all matrices, which are none or small. */
static size_t bytes_of(const struct call *c)
{
	const size_t span = (size_t)span_of(c);

	if (!c->count || !c->n)
		return 0;
	return (c->entry == ARRAY ? c->count * span
		: is_strided(c)	  ? (c->count - 1) * c->stride + span
				  : span) *
	       width_of(c);
}

static size_t place_of(const struct call *c, size_t b)
{
	return (c->entry == ARRAY ? b * (size_t)span_of(c) : b * c->stride) * width_of(c);
}

static void *get(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p && bytes)
		abort();
	return p;
}

static void memory_new(struct memory *m, const struct call *c, size_t bytes)
{
	uint64_t random = 1;

	*m = (struct memory){.bytes = bytes, .out = {1, 2}};
	m->all = get(c->offset + bytes);
	m->a = m->all + c->offset;
	m->before = get(bytes);
	m->expected = get(bytes);
	for (size_t i = 0; i < bytes; i++)
		m->a[i] = m->before[i] = m->expected[i] = (unsigned char)tsw_random(&random);
	for (size_t b = 0; b < MOST_POINTERS && c->entry == ARRAY; b++)
		m->array[b] = b == c->null_entry      ? NULL
			      : bytes && b < c->count ? m->a + place_of(c, b)
						      : m->all;
}

static void memory_free(struct memory *m)
{
	free(m->all);
	free(m->before);
	free(m->expected);
}

/* ---- the call -------------------------------------------------------------------------------- */

static tsw_status make_on_device(const struct call *c, struct memory *m, void *a)
{
	const void *alpha = tsw_imat_alpha(&c->x);

	switch (c->entry) {
	case BATCH:
		return tsw_transpose_batch_device(a, c->n, c->ld, c->elem_size, c->stride, c->count,
						  NULL);
	case ARRAY:
		return tsw_transpose_array_device(c->null_a ? NULL : m->array, c->n, c->ld,
						  c->elem_size, c->count, NULL);
	case IMATCOPY:
		return tsw_imatcopy_device(c->x.op, c->x.type, c->n, alpha, a, c->ld, NULL);
	case IMATCOPY_BATCH:
		return tsw_imatcopy_batch_device(c->x.op, c->x.type, c->n, alpha, a, c->ld,
						 c->stride, c->count, NULL);
	case CHECKSUM:
		return tsw_checksum_device(a, c->n, c->ld, c->elem_size, c->transposed,
					   c->null_out ? NULL : &m->out, NULL);
	default:
		return tsw_transpose_device(a, c->n, c->ld, c->elem_size, NULL);
	}
}

static tsw_status make(const struct call *c, struct memory *m)
{
	const void *alpha = tsw_imat_alpha(&c->x);
	void *a = c->null_a ? NULL : m->a;

	if (c->on_device)
		return make_on_device(c, m, a);
	switch (c->entry) {
	case ANY:
		return tsw_transpose(a, c->n, c->ld, c->elem_size);
	case BATCH:
		return tsw_transpose_batch_host(a, c->n, c->ld, c->elem_size, c->stride, c->count,
						c->nthreads);
	case ARRAY:
		return tsw_transpose_array_host(c->null_a ? NULL : m->array, c->n, c->ld,
						c->elem_size, c->count, c->nthreads);
	case IMATCOPY:
		return tsw_imatcopy_host(c->x.op, c->x.type, c->n, alpha, a, c->ld, c->nthreads);
	case IMATCOPY_BATCH:
		return tsw_imatcopy_batch_host(c->x.op, c->x.type, c->n, alpha, a, c->ld, c->stride,
					       c->count, c->nthreads);
	case CHECKSUM:
		return tsw_checksum_host(a, c->n, c->ld, c->elem_size, c->transposed,
					 c->null_out ? NULL : &m->out, c->nthreads);
	default:
		return tsw_transpose_host(a, c->n, c->ld, c->elem_size, c->nthreads);
	}
}

static void check_refusal(const struct call *c, const struct memory *m, tsw_status status, wide due)
{
	/* Without a GPU a faultless call for one, or one whose address alone is wrong, says so. */
	if (c->on_device)
		due |= (wide)1 << TSW_ERR_NO_CUDA | (wide)1 << TSW_ERR_NO_DEVICE |
		       (wide)1 << TSW_ERR_ALIGN;
	fuzz_require(status > 0 && due >> status & 1,
		     "entry %d, n = %zu, ld = %zu, elem_size = %zu, stride = %zu, count = %zu: "
		     "status %d (%s), due %jx",
		     c->entry, c->n, c->ld, c->elem_size, c->stride, c->count, status,
		     tsw_last_error(), (uintmax_t)due);
	fuzz_require(!strchr(tsw_last_error(), '\n'), "a detail of several lines");
	fuzz_require(!m->bytes || !memcmp(m->a, m->before, m->bytes), "refused, and yet touched");
	fuzz_require(m->out.placed == 1 && m->out.values == 2, "refused, and out written to");
}

static void expect(const struct call *c, struct memory *m)
{
	const struct tsw_shape s = {c->n, c->ld, width_of(c)};

	for (size_t b = 0; b < c->count && c->n; b++) {
		const size_t at = place_of(c, b);

		if (is_imatcopy(c))
			tsw_oracle_imatcopy(&c->x, m->before + at, m->expected + at, c->n, c->ld);
		else if (c->entry != CHECKSUM)
			tsw_oracle_window(m->before + at, m->expected + at, s);
	}
}

/* The digest of A, and of what the oracle makes of A, taken the other way. */
static void check_digest(const struct call *c, struct memory *m)
{
	const struct tsw_shape s = {c->n, c->ld, c->elem_size};
	tsw_digest other;

	if (c->n)
		tsw_oracle_window(m->before, m->expected, s);
	fuzz_require(!tsw_checksum_host(m->expected, c->n, c->ld, c->elem_size, !c->transposed,
					&other, 1),
		     "%s", tsw_last_error());
	fuzz_require(other.placed == m->out.placed && other.values == m->out.values,
		     "n = %zu, ld = %zu, elem_size = %zu: the digests differ", c->n, c->ld,
		     c->elem_size);
}

static void check_success(const struct call *c, struct memory *m)
{
	const char *wrong;

	expect(c, m);
	wrong = is_imatcopy(c) ? tsw_wrong_imatcopy(&c->x, m->a, m->expected, m->bytes)
			       : tsw_wrong_bytes(m->a, m->expected, m->bytes);
	fuzz_require(!wrong,
		     "entry %d, n = %zu, ld = %zu, elem_size = %zu, stride = %zu, count = %zu, "
		     "offset = %zu: %s",
		     c->entry, c->n, c->ld, width_of(c), c->stride, c->count, c->offset, wrong);
	if (c->entry == CHECKSUM)
		check_digest(c, m);
}

/* ---- the arguments --------------------------------------------------------------------------- */

static struct tsw_imat take_imat(struct fuzz_input *in)
{
	struct tsw_imat x = tsw_imat_at((size_t)fuzz_take(in, 2) % tsw_imat_count());

	if (fuzz_take(in, 1) % 8)
		return x;
	x.op = (char)fuzz_take(in, 1);
	x.type = (tsw_type)(int)fuzz_take(in, 4);
	return x;
}

static struct call take_call(struct fuzz_input *in)
{
	const unsigned flags = (unsigned)fuzz_take(in, 1);
	struct call c = {.entry = (enum entry)(fuzz_take(in, 1) % ENTRIES),
			 .on_device = !TSW_HAVE_CUDA && flags & 1,
			 .transposed = flags >> 1 & 1,
			 .null_a = (flags >> 2 & 7) == 7,
			 .null_out = (flags >> 5) == 7};

	c.n = fuzz_number(in);
	c.ld = flags & 32 ? c.n + fuzz_number(in) : fuzz_number(in);
	c.elem_size = fuzz_number(in);
	c.count = fuzz_number(in);
	c.stride = fuzz_number(in);
	if (flags & 64) /* matrices that just touch, or do not quite */
		c.stride = (c.n - 1) * c.ld + c.n + c.stride % 3 - 1;
	c.nthreads = (int)fuzz_number(in);
	c.offset = (size_t)fuzz_take(in, 1) % 64;
	c.null_entry = (unsigned)fuzz_take(in, 1);
	c.x = take_imat(in);
	if (!is_strided(&c) && c.entry != ARRAY) {
		c.count = 1;
		c.stride = 0;
	}
	/* So many are not there. */
	if (c.nthreads > 4)
		c.nthreads %= 5;
	return c;
}

/* Matrices that are small enough to be there. */
static int is_small(const struct call *c)
{
	const wide elements = c->n && c->count
				      ? (is_strided(c)	     ? (wide)(c->count - 1) * c->stride
					 : c->entry == ARRAY ? (wide)(c->count - 1) * span_of(c)
							     : 0) +
						span_of(c)
				      : 0;

	return elements <= MOST_BYTES && elements * width_of(c) <= MOST_BYTES &&
	       (c->entry != ARRAY || c->count <= MOST_POINTERS);
}

void fuzz_args(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, data + size};
	struct call c = take_call(&in);
	wide due = faults(&c);
	struct memory m;
	tsw_status status;

	/* What is right but not there is asked for at NULL; NULL is looked at last. */
	if (!due && !is_small(&c)) {
		c.null_a = 1;
		due = faults(&c);
		if (!due)
			return; /* an array of more entries than there are, of empty matrices */
	}
	if (c.entry == ARRAY && c.count > MOST_POINTERS && !c.null_a)
		return;
	memory_new(&m, &c, due ? 0 : bytes_of(&c));
	status = make(&c, &m);
	fuzz_require_detail(status);
	if (due || (c.on_device && status))
		check_refusal(&c, &m, status, due);
	else if (!c.on_device)
		fuzz_require(status == TSW_OK, "status %d: %s", status, tsw_last_error());
	if (!due && !c.on_device)
		check_success(&c, &m);
	memory_free(&m);
}
