/* The kernel text of kernels/ on the host: one fiber a CUDA thread, no GPU, no nvcc.
 *
 * Every file of kernels/ is compiled as C, unchanged, with this header before it: the words of CUDA
 * below turn it into C that gcc and clang compile.  What runs is called "simt", never "cuda": it
 * shows that the indices, barriers and bounds of a kernel are right, not that a GPU runs it.
 *
 * What kernel text has to keep to:
 *   - the common subset of C11 and CUDA C++: `struct x`, explicit casts from void *, no templates
 *     (include-templates instead), references, overloads, nullptr, constexpr, lambdas, and no `//`;
 *   - a kernel takes ONE plain structure by value and returns void; `__global__` and `__device__`
 *     functions may be static or not; device functions are `static __device__` or inline;
 *   - shared memory is declared inside a function, one array a declaration, each declaration a
 *     statement of its own, without initialiser: `__shared__ T a[32][33];`.  Dynamic shared
 *     memory is declared by TSW_DYNAMIC_SHARED(type, name), which under nvcc is
 *     `extern __shared__ type name[]` (kernels/device.cuh defines it there);
 *   - no spinning on memory that another thread writes: a fiber runs until it waits or ends;
 *   - intrinsics: those below.  A new one is added here, with its exact meaning.
 *
 * What is found, and how:
 *   - a missing barrier: threads run one at a time up to their next barrier, in an order that the
 *     seed picks, and shared memory is poisoned before every block; in a build whose kernels are
 *     compiled with -fsanitize=thread every load and store comes to trace.c, which knows the
 *     barriers and reports a conflict whatever the order (and a read of shared memory that nobody
 *     wrote, a misaligned access, an access outside the memory that the launch was given);
 *   - a divergent barrier: all threads of a block must wait at the same barrier, none may have
 * left;
 *   - a store out of bounds: trace.c; else AddressSanitizer and the guard pages of the caller;
 *   - a missing wait for an asynchronous copy, or one for too few: copies.c;
 *   - an overrun inside a tile: gaps around every shared array, checked after each block, poisoned
 *     under AddressSanitizer; -fsanitize=bounds; trace.c.
 */
#ifndef SIMT_H
#define SIMT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "launch_simt.h"

#pragma GCC diagnostic ignored "-Wunknown-pragmas"	/* #pragma unroll */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"	/* __global__ functions have none */
#pragma GCC diagnostic ignored "-Wmissing-declarations" /* nor have they in clang */
#pragma GCC diagnostic ignored "-Wshadow"		/* macros below, nested */
#pragma GCC diagnostic ignored "-Wunused-function"	/* device functions no kernel here calls */

/* ---- words of the language ------------------------------------------------------------------- */

#define __global__ __attribute__((unused))
#define __device__ __attribute__((unused))
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
/* __noinline__ stays as it is: gcc and clang spell their own attribute so, inside parentheses. */

/* A gap before every array, so that an index past either end lands where it is noticed.  The names
 * of the gaps are how simt.c tells them from arrays. */
#define SIMT_SHARED static __attribute__((section("simt_shared"), used, aligned(128)))
#define SIMT_PASTE_(a, b) a##b
#define SIMT_PASTE(a, b) SIMT_PASTE_(a, b)
#define __shared__                                                                                 \
	SIMT_SHARED char SIMT_PASTE(simt_gap_, __COUNTER__)[128];                                  \
	SIMT_SHARED

#define TSW_DYNAMIC_SHARED(type, name) type *const name = (type *)simt_dynamic_shared()

#define TSW_READS(p, bytes) simt_reads(p, bytes)
#define TSW_COPY(shared, global, from, to, end) simt_copy(shared, global, from, to, end)
#define TSW_COPIES_COMMIT() simt_copies_commit()
#define TSW_COPIES_WAIT(groups) simt_copies_wait(groups)

typedef struct simt_dim3 dim3;

#define threadIdx simt_thread_idx
#define blockIdx simt_block_idx
#define blockDim simt_block_dim
#define gridDim simt_grid_dim
#define warpSize 32

/* ---- barriers, shuffles, votes --------------------------------------------------------------- */

