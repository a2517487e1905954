/* Transposing on the device: which kernel, and how many launches. */
#include "runtime.h"

#include <string.h>

#include "../../kernels/side.h"
#include "../tilepair.h"

/* ---- the kernels, and what each serves ------------------------------------------------------- */

/* A batch as a kernel sees it: the address is the device's own name for the memory. */
struct job {
	const struct tsw_matrices *m;
	void *address;	       /* of the first matrix, or of the array of pointers */
	unsigned shared_bytes; /* that a block may have on this device */
	tsw_stream stream;
	uint64_t grid_limit;
};

static struct tsw_tiles tiles_of(const struct job *job, unsigned unit)
{
	const struct tsw_matrices *m = job->m;

	return (struct tsw_tiles){
		.base = m->array ? NULL : job->address,
		.array = m->array ? job->address : NULL,
		.stride = m->stride * m->elem_size,
		.n = m->n,
		.ld = m->ld,
		.units = m->elem_size / unit,
	};
}

/* Launches `kernel` over `total` blocks, in as many launches as the grid needs; `first` is the
 * member of its parameter that says where a launch begins. */
static tsw_status launch_all(const struct job *job, const struct tsw_kernel *kernel,
			     const void *parameter, uint64_t *first, uint64_t total)
{
	const uint64_t limit = tsw_cuda_grid(job->grid_limit);

	while (*first < total) {
		uint64_t left = total - *first;
		uint64_t blocks = left < limit ? left : limit;

		TRY(tsw_cuda_launch(kernel, parameter, blocks, job->stream));
		*first += blocks;
	}
	return TSW_OK;
}

/* A block for every tile pair of the batch. */
static tsw_status launch_pairs(const struct job *job, const struct tsw_kernel *kernel,
			       struct tsw_tiles *p)
{
	uint64_t total;

	p->tiles = (uint32_t)tsw_tile_count(p->n, kernel->tile);
	p->pairs = tsw_pair_count(p->tiles);
	if (__builtin_mul_overflow(p->pairs, job->m->count, &total))
		return tsw_fail(TSW_ERR_OVERFLOW,
				"count = %zu matrices have more than 2^64 tile pairs",
				job->m->count);
	return launch_all(job, kernel, p, &p->first, total);
}

/* Is every matrix known to begin at a multiple of `bytes`?  What an array points to is not known.
 */
static int begins_at(const struct job *job, size_t bytes)
{
	const struct tsw_matrices *m = job->m;

	return !m->array && (uintptr_t)job->address % bytes == 0 &&
	       (m->count == 1 || m->stride * m->elem_size % bytes == 0);
}

/* Do its rows begin at multiples of `bytes`?  Where an array of pointers leads is not known; most
 * begin at such multiples. */
static int rows_begin_at(const struct job *job, size_t bytes)
{
	const struct tsw_matrices *m = job->m;

	return m->ld * m->elem_size % bytes == 0 && (m->array || begins_at(job, bytes));
}

/* ---- tile33: serves everything ---- */

static int serves_tile33(const struct job *job)
{
	(void)job;
	return 1;
}

/* On rows that begin anywhere it is ahead while there are so few tile pairs: the others, in larger
 * tiles, leave multiprocessors idle. */
static int prefers_tile33(const struct job *job)
{
	static const uint16_t most[] = {[1] = 448, [2] = 700, [3] = 78, [4] = 256, [6] = 96};
	const struct tsw_matrices *m = job->m;

	return m->elem_size < sizeof most / sizeof *most && most[m->elem_size] &&
	       !tsw_busy(m->n, m->count, 32, most[m->elem_size]);
}

static tsw_status launch_tile33(const struct job *job)
{
	const size_t width = job->m->elem_size;
	const unsigned unit =
		width == 16 && begins_at(job, 16) ? 16 : (unsigned)tsw_elem_unit(width);
	struct tsw_tiles p = tiles_of(job, unit);

	return launch_pairs(job, tsw_kernel_tile33(unit), &p);
}

/* ---- direct: a few small matrices of one-unit elements ---- */

static const struct tsw_kernel *direct_of(const struct job *job)
{
	const struct tsw_matrices *m = job->m;
	unsigned alignment = 16;

	while (alignment > 1 &&
	       !(m->ld * m->elem_size % alignment == 0 && begins_at(job, alignment)))
		alignment /= 2;
	return m->elem_size > 16 || m->array
		       ? NULL
		       : tsw_kernel_direct((unsigned)m->elem_size, alignment, m->n, m->count);
}

