#include "team.h"

#include <stdio.h>
#include <stdlib.h>

#define CHUNK_LEAST ((uint64_t)1 << 20) /* a smaller matrix is not cut finer than this */
#define CHUNKS_OF_A_LINK 16		/* of a matrix that staging could hold in fewer */
#define STAGING_ALIGNMENT 256
#define DEFAULT_BUFFERS 2 /* long chunks gain more than many in flight (docs/DISTRIBUTED.md) */

/* ---- looking --------------------------------------------------------------------------------- */

static tsw_status set_device(const struct tsw_member *m)
{
	TRY_CUDA(cudaSetDevice(m->device));
	return TSW_OK;
}

tsw_status tsw_await(int device, cudaStream_t stream, cudaEvent_t event)
{
	TRY_CUDA(cudaSetDevice(device));
	TRY_CUDA(cudaStreamWaitEvent(stream, event, 0));
	return TSW_OK;
}

static uint64_t link_bytes(const struct tsw_team *team, uint32_t a, uint32_t b)
{
	const struct tsw_link link = tsw_link_between(&team->spread, a, b);

	return link.rows * link.cols * team->elem_size;
}

/* The most that two members exchange. */
static uint64_t largest_link(const struct tsw_team *team)
{
	uint64_t most = 0;

	for (uint32_t a = 0; a < team->count; a++)
		for (uint32_t b = 0; b < a; b++)
			if (link_bytes(team, a, b) > most)
				most = link_bytes(team, a, b);
	return most;
}

static tsw_status look_at_part(struct tsw_team *team, const tsw_multi_part *part, uint32_t rank,
			       int devices)
{
	struct tsw_member *const m = &team->members[rank];
	void *address;
	char name[48];

	if (part->device < 0 || part->device >= devices)
		return tsw_fail(TSW_ERR_OPTION, "parts[%u].device = %d: there are %d devices", rank,
				part->device, devices);
	m->device = part->device;
	m->caller = part->stream;
	m->ld = part->ld;
	TRY(set_device(m));
	if (part->a) {
		snprintf(name, sizeof name, "parts[%u].a", rank);
		TRY(tsw_cuda_reach(part->a, name, &address));
		m->a = address;
	}
	if (part->staging) {
		if ((uintptr_t)part->staging % STAGING_ALIGNMENT)
			return tsw_fail(TSW_ERR_OPTION,
					"parts[%u].staging = %p is no multiple of %d", rank,
					part->staging, STAGING_ALIGNMENT);
		snprintf(name, sizeof name, "parts[%u].staging", rank);
		TRY(tsw_cuda_reach(part->staging, name, &address));
		m->in = address;
	}
	return TSW_OK;
}

/* ---- peers ----------------------------------------------------------------------------------- */

/* Lets kernels and copy engines of device `of` reach the memory of `to`. */
static tsw_status reach_peer(int of, int to, int *can)
{
	cudaError_t error;

	*can = 1;
	if (of == to)
		return TSW_OK;
	TRY_CUDA(cudaDeviceCanAccessPeer(can, of, to));
	if (!*can)
		return TSW_OK;
	TRY_CUDA(cudaSetDevice(of));
	error = cudaDeviceEnablePeerAccess(to, 0);
	if (error == cudaErrorPeerAccessAlreadyEnabled)
		cudaGetLastError();
	else if (error != cudaSuccess)
		return tsw_cuda_fail(error, "cudaDeviceEnablePeerAccess");
	return TSW_OK;
}

/* What `from` sends arrives in memory that it can reach. */
static tsw_status open_link(struct tsw_team *team, uint32_t from, uint32_t to)
{
	struct tsw_member *const m = &team->members[to];
	const int method = team->options.method;
	int can;

	if (method == TSW_MULTI_HOST) {
		m->host = 1;
		return TSW_OK;
	}
	TRY(reach_peer(team->members[from].device, m->device, &can));
	if (!can && method != TSW_MULTI_AUTO)
		return tsw_fail(TSW_ERR_UNSUPPORTED,
				"method = %d, but device %d cannot reach the memory of device %d",
				method, team->members[from].device, m->device);
	if (!can)
		m->host = 1;
	return TSW_OK;
}

