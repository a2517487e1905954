#include "options.h"

#include <limits.h>
#include <string.h>

#include "cli.h"
#include "dtype.h"
#include "number.h"

/* ---- commands -------------------------------------------------------------------------------- */

enum { TRANSPOSE = 1, CHECKSUM = 2, STRESS = 4, INFO = 8, ALL = 15 };

static const struct command commands[] = {
	{"transpose", cmd_transpose, 1, "FILE [options]", "transpose the matrix in a file",
	 "Transposes the square matrix in FILE where it lies, through bounded memory and with\n"
	 "no second copy on disk. FILE is a .npy, HDF5 or safetensors file, which tells its own\n"
	 "shape, or raw bytes described by --n and --dtype or --elem-size. Everything else in\n"
	 "FILE stays: the header, the bytes before --offset, the padding of rows (--ld) and the\n"
	 "bytes behind. Stopped at any moment, the same command goes on where it stopped, by\n"
	 "the journal FILE.tswj; until then no other program may change FILE. Where the readers\n"
	 "of a .npy file honour fortran_order, --flag-only does it in a millisecond.\n"
	 "With -o, FILE is only read, and OUT appears complete or not at all.\n"},
	{"checksum", cmd_checksum, 1, "FILE [options]", "print the digest of a matrix",
	 "Prints two sums over the elements: `placed` depends on every element and its place,\n"
	 "`values` on the elements alone. The digest of a file equals the digest that\n"
	 "--transposed gives of its transpose.\n"},
	{"stress", cmd_stress, 0, "[options]", "transpose random matrices, check every element",
	 "Each round fills a matrix with a pattern, transposes it an odd number of times,\n"
	 "compares digests from before and after, and compares every element and every byte\n"
	 "of padding with what must stand there. What is wrong is named with its place, and\n"
	 "as memory (bits changed) or place (elements whole, but elsewhere). Exits 1 then.\n"
	 "Patterns: random bits, position codes, a walking 1, a walking 0, and checkerboards.\n"},
	{"info", cmd_info, 0, "[options]", "devices, memory, the largest n that fits",
	 "Largest n: from the memory that is free now, limits of a container applied. `in\n"
	 "place` is one matrix, `twice` is two, as a transpose out of place needs.\n"},
};

#define COMMANDS (sizeof commands / sizeof *commands)

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* ---- kinds of values ------------------------------------------------------------------------- */

struct option {
	const char *name; /* behind "--" */
	char letter;	  /* behind "-", or 0 */
	const struct kind *kind;
	const char *arg; /* what the help calls the value, NULL for a flag */
	unsigned commands;
	size_t field;		    /* offset in struct options */
	uint64_t min, max;	    /* of numbers; a flag stores max */
	const char *const *choices; /* ends in NULL */
	const char *help;
};

/* How a value is read: 0, or -1 if `text` is none.  `wants` completes "--name wants ...". */
struct kind {
	int (*take)(const struct option *opt, const char *text, void *field);
	const char *wants;
};

static int take_flag(const struct option *opt, const char *text, void *field)
{
	(void)text;
	*(int *)field = (int)opt->max;
	return 0;
}

static int take_text(const struct option *opt, const char *text, void *field)
{
	(void)opt;
	*(const char **)field = text;
	return *text ? 0 : -1;
}

static int take_u64(const struct option *opt, const char *text, void *field)
{
	uint64_t value;

	if (number_whole(text, &value) || value < opt->min || value > opt->max)
		return -1;
	*(uint64_t *)field = value;
	return 0;
}

static int take_int(const struct option *opt, const char *text, void *field)
{
	uint64_t value;

	if (take_u64(opt, text, &value))
		return -1;
	*(int *)field = (int)value;
	return 0;
}

static int take_size(const struct option *opt, const char *text, void *field)
{
	uint64_t value;

	if (number_size(text, &value) || value < opt->min || value > opt->max)
		return -1;
	*(uint64_t *)field = value;
	return 0;
}

