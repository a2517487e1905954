/* tileswap-dist: fill, transpose and verify one matrix over many ranks. */
#include "job.h"

#include "../cli/json.h"
#include "../status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the ranks found together. */
struct outcome {
	double time_ms; /* median over the repetitions of the slowest rank's time */
	struct dist_wrong wrong;
	int checked; /* all of it has been looked at */
};

static int rank_of_world(void)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return rank;
}

/* One complaint, by one rank. */
static void complain(const char *text)
{
	if (rank_of_world() == 0)
		fprintf(stderr, "tileswap-dist: %s\n", text);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static tsw_status print_link(const struct dist_options *o, int from, int to)
{
	uint64_t nbytes;
	tsw_status status = tsw_dist_bytes(&o->dist, o->elem_size, from, to, &nbytes);
	struct json j;

	if (status != TSW_OK)
		return status;
	if (!o->json) {
		printf("%6d %6d %20ju\n", from, to, (uintmax_t)nbytes);
		return TSW_OK;
	}
	json_begin(&j, stdout);
	json_whole(&j, "from", (uint64_t)from);
	json_whole(&j, "to", (uint64_t)to);
	json_whole(&j, "nbytes", nbytes);
	json_end(&j);
	return TSW_OK;
}

static int print_plan(const struct dist_options *o)
{
	struct tsw_spread s;
	tsw_status status = tsw_spread_of_bytes(&o->dist, o->elem_size, &s);

	if (status == TSW_OK && !o->json)
		printf("  from     to               nbytes\n");
	for (uint32_t from = 0; status == TSW_OK && from < tsw_spread_ranks(&s); from++)
		for (uint32_t to = 0; status == TSW_OK && to < tsw_spread_ranks(&s); to++)
			status = print_link(o, (int)from, (int)to);
	if (status == TSW_OK)
		return DIST_OK;
	complain(tsw_last_error());
	return DIST_USAGE;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* All ranks go on, or none: the first rank that failed complains. */
static int all_well(tsw_status status)
{
	int mine[2] = {status == TSW_OK, rank_of_world()}, first[2];

	MPI_Allreduce(mine, first, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
	if (!first[0] && first[1] == mine[1])
		fprintf(stderr, "tileswap-dist: %s\n", tsw_last_error());
	return first[0];
}

static int ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static int transpose_all(struct dist_job *job, const struct dist_engine *engine, double *time_ms)
{
	size_t reps = job->o->reps;
	double *times = malloc(reps * sizeof *times);
	int well = all_well(times ? TSW_OK
				  : tsw_fail(TSW_ERR_NO_MEMORY, "no memory for %zu times", reps));

	for (size_t i = 0; well && i < reps; i++) {
		double begun, took;

		MPI_Barrier(MPI_COMM_WORLD);
		begun = MPI_Wtime();
		well = all_well(engine->transpose(job));
		took = (MPI_Wtime() - begun) * 1e3;
		MPI_Allreduce(&took, &times[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	}
	if (well) {
		qsort(times, reps, sizeof *times, ascending);
		*time_ms = times[reps / 2];
	}
	free(times);
	return well;
}

static int work(struct dist_job *job, const struct dist_engine *engine, struct outcome *out)
{
	struct dist_wrong *w = &out->wrong, mine = {.first = UINT64_MAX};

	if (!all_well(engine->fill(job)) || !transpose_all(job, engine, &out->time_ms) ||
	    !all_well(engine->check(job, &mine)))
		return DIST_FAILED;
	MPI_Allreduce(&mine, w, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(&mine.first, &w->first, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
	out->checked = 1;
	return w->elements || w->padding_bytes ? DIST_FAILED : DIST_OK;
}

/* What leaves one rank at most, and all of them together. */
static void traffic(const struct dist_job *job, uint64_t *most, uint64_t *total)
{
	uint64_t mine = 0;

	if (!job->o->relabel)
		tsw_dist_egress(&job->o->dist, job->o->elem_size, job->rank, &mine);
	MPI_Allreduce(&mine, most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
	MPI_Allreduce(&mine, total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void print_json(const struct dist_job *job, const char *device, const struct outcome *out,
		       uint64_t most, uint64_t total)
{
	const struct dist_options *o = job->o;
	double bytes = (double)o->dist.n * (double)o->dist.n * (double)o->elem_size;
	char grid[32];
	struct json j;

	snprintf(grid, sizeof grid, "%dx%d", o->dist.nprow, o->dist.npcol);
	json_begin(&j, stdout);
	json_text(&j, "device", device);
	json_whole(&j, "ranks", (uint64_t)job->ranks);
	json_text(&j, "grid", grid);
	json_whole(&j, "n", o->dist.n);
	json_whole(&j, "mb", o->dist.mb);
	json_whole(&j, "nb", o->dist.nb);
	json_whole(&j, "rsrc", (uint64_t)o->dist.rsrc);
	json_whole(&j, "csrc", (uint64_t)o->dist.csrc);
	json_text(&j, "ranks_by", o->dist.rank_order ? "columns" : "rows");
	json_text(&j, "storage", o->dist.storage ? "columns" : "rows");
	json_whole(&j, "elem_size", o->elem_size);
	json_whole(&j, "stage_bytes", o->stage_bytes);
	json_whole(&j, "threads", (uint64_t)o->threads);
	json_whole(&j, "reps", o->reps);
	json_bool(&j, "relabel", o->relabel);
	json_hex(&j, "seed", o->seed);
	json_real(&j, "time_ms", out->time_ms);
	json_real(&j, "payload_gb_per_s", bytes / out->time_ms * 1e-6);
	json_whole(&j, "sent_bytes", total);
	json_whole(&j, "most_sent_bytes", most);
	json_whole(&j, "wrong", out->wrong.elements);
	json_whole(&j, "wrong_padding_bytes", out->wrong.padding_bytes);
	json_end(&j);
}

static void print_text(const struct dist_job *job, const char *device, const struct outcome *out,
		       uint64_t most, uint64_t total)
{
	const struct dist_options *o = job->o;
	double bytes = (double)o->dist.n * (double)o->dist.n * (double)o->elem_size;

	printf("%s: n = %zu, %zu bytes an element, blocks of %zu x %zu from (%d, %d) on a grid of "
	       "%d x %d: %.3f ms, %.3f GB/s of payload, %ju bytes sent, %ju by one rank at most, "
	       "wrong=%ju wrong_padding_bytes=%ju\n",
	       device, o->dist.n, o->elem_size, o->dist.mb, o->dist.nb, o->dist.rsrc, o->dist.csrc,
	       o->dist.nprow, o->dist.npcol, out->time_ms, bytes / out->time_ms * 1e-6,
	       (uintmax_t)total, (uintmax_t)most, (uintmax_t)out->wrong.elements,
	       (uintmax_t)out->wrong.padding_bytes);
}

static void report(const struct dist_job *job, const char *device, const struct outcome *out)
{
	uint64_t most, total, n = job->o->dist.n;

	traffic(job, &most, &total);
	if (rank_of_world() != 0)
		return;
	(job->o->json ? print_json : print_text)(job, device, out, most, total);
	if (out->wrong.elements)
		fprintf(stderr, "tileswap-dist: %ju elements are wrong, the first at (%ju, %ju)\n",
			(uintmax_t)out->wrong.elements, (uintmax_t)(out->wrong.first / n),
			(uintmax_t)(out->wrong.first % n));
	if (out->wrong.padding_bytes)
		fprintf(stderr, "tileswap-dist: %ju bytes of padding were changed\n",
			(uintmax_t)out->wrong.padding_bytes);
}

/* Sizes of the local matrix. */
static tsw_status measure(struct dist_job *job)
{
	size_t rows;

	dist_job_sit(job);
	rows = job->rows;
	job->ld = job->cols;
	if (job->o->relabel)
		rows = job->ld = rows > job->cols ? rows : job->cols;
	if (__builtin_add_overflow(job->ld, job->o->pad, &job->ld) ||
	    __builtin_mul_overflow(rows, job->ld, &job->nbytes) ||
	    __builtin_mul_overflow(job->nbytes, job->o->elem_size, &job->nbytes))
		return tsw_fail(TSW_ERR_OVERFLOW,
				"the local matrix of rank %d is larger than the address space",
				job->rank);
	return TSW_OK;
}

static int run(struct dist_job *job)
{
	const struct dist_engine *engine = dist_engine_of(job->o->device);
	struct outcome out = {0};
	int result;

	if (!engine) {
		complain(tsw_last_error());
		return DIST_NO_BACKEND;
	}
	if (!all_well(measure(job)))
		return DIST_USAGE;
	result = all_well(engine->open(job)) ? work(job, engine, &out) : DIST_FAILED;
	if (out.checked)
		report(job, engine->name, &out);
	engine->close(job);
	return result;
}

static int begin(struct dist_options *o)
{
	struct dist_job job = {.o = o, .comm = MPI_COMM_WORLD};
	char text[200];

	MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
	job.rank = rank_of_world();
	if (!o->dist.nprow) {
		int grid[2] = {0, 0};

		MPI_Dims_create(job.ranks, 2, grid);
		o->dist.nprow = grid[1];
		o->dist.npcol = grid[0];
	}
	if (tsw_spread_of_bytes(&o->dist, o->elem_size, &job.spread) != TSW_OK) {
		complain(tsw_last_error());
		return DIST_USAGE;
	}
	if (tsw_spread_ranks(&job.spread) != (uint32_t)job.ranks) {
		snprintf(text, sizeof text, "a grid of %d x %d wants %u ranks, here are %d",
			 o->dist.nprow, o->dist.npcol, tsw_spread_ranks(&job.spread), job.ranks);
		complain(text);
		return DIST_USAGE;
	}
	return run(&job);
}

/* Ranks that do different things would wait for each other for ever. */
static int all_alike(int argc, char **argv)
{
	uint64_t hash = 0xcbf29ce484222325u, mine[2], most[2]; /* FNV-1a */

	for (int i = 1; i < argc; i++)
		for (const char *c = argv[i];; c++) {
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
			if (!*c)
				break;
		}
	mine[0] = hash;
	mine[1] = ~hash;
	MPI_Allreduce(mine, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
	return most[0] == ~most[1];
}

static int dispatch(int argc, char **argv)
{
	struct dist_options o;
	char text[300];

	if (!all_alike(argc, argv)) {
		complain("the ranks were started with different command lines");
		return DIST_USAGE;
	}
	if (dist_options_parse(argc, argv, &o, text, sizeof text)) {
		complain(text);
		return DIST_USAGE;
	}
	if (!o.help && !o.plan)
		return begin(&o);
	if (rank_of_world() != 0)
		return DIST_OK;
	if (o.plan)
		return print_plan(&o);
	dist_options_help();
	return DIST_OK;
}

int main(int argc, char **argv)
{
	int result;

	MPI_Init(&argc, &argv);
	result = dispatch(argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write the result to stdout");
		result = result ? result : DIST_FAILED;
	}
	MPI_Finalize();
	return result;
}
