/* Runs of the bytes of a pattern on the host. */
#include "verify.h"

#include <string.h>

/* x86-64 and aarch64, where this runs, are little-endian. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are copied as they lie");

static void word_bytes(const struct tsw_content *content, uint64_t offset, unsigned char *to,
		       size_t nbytes)
{
	while (nbytes) {
		const uint64_t word = tsw_content_word(content, offset / 8);
		const size_t skip = offset % 8;
		size_t part = 8 - skip;

		if (part == 8 && nbytes >= 8) {
			memcpy(to, &word, 8);
		} else {
			part = part < nbytes ? part : nbytes;
			memcpy(to, (const unsigned char *)&word + skip, part);
		}
		to += part;
		offset += part;
		nbytes -= part;
	}
}

void tsw_content_bytes(const struct tsw_content *content, uint64_t offset, void *out, size_t nbytes)
{
	if (content->pattern == TSW_PATTERN_RANDOM)
		tsw_philox_bytes(content->seed, offset, out, nbytes);
	else
		word_bytes(content, offset, out, nbytes);
}
