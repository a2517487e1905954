#include "arena.h"

#include <stdio.h>
#include <string.h>

#include "../verify/device.h"
#include "cli.h"
#include "hostmem.h"

struct arena_ops {
	tsw_status (*spare)(const struct arena *arena, unsigned percent, uint64_t *bytes);
	tsw_status (*alloc)(struct arena *arena);
	void (*free)(struct arena *arena);
	tsw_status (*fill)(struct arena *arena, const struct tsw_content *content,
			   const char **source);
	tsw_status (*digest)(struct arena *arena, int transposed, tsw_digest *digest);
	tsw_status (*transpose)(struct arena *arena, double *time_ms);
	tsw_status (*check)(struct arena *arena, const struct tsw_content *content,
			    struct tsw_wrong *wrong);
	tsw_status (*copy)(struct arena *arena, void *to, const void *from, size_t nbytes);
};

static struct tsw_matrices matrix_of(const struct arena *arena)
{
	return (struct tsw_matrices){.base = arena->a,
				     .n = arena->n,
				     .ld = arena->ld,
				     .elem_size = arena->elem_size,
				     .count = 1};
}

/* ---- the host -------------------------------------------------------------------------------- */

static tsw_status host_spare(const struct arena *arena, unsigned percent, uint64_t *bytes)
{
	(void)arena;
	*bytes = hostmem_now().available_bytes / 100 * (percent ? percent : 50);
	return TSW_OK;
}

static tsw_status host_alloc(struct arena *arena)
{
	uint64_t total = hostmem_now().total_bytes;

	/* Linux promises memory it does not have and kills later. */
	arena->a = total && arena->span_bytes > total ? NULL : pages_alloc(arena->span_bytes);
	return arena->a ? TSW_OK : TSW_ERR_NO_MEMORY;
}

static void host_free(struct arena *arena)
{
	pages_free(arena->a, arena->span_bytes);
}

static tsw_status host_fill(struct arena *arena, const struct tsw_content *content,
			    const char **source)
{
	return tsw_fill_content_host(content, arena->a, arena->span_bytes, arena->threads, source);
}

static tsw_status host_digest(struct arena *arena, int transposed, tsw_digest *digest)
{
	return tsw_checksum_host(arena->a, arena->n, arena->ld, arena->elem_size, transposed,
				 digest, arena->threads);
}

static tsw_status host_transpose(struct arena *arena, double *time_ms)
{
	double begun = seconds_now();
	tsw_status status =
		tsw_transpose_host(arena->a, arena->n, arena->ld, arena->elem_size, arena->threads);

	*time_ms = 1e3 * (seconds_now() - begun);
	return status;
}

static tsw_status host_check(struct arena *arena, const struct tsw_content *content,
			     struct tsw_wrong *wrong)
{
	const struct tsw_matrices m = matrix_of(arena);

	return tsw_check_content_host(&m, content, 1, arena->threads, wrong);
}

static tsw_status host_copy(struct arena *arena, void *to, const void *from, size_t nbytes)
{
	(void)arena;
	memcpy(to, from, nbytes);
	return TSW_OK;
}

static const struct arena_ops host_ops = {host_spare,  host_alloc,     host_free,  host_fill,
					  host_digest, host_transpose, host_check, host_copy};

/* ---- a CUDA device --------------------------------------------------------------------------- */

/* What cuRAND's generator and a failed check allocate in passing, and the kernels that a small
 * matrix did not load. */
static tsw_status device_spare(const struct arena *arena, unsigned percent, uint64_t *bytes)
{
	struct tsw_device d;
	tsw_status status = tsw_device_query(arena->device, &d);
	uint64_t reserve;

	if (status)
		return status;
	if (percent) {
		*bytes = d.free_bytes / 100 * percent;
		return TSW_OK;
	}
	reserve = ((uint64_t)128 << 20) + d.free_bytes / 1024;
	*bytes = d.free_bytes > reserve ? d.free_bytes - reserve : 0;
	return TSW_OK;
}

static tsw_status device_alloc(struct arena *arena)
{
	tsw_status status = tsw_device_use(arena->device);

	return status ? status : tsw_device_alloc(arena->span_bytes, &arena->a);
}

static void device_free(struct arena *arena)
{
	if (tsw_device_use(arena->device) == TSW_OK)
		tsw_device_free(arena->a);
}

