/* tsw_transpose_file on real files: what it takes, what it tells, stopping and resuming, threads.
 */
#include "support.h"
#include "tileswap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static char directory[64], path[96], journal[112];

static void make_directory(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(directory, sizeof directory, "%.32s/tsw-file-XXXXXX", base ? base : "/var/tmp");
	ck_assert(mkdtemp(directory) != NULL);
	snprintf(path, sizeof path, "%s/m", directory);
	snprintf(journal, sizeof journal, "%s.tswj", path);
}

static void remove_directory(void)
{
	unlink(path);
	unlink(journal);
	rmdir(directory);
}

static void write_file(const void *p, size_t bytes)
{
	FILE *f;

	unlink(path);
	f = fopen(path, "wb");
	ck_assert(f && fwrite(p, 1, bytes, f) == bytes && !fclose(f));
}

static unsigned char *read_file(size_t *bytes)
{
	FILE *f = fopen(path, "rb");
	struct stat s;
	unsigned char *p;

	ck_assert(f && !fstat(fileno(f), &s));
	*bytes = (size_t)s.st_size;
	p = malloc(*bytes + 1);
	ck_assert(p && fread(p, 1, *bytes, f) == *bytes && !fclose(f));
	return p;
}

static tsw_file_options raw(size_t n, size_t ld, size_t elem_size, uint64_t offset)
{
	tsw_file_options o = TSW_FILE_OPTIONS_INIT;

	o.format = TSW_FORMAT_RAW;
	o.n = n;
	o.ld = ld;
	o.elem_size = elem_size;
	o.offset_bytes = offset;
	o.durability = TSW_DURABLE_PROCESS;
	return o;
}

/* The file holds the pattern transposed an odd number of times. */
static void require_transposed(struct tsw_shape shape, size_t offset, size_t tail)
{
	const size_t span = tsw_shape_bytes(shape), all = offset + span + tail;
	const unsigned char *before = tsw_pattern(all);
	size_t bytes;
	unsigned char *after = read_file(&bytes);
	const char *wrong;

	ck_assert_uint_eq(bytes, all);
	wrong = tsw_wrong_transpose(after + offset, before + offset, shape);
	ck_assert_msg(!wrong, "n = %zu: %s", shape.n, wrong);
	ck_assert(!tsw_wrong_bytes(after, before, offset));
	ck_assert(!tsw_wrong_bytes(after + offset + span, before + offset + span, tail));
	free(after);
}

START_TEST(every_size)
{
	static const size_t sizes[] = {0, 1, 2, 31, 64, 97, 150, 151, 152, 301};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (size_t elem = 1; elem <= 24; elem = elem * 2 + 1) {
			const struct tsw_shape shape = {sizes[i], sizes[i] + i % 3, elem};
			const size_t offset = i * 83, tail = i ? elem : 0;
			tsw_file_options o = raw(shape.n, shape.ld, elem, offset);
			tsw_file_result r = TSW_FILE_RESULT_INIT;

			o.memory_bytes = 150000;
			write_file(tsw_pattern(offset + tsw_shape_bytes(shape) + tail),
				   offset + tsw_shape_bytes(shape) + tail);
			tsw_assert_ok(tsw_transpose_file(path, &o, &r));
			require_transposed(shape, offset, tail);
			ck_assert_uint_eq(r.n, shape.n);
			ck_assert_uint_eq(r.bytes_read, shape.n * shape.n * elem);
			ck_assert_uint_le(r.bytes_written, shape.n * shape.n * elem);
			ck_assert(r.resumed_from_pair == UINT64_MAX && !r.already_done);
			ck_assert(access(journal, F_OK));
		}
}
END_TEST

/* Progress only ever grows, and ends at the whole. */
struct watch {
	uint64_t last, total, calls, stop_at;
};

