/* Every argument of every call that can be wrong: the status, a detail that names argument and
 * value, nothing touched. */
#include "support.h"
#include "tileswap.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES 8192
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

struct args {
	size_t n, ld, elem_size, stride, count;
	int nthreads;
	int null_a, null_entry, null_out;
	char op; /* with `type`; 0 stands for a transpose of doubles */
	int type;
	size_t misaligned; /* bytes */
};

/* What a call has besides a, n, ld and elem_size. */
enum {
	THREADS = 1,
	STRIDE = 2,
	COUNT = 4,
	OUT = 8,
	DEVICE = 16,
	HOST_ARRAY = 32,
	TYPED = 64, /* op and type, and no elem_size */
};

struct memory {
	unsigned char *buffer;
	void *array[4];
	tsw_digest out;
};

static void *a_of(const struct args *x, struct memory *m)
{
	return x->null_a ? NULL : m->buffer + x->misaligned;
}

static void *const *array_of(const struct args *x, struct memory *m)
{
	return x->null_a ? NULL : (void *const *)(uintptr_t)((char *)m->array + x->misaligned);
}

static tsw_digest *out_of(const struct args *x, struct memory *m)
{
	return x->null_out ? NULL : &m->out;
}

static tsw_status any(const struct args *x, struct memory *m)
{
	return tsw_transpose(a_of(x, m), x->n, x->ld, x->elem_size);
}

static tsw_status host(const struct args *x, struct memory *m)
{
	return tsw_transpose_host(a_of(x, m), x->n, x->ld, x->elem_size, x->nthreads);
}

static tsw_status device(const struct args *x, struct memory *m)
{
	return tsw_transpose_device(a_of(x, m), x->n, x->ld, x->elem_size, NULL);
}

static tsw_status batch_host(const struct args *x, struct memory *m)
{
	return tsw_transpose_batch_host(a_of(x, m), x->n, x->ld, x->elem_size, x->stride, x->count,
					x->nthreads);
}

static tsw_status batch_device(const struct args *x, struct memory *m)
{
	return tsw_transpose_batch_device(a_of(x, m), x->n, x->ld, x->elem_size, x->stride,
					  x->count, NULL);
}

static tsw_status array_host(const struct args *x, struct memory *m)
{
	return tsw_transpose_array_host(array_of(x, m), x->n, x->ld, x->elem_size, x->count,
					x->nthreads);
}

static tsw_status array_device(const struct args *x, struct memory *m)
{
	return tsw_transpose_array_device(array_of(x, m), x->n, x->ld, x->elem_size, x->count,
					  NULL);
}

static tsw_status checksum_host(const struct args *x, struct memory *m)
{
	return tsw_checksum_host(a_of(x, m), x->n, x->ld, x->elem_size, 0, out_of(x, m),
				 x->nthreads);
}

static tsw_status checksum_device(const struct args *x, struct memory *m)
{
	return tsw_checksum_device(a_of(x, m), x->n, x->ld, x->elem_size, 0, out_of(x, m), NULL);
}

static char op_of(const struct args *x)
{
	return x->op == '0' ? '\0' : x->op ? x->op : 'T';
}

static tsw_type type_of(const struct args *x)
{
	return x->op ? (tsw_type)x->type : TSW_DOUBLE;
}

static tsw_status imatcopy_host(const struct args *x, struct memory *m)
{
	return tsw_imatcopy_host(op_of(x), type_of(x), x->n, NULL, a_of(x, m), x->ld, x->nthreads);
}

static tsw_status imatcopy_device(const struct args *x, struct memory *m)
{
	return tsw_imatcopy_device(op_of(x), type_of(x), x->n, NULL, a_of(x, m), x->ld, NULL);
}

static tsw_status imatcopy_batch_host(const struct args *x, struct memory *m)
{
	return tsw_imatcopy_batch_host(op_of(x), type_of(x), x->n, NULL, a_of(x, m), x->ld,
				       x->stride, x->count, x->nthreads);
}

