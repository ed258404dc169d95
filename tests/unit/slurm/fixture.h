/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests of the plugin of Slurm share. */
#ifndef SLURM_FIXTURE_H
#define SLURM_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job-prio.h"
#include "step-share.h"

#define UNSET KFD_PRIO_UNSET
#define NONE  KFD_PRIO_MAX_NONE

int test_parse(struct job_prio_options *options, const char *line, char *why);

/* one function per test-*.c; the number of failures */
int parse_tests(void);
int choose_tests(void);
int share_tests(void);
int step_tests(void);

#endif /* SLURM_FIXTURE_H */