static int watch(void *user, uint64_t done, uint64_t total)
{
	struct watch *w = user;

	w->calls++;
	tsw_require(done >= w->last && done <= total, "%ju after %ju of %ju", (uintmax_t)done,
		    (uintmax_t)w->last, (uintmax_t)total);
	w->last = done;
	w->total = total;
	return w->stop_at && w->calls == w->stop_at;
}

START_TEST(stops_and_resumes)
{
	const struct tsw_shape shape = {211, 211, 8};
	struct watch w = {.stop_at = 1};
	tsw_file_options o = raw(211, 0, 8, 0);
	tsw_file_result r = TSW_FILE_RESULT_INIT;
	tsw_status status;
	unsigned stops = 0;

	o.memory_bytes = 70000;
	o.verify = 1;
	o.durability = _i ? TSW_DURABLE_POWER : TSW_DURABLE_PROCESS;
	o.progress = watch;
	o.user = &w;
	write_file(tsw_pattern(tsw_shape_bytes(shape)), tsw_shape_bytes(shape));
	while ((status = tsw_transpose_file(path, &o, &r)) == TSW_ERR_INTERRUPTED) {
		ck_assert(!access(journal, F_OK));
		ck_assert(strstr(tsw_last_error(), "goes on"));
		stops++;
		w.calls = 0;
		w.stop_at = 1 + stops % 9;
	}
	ck_assert_msg(status == TSW_OK, "%s", tsw_last_error());
	ck_assert_uint_gt(stops, 3);
	ck_assert(r.resumed_from_pair != UINT64_MAX);
	ck_assert_uint_eq(w.last, tsw_shape_bytes(shape));
	ck_assert(r.before.placed == r.after.placed && r.before.values == r.after.values);
	require_transposed(shape, 0, 0);
	ck_assert(access(journal, F_OK));
}
END_TEST

/* Nobody is given a matrix that is half transposed: the attribute tells, or the journal alone. */
START_TEST(half_a_matrix_is_not_read)
{
	const size_t bytes = 211 * 211 * 8;
	struct watch w = {.stop_at = 2};
	tsw_file_options o = raw(211, 0, 8, 0), copy = o;
	char out[112], hidden[112];

	snprintf(out, sizeof out, "%s.out", path);
	snprintf(hidden, sizeof hidden, "%s.hidden", path);
	copy.out_path = out;
	o.memory_bytes = 70000;
	o.progress = watch;
	o.user = &w;
	write_file(tsw_pattern(bytes), bytes);
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_INTERRUPTED);
	for (int i = 0; i < 3; i++) {
		if (i == 1)
			ck_assert(!rename(journal, hidden));
		if (i == 2) { /* a file that carries no attribute */
			ck_assert(!rename(hidden, journal));
			write_file(tsw_pattern(bytes), bytes);
		}
		if (i == 1 && getxattr(path, "user.tileswap", NULL, 0) <= 0)
			continue; /* a file system without attributes */
		tsw_assert_status(tsw_transpose_file(path, &copy, NULL), TSW_ERR_JOURNAL);
		ck_assert(strstr(tsw_last_error(), "half transposed"));
		ck_assert(access(out, F_OK));
	}
	ck_assert(!unlink(journal));
	w.stop_at = 0;
	w.last = 0;
	o.once = 1;
	tsw_assert_ok(tsw_transpose_file(path, &o, NULL));
	tsw_assert_ok(tsw_transpose_file(path, &copy, NULL));
	ck_assert(!unlink(out));
}
END_TEST

/* A byte changes between the last write and the read back. */
static int spoil(void *user, uint64_t done, uint64_t total)
{
	const unsigned char *const byte = user;
	const int fd = done == total ? open(path, O_WRONLY) : -1;

	if (fd >= 0) {
		ck_assert(pwrite(fd, byte, 1, 0) == 1);
		close(fd);
	}
	return 0;
}

/* As often as it is asked, until it is right; readers are told why it is kept from them, also where
 * only the journal tells (1). */
