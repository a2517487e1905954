/* tsw_nccl_transpose and tsw_nccl_transpose_staged: check, agree, exchange.
 *
 *     pack     pack 0  pack 1  pack 2 ...         a chunk of the matrix, closed up
 *     copy             swap 0  swap 1 ...         ncclSend and ncclRecv with the partner
 *     work                     fill 0  fill 1     the partner's takes its place
 *     local    transposes of what stays here ...
 *
 * As src/cuda/multi.c, seen from one rank; both sides of a pair cut it into the same chunks in the
 * same order, so that sends and receives meet. */
#include "../tileswap_nccl.h"

#include "../cuda/team.h"
#include "../matrices.h"
#include "agree.h"

#define DEFAULT_STAGE ((size_t)256 << 20)
#define BUFFERS 2 /* to send from, and as many to receive into: NCCL likes long messages */
#define ALIGNMENT 256

/* A call, checked. */
struct call {
	struct tsw_spread spread;
	struct tsw_member m;
	ncclComm_t comm;
	uint32_t rank;
	size_t elem_size;
	uint64_t chunk_bytes; /* of one buffer */
};

/* Memory that chunks travel through. */
struct staging {
	void *memory; /* the caller's, or NULL */
	size_t bytes;
};

/* ---- checking -------------------------------------------------------------------------------- */

static tsw_status check(struct call *c, void *a, const tsw_dist *dist)
{
	const size_t unit = c->elem_size ? tsw_elem_unit(c->elem_size) : 1;
	void *address;
	int ranks;

	TRY(tsw_spread_of_bytes(dist, c->elem_size, &c->spread));
	TRY(tsw_check_units(c->elem_size));
	TRY_NCCL(c->comm, ncclCommCount(c->comm, &ranks));
	if ((uint32_t)ranks != tsw_spread_ranks(&c->spread))
		return tsw_fail(TSW_ERR_OPTION, "a grid of %u x %u for a communicator of %d ranks",
				c->spread.nprow, c->spread.npcol, ranks);
	TRY(tsw_check_local(&c->spread, c->rank, a, c->m.ld, c->elem_size));
	if ((uintptr_t)a % unit)
		return tsw_fail(TSW_ERR_ALIGN,
				"a = %p is no multiple of %zu, the unit of elem_size = %zu", a,
				unit, c->elem_size);
	if (a) {
		TRY(tsw_cuda_reach(a, "a", &address));
		c->m.a = address;
	}
	return TSW_OK;
}

static tsw_status size_chunks(struct call *c, size_t stage_bytes)
{
	const uint64_t share = stage_bytes / (2 * BUFFERS);

	c->chunk_bytes = share / ALIGNMENT * ALIGNMENT;
	if (c->chunk_bytes < c->elem_size)
		c->chunk_bytes = share / c->elem_size * c->elem_size;
	if (!c->chunk_bytes)
		return tsw_fail(TSW_ERR_OPTION,
				"stage_bytes = %zu does not hold %d elements of %zu bytes",
				stage_bytes, 2 * BUFFERS, c->elem_size);
	return TSW_OK;
}

static tsw_status check_staging(void *staging, void **address)
{
	if ((uintptr_t)staging % ALIGNMENT)
		return tsw_fail(TSW_ERR_OPTION, "staging = %p is no multiple of %d", staging,
				ALIGNMENT);
	return tsw_cuda_reach(staging, "staging", address);
}

static tsw_status allocate_staging(struct call *c, void **staging)
{
	const cudaError_t error =
		cudaMallocAsync(staging, 2 * BUFFERS * c->chunk_bytes, c->m.caller);

	if (error == cudaErrorMemoryAllocation) {
		cudaGetLastError();
		return tsw_fail(TSW_ERR_NO_MEMORY, "no %ju bytes of device memory for staging",
				(uintmax_t)(2 * BUFFERS * c->chunk_bytes));
	}
	if (error != cudaSuccess)
		return tsw_cuda_fail(error, "cudaMallocAsync");
	c->m.own = *staging;
	return TSW_OK;
}