static tsw_status imatcopy_batch_device(const struct args *x, struct memory *m)
{
	return tsw_imatcopy_batch_device(op_of(x), type_of(x), x->n, NULL, a_of(x, m), x->ld,
					 x->stride, x->count, NULL);
}

static const struct call {
	const char *name;
	tsw_status (*make)(const struct args *, struct memory *);
	unsigned has;
} calls[] = {
	{"tsw_transpose", any, 0},
	{"tsw_transpose_host", host, THREADS},
	{"tsw_transpose_device", device, DEVICE},
	{"tsw_transpose_batch_host", batch_host, THREADS | STRIDE | COUNT},
	{"tsw_transpose_batch_device", batch_device, STRIDE | COUNT | DEVICE},
	{"tsw_transpose_array_host", array_host, THREADS | COUNT | HOST_ARRAY},
	{"tsw_transpose_array_device", array_device, COUNT | DEVICE},
	{"tsw_imatcopy_host", imatcopy_host, THREADS | TYPED},
	{"tsw_imatcopy_device", imatcopy_device, TYPED | DEVICE},
	{"tsw_imatcopy_batch_host", imatcopy_batch_host, THREADS | STRIDE | COUNT | TYPED},
	{"tsw_imatcopy_batch_device", imatcopy_batch_device, STRIDE | COUNT | TYPED | DEVICE},
	{"tsw_checksum_host", checksum_host, THREADS | OUT},
	{"tsw_checksum_device", checksum_device, OUT | DEVICE},
};

static void memory_init(struct memory *m)
{
	m->buffer = malloc(BUFFER_BYTES);
	ck_assert_ptr_nonnull(m->buffer);
	tsw_fill(m->buffer, BUFFER_BYTES);
	for (size_t b = 0; b < COUNT_OF(m->array); b++)
		m->array[b] = m->buffer + b * (BUFFER_BYTES / COUNT_OF(m->array));
	m->out = (tsw_digest){0x1111111111111111, 0x2222222222222222};
}

static void memory_check_untouched(const struct memory *m, const char *who)
{
	const char *wrong = tsw_wrong_bytes(m->buffer, tsw_pattern(BUFFER_BYTES), BUFFER_BYTES);

	ck_assert_msg(!wrong, "%s: %s", who, wrong);
	ck_assert_msg(m->out.placed == 0x1111111111111111 && m->out.values == 0x2222222222222222,
		      "%s wrote to out", who);
}

#define HUGE_LD ((size_t)PTRDIFF_MAX - 2) /* with n = 2 and 1-byte elements spans PTRDIFF_MAX */
#define OVER ((size_t)PTRDIFF_MAX + 1)

