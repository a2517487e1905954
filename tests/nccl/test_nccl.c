/* tsw_nccl_transpose: a thread for each rank of one process, a GPU for each rank.  Layouts, widths,
 * staging, and what becomes of ranks that do not agree.  REQUIRE_GPUS=K: fewer than K GPUs are a
 * failure. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

#include "matrices.h"
#include "parts.h"
#include "support.h"
#include "tileswap_nccl.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MOST_RANKS 8

/* GPUs that get a rank. */
static int ranks_there_are(void)
{
	return devices() < MOST_RANKS ? devices() : MOST_RANKS;
}

/* Communicators of that many ranks, made once. */
static ncclComm_t *comms_of(int ranks)
{
	static ncclComm_t comms[MOST_RANKS + 1][MOST_RANKS];

	if (!comms[ranks][0])
		ck_assert_int_eq(ncclCommInitAll(comms[ranks], ranks, NULL), ncclSuccess);
	return comms[ranks];
}

/* What a rank is asked to do, and what came of it. */
struct rank {
	int device;
	void *a;
	size_t ld, elem_size, stage_bytes, bytes;
	tsw_dist dist;
	unsigned char *image;
	void *staging; /* or NULL */
	ncclComm_t comm;
	int times;
	tsw_status status;
	char detail[512];
};

static void *run(void *context)
{
	struct rank *const r = context;
	cudaStream_t stream;
	cudaError_t error;

	error = cudaSetDevice(r->device);
	if (error == cudaSuccess)
		error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
	if (error == cudaSuccess && r->bytes)
		error = cudaMemcpyAsync(r->a, r->image, r->bytes, cudaMemcpyHostToDevice, stream);
	r->status = error == cudaSuccess ? TSW_OK : TSW_ERR_CUDA;
	for (int i = 0; i < r->times && r->status == TSW_OK; i++)
		r->status = r->staging ? tsw_nccl_transpose_staged(r->a, r->ld, r->elem_size,
								   &r->dist, r->staging,
								   r->stage_bytes, r->comm, stream)
				       : tsw_nccl_transpose(r->a, r->ld, r->elem_size, &r->dist,
							    r->stage_bytes, r->comm, stream);
	strncpy(r->detail, tsw_last_error(), sizeof r->detail - 1);
	if (error == cudaSuccess && r->bytes)
		error = cudaMemcpyAsync(r->image, r->a, r->bytes, cudaMemcpyDeviceToHost, stream);
	if (error == cudaSuccess)
		error = cudaStreamSynchronize(stream);
	if (error != cudaSuccess && r->status == TSW_OK)
		r->status = TSW_ERR_CUDA;
	cudaStreamDestroy(stream);
	return NULL;
}

static void run_all(struct rank *ranks, int count)
{
	pthread_t threads[MOST_RANKS];

	for (int r = 0; r < count; r++)
		ck_assert_int_eq(pthread_create(&threads[r], NULL, run, &ranks[r]), 0);
	for (int r = 0; r < count; r++)
		pthread_join(threads[r], NULL);
}

struct rig {
	struct tsw_parts parts;
	struct rank rank[MOST_RANKS];
};

static struct rig rig_new(struct tsw_layout l, size_t stage_bytes)
{
	struct rig rig = {.parts = tsw_parts_new(l)};
	ncclComm_t *comms = comms_of(rig.parts.count);

	for (int r = 0; r < rig.parts.count; r++) {
		struct rank *const k = &rig.rank[r];

		*k = (struct rank){.device = r,
				   .ld = rig.parts.ld[r],
				   .elem_size = l.elem_size,
				   .stage_bytes = stage_bytes,
				   .bytes = rig.parts.bytes[r],
				   .dist = tsw_parts_dist(&l),
				   .comm = comms[r],
				   .times = 1};
		k->image = malloc(k->bytes + 1);
		ck_assert_ptr_nonnull(k->image);
		rig.parts.a[r] = k->image;
		CUDA(cudaSetDevice(r));
		CUDA(cudaMalloc(&k->a, k->bytes + 1));
	}
	tsw_parts_fill(&rig.parts);
	return rig;
}

