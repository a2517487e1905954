/* tsw_mpi_transpose over the ranks of one mpirun: every grid of that many ranks, random layouts,
 * delays, faults.
 *
 *     mpirun -n P build/tests/mpi/test_mpi
 *
 * The oracle is a gather: every rank writes what it holds, by the formula of tileswap_dist.h, into
 * an empty matrix; the sum of all is the whole matrix, before and after.  Ends with "N passed,
 * N failed, N skipped". */
#include "faults.h"

#include "tileswap_mpi.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define PADDING 0xa7

static int me, ranks;
static uint64_t seed;
static unsigned passed, failed;

/* ---- counting -------------------------------------------------------------------------------- */

/* One test, judged by all ranks; the first that is not content says why. */
static void judge(const char *name, const char *complaint)
{
	int mine[2] = {complaint == NULL, me}, first[2];

	MPI_Allreduce(mine, first, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
	if (first[0]) {
		passed++;
		return;
	}
	failed++;
	if (first[1] == me) {
		printf("FAILED: %s: rank %d: %s\n", name, me, complaint);
		fflush(stdout);
	}
}

static char said[700];

__attribute__((format(printf, 1, 2))) static const char *say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof said, format, args);
	va_end(args);
	return said;
}

/* ---- random numbers, the same on all ranks ----------------------------------------------------
 */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x7fb5d329728ea185u;
	x ^= x >> 27;
	x *= 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

static uint64_t state;

static size_t below(size_t limit)
{
	state += 0x9e3779b97f4a7c15u;
	return (size_t)(mix(state) % limit);
}

/* ---- one matrix over all ranks ----------------------------------------------------------------
 */

struct world {
	tsw_dist d;
	size_t elem_size, stage_bytes;
	int nthreads, rank; /* in comm */
	MPI_Comm comm;
	size_t rows, cols, ld, nbytes; /* of the local matrix */
	unsigned char *a;
};

static const char *describe(const struct world *w)
{
	static char text[400];

	snprintf(text, sizeof text,
		 "TSW_SEED=0x%jx: n %zu, blocks %zu x %zu, grid %d x %d from %d, %d, order %d, "
		 "storage "
		 "%d, ld %zu, elements of %zu, stage %zu, delays %u us",
		 (uintmax_t)seed, w->d.n, w->d.mb, w->d.nb, w->d.nprow, w->d.npcol, w->d.rsrc,
		 w->d.csrc, w->d.rank_order, w->d.storage, w->ld, w->elem_size, w->stage_bytes,
		 faults.most_delay_us);
	return text;
}

/* Is element (r, c) here?  If so, *at is its byte in the local matrix. */
static int is_here(const struct world *w, size_t r, size_t c, size_t *at)
{
	const tsw_dist *d = &w->d;
	size_t p = (size_t)d->nprow, q = (size_t)d->npcol;
	size_t row = (r / d->mb + (size_t)d->rsrc) % p, col = (c / d->nb + (size_t)d->csrc) % q;
	size_t i = r / d->mb / p * d->mb + r % d->mb, j = c / d->nb / q * d->nb + c % d->nb;
	size_t rank = d->rank_order == TSW_RANKS_BY_ROWS ? row * q + col : col * p + row;

	*at = (d->storage == TSW_STORED_BY_ROWS ? i * w->ld + j : j * w->ld + i) * w->elem_size;
	return rank == (size_t)w->rank;
}

static unsigned char byte_of(size_t r, size_t c, size_t b)
{
	return (unsigned char)mix(seed + (r * 1000003 + c) * 64 + b);
}

/* ld is chosen here; `square` leaves room for a local transpose. */
static void world_begin(struct world *w, size_t pad, int square)
{
	size_t lines, line, at;

	MPI_Comm_rank(w->comm, &w->rank);
	if (tsw_dist_local(&w->d, w->rank, &w->rows, &w->cols) != TSW_OK)
		MPI_Abort(MPI_COMM_WORLD, 9);
	lines = w->d.storage == TSW_STORED_BY_ROWS ? w->rows : w->cols;
	line = w->d.storage == TSW_STORED_BY_ROWS ? w->cols : w->rows;
	if (square)
		lines = line = lines > line ? lines : line;
	w->ld = line + pad;
	w->nbytes = lines * w->ld * w->elem_size;
	w->a = malloc(w->nbytes + 1);
	memset(w->a, PADDING, w->nbytes + 1);
	for (size_t r = 0; r < w->d.n; r++)
		for (size_t c = 0; c < w->d.n; c++)
			if (is_here(w, r, c, &at))
				for (size_t b = 0; b < w->elem_size; b++)
					w->a[at + b] = byte_of(r, c, b);
}

