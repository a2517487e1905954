/* Sixteen bytes from where they lie to where a register wants them. */
#ifndef TSW_REALIGN_CUH
#define TSW_REALIGN_CUH

#include "device.cuh"

/* Bytes o .. o + 15 of two vectors side by side, o < 16; o is a multiple of `unit`. */
static inline __device__ uint4 tsw_middle(uint4 low, uint4 high, uint32_t o, uint32_t unit)
{
	const int two = (o & 8) != 0, one = (o & 4) != 0; /* words to go */
	const uint32_t a = two ? low.z : low.x, b = two ? low.w : low.y, c = two ? high.x : low.z;
	const uint32_t d = two ? high.y : low.w, e = two ? high.z : high.x;
	uint32_t v = one ? b : a, w = one ? c : b, x = one ? d : c, y = one ? e : d;

	if (unit % 4) {
		const uint32_t f = two ? high.w : high.y, z = one ? f : e;

		v = __funnelshift_r(v, w, o % 4 * 8);
		w = __funnelshift_r(w, x, o % 4 * 8);
		x = __funnelshift_r(x, y, o % 4 * 8);
		y = __funnelshift_r(y, z, o % 4 * 8);
	}
	return make_uint4(v, w, x, y);
}

/* `count` words, at most 6, that lie m bytes after `shared`, a multiple of 4, or of 8 where `count`
 * is even: then they are loaded in pairs.  `wanted` bytes of them, if fewer; the others may be
 * anything. */
static inline __device__ void tsw_words_at(const unsigned char *shared, uint32_t m, uint32_t wanted,
					   uint32_t *out, uint32_t count)
{
#ifdef __CUDA_ARCH__
	const int odd = count % 2 == 0 && m & 4;
	uint32_t in[8];

	(void)wanted;
	if (count % 2 == 0) {
		const uint2 *const pair = (const uint2 *)(shared + m / 8 * 8);

#pragma unroll
		for (uint32_t w = 0; w < count / 2 + 1; w++) {
			in[2 * w] = pair[w].x;
			in[2 * w + 1] = pair[w].y;
		}
	} else {
#pragma unroll
		for (uint32_t w = 0; w < count + 1; w++)
			in[w] = ((const uint32_t *)(shared + m / 4 * 4))[w];
	}
#pragma unroll
	for (uint32_t w = 0; w < count; w++)
		out[w] = odd ? __funnelshift_r(in[w + 1], in[w + 2], m % 4 * 8)
			     : __funnelshift_r(in[w], in[w + 1], m % 4 * 8);
#else
	union {
		unsigned char byte[24];
		uint32_t word[6];
	} in = {{0}};

	for (uint32_t b = 0; b < count * 4 && b < wanted; b++)
		in.byte[b] = shared[m + b];
	for (uint32_t w = 0; w < count; w++)
		out[w] = in.word[w];
#endif
}

/* A vector that lies in two, from byte o of the first on; o is a multiple of `unit`. */
static inline __device__ uint4 tsw_vector_of_two(const unsigned char *low,
						 const unsigned char *high, uint32_t o,
						 uint32_t unit)
{
	return tsw_middle(*(const uint4 *)low, *(const uint4 *)high, o, unit);
}

/* ---- blocks of 4 x 4 elements, rows of as many words as an element has bytes: transposed ---- */

static inline __device__ void tsw_turn_words_1(uint32_t row[4][1])
{
	const uint4 v = tsw_turn_bytes(row[0][0], row[1][0], row[2][0], row[3][0]);

	row[0][0] = v.x;
	row[1][0] = v.y;
	row[2][0] = v.z;
	row[3][0] = v.w;
}

static inline __device__ void tsw_turn_words_2(uint32_t row[4][2])
{
	uint32_t low[2][2], high[2][2]; /* columns 0 and 2, 1 and 3; of rows 0 and 1, 2 and 3 */

#pragma unroll
	for (int w = 0; w < 2; w++)
#pragma unroll
		for (int h = 0; h < 2; h++) {
			low[w][h] = tsw_low_halves(row[2 * h][w], row[2 * h + 1][w]);
			high[w][h] = tsw_high_halves(row[2 * h][w], row[2 * h + 1][w]);
		}
#pragma unroll
	for (int w = 0; w < 2; w++)
#pragma unroll
		for (int h = 0; h < 2; h++) {
			row[2 * w][h] = low[w][h];
			row[2 * w + 1][h] = high[w][h];
		}
}

static inline __device__ void tsw_turn_words_3(uint32_t row[4][3])
{
	uint32_t e[4][4]; /* elements, in the low three bytes of a word */

#pragma unroll
	for (int i = 0; i < 4; i++) {
		e[i][0] = row[i][0];
		e[i][1] = __funnelshift_r(row[i][0], row[i][1], 24);
		e[i][2] = __funnelshift_r(row[i][1], row[i][2], 16);
		e[i][3] = row[i][2] >> 8;
	}
#pragma unroll
	for (int i = 0; i < 4; i++) {
		row[i][0] = __byte_perm(e[0][i], e[1][i], 0x4210);
		row[i][1] = __byte_perm(e[1][i], e[2][i], 0x5421);
		row[i][2] = __byte_perm(e[2][i], e[3][i], 0x6542);
	}
}

/* The higher half of x and the lower half of y. */
static inline __device__ uint32_t tsw_high_low(uint32_t x, uint32_t y)
{
	return __byte_perm(x, y, 0x5432);
}

/* An element of 6 bytes is a word and a half: w[0], and the lower half of w[1]. */
static inline __device__ void tsw_turn_words_6(uint32_t row[4][6])
{
	uint32_t e[4][4][2];

#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int c = 0; c < 4; c += 2) {
			const uint32_t *const w = row[i] + c * 3 / 2;

			e[i][c][0] = w[0];
			e[i][c][1] = w[1];
			e[i][c + 1][0] = tsw_high_low(w[1], w[2]);
			e[i][c + 1][1] = w[2] >> 16;
		}
#pragma unroll
	for (int c = 0; c < 4; c++)
#pragma unroll
		for (int i = 0; i < 4; i += 2) {
			uint32_t *const w = row[c] + i * 3 / 2;

			w[0] = e[i][c][0];
			w[1] = tsw_low_halves(e[i][c][1], e[i + 1][c][0]);
			w[2] = tsw_high_low(e[i + 1][c][0], e[i + 1][c][1]);
		}
}

#endif /* TSW_REALIGN_CUH */
