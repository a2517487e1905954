/* What kernel texts share.  Kernel text keeps to the common subset of C11 and CUDA C++, so that a
 * machine without a GPU can run the very same text (tests/simt). */
#ifndef TSW_DEVICE_CUH
#define TSW_DEVICE_CUH

#include "../src/tilepair.h"
#include "params.h"

/* Dynamic shared memory.  Every kernel calls it by a name of its own but sees it as vectors, since
 * one translation unit may give a name one type only.  tests/simt has a definition of its own. */
#ifndef TSW_DYNAMIC_SHARED
#define TSW_DYNAMIC_SHARED(type, name) extern __shared__ __align__(1024) type name[]
#endif

/* Bytes that a GPU reads here although their values are dropped: tests/simt, which then does not
 * read them, looks whether it may.  Bytes before the memory, back to a multiple of 16, it may. */
#ifndef TSW_READS
#define TSW_READS(p, bytes) ((void)0)
#endif

/* Without a GPU, asynchronous copies are tests/simt's too. */
#ifndef TSW_COPY
#define TSW_COPY(shared, global, from, to, end) ((void)0)
#define TSW_COPIES_COMMIT() ((void)0)
#define TSW_COPIES_WAIT(groups) ((void)0)
#endif

/* From Hopper on, a kernel whose launch says that it overlaps may start while the kernel before it
 * in the stream still runs: between small matrices, most of the time is the launch.  It calls this
 * before it touches memory, its matrices and arrays of pointers included. */
static inline __device__ void tsw_wait_for_predecessor(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel start, once every block has called it.  Not before a block has loaded what
 * it needs: blocks that only wait would take the places of those that work. */
static inline __device__ void tsw_let_successor_start(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Where tile number t begins, tiles being `side` wide.  Sides are multiples of 32, and the compiler
 * had better know: it saves the registers that hold the low bits of addresses. */
static inline __device__ uint64_t tsw_tile_begin(uint32_t t, uint32_t side)
{
	return (uint64_t)(t * (side / 32)) * 32;
}

/* ---- 16-byte vectors ------------------------------------------------------------------------- */

/* Lines that are read with this policy had better stay in L2: they are about to be written, and in
 * unaligned rows two blocks share them.  1 to 4 % on an H200. */
static inline __device__ uint64_t tsw_keep_policy(void)
{
	uint64_t policy = 0;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
	return policy;
}

/* Loads a vector. */
static inline __device__ uint4 tsw_load_vector(const void *p, uint64_t policy)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	uint4 v;

	asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
		     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		     : "l"(p), "l"(policy));
	return v;
#else
	(void)policy;
	return *(const uint4 *)p;
#endif
}

/* The same where rows do not begin at lines: L2 fetches the 256 bytes around, which the neighbour,
 * who has the rest of them, is about to want. */
static inline __device__ uint4 tsw_load_vector_around(const void *p, uint64_t policy)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	uint4 v;

	asm volatile("ld.global.L2::cache_hint.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
		     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		     : "l"(p), "l"(policy));
	return v;
#else
	return tsw_load_vector(p, policy);
#endif
}

/* Copies bytes `from` up to `to` of a vector from global to shared memory, and no others. */
static inline __device__ void tsw_copy_bytes(void *shared, const void *global, uint32_t from,
					     uint32_t to)
{
	for (uint32_t b = from; b < to; b++)
		((unsigned char *)shared)[b] = ((const unsigned char *)global)[b];
}

/* Where in shared memory an asynchronous copy goes: an address that offsets can be added to.
 *
 * The address passes through a shuffle so that the compiler cannot see that all threads of a warp
 * have the same: ptxas 13.0 turns cp.async with a cache policy into an illegal instruction where a
 * part of the shared address is uniform ("[R+UR]" and "desc[UR]" with an odd register in the
 * machine code). */
#ifdef __CUDA_ARCH__
typedef uint32_t tsw_shared;

static inline __device__ tsw_shared tsw_shared_address(void *p)
{
	return __shfl_sync(0xffffffffu, (uint32_t)__cvta_generic_to_shared(p), threadIdx.x % 32);
}
#else
typedef unsigned char *tsw_shared;

static inline __device__ tsw_shared tsw_shared_address(void *p)
{
	return (unsigned char *)p;
}
#endif

/* Copies a vector from global to shared memory, and the 256 bytes around it into L2.  Bytes `from`
 * up to `to` of it are wanted; the others may be anything, such as what another block writes at
 * this moment.  Done after tsw_copies_done().  tests/simt leaves the others out, so that it sees a
 * use of them. */
static inline __device__ void tsw_copy_vector(tsw_shared shared, const void *global, uint32_t from,
					      uint32_t to, uint64_t policy)
{
#if defined(__CUDA_ARCH__)
	(void)from;
	(void)to;
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::256B [%0], [%1], 16, %2;"
		     :
		     : "r"(shared), "l"(global), "l"(policy)
		     : "memory");
#else
	const uint4 v = *(const uint4 *)global;

	(void)policy;
	asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
		     :
		     : "r"(shared), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
		     : "memory");
#endif
#else
	(void)policy;
	TSW_READS(global, 16);
	TSW_COPY(shared, global, from, to, to);
#endif
}

