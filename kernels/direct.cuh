/* Small matrices, for which all that counts is how soon the last block is done: no shared memory
 * and no barrier.
 *
 * A thread takes a block of B x B elements and its mirror image, loads both, turns both in its
 * registers, and writes each where the other was:
 *
 *           j                       j
 *     + - + - + - +           + - + - + - +
 *     |   |   |   |           |   |   |   |
 *     + - + - + - +           + - + - + - +
 *   i |   | . | u |         i |   | . | v'|      ' = turned
 *     + - + - + - +           + - + - + - +
 *     |   | v | . |           |   | u'| . |
 *     + - + - + - +           + - + - + - +
 *
 * A row of a block is one vector: rows of the matrix begin at multiples of its size, and n is a
 * multiple of B.  SIDE x SIDE blocks, one a thread, make a tile, of which each row is SIDE vectors
 * beside one another, in u's place by neighbouring threads, in v's by threads SIDE apart.  Large
 * matrices want longer rows than that.  In tiles on the diagonal almost half of the threads have
 * nothing to do.
 *
 * Included once per form: DIRECT_WIDTH, DIRECT_B, DIRECT_VECTOR, DIRECT_TURN, DIRECT_SIDE. */

__global__ void __launch_bounds__(DIRECT_SIDE *DIRECT_SIDE) DIRECT_KERNEL(const struct tsw_tiles p)
{
	const uint64_t k = p.first + blockIdx.x;
	const uint64_t matrix = k < p.pairs ? 0 : k / p.pairs;
	const struct tsw_pair t = tsw_pair_at(k - matrix * p.pairs);
	const uint32_t x = threadIdx.x % DIRECT_SIDE, y = threadIdx.x / DIRECT_SIDE;
	const uint64_t row = ((uint64_t)t.i * DIRECT_SIDE + y) * DIRECT_B;
	const uint64_t col = ((uint64_t)t.j * DIRECT_SIDE + x) * DIRECT_B;
	const uint64_t pitch = p.ld * DIRECT_WIDTH;
	const int ours = row <= col && col < p.n;
	char *const a = (tsw_wait_for_predecessor(), tsw_matrix(&p, matrix));
	char *const upper = a + row * pitch + col * DIRECT_WIDTH;
	char *const lower = a + col * pitch + row * DIRECT_WIDTH;
	DIRECT_VECTOR u[DIRECT_B], v[DIRECT_B];

	if (ours) {
#pragma unroll
		for (uint32_t q = 0; q < DIRECT_B; q++) {
			u[q] = *(const DIRECT_VECTOR *)(upper + q * pitch);
			v[q] = *(const DIRECT_VECTOR *)(lower + q * pitch);
		}
	}
	tsw_let_successor_start();
	if (!ours)
		return;
	DIRECT_TURN(u);
	DIRECT_TURN(v);
#pragma unroll
	for (uint32_t q = 0; q < DIRECT_B; q++) {
		*(DIRECT_VECTOR *)(lower + q * pitch) = u[q];
		if (row != col)
			*(DIRECT_VECTOR *)(upper + q * pitch) = v[q];
	}
}

#undef DIRECT_WIDTH
#undef DIRECT_B
#undef DIRECT_VECTOR
#undef DIRECT_TURN
#undef DIRECT_SIDE
#undef DIRECT_KERNEL
