#include "peers.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Local, so that one library's cblas_... is not taken for another's. */
void *peer_open(const char *variable, const char *const *names)
{
	const char *path = getenv(variable);
	void *library = NULL;

	if (path)
		return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	for (; *names && !library; names++)
		library = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
	return library;
}

void *peer_symbol(void *library, const char *name)
{
	return dlsym(library, name);
}

static int peer_apply(const struct bench_entry *entry, struct bench_set *set, size_t copy)
{
	const struct host_peer *const peer = entry->self;
	const struct bench_shape *const s = &set->shape;
	char *const base = set->in + copy * set->pitch;
	int status = BENCH_OK;

	for (size_t b = 0; b < s->count && !status; b++)
		status = peer->transpose(base + b * s->stride * s->elem_size, s, set->threads);
	return status;
}

static int peer_prepare(const struct bench_entry *entry, struct bench_set *set)
{
	const struct host_peer *const peer = entry->self;

	return peer->prepare ? peer->prepare(set) : BENCH_OK;
}

size_t bench_host_peers(struct bench_entry *list)
{
	static const struct host_peer *const peers[] = {
		&peer_mkl, &peer_openblas, &peer_fftw, &peer_gsl, &peer_eigen, &peer_armadillo,
	};
	size_t count = 0;

	/* Old cores chosen for the sake of old builds would slow it down. */
	unsetenv("OPENBLAS_CORETYPE");
	unsetenv("OPENBLAS_L2_SIZE");
	/* Else MKL's threads would spin on beside the ceiling that is measured next. */
	setenv("KMP_BLOCKTIME", "0", 0);
	for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
		if (peers[i]->load())
			continue;
		list[count++] = (struct bench_entry){
			.name = peers[i]->name,
			.kind = BENCH_PEER,
			.self = peers[i],
			.apply = peer_apply,
			.prepare = peer_prepare,
			.threads = peers[i]->threads,
		};
	}
	return count;
}
