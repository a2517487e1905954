/* The arithmetic of the checksum (its definition is in tileswap.h), one text for C and CUDA.
 *
 * Everything of `placed` is computed mod p = 2^61 - 1, where 2^61 = 1: reducing is a shift and an
 * add, and multiplying by 2^k is a rotation of 61 bits.
 */
#ifndef TSW_DIGEST_MATH_H
#define TSW_DIGEST_MATH_H

#include "../tilepair.h"
#include "../tileswap.h"

#define TSW_P 0x1fffffffffffffffu

/* The value of any 64-bit number mod p, below p. */
TSW_MAP uint64_t tsw_mod_p(uint64_t x)
{
	x = (x & TSW_P) + (x >> 61);
	return x >= TSW_P ? x - TSW_P : x;
}

/* Of two numbers below p. */
TSW_MAP uint64_t tsw_add_p(uint64_t x, uint64_t y)
{
	return tsw_mod_p(x + y);
}

/* The upper half of a 64 x 64 bit product. */
TSW_MAP uint64_t tsw_mul_high(uint64_t x, uint64_t y)
{
#ifdef __CUDA_ARCH__
	return __umul64hi(x, y);
#else
	return (uint64_t)((unsigned __int128)x * y >> 64);
#endif
}

/* Of two numbers below 2^61: the product is below 2^122 and folds at bit 61. */
TSW_MAP uint64_t tsw_mul_p(uint64_t x, uint64_t y)
{
	const uint64_t low = x * y;

	return tsw_mod_p((low & TSW_P) + (low >> 61 | tsw_mul_high(x, y) << 3));
}

/* x * 2^k mod p for x below p and 0 <= k < 61. */
TSW_MAP uint64_t tsw_shift_p(uint64_t x, unsigned k)
{
	return k ? tsw_mod_p((x << k & TSW_P) | x >> (61 - k)) : x;
}

/* Output number `index` of the SplitMix64 generator whose state is `seed`. */
TSW_MAP uint64_t tsw_splitmix(uint64_t seed, uint64_t index)
{
	uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* alpha and beta: a stream reduced to 1 .. p - 1. */
TSW_MAP uint64_t tsw_weight(uint64_t seed, uint64_t index)
{
	const uint64_t w = tsw_splitmix(seed, index) >> 3;

	return w == 0 || w == TSW_P ? 1 : w;
}

TSW_MAP uint64_t tsw_gamma(uint64_t limb)
{
	return limb ? tsw_weight(TSW_DIGEST_GAMMA, limb) : 1;
}

TSW_MAP uint64_t tsw_delta(uint64_t word)
{
	return word ? tsw_splitmix(TSW_DIGEST_DELTA, word) | 1 : 1;
}

/* The streams of rows and columns; a transposed matrix has them exchanged. */
TSW_MAP uint64_t tsw_row_seed(int transposed)
{
	return transposed ? TSW_DIGEST_BETA : TSW_DIGEST_ALPHA;
}

TSW_MAP uint64_t tsw_col_seed(int transposed)
{
	return transposed ? TSW_DIGEST_ALPHA : TSW_DIGEST_BETA;
}

/* What an element whose words sum to y adds to `values`. */
TSW_MAP uint64_t tsw_value(uint64_t y)
{
	return y * (2 * y + 1);
}

/* A weight is multiplied in pieces, weight = w0 + w1 2^21 + w2 2^41, so that a 64-bit sum has room
 * for 2048 products of a piece and a 32-bit limb. */
TSW_MAP uint32_t tsw_piece0(uint64_t weight)
{
	return (uint32_t)weight & 0x1fffff;
}

TSW_MAP uint32_t tsw_piece1(uint64_t weight)
{
	return (uint32_t)(weight >> 21) & 0xfffff;
}

TSW_MAP uint32_t tsw_piece2(uint64_t weight)
{
	return (uint32_t)(weight >> 41);
}

/* The sums over the three pieces, put together again. */
TSW_MAP uint64_t tsw_join_pieces(uint64_t s0, uint64_t s1, uint64_t s2)
{
	return tsw_mod_p(tsw_mod_p(s0) + tsw_shift_p(tsw_mod_p(s1), 21) +
			 tsw_shift_p(tsw_mod_p(s2), 41));
}

#endif /* TSW_DIGEST_MATH_H */
