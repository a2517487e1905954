/* Plain C with vector extensions: whatever 16-byte registers the machine has, or none. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TARGET
#define ISA_TABLE tsw_isa_c
#define ISA_NAME "c"
#define LANES 1

typedef uint8_t vec __attribute__((vector_size(16)));
typedef uint16_t vec2 __attribute__((vector_size(16)));
typedef uint32_t vec4 __attribute__((vector_size(16)));
typedef uint64_t vec8 __attribute__((vector_size(16)));

#define PLAIN static inline __attribute__((always_inline))

PLAIN vec load(const unsigned char *p)
{
	vec v;

	memcpy(&v, p, sizeof v);
	return v;
}

PLAIN void store(unsigned char *p, vec v)
{
	memcpy(p, &v, sizeof v);
}

PLAIN vec gather(const unsigned char *p, size_t step)
{
	(void)step;
	return load(p);
}

PLAIN vec lo1(vec x, vec y)
{
	return __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
				       23);
}

PLAIN vec hi1(vec x, vec y)
{
	return __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
				       15, 31);
}

PLAIN vec lo2(vec x, vec y)
{
	return (vec)__builtin_shufflevector((vec2)x, (vec2)y, 0, 8, 1, 9, 2, 10, 3, 11);
}

PLAIN vec hi2(vec x, vec y)
{
	return (vec)__builtin_shufflevector((vec2)x, (vec2)y, 4, 12, 5, 13, 6, 14, 7, 15);
}

PLAIN vec lo4(vec x, vec y)
{
	return (vec)__builtin_shufflevector((vec4)x, (vec4)y, 0, 4, 1, 5);
}

PLAIN vec hi4(vec x, vec y)
{
	return (vec)__builtin_shufflevector((vec4)x, (vec4)y, 2, 6, 3, 7);
}

PLAIN vec lo8(vec x, vec y)
{
	return (vec)__builtin_shufflevector((vec8)x, (vec8)y, 0, 2);
}

PLAIN vec hi8(vec x, vec y)
{
	return (vec)__builtin_shufflevector((vec8)x, (vec8)y, 1, 3);
}

#include "lanes.inc"
