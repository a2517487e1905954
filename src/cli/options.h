/* The command line: one table of commands, one table of options.  Parsing, help and error messages
 * all come from them. */
#ifndef TSW_OPTIONS_H
#define TSW_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum format { FORMAT_AUTO, FORMAT_NPY, FORMAT_RAW, FORMAT_HDF5, FORMAT_SAFETENSORS };
enum durability { DURABILITY_AUTO, DURABILITY_POWER, DURABILITY_PROCESS };
enum device { DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA, DEVICE_ALL };
/* Behind PATTERN_CYCLE: the patterns of content.h, in their order. */
enum pattern { PATTERN_AUTO, PATTERN_CYCLE };
enum show { SHOW_AUTO, SHOW_ALWAYS, SHOW_NEVER };

/* Every option, in the order of the help. */
enum option_id {
	OPT_OUT,
	OPT_FORCE,
	OPT_FORMAT,
	OPT_N,
	OPT_STRESS_N,
	OPT_DTYPE,
	OPT_ELEM_SIZE,
	OPT_STRESS_ELEM_SIZE,
	OPT_OFFSET,
	OPT_LD,
	OPT_DATASET,
	OPT_FILE_MEMORY,
	OPT_DURABILITY,
	OPT_VERIFY,
	OPT_ONCE,
	OPT_FLAG_ONLY,
	OPT_TRANSPOSED,
	OPT_DEVICE,
	OPT_MEMORY,
	OPT_PATTERN,
	OPT_SECONDS,
	OPT_ROUNDS,
	OPT_SEED,
	OPT_THREADS,
	OPT_VERBOSE,
	OPT_PROGRESS,
	OPT_NO_PROGRESS,
	OPT_JSON,
	OPT_HELP,
	OPTIONS
};

/* An amount of memory: bytes, or percent of what is free (else 0). */
struct share {
	uint64_t bytes;
	unsigned percent;
};

struct options {
	uint32_t given; /* bit option_id */
	const char *file, *out, *dataset;
	int force, verify, transposed, json, help, once, flag_only, verbose;
	int durability; /* enum durability */
	int format;	/* enum format */
	int device;	/* enum device */
	int pattern;	/* enum pattern, and on */
	int show;	/* enum show: the progress bar */
	int dtype;	/* 1 + index into dtypes[], 0 for none */
	int threads;
	size_t n, ld, elem_size, rounds;
	uint64_t offset_bytes, memory_bytes, seed;
	struct share memory; /* of stress */
	double seconds;
	int argc; /* the words behind the command's name */
	char **argv;
};

static inline int given(const struct options *o, enum option_id id)
{
	return (int)(o->given >> id & 1);
}

struct command {
	const char *name;
	int (*run)(const struct options *o);
	int takes_file;
	const char *usage;   /* what follows the name */
	const char *summary; /* one line */
	const char *about;   /* paragraphs of the command's help */
};

/* The command of that name, NULL if there is none. */
const struct command *command_find(const char *name);

/* The known command that `name` may have meant, NULL if nothing is near. */
const char *command_guess(const char *name);

/* Reads the words behind the command's name.  0, or -1 after a complaint. */
int options_parse(const struct command *c, int argc, char **argv, struct options *o);

void help_all(FILE *f);
void help_command(FILE *f, const struct command *c);

#endif /* TSW_OPTIONS_H */
