// SPDX-License-Identifier: GPL-2.0
/* The command line, as far as several verbs have it: errors, the end of the output, values of options. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"
#include "kfdtrace.h"
#include "message.h"

/**
 * usage_error() - say what is wrong with the command line, and exit
 * @verb: whose help to look at, or NULL
 * @format: of printf(3)
 */
void usage_error(const char *verb, const char *format, ...)
{
	va_list args;

	if (format) {
		va_start(args, format);
		vwarnx(format, args);
		va_end(args);
	}
	fprintf(stderr, "Try 'kfdtrace %s%s--help' for more information.\n", verb ? verb : "",
		verb ? " " : "");
	exit(EXIT_USAGE);
}

/**
 * option_pid() - the value of --pid; does not return if it is wrong
 * @text: the value
 *
 * Return: the PID.
 */
pid_t option_pid(const char *text)
{
	char why[KFDLIB_WHY];
	pid_t pid;

	if (pid_parse(text, &pid, why))
		errx(EXIT_USAGE, "%s", why);
	return pid;
}

/**
 * option_pids() - a value of --pid, which may be repeated; does not return if it is wrong
 * @pids: it is added
 * @text: the value
 */
void option_pids(struct pids *pids, const char *text)
{
	pid_t pid = option_pid(text);

	if (pids->nr && pids_have(pids, pid))
		return;
	pids->pid = reallocarray(pids->pid, pids->nr + 1, sizeof(*pids->pid));
	if (!pids->pid)
		errx(EXIT_FAILURE, "out of memory");
	pids->pid[pids->nr++] = pid;
}

/**
 * pids_have() - whether a process was asked for
 * @pids: those that were
 * @pid: the process
 *
 * Return: whether; true if none was.
 */
bool pids_have(const struct pids *pids, pid_t pid)
{
	size_t i;

	for (i = 0; i < pids->nr; i++)
		if (pids->pid[i] == pid)
			return true;
	return !pids->nr;
}

/**
 * option_version() - --version of a verb; does not return
 */
void option_version(void)
{
	puts("kfdtrace " KFDPRIO_VERSION);
	exit(stdout_check(EXIT_SUCCESS));
}

/**
 * option_instance() - the value of --instance; does not return if it is wrong
 * @verb: whose option it is
 * @name: the value
 *
 * Return: @name, of a directory among the trace instances.
 */
const char *option_instance(const char *verb, const char *name)
{
	if (!*name || strchr(name, '/') || *name == '.')
		usage_error(verb, "--instance '%s': not the name of one", name);
	return name;
}