/* The whole matrix, on every rank. */
static unsigned char *gather(const struct world *w)
{
	size_t n = w->d.n, nbytes = n * n * w->elem_size, at;
	unsigned char *whole = calloc(nbytes + 1, 1);

	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c++)
			if (is_here(w, r, c, &at))
				memcpy(whole + (r * n + c) * w->elem_size, w->a + at, w->elem_size);
	MPI_Allreduce(MPI_IN_PLACE, whole, (int)nbytes, MPI_BYTE, MPI_BOR, w->comm);
	return whole;
}

/* NULL, or what is wrong with `after`. */
static const char *compare(const struct world *w, const unsigned char *before,
			   const unsigned char *after)
{
	size_t n = w->d.n, size = w->elem_size;

	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c++)
			if (memcmp(after + (r * n + c) * size, before + (c * n + r) * size, size) !=
			    0)
				return say("(%zu, %zu) is wrong: %s", r, c, describe(w));
	return NULL;
}

/* Bytes of the local memory that hold no element are as they were. */
static const char *check_padding(const struct world *w)
{
	unsigned char *seen = calloc(w->nbytes + 1, 1);
	const char *complaint = NULL;
	size_t at;

	for (size_t r = 0; r < w->d.n; r++)
		for (size_t c = 0; c < w->d.n; c++)
			if (is_here(w, r, c, &at))
				memset(seen + at, 1, w->elem_size);
	for (size_t b = 0; b <= w->nbytes && !complaint; b++)
		if (!seen[b] && w->a[b] != PADDING)
			complaint = say("byte %zu of padding is changed: %s", b, describe(w));
	free(seen);
	return complaint;
}

static tsw_status call(const struct world *w)
{
	return tsw_mpi_transpose(w->rows && w->cols ? w->a : NULL, w->ld, w->elem_size, &w->d,
				 w->stage_bytes, w->nthreads, w->comm);
}

static const char *try(struct world *w, size_t pad)
{
	unsigned char *before, *after;
	const char *complaint;
	tsw_status status;

	world_begin(w, pad, 0);
	before = gather(w);
	status = call(w);
	after = gather(w);
	if (status != TSW_OK)
		complaint = say("status %d, %s: %s", status, tsw_last_error(), describe(w));
	else
		complaint = compare(w, before, after);
	if (!complaint)
		complaint = check_padding(w);
	free(before);
	free(after);
	free(w->a);
	return complaint;
}

/* ---- layouts ----------------------------------------------------------------------------------
 */

static struct world world_of(int nprow, int npcol, size_t n, size_t mb, size_t nb)
{
	struct world w = {
		.d = TSW_DIST_INIT, .elem_size = 8, .nthreads = 1, .comm = MPI_COMM_WORLD};

	w.d.n = n;
	w.d.mb = mb;
	w.d.nb = nb;
	w.d.nprow = nprow;
	w.d.npcol = npcol;
	return w;
}

static size_t random_stage(size_t elem_size)
{
	switch (below(4)) {
	case 0:
		return 4 * elem_size; /* an element a message */
	case 1:
		return 4 * elem_size + below(100);
	case 2:
		return 4 * elem_size * (1 + below(300));
	default:
		return below(2) ? 0 : (size_t)5 << 20;
	}
}

static const char *random_world(int nprow, int npcol, MPI_Comm reversed)
{
	struct world w = world_of(nprow, npcol, below(10) ? below(130) : below(3), 1 + below(40),
				  1 + below(40));

	w.d.rsrc = (int)below((size_t)nprow);
	w.d.csrc = (int)below((size_t)npcol);
	w.d.rank_order = (int)below(2);
	w.d.storage = (int)below(2);
	w.elem_size = 1 + below(16);
	w.stage_bytes = random_stage(w.elem_size);
	if (w.stage_bytes < 40 * w.elem_size && w.d.n > 40)
		w.d.n %= 40; /* messages of an element take their time */
	w.comm = below(2) ? reversed : MPI_COMM_WORLD;
	w.nthreads = 1 + (int)below(2);
	faults.most_delay_us = below(4) ? 0 : 300;
	faults.random = seed + (uint64_t)me;
	return try(&w, below(4));
}

