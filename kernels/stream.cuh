/* Many small matrices: a block takes a chunk of whole ones through shared memory.
 *
 * A chunk's elements lie in runs without gaps, as long as they can be:
 *
 *     matrices one after the other          the chunk is one run
 *     rows one after the other (ld = n)     every matrix is a run
 *     ld > n                                every row is a run
 *
 * Each run is fetched by vectors, the smallest aligned superset of it, into a slot of its own of
 * shared memory, where it keeps its misalignment:
 *
 *     global      ..|.......abc|defghijk|lmno....|..     | every 16 bytes
 *     shared        |.......abc|defghijk|lmno    |       what lies left of a belongs to others, is
 *                    <--m-->                             never looked at
 *
 * so that element (r, c) of the chunk's matrix b lies at
 *
 *     b * matrix_step + r * row_step + m + c * elem_size
 *
 * whatever the runs are.  After the barrier the chunk is written in the order of its addresses,
 * each element gathered from its mirror image's place: by vectors of a run (stream_vectors.cuh),
 * or, where runs are short or elements have several units, unit by unit (stream_units.cuh).
 *
 * Where n is even, columns would meet in few banks; there a vector's number among its eight is
 * XORed with bits of what is above it. */
#ifndef TSW_STREAM_CUH
#define TSW_STREAM_CUH

#include "device.cuh"

/* What one block has of the batch. */
struct tsw_chunk {
	uint64_t begin;	    /* its first matrix */
	char *a;	    /* where that one begins */
	uint32_t count;	    /* of matrices */
	uint32_t runs;	    /* all of them */
	uint32_t run_bytes; /* of one run */
};

/* A vector of a run. */
struct tsw_stretch {
	char *run;	     /* where the run begins */
	char *end;	     /* of its matrix, or of the chunk: from here on nothing may be read */
	uint32_t misaligned; /* bytes from the vector boundary before it to there */
	uint32_t slot;	     /* where the run's slot begins in shared memory */
	uint32_t at;	     /* bytes from the boundary to this vector */
};

/* x / d by the reciprocal 2^31 / d + 1, rounded down, for x * d < 2^31. */
static inline __device__ uint32_t tsw_over(uint32_t x, uint32_t reciprocal)
{
	return __umulhi(2 * x, reciprocal);
}

static inline __device__ char *tsw_chunks_matrix(const struct tsw_chunks *p, uint64_t b)
{
	return p->array ? p->array[b] : p->base + b * p->stride;
}

static inline __device__ uint32_t tsw_misaligned(const char *a)
{
	return (uint32_t)(uintptr_t)a & 15;
}

/* Where byte `at` of the slots is kept. */
static inline __device__ uint32_t tsw_swizzled(const struct tsw_chunks *p, uint32_t at)
{
	return at ^ ((at >> 3 ^ at >> 5 ^ at >> 8) & p->swizzle);
}

static inline __device__ struct tsw_chunk tsw_chunk_of_block(const struct tsw_chunks *p)
{
	struct tsw_chunk c;
	uint64_t left;

	tsw_wait_for_predecessor();
	c.begin = (p->first + blockIdx.x) * p->group;
	c.a = tsw_chunks_matrix(p, c.begin);
	left = p->count - c.begin;
	c.count = left < p->group ? (uint32_t)left : p->group;
	c.runs = p->runs ? c.count * p->runs : 1;
	c.run_bytes = p->runs ? p->run_bytes : c.count * p->run_bytes;
	return c;
}

/* Vector v of the chunk: what every run has, run after run, then the ends that misaligned ones have
 * besides. */
static inline __device__ struct tsw_stretch tsw_stretch_at(const struct tsw_chunks *p,
							   const struct tsw_chunk *c, uint32_t v)
{
	const uint32_t ends = c->runs * p->whole; /* the number of the first run's end */
	struct tsw_stretch t;
	uint32_t run = 0, within = v;

	t.run = c->a;
	t.end = c->a + c->run_bytes;
	if (p->runs) {
		uint32_t b;
		char *a;

		run = v < ends ? tsw_over(v, p->by_whole) : v - ends;
		within = v < ends ? v - run * p->whole : p->whole;
		b = p->runs == 1 ? run : tsw_over(run, p->by_n);
		a = tsw_chunks_matrix(p, c->begin + b);
		t.run = a + (run - b * p->runs) * p->pitch;
		t.end = a + p->span;
	}
	t.misaligned = tsw_misaligned(t.run);
	t.slot = run * p->slot * 16;
	t.at = within * 16;
	return t;
}