static void rig_free(struct rig *rig)
{
	for (int r = 0; r < rig->parts.count; r++) {
		CUDA(cudaSetDevice(r));
		CUDA(cudaFree(rig->rank[r].a));
		free(rig->rank[r].image);
	}
	tsw_parts_free(&rig->parts);
}

static void check(struct tsw_layout l, size_t stage_bytes, int times)
{
	struct rig rig = rig_new(l, stage_bytes);
	const char *wrong;

	for (int r = 0; r < rig.parts.count; r++)
		rig.rank[r].times = times;
	run_all(rig.rank, rig.parts.count);
	for (int r = 0; r < rig.parts.count; r++)
		tsw_require(rig.rank[r].status == TSW_OK, "%s, rank %d: %s", tsw_layout_text(&l), r,
			    rig.rank[r].detail);
	wrong = tsw_parts_wrong(&rig.parts);
	tsw_require(!wrong, "%s: %s wrong", tsw_layout_text(&l), wrong);
	rig_free(&rig);
}

START_TEST(enough_devices)
{
	NEED_GPUS();
}
END_TEST

static const size_t widths[] = {1, 3, 4, 8, 12, 16};

/* Every grid of as many ranks as there are GPUs, or fewer. */
START_TEST(grids_layouts_and_widths)
{
	NEED_GPU();
	for (int ranks = 1; ranks <= ranks_there_are(); ranks++)
		for (int rows = 1; rows <= ranks; rows++)
			for (size_t w = 0; ranks % rows == 0 && w < COUNT_OF(widths); w++) {
				const int cols = ranks / rows;
				const size_t size = widths[w];

				check((struct tsw_layout){512, 512 / (size_t)rows,
							  512 / (size_t)cols, rows, cols, 0, 0,
							  size, 0},
				      1 << 20, 1);
				check((struct tsw_layout){401, 16, 24, rows, cols, rows - 1,
							  cols / 2, size, 3},
				      100000, 1);
				check((struct tsw_layout){100, 3, 2, rows, cols, 0, cols - 1, size,
							  1},
				      4 * 40 * size, 3);
			}
}
END_TEST

START_TEST(many_chunks)
{
	int ranks;

	NEED_GPU();
	ranks = ranks_there_are();
	check((struct tsw_layout){6000, 6000, 1500, 1, ranks, 0, 0, 4, 0}, 4 << 20, 5);
	check((struct tsw_layout){5999, 64, 5999, ranks, 1, ranks - 1, 0, 8, 0}, 4 << 20, 1);
}
END_TEST

/* Memory of NCCL's that the communicators know, or plain memory that they do not. */
static void check_given(struct tsw_layout l, size_t stage_bytes, int known)
{
	struct rig rig = rig_new(l, stage_bytes);
	void *handle[MOST_RANKS];
	const char *wrong;

	for (int r = 0; r < rig.parts.count; r++) {
		struct rank *const k = &rig.rank[r];

		k->times = 3;
		CUDA(cudaSetDevice(r));
		if (known) {
			ck_assert_int_eq(ncclMemAlloc(&k->staging, stage_bytes), ncclSuccess);
			ck_assert_int_eq(
				ncclCommRegister(k->comm, k->staging, stage_bytes, &handle[r]),
				ncclSuccess);
		} else {
			CUDA(cudaMalloc(&k->staging, stage_bytes));
		}
	}
	run_all(rig.rank, rig.parts.count);
	for (int r = 0; r < rig.parts.count; r++)
		tsw_require(rig.rank[r].status == TSW_OK, "%s, rank %d: %s", tsw_layout_text(&l), r,
			    rig.rank[r].detail);
	wrong = tsw_parts_wrong(&rig.parts);
	tsw_require(!wrong, "%s, known %d: %s wrong", tsw_layout_text(&l), known, wrong);
	for (int r = 0; r < rig.parts.count; r++) {
		CUDA(cudaSetDevice(r));
		if (known) {
			ck_assert_int_eq(ncclCommDeregister(rig.rank[r].comm, handle[r]),
					 ncclSuccess);
			ck_assert_int_eq(ncclMemFree(rig.rank[r].staging), ncclSuccess);
		} else {
			CUDA(cudaFree(rig.rank[r].staging));
		}
	}
	rig_free(&rig);
}

