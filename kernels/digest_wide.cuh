/* The checksum kernel for elements of any size.  A thread owns a unit of an element, so that
 * neighbouring threads read neighbouring units:
 *
 *      strip:   element 0       element 1       element 2        (as many whole elements as there
 *            | 0 1 2 3 4 5 6 | 0 1 2 3 4 5 6 | 0 1 2 3 4 5 6 |    are threads, at least one)
 *      thread  0 1 2 3 4 5 6   7 8 ...
 *
 * `placed` is linear in the units, and their sums stay with the thread until the end of the band.
 * `values` needs whole elements: the threads leave delta times their unit in shared memory, and
 * groups of lanes add up the units of one element.  An element with more units than there are
 * threads is taken piece by piece, all rows of the band for each; what its units add up to is kept
 * for each row meanwhile.  Included with WIDE_KERNEL and WIDE_UNIT, the type of the unit.
 */
#define WIDE_LIMBS (sizeof(WIDE_UNIT) == 8 ? 2 : 1)
#define WIDE_ROWS 8 /* loaded together */

__global__ void __launch_bounds__(DIGEST_THREADS, 3) WIDE_KERNEL(const struct tsw_digest_task p)
{
	__shared__ uint32_t alpha[TSW_DIGEST_ROWS][4];
	__shared__ uint64_t part[WIDE_ROWS][DIGEST_THREADS];
	__shared__ uint64_t whole[TSW_DIGEST_ROWS]; /* of elements in pieces */
	const struct digest_place at = digest_place_of(&p, p.first + blockIdx.x);
	const uint32_t t = threadIdx.x;
	const uint64_t units = p.elem_size / sizeof(WIDE_UNIT);
	const uint32_t elements = (uint32_t)(p.n - at.col < p.strip ? p.n - at.col : p.strip);
	const uint64_t width = elements * units;
	const int pieces = units > DIGEST_THREADS;
	/* Lanes that add up an element, and elements that the block adds up at a time. */
	const uint32_t lanes = units < 16 ? 1 : units < 128 ? 8 : 32;
	const uint32_t groups = DIGEST_THREADS / lanes;
	uint64_t placed = 0, values = 0;

	digest_alpha(&p, &at, alpha);
	for (uint32_t r = t; r < at.rows; r += DIGEST_THREADS)
		whole[r] = 0;
	for (uint64_t first = 0; first < width; first += DIGEST_THREADS) {
		const uint64_t position = first + t;
		const uint32_t span =
			(uint32_t)(width - first < DIGEST_THREADS ? width - first : DIGEST_THREADS);
		const uint32_t each = pieces ? span : (uint32_t)units; /* units of a sum */
		const uint64_t element = position / units;
		const uint64_t byte = (position - element * units) * sizeof(WIDE_UNIT);
		const uint64_t delta = tsw_delta(byte / 8) << 8 * (byte % 8);
		const WIDE_UNIT *const mine =
			(const WIDE_UNIT *)(at.base + at.col * p.elem_size) + position;
		uint64_t s[2][3] = {{0}};

		for (uint32_t r = 0; r < at.rows; r += WIDE_ROWS) {
			WIDE_UNIT x[WIDE_ROWS];

#pragma unroll
			for (uint32_t i = 0; i < WIDE_ROWS; i++)
				x[i] = t < span && r + i < at.rows
					       ? *(const WIDE_UNIT *)((const char *)mine +
								      (r + i) * p.stride)
					       : 0;
#pragma unroll
			for (uint32_t i = 0; i < WIDE_ROWS; i++) {
				const uint32_t *const a = alpha[(r + i) % TSW_DIGEST_ROWS];

#pragma unroll
				for (int k = 0; k < 3; k++) {
					s[0][k] += (uint64_t)(uint32_t)x[i] * a[k];
					if (WIDE_LIMBS == 2)
						s[1][k] += ((uint64_t)x[i] >> 32) * a[k];
				}
				part[i][t] = delta * x[i];
			}
			__syncthreads();
			/* Sum number q is that of element q % (elements) in row q / (elements). */
			for (uint32_t q0 = 0; q0 < WIDE_ROWS * elements; q0 += groups) {
				const uint32_t q = q0 + t / lanes, i = q / elements;
				const uint32_t from = (q - i * elements) * each;
				uint64_t y = 0;

				/* Groups begin at different units, for the banks' sake. */
				for (uint32_t u = t % lanes; i < WIDE_ROWS && u < each; u += lanes)
					y += part[i][from + (lanes == 1 ? (u + t) % each : u)];
				for (uint32_t l = lanes / 2; l; l /= 2)
					y += __shfl_xor_sync(0xffffffffu, y, l);
				if (t % lanes == 0 && i < WIDE_ROWS && r + i < at.rows) {
					if (pieces)
						whole[r + i] += y;
					else
						values += tsw_value(y);
				}
			}
			__syncthreads();
		}
		if (t < span) {
			const uint64_t weight = tsw_weight(p.col_seed, at.col + element);
			uint64_t limbs = 0;

#pragma unroll
			for (int l = 0; l < (int)WIDE_LIMBS; l++)
				limbs = tsw_add_p(
					limbs, tsw_mul_p(tsw_join_pieces(s[l][0], s[l][1], s[l][2]),
							 tsw_gamma(byte / 4 + l)));
			limbs = tsw_shift_p(limbs, 8 * (byte % 4));
			placed = tsw_add_p(placed, tsw_mul_p(limbs, weight));
		}
	}
	__syncthreads();
	for (uint32_t r = t; pieces && r < at.rows; r += DIGEST_THREADS)
		values += tsw_value(whole[r]);
	digest_add_block(p.slot, placed, values);
}

#undef WIDE_LIMBS
#undef WIDE_ROWS
#undef WIDE_KERNEL
#undef WIDE_UNIT