START_TEST(a_failed_comparison)
{
	const struct tsw_shape shape = {211, 211, 8};
	const unsigned char right = tsw_pattern(1)[0], wrong = right ^ 1;
	tsw_file_options o = raw(211, 0, 8, 0), copy = o;
	char out[112];

	snprintf(out, sizeof out, "%s.out", path);
	copy.out_path = out;
	o.memory_bytes = 70000;
	o.verify = 1;
	o.progress = spoil;
	o.user = (void *)&wrong;
	write_file(tsw_pattern(tsw_shape_bytes(shape)), tsw_shape_bytes(shape));
	for (int i = 0; i < 2; i++) {
		tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_MISMATCH);
		ck_assert(strstr(tsw_last_error(), "not what it should be"));
	}
	if (_i)
		removexattr(path, "user.tileswap");
	tsw_assert_status(tsw_transpose_file(path, &copy, NULL), TSW_ERR_JOURNAL);
	ck_assert(strstr(tsw_last_error(), "when it was read back"));
	ck_assert(access(out, F_OK));
	if (_i)
		return;
	o.user = (void *)&right;
	tsw_assert_ok(tsw_transpose_file(path, &o, NULL));
	require_transposed(shape, 0, 0);
	tsw_assert_ok(tsw_transpose_file(path, &copy, NULL));
	ck_assert(!unlink(out));
}
END_TEST

/* The digests are those of checksum, before and after. */
START_TEST(digests_are_the_checksums)
{
	const struct tsw_shape shape = {129, 140, 5};
	const size_t bytes = tsw_shape_bytes(shape);
	tsw_file_options o = raw(shape.n, shape.ld, shape.elem_size, 0);
	tsw_file_result r = TSW_FILE_RESULT_INIT;
	tsw_digest digest;

	o.verify = 1;
	o.memory_bytes = 60000;
	write_file(tsw_pattern(bytes), bytes);
	tsw_assert_ok(tsw_transpose_file(path, &o, &r));
	tsw_assert_ok(tsw_checksum_host(tsw_pattern(bytes), shape.n, shape.ld, shape.elem_size, 0,
					&digest, 1));
	ck_assert(digest.placed == r.before.placed && digest.values == r.before.values);
	ck_assert(digest.placed == r.after.placed && digest.values == r.after.values);
}
END_TEST

/* What the refusal names is just enough, for runs of 512 bytes or the sixth part of a row. */
START_TEST(the_least_memory)
{
	static const struct {
		struct tsw_shape shape;
		size_t tile;
	} least[] = {{{7, 9, 5}, 2},
		     {{1000, 1000, 1}, 167},
		     {{3100, 3100, 1}, 512},
		     {{700, 700, 8}, 64},
		     {{60, 60, 700}, 1}};
	const struct tsw_shape shape = least[_i].shape;
	const size_t tiles = (shape.n + least[_i].tile - 1) / least[_i].tile;
	tsw_file_options o = raw(shape.n, shape.ld, shape.elem_size, 0);
	tsw_file_result r = TSW_FILE_RESULT_INIT;
	const char *needs;
	uint64_t named;

	write_file(tsw_pattern(tsw_shape_bytes(shape)), tsw_shape_bytes(shape));
	o.memory_bytes = 1;
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_OPTION);
	needs = strstr(tsw_last_error(), "need at least ");
	ck_assert_ptr_nonnull(needs);
	named = strtoull(needs + strlen("need at least "), NULL, 10);
	o.memory_bytes = named - 1;
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_OPTION);
	o.memory_bytes = named;
	tsw_assert_ok(tsw_transpose_file(path, &o, &r));
	ck_assert_uint_eq(r.pairs, tiles * (tiles + 1) / 2);
	require_transposed(shape, 0, 0);
}
END_TEST

