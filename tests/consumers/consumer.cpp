/* tileswap.hpp: types, layouts, exceptions. */
#include <tileswap.hpp>

#include <array>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#if defined(TEST_STD_MDSPAN)
#include <mdspan>
namespace md = std;
#elif defined(TEST_CUDA_MDSPAN)
#include <cuda/std/mdspan>
namespace md = cuda::std;
#endif

static int wrong;

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
			wrong = 1;                                                                 \
		}                                                                                  \
	} while (0)

template <class F> static tsw_status thrown(F f)
{
	try {
		f();
	} catch (const tileswap::error &e) {
		EXPECT(std::strlen(e.what()) > 0);
		return e.status();
	}
	return TSW_OK;
}

/* Twelve bytes: a width of no built-in type. */
struct point {
	std::array<float, 3> x;
	bool operator==(const point &p) const
	{
		return x == p.x;
	}
};

template <class T> static T coded(std::size_t i);
template <> double coded(std::size_t i)
{
	return static_cast<double>(i);
}
template <> std::complex<float> coded(std::size_t i)
{
	return {static_cast<float>(i), -static_cast<float>(i)};
}
template <> point coded(std::size_t i)
{
	return {{static_cast<float>(i), 1, -static_cast<float>(i)}};
}

template <class T> static std::vector<T> filled(std::size_t count)
{
	std::vector<T> v(count);
	for (std::size_t i = 0; i < count; i++)
		v[i] = coded<T>(i);
	return v;
}

/* Matrices `stride` apart; everything outside the windows must hold its own place. */
template <class T>
static bool transposed(const std::vector<T> &v, std::size_t n, std::size_t ld, std::size_t stride)
{
	for (std::size_t i = 0; i < v.size(); i++) {
		const std::size_t base = i / stride * stride, r = i % stride / ld,
				  c = i % stride % ld;
		const std::size_t from = r < n && c < n ? base + c * ld + r : i;
		if (!(v[i] == coded<T>(from)))
			return false;
	}
	return true;
}

template <class T> static void pointers()
{
	const std::size_t n = 35, ld = 38, stride = n * ld, count = 3;
	auto v = filled<T>(count * stride);

	const auto before = tileswap::checksum_host(v.data(), n, ld);
	tileswap::transpose(v.data(), n, ld);
	EXPECT(tileswap::checksum_host(v.data(), n, ld, true) == before);
	EXPECT(tileswap::checksum_host(v.data(), n, ld) != before);
	tileswap::transpose_batch_host(v.data() + stride, n, ld, stride, count - 1);
	EXPECT(transposed(v, n, ld, stride));

	v = filled<T>(count * stride);
	T *each[] = {v.data(), v.data() + stride, v.data() + 2 * stride};
	tileswap::transpose_array_host(each, n, ld, count, 1);
	EXPECT(transposed(v, n, ld, stride));

	v = filled<T>(n * n);
	tileswap::transpose(v.data(), n);
	EXPECT(transposed(v, n, n, n * n));

	EXPECT(thrown([&] { tileswap::transpose_host(v.data(), n, n - 1); }) == TSW_ERR_LD);
	EXPECT(thrown([&] { tileswap::transpose_host(v.data(), n, n, -1); }) == TSW_ERR_THREADS);
	EXPECT(thrown([&] { tileswap::transpose_host<T>(nullptr, n, n); }) == TSW_ERR_NULL);
	EXPECT(thrown([&] { tileswap::transpose_batch_host(v.data(), n, n, n, 2); }) ==
	       TSW_ERR_STRIDE);
	if (tsw_cuda_status() != TSW_OK) {
		EXPECT(thrown([&] { tileswap::transpose_device(v.data(), n, n); }) ==
		       tsw_cuda_status());
		EXPECT(thrown([&] { tileswap::checksum_device(v.data(), n, n); }) ==
		       tsw_cuda_status());
	}
}

