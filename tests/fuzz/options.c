/* The input is a command line of the tool, a zero byte or a line feed behind each word.  Parsed as
 * main() would, without running the command; every word is also read as each kind of number. */
#include "fuzz.h"

#include "../../src/cli/cli.h"
#include "../../src/cli/matfile.h"
#include "../../src/cli/number.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 wide;

#define MOST_WORDS 40

/* ---- complaints are counted, not printed (the linker is told to wrap) ------------------------ */

static unsigned complaints;

void __wrap_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

void __wrap_complain(const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	fuzz_require(vsnprintf(text, sizeof text, format, args) > 0, "an empty complaint");
	va_end(args);
	complaints++;
}

/* ---- numbers, slowly ------------------------------------------------------------------------- */

/* The value of `len` digits, or 2^64 if they are none, or too many. */
static wide value_of(const char *text, size_t len, unsigned base)
{
	const wide none = (wide)1 << 64;
	wide sum = 0;

	for (size_t i = 0; i < len && sum < none; i++) {
		const char c = text[i];
		const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
				       : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
							      : 99;

		if (digit >= base)
			return none;
		sum = sum * base + digit;
	}
	return len ? sum : none;
}

static wide size_of(const char *text)
{
	const size_t len = strlen(text);
	const char last = len ? text[len - 1] : 0;
	const unsigned shift = last == 'K' ? 10 : last == 'M' ? 20 : last == 'G' ? 30 : 40;

	if (last != 'K' && last != 'M' && last != 'G' && last != 'T')
		return value_of(text, len, 10);
	return value_of(text, len - 1, 10) << shift;
}

static wide seed_of(const char *text)
{
	const size_t len = strlen(text);

	if (!strncmp(text, "0x", 2))
		return value_of(text + 2, len - 2, 16);
	return value_of(text, len, len == 16 ? 16 : 10);
}

static void check_number(const char *what, const char *text, wide expected, int result,
			 uint64_t value)
{
	const uint64_t untouched = 0x5a5a5a5a5a5a5a5au;

	if (expected >> 64)
		fuzz_require(result && value == untouched, "%s '%s' is taken", what, text);
	else
		fuzz_require(!result && value == expected, "%s '%s' is %d, %ju", what, text, result,
			     (uintmax_t)value);
}

static void check_decimal(const char *text)
{
	double value = -1;
	unsigned digits = 0, points = 0, others = 0;
	const int result = number_decimal(text, &value);

	for (const char *c = text; *c; c++) {
		digits += *c >= '0' && *c <= '9';
		points += *c == '.';
		others += !(*c >= '0' && *c <= '9') && *c != '.';
	}
	fuzz_require((result == 0) == (digits && points <= 1 && !others), "decimal '%s': %d", text,
		     result);
	fuzz_require(result ? value == -1 : value >= 0, "decimal '%s' is %g", text, value);
}

static void check_numbers(const char *text)
{
	uint64_t value[3];
	int result[3];

	memset(value, 0x5a, sizeof value);
	result[0] = number_whole(text, &value[0]);
	result[1] = number_size(text, &value[1]);
	result[2] = number_seed(text, &value[2]);
	check_number("whole", text, value_of(text, strlen(text), 10), result[0], value[0]);
	check_number("size", text, size_of(text), result[1], value[1]);
	check_number("seed", text, seed_of(text), result[2], value[2]);
	check_decimal(text);
}

/* ---- command lines --------------------------------------------------------------------------- */

static void check_options(const struct command *c, const struct options *o)
{
	fuzz_require(!c->takes_file == !o->file, "%s took FILE '%s'", c->name,
		     o->file ? o->file : "");
	fuzz_require(!o->file || *o->file, "FILE is an empty name");
	fuzz_require(o->threads >= 0, "%d threads", o->threads);
	fuzz_require(!given(o, OPT_ELEM_SIZE) || o->elem_size, "elements of no bytes");
	fuzz_require(!given(o, OPT_LD) || o->ld, "ld = 0");
	fuzz_require(!given(o, OPT_SECONDS) || (o->seconds > 0 && o->seconds < 1e10), "%g seconds",
		     o->seconds);
}

/* What is accepted as the description of a raw file is one. */
static void check_file_options(const struct options *o)
{
	const int result = matfile_check_options(o);
	struct tsw_wanted w;
	uint64_t ld;

	fuzz_require((result == EXIT_OK) == !complaints, "%d with %u complaints", result,
		     complaints);
	if (result != EXIT_OK) {
		fuzz_require(result == EXIT_USAGE, "exit %d", result);
		return;
	}
	w = matfile_wanted(o);
	if (!w.described)
		return;
	ld = w.ld ? w.ld : w.n;
	fuzz_require(w.elem_size && ld >= w.n, "n = %zu, ld = %ju, elem_size = %zu", w.n,
		     (uintmax_t)ld, w.elem_size);
	fuzz_require(!w.n || (wide)(w.n - 1) * ld + w.n <= PTRDIFF_MAX / w.elem_size,
		     "n = %zu, ld = %ju, elem_size = %zu: too large", w.n, (uintmax_t)ld,
		     w.elem_size);
}

static void parse(int count, char **words)
{
	const struct command *c = command_find(words[0]);
	struct options o;

	if (!c) {
		(void)command_guess(words[0]);
		c = command_find("transpose");
	}
	complaints = 0;
	if (options_parse(c, count - 1, words + 1, &o)) {
		fuzz_require(complaints == 1, "%u complaints", complaints);
		return;
	}
	fuzz_require(!complaints, "accepted with a complaint");
	if (o.help)
		return;
	check_options(c, &o);
	if (c->takes_file)
		check_file_options(&o);
}

/* Each word in memory of its own, so that reading past its end shows. */
static char *word_at(struct fuzz_input *in)
{
	const uint8_t *begin = in->at;
	char *word;

	while (in->at < in->end && *in->at && *in->at != '\n')
		in->at++;
	word = strndup((const char *)begin, (size_t)(in->at - begin));
	if (!word)
		abort();
	in->at += in->at < in->end;
	return word;
}

void fuzz_options(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, data + size};
	char *words[MOST_WORDS + 1];
	int count = 0;

	while (in.at < in.end && count < MOST_WORDS)
		words[count++] = word_at(&in);
	words[count] = NULL;
	for (int i = 0; i < count; i++)
		check_numbers(words[i]);
	if (count)
		parse(count, words);
	while (count--)
		free(words[count]);
}
