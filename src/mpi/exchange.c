/* The exchange.
 *
 * The chunks of all links, in the order of the rounds, are one line.  Two of them are in flight at
 * any time:
 *
 *     pack k | send and receive k ............ | wait for k, turn it into the matrix
 *              pack k + 1 | send and receive k + 1 ............ | wait, turn
 *                                                pack k + 2 | ...
 *
 * A buffer holds a chunk packed as its sender's rows, which are the receiver's columns.  The
 * receiver lets the buffer and the matrix change places, turned: the matrix' own elements have been
 * sent already, and one kernel serves every width, every instruction set and both deeds.
 *
 * Both sides of a link see its chunks in the same order, and both walk their links in the order of
 * the rounds, so the earliest chunk that is not through can always be completed: nobody waits in a
 * circle.
 */
#include "exchange.h"

#include "../cpu/cpu.h"
#include "../status.h"

#include <string.h>

#define FLIGHTS 2

struct flight {
	unsigned char *out, *in;
	struct tsw_chunk chunk;
	MPI_Request request[2];
	int open;
};

struct exchange {
	const struct tsw_mpi_part *part;
	uint32_t ranks, round; /* the round to begin next */
	uint32_t partner;      /* of the round under way */
	struct tsw_cutting chunks;
	struct flight flight[FLIGHTS];
	tsw_status status; /* the first error */
	char detail[400];
};

/* Later errors follow from the first. */
static void note(struct exchange *x, int error, const char *call)
{
	if (error == MPI_SUCCESS || x->status != TSW_OK)
		return;
	x->status = tsw_mpi_check(error, call);
	strncpy(x->detail, tsw_last_error(), sizeof x->detail - 1);
}

static unsigned char *local_at(const struct tsw_mpi_part *p, uint64_t row, uint64_t col)
{
	return p->a + (row * p->ld + col) * p->elem_size;
}

/* ---- what stays at home ---------------------------------------------------------------------- */

static void turn_piece(const struct tsw_mpi_part *p, const struct tsw_walk *s)
{
	const struct tsw_matrices m = {.base = local_at(p, s->row, s->col),
				       .n = s->len,
				       .ld = p->ld,
				       .elem_size = p->elem_size,
				       .count = 1};

	if (!tsw_nothing_to_do(&m))
		tsw_cpu_transpose(&m, p->nthreads);
}

/* Pieces (s, t) and (t, s), s < t, and (s, s): rows and columns are of one set. */
static void swap_at_home(const struct tsw_mpi_part *p)
{
	const struct tsw_link link = tsw_link_between(p->spread, p->rank, p->rank);
	struct tsw_walk s = tsw_chunk_whole(&link).down;
	size_t stride = p->ld * p->elem_size;

	while (tsw_walk_next(&s)) {
		turn_piece(p, &s);
		for (struct tsw_walk t = s; tsw_walk_next(&t);)
			tsw_cpu_swap(local_at(p, s.row, t.col), stride, local_at(p, t.row, s.col),
				     stride, s.len, t.len, p->elem_size, p->nthreads);
	}
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void pack(const struct tsw_mpi_part *p, const struct flight *f)
{
	size_t size = p->elem_size, width = f->chunk.cols * size;

	for (struct tsw_walk r = f->chunk.down; tsw_walk_next(&r);)
		for (struct tsw_walk c = f->chunk.across; tsw_walk_next(&c);) {
			unsigned char *to = f->out + r.at * width + c.at * size;
			const unsigned char *from = local_at(p, r.row, c.col);

			for (uint64_t i = 0; i < r.len; i++)
				memcpy(to + i * width, from + i * p->ld * size, c.len * size);
		}
}

/* The partner's rows are our columns. */
static void unpack(const struct tsw_mpi_part *p, const struct flight *f)
{
	size_t size = p->elem_size, width = f->chunk.rows * size;

	for (struct tsw_walk r = f->chunk.down; tsw_walk_next(&r);)
		for (struct tsw_walk c = f->chunk.across; tsw_walk_next(&c);)
			tsw_cpu_swap(local_at(p, r.row, c.col), p->ld * size,
				     f->in + c.at * width + r.at * size, width, r.len, c.len, size,
				     p->nthreads);
}

/* The next chunk of the line; 0 after the last.  The round in which this rank meets itself passes
 * on the way. */
static int next_chunk(struct exchange *x, struct tsw_chunk *chunk)
{
	const struct tsw_mpi_part *p = x->part;

	while (!tsw_chunks_next(&x->chunks, chunk)) {
		struct tsw_link link;

		if (x->round == x->ranks)
			return 0;
		x->partner = tsw_partner(x->ranks, x->round++, p->rank);
		if (x->partner == p->rank) {
			swap_at_home(p);
			continue;
		}
		link = tsw_link_between(p->spread, p->rank, x->partner);
		x->chunks = tsw_chunks_of(&link, p->each / p->elem_size, TSW_CHUNK_GRAIN);
	}
	return 1;
}

static void launch(struct exchange *x, struct flight *f)
{
	const struct tsw_mpi_part *p = x->part;
	int nbytes = (int)(f->chunk.rows * f->chunk.cols * p->elem_size), to = (int)x->partner;

	f->request[0] = f->request[1] = MPI_REQUEST_NULL;
	f->open = 1;
	note(x, MPI_Irecv(f->in, nbytes, MPI_BYTE, to, 0, p->comm, &f->request[0]), "MPI_Irecv");
	pack(p, f);
	note(x, MPI_Isend(f->out, nbytes, MPI_BYTE, to, 0, p->comm, &f->request[1]), "MPI_Isend");
}

static void land(struct exchange *x, struct flight *f)
{
	if (!f->open)
		return;
	f->open = 0;
	note(x, MPI_Waitall(2, f->request, MPI_STATUSES_IGNORE), "MPI_Waitall");
	if (x->status == TSW_OK)
		unpack(x->part, f);
}

tsw_status tsw_mpi_exchange(const struct tsw_mpi_part *part)
{
	struct exchange x = {.part = part, .ranks = tsw_spread_ranks(part->spread)};
	unsigned turn = 0;

	for (unsigned i = 0; i < FLIGHTS; i++) {
		x.flight[i].out = part->stage + 2 * i * part->each;
		x.flight[i].in = part->stage + (2 * i + 1) * part->each;
	}
	for (;;) {
		struct flight *f = &x.flight[turn];

		land(&x, f);
		if (!next_chunk(&x, &f->chunk))
			break;
		launch(&x, f);
		turn = (turn + 1) % FLIGHTS;
	}
	for (unsigned i = 1; i < FLIGHTS; i++)
		land(&x, &x.flight[(turn + i) % FLIGHTS]);
	return x.status == TSW_OK ? TSW_OK : tsw_fail(x.status, "%s", x.detail);
}
