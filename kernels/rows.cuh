/* imatcopy where nothing changes places: op N and R, and alpha = 0, which only writes.
 *
 * A warp takes a segment of a row: ROWS_SEGMENT bytes between multiples of 16, of which each lane
 * has ROWS_DEPTH vectors in flight.  Rows begin and end anywhere within their first and last
 * vector; what is not a whole vector goes element by element, and so does everything where elements
 * of 16 bytes lie at odd multiples of 8.
 *
 *     ..|.......abc|defghijk|lmno.......|..      | every 16 bytes
 *               ROWS_SEGMENT from here
 *
 * A row is p.n elements, and a matrix p.side rows; rows without gaps between them are one.  p.units
 * is the number of segments of a row, p.pairs that of all rows of all matrices.  Included once per
 * type; ROWS_FINISH names the functions of epilogue.cuh. */

#define ROWS_PASTE_(a, b) a##b
#define ROWS_PASTE(a, b) ROWS_PASTE_(a, b)
#define ROWS_NAME(part) ROWS_PASTE(ROWS_KERNEL, part)
#define ROWS_VECTOR ROWS_PASTE(ROWS_FINISH, _vector)
#define ROWS_WIDTH (uint32_t)sizeof(ROWS_UNIT)

/* One element at any multiple of its unit, at most 8. */
static inline __device__ void ROWS_NAME(_element)(const struct tsw_epilogue *e, char *a)
{
#if ROWS_HALVES
	uint64_t *const half = (uint64_t *)a;
	const uint64_t x = half[0], y = half[1];

	half[0] = e->kind == TSW_ZERO ? 0 : tsw_finish_z_half(e, x, y, 0);
	half[1] = e->kind == TSW_ZERO ? 0 : tsw_finish_z_half(e, y, x, 1);
#else
	*(ROWS_UNIT *)a = e->kind == TSW_ZERO ? 0 : ROWS_FINISH(e, *(const ROWS_UNIT *)a);
#endif
}

__global__ void __launch_bounds__(ROWS_THREADS) ROWS_KERNEL(const struct tsw_tiles p)
{
	const uint64_t segment = (p.first + blockIdx.x) * (ROWS_THREADS / 32) + threadIdx.x / 32;
	const uint64_t row = segment / p.units;
	const uint64_t matrix = row < p.side ? 0 : row / p.side;
	const uint64_t bytes = p.n * ROWS_WIDTH;
	const int zero = p.epilogue.kind == TSW_ZERO;
	uint4 v[ROWS_DEPTH];

	if (segment >= p.pairs)
		return;

	char *const a = tsw_matrix(&p, matrix) + (row - matrix * p.side) * p.ld * ROWS_WIDTH;
	const uint32_t skew = (uint32_t)(uintptr_t)a & (ROWS_HALVES ? 7 : 15);
	const int aligned = !ROWS_HALVES || (uintptr_t)a % 16 == 0;
	/* This lane's first vector, counted from a - skew. */
	const uint64_t first = (segment - row * p.units) * ROWS_SEGMENT + threadIdx.x % 32 * 16;

#pragma unroll
	for (uint32_t q = 0; q < ROWS_DEPTH; q++) {
		const uint64_t at = first + q * 512;

		v[q] = make_uint4(0, 0, 0, 0);
		if (!zero && aligned && at >= skew && at + 16 <= skew + bytes)
			v[q] = *(const uint4 *)(a + (at - skew));
	}
#pragma unroll
	for (uint32_t q = 0; q < ROWS_DEPTH; q++) {
		const uint64_t at = first + q * 512;

		if (aligned && at >= skew && at + 16 <= skew + bytes) {
			*(uint4 *)(a + (at - skew)) = zero ? v[q] : ROWS_VECTOR(&p.epilogue, v[q]);
			continue;
		}
		for (uint64_t u = at; u < at + 16; u += ROWS_WIDTH)
			if (u >= skew && u + ROWS_WIDTH <= skew + bytes)
				ROWS_NAME(_element)(&p.epilogue, a + (u - skew));
	}
}

#undef ROWS_PASTE_
#undef ROWS_PASTE
#undef ROWS_NAME
#undef ROWS_VECTOR
#undef ROWS_WIDTH
#undef ROWS_UNIT
#undef ROWS_HALVES
#undef ROWS_FINISH
#undef ROWS_KERNEL