static tsw_status open_links(struct tsw_team *team)
{
	for (uint32_t a = 0; a < team->count; a++)
		for (uint32_t b = 0; b < team->count; b++)
			if (a != b && link_bytes(team, a, b))
				TRY(open_link(team, a, b));
	return TSW_OK;
}

/* ---- staging --------------------------------------------------------------------------------- */

struct tsw_rect tsw_rect_of(const struct tsw_team *team, uint32_t rank, struct tsw_walk down,
			    struct tsw_walk across)
{
	const struct tsw_member *const m = &team->members[rank];

	return (struct tsw_rect){.a = m->a,
				 .ld = m->ld,
				 .elem_size = team->elem_size,
				 .down = down,
				 .across = across,
				 .rows = down.left,
				 .cols = across.left};
}

/* Does what one member sends another lie in many pieces, as in a block-cyclic matrix? */
static int in_pieces(const struct tsw_team *team, uint32_t from, uint32_t to)
{
	const struct tsw_link link = tsw_link_between(&team->spread, from, to);
	const struct tsw_chunk all = tsw_chunk_whole(&link);
	const struct tsw_rect r = tsw_rect_of(team, from, all.down, all.across);

	return link.rows && link.cols && !tsw_rect_whole(&r);
}

static int anything_in_pieces(const struct tsw_team *team)
{
	for (uint32_t a = 0; a < team->count; a++)
		for (uint32_t b = 0; b < team->count; b++)
			if (a != b && in_pieces(team, a, b))
				return 1;
	return 0;
}

static int goes_through_host(const struct tsw_team *team)
{
	for (uint32_t r = 0; r < team->count; r++)
		if (team->members[r].host)
			return 1;
	return 0;
}

/* What a copy engine cannot fetch from the matrix is best packed there and then copied.  Short
 * links are swapped sooner (docs/DISTRIBUTED.md), but a swap's kernels go to the partner's memory,
 * and whether a pool lets them in is not known here: the caller must say so.  A swap has neither
 * buffers nor copies. */
static void choose_method(struct tsw_team *team)
{
	tsw_multi_options *const o = &team->options;

	if (o->method == TSW_MULTI_AUTO && !goes_through_host(team))
		o->method = anything_in_pieces(team) ? TSW_MULTI_PACK : TSW_MULTI_COPY;
	if (o->method == TSW_MULTI_SWAP)
		o->buffers = o->copies = 0;
	else if (!o->buffers)
		o->buffers = DEFAULT_BUFFERS;
}

static int buffers_of(const struct tsw_team *team)
{
	return team->options.buffers * (team->options.method == TSW_MULTI_PACK ? 2 : 1);
}

static tsw_status size_chunks(struct tsw_team *team)
{
	const uint64_t whole = largest_link(team), room = team->options.staging_bytes;
	const uint64_t least =
		CHUNK_LEAST > team->elem_size ? CHUNK_LEAST : (uint64_t)team->elem_size;
	uint64_t share, fair = whole / CHUNKS_OF_A_LINK;

	if (!whole || team->options.method == TSW_MULTI_SWAP)
		return TSW_OK;
	share = room / (uint64_t)buffers_of(team);
	if (share < team->elem_size)
		return tsw_fail(TSW_ERR_OPTION,
				"staging_bytes = %zu does not hold %d elements of %zu bytes",
				team->options.staging_bytes, buffers_of(team), team->elem_size);
	fair = fair > least ? fair : least;
	share = share < fair ? share : fair;
	/* Buffers begin at round addresses, unless an element would no longer fit. */
	team->chunk_bytes = share / STAGING_ALIGNMENT * STAGING_ALIGNMENT;
	if (team->chunk_bytes < team->elem_size)
		team->chunk_bytes = share / team->elem_size * team->elem_size;
	return TSW_OK;
}

