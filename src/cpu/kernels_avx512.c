/* AVX-512 (F, BW, DQ, VL): four lanes, a register is a cache line. */
#if defined(__x86_64__)

#include "kernels.h"

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#define ISA_TABLE tsw_isa_avx512
#define ISA_NAME "avx512"
#define LANES 4

typedef __m512i vec;

#define X512 static inline __attribute__((always_inline)) TARGET

X512 vec load(const unsigned char *p)
{
	return _mm512_loadu_si512(p);
}

X512 void store(unsigned char *p, vec v)
{
	_mm512_storeu_si512(p, v);
}

/* Masked broadcasts from memory take the lanes in without the shuffle port. */
X512 vec gather(const unsigned char *p, size_t step)
{
	vec v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)p));

	v = _mm512_mask_broadcast_i32x4(v, 0x00f0, _mm_loadu_si128((const void *)(p + step)));
	v = _mm512_mask_broadcast_i32x4(v, 0x0f00, _mm_loadu_si128((const void *)(p + 2 * step)));
	return _mm512_mask_broadcast_i32x4(v, 0xf000,
					   _mm_loadu_si128((const void *)(p + 3 * step)));
}

#define lo1 _mm512_unpacklo_epi8
#define hi1 _mm512_unpackhi_epi8
#define lo2 _mm512_unpacklo_epi16
#define hi2 _mm512_unpackhi_epi16
#define lo4 _mm512_unpacklo_epi32
#define hi4 _mm512_unpackhi_epi32
#define lo8 _mm512_unpacklo_epi64
#define hi8 _mm512_unpackhi_epi64

#define HAVE_COPY_SHORT
X512 void copy_short(unsigned char *dst, const unsigned char *src, size_t n)
{
	__mmask64 m = _cvtu64_mask64(_bzhi_u64(~0ull, (unsigned)n));

	_mm512_mask_storeu_epi8(dst, m, _mm512_maskz_loadu_epi8(m, src));
}

#define HAVE_SCALE_HALVES
X512 vec scale_halves(vec v, __m512 by)
{
	const __m512 low = _mm512_cvtph_ps(_mm512_castsi512_si256(v));
	const __m512 high = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(v, 1));
	const __m256i l = _mm512_cvtps_ph(_mm512_mul_ps(low, by), _MM_FROUND_TO_NEAREST_INT);
	const __m256i h = _mm512_cvtps_ph(_mm512_mul_ps(high, by), _MM_FROUND_TO_NEAREST_INT);

	return _mm512_inserti64x4(_mm512_castsi256_si512(l), h, 1);
}

/* Whole lines turned in registers.  `even` takes lanes 0 and 2 of x, then of y; `odd` 1 and 3. */
#define even(x, y) _mm512_shuffle_i32x4(x, y, 0x88)
#define odd_(x, y) _mm512_shuffle_i32x4(x, y, 0xdd)

X512 void rows16(vec v[4])
{
	vec x = _mm512_shuffle_i32x4(v[0], v[1], 0x44), y = _mm512_shuffle_i32x4(v[2], v[3], 0x44);
	vec z = _mm512_shuffle_i32x4(v[0], v[1], 0xee), w = _mm512_shuffle_i32x4(v[2], v[3], 0xee);

	v[0] = even(x, y);
	v[1] = odd_(x, y);
	v[2] = even(z, w);
	v[3] = odd_(z, w);
}

/* Eight rows as halves: v[i] has the first halves of rows i and i + 4, v[i + 4] the second halves.
 * Taken in that way, rows come a third of their shuffles short, and there is one port for those. */
X512 vec two_halves(const unsigned char *p, const unsigned char *q)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const void *)p)),
				  _mm256_loadu_si256((const void *)q), 1);
}

X512 void load8(vec v[8], const unsigned char *p, size_t step, int i)
{
	v[i] = two_halves(p, p + 4 * step);
	v[i + 4] = two_halves(p + 32, p + 4 * step + 32);
}

