/* The command line. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: tileswap-bench --device cpu|cuda --n N[,N...] --elem-size K[,K...] [options]\n"
	"  --ld LD | +D      row distance in elements, or n + D (default n)\n"
	"  --offset BYTES    move the base address off its 256-byte alignment\n"
	"  --count C         a batch of C matrices [1]\n"
	"  --fill BYTES      as many matrices as have that many bytes\n"
	"  --stride S | +D   elements from matrix to matrix, or n * ld + D [n * ld]\n"
	"  --array           give the batch as an array of pointers\n"
	"  --threads T       host threads, 0 = all [0]\n"
	"  --reps R          timed repetitions [7]\n"
	"  --kernels         every kernel by name beside what the library picks; on the host, the\n"
	"                    library's plan with one choice taken back at a time\n"
	"  --peers           other libraries, where they are found\n"
	"  --resident        one copy of the data again and again, in cache if it fits\n"
	"  --graph           as --resident, 1000 launches in one CUDA graph\n"
	"  --pattern         the addresses of tile pairs read and written with no transpose (GPU)\n"
	"  --ladder          from a copy over naive to tile pairs, out of place and in place "
	"(GPU)\n"
	"  --checksum        the digest beside a plain read: GB/s = n * n * elem_size / time\n"
	"  --op N|T|C|R      imatcopy with that op instead of a transpose; needs --type\n"
	"  --type s|d|c|z|h|b  float, double, complex float, complex double, half, bfloat16; is "
	"the\n"
	"                    elem-size\n"
	"  --alpha RE[,IM]   [-1; of complex types 0,1]\n"
	"  --profile         every entry once, untimed and unverified, for a profiler\n"
	"  --seed X          of the random data\n"
	"  --case NAME       stands in every JSON row\n"
	"  --json            one JSON object a line instead of a table\n"
	"  --devices D       one matrix over D GPUs: other options, see --devices 2 --help\n"
	"GB/s = 2 * count * n * n * elem_size / time.  Exit status: 0 ok, 1 something was found "
	"wrong or\n"
	"failed, 2 usage, 3 no such device.\n";

static int number(const char *text, size_t *value)
{
	char *end;
	unsigned long long x;

	errno = 0;
	x = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-')
		return -1;
	*value = x;
	return 0;
}

static int numbers(const char *text, size_t *values, size_t room, size_t *count)
{
	char buffer[1024];
	char *state = NULL;

	if (strlen(text) >= sizeof buffer)
		return -1;
	strcpy(buffer, text);
	*count = 0;
	for (char *item = strtok_r(buffer, ",", &state); item; item = strtok_r(NULL, ",", &state)) {
		if (*count == room || number(item, &values[*count]) || values[*count] == 0)
			return -1;
		++*count;
	}
	return *count ? 0 : -1;
}

static int bad(const char *option, const char *value)
{
	bench_complain("--%s %s: not a value it can have", option, value);
	return 2;
}

enum {
	OPT_DEVICE = 256,
	OPT_N,
	OPT_ELEM,
	OPT_LD,
	OPT_OFFSET,
	OPT_STRIDE,
	OPT_FILL,
	OPT_COUNT,
	OPT_THREADS,
	OPT_REPS,
	OPT_SEED,
	OPT_CASE,
	OPT_HELP,
	OPT_OP,
	OPT_TYPE,
	OPT_ALPHA,
	OPT_RESIDENT,
	OPT_GRAPH,
	OPT_PROFILE
};

/* A distance of its own, or what it is more than the shortest. */
static int distance(const char *text, size_t *value, size_t *plus)
{
	return text[0] == '+' ? number(text + 1, plus) : number(text, value);
}

/* A number that has to fit an int. */
static int small(const char *text, int least, int *value)
{
	size_t x;

	if (number(text, &x) || x > 1000000 || (int)x < least)
		return -1;
	*value = (int)x;
	return 0;
}

/* Which letter of `letters`, both cases alike; -1 for none. */
static int letter(const char *text, const char *letters)
{
	const char *found =
		text[0] && !text[1] ? strchr(letters, toupper((unsigned char)text[0])) : NULL;

	return found ? (int)(found - letters) : -1;
}

static int alpha(const char *text, double value[2])
{
	char *end;

	value[0] = strtod(text, &end);
	value[1] = 0;
	if (end == text || (*end && *end != ','))
		return -1;
	if (*end) {
		text = end + 1;
		value[1] = strtod(text, &end);
	}
	return end == text || *end ? -1 : 0;
}

static int set_type(const char *text, struct bench_options *o)
{
	static const size_t sizes[] = {4, 8, 8, 16, 2, 2};
	const int type = letter(text, "SDCZHB");

	if (type < 0)
		return -1;
	o->imatcopy.type = (tsw_type)type;
	o->elem_size[0] = sizes[type];
	o->elem_count = 1;
	o->type_given = 1;
	return 0;
}

