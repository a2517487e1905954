/* The forms of the shifted kernel: elements of one unit, in large and in small tiles, and elements
 * of several units.  A row of a one-unit tile is a multiple of 128 bytes.  SHIFTED_BLOCKS: of one
 * multiprocessor, what shared memory allows on an H200.
 *
 * SHIFTED_ONLY, if defined, is the one unit that is wanted, for elements of several if SHIFTED_MANY
 * is 1, else for those of one; SHIFTED_NAMED(unit, form) is then what the kernels are called, and
 * SHIFTED_FINISH what they finish by. */
#ifndef SHIFTED_ONLY
#define SHIFTED_NAMED(unit, form) tsw_shifted_##unit##form
#define SHIFTED_WANTED(unit, many) (unit < 16 || many)
#else
#define SHIFTED_WANTED(unit, many) (SHIFTED_ONLY == unit && SHIFTED_MANY == many)
#endif

#if SHIFTED_WANTED(1, 1)
#define SHIFTED_UNIT uint8_t
#define SHIFTED_WIDTH 1
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL SHIFTED_NAMED(1, _many)
#include "shifted.cuh"
#endif

#if SHIFTED_WANTED(2, 0)
#define SHIFTED_UNIT uint16_t
#define SHIFTED_WIDTH 2
#define SHIFTED_SIDE 192
#define SHIFTED_THREADS 1024
#define SHIFTED_BLOCKS 1
#define SHIFTED_KERNEL SHIFTED_NAMED(2, _192)
#include "shifted.cuh"

#define SHIFTED_UNIT uint16_t
#define SHIFTED_WIDTH 2
#define SHIFTED_SIDE 64
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_KERNEL SHIFTED_NAMED(2, _64)
#include "shifted.cuh"
#endif

#if SHIFTED_WANTED(2, 1)
#define SHIFTED_UNIT uint16_t
#define SHIFTED_WIDTH 2
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL SHIFTED_NAMED(2, _many)
#include "shifted.cuh"
#endif

#if SHIFTED_WANTED(4, 0)
#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_SIDE 128
#define SHIFTED_THREADS 1024
#define SHIFTED_BLOCKS 1
#define SHIFTED_KERNEL SHIFTED_NAMED(4, _128)
#include "shifted.cuh"

#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_SIDE 64
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL SHIFTED_NAMED(4, _64)
#include "shifted.cuh"
#endif

#if SHIFTED_WANTED(4, 1)
#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL SHIFTED_NAMED(4, _many)
#include "shifted.cuh"
#endif

#if SHIFTED_WANTED(8, 0)
#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 64
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL SHIFTED_NAMED(8, _64)
#include "shifted.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 32
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_KERNEL SHIFTED_NAMED(8, _32)
#include "shifted.cuh"
#endif

#if SHIFTED_WANTED(8, 1)
#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL SHIFTED_NAMED(8, _many)
#include "shifted.cuh"
#endif

/* For what finishes its elements; without that the form for several units is two points ahead. */
#if SHIFTED_WANTED(16, 0)
#define SHIFTED_UNIT uint4
#define SHIFTED_WIDTH 16
#define SHIFTED_SIDE 32
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_KERNEL SHIFTED_NAMED(16, _32)
#include "shifted.cuh"
#endif

#if SHIFTED_WANTED(16, 1)
#define SHIFTED_UNIT uint4
#define SHIFTED_WIDTH 16
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_KERNEL SHIFTED_NAMED(16, _many)
#include "shifted.cuh"
#endif

#undef SHIFTED_ONLY
#undef SHIFTED_MANY
#undef SHIFTED_NAMED
#undef SHIFTED_WANTED
#undef SHIFTED_FINISH
