/* Numbers of a command line, read strictly: the whole text or nothing.  0, or -1 with *value
 * unchanged. */
#ifndef TSW_NUMBER_H
#define TSW_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Decimal digits. */
int number_whole(const char *text, uint64_t *value);

/* Bytes: decimal digits, and K, M, G or T for powers of 1024. */
int number_size(const char *text, uint64_t *value);

/* Decimal, 0x and hex digits, or exactly 16 hex digits as the tool prints seeds. */
int number_seed(const char *text, uint64_t *value);

/* Decimal digits with at most one point. */
int number_decimal(const char *text, double *value);

/* Bytes from the first to the last of a matrix, ld >= n; -1 if they pass PTRDIFF_MAX. */
int number_span(size_t n, size_t ld, size_t elem_size, size_t *bytes);

#endif /* TSW_NUMBER_H */
