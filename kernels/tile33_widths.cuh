/* The widths of the [32][33] kernel: one function per unit. */
#define TILE33_UNIT uint8_t
#define TILE33_KERNEL tsw_tile33_1
#include "tile33.cuh"

#define TILE33_UNIT uint16_t
#define TILE33_KERNEL tsw_tile33_2
#include "tile33.cuh"

#define TILE33_UNIT uint32_t
#define TILE33_KERNEL tsw_tile33_4
#include "tile33.cuh"

#define TILE33_UNIT uint64_t
#define TILE33_KERNEL tsw_tile33_8
#include "tile33.cuh"

#define TILE33_UNIT uint4
#define TILE33_KERNEL tsw_tile33_16
#include "tile33.cuh"