static int take_share(const struct option *opt, const char *text, void *field)
{
	struct share share = {0, 0};
	size_t len = strlen(text);
	char digits[4];
	uint64_t percent;

	if (len < 2 || len > 4 || text[len - 1] != '%') {
		if (take_size(opt, text, &share.bytes))
			return -1;
	} else {
		snprintf(digits, sizeof digits, "%.*s", (int)len - 1, text);
		if (number_whole(digits, &percent) || percent < 1 || percent > 100)
			return -1;
		share.percent = (unsigned)percent;
	}
	*(struct share *)field = share;
	return 0;
}

static int take_seed(const struct option *opt, const char *text, void *field)
{
	(void)opt;
	return number_seed(text, field);
}

static int take_seconds(const struct option *opt, const char *text, void *field)
{
	double value;

	if (number_decimal(text, &value) || value <= 0 || value > (double)opt->max)
		return -1;
	*(double *)field = value;
	return 0;
}

static int take_choice(const struct option *opt, const char *text, void *field)
{
	for (int i = 0; opt->choices[i]; i++)
		if (!strcmp(opt->choices[i], text)) {
			*(int *)field = i + 1; /* 0 is "not given" in every enum */
			return 0;
		}
	return -1;
}

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts are stored as uint64_t");

static const struct kind kind_flag = {take_flag, NULL};
static const struct kind kind_text = {take_text, "a name"};
static const struct kind kind_whole = {take_u64, "a whole number"};
static const struct kind kind_int = {take_int, "a whole number"};
static const struct kind kind_size = {take_size, "bytes, or a number with K, M, G or T,"};
static const struct kind kind_share = {take_share,
				       "a percentage, bytes, or a number with K, M, G or T,"};
static const struct kind kind_seed = {take_seed,
				      "a 64-bit number (decimal, 0x..., or 16 hex digits)"};
static const struct kind kind_seconds = {take_seconds, "a decimal number above 0"};
static const struct kind kind_choice = {take_choice, "one of"};

/* ---- options --------------------------------------------------------------------------------- */

#define FIELD(name) offsetof(struct options, name)

static const char *const formats[] = {"npy", "raw", "hdf5", "safetensors", NULL};
static const char *const durabilities[] = {"power", "process", NULL};
static const char *const devices[] = {"cpu", "cuda", "all", NULL};
static const char *const patterns[] = {"cycle", "random", "position", "walk1",
				       "walk0", "check5", "checka",   NULL};

#define FILES (TRANSPOSE | CHECKSUM)
#define MAX_BYTES (UINT64_MAX >> 1)
/* Far above any machine: an OpenMP runtime aborts where threads run out. */
#define MAX_THREADS 4096