/* Four columns of each half: 0 .. 3 of the matrix, or 4 .. 7. */
X512 void columns8(vec v[4])
{
	const vec low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
	const vec high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
	vec x = lo8(v[0], v[1]), y = lo8(v[2], v[3]), z = hi8(v[0], v[1]), w = hi8(v[2], v[3]);

	v[0] = _mm512_permutex2var_epi64(x, low, y);
	v[1] = _mm512_permutex2var_epi64(z, low, w);
	v[2] = _mm512_permutex2var_epi64(x, high, y);
	v[3] = _mm512_permutex2var_epi64(z, high, w);
}

X512 void rows8(vec v[8])
{
	vec u[8];

	_Pragma("GCC unroll 8") for (int i = 0; i < 4; i++)
	{
		u[i] = lo8(v[2 * i], v[2 * i + 1]);	/* row 2i, 2i+1; columns 0 2 4 6 */
		u[4 + i] = hi8(v[2 * i], v[2 * i + 1]); /* columns 1 3 5 7 */
	}
	_Pragma("GCC unroll 8") for (int i = 0; i < 2; i++)
	{
		vec x = even(u[4 * i], u[4 * i + 1]), y = even(u[4 * i + 2], u[4 * i + 3]);
		vec z = odd_(u[4 * i], u[4 * i + 1]), w = odd_(u[4 * i + 2], u[4 * i + 3]);

		v[i] = even(x, y);
		v[i + 4] = odd_(x, y);
		v[i + 2] = even(z, w);
		v[i + 6] = odd_(z, w);
	}
}

/* Rows r, r + 4, r + 8 and r + 12, the first at p: a lane of each to a register. */
X512 void load4(vec v[16], const unsigned char *p, size_t step, int r)
{
	_Pragma("GCC unroll 4") for (int c = 0; c < 4; c++) v[4 * c + r] =
		gather(p + 16 * c, 4 * step);
}

/* The 4 x 4 elements of every lane. */
X512 void columns4(vec v[4])
{
	vec x = lo4(v[0], v[2]), y = lo4(v[1], v[3]), z = hi4(v[0], v[2]), w = hi4(v[1], v[3]);

	v[0] = lo4(x, y);
	v[1] = hi4(x, y);
	v[2] = lo4(z, w);
	v[3] = hi4(z, w);
}

X512 void rows4(vec v[16])
{
	/* The 4 x 4 elements of every lane first, four rows at a time, then the lanes. */
	_Pragma("GCC unroll 8") for (int i = 0; i < 16; i += 4)
	{
		vec x = lo4(v[i], v[i + 2]), y = lo4(v[i + 1], v[i + 3]);
		vec z = hi4(v[i], v[i + 2]), w = hi4(v[i + 1], v[i + 3]);

		v[i] = lo4(x, y);
		v[i + 1] = hi4(x, y);
		v[i + 2] = lo4(z, w);
		v[i + 3] = hi4(z, w);
	}
	_Pragma("GCC unroll 8") for (int i = 0; i < 4; i++)
	{
		vec x = even(v[i], v[i + 4]), y = even(v[i + 8], v[i + 12]);
		vec z = odd_(v[i], v[i + 4]), w = odd_(v[i + 8], v[i + 12]);

		v[i] = even(x, y);
		v[i + 8] = odd_(x, y);
		v[i + 4] = even(z, w);
		v[i + 12] = odd_(z, w);
	}
}

#define HAVE_SWAP_ROWS

X512 vec load_part(const unsigned char *p, size_t nbytes)
{
	return _mm512_maskz_loadu_epi8(_cvtu64_mask64(_bzhi_u64(~0ull, (unsigned)nbytes)), p);
}

X512 void store_part(unsigned char *p, vec v, size_t nbytes)
{
	_mm512_mask_storeu_epi8(p, _cvtu64_mask64(_bzhi_u64(~0ull, (unsigned)nbytes)), v);
}

