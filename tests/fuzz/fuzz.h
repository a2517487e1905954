/* What the fuzz targets share.  A target is a function of any bytes: it must come back, and it ends
 * the process where something is not as promised.  entry.c gives the targets to libFuzzer;
 * tests/test_corpus.c runs the stored inputs of corpus/ as ordinary tests. */
#ifndef TSW_FUZZ_H
#define TSW_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name; /* of its folder in corpus/, too */
	void (*run)(const uint8_t *data, size_t size);
};

extern const struct fuzz_target fuzz_targets[];
extern const size_t fuzz_target_count;

void fuzz_args(const uint8_t *data, size_t size);
void fuzz_journal(const uint8_t *data, size_t size);
void fuzz_npy(const uint8_t *data, size_t size);
void fuzz_options(const uint8_t *data, size_t size);
void fuzz_raw(const uint8_t *data, size_t size);
void fuzz_safetensors(const uint8_t *data, size_t size);
void fuzz_tilepair(const uint8_t *data, size_t size);

/* Prints and aborts unless the condition holds. */
#define fuzz_require(condition, ...)                                                               \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fuzz_broken(#condition, __VA_ARGS__);                                      \
	} while (0)

_Noreturn void fuzz_broken(const char *condition, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* After a call: a failure has a detail of one line, a success has none. */
void fuzz_require_detail(int status);

/* ---- bytes into arguments -------------------------------------------------------------------- */

struct fuzz_input {
	const uint8_t *at, *end;
};

/* The next `bytes` (at most 8) as a little-endian number; zeros past the end. */
uint64_t fuzz_take(struct fuzz_input *in, unsigned bytes);

/* A number of the kind that arithmetic goes wrong at: small, near a power of two, near PTRDIFF_MAX,
 * near 2^64, or any. */
uint64_t fuzz_number(struct fuzz_input *in);

/* ---- a file in memory ------------------------------------------------------------------------ */

struct tsw_io;
struct tsw_file;

/* `bytes` long for whoever asks, its first `stored` bytes kept, zeros behind them. */
struct fuzz_file {
	unsigned char *contents;
	uint64_t stored, bytes;
	unsigned writes;
};

/* Copies the contents to memory of just that size. */
void fuzz_file_new(struct fuzz_file *f, const uint8_t *contents, size_t stored, uint64_t bytes);
void fuzz_file_free(struct fuzz_file *f);

/* The file as the library's formats take one; *io is filled in and must stay. */
struct tsw_file fuzz_file_open(struct fuzz_file *f, struct tsw_io *io);

#endif /* TSW_FUZZ_H */
