/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for all unit tests of containers */
#ifndef CONTAINER_FIXTURE_H
#define CONTAINER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "container.h"

/* IDs and UIDs of the tests */
#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2  "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define ID3  "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd"
#define UID  "6f2d1a90-0c3b-4a51-9e66-0123456789ab"
#define UID_ "6f2d1a90_0c3b_4a51_9e66_0123456789ab"

/* one function per test-*.c; the number of failures */
int parse_tests(void);
int find_tests(void);

#endif /* CONTAINER_FIXTURE_H */
