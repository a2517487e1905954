/* Position-coded data in host memory. */
#include <string.h>

#include "host.h"

#ifdef _OPENMP
#include <omp.h>
#endif

void bench_share(size_t total, size_t grain, size_t part, size_t parts, size_t *first, size_t *end)
{
	const size_t grains = total / grain + (total % grain != 0);

	*first = grains / parts * part + (part < grains % parts ? part : grains % parts);
	*end = (*first + grains / parts + (part < grains % parts)) * grain;
	*first *= grain;
	*end = *end < total ? *end : total;
	*first = *first < total ? *first : total;
}

int bench_all_threads(void)
{
#ifdef _OPENMP
	return omp_get_max_threads();
#else
	return 1;
#endif
}

void bench_parallel(int threads, void (*work)(void *context, size_t part, size_t parts),
		    void *context)
{
#ifdef _OPENMP
	if (threads > 1) {
#pragma omp parallel num_threads(threads)
		work(context, (size_t)omp_get_thread_num(), (size_t)omp_get_num_threads());
		return;
	}
#endif
	(void)threads;
	work(context, 0, 1);
}

static void store_word(char *p, uint64_t word, unsigned word_bytes)
{
	memcpy(p, &word, word_bytes);
}

static int word_is(const char *p, uint64_t word, unsigned word_bytes)
{
	return memcmp(p, &word, word_bytes) == 0;
}

struct coding {
	char *base;
	size_t words;
	unsigned word_bytes;
};

static void code_part(void *context, size_t part, size_t parts)
{
	const struct coding *const c = context;
	size_t w, end;

	bench_share(c->words, 512, part, parts, &w, &end);
	for (; w < end; w++)
		store_word(c->base + w * c->word_bytes, bench_code(w, c->word_bytes),
			   c->word_bytes);
}

void bench_code_host(struct bench_set *set, int out)
{
	const unsigned word_bytes =
		set->word_bytes ? set->word_bytes : bench_word_bytes(set->shape.elem_size);
	struct coding c = {set->in, set->span_bytes / word_bytes, word_bytes};

	bench_parallel(set->threads, code_part, &c);
	c.base = set->out;
	if (out)
		bench_parallel(set->threads, code_part, &c);
}

/* Wrong elements of rows `first` to `end` of one matrix. */
static uint64_t check_rows(const char *base, const struct bench_coded *m, unsigned word_bytes,
			   size_t first, size_t end)
{
	uint64_t wrong = 0;

	for (size_t r = first; r < end; r++) {
		const size_t cols = r + 1 < m->rows ? m->ld : m->width;

		for (size_t c = 0; c < cols; c++) {
			const char *p = base + (r * m->ld + c) * m->words * word_bytes;
			int bad = 0;

			for (size_t l = 0; l < m->words; l++)
				bad |= !word_is(p + l * word_bytes,
						bench_expected(m, r, c, l, word_bytes), word_bytes);
			wrong += (unsigned)bad;
		}
	}
	return wrong;
}

struct checking {
	struct bench_set *set;
	const char *base;
	enum bench_expect expect;
	uint64_t wrong;
};

static void check_part(void *context, size_t part, size_t parts)
{
	struct checking *const c = context;
	const struct bench_shape *const s = &c->set->shape;
	const unsigned word_bytes = bench_word_bytes(s->elem_size);
	uint64_t wrong = 0;
	size_t first, end;

	bench_share(s->n, 1, part, parts, &first, &end);
	for (size_t b = 0; b < s->count; b++) {
		const struct bench_coded m = {
			.rows = s->n,
			.width = s->n,
			.ld = s->ld,
			.ld_before = s->ld,
			.words = s->elem_size / word_bytes,
			.first = b * s->stride * (s->elem_size / word_bytes),
			.expect = c->expect,
		};

		wrong += check_rows(c->base + b * s->stride * s->elem_size, &m, word_bytes, first,
				    end);
	}
	__atomic_fetch_add(&c->wrong, wrong, __ATOMIC_RELAXED);
}

uint64_t bench_check_host(struct bench_set *set, int out, enum bench_expect expect)
{
	struct checking c = {set, out ? set->out : set->in, expect, 0};

	bench_parallel(set->threads, check_part, &c);
	return c.wrong;
}