static const struct option table[OPTIONS] = {
	[OPT_OUT] = {NULL, 'o', &kind_text, "OUT", TRANSPOSE, FIELD(out), 0, 0, NULL,
		     "write this file, leave FILE as it is"},
	[OPT_FORCE] = {"force", 0, &kind_flag, NULL, TRANSPOSE, FIELD(force), 0, 1, NULL,
		       "replace OUT if it exists"},
	[OPT_FORMAT] = {"format", 0, &kind_choice, "npy|raw|hdf5|safetensors", FILES, FIELD(format),
			0, 0, formats, "what FILE is (default: looked up in FILE)"},
	[OPT_N] = {"n", 0, &kind_whole, "N", FILES, FIELD(n), 0, UINT64_MAX, NULL,
		   "raw: rows, and as many columns"},
	[OPT_STRESS_N] = {"n", 0, &kind_whole, "N", STRESS, FIELD(n), 1, UINT64_MAX, NULL,
			  "rows, and as many columns (default: what fits)"},
	[OPT_DTYPE] = {"dtype", 0, &kind_choice, "T", FILES, FIELD(dtype), 0, 0, dtype_names,
		       "raw:"},
	[OPT_ELEM_SIZE] = {"elem-size", 0, &kind_whole, "K", FILES, FIELD(elem_size), 1, MAX_BYTES,
			   NULL, "raw: bytes of an element, instead of --dtype"},
	[OPT_STRESS_ELEM_SIZE] = {"elem-size", 0, &kind_whole, "K", STRESS, FIELD(elem_size), 1,
				  MAX_BYTES, NULL, "bytes of an element (default: 4)"},
	[OPT_OFFSET] = {"offset", 0, &kind_size, "BYTES", FILES, FIELD(offset_bytes), 0, MAX_BYTES,
			NULL, "raw: where the matrix begins (default: 0)"},
	[OPT_LD] = {"ld", 0, &kind_whole, "LD", FILES | STRESS, FIELD(ld), 1, UINT64_MAX, NULL,
		    "elements from row to row (default: N)"},
	[OPT_DATASET] = {"dataset", 0, &kind_text, "NAME", FILES, FIELD(dataset), 0, 0, NULL,
			 "hdf5: path of the dataset; safetensors: name of the tensor"},
	[OPT_FILE_MEMORY] =
		{"memory", 0, &kind_size, "SIZE", TRANSPOSE, FIELD(memory_bytes), 1, MAX_BYTES,
		 NULL, "work in SIZE (K, M, G, T: powers of 1024; default: half of what is free)"},
	[OPT_DURABILITY] = {"durability", 0, &kind_choice, "power|process", TRANSPOSE,
			    FIELD(durability), 0, 0, durabilities,
			    "in place: what a stopped run survives (default: power)"},
	[OPT_VERIFY] = {"verify", 0, &kind_flag, NULL, TRANSPOSE, FIELD(verify), 0, 1, NULL,
			"read the result back and compare the digests"},
	[OPT_ONCE] = {"once", 0, &kind_flag, NULL, TRANSPOSE, FIELD(once), 0, 1, NULL,
		      "leave a mark, so that the same command again does nothing"},
	[OPT_FLAG_ONLY] = {"flag-only", 0, &kind_flag, NULL, TRANSPOSE, FIELD(flag_only), 0, 1,
			   NULL, "npy: flip fortran_order in the header, move nothing"},
	[OPT_TRANSPOSED] = {"transposed", 0, &kind_flag, NULL, CHECKSUM, FIELD(transposed), 0, 1,
			    NULL, "the digest of the transpose of FILE's matrix"},
	[OPT_DEVICE] = {"device", 0, &kind_choice, "cpu|cuda|all", STRESS, FIELD(device), 0, 0,
			devices, "where (default: cuda if there is a GPU, else cpu)"},
	[OPT_MEMORY] = {"memory", 0, &kind_share, "SIZE", STRESS, FIELD(memory), 1, MAX_BYTES, NULL,
			"the largest N that fits in SIZE (K, M, G, T, or % of what is free)"},
	[OPT_PATTERN] = {"pattern", 0, &kind_choice,
			 "cycle|random|position|walk1|walk0|check5|checka", STRESS, FIELD(pattern),
			 0, 0, patterns, "what is filled in (default: cycle)"},
	[OPT_SECONDS] = {"seconds", 0, &kind_seconds, "S", STRESS, FIELD(seconds), 0, 1000000000,
			 NULL, "start no round after S seconds"},
	[OPT_ROUNDS] = {"rounds", 0, &kind_whole, "R", STRESS, FIELD(rounds), 1, UINT64_MAX, NULL,
			"rounds on each device (default: 1, with --seconds no limit)"},
	[OPT_SEED] = {"seed", 0, &kind_seed, "X", STRESS, FIELD(seed), 0, 0, NULL,
		      "repeat the rounds of an earlier run (default: random)"},
	[OPT_THREADS] = {"threads", 0, &kind_int, "T", FILES | STRESS, FIELD(threads), 0,
			 MAX_THREADS, NULL, "threads on the host (default: 0, all)"},
	[OPT_VERBOSE] = {"verbose", 0, &kind_flag, NULL, STRESS, FIELD(verbose), 0, 1, NULL,
			 "say on stderr what was found and chosen"},
	[OPT_PROGRESS] = {"progress", 0, &kind_flag, NULL, FILES | STRESS, FIELD(show), 0,
			  SHOW_ALWAYS, NULL, "show progress on stderr, terminal or not"},
	[OPT_NO_PROGRESS] = {"no-progress", 0, &kind_flag, NULL, FILES | STRESS, FIELD(show), 0,
			     SHOW_NEVER, NULL, "show no progress"},
	[OPT_JSON] = {"json", 0, &kind_flag, NULL, ALL, FIELD(json), 0, 1, NULL,
		      "print results as JSON, one object a line"},
	[OPT_HELP] = {"help", 'h', &kind_flag, NULL, ALL, FIELD(help), 0, 1, NULL, "this text"},
};