static tsw_status device_fill(struct arena *arena, const struct tsw_content *content,
			      const char **source)
{
	tsw_status status = tsw_device_use(arena->device);

	return status ? status
		      : tsw_fill_content_device(content, arena->a, arena->span_bytes, NULL, source);
}

static tsw_status device_digest(struct arena *arena, int transposed, tsw_digest *digest)
{
	tsw_status status = tsw_device_use(arena->device);

	return status ? status
		      : tsw_checksum_device(arena->a, arena->n, arena->ld, arena->elem_size,
					    transposed, digest, NULL);
}

static tsw_status queue_transpose(void *arg)
{
	struct arena *arena = arg;

	return tsw_transpose_device(arena->a, arena->n, arena->ld, arena->elem_size, NULL);
}

static tsw_status device_transpose(struct arena *arena, double *time_ms)
{
	tsw_status status = tsw_device_use(arena->device);

	return status ? status : tsw_device_timed(queue_transpose, arena, time_ms);
}

static tsw_status device_check(struct arena *arena, const struct tsw_content *content,
			       struct tsw_wrong *wrong)
{
	const struct tsw_matrices m = matrix_of(arena);
	tsw_status status = tsw_device_use(arena->device);

	return status ? status : tsw_check_content_device(&m, content, 1, NULL, wrong);
}

static tsw_status device_copy(struct arena *arena, void *to, const void *from, size_t nbytes)
{
	tsw_status status = tsw_device_use(arena->device);

	return status ? status : tsw_device_copy(to, from, nbytes);
}

static const struct arena_ops device_ops = {device_spare, device_alloc,	 device_free,
					    device_fill,  device_digest, device_transpose,
					    device_check, device_copy};

/* ---- either ---------------------------------------------------------------------------------- */

void arena_init(struct arena *arena, int device, int threads)
{
	*arena = (struct arena){
		.ops = device < 0 ? &host_ops : &device_ops, .device = device, .threads = threads};
	if (device < 0)
		snprintf(arena->name, sizeof arena->name, "cpu");
	else
		snprintf(arena->name, sizeof arena->name, "cuda:%d", device);
}

tsw_status arena_spare(const struct arena *arena, unsigned percent, uint64_t *bytes)
{
	return arena->ops->spare(arena, percent, bytes);
}

tsw_status arena_alloc(struct arena *arena, size_t n, size_t ld, size_t elem_size)
{
	arena->n = n;
	arena->ld = ld;
	arena->elem_size = elem_size;
	arena->span_bytes = ((n - 1) * ld + n) * elem_size;
	return arena->ops->alloc(arena);
}

void arena_free(struct arena *arena)
{
	if (arena->a)
		arena->ops->free(arena);
	arena->a = NULL;
}

tsw_status arena_warm_up(struct arena *arena)
{
	const struct tsw_content content = {1, TSW_PATTERN_RANDOM};
	struct tsw_wrong wrong;
	tsw_digest digest;
	const char *source;
	double time_ms;
	tsw_status status = arena_alloc(arena, 64, 64, 4);

	if (!status)
		status = arena_fill(arena, &content, &source);
	if (!status)
		status = arena_transpose(arena, &time_ms);
	if (!status)
		status = arena_digest(arena, 1, &digest);
	if (!status)
		status = arena_check(arena, &content, &wrong);
	arena_free(arena);
	return status;
}

tsw_status arena_fill(struct arena *arena, const struct tsw_content *content, const char **source)
{
	return arena->ops->fill(arena, content, source);
}

tsw_status arena_digest(struct arena *arena, int transposed, tsw_digest *digest)
{
	return arena->ops->digest(arena, transposed, digest);
}

tsw_status arena_transpose(struct arena *arena, double *time_ms)
{
	return arena->ops->transpose(arena, time_ms);
}

tsw_status arena_check(struct arena *arena, const struct tsw_content *content,
		       struct tsw_wrong *wrong)
{
	return arena->ops->check(arena, content, wrong);
}

tsw_status arena_read(struct arena *arena, size_t at, void *to, size_t nbytes)
{
	return arena->ops->copy(arena, to, (unsigned char *)arena->a + at, nbytes);
}

tsw_status arena_write(struct arena *arena, size_t at, const void *from, size_t nbytes)
{
	return arena->ops->copy(arena, (unsigned char *)arena->a + at, from, nbytes);
}
