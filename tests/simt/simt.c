/* Runs a grid: the threads of a block as fibers, the blocks one after another. */
#include "fiber.h"
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_THREADS 1024
#define WARP 32
#define STACK_BYTES ((size_t)64 << 10)
#define GUARD_BYTES ((size_t)64 << 10) /* a multiple of any machine's page */
#define WIDEST 16		       /* bytes that a shuffle can move */

enum state { READY, AT_BARRIER, AT_WARP, DONE };
enum warp_op { OP_SYNC, OP_SHUFFLE, OP_BALLOT };

struct thread {
	struct fiber fiber;
	enum state state;
	const struct simt_site *site; /* where it waits */
	/* While AT_WARP: */
	enum warp_op op;
	enum simt_shuffle how;
	uint32_t mask;
	int lane, width;
	unsigned char in[WIDEST], out[WIDEST];
};

struct simt_now simt_now;
struct simt_dim3 simt_thread_idx, simt_block_idx, simt_block_dim, simt_grid_dim;

static struct {
	const struct simt_launch *launch;
	unsigned count; /* threads of a block */
	uint64_t random;
	uint32_t epoch, warp_epoch[MAX_THREADS / WARP];
	uint16_t order[MAX_THREADS];
	struct fiber runner;
	char failure[640];
} run;

/* Threads keep their stacks from launch to launch. */
static struct thread threads[MAX_THREADS];

/* ---- order ----------------------------------------------------------------------------------- */

