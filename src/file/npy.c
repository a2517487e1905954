/* The header of a .npy file is a magic string, a version, a length, and a Python dict literal:
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }
 *
 * with the keys in any order and white space anywhere.  `descr` is a type string, a list of fields
 * (name, descr) or (name, descr, shape), or a pair (descr, shape).
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 * The parser walks the text once, left to right, and looks at nothing past its end. */
#include "npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAX_DEPTH 64 /* of nested types: NumPy's own limit is 32 dimensions, far fewer levels */
#define MAX_DIMS 64
#define QUOTED 48 /* bytes of the file's text that a message may repeat */

struct text {
	const unsigned char *at, *end;
	char *err;
	size_t errlen;
};

/* A string literal's bytes, between the quotes, escapes as they stand. */
struct span {
	const unsigned char *at;
	size_t len;
};

struct shape {
	size_t dims[MAX_DIMS];
	size_t ndim;
	int is_tuple;
};

__attribute__((format(printf, 2, 3))) static int fail(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->err, t->errlen, format, args);
	va_end(args);
	return -1;
}

/* The file's own text in a message: printable ASCII only, cut to what fits. */
static const char *quoted(struct span s, char out[QUOTED + 4])
{
	size_t len = s.len < QUOTED ? s.len : QUOTED;

	for (size_t i = 0; i < len; i++)
		out[i] = (char)(s.at[i] >= 0x20 && s.at[i] < 0x7f ? s.at[i] : '?');
	strcpy(out + len, s.len > QUOTED ? "..." : "");
	return out;
}

/* ---- the Python literal ---------------------------------------------------------------------- */

static int is_space(unsigned char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_space(struct text *t)
{
	while (t->at < t->end && is_space(*t->at))
		t->at++;
}

/* The next character after white space, -1 at the end. */
static int peek(struct text *t)
{
	skip_space(t);
	return t->at < t->end ? *t->at : -1;
}

static int accept(struct text *t, int c)
{
	if (peek(t) != c)
		return 0;
	t->at++;
	return 1;
}

static int expect(struct text *t, int c, const char *where)
{
	char out[QUOTED + 4];

	if (accept(t, c))
		return 0;
	if (t->at == t->end)
		return fail(t, "the header ends where '%c' should stand in %s", c, where);
	return fail(t, "the header has '%s' where '%c' should stand in %s",
		    quoted((struct span){t->at, (size_t)(t->end - t->at)}, out), c, where);
}

/* After an item: 1 for another one, 0 after `close`, -1 for a fault.  A comma before `close` is
 * allowed, as in Python. */
static int more(struct text *t, int close, const char *where)
{
	if (accept(t, ',')) {
		if (!accept(t, close))
			return 1;
		return 0;
	}
	return expect(t, close, where);
}

/* After the last item that there may be. */
static int no_more(struct text *t, int close, const char *where)
{
	const int again = more(t, close, where);

	return again == 1 ? fail(t, "%s has too many parts", where) : again;
}

static int parse_string(struct text *t, struct span *s, const char *what)
{
	int quote = peek(t);

	if (quote != '\'' && quote != '"')
		return fail(t, "%s is not a string", what);
	s->at = ++t->at;
	while (t->at < t->end && *t->at != quote)
		t->at += *t->at == '\\' && t->end - t->at > 1 ? 2 : 1;
	if (t->at == t->end)
		return fail(t, "%s is a string without an end", what);
	s->len = (size_t)(t->at++ - s->at);
	return 0;
}

static int parse_number(struct text *t, size_t *value, const char *what)
{
	int c = peek(t);

	if (c == '-')
		return fail(t, "%s has a negative number", what);
	if (c < '0' || c > '9')
		return fail(t, "%s has something else than whole numbers", what);
	for (*value = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (size_t)(*t->at - '0'), value))
			return fail(t, "%s has a number past 2^64", what);
	if (t->at < t->end && *t->at == 'L') /* a long of Python 2 */
		t->at++;
	return 0;
}

