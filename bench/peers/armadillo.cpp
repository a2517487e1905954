/* Armadillo: inplace_strans of a matrix that uses the caller's memory; see templates.c. */
#define ARMA_DONT_USE_WRAPPER
#define ARMA_DONT_USE_BLAS
#define ARMA_DONT_USE_LAPACK
#include <armadillo>

template <typename T> static int transpose(void *a, std::size_t n)
{
	arma::Mat<T> m(static_cast<T *>(a), n, n, false, true);

	arma::inplace_strans(m);
	return 0;
}

extern "C" int tsw_peer_transpose(void *a, std::size_t n, std::size_t ld, std::size_t elem_size)
{
	if (ld != n)
		return -1;
	switch (elem_size) {
	case 4:
		return transpose<float>(a, n);
	case 8:
		return transpose<double>(a, n);
	case 16:
		return transpose<std::complex<double>>(a, n);
	}
	return -1;
}
