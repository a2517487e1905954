/* The kernels of a distributed matrix, one function per unit or width. */
#define EXCHANGE_UNIT uint8_t
#define EXCHANGE_KERNEL tsw_exchange_1
#include "exchange.cuh"

#define EXCHANGE_UNIT uint16_t
#define EXCHANGE_KERNEL tsw_exchange_2
#include "exchange.cuh"

#define EXCHANGE_UNIT uint32_t
#define EXCHANGE_KERNEL tsw_exchange_4
#include "exchange.cuh"

#define EXCHANGE_UNIT uint64_t
#define EXCHANGE_KERNEL tsw_exchange_8
#include "exchange.cuh"

#define EXCHANGE_UNIT uint4
#define EXCHANGE_KERNEL tsw_exchange_16
#include "exchange.cuh"

#define EXCHANGE_WIDTH 1
#define EXCHANGE_ROW 8
#define EXCHANGE_KERNEL tsw_exchange_vector_1
#include "exchange_vector.cuh"

#define EXCHANGE_WIDTH 2
#define EXCHANGE_ROW 8
#define EXCHANGE_KERNEL tsw_exchange_vector_2
#include "exchange_vector.cuh"

#define EXCHANGE_WIDTH 4
#define EXCHANGE_ROW 16
#define EXCHANGE_KERNEL tsw_exchange_vector_4
#include "exchange_vector.cuh"

#define EXCHANGE_WIDTH 8
#define EXCHANGE_ROW 16
#define EXCHANGE_KERNEL tsw_exchange_vector_8
#include "exchange_vector.cuh"

#define EXCHANGE_WIDTH 16
#define EXCHANGE_ROW 16
#define EXCHANGE_KERNEL tsw_exchange_vector_16
#include "exchange_vector.cuh"

#define GATHER_UNIT uint8_t
#define GATHER_KERNEL tsw_gather_1
#include "gather.cuh"

#define GATHER_UNIT uint16_t
#define GATHER_KERNEL tsw_gather_2
#include "gather.cuh"

#define GATHER_UNIT uint32_t
#define GATHER_KERNEL tsw_gather_4
#include "gather.cuh"

#define GATHER_UNIT uint64_t
#define GATHER_KERNEL tsw_gather_8
#include "gather.cuh"

#define GATHER_UNIT uint4
#define GATHER_KERNEL tsw_gather_16
#include "gather.cuh"
