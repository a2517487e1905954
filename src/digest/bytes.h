/* Dot products of rows of bytes with rows of weights (bytes.c). */
#ifndef TSW_BYTES_H
#define TSW_BYTES_H

#include "rows.h"

/* Bytes of a row that are taken at a time: with their weights they fit into the first-level cache,
 * and their sums into 32 bits. */
#define TSW_BYTE_RUN 1536
#define TSW_PIECES 8 /* of 8 bits, of a weight below 2^61 */

struct tsw_pieces {
	_Alignas(64) signed char chunk[TSW_BYTE_RUN / 64][TSW_PIECES][64];
};

#ifdef __x86_64__
int tsw_has_vnni(void);

/* The weights of columns col, col + 1, ...; `bytes` of them, at most TSW_BYTE_RUN. */
void tsw_weigh_bytes(uint64_t col_seed, uint64_t col, size_t bytes, struct tsw_pieces *w);

/* As a tsw_dot_rows. */
void tsw_dot_bytes_vnni(const unsigned char *row, size_t stride, size_t rows, size_t bytes,
			const struct tsw_pieces *w, uint64_t *sum, struct tsw_squares *squares);
#endif

#endif /* TSW_BYTES_H */
