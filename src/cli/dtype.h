/* The names of element types that --dtype takes. */
#ifndef TSW_DTYPE_H
#define TSW_DTYPE_H

#include <stddef.h>

/* name, bytes */
#define DTYPES(X)                                                                                  \
	X(i8, 1)                                                                                   \
	X(u8, 1)                                                                                   \
	X(i16, 2)                                                                                  \
	X(u16, 2)                                                                                  \
	X(f16, 2)                                                                                  \
	X(bf16, 2)                                                                                 \
	X(i32, 4)                                                                                  \
	X(u32, 4)                                                                                  \
	X(f32, 4)                                                                                  \
	X(i64, 8)                                                                                  \
	X(u64, 8)                                                                                  \
	X(f64, 8)                                                                                  \
	X(c64, 8)                                                                                  \
	X(c128, 16)

extern const char *const dtype_names[]; /* ends in NULL */

/* Bytes of dtype_names[index]. */
size_t dtype_bytes(int index);

#endif /* TSW_DTYPE_H */
