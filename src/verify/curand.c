/* Loading cuRAND. */
#include "curand.h"

#include "../status.h"
#include "verify.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Words of one call of cuRAND: a multiple of 4, far below what its sizes allow. */
#define CALL_WORDS ((size_t)1 << 30)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct tsw_curand calls;
static char failure[256]; /* empty if cuRAND is there */

static void *open_any(void)
{
	static const char *const names[] = {"libcurand.so.10", "libcurand.so",
					    "/usr/local/cuda/lib64/libcurand.so.10"};
	void *library = NULL;

	for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* POSIX makes a pointer to data of what is a function; C has no cast for that. */
static int find(void *library, const char *name, void *call)
{
	void *address = dlsym(library, name);

	memcpy(call, &address, sizeof address);
	if (!address)
		snprintf(failure, sizeof failure, "cuRAND has no %s", name);
	return address != NULL;
}

static void load(void)
{
	void *library = open_any();
	const char *why;

	if (!library) {
		why = dlerror();
		snprintf(failure, sizeof failure, "cuRAND cannot be loaded: %s",
			 why ? why : "no reason given");
		return;
	}
	if (find(library, "curandCreateGenerator", &calls.create) &&
	    find(library, "curandCreateGeneratorHost", &calls.create_host) &&
	    find(library, "curandDestroyGenerator", &calls.destroy) &&
	    find(library, "curandSetStream", &calls.set_stream) &&
	    find(library, "curandSetPseudoRandomGeneratorSeed", &calls.set_seed) &&
	    find(library, "curandSetGeneratorOffset", &calls.set_offset))
		find(library, "curandGenerate", &calls.generate);
}

tsw_status tsw_curand_load(const struct tsw_curand **curand)
{
	pthread_once(&once, load);
	if (failure[0])
		return tsw_fail(TSW_ERR_UNSUPPORTED, "%s", failure);
	*curand = &calls;
	return TSW_OK;
}

tsw_status tsw_curand_usable(void)
{
	const struct tsw_curand *curand;

	return tsw_curand_load(&curand);
}

tsw_status tsw_curand_fail(int error, const char *call)
{
	const char *end = strchr(call, '(');

	/* 102 and 103 are its allocation failures. */
	return tsw_fail(error == 102 || error == 103 ? TSW_ERR_NO_MEMORY : TSW_ERR_CUDA,
			"cuRAND: %.*s: status %d", end ? (int)(end - call) : 0, call, error);
}

tsw_status tsw_curand_seek(const struct tsw_curand *curand, tsw_curand_generator generator,
			   uint64_t seed, uint64_t first)
{
	TRY_CURAND(curand->set_seed(generator, seed));
	TRY_CURAND(curand->set_offset(generator, first));
	return TSW_OK;
}

tsw_status tsw_curand_words(const struct tsw_curand *curand, tsw_curand_generator generator,
			    unsigned *out, size_t nwords)
{
	for (size_t done = 0; done < nwords;) {
		const size_t left = nwords - done, part = left < CALL_WORDS ? left : CALL_WORDS;

		TRY_CURAND(curand->generate(generator, out + done, part));
		done += part;
	}
	return TSW_OK;
}