static int serves_direct(const struct job *job)
{
	return direct_of(job) != NULL;
}

static tsw_status launch_direct(const struct job *job)
{
	struct tsw_tiles p = tiles_of(job, (unsigned)job->m->elem_size);

	return launch_pairs(job, direct_of(job), &p);
}

/* ---- vector: one-unit elements, every row at a multiple of 16 ---- */

static const struct tsw_kernel *vector_of(const struct job *job)
{
	const size_t elem_size = job->m->elem_size;

	return elem_size > 16 ? NULL
			      : tsw_kernel_vector((unsigned)elem_size, job->shared_bytes, job->m->n,
						  job->m->count, !job->m->array);
}

/* The kernel needs rows that begin at multiples of 16; where an array of pointers leads, it looks
 * itself. */
static int serves_vector(const struct job *job)
{
	return rows_begin_at(job, 16) && vector_of(job);
}

/* What memory likes is rows of tiles that begin at multiples of 256 bytes, or 128.  Where they do
 * not, columns of tiles are walked several at a time; elements of 8 and 16 bytes do better by
 * `shifted`, once rows are too long for L2 to bring the pieces of a line together
 * (docs/PERFORMANCE.md). */
#define VECTOR_SHORT_ROW(width) ((width) < 16 ? 44u << 10 : 36u << 10)

/* Rows that long L2 does not bring together by itself, but those of bytes neither when short. */
#define VECTOR_GROUP 32
#define VECTOR_GROUP_ROW(width) ((width) < 2 ? 0u : 32u << 10)

static uint32_t vector_group(const struct job *job)
{
	const size_t width = job->m->elem_size, pitch = job->m->ld * width;

	return rows_begin_at(job, 128) || pitch <= VECTOR_GROUP_ROW(width) ? 1 : VECTOR_GROUP;
}

static int prefers_vector(const struct job *job)
{
	const size_t width = job->m->elem_size, pitch = job->m->ld * width;

	return serves_vector(job) &&
	       (width < 8 || rows_begin_at(job, 128) || pitch <= VECTOR_SHORT_ROW(width));
}

static tsw_status launch_vector(const struct job *job)
{
	struct tsw_tiles p = tiles_of(job, (unsigned)job->m->elem_size);

	p.group = vector_group(job);
	return launch_pairs(job, vector_of(job), &p);
}

/* ---- shifted: any alignment, any width ---- */

static int prepare_shifted(const struct job *job, struct tsw_kernel *kernel, struct tsw_tiles *p)
{
	const size_t width = job->m->elem_size;
	const unsigned unit =
		width % 16 == 0 && begins_at(job, 16) ? 16 : (unsigned)tsw_elem_unit(width);

	*p = tiles_of(job, unit);
	return tsw_kernel_shifted(p, job->m->count, unit, job->shared_bytes, kernel);
}

static int serves_shifted(const struct job *job)
{
	struct tsw_kernel kernel;
	struct tsw_tiles p;

	return prepare_shifted(job, &kernel, &p);
}

static tsw_status launch_shifted(const struct job *job)
{
	struct tsw_kernel kernel;
	struct tsw_tiles p;

	prepare_shifted(job, &kernel, &p);
	return launch_pairs(job, &kernel, &p);
}

/* ---- realigned: narrow elements, rows of any alignment ---- */

static int prepare_realigned(const struct job *job, struct tsw_kernel *kernel, struct tsw_tiles *p)
{
	const unsigned elem_size = job->m->elem_size > 6 ? 0 : (unsigned)job->m->elem_size;

	*p = tiles_of(job, elem_size ? elem_size : 1);
	return tsw_kernel_realigned(p, job->m->count, elem_size, job->shared_bytes, kernel);
}

static int serves_realigned(const struct job *job)
{
	struct tsw_kernel kernel;
	struct tsw_tiles p;

	return prepare_realigned(job, &kernel, &p);
}

static tsw_status launch_realigned(const struct job *job)
{
	struct tsw_kernel kernel;
	struct tsw_tiles p;

	prepare_realigned(job, &kernel, &p);
	return launch_pairs(job, &kernel, &p);
}

/* ---- stream: many small matrices ---- */

