// SPDX-License-Identifier: GPL-2.0
/* kfdpriod: messages, on standard error; with a level in front of each line where that is the journal. */
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
