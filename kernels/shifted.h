/* Where the shifted kernel keeps a tile in shared memory: arithmetic that the host, to reserve the
 * memory, and the kernel share. */
#ifndef TSW_SHIFTED_H
#define TSW_SHIFTED_H

#include "../src/tilepair.h"

/* Elements of more units than this go slice by slice. */
#define TSW_SHIFTED_SLICE(unit) (16384u / (unit))

/* The most elements a side of a tile. */
#define TSW_SHIFTED_SIDE 256

struct tsw_shifted_layout {
	uint32_t row;	/* bytes from a row to the next of its class */
	uint32_t klass; /* bytes from a class of rows to the next */
	uint32_t bytes; /* of one tile */
};

/* Rows of `side` elements of `elem_size` bytes, taken with up to 15 bytes before and after; V = 16
 * / unit classes of rows (shifted.cuh tells why). */
TSW_MAP struct tsw_shifted_layout tsw_shifted_layout(uint32_t side, uint32_t elem_size,
						     uint32_t unit)
{
	const uint32_t classes = 16 / unit, vectors = (side * elem_size + 15) / 16 + 1;
	struct tsw_shifted_layout l;

	l.row = (vectors | 1) * 16; /* an odd number of vectors */
	l.klass = ((side + classes - 1) / classes * l.row + 127) / 128 * 128;
	l.bytes = l.klass * classes;
	return l;
}

#endif /* TSW_SHIFTED_H */
