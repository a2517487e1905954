/* imatcopy's epilogue on the device: what is done to a value in registers on its way out.  One set
 * of functions for each type, s, d, c, z, h (half) and b (bfloat16), named by the letter:
 *
 *     tsw_finish_X(e, unit)      one element, as the unsigned integer or vector that carries it
 *     tsw_finish_X_vector(e, v)  all elements of a 16-byte vector
 *     tsw_finish_X_word(e, w)    of h and b: two elements
 *
 * Products and sums are rounded one by one (the _rn functions are never fused), so that device and
 * host have the same bits.  e->kind is the same for all threads.  TSW_KEEP never comes here, and
 * TSW_ZERO, which needs no loading, only to rows.cuh. */
#ifndef TSW_EPILOGUE_CUH
#define TSW_EPILOGUE_CUH

#include "device.cuh"

/* ---- numbers that travel as words ------------------------------------------------------------ */

static inline __device__ uint32_t tsw_times_float(uint32_t x, float by)
{
	return __float_as_uint(__fmul_rn(__uint_as_float(x), by));
}

static inline __device__ double tsw_double_of(uint32_t low, uint32_t high)
{
	return __longlong_as_double((long long)((uint64_t)high << 32 | low));
}

static inline __device__ uint64_t tsw_word_of(double x)
{
	return (uint64_t)__double_as_longlong(x);
}

/* ---- h: half --------------------------------------------------------------------------------- */

/* A half in the lower bits of each of the words: widened, and two floats rounded and put side by
 * side.  A GPU has instructions for both; the text beside them is for tests/simt, and the second
 * also for GPUs before sm_80, where it is the same but for the bits of a NaN. */
static inline __device__ float tsw_float_of_half(uint32_t h)
{
#ifdef __CUDA_ARCH__
	float x;

	asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)h));
	return x;
#else
	const uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;

	if (exponent == 0)
		return __uint_as_float(sign | __float_as_uint((float)fraction * 0x1p-24f));
	return __uint_as_float(sign | (exponent == 31 ? 255 : exponent + 112) << 23 |
			       fraction << 13);
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800

static inline __device__ uint32_t tsw_half_of_float(float x)
{
	const uint32_t w = __float_as_uint(x), sign = w >> 16 & 0x8000, body = w & 0x7fffffff;

	if (body > 0x7f800000)
		return sign | 0x7fff;
	if (body >= 0x477ff000) /* halfway past the largest */
		return sign | 0x7c00;
	if (body < 0x38800000) /* subnormal: the sum's last bit is worth the same as a half's */
		return sign |
		       (__float_as_uint(__fadd_rn(__uint_as_float(body), 0.5f)) - 0x3f000000);
	return sign | (body - (112u << 23) + 0xfff + (body >> 13 & 1)) >> 13;
}

/* The upper half of the word, rounded. */
static inline __device__ uint32_t tsw_bfloat16_of_float(float x)
{
	const uint32_t w = __float_as_uint(x);

	return (w & 0x7fffffff) > 0x7f800000 ? 0x7fff : (w + 0x7fff + (w >> 16 & 1)) >> 16;
}

#endif

static inline __device__ uint32_t tsw_halves_of_floats(float low, float high)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	uint32_t word;

	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
	return word;
#else
	return tsw_half_of_float(low) | tsw_half_of_float(high) << 16;
#endif
}

static inline __device__ uint32_t tsw_finish_h_word(const struct tsw_epilogue *e, uint32_t w)
{
	return tsw_halves_of_floats(__fmul_rn(tsw_float_of_half(w & 0xffff), e->by.f[0]),
				    __fmul_rn(tsw_float_of_half(w >> 16), e->by.f[0]));
}

static inline __device__ uint16_t tsw_finish_h(const struct tsw_epilogue *e, uint16_t u)
{
	return (uint16_t)tsw_finish_h_word(e, u);
}

static inline __device__ uint4 tsw_finish_h_vector(const struct tsw_epilogue *e, uint4 v)
{
	return make_uint4(tsw_finish_h_word(e, v.x), tsw_finish_h_word(e, v.y),
			  tsw_finish_h_word(e, v.z), tsw_finish_h_word(e, v.w));
}

/* ---- b: bfloat16 ----------------------------------------------------------------------------- */

static inline __device__ uint32_t tsw_bfloat16s_of_floats(float low, float high)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
	uint32_t word;

	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
	return word;
#else
	return tsw_bfloat16_of_float(low) | tsw_bfloat16_of_float(high) << 16;
#endif
}