/* Each row has one wrong argument; `needs` is what a call must have to be given it. */
static const struct wrong {
	const char *what;
	unsigned needs;
	struct args args;
	tsw_status status;
	const char *says[3];
} wrongs[] = {
	{"elem_size 0", 0, {5, 5, 0, 25, 1, 0, 0, 0, 0}, TSW_ERR_ELEM_SIZE, {"elem_size = 0"}},
	{"elem_size 0 of no elements",
	 0,
	 {0, 0, 0, 0, 1, 0, 0, 0, 0},
	 TSW_ERR_ELEM_SIZE,
	 {"elem_size = 0"}},
	{"elem_size 0 of no matrix",
	 COUNT,
	 {5, 5, 0, 25, 0, 0, 0, 0, 0},
	 TSW_ERR_ELEM_SIZE,
	 {"elem_size = 0"}},
	{"ld too small", 0, {5, 4, 8, 25, 1, 0, 0, 0, 0}, TSW_ERR_LD, {"ld = 4", "n = 5"}},
	{"ld 0", 0, {5, 0, 8, 25, 1, 0, 0, 0, 0}, TSW_ERR_LD, {"ld = 0", "n = 5"}},
	{"ld too small, no matrix",
	 COUNT,
	 {5, 4, 8, 25, 0, 0, 1, 0, 0},
	 TSW_ERR_LD,
	 {"ld = 4", "n = 5"}},
	{"n past ld by much", 0, {SIZE_MAX, 7, 1, 7, 1, 0, 0, 0, 0}, TSW_ERR_LD, {"ld = 7"}},
	{"one byte past PTRDIFF_MAX",
	 0,
	 {2, HUGE_LD + 1, 1, OVER, 1, 0, 0, 0, 0},
	 TSW_ERR_OVERFLOW,
	 {"n = 2", "ld = 9223372036854775806", "elem_size = 1"}},
	{"element past PTRDIFF_MAX",
	 0,
	 {1, 1, OVER, 1, 1, 0, 0, 0, 0},
	 TSW_ERR_OVERFLOW,
	 {"n = 1", "elem_size = 9223372036854775808"}},
	{"span wraps to 0",
	 0,
	 {2, 2, (size_t)1 << 62, 4, 1, 0, 0, 0, 0},
	 TSW_ERR_OVERFLOW,
	 {"n = 2", "ld = 2", "elem_size = 4611686018427387904"}},
	{"rows times ld wraps",
	 0,
	 {(size_t)1 << 32, (size_t)1 << 32, 1, 0, 1, 0, 0, 0, 0},
	 TSW_ERR_OVERFLOW,
	 {"n = 4294967296", "ld = 4294967296"}},
	{"rows times ld is 2^63",
	 0,
	 {3, (size_t)1 << 62, 1, 0, 1, 0, 0, 0, 0},
	 TSW_ERR_OVERFLOW,
	 {"n = 3", "ld = 4611686018427387904"}},
	{"largest n",
	 0,
	 {SIZE_MAX, SIZE_MAX, SIZE_MAX, 0, 1, 0, 0, 0, 0},
	 TSW_ERR_OVERFLOW,
	 {"n = 18446744073709551615"}},
	{"overflow, no matrix",
	 COUNT,
	 {3, (size_t)1 << 62, 1, 0, 0, 0, 1, 0, 0},
	 TSW_ERR_OVERFLOW,
	 {"n = 3"}},
	{"a NULL", 0, {5, 5, 8, 25, 1, 0, 1, 0, 0}, TSW_ERR_NULL, {"a is NULL"}},
	{"a NULL, n = 1", 0, {1, 1, 1, 1, 1, 0, 1, 0, 0}, TSW_ERR_NULL, {"a is NULL"}},
	{"a NULL, span PTRDIFF_MAX",
	 0,
	 {2, HUGE_LD, 1, OVER, 1, 0, 1, 0, 0},
	 TSW_ERR_NULL,
	 {"a is NULL"}},
	{"a NULL, element PTRDIFF_MAX",
	 0,
	 {1, 1, PTRDIFF_MAX, 1, 1, 0, 1, 0, 0},
	 TSW_ERR_NULL,
	 {"a is NULL"}},
	{"a NULL, two matrices", COUNT, {5, 5, 8, 25, 2, 0, 1, 0, 0}, TSW_ERR_NULL, {"a is NULL"}},
	{"a[1] NULL", HOST_ARRAY, {5, 5, 8, 0, 3, 0, 0, 1, 0}, TSW_ERR_NULL, {"a[1] is NULL"}},
	{"a[1] NULL, n = 1",
	 HOST_ARRAY,
	 {1, 1, 8, 0, 3, 0, 0, 1, 0},
	 TSW_ERR_NULL,
	 {"a[1] is NULL"}},
	{"out NULL", OUT, {5, 5, 8, 0, 1, 0, 0, 0, 1}, TSW_ERR_NULL, {"out is NULL"}},
	{"stride one too small",
	 STRIDE,
	 {4, 5, 8, 18, 3, 0, 0, 0, 0},
	 TSW_ERR_STRIDE,
	 {"stride = 18", "3 matrices", "n = 4, ld = 5"}},
	{"stride 0", STRIDE, {4, 5, 8, 0, 2, 0, 0, 0, 0}, TSW_ERR_STRIDE, {"stride = 0"}},
	{"stride 0, n = 1", STRIDE, {1, 1, 8, 0, 2, 0, 0, 0, 0}, TSW_ERR_STRIDE, {"stride = 0"}},
	{"side by side, one column too wide",
	 STRIDE,
	 {4, 11, 8, 4, 3, 0, 0, 0, 0},
	 TSW_ERR_STRIDE,
	 {"stride = 4", "ld = 11"}},
	{"side by side, stride below n",
	 STRIDE,
	 {4, 40, 8, 3, 3, 0, 0, 0, 0},
	 TSW_ERR_STRIDE,
	 {"stride = 3", "n = 4"}},
	{"side by side, count wraps",
	 STRIDE,
	 {4, 40, 8, 4, ((size_t)1 << 62) + 2, 0, 0, 0, 0},
	 TSW_ERR_STRIDE,
	 {"stride = 4"}},
	{"batch past PTRDIFF_MAX",
	 STRIDE,
	 {4, 4, 1, (size_t)1 << 40, (size_t)1 << 40, 0, 0, 0, 0},
	 TSW_ERR_OVERFLOW,
	 {"count = 1099511627776", "stride = 1099511627776"}},
	{"batch past PTRDIFF_MAX by elem_size",
	 STRIDE,
	 {4, 4, 16, (size_t)1 << 40, (size_t)1 << 20, 0, 0, 0, 0},
	 TSW_ERR_OVERFLOW,
	 {"count = 1048576", "elem_size = 16"}},
	{"nthreads -1", THREADS, {5, 5, 8, 25, 1, -1, 0, 0, 0}, TSW_ERR_THREADS, {"nthreads = -1"}},
	{"least nthreads",
	 THREADS,
	 {5, 5, 8, 25, 1, INT_MIN, 0, 0, 0},
	 TSW_ERR_THREADS,
	 {"nthreads = -2147483648"}},
	{"a no multiple of 8",
	 DEVICE,
	 {5, 5, 8, 25, 1, .misaligned = 4},
	 TSW_ERR_ALIGN,
	 {"a = 0x", "multiple of 8"}},
	{"a no multiple of 8, two matrices",
	 DEVICE | COUNT,
	 {5, 5, 8, 25, 2, .misaligned = 12},
	 TSW_ERR_ALIGN,
	 {"a = 0x", "multiple of 8"}},
	{"a no multiple of 2",
	 DEVICE | TYPED,
	 {5, 5, 8, 25, 1, .op = 'T', .type = TSW_BFLOAT16, .misaligned = 1},
	 TSW_ERR_ALIGN,
	 {"a = 0x", "multiple of 2"}},
	{"a no multiple of 4",
	 DEVICE | TYPED,
	 {5, 5, 8, 25, 1, .op = 'R', .type = TSW_FLOAT, .misaligned = 2},
	 TSW_ERR_ALIGN,
	 {"a = 0x", "multiple of 4"}},
	{"ld before a's place", DEVICE, {5, 4, 8, 25, 1, .misaligned = 4}, TSW_ERR_LD, {"ld = 4"}},
	{"op x", TYPED, {5, 5, 8, 25, 1, 0, 0, 0, 0, 'x', 1}, TSW_ERR_OP, {"op = 'x'", "0x78"}},
	{"op 0", TYPED, {5, 5, 8, 25, 1, 0, 0, 0, 0, '0', 1}, TSW_ERR_OP, {"0x00", "N, T, C, R"}},
	{"op above ASCII",
	 TYPED,
	 {0, 0, 8, 0, 1, 0, 0, 0, 0, (char)0xd4, 1},
	 TSW_ERR_OP,
	 {"op = '?' (0xd4)"}},
	{"op before type", TYPED, {5, 4, 8, 25, 1, -1, 1, 0, 0, 'Z', 9}, TSW_ERR_OP, {"op = 'Z'"}},
	{"type 6", TYPED, {5, 5, 8, 25, 1, 0, 0, 0, 0, 'n', 6}, TSW_ERR_TYPE, {"type = 6"}},
	{"type -1", TYPED, {0, 0, 8, 0, 1, 0, 0, 0, 0, 'R', -1}, TSW_ERR_TYPE, {"type = -1"}},
	{"type before nthreads and ld",
	 TYPED,
	 {5, 4, 8, 25, 1, -1, 1, 0, 0, 'C', 99},
	 TSW_ERR_TYPE,
	 {"type = 99"}},
	{"16 bytes pass PTRDIFF_MAX",
	 TYPED,
	 {2, (size_t)1 << 59, 8, (size_t)1 << 60, 1, 0, 0, 0, 0, 'N', TSW_COMPLEX_DOUBLE},
	 TSW_ERR_OVERFLOW,
	 {"n = 2", "elem_size = 16"}},
	{"4 bytes do not",
	 TYPED,
	 {2, (size_t)1 << 60, 8, (size_t)1 << 61, 1, 0, 1, 0, 0, 'N', TSW_FLOAT},
	 TSW_ERR_NULL,
	 {"a is NULL"}},
	{"nthreads -1 of no elements",
	 THREADS,
	 {0, 0, 8, 0, 1, -1, 1, 0, 0},
	 TSW_ERR_THREADS,
	 {"nthreads = -1"}},
};