START_TEST(staging_of_the_callers)
{
	int ranks;

	NEED_GPU();
	ranks = ranks_there_are();
	for (int known = 0; known < 2; known++) {
		check_given((struct tsw_layout){6000, 6000, 3001, 1, ranks, 0, 0, 4, 0}, 4 << 20,
			    known);
		check_given((struct tsw_layout){2999, 64, 96, ranks, 1, ranks - 1, 0, 8, 1},
			    32 << 20, known);
		check_given((struct tsw_layout){401, 16, 24, 1, ranks, 0, 0, 3, 0}, 100000, known);
	}
}
END_TEST

/* All ranks end, each with a failure, and nothing has changed. */
static void check_disagreement(struct rig *rig, const char *word)
{
	int found = 0;

	run_all(rig->rank, rig->parts.count);
	for (int r = 0; r < rig->parts.count; r++) {
		ck_assert_msg(rig->rank[r].status != TSW_OK, "rank %d does not fail", r);
		found |= strstr(rig->rank[r].detail, word) != NULL;
	}
	ck_assert_msg(found, "no rank says \"%s\": %s", word, rig->rank[0].detail);
}

START_TEST(ranks_that_do_not_agree_all_fail)
{
	struct tsw_layout l = {64, 32, 64, 2, 1, 0, 0, 8, 0};
	struct rig rig;

	NEED_GPU();
	if (devices() < 2)
		tsw_skip("needs two GPUs");
	rig = rig_new(l, 0);
	rig.rank[1].dist.n = 63;
	check_disagreement(&rig, "n = ");
	rig.rank[1].dist.n = 64;
	rig.rank[0].stage_bytes = 1 << 20;
	check_disagreement(&rig, "stage_bytes = ");
	rig.rank[0].stage_bytes = 0;
	rig.rank[1].ld = 3;
	check_disagreement(&rig, "ld = 3");
	check_disagreement(&rig, "rank 1");
	rig.rank[1].ld = 64;
	rig.rank[0].dist.nprow = rig.rank[1].dist.nprow = 3;
	check_disagreement(&rig, "a grid of 3 x 1");
	rig.rank[0].dist.nprow = rig.rank[1].dist.nprow = 2;
	rig.rank[0].stage_bytes = rig.rank[1].stage_bytes = 15;
	check_disagreement(&rig, "stage_bytes = 15");
	rig.rank[0].stage_bytes = rig.rank[1].stage_bytes = 0;
	/* And after all that it works. */
	run_all(rig.rank, 2);
	ck_assert_int_eq(rig.rank[0].status, TSW_OK);
	ck_assert_int_eq(rig.rank[1].status, TSW_OK);
	ck_assert_ptr_null(tsw_parts_wrong(&rig.parts));
	rig_free(&rig);
}
END_TEST

static Suite *nccl_suite(void)
{
	Suite *suite = suite_create("nccl");
	TCase *tc = tcase_create("nccl");

	tcase_add_test(tc, enough_devices);
	tcase_add_test(tc, grids_layouts_and_widths);
	tcase_add_test(tc, many_chunks);
	tcase_add_test(tc, staging_of_the_callers);
	tcase_add_test(tc, ranks_that_do_not_agree_all_fail);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_SAME_PROCESS, (tsw_suite *[]){nccl_suite}, 1);
}
