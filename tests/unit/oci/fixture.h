/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests of OCI containers share. */
#ifndef OCI_FIXTURE_H
#define OCI_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oci.h"

void test_no_control(const char *text);

/* one function per test-*.c; the number of failures */
int state_tests(void);
int choose_tests(void);
int share_tests(void);
int random_tests(void);

#endif /* OCI_FIXTURE_H */
