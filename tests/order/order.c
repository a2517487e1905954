#include "order.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STREAMS 256

struct piece {
	void (*run)(const void *what);	/* NULL: a record, or a wait */
	int (*ready)(const void *what); /* or NULL */
	void *what;
	uint64_t record, wait; /* numbers of records; 0: none */
	struct piece *next;
};

struct CUstream_st {
	int device, dropped;
	struct piece *first, **last;
};

struct CUevent_st {
	uint64_t record; /* the number of its last one; 0: none */
};

int order_devices = 4, order_without_peers;
unsigned order_fail, order_calls;

static struct CUstream_st *streams[MOST_STREAMS];
static size_t stream_count;
static unsigned char *done; /* by number of record */
static uint64_t records, room;
static int current, held;
static const char *misuse;

#define BEGIN()                                                                                    \
	do {                                                                                       \
		if (++order_calls == order_fail)                                                   \
			return cudaErrorInvalidValue;                                              \
	} while (0)

/* ---- queues ---------------------------------------------------------------------------------- */

static struct piece *append(cudaStream_t stream)
{
	struct piece *p = calloc(1, sizeof *p);

	if (!p)
		abort();
	*stream->last = p;
	stream->last = &p->next;
	return p;
}

void order_queue(cudaStream_t stream, void (*run)(const void *what), const void *what, size_t bytes)
{
	struct piece *p = append(stream);

	p->run = run;
	p->what = malloc(bytes);
	if (!p->what)
		abort();
	memcpy(p->what, what, bytes);
}

void order_queue_when(cudaStream_t stream, int (*ready)(const void *what),
		      void (*run)(const void *what), const void *what, size_t bytes)
{
	struct piece **const at = stream->last;

	order_queue(stream, run, what, bytes);
	(*at)->ready = ready;
}

/* Runs the first piece of a stream; 0 if it must wait. */
static int step(cudaStream_t stream)
{
	struct piece *p = stream->first;

	if ((p->wait && !done[p->wait]) || (p->ready && !p->ready(p->what)))
		return 0;
	if (p->record)
		done[p->record] = 1;
	if (p->run)
		p->run(p->what);
	stream->first = p->next;
	if (!stream->first)
		stream->last = &stream->first;
	free(p->what);
	free(p);
	return 1;
}

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static int any_left(void)
{
	for (size_t i = 0; i < stream_count; i++)
		if (streams[i]->first)
			return 1;
	return 0;
}

/* One step of any stream but that one. */
static int step_any(size_t from, size_t but)
{
	for (size_t i = 0; i < stream_count; i++) {
		const size_t at = (from + i) % stream_count;

		if (at != but && streams[at]->first && step(streams[at]))
			return 1;
	}
	return 0;
}

/* Mostly one stream, drawn too, goes on only when no other can: so whoever forgets to wait for it
 * is found out. */
const char *order_run(uint64_t seed)
{
	const size_t starved = stream_count ? random_next(&seed) % (stream_count + 4) : 0;

	while (any_left()) {
		const size_t from = random_next(&seed) % stream_count;

		if (!step_any(from, starved) && !step_any(from, stream_count))
			return "every stream waits for another";
	}
	return misuse;
}

int order_held(void)
{
	const int left = held;

	for (size_t i = 0; i < stream_count; i++)
		free(streams[i]);
	stream_count = 0;
	free(done);
	done = NULL;
	records = room = 0;
	held = 0;
	misuse = NULL;
	return left;
}

/* ---- streams and events ---------------------------------------------------------------------- */

cudaStream_t order_stream(int device)
{
	cudaStream_t stream = calloc(1, sizeof *stream);

	if (!stream || stream_count == MOST_STREAMS)
		abort();
	stream->device = device;
	stream->last = &stream->first;
	streams[stream_count++] = stream;
	return stream;
}

cudaError_t order_stream_create(cudaStream_t *stream, unsigned flags, int priority)
{
	(void)flags, (void)priority;
	BEGIN();
	*stream = order_stream(current);
	held++;
	return cudaSuccess;
}

/* What is on it still runs. */
cudaError_t order_stream_destroy(cudaStream_t stream)
{
	stream->dropped = 1;
	held--;
	BEGIN();
	return cudaSuccess;
}

cudaError_t order_stream_synchronize(cudaStream_t stream)
{
	const char *wrong;

	(void)stream;
	BEGIN();
	wrong = order_run(1);
	if (wrong)
		misuse = wrong;
	return cudaSuccess;
}

cudaError_t order_device_synchronize(void)
{
	return order_stream_synchronize(NULL);
}

cudaError_t order_event_create(cudaEvent_t *event, unsigned flags)
{
	(void)flags;
	BEGIN();
	*event = calloc(1, sizeof **event);
	if (!*event)
		abort();
	held++;
	return cudaSuccess;
}

cudaError_t order_event_destroy(cudaEvent_t event)
{
	free(event);
	held--;
	BEGIN();
	return cudaSuccess;
}

static int misused(cudaStream_t stream)
{
	if (stream->dropped)
		misuse = "a stream was used after it was destroyed";
	else if (stream->device != current)
		misuse = "a stream was used while another device was current";
	return misuse != NULL;
}

