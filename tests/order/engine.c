/* What lies below the schedules: rectangles and teams as they are, kernels by their own text, run
 * when the queue comes to them. */
#include "rename.h"

#include <stdlib.h>
#include <string.h>

#include "launch_simt.h"
#include "support.h"

#include "../src/cuda/rect.c"
#include "../src/cuda/team.c"

int order_method(const struct tsw_spread *spread, size_t elem_size, int host)
{
	struct tsw_member members[16] = {{.host = host}};
	struct tsw_team team = {.spread = *spread,
				.elem_size = elem_size,
				.count = tsw_spread_ranks(spread),
				.members = members};

	ck_assert_uint_le(team.count, 16);
	for (uint32_t r = 0; r < team.count; r++) {
		const struct tsw_seat seat = tsw_seat_of(spread, r);

		members[r].a = (char *)4096; /* only counted from */
		members[r].ld = tsw_local_cols(spread, seat.col);
	}
	choose_method(&team);
	return team.options.method;
}

SIMT_DEFINE_CALL(tsw_exchange)
SIMT_DEFINE_CALL(tsw_gather)

tsw_status order_report(cudaError_t error, const char *call)
{
	return tsw_fail(TSW_ERR_CUDA, "%s: error %d", call, (int)error);
}

tsw_status order_also(tsw_status status, cudaError_t error, const char *call)
{
	return status == TSW_OK && error != cudaSuccess ? order_report(error, call) : status;
}

tsw_status order_reach(const void *p, const char *name, void **address)
{
	(void)name;
	*address = (void *)(uintptr_t)p;
	return ++order_calls == order_fail ? order_report(cudaErrorInvalidValue, name) : TSW_OK;
}

uint64_t order_grid(uint64_t limit)
{
	(void)limit;
	return UINT64_MAX;
}

struct launched {
	struct tsw_kernel kernel;
	uint64_t blocks;
	union {
		struct tsw_exchange exchange;
		struct tsw_gather gather;
	} parameter;
};

static uint64_t launches;

static void run_kernel(const void *what)
{
	const struct launched *l = what;
	simt_call *const call =
		strcmp(l->kernel.name, "gather") ? simt_call_tsw_exchange : simt_call_tsw_gather;
	const char *wrong =
		simt_launch_kernel(&l->kernel, call, &l->parameter, l->blocks, launches++ % 3);

	tsw_require(!wrong, "%s: %s", l->kernel.name, wrong);
}

tsw_status order_launch(const struct tsw_kernel *kernel, const void *parameter, uint64_t blocks,
			tsw_stream stream)
{
	struct launched l = {.kernel = *kernel, .blocks = blocks};

	if (++order_calls == order_fail)
		return order_report(cudaErrorInvalidValue, "launch");
	memcpy(&l.parameter, parameter,
	       strcmp(kernel->name, "gather") ? sizeof l.parameter.exchange
					      : sizeof l.parameter.gather);
	order_queue(stream, run_kernel, &l, sizeof l);
	return TSW_OK;
}

/* A window that is one piece goes to the ordinary kernels. */
static void run_transpose(const void *what)
{
	const struct tsw_matrices *m = what;
	struct tsw_shape s = {m->n, m->ld, m->elem_size};
	unsigned char *before = malloc(tsw_shape_bytes(s));

	ck_assert_ptr_nonnull(before);
	memcpy(before, m->base, tsw_shape_bytes(s));
	tsw_oracle_window(before, m->base, s);
	free(before);
}

tsw_status order_transpose(const struct tsw_matrices *m, tsw_stream stream, uint64_t limit)
{
	(void)limit;
	if (++order_calls == order_fail)
		return order_report(cudaErrorInvalidValue, "transpose");
	order_queue(stream, run_transpose, m, sizeof *m);
	return TSW_OK;
}
