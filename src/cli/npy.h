/* The header of a .npy file. */
#ifndef TSW_NPY_H
#define TSW_NPY_H

#include <stddef.h>
#include <stdint.h>

struct npy {
	unsigned major, minor; /* of the format */
	int fortran;	       /* column-major */
	size_t n;	       /* rows, and as many columns */
	size_t elem_size;      /* bytes */
	size_t header_bytes;   /* where the elements begin */
	size_t data_bytes;     /* n * n * elem_size */
};

#define NPY_MAGIC_BYTES 6   /* "\x93NUMPY" */
#define NPY_PREFIX_BYTES 12 /* enough to know the length of the header */

/* Does the file begin as a .npy file does? */
int npy_is_magic(const unsigned char *buf, size_t len);

/* Bytes of the whole header, magic included, told by the file's first NPY_PREFIX_BYTES (or fewer,
 * if the file is shorter); 0 if they do not tell. */
size_t npy_header_bytes(const unsigned char *buf, size_t len);

/* Reads the header in the first `len` bytes of a file.  Total: any bytes give 0, with *out filled
 * in, or -1 with one line in `err` that names what is wrong.  Only a square, two-dimensional array
 * of fixed-size elements passes. */
int npy_parse(const unsigned char *buf, size_t len, struct npy *out, char *err, size_t errlen);

#endif /* TSW_NPY_H */
