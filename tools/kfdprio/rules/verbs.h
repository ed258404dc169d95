/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of kfdprio rules share. */
#ifndef KFDPRIO_RULES_H
#define KFDPRIO_RULES_H

#include "kfdprio.h"
#include "rules.h"

int kfdprio_rules(int argc, char **argv);

/* check.c */
int rules_check(const struct rules *rules, bool json, bool verbose);
void rules_errors_print(const struct rules *rules);

/* explain.c */
int rules_explain(const struct rules *rules, pid_t pid, bool json, bool verbose);

#endif /* KFDPRIO_RULES_H */
