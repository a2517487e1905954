/* What imatcopy does to each value on its way out: op, type and alpha, boiled down at the door to
 * one of a few kinds and to coefficients.  One structure for the host engine and, within a kernel's
 * parameter, for the device.  C and CUDA. */
#ifndef TSW_EPILOGUE_H
#define TSW_EPILOGUE_H

#include <stdint.h>

enum tsw_epilogue_kind {
	TSW_KEEP,    /* bits stay as they are */
	TSW_FLIP,    /* the sign bit of every imaginary part is turned over */
	TSW_SCALE,   /* every component is multiplied: x f[0], y f[3] */
	TSW_COMPLEX, /* x f[0] + y f[1],  x f[2] + y f[3]: each product rounded, then the sum */
	TSW_ZERO     /* zeros are written, whatever is there */
};

struct tsw_epilogue {
	union {
		float f[4];
		double d[4];
	} by;		     /* in the precision of the type; real types use the first */
	uint32_t kind, type; /* tsw_epilogue_kind, tsw_type */
	uint32_t transposes; /* op T or C */
	uint32_t unused;     /* no padding that a parameter would carry undefined */
};

#endif /* TSW_EPILOGUE_H */