/* The smallest matrices, in registers no longer than they need; 1 if done. */
X512 int turn_tiny8(unsigned char *a, size_t sa, size_t side)
{
	__mmask8 m = _cvtu32_mask8((1u << side % 32) - 1);
	__m256i v[4], x, y, z, w;

	if (side > 4)
		return 0;
	_Pragma("GCC unroll 4") for (size_t i = 0; i < 4; i++) v[i] =
		i < side ? _mm256_maskz_loadu_epi64(m, a + i * sa) : _mm256_setzero_si256();
	x = _mm256_unpacklo_epi64(v[0], v[1]);
	y = _mm256_unpackhi_epi64(v[0], v[1]);
	z = _mm256_unpacklo_epi64(v[2], v[3]);
	w = _mm256_unpackhi_epi64(v[2], v[3]);
	v[0] = _mm256_permute2x128_si256(x, z, 0x20);
	v[1] = _mm256_permute2x128_si256(y, w, 0x20);
	v[2] = _mm256_permute2x128_si256(x, z, 0x31);
	v[3] = _mm256_permute2x128_si256(y, w, 0x31);
	_Pragma("GCC unroll 4") for (size_t i = 0; i < 4; i++) if (i < side)
		_mm256_mask_storeu_epi64(a + i * sa, m, v[i]);
	return 1;
}

X512 int turn_tiny4(unsigned char *a, size_t sa, size_t side)
{
	__mmask8 m = _cvtu32_mask8((1u << side % 32) - 1);
	__m256i v[8], x, y, z, w;

	if (side > 8)
		return 0;
	_Pragma("GCC unroll 8") for (size_t i = 0; i < 8; i++) v[i] =
		i < side ? _mm256_maskz_loadu_epi32(m, a + i * sa) : _mm256_setzero_si256();
	_Pragma("GCC unroll 8") for (int i = 0; i < 8; i += 4)
	{
		x = _mm256_unpacklo_epi32(v[i], v[i + 2]);
		y = _mm256_unpacklo_epi32(v[i + 1], v[i + 3]);
		z = _mm256_unpackhi_epi32(v[i], v[i + 2]);
		w = _mm256_unpackhi_epi32(v[i + 1], v[i + 3]);
		v[i] = _mm256_unpacklo_epi32(x, y);
		v[i + 1] = _mm256_unpackhi_epi32(x, y);
		v[i + 2] = _mm256_unpacklo_epi32(z, w);
		v[i + 3] = _mm256_unpackhi_epi32(z, w);
	}
	_Pragma("GCC unroll 8") for (size_t i = 0; i < 8; i++) if (i < side)
		_mm256_mask_storeu_epi32(
			a + i * sa, m,
			i < 4 ? _mm256_permute2x128_si256(v[i % 4], v[i % 4 + 4], 0x20)
			      : _mm256_permute2x128_si256(v[i % 4], v[i % 4 + 4], 0x31));
	return 1;
}

X512 int turn_tiny16(unsigned char *a, size_t sa, size_t side)
{
	(void)a, (void)sa, (void)side;
	return 0;
}

/* Rows of matrices without padding that fill a register or two: one permutation of the whole; 1 if
 * done.  The next matrix is loaded after this one is stored, so they may lie back to back. */
#define HAVE_TURN_DENSE
#define turn_dense1(row) 0
#define turn_dense2(row) 0
#define turn_dense16(row) 0

X512 int turn_dense4(const struct tsw_row *row)
{
	size_t side = row->side, all = side * side;
	unsigned from[16];
	__mmask16 m;
	vec which;

	if (side > 4 || row->stride != side * 4)
		return 0;
	for (unsigned x = 0; x < 16; x++)
		from[x] = x < all ? (unsigned)(x % side * side + x / side) : x;
	which = _mm512_loadu_si512(from);
	m = _cvtu32_mask16((1u << all) - 1);
	for (size_t q = 0; q < row->count; q++) {
		unsigned char *a = tsw_row_at(row, q);

		_mm512_mask_storeu_epi32(
			a, m, _mm512_permutexvar_epi32(which, _mm512_maskz_loadu_epi32(m, a)));
	}
	return 1;
}

X512 int turn_dense8(const struct tsw_row *row)
{
	vec first = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
	vec second = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);

	if (row->side != 4 || row->stride != 32)
		return 0;
	for (size_t q = 0; q < row->count; q++) {
		unsigned char *a = tsw_row_at(row, q);
		vec x = load(a), y = load(a + 64);

		store(a, _mm512_permutex2var_epi64(x, first, y));
		store(a + 64, _mm512_permutex2var_epi64(x, second, y));
	}
	return 1;
}

/* Odd widths.  A row of a block is four runs of `run` bytes, one a lane once it is spread: words
 * change lanes, then bytes move within them.  A run that begins at an odd byte is taken from the
 * byte before; packing it goes lane by lane, as its words straddle them. */