/* ---- near misses ----------------------------------------------------------------------------- */

#define WORD 24

/* Single-character edits from a to b; both shorter than WORD. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[WORD + 1], diagonal, up;

	for (unsigned j = 0; j <= strlen(b); j++)
		row[j] = j;
	for (unsigned i = 0; i < strlen(a); i++) {
		diagonal = row[0];
		row[0] = i + 1;
		for (unsigned j = 0; j < strlen(b); j++) {
			up = row[j + 1];
			row[j + 1] = diagonal + (a[i] != b[j]);
			if (row[j + 1] > up + 1)
				row[j + 1] = up + 1;
			if (row[j + 1] > row[j] + 1)
				row[j + 1] = row[j] + 1;
			diagonal = up;
		}
	}
	return row[strlen(b)];
}

/* Might somebody who typed `word` have meant `name`? */
static int is_near(const char *word, const char *name)
{
	size_t len = strlen(word);

	if (len < 2 || len >= WORD || strlen(name) >= WORD)
		return 0;
	return !strncmp(word, name, len) || distance(word, name) <= (len < 5 ? 1 : 2);
}

const char *command_guess(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (is_near(name, commands[i].name))
			return commands[i].name;
	return NULL;
}

static unsigned command_bit(const struct command *c)
{
	return 1u << (c - commands);
}

static const char *option_guess(const struct command *c, const char *name)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (table[i].name && table[i].commands & command_bit(c) &&
		    is_near(name, table[i].name))
			return table[i].name;
	return NULL;
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* The option as it is written on a command line. */
static const char *spelt(const struct option *opt, char out[WORD + 3])
{
	if (opt->name)
		snprintf(out, WORD + 3, "--%s", opt->name);
	else
		snprintf(out, WORD + 3, "-%c", opt->letter);
	return out;
}

/* "--n wants a whole number from 1 to 7, not 'x'" */
static int bad_value(const struct option *opt, const char *text)
{
	char name[WORD + 3], limits[256] = "";

	if (opt->choices)
		for (int i = 0; opt->choices[i]; i++)
			snprintf(limits + strlen(limits), sizeof limits - strlen(limits), " %s",
				 opt->choices[i]);
	else if (opt->kind != &kind_seconds && opt->max)
		snprintf(limits, sizeof limits, " from %llu to %llu", (unsigned long long)opt->min,
			 (unsigned long long)opt->max);
	complain("%s wants %s%s, not '%s'", spelt(opt, name), opt->kind->wants, limits, text);
	return -1;
}

static int take(const struct option *opt, const char *text, struct options *o)
{
	if (opt->kind->take(opt, text, (char *)o + opt->field))
		return bad_value(opt, text);
	o->given |= 1u << (opt - table);
	return 0;
}

/* The option that `word`, "--name", "--name=value" or "-x", names; *value is what follows in it. */
static const struct option *look_up(const struct command *c, const char *word, const char **value)
{
	int is_long = word[1] == '-';
	const char *name = word + (is_long ? 2 : 1);
	size_t len = is_long ? strcspn(name, "=") : 1;

	*value = is_long ? (name[len] ? name + len + 1 : NULL) : (name[1] ? name + 1 : NULL);
	for (const struct option *opt = table; opt < table + OPTIONS; opt++) {
		if (!(opt->commands & command_bit(c)))
			continue;
		if (is_long ? opt->name && strlen(opt->name) == len && !memcmp(opt->name, name, len)
			    : opt->letter == *name)
			return opt;
	}
	return NULL;
}

