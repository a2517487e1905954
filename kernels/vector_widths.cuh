/* The forms of the vector kernel, a large and a small one for each width; the small ones, in
 * 128-byte rows, are for small matrices and where a block may not have so much shared memory.  Of
 * 2, 4 and 8 bytes a third is for matrices so small that all that counts is how soon a block is
 * done, and yet too large for the direct kernel.
 * VECTOR_BLOCKS, blocks of one multiprocessor, is what registers and shared memory were balanced
 * for on an H200.
 *
 * VECTOR_ONLY, if defined, is the one width that is wanted, VECTOR_NAMED(width, form) then what the
 * kernels are called, and VECTOR_FINISH what they finish by. */
#ifndef VECTOR_ONLY
#define VECTOR_ONLY 0
#define VECTOR_NAMED(width, form) tsw_vector_##width##form
#endif

#if VECTOR_ONLY == 0 || VECTOR_ONLY == 1
#define VECTOR_UNIT uint8_t
#define VECTOR_WIDTH 1
#define VECTOR_ROW 16
#define VECTOR_GROUPED
#define VECTOR_SPLIT 1
#define VECTOR_BLOCKS 1
#define VECTOR_KERNEL VECTOR_NAMED(1, )
#include "vector.cuh"

#define VECTOR_UNIT uint8_t
#define VECTOR_WIDTH 1
#define VECTOR_ROW 8
#define VECTOR_SPLIT 1
#define VECTOR_BLOCKS 4
#define VECTOR_KERNEL VECTOR_NAMED(1, _small)
#include "vector.cuh"
#endif

#if VECTOR_ONLY == 0 || VECTOR_ONLY == 2
#define VECTOR_UNIT uint16_t
#define VECTOR_WIDTH 2
#define VECTOR_ROW 16
#define VECTOR_GROUPED
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 2
#define VECTOR_KERNEL VECTOR_NAMED(2, )
#include "vector.cuh"

#define VECTOR_UNIT uint16_t
#define VECTOR_WIDTH 2
#define VECTOR_ROW 8
#define VECTOR_SPLIT 1
#define VECTOR_BLOCKS 6
#define VECTOR_KERNEL VECTOR_NAMED(2, _small)
#include "vector.cuh"

#define VECTOR_UNIT uint16_t
#define VECTOR_WIDTH 2
#define VECTOR_ROW 8
#define VECTOR_EXACT
#define VECTOR_SPLIT 1
#define VECTOR_BLOCKS 6
#define VECTOR_KERNEL VECTOR_NAMED(2, _least)
#include "vector.cuh"
#endif

#if VECTOR_ONLY == 0 || VECTOR_ONLY == 4
#define VECTOR_UNIT uint32_t
#define VECTOR_WIDTH 4
#define VECTOR_ROW 16
#define VECTOR_GROUPED
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 4
#define VECTOR_KERNEL VECTOR_NAMED(4, )
#include "vector.cuh"

#define VECTOR_UNIT uint32_t
#define VECTOR_WIDTH 4
#define VECTOR_ROW 8
#define VECTOR_SPLIT 1
#define VECTOR_BLOCKS 8
#define VECTOR_KERNEL VECTOR_NAMED(4, _small)
#include "vector.cuh"

#define VECTOR_UNIT uint32_t
#define VECTOR_WIDTH 4
#define VECTOR_ROW 8
#define VECTOR_EXACT
#define VECTOR_SPLIT 1
#define VECTOR_BLOCKS 8
#define VECTOR_KERNEL VECTOR_NAMED(4, _least)
#include "vector.cuh"
#endif

#if VECTOR_ONLY == 0 || VECTOR_ONLY == 8
#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 8
#define VECTOR_ROW 16
#define VECTOR_ALONG_ROWS
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 6
#define VECTOR_KERNEL VECTOR_NAMED(8, )
#include "vector.cuh"

#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 8
#define VECTOR_ROW 8
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 16
#define VECTOR_KERNEL VECTOR_NAMED(8, _small)
#include "vector.cuh"

#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 8
#define VECTOR_ROW 8
#define VECTOR_EXACT
#define VECTOR_SPLIT 1
#define VECTOR_BLOCKS 10
#define VECTOR_KERNEL VECTOR_NAMED(8, _least)
#include "vector.cuh"
#endif

#if VECTOR_ONLY == 0 || VECTOR_ONLY == 16
#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 16
#define VECTOR_ROW 16
#define VECTOR_ALONG_ROWS
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 4
#define VECTOR_KERNEL VECTOR_NAMED(16, )
#include "vector.cuh"

#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 16
#define VECTOR_ROW 8
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 16
#define VECTOR_KERNEL VECTOR_NAMED(16, _small)
#include "vector.cuh"
#endif

#undef VECTOR_ONLY
#undef VECTOR_NAMED
#undef VECTOR_FINISH