/* Copies a vector to shared memory, of which bytes `from` up to `to` are wanted.  The others may be
 * anything, such as what another block writes at this moment; without a GPU they are left out, so
 * that tests would see a use of them.  Done after tsw_copies_done(). */
static inline __device__ void tsw_copy_stretch(unsigned char *shared, const char *global,
					       uint32_t from, uint32_t to)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	(void)from;
	(void)to;
	/* No cache policy: see tsw_copy_vector() for what ptxas makes of one here. */
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
		     :
		     : "r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(global)
		     : "memory");
#elif defined(__CUDA_ARCH__)
	(void)from;
	(void)to;
	*(uint4 *)shared = *(const uint4 *)global;
#else
	TSW_READS(global, 16);
	TSW_COPY(shared, global, from, to, to);
#endif
}

/* The same where no other byte may be read; all are multiples of `unit`.  First every load, then
 * every store: the loads do not wait for one another. */
static inline __device__ void tsw_copy_end(unsigned char *shared, const char *global, uint32_t from,
					   uint32_t to, uint32_t unit)
{
	if (unit >= 4) {
		uint32_t word[4];

#pragma unroll
		for (uint32_t w = 0; w < 4; w++)
			word[w] = w * 4 >= from && w * 4 < to ? ((const uint32_t *)global)[w] : 0;
#pragma unroll
		for (uint32_t w = 0; w < 4; w++)
			((uint32_t *)shared)[w] = word[w];
	} else {
		unsigned char byte[16];

#pragma unroll
		for (uint32_t b = 0; b < 16; b++)
			byte[b] = b >= from && b < to ? (unsigned char)global[b] : 0;
#pragma unroll
		for (uint32_t b = 0; b < 16; b++)
			shared[b] = byte[b];
	}
}

/* Brings a chunk that is one run into shared memory. */
static inline __device__ void tsw_fetch_run(const struct tsw_chunks *p, const struct tsw_chunk *c,
					    unsigned char *shared, uint32_t unit)
{
	const uint32_t m = tsw_misaligned(c->a), end = m + c->run_bytes, whole = end / 16 * 16;
	const char *const global = c->a - m;

#pragma unroll 4
	for (uint32_t at = threadIdx.x * 16; at < whole; at += blockDim.x * 16)
		tsw_copy_stretch(shared + tsw_swizzled(p, at), global + at, at ? 0 : m, 16);
	if (threadIdx.x == 0 && end > whole)
		tsw_copy_end(shared + tsw_swizzled(p, whole), global + whole, whole ? 0 : m,
			     end - whole, unit);
}

/* And one of several runs. */
static inline __device__ void tsw_fetch_runs(const struct tsw_chunks *p, const struct tsw_chunk *c,
					     unsigned char *shared, uint32_t unit)
{
#pragma unroll 2
	for (uint32_t v = threadIdx.x; v < c->runs * p->slot; v += blockDim.x) {
		const struct tsw_stretch t = tsw_stretch_at(p, c, v);
		const uint32_t end = t.misaligned + c->run_bytes;
		const uint32_t from = t.at ? 0 : t.misaligned;
		const uint32_t to = end - t.at < 16 ? end - t.at : 16;
		const char *const global = t.run - t.misaligned + t.at;
		unsigned char *const into = shared + tsw_swizzled(p, t.slot + t.at);

		if (t.at >= end)
			continue; /* the slot has room to spare */
		if (global + 16 <= t.end)
			tsw_copy_stretch(into, global, from, to);
		else
			tsw_copy_end(into, global, from, to, unit);
	}
}

/* Brings the chunk into shared memory, for all to read. */
static inline __device__ void tsw_fetch_chunk(const struct tsw_chunks *p, const struct tsw_chunk *c,
					      unsigned char *shared, uint32_t unit)
{
	if (p->runs == 0)
		tsw_fetch_run(p, c, shared, unit);
	else
		tsw_fetch_runs(p, c, shared, unit);
	tsw_copies_done();
	__syncthreads();
	tsw_let_successor_start();
}

#endif /* TSW_STREAM_CUH */