/* The members of std::mdspan that tileswap.hpp asks for, under any strides. */
template <class T, std::size_t Rank> struct view {
	using element_type = T;
	T *data;
	std::array<std::size_t, Rank> extents, strides;
	static constexpr std::size_t rank()
	{
		return Rank;
	}
	std::size_t extent(std::size_t r) const
	{
		return extents[r];
	}
	std::size_t stride(std::size_t r) const
	{
		return strides[r];
	}
	T *data_handle() const
	{
		return data;
	}
};

static void views()
{
	const std::size_t n = 33, ld = 40, stride = 1400, count = 2;
	using matrix = view<double, 2>;
	using batch = view<double, 3>;
	auto v = filled<double>(n * ld);

	tileswap::transpose(matrix{v.data(), {n, n}, {ld, 1}});
	EXPECT(transposed(v, n, ld, n * ld));
	v = filled<double>(n * ld);
	tileswap::transpose_host(matrix{v.data(), {n, n}, {1, ld}}, 2);
	EXPECT(transposed(v, n, ld, n * ld));

	/* By index: a column-major view of the bytes of A is the transpose of A. */
	v = filled<double>(n * ld);
	EXPECT(tileswap::checksum_host(matrix{v.data(), {n, n}, {ld, 1}}) ==
	       tileswap::checksum_host(matrix{v.data(), {n, n}, {1, ld}}, true));
	EXPECT(tileswap::checksum_host(matrix{v.data(), {n, n}, {ld, 1}}) ==
	       tileswap::checksum_host(v.data(), n, ld));

	v = filled<double>(count * stride);
	tileswap::transpose_host(batch{v.data(), {count, n, n}, {stride, ld, 1}});
	EXPECT(transposed(v, n, ld, stride));

	EXPECT(thrown([&] {
		       tileswap::transpose(matrix{v.data(), {n, n - 1}, {ld, 1}});
	       }) == TSW_ERR_LD);
	EXPECT(thrown([&] {
		       tileswap::transpose(matrix{v.data(), {n, n}, {ld, 2}});
	       }) == TSW_ERR_STRIDE);
	EXPECT(thrown([&] {
		       tileswap::transpose_device(matrix{v.data(), {n, n}, {2, 2}});
	       }) == TSW_ERR_STRIDE);
	static_assert(!tileswap::detail::is_mdspan<double *>::value, "a pointer is no mdspan");
}

#if defined(TEST_STD_MDSPAN) || defined(TEST_CUDA_MDSPAN)
static void mdspans()
{
	const std::size_t n = 34;
	using extents = md::dextents<std::size_t, 2>;
	auto v = filled<double>(n * n);

	tileswap::transpose(md::mdspan<double, extents>(v.data(), n, n));
	EXPECT(transposed(v, n, n, n * n));
	v = filled<double>(n * n);
	tileswap::transpose(md::mdspan<double, extents, md::layout_left>(v.data(), n, n));
	EXPECT(transposed(v, n, n, n * n));
	v = filled<double>(n * n);
	tileswap::transpose_host(
		md::mdspan<double, md::dextents<std::size_t, 3>>(v.data(), 1, n, n));
	EXPECT(transposed(v, n, n, n * n));
	const md::mdspan<const double, extents> constant(v.data(), n, n);
	EXPECT(tileswap::checksum_host(constant, true) ==
	       tileswap::checksum_host(filled<double>(n * n).data(), n, n));
}
#else
static void mdspans()
{
}
#endif

template <class T> static void imatcopies()
{
	using matrix = view<T, 2>;
	const std::size_t n = 3, ld = 4;
	std::vector<T> v(n * ld);

	for (std::size_t i = 0; i < v.size(); i++)
		v[i] = T(static_cast<float>(i));
	tileswap::imatcopy_host('T', v.data(), n, ld, 2);
	EXPECT(v[1] == T(8) && v[ld] == T(2) && v[5] == T(10) && v[3] == T(3));
	tileswap::imatcopy_host('n', matrix{v.data(), {n, n}, {1, ld}}, T(2));
	EXPECT(v[1] == T(16) && v[3] == T(3));
	tileswap::imatcopy_batch_host('N', v.data(), 1, 1, 2, 2, 0);
	EXPECT(v[0] == T(0) && v[1] == T(16) && v[2] == T(0));
	EXPECT(thrown([&] { tileswap::imatcopy_host('?', v.data(), n, ld); }) == TSW_ERR_OP);
	EXPECT(thrown([&] { tileswap::imatcopy_host('R', v.data(), n, n - 1); }) == TSW_ERR_LD);
	if (tsw_cuda_status() != TSW_OK)
		EXPECT(thrown([&] { tileswap::imatcopy_device('T', v.data(), n, ld); }) ==
		       tsw_cuda_status());
}