/* The caller's, or what is taken for this call. */
static tsw_status take_staging(struct call *c, const struct staging *given)
{
	void *p = NULL;

	TRY(size_chunks(c, given->bytes));
	if (given->memory)
		TRY(check_staging(given->memory, &p));
	else if (tsw_spread_ranks(&c->spread) > 1)
		TRY(allocate_staging(c, &p));
	c->m.in = p;
	c->m.out = p ? c->m.in + BUFFERS * c->chunk_bytes : NULL;
	return TSW_OK;
}

/* ---- exchanging ------------------------------------------------------------------------------ */

static struct tsw_rect rect_of(const struct call *c, struct tsw_walk down, struct tsw_walk across)
{
	return (struct tsw_rect){.a = c->m.a,
				 .ld = c->m.ld,
				 .elem_size = c->elem_size,
				 .down = down,
				 .across = across,
				 .rows = down.left,
				 .cols = across.left};
}

static tsw_status swap_buffers(const struct call *c, const void *out, void *in, uint64_t bytes,
			       int peer, cudaStream_t stream)
{
	ncclResult_t sent, received;

	TRY_NCCL(c->comm, ncclGroupStart());
	sent = ncclSend(out, bytes, ncclUint8, peer, c->comm, stream);
	received = ncclRecv(in, bytes, ncclUint8, peer, c->comm, stream);
	TRY_NCCL(c->comm, ncclGroupEnd());
	TRY(tsw_nccl_check(sent, c->comm, "ncclSend"));
	return tsw_nccl_check(received, c->comm, "ncclRecv");
}

static tsw_status exchange_chunk(struct call *c, uint32_t peer, const struct tsw_chunk *chunk)
{
	struct tsw_member *const m = &c->m;
	const struct tsw_rect r = rect_of(c, chunk->down, chunk->across);
	const int slot = (int)(m->turn % BUFFERS);
	char *const out = m->out + (uint64_t)slot * c->chunk_bytes;
	char *const in = m->in + (uint64_t)slot * c->chunk_bytes;

	if (m->turn >= BUFFERS) {
		TRY_CUDA(cudaStreamWaitEvent(m->pack, m->sent[slot], 0));
		TRY_CUDA(cudaStreamWaitEvent(m->copy[0], m->emptied[slot], 0));
	}
	TRY(tsw_rect_pack(&r, out, m->pack));
	TRY_CUDA(cudaEventRecord(m->packed[slot], m->pack));
	TRY_CUDA(cudaStreamWaitEvent(m->copy[0], m->packed[slot], 0));
	TRY(swap_buffers(c, out, in, tsw_rect_bytes(&r), (int)peer, m->copy[0]));
	TRY_CUDA(cudaEventRecord(m->sent[slot], m->copy[0]));
	TRY_CUDA(cudaStreamWaitEvent(m->work, m->sent[slot], 0));
	TRY(tsw_rect_fill(&r, in, m->work));
	TRY_CUDA(cudaEventRecord(m->emptied[slot], m->work));
	m->turn++;
	return TSW_OK;
}

static tsw_status exchange_all(struct call *c)
{
	const uint32_t ranks = tsw_spread_ranks(&c->spread);

	for (uint32_t round = 0; round < ranks; round++) {
		const uint32_t peer = tsw_partner(ranks, round, c->rank);
		const struct tsw_link link = tsw_link_between(&c->spread, c->rank, peer);
		struct tsw_cutting chunks =
			tsw_chunks_of(&link, c->chunk_bytes / c->elem_size, TSW_CHUNK_GRAIN);
		struct tsw_chunk chunk;

		while (peer != c->rank && tsw_chunks_next(&chunks, &chunk))
			TRY(exchange_chunk(c, peer, &chunk));
	}
	return TSW_OK;
}

