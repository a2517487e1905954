/* tileswap: the command-line tool. */
#include <stdio.h>
#include <string.h>

#include "../tileswap.h"
#include "cli.h"
#include "signals.h"

static int unknown_command(const char *name)
{
	const char *guess = command_guess(name);

	if (guess)
		complain("unknown command '%s'; did you mean '%s'?", name, guess);
	else
		complain("unknown command '%s'; 'tileswap --help' lists them", name);
	return EXIT_USAGE;
}

static int help(int argc, char **argv)
{
	const struct command *c;

	if (argc > 1) {
		complain("help takes one COMMAND: '%s' is one too many", argv[1]);
		return EXIT_USAGE;
	}
	if (!argc || !strcmp(argv[0], "help")) {
		help_all(stdout);
		return EXIT_OK;
	}
	c = command_find(argv[0]);
	if (!c)
		return unknown_command(argv[0]);
	help_command(stdout, c);
	return EXIT_OK;
}

static int run(const struct command *c, int argc, char **argv)
{
	struct options o;

	complain_as(c->name);
	if (options_parse(c, argc, argv, &o)) {
		fprintf(stderr, "'tileswap help %s' lists the options\n", c->name);
		return EXIT_USAGE;
	}
	if (o.help) {
		help_command(stdout, c);
		return EXIT_OK;
	}
	return c->run(&o);
}

static int dispatch(int argc, char **argv)
{
	const struct command *c;

	if (!argc) {
		help_all(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))
		return help(0, NULL);
	if (!strcmp(argv[0], "help"))
		return help(argc - 1, argv + 1);
	if (!strcmp(argv[0], "--version")) {
		printf("tileswap %s\n", tsw_version());
		return EXIT_OK;
	}
	c = command_find(argv[0]);
	return c ? run(c, argc - 1, argv + 1) : unknown_command(argv[0]);
}

int main(int argc, char **argv)
{
	int result, printed;

	signals_install();
	result = dispatch(argc - 1, argv + 1);
	printed = stdout_finish();
	return result ? result : printed;
}
