#include "device.cuh"
#include "launch.h"

#include "tile33_widths.cuh"

const struct tsw_kernel *tsw_kernel_tile33(unsigned unit)
{
	static const struct tsw_kernel table[] = {
		{"tile33", (const void *)tsw_tile33_1, 32, 8, 32},
		{"tile33", (const void *)tsw_tile33_2, 32, 8, 32},
		{"tile33", (const void *)tsw_tile33_4, 32, 8, 32},
		{"tile33", (const void *)tsw_tile33_8, 32, 8, 32},
		{"tile33", (const void *)tsw_tile33_16, 32, 8, 32},
	};

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
		if (unit == 1u << i)
			return &table[i];
	return NULL;
}