/* (3, 4), (3,), () or a bare 3 */
static int parse_shape(struct text *t, struct shape *s, const char *what)
{
	int again = 1;

	s->ndim = 0;
	s->is_tuple = accept(t, '(');
	if (!s->is_tuple) {
		s->ndim = 1;
		return parse_number(t, &s->dims[0], what);
	}
	if (accept(t, ')'))
		return 0;
	while (again == 1) {
		if (s->ndim == MAX_DIMS)
			return fail(t, "%s has more than %d dimensions", what, MAX_DIMS);
		if (parse_number(t, &s->dims[s->ndim++], what))
			return -1;
		again = more(t, ')', what);
	}
	return again;
}

/* ---- element types --------------------------------------------------------------------------- */

/* Type letters with the bytes they may be followed by; no list: any number.  `unit` bytes stand for
 * 1 of the number ('U' counts characters of 4 bytes). */
static const struct kind {
	char letter;
	unsigned char unit;
	unsigned char sizes[5];
} kinds[] = {
	{'b', 1, {1}},
	{'i', 1, {1, 2, 4, 8, 16}},
	{'u', 1, {1, 2, 4, 8, 16}},
	{'f', 1, {2, 4, 8, 12, 16}},
	{'c', 1, {4, 8, 16, 24, 32}},
	{'m', 1, {8}},
	{'M', 1, {8}},
	{'S', 1, {0}},
	{'a', 1, {0}},
	{'U', 4, {0}},
	{'V', 1, {0}},
};

static const struct kind *find_kind(int letter)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].letter == letter)
			return &kinds[i];
	return NULL;
}

static int size_allowed(const struct kind *k, size_t size)
{
	if (!k->sizes[0])
		return 1;
	for (size_t i = 0; i < sizeof k->sizes && k->sizes[i]; i++)
		if (k->sizes[i] == size)
			return 1;
	return 0;
}

/* "[ns]", "[25us]", "[D/4]" behind m8 and M8: any text in brackets. */
static int is_unit(struct span s)
{
	if (s.len < 2 || s.at[0] != '[' || s.at[s.len - 1] != ']')
		return 0;
	for (size_t i = 1; i + 1 < s.len; i++)
		if (s.at[i] == '[' || s.at[i] == ']')
			return 0;
	return 1;
}

/* "<f8", "|S5", ">U3", "<M8[ns]": order, letter, number, unit of time. */
static int parse_typestr(struct text *t, struct span s, size_t *size)
{
	char out[QUOTED + 4];
	struct text number = {s.at, s.at + s.len, t->err, t->errlen};
	const struct kind *k;
	struct span rest;
	size_t count;

	if (number.at < number.end && strchr("<>|=", *number.at) && *number.at)
		number.at++;
	if (number.at < number.end && *number.at == 'O')
		return fail(t,
			    "elements of object dtype '%s' are references to Python objects, not "
			    "bytes that can be moved",
			    quoted(s, out));
	k = number.at < number.end ? find_kind(*number.at++) : NULL;
	if (!k || number.at == number.end || *number.at < '0' || *number.at > '9')
		return fail(t, "dtype '%s' is unknown", quoted(s, out));
	if (parse_number(&number, &count, "dtype"))
		return -1;
	rest = (struct span){number.at, (size_t)(number.end - number.at)};
	if (!size_allowed(k, count) || (rest.len && !(strchr("mM", k->letter) && is_unit(rest))))
		return fail(t, "dtype '%s' is unknown", quoted(s, out));
	if (__builtin_mul_overflow(count, k->unit, size))
		return fail(t, "dtype '%s' is larger than the address space", quoted(s, out));
	return 0;
}

static int parse_type(struct text *t, size_t *size, int depth);

/* size *= the product of a sub-array's dimensions. */
static int times_shape(struct text *t, size_t *size)
{
	struct shape shape;

	if (parse_shape(t, &shape, "a sub-array's shape"))
		return -1;
	for (size_t i = 0; i < shape.ndim; i++)
		if (__builtin_mul_overflow(*size, shape.dims[i], size))
			return fail(t, "a sub-array in the dtype is larger than the address space");
	return 0;
}

