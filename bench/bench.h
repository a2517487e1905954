/* tileswap-bench: what its parts share.
 *
 * An *entry* is anything that can be timed on a set of matrices: a ceiling, a kernel, a peer.  A
 * *set* is the memory it is timed on: one or several copies of the same batch, used in turn so that
 * no cache can hold them.  A *backend* makes sets and entries and times two entries side by side.
 * race.c does the rest alike for all of them: verify, alternate with the ceiling, print a row.
 */
#ifndef TSW_BENCH_H
#define TSW_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../src/matrices.h"

/* The shape of one measurement.  cols is 0 for square matrices; the ladder's are n x cols. */
struct bench_shape {
	size_t n, cols, ld, elem_size; /* ld in elements */
	size_t offset;	      /* bytes by which the base address misses 256-byte alignment */
	size_t stride, count; /* of a batch, in elements */
	int array;	      /* the batch is given by an array of pointers */
};

/* An imatcopy instead of a transpose. */
struct bench_imatcopy {
	char op; /* upper case; 0: no imatcopy */
	tsw_type type;
	double alpha[2];
};

enum bench_mode {
	BENCH_STREAM,	/* caches out of play */
	BENCH_RESIDENT, /* the same matrices again and again, in cache if they fit */
	BENCH_GRAPH,	/* as resident, all applications in one CUDA graph */
	BENCH_PROFILE	/* every entry once, for a profiler: no timing, no verification */
};

struct bench_options {
	const char *device;    /* "cpu" or "cuda" */
	const char *case_name; /* or NULL */
	size_t n[64], elem_size[64];
	size_t n_count, elem_count;
	size_t ld, ld_plus; /* --ld 100 or --ld +1 */
	size_t offset, count;
	size_t stride, stride_plus; /* --stride 100 or --stride +1 */
	size_t fill_bytes;	    /* sets the count */
	int array, threads, reps;
	int peers, kernels, ladder, pattern, checksum, json;
	enum bench_mode mode;
	uint64_t seed;
	struct bench_imatcopy imatcopy;
	int type_given, alpha_given;
};

/* What apply and verify answer beside a count. */
enum { BENCH_OK = 0, BENCH_UNSUPPORTED = 1, BENCH_FAILED = 2 };

enum bench_kind { BENCH_CEILING, BENCH_KERNEL, BENCH_PEER };

struct bench_set;

struct bench_entry {
	const char *name; /* as printed */
	enum bench_kind kind;
	int out_of_place; /* needs set->out */
	const void *self; /* what apply needs to know beside the set */
	/* Applies the entry once to copy number `copy`, on the GPU asynchronously on set->stream.
	 * Whoever fails prints why. */
	int (*apply)(const struct bench_entry *entry, struct bench_set *set, size_t copy);
	/* Applies the entry once to freshly filled data and counts elements found wrong.  NULL: as
	 * the backend verifies transposes. */
	int (*verify)(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong);
	/* Called once for a set before the data are filled in, for planning; may be NULL. */
	int (*prepare)(const struct bench_entry *entry, struct bench_set *set);
	int threads; /* that it can use, where that is fewer than the set's; 0 = all */
};

struct bench_set {
	struct bench_shape shape;
	enum bench_mode mode;
	char *in, *out; /* copy 0 of the matrices and of the second place; out may be NULL */
	void **arrays;	/* with shape.array: count pointers for each copy, device memory on a GPU */
	size_t pitch;	/* bytes from copy to copy */
	size_t copies;	/* that are used in turn */
	size_t calls;	/* applications in one timed repetition */
	size_t span_bytes;   /* from the first to the last byte of a copy */
	size_t moved_bytes;  /* count * n * n * elem_size: what a ceiling copies */
	int threads;	     /* host */
	const char *isa;     /* host: the instruction set that the library uses; else NULL */
	void *stream;	     /* GPU; NULL on the host */
	uint64_t seed;	     /* of random data */
	unsigned word_bytes; /* of coded data, where that is not for elem_size to say; else 0 */
	size_t next;	     /* copy that the next application takes */
	int passes; /* times that the bytes cross the bus: 2, or 1 where they are only read */
	int waits;  /* the entry waits for the GPU itself, so nothing can be queued behind a spin */
	const char *data; /* "curand", "philox" or "coded": what the last verification ran on */
};

