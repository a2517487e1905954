#include "simt.h"

#include "faulty.h"

#include "../../kernels/device.cuh"

#define T FAULTY_THREADS

__global__ void faulty_none(const struct faulty p)
{
	__shared__ uint32_t a[T];
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	a[x] = p.in[at + x];
	__syncthreads();
	p.out[at + x] = a[T - 1 - x];
}

__global__ void faulty_no_barrier(const struct faulty p)
{
	__shared__ uint32_t a[T];
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	a[x] = p.in[at + x];
	p.out[at + x] = a[T - 1 - x];
}

/* Read in time, but the second round fills the array while others still read the first. */
__global__ void faulty_no_second_barrier(const struct faulty p)
{
	__shared__ uint32_t a[T];
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	for (int round = 0; round < 2; round++) {
		a[x] = p.in[at + x];
		__syncthreads();
		p.out[at + x] = a[T - 1 - x];
	}
}

__global__ void faulty_divergent_barrier(const struct faulty p)
{
	__shared__ uint32_t a[T];
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	a[x] = p.in[at + x];
	if (x % 2)
		__syncthreads();
	else
		__syncthreads();
	p.out[at + x] = a[T - 1 - x];
}

__global__ void faulty_early_exit(const struct faulty p)
{
	__shared__ uint32_t a[T];
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	if (x == 17)
		return;
	a[x] = p.in[at + x];
	__syncthreads();
	p.out[at + x] = a[T - 1 - x];
}

__global__ void faulty_store_past_end(const struct faulty p)
{
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	p.out[at + T - 1 - x + (blockIdx.x + 1 == gridDim.x) * p.one] = p.in[at + x];
}

__global__ void faulty_load_before(const struct faulty p)
{
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	p.out[at + T - 1 - x] = p.in[(int64_t)at + x - 1];
}

/* The index passes through a pointer, so that the compiler's bounds check does not see it. */
__global__ void faulty_overrun(const struct faulty p)
{
	__shared__ uint32_t a[T];
	uint32_t *const b = a;
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	b[x + (x == T - 1) * p.one] = p.in[at + x];
	__syncthreads();
	p.out[at + x] = b[T - 1 - x];
}

__global__ void faulty_never_written(const struct faulty p)
{
	__shared__ uint32_t a[T];
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	if (x != 5)
		a[x] = p.in[at + x];
	__syncthreads();
	p.out[at + x] = a[T - 1 - x];
}

__global__ void faulty_blocks_collide(const struct faulty p)
{
	const uint32_t x = threadIdx.x;

	p.out[T - 1 - x] = p.in[x];
}

/* Harmless on the host, a fault on a GPU. */
__global__ void faulty_misaligned(const struct faulty p)
{
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;
	const uint64_t *const two = (const uint64_t *)(p.in + at + x / 2 * 2 + (x == 5) * p.one);

	p.out[at + T - 1 - x] = (uint32_t)(*two >> 32 * (x % 2));
}

/* Right within a warp, wrong between them. */
__global__ void faulty_only_warps_wait(const struct faulty p)
{
	__shared__ uint32_t a[T];
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	a[x] = p.in[at + x];
	__syncwarp();
	p.out[at + x] = a[T - 1 - x];
}

/* Not faulty: every word of simt.h that needs threads to meet. */
__global__ void faulty_none_by_shuffle(const struct faulty p)
{
	TSW_DYNAMIC_SHARED(uint32_t, a);
	const uint32_t x = threadIdx.x, at = blockIdx.x * T, lane = x % 32;
	const uint32_t own = p.in[at + x];
	uint32_t value = __shfl_sync(0xffffffffu, own, 31 - (int)lane);

	if (__shfl_xor_sync(0xffffffffu, own, 31) != value ||
	    __shfl_up_sync(0xffffffffu, lane, 3) != (lane < 3 ? lane : lane - 3) ||
	    __shfl_down_sync(0xffffffffu, lane, 3, 8) != (lane % 8 > 4 ? lane : lane + 3) ||
	    __ballot_sync(0xffffffffu, lane < 8) != 0xffu || !__any_sync(0xffffffffu, lane == 9) ||
	    __all_sync(0xffffffffu, lane == 9))
		value = 0xdead;
	a[x ^ 32] = value;
	__syncwarp();
	__syncthreads();
	p.out[at + x] = a[x];
}

