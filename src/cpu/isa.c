/* Which micro-kernels this machine gets. */
#include "kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int always(void)
{
	return 1;
}

#if defined(__x86_64__)
/* clang does not know this name of __builtin_cpu_supports. */
static int has_f16c(void)
{
	unsigned a, b, c = 0, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}

static int has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && has_f16c();
}

static int has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}
#endif

/* Best first. */
static const struct {
	const struct tsw_isa *isa;
	int (*runs_here)(void);
} isas[] = {
#if defined(__x86_64__)
	{&tsw_isa_avx512, has_avx512},
	{&tsw_isa_avx2, has_avx2},
#elif defined(__aarch64__)
	{&tsw_isa_neon, always},
#endif
	{&tsw_isa_c, always},
};

static const struct tsw_isa *picked;

/* A NULL name fits all. */
static const struct tsw_isa *first_fit(const char *name)
{
	for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
		if ((!name || !strcmp(name, isas[i].isa->name)) && isas[i].runs_here())
			return isas[i].isa;
	return NULL;
}

static void pick(void)
{
	const char *name = getenv("TILESWAP_ISA");
	const struct tsw_isa *isa = name ? first_fit(name) : NULL;

	__atomic_store_n(&picked, isa ? isa : first_fit(NULL), __ATOMIC_RELEASE);
}

const struct tsw_isa *tsw_cpu_isa(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct tsw_isa *isa = __atomic_load_n(&picked, __ATOMIC_ACQUIRE);

	if (isa) /* a call less, which counts where matrices are small */
		return isa;
	pthread_once(&once, pick);
	return picked;
}

const struct tsw_isa *tsw_cpu_isa_named(const char *name)
{
	return first_fit(name);
}
