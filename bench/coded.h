/* Position-coded data: what stands where can be told from the place alone, so nothing need be kept
 * to compare with.  Used for what calculates (peers that multiply by one), for the ladder and for
 * the pattern ceilings; transposing kernels are verified by src/verify on random bits instead.
 *
 * Word w of the span, padding included, holds code(w).  Words of 4 and 8 bytes are ordinary
 * numbers as float and double (exponents of both signs around 1, no NaN, no zero, no denormal), so
 * that x * 1 + 0 gives back every bit.  C and CUDA. */
#ifndef TSW_BENCH_CODED_H
#define TSW_BENCH_CODED_H

#include <stdint.h>

#ifdef __CUDACC__
#define BENCH_CODED static inline __host__ __device__
#else
#define BENCH_CODED static inline
#endif

/* What must stand in a matrix after one application. */
enum bench_expect {
	BENCH_TRANSPOSED, /* word (r, c) came from (c, r) */
	BENCH_FLIPPED	  /* every bit of every word inside turned over, in its own place */
};

/* A matrix to check: `rows` rows of `ld` elements of `words` words each.  Element (r, c) with
 * c < width is inside; the others, up to ld, are padding (there is none after the last row). */
struct bench_coded {
	uint64_t rows, width, ld;
	uint64_t ld_before; /* ld of the matrix that was transposed */
	uint64_t words;	    /* words in one element */
	uint64_t first;	    /* word number of the matrix's first word in the span */
	enum bench_expect expect;
};

/* The widest word that divides an element: 1, 2, 4 or 8 bytes. */
BENCH_CODED unsigned bench_word_bytes(uint64_t elem_size)
{
	return elem_size % 8 == 0 ? 8 : elem_size % 4 == 0 ? 4 : elem_size % 2 == 0 ? 2 : 1;
}

/* The finalizer of SplitMix64: a permutation of the 64-bit integers. */
BENCH_CODED uint64_t bench_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Words of 8 bytes: exponent 0x380 + 7 random bits; of 4 bytes: exponent 0x40 + 6 random bits. */
BENCH_CODED uint64_t bench_code(uint64_t w, unsigned word_bytes)
{
	uint64_t x = bench_mix(w);

	if (word_bytes == 8)
		return (x & 0x87ffffffffffffffu) + 0x3800000000000000u;
	if (word_bytes == 4)
		return (x & 0x9fffffffu) + 0x20000000u;
	return x;
}

/* The code that word l of element (r, c) must hold. */
BENCH_CODED uint64_t bench_expected(const struct bench_coded *m, uint64_t r, uint64_t c, uint64_t l,
				    unsigned word_bytes)
{
	const int inside = c < m->width;
	const uint64_t here = m->first + (r * m->ld + c) * m->words + l;

	if (inside && m->expect == BENCH_TRANSPOSED)
		return bench_code(m->first + (c * m->ld_before + r) * m->words + l, word_bytes);
	return inside ? ~bench_code(here, word_bytes) : bench_code(here, word_bytes);
}

#endif /* TSW_BENCH_CODED_H */
