/* The stream kernel for elements of one unit in matrices with ld = n: a thread gathers the elements
 * of a 16-byte vector of a run and writes it at once; the vectors at a run's two ends, which
 * neighbours share, element by element.  stream.cuh has the whole picture.  Included once per
 * width.  STREAM_FINISH, if defined, names the functions that elements go through on their way out
 * (epilogue.cuh). */

#define STREAM_PASTE_(a, b) a##b
#define STREAM_PASTE(a, b) STREAM_PASTE_(a, b)
#define STREAM_NAME(part) STREAM_PASTE(STREAM_KERNEL, part)
#define STREAM_V (16 / (int)sizeof(STREAM_UNIT)) /* elements of a vector */

#ifdef STREAM_FINISH
#define STREAM_OUT(p, unit) STREAM_FINISH(&(p)->epilogue, unit)
#define STREAM_OUT_VECTOR(p, v) STREAM_PASTE(STREAM_FINISH, _vector)(&(p)->epilogue, v)
#else
#define STREAM_OUT(p, unit) (unit)
#define STREAM_OUT_VECTOR(p, v) (v)
#endif

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

/* The mirror image that lies at byte `from`; `swizzled` is p->swizzle != 0. */
static inline __device__ STREAM_UNIT STREAM_NAME(_get)(const struct tsw_chunks *p,
						       const unsigned char *shared, uint32_t from,
						       int swizzled)
{
	return *(const STREAM_UNIT *)(shared + (swizzled ? tsw_swizzled(p, from) : from));
}

/* The elements of a whole vector.  For n >= V it goes on to the next row once at most; not at all
 * where `wraps` is 0. */
static inline __device__ void STREAM_NAME(_gather)(const struct tsw_chunks *p,
						   const unsigned char *shared,
						   const struct STREAM_NAME(_walk) * w,
						   STREAM_UNIT out[STREAM_V], int swizzled,
						   int wraps)
{
	const uint32_t next = p->n - w->c; /* the first element of the next row */
	const uint32_t row = (p->elements - 1) * (uint32_t)sizeof(STREAM_UNIT);
	const uint32_t back = w->r + 1 < p->n ? row : row - (p->matrix_step - p->row_step);

#pragma unroll
	for (uint32_t k = 0; k < STREAM_V; k++) {
		uint32_t from = w->from + k * p->row_step;

		if (wraps && k >= next)
			from -= back;
		out[k] = STREAM_NAME(_get)(p, shared, from, swizzled);
	}
}

/* Writes a vector of a run; the first and the last may lie half outside of it. */
static inline __device__ void STREAM_NAME(_put)(const struct tsw_chunks *p,
						const unsigned char *shared,
						const struct tsw_stretch *t, int length)
{
	const int x = ((int)t->at - (int)t->misaligned) / (int)sizeof(STREAM_UNIT);
	const int first = x < 0 ? -x : 0;
	const int last = length - x < STREAM_V ? length - x : STREAM_V;
	struct STREAM_NAME(_walk) w = STREAM_NAME(_begin)(p, t, (uint32_t)(x + first));
	STREAM_UNIT *const to = (STREAM_UNIT *)(t->run - t->misaligned + t->at);
	union {
		uint4 vector;
		STREAM_UNIT element[STREAM_V];
	} out;

	if (last - first < STREAM_V) {
#pragma unroll 1
		for (int k = first; k < last; k++) {
			to[k] = STREAM_OUT(p, STREAM_NAME(_get)(p, shared, w.from, 1));
			STREAM_NAME(_next)(p, &w);
		}
		return;
	}
	/* All threads of a warp take the same way, if their runs are aligned alike. */
	if (p->n < STREAM_V) {
#pragma unroll
		for (int k = 0; k < STREAM_V; k++) {
			out.element[k] = STREAM_NAME(_get)(p, shared, w.from, 1);
			STREAM_NAME(_next)(p, &w);
		}
	} else if (p->n % STREAM_V == 0 && t->misaligned == 0) {
		STREAM_NAME(_gather)(p, shared, &w, out.element, 1, 0);
	} else if (p->swizzle) {
		STREAM_NAME(_gather)(p, shared, &w, out.element, 1, 1);
	} else {
		STREAM_NAME(_gather)(p, shared, &w, out.element, 0, 1);
	}
	*(uint4 *)to = STREAM_OUT_VECTOR(p, out.vector);
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

		STREAM_NAME(_put)(&p, shared, &t, length);
	}
}

#undef STREAM_PASTE_
#undef STREAM_PASTE
#undef STREAM_NAME
#undef STREAM_V
#undef STREAM_OUT
#undef STREAM_OUT_VECTOR
#undef STREAM_UNIT
#undef STREAM_KERNEL
