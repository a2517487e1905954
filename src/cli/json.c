#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at s, 0 if it is none (overlong, surrogate, past U+10FFFF). */
static unsigned utf8(const unsigned char *s)
{
	static const struct {
		unsigned char first, last, low, high; /* first byte's range, second byte's range */
		unsigned len;
	} forms[] = {
		{0x20, 0x7f, 0, 0, 1},	     {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (*s < forms[i].first || *s > forms[i].last)
			continue;
		if (forms[i].len > 1 && (s[1] < forms[i].low || s[1] > forms[i].high))
			return 0;
		for (unsigned k = 2; k < forms[i].len; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].len;
	}
	return 0;
}

/* A name of a file may hold any bytes: what is no UTF-8 becomes U+FFFD. */
static void string(FILE *f, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;
	unsigned len;

	fputc('"', f);
	for (; *s; s += len ? len : 1) {
		len = utf8(s);
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if (*s < 0x20)
			fprintf(f, "\\u%04x", *s);
		else if (!len)
			fputs("\\ufffd", f);
		else
			fwrite(s, 1, len, f);
	}
	fputc('"', f);
}

static void separate(struct json *j)
{
	if (j->comma)
		fputs(", ", j->f);
	j->comma = 1;
}

static void name(struct json *j, const char *key)
{
	separate(j);
	string(j->f, key);
	fputs(": ", j->f);
}

void json_begin(struct json *j, FILE *f)
{
	*j = (struct json){.f = f};
	fputc('{', f);
}

void json_end(struct json *j)
{
	fputs("}\n", j->f);
}

void json_text(struct json *j, const char *key, const char *value)
{
	name(j, key);
	string(j->f, value);
}

void json_whole(struct json *j, const char *key, uint64_t value)
{
	name(j, key);
	fprintf(j->f, "%" PRIu64, value);
}

void json_real(struct json *j, const char *key, double value)
{
	name(j, key);
	if (isfinite(value))
		fprintf(j->f, "%.6g", value);
	else
		fputs("null", j->f);
}

void json_null(struct json *j, const char *key)
{
	name(j, key);
	fputs("null", j->f);
}

void json_bool(struct json *j, const char *key, int value)
{
	name(j, key);
	fputs(value ? "true" : "false", j->f);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	name(j, key);
	fprintf(j->f, "\"%016" PRIx64 "\"", value);
}

void json_list(struct json *j, const char *key)
{
	name(j, key);
	fputc('[', j->f);
	j->comma = 0;
}

void json_list_end(struct json *j)
{
	fputc(']', j->f);
	j->comma = 1;
}

void json_item(struct json *j)
{
	separate(j);
	fputc('{', j->f);
	j->comma = 0;
}

void json_item_end(struct json *j)
{
	fputc('}', j->f);
	j->comma = 1;
}