START_TEST(options_are_checked)
{
	tsw_file_options o = raw(4, 0, 4, 0), bad;
	struct {
		tsw_file_options o;
		uint64_t later;
	} newer = {.o = o};
	tsw_file_result r = TSW_FILE_RESULT_INIT;

	write_file(tsw_pattern(64), 64);
#define REFUSED(change, status, says)                                                              \
	do {                                                                                       \
		bad = o;                                                                           \
		bad.change;                                                                        \
		tsw_assert_status(tsw_transpose_file(path, &bad, &r), status);                     \
		ck_assert_msg(strstr(tsw_last_error(), says) != NULL, "%s: %s", #change,           \
			      tsw_last_error());                                                   \
	} while (0)
	tsw_assert_status(tsw_transpose_file(NULL, &o, &r), TSW_ERR_NULL);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "path is NULL"));
	tsw_assert_status(tsw_transpose_file(path, NULL, &r), TSW_ERR_NULL);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "options is NULL"));
	r.struct_size = 0;
	tsw_assert_status(tsw_transpose_file(path, &o, &r), TSW_ERR_OPTION);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), "struct_size = 0"));
	r.struct_size = sizeof r;
	REFUSED(struct_size = 0, TSW_ERR_OPTION, "struct_size = 0");
	REFUSED(struct_size = offsetof(tsw_file_options, force), TSW_ERR_OPTION, "struct_size = ");
	REFUSED(nthreads = -1, TSW_ERR_THREADS, "nthreads = -1");
	REFUSED(durability = 2, TSW_ERR_OPTION, "durability = 2");
	REFUSED(durability = -1, TSW_ERR_OPTION, "durability = -1");
	REFUSED(format = 5, TSW_ERR_OPTION, "format = 5");
	REFUSED(format = -1, TSW_ERR_OPTION, "format = -1");
	REFUSED(format = TSW_FORMAT_NPY, TSW_ERR_OPTION, "elem_size");
	REFUSED(elem_size = 0, TSW_ERR_ELEM_SIZE, "elem_size");
	REFUSED(ld = 3, TSW_ERR_LD, "ld = 3");
	REFUSED(elem_size = SIZE_MAX / 8, TSW_ERR_OVERFLOW, "elem_size");
	REFUSED(offset_bytes = INT64_MAX, TSW_ERR_OVERFLOW, "offset");
	REFUSED(offset_bytes = 1, TSW_ERR_FORMAT, "offset");
	REFUSED(dataset = "w", TSW_ERR_OPTION, "dataset = 'w'");
	REFUSED(n = 5, TSW_ERR_FORMAT, "n = 5");
	REFUSED(n = 3, TSW_ERR_FORMAT, "n = 3");
	REFUSED(memory_bytes = 1, TSW_ERR_OPTION, "memory");
	REFUSED(flag_only = 1, TSW_ERR_OPTION, "flag_only");
	bad = o;
	bad.flag_only = bad.verify = 1;
	tsw_assert_status(tsw_transpose_file(path, &bad, &r), TSW_ERR_OPTION);
	bad = o;
	bad.out_path = path;
	bad.force = 1;
	tsw_assert_status(tsw_transpose_file(path, &bad, &r), TSW_ERR_OPTION);
	/* A caller of a later version that uses nothing new is served, one that does is refused. */
	newer.o.struct_size = sizeof newer;
	newer.later = 1;
	tsw_assert_status(tsw_transpose_file(path, &newer.o, &r), TSW_ERR_OPTION);
	require_transposed((struct tsw_shape){1, 1, 1}, 0, 63); /* nothing was touched */
	newer.later = 0;
	tsw_assert_ok(tsw_transpose_file(path, &newer.o, NULL));
	require_transposed((struct tsw_shape){4, 4, 4}, 0, 0);
	/* And one of the first, whose structure ended with `force`. */
	bad = o;
	bad.struct_size = offsetof(tsw_file_options, force) + sizeof o.force;
	tsw_assert_ok(tsw_transpose_file(path, &bad, NULL));
	require_transposed((struct tsw_shape){1, 1, 1}, 0, 63); /* back again */
}
END_TEST