static inline __device__ uint32_t tsw_finish_b_word(const struct tsw_epilogue *e, uint32_t w)
{
	return tsw_bfloat16s_of_floats(__fmul_rn(__uint_as_float(w << 16), e->by.f[0]),
				       __fmul_rn(__uint_as_float(w & 0xffff0000), e->by.f[0]));
}

static inline __device__ uint16_t tsw_finish_b(const struct tsw_epilogue *e, uint16_t u)
{
	return (uint16_t)tsw_finish_b_word(e, u);
}

static inline __device__ uint4 tsw_finish_b_vector(const struct tsw_epilogue *e, uint4 v)
{
	return make_uint4(tsw_finish_b_word(e, v.x), tsw_finish_b_word(e, v.y),
			  tsw_finish_b_word(e, v.z), tsw_finish_b_word(e, v.w));
}

/* ---- s: float -------------------------------------------------------------------------------- */

static inline __device__ uint32_t tsw_finish_s(const struct tsw_epilogue *e, uint32_t u)
{
	return tsw_times_float(u, e->by.f[0]);
}

static inline __device__ uint4 tsw_finish_s_vector(const struct tsw_epilogue *e, uint4 v)
{
	return make_uint4(tsw_finish_s(e, v.x), tsw_finish_s(e, v.y), tsw_finish_s(e, v.z),
			  tsw_finish_s(e, v.w));
}

/* ---- 8-byte units: d and c ------------------------------------------------------------------- */

#define TSW_FINISH_HALVES(finish, e, v)                                                            \
	do {                                                                                       \
		const uint64_t low = finish(e, (uint64_t)(v).y << 32 | (v).x);                     \
		const uint64_t high = finish(e, (uint64_t)(v).w << 32 | (v).z);                    \
                                                                                                   \
		(v) = make_uint4((uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,             \
				 (uint32_t)(high >> 32));                                          \
	} while (0)

static inline __device__ uint64_t tsw_finish_d(const struct tsw_epilogue *e, uint64_t u)
{
	return tsw_word_of(__dmul_rn(__longlong_as_double((long long)u), e->by.d[0]));
}

static inline __device__ uint4 tsw_finish_d_vector(const struct tsw_epilogue *e, uint4 v)
{
	TSW_FINISH_HALVES(tsw_finish_d, e, v);
	return v;
}

static inline __device__ uint64_t tsw_finish_c(const struct tsw_epilogue *e, uint64_t u)
{
	const float x = __uint_as_float((uint32_t)u), y = __uint_as_float((uint32_t)(u >> 32));
	float re, im;

	if (e->kind == TSW_FLIP)
		return u ^ (uint64_t)1 << 63;
	re = __fmul_rn(x, e->by.f[0]);
	im = __fmul_rn(y, e->by.f[3]);
	if (e->kind == TSW_COMPLEX) {
		re = __fadd_rn(re, __fmul_rn(y, e->by.f[1]));
		im = __fadd_rn(im, __fmul_rn(x, e->by.f[2]));
	}
	return (uint64_t)__float_as_uint(im) << 32 | __float_as_uint(re);
}

static inline __device__ uint4 tsw_finish_c_vector(const struct tsw_epilogue *e, uint4 v)
{
	TSW_FINISH_HALVES(tsw_finish_c, e, v);
	return v;
}

/* ---- z: complex double ----------------------------------------------------------------------- */

/* Half of an element, the real part or, if `imaginary`, the other, from both. */
static inline __device__ uint64_t tsw_finish_z_half(const struct tsw_epilogue *e, uint64_t half,
						    uint64_t other, uint32_t imaginary)
{
	double x = __longlong_as_double((long long)half);

	if (e->kind == TSW_FLIP)
		return half ^ (uint64_t)imaginary << 63;
	x = __dmul_rn(x, imaginary ? e->by.d[3] : e->by.d[0]);
	if (e->kind == TSW_COMPLEX)
		x = __dadd_rn(x, __dmul_rn(__longlong_as_double((long long)other),
					   imaginary ? e->by.d[2] : e->by.d[1]));
	return tsw_word_of(x);
}

static inline __device__ uint4 tsw_finish_z(const struct tsw_epilogue *e, uint4 v)
{
	const uint64_t x = (uint64_t)v.y << 32 | v.x, y = (uint64_t)v.w << 32 | v.z;
	const uint64_t re = tsw_finish_z_half(e, x, y, 0), im = tsw_finish_z_half(e, y, x, 1);

	return make_uint4((uint32_t)re, (uint32_t)(re >> 32), (uint32_t)im, (uint32_t)(im >> 32));
}

static inline __device__ uint4 tsw_finish_z_vector(const struct tsw_epilogue *e, uint4 v)
{
	return tsw_finish_z(e, v);
}

#endif /* TSW_EPILOGUE_CUH */
