/* SPDX-License-Identifier: GPL-2.0 */
/* kfdprio -l and --groups: groups, as the driver lists them. */
#ifndef LIST_SHARES_H
#define LIST_SHARES_H

#include "kfdprio.h"

/**
 * struct list_shares - the groups
 * @entries: array of @nr
 * @nr: how many
 * @ret: 0 or -errno, of KFD_PRIO_IOC_SHARES; -EOPNOTSUPP: the driver has no groups
 */
struct list_shares {
	struct kfd_prio_share_entry *entries;
	size_t nr;
	int ret;
};

/* Columns of kfdprio -l, which list.c has in this order */
enum list_share {
	LIST_SHARE_GROUP,
	LIST_SHARE_CGROUP_GROUP,
	LIST_SHARE_MAX,
	LIST_SHARE_IS_SOFT,
	LIST_SHARE_WEIGHT,
	LIST_SHARE_IS_THROTTLED,
	LIST_SHARE_THROTTLED,
	LIST_SHARE_THROTTLED_TIME,
};

void list_shares_read(const struct kfd_dev *dev, struct list_shares *shares);
void list_shares_free(struct list_shares *shares);
void list_limit(struct list_value *value, const struct kfd_prio_share_entry *share, const struct list_choice *choice);
void list_shares_cell(const struct list_shares *shares, const struct kfd_prio_list_entry *entry,
		      const struct list_choice *choice, enum list_share column, struct list_value *value);
void list_shares_show(const struct list_shares *shares, pid_t pid, const struct kfd_prio_list_entry *entry);

#endif /* LIST_SHARES_H */
