/* The benchmark of a matrix over several GPUs: what its files share. */
#ifndef TSW_BENCH_MULTI_H
#define TSW_BENCH_MULTI_H

#include "../src/tileswap_multi.h"

#define BENCH_MOST_DEVICES 16
#define BENCH_MOST_VALUES 16

struct bench_multi_options {
	int devices;
	int nprow, npcol; /* 0: 1 x devices */
	size_t n, mb, nb; /* n 0: by `fill`; blocks 0: as large as can be */
	double fill;	  /* share of the combined memory of the devices */
	size_t elem_size;
	size_t staging[BENCH_MOST_VALUES], buffers[BENCH_MOST_VALUES], copies[BENCH_MOST_VALUES];
	size_t stagings, buffer_counts, copy_counts;
	int methods[BENCH_MOST_VALUES], method_count;
	int reps, json;
	int take; /* the call takes its staging itself */
	const char *case_name;
};

/* tileswap-bench --devices D ...: the program's exit status. */
int bench_multi_main(int argc, char **argv);

/* Parses; 0, or an exit status after a message. */
int bench_multi_parse(int argc, char **argv, struct bench_multi_options *o);

/* A method beside the library's. */
#define BENCH_METHOD_NCCL (TSW_MULTI_HOST + 1)

const char *bench_method_name(int method);

/* Measures all that the options ask for. */
int bench_multi_run(const struct bench_multi_options *o);

/* ---- link rate --------------------------------------------------------------------------------
 */

/* Two buffers a device between which copy engines copy. */
struct bench_links {
	int devices;
	void *from[BENCH_MOST_DEVICES], *to[BENCH_MOST_DEVICES];
	void *stream[BENCH_MOST_DEVICES][BENCH_MOST_DEVICES];
};

int bench_links_open(struct bench_links *links, int devices);
void bench_links_close(struct bench_links *links);

/* GB/s that leave each device while all send and receive at once: the better of one partner at a
 * time and all partners at a time. */
int bench_links_measure(struct bench_links *links, double *gb_per_s);

/* ---- NCCL -------------------------------------------------------------------------------------
 */

/* Loads libtileswap_nccl and makes a communicator; BENCH_UNSUPPORTED if it is not there. */
int bench_nccl_open(int devices);

/* Memory of each device that its communicator knows. */
int bench_nccl_staging(int devices, size_t bytes, void **staging);

/* Through the parts' staging, or what the call takes.  Returns when the work is queued on the
 * parts' streams. */
int bench_nccl_transpose(const tsw_dist *dist, size_t elem_size, const tsw_multi_part *parts,
			 size_t stage_bytes);

#endif /* TSW_BENCH_MULTI_H */
