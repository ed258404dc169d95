// SPDX-License-Identifier: GPL-2.0
/* What is wrong with a trace.dat. */
#include <stdarg.h>
#include <stdio.h>

#include "file.h"

/**
 * trace_say() - say what is wrong with a file
 * @file: the file
 * @format: of printf(3)
 */
void trace_say(struct trace_file *file, const char *format, ...)
{
	va_list args;
	int n;

	n = snprintf(file->why, TRACE_WHY, "%s: ", file->path);
	if (n < 0 || n >= TRACE_WHY)
		n = 0;
	va_start(args, format);
	vsnprintf(file->why + n, TRACE_WHY - n, format, args);
	va_end(args);
}
