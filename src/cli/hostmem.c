#include "hostmem.h"

#include "../file/memory.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct hostmem hostmem_now(void)
{
	const struct tsw_memory m = tsw_memory_now();

	return (struct hostmem){m.total_bytes, m.available_bytes};
}

int host_processors(void)
{
	cpu_set_t set;
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (!sched_getaffinity(0, sizeof set, &set))
		return CPU_COUNT(&set);
	return online > 0 ? (int)online : 1; /* more processors than a cpu_set_t holds */
}

uint64_t largest_n(uint64_t bytes, uint64_t elem_size)
{
	uint64_t elements = bytes / elem_size;
	uint64_t n = (uint64_t)sqrt((double)elements);

	if (n > UINT32_MAX)
		n = UINT32_MAX;
	/* The root of a rounded number is off by one at most. */
	while (n * n > elements)
		n--;
	while (n < UINT32_MAX && (n + 1) * (n + 1) <= elements)
		n++;
	return n;
}

void *pages_alloc(size_t bytes)
{
	void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes ? bytes : 1, MADV_HUGEPAGE); /* a hint: failing is no fault */
	return p;
}

void pages_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes ? bytes : 1);
}
