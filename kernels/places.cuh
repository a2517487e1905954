/* Where a tile's rows and columns lie: what the kernels of a distributed matrix share. */
#ifndef TSW_PLACES_CUH
#define TSW_PLACES_CUH

#include "device.cuh"
#include "exchange.h"

/* Local index of index i. */
static inline __device__ uint64_t tsw_index_at(const struct tsw_index_map *x, uint32_t i)
{
	uint32_t low = 0, high = x->runs;
	uint32_t j, period;

	if (high == 0)
		return i;
	period = i / x->period;
	j = i - period * x->period;
	while (high - low > 1) {
		const uint32_t middle = (low + high) / 2;

		if (x->run[middle].at <= j)
			low = middle;
		else
			high = middle;
	}
	return (uint64_t)period * x->step + x->run[low].local + (j - x->run[low].at);
}

/* Tile (i, j) of an exchange, and the byte offsets of its rows and columns in both places. */
struct tsw_exchange_tile {
	uint64_t *from_row, *from_col, *to_row, *to_col; /* in shared memory, `side` of each */
	uint32_t rows, cols;				 /* of `from` */
	int back; /* what stands at `to` goes to `from` too */
};

/* A barrier must follow before the offsets are read. */
static inline __device__ struct tsw_exchange_tile
tsw_exchange_find(const struct tsw_exchange *p, uint64_t *offsets, uint32_t width)
{
	const uint64_t k = p->first + blockIdx.x;
	const uint32_t side = p->side;
	struct tsw_pair at;
	struct tsw_exchange_tile t;
	uint32_t row, col;

	if (p->square) {
		at = tsw_pair_at(k);
	} else {
		at.i = (uint32_t)(k / p->tiles);
		at.j = (uint32_t)(k % p->tiles);
	}
	row = at.i * side;
	col = at.j * side;
	t.rows = p->from.rows.count - row < side ? p->from.rows.count - row : side;
	t.cols = p->from.cols.count - col < side ? p->from.cols.count - col : side;
	t.back = p->both && !(p->square && at.i == at.j);
	t.from_row = offsets;
	t.from_col = offsets + side;
	t.to_row = offsets + 2 * side;
	t.to_col = offsets + 3 * side;
	for (uint32_t x = threadIdx.x; x < side; x += blockDim.x) {
		if (x < t.rows) {
			t.from_row[x] = tsw_index_at(&p->from.rows, row + x) * p->from.pitch;
			t.to_col[x] = tsw_index_at(&p->to.cols, row + x) * width;
		}
		if (x < t.cols) {
			t.from_col[x] = tsw_index_at(&p->from.cols, col + x) * width;
			t.to_row[x] = tsw_index_at(&p->to.rows, col + x) * p->to.pitch;
		}
	}
	return t;
}

#endif /* TSW_PLACES_CUH */
