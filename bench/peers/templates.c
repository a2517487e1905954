/* Eigen and Armadillo are C++ templates: eigen.cpp and armadillo.cpp are built into plugins by
 * `make peers` where their headers are installed, and looked for beside this program. */
#include "peers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef int (*plugin_t)(void *a, size_t n, size_t ld, size_t elem_size);

static plugin_t load_plugin(const char *variable, const char *file)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
	const char *names[] = {path, NULL};
	void *library;
	plugin_t plugin = NULL;
	char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	snprintf(slash, 64, "/peers/%s", file);
	library = peer_open(variable, names);
	if (library)
		*(void **)&plugin = peer_symbol(library, "tsw_peer_transpose");
	return plugin;
}

static plugin_t eigen, armadillo;

static int load_eigen(void)
{
	if (!eigen)
		eigen = load_plugin("TSW_EIGEN", "eigen.so");
	return eigen ? 0 : -1;
}

static int load_armadillo(void)
{
	if (!armadillo)
		armadillo = load_plugin("TSW_ARMADILLO", "armadillo.so");
	return armadillo ? 0 : -1;
}

static int transpose_eigen(void *a, const struct bench_shape *s, int threads)
{
	(void)threads;
	return eigen(a, s->n, s->ld, s->elem_size) ? BENCH_UNSUPPORTED : BENCH_OK;
}

static int transpose_armadillo(void *a, const struct bench_shape *s, int threads)
{
	(void)threads;
	return armadillo(a, s->n, s->ld, s->elem_size) ? BENCH_UNSUPPORTED : BENCH_OK;
}

const struct host_peer peer_eigen = {"peer:eigen", 1, load_eigen, NULL, transpose_eigen};
const struct host_peer peer_armadillo = {"peer:armadillo", 1, load_armadillo, NULL,
					 transpose_armadillo};
