/* NEON: one lane. */
#if defined(__aarch64__)

#include <arm_neon.h>
#include <stddef.h>

#define TARGET
#define ISA_TABLE tsw_isa_neon
#define ISA_NAME "neon"
#define LANES 1

typedef uint8x16_t vec;

#define NEON static inline __attribute__((always_inline))

NEON vec load(const unsigned char *p)
{
	return vld1q_u8(p);
}

NEON void store(unsigned char *p, vec v)
{
	vst1q_u8(p, v);
}

NEON vec gather(const unsigned char *p, size_t step)
{
	(void)step;
	return load(p);
}

#define ZIP(half, width, bits)                                                                     \
	vreinterpretq_u8_u##bits(vzip##half##q_u##bits(vreinterpretq_u##bits##_u8(x),              \
						       vreinterpretq_u##bits##_u8(y)))

NEON vec lo1(vec x, vec y)
{
	return vzip1q_u8(x, y);
}

NEON vec hi1(vec x, vec y)
{
	return vzip2q_u8(x, y);
}

#define DEFINE_ZIP(name, half, bits)                                                               \
	NEON vec name(vec x, vec y)                                                                \
	{                                                                                          \
		return ZIP(half, , bits);                                                          \
	}

DEFINE_ZIP(lo2, 1, 16)
DEFINE_ZIP(hi2, 2, 16)
DEFINE_ZIP(lo4, 1, 32)
DEFINE_ZIP(hi4, 2, 32)
DEFINE_ZIP(lo8, 1, 64)
DEFINE_ZIP(hi8, 2, 64)

#define HAVE_SHUFFLE
NEON vec gather_at(const unsigned char *p, const size_t *at)
{
	return load(p + at[0]);
}

NEON vec shuffle(vec v, vec which)
{
	return vqtbl1q_u8(v, which);
}

#define HAVE_SCALE_HALVES
NEON vec scale_halves(vec v, float32x4_t by)
{
	const float16x8_t h = vreinterpretq_f16_u8(v);
	const float32x4_t low = vmulq_f32(vcvt_f32_f16(vget_low_f16(h)), by);
	const float32x4_t high = vmulq_f32(vcvt_high_f32_f16(h), by);

	return vreinterpretq_u8_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high));
}

#include "lanes.inc"

#else
typedef int tsw_isa_neon_absent; /* not an empty file */
#endif
