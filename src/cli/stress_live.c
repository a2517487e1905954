/* The line that stress keeps on the terminal: what each device is doing, how fast, how hot. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "progress.h"
#include "stress.h"

#define EVERY_MS 500

struct line {
	char text[1024];
	size_t len;
};

/* Appends; what finds no room is cut off. */
static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *line, const char *format, ...)
{
	const size_t room = sizeof line->text - line->len;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line->text + line->len, room, format, args);
	va_end(args);
	if (len > 0)
		line->len += (size_t)len < room ? (size_t)len : room - 1;
}

static void add_worker(struct line *line, const struct worker *w, int alone)
{
	const struct tsw_health health = tsw_nvml_health(&w->nvml);

	add(line, "%s round %llu", w->arena.name, (unsigned long long)w->now.number);
	if (alone)
		add(line, " %s, %s", pattern_names[w->now.content.pattern],
		    w->ended ? "ended" : w->step);
	add(line, ", %.1f GB/s", w->now.gb_per_s);
	if (health.temperature_c >= 0)
		add(line, ", %.0f C", health.temperature_c);
	if (health.sm_mhz >= 0)
		add(line, ", %.0f MHz", health.sm_mhz);
	if (alone && health.memory_mhz >= 0)
		add(line, ", memory %.0f MHz", health.memory_mhz);
	if (alone && health.power_w >= 0)
		add(line, ", %.0f W", health.power_w);
	add(line, ", %llu bad", (unsigned long long)w->totals.bad_rounds);
}

static void draw(const struct stress *s)
{
	struct line line = {.len = 0};

	for (int i = 0; i < s->count; i++) {
		if (i)
			add(&line, " | ");
		add_worker(&line, &s->workers[i], s->count == 1);
	}
	if (given(s->o, OPT_SECONDS)) {
		double left = s->o->seconds - (seconds_now() - s->begun);
		unsigned long long whole = left > 0 ? (unsigned long long)left : 0;

		add(&line, ", %llu:%02llu left", whole / 60, whole % 60);
	}
	progress_line(line.text);
}

static int all_ended(const struct stress *s)
{
	for (int i = 0; i < s->count; i++)
		if (!s->workers[i].ended)
			return 0;
	return 1;
}

void live_watch(struct stress *s)
{
	progress_begin(s->o->show, 0, 0);
	pthread_mutex_lock(&s->lock);
	while (!all_ended(s)) {
		struct timespec until;

		draw(s);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += EVERY_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&s->ended, &s->lock, &until);
	}
	pthread_mutex_unlock(&s->lock);
	progress_end();
}
