/* One matrix over several GPUs: what is queued, and in which order.
 *
 *     a.copy    send 0  send 1  send 2 ...                     a chunk leaves the matrix
 *     b.copy    send 0  send 1  send 2 ...
 *     a.work            fill 0  fill 1  fill 2 ...             the partner's takes its place
 *     a.local   transposes of what stays there ...
 *
 * Chunk k of a pair is a rectangle of a's and its mirror image on b.  Each is written only by the
 * other's chunk k, so a chunk needs no other chunk: a fills its rectangle when what stood there has
 * left (a's send) and what belongs there has arrived (b's send).  A send waits until its buffer at
 * the partner has been emptied.  Waiting is left to the devices' events; the host only queues, in
 * an order in which no event is waited for before it was recorded.
 *
 * Pairs meet by the rounds of tsw_partner(), so that each part has one partner at a time. */
#include "team.h"

#include <stdlib.h>

/* A copy engine's rows are at most this far apart. */
#define MOST_PITCH 0x7fffffffu
/* On an H200 rates rank by a row's length over the next multiple of so many bytes
 * (docs/DISTRIBUTED.md). */
#define COPY_PIECE 8192u

/* ---- one chunk ------------------------------------------------------------------------------- */

/* Copies the rectangle into `to`, rows x cols, by a copy engine if it is one piece. */
static tsw_status copy_out(const struct tsw_rect *r, char *to, cudaStream_t stream)
{
	const size_t width = r->cols * r->elem_size, pitch = r->ld * r->elem_size;
	char *const from = tsw_rect_whole(r);

	if (!from || pitch > MOST_PITCH)
		return tsw_rect_pack(r, to, stream);
	TRY_CUDA(cudaMemcpy2DAsync(to, width, from, pitch, width, r->rows, cudaMemcpyDefault,
				   stream));
	return TSW_OK;
}

/* Packs the rectangle into m's own buffer and copies that. */
static tsw_status pack_and_copy(struct tsw_member *m, const struct tsw_rect *r, char *out, int slot,
				char *to, cudaStream_t stream, int reused)
{
	if (reused)
		TRY_CUDA(cudaStreamWaitEvent(m->pack, m->sent[slot], 0));
	TRY(tsw_rect_pack(r, out, m->pack));
	TRY_CUDA(cudaEventRecord(m->packed[slot], m->pack));
	TRY_CUDA(cudaStreamWaitEvent(stream, m->packed[slot], 0));
	TRY_CUDA(cudaMemcpyAsync(to, out, tsw_rect_bytes(r), cudaMemcpyDefault, stream));
	return TSW_OK;
}

static int slot_of(const struct tsw_team *team, const struct tsw_member *m)
{
	return (int)(m->turn % (uint64_t)team->options.buffers);
}

/* Queues m's rectangle on its way to `partner`. */
static tsw_status send(struct tsw_team *team, struct tsw_member *m, struct tsw_member *partner,
		       const struct tsw_rect *r)
{
	const uint64_t buffers = (uint64_t)team->options.buffers;
	const cudaStream_t stream = m->copy[m->turn % (uint64_t)team->options.copies];
	const int slot = slot_of(team, m), there = slot_of(team, partner);
	char *const to = partner->in + (uint64_t)there * team->chunk_bytes;

	TRY_CUDA(cudaSetDevice(m->device));
	if (partner->turn >= buffers)
		TRY_CUDA(cudaStreamWaitEvent(stream, partner->emptied[there], 0));
	if (team->options.method == TSW_MULTI_PACK)
		TRY(pack_and_copy(m, r, m->out + (uint64_t)slot * team->chunk_bytes, slot, to,
				  stream, m->turn >= buffers));
	else if (team->options.method == TSW_MULTI_PUSH)
		TRY(tsw_rect_pack(r, to, stream));
	else
		TRY(copy_out(r, to, stream));
	TRY_CUDA(cudaEventRecord(m->sent[slot], stream));
	return TSW_OK;
}

