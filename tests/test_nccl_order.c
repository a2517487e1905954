/* tsw_nccl_transpose without GPUs and without NCCL: src/nccl/transpose.c as it is on the streams of
 * tests/order, one rank after the other; sends and receives meet when the queues run.  Shows that
 * the ranks' chunks fit each other and that each waits for what it needs.  How ranks agree, and
 * NCCL itself, are tests/nccl's. */
#include <stdlib.h>
#include <string.h>

#include "launch_simt.h"
#include "order/rename.h"
#include "parts.h"
#include "support.h"

#include <nccl.h>

#define ncclCommCount order_comm_count
#define ncclCommUserRank order_comm_rank
#define ncclCommCuDevice order_comm_device
#define ncclGroupStart order_group
#define ncclGroupEnd order_group
#define ncclSend order_send
#define ncclRecv order_receive
#define tsw_nccl_agree order_agree
#define tsw_nccl_check order_check
#define tsw_nccl_transpose transpose_under_test
#define tsw_nccl_transpose_staged staged_under_test
#define tsw_cuda_usable order_usable

/* ---- NCCL ------------------------------------------------------------------------------------ */

struct ncclComm {
	int rank, ranks;
};

/* What is on its way from one rank to another, in order. */
struct letter {
	unsigned char *bytes;
	size_t count;
	struct letter *next;
};

static struct letter *letters[TSW_MOST_PARTS][TSW_MOST_PARTS];

struct travel {
	unsigned char *p;
	size_t count;
	int from, to;
};

static void post(const void *what)
{
	const struct travel *t = what;
	struct letter **at = &letters[t->from][t->to];
	struct letter *l = calloc(1, sizeof *l);

	ck_assert_ptr_nonnull(l);
	l->bytes = malloc(t->count);
	ck_assert_ptr_nonnull(l->bytes);
	memcpy(l->bytes, t->p, t->count);
	l->count = t->count;
	while (*at)
		at = &(*at)->next;
	*at = l;
}

static int has_come(const void *what)
{
	const struct travel *t = what;

	return letters[t->from][t->to] != NULL;
}

static void take_out(const void *what)
{
	const struct travel *t = what;
	struct letter *l = letters[t->from][t->to];

	tsw_require(l->count == t->count, "rank %d sends %zu bytes where rank %d wants %zu",
		    t->from, l->count, t->to, t->count);
	memcpy(t->p, l->bytes, l->count);
	letters[t->from][t->to] = l->next;
	free(l->bytes);
	free(l);
}

static ncclResult_t order_send(const void *p, size_t count, ncclDataType_t type, int peer,
			       ncclComm_t comm, cudaStream_t stream)
{
	const struct travel t = {(unsigned char *)(uintptr_t)p, count, comm->rank, peer};

	ck_assert_int_eq(type, ncclUint8);
	if (++order_calls == order_fail)
		return ncclInvalidArgument;
	order_queue(stream, post, &t, sizeof t);
	return ncclSuccess;
}

static ncclResult_t order_receive(void *p, size_t count, ncclDataType_t type, int peer,
				  ncclComm_t comm, cudaStream_t stream)
{
	const struct travel t = {p, count, peer, comm->rank};

	ck_assert_int_eq(type, ncclUint8);
	if (++order_calls == order_fail)
		return ncclInvalidArgument;
	order_queue_when(stream, has_come, take_out, &t, sizeof t);
	return ncclSuccess;
}

static ncclResult_t order_group(void)
{
	return ncclSuccess;
}

static ncclResult_t order_comm_count(ncclComm_t comm, int *ranks)
{
	*ranks = comm->ranks;
	return ncclSuccess;
}

static ncclResult_t order_comm_rank(ncclComm_t comm, int *rank)
{
	*rank = comm->rank;
	return ncclSuccess;
}

static ncclResult_t order_comm_device(ncclComm_t comm, int *device)
{
	*device = comm->rank % order_devices;
	return ncclSuccess;
}

static tsw_status order_usable(void)
{
	return TSW_OK;
}

#include "../src/nccl/transpose.c"

/* Everybody is of one mind. */
tsw_status order_agree(ncclComm_t comm, int rank, tsw_status mine, const struct tsw_terms *terms,
		       cudaStream_t stream)
{
	(void)comm, (void)rank, (void)stream;
	ck_assert_uint_eq(terms->count, 11);
	return mine;
}

