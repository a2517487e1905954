#include "imatcopy.h"

#include <string.h>

#include "status.h"

struct complex_value {
	double re, im;
};

static const struct type_facts {
	size_t size;
	int is_complex, is_double;
} facts[] = {
	[TSW_FLOAT] = {4, 0, 0},	 [TSW_DOUBLE] = {8, 0, 1},
	[TSW_COMPLEX_FLOAT] = {8, 1, 0}, [TSW_COMPLEX_DOUBLE] = {16, 1, 1},
	[TSW_HALF] = {2, 0, 0}, /* alpha is a float */
	[TSW_BFLOAT16] = {2, 0, 0},
};

/* The address may be any: alpha is read as bytes.  A float is a double exactly. */
static struct complex_value read_alpha(const struct type_facts *type, const void *alpha)
{
	float f[2] = {1, 0};
	double d[2] = {1, 0};

	if (alpha)
		memcpy(type->is_double ? (void *)d : (void *)f, alpha,
		       (type->is_double ? sizeof *d : sizeof *f) << type->is_complex);
	return type->is_double ? (struct complex_value){d[0], d[1]}
			       : (struct complex_value){(double)f[0], (double)f[1]};
}

static enum tsw_epilogue_kind kind_of(struct complex_value alpha, int conjugates)
{
	if (alpha.im != 0)
		return TSW_COMPLEX;
	if (alpha.re == 0)
		return TSW_ZERO;
	return alpha.re != 1 ? TSW_SCALE : conjugates ? TSW_FLIP : TSW_KEEP;
}

/* (x + iy)(a + ib) = (xa - yb) + i(xb + ya), with y negated first where it is conjugated. */
static void set_coefficients(struct tsw_epilogue *e, struct complex_value alpha, int conjugates,
			     int is_double)
{
	const double y = conjugates ? -1 : 1;
	const double by[4] = {alpha.re, -y * alpha.im, alpha.im, y * alpha.re};

	for (int i = 0; i < 4; i++) {
		if (is_double)
			e->by.d[i] = by[i];
		else
			e->by.f[i] = (float)by[i];
	}
}

tsw_status tsw_epilogue_of(char op, tsw_type type, const void *alpha, struct tsw_epilogue *e,
			   size_t *elem_size)
{
	static const char ops[] = "NTCRntcr";
	const char *letter = op ? strchr(ops, op) : NULL;
	struct complex_value value;
	int conjugates;

	if (!letter)
		return tsw_fail(TSW_ERR_OP, "op = '%c' (0x%02x) is none of N, T, C, R",
				op >= ' ' && op <= '~' ? op : '?', (unsigned)(unsigned char)op);
	if ((unsigned)type >= sizeof facts / sizeof *facts)
		return tsw_fail(TSW_ERR_TYPE, "type = %d is no tsw_type", (int)type);
	op = ops[(letter - ops) % 4];
	conjugates = (op == 'C' || op == 'R') && facts[type].is_complex;
	value = read_alpha(&facts[type], alpha);
	memset(e, 0, sizeof *e);
	e->kind = kind_of(value, conjugates);
	e->type = type;
	e->transposes = op == 'T' || op == 'C';
	set_coefficients(e, value, conjugates, facts[type].is_double);
	*elem_size = facts[type].size;
	return TSW_OK;
}
