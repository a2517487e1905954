/* safetensors: an 8-byte little-endian length, a JSON object of that length,
 *
 *     {"name": {"dtype": "F32", "shape": [3, 3], "data_offsets": [0, 36]}, "__metadata__": {...}}
 *
 * then the tensors; offsets count from the end of the JSON.  The text is walked once, left to
 * right, and nothing past its end is looked at. */
#include "place.h"

#include <stdlib.h>
#include <string.h>

#define MOST_HEADER ((uint64_t)100 << 20) /* the format's own limit */
#define MOST_DEPTH 64
#define MOST_DIMS 16

struct text {
	const char *at, *end;
};

struct piece {
	const char *at;
	size_t bytes;
};

struct tensor {
	struct piece name, dtype;
	uint64_t shape[MOST_DIMS], offsets[MOST_DIMS];
	size_t dims, ends;
};

/* ---- JSON --------------------------------------------------------------------------------------
 */

static int peek(struct text *t)
{
	while (t->at < t->end && *t->at && strchr(" \t\r\n", *t->at))
		t->at++;
	return t->at < t->end ? (unsigned char)*t->at : -1;
}

static int accept(struct text *t, int c)
{
	if (peek(t) != c)
		return 0;
	t->at++;
	return 1;
}

/* Between the quotes, escapes as they stand. */
static int string(struct text *t, struct piece *p)
{
	if (!accept(t, '"'))
		return 0;
	p->at = t->at;
	while (t->at < t->end && *t->at != '"')
		t->at += *t->at == '\\' && t->end - t->at > 1 ? 2 : 1;
	if (t->at >= t->end)
		return 0;
	p->bytes = (size_t)(t->at++ - p->at);
	return 1;
}

static int whole_number(struct text *t, uint64_t *value)
{
	const int c = peek(t);

	if (c < '0' || c > '9')
		return 0;
	for (*value = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*t->at - '0'), value))
			return 0;
	return 1;
}

static int numbers(struct text *t, uint64_t *value, size_t *count)
{
	*count = 0;
	if (!accept(t, '['))
		return 0;
	if (accept(t, ']'))
		return 1;
	do {
		if (*count == MOST_DIMS || !whole_number(t, &value[(*count)++]))
			return 0;
	} while (accept(t, ','));
	return accept(t, ']');
}

static int skip(struct text *t, int depth);

static int skip_list(struct text *t, int close, int depth)
{
	struct piece key;

	if (accept(t, close))
		return 1;
	do {
		if (close == '}' && (!string(t, &key) || !accept(t, ':')))
			return 0;
		if (!skip(t, depth + 1))
			return 0;
	} while (accept(t, ','));
	return accept(t, close);
}

/* Any value. */
static int skip(struct text *t, int depth)
{
	struct piece p;
	const char *begin;

	if (depth == MOST_DEPTH)
		return 0;
	if (accept(t, '{'))
		return skip_list(t, '}', depth);
	if (accept(t, '['))
		return skip_list(t, ']', depth);
	if (peek(t) == '"')
		return string(t, &p);
	begin = t->at;
	while (t->at < t->end && *t->at &&
	       strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *t->at))
		t->at++;
	return t->at > begin;
}

/* ---- tensors -----------------------------------------------------------------------------------
 */

static int equals(struct piece p, const char *s)
{
	return p.bytes == strlen(s) && !memcmp(p.at, s, p.bytes);
}

static int tensor_body(struct text *t, struct tensor *x)
{
	struct piece key;
	int good = accept(t, '{');

	x->dtype = (struct piece){NULL, 0};
	x->dims = x->ends = SIZE_MAX;
	while (good) {
		good = string(t, &key) && accept(t, ':');
		if (good && equals(key, "dtype"))
			good = string(t, &x->dtype);
		else if (good && equals(key, "shape"))
			good = numbers(t, x->shape, &x->dims);
		else if (good && equals(key, "data_offsets"))
			good = numbers(t, x->offsets, &x->ends);
		else if (good)
			good = skip(t, 0);
		if (good && !accept(t, ','))
			return accept(t, '}') && x->dtype.at && x->dims <= MOST_DIMS &&
			       x->ends == 2;
	}
	return 0;
}

/* Looks through all tensors for the one of that name, or, with no name, for the only one.  *count:
 * how many fit.  False: the text is damaged. */
