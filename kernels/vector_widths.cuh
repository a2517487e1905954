/* The widths of the vector kernel.  VECTOR_BLOCKS, blocks of one multiprocessor, is what registers
 * and shared memory were balanced for on an H200. */
#define VECTOR_UNIT uint8_t
#define VECTOR_WIDTH 1
#define VECTOR_ROW 16
#define VECTOR_SPLIT 1
#define VECTOR_BLOCKS 1
#define VECTOR_KERNEL tsw_vector_1
#include "vector.cuh"

/* In 128-byte rows, for small matrices and where a block may not have so much shared memory. */
#define VECTOR_UNIT uint8_t
#define VECTOR_WIDTH 1
#define VECTOR_ROW 8
#define VECTOR_SPLIT 1
#define VECTOR_BLOCKS 4
#define VECTOR_KERNEL tsw_vector_1_small
#include "vector.cuh"

#define VECTOR_UNIT uint16_t
#define VECTOR_WIDTH 2
#define VECTOR_ROW 16
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 2
#define VECTOR_KERNEL tsw_vector_2
#include "vector.cuh"

#define VECTOR_UNIT uint16_t
#define VECTOR_WIDTH 2
#define VECTOR_ROW 8
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 6
#define VECTOR_KERNEL tsw_vector_2_small
#include "vector.cuh"

#define VECTOR_UNIT uint32_t
#define VECTOR_WIDTH 4
#define VECTOR_ROW 16
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 4
#define VECTOR_KERNEL tsw_vector_4
#include "vector.cuh"

#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 8
#define VECTOR_ROW 16
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 6
#define VECTOR_KERNEL tsw_vector_8
#include "vector.cuh"

#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 16
#define VECTOR_ROW 16
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 4
#define VECTOR_KERNEL tsw_vector_16
#include "vector.cuh"

#define VECTOR_UNIT uint32_t
#define VECTOR_WIDTH 4
#define VECTOR_ROW 8
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 12
#define VECTOR_KERNEL tsw_vector_4_small
#include "vector.cuh"

#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 8
#define VECTOR_ROW 8
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 16
#define VECTOR_KERNEL tsw_vector_8_small
#include "vector.cuh"

#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 16
#define VECTOR_ROW 8
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS 16
#define VECTOR_KERNEL tsw_vector_16_small
#include "vector.cuh"
