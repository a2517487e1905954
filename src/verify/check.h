/* What the element checks of host and device share. */
#ifndef TSW_CHECK_H
#define TSW_CHECK_H

#include "layout.h"
#include "verify.h"

/* Checks the arguments and describes the batch. */
tsw_status tsw_layout_of(const struct tsw_matrices *m, const struct tsw_content *content,
			 int transposed, struct tsw_layout *l);

/* Elements are numbered by matrix, row and column; the numbers order what is reported. */
uint64_t tsw_wrong_key(const struct tsw_layout *l, uint64_t matrix, uint64_t r, uint64_t c);

/* The place of element number `key`; returns the byte of the span at which it begins. */
uint64_t tsw_wrong_place_of(const struct tsw_layout *l, uint64_t key,
			    struct tsw_wrong_place *place);

/* Fills in what must stand at a place, from byte `at` of the element on. */
void tsw_wrong_expect(const struct tsw_layout *l, size_t at, struct tsw_wrong_place *place);

/* Fills in the first wrong byte of padding, byte `at` of the span. */
void tsw_wrong_padding(const struct tsw_layout *l, uint64_t at, unsigned char found,
		       struct tsw_wrong *wrong);

#endif /* TSW_CHECK_H */
