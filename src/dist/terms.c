#include "terms.h"

static void add_term(struct tsw_terms *terms, const char *name, uint64_t value)
{
	terms->name[terms->count] = name;
	terms->value[terms->count++] = value;
}

struct tsw_terms tsw_terms_of(const tsw_dist *d, size_t elem_size, size_t stage_bytes)
{
	const tsw_dist none = TSW_DIST_INIT;
	struct tsw_terms t = {0};

	if (!d)
		d = &none;
	add_term(&t, "n", d->n);
	add_term(&t, "mb", d->mb);
	add_term(&t, "nb", d->nb);
	add_term(&t, "nprow", (uint64_t)d->nprow);
	add_term(&t, "npcol", (uint64_t)d->npcol);
	add_term(&t, "rsrc", (uint64_t)d->rsrc);
	add_term(&t, "csrc", (uint64_t)d->csrc);
	add_term(&t, "rank_order", (uint64_t)d->rank_order);
	add_term(&t, "storage", (uint64_t)d->storage);
	add_term(&t, "elem_size", elem_size);
	add_term(&t, "stage_bytes", stage_bytes);
	return t;
}
