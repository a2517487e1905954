/* What the checksum kernels share.
 *
 * `placed` is summed up column by column: x alpha(r), for each limb or byte of a column, with alpha
 * cut into pieces so that 64 or 32 bits hold the sums.  alpha of the rows of a band lies in shared
 * memory.  Only at the end of the band are the sums multiplied by what is left of their weights,
 * beta(c) gamma(l), added up over the block, and added to the slot.  Here a thread owns a few
 * columns, or limbs of columns, and walks down the rows; digest_product.cuh has it otherwise:
 *
 *          alpha      columns of a strip, a few a thread
 *         +-----+    +---+---+---+---+---+---+---+---+
 *    r    |  p  |    | x | x |   |   |   |   |   |   |
 *    r+1  |  p  |    | x | x |   |   |   |   |   |   |        sum_r x alpha(r)
 *    ...  |  p  |    | x | x |   |   |   |   |   |   |       ------------------>  . beta gamma
 *         +-----+    +---+---+---+---+---+---+---+---+
 */
#ifndef TSW_DIGEST_CUH
#define TSW_DIGEST_CUH

#include "../src/digest/digest_math.h"
#include "digest.h"

#define DIGEST_THREADS 256

/* A block's place in the matrix. */
struct digest_place {
	uint64_t row, col; /* of its first element */
	uint64_t pitch;	   /* bytes from one of its rows to its next */
	uint32_t rows;
	const char *base; /* of row `row` */
};

/* The rows of the matrix fall into 2^step_log classes, those of a block are of one:
 *
 *     step 4:   rows 0 4 8 ... | 1 5 9 ... | 2 6 10 ... | 3 7 11 ...   and then the next bands
 *
 * 2^step_log times the stride is a multiple of the vector, so that all of them lie equally to it.
 */
static inline __device__ struct digest_place digest_place_of(const struct tsw_digest_task *p,
							     uint64_t block)
{
	const uint64_t line = block / p->strips; /* of strips side by side */
	const uint64_t kind = line & (((uint64_t)1 << p->step_log) - 1);
	const uint64_t before = (line >> p->step_log) * p->band_rows; /* rows of the kind */
	const uint64_t row = kind + (before << p->step_log);
	const uint64_t left = row < p->n ? ((p->n - row - 1) >> p->step_log) + 1 : 0;
	struct digest_place at;

	at.row = row;
	at.col = (block - line * p->strips) * p->strip;
	at.pitch = p->stride << p->step_log;
	at.rows = (uint32_t)(left < p->band_rows ? left : p->band_rows);
	at.base = p->base + at.row * p->stride;
	return at;
}

/* The pieces of alpha of the band's rows, for all threads; zero past the last row. */
static inline __device__ void digest_alpha(const struct tsw_digest_task *p,
					   const struct digest_place *at, uint32_t (*alpha)[4])
{
	for (uint32_t r = threadIdx.x; r < TSW_DIGEST_ROWS; r += DIGEST_THREADS) {
		const uint64_t w = r < at->rows ? tsw_weight(p->row_seed, at->row + r) : 0;

		alpha[r][0] = tsw_piece0(w);
		alpha[r][1] = tsw_piece1(w);
		alpha[r][2] = tsw_piece2(w);
	}
	__syncthreads();
}

/* Adds up what the threads of a block found, and adds that to the slot. */
static inline __device__ void digest_add_block(struct tsw_digest_slot *slot, uint64_t placed,
					       uint64_t values)
{
	__shared__ uint64_t warp_placed[DIGEST_THREADS / 32];
	__shared__ uint64_t warp_values[DIGEST_THREADS / 32];
	const uint32_t t = threadIdx.x;

	for (uint32_t lanes = 16; lanes; lanes /= 2) {
		placed = tsw_add_p(placed, __shfl_xor_sync(0xffffffffu, placed, lanes));
		values += __shfl_xor_sync(0xffffffffu, values, lanes);
	}
	if (t % 32 == 0) {
		warp_placed[t / 32] = placed;
		warp_values[t / 32] = values;
	}
	__syncthreads();
	if (t == 0) {
		for (uint32_t w = 1; w < DIGEST_THREADS / 32; w++) {
			placed = tsw_add_p(placed, warp_placed[w]);
			values += warp_values[w];
		}
		atomicAdd(&slot->placed_low, (unsigned long long)(placed & 0xffffffffu));
		atomicAdd(&slot->placed_high, (unsigned long long)(placed >> 32));
		atomicAdd(&slot->values, (unsigned long long)values);
	}
}

#endif /* TSW_DIGEST_CUH */