START_TEST(another_run_is_kept_out)
{
	tsw_file_options o = raw(4, 0, 4, 0), copy = o;
	char out[112];
	int fd;

	snprintf(out, sizeof out, "%s.out", path);
	write_file(tsw_pattern(64), 64);
	fd = open(path, O_RDWR);
	ck_assert(fd >= 0 && !flock(fd, LOCK_EX));
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_LOCKED);
	copy.out_path = out;
	tsw_assert_status(tsw_transpose_file(path, &copy, NULL), TSW_ERR_LOCKED);
	ck_assert(access(out, F_OK));
	/* Readers share the file, and keep a run out. */
	ck_assert(!flock(fd, LOCK_SH));
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_LOCKED);
	tsw_assert_ok(tsw_transpose_file(path, &copy, NULL));
	ck_assert(!unlink(out));
	close(fd);
	tsw_assert_ok(tsw_transpose_file(path, &o, NULL));
	require_transposed((struct tsw_shape){4, 4, 4}, 0, 0);
}
END_TEST

START_TEST(files_that_are_none)
{
	tsw_file_options o = raw(4, 0, 4, 0);

	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_IO);
	tsw_assert_status(tsw_transpose_file(directory, &o, NULL), TSW_ERR_FORMAT);
	tsw_assert_status(tsw_transpose_file("/dev/null", &o, NULL), TSW_ERR_FORMAT);
	ck_assert(!mkfifo(path, 0600));
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_FORMAT);
}
END_TEST

/* What is no file is not replaced by one. */
START_TEST(outputs_that_are_none)
{
	tsw_file_options o = raw(4, 0, 4, 0);
	char out[112];
	struct stat s;

	snprintf(out, sizeof out, "%s.out", path);
	write_file(tsw_pattern(64), 64);
	o.force = 1;
	o.out_path = "";
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_OPTION);
	ck_assert(strstr(tsw_last_error(), "out_path is empty"));
	o.out_path = directory;
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_OPTION);
	o.out_path = out;
	ck_assert(!mkfifo(out, 0600));
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_OPTION);
	ck_assert(strstr(tsw_last_error(), "not a regular file"));
	ck_assert(!lstat(out, &s) && S_ISFIFO(s.st_mode));
	ck_assert(!unlink(out));
}
END_TEST

/* The file is cut off by somebody else while it is being transposed. */
static int cut(void *user, uint64_t done, uint64_t total)
{
	(void)user;
	return done < total / 2 && truncate(path, (off_t)total / 2) ? 1 : 0;
}

START_TEST(cut_off_while_it_runs)
{
	const struct tsw_shape shape = {300, 300, 8};
	tsw_file_options o = raw(300, 0, 8, 0);
	struct stat s;

	o.memory_bytes = 130000;
	o.progress = cut;
	write_file(tsw_pattern(tsw_shape_bytes(shape)), tsw_shape_bytes(shape));
	tsw_assert_status(tsw_transpose_file(path, &o, NULL), TSW_ERR_IO);
	ck_assert(!access(journal, F_OK));
	ck_assert(!stat(path, &s) && (size_t)s.st_size < tsw_shape_bytes(shape));
}
END_TEST

static Suite *file_suite(void)
{
	Suite *suite = suite_create("transpose_file");
	TCase *tests = tcase_create("files");

	tcase_add_checked_fixture(tests, make_directory, remove_directory);
	tcase_add_test(tests, every_size);
	tcase_add_loop_test(tests, stops_and_resumes, 0, 2);
	tcase_add_test(tests, half_a_matrix_is_not_read);
	tcase_add_loop_test(tests, a_failed_comparison, 0, 2);
	tcase_add_test(tests, digests_are_the_checksums);
	tcase_add_loop_test(tests, the_least_memory, 0, 5);
	tcase_add_test(tests, options_are_checked);
	tcase_add_test(tests, another_run_is_kept_out);
	tcase_add_test(tests, files_that_are_none);
	tcase_add_test(tests, outputs_that_are_none);
	tcase_add_test(tests, cut_off_while_it_runs);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *const[]){file_suite}, 1);
}
