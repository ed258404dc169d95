// SPDX-License-Identifier: GPL-2.0
/* Messages and lines of text that have foreign words in them; see message.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kfdlib.h"
#include "message.h"

/* One line: "@prefix: message: @error"; both may be NULL. */
static void put(FILE *out, const char *prefix, const char *format, va_list args, const char *error)
{
	char *text = NULL, *name = prefix ? text_printable(prefix) : NULL, *safe = NULL;

	if (vasprintf(&text, format, args) >= 0)
		safe = text_printable(text);
	else
		text = NULL;
	if (!safe || (prefix && !name))
		fputs("out of memory\n", out);
	else
		fprintf(out, "%s%s%s%s%s\n", name ? name : "", name ? ": " : "", safe, error ? ": " : "",
			error ? error : "");
	free(safe);
	free(name);
	free(text);
}

/**
 * message_vwarnx() - vwarnx(3), escaped
 * @format: of printf(3), one line without its end
 * @args: of it
 */
void message_vwarnx(const char *format, va_list args)
{
	put(stderr, program_invocation_short_name, format, args, NULL);
}

/**
 * message_warnx() - warnx(3), escaped
 * @format: of printf(3), one line without its end
 */
void message_warnx(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message_vwarnx(format, args);
	va_end(args);
}

/**
 * message_warn() - warn(3), escaped
 * @format: of printf(3), one line without its end
 *
 * errno is the same afterwards.
 */
void message_warn(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	put(stderr, program_invocation_short_name, format, args, strerror(error));
	va_end(args);
	errno = error;
}

/**
 * message_errx() - errx(3), escaped
 * @status: the exit status
 * @format: of printf(3), one line without its end
 */
void message_errx(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message_vwarnx(format, args);
	va_end(args);
	exit(status);
}

/**
 * message_err() - err(3), escaped
 * @status: the exit status
 * @format: of printf(3), one line without its end
 */
void message_err(int status, const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	put(stderr, program_invocation_short_name, format, args, strerror(error));
	va_end(args);
	exit(status);
}

/**
 * text_line() - print a line with foreign words in it
 * @out: where to
 * @format: of printf(3), one line without its end
 */
void text_line(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(out, NULL, format, args, NULL);
	va_end(args);
}

/**
 * stdout_check() - output that was not written is a failure: a full disk, a closed pipe
 * @status: the exit status otherwise
 *
 * Return: the exit status.
 */
int stdout_check(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		warn("cannot write the output");
		return EXIT_FAILURE;
	}
	return status;
}

/**
 * option_next() - getopt_long(3), whose messages are escaped
 * @argc: as of main()
 * @argv: the same
 * @letters: of options
 * @longs: names of options
 *
 * A message has the word that is wrong in it, which may be the name of a file of another user where the
 * shell made a word of a pattern.
 *
 * Return: as getopt_long(3) does.
 */
int option_next(int argc, char **argv, const char *letters, const struct option *longs)
{
	char *text = NULL, *safe;
	FILE *terminal = stderr, *held;
	size_t size = 0;
	int option;

	held = open_memstream(&text, &size);
	/* the C library writes messages where this variable says */
	if (held)
		stderr = held;
	option = getopt_long(argc, argv, letters, longs, NULL);
	stderr = terminal;
	if (!held || fclose(held) || !size) {
		free(text);
		return option;
	}
	text[size - 1] = '\0';
	safe = text_printable(text);
	fprintf(stderr, "%s\n", safe ? safe : "out of memory");
	free(safe);
	free(text);
	return option;
}
