#include "number.h"

#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

/* The value of a digit, or -1. */
static int digit(char c, unsigned base)
{
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

	return at && at - digits < (int)base ? (int)(at - digits) : -1;
}

/* `len` digits of `text`, at least one. */
static int number(const char *text, size_t len, unsigned base, uint64_t *value)
{
	uint64_t sum = 0;

	if (!len)
		return -1;
	for (size_t i = 0; i < len; i++) {
		int d = digit(text[i], base);

		if (d < 0 || __builtin_mul_overflow(sum, base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)d, &sum))
			return -1;
	}
	*value = sum;
	return 0;
}

int number_whole(const char *text, uint64_t *value)
{
	return number(text, strlen(text), 10, value);
}

int number_size(const char *text, uint64_t *value)
{
	static const char suffixes[] = "KMGT";
	size_t len = strlen(text);
	const char *suffix = len ? strchr(suffixes, text[len - 1]) : NULL;
	uint64_t count;
	unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;

	if (number(text, len - (suffix != NULL), 10, &count) || count > UINT64_MAX >> shift)
		return -1;
	*value = count << shift;
	return 0;
}

int number_seed(const char *text, uint64_t *value)
{
	size_t len = strlen(text);

	if (text[0] == '0' && text[1] == 'x')
		return number(text + 2, len - 2, 16, value);
	return number(text, len, len == 16 ? 16 : 10, value);
}

int number_decimal(const char *text, double *value)
{
	size_t len = strlen(text), whole = strspn(text, "0123456789");
	size_t part = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;

	if (whole + part == 0 || whole + (text[whole] == '.') + part != len)
		return -1;
	*value = strtod(text, NULL);
	return 0;
}

int number_span(size_t n, size_t ld, size_t elem_size, size_t *bytes)
{
	size_t span = 0;

	if (n &&
	    (__builtin_mul_overflow(n - 1, ld, &span) || __builtin_add_overflow(span, n, &span) ||
	     __builtin_mul_overflow(span, elem_size, &span) || span > PTRDIFF_MAX))
		return -1;
	*bytes = span;
	return 0;
}
