/* The kernels of verify.cuh.  Not verify.cu itself, as with the others: where CUDA is built in, the
 * tests are linked with the real one. */
#include "simt.h"

#include "../../kernels/verify.h"

#include "../../kernels/verify.cuh"

const struct tsw_kernel simt_kernel_fill = {
	"fill", (const void *)tsw_verify_fill_bytes, VERIFY_THREADS, 1, VERIFY_FILL_BYTES, 0};
const struct tsw_kernel simt_kernel_check_elements = {
	"check_elements", (const void *)tsw_verify_elements, VERIFY_THREADS, 1, VERIFY_THREADS, 0};
const struct tsw_kernel simt_kernel_check_gaps = {
	"check_gaps", (const void *)tsw_verify_gaps, VERIFY_THREADS, 1, 0, 0};