/* Doubles have 8 bytes; rows that are about another elem_size are not for calls with a type. */
static int concerns(const struct wrong *w, const struct call *call)
{
	return (call->has & w->needs) == w->needs && !(call->has & TYPED && w->args.elem_size != 8);
}

static void check_detail(const char *who, const char *const *says)
{
	const char *detail = tsw_last_error();

	ck_assert_msg(*detail != '\0', "%s: no detail", who);
	ck_assert_msg(!strchr(detail, '\n'), "%s: a detail of several lines", who);
	for (size_t i = 0; i < 3 && says[i]; i++)
		ck_assert_msg(strstr(detail, says[i]) != NULL, "%s: \"%s\" does not say \"%s\"",
			      who, detail, says[i]);
}

START_TEST(wrong_arguments)
{
	const struct wrong *w = &wrongs[_i];
	unsigned made = 0;

	for (size_t c = 0; c < COUNT_OF(calls); c++) {
		struct memory m;
		char who[160];
		tsw_status status;

		if (!concerns(w, &calls[c]))
			continue;
		memory_init(&m);
		if (w->args.null_entry)
			m.array[1] = NULL;
		snprintf(who, sizeof who, "%s, %s", calls[c].name, w->what);
		status = calls[c].make(&w->args, &m);
		ck_assert_msg(status == w->status, "%s: status %d (%s), expected %d", who, status,
			      tsw_last_error(), w->status);
		check_detail(who, w->says);
		memory_check_untouched(&m, who);
		free(m.buffer);
		made++;
	}
	ck_assert_uint_ge(made, 1);
}
END_TEST