static tsw_status no_memory(const struct tsw_team *team, uint64_t bytes, uint32_t rank,
			    const char *where)
{
	return tsw_fail(TSW_ERR_NO_MEMORY, "%ju bytes of staging for parts[%u] on %s %d",
			(uintmax_t)bytes, rank, where, team->members[rank].device);
}

/* Memory of a pool of its own, which the other devices may write; it goes back to the system when
 * the stream has got that far. */
static tsw_status take_device_memory(struct tsw_team *team, uint32_t rank, uint64_t bytes)
{
	struct tsw_member *const m = &team->members[rank];
	const struct cudaMemPoolProps props = {
		.allocType = cudaMemAllocationTypePinned,
		.location = {.type = cudaMemLocationTypeDevice, .id = m->device},
	};
	cudaError_t error;
	void *p;

	TRY(set_device(m));
	TRY_CUDA(cudaMemPoolCreate(&m->pool, &props));
	for (uint32_t other = 0; other < team->count; other++) {
		const struct cudaMemAccessDesc access = {
			.location = {.type = cudaMemLocationTypeDevice,
				     .id = team->members[other].device},
			.flags = cudaMemAccessFlagsProtReadWrite,
		};

		if (team->members[other].device != m->device && link_bytes(team, other, rank))
			TRY_CUDA(cudaMemPoolSetAccess(m->pool, &access, 1));
	}
	error = cudaMallocFromPoolAsync(&p, bytes, m->pool, m->caller);
	if (error == cudaErrorMemoryAllocation) {
		cudaGetLastError();
		return no_memory(team, bytes, rank, "device");
	}
	if (error != cudaSuccess)
		return tsw_cuda_fail(error, "cudaMallocFromPoolAsync");
	m->own = p;
	m->in = p;
	return TSW_OK;
}

static tsw_status take_host_memory(struct tsw_team *team, uint32_t rank, uint64_t bytes)
{
	struct tsw_member *const m = &team->members[rank];
	cudaError_t error;
	void *p;

	TRY(set_device(m));
	error = cudaHostAlloc(&p, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
	if (error == cudaErrorMemoryAllocation) {
		cudaGetLastError();
		return no_memory(team, bytes, rank, "the host for device");
	}
	if (error != cudaSuccess)
		return tsw_cuda_fail(error, "cudaHostAlloc");
	m->own = p;
	m->in = p;
	return TSW_OK;
}

static int exchanges(const struct tsw_team *team, uint32_t rank)
{
	for (uint32_t other = 0; other < team->count; other++)
		if (other != rank && link_bytes(team, rank, other))
			return 1;
	return 0;
}

static tsw_status take_staging(struct tsw_team *team, uint32_t rank)
{
	struct tsw_member *const m = &team->members[rank];
	const uint64_t bytes = team->chunk_bytes * (uint64_t)buffers_of(team);

	if (!bytes || !exchanges(team, rank))
		return TSW_OK;
	if (m->host)
		TRY(take_host_memory(team, rank, bytes));
	else if (!m->in)
		TRY(take_device_memory(team, rank, bytes));
	m->out = m->in + team->chunk_bytes * (uint64_t)team->options.buffers;
	return TSW_OK;
}

/* ---- streams and events ---------------------------------------------------------------------- */

static tsw_status make_stream(cudaStream_t *stream, int priority)
{
	TRY_CUDA(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, priority));
	return TSW_OK;
}

static tsw_status make_event(cudaEvent_t *event)
{
	TRY_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
	return TSW_OK;
}

tsw_status tsw_member_open(struct tsw_member *m, int buffers, int copies, int packs)
{
	int low, high, feeding;

	TRY(set_device(m));
	TRY_CUDA(cudaDeviceGetStreamPriorityRange(&low, &high));
	/* Sending comes first: NCCL sends by kernels, which would wait for room behind those that
	 * pack and unpack.  The greater number is the lower priority. */
	feeding = high < low ? high + 1 : high;
	TRY(make_stream(&m->work, feeding));
	TRY(make_stream(&m->local, low));
	if (packs)
		TRY(make_stream(&m->pack, feeding));
	for (int i = 0; i < copies; i++)
		TRY(make_stream(&m->copy[i], high));
	TRY(make_event(&m->mark));
	for (int i = 0; i < buffers; i++) {
		TRY(make_event(&m->packed[i]));
		TRY(make_event(&m->sent[i]));
		TRY(make_event(&m->emptied[i]));
	}
	return TSW_OK;
}