tsw_status order_check(ncclResult_t result, ncclComm_t comm, const char *call)
{
	(void)comm;
	return result == ncclSuccess ? TSW_OK : tsw_fail(TSW_ERR_COMM, "%s", call);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* `given`: the staging is the caller's. */
static void check_layout(struct tsw_layout l, size_t stage_bytes, int given, uint64_t seed)
{
	struct tsw_parts parts = tsw_parts_new(l);
	const tsw_dist dist = tsw_parts_dist(&l);
	struct ncclComm comm[TSW_MOST_PARTS];
	unsigned char *staging[TSW_MOST_PARTS] = {NULL};
	const char *wrong;

	simt_allow_nothing();
	order_calls = order_fail = 0;
	for (int r = 0; r < parts.count; r++) {
		parts.a[r] = aligned_alloc(16, (parts.bytes[r] + 31) / 16 * 16);
		ck_assert_ptr_nonnull(parts.a[r]);
		comm[r] = (struct ncclComm){r, parts.count};
		if (!given)
			continue;
		staging[r] = aligned_alloc(256, (stage_bytes + 511) / 256 * 256);
		ck_assert_ptr_nonnull(staging[r]);
		memset(staging[r], 0x5a, stage_bytes + 256);
	}
	tsw_parts_fill(&parts);
	for (int r = 0; r < parts.count; r++)
		tsw_assert_ok(staged_under_test(parts.a[r], parts.ld[r], l.elem_size, &dist,
						staging[r], stage_bytes, &comm[r],
						order_stream(r % order_devices)));
	wrong = order_run(seed);
	if (!wrong)
		wrong = tsw_parts_wrong(&parts);
	tsw_require(!wrong, "%s, seed %ju: %s", tsw_layout_text(&l), (uintmax_t)seed, wrong);
	for (int r = 0; r < parts.count; r++) {
		for (size_t b = stage_bytes; given && b < stage_bytes + 256; b++)
			tsw_require(staging[r][b] == 0x5a, "rank %d: behind the staging", r);
		free(staging[r]);
		free(parts.a[r]);
	}
	tsw_parts_free(&parts);
	ck_assert_int_eq(order_held(), 0);
}

static const struct tsw_layout layouts[] = {
	{48, 24, 48, 2, 1, 0, 0, 4, 0}, {48, 48, 12, 1, 4, 0, 2, 4, 0},
	{40, 20, 20, 2, 2, 0, 1, 4, 1}, {33, 3, 4, 2, 2, 1, 0, 8, 0},
	{30, 7, 30, 3, 1, 2, 0, 3, 1},	{30, 5, 4, 2, 3, 1, 2, 1, 0},
	{31, 31, 31, 1, 1, 0, 0, 4, 2}, {5, 4, 5, 5, 1, 0, 0, 16, 0},
};

START_TEST(any_order_that_events_allow)
{
	uint64_t state = tsw_seed();

	for (int round = 0; round < 8; round++)
		check_layout(layouts[_i], round % 2 ? 2400 : 1 << 20, round / 4,
			     tsw_random(&state));
}
END_TEST

START_TEST(faults_are_named)
{
	struct ncclComm comm = {0, 2};
	tsw_dist dist = TSW_DIST_INIT;
	static _Alignas(256) char memory[1024];
	char a[64];

	dist.n = 4;
	dist.mb = 2;
	dist.nb = 4;
	dist.nprow = 2;
	tsw_assert_status(transpose_under_test(a, 4, 1, &dist, 0, NULL, order_stream(0)),
			  TSW_ERR_NULL);
	tsw_assert_status(transpose_under_test(a, 3, 1, &dist, 0, &comm, order_stream(0)),
			  TSW_ERR_LD);
	tsw_assert_status(transpose_under_test(NULL, 4, 1, &dist, 0, &comm, order_stream(0)),
			  TSW_ERR_NULL);
	tsw_assert_status(transpose_under_test(a, 4, 1, NULL, 0, &comm, order_stream(0)),
			  TSW_ERR_NULL);
	tsw_assert_status(transpose_under_test(a, 4, 16, &dist, 60, &comm, order_stream(0)),
			  TSW_ERR_OPTION);
	tsw_assert_status(
		staged_under_test(a, 4, 1, &dist, memory + 8, 1024, &comm, order_stream(0)),
		TSW_ERR_OPTION);
	ck_assert(strstr(tsw_last_error(), "staging = ") != NULL);
	tsw_assert_status(staged_under_test(a, 4, 1, &dist, memory, 3, &comm, order_stream(0)),
			  TSW_ERR_OPTION);
	ck_assert(strstr(tsw_last_error(), "stage_bytes = 3") != NULL);
	tsw_assert_status(staged_under_test(a, 4, 1, &dist, memory, 0, &comm, order_stream(0)),
			  TSW_ERR_OPTION);
	comm.ranks = 3;
	tsw_assert_status(transpose_under_test(a, 4, 1, &dist, 0, &comm, order_stream(0)),
			  TSW_ERR_OPTION);
	ck_assert(strstr(tsw_last_error(), "2 x 1") != NULL);
	ck_assert_ptr_null(order_run(1));
	ck_assert_int_eq(order_held(), 0);
}
END_TEST

static Suite *order_suite(void)
{
	Suite *suite = suite_create("nccl_order");
	TCase *tc = tcase_create("order");

	tcase_add_loop_test(tc, any_order_that_events_allow, 0, sizeof layouts / sizeof *layouts);
	tcase_add_test(tc, faults_are_named);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){order_suite}, 1);
}
