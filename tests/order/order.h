/* Streams and events without a GPU: work that is queued runs later, in any order that the events
 * allow.  Each step takes a random stream and runs what is first on it; a wait is over when the
 * record that it was queued for has run.  What the code under test forgets to wait for is so met,
 * in one order or another, before it is ready. */
#ifndef ORDER_H
#define ORDER_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of work: `run` is called with a copy of the `bytes` bytes at `what`. */
void order_queue(cudaStream_t stream, void (*run)(const void *what), const void *what,
		 size_t bytes);

/* The same, once `ready` says so. */
void order_queue_when(cudaStream_t stream, int (*ready)(const void *what),
		      void (*run)(const void *what), const void *what, size_t bytes);

/* Runs everything; NULL, or why it cannot go on. */
const char *order_run(uint64_t seed);

/* How many streams, events, pools and pieces of memory are held, and forgets the trace. */
int order_held(void);

/* What the machine is like; 0 forgets. */
extern int order_devices;
extern int order_without_peers; /* no device reaches another's memory */
extern unsigned order_fail;	/* the call of that number, from 1, fails */
extern unsigned order_calls;

cudaStream_t order_stream(int device);
void order_drop(cudaStream_t stream);

/* What AUTO stands for, which no memory is touched for; `host`: a part goes through the host. */
struct tsw_spread;
int order_method(const struct tsw_spread *spread, size_t elem_size, int host);

/* Calls of the runtime. */
cudaError_t order_get_last_error(void);
cudaError_t order_get_device_count(int *count);
cudaError_t order_get_device(int *device);
cudaError_t order_set_device(int device);
cudaError_t order_device_synchronize(void);
cudaError_t order_can_access_peer(int *can, int device, int peer);
cudaError_t order_enable_peer(int peer, unsigned flags);
cudaError_t order_priorities(int *low, int *high);
cudaError_t order_stream_create(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t order_stream_destroy(cudaStream_t stream);
cudaError_t order_stream_synchronize(cudaStream_t stream);
cudaError_t order_stream_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t order_event_create(cudaEvent_t *event, unsigned flags);
cudaError_t order_event_destroy(cudaEvent_t event);
cudaError_t order_event_record(cudaEvent_t event, cudaStream_t stream);
cudaError_t order_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
		       cudaStream_t stream);
cudaError_t order_copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			  size_t width, size_t height, enum cudaMemcpyKind kind,
			  cudaStream_t stream);
cudaError_t order_pool_create(cudaMemPool_t *pool, const struct cudaMemPoolProps *props);
cudaError_t order_pool_access(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
			      size_t count);
cudaError_t order_pool_destroy(cudaMemPool_t pool);
cudaError_t order_malloc(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t order_free(void *p, cudaStream_t stream);
cudaError_t order_host_alloc(void **p, size_t bytes, unsigned flags);
cudaError_t order_host_free(void *p);
cudaError_t order_malloc_plain(void **p, size_t bytes, cudaStream_t stream);

#endif /* ORDER_H */
