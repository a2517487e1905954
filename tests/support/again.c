#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(char *self, const char *mode, char *setting)
{
	const char *emulator = getenv("TSW_EMULATOR");

	if (setting)
		putenv(setting);
	if (emulator)
		execlp(emulator, emulator, self, mode, (char *)NULL);
	else
		execl(self, self, mode, (char *)NULL);
	_exit(125);
}

int tsw_run_again(const char *mode, const char *setting)
{
	char self[4096] = "", copy[128];
	int status;
	pid_t child;

	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
	ck_assert_int_lt(snprintf(copy, sizeof copy, "%s", setting ? setting : ""), sizeof copy);
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		become(self, mode, setting ? copy : NULL);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
