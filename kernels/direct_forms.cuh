/* The forms of the direct kernel: tsw_direct_<bytes of an element>_<B>x<SIDE>. */

static inline __device__ void tsw_turn_1x1(void *v)
{
	(void)v;
}

static inline __device__ void tsw_turn_4x4_bytes(uint32_t v[4])
{
	const uint4 t = tsw_turn_bytes(v[0], v[1], v[2], v[3]);

	v[0] = t.x;
	v[1] = t.y;
	v[2] = t.z;
	v[3] = t.w;
}

static inline __device__ void tsw_turn_8x8_bytes(uint2 v[8])
{
	/* Quarters, turned: of rows 0 to 3 and 4 to 7, their left and right halves. */
	const uint4 a = tsw_turn_bytes(v[0].x, v[1].x, v[2].x, v[3].x);
	const uint4 b = tsw_turn_bytes(v[0].y, v[1].y, v[2].y, v[3].y);
	const uint4 c = tsw_turn_bytes(v[4].x, v[5].x, v[6].x, v[7].x);
	const uint4 d = tsw_turn_bytes(v[4].y, v[5].y, v[6].y, v[7].y);

	v[0] = make_uint2(a.x, c.x);
	v[1] = make_uint2(a.y, c.y);
	v[2] = make_uint2(a.z, c.z);
	v[3] = make_uint2(a.w, c.w);
	v[4] = make_uint2(b.x, d.x);
	v[5] = make_uint2(b.y, d.y);
	v[6] = make_uint2(b.z, d.z);
	v[7] = make_uint2(b.w, d.w);
}

static inline __device__ void tsw_turn_4x4_halves(uint2 v[4])
{
	const uint2 a = v[0], b = v[1], c = v[2], d = v[3];

	v[0] = make_uint2(tsw_low_halves(a.x, b.x), tsw_low_halves(c.x, d.x));
	v[1] = make_uint2(tsw_high_halves(a.x, b.x), tsw_high_halves(c.x, d.x));
	v[2] = make_uint2(tsw_low_halves(a.y, b.y), tsw_low_halves(c.y, d.y));
	v[3] = make_uint2(tsw_high_halves(a.y, b.y), tsw_high_halves(c.y, d.y));
}

#define DIRECT_WIDTH 1
#define DIRECT_B 4
#define DIRECT_VECTOR uint32_t
#define DIRECT_TURN tsw_turn_4x4_bytes
#define DIRECT_SIDE 8
#define DIRECT_KERNEL tsw_direct_1_4x8
#include "direct.cuh"

#define DIRECT_WIDTH 1
#define DIRECT_B 8
#define DIRECT_VECTOR uint2
#define DIRECT_TURN tsw_turn_8x8_bytes
#define DIRECT_SIDE 4
#define DIRECT_KERNEL tsw_direct_1_8x4
#include "direct.cuh"

#define DIRECT_WIDTH 1
#define DIRECT_B 8
#define DIRECT_VECTOR uint2
#define DIRECT_TURN tsw_turn_8x8_bytes
#define DIRECT_SIDE 8
#define DIRECT_KERNEL tsw_direct_1_8x8
#include "direct.cuh"

#define DIRECT_WIDTH 1
#define DIRECT_B 1
#define DIRECT_VECTOR uint8_t
#define DIRECT_TURN tsw_turn_1x1
#define DIRECT_SIDE 8
#define DIRECT_KERNEL tsw_direct_1_1x8
#include "direct.cuh"

#define DIRECT_WIDTH 2
#define DIRECT_B 4
#define DIRECT_VECTOR uint2
#define DIRECT_TURN tsw_turn_4x4_halves
#define DIRECT_SIDE 8
#define DIRECT_KERNEL tsw_direct_2_4x8
#include "direct.cuh"

#define DIRECT_WIDTH 2
#define DIRECT_B 8
#define DIRECT_VECTOR uint4
#define DIRECT_TURN tsw_turn_2
#define DIRECT_SIDE 4
#define DIRECT_KERNEL tsw_direct_2_8x4
#include "direct.cuh"

#define DIRECT_WIDTH 2
#define DIRECT_B 1
#define DIRECT_VECTOR uint16_t
#define DIRECT_TURN tsw_turn_1x1
#define DIRECT_SIDE 8
#define DIRECT_KERNEL tsw_direct_2_1x8
#include "direct.cuh"

#define DIRECT_WIDTH 4
#define DIRECT_B 4
#define DIRECT_VECTOR uint4
#define DIRECT_TURN tsw_turn_4
#define DIRECT_SIDE 4
#define DIRECT_KERNEL tsw_direct_4_4x4
#include "direct.cuh"

#define DIRECT_WIDTH 4
#define DIRECT_B 1
#define DIRECT_VECTOR uint32_t
#define DIRECT_TURN tsw_turn_1x1
#define DIRECT_SIDE 8
#define DIRECT_KERNEL tsw_direct_4_1x8
#include "direct.cuh"

#define DIRECT_WIDTH 4
#define DIRECT_B 1
#define DIRECT_VECTOR uint32_t
#define DIRECT_TURN tsw_turn_1x1
#define DIRECT_SIDE 16
#define DIRECT_KERNEL tsw_direct_4_1x16
#include "direct.cuh"

#define DIRECT_WIDTH 8
#define DIRECT_B 1
#define DIRECT_VECTOR uint64_t
#define DIRECT_TURN tsw_turn_1x1
#define DIRECT_SIDE 8
#define DIRECT_KERNEL tsw_direct_8_1x8
#include "direct.cuh"

#define DIRECT_WIDTH 8
#define DIRECT_B 1
#define DIRECT_VECTOR uint64_t
#define DIRECT_TURN tsw_turn_1x1
#define DIRECT_SIDE 16
#define DIRECT_KERNEL tsw_direct_8_1x16
#include "direct.cuh"

#define DIRECT_WIDTH 16
#define DIRECT_B 1
#define DIRECT_VECTOR uint4
#define DIRECT_TURN tsw_turn_1x1
#define DIRECT_SIDE 8
#define DIRECT_KERNEL tsw_direct_16_1x8
#include "direct.cuh"
