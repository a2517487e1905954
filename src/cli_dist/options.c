/* The command line of tileswap-dist, from one table. */
#include "job.h"

#include "../cli/number.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static int take_flag(const char *text, void *field)
{
	(void)text;
	*(int *)field = 1;
	return 0;
}

static int take_count(const char *text, void *field)
{
	uint64_t value;

	if (number_whole(text, &value) || value > INT64_MAX)
		return -1;
	*(size_t *)field = value;
	return 0;
}

static int take_int(const char *text, void *field)
{
	uint64_t value;

	if (number_whole(text, &value) || value > INT_MAX)
		return -1;
	*(int *)field = (int)value;
	return 0;
}

static int take_bytes(const char *text, void *field)
{
	uint64_t value;

	if (number_size(text, &value) || !value)
		return -1;
	*(size_t *)field = value;
	return 0;
}

static int take_seed(const char *text, void *field)
{
	return number_seed(text, field);
}

/* PxQ, into the two ints that stand side by side. */
static int take_grid(const char *text, void *field)
{
	const char *x = strchr(text, 'x');
	char rows[16];
	int *grid = field;

	if (!x || (size_t)(x - text) >= sizeof rows)
		return -1;
	memcpy(rows, text, (size_t)(x - text));
	rows[x - text] = '\0';
	return take_int(rows, &grid[0]) || take_int(x + 1, &grid[1]) || !grid[0] || !grid[1] ? -1
											     : 0;
}

static int take_choice(const char *text, const char *first, const char *second, void *field)
{
	if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
		return -1;
	*(int *)field = !strcmp(text, second);
	return 0;
}

static int take_device(const char *text, void *field)
{
	return take_choice(text, "cpu", "cuda", field);
}

static int take_order(const char *text, void *field)
{
	return take_choice(text, "rows", "columns", field);
}

_Static_assert(offsetof(tsw_dist, npcol) == offsetof(tsw_dist, nprow) + sizeof(int),
	       "the grid's two numbers stand side by side");

#define AT(member) offsetof(struct dist_options, member)

static const struct option {
	const char *name, *arg;
	int (*take)(const char *text, void *field);
	size_t field;
	const char *wants, *help;
} options[] = {
	{"--grid", "PxQ", take_grid, AT(dist.nprow), "rows x columns, as 2x3",
	 "the grid of ranks (default: as square as can be)"},
	{"--n", "N", take_count, AT(dist.n), "a whole number",
	 "the matrix is N x N (default 4096)"},
	{"--mb", "MB", take_count, AT(dist.mb), "a whole number", "rows of a block (default 64)"},
	{"--nb", "NB", take_count, AT(dist.nb), "a whole number",
	 "columns of a block (default 64)"},
	{"--rsrc", "R", take_int, AT(dist.rsrc), "a whole number",
	 "the grid row of the first block (default 0)"},
	{"--csrc", "C", take_int, AT(dist.csrc), "a whole number",
	 "the grid column of the first block (default 0)"},
	{"--ranks", "rows|columns", take_order, AT(dist.rank_order), "'rows' or 'columns'",
	 "how ranks are numbered over the grid (default rows)"},
	{"--storage", "rows|columns", take_order, AT(dist.storage), "'rows' or 'columns'",
	 "how a local matrix lies in memory (default rows)"},
	{"--elem-size", "K", take_count, AT(elem_size), "a whole number",
	 "bytes of an element (default 8)"},
	{"--pad", "E", take_count, AT(pad), "a whole number",
	 "elements of padding behind every local row (default 0)"},
	{"--device", "cpu|cuda", take_device, AT(device), "'cpu' or 'cuda'",
	 "where the matrix lies: host memory and MPI, or GPU memory and NCCL"},
	{"--stage", "SIZE", take_bytes, AT(stage_bytes), "a size, as 64M",
	 "staging of each rank (default: the library's)"},
	{"--threads", "T", take_int, AT(threads), "a whole number",
	 "threads of each rank, 0 for all (default 1)"},
	{"--reps", "R", take_count, AT(reps), "a whole number",
	 "transposes, an odd number; the median time counts (default 1)"},
	{"--relabel", NULL, take_flag, AT(relabel), NULL,
	 "send nothing: local transposes, ranks numbered anew (square grids)"},
	{"--seed", "X", take_seed, AT(seed), "a number", "of the random fill (default 1)"},
	{"--plan", NULL, take_flag, AT(plan), NULL,
	 "only print the bytes that would go over every link; one process is enough"},
	{"--json", NULL, take_flag, AT(json), NULL, "print JSON, one object a line"},
	{"--help", NULL, take_flag, AT(help), NULL, "print this"},
};

void dist_options_help(void)
{
	puts("Usage: mpirun -n RANKS tileswap-dist [options]\n\n"
	     "Fills one matrix that is spread block-cyclically over all ranks with random bits,\n"
	     "transposes it in place and compares every element and every byte of padding with "
	     "what\n"
	     "must stand there.  No rank ever holds the whole.  Exits 1 if anything is wrong.\n");
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		char left[40];

		snprintf(left, sizeof left, "%s %s", options[i].name,
			 options[i].arg ? options[i].arg : "");
		printf("  %-24s %s\n", left, options[i].help);
	}
	puts("\nSIZE: K, M, G, T are powers of 1024.");
}

static const struct option *find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (strlen(options[i].name) == length && !strncmp(options[i].name, name, length))
			return &options[i];
	return NULL;
}

/* One option at argv[*at], with its value behind '=' or in the next word. */
static int take_one(int argc, char **argv, int *at, struct dist_options *o, char *text, size_t room)
{
	const char *word = argv[*at], *value = strchr(word, '=');
	const struct option *opt = find(word, value ? (size_t)(value - word) : strlen(word));

	if (!opt) {
		snprintf(text, room, "unknown option '%s'; --help lists them", word);
		return -1;
	}
	if (!opt->arg && value) {
		snprintf(text, room, "%s takes no value", opt->name);
		return -1;
	}
	if (opt->arg && value)
		value++;
	else if (opt->arg)
		value = *at + 1 < argc ? argv[++*at] : "";
	if (opt->take(value, (char *)o + opt->field)) {
		snprintf(text, room, "%s wants %s, not '%s'", opt->name, opt->wants, value);
		return -1;
	}
	return 0;
}

int dist_options_parse(int argc, char **argv, struct dist_options *o, char *text, size_t room)
{
	const tsw_dist dist = TSW_DIST_INIT;

	*o = (struct dist_options){
		.dist = dist, .elem_size = 8, .reps = 1, .seed = 1, .threads = 1};
	o->dist.n = 4096;
	o->dist.mb = o->dist.nb = 64;
	o->dist.nprow = o->dist.npcol = 0;
	for (int i = 1; i < argc; i++)
		if (take_one(argc, argv, &i, o, text, room))
			return -1;
	if (o->reps > DIST_MOST_REPS) {
		snprintf(text, room, "--reps %zu: %d at most", o->reps, DIST_MOST_REPS);
		return -1;
	}
	if (o->reps % 2 == 0) {
		snprintf(text, room, "--reps %zu: an even number of transposes does nothing",
			 o->reps);
		return -1;
	}
	if (o->plan && !o->dist.nprow) {
		snprintf(text, room, "--plan wants --grid");
		return -1;
	}
	return 0;
}
