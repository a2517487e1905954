#include "matrices.h"

#include "status.h"

/* Sizes that fit in a signed 64-bit offset, as pointer differences do. */
static int product(size_t x, size_t y, size_t *out)
{
	return !__builtin_mul_overflow(x, y, out) && *out <= PTRDIFF_MAX;
}

static int sum(size_t x, size_t y, size_t *out)
{
	return !__builtin_add_overflow(x, y, out) && *out <= PTRDIFF_MAX;
}

/* Elements from the first to the last of one matrix. */
static int span(const struct tsw_matrices *m, size_t *elements)
{
	return product(m->n - 1, m->ld, elements) && sum(*elements, m->n, elements);
}

static tsw_status check_shape(const struct tsw_matrices *m)
{
	size_t elements, bytes;

	if (m->elem_size == 0)
		return tsw_fail(TSW_ERR_ELEM_SIZE, "elem_size = 0 must be at least 1");
	if (m->ld < m->n)
		return tsw_fail(TSW_ERR_LD, "ld = %zu is smaller than n = %zu", m->ld, m->n);
	if (m->n && !(span(m, &elements) && product(elements, m->elem_size, &bytes)))
		return tsw_fail(TSW_ERR_OVERFLOW,
				"n = %zu, ld = %zu, elem_size = %zu: the matrix spans more than "
				"PTRDIFF_MAX bytes",
				m->n, m->ld, m->elem_size);
	return TSW_OK;
}

static tsw_status check_stride(const struct tsw_matrices *m)
{
	size_t one, all, bytes, row = 0;
	int apart, beside;

	if (m->array || m->count <= 1 || m->n == 0)
		return TSW_OK;
	span(m, &one); /* cannot fail: check_shape passed */
	apart = m->stride >= one;
	beside = m->stride >= m->n && product(m->count - 1, m->stride, &row) &&
		 sum(row, m->n, &row) && row <= m->ld;
	if (!apart && !beside)
		return tsw_fail(TSW_ERR_STRIDE,
				"stride = %zu lets the %zu matrices of n = %zu, ld = %zu overlap",
				m->stride, m->count, m->n, m->ld);
	if (!(product(m->count - 1, m->stride, &all) && sum(all, one, &all) &&
	      product(all, m->elem_size, &bytes)))
		return tsw_fail(TSW_ERR_OVERFLOW,
				"count = %zu matrices, stride = %zu, elem_size = %zu: the batch "
				"spans more than PTRDIFF_MAX bytes",
				m->count, m->stride, m->elem_size);
	return TSW_OK;
}

tsw_status tsw_check_matrices(const struct tsw_matrices *m)
{
	TRY(check_shape(m));
	TRY(check_stride(m));
	if (m->n && m->count && !m->base && !m->array)
		return tsw_fail(TSW_ERR_NULL, "a is NULL");
	return TSW_OK;
}

tsw_status tsw_check_alignment(const struct tsw_matrices *m)
{
	size_t unit = m->array ? sizeof(void *) : tsw_elem_unit(m->elem_size);
	uintptr_t address = (uintptr_t)(m->array ? (const void *)m->array : m->base);

	if (m->n && m->count && address % unit)
		return tsw_fail(TSW_ERR_ALIGN,
				"a = 0x%jx is no multiple of %zu, as %s on a device must be",
				(uintmax_t)address, unit,
				m->array ? "an array of pointers" : "elements of this size");
	return TSW_OK;
}
