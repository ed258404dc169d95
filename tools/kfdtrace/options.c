// SPDX-License-Identifier: GPL-2.0
/* Values of options that several verbs have. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"
#include "kfdtrace.h"

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
		errx(EXIT_FAILURE, "%s", why);
	return pid;
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
