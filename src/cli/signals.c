#include "signals.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};

#define STOPS (sizeof stops / sizeof *stops)

static volatile sig_atomic_t only_note, noted;

/* Everything here is async-signal-safe. */
static void stop(int sig)
{
	if (!only_note || noted)
		_exit(128 + sig);
	noted = sig;
}

static void handle_all(void (*handler)(int))
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < STOPS; i++)
		sigaddset(&action.sa_mask, stops[i]);
	action.sa_flags = SA_RESTART;
	for (size_t i = 0; i < STOPS; i++) {
		struct sigaction before;

		/* What the caller had ignored (nohup, a shell's background jobs) stays ignored. */
		if (!sigaction(stops[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(stops[i], &action, NULL);
	}
}

void signals_install(void)
{
	signal(SIGXFSZ, SIG_IGN);
	handle_all(stop);
}

void signals_ignore(void)
{
	handle_all(SIG_IGN);
}

void signals_note(void)
{
	only_note = 1;
}

int signals_noted(void)
{
	return noted;
}
