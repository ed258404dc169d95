// SPDX-License-Identifier: GPL-2.0
/* Groups of processes that share GPU time: the ioctls. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "share.h"

#define ROOM_MORE 16 /* entries for groups that are made between two calls */

/**
 * kfd_dev_has_shares() - does the driver have groups?
 * @dev: the device
 * @why: out: if not, why, and what to do; KFDLIB_WHY bytes; NULL: not wanted
 *
 * Return: whether.
 */
bool kfd_dev_has_shares(const struct kfd_dev *dev, char *why)
{
	if (dev->version.features & KFD_PRIO_FEATURE_SHARES)
		return true;
	if (why)
		snprintf(why, KFDLIB_WHY,
			 "the driver has version %u.%u of the kfdprio interface, which has no groups, and %u.%u is needed: install the driver of kfdprio " KFDPRIO_VERSION ", then reboot or reload amdgpu",
			 dev->version.major, dev->version.minor, KFD_PRIO_VERSION_MAJOR, KFDLIB_SHARE_MINOR);
	return false;
}

/**
 * kfd_dev_share() - KFD_PRIO_IOC_SHARE
 * @dev: the device
 * @args: see linux/kfd_prio.h
 *
 * Return: 0 or -errno as linux/kfd_prio.h lists them.
 */
int kfd_dev_share(const struct kfd_dev *dev, struct kfd_prio_share_args *args)
{
	return ioctl(dev->fd, KFD_PRIO_IOC_SHARE, args) ? -errno : 0;
}

/**
 * kfd_dev_shares() - all groups, with KFD_PRIO_IOC_SHARES
 * @dev: the device, whose driver has groups
 * @entries: out: array in the order in which the groups were made, to be freed with free(3)
 * @nr: out: how many
 *
 * Asks again with more room for as long as there are more groups than fit.
 *
 * Return: 0 or -errno; @entries and @nr are not changed then.
 */
int kfd_dev_shares(const struct kfd_dev *dev, struct kfd_prio_share_entry **entries, size_t *nr)
{
	size_t want = KFD_PRIO_SHARE_ALL_MAX;
	struct kfd_prio_shares_args args;
	struct kfd_prio_share_entry *room;
	int ret;

	for (;;) {
		room = calloc(want, sizeof(*room));
		if (!room)
			return -ENOMEM;
		args = (struct kfd_prio_shares_args){ .entries = (uintptr_t)room, .entry_size = sizeof(*room),
						      .nr_entries = want };
		if (ioctl(dev->fd, KFD_PRIO_IOC_SHARES, &args)) {
			ret = -errno;
			free(room);
			return ret;
		}
		if (args.nr_entries <= want)
			break;
		free(room);
		want = (size_t)args.nr_entries + ROOM_MORE;
	}
	*entries = room;
	*nr = args.nr_entries;
	return 0;
}

/**
 * share_args_set() - ask for a setting, limit and weight
 * @args: in, out
 * @setting: the setting
 */
void share_args_set(struct kfd_prio_share_args *args, const struct share_setting *setting)
{
	args->flags |= KFD_PRIO_SHARE_MAX | KFD_PRIO_SHARE_WEIGHT;
	if (setting->soft && setting->max < KFD_PRIO_MAX_NONE)
		args->flags |= KFD_PRIO_SHARE_SOFT;
	args->max = setting->max;
	args->weight = setting->weight;
}

/**
 * share_entry_setting() - the setting of a group
 * @entry: the group
 *
 * Return: the setting.
 */
struct share_setting share_entry_setting(const struct kfd_prio_share_entry *entry)
{
	return (struct share_setting){ .max = entry->max, .weight = entry->weight,
				       .soft = entry->flags & KFD_PRIO_SHARE_IS_SOFT };
}

/**
 * share_entry_unenforced() - has a group a limit or a weight that is not enforced on a GPU?
 * @entry: the group
 *
 * Return: whether.
 */
bool share_entry_unenforced(const struct kfd_prio_share_entry *entry)
{
	return entry->flags & KFD_PRIO_SHARE_IS_UNENFORCED &&
	       (entry->max != KFD_PRIO_MAX_NONE || entry->weight != KFD_PRIO_WEIGHT_NONE);
}

/**
 * share_entry_find() - a group by its number
 * @entries: of kfd_dev_shares()
 * @nr: how many
 * @group: the number; 0: no group
 *
 * Return: the group or NULL.
 */
const struct kfd_prio_share_entry *share_entry_find(const struct kfd_prio_share_entry *entries, size_t nr, uint64_t group)
{
	size_t i;

	for (i = 0; group && i < nr; i++)
		if (entries[i].group == group)
			return &entries[i];
	return NULL;
}

/**
 * share_entry_of_cgroup() - the group that is bound to a cgroup
 * @entries: of kfd_dev_shares()
 * @nr: how many
 * @cgroup: number of the cgroup, not 0
 *
 * Return: the group or NULL.
 */
const struct kfd_prio_share_entry *share_entry_of_cgroup(const struct kfd_prio_share_entry *entries, size_t nr, uint64_t cgroup)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (entries[i].cgroup == cgroup)
			return &entries[i];
	return NULL;
}
