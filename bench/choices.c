/* The host engine with one choice of its plan taken back at a time, to show what each buys. */
#include "../src/cpu/plan.h"
#include "bench.h"

#define AS_PLANNED -1

struct choice {
	const char *isa; /* NULL: the best */
	int order, fetch, align;
	int blocks; /* on a side of a tile */
};

static const struct choice no_fetch = {NULL, AS_PLANNED, 0, AS_PLANNED, AS_PLANNED};
static const struct choice no_align = {NULL, AS_PLANNED, AS_PLANNED, 0, AS_PLANNED};
static const struct choice by_rows = {NULL, TSW_ROWS, AS_PLANNED, AS_PLANNED, AS_PLANNED};
static const struct choice diagonals = {NULL, TSW_DIAGONALS, AS_PLANNED, AS_PLANNED, AS_PLANNED};
static const struct choice staged = {NULL, TSW_STAGED, AS_PLANNED, AS_PLANNED, AS_PLANNED};
static const struct choice one_block = {NULL, AS_PLANNED, AS_PLANNED, AS_PLANNED, 1};
static const struct choice wide_tile = {NULL, AS_PLANNED, AS_PLANNED, AS_PLANNED, 32};
static const struct choice avx2 = {"avx2", AS_PLANNED, AS_PLANNED, AS_PLANNED, AS_PLANNED};
static const struct choice plain_c = {"c", AS_PLANNED, AS_PLANNED, AS_PLANNED, AS_PLANNED};

static int apply_choice(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	const struct choice *const c = entry->self;
	const struct tsw_matrices m = bench_matrices(set, copy, 0);
	const struct tsw_isa *const isa = c->isa ? tsw_cpu_isa_named(c->isa) : tsw_cpu_isa();
	struct tsw_plan plan;

	if (!isa)
		return BENCH_UNSUPPORTED;
	plan = tsw_cpu_plan(&m, isa);
	if (!plan.kernel)
		return BENCH_UNSUPPORTED;
	if (c->order == AS_PLANNED && c->blocks == AS_PLANNED &&
	    tsw_cpu_threads_worth(&m, set->threads) == 1)
		tsw_cpu_plan_alone(&plan);
	if (c->order != AS_PLANNED)
		plan.order = (enum tsw_order)c->order;
	if (c->fetch != AS_PLANNED)
		plan.fetch = c->fetch;
	if (c->align != AS_PLANNED)
		plan.align = c->align;
	if (c->blocks != AS_PLANNED)
		plan.tile = (size_t)c->blocks * plan.block;
	tsw_cpu_run(&plan, &m, set->threads);
	return BENCH_OK;
}

size_t bench_cpu_choices(struct bench_entry *list)
{
	static const struct {
		const char *name;
		const struct choice *choice;
	} all[] = {
		{"nothing fetched ahead", &no_fetch},
		{"tiles not on lines", &no_align},
		{"by rows", &by_rows},
		{"by diagonals", &diagonals},
		{"by a buffer", &staged},
		{"tiles of one block", &one_block},
		{"tiles of 32 blocks", &wide_tile},
		{"AVX2", &avx2},
		{"plain C", &plain_c},
	};
	size_t count = 0;

	for (; count < sizeof all / sizeof *all; count++)
		list[count] = (struct bench_entry){.name = all[count].name,
						   .kind = BENCH_KERNEL,
						   .self = all[count].choice,
						   .apply = apply_choice};
	return count;
}