static void try_grid(int nprow, int npcol, MPI_Comm reversed, int rounds)
{
	const char *complaint = NULL;
	char name[60];

	snprintf(name, sizeof name, "random layouts on %d x %d", nprow, npcol);
	for (int i = 0; i < rounds; i++) {
		complaint = random_world(nprow, npcol, reversed);
		MPI_Barrier(MPI_COMM_WORLD);
		judge(name, complaint);
	}
	faults.most_delay_us = 0;
}

/* Row blocks, column blocks, blocks larger than the matrix, square blocks that fit exactly, one
 * element a block. */
static void try_shapes(int nprow, int npcol)
{
	static const struct {
		size_t n, mb, nb;
	} shapes[] = {{96, 96, 96}, {96, 8, 8},	  {97, 8, 8},  {97, 49, 97}, {60, 1, 1},
		      {61, 1, 61},  {64, 32, 16}, {131, 7, 5}, {1, 1, 1},    {0, 1, 1}};

	for (size_t i = 0; i < COUNT_OF(shapes); i++) {
		struct world w = world_of(nprow, npcol, shapes[i].n, shapes[i].mb, shapes[i].nb);

		judge("shapes", try(&w, 0));
	}
	for (size_t size = 1; size <= 16; size++) {
		struct world w = world_of(nprow, npcol, 75, 6, 9);

		w.elem_size = size;
		w.d.rsrc = nprow - 1;
		w.d.csrc = npcol - 1;
		w.stage_bytes = 1000;
		judge("widths", try(&w, size % 3));
	}
}

static void try_wide_elements(void)
{
	struct world w = world_of(ranks, 1, 40, 3, 5);

	w.elem_size = 300;
	judge("300-byte elements", try(&w, 1));
	w.stage_bytes = 1200;
	judge("300-byte elements, one a message", try(&w, 0));
}

/* ---- the square grid ---------------------------------------------------------------------------
 */

static const char *try_relabel(size_t n, size_t block, int source, int order, int storage)
{
	int side = ranks == 4 ? 2 : 1;
	struct world w = world_of(side, side, n, block, block);
	unsigned char *before, *after;
	const char *complaint;
	tsw_status status;
	MPI_Comm turned = MPI_COMM_NULL;

	w.d.rsrc = w.d.csrc = source % side;
	w.d.rank_order = order;
	w.d.storage = storage;
	world_begin(&w, 2, 1);
	before = gather(&w);
	faults.waits = 0;
	status = tsw_mpi_transpose_relabel(w.a, w.ld, w.elem_size, &w.d, 1, w.comm, &turned);
	if (status != TSW_OK)
		return say("status %d, %s: %s", status, tsw_last_error(), describe(&w));
	if (faults.waits)
		return say("%d messages were sent", faults.waits);
	w.comm = turned;
	MPI_Comm_rank(turned, &w.rank);
	after = gather(&w);
	complaint = compare(&w, before, after);
	MPI_Comm_free(&turned);
	free(before);
	free(after);
	free(w.a);
	return complaint;
}

static void try_relabels(void)
{
	struct world w = world_of(ranks == 4 ? 2 : 1, ranks == 4 ? 2 : 1, 30, 4, 5);
	MPI_Comm turned = MPI_COMM_NULL;
	tsw_status status;

	for (int i = 0; i < 16; i++)
		judge("relabel",
		      try_relabel(below(80), 1 + below(20), (int)below(2), i & 1, i >> 1 & 1));
	world_begin(&w, 0, 1);
	status = tsw_mpi_transpose_relabel(w.a, w.ld, 8, &w.d, 1, w.comm, &turned);
	judge("relabel of unequal blocks",
	      status == TSW_ERR_UNSUPPORTED && turned == MPI_COMM_NULL &&
			      strstr(tsw_last_error(), "4 x 5")
		      ? NULL
		      : say("status %d, %s", status, tsw_last_error()));
	w.d.nb = 4; /* of 30 rows the first grid row has 16, the other 14 */
	status = tsw_mpi_transpose_relabel(w.a, ranks == 4 ? 14 : 29, 8, &w.d, 1, w.comm, &turned);
	judge("relabel with a short ld", status == TSW_ERR_LD && turned == MPI_COMM_NULL
						 ? NULL
						 : say("status %d, %s", status, tsw_last_error()));
	free(w.a);
}

