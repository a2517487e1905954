/* Rows of any alignment, on their way into shared memory: the smallest superset of whole vectors of
 * each.  From Hopper on one instruction a row, which the copy engine of the multiprocessor carries
 * out and a barrier in shared memory counts; before, a warp a row by asynchronous vectors.
 *
 *     TSW_BULK_BARRIER(arrived);
 *     tsw_bulk_begin(arrived);
 *     tsw_fetch_rows(arrived, ...);          any number of times
 *     tsw_bulk_end(arrived);                 everything is there, for all threads
 */
#ifndef TSW_FETCH_CUH
#define TSW_FETCH_CUH

#include "device.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define TSW_BULK 1
#define TSW_BULK_BARRIER(name) __shared__ uint64_t name[1]
#else
#define TSW_BULK 0
#define TSW_BULK_BARRIER(name) uint64_t *const name = NULL
#endif

static inline __device__ void tsw_bulk_begin(uint64_t *arrived)
{
#if TSW_BULK
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n"
			     "fence.mbarrier_init.release.cluster;"
			     :
			     : "r"((uint32_t)__cvta_generic_to_shared(arrived)), "r"(blockDim.x)
			     : "memory");
	__syncthreads();
#else
	(void)arrived;
#endif
}

static inline __device__ void tsw_bulk_end(uint64_t *arrived)
{
#if TSW_BULK
	const uint32_t barrier = (uint32_t)__cvta_generic_to_shared(arrived);
	uint32_t done = 0;

	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(barrier) : "memory");
	while (!done)
		asm volatile("{\n"
			     ".reg .pred p;\n"
			     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
			     "selp.u32 %0, 1, 0, p;\n"
			     "}"
			     : "=r"(done)
			     : "r"(barrier)
			     : "memory");
#else
	(void)arrived;
	tsw_copies_done();
	__syncthreads();
#endif
}

/* Fetches `rows` rows of `bytes` bytes, the first at `a`, the next `pitch` bytes on.  Row e goes to
 * shared + e * stride, multiples of `grain`, and begins there as many bytes past such a multiple as
 * in memory.  `grain` is 16 to 128: the copy engine asks for a row in pieces that end at multiples
 * of 32, 64 or 128 on either side, so that the more these agree, the fewer there are.  Nothing is
 * read from `end` on.  Threads from number `first` on begin. */
static inline __device__ void tsw_fetch_rows(uint64_t *arrived, unsigned char *shared,
					     uint32_t stride, uint32_t grain, const char *a,
					     uint64_t pitch, uint32_t rows, uint32_t bytes,
					     const char *end, uint32_t first)
{
	const uint64_t policy = tsw_keep_policy();

#if TSW_BULK
	const uint32_t barrier = (uint32_t)__cvta_generic_to_shared(arrived);

	for (uint32_t e = (threadIdx.x + blockDim.x - first) % blockDim.x; e < rows;
	     e += blockDim.x) {
		const char *const row = a + e * pitch;
		const uint32_t m = (uint32_t)(uintptr_t)row & 15;
		unsigned char *const to =
			shared + e * stride + ((uint32_t)(uintptr_t)row & (grain - 16));
		uint32_t whole = (m + bytes + 15) / 16 * 16;

		if (row - m + whole > end) {
			whole -= 16;
			tsw_copy_bytes(to + whole, row - m + whole, whole ? 0 : m,
				       m + bytes - whole);
		}
		if (whole)
			asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%3], %2;\n"
				     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
				     "bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
				     :
				     : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(row - m),
				       "r"(whole), "r"(barrier), "l"(policy)
				     : "memory");
	}
#else
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const tsw_shared address = tsw_shared_address(shared);

	(void)arrived;
	(void)first;
	for (uint32_t e = warp; e < rows; e += warps) {
		const char *const row = a + e * pitch;
		const uint32_t m = (uint32_t)(uintptr_t)row & 15;
		const uint32_t to_row = e * stride + ((uint32_t)(uintptr_t)row & (grain - 16));

		for (uint32_t at = lane * 16; at < m + bytes; at += 512) {
			const uint32_t to = m + bytes - at < 16 ? m + bytes - at : 16;

			if (row - m + at + 16 <= end)
				tsw_copy_vector(address + to_row + at, row - m + at, at ? 0 : m, to,
						policy);
			else
				tsw_copy_bytes(shared + to_row + at, row - m + at, at ? 0 : m, to);
		}
	}
#endif
}

#endif /* TSW_FETCH_CUH */
