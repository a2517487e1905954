/* The stream kernel for elements of one unit in matrices with ld = n: a thread gathers the elements
 * of a 16-byte vector of a run and writes it at once; the vectors at a run's two ends, which
 * neighbours share, element by element.  stream.cuh has the whole picture.  Included once per
 * width. */

#define STREAM_PASTE_(a, b) a##b
#define STREAM_PASTE(a, b) STREAM_PASTE_(a, b)
#define STREAM_NAME(part) STREAM_PASTE(STREAM_KERNEL, part)
#define STREAM_V (16 / (int)sizeof(STREAM_UNIT))

/* An element of the chunk: its place in memory, and its mirror image's in shared memory. */
struct STREAM_NAME(_walk) {
	uint32_t r, c; /* of the element, in its matrix */
	uint32_t from; /* the mirror image's byte of the slots */
};

/* Begins with element x of a run. */
static inline __device__ struct STREAM_NAME(_walk)
	STREAM_NAME(_begin)(const struct tsw_chunks *p, const struct tsw_stretch *t, uint32_t x)
{
	const uint32_t b = tsw_over(x, p->by_matrix);
	const uint32_t within = x - b * p->elements;
	struct STREAM_NAME(_walk) w;

	w.r = tsw_over(within, p->by_n);
	w.c = within - w.r * p->n;
	w.from = t->slot + t->misaligned + b * p->matrix_step + w.c * p->row_step +
		 w.r * (uint32_t)sizeof(STREAM_UNIT);
	return w;
}

/* The element after: the next column's mirror image lies a row below, the next row's at the top. */
static inline __device__ void STREAM_NAME(_next)(const struct tsw_chunks *p,
						 struct STREAM_NAME(_walk) * w)
{
	w->from += p->row_step;
	if (++w->c == p->n) {
		w->c = 0;
		w->from -= (p->elements - 1) * (uint32_t)sizeof(STREAM_UNIT);
		if (++w->r == p->n) {
			w->r = 0;
			w->from += p->matrix_step - p->row_step;
		}
	}
}

__global__ void __launch_bounds__(512) STREAM_KERNEL(const struct tsw_chunks p)
{
	TSW_DYNAMIC_SHARED(uint4, tsw_tiles_shared);

	unsigned char *const shared = (unsigned char *)tsw_tiles_shared;
	const struct tsw_chunk chunk = tsw_chunk_of_block(&p);
	const int length = (int)(chunk.run_bytes / sizeof(STREAM_UNIT));

	tsw_fetch_chunk(&p, &chunk, shared, sizeof(STREAM_UNIT));
#pragma unroll 2
	for (uint32_t v = threadIdx.x; v < chunk.runs * p.slot; v += blockDim.x) {
		const struct tsw_stretch t = tsw_stretch_at(&p, &chunk, v);
		/* The element of the run that the vector begins with; the first may lie before it.
		 */
		const int x = ((int)t.at - (int)t.misaligned) / (int)sizeof(STREAM_UNIT);
		char *const to = t.run - t.misaligned + t.at;
		union {
			uint4 vector;
			STREAM_UNIT element[STREAM_V];
		} out;

		if (x >= 0 && x + STREAM_V <= length) {
			struct STREAM_NAME(_walk) w = STREAM_NAME(_begin)(&p, &t, (uint32_t)x);

			if (p.n % STREAM_V == 0 && t.misaligned == 0) {
				/* No vector goes on to the next row. */
#pragma unroll
				for (int k = 0; k < STREAM_V; k++)
					out.element[k] =
						*(const STREAM_UNIT
							  *)(shared +
							     tsw_swizzled(
								     &p,
								     w.from + (uint32_t)k *
										      p.row_step));
			} else {
#pragma unroll
				for (int k = 0; k < STREAM_V; k++) {
					out.element[k] =
						*(const STREAM_UNIT *)(shared +
								       tsw_swizzled(&p, w.from));
					STREAM_NAME(_next)(&p, &w);
				}
			}
			*(uint4 *)to = out.vector;
		} else {
			const int first = x < 0 ? -x : 0;
			const int last = length - x < STREAM_V ? length - x : STREAM_V;
			struct STREAM_NAME(_walk) w =
				STREAM_NAME(_begin)(&p, &t, (uint32_t)(x + first));

#pragma unroll 1
			for (int k = first; k < last; k++) {
				((STREAM_UNIT *)to)[k] =
					*(const STREAM_UNIT *)(shared + tsw_swizzled(&p, w.from));
				STREAM_NAME(_next)(&p, &w);
			}
		}
	}
}

#undef STREAM_PASTE_
#undef STREAM_PASTE
#undef STREAM_NAME
#undef STREAM_V
#undef STREAM_UNIT
#undef STREAM_KERNEL
