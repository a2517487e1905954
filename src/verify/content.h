/* What a span is filled with, computed from a seed and the place alone: byte b of the span is byte
 * b % 16 of block b / 16.  One text for C and CUDA.
 *
 * A random fill tells any two places apart.  The others are what memory and its wires are tried
 * with; they repeat, so that only a random one or position codes see elements in wrong places.
 * They are sequences of 64-bit words, little-endian, numbered by their place in the span:
 *
 *     random        the words of Philox4x32-10 (philox.h)
 *     position      word w is (w + seed) * K, K odd: from a whole word its place can be told
 *     walk1, walk0  one bit is 1 (or 0) and walks: in word w it is bit (w + seed) % 64
 *     check5, checka  0x55..., 0xaa... in turn, beginning with the one or the other
 */
#ifndef TSW_CONTENT_H
#define TSW_CONTENT_H

#include "philox.h"

enum tsw_pattern {
	TSW_PATTERN_RANDOM,
	TSW_PATTERN_POSITION,
	TSW_PATTERN_WALK1,
	TSW_PATTERN_WALK0,
	TSW_PATTERN_CHECK5,
	TSW_PATTERN_CHECKA,
	TSW_PATTERNS
};

struct tsw_content {
	uint64_t seed;
	uint32_t pattern; /* enum tsw_pattern */
};

/* Word w of a pattern that is not random. */
TSW_MAP uint64_t tsw_content_word(const struct tsw_content *content, uint64_t w)
{
	const uint64_t fives = 0x5555555555555555u,
		       walking = (uint64_t)1 << ((w + content->seed) & 63);

	switch (content->pattern) {
	case TSW_PATTERN_POSITION:
		return (w + content->seed) * 0x9e3779b97f4a7c15u;
	case TSW_PATTERN_WALK1:
		return walking;
	case TSW_PATTERN_WALK0:
		return ~walking;
	case TSW_PATTERN_CHECK5:
		return w & 1 ? ~fives : fives;
	default:
		return w & 1 ? fives : ~fives;
	}
}

/* Bytes 16 * block .. 16 * block + 15, as four words of 32 bits. */
TSW_MAP struct tsw_philox tsw_content_block(const struct tsw_content *content, uint64_t block)
{
	struct tsw_philox out;

	if (content->pattern == TSW_PATTERN_RANDOM)
		return tsw_philox_block(content->seed, block);
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t word = tsw_content_word(content, 2 * block + i);

		out.word[2 * i] = (uint32_t)word;
		out.word[2 * i + 1] = (uint32_t)(word >> 32);
	}
	return out;
}

#endif /* TSW_CONTENT_H */