#define SIMT_SITE (&(const struct simt_site){__FILE__, __LINE__, __COUNTER__})
#define SIMT_FULL(...) (((const uint32_t[]){0xffffffffu, ##__VA_ARGS__})[SIMT_GIVEN(__VA_ARGS__)])
#define SIMT_WIDTH(...) (((const int[]){32, ##__VA_ARGS__})[SIMT_GIVEN(__VA_ARGS__)])
#define SIMT_GIVEN(...) (sizeof((const int[]){0, ##__VA_ARGS__}) / sizeof(int) - 1)

#define __syncthreads() simt_barrier(SIMT_SITE)
#define __syncwarp(...) simt_syncwarp(SIMT_SITE, SIMT_FULL(__VA_ARGS__))

/* A union, because `value` may be const, and so its type. */
#define SIMT_SHUFFLE(how, mask, value, lane, width)                                                \
	({                                                                                         \
		const __typeof__((value)) simt_in_ = (value);                                      \
		union {                                                                            \
			__typeof__((value)) value_;                                                \
			unsigned char bytes_[sizeof simt_in_];                                     \
		} simt_out_;                                                                       \
		simt_shuffle(SIMT_SITE, how, mask, &simt_in_, simt_out_.bytes_, sizeof simt_in_,   \
			     (int)(lane), width);                                                  \
		simt_out_.value_;                                                                  \
	})
#define __shfl_sync(mask, value, lane, ...)                                                        \
	SIMT_SHUFFLE(SIMT_LANE, mask, value, lane, SIMT_WIDTH(__VA_ARGS__))
#define __shfl_xor_sync(mask, value, lane, ...)                                                    \
	SIMT_SHUFFLE(SIMT_XOR, mask, value, lane, SIMT_WIDTH(__VA_ARGS__))
#define __shfl_up_sync(mask, value, lane, ...)                                                     \
	SIMT_SHUFFLE(SIMT_UP, mask, value, lane, SIMT_WIDTH(__VA_ARGS__))
#define __shfl_down_sync(mask, value, lane, ...)                                                   \
	SIMT_SHUFFLE(SIMT_DOWN, mask, value, lane, SIMT_WIDTH(__VA_ARGS__))

#define __ballot_sync(mask, predicate) simt_ballot(SIMT_SITE, mask, (predicate) != 0)
#define __any_sync(mask, predicate) (__ballot_sync(mask, predicate) != 0)
#define __all_sync(mask, predicate) (__ballot_sync(mask, (predicate) == 0) == 0)

/* ---- atomics: integers of 4 and 8 bytes ------------------------------------------------------ */

#define SIMT_ATOMIC(how, p, value)                                                                 \
	((__typeof__(*(p)))simt_atomic(                                                            \
		how, (p), sizeof *(p),                                                             \
		_Generic(*(p), int : 1, long : 1, long long : 1, default : 0), (uint64_t)(value),  \
		0))
#define atomicAdd(p, value) SIMT_ATOMIC(SIMT_ADD, p, value)
#define atomicMin(p, value) SIMT_ATOMIC(SIMT_MIN, p, value)
#define atomicMax(p, value) SIMT_ATOMIC(SIMT_MAX, p, value)
#define atomicOr(p, value) SIMT_ATOMIC(SIMT_OR, p, value)
#define atomicAnd(p, value) SIMT_ATOMIC(SIMT_AND, p, value)
#define atomicXor(p, value) SIMT_ATOMIC(SIMT_EXCLUSIVE_OR, p, value)
#define atomicExch(p, value) SIMT_ATOMIC(SIMT_EXCHANGE, p, value)
#define atomicCAS(p, compare, value)                                                               \
	((__typeof__(*(p)))simt_atomic(SIMT_COMPARE, (p), sizeof *(p), 0, (uint64_t)(value),       \
				       (uint64_t)(compare)))

#define __threadfence() ((void)0)
#define __threadfence_block() ((void)0)

/* ---- loads, stores and arithmetic ------------------------------------------------------------ */

#define __ldg(p) (*(p))
#define __ldcs(p) (*(p))
#define __ldcg(p) (*(p))
#define __ldca(p) (*(p))
#define __ldlu(p) (*(p))
#define __ldcv(p) (*(p))
#define __stcs(p, value) ((void)(*(p) = (value)))
#define __stcg(p, value) ((void)(*(p) = (value)))
#define __stwb(p, value) ((void)(*(p) = (value)))
#define __stwt(p, value) ((void)(*(p) = (value)))