/* 'name' or ('title', 'name'); what the name is does not matter. */
static int parse_field_name(struct text *t)
{
	struct span s;

	if (!accept(t, '('))
		return parse_string(t, &s, "a field's name");
	if (parse_string(t, &s, "a field's title") || expect(t, ',', "a field's title and name") ||
	    parse_string(t, &s, "a field's name"))
		return -1;
	return no_more(t, ')', "a field's title and name");
}

/* ('name', descr) or ('name', descr, shape) */
static int parse_field(struct text *t, size_t *size, int depth)
{
	int again;

	if (expect(t, '(', "a field of the dtype") || parse_field_name(t) ||
	    expect(t, ',', "a field of the dtype") || parse_type(t, size, depth))
		return -1;
	again = more(t, ')', "a field of the dtype");
	if (again <= 0)
		return again;
	if (times_shape(t, size))
		return -1;
	again = more(t, ')', "a field of the dtype");
	return again == 1 ? fail(t, "a field of the dtype has more than three parts") : again;
}

/* [field, field, ...]: packed, padding stands as fields of its own. */
static int parse_fields(struct text *t, size_t *size, int depth)
{
	size_t field;
	int again = 1;

	*size = 0;
	if (accept(t, ']'))
		return 0;
	while (again == 1) {
		if (parse_field(t, &field, depth))
			return -1;
		if (__builtin_add_overflow(*size, field, size))
			return fail(t, "the dtype is larger than the address space");
		again = more(t, ']', "the dtype's list of fields");
	}
	return again;
}

static int parse_type(struct text *t, size_t *size, int depth)
{
	struct span s;

	if (depth == MAX_DEPTH)
		return fail(t, "the dtype is nested more than %d deep", MAX_DEPTH);
	if (accept(t, '['))
		return parse_fields(t, size, depth + 1);
	if (accept(t, '(')) {
		if (parse_type(t, size, depth + 1) || expect(t, ',', "the dtype's sub-array") ||
		    times_shape(t, size))
			return -1;
		return no_more(t, ')', "the dtype's sub-array");
	}
	if (parse_string(t, &s, "descr"))
		return -1;
	return parse_typestr(t, s, size);
}

/* ---- the dict -------------------------------------------------------------------------------- */

struct fields {
	struct tsw_npy *out;
	struct shape shape;
	unsigned seen; /* a bit a key */
	const unsigned char *order_at;
};

static int parse_descr(struct text *t, struct fields *f)
{
	return parse_type(t, &f->out->elem_size, 0);
}

static int parse_order(struct text *t, struct fields *f)
{
	static const char *const words[] = {"False", "True"};

	skip_space(t);
	for (int i = 0; i < 2; i++) {
		size_t len = strlen(words[i]);

		if ((size_t)(t->end - t->at) >= len && !memcmp(t->at, words[i], len)) {
			f->out->fortran = i;
			f->order_at = t->at;
			t->at += len;
			return 0;
		}
	}
	return fail(t, "fortran_order is neither True nor False");
}

static int parse_shape_key(struct text *t, struct fields *f)
{
	if (parse_shape(t, &f->shape, "shape"))
		return -1;
	return f->shape.is_tuple ? 0 : fail(t, "shape is not a tuple");
}

static const struct key {
	const char *name;
	int (*parse)(struct text *t, struct fields *f);
} keys[] = {
	{"descr", parse_descr},
	{"fortran_order", parse_order},
	{"shape", parse_shape_key},
};

#define NKEYS (sizeof keys / sizeof *keys)

