// SPDX-License-Identifier: GPL-2.0
/* kfdpriod: messages, on standard error; with a level in front of each line where that is the journal. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfdpriod.h"

static bool journal;

/**
 * log_begin() - look where the messages go
 */
void log_begin(void)
{
	journal = getenv("JOURNAL_STREAM");
	setvbuf(stderr, NULL, _IOLBF, 0);
}

/**
 * log_line() - print a message
 * @level: how important it is
 * @format: without a newline; the message is escaped as a whole
 */
void log_line(enum log_level level, const char *format, ...)
{
	char text[2 * KFDLIB_PATH], *safe;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	safe = text_printable(text);
	/* sd-daemon(3) */
	if (journal)
		fprintf(stderr, "<%d>%s\n", level, safe ? safe : "out of memory");
	else
		fprintf(stderr, "kfdpriod: %s\n", safe ? safe : "out of memory");
	free(safe);
}

/**
 * log_refused() - report what the driver refuses, once
 * @s: the service
 * @pid: the process
 * @what: what was to be set
 * @err: errno of the driver
 */
void log_refused(struct service *s, pid_t pid, const char *what, int err)
{
	const char *todo = err == EPERM	   ? "; that needs CAP_SYS_NICE" :
			   err == ENOSPC   ? "; the node has as many groups as it can have: see 'kfdprio metrics'" :
			   err == EDEADLK ? "; kfdpriod is in a group of processes itself: start it by its unit" : "";

	if (s->refused)
		return;
	s->refused = true;
	log_line(LOG_LEVEL_ERROR, "process %d: the driver refuses %s: %s%s; further refusals are not reported", pid, what,
		 strerror(err), todo);
}