static uint64_t next_random(void)
{
	uint64_t z = run.random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* The place that comes `step`-th among `count`, where order 0 and 1 are fixed; else see shuffle. */
static uint64_t straight(uint64_t step, uint64_t count)
{
	return run.launch->order == 1 ? count - 1 - step : step;
}

static void new_order(void)
{
	for (unsigned i = 0; i < run.count; i++)
		run.order[i] = (uint16_t)straight(i, run.count);
	for (unsigned i = run.count; run.launch->order > 1 && i > 1; i--) {
		unsigned other = (unsigned)(next_random() % i);
		uint16_t keep = run.order[i - 1];

		run.order[i - 1] = run.order[other];
		run.order[other] = keep;
	}
}

/* ---- failures -------------------------------------------------------------------------------- */

static struct simt_dim3 index_of(unsigned thread)
{
	unsigned x = simt_block_dim.x;

	return (struct simt_dim3){thread % x, thread / x, 0};
}

static void record(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void record(const char *format, ...)
{
	va_list args;

	if (run.failure[0])
		return;
	va_start(args, format);
	vsnprintf(run.failure, sizeof run.failure, format, args);
	va_end(args);
}

_Noreturn void simt_fail(const char *format, ...)
{
	struct simt_dim3 t = index_of(simt_now.thread);
	char text[400];
	va_list args;

	simt_now.running = 0;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	record("block %u, thread (%u, %u): %s", simt_now.block, t.x, t.y, text);
	threads[simt_now.thread].state = DONE;
	fiber_leave(&threads[simt_now.thread].fiber, &run.runner);
	abort(); /* never gone back to */
}

static void describe(char *text, size_t size, unsigned thread)
{
	static const char *const doing[] = {"runs", "waits at", "waits for its warp at",
					    "has left the kernel"};
	const struct thread *t = &threads[thread];
	struct simt_dim3 idx = index_of(thread);
	int waits = t->state == AT_BARRIER || t->state == AT_WARP;

	snprintf(text, size, "thread (%u, %u) %s%s%s", idx.x, idx.y, doing[t->state],
		 waits ? " " : "", waits ? t->site->file : "");
	if (waits)
		snprintf(text + strlen(text), size - strlen(text), ":%d", t->site->line);
}

static void record_divergence(unsigned one, unsigned other)
{
	char a[250], b[250];

	describe(a, sizeof a, one);
	describe(b, sizeof b, other);
	record("divergent barrier in block %u: %s, %s", simt_now.block, a, b);
}

/* ---- a thread -------------------------------------------------------------------------------- */

static void thread_main(void)
{
	struct thread *self = &threads[simt_now.thread];

	fiber_entered(&run.runner);
	run.launch->call(run.launch->entry, run.launch->param);
	simt_now.running = 0;
	self->state = DONE;
	fiber_leave(&self->fiber, &run.runner);
	abort(); /* never gone back to */
}

static void resume(unsigned thread)
{
	struct thread *t = &threads[thread];

	simt_thread_idx = index_of(thread);
	simt_now.thread = thread;
	simt_now.epoch = run.epoch;
	simt_now.warp_epoch = run.warp_epoch[thread / WARP];
	simt_now.stack = t->fiber.stack;
	simt_now.stack_bytes = t->fiber.stack_bytes;
	simt_now.running = 1;
	fiber_switch(&run.runner, &t->fiber);
	simt_now.running = 0;
}

/* Called by a kernel's thread: the others go on. */
static void pause_at(enum state state, const struct simt_site *site)
{
	struct thread *self = &threads[simt_now.thread];

	self->state = state;
	self->site = site;
	simt_now.running = 0;
	fiber_switch(&self->fiber, &run.runner);
}

void simt_barrier(const struct simt_site *site)
{
	pause_at(AT_BARRIER, site);
}

static struct thread *warp_wait(enum warp_op op, const struct simt_site *site, uint32_t mask)
{
	struct thread *self = &threads[simt_now.thread];

	if (!(mask >> simt_now.thread % WARP & 1))
		simt_fail("calls at %s:%d with mask %08x, without itself in it", site->file,
			  site->line, mask);
	self->op = op;
	self->mask = mask;
	pause_at(AT_WARP, site);
	return self;
}

void simt_syncwarp(const struct simt_site *site, uint32_t mask)
{
	warp_wait(OP_SYNC, site, mask);
}

void simt_shuffle(const struct simt_site *site, enum simt_shuffle how, uint32_t mask,
		  const void *in, void *out, size_t size, int lane, int width)
{
	struct thread *self = &threads[simt_now.thread];

	if (size > WIDEST || width < 1 || width > WARP || (width & (width - 1)))
		simt_fail("shuffles %zu bytes over width %d at %s:%d", size, width, site->file,
			  site->line);
	self->how = how;
	self->lane = lane;
	self->width = width;
	memcpy(self->in, in, size);
	warp_wait(OP_SHUFFLE, site, mask);
	memcpy(out, self->out, size);
}

uint32_t simt_ballot(const struct simt_site *site, uint32_t mask, int predicate)
{
	struct thread *self = &threads[simt_now.thread];
	uint32_t votes;

	self->in[0] = (unsigned char)predicate;
	warp_wait(OP_BALLOT, site, mask);
	memcpy(&votes, self->out, sizeof votes);
	return votes;
}

/* ---- atomics: a thread is never interrupted, so these are plain ------------------------------ */

static uint64_t atomic_result(enum simt_atomic how, uint64_t old, uint64_t value, int is_signed,
			      uint64_t compare)
{
	int less = is_signed ? (int64_t)value < (int64_t)old : value < old;

	switch (how) {
	case SIMT_ADD:
		return old + value;
	case SIMT_MIN:
		return less ? value : old;
	case SIMT_MAX:
		return less ? old : value;
	case SIMT_OR:
		return old | value;
	case SIMT_AND:
		return old & value;
	case SIMT_EXCLUSIVE_OR:
		return old ^ value;
	case SIMT_EXCHANGE:
		return value;
	case SIMT_COMPARE:
		return old == compare ? value : old;
	}
	return old;
}

uint64_t simt_atomic(enum simt_atomic how, void *p, size_t size, int is_signed, uint64_t value,
		     uint64_t compare)
{
	uint64_t old, new;
	uint32_t narrow;

	simt_trace_atomic(p, size);
	if (size == 8) {
		memcpy(&old, p, 8);
		new = atomic_result(how, old, value, is_signed, compare);
		memcpy(p, &new, 8);
		return old;
	}
	if (size != 4)
		simt_fail("atomic operation on %zu bytes", size);
	memcpy(&narrow, p, 4);
	old = is_signed ? (uint64_t)(int64_t)(int32_t)narrow : narrow;
	value = is_signed ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
	narrow = (uint32_t)atomic_result(how, old, value, is_signed, (uint32_t)compare);
	memcpy(p, &narrow, 4);
	return old;
}

/* ---- barriers, seen from the runner: nobody is ready any more -------------------------------- */

static int lane_exists(unsigned thread, uint32_t mask)
{
	return thread < run.count && mask >> thread % WARP & 1 && threads[thread].state != DONE;
}

/* Do all threads of the warp beginning at `warp` that `leader` waits for wait for the same? */
static int warp_complete(unsigned warp, const struct thread *leader)
{
	for (unsigned t = warp; t < warp + WARP; t++)
		if (lane_exists(t, leader->mask) &&
		    (threads[t].state != AT_WARP || threads[t].mask != leader->mask ||
		     threads[t].site->number != leader->site->number))
			return 0;
	return 1;
}

static unsigned source_lane(const struct thread *t, unsigned lane)
{
	unsigned width = (unsigned)t->width, first = lane & ~(width - 1), last = first + width - 1;
	unsigned other = (unsigned)t->lane;

	switch (t->how) {
	case SIMT_LANE:
		return first + (other & (width - 1));
	case SIMT_XOR:
		return (lane ^ other) <= last ? lane ^ other : lane;
	case SIMT_UP:
		return lane >= first + other ? lane - other : lane;
	case SIMT_DOWN:
		return lane + other <= last ? lane + other : lane;
	}
	return lane;
}

static void exchange(unsigned warp, uint32_t mask)
{
	uint32_t votes = 0;

	for (unsigned t = warp; t < warp + WARP; t++)
		if (lane_exists(t, mask) && threads[t].op == OP_BALLOT && threads[t].in[0])
			votes |= 1u << t % WARP;
	for (unsigned t = warp; t < warp + WARP; t++) {
		unsigned source;

		if (!lane_exists(t, mask))
			continue;
		if (threads[t].op == OP_BALLOT)
			memcpy(threads[t].out, &votes, sizeof votes);
		if (threads[t].op != OP_SHUFFLE)
			continue;
		source = warp + source_lane(&threads[t], t % WARP);
		if (lane_exists(source, mask))
			memcpy(threads[t].out, threads[source].in, WIDEST);
		else /* undefined in CUDA */
			memset(threads[t].out, 0xa5, WIDEST);
	}
}

static int release_warps(void)
{
	int released = 0;

	for (unsigned t = 0; t < run.count; t++) {
		unsigned warp = t / WARP * WARP;
		uint32_t mask = threads[t].mask;

		if (threads[t].state != AT_WARP || !warp_complete(warp, &threads[t]))
			continue;
		exchange(warp, mask);
		/* A shuffle exchanges registers; only __syncwarp() orders memory. */
		run.warp_epoch[warp / WARP] += threads[t].op == OP_SYNC;
		for (unsigned other = warp; other < warp + WARP; other++)
			if (lane_exists(other, mask))
				threads[other].state = READY;
		released = 1;
	}
	return released;
}

static int release_block(void)
{
	for (unsigned t = 1; t < run.count; t++) {
		if (threads[t].state != AT_BARRIER || threads[0].state != AT_BARRIER ||
		    threads[t].site->number != threads[0].site->number) {
			record_divergence(0, t);
			return 0;
		}
	}
	if (threads[0].state != AT_BARRIER) {
		record_divergence(0, 0);
		return 0;
	}
	for (unsigned t = 0; t < run.count; t++)
		threads[t].state = READY;
	run.epoch++;
	for (unsigned w = 0; w < MAX_THREADS / WARP; w++)
		run.warp_epoch[w]++;
	return 1;
}

static int all_done(void)
{
	for (unsigned t = 0; t < run.count; t++)
		if (threads[t].state != DONE)
			return 0;
	return 1;
}

/* ---- blocks and grids ------------------------------------------------------------------------ */

/* Every ready thread once; false when none was. */
static int run_ready(void)
{
	int ran = 0;

	new_order();
	for (unsigned i = 0; i < run.count && !run.failure[0]; i++) {
		if (threads[run.order[i]].state != READY)
			continue;
		resume(run.order[i]);
		ran = 1;
	}
	return ran;
}

static void run_block(uint32_t block)
{
	const struct simt_array *overrun;

	simt_block_idx = (struct simt_dim3){block, 0, 0};
	simt_now.block = block;
	simt_now.block_run++;
	run.epoch = 0;
	memset(run.warp_epoch, 0, sizeof run.warp_epoch);
	simt_shared_poison();
	for (unsigned t = 0; t < run.count; t++) {
		threads[t].state = READY;
		fiber_begin_at(&threads[t].fiber, thread_main);
	}
	while (!run.failure[0]) {
		if (run_ready())
			continue;
		if (all_done() || (!release_warps() && !release_block()))
			break;
	}
	overrun = simt_shared_overrun();
	if (overrun)
		record("block %u overran the shared array %s", block, overrun->name);
}

/* Blocks in a scattered order: a step that shares no factor with the count visits each once. */
static uint64_t block_step(uint64_t grid)
{
	uint64_t step = run.launch->order > 1 ? next_random() % grid | 1 : 1;

	for (;; step += 2) {
		uint64_t a = step, b = grid;

		while (b) {
			uint64_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return step;
	}
}

static const char *make_stacks(unsigned count)
{
	for (unsigned t = 0; t < count; t++) {
		struct fiber *f = &threads[t].fiber;
		char *map;

		if (f->stack)
			continue;
		map = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (map == MAP_FAILED ||
		    mprotect(map + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) != 0)
			return "no memory for the threads' stacks";
		f->stack = map + GUARD_BYTES;
		f->stack_bytes = STACK_BYTES;
	}
	return NULL;
}

static const char *prepare(const struct simt_launch *launch)
{
	uint64_t count = (uint64_t)launch->block_x * launch->block_y;
	size_t arrays;
	const char *why;
	char *begin, *end;

	if (count == 0 || count > MAX_THREADS || launch->grid == 0 || launch->grid > INT32_MAX)
		return "invalid configuration";
	run.launch = launch;
	run.count = (unsigned)count;
	run.random = launch->order;
	run.failure[0] = '\0';
	simt_grid_dim = (struct simt_dim3){(unsigned)launch->grid, 1, 1};
	simt_block_dim = (struct simt_dim3){launch->block_x, launch->block_y, 1};
	simt_now.launch++;
	simt_shared_arrays(&arrays, &begin, &end, &why);
	return why ? why : make_stacks(run.count);
}

const char *simt_launch(const struct simt_launch *launch)
{
	const char *why = prepare(launch);
	uint64_t step;

	if (!why)
		why = simt_dynamic_begin(launch->shared_bytes);
	if (why)
		return why;
	step = block_step(launch->grid);
	for (uint64_t i = 0; i < launch->grid && !run.failure[0]; i++)
		run_block((uint32_t)(straight(i, launch->grid) * step % launch->grid));
	simt_dynamic_end();
	return run.failure[0] ? run.failure : NULL;
}
