/* The units of the shifted kernel: elements of one unit, and of several. */
#define SHIFTED_UNIT uint8_t
#define SHIFTED_WIDTH 1
#define SHIFTED_MANY 0
#define SHIFTED_KERNEL tsw_shifted_1
#include "shifted.cuh"

#define SHIFTED_UNIT uint8_t
#define SHIFTED_WIDTH 1
#define SHIFTED_MANY 1
#define SHIFTED_KERNEL tsw_shifted_1_many
#include "shifted.cuh"

#define SHIFTED_UNIT uint16_t
#define SHIFTED_WIDTH 2
#define SHIFTED_MANY 0
#define SHIFTED_KERNEL tsw_shifted_2
#include "shifted.cuh"

#define SHIFTED_UNIT uint16_t
#define SHIFTED_WIDTH 2
#define SHIFTED_MANY 1
#define SHIFTED_KERNEL tsw_shifted_2_many
#include "shifted.cuh"

#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_MANY 0
#define SHIFTED_KERNEL tsw_shifted_4
#include "shifted.cuh"

#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_MANY 1
#define SHIFTED_KERNEL tsw_shifted_4_many
#include "shifted.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_MANY 0
#define SHIFTED_KERNEL tsw_shifted_8
#include "shifted.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_MANY 1
#define SHIFTED_KERNEL tsw_shifted_8_many
#include "shifted.cuh"

#define SHIFTED_UNIT uint4
#define SHIFTED_WIDTH 16
#define SHIFTED_MANY 1
#define SHIFTED_KERNEL tsw_shifted_16_many
#include "shifted.cuh"
