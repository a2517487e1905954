/* The kernels of imatcopy: for each type those of its width again, in all their forms, with an
 * epilogue; and its rows. */

/* ---- s: float */
#define VECTOR_ONLY 4
#define VECTOR_FINISH tsw_finish_s
#define VECTOR_NAMED(width, form) tsw_imatcopy_vector_s##form
#include "vector_widths.cuh"

#define SHIFTED_ONLY 4
#define SHIFTED_MANY 0
#define SHIFTED_FINISH tsw_finish_s
#define SHIFTED_NAMED(unit, form) tsw_imatcopy_shifted_s##form
#include "shifted_units.cuh"

#define STREAM_UNIT uint32_t
#define STREAM_FINISH tsw_finish_s
#define STREAM_KERNEL tsw_imatcopy_stream_s
#include "stream_vectors.cuh"

#define STREAM_UNIT uint32_t
#define STREAM_KERNEL tsw_imatcopy_stream_s_units
#include "stream_units.cuh"
#undef STREAM_FINISH

#define ROWS_UNIT uint32_t
#define ROWS_HALVES 0
#define ROWS_FINISH tsw_finish_s
#define ROWS_KERNEL tsw_imatcopy_rows_s
#include "rows.cuh"

/* ---- d: double */
#define VECTOR_ONLY 8
#define VECTOR_FINISH tsw_finish_d
#define VECTOR_NAMED(width, form) tsw_imatcopy_vector_d##form
#include "vector_widths.cuh"

#define SHIFTED_ONLY 8
#define SHIFTED_MANY 0
#define SHIFTED_FINISH tsw_finish_d
#define SHIFTED_NAMED(unit, form) tsw_imatcopy_shifted_d##form
#include "shifted_units.cuh"

#define STREAM_UNIT uint64_t
#define STREAM_FINISH tsw_finish_d
#define STREAM_KERNEL tsw_imatcopy_stream_d
#include "stream_vectors.cuh"

#define STREAM_UNIT uint64_t
#define STREAM_KERNEL tsw_imatcopy_stream_d_units
#include "stream_units.cuh"
#undef STREAM_FINISH

#define ROWS_UNIT uint64_t
#define ROWS_HALVES 0
#define ROWS_FINISH tsw_finish_d
#define ROWS_KERNEL tsw_imatcopy_rows_d
#include "rows.cuh"

/* ---- c: complex float */
#define VECTOR_ONLY 8
#define VECTOR_FINISH tsw_finish_c
#define VECTOR_NAMED(width, form) tsw_imatcopy_vector_c##form
#include "vector_widths.cuh"

#define SHIFTED_ONLY 8
#define SHIFTED_MANY 0
#define SHIFTED_FINISH tsw_finish_c
#define SHIFTED_NAMED(unit, form) tsw_imatcopy_shifted_c##form
#include "shifted_units.cuh"

#define STREAM_UNIT uint64_t
#define STREAM_FINISH tsw_finish_c
#define STREAM_KERNEL tsw_imatcopy_stream_c
#include "stream_vectors.cuh"

#define STREAM_UNIT uint64_t
#define STREAM_KERNEL tsw_imatcopy_stream_c_units
#include "stream_units.cuh"
#undef STREAM_FINISH

#define ROWS_UNIT uint64_t
#define ROWS_HALVES 0
#define ROWS_FINISH tsw_finish_c
#define ROWS_KERNEL tsw_imatcopy_rows_c
#include "rows.cuh"

/* ---- z: complex double; at odd multiples of 8 by halves, each finished with a look at the other
 */
#define VECTOR_ONLY 16
#define VECTOR_FINISH tsw_finish_z
#define VECTOR_NAMED(width, form) tsw_imatcopy_vector_z##form
#include "vector_widths.cuh"

#define SHIFTED_ONLY 16
#define SHIFTED_MANY 0
#define SHIFTED_FINISH tsw_finish_z
#define SHIFTED_NAMED(unit, form) tsw_imatcopy_shifted_z##form
#include "shifted_units.cuh"

#define SHIFTED_ONLY 8
#define SHIFTED_MANY 1
#define SHIFTED_FINISH tsw_finish_z_half
#define SHIFTED_NAMED(unit, form) tsw_imatcopy_shifted_z_halves##form
#include "shifted_units.cuh"

#define STREAM_UNIT uint4
#define STREAM_FINISH tsw_finish_z
#define STREAM_KERNEL tsw_imatcopy_stream_z
#include "stream_units.cuh"
#undef STREAM_FINISH

#define STREAM_UNIT uint64_t
#define STREAM_HALVES
#define STREAM_FINISH tsw_finish_z_half
#define STREAM_KERNEL tsw_imatcopy_stream_z_halves
#include "stream_units.cuh"
#undef STREAM_FINISH
#undef STREAM_HALVES

#define ROWS_UNIT uint4
#define ROWS_HALVES 1
#define ROWS_FINISH tsw_finish_z
#define ROWS_KERNEL tsw_imatcopy_rows_z
#include "rows.cuh"

/* ---- h: half */
#define VECTOR_ONLY 2
#define VECTOR_FINISH tsw_finish_h
#define VECTOR_NAMED(width, form) tsw_imatcopy_vector_h##form
#include "vector_widths.cuh"

#define SHIFTED_ONLY 2
#define SHIFTED_MANY 0
#define SHIFTED_FINISH tsw_finish_h
#define SHIFTED_NAMED(unit, form) tsw_imatcopy_shifted_h##form
#include "shifted_units.cuh"

#define STREAM_UNIT uint16_t
#define STREAM_FINISH tsw_finish_h
#define STREAM_KERNEL tsw_imatcopy_stream_h
#include "stream_vectors.cuh"

#define STREAM_UNIT uint16_t
#define STREAM_KERNEL tsw_imatcopy_stream_h_units
#include "stream_units.cuh"
#undef STREAM_FINISH

#define ROWS_UNIT uint16_t
#define ROWS_HALVES 0
#define ROWS_FINISH tsw_finish_h
#define ROWS_KERNEL tsw_imatcopy_rows_h
#include "rows.cuh"

/* ---- b: bfloat16 */
#define VECTOR_ONLY 2
#define VECTOR_FINISH tsw_finish_b
#define VECTOR_NAMED(width, form) tsw_imatcopy_vector_b##form
#include "vector_widths.cuh"

#define SHIFTED_ONLY 2
#define SHIFTED_MANY 0
#define SHIFTED_FINISH tsw_finish_b
#define SHIFTED_NAMED(unit, form) tsw_imatcopy_shifted_b##form
#include "shifted_units.cuh"

#define STREAM_UNIT uint16_t
#define STREAM_FINISH tsw_finish_b
#define STREAM_KERNEL tsw_imatcopy_stream_b
#include "stream_vectors.cuh"

#define STREAM_UNIT uint16_t
#define STREAM_KERNEL tsw_imatcopy_stream_b_units
#include "stream_units.cuh"
#undef STREAM_FINISH

#define ROWS_UNIT uint16_t
#define ROWS_HALVES 0
#define ROWS_FINISH tsw_finish_b
#define ROWS_KERNEL tsw_imatcopy_rows_b
#include "rows.cuh"