/* ---- errors are everybody's --------------------------------------------------------------------
 */

/* Arguments of one call, of which one rank spoils one. */
struct arguments {
	void *a;
	size_t ld, elem_size, stage_bytes;
	tsw_dist d;
	const tsw_dist *dist;
	int nthreads;
};

enum {
	SAME,
	DIFFERENT
}; /* is the fault in the rank's own arguments, or only beside the others'? */

static void spoil_a(struct arguments *x)
{
	x->a = NULL;
}
static void spoil_ld(struct arguments *x)
{
	x->ld = 1;
}
static void spoil_dist(struct arguments *x)
{
	x->dist = NULL;
}
static void spoil_threads(struct arguments *x)
{
	x->nthreads = -1;
}
static void spoil_size(struct arguments *x)
{
	x->elem_size = 0;
}
static void spoil_mb(struct arguments *x)
{
	x->d.mb = 0;
}
static void spoil_grid(struct arguments *x)
{
	x->d.nprow = ranks + 1;
}
static void spoil_stage(struct arguments *x)
{
	x->stage_bytes = 31;
}
static void other_n(struct arguments *x)
{
	x->d.n -= 1;
}
static void other_mb(struct arguments *x)
{
	x->d.mb += 1;
}
static void other_nb(struct arguments *x)
{
	x->d.nb += 1;
}
static void other_order(struct arguments *x)
{
	x->d.rank_order = TSW_RANKS_BY_COLUMNS;
}
static void other_size(struct arguments *x)
{
	x->elem_size = 4;
}
static void other_stage(struct arguments *x)
{
	x->stage_bytes = 4096;
}
static void no_memory(struct arguments *x)
{
	(void)x;
	faults.failing_memory = 1;
}

static const struct {
	void (*spoil)(struct arguments *x);
	tsw_status status;
	const char *detail;
	int kind;
} spoilt[] = {
	{spoil_a, TSW_ERR_NULL, "is NULL", SAME},
	{spoil_ld, TSW_ERR_LD, "ld = 1", SAME},
	{spoil_dist, TSW_ERR_NULL, "dist is NULL", SAME},
	{spoil_threads, TSW_ERR_THREADS, "nthreads = -1", SAME},
	{spoil_size, TSW_ERR_ELEM_SIZE, "elem_size = 0", SAME},
	{spoil_mb, TSW_ERR_OPTION, "mb = 0", SAME},
	{spoil_grid, TSW_ERR_OPTION, "for a communicator of", SAME},
	{spoil_stage, TSW_ERR_OPTION, "stage_bytes = 31", SAME},
	{no_memory, TSW_ERR_NO_MEMORY, "no ", SAME},
	{other_n, TSW_ERR_OPTION, "n differs between ranks: 59 to 60", DIFFERENT},
	{other_mb, TSW_ERR_OPTION, "mb differs between ranks: 4 to 5", DIFFERENT},
	{other_nb, TSW_ERR_OPTION, "nb differs between ranks: 6 to 7", DIFFERENT},
	{other_order, TSW_ERR_OPTION, "rank_order differs", DIFFERENT},
	{other_size, TSW_ERR_OPTION, "elem_size differs between ranks: 4 to 8", DIFFERENT},
	{other_stage, TSW_ERR_OPTION, "stage_bytes differs between ranks: 0 to 4096", DIFFERENT},
};