static int parse_value(int option, const char *text, struct bench_options *o)
{
	size_t x;

	switch (option) {
	case OPT_DEVICE:
		o->device = text;
		return strcmp(text, "cpu") && strcmp(text, "cuda");
	case OPT_N:
		return numbers(text, o->n, sizeof o->n / sizeof *o->n, &o->n_count);
	case OPT_ELEM:
		return numbers(text, o->elem_size, sizeof o->elem_size / sizeof *o->elem_size,
			       &o->elem_count);
	case OPT_LD:
		return distance(text, &o->ld, &o->ld_plus);
	case OPT_OFFSET:
		return number(text, &o->offset);
	case OPT_STRIDE:
		return distance(text, &o->stride, &o->stride_plus);
	case OPT_FILL:
		return number(text, &o->fill_bytes);
	case OPT_COUNT:
		return number(text, &o->count) || o->count == 0;
	case OPT_THREADS:
		return small(text, 0, &o->threads);
	case OPT_REPS:
		return small(text, 1, &o->reps);
	case OPT_OP:
		if (letter(text, "NTCR") < 0)
			return -1;
		o->imatcopy.op = "NTCR"[letter(text, "NTCR")];
		return 0;
	case OPT_TYPE:
		return set_type(text, o);
	case OPT_ALPHA:
		o->alpha_given = 1;
		return alpha(text, o->imatcopy.alpha);
	case OPT_CASE:
		o->case_name = text;
		return 0;
	case OPT_SEED:
		if (number(text, &x))
			return -1;
		o->seed = x;
		return 0;
	}
	return -1;
}

static int check_imatcopy(const struct bench_options *o)
{
	if (!o->imatcopy.op)
		return 0;
	if (!o->type_given) {
		bench_complain("--op needs --type");
		return 2;
	}
	if (bench_imatcopy_narrow(&o->imatcopy) && o->alpha_given &&
	    (fabs(o->imatcopy.alpha[0]) != 1 || o->imatcopy.alpha[1] != 0)) {
		bench_complain("--alpha for --type h and b is 1 or -1");
		return 2;
	}
	if (o->array || o->checksum || o->pattern || o->ladder || o->kernels || o->peers) {
		bench_complain("--op goes with none of --array, --checksum, --pattern, --ladder, "
			       "--kernels, --peers");
		return 2;
	}
	return 0;
}

static int check(const struct bench_options *o)
{
	const int gpu_only = o->pattern || o->ladder || o->mode == BENCH_GRAPH;

	if (!o->device) {
		bench_complain("--device cpu or --device cuda is needed");
		return 2;
	}
	if (gpu_only && strcmp(o->device, "cuda")) {
		bench_complain("--pattern, --ladder and --graph are for --device cuda");
		return 2;
	}
	if (o->checksum && o->mode == BENCH_GRAPH) {
		bench_complain("--checksum waits for its result, so it cannot be in a graph");
		return 2;
	}
	if (!o->ladder && (!o->n_count || !o->elem_count)) {
		bench_complain("--n and --elem-size are needed");
		return 2;
	}
	return check_imatcopy(o);
}

int bench_parse(int argc, char **argv, struct bench_options *o)
{
	const struct option table[] = {
		{"device", required_argument, NULL, OPT_DEVICE},
		{"n", required_argument, NULL, OPT_N},
		{"elem-size", required_argument, NULL, OPT_ELEM},
		{"ld", required_argument, NULL, OPT_LD},
		{"offset", required_argument, NULL, OPT_OFFSET},
		{"stride", required_argument, NULL, OPT_STRIDE},
		{"fill", required_argument, NULL, OPT_FILL},
		{"count", required_argument, NULL, OPT_COUNT},
		{"threads", required_argument, NULL, OPT_THREADS},
		{"reps", required_argument, NULL, OPT_REPS},
		{"case", required_argument, NULL, OPT_CASE},
		{"seed", required_argument, NULL, OPT_SEED},
		{"op", required_argument, NULL, OPT_OP},
		{"type", required_argument, NULL, OPT_TYPE},
		{"alpha", required_argument, NULL, OPT_ALPHA},
		{"array", no_argument, &o->array, 1},
		{"kernels", no_argument, &o->kernels, 1},
		{"peers", no_argument, &o->peers, 1},
		{"pattern", no_argument, &o->pattern, 1},
		{"checksum", no_argument, &o->checksum, 1},
		{"ladder", no_argument, &o->ladder, 1},
		{"json", no_argument, &o->json, 1},
		{"resident", no_argument, NULL, OPT_RESIDENT},
		{"graph", no_argument, NULL, OPT_GRAPH},
		{"profile", no_argument, NULL, OPT_PROFILE},
		{"help", no_argument, NULL, OPT_HELP},
		{NULL, 0, NULL, 0},
	};
	int option, index;

	while ((option = getopt_long(argc, argv, "", table, &index)) != -1) {
		if (option == OPT_HELP) {
			fputs(usage, stdout);
			exit(0);
		}
		if (option == '?') {
			fputs(usage, stderr);
			return 2;
		}
		if (option == OPT_RESIDENT)
			o->mode = BENCH_RESIDENT;
		else if (option == OPT_GRAPH)
			o->mode = BENCH_GRAPH;
		else if (option == OPT_PROFILE)
			o->mode = BENCH_PROFILE;
		else if (option != 0 && parse_value(option, optarg, o))
			return bad(table[index].name, optarg);
	}
	if (optind < argc) {
		bench_complain("%s: no such argument", argv[optind]);
		return 2;
	}
	/* Whatever the numbers, they stay as large as they are, time after time. */
	if (!o->alpha_given && bench_imatcopy_complex(&o->imatcopy))
		o->imatcopy.alpha[1] = 1;
	else if (!o->alpha_given)
		o->imatcopy.alpha[0] = -1;
	return check(o);
}
