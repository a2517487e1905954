/* The command line of `tileswap-bench --devices`. */
#include "multi.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char usage[] =
	"usage: tileswap-bench --devices D [options]: one matrix over D GPUs\n"
	"  --grid PxQ        of parts, P * Q = D [1xD]\n"
	"  --n N | --fill F  side, or the share of the combined memory that the matrix takes "
	"[0.8]\n"
	"  --mb M --nb N     rows and columns of a block [as large as can be]\n"
	"  --elem-size K     bytes [4]\n"
	"  --method M[,M]    auto, copy, pack, push, swap, host, nccl [auto]\n"
	"  --staging B[,B]   bytes a GPU [268435456]\n"
	"  --buffers B[,B]   chunks that the staging holds; 0: what the library chooses [0]\n"
	"  --copies C[,C]    under way at once [2]\n"
	"  --take            the call takes its staging itself instead of being given it (of "
	"nccl:\n"
	"                    memory that the communicator knows)\n"
	"  --reps R          timed repetitions [5]\n"
	"  --case NAME       stands in every row\n"
	"  --json            one JSON object a line\n"
	"Each row: payload V / t; bytes over links; the link rate, measured beside it by copy\n"
	"engines over all pairs both ways at once; the bound, largest egress / link rate; bound / "
	"t.\n";

static const char *const names[] = {"auto", "copy", "pack", "push", "swap", "host", "nccl"};

#define METHODS ((int)(sizeof names / sizeof *names))

const char *bench_method_name(int method)
{
	return names[method];
}

static int numbers(const char *text, size_t *values, size_t *count)
{
	*count = 0;
	for (;;) {
		char *end;
		const unsigned long long x = strtoull(text, &end, 0);

		if (end == text || *text == '-' || (*end && *end != ',') ||
		    *count == BENCH_MOST_VALUES)
			return -1;
		values[(*count)++] = x;
		if (!*end)
			return 0;
		text = end + 1;
	}
}

static int methods(const char *text, struct bench_multi_options *o)
{
	o->method_count = 0;
	while (*text) {
		const size_t length = strcspn(text, ",");
		int found = -1;

		for (int i = 0; i < METHODS; i++)
			if (strlen(names[i]) == length && !strncmp(names[i], text, length))
				found = i;
		if (found < 0 || o->method_count == BENCH_MOST_VALUES)
			return -1;
		o->methods[o->method_count++] = found;
		text += length + (text[length] == ',');
	}
	return o->method_count ? 0 : -1;
}

static int grid(const char *text, struct bench_multi_options *o)
{
	char *end;

	o->nprow = (int)strtol(text, &end, 10);
	if (*end != 'x')
		return -1;
	o->npcol = (int)strtol(end + 1, &end, 10);
	return *end || o->nprow < 1 || o->npcol < 1 ? -1 : 0;
}

static int one(const char *text, size_t *value)
{
	size_t count, values[BENCH_MOST_VALUES];

	if (numbers(text, values, &count) || count != 1 || !values[0])
		return -1;
	*value = values[0];
	return 0;
}

static int value(const char *name, const char *text, struct bench_multi_options *o)
{
	size_t x = 0;

	if (!strcmp(name, "grid"))
		return grid(text, o);
	if (!strcmp(name, "n"))
		return one(text, &o->n);
	if (!strcmp(name, "mb"))
		return one(text, &o->mb);
	if (!strcmp(name, "nb"))
		return one(text, &o->nb);
	if (!strcmp(name, "elem-size"))
		return one(text, &o->elem_size);
	if (!strcmp(name, "staging"))
		return numbers(text, o->staging, &o->stagings);
	if (!strcmp(name, "buffers"))
		return numbers(text, o->buffers, &o->buffer_counts);
	if (!strcmp(name, "copies"))
		return numbers(text, o->copies, &o->copy_counts);
	if (!strcmp(name, "method"))
		return methods(text, o);
	if (!strcmp(name, "case")) {
		o->case_name = text;
		return 0;
	}
	if (!strcmp(name, "fill")) {
		o->fill = strtod(text, NULL);
		return o->fill > 0 && o->fill < 1 ? 0 : -1;
	}
	if (!strcmp(name, "device"))
		return strcmp(text, "cuda");
	if (one(text, &x) || x > 1000)
		return -1;
	if (!strcmp(name, "reps"))
		o->reps = (int)x;
	else
		o->devices = (int)x;
	return 0;
}

static int check(struct bench_multi_options *o)
{
	if (!o->nprow) {
		o->nprow = 1;
		o->npcol = o->devices;
	}
	if (o->devices < 1 || o->devices > BENCH_MOST_DEVICES ||
	    o->nprow * o->npcol != o->devices) {
		bench_complain("--devices %d: a grid of %d x %d, at most %d", o->devices, o->nprow,
			       o->npcol, BENCH_MOST_DEVICES);
		return 2;
	}
	return 0;
}

int bench_multi_parse(int argc, char **argv, struct bench_multi_options *o)
{
	const struct option table[] = {
		{"devices", required_argument, NULL, 'v'},
		{"device", required_argument, NULL, 'v'},
		{"grid", required_argument, NULL, 'v'},
		{"n", required_argument, NULL, 'v'},
		{"fill", required_argument, NULL, 'v'},
		{"mb", required_argument, NULL, 'v'},
		{"nb", required_argument, NULL, 'v'},
		{"elem-size", required_argument, NULL, 'v'},
		{"method", required_argument, NULL, 'v'},
		{"staging", required_argument, NULL, 'v'},
		{"buffers", required_argument, NULL, 'v'},
		{"copies", required_argument, NULL, 'v'},
		{"reps", required_argument, NULL, 'v'},
		{"case", required_argument, NULL, 'v'},
		{"json", no_argument, &o->json, 1},
		{"take", no_argument, &o->take, 1},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, index;

	while ((option = getopt_long(argc, argv, "", table, &index)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		if (option == '?') {
			fputs(usage, stderr);
			return 2;
		}
		if (option == 'v' && value(table[index].name, optarg, o)) {
			bench_complain("--%s %s: not a value it can have", table[index].name,
				       optarg);
			return 2;
		}
	}
	if (optind < argc) {
		bench_complain("%s: no such argument", argv[optind]);
		return 2;
	}
	return check(o);
}

int bench_multi_main(int argc, char **argv)
{
	struct bench_multi_options o = {
		.fill = 0.8,
		.elem_size = 4,
		.staging = {(size_t)256 << 20},
		.buffers = {0},
		.copies = {2},
		.stagings = 1,
		.buffer_counts = 1,
		.copy_counts = 1,
		.method_count = 1,
		.reps = 5,
	};
	const struct bench_options machine = {.device = "cuda"};
	struct bench_options with_json = machine;
	int status = bench_multi_parse(argc, argv, &o);

	if (status)
		return status;
	status = bench_cuda_start();
	if (status)
		return status;
	with_json.json = o.json;
	bench_print_machine(&with_json);
	return bench_multi_run(&o);
}