/* What a device call with right arguments returns here: TSW_OK, or why there is no GPU. */
static tsw_status expected_of(const struct call *call)
{
	return call->has & DEVICE ? tsw_cuda_status() : TSW_OK;
}

static void check_success(const struct call *call, const struct args *args, const char *what)
{
	tsw_status expected = expected_of(call), status;
	struct memory m;

	memory_init(&m);
	status = call->make(args, &m);
	ck_assert_msg(status == expected, "%s, %s: status %d (%s), expected %d", call->name, what,
		      status, tsw_last_error(), expected);
	ck_assert_msg((*tsw_last_error() == '\0') == (status == TSW_OK), "%s, %s: detail \"%s\"",
		      call->name, what, tsw_last_error());
	if (status == TSW_OK && call->has & OUT)
		ck_assert_msg(m.out.placed == 0 && m.out.values == 0, "%s, %s: digest not 0",
			      call->name, what);
	m.out = (tsw_digest){0x1111111111111111, 0x2222222222222222};
	memory_check_untouched(&m, call->name);
	free(m.buffer);
}

START_TEST(no_elements)
{
	for (size_t c = 0; c < COUNT_OF(calls); c++) {
		check_success(&calls[c], &(struct args){0, 0, 8, 0, 5, 0, 1, 0, 0},
			      "n = 0, a NULL");
		check_success(&calls[c], &(struct args){0, 9, 3, 0, 5, 2, 0, 0, 0},
			      "n = 0, ld = 9");
		check_success(&calls[c],
			      &(struct args){0, SIZE_MAX, SIZE_MAX, 0, SIZE_MAX, 0, 1, 0, 0},
			      "n = 0, all else huge");
	}
}
END_TEST