/* A 2-byte number of one's own, as bits. */
struct my_half {
	std::uint16_t bits;
};
struct my_bfloat16 {
	std::uint16_t bits;
};
namespace tileswap {
template <> struct number<my_half> : half_number {
};
template <> struct number<my_bfloat16> : bfloat16_number {
};
} /* namespace tileswap */

static void narrow_numbers()
{
	my_half h[4] = {{0x3c00}, {0x4000}, {0x4200}, {0xc400}}; /* 1 2 3 -4 */
	my_bfloat16 b[4] = {{0x3f80}, {0x4000}, {0x4040}, {0xc080}};

	tileswap::imatcopy_host('T', h, 2, 2, 0.5);
	EXPECT(h[0].bits == 0x3800 && h[1].bits == 0x3e00 && h[2].bits == 0x3c00 &&
	       h[3].bits == 0xc000);
	tileswap::imatcopy_host('R', b, 2, 2, 0.5f);
	EXPECT(b[0].bits == 0x3f00 && b[1].bits == 0x3f80 && b[2].bits == 0x3fc0 &&
	       b[3].bits == 0xc000);
	tileswap::imatcopy_host('T', view<my_half, 2>{h, {2, 2}, {2, 1}});
	EXPECT(h[1].bits == 0x3c00 && h[2].bits == 0x3e00);
#ifdef __STDCPP_FLOAT16_T__
	decltype(0.0f16) s[4] = {1.0f16, 2.0f16, 3.0f16, 4.0f16};
	tileswap::imatcopy_host('T', s, 2, 2, 2);
	EXPECT(s[1] == 6.0f16 && s[2] == 4.0f16);
#endif
}

static void conjugates()
{
	std::complex<double> z[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};

	tileswap::imatcopy_host('C', z, 2, 2, std::complex<double>(0, 1));
	EXPECT(z[1] == std::complex<double>(6, 5)); /* i (5 - 6i) */
}

static void files()
{
	const std::size_t n = 50;
	const char *directory = std::getenv("TMPDIR");
	const std::string path =
		std::string(directory ? directory : "/tmp") + "/tileswap-consumer-cpp.bin";
	auto v = filled<double>(n * n);
	tileswap::file_options options;
	tsw_file_result result = TSW_FILE_RESULT_INIT;

	std::ofstream(path, std::ios::binary)
		.write(reinterpret_cast<char *>(v.data()),
		       static_cast<long>(n * n * sizeof(double)));
	options.n = n;
	options.elem_size = sizeof(double);
	tileswap::transpose_file(path, options, &result);
	EXPECT(result.n == n && result.format == TSW_FORMAT_RAW);
	std::ifstream(path, std::ios::binary)
		.read(reinterpret_cast<char *>(v.data()),
		      static_cast<long>(n * n * sizeof(double)));
	EXPECT(transposed(v, n, n, n * n));
	EXPECT(thrown([&] {
		       tileswap::transpose_file(path + std::string("\0.bin", 5), options);
	       }) == TSW_ERR_OPTION);
	std::remove(path.c_str());
	EXPECT(thrown([&] { tileswap::transpose_file(path); }) == TSW_ERR_IO);
}

int main()
{
	files();
	pointers<double>();
	pointers<std::complex<float>>();
	pointers<point>();
	imatcopies<float>();
	imatcopies<double>();
	imatcopies<std::complex<float>>();
	imatcopies<std::complex<double>>();
	conjugates();
	narrow_numbers();
	views();
	mdspans();
	return wrong;
}
