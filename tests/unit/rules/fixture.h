/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests of rules share. */
#ifndef RULES_FIXTURE_H
#define RULES_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rules.h"

extern const struct rules_names test_names; /* users anna 1000, ben 1001; groups gpu 44, batch 45 */

void test_parse(struct rules *rules, const char *text);

/* one function per test-*.c; the number of failures */
int parse_tests(void);
int match_tests(void);
int share_tests(void);
int random_tests(void);

#endif /* RULES_FIXTURE_H */
