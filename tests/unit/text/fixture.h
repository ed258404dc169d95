/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests of foreign text share. */
#ifndef TEXT_FIXTURE_H
#define TEXT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kfdlib.h"

#define NAME_BYTES 80

void test_harmless(const char *what, const char *text, const char *raw);
void test_name(unsigned int *seed, char *name);

/* what is printed on standard error or output while @print runs; to be freed with free(3) */
char *test_printed(FILE **stream, void (*print)(const char *raw), const char *raw);

/* one function per test-*.c; the number of failures */
int escape_tests(void);
int print_tests(void);

#endif /* TEXT_FIXTURE_H */