#define __popc(x) __builtin_popcount(x)
#define __popcll(x) __builtin_popcountll(x)
#define __clz(x) ((x) ? __builtin_clz((unsigned)(x)) : 32)
#define __clzll(x) ((x) ? __builtin_clzll((unsigned long long)(x)) : 64)
#define __ffs(x) __builtin_ffs((int)(x))
#define __ffsll(x) __builtin_ffsll((long long)(x))

static inline uint32_t __umulhi(uint32_t a, uint32_t b)
{
	return (uint32_t)((uint64_t)a * b >> 32);
}

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
	return (unsigned long long)((unsigned __int128)a * b >> 64);
}

static inline uint32_t simt_dp4a_unsigned(uint32_t a, uint32_t b, uint32_t c)
{
	for (int i = 0; i < 32; i += 8)
		c += (a >> i & 255) * (b >> i & 255);
	return c;
}

static inline int simt_dp4a_signed(int a, int b, int c)
{
	for (int i = 0; i < 32; i += 8)
		c = (int)((uint32_t)c +
			  (uint32_t)((int8_t)((uint32_t)a >> i) * (int8_t)((uint32_t)b >> i)));
	return c;
}

#define __dp4a(a, b, c) _Generic((a), int : simt_dp4a_signed, default : simt_dp4a_unsigned)(a, b, c)

/* Numbers as the words that carry them, and arithmetic that is rounded once an operation. */
static inline float __uint_as_float(uint32_t x)
{
	float f;

	memcpy(&f, &x, sizeof f);
	return f;
}

static inline uint32_t __float_as_uint(float f)
{
	uint32_t x;

	memcpy(&x, &f, sizeof x);
	return x;
}

static inline double __longlong_as_double(long long x)
{
	double d;

	memcpy(&d, &x, sizeof d);
	return d;
}

static inline long long __double_as_longlong(double d)
{
	long long x;

	memcpy(&x, &d, sizeof x);
	return x;
}

static inline float __fmul_rn(float x, float y)
{
	return x * y;
}

static inline float __fadd_rn(float x, float y)
{
	return x + y;
}

static inline double __dmul_rn(double x, double y)
{
	return x * y;
}

static inline double __dadd_rn(double x, double y)
{
	return x + y;
}

/* Byte n of the result is byte (selector >> 4n & 7) of y:x; bit 3 replicates that byte's sign. */
static inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t selector)
{
	uint64_t both = (uint64_t)y << 32 | x;
	uint32_t out = 0;

	for (int i = 0; i < 4; i++) {
		uint32_t pick = selector >> 4 * i & 15;
		uint32_t byte = (uint32_t)(both >> 8 * (pick & 7)) & 255;

		out |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
	}
	return out;
}

static inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t shift)
{
	return (uint32_t)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32);
}

static inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift)
{
	return (uint32_t)(((uint64_t)high << 32 | low) >> (shift & 31));
}

/* ---- vector types, with CUDA's alignment ----------------------------------------------------- */

#define SIMT_VECTORS(name, type, align2, align4)                                                   \
	typedef struct __attribute__((aligned(align2))) {                                          \
		type x, y;                                                                         \
	} name##2;                                                                                 \
	typedef struct __attribute__((aligned(align4))) {                                          \
		type x, y, z, w;                                                                   \
	} name##4;                                                                                 \
	static inline name##2 make_##name##2(type x, type y)                                       \
	{                                                                                          \
		return (name##2){x, y};                                                            \
	}                                                                                          \
	static inline name##4 make_##name##4(type x, type y, type z, type w)                       \
	{                                                                                          \
		return (name##4){x, y, z, w};                                                      \
	}

SIMT_VECTORS(uchar, unsigned char, 2, 4)
SIMT_VECTORS(ushort, unsigned short, 4, 8)
SIMT_VECTORS(int, int, 8, 16)
SIMT_VECTORS(uint, unsigned, 8, 16)
SIMT_VECTORS(float, float, 8, 16)
SIMT_VECTORS(double, double, 16, 16)
SIMT_VECTORS(longlong, long long, 16, 16)
SIMT_VECTORS(ulonglong, unsigned long long, 16, 16)

#endif /* SIMT_H */
