/* Filling and checking on the device. */
#include "verify.h"

#include "verify.cuh"

const struct tsw_kernel *tsw_kernel_fill(void)
{
	static const struct tsw_kernel kernel = {"fill", (const void *)tsw_verify_fill_bytes,
						 VERIFY_THREADS, 1, VERIFY_FILL_BYTES};

	return &kernel;
}

const struct tsw_kernel *tsw_kernel_check_elements(void)
{
	static const struct tsw_kernel kernel = {"check_elements",
						 (const void *)tsw_verify_elements, VERIFY_THREADS,
						 1, VERIFY_THREADS};

	return &kernel;
}

const struct tsw_kernel *tsw_kernel_check_gaps(void)
{
	static const struct tsw_kernel kernel = {"check_gaps", (const void *)tsw_verify_gaps,
						 VERIFY_THREADS, 1, 0};

	return &kernel;
}
