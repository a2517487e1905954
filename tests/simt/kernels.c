/* Every kernel of kernels/, its very text, as C. */
#include "simt.h"

#include "../../kernels/tile33.cu"
