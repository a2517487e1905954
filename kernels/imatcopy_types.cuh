/* The types of imatcopy: the transposing kernels again, with an epilogue, in the forms that
 * vector_widths.cuh and shifted_units.cuh have for the type's width; and the rows. */

/* ---- s: float */
#define VECTOR_UNIT uint32_t
#define VECTOR_WIDTH 4
#define VECTOR_ROW 16
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS IMATCOPY_BLOCKS(4)
#define VECTOR_FINISH tsw_finish_s
#define VECTOR_KERNEL tsw_imatcopy_vector_s
#include "vector.cuh"

#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_SIDE 128
#define SHIFTED_THREADS 1024
#define SHIFTED_BLOCKS 1
#define SHIFTED_FINISH tsw_finish_s
#define SHIFTED_KERNEL tsw_imatcopy_shifted_s_128
#include "shifted.cuh"

#define SHIFTED_UNIT uint32_t
#define SHIFTED_WIDTH 4
#define SHIFTED_SIDE 64
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_FINISH tsw_finish_s
#define SHIFTED_KERNEL tsw_imatcopy_shifted_s_64
#include "shifted.cuh"

#define ROWS_UNIT uint32_t
#define ROWS_HALVES 0
#define ROWS_FINISH tsw_finish_s
#define ROWS_KERNEL tsw_imatcopy_rows_s
#include "rows.cuh"

/* ---- d: double */
#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 8
#define VECTOR_ROW 16
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS IMATCOPY_BLOCKS(6)
#define VECTOR_FINISH tsw_finish_d
#define VECTOR_KERNEL tsw_imatcopy_vector_d
#include "vector.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 64
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_FINISH tsw_finish_d
#define SHIFTED_KERNEL tsw_imatcopy_shifted_d_64
#include "shifted.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 32
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_FINISH tsw_finish_d
#define SHIFTED_KERNEL tsw_imatcopy_shifted_d_32
#include "shifted.cuh"

#define ROWS_UNIT uint64_t
#define ROWS_HALVES 0
#define ROWS_FINISH tsw_finish_d
#define ROWS_KERNEL tsw_imatcopy_rows_d
#include "rows.cuh"

/* ---- c: complex float */
#define VECTOR_UNIT uint64_t
#define VECTOR_WIDTH 8
#define VECTOR_ROW 16
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS IMATCOPY_BLOCKS(6)
#define VECTOR_FINISH tsw_finish_c
#define VECTOR_KERNEL tsw_imatcopy_vector_c
#include "vector.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 64
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_FINISH tsw_finish_c
#define SHIFTED_KERNEL tsw_imatcopy_shifted_c_64
#include "shifted.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 32
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_FINISH tsw_finish_c
#define SHIFTED_KERNEL tsw_imatcopy_shifted_c_32
#include "shifted.cuh"

#define ROWS_UNIT uint64_t
#define ROWS_HALVES 0
#define ROWS_FINISH tsw_finish_c
#define ROWS_KERNEL tsw_imatcopy_rows_c
#include "rows.cuh"

/* ---- z: complex double; at odd multiples of 8 by halves, each finished with a look at the other
 */
#define VECTOR_UNIT uint4
#define VECTOR_WIDTH 16
#define VECTOR_ROW 16
#define VECTOR_SPLIT 0
#define VECTOR_BLOCKS IMATCOPY_BLOCKS(4)
#define VECTOR_FINISH tsw_finish_z
#define VECTOR_KERNEL tsw_imatcopy_vector_z
#include "vector.cuh"

#define SHIFTED_UNIT uint64_t
#define SHIFTED_WIDTH 8
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 512
#define SHIFTED_BLOCKS 2
#define SHIFTED_FINISH tsw_finish_z_half
#define SHIFTED_KERNEL tsw_imatcopy_shifted_z_halves
#include "shifted.cuh"

#define SHIFTED_UNIT uint4
#define SHIFTED_WIDTH 16
#define SHIFTED_SIDE 0
#define SHIFTED_THREADS 256
#define SHIFTED_BLOCKS 4
#define SHIFTED_FINISH tsw_finish_z
#define SHIFTED_KERNEL tsw_imatcopy_shifted_z
#include "shifted.cuh"

#define ROWS_UNIT uint4
#define ROWS_HALVES 1
#define ROWS_FINISH tsw_finish_z
#define ROWS_KERNEL tsw_imatcopy_rows_z
#include "rows.cuh"
