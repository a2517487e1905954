/* Op, type and alpha of an imatcopy, checked and boiled down. */
#ifndef TSW_IMATCOPY_H
#define TSW_IMATCOPY_H

#include "epilogue.h"
#include "tileswap.h"

/* TSW_ERR_OP or TSW_ERR_TYPE; else *e is what to do and *elem_size the bytes of an element. */
tsw_status tsw_epilogue_of(char op, tsw_type type, const void *alpha, struct tsw_epilogue *e,
			   size_t *elem_size);

#endif /* TSW_IMATCOPY_H */