/* Closes a group of this thread's copies. */
static inline __device__ void tsw_copies_commit(void)
{
#if !defined(__CUDA_ARCH__)
	TSW_COPIES_COMMIT();
#elif __CUDA_ARCH__ >= 800
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until no more than the last `groups`, 0 or 1, of this thread's groups are under way; a
 * barrier must follow before others read the copies. */
static inline __device__ void tsw_copies_wait(uint32_t groups)
{
#if !defined(__CUDA_ARCH__)
	TSW_COPIES_WAIT(groups);
#elif __CUDA_ARCH__ >= 800
	if (groups == 0)
		asm volatile("cp.async.wait_group 0;" ::: "memory");
	else
		asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

/* Waits for all of this thread's copies. */
static inline __device__ void tsw_copies_done(void)
{
	tsw_copies_commit();
	tsw_copies_wait(0);
}

/* ---- blocks of V x V elements in registers, V = 16 / width vectors of 16 bytes: transposed ------
 */

static inline __device__ void tsw_turn_16(uint4 v[1])
{
	(void)v;
}

static inline __device__ void tsw_turn_8(uint4 v[2])
{
	const uint32_t low = v[0].z, high = v[0].w;

	v[0].z = v[1].x;
	v[0].w = v[1].y;
	v[1].x = low;
	v[1].y = high;
}

static inline __device__ void tsw_turn_4(uint4 v[4])
{
	const uint4 a = v[0], b = v[1], c = v[2], d = v[3];

	v[0] = make_uint4(a.x, b.x, c.x, d.x);
	v[1] = make_uint4(a.y, b.y, c.y, d.y);
	v[2] = make_uint4(a.z, b.z, c.z, d.z);
	v[3] = make_uint4(a.w, b.w, c.w, d.w);
}

/* The lower or upper halves of two words, side by side. */
static inline __device__ uint32_t tsw_low_halves(uint32_t x, uint32_t y)
{
	return __byte_perm(x, y, 0x5410);
}

static inline __device__ uint32_t tsw_high_halves(uint32_t x, uint32_t y)
{
	return __byte_perm(x, y, 0x7632);
}

/* Rows `at` and `at` + 1 of the result from one column of 32-bit words: 8 rows of two halves each.
 */
#define TSW_TURN_2_ROWS(at, word)                                                                  \
	do {                                                                                       \
		v[at] = make_uint4(tsw_low_halves(a[0].word, a[1].word),                           \
				   tsw_low_halves(a[2].word, a[3].word),                           \
				   tsw_low_halves(a[4].word, a[5].word),                           \
				   tsw_low_halves(a[6].word, a[7].word));                          \
		v[at + 1] = make_uint4(tsw_high_halves(a[0].word, a[1].word),                      \
				       tsw_high_halves(a[2].word, a[3].word),                      \
				       tsw_high_halves(a[4].word, a[5].word),                      \
				       tsw_high_halves(a[6].word, a[7].word));                     \
	} while (0)

static inline __device__ void tsw_turn_2(uint4 v[8])
{
	uint4 a[8];

#pragma unroll
	for (int i = 0; i < 8; i++)
		a[i] = v[i];
	TSW_TURN_2_ROWS(0, x);
	TSW_TURN_2_ROWS(2, y);
	TSW_TURN_2_ROWS(4, z);
	TSW_TURN_2_ROWS(6, w);
}

/* A 4 x 4 block of bytes: row n of the result is byte n of the four words. */
static inline __device__ uint4 tsw_turn_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140);
	const uint32_t AB = __byte_perm(a, b, 0x7362), CD = __byte_perm(c, d, 0x7362);

	return make_uint4(tsw_low_halves(ab, cd), tsw_high_halves(ab, cd), tsw_low_halves(AB, CD),
			  tsw_high_halves(AB, CD));
}

/* Rows `at` .. `at` + 3 of the result from one column of 32-bit words: 16 rows of four bytes each.
 */
#define TSW_TURN_1_ROWS(at, word)                                                                  \
	do {                                                                                       \
		const uint4 p = tsw_turn_bytes(a[0].word, a[1].word, a[2].word, a[3].word);        \
		const uint4 q = tsw_turn_bytes(a[4].word, a[5].word, a[6].word, a[7].word);        \
		const uint4 r = tsw_turn_bytes(a[8].word, a[9].word, a[10].word, a[11].word);      \
		const uint4 s = tsw_turn_bytes(a[12].word, a[13].word, a[14].word, a[15].word);    \
		v[at] = make_uint4(p.x, q.x, r.x, s.x);                                            \
		v[at + 1] = make_uint4(p.y, q.y, r.y, s.y);                                        \
		v[at + 2] = make_uint4(p.z, q.z, r.z, s.z);                                        \
		v[at + 3] = make_uint4(p.w, q.w, r.w, s.w);                                        \
	} while (0)

static inline __device__ void tsw_turn_1(uint4 v[16])
{
	uint4 a[16];

#pragma unroll
	for (int i = 0; i < 16; i++)
		a[i] = v[i];
	TSW_TURN_1_ROWS(0, x);
	TSW_TURN_1_ROWS(4, y);
	TSW_TURN_1_ROWS(8, z);
	TSW_TURN_1_ROWS(12, w);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Matrix number `b` of a batch. */
static inline __device__ char *tsw_matrix(const struct tsw_tiles *p, uint64_t b)
{
	return p->array ? p->array[b] : p->base + b * p->stride;
}

#endif /* TSW_DEVICE_CUH */
