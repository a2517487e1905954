/* Rows and machine facts, as a table or as JSON lines. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define MAX_FACTS 48

static void json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", (unsigned)(unsigned char)*s);
		else
			putchar(*s);
	}
	putchar('"');
}

static struct bench_fact text_fact(const char *key, const char *text)
{
	struct bench_fact fact = {.key = key, .is_text = 1};

	snprintf(fact.text, sizeof fact.text, "%s", text);
	return fact;
}

/* What stands behind "name : " in the first line of /proc/cpuinfo that has it. */
static void cpu_name(char *name, size_t room)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(name, room, "unknown");
	if (!f)
		return;
	while (fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');

		if (colon && (!strncmp(line, "model name", 10) || !strncmp(line, "CPU part", 8))) {
			colon[strcspn(colon, "\n")] = '\0';
			snprintf(name, room, "%s", colon + 2);
			break;
		}
	}
	fclose(f);
}

static size_t host_facts(struct bench_fact *facts)
{
	const char *commit = getenv("TSW_COMMIT");
	struct utsname os;
	char name[96], date[32];
	time_t now = time(NULL);
	struct tm utc;
	size_t k = 0;

	cpu_name(name, sizeof name);
	facts[k++] = text_fact("tileswap", tsw_version());
	if (commit)
		facts[k++] = text_fact("commit", commit);
	if (gmtime_r(&now, &utc) && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc))
		facts[k++] = text_fact("date", date);
	facts[k++] = text_fact("cpu", name);
	facts[k++] = (struct bench_fact){.key = "cores", .number = sysconf(_SC_NPROCESSORS_ONLN)};
	facts[k++] = text_fact("compiler", "gcc-compatible " __VERSION__);
	if (uname(&os) == 0)
		facts[k++] = text_fact("kernel", os.release);
	return k;
}

void bench_print_machine(const struct bench_options *options)
{
	struct bench_fact facts[MAX_FACTS];
	size_t count = host_facts(facts);

	if (!strcmp(options->device, "cuda"))
		count += bench_cuda_facts(facts + count, MAX_FACTS - count);
	if (options->json)
		fputs("{\"row\":\"machine\"", stdout);
	for (size_t i = 0; i < count; i++) {
		if (options->json) {
			printf(",\"%s\":", facts[i].key);
			if (facts[i].is_text)
				json_string(facts[i].text);
			else
				printf("%.10g", facts[i].number);
		} else if (facts[i].is_text) {
			printf("# %s: %s\n", facts[i].key, facts[i].text);
		} else {
			printf("# %s: %.10g\n", facts[i].key, facts[i].number);
		}
	}
	fputs(options->json ? "}\n"
			    : "# kernel                       elem       n      ld  off      count"
			      "    ms median       min       max     GB/s  ceiling  ratio  wrong\n",
	      stdout);
	fflush(stdout);
}

static const char *mode_name(const struct bench_set *set)
{
	switch (set->mode) {
	case BENCH_RESIDENT:
		return "resident";
	case BENCH_GRAPH:
		return "graph";
	case BENCH_PROFILE:
		return "profile";
	case BENCH_STREAM:
		break;
	}
	return set->copies > 1 ? "rotated" : "large";
}

static void print_json(const struct bench_options *options, const struct bench_row *r)
{
	const struct bench_set *set = r->set;
	const struct bench_shape *s = &set->shape;

	fputs("{\"row\":\"result\"", stdout);
	if (options->case_name) {
		fputs(",\"case\":", stdout);
		json_string(options->case_name);
	}
	fputs(",\"backend\":", stdout);
	json_string(r->backend);
	fputs(",\"kernel\":", stdout);
	json_string(r->entry->name);
	if (options->imatcopy.op)
		printf(",\"op\":\"%c\",\"type\":\"%c\",\"alpha\":[%g,%g]", options->imatcopy.op,
		       "sdczhb"[options->imatcopy.type], options -> imatcopy.alpha[0],
		       options->imatcopy.alpha[1]);
	printf(",\"elem_size\":%zu,\"n\":%zu", s->elem_size, s->n);
	if (s->cols)
		printf(",\"cols\":%zu", s->cols);
	printf(",\"ld\":%zu,\"offset\":%zu,\"count\":%zu,\"stride\":%zu,\"array\":%s", s->ld,
	       s->offset, s->count, s->stride, s->array ? "true" : "false");
	printf(",\"threads\":%d,\"reps\":%d,\"time_ms_median\":%.6g,\"time_ms_min\":%.6g,"
	       "\"time_ms_max\":%.6g,\"gb_per_s\":%.5g,\"ceiling_gb_per_s\":%.5g,\"ratio\":%.4f",
	       r->threads, r->reps, r->ms_median, r->ms_min, r->ms_max, r->gb_per_s,
	       r->ceiling_gb_per_s, r->ratio);
	if (r->verified)
		printf(",\"wrong\":%ju,\"data\":\"%s\"", (uintmax_t)r->wrong, set->data);
	else
		fputs(",\"wrong\":null", stdout);
	printf(",\"ratio_min\":%.4f,\"ratio_max\":%.4f,\"ceiling\":\"%s\",\"in_place\":%s,"
	       "\"cache\":\"%s\",\"buffers\":%zu,\"calls\":%zu",
	       r->ratio_min, r->ratio_max, r->ceiling, r->entry->out_of_place ? "false" : "true",
	       mode_name(set), set->copies, set->calls);
	if (set->isa)
		printf(",\"isa\":\"%s\"", set->isa);
	if (r->is_void)
		fputs(",\"void\":true", stdout);
	fputs("}\n", stdout);
}

void bench_print_row(const struct bench_options *options, const struct bench_row *r)
{
	const struct bench_shape *s = &r->set->shape;

	if (options->json) {
		print_json(options, r);
	} else {
		printf("%-30s %5zu %7zu %7zu %4zu %10zu %12.5g %9.4g %9.4g %8.1f %8.1f  %5.3f ",
		       r->entry->name, s->elem_size, s->n, s->ld, s->offset, s->count, r->ms_median,
		       r->ms_min, r->ms_max, r->gb_per_s, r->ceiling_gb_per_s, r->ratio);
		if (r->verified)
			printf("%6ju%s\n", (uintmax_t)r->wrong, r->is_void ? " void" : "");
		else
			printf("     -%s\n", r->is_void ? " void" : "");
	}
	fflush(stdout);
}
