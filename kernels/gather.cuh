/* A rectangle of a local part closed up into a dense buffer, which may be another device's or the
 * host's: what must be a run of bytes before it can travel.
 *
 * A block takes a segment of TSW_GATHER_ROWS rows.  Each thread looks up where its
 * TSW_GATHER_DEPTH units of a row lie, once for all rows, and stores run by runs of 32 units a
 * warp.  Included once per unit. */

#define GATHER_WIDTH (uint32_t)sizeof(GATHER_UNIT)
#define GATHER_SEGMENT (TSW_GATHER_THREADS * TSW_GATHER_DEPTH)

__global__ void __launch_bounds__(TSW_GATHER_THREADS)
	GATHER_KERNEL(const __grid_constant__ struct tsw_gather p)
{
	const uint64_t k = p.first + blockIdx.x;
	const uint32_t row = (uint32_t)(k / p.segments) * TSW_GATHER_ROWS;
	const uint64_t unit = k % p.segments * GATHER_SEGMENT + threadIdx.x;
	const uint64_t units = (uint64_t)p.from.cols.count * p.units; /* of a row */
	const uint32_t rows = p.from.rows.count - row < TSW_GATHER_ROWS ? p.from.rows.count - row
									: TSW_GATHER_ROWS;
	uint64_t col[TSW_GATHER_DEPTH];

#pragma unroll
	for (uint32_t q = 0; q < TSW_GATHER_DEPTH; q++) {
		const uint64_t f = unit + q * TSW_GATHER_THREADS;
		const uint64_t e = p.units == 1 ? f : f / p.units;

		col[q] = f < units ? (tsw_index_at(&p.from.cols, (uint32_t)e) * p.units + f -
				      e * p.units) *
					     GATHER_WIDTH
				   : 0;
	}
	for (uint32_t y = 0; y < rows; y++) {
		const char *const from =
			p.from.a + tsw_index_at(&p.from.rows, row + y) * p.from.pitch;
		char *const to = p.to + (uint64_t)(row + y) * p.pitch + unit * GATHER_WIDTH;
		GATHER_UNIT v[TSW_GATHER_DEPTH];

#pragma unroll
		for (uint32_t q = 0; q < TSW_GATHER_DEPTH; q++)
			if (unit + q * TSW_GATHER_THREADS < units)
				v[q] = *(const GATHER_UNIT *)(from + col[q]);
#pragma unroll
		for (uint32_t q = 0; q < TSW_GATHER_DEPTH; q++)
			if (unit + q * TSW_GATHER_THREADS < units)
				*(GATHER_UNIT *)(to + q * TSW_GATHER_THREADS * GATHER_WIDTH) = v[q];
	}
}

#undef GATHER_WIDTH
#undef GATHER_SEGMENT
#undef GATHER_UNIT
#undef GATHER_KERNEL
