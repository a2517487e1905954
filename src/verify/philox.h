/* Philox4x32-10, a counter-based generator of random bits (Salmon, Moraes, Dror & Shaw, "Parallel
 * random numbers: as easy as 1, 2, 3", 2011), in the order in which cuRAND hands its words out. One
 * text for C and CUDA.
 *
 * Any word can be computed alone.  Word x of a seed is
 *
 *     philox(counter = {low(q), high(q), s, 0}, key = {low(seed), high(seed)})[x % 4]
 *     with s = (x / 4) % 65536 and q = x / 262144
 *
 * because cuRAND runs 65536 streams, numbered s, side by side: each gives 4 words in turn.
 */
#ifndef TSW_PHILOX_H
#define TSW_PHILOX_H

#include "../tilepair.h"

struct tsw_philox {
	uint32_t word[4];
};

TSW_MAP struct tsw_philox tsw_philox_round(struct tsw_philox c, uint32_t key0, uint32_t key1)
{
	const uint64_t p0 = (uint64_t)c.word[0] * 0xd2511f53u;
	const uint64_t p1 = (uint64_t)c.word[2] * 0xcd9e8d57u;
	struct tsw_philox out;

	out.word[0] = (uint32_t)(p1 >> 32) ^ c.word[1] ^ key0;
	out.word[1] = (uint32_t)p1;
	out.word[2] = (uint32_t)(p0 >> 32) ^ c.word[3] ^ key1;
	out.word[3] = (uint32_t)p0;
	return out;
}

TSW_MAP struct tsw_philox tsw_philox4x32_10(struct tsw_philox counter, uint32_t key0, uint32_t key1)
{
	for (int round = 0; round < 10; round++) {
		counter = tsw_philox_round(counter, key0, key1);
		key0 += 0x9e3779b9u;
		key1 += 0xbb67ae85u;
	}
	return counter;
}

/* Words 4 * block .. 4 * block + 3 of a seed: bytes 16 * block .. 16 * block + 15. */
TSW_MAP struct tsw_philox tsw_philox_block(uint64_t seed, uint64_t block)
{
	const uint64_t q = block >> 16;
	struct tsw_philox counter;

	counter.word[0] = (uint32_t)q;
	counter.word[1] = (uint32_t)(q >> 32);
	counter.word[2] = (uint32_t)(block & 0xffff);
	counter.word[3] = 0;
	return tsw_philox4x32_10(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/* Byte `byte` (0 .. 15) of a block, words being little-endian. */
TSW_MAP uint8_t tsw_philox_byte(const struct tsw_philox *block, unsigned byte)
{
	return (uint8_t)(block->word[byte / 4] >> 8 * (byte % 4));
}

#endif /* TSW_PHILOX_H */
