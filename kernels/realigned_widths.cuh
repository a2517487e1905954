/* The forms of the realigned kernel: large tiles, and smaller ones for small matrices and where a
 * block may not have so much shared memory.  REALIGNED_BLOCKS: of one multiprocessor, what
 * registers and shared memory allow on an H200. */
#define REALIGNED_WIDTH 1
#define REALIGNED_SIDE 192
#define REALIGNED_THREADS 384
#define REALIGNED_BLOCKS 2
#define REALIGNED_KERNEL tsw_realigned_1_192
#include "realigned.cuh"

#define REALIGNED_WIDTH 1
#define REALIGNED_SIDE 128
#define REALIGNED_THREADS 256
#define REALIGNED_BLOCKS 4
#define REALIGNED_KERNEL tsw_realigned_1_128
#include "realigned.cuh"

#define REALIGNED_WIDTH 2
#define REALIGNED_SIDE 128
#define REALIGNED_THREADS 256
#define REALIGNED_BLOCKS 2
#define REALIGNED_KERNEL tsw_realigned_2_128
#include "realigned.cuh"

#define REALIGNED_WIDTH 3
#define REALIGNED_SIDE 128
#define REALIGNED_THREADS 512
#define REALIGNED_BLOCKS 2
#define REALIGNED_KERNEL tsw_realigned_3_128
#include "realigned.cuh"

#define REALIGNED_WIDTH 3
#define REALIGNED_SIDE 64
#define REALIGNED_THREADS 256
#define REALIGNED_BLOCKS 4
#define REALIGNED_KERNEL tsw_realigned_3_64
#include "realigned.cuh"

#define REALIGNED_WIDTH 6
#define REALIGNED_SIDE 64
#define REALIGNED_THREADS 256
#define REALIGNED_BLOCKS 3
#define REALIGNED_KERNEL tsw_realigned_6_64
#include "realigned.cuh"
