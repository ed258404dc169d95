/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests of kfdtrace share. */
#ifndef KFDTRACE_FIXTURE_H
#define KFDTRACE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

int run_amdlog(void);
int run_events(void);
int run_hist(void);
int run_model(void);
int run_model_many(void);
int run_names(void);
int run_trace(void);
int run_state(void);
int run_stock(void);
int run_throttle(void);

#endif /* KFDTRACE_FIXTURE_H */
