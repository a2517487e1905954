/* What imatcopy does to values on the host, in the vectors of each instruction set. */
#include "finish.h"

#include <string.h>

#include "../tileswap.h"

/* A product is rounded before it is added, here as on a device. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* What every x86-64 and aarch64 has. */
#define FINISH_TARGET
#define FINISH_BYTES 16
#define FINISH_NAME finish_16
#include "finish.inc"

#if defined(__x86_64__)
#define FINISH_TARGET __attribute__((target("avx2")))
#define FINISH_BYTES 32
#define FINISH_NAME finish_32
#include "finish.inc"

#define FINISH_TARGET __attribute__((target("avx512f")))
#define FINISH_BYTES 64
#define FINISH_NAME finish_64
#include "finish.inc"
#endif

static size_t size_of(uint32_t type)
{
	return type == TSW_FLOAT ? 4 : type == TSW_COMPLEX_DOUBLE ? 16 : 8;
}

void tsw_cpu_finish(const struct tsw_isa *isa, const struct tsw_epilogue *e, unsigned char *a,
		    size_t stride, size_t rows, size_t cols)
{
	const size_t bytes = cols * size_of(e->type);

	if (e->kind == TSW_ZERO) {
		for (size_t r = 0; r < rows; r++)
			memset(a + r * stride, 0, bytes);
		return;
	}
#if defined(__x86_64__)
	if (isa == &tsw_isa_avx512) {
		finish_64(e, a, stride, rows, bytes);
		return;
	}
	if (isa == &tsw_isa_avx2) {
		finish_32(e, a, stride, rows, bytes);
		return;
	}
#endif
	(void)isa;
	finish_16(e, a, stride, rows, bytes);
}
