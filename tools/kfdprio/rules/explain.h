/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio rules explain: the shares of GPU time of a process. */
#ifndef KFDPRIO_EXPLAIN_H
#define KFDPRIO_EXPLAIN_H

#include "rules.h"

/**
 * struct explained_share - the groups of a process, by the rules and by the driver
 * @result: what the rules say
 * @cgroup: of the process, NULL: not known
 * @known: the driver has groups, and was asked
 * @listed: the process uses KFD: the driver reports its groups
 * @own: the group that it was put in or has inherited; 0 in @own.group: none
 * @of_cgroup: the group of its cgroup
 * @bound: the group of the cgroup that shares by the rules
 */
struct explained_share {
	const struct rules_result *result;
	const char *cgroup;
	bool known, listed;
	struct kfd_prio_share_entry own, of_cgroup, bound;
};

void share_ask(struct explained_share *x, const struct kfd_dev *dev, pid_t pid);
void share_print(const struct explained_share *x);
void share_json(const struct explained_share *x);
const char *share_would(const struct explained_share *x, char *text, size_t size);

#endif /* KFDPRIO_EXPLAIN_H */