static int prepare_stream(const struct job *job, struct tsw_kernel *kernel, struct tsw_chunks *p)
{
	const struct tsw_matrices *m = job->m;
	const size_t width = m->elem_size;
	const unsigned unit = width % 16 == 0 && begins_at(job, 16) && m->ld * width % 16 == 0
				      ? 16
				      : (unsigned)tsw_elem_unit(width);

	/* Small enough for the structure's 32 bits: the kernel serves far less. */
	if (m->n > UINT16_MAX || width > UINT16_MAX)
		return 0;
	*p = (struct tsw_chunks){
		.base = m->array ? NULL : job->address,
		.array = m->array ? job->address : NULL,
		.stride = m->stride * width,
		.count = m->count,
		.pitch = m->ld * width,
		.n = (uint32_t)m->n,
		.units = (uint32_t)(width / unit),
	};
	return tsw_kernel_stream(p, unit, job->shared_bytes, kernel);
}

static uint64_t chunks_of(const struct tsw_chunks *p)
{
	return p->count / p->group + (p->count % p->group != 0);
}

static int serves_stream(const struct job *job)
{
	struct tsw_kernel kernel;
	struct tsw_chunks p;

	return prepare_stream(job, &kernel, &p);
}

/* Up to these sides and sizes it is ahead of the others: where ld = n, and with gaps between the
 * rows, which it writes element by element.  A chunk is one block's, so matrices that others would
 * spread over many blocks must be enough to keep a large GPU busy; where they are not, only small
 * ones, and smaller ones yet if `vector` has whole vectors of them. */
#define STREAM_SIDE_GAPS 48
#define STREAM_MATRIX_BYTES(width) ((width) <= 8 || (width) >= 16 ? 136u << 10 : 64u << 10)
#define STREAM_CHUNKS 264
#define STREAM_ALONE_SIDE(dense, width) ((dense) && (width) <= 8 ? 48u : 32u)
#define STREAM_ALONE_BYTES(vectors) ((vectors) ? 3u << 10 : 64u << 10)
/* Of an array of pointers, those that `vector` would make one tile. */
#define STREAM_ARRAY_BYTES (8u << 10)

/* Elements of several narrow units it takes unit by unit. */
static size_t stream_side(size_t width)
{
	const size_t unit = tsw_elem_unit(width);

	if (unit < 4 && unit < width)
		return unit == 1 ? 48 : 36;
	return width <= 8 ? 180 : 128;
}

/* Where a matrix is cut into whole tiles, `vector` is ahead. */
static int whole_tiles(const struct job *job)
{
	const size_t width = job->m->elem_size, row = job->m->n * width;

	return prefers_vector(job) && (row > 512 ? row % 128 == 0 : width < 16 && row % 256 == 0) &&
	       !(job->m->array && job->m->n * row <= STREAM_ARRAY_BYTES);
}

static int prefers_stream(const struct job *job)
{
	const struct tsw_matrices *m = job->m;
	const int dense = m->ld == m->n;
	const size_t bytes = m->n * m->n * m->elem_size;
	struct tsw_kernel kernel;
	struct tsw_chunks p;

	if (m->n > (dense ? stream_side(m->elem_size) : STREAM_SIDE_GAPS) ||
	    bytes > STREAM_MATRIX_BYTES(m->elem_size) || whole_tiles(job) ||
	    !prepare_stream(job, &kernel, &p))
		return 0;
	return chunks_of(&p) >= STREAM_CHUNKS ||
	       (m->n <= STREAM_ALONE_SIDE(dense, m->elem_size) &&
		(m->array || bytes <= STREAM_ALONE_BYTES(prefers_vector(job))));
}

static tsw_status launch_stream(const struct job *job)
{
	struct tsw_kernel kernel;
	struct tsw_chunks p;

	prepare_stream(job, &kernel, &p);
	return launch_all(job, &kernel, &p, &p.first, chunks_of(&p));
}

/* The table: the first kernel that prefers a job is the library's choice; tile33, if none does. */
static const struct choice {
	const char *name;
	int (*prefers)(const struct job *job);
	int (*serves)(const struct job *job);
	tsw_status (*launch)(const struct job *job);
} choices[] = {
	{"direct", serves_direct, serves_direct, launch_direct},
	{"stream", prefers_stream, serves_stream, launch_stream},
	{"vector", prefers_vector, serves_vector, launch_vector},
	{"tile33", prefers_tile33, serves_tile33, launch_tile33},
	{"realigned", serves_realigned, serves_realigned, launch_realigned},
	{"shifted", serves_shifted, serves_shifted, launch_shifted},
};