cudaError_t order_event_record(cudaEvent_t event, cudaStream_t stream)
{
	BEGIN();
	if (misused(stream))
		return cudaErrorInvalidValue;
	if (++records >= room) {
		room = 2 * room + 64;
		done = realloc(done, room);
		if (!done)
			abort();
	}
	done[records] = 0;
	event->record = records;
	append(stream)->record = records;
	return cudaSuccess;
}

cudaError_t order_stream_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	(void)flags;
	BEGIN();
	if (misused(stream))
		return cudaErrorInvalidValue;
	/* CUDA lets a wait for what was never recorded pass at once. */
	if (event->record)
		append(stream)->wait = event->record;
	else
		misuse = "a wait for an event that was never recorded";
	return cudaSuccess;
}

/* ---- devices --------------------------------------------------------------------------------- */

cudaError_t order_get_last_error(void)
{
	return cudaSuccess;
}

cudaError_t order_get_device_count(int *count)
{
	BEGIN();
	*count = order_devices;
	return cudaSuccess;
}

cudaError_t order_get_device(int *device)
{
	BEGIN();
	*device = current;
	return cudaSuccess;
}

cudaError_t order_set_device(int device)
{
	BEGIN();
	current = device;
	return cudaSuccess;
}

cudaError_t order_can_access_peer(int *can, int device, int peer)
{
	BEGIN();
	*can = device != peer && !order_without_peers;
	return cudaSuccess;
}

cudaError_t order_enable_peer(int peer, unsigned flags)
{
	static char enabled[16][16];

	(void)flags;
	BEGIN();
	if (order_without_peers)
		misuse = "peer access was enabled where there is none";
	if (enabled[current][peer])
		return cudaErrorPeerAccessAlreadyEnabled;
	enabled[current][peer] = 1;
	return cudaSuccess;
}

cudaError_t order_priorities(int *low, int *high)
{
	BEGIN();
	*low = 0;
	*high = -5;
	return cudaSuccess;
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct copy {
	unsigned char *to;
	const unsigned char *from;
	size_t to_pitch, from_pitch, width, height;
};

static void run_copy(const void *what)
{
	const struct copy *c = what;

	for (size_t y = 0; y < c->height; y++)
		memcpy(c->to + y * c->to_pitch, c->from + y * c->from_pitch, c->width);
}

cudaError_t order_copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			  size_t width, size_t height, enum cudaMemcpyKind kind,
			  cudaStream_t stream)
{
	const struct copy c = {to, from, to_pitch, from_pitch, width, height};

	(void)kind;
	BEGIN();
	if (misused(stream) || width > to_pitch || width > from_pitch)
		return cudaErrorInvalidValue;
	order_queue(stream, run_copy, &c, sizeof c);
	return cudaSuccess;
}

cudaError_t order_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
		       cudaStream_t stream)
{
	return order_copy_2d(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t order_pool_create(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
	(void)props;
	BEGIN();
	*pool = malloc(1);
	if (!*pool)
		abort();
	held++;
	return cudaSuccess;
}

cudaError_t order_pool_access(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
			      size_t count)
{
	(void)pool, (void)access, (void)count;
	BEGIN();
	return cudaSuccess;
}

cudaError_t order_pool_destroy(cudaMemPool_t pool)
{
	free(pool);
	held--;
	BEGIN();
	return cudaSuccess;
}

/* The size comes first, so that freeing can spoil what others still use. */
#define HEAD 256

static void *take(size_t bytes)
{
	unsigned char *p = aligned_alloc(HEAD, (bytes + HEAD - 1) / HEAD * HEAD + HEAD);

	if (!p)
		abort();
	memcpy(p, &bytes, sizeof bytes);
	memset(p + HEAD, 0xee, bytes);
	held++;
	return p + HEAD;
}

static void give_back_now(void *p)
{
	unsigned char *head = (unsigned char *)p - HEAD;
	size_t bytes;

	memcpy(&bytes, head, sizeof bytes);
	memset(p, 0xdd, bytes);
	free(head);
	held--;
}

cudaError_t order_malloc(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
	(void)pool;
	BEGIN();
	if (misused(stream))
		return cudaErrorInvalidValue;
	*p = take(bytes);
	return cudaSuccess;
}

cudaError_t order_malloc_plain(void **p, size_t bytes, cudaStream_t stream)
{
	return order_malloc(p, bytes, NULL, stream);
}

static void run_free(const void *what)
{
	void *p;

	memcpy(&p, what, sizeof p);
	give_back_now(p);
}

cudaError_t order_free(void *p, cudaStream_t stream)
{
	order_queue(stream, run_free, &p, sizeof p);
	if (stream->dropped)
		misuse = "a stream was used after it was destroyed";
	BEGIN();
	return cudaSuccess;
}

cudaError_t order_host_alloc(void **p, size_t bytes, unsigned flags)
{
	(void)flags;
	BEGIN();
	*p = take(bytes);
	return cudaSuccess;
}

cudaError_t order_host_free(void *p)
{
	give_back_now(p);
	BEGIN();
	return cudaSuccess;
}