/* Queues what arrives from `partner` into its place. */
static tsw_status receive(struct tsw_team *team, struct tsw_member *m, struct tsw_member *partner,
			  const struct tsw_rect *r)
{
	const int slot = slot_of(team, m), there = slot_of(team, partner);

	TRY_CUDA(cudaSetDevice(m->device));
	TRY_CUDA(cudaStreamWaitEvent(m->work, m->sent[slot], 0));
	TRY_CUDA(cudaStreamWaitEvent(m->work, partner->sent[there], 0));
	TRY(tsw_rect_fill(r, m->in + (uint64_t)slot * team->chunk_bytes, m->work));
	TRY_CUDA(cudaEventRecord(m->emptied[slot], m->work));
	return TSW_OK;
}

static tsw_status exchange_chunk(struct tsw_team *team, uint32_t a, uint32_t b,
				 const struct tsw_chunk *chunk)
{
	struct tsw_member *const x = &team->members[a], *const y = &team->members[b];
	const struct tsw_rect mine = tsw_rect_of(team, a, chunk->down, chunk->across);
	const struct tsw_rect theirs = tsw_rect_of(team, b, chunk->across, chunk->down);

	TRY(send(team, x, y, &mine));
	TRY(send(team, y, x, &theirs));
	TRY(receive(team, x, y, &mine));
	TRY(receive(team, y, x, &theirs));
	x->turn++;
	y->turn++;
	return TSW_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* A pair of members and how far its chunks have been queued. */
struct pair {
	struct tsw_link link;
	struct tsw_cutting chunks;
	uint32_t a, b; /* a < b */
	int done;
};

/* The pairs of a round, a chunk of each in turn, so that no device waits for the host to have
 * queued another's. */
static tsw_status queue_round(struct tsw_team *team, struct pair *pairs, uint32_t count)
{
	struct tsw_chunk chunk;

	for (uint32_t left = count; left;)
		for (uint32_t i = 0; i < count; i++) {
			struct pair *const p = &pairs[i];

			if (p->done)
				continue;
			if (tsw_chunks_next(&p->chunks, &chunk)) {
				TRY(exchange_chunk(team, p->a, p->b, &chunk));
			} else {
				p->done = 1;
				left--;
			}
		}
	return TSW_OK;
}

/* Elements that the sides of chunks are to be multiples of. */
static uint64_t grain_of(size_t elem_size)
{
	const uint64_t grain = COPY_PIECE % elem_size ? 1 : COPY_PIECE / elem_size;

	return grain > TSW_CHUNK_GRAIN ? grain : TSW_CHUNK_GRAIN;
}

static tsw_status exchange_all(struct tsw_team *team, struct pair *pairs)
{
	const uint64_t most = team->chunk_bytes / team->elem_size;
	const uint64_t grain = grain_of(team->elem_size);

	for (uint32_t round = 0; round < team->count; round++) {
		uint32_t count = 0;

		for (uint32_t a = 0; a < team->count; a++) {
			const uint32_t b = tsw_partner(team->count, round, a);
			struct pair *const p = &pairs[count];

			if (b <= a)
				continue;
			*p = (struct pair){
				.link = tsw_link_between(&team->spread, a, b), .a = a, .b = b};
			if (!p->link.rows || !p->link.cols)
				continue;
			p->chunks = tsw_chunks_of(&p->link, most, grain);
			count++;
		}
		TRY(queue_round(team, pairs, count));
	}
	return TSW_OK;
}

/* Both parts of a pair do half of the work, in place. */
static tsw_status swap_all(struct tsw_team *team)
{
	for (uint32_t round = 0; round < team->count; round++)
		for (uint32_t a = 0; a < team->count; a++) {
			const uint32_t b = tsw_partner(team->count, round, a);
			const struct tsw_link link = tsw_link_between(&team->spread, a, b);
			const struct tsw_chunk all = tsw_chunk_whole(&link);
			const struct tsw_rect mine = tsw_rect_of(team, a, all.down, all.across);
			const struct tsw_rect theirs = tsw_rect_of(team, b, all.across, all.down);

			if (a == b || !link.rows || !link.cols)
				continue;
			TRY_CUDA(cudaSetDevice(team->members[a].device));
			/* One order of the two for both halves: they must be halves of one. */
			TRY(a < b ? tsw_rect_swap(&mine, &theirs, 0, team->members[a].work)
				  : tsw_rect_swap(&theirs, &mine, 1, team->members[a].work));
		}
	return TSW_OK;
}

static tsw_status turn_local(struct tsw_team *team, uint32_t rank)
{
	const struct tsw_link link = tsw_link_between(&team->spread, rank, rank);
	const struct tsw_chunk all = tsw_chunk_whole(&link);
	const struct tsw_rect r = tsw_rect_of(team, rank, all.down, all.across);

	TRY_CUDA(cudaSetDevice(team->members[rank].device));
	return link.rows ? tsw_rect_turn(&r, team->members[rank].local) : TSW_OK;
}

/* ---- joining streams ------------------------------------------------------------------------- */

/* `to` goes on after what is queued on `stream`, which is m's. */
static tsw_status follow(const struct tsw_member *m, cudaStream_t stream,
			 const struct tsw_member *other, cudaStream_t to)
{
	TRY_CUDA(cudaSetDevice(m->device));
	TRY_CUDA(cudaEventRecord(m->mark, stream));
	return tsw_await(other->device, to, m->mark);
}

/* Everything begins after all callers' streams have come here. */
static tsw_status open_gate(struct tsw_team *team)
{
	struct tsw_member *const first = team->members;

	for (uint32_t r = 0; r < team->count; r++)
		TRY(follow(&first[r], first[r].caller, first, first->work));
	for (uint32_t r = 0; r < team->count; r++) {
		struct tsw_member *const m = &first[r];

		TRY(follow(first, first->work, m, m->work));
		TRY(follow(first, first->work, m, m->local));
		if (m->pack)
			TRY(follow(first, first->work, m, m->pack));
		for (int i = 0; i < team->options.copies; i++)
			TRY(follow(first, first->work, m, m->copy[i]));
	}
	return TSW_OK;
}

/* And all callers' streams go on after everything. */
static tsw_status close_gate(struct tsw_team *team)
{
	struct tsw_member *const first = team->members;

	for (uint32_t r = 0; r < team->count; r++) {
		struct tsw_member *const m = &first[r];

		TRY(follow(m, m->work, first, first->work));
		TRY(follow(m, m->local, first, first->work));
		if (m->pack)
			TRY(follow(m, m->pack, first, first->work));
		for (int i = 0; i < team->options.copies; i++)
			TRY(follow(m, m->copy[i], first, first->work));
	}
	for (uint32_t r = 0; r < team->count; r++)
		TRY(follow(first, first->work, &first[r], first[r].caller));
	return TSW_OK;
}

/* ---- the call -------------------------------------------------------------------------------- */

static tsw_status queue_work(struct tsw_team *team, struct pair *pairs)
{
	TRY(open_gate(team));
	for (uint32_t r = 0; r < team->count; r++)
		TRY(turn_local(team, r));
	if (team->options.method == TSW_MULTI_SWAP)
		TRY(swap_all(team));
	else
		TRY(exchange_all(team, pairs));
	return close_gate(team);
}

static tsw_status run(struct tsw_team *team, const tsw_multi_part *parts)
{
	struct pair *pairs;
	tsw_status status;

	TRY(tsw_team_begin(team, parts));
	pairs = calloc(team->count, sizeof *pairs);
	if (!pairs)
		return tsw_fail(TSW_ERR_NO_MEMORY, "%u pairs of parts", team->count);
	status = queue_work(team, pairs);
	free(pairs);
	return status;
}

tsw_status tsw_cuda_multi(const struct tsw_spread *spread, size_t elem_size,
			  const tsw_multi_part *parts, const tsw_multi_options *options)
{
	struct tsw_team team = {.spread = *spread, .elem_size = elem_size, .options = *options};
	tsw_status status;
	int before;

	TRY_CUDA(cudaGetDevice(&before));
	status = tsw_team_end(&team, run(&team, parts));
	return ALSO_CUDA(status, cudaSetDevice(before));
}
