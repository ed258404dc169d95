/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests of shares have in common. Times are in ns, written with US, MS and SEC. */
#ifndef SHARE_H
#define SHARE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kfd_prio_quota.h"
#include "kfd_prio_turn.h"

#define US		1000ULL
#define MS		1000000ULL
#define SEC		1000000000ULL
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define NEVER		(~0ULL)

/* a save and a restore of 327 us each, and what comes with them: as measured on the simulated GPU */
#define SWITCH		(770 * US)

u64 rnd(u64 below);	/* a random number, 0..below - 1, of SEED= */

int quota_tests(void);
int turn_tests(void);

#endif
