/* The forms of the shifted kernel: elements of one unit, in large and in small tiles, and elements
 * of several units.  A row of a one-unit tile is a multiple of 128 bytes.  SHIFTED_BLOCKS: of one
 * multiprocessor, what shared memory allows on an H200. */
#define SHIFTED_UNIT uint8_t
#define SHIFTED_WIDTH 1
#define SHIFTED_SIDE 256
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 1
#define SHIFTED_KERNEL tsw_shifted_1_256
#include "shifted.cuh"

#define SHIFTED_UNIT uint8_t
#define SHIFTED_WIDTH 1
#define SHIFTED_SIDE 128
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL tsw_shifted_1_128
#include "shifted.cuh"

#define SHIFTED_UNIT uint8_t
#define SHIFTED_WIDTH 1
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL tsw_shifted_1_many
#include "shifted.cuh"

#define SHIFTED_UNIT uint16_t
#define SHIFTED_WIDTH 2
#define SHIFTED_SIDE 192
#define SHIFTED_THREADS 1024
#define SHIFTED_BLOCKS 1
#define SHIFTED_KERNEL tsw_shifted_2_192
#include "shifted.cuh"

#define SHIFTED_UNIT uint16_t
#define SHIFTED_WIDTH 2
#define SHIFTED_SIDE 64
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_KERNEL tsw_shifted_2_64
#include "shifted.cuh"

#define SHIFTED_UNIT uint16_t
#define SHIFTED_WIDTH 2
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL tsw_shifted_2_many
#include "shifted.cuh"

#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_SIDE 128
#define SHIFTED_THREADS 1024
#define SHIFTED_BLOCKS 1
#define SHIFTED_KERNEL tsw_shifted_4_128
#include "shifted.cuh"

#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_SIDE 64
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL tsw_shifted_4_64
#include "shifted.cuh"

#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL tsw_shifted_4_many
#include "shifted.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 64
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL tsw_shifted_8_64
#include "shifted.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 32
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_KERNEL tsw_shifted_8_32
#include "shifted.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_KERNEL tsw_shifted_8_many
#include "shifted.cuh"

#define SHIFTED_UNIT uint4
#define SHIFTED_WIDTH 16
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_KERNEL tsw_shifted_16_many
#include "shifted.cuh"
