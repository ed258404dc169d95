// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"

static int points, failures;

static bool point(bool pass, const char *fmt, va_list ap)
{
	points++;
	failures += !pass;
	printf("%sok %d - ", pass ? "" : "not ", points);
	vprintf(fmt, ap);
	putchar('\n');
	fflush(stdout);
	/* who wants to know only if there is one */
	if (!pass && getenv("TAP_FIRST"))
		exit(1);
	return pass;
}

bool tap_ok(bool pass, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	point(pass, fmt, ap);
	va_end(ap);
	return pass;
}

bool tap_eq(long long have, long long want, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	point(have == want, fmt, ap);
	va_end(ap);
	if (have != want)
		tap_diag("have %lld (%#llx), want %lld (%#llx)", have, have, want, want);
	return have == want;
}

void tap_diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

void tap_skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++points, name, why);
	fflush(stdout);
}

void tap_bail(const char *fmt, ...)
{
	va_list ap;

	printf("Bail out! ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	exit(1);
}

int tap_done(void)
{
	printf("1..%d\n", points);
	return failures ? 1 : 0;
}

bool tap_wanted(const char *name, char **names, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return !n;
}
