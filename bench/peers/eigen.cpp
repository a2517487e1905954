/* Eigen: transposeInPlace of a mapped matrix; see templates.c. */
#include <complex>
#include <cstddef>

#include <Eigen/Core>

template <typename T> static int transpose(void *a, std::size_t n, std::size_t ld)
{
	using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
	using Map = Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
	const auto side = static_cast<Eigen::Index>(n);

	Map(static_cast<T *>(a), side, side, Eigen::OuterStride<>(static_cast<Eigen::Index>(ld)))
		.transposeInPlace();
	return 0;
}

extern "C" int tsw_peer_transpose(void *a, std::size_t n, std::size_t ld, std::size_t elem_size)
{
	switch (elem_size) {
	case 4:
		return transpose<float>(a, n, ld);
	case 8:
		return transpose<double>(a, n, ld);
	case 16:
		return transpose<std::complex<double>>(a, n, ld);
	}
	return -1;
}