START_TEST(no_matrices)
{
	for (size_t c = 0; c < COUNT_OF(calls); c++) {
		if (!(calls[c].has & COUNT))
			continue;
		check_success(&calls[c], &(struct args){5, 5, 8, 0, 0, 0, 1, 0, 0},
			      "count = 0, a NULL");
		check_success(&calls[c], &(struct args){5, 5, 8, 3, 0, 0, 0, 0, 0},
			      "count = 0, stride 3");
	}
}
END_TEST

/* Shapes at the very edge of what is allowed: the call must get to work. */
START_TEST(strides_that_just_fit)
{
	static const struct args fit[] = {
		{4, 5, 8, 19, 3, 0, 0, 0, 0}, /* one after the other, no byte between */
		{4, 12, 8, 4, 3, 0, 0, 0, 0}, /* side by side */
		{4, 13, 2, 4, 3, 1, 0, 0, 0}, /* side by side, a column to spare */
		{1, 1, 8, 1, 3, 0, 0, 0, 0},  /* single elements in a row */
		{4, 5, 8, 0, 1, 0, 0, 0, 0},  /* one matrix: any stride */
		{4, 5, 8, SIZE_MAX, 1, 0, 0, 0, 0},
	};
	unsigned char *buffer = malloc(BUFFER_BYTES), *expected = malloc(BUFFER_BYTES);

	for (size_t f = 0; f < COUNT_OF(fit); f++) {
		const struct args *x = &fit[f];
		const char *wrong;

		tsw_fill(buffer, BUFFER_BYTES);
		tsw_fill(expected, BUFFER_BYTES);
		for (size_t b = 0; b < x->count; b++)
			tsw_oracle_window(tsw_pattern(BUFFER_BYTES) + b * x->stride * x->elem_size,
					  expected + b * x->stride * x->elem_size,
					  (struct tsw_shape){x->n, x->ld, x->elem_size});
		tsw_assert_ok(tsw_transpose_batch_host(buffer, x->n, x->ld, x->elem_size, x->stride,
						       x->count, x->nthreads));
		wrong = tsw_wrong_bytes(buffer, expected, BUFFER_BYTES);
		ck_assert_msg(!wrong, "batch %zu: %s", f, wrong);
	}
	free(buffer);
	free(expected);
}
END_TEST

START_TEST(a_success_empties_the_detail)
{
	uint32_t one = 1;

	tsw_assert_status(tsw_transpose_host(NULL, 3, 3, 4, 0), TSW_ERR_NULL);
	ck_assert_str_ne(tsw_last_error(), "");
	tsw_assert_ok(tsw_transpose_host(&one, 1, 1, 4, 0));
	ck_assert_str_eq(tsw_last_error(), "");
	tsw_assert_status(tsw_transpose(NULL, 3, 3, 4), TSW_ERR_NULL);
	tsw_assert_ok(tsw_transpose(&one, 1, 1, 4));
	ck_assert_str_eq(tsw_last_error(), "");
	ck_assert_uint_eq(one, 1);
}
END_TEST

static void *fail_elsewhere(void *unused)
{
	(void)unused;
	if (*tsw_last_error() != '\0')
		return (void *)"a new thread begins with a detail";
	if (tsw_transpose_host(NULL, 3, 3, 4, -5) != TSW_ERR_THREADS)
		return (void *)"expected TSW_ERR_THREADS";
	return strstr(tsw_last_error(), "nthreads = -5") ? NULL : (void *)"the detail is another";
}

