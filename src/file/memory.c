#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number behind `key` in a file of lines "key number"; with key "" the first number of the
 * file. 0 if found; a value that is no number ("max") is not. */
static int number_in(const char *path, const char *key, uint64_t *value)
{
	size_t len = strlen(key);
	char line[256], *end;
	FILE *f = fopen(path, "re");
	int found = 0;

	while (f && !found && fgets(line, sizeof line, f)) {
		if (strncmp(line, key, len))
			continue;
		*value = strtoull(line + len, &end, 10);
		found = end != line + len;
	}
	if (f)
		fclose(f);
	return found ? 0 : -1;
}

static void lower(uint64_t *value, uint64_t limit)
{
	if (limit < *value)
		*value = limit;
}

/* ---- control groups -------------------------------------------------------------------------- */

struct cgroup_files {
	const char *mount, *limit, *usage, *reclaimable;
};

static const struct cgroup_files v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
				       "memory.usage_in_bytes", "total_inactive_file "};
static const struct cgroup_files v2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
				       "inactive_file "};

/* The limit of one group, at `path` under the mount. */
static void apply_group(struct tsw_memory *m, const struct cgroup_files *v, const char *path)
{
	uint64_t limit, usage = 0, cache = 0;
	char file[4096 + 128];

	snprintf(file, sizeof file, "%s%s/%s", v->mount, path, v->limit);
	if (number_in(file, "", &limit))
		return;
	lower(&m->total_bytes, limit);
	snprintf(file, sizeof file, "%s%s/%s", v->mount, path, v->usage);
	if (number_in(file, "", &usage))
		return;
	/* Clean file pages count as used but go when somebody needs the memory. */
	snprintf(file, sizeof file, "%s%s/memory.stat", v->mount, path);
	if (!number_in(file, v->reclaimable, &cache))
		usage -= cache < usage ? cache : usage;
	lower(&m->available_bytes, limit > usage ? limit - usage : 0);
}

/* A group is also bound by its parents.  In a container the path may name a place of the host's
 * that is not mounted: only the parents that exist speak, the mount itself among them. */
static void apply_groups(struct tsw_memory *m, const struct cgroup_files *v, char *path)
{
	char *slash;

	do {
		apply_group(m, v, path);
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
}

/* Lines of /proc/self/cgroup: "7:memory,pids:/path" (version 1) and "0::/path" (version 2). */
static void apply_cgroups(struct tsw_memory *m)
{
	char line[4096], *controllers, *path;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		controllers = strchr(line, ':');
		path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		if (!strcmp(path, "/"))
			*path = '\0';
		if (!controllers[1])
			apply_groups(m, &v2, path);
		else if (strstr(controllers, "memory"))
			apply_groups(m, &v1, path);
	}
	if (f)
		fclose(f);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void apply_address_space(struct tsw_memory *m)
{
	struct rlimit limit;
	uint64_t pages = 0, used;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return;
	number_in("/proc/self/statm", "", &pages);
	used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	lower(&m->total_bytes, limit.rlim_cur);
	lower(&m->available_bytes, limit.rlim_cur > used ? limit.rlim_cur - used : 0);
}

struct tsw_memory tsw_memory_now(void)
{
	struct tsw_memory m = {0, 0};

	if (number_in("/proc/meminfo", "MemTotal:", &m.total_bytes) ||
	    number_in("/proc/meminfo", "MemAvailable:", &m.available_bytes))
		return (struct tsw_memory){0, 0};
	m.total_bytes *= 1024;
	m.available_bytes *= 1024;
	apply_cgroups(&m);
	apply_address_space(&m);
	return m;
}
