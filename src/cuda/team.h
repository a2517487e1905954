/* The parts of a matrix on several GPUs, and what each needs while chunks travel: streams, events,
 * staging. */
#ifndef TSW_TEAM_H
#define TSW_TEAM_H

#include "rect.h"
#include "runtime.h"

#include "../tileswap_multi.h"

#define TSW_MOST_BUFFERS 16
#define TSW_MOST_COPIES 4

/* One part.  Its chunks are numbered 0, 1, ... whoever the partner is: chunk `turn` uses buffers
 * and events number turn % buffers. */
struct tsw_member {
	int device;
	tsw_stream caller;
	char *a; /* the device's own name for the local matrix */
	size_t ld;
	uint64_t turn;	/* chunks queued so far */
	char *in, *out; /* buffers where chunks arrive; where they are packed */
	int host;	/* `in` is pinned host memory */
	char *own;	/* the staging of this call, if it took any */
	cudaMemPool_t pool;
	cudaStream_t work;		    /* unpacks, or swaps */
	cudaStream_t local;		    /* what stays on the part; of low priority */
	cudaStream_t pack;		    /* packs; NULL if nothing is packed there */
	cudaStream_t copy[TSW_MOST_COPIES]; /* sends */
	cudaEvent_t mark;		    /* for joining streams */
	cudaEvent_t packed[TSW_MOST_BUFFERS];
	cudaEvent_t sent[TSW_MOST_BUFFERS];
	cudaEvent_t emptied[TSW_MOST_BUFFERS]; /* the chunk that had arrived is in its place */
};

struct tsw_team {
	struct tsw_spread spread;
	size_t elem_size;
	tsw_multi_options options; /* once begun, what is done: no zeros left */
	uint64_t chunk_bytes;	   /* of one buffer */
	uint32_t count;
	struct tsw_member *members; /* by rank */
};

/* Streams and events of a member whose device is given, for that many buffers and copies; a stream
 * to pack on only if asked for. */
tsw_status tsw_member_open(struct tsw_member *m, int buffers, int copies, int packs);

/* Gives back whatever the member has, staging too, in the order of its streams.  *status is what
 * has come of the work, and becomes the first failure there is. */
void tsw_member_close(struct tsw_member *m, tsw_status *status);

/* Fills in count and members, all else being given: devices and memory are looked at, peers
 * enabled, streams, events and staging made.  After a failure too tsw_team_end() must be called. */
tsw_status tsw_team_begin(struct tsw_team *team, const tsw_multi_part *parts);

/* Gives everything back, in the order of the streams, and hands up `status`, what has come of the
 * work, or the first failure of its own. */
tsw_status tsw_team_end(struct tsw_team *team, tsw_status status);

/* Rows `down` and columns `across` of a member's local matrix. */
struct tsw_rect tsw_rect_of(const struct tsw_team *team, uint32_t rank, struct tsw_walk down,
			    struct tsw_walk across);

/* `stream` of device `device`, which becomes the current one, goes on after `event`. */
tsw_status tsw_await(int device, cudaStream_t stream, cudaEvent_t event);

#endif /* TSW_TEAM_H */
