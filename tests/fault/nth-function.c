// SPDX-License-Identifier: GPL-2.0
/* nth: functions of the kernel that are made to fail, instead of an allocation (fail_function) */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "nth.h"
#include "simgpu.h"
#include "tap.h"

#define DIR_OF	"/sys/kernel/debug/fail_function"
#define ENOMEM_TEXT	"0xfffffffffffffff4"	/* -ENOMEM, also as a pointer */

static void poke(const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), DIR_OF "/%s", file);
	if (sim_poke(path, text))
		tap_bail("%s: %s", path, strerror(errno));
}

/* A function may be named only while somebody has declared that it may fail: tests/sim/inject.c */
static void declare(void)
{
	static bool done;
	char path[512];
	const char *ko = getenv("KFDPRIO_SIM_KO");
	int fd;

	if (done)
		return;
	snprintf(path, sizeof(path), "%.*s/inject.ko", ko ? (int)(strrchr(ko, '/') - ko) : 0, ko ? ko : "");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
	poke("verbose", "0");
	poke("task-filter", "Y");
	poke("interval", "1");
	done = true;
}

void function_choose(const char *name)
{
	char file[64], path[128], text[32] = "";
	int fd;

	declare();
	poke("probability", "0");
	poke("inject", name);
	snprintf(file, sizeof(file), "%s/retval", name);
	snprintf(path, sizeof(path), DIR_OF "/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
	/* or NULL, where that is what it returns */
	if (strtoull(text, NULL, 16))
		poke(file, ENOMEM_TEXT);
}

void function_forget(const char *name)
{
	char text[64];

	poke("probability", "0");
	snprintf(text, sizeof(text), "!%s", name);
	poke("inject", text);
}

void function_arm(unsigned int nth)
{
	char text[16];

	poke("times", "1");
	/* so many calls less one go through before */
	snprintf(text, sizeof(text), "%u", nth);
	poke("space", text);
	poke("probability", "100");
	if (sim_poke("/proc/thread-self/make-it-fail", "1"))
		tap_bail("/proc/thread-self/make-it-fail: %s", strerror(errno));
}

bool function_disarm(void)
{
	char text[16] = "";
	int fd;

	sim_poke("/proc/thread-self/make-it-fail", "0");
	poke("probability", "0");
	fd = open(DIR_OF "/times", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		tap_bail(DIR_OF "/times: %s", strerror(errno));
	close(fd);
	return !atoi(text);
}