#define CHOICES (sizeof choices / sizeof *choices)

const char *tsw_cuda_kernel_name(size_t index)
{
	return index < CHOICES ? choices[index].name : NULL;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* By the kernel of that name, or, for NULL, by the first that prefers the job. */
static tsw_status transpose_by(const char *kernel, const struct tsw_matrices *m, tsw_stream stream,
			       uint64_t grid_limit)
{
	struct job job = {.m = m, .stream = stream, .grid_limit = grid_limit};

	TRY(tsw_cuda_reach(m->array ? (const void *)m->array : m->base, "a", &job.address));
	if (tsw_nothing_to_do(m))
		return TSW_OK;
	TRY(tsw_cuda_shared_bytes(&job.shared_bytes));
	for (size_t i = 0; i < CHOICES; i++)
		if (kernel ? strcmp(kernel, choices[i].name) == 0 && choices[i].serves(&job)
			   : choices[i].prefers(&job))
			return choices[i].launch(&job);
	if (!kernel)
		return launch_tile33(&job);
	return tsw_fail(TSW_ERR_UNSUPPORTED,
			"kernel %s does not serve n = %zu, elem_size = %zu here", kernel, m->n,
			m->elem_size);
}

tsw_status tsw_cuda_transpose(const struct tsw_matrices *m, tsw_stream stream, uint64_t grid_limit)
{
	return transpose_by(NULL, m, stream, grid_limit);
}

tsw_status tsw_cuda_transpose_by(const char *kernel, const struct tsw_matrices *m,
				 tsw_stream stream, uint64_t grid_limit)
{
	return transpose_by(kernel, m, stream, grid_limit);
}

/* ---- imatcopy ---- */

/* Nothing changes places. */
static tsw_status finish_rows(const struct job *job, struct tsw_tiles *p)
{
	struct tsw_kernel kernel;
	uint64_t blocks;

	tsw_kernel_rows(p, job->m->count, &kernel, &blocks);
	return launch_all(job, &kernel, p, &p->first, blocks);
}

static tsw_status finish_stream(const struct job *job, const struct tsw_epilogue *e)
{
	struct tsw_kernel kernel;
	struct tsw_chunks p;

	prepare_stream(job, &kernel, &p);
	p.epilogue = *e;
	tsw_kernel_imatcopy_stream(&p, &kernel);
	return launch_all(job, &kernel, &p, &p.first, chunks_of(&p));
}

tsw_status tsw_cuda_imatcopy(const struct tsw_matrices *m, const struct tsw_epilogue *e,
			     tsw_stream stream, uint64_t grid_limit)
{
	struct job job = {.m = m, .stream = stream, .grid_limit = grid_limit};
	struct tsw_kernel kernel;
	struct tsw_tiles p;

	if (e->kind == TSW_KEEP && e->transposes)
		return tsw_cuda_transpose(m, stream, grid_limit);
	TRY(tsw_cuda_reach(m->base, "a", &job.address));
	if (e->kind == TSW_KEEP)
		return TSW_OK;
	p = tiles_of(&job, 1);
	p.epilogue = *e;
	if (!e->transposes || e->kind == TSW_ZERO || m->n == 1)
		return finish_rows(&job, &p);
	TRY(tsw_cuda_shared_bytes(&job.shared_bytes));
	p.group = vector_group(&job);
	if (prefers_stream(&job))
		return finish_stream(&job, e);
	if (!tsw_kernel_imatcopy(&p, m->count, prefers_vector(&job), job.shared_bytes, &kernel))
		return tsw_fail(TSW_ERR_UNSUPPORTED,
				"no kernel fits into the %u bytes of shared memory of a block here",
				job.shared_bytes);
	return launch_pairs(&job, &kernel, &p);
}

tsw_status tsw_cuda_transpose_on(const struct tsw_matrices *m, int device)
{
	tsw_status status;
	int before;

	TRY_CUDA(cudaGetDevice(&before));
	status = ALSO_CUDA(TSW_OK, cudaSetDevice(device));
	if (status == TSW_OK) {
		status = tsw_cuda_transpose(m, NULL, 0);
		/* Also after a failure: nothing may still run when this returns. */
		status = ALSO_CUDA(status, cudaStreamSynchronize(NULL));
	}
	/* The caller's device comes back in any case; a cudaSetDevice() that fails may have left
	 * it. */
	return ALSO_CUDA(status, cudaSetDevice(before));
}