#define HAVE_ODD
struct odd {
	vec spread_words, spread_bytes, pack_bytes, pack_words;
	__mmask64 row;
	size_t run;
};

X512 void odd_begin(struct odd *o, size_t width, size_t field)
{
	unsigned short words[32], packed_words[32];
	unsigned char bytes[64], packed_bytes[64];
	size_t run = 16 / field * width;

	for (size_t w = 0; w < 32; w++) {
		words[w] = (unsigned short)((w / 8 * run / 2 + w % 8) % 32);
		packed_words[w] = (unsigned short)((2 * w / run * 8 + 2 * w % run / 2) % 32);
	}
	for (size_t x = 0; x < 64; x++) {
		size_t in = x % 16, skip = x / 16 * run % 2;

		bytes[x] = in % field < width
				   ? (unsigned char)(in / field * width + in % field + skip)
				   : 0x80;
		packed_bytes[x] =
			in < run ? (unsigned char)(in / width * field + in % width) : 0x80;
	}
	o->spread_words = _mm512_loadu_si512(words);
	o->spread_bytes = _mm512_loadu_si512(bytes);
	o->pack_bytes = _mm512_loadu_si512(packed_bytes);
	o->pack_words = _mm512_loadu_si512(packed_words);
	o->row = _cvtu64_mask64(_bzhi_u64(~0ull, (unsigned)(4 * run)));
	o->run = run;
}

/* Widths 3, 6 and 12 make rows of 48 bytes; moved without masks they take a tenth less time. */
X512 vec spread_row(const unsigned char *p, const struct odd *o)
{
	vec v;

	if (o->run == 12)
		v = _mm512_inserti32x4(_mm512_castsi256_si512(_mm256_loadu_si256((const void *)p)),
				       _mm_loadu_si128((const void *)(p + 32)), 2);
	else
		v = _mm512_maskz_loadu_epi8(o->row, p);
	return _mm512_shuffle_epi8(_mm512_permutexvar_epi16(o->spread_words, v), o->spread_bytes);
}

X512 void pack_row(unsigned char *p, vec v, const struct odd *o)
{
	v = _mm512_shuffle_epi8(v, o->pack_bytes);
	if (o->run == 12) {
		v = _mm512_permutexvar_epi16(o->pack_words, v);
		_mm256_storeu_si256((void *)p, _mm512_castsi512_si256(v));
		_mm_storeu_si128((void *)(p + 32), _mm512_extracti32x4_epi32(v, 2));
	} else if (o->run % 2 == 0) {
		_mm512_mask_storeu_epi8(p, o->row, _mm512_permutexvar_epi16(o->pack_words, v));
	} else {
		__mmask16 m = _cvtu32_mask16((1u << o->run) - 1);

		_mm_mask_storeu_epi8(p, m, _mm512_castsi512_si128(v));
		_mm_mask_storeu_epi8(p + o->run, m, _mm512_extracti32x4_epi32(v, 1));
		_mm_mask_storeu_epi8(p + 2 * o->run, m, _mm512_extracti32x4_epi32(v, 2));
		_mm_mask_storeu_epi8(p + 3 * o->run, m, _mm512_extracti32x4_epi32(v, 3));
	}
}

#define HAVE_SLANTS
typedef __mmask8 some8_t;

X512 vec pick8(int bit, vec x, vec y)
{
	return _mm512_mask_blend_epi64(bit == 1 ? 0xaa : bit == 2 ? 0xcc : 0xf0, y, x);
}

/* Without a branch: half of those that ends of slants would take are mispredicted. */
X512 some8_t some8(ptrdiff_t from, ptrdiff_t to)
{
	const vec at = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
	some8_t m = _mm512_cmple_epi64_mask(_mm512_set1_epi64(from), at);

	return _mm512_mask_cmplt_epi64_mask(m, at, _mm512_set1_epi64(to));
}

X512 vec load_some8(const unsigned char *p, some8_t m)
{
	return _mm512_maskz_loadu_epi64(m, p);
}

X512 void store_some8(unsigned char *p, some8_t m, vec v)
{
	_mm512_mask_storeu_epi64(p, m, v);
}

#include "lanes.inc"

#else
typedef int tsw_isa_avx512_absent; /* not an empty file */
#endif