static int parse_key(struct text *t, struct fields *f)
{
	char out[QUOTED + 4];
	struct span s;

	if (parse_string(t, &s, "a key of the header") || expect(t, ':', "the dict"))
		return -1;
	for (size_t i = 0; i < NKEYS; i++) {
		if (strlen(keys[i].name) != s.len || memcmp(keys[i].name, s.at, s.len))
			continue;
		if (f->seen >> i & 1)
			return fail(t, "the header has the key '%s' twice", keys[i].name);
		f->seen |= 1u << i;
		return keys[i].parse(t, f);
	}
	return fail(t, "the header has an unknown key '%s'", quoted(s, out));
}

static int parse_dict(struct text *t, struct fields *f)
{
	int again = 1;

	if (expect(t, '{', "the dict"))
		return -1;
	if (accept(t, '}'))
		again = 0;
	while (again == 1) {
		if (parse_key(t, f))
			return -1;
		again = more(t, '}', "the dict");
	}
	if (again)
		return -1;
	for (size_t i = 0; i < NKEYS; i++)
		if (!(f->seen >> i & 1))
			return fail(t, "the header has no key '%s'", keys[i].name);
	if (peek(t) >= 0)
		return fail(t, "the header goes on after its dict");
	return 0;
}

static int check_square(struct text *t, const struct shape *s, struct tsw_npy *out)
{
	if (s->ndim != 2)
		return fail(t, "the array has %zu dimension%s, not 2", s->ndim,
			    s->ndim == 1 ? "" : "s");
	if (s->dims[0] != s->dims[1])
		return fail(t, "the matrix is not square: its shape is (%zu, %zu)", s->dims[0],
			    s->dims[1]);
	if (!out->elem_size)
		return fail(t, "the elements have 0 bytes");
	out->n = s->dims[0];
	if (__builtin_mul_overflow(out->n, out->n, &out->data_bytes) ||
	    __builtin_mul_overflow(out->data_bytes, out->elem_size, &out->data_bytes) ||
	    out->data_bytes > PTRDIFF_MAX - out->header_bytes)
		return fail(t,
			    "shape (%zu, %zu) of %zu-byte elements is larger than the address "
			    "space",
			    out->n, out->n, out->elem_size);
	return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

int tsw_npy_is(const unsigned char *buf, size_t len)
{
	return len >= TSW_NPY_MAGIC_BYTES && !memcmp(buf, MAGIC, TSW_NPY_MAGIC_BYTES);
}

/* Bytes before the dict: magic, version, and a length of 2 or 4 bytes; 0 for other versions. */
static size_t prefix_bytes(const unsigned char *buf)
{
	if (buf[7])
		return 0;
	return buf[6] == 1 ? 10 : buf[6] == 2 || buf[6] == 3 ? 12 : 0;
}

size_t tsw_npy_header_bytes(const unsigned char *buf, size_t len)
{
	size_t prefix = tsw_npy_is(buf, len) && len >= 8 ? prefix_bytes(buf) : 0;
	size_t dict = 0;

	if (!prefix || len < prefix)
		return 0;
	for (size_t i = prefix; i > 8; i--)
		dict = dict << 8 | buf[i - 1];
	return prefix + dict;
}

int tsw_npy_parse(const unsigned char *buf, size_t len, struct tsw_npy *out, char *err,
		  size_t errlen)
{
	struct text t = {buf, buf + len, err, errlen};
	struct fields f = {.out = out};

	*out = (struct tsw_npy){0};
	if (!tsw_npy_is(buf, len))
		return fail(&t, "it does not begin with the magic of a .npy file");
	if (len < 8)
		return fail(&t, "the file is truncated: it ends within its header");
	out->major = buf[6];
	out->minor = buf[7];
	if (!prefix_bytes(buf))
		return fail(&t, "version %u.%u of the .npy format is unknown", out->major,
			    out->minor);
	out->header_bytes = tsw_npy_header_bytes(buf, len);
	if (!out->header_bytes || out->header_bytes > len)
		return fail(&t, "the file is truncated: it ends within its header");
	t.at = buf + prefix_bytes(buf);
	t.end = buf + out->header_bytes;
	if (parse_dict(&t, &f))
		return -1;
	out->order_at = (size_t)(f.order_at - buf);
	return check_square(&t, &f.shape, out);
}
