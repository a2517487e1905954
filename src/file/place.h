/* Where in a file a matrix lies: the formats, one small file each. */
#ifndef TSW_PLACE_H
#define TSW_PLACE_H

#include "io.h"

#include <stddef.h>
#include <stdint.h>

/* What the caller says; 0 and NULL where it says nothing. */
struct tsw_wanted {
	int format; /* enum tsw_format */
	size_t n, ld, elem_size;
	uint64_t offset;
	int described; /* n .. offset describe a raw file, even where all are 0 */
	const char *dataset;
};

/* What is found. */
struct tsw_place {
	uint64_t offset; /* of element (0, 0), in bytes */
	size_t n, ld, elem_size;
	int column_major;
	int format; /* enum tsw_format, never automatic */
};

/* The span of the matrix is no larger than the address space and ends within the file. */
tsw_status tsw_place_find(const struct tsw_file *f, const struct tsw_wanted *wanted,
			  struct tsw_place *place);

/* Bytes from the first to the last of the matrix. */
uint64_t tsw_place_span(const struct tsw_place *place);

/* ---- one format each ------------------------------------------------------------------------- */

#define TSW_PROBE_BYTES 64

tsw_status tsw_find_raw(const struct tsw_file *f, uint64_t file_bytes,
			const struct tsw_wanted *wanted, struct tsw_place *place);
tsw_status tsw_find_npy(const struct tsw_file *f, uint64_t file_bytes,
			const struct tsw_wanted *wanted, struct tsw_place *place);
tsw_status tsw_find_hdf5(const struct tsw_file *f, uint64_t file_bytes,
			 const struct tsw_wanted *wanted, struct tsw_place *place);
tsw_status tsw_find_safetensors(const struct tsw_file *f, uint64_t file_bytes,
				const struct tsw_wanted *wanted, struct tsw_place *place);

/* Sets n, ld, elem_size, offset, checks what every format has to: TSW_ERR_OVERFLOW, _FORMAT. */
tsw_status tsw_place_set(const struct tsw_file *f, uint64_t file_bytes, struct tsw_place *place);

/* Up to `bytes` bytes at `at`, fewer only at the end of the file. */
tsw_status tsw_read_some(const struct tsw_file *f, void *to, size_t bytes, uint64_t at,
			 size_t *got);

#endif /* TSW_PLACE_H */