static int find(struct text *t, const char *name, struct tensor *found, size_t *count)
{
	struct tensor x;

	*count = 0;
	if (!accept(t, '{'))
		return 0;
	if (accept(t, '}'))
		return 1;
	do {
		if (!string(t, &x.name) || !accept(t, ':'))
			return 0;
		if (equals(x.name, "__metadata__")) {
			if (!skip(t, 0))
				return 0;
			continue;
		}
		if (!tensor_body(t, &x))
			return 0;
		if (!name || equals(x.name, name)) {
			*found = x;
			++*count;
		}
	} while (accept(t, ','));
	return accept(t, '}');
}

static size_t dtype_bytes(struct piece name)
{
	static const struct {
		const char *name;
		size_t bytes;
	} dtypes[] = {
		{"BOOL", 1}, {"U8", 1},	 {"I8", 1},   {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"U16", 2},
		{"I16", 2},  {"F16", 2}, {"BF16", 2}, {"U32", 4},     {"I32", 4},     {"F32", 4},
		{"U64", 8},  {"I64", 8}, {"F64", 8},  {"C64", 8},     {"F8_E8M0", 1},
	};

	for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
		if (equals(name, dtypes[i].name))
			return dtypes[i].bytes;
	return 0;
}

static tsw_status use(const struct tsw_file *f, uint64_t file_bytes, uint64_t data_at,
		      const struct tensor *x, struct tsw_place *p)
{
	const uint64_t bytes = x->offsets[1] - x->offsets[0];
	const int length = x->name.bytes < 80 ? (int)x->name.bytes : 80;

	p->elem_size = dtype_bytes(x->dtype);
	if (!p->elem_size)
		return tsw_fail(TSW_ERR_UNSUPPORTED,
				"'%s': tensor '%.*s' has a dtype that is not "
				"known here",
				f->path, length, x->name.at);
	if (x->dims != 2)
		return tsw_fail(TSW_ERR_FORMAT, "'%s': tensor '%.*s' has %zu dimensions, not 2",
				f->path, length, x->name.at, x->dims);
	if (x->shape[0] != x->shape[1])
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s': the matrix is not square: tensor '%.*s' has the shape "
				"(%ju, %ju)",
				f->path, length, x->name.at, (uintmax_t)x->shape[0],
				(uintmax_t)x->shape[1]);
	p->n = p->ld = (size_t)x->shape[0];
	if (__builtin_add_overflow(data_at, x->offsets[0], &p->offset))
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s': tensor '%.*s' begins past the end of any file", f->path,
				length, x->name.at);
	TRY(tsw_place_set(f, file_bytes, p));
	if (x->offsets[0] > x->offsets[1] || bytes != tsw_place_span(p))
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s': tensor '%.*s' has not the bytes of its shape", f->path,
				length, x->name.at);
	return TSW_OK;
}

static tsw_status parse(const struct tsw_file *f, uint64_t file_bytes, const char *json,
			uint64_t bytes, const char *name, struct tsw_place *p)
{
	struct text t = {json, json + bytes};
	struct tensor x = {.dims = 0};
	size_t count;

	if (!find(&t, name, &x, &count))
		return tsw_fail(TSW_ERR_FORMAT, "'%s': its safetensors header is damaged", f->path);
	if (name && count == 0)
		return tsw_fail(TSW_ERR_FORMAT, "'%s' has no tensor '%s'", f->path, name);
	if (count != 1)
		return tsw_fail(TSW_ERR_OPTION, "'%s' has %zu tensors: dataset names one of them",
				f->path, count);
	return use(f, file_bytes, 8 + bytes, &x, p);
}

tsw_status tsw_find_safetensors(const struct tsw_file *f, uint64_t file_bytes,
				const struct tsw_wanted *wanted, struct tsw_place *p)
{
	unsigned char length[8];
	uint64_t bytes = 0;
	size_t got;
	char *json;
	tsw_status status;

	TRY(tsw_read_some(f, length, sizeof length, 0, &got));
	for (size_t i = got; i--;)
		bytes = bytes << 8 | length[i];
	if (got < sizeof length || bytes > MOST_HEADER || bytes > file_bytes - 8)
		return tsw_fail(TSW_ERR_FORMAT, "'%s': its safetensors header is damaged", f->path);
	json = malloc((size_t)bytes + 1);
	if (!json)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no memory for a header of %ju bytes",
				(uintmax_t)bytes);
	status = tsw_read_all(f, json, (size_t)bytes, 8);
	if (status == TSW_OK)
		status = parse(f, file_bytes, json, bytes, wanted->dataset, p);
	free(json);
	return status;
}
