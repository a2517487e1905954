/* tsw_multi_transpose: arguments, defaults, and over to the devices. */
#include "../cuda/cuda.h"
#include "../matrices.h"
#include "../status.h"

#include <string.h>

#define DEFAULT_STAGING ((size_t)256 << 20)
#define DEFAULT_COPIES 2

static tsw_status check_range(const char *name, int value, int least, int most)
{
	if (value < least || value > most)
		return tsw_fail(TSW_ERR_OPTION, "%s = %d must be from %d to %d", name, value, least,
				most);
	return TSW_OK;
}

/* What the first release had, for good: members behind it are 0 where the caller has none. */
#define FIRST_OPTIONS (offsetof(tsw_multi_options, copies) + sizeof(int))

/* A caller built against a later header may set what is not known here. */
static tsw_status take(tsw_multi_options *o, const tsw_multi_options *given)
{
	const size_t size = given->struct_size;

	if (size < FIRST_OPTIONS)
		return tsw_fail(TSW_ERR_OPTION,
				"struct_size = %zu of the options is less than %zu: begin with "
				"TSW_MULTI_OPTIONS_INIT",
				size, FIRST_OPTIONS);
	for (size_t i = sizeof *o; i < size; i++)
		if (((const unsigned char *)given)[i])
			return tsw_fail(TSW_ERR_OPTION,
					"the options set a field that this library does not know, "
					"at byte %zu",
					i);
	*o = (tsw_multi_options){0};
	memcpy(o, given, size < sizeof *o ? size : sizeof *o);
	return TSW_OK;
}

/* What is asked for, zeros replaced by what they stand for, but for the number of buffers. */
static tsw_status options_of(const tsw_multi_options *given, tsw_multi_options *o)
{
	const tsw_multi_options none = TSW_MULTI_OPTIONS_INIT;

	TRY(take(o, given ? given : &none));
	TRY(check_range("method", o->method, TSW_MULTI_AUTO, TSW_MULTI_HOST));
	if (!o->staging_bytes)
		o->staging_bytes = DEFAULT_STAGING;
	if (!o->copies)
		o->copies = DEFAULT_COPIES;
	if (o->buffers) /* else src/cuda/team.c chooses */
		TRY(check_range("buffers", o->buffers, 2, 16));
	return check_range("copies", o->copies, 1, 4);
}

static tsw_status check_parts(const struct tsw_spread *s, size_t elem_size,
			      const tsw_multi_part *parts)
{
	const size_t unit = tsw_elem_unit(elem_size);

	if (!parts)
		return tsw_fail(TSW_ERR_NULL, "parts is NULL");
	TRY(tsw_check_units(elem_size));
	for (uint32_t r = 0; r < tsw_spread_ranks(s); r++) {
		TRY(tsw_check_local(s, r, parts[r].a, parts[r].ld, elem_size));
		if ((uintptr_t)parts[r].a % unit)
			return tsw_fail(TSW_ERR_ALIGN,
					"parts[%u].a = %p is no multiple of %zu, the unit of "
					"elem_size = %zu",
					r, parts[r].a, unit, elem_size);
	}
	return TSW_OK;
}

tsw_status tsw_multi_transpose(const tsw_dist *dist, size_t elem_size, const tsw_multi_part *parts,
			       const tsw_multi_options *options)
{
	tsw_multi_options o;
	struct tsw_spread s;

	tsw_forget_failure();
	TRY(tsw_spread_of_bytes(dist, elem_size, &s));
	TRY(options_of(options, &o));
	TRY(check_parts(&s, elem_size, parts));
	TRY(tsw_cuda_usable());
	if (s.n == 0)
		return TSW_OK;
	return tsw_cuda_multi(&s, elem_size, parts, &o);
}
