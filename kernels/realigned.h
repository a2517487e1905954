/* Where the realigned kernel keeps a tile in shared memory. */
#ifndef TSW_REALIGNED_H
#define TSW_REALIGNED_H

/* Bytes from row to row as they come from memory, with up to 15 before and after; and of the
 * transposed tile, in eights of vectors; of a tile, which is the one after the other. */
#define TSW_REALIGNED_RAW(side, elem_size) ((side) * (elem_size) + 16)
#define TSW_REALIGNED_OUT(side, elem_size) (((side) * (elem_size) + 127) / 128 * 128)
#define TSW_REALIGNED_TILE(side, elem_size)                                                        \
	((side) * (TSW_REALIGNED_RAW(side, elem_size) > TSW_REALIGNED_OUT(side, elem_size)         \
			   ? TSW_REALIGNED_RAW(side, elem_size)                                    \
			   : TSW_REALIGNED_OUT(side, elem_size)))

#endif /* TSW_REALIGNED_H */
