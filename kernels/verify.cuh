/* Filling and checking on the device: the text of the kernels. */
#ifndef TSW_VERIFY_CUH
#define TSW_VERIFY_CUH

#include "../src/verify/content.h"
#include "verify.h"

#define VERIFY_THREADS 256

/* Bytes of a block of the fill: 16 a thread. */
#define VERIFY_FILL_BYTES (16 * VERIFY_THREADS)

__global__ void __launch_bounds__(VERIFY_THREADS)
	tsw_verify_fill_bytes(const struct tsw_verify_fill p)
{
	const uint64_t block = (p.first + blockIdx.x) * VERIFY_THREADS + threadIdx.x;
	const uint64_t at = block * 16;
	const struct tsw_philox bits = tsw_content_block(&p.content, block);

	if (at + 16 <= p.nbytes && (uintptr_t)p.base % 16 == 0) {
		uint4 all;

		all.x = bits.word[0];
		all.y = bits.word[1];
		all.z = bits.word[2];
		all.w = bits.word[3];
		*(uint4 *)(p.base + at) = all;
		return;
	}
	for (unsigned b = 0; b < 16 && at + b < p.nbytes; b++)
		p.base[at + b] = tsw_philox_byte(&bits, b);
}

/* The bits last used: a thread mostly wants their neighbours next. */
struct verify_bits {
	struct tsw_philox bits;
	uint64_t block;
};

static inline __device__ uint64_t verify_expect(struct verify_bits *cache,
						const struct tsw_content *content, uint64_t at,
						uint32_t unit)
{
	const uint32_t in_block = (uint32_t)at & 15;
	uint32_t low, high;

	if (cache->block != at / 16) {
		cache->block = at / 16;
		cache->bits = tsw_content_block(content, cache->block);
	}
	low = in_block & 8 ? cache->bits.word[2] : cache->bits.word[0];
	high = in_block & 8 ? cache->bits.word[3] : cache->bits.word[1];
	if (unit == 8)
		return low | (uint64_t)high << 32;
	low = in_block & 4 ? high : low;
	if (unit == 4)
		return low;
	low >>= 8 * (in_block & 3);
	return unit == 2 ? low & 0xffff : low & 0xff;
}

static inline __device__ uint64_t verify_found_at(const unsigned char *at, uint32_t unit)
{
	switch (unit) {
	case 1:
		return *at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

/* A thread walks down a column: what must stand there was filled side by side, so that one block of
 * bits serves several rows. */
__global__ void __launch_bounds__(VERIFY_THREADS)
	tsw_verify_elements(const struct tsw_verify_task p)
{
	const struct tsw_layout *const l = &p.layout;
	const uint64_t k = p.first + blockIdx.x, each = p.strips * p.bands;
	const uint64_t matrix = k / each, band = k % each / p.strips;
	const uint64_t c = k % each % p.strips * VERIFY_THREADS + threadIdx.x;
	const uint64_t end = band * TSW_VERIFY_ROWS + TSW_VERIFY_ROWS;
	struct verify_bits cache = {{{0}}, ~(uint64_t)0};
	unsigned long long wrong = 0, first = ~0ull;

	for (uint64_t r = band * TSW_VERIFY_ROWS; c < l->n && r < end && r < l->n; r++) {
		const uint64_t key = (matrix * l->n + r) * l->n + c;
		const uint64_t at = tsw_layout_at(l, matrix, r, c) * l->elem_size;
		const uint64_t source = tsw_layout_source(l, matrix, r, c) * l->elem_size;
		int differs = 0;

		for (uint64_t b = 0; b < l->elem_size; b += p.unit)
			differs |= verify_found_at(p.base + at + b, p.unit) !=
				   verify_expect(&cache, &l->content, source + b, p.unit);
		wrong += differs;
		if (differs && key >= p.from && key < first)
			first = key;
	}
	if (wrong) {
		atomicAdd(&p.found->elements, wrong);
		atomicMin(&p.found->first, first);
	}
}

/* The lanes of a warp share the blocks of 16 bytes that a gap touches. */
__global__ void __launch_bounds__(VERIFY_THREADS) tsw_verify_gaps(const struct tsw_verify_task p)
{
	const struct tsw_layout *const l = &p.layout;
	const uint64_t warps = (uint64_t)gridDim.x * (VERIFY_THREADS / 32);
	const uint64_t runs = tsw_layout_runs(l);
	unsigned long long wrong = 0, first = ~0ull;

	for (uint64_t k = blockIdx.x * (VERIFY_THREADS / 32) + threadIdx.x / 32; k < runs;
	     k += warps) {
		const uint64_t begin = (tsw_layout_run(l, k) + l->n) * l->elem_size;
		const uint64_t end = tsw_layout_run(l, k + 1) * l->elem_size;

		for (uint64_t block = begin / 16 + threadIdx.x % 32; block * 16 < end;
		     block += 32) {
			const struct tsw_philox bits = tsw_content_block(&l->content, block);

			for (unsigned b = 0; b < 16; b++) {
				const uint64_t at = block * 16 + b;

				if (at >= begin && at < end &&
				    p.base[at] != tsw_philox_byte(&bits, b)) {
					wrong++;
					first = at < first ? at : first;
				}
			}
		}
	}
	if (wrong) {
		atomicAdd(&p.found->padding_bytes, wrong);
		atomicMin(&p.found->first_padding, first);
	}
}

#endif /* TSW_VERIFY_CUH */
