#include "progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

#define AFTER_S 1.0 /* nothing is drawn for a job that is over sooner */
#define EVERY_S 0.1
#define BAR 24

static struct {
	int on, visible;
	uint64_t done, total, before; /* before: done when the clock began */
	double begun, drawn, after;
} p;

void progress_begin(int show, uint64_t total_bytes, uint64_t done_bytes)
{
	p.on = show == SHOW_ALWAYS || (show == SHOW_AUTO && isatty(STDERR_FILENO));
	p.after = show == SHOW_ALWAYS ? 0 : AFTER_S;
	p.done = p.before = done_bytes;
	p.total = total_bytes;
	p.begun = seconds_now();
	p.drawn = 0;
}

static void draw(const char *what, double now)
{
	double part = p.total ? (double)p.done / (double)p.total : 1;
	double rate = now > p.begun ? (double)(p.done - p.before) / (now - p.begun) : 0;
	double left = rate > 0 ? (double)(p.total - p.done) / rate : 0;
	uint64_t left_s = (uint64_t)(left < 1e9 ? left + 0.5 : 1e9);
	char bar[BAR + 1];

	for (int i = 0; i < BAR; i++)
		bar[i] = i < part * BAR ? '#' : '.';
	bar[BAR] = '\0';
	fprintf(stderr, "\r\033[K%-12s [%s] %3.0f%%", what, bar, part * 100);
	if (rate > 0)
		fprintf(stderr, "  %.2f GB/s  ETA %llu:%02llu", rate / 1e9,
			(unsigned long long)left_s / 60, (unsigned long long)left_s % 60);
	fflush(stderr);
	p.visible = 1;
	p.drawn = now;
}

void progress_add(const char *what, uint64_t done_bytes)
{
	double now;

	p.done += done_bytes;
	if (p.done > p.total)
		p.done = p.total;
	if (!p.on)
		return;
	now = seconds_now();
	if (now - p.begun >= p.after && now - p.drawn >= EVERY_S)
		draw(what, now);
}

void progress_line(const char *text)
{
	double now = seconds_now();
	struct winsize size;
	int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1
			    ? size.ws_col - 1
			    : 1000;

	if (!p.on || now - p.begun < p.after)
		return;
	fprintf(stderr, "\r\033[K%.*s", width, text);
	fflush(stderr);
	p.visible = 1;
}

void progress_hide(void)
{
	if (p.visible)
		fputs("\r\033[K", stderr);
	p.visible = 0;
}

void progress_end(void)
{
	progress_hide();
	p.on = 0;
}
