/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests of kfd_prio_policy.c share. Times are in ns, written with US, MS and SEC. */
#ifndef POLICY_FIXTURE_H
#define POLICY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kfd_prio_backoff.h"
#include "kfd_prio_policy.h"

#define US		1000ULL
#define MS		1000000ULL
#define SEC		1000000000ULL

#define NONE		KFD_PRIO_LEVEL_NONE
#define SLOT		(SEC / KFD_PRIO_FLOOR_SLOTS)

/* the module parameters: the defaults, with the policy of sharing and a period of a second */
#define PARAMS		{ .enabled = true, .min_prio = 11, .linger_ns = 200 * US, .floor_pct = 5, \
			  .max_per_s = 1000, .budget_ns = 100 * MS, .switch_pct = 10, \
			  .period_ns = SEC }

/* one function per test-*.c; the number of failures */
int table_tests(void);
int state_tests(void);
int random_tests(void);
int park_tests(void);
int backoff_tests(void);
int rate_tests(void);

#endif
