/* A tile pair in memory, and the jobs that bring it there and back. */
#ifndef TSW_WORK_H
#define TSW_WORK_H

#include "hash.h"
#include "io.h"
#include "pool.h"
#include "region.h"

/* What the jobs count, from any thread. */
struct tsw_traffic {
	uint64_t read, written, journalled;
};

/* What all works of a run share. */
struct tsw_shop {
	struct tsw_file data, out; /* read from, written to: one file, or two */
	struct tsw_file direct;	   /* the one file again, past the page cache; fd -1: not */
	size_t block;		   /* tiles that go that way begin and end on such bounds, */
	size_t grain;		   /* and the halves of one on the diagonal on such */
	struct tsw_grid grid;
	struct tsw_pool *pool;
	int nthreads;	  /* for transposing */
	int process_only; /* nothing waits for the journal to reach the disk */
	int verify;	  /* digests are taken */
	int swap_digest;  /* the file is column-major: rows are columns */
	int forget;	  /* pages of the file are given back once they are written */
	int early;	  /* somebody else begins the writing of the file's pages to the disk */
	size_t band;	  /* rows of a tile that have one hash */
	struct tsw_traffic *traffic;
};

/* A move of one region between a buffer and a file. */
struct tsw_move {
	const struct tsw_shop *shop;
	struct tsw_job job;
	struct tsw_region region;
	const struct tsw_file *file;
	unsigned char *buffer;
	uint64_t packed_at; /* not 0: the runs stand one after the other from there on */
	uint64_t *count;    /* bytes moved are added here */
	int write, lazy;    /* lazy: the disk need not hear of it soon */
};

/* Hashes of the bands of a region, and so of the region. */
struct tsw_bands {
	struct tsw_region region;
	const unsigned char *buffer;
	tsw_hash *hash;
};

struct tsw_work {
	const struct tsw_shop *shop;
	uint64_t k;
	int diagonal;
	struct tsw_region a, b;
	unsigned char *x, *y;	      /* two buffers of a tile */
	tsw_hash *band_a, *band_b;    /* a hash a band */
	tsw_digest *band_digest;      /* a digest a band */
	tsw_hash ha, hb;	      /* of the halves as they were read */
	tsw_hash ha_new, hb_new;      /* of what is to stand there */
	tsw_digest digest;	      /* of the pair as it was read */
	unsigned char *new_a, *new_b; /* the buffers that hold it, when it is ready */
	struct tsw_job reading;
	struct tsw_move payload, first, second;
};

size_t tsw_band_rows(const struct tsw_grid *g);

/* Memory that one work of such a grid takes. */
uint64_t tsw_work_bytes(const struct tsw_grid *g);

tsw_status tsw_work_new(struct tsw_work *w, const struct tsw_shop *shop);
void tsw_work_free(struct tsw_work *w);

/* Names the pair, reads nothing. */
void tsw_work_set(struct tsw_work *w, uint64_t k);

/* Begins to read pair k and its hashes. */
void tsw_work_read(struct tsw_work *w, uint64_t k);

/* The digest of the pair, once it has been read. */
tsw_digest tsw_work_digest(const struct tsw_work *w);

/* Waits for that; then makes half A's new contents, and takes their hash. */
tsw_status tsw_work_first_half(struct tsw_work *w);

/* Makes half B's new contents; where the pair is off the diagonal, half A's old ones are gone then.
 */
tsw_status tsw_work_second_half(struct tsw_work *w);

/* Begins to write half A's old contents to the journal at `at`, half A's new contents to the file,
 * half B's to the file. */
void tsw_work_write_payload(struct tsw_work *w, const struct tsw_file *journal, uint64_t at);
void tsw_work_write_first(struct tsw_work *w);
void tsw_work_write_second(struct tsw_work *w);

/* Its pages of the file are needed no more. */
void tsw_work_forget(const struct tsw_work *w, int wait);

/* One half between a buffer and a file, to its end: the data file, or, with packed_at, the journal.
 */
tsw_status tsw_half_read(struct tsw_work *w, const struct tsw_region *half,
			 const struct tsw_file *file, uint64_t packed_at, unsigned char *buffer);
tsw_status tsw_half_write(struct tsw_work *w, const struct tsw_region *half, unsigned char *buffer);

/* The hash of a half that lies in a buffer. */
tsw_status tsw_half_hash(struct tsw_work *w, const struct tsw_region *half,
			 const unsigned char *buffer, tsw_hash *hash);

/* Transposes the tile in the buffer, a tile's pitch from row to row, in its place. */
tsw_status tsw_turn(const struct tsw_shop *shop, unsigned char *tile);

#endif /* TSW_WORK_H */
