/* The header of a .npy file. */
#ifndef TSW_NPY_H
#define TSW_NPY_H

#include "place.h"

#include <stddef.h>
#include <stdint.h>

struct tsw_npy {
	unsigned major, minor; /* of the format */
	int fortran;	       /* column-major */
	size_t n;	       /* rows, and as many columns */
	size_t elem_size;      /* bytes */
	size_t order_at;       /* where the word False or True stands */
	size_t header_bytes;   /* where the elements begin */
	size_t data_bytes;     /* n * n * elem_size */
};

#define TSW_NPY_MAGIC_BYTES 6	/* "\x93NUMPY" */
#define TSW_NPY_PREFIX_BYTES 12 /* enough to know the length of the header */

/* Does the file begin as a .npy file does? */
int tsw_npy_is(const unsigned char *buf, size_t len);

/* Bytes of the whole header, magic included, told by the file's first TSW_NPY_PREFIX_BYTES (or
 * fewer, if the file is shorter); 0 if they do not tell. */
size_t tsw_npy_header_bytes(const unsigned char *buf, size_t len);

/* Reads the header in the first `len` bytes of a file.  Total: any bytes give 0, with *out filled
 * in, or -1 with one line in `err` that names what is wrong.  Only a square, two-dimensional array
 * of fixed-size elements passes. */
int tsw_npy_parse(const unsigned char *buf, size_t len, struct tsw_npy *out, char *err,
		  size_t errlen);

/* Flips fortran_order in the header of a .npy file: the same matrix, transposed for every reader
 * that honours it.  Refused where the file carries a run that was stopped.  *written: bytes. */
tsw_status tsw_npy_flip(const struct tsw_file *f, const char *journal_path,
			const struct tsw_place *place, uint64_t *written);

#endif /* TSW_NPY_H */
