/* Streams: what is queued runs when it is waited for. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define QUEUED 256

static struct fake_work queue[QUEUED], graph[QUEUED];
static size_t queued, captured;

cudaStream_t fake_stream(int device)
{
	cudaStream_t stream = calloc(1, sizeof *stream);

	if (!stream)
		abort();
	stream->device = device;
	return stream;
}

static void append(struct fake_work *list, size_t *count, const struct fake_work *work)
{
	if (*count == QUEUED)
		abort();
	list[(*count)++] = *work;
}

void fake_queue(const struct fake_work *work)
{
	const int capturing = (uintptr_t)work->stream > 2 && work->stream->capturing;

	append(capturing ? graph : queue, capturing ? &captured : &queued, work);
}

static void run(struct fake_work *work)
{
	const char *wrong = NULL;

	fake_open(work->device);
	if (work->what == FAKE_LAUNCH) {
		work->launch.param = work->parameter;
		wrong = simt_launch(&work->launch);
		fake.executed++;
	} else if (work->what == FAKE_SET) {
		memset(work->to, work->data[0], work->bytes);
	} else {
		memcpy(work->to, work->data, work->bytes);
	}
	fake_shut();
	if (wrong) {
		fake_misuse("kernel %s: %s", fake_kernel_of(work->launch.entry).family, wrong);
		fake.sticky = cudaErrorIllegalAddress;
	}
}

/* Takes entry `at` out of the queue and runs it. */
static void run_at(size_t at)
{
	struct fake_work work = queue[at];

	queued--;
	memmove(queue + at, queue + at + 1, (queued - at) * sizeof *queue);
	run(&work);
}

static size_t count_on(cudaStream_t stream)
{
	size_t count = 0;

	for (size_t i = 0; i < queued; i++)
		count += queue[i].stream == stream;
	return count;
}

/* The first entry that is, or is not, of `stream`. */
static size_t next(cudaStream_t stream, int is)
{
	size_t i = 0;

	while (i < queued && (queue[i].stream == stream) != is)
		i++;
	return i;
}

void fake_run_stream(cudaStream_t stream)
{
	while (count_on(stream) > 1)
		run_at(next(stream, 1));
	while (count_on(stream) < queued)
		run_at(next(stream, 0));
	if (queued)
		run_at(0);
}

void fake_finish(void)
{
	while (queued)
		run_at(0);
}

void fake_capture_begin(cudaStream_t stream)
{
	captured = 0;
	stream->capturing = 1;
}

void fake_capture_end(cudaStream_t stream)
{
	stream->capturing = 0;
}

void fake_replay(cudaStream_t stream)
{
	for (size_t i = 0; i < captured; i++) {
		struct fake_work work = graph[i];

		work.stream = stream;
		fake_queue(&work);
	}
}
