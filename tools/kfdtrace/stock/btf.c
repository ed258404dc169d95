// SPDX-License-Identifier: GPL-2.0
/* kfdtrace btf: make the types of the driver from its source.  The program make-btf does it, a script */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfdtrace.h"
#include "message.h"
#include "stock.h"

/* Where it is, as seen from the directory of this program: installed, and as built */
static const char *const places[] = { "../libexec/kfdprio/make-btf", "make-btf" };

/**
 * kfdtrace_btf() - the verb
 * @argc: number of @argv
 * @argv: options, which make-btf reads
 *
 * Return: the exit status, if make-btf cannot be run.
 */
int kfdtrace_btf(int argc, char **argv)
{
	char self[PATH_MAX], path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *end;
	size_t i;

	(void)argc;
	if (len < 0)
		err(EXIT_FAILURE, "/proc/self/exe");
	self[len] = 0;
	end = strrchr(self, '/');
	end[1] = 0;
	setenv("KFDPRIO_VERSION", KFDPRIO_VERSION, 1);
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (snprintf(path, sizeof(path), "%s%s", self, places[i]) >= (int)sizeof(path))
			continue;
		argv[0] = path;
		execv(path, argv);
	}
	err(EXIT_FAILURE, "make-btf of kfdprio's tools (%s)", path);
}
