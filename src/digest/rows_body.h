/* The body of one tsw_dot_rows, for one instruction set.  The including file defines
 *
 *     DOT_NAME            the function
 *     DOT_TARGET          its target attribute, if any
 *     DOT_ROWS            rows taken together, so that a weight is loaded once for all of them
 *     VEC, LANES          a vector of 64-bit lanes
 *     VZERO VADD(x,y) VLOW(x) VHIGH(x) VSUM(x)
 *     VMUL(x,y)           products of the lower halves of the lanes
 *     VLOAD4(p) VLOAD3(p) VLOAD2(p) VLOAD1(p)   2 * LANES limbs of 4 .. 1 bytes, two in a lane
 *     WEIGHTS             the vectors that hold the weights of 2 * LANES limbs
 *     WLOAD(w, l)         loads them
 *     SUMS                the sums of a row
 *     WZERO(s)            clears them
 *     WADD(s, even, odd, w)   adds the products of limbs with weights; a limb lies in the lower
 * half of a lane, the upper half is 0 WSUM(s)             what they come to mod p
 *
 * A vector of 2 * LANES limbs is multiplied in two halves, the even limbs and the odd ones shifted
 * down; which lane a product is added to does not matter, all are summed in the end.
 */
#define CAT_(x, y) x##y
#define CAT(x, y) CAT_(x, y)
#define INNER CAT(DOT_NAME, _inner)

DOT_TARGET static inline __attribute__((always_inline)) void
INNER(const unsigned char *row, size_t stride, const size_t rows, size_t limbs,
      const enum tsw_rows kind, const struct tsw_weights *w, uint64_t *sum,
      struct tsw_squares *squares)
{
	const size_t size = limb_bytes(kind);
	VEC y = VZERO, low_low = VZERO, low_high = VZERO;
	SUMS s[DOT_ROWS];

	for (size_t r = 0; r < rows; r++)
		WZERO(s[r]);
	for (size_t l = 0; l < limbs; l += 2 * LANES) {
		const WEIGHTS weights = WLOAD(w, l);

		for (size_t r = 0; r < rows; r++) {
			const unsigned char *p = row + r * stride + l * size;
			const VEC x = size == 1	  ? VLOAD1(p)
				      : size == 2 ? VLOAD2(p)
				      : size == 3 ? VLOAD3(p)
						  : VLOAD4(p);
			const VEC even = VLOW(x), odd = VHIGH(x);

			/* What the same columns of the next rows hold will be wanted soon. */
			__builtin_prefetch((const void *)((uintptr_t)p + rows * stride));
			WADD(s[r], even, odd, weights);
			if (kind == TSW_ROWS_8) {
				y = VADD(y, x);
				low_low = VADD(low_low, VMUL(even, even));
				low_high = VADD(low_high, VMUL(even, odd));
			} else if (kind != TSW_ROWS_PLACED) {
				y = VADD(VADD(y, even), odd);
				low_low = VADD(VADD(low_low, VMUL(even, even)), VMUL(odd, odd));
			}
		}
	}
	for (size_t r = 0; r < rows; r++)
		sum[r] = tsw_add_p(sum[r], WSUM(s[r]));
	squares->y += VSUM(y);
	squares->low_low += VSUM(low_low);
	squares->low_high += VSUM(low_high);
}

DOT_TARGET static inline __attribute__((always_inline)) void
CAT(DOT_NAME, _all)(const unsigned char *row, size_t stride, size_t rows, size_t limbs,
		    const enum tsw_rows kind, const struct tsw_weights *w, uint64_t *sum,
		    struct tsw_squares *squares)
{
	const size_t whole = limbs - limbs % (2 * LANES);
	const size_t size = limb_bytes(kind);
	/* Where there is the least to do, fewer rows at a time come faster from memory. */
	const size_t together = kind == TSW_ROWS_8 && DOT_ROWS > 2 ? 2 : DOT_ROWS;
	size_t r = 0;

	for (; r + together <= rows; r += together)
		INNER(row + r * stride, stride, together, whole, kind, w, sum + r, squares);
	for (; r < rows; r++)
		INNER(row + r * stride, stride, 1, whole, kind, w, sum + r, squares);
	if (whole < limbs)
		for (r = 0; r < rows; r++)
			tail(row + r * stride + whole * size, whole, limbs, kind, w, sum + r,
			     squares);
}

/* The kind is made a constant, so that each has a loop of its own. */
DOT_TARGET static void DOT_NAME(const unsigned char *row, size_t stride, size_t rows, size_t limbs,
				enum tsw_rows kind, const struct tsw_weights *w, uint64_t *sum,
				struct tsw_squares *squares)
{
	switch (kind) {
	case TSW_ROWS_1:
		CAT(DOT_NAME, _all)(row, stride, rows, limbs, TSW_ROWS_1, w, sum, squares);
		break;
	case TSW_ROWS_2:
		CAT(DOT_NAME, _all)(row, stride, rows, limbs, TSW_ROWS_2, w, sum, squares);
		break;
	case TSW_ROWS_3:
		CAT(DOT_NAME, _all)(row, stride, rows, limbs, TSW_ROWS_3, w, sum, squares);
		break;
	case TSW_ROWS_4:
		CAT(DOT_NAME, _all)(row, stride, rows, limbs, TSW_ROWS_4, w, sum, squares);
		break;
	case TSW_ROWS_8:
		CAT(DOT_NAME, _all)(row, stride, rows, limbs, TSW_ROWS_8, w, sum, squares);
		break;
	case TSW_ROWS_PLACED:
		CAT(DOT_NAME, _all)(row, stride, rows, limbs, TSW_ROWS_PLACED, w, sum, squares);
		break;
	}
}

#undef CAT_
#undef CAT
#undef INNER
#undef DOT_NAME
#undef DOT_TARGET
#undef DOT_ROWS
#undef VEC
#undef LANES
#undef VZERO
#undef VADD
#undef VLOW
#undef VHIGH
#undef VSUM
#undef VMUL
#undef VLOAD4
#undef VLOAD2
#undef VLOAD3
#undef VLOAD1
#undef WEIGHTS
#undef WLOAD
#undef SUMS
#undef WZERO
#undef WADD
#undef WSUM
