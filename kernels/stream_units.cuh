/* The stream kernel for any ld and elements of any number of units: neighbouring threads write
 * neighbouring units of the window.  stream.cuh has the whole picture.  Included once per unit.
 * STREAM_FINISH, if defined, is what elements go through on their way out (epilogue.cuh); with
 * STREAM_HALVES they are two units each, finished with a look at the other one. */

#if defined STREAM_FINISH && defined STREAM_HALVES
#define STREAM_OUT(p, unit, other, half) STREAM_FINISH(&(p)->epilogue, unit, other, half)
#elif defined STREAM_FINISH
#define STREAM_OUT(p, unit, other, half) STREAM_FINISH(&(p)->epilogue, unit)
#else
#define STREAM_OUT(p, unit, other, half) (unit)
#endif

__global__ void __launch_bounds__(512) STREAM_KERNEL(const struct tsw_chunks p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_tiles_shared);

	unsigned char *const shared = (unsigned char *)tsw_tiles_shared;
	const struct tsw_chunk chunk = tsw_chunk_of_block(&p);
	const uint32_t units = chunk.count * p.elements * p.units;
	const uint32_t elem_size = p.units * (uint32_t)sizeof(STREAM_UNIT);

	tsw_fetch_chunk(&p, &chunk, shared, sizeof(STREAM_UNIT));
#pragma unroll 4
	for (uint32_t u = threadIdx.x; u < units; u += blockDim.x) {
		const uint32_t e = tsw_over(u, p.by_units), b = tsw_over(e, p.by_matrix);
		const uint32_t within = e - b * p.elements, r = tsw_over(within, p.by_n);
		const uint32_t c = within - r * p.n;
		const uint32_t byte = (u - e * p.units) * (uint32_t)sizeof(STREAM_UNIT);
		char *const a = tsw_chunks_matrix(&p, chunk.begin + b);
		/* Of the run that holds (c, r): rows that are runs are misaligned each in its own
		 * way. */
		const char *const run = p.runs == 0 ? chunk.a : p.runs == 1 ? a : a + c * p.pitch;
		const uint32_t from = b * p.matrix_step + c * p.row_step + tsw_misaligned(run) +
				      r * elem_size + byte;

		*(STREAM_UNIT *)(a + r * p.pitch + c * elem_size + byte) = STREAM_OUT(
			&p, *(const STREAM_UNIT *)(shared + tsw_swizzled(&p, from)),
			*(const STREAM_UNIT *)(shared +
					       tsw_swizzled(&p, byte ? from - byte : from + 8)),
			byte != 0);
	}
}

#undef STREAM_OUT
#undef STREAM_UNIT
#undef STREAM_KERNEL