START_TEST(the_detail_belongs_to_the_thread)
{
	pthread_t thread;
	void *wrong;

	tsw_assert_status(tsw_transpose_host(NULL, 3, 2, 4, 0), TSW_ERR_LD);
	ck_assert_int_eq(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, &wrong), 0);
	ck_assert_msg(!wrong, "%s", (const char *)wrong);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "ld = 2"));
}
END_TEST

static const tsw_status statuses[] = {
	TSW_OK,		  TSW_ERR_NULL,	   TSW_ERR_LD,		TSW_ERR_ELEM_SIZE,
	TSW_ERR_OVERFLOW, TSW_ERR_ALIGN,   TSW_ERR_STRIDE,	TSW_ERR_OP,
	TSW_ERR_TYPE,	  TSW_ERR_THREADS, TSW_ERR_WHERE,	TSW_ERR_OPTION,
	TSW_ERR_FORMAT,	  TSW_ERR_NO_CUDA, TSW_ERR_NO_DEVICE,	TSW_ERR_NO_MEMORY,
	TSW_ERR_CUDA,	  TSW_ERR_IO,	   TSW_ERR_MISMATCH,	TSW_ERR_INTERRUPTED,
	TSW_ERR_JOURNAL,  TSW_ERR_LOCKED,  TSW_ERR_UNSUPPORTED, TSW_ERR_COMM,
};

START_TEST(every_status_has_a_text_of_its_own)
{
	const char *unknown = tsw_strerror((tsw_status)9999);

	for (size_t s = 0; s < COUNT_OF(statuses); s++) {
		ck_assert_str_ne(tsw_strerror(statuses[s]), unknown);
		for (size_t other = 0; other < s; other++)
			ck_assert_str_ne(tsw_strerror(statuses[s]), tsw_strerror(statuses[other]));
	}
	for (int value = -300; value < 300; value++) {
		const char *text = tsw_strerror((tsw_status)value);

		ck_assert_ptr_nonnull(text);
		ck_assert_str_ne(text, "");
		ck_assert_ptr_null(strchr(text, '\n'));
	}
	ck_assert_ptr_nonnull(tsw_strerror((tsw_status)INT_MAX));
	ck_assert_ptr_nonnull(tsw_strerror((tsw_status)INT_MIN));
}
END_TEST

START_TEST(the_version_is_the_headers)
{
	char text[40];

	snprintf(text, sizeof text, "%d.%d.%d", TSW_VERSION_MAJOR, TSW_VERSION_MINOR,
		 TSW_VERSION_PATCH);
	ck_assert_str_eq(tsw_version(), text);
}
END_TEST

START_TEST(cuda_status_says_why_not)
{
	tsw_status status = tsw_cuda_status();

	ck_assert_msg(status == TSW_OK || status == TSW_ERR_NO_CUDA || status == TSW_ERR_NO_DEVICE,
		      "status %d", status);
	ck_assert_int_eq(status == TSW_OK, *tsw_last_error() == '\0');
	if (tsw_gpu_required())
		tsw_assert_ok(status);
}
END_TEST

static Suite *args_suite(void)
{
	Suite *suite = suite_create("args");
	TCase *tc = tcase_create("args");

	tcase_add_loop_test(tc, wrong_arguments, 0, (int)COUNT_OF(wrongs));
	tcase_add_test(tc, no_elements);
	tcase_add_test(tc, no_matrices);
	tcase_add_test(tc, strides_that_just_fit);
	tcase_add_test(tc, a_success_empties_the_detail);
	tcase_add_test(tc, the_detail_belongs_to_the_thread);
	tcase_add_test(tc, every_status_has_a_text_of_its_own);
	tcase_add_test(tc, the_version_is_the_headers);
	tcase_add_test(tc, cuda_status_says_why_not);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){args_suite}, 1);
}