/* Two groups of copies, of half of the block's words each; `under_way` of them nobody waits for. */
static inline __device__ void by_copies(const struct faulty *p, uint32_t *a, uint32_t under_way)
{
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	for (uint32_t half = 0; half < T; half += T / 2) {
		if (x < T / 8)
			tsw_copy_vector(tsw_shared_address(a + half + x * 4),
					p->in + at + half + x * 4, 0, 16, 0);
		tsw_copies_commit();
	}
	tsw_copies_wait(under_way);
	__syncthreads();
	p->out[at + x] = a[T - 1 - x];
}

/* Not faulty. */
__global__ void faulty_none_by_copies(const struct faulty p)
{
	__shared__ __align__(16) uint32_t a[T];

	by_copies(&p, a, 0);
}

__global__ void faulty_a_copy_too_few(const struct faulty p)
{
	__shared__ __align__(16) uint32_t a[T];

	by_copies(&p, a, p.one);
}

/* Everything that is copied has been waited for, but by then others may have read it. */
__global__ void faulty_wait_behind_barrier(const struct faulty p)
{
	__shared__ __align__(16) uint32_t a[T];
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	if (x < T / 4)
		tsw_copy_vector(tsw_shared_address(a + x * 4), p.in + at + x * 4, 0, 16, 0);
	__syncthreads();
	tsw_copies_done();
	p.out[at + x] = a[T - 1 - x];
}

/* Copies into what others are still reading. */
__global__ void faulty_copy_too_early(const struct faulty p)
{
	__shared__ __align__(16) uint32_t a[T];
	const uint32_t x = threadIdx.x, at = blockIdx.x * T;

	for (int round = 0; round < 2; round++) {
		if (x < T / 4)
			tsw_copy_vector(tsw_shared_address(a + x * 4), p.in + at + x * 4, 0, 16, 0);
		tsw_copies_done();
		__syncthreads();
		p.out[at + x] = a[T - 1 - x];
	}
}

#define KERNEL(name) #name, (const void *)(uintptr_t)faulty_##name

const struct faulty_kernel faulty_kernels[] = {
	{KERNEL(none), NULL, 0, 0},
	{KERNEL(none_by_shuffle), NULL, 0, 0},
	{KERNEL(none_by_copies), NULL, 0, 0},
	{KERNEL(no_barrier), "", 0, 0},
	{KERNEL(no_second_barrier), "with no barrier between", 1, 0},
	{KERNEL(divergent_barrier), "divergent barrier", 0, 0},
	{KERNEL(early_exit), "thread (17, 0) has left the kernel", 0, 0},
	{KERNEL(store_past_end), "stores 4 bytes outside of the memory it was given", 1, 1},
	{KERNEL(load_before), "loads 4 bytes outside of the memory it was given", 1, 1},
	{KERNEL(overrun), "shared array", 0, 1},
	{KERNEL(never_written), "", 0, 0},
	{KERNEL(blocks_collide), "with no barrier between", 1, 0},
	{KERNEL(misaligned), "misaligned", 1, 1},
	{KERNEL(only_warps_wait), "with no barrier between", 1, 0},
	{KERNEL(a_copy_too_few), "wrong result", 0, 0},
	{KERNEL(wait_behind_barrier), "with no barrier between", 1, 0},
	{KERNEL(copy_too_early), "with no barrier between", 1, 0},
};
const unsigned faulty_kernel_count = sizeof faulty_kernels / sizeof *faulty_kernels;
