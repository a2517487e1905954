/* Where the realigned kernel keeps a tile in shared memory. */
#ifndef TSW_REALIGNED_H
#define TSW_REALIGNED_H

/* A row as it comes from memory begins in shared memory as it does there, modulo this many bytes:
 * the more, the fewer requests (fetch.cuh), but 128 take more shared memory than 1 and 3 bytes,
 * whose tiles are large, can spare. */
#define TSW_REALIGNED_GRAIN(elem_size) ((elem_size) % 2 ? 16 : 128)

/* Bytes from row to row as they come from memory; and of the transposed tile, in eights of vectors;
 * of a tile, which is the one after the other. */
#define TSW_REALIGNED_RAW(side, elem_size) ((side) * (elem_size) + TSW_REALIGNED_GRAIN(elem_size))
#define TSW_REALIGNED_OUT(side, elem_size) (((side) * (elem_size) + 127) / 128 * 128)
#define TSW_REALIGNED_TILE(side, elem_size)                                                        \
	((side) * (TSW_REALIGNED_RAW(side, elem_size) > TSW_REALIGNED_OUT(side, elem_size)         \
			   ? TSW_REALIGNED_RAW(side, elem_size)                                    \
			   : TSW_REALIGNED_OUT(side, elem_size)))

#endif /* TSW_REALIGNED_H */