/* One rank's argument is spoilt: all get the same status, and no byte has moved. */
static const char *try_spoilt(size_t i, int culprit)
{
	struct world w = world_of(ranks, 1, 60, 4, 6);
	struct arguments x = {.elem_size = 8, .nthreads = 1};
	unsigned char *before;
	char blamed[40];
	tsw_status status;
	int moved;

	world_begin(&w, 1, 0);
	x.a = w.a;
	x.ld = w.ld;
	x.d = w.d;
	x.dist = &x.d;
	if (me == culprit)
		spoilt[i].spoil(&x);
	before = malloc(w.nbytes);
	memcpy(before, w.a, w.nbytes);
	status = tsw_mpi_transpose(x.a, x.ld, x.elem_size, x.dist, x.stage_bytes, x.nthreads,
				   MPI_COMM_WORLD);
	faults.failing_memory = 0;
	moved = memcmp(before, w.a, w.nbytes) != 0;
	free(before);
	free(w.a);
	snprintf(blamed, sizeof blamed, "rank %d: ", culprit);
	if (status != spoilt[i].status || !strstr(tsw_last_error(), spoilt[i].detail) ||
	    (spoilt[i].kind == SAME && strncmp(tsw_last_error(), blamed, strlen(blamed)) != 0))
		return say("row %zu, rank %d to blame: status %d, '%s'", i, culprit, status,
			   tsw_last_error());
	return moved ? say("row %zu: the matrix was touched", i) : NULL;
}

static void try_all_spoilt(void)
{
	for (size_t i = 0; i < COUNT_OF(spoilt); i++)
		for (int culprit = 0; culprit < ranks; culprit++)
			if (ranks > 1 || (spoilt[i].kind == SAME && spoilt[i].spoil != no_memory))
				judge("spoilt argument", try_spoilt(i, culprit));
}

/* MPI reports an error in the middle, on one rank. */
static void try_failing_wait(void)
{
	for (int culprit = 0; culprit < ranks && ranks > 1; culprit++)
		for (int at = 1; at <= 3; at++) {
			struct world w = world_of(1, ranks, 60, 4, 6);
			tsw_status status;
			char blamed[60];

			w.stage_bytes = 2000;
			world_begin(&w, 0, 0);
			faults.waits = 0;
			faults.failing_wait = me == culprit ? at : 0;
			status = call(&w);
			faults.failing_wait = 0;
			free(w.a);
			snprintf(blamed, sizeof blamed, "rank %d: MPI_Waitall: ", culprit);
			judge("failing wait",
			      status == TSW_ERR_COMM &&
					      !strncmp(tsw_last_error(), blamed, strlen(blamed))
				      ? NULL
				      : say("status %d, '%s', not '%s'", status, tsw_last_error(),
					    blamed));
		}
}

/* A communicator that no call can be made on. */
static void try_no_communicator(void)
{
	struct world w = world_of(ranks, 1, 60, 4, 6);
	tsw_status status;

	world_begin(&w, 0, 0);
	status = tsw_mpi_transpose(w.a, w.ld, 8, &w.d, 0, 1, MPI_COMM_NULL);
	judge("MPI_COMM_NULL", status == TSW_ERR_NULL && strstr(tsw_last_error(), "MPI_COMM_NULL")
				       ? NULL
				       : say("status %d, %s", status, tsw_last_error()));
	free(w.a);
}

/* A receive for anything, posted before the call, still gets what the caller sends after it. */
static void try_callers_messages(void)
{
	struct world w = world_of(ranks, 1, 60, 4, 6);
	int next = (me + 1) % ranks, got = -1;
	MPI_Request request;
	const char *complaint;

	MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	complaint = try(&w, 0);
	MPI_Send(&me, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (!complaint && got != (me + ranks - 1) % ranks)
		complaint = say("got %d", got);
	judge("the caller's messages", complaint);
}

static void choose_seed(void)
{
	const char *given = getenv("TSW_SEED");

	seed = given && *given ? strtoull(given, NULL, 0)
			       : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
	MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	state = seed;
	if (me == 0)
		printf("TSW_SEED=0x%jx\n", (uintmax_t)seed);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 40;
	MPI_Comm reversed;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &reversed);
	choose_seed();
	for (int nprow = 1; nprow <= ranks; nprow++)
		if (ranks % nprow == 0) {
			try_shapes(nprow, ranks / nprow);
			try_grid(nprow, ranks / nprow, reversed, rounds);
		}
	try_wide_elements();
	if (ranks == 1 || ranks == 4)
		try_relabels();
	try_all_spoilt();
	try_failing_wait();
	try_no_communicator();
	try_callers_messages();
	if (me == 0)
		printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	MPI_Comm_free(&reversed);
	MPI_Finalize();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
