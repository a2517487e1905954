/* tileswap-dist: what is to be done, and who does it. */
#ifndef TSW_DIST_JOB_H
#define TSW_DIST_JOB_H

#include <mpi.h>

#include "../dist/plan.h"

/* Exit codes, as the tool tileswap has them. */
enum { DIST_OK = 0, DIST_FAILED = 1, DIST_USAGE = 2, DIST_NO_BACKEND = 3 };

/* The time of each is kept. */
#define DIST_MOST_REPS 999999

enum dist_device { DIST_CPU, DIST_CUDA };

struct dist_options {
	tsw_dist dist;
	size_t elem_size, pad; /* pad: elements behind every local row */
	size_t stage_bytes;
	size_t reps; /* odd, so that what has been done shows */
	uint64_t seed;
	int threads, device; /* enum dist_device */
	int json, plan, relabel, help;
};

/* Reads the command line.  0, or -1 with a complaint in `text`. */
int dist_options_parse(int argc, char **argv, struct dist_options *o, char *text, size_t room);
void dist_options_help(void);

/* One rank's share of the work. */
struct dist_job {
	const struct dist_options *o;
	struct tsw_spread spread;
	int rank, ranks;
	size_t rows, cols, ld; /* of the local matrix, stored by rows as the plan has it */
	size_t nbytes;
	void *a;
	MPI_Comm comm;
};

/* Sets rows and cols by the rank's number. */
void dist_job_sit(struct dist_job *job);

struct dist_wrong {
	uint64_t elements, padding_bytes;
	uint64_t first; /* row * n + column of the first wrong element; UINT64_MAX if none */
};

/* Where the local matrix lies and what transposes it.  Every call is made by all ranks. */
struct dist_engine {
	const char *name;
	tsw_status (*open)(struct dist_job *job); /* memory for the local matrix */
	tsw_status (*fill)(struct dist_job *job);
	tsw_status (*transpose)(struct dist_job *job); /* returns when done */
	tsw_status (*check)(struct dist_job *job, struct dist_wrong *wrong);
	void (*close)(struct dist_job *job);
};

/* The engine of a device; NULL, with the reason in tsw_last_error(), where it is not there. */
const struct dist_engine *dist_engine_of(int device);
extern const struct dist_engine dist_engine_cpu;

/* Fills rows first .. first + rows - 1 of the local matrix, at `a`, from the seed: element (r, c)
 * is the bytes of the stream from (r * n + c) * elem_size on, and padding a constant. */
void dist_fill_rows(const struct dist_job *job, void *a, size_t first, size_t rows);

/* Compares them with what must stand there after a transpose; adds to *wrong. */
void dist_check_rows(const struct dist_job *job, const void *a, size_t first, size_t rows,
		     struct dist_wrong *wrong);

#endif /* TSW_DIST_JOB_H */