struct bench_backend {
	const char *name;
	/* Makes the memory for shape; prints why and returns non-zero if it cannot. */
	int (*open)(struct bench_set *set, const struct bench_options *options);
	void (*close)(struct bench_set *set);
	int (*verify)(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong);
	/* For imatcopy: coding copy 0; bytes of copy 0 to the host, after the work on the stream.
	 */
	int (*code)(struct bench_set *set);
	int (*fetch)(struct bench_set *set, size_t offset, size_t bytes, void *to);
	/* Times set->calls applications of each entry, a's first, one right after the other. */
	int (*time_pair)(const struct bench_entry *a, const struct bench_entry *b,
			 struct bench_set *set, double ms[2]);
	/* Ceilings of a set, ended by a NULL name. */
	const struct bench_entry *ceilings, *read_ceilings; /* the latter for the checksum */
	/* A ceiling under this many GB/s on this machine means a disturbed run; 0 = not known. */
	double (*floor_gb_per_s)(void);
};

extern const struct bench_backend bench_cpu;
extern const struct bench_backend bench_cuda;

/* What the library picks: the public call for the shape of the set. */
extern const struct bench_entry bench_library;

/* The other public calls on copy number `copy`: the digest of its first matrix; imatcopy, which on
 * a GPU returns when queued. */
int bench_call_checksum(const struct bench_set *set, size_t copy, int transposed,
			tsw_digest *digest);
int bench_call_imatcopy(const struct bench_set *set, size_t copy, const struct bench_imatcopy *x);

/* Verifies an entry on random bits of every pattern. */
int bench_verify_random(const struct bench_entry *entry, struct bench_set *set, uint64_t *wrong);

#define BENCH_MAX_ENTRIES 128

/* The entries that the options ask for; returns how many.  CUDA: 0 and a message if none. */
size_t bench_cpu_entries(const struct bench_options *options, struct bench_entry *list);
size_t bench_cuda_entries(const struct bench_options *options, struct bench_entry *list);
size_t bench_cpu_choices(struct bench_entry *list);
size_t bench_pattern_entries(const struct bench_shape *shape, struct bench_entry *list);
size_t bench_checksum_entries(const struct bench_backend *backend, struct bench_entry *list);
size_t bench_imatcopy_entries(const struct bench_backend *backend,
			      const struct bench_options *options, struct bench_entry *list);
size_t bench_ladder_entries(size_t elem_size, struct bench_entry *list);

/* Of an imatcopy: whether its type is complex, whether it is single precision, and alpha as a value
 * of the type, in `room` if need be. */
int bench_imatcopy_complex(const struct bench_imatcopy *x);
int bench_imatcopy_single(const struct bench_imatcopy *x);
int bench_imatcopy_narrow(const struct bench_imatcopy *x); /* half or bfloat16 */
const void *bench_imatcopy_alpha(const struct bench_imatcopy *x, float room[2]);

/* 0 if a GPU can be used, else a message and 3. */
int bench_cuda_start(void);

/* Measures every entry on one shape and prints the rows.  Non-zero if something failed or was
 * found wrong. */
int bench_race(const struct bench_backend *backend, const struct bench_options *options,
	       const struct bench_shape *shape, const struct bench_entry *list, size_t entries);

/* The matrices of copy number `copy`, in place or, with `out`, in the second place. */
struct tsw_matrices bench_matrices(const struct bench_set *set, size_t copy, int out);

/* How many copies, how far apart and how many applications, so that `working_set` bytes are gone
 * through: fills in pitch, copies, calls, span_bytes and moved_bytes from the shape. */
void bench_plan(struct bench_set *set, size_t working_set, size_t most_calls);

/* ---- peers: other people's libraries, loaded at run time --------------------------------------
 */

/* A peer transposes one matrix of `set`; 16-byte elements are complex doubles.  Peers calculate, so
 * they are verified on position-coded data that are ordinary numbers (coded.h). */
size_t bench_host_peers(struct bench_entry *list);
size_t bench_cuda_peers(struct bench_entry *list);

/* ---- output -----------------------------------------------------------------------------------
 */

struct bench_fact {
	const char *key;
	char text[96];
	double number;
	int is_text;
};

void bench_print_machine(const struct bench_options *options);
/* Facts about GPU, driver and clocks, at most `room`; returns how many. */
size_t bench_cuda_facts(struct bench_fact *facts, size_t room);

struct bench_row {
	const char *backend;
	const struct bench_entry *entry;
	const struct bench_set *set;
	int reps, threads, is_void;
	double ms_median, ms_min, ms_max;
	double ceiling_ms_median, gb_per_s, ceiling_gb_per_s, ratio, ratio_min, ratio_max;
	const char *ceiling;
	uint64_t wrong;
	int verified;
};

void bench_print_row(const struct bench_options *options, const struct bench_row *row);

double bench_median(double *values, size_t count);

/* Applies the entry set->calls times, to one copy after the other from set->next on. */
int bench_apply_calls(const struct bench_entry *entry, struct bench_set *set);

/* BENCH_OK, BENCH_UNSUPPORTED or, after a message that begins with `what`, BENCH_FAILED. */
int bench_answer(const char *what, tsw_status status);

void bench_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* TSW_BENCH_H */