static int unknown(const struct command *c, const char *word)
{
	const char *guess = word[1] == '-' ? option_guess(c, word + 2) : NULL;

	if (guess)
		complain("unknown option '%s'; did you mean '--%s'?", word, guess);
	else
		complain("unknown option '%s'", word);
	return -1;
}

/* One option; *next is the word behind it, taken if the option wants it. */
static int parse_option(const struct command *c, const char *word, char ***next, struct options *o)
{
	char name[WORD + 3];
	const char *value;
	const struct option *opt = look_up(c, word, &value);

	if (!opt || (!opt->arg && value && word[1] != '-'))
		return unknown(c, word);
	if (!opt->arg && value) {
		complain("%s takes no value", spelt(opt, name));
		return -1;
	}
	if (opt->arg && !value && !(value = **next)) {
		complain("%s needs a value: %s", spelt(opt, name), opt->arg);
		return -1;
	}
	if (value == **next && value)
		++*next;
	return take(opt, value, o);
}

static int parse_operand(const struct command *c, const char *word, struct options *o)
{
	if (!c->takes_file)
		complain("takes no file: '%s'", word);
	else if (o->file)
		complain("one FILE at a time: '%s' is one too many", word);
	else if (!*word)
		complain("FILE is an empty name");
	else
		o->file = word;
	return o->file == word ? 0 : -1;
}

int options_parse(const struct command *c, int argc, char **argv, struct options *o)
{
	char **word = argv, **end = argv + argc; /* *end is NULL, as main's argv ends */
	int only_operands = 0;

	*o = (struct options){.argc = argc, .argv = argv};
	while (word < end) {
		const char *w = *word++;

		if (!only_operands && !strcmp(w, "--"))
			only_operands = 1;
		else if (only_operands || w[0] != '-' || !w[1]) {
			if (parse_operand(c, w, o))
				return -1;
		} else if (parse_option(c, w, &word, o))
			return -1;
		if (o->help)
			return 0;
	}
	if (c->takes_file && !o->file) {
		complain("FILE is missing");
		return -1;
	}
	return 0;
}

/* ---- help ------------------------------------------------------------------------------------ */

void help_all(FILE *f)
{
	fputs("tileswap: transpose a square matrix where it lies\n\nusage:\n", f);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(f, "  tileswap %-9s  %-22s  %s\n", commands[i].name, commands[i].usage,
			commands[i].summary);
	fputs("  tileswap help       COMMAND                 the options of a command\n"
	      "  tileswap --version\n"
	      "\nexit status:\n"
	      "  0  done\n"
	      "  1  the input, the device, reading or writing, or a verification failed\n"
	      "  2  the command line is wrong\n"
	      "  3  the backend that was asked for is not there\n"
	      "  129, 130, 143  stopped by SIGHUP, SIGINT, SIGTERM\n",
	      f);
}

static void help_option(FILE *f, const struct option *opt)
{
	char left[64];
	int len = 0;

	if (opt->letter)
		len += snprintf(left, sizeof left, "-%c%s", opt->letter, opt->name ? ", " : "");
	if (opt->name)
		len += snprintf(left + len, sizeof left - (size_t)len, "--%s", opt->name);
	if (opt->arg)
		snprintf(left + len, sizeof left - (size_t)len, " %s", opt->arg);
	fprintf(f, "  %-22s  %s", left, opt->help);
	if (opt->choices && !strchr(opt->arg, '|')) /* too many to stand in the left column */
		for (int i = 0; opt->choices[i]; i++)
			fprintf(f, " %s", opt->choices[i]);
	fputc('\n', f);
}

void help_command(FILE *f, const struct command *c)
{
	fprintf(f, "usage: tileswap %s %s\n\n%s\noptions:\n", c->name, c->usage, c->about);
	for (size_t i = 0; i < OPTIONS; i++)
		if (table[i].commands & command_bit(c))
			help_option(f, &table[i]);
}
