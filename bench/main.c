/* tileswap-bench: how fast is the library beside a copy of the same bytes, and beside others.
 * docs/PERFORMANCE.md says how each printed number comes about. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "multi.h"
#include "options.h"

void bench_complain(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("tileswap-bench: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int bench_answer(const char *what, tsw_status status)
{
	if (status == TSW_OK)
		return BENCH_OK;
	if (status == TSW_ERR_UNSUPPORTED)
		return BENCH_UNSUPPORTED;
	bench_complain("%s: %s (%s)", what, tsw_strerror(status), tsw_last_error());
	return BENCH_FAILED;
}

/* The shape that the options mean for one n and one width; non-zero after a message. */
static int shape_of(const struct bench_options *o, size_t n, size_t elem_size,
		    struct bench_shape *shape)
{
	struct tsw_matrices m = {.base = shape, .n = n, .elem_size = elem_size, .count = o->count};

	m.ld = o->ld ? o->ld : n + o->ld_plus;
	m.stride = o->stride ? o->stride : n * m.ld + o->stride_plus;
	if (o->fill_bytes && m.stride)
		m.count = o->fill_bytes / m.stride / elem_size;
	if (m.count == 0)
		m.count = 1;
	if (tsw_check_matrices(&m) != TSW_OK) {
		bench_complain("%s", tsw_last_error());
		return -1;
	}
	*shape = (struct bench_shape){
		.n = n,
		.ld = m.ld,
		.elem_size = elem_size,
		.offset = o->offset,
		.stride = m.stride,
		.count = m.count,
		.array = o->array,
	};
	return 0;
}

static int run_shapes(const struct bench_options *o)
{
	const int cuda = !strcmp(o->device, "cuda");
	const struct bench_backend *const backend = cuda ? &bench_cuda : &bench_cpu;
	struct bench_entry list[BENCH_MAX_ENTRIES];
	int failed = 0;

	for (size_t e = 0; e < o->elem_count; e++) {
		for (size_t i = 0; i < o->n_count; i++) {
			struct bench_shape shape;
			size_t entries;

			if (shape_of(o, o->n[i], o->elem_size[e], &shape))
				return 2;
			if (o->checksum)
				entries = bench_checksum_entries(backend, list);
			else if (o->imatcopy.op)
				entries = bench_imatcopy_entries(backend, o, list);
			else if (o->pattern)
				entries = bench_pattern_entries(&shape, list);
			else
				entries = cuda ? bench_cuda_entries(o, list)
					       : bench_cpu_entries(o, list);
			failed |= bench_race(backend, o, &shape, list, entries);
		}
	}
	return failed ? 1 : 0;
}

/* The ladder: rectangles out of place, then the square with as many elements in place.  The small
 * one is the size of the text that the ladder follows. */
static int run_ladder(const struct bench_options *o)
{
	static const size_t sizes[][2] = {{4113, 8197}, {16401, 32773}};
	static const size_t widths[] = {4, 8};
	struct bench_entry list[BENCH_MAX_ENTRIES];
	struct bench_options in_place = *o;
	int failed = 0;

	in_place.kernels = 1;
	for (size_t w = 0; w < 2; w++) {
		for (size_t s = 0; s < 2; s++) {
			struct bench_shape shape = {
				.n = sizes[s][0],
				.cols = sizes[s][1],
				.ld = sizes[s][1],
				.elem_size = widths[w],
				.count = 1,
			};
			size_t n;

			failed |= bench_race(&bench_cuda, o, &shape, list,
					     bench_ladder_entries(widths[w], list));
			n = (size_t)sqrt((double)shape.n * (double)shape.cols) / 64 * 64;
			for (size_t odd = 0; odd < 2; odd++) {
				if (shape_of(&in_place, n + odd, widths[w], &shape))
					return 2;
				failed |= bench_race(&bench_cuda, &in_place, &shape, list,
						     bench_cuda_entries(&in_place, list));
			}
		}
	}
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct bench_options options = {.count = 1, .reps = 7, .seed = 1};
	int status;

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "--devices", 9))
			return bench_multi_main(argc, argv);
	status = bench_parse(argc, argv, &options);

	if (status)
		return status;
	if (!strcmp(options.device, "cuda")) {
		status = bench_cuda_start();
		if (status)
			return status;
	}
	bench_print_machine(&options);
	status = options.ladder ? run_ladder(&options) : run_shapes(&options);
	if (fflush(stdout) || ferror(stdout)) {
		bench_complain("cannot write the results");
		return 1;
	}
	return status;
}
