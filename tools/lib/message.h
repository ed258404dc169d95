/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages and lines of text that have foreign words in them: names of processes and files, what a
 * recording says, what the command line says.
 *
 * A message is escaped as a whole, with text_printable(), when it is printed.  Therefore each
 * function that makes one, in a buffer "why" for instance, can put any bytes into it.
 *
 * This header is included in place of err.h, whose functions it replaces: see tests/lint/check-foreign.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>

/* As in err(3), but escaped. */
#define err(...)   message_err(__VA_ARGS__)
#define errx(...)  message_errx(__VA_ARGS__)
#define warn(...)  message_warn(__VA_ARGS__)
#define warnx(...) message_warnx(__VA_ARGS__)
#define vwarnx(format, args) message_vwarnx(format, args)

__attribute__((noreturn, format(printf, 2, 3))) void message_err(int status, const char *format, ...);
__attribute__((noreturn, format(printf, 2, 3))) void message_errx(int status, const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_warn(const char *format, ...);
__attribute__((format(printf, 1, 2))) void message_warnx(const char *format, ...);
__attribute__((format(printf, 1, 0))) void message_vwarnx(const char *format, va_list args);
__attribute__((format(printf, 2, 3))) void text_line(FILE *out, const char *format, ...);
int stdout_check(int status);
int option_next(int argc, char **argv, const char *letters, const struct option *longs);

#endif /* MESSAGE_H */
