/* The stream kernel by vectors: elements of 1, 2, 4 and 8 bytes. */
#define STREAM_UNIT uint8_t
#define STREAM_KERNEL tsw_stream_1
#include "stream_vectors.cuh"

#define STREAM_UNIT uint16_t
#define STREAM_KERNEL tsw_stream_2
#include "stream_vectors.cuh"

#define STREAM_UNIT uint32_t
#define STREAM_KERNEL tsw_stream_4
#include "stream_vectors.cuh"

#define STREAM_UNIT uint64_t
#define STREAM_KERNEL tsw_stream_8
#include "stream_vectors.cuh"

/* And by units of 1, 2, 4, 8 and 16 bytes. */
#define STREAM_UNIT uint8_t
#define STREAM_KERNEL tsw_stream_1_units
#include "stream_units.cuh"

#define STREAM_UNIT uint16_t
#define STREAM_KERNEL tsw_stream_2_units
#include "stream_units.cuh"

#define STREAM_UNIT uint32_t
#define STREAM_KERNEL tsw_stream_4_units
#include "stream_units.cuh"

#define STREAM_UNIT uint64_t
#define STREAM_KERNEL tsw_stream_8_units
#include "stream_units.cuh"

#define STREAM_UNIT uint4
#define STREAM_KERNEL tsw_stream_16_units
#include "stream_units.cuh"
