/* Every kernel of kernels/, its very text, as C. */
#include "simt.h"

#include "../../kernels/digest.cu"
#include "../../kernels/shifted.cu"
#include "../../kernels/tile33.cu"
#include "../../kernels/vector.cu"
