/* tileswap for C++17: typed calls over pointer, n, ld, and over std::mdspan and whatever has its
 * shape.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Header only; link with libtileswap.  What a call means stands in tileswap.h, of which this adds
 * nothing but types: elem_size is sizeof(T), a failure is an exception that carries the status. */
#ifndef TILESWAP_HPP
#define TILESWAP_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tileswap.h"

namespace tileswap {

/* The one exception type.  what() is "<meaning of the status>: <detail of the failed call>". */
class error : public std::runtime_error
{
      public:
	error(tsw_status status, const std::string &detail)
	    : std::runtime_error(tsw_strerror(status) + (detail.empty() ? "" : ": " + detail)),
	      status_(status)
	{
	}
	tsw_status status() const noexcept
	{
		return status_;
	}

      private:
	tsw_status status_;
};

/* Throws unless the call that just returned `status` on this thread succeeded. */
inline void check(tsw_status status)
{
	if (status != TSW_OK)
		throw error(status, tsw_last_error());
}

/* ---- pointer, n, ld */

namespace detail {
template <class T> constexpr std::size_t width()
{
	static_assert(std::is_trivially_copyable<T>::value,
		      "elements are moved as bytes: T must be trivially copyable");
	return sizeof(T);
}
template <class T> constexpr std::size_t writable_width()
{
	static_assert(!std::is_const<T>::value, "a transpose in place writes: T must not be const");
	return width<T>();
}
} /* namespace detail */

/* Host or device memory: looks, and waits. */
template <class T> void transpose(T *a, std::size_t n, std::size_t ld)
{
	check(tsw_transpose(a, n, ld, detail::writable_width<T>()));
}
template <class T> void transpose(T *a, std::size_t n)
{
	transpose(a, n, n);
}

template <class T> void transpose_host(T *a, std::size_t n, std::size_t ld, int nthreads = 0)
{
	check(tsw_transpose_host(a, n, ld, detail::writable_width<T>(), nthreads));
}

template <class T>
void transpose_device(T *a, std::size_t n, std::size_t ld, tsw_stream stream = nullptr)
{
	check(tsw_transpose_device(a, n, ld, detail::writable_width<T>(), stream));
}

template <class T>
void transpose_batch_host(T *a, std::size_t n, std::size_t ld, std::size_t stride,
			  std::size_t count, int nthreads = 0)
{
	check(tsw_transpose_batch_host(a, n, ld, detail::writable_width<T>(), stride, count,
				       nthreads));
}

template <class T>
void transpose_batch_device(T *a, std::size_t n, std::size_t ld, std::size_t stride,
			    std::size_t count, tsw_stream stream = nullptr)
{
	check(tsw_transpose_batch_device(a, n, ld, detail::writable_width<T>(), stride, count,
					 stream));
}

namespace detail {
/* The C calls take the array of pointers as void *const *.  Only void may point at anything, so the
 * pointers are handed over as they lie; every object pointer has one size and form on this ABI. */
template <class T> void *const *untyped(T *const *a)
{
	return reinterpret_cast<void *const *>(a);
}
} /* namespace detail */

template <class T>
void transpose_array_host(T *const *a, std::size_t n, std::size_t ld, std::size_t count,
			  int nthreads = 0)
{
	check(tsw_transpose_array_host(detail::untyped(a), n, ld, detail::writable_width<T>(),
				       count, nthreads));
}

/* `a` lies in memory that the device can read and holds device pointers. */
template <class T>
void transpose_array_device(T *const *a, std::size_t n, std::size_t ld, std::size_t count,
			    tsw_stream stream = nullptr)
{
	check(tsw_transpose_array_device(detail::untyped(a), n, ld, detail::writable_width<T>(),
					 count, stream));
}

/* ---- imatcopy: float, double, std::complex of both, and 2-byte types: C++23's, and CUDA's where
 * their headers came before this one */

/* What a number is to imatcopy, and what alpha is then.  To be specialised for others of 2 bytes. */
template <class T> struct number;
template <> struct number<float> {
	static constexpr tsw_type type = TSW_FLOAT;
	using alpha = float;
};
template <> struct number<double> {
	static constexpr tsw_type type = TSW_DOUBLE;
	using alpha = double;
};
template <> struct number<std::complex<float>> {
	static constexpr tsw_type type = TSW_COMPLEX_FLOAT;
	using alpha = std::complex<float>;
};
template <> struct number<std::complex<double>> {
	static constexpr tsw_type type = TSW_COMPLEX_DOUBLE;
	using alpha = std::complex<double>;
};

/* The bases of such specialisations. */
struct half_number {
	static constexpr tsw_type type = TSW_HALF;
	using alpha = float;
};
struct bfloat16_number {
	static constexpr tsw_type type = TSW_BFLOAT16;
	using alpha = float;
};
#ifdef __STDCPP_FLOAT16_T__
template <> struct number<decltype(0.0f16)> : half_number {
};
#endif
#ifdef __STDCPP_BFLOAT16_T__
template <> struct number<decltype(0.0bf16)> : bfloat16_number {
};
#endif
#ifdef __CUDA_FP16_TYPES_EXIST__
template <> struct number<__half> : half_number {
};
#endif
#ifdef __CUDA_BF16_TYPES_EXIST__
template <> struct number<__nv_bfloat16> : bfloat16_number {
};
#endif

/* Not deduced from: a plain 2 does for every type. */
template <class T> using alpha_of = typename number<T>::alpha;

template <class T>
void imatcopy_host(char op, T *a, std::size_t n, std::size_t ld, alpha_of<T> alpha = 1,
		   int nthreads = 0)
{
	check(tsw_imatcopy_host(op, number<T>::type, n, &alpha, a, ld, nthreads));
}

template <class T>
void imatcopy_device(char op, T *a, std::size_t n, std::size_t ld, alpha_of<T> alpha = 1,
		     tsw_stream stream = nullptr)
{
	check(tsw_imatcopy_device(op, number<T>::type, n, &alpha, a, ld, stream));
}

template <class T>
void imatcopy_batch_host(char op, T *a, std::size_t n, std::size_t ld, std::size_t stride,
			 std::size_t count, alpha_of<T> alpha = 1, int nthreads = 0)
{
	check(tsw_imatcopy_batch_host(op, number<T>::type, n, &alpha, a, ld, stride, count,
				      nthreads));
}

template <class T>
void imatcopy_batch_device(char op, T *a, std::size_t n, std::size_t ld, std::size_t stride,
			   std::size_t count, alpha_of<T> alpha = 1,
			   tsw_stream stream = nullptr)
{
	check(tsw_imatcopy_batch_device(op, number<T>::type, n, &alpha, a, ld, stride, count,
					stream));
}

/* ---- checksum */

struct digest : tsw_digest {
	friend bool operator==(const digest &x, const digest &y) noexcept
	{
		return x.placed == y.placed && x.values == y.values;
	}
	friend bool operator!=(const digest &x, const digest &y) noexcept
	{
		return !(x == y);
	}
};

template <class T>
digest checksum_host(const T *a, std::size_t n, std::size_t ld, bool transposed = false,
		     int nthreads = 0)
{
	digest d{};
	check(tsw_checksum_host(a, n, ld, detail::width<T>(), transposed, &d, nthreads));
	return d;
}

template <class T>
digest checksum_device(const T *a, std::size_t n, std::size_t ld, bool transposed = false,
		       tsw_stream stream = nullptr)
{
	digest d{};
	check(tsw_checksum_device(a, n, ld, detail::width<T>(), transposed, &d, stream));
	return d;
}

/* ---- files */

/* Everything at its default. */
struct file_options : tsw_file_options {
	file_options() : tsw_file_options TSW_FILE_OPTIONS_INIT
	{
	}
};

/* Throws on failure, the interruption by options.progress included; *result, if given, says what was
 * done until then. */
inline void transpose_file(const std::string &path, const tsw_file_options &options = file_options(),
			   tsw_file_result *result = nullptr)
{
	/* C would end there and take another file. */
	if (path.find('\0') != std::string::npos)
		throw error(TSW_ERR_OPTION, "path holds a zero byte");
	check(tsw_transpose_file(path.c_str(), &options, result));
}

/* ---- mdspan
 *
 * Anything with the members of std::mdspan: element_type, rank(), extent(r), stride(r),
 * data_handle().  So std::mdspan, std::experimental::mdspan, Kokkos's and cuda::std::mdspan all do,
 * and no <mdspan> is needed here.  Rank 2 is a matrix, rank 3 a batch over its first index.  One of
 * the last two strides must be 1 (layout_right and layout_left alike), the other is ld. */

namespace detail {

template <class M, class = void> struct is_mdspan : std::false_type {
};
template <class M>
struct is_mdspan<M, std::void_t<typename M::element_type, decltype(M::rank()),
				decltype(std::declval<const M &>().extent(0)),
				decltype(std::declval<const M &>().stride(0)),
				decltype(std::declval<const M &>().data_handle())>>
    : std::is_same<std::decay_t<decltype(std::declval<const M &>().data_handle())>,
		   typename M::element_type *> {
};

template <class M> using if_mdspan = std::enable_if_t<is_mdspan<M>::value>;

struct shape {
	std::size_t n, ld, stride, count;
	bool column_major; /* the rows, as the mdspan indexes them, are the columns in memory */
};

template <class M> shape shape_of(const M &m)
{
	static_assert(M::rank() == 2 || M::rank() == 3, "a matrix has rank 2, a batch rank 3");
	constexpr std::size_t row = M::rank() - 2, col = M::rank() - 1;
	const auto n = static_cast<std::size_t>(m.extent(row));
	const auto cols = static_cast<std::size_t>(m.extent(col));
	shape s{n, n, 0, 1, false};

	if (n != cols)
		throw error(TSW_ERR_LD,
			    "not square: " + std::to_string(n) + " x " + std::to_string(cols));
	if (n > 1) {
		const auto down = static_cast<std::size_t>(m.stride(row));
		const auto along = static_cast<std::size_t>(m.stride(col));

		s.column_major = along != 1;
		if (along != 1 && down != 1)
			throw error(TSW_ERR_STRIDE, "strides " + std::to_string(down) + " and " +
							    std::to_string(along) +
							    ": one must be 1");
		s.ld = s.column_major ? along : down;
	}
	if constexpr (M::rank() == 3) {
		s.stride = static_cast<std::size_t>(m.stride(0));
		s.count = static_cast<std::size_t>(m.extent(0));
	}
	return s;
}

} /* namespace detail */

template <class M, class = detail::if_mdspan<M>> void transpose_host(const M &m, int nthreads = 0)
{
	const detail::shape s = detail::shape_of(m);
	transpose_batch_host(m.data_handle(), s.n, s.ld, s.stride, s.count, nthreads);
}

template <class M, class = detail::if_mdspan<M>>
void transpose_device(const M &m, tsw_stream stream = nullptr)
{
	const detail::shape s = detail::shape_of(m);
	transpose_batch_device(m.data_handle(), s.n, s.ld, s.stride, s.count, stream);
}

/* Host or device memory: looks, and waits. */
template <class M, class = detail::if_mdspan<M>> void transpose(const M &m)
{
	static_assert(M::rank() == 2, "say transpose_host or transpose_device for a batch");
	const detail::shape s = detail::shape_of(m);
	transpose(m.data_handle(), s.n, s.ld);
}

/* Every op does the same to a matrix and to its transpose, so the layout does not matter. */
template <class M, class = detail::if_mdspan<M>>
void imatcopy_host(char op, const M &m, alpha_of<typename M::element_type> alpha = 1,
		   int nthreads = 0)
{
	const detail::shape s = detail::shape_of(m);
	imatcopy_batch_host(op, m.data_handle(), s.n, s.ld, s.stride, s.count, alpha, nthreads);
}

template <class M, class = detail::if_mdspan<M>>
void imatcopy_device(char op, const M &m, alpha_of<typename M::element_type> alpha = 1,
		     tsw_stream stream = nullptr)
{
	const detail::shape s = detail::shape_of(m);
	imatcopy_batch_device(op, m.data_handle(), s.n, s.ld, s.stride, s.count, alpha, stream);
}

/* The digest goes by the indices of the mdspan, whatever its layout. */
template <class M, class = detail::if_mdspan<M>>
digest checksum_host(const M &m, bool transposed = false, int nthreads = 0)
{
	static_assert(M::rank() == 2, "a digest is of one matrix");
	const detail::shape s = detail::shape_of(m);
	return checksum_host(m.data_handle(), s.n, s.ld, transposed != s.column_major, nthreads);
}

template <class M, class = detail::if_mdspan<M>>
digest checksum_device(const M &m, bool transposed = false, tsw_stream stream = nullptr)
{
	static_assert(M::rank() == 2, "a digest is of one matrix");
	const detail::shape s = detail::shape_of(m);
	return checksum_device(m.data_handle(), s.n, s.ld, transposed != s.column_major, stream);
}

} /* namespace tileswap */

#endif /* TILESWAP_HPP */
