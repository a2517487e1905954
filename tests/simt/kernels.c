/* Every kernel of kernels/, its very text, as C. */
#include "simt.h"

#include "../../kernels/digest.cu"
#include "../../kernels/exchange.cu"
#include "../../kernels/imatcopy.cu"
#include "../../kernels/realigned.cu"
#include "../../kernels/shifted.cu"
#include "../../kernels/stream.cu"
#include "../../kernels/tile33.cu"
#include "../../kernels/vector.cu"

/* Not verify.cu: where CUDA is built in, the tests are linked with the real one. */
#include "../../kernels/verify.cuh"

const struct tsw_kernel simt_kernel_fill = {
	"fill", (const void *)tsw_verify_fill_bytes, VERIFY_THREADS, 1, VERIFY_FILL_BYTES, 0};
const struct tsw_kernel simt_kernel_check_elements = {
	"check_elements", (const void *)tsw_verify_elements, VERIFY_THREADS, 1, VERIFY_THREADS, 0};
const struct tsw_kernel simt_kernel_check_gaps = {
	"check_gaps", (const void *)tsw_verify_gaps, VERIFY_THREADS, 1, 0, 0};