/* ---- begin and end --------------------------------------------------------------------------- */

tsw_status tsw_team_begin(struct tsw_team *team, const tsw_multi_part *parts)
{
	int devices;

	team->count = tsw_spread_ranks(&team->spread);
	team->members = calloc(team->count, sizeof *team->members);
	if (!team->members)
		return tsw_fail(TSW_ERR_NO_MEMORY, "%u parts", team->count);
	TRY_CUDA(cudaGetDeviceCount(&devices));
	for (uint32_t r = 0; r < team->count; r++)
		TRY(look_at_part(team, &parts[r], r, devices));
	TRY(open_links(team));
	choose_method(team);
	TRY(size_chunks(team));
	for (uint32_t r = 0; r < team->count; r++) {
		TRY(take_staging(team, r));
		TRY(tsw_member_open(&team->members[r], team->options.buffers, team->options.copies,
				    team->options.method == TSW_MULTI_PACK));
	}
	return TSW_OK;
}

static void drop_stream(cudaStream_t stream, tsw_status *status)
{
	if (stream)
		*status = ALSO_CUDA(*status, cudaStreamDestroy(stream));
}

static void drop_event(cudaEvent_t event, tsw_status *status)
{
	if (event)
		*status = ALSO_CUDA(*status, cudaEventDestroy(event));
}

static void drop_staging(struct tsw_member *m, tsw_status *status)
{
	if (m->own && m->host) {
		*status = ALSO_CUDA(*status, cudaStreamSynchronize(m->caller));
		*status = ALSO_CUDA(*status, cudaFreeHost(m->own));
	} else if (m->own) {
		*status = ALSO_CUDA(*status, cudaFreeAsync(m->own, m->caller));
	}
	if (m->pool)
		*status = ALSO_CUDA(*status, cudaMemPoolDestroy(m->pool));
}

/* Streams and events with work still to do are kept by the runtime until it is done.  After a
 * failure the caller's stream need not wait for all that was queued. */
void tsw_member_close(struct tsw_member *m, tsw_status *status)
{
	*status = ALSO_CUDA(*status, cudaSetDevice(m->device));
	if (*status != TSW_OK && m->work)
		*status = ALSO_CUDA(*status, cudaDeviceSynchronize());
	drop_staging(m, status);
	drop_stream(m->work, status);
	drop_stream(m->local, status);
	drop_stream(m->pack, status);
	for (int i = 0; i < TSW_MOST_COPIES; i++)
		drop_stream(m->copy[i], status);
	drop_event(m->mark, status);
	for (int i = 0; i < TSW_MOST_BUFFERS; i++) {
		drop_event(m->packed[i], status);
		drop_event(m->sent[i], status);
		drop_event(m->emptied[i], status);
	}
}

/* After a failure: what is queued anywhere may still write into any member's staging. */
static void settle(struct tsw_team *team, tsw_status *status)
{
	for (uint32_t r = 0; team->members && r < team->count; r++) {
		if (!team->members[r].work)
			continue;
		*status = ALSO_CUDA(*status, cudaSetDevice(team->members[r].device));
		*status = ALSO_CUDA(*status, cudaDeviceSynchronize());
	}
}

tsw_status tsw_team_end(struct tsw_team *team, tsw_status status)
{
	/* Pinned staging is freed by the host, and not before everybody's copies through it are
	 * done. */
	for (uint32_t r = 0; team->members && r < team->count && status == TSW_OK; r++)
		if (team->members[r].own && team->members[r].host)
			status = ALSO_CUDA(status, cudaStreamSynchronize(team->members[r].caller));
	if (status != TSW_OK)
		settle(team, &status);
	for (uint32_t r = 0; team->members && r < team->count; r++)
		tsw_member_close(&team->members[r], &status);
	free(team->members);
	team->members = NULL;
	return status;
}