static tsw_status turn_local(struct call *c)
{
	const struct tsw_link link = tsw_link_between(&c->spread, c->rank, c->rank);
	const struct tsw_chunk all = tsw_chunk_whole(&link);
	const struct tsw_rect r = rect_of(c, all.down, all.across);

	return link.rows ? tsw_rect_turn(&r, c->m.local) : TSW_OK;
}

/* `to` goes on after what is queued on `stream`. */
static tsw_status follow(const struct call *c, cudaStream_t stream, cudaStream_t to)
{
	TRY_CUDA(cudaEventRecord(c->m.mark, stream));
	return tsw_await(c->m.device, to, c->m.mark);
}

static tsw_status queue_work(struct call *c)
{
	struct tsw_member *const m = &c->m;

	TRY(follow(c, m->caller, m->work));
	TRY(follow(c, m->caller, m->pack));
	TRY(follow(c, m->caller, m->copy[0]));
	TRY(follow(c, m->caller, m->local));
	TRY(turn_local(c));
	TRY(exchange_all(c));
	TRY(follow(c, m->work, m->caller));
	TRY(follow(c, m->pack, m->caller));
	TRY(follow(c, m->copy[0], m->caller));
	return follow(c, m->local, m->caller);
}

/* ---- the call -------------------------------------------------------------------------------- */

static tsw_status run(struct call *c, void *a, const tsw_dist *dist, const struct staging *staging)
{
	const struct tsw_terms terms = tsw_terms_of(dist, c->elem_size, staging->bytes);
	tsw_status status;

	/* Without streams nothing can be agreed. */
	TRY(tsw_member_open(&c->m, BUFFERS, 1, 1));
	status = check(c, a, dist);
	if (status == TSW_OK)
		status = take_staging(c, staging);
	TRY(tsw_nccl_agree(c->comm, (int)c->rank, status, &terms, c->m.copy[0]));
	return c->spread.n ? queue_work(c) : TSW_OK;
}

static tsw_status transpose(struct call *c, void *a, const tsw_dist *dist,
			    const struct staging *staging)
{
	int before, rank;
	tsw_status status;

	tsw_forget_failure();
	if (!c->comm)
		return tsw_fail(TSW_ERR_NULL, "comm is NULL");
	TRY(tsw_cuda_usable());
	TRY_NCCL(c->comm, ncclCommUserRank(c->comm, &rank));
	TRY_NCCL(c->comm, ncclCommCuDevice(c->comm, &c->m.device));
	c->rank = (uint32_t)rank;
	TRY_CUDA(cudaGetDevice(&before));
	TRY_CUDA(cudaSetDevice(c->m.device));
	status = run(c, a, dist, staging);
	tsw_member_close(&c->m, &status);
	return ALSO_CUDA(status, cudaSetDevice(before));
}

tsw_status tsw_nccl_transpose(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
			      size_t stage_bytes, ncclComm_t comm, tsw_stream stream)
{
	const struct staging staging = {.bytes = stage_bytes ? stage_bytes : DEFAULT_STAGE};
	struct call c = {.comm = comm, .elem_size = elem_size, .m = {.caller = stream, .ld = ld}};

	return transpose(&c, a, dist, &staging);
}

tsw_status tsw_nccl_transpose_staged(void *a, size_t ld, size_t elem_size, const tsw_dist *dist,
				     void *staging, size_t stage_bytes, ncclComm_t comm,
				     tsw_stream stream)
{
	const struct staging given = {.memory = staging, .bytes = stage_bytes};
	struct call c = {.comm = comm, .elem_size = elem_size, .m = {.caller = stream, .ld = ld}};

	if (!staging)
		return tsw_nccl_transpose(a, ld, elem_size, dist, stage_bytes, comm, stream);
	return transpose(&c, a, dist, &given);
}
