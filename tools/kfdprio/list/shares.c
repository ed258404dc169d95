// SPDX-License-Identifier: GPL-2.0
/* kfdprio -l and -p: the groups of processes, with their limits and weights. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "share.h"
#include "shares.h"

/**
 * list_shares_read() - read the groups
 * @dev: the device
 * @shares: filled in; to be freed with list_shares_free()
 */
void list_shares_read(const struct kfd_dev *dev, struct list_shares *shares)
{
	*shares = (struct list_shares){ .ret = -EOPNOTSUPP };
	if (dev->version.features & KFD_PRIO_FEATURE_SHARES)
		shares->ret = kfd_dev_shares(dev, &shares->entries, &shares->nr);
}

/**
 * list_shares_free() - free what list_shares_read() has read
 * @shares: the groups
 */
void list_shares_free(struct list_shares *shares)
{
	free(shares->entries);
}

static const struct kfd_prio_share_entry *find(const struct list_shares *shares, uint64_t group)
{
	return share_entry_find(shares->entries, shares->nr, group);
}

/* The group whose limit holds for a process: the lower limit of its two groups.  NULL: neither has one. */
static const struct kfd_prio_share_entry *limit_of(const struct list_shares *shares,
						   const struct kfd_prio_list_entry *entry)
{
	const struct kfd_prio_share_entry *own = find(shares, entry->share), *cgroup = find(shares, entry->cgroup_share);

	if (own && own->max == KFD_PRIO_MAX_NONE)
		own = NULL;
	if (cgroup && cgroup->max == KFD_PRIO_MAX_NONE)
		cgroup = NULL;
	if (!own || !cgroup)
		return own ? own : cgroup;
	if (own->max == cgroup->max)
		return own->flags & KFD_PRIO_SHARE_IS_SOFT ? cgroup : own;
	return own->max < cgroup->max ? own : cgroup;
}

/* The group with whose weight a process takes turns: its own, else that of its cgroup.  NULL: neither has one. */
static const struct kfd_prio_share_entry *weight_of(const struct list_shares *shares,
						    const struct kfd_prio_list_entry *entry)
{
	const struct kfd_prio_share_entry *share = find(shares, entry->share);

	if (!share || share->weight == KFD_PRIO_WEIGHT_NONE)
		share = find(shares, entry->cgroup_share);
	return share && share->weight != KFD_PRIO_WEIGHT_NONE ? share : NULL;
}

/**
 * list_limit() - the limit of a group as the value of a cell: a number for programs, 30% or 30%,soft in a table
 * @value: filled in
 * @share: the group, or NULL
 * @choice: how the list is printed
 */
void list_limit(struct list_value *value, const struct kfd_prio_share_entry *share, const struct list_choice *choice)
{
	if (!share || share->max == KFD_PRIO_MAX_NONE)
		return;
	if (choice->json || choice->csv) {
		list_real(value, true, share->max / 100.0);
		return;
	}
	kfd_max_text(share->max, value->room, sizeof(value->room));
	if (share->flags & KFD_PRIO_SHARE_IS_SOFT)
		strcat(value->room, ",soft");
	value->kind = LIST_TEXT;
	list_text(value, value->room);
}

/**
 * list_shares_cell() - the value of a cell of kfdprio -l
 * @shares: the groups
 * @entry: the process on a GPU
 * @choice: how the list is printed
 * @column: the column
 * @value: filled in
 */
void list_shares_cell(const struct list_shares *shares, const struct kfd_prio_list_entry *entry,
		      const struct list_choice *choice, enum list_share column, struct list_value *value)
{
	const struct kfd_prio_share_entry *share;
	bool known = shares->ret != -EOPNOTSUPP && entry->gpu_id;

	switch (column) {
	case LIST_SHARE_GROUP:
		list_known_count(value, entry->share, entry->share);
		break;
	case LIST_SHARE_CGROUP_GROUP:
		list_known_count(value, entry->cgroup_share, entry->cgroup_share);
		break;
	case LIST_SHARE_MAX:
		list_limit(value, limit_of(shares, entry), choice);
		break;
	case LIST_SHARE_IS_SOFT:
		share = limit_of(shares, entry);
		value->known = share;
		value->flag = share && share->flags & KFD_PRIO_SHARE_IS_SOFT;
		break;
	case LIST_SHARE_WEIGHT:
		share = weight_of(shares, entry);
		list_known_count(value, share, share ? share->weight : 0);
		break;
	case LIST_SHARE_IS_THROTTLED:
		value->known = known;
		value->flag = entry->flags & KFD_PRIO_LIST_THROTTLED;
		break;
	case LIST_SHARE_THROTTLED:
		list_known_count(value, known, entry->throttled_count);
		break;
	case LIST_SHARE_THROTTLED_TIME:
		list_known_count(value, known, entry->throttled_ns);
	}
}

static void show(const struct list_shares *shares, pid_t pid, uint64_t group, const char *of)
{
	const struct kfd_prio_share_entry *share = find(shares, group);
	char text[64];

	if (!group)
		return;
	if (share)
		share_format(text, sizeof(text), share->max, share->flags & KFD_PRIO_SHARE_IS_SOFT, share->weight);
	else
		snprintf(text, sizeof(text), "its limit and weight are not known");
	printf("PID %d: group %llu%s: %s\n", pid, (unsigned long long)group, of, text);
}

/**
 * list_shares_show() - print the groups of a process, a line for each
 * @shares: the groups
 * @pid: the process
 * @entry: what the driver lists for it
 */
void list_shares_show(const struct list_shares *shares, pid_t pid, const struct kfd_prio_list_entry *entry)
{
	show(shares, pid, entry->share, "");
	show(shares, pid, entry->cgroup_share, " of its cgroup");
}
