/* The library's public calls on the matrices of a set, wherever it lies: a set in device memory has
 * a stream, on which they are queued. */
#include "../src/verify/verify.h"
#include "bench.h"

static int apply(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	const struct tsw_matrices m = bench_matrices(set, copy, 0);
	const tsw_stream stream = set->stream;
	const int threads = set->threads;
	tsw_status status;

	if (m.array)
		status = stream ? tsw_transpose_array_device(m.array, m.n, m.ld, m.elem_size,
							     m.count, stream)
				: tsw_transpose_array_host(m.array, m.n, m.ld, m.elem_size, m.count,
							   threads);
	else if (m.count > 1)
		status = stream ? tsw_transpose_batch_device(m.base, m.n, m.ld, m.elem_size,
							     m.stride, m.count, stream)
				: tsw_transpose_batch_host(m.base, m.n, m.ld, m.elem_size, m.stride,
							   m.count, threads);
	else
		status = stream ? tsw_transpose_device(m.base, m.n, m.ld, m.elem_size, stream)
				: tsw_transpose_host(m.base, m.n, m.ld, m.elem_size, threads);
	return bench_answer(entry->name, status);
}

const struct bench_entry bench_library = {
	.name = "auto",
	.kind = BENCH_KERNEL,
	.apply = apply,
};

int bench_call_checksum(const struct bench_set *set, size_t copy, int transposed,
			tsw_digest *digest)
{
	const struct tsw_matrices m = bench_matrices(set, copy, 0);

	return bench_answer("checksum",
			    set->stream ? tsw_checksum_device(m.base, m.n, m.ld, m.elem_size,
							      transposed, digest, set->stream)
					: tsw_checksum_host(m.base, m.n, m.ld, m.elem_size,
							    transposed, digest, set->threads));
}

int bench_call_imatcopy(const struct bench_set *set, size_t copy, const struct bench_imatcopy *x)
{
	const struct tsw_matrices m = bench_matrices(set, copy, 0);
	float room[2];
	const void *const alpha = bench_imatcopy_alpha(x, room);

	return bench_answer(
		"imatcopy",
		set->stream ? tsw_imatcopy_batch_device(x->op, x->type, m.n, alpha, m.base, m.ld,
							m.stride, m.count, set->stream)
			    : tsw_imatcopy_batch_host(x->op, x->type, m.n, alpha, m.base, m.ld,
						      m.stride, m.count, set->threads));
}

int bench_verify_random(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong)
{
	struct tsw_matrices m = bench_matrices(set, 0, 0);
	const tsw_stream stream = set->stream;
	struct tsw_wrong found;
	int status;

	m.array = NULL;
	status = bench_answer("fill", stream ? tsw_fill_device(m.base, set->span_bytes, set->seed,
							       stream, &set->data)
					     : tsw_fill_host(m.base, set->span_bytes, set->seed,
							     set->threads, &set->data));
	if (!status)
		status = entry->apply(entry, set, 0);
	if (status)
		return status;
	if (bench_answer("check",
			 stream ? tsw_check_batch_device(&m, set->seed, 1, stream, &found)
				: tsw_check_batch_host(&m, set->seed, 1, set->threads, &found)))
		return BENCH_FAILED;
	*wrong = found.elements + found.padding_bytes;
	return BENCH_OK;
}
