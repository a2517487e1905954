/* The readable tile-pair kernel, the baseline of every measurement and the oracle of every test.
 *
 * One block of 32 x 8 threads takes one pair (i, j), i <= j, of 32 x 32 tiles:
 *
 *           j                              j
 *     +---+---+---+                  +---+---+---+
 *     |   |   |   |                  |   |   |   |
 *     +---+---+---+   both tiles     +---+---+---+
 *   i |   | . | U |   are loaded,  i |   | . | L'|      ' = transposed
 *     +---+---+---+   a barrier,     +---+---+---+
 *     |   | L | . |   both written   |   | U'| . |
 *     +---+---+---+   crosswise      +---+---+---+
 *
 * A diagonal tile (i = j) is its own partner: loaded once, written once, transposed, into its own
 * place.  A warp always reads and writes runs of 32 neighbouring elements; the strided access is
 * left to shared memory, where the 33rd column puts the elements of a tile column into different
 * banks.  An element wider than the unit is moved unit by unit: unit u of (r, c) changes places
 * with unit u of (c, r).
 *
 * Included once per unit width, with TILE33_UNIT and TILE33_KERNEL defined, so that each width is a
 * function of its own for debuggers and grep.  See NVIDIA's "An Efficient Matrix Transpose in CUDA
 * C/C++" (Harris, 2013) for the out-of-place ancestor.
 */

__global__ void __launch_bounds__(32 * 8) TILE33_KERNEL(const struct tsw_tiles p)
{
	__shared__ TILE33_UNIT upper[32][33];
	__shared__ TILE33_UNIT lower[32][33];

	const uint64_t k = p.first + blockIdx.x;
	const uint64_t matrix = k / p.pairs;
	const struct tsw_pair t = tsw_pair_at(k - matrix * p.pairs);
	TILE33_UNIT *const a = (TILE33_UNIT *)tsw_matrix(&p, matrix);

	/* Tile U begins at (row, col), tile L at (col, row). */
	const uint64_t row = (uint64_t)t.i * 32;
	const uint64_t col = (uint64_t)t.j * 32;
	const uint32_t x = threadIdx.x;

	/* Columns of U are rows of L, so one pair of limits serves both tiles. */
	const uint32_t rows = (uint32_t)(p.n - row < 32 ? p.n - row : 32);
	const uint32_t cols = (uint32_t)(p.n - col < 32 ? p.n - col : 32);

	for (uint64_t unit = 0; unit < p.units; unit++) {
		TILE33_UNIT *const u = a + (row * p.ld + col) * p.units + unit;
		TILE33_UNIT *const l = a + (col * p.ld + row) * p.units + unit;

		for (uint32_t band = 0; band < 32; band += 8) {
			const uint32_t y = band + threadIdx.y;

			if (y < rows && x < cols)
				upper[y][x] = u[(y * p.ld + x) * p.units];
			if (row != col && y < cols && x < rows)
				lower[y][x] = l[(y * p.ld + x) * p.units];
		}
		__syncthreads();
		for (uint32_t band = 0; band < 32; band += 8) {
			const uint32_t y = band + threadIdx.y;

			if (y < cols && x < rows)
				l[(y * p.ld + x) * p.units] = upper[x][y];
			if (row != col && y < rows && x < cols)
				u[(y * p.ld + x) * p.units] = lower[x][y];
		}
		/* The next unit fills the tiles anew: nobody may still be reading them. */
		if (unit + 1 < p.units)
			__syncthreads();
	}
}

#undef TILE33_UNIT
#undef TILE33_KERNEL
