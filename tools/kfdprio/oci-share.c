// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio oci-hook: a container gets the limit of GPU time and the weight that it asks for.
 *
 * They are those of a group that is bound to the container's cgroup, so that a process that joins the container later (podman
 * exec, kubectl exec) is in it.  Of the groups of the cgroups above a process, the nearest one counts.  A group of the container
 * would therefore take the place of one further up and lift its limit.  So it is not made where a cgroup above has a group, or
 * gets one by a rule: that one holds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "message.h"
#include "oci-groups.h"
#include "oci-share.h"

/* Groups of the host from which on no more are made for containers: rules and administrators need some as well. */
#define GROUPS_MAX (KFD_PRIO_SHARE_ALL_MAX / 2)

/**
 * struct others - the processes of a cgroup and below
 * @pid: the first process of the container
 * @found: it is there
 * @nr: how many others are
 */
struct others {
	pid_t pid;
	bool found;
	size_t nr;
};

static void other_count(void *context, pid_t pid, int dir)
{
	struct others *others = context;

	(void)dir;
	if (pid == others->pid)
		others->found = true;
	else
		others->nr++;
}

/* Is the container alone in its cgroup?  Others would be limited with it: with podman --cgroups=disabled it is that of the caller. */
static int alone_check(const char *path, pid_t pid, char *why)
{
	struct others others = { .pid = pid };
	char failed[KFDLIB_WHY];

	if (!*path) {
		snprintf(why, KFDLIB_WHY, "the container is in the root of all cgroups");
		return -EBUSY;
	}
	if (cgroup_pids(path, other_count, &others, failed)) {
		snprintf(why, KFDLIB_WHY, "the processes of the container's cgroup cannot be read");
		return -EIO;
	}
	if (others.found && !others.nr)
		return 0;
	snprintf(why, KFDLIB_WHY, "the container has no cgroup of its own: start it with one");
	return -EBUSY;
}

/*
 * Of all cgroups above @path, and with @own of that one: the first that has a group.  Bytes of its path, with NULL in @entry if it
 * cannot be opened; -1: none has.
 */
static int bound_find(const char *path, bool own, const struct kfd_prio_share_entry *entries, size_t nr,
		      const struct kfd_prio_share_entry **entry)
{
	size_t len = strlen(path), at;
	char part[KFDLIB_PATH];
	uint64_t id;
	int fd;

	for (at = 0; at <= len; at++) {
		if (at && path[at] != '/' && path[at])
			continue;
		if (at == len && !own)
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)at, path);
		fd = cgroup_name_open(part, &id);
		*entry = NULL;
		if (fd < 0)
			return at;
		close(fd);
		*entry = share_entry_of_cgroup(entries, nr, id);
		if (*entry)
			return at;
	}
	return -1;
}

static int bound_check(const struct kfd_dev *dev, const char *path, bool own, char *why)
{
	const struct kfd_prio_share_entry *entry = NULL;
	struct kfd_prio_share_entry *entries;
	char shown[4 * OCI_SHOWN + 4], part[KFDLIB_PATH], share[64];
	int ret, at;
	size_t nr;

	ret = kfd_dev_shares(dev, &entries, &nr);
	if (ret) {
		snprintf(why, KFDLIB_WHY, "the groups of the host cannot be listed: %s", strerror(-ret));
		return ret;
	}
	at = bound_find(path, own, entries, nr, &entry);
	if (at >= 0 && !entry) {
		snprintf(why, KFDLIB_WHY, "a cgroup above that of the container cannot be opened");
		ret = -EACCES;
	} else if (at >= 0) {
		share_format(share, sizeof(share), entry->max, entry->flags & KFD_PRIO_SHARE_IS_SOFT, entry->weight);
		snprintf(part, sizeof(part), "%.*s", at ? at : 1, at ? path : "/");
		oci_show(shown, part);
		snprintf(why, KFDLIB_WHY, "group %llu (%s) holds, which is that of the cgroup '%s'", (unsigned long long)entry->group,
			 share, shown);
		ret = -EEXIST;
	} else if (own && nr >= GROUPS_MAX) {
		snprintf(why, KFDLIB_WHY, "this host has %zu groups, and annotations make none beyond %d", nr, GROUPS_MAX);
		ret = -ENOSPC;
	}
	free(entries);
	return ret;
}

static void why_refused(int err, char *why)
{
	switch (err) {
	case EPERM:
		snprintf(why, KFDLIB_WHY,
			 "the driver refuses it: a group for a cgroup needs CAP_SYS_NICE in the initial user namespace, which rootless containers do not have");
		break;
	case EINVAL:
		snprintf(why, KFDLIB_WHY,
			 "the driver refuses it: the container's cgroup is not one of version 2: boot with systemd.unified_cgroup_hierarchy=1");
		break;
	case ENOSPC:
		snprintf(why, KFDLIB_WHY, "this host has %d groups already, and no more are possible", KFD_PRIO_SHARE_ALL_MAX);
		break;
	default:
		snprintf(why, KFDLIB_WHY, "the driver refuses it: %s", strerror(err));
	}
}

/* Notes that the group is one of an annotation, so that a rule for a cgroup further up, which is written later, ends it */
static int group_note(const struct kfd_dev *dev, const struct oci_group *group, char *why)
{
	struct kfd_prio_share_entry *entries;
	size_t nr;
	int ret = kfd_dev_shares(dev, &entries, &nr);

	if (!ret) {
		ret = oci_groups_note(group, entries, nr);
		free(entries);
	}
	if (ret)
		snprintf(why, KFDLIB_WHY, "the group cannot be noted in /run/kfdprio-oci: %s", strerror(-ret));
	return ret;
}

/*
 * Binds a group to a cgroup.  One of a cgroup further up that was made meanwhile holds: then the binding ends again.  The group is
 * noted before that is examined, so that kfdpriod finds it if a rule binds that cgroup afterwards.
 */
static int bind_to(const struct kfd_dev *dev, struct oci_group *group, int fd, const struct share_setting *setting, char *why)
{
	const struct share_setting none = { .max = KFD_PRIO_MAX_NONE };
	struct kfd_prio_share_args args = { .flags = KFD_PRIO_SHARE_CGROUP, .cgroup = fd };
	int ret;

	share_args_set(&args, setting);
	ret = cgroup_is_v2(fd) ? kfd_dev_share(dev, &args) : -EINVAL;
	if (ret) {
		why_refused(-ret, why);
		return ret;
	}
	group->number = args.group;
	ret = group_note(dev, group, why);
	if (!ret)
		ret = bound_check(dev, group->cgroup, false, why);
	if (!ret)
		return 0;
	args = (struct kfd_prio_share_args){ .flags = KFD_PRIO_SHARE_CGROUP, .cgroup = fd };
	share_args_set(&args, &none);
	kfd_dev_share(dev, &args);
	return ret;
}

/**
 * oci_share_set() - make a group for the cgroup of a container
 * @dev: the device
 * @rules: the rules, one of which may have a group for a cgroup above that
 * @pid: the first process of the container
 * @setting: limit and weight
 * @group: out: its number
 * @why: on failure, why it was not made; KFDLIB_WHY bytes, fit for one line
 *
 * Return: 0 or -errno.
 */
int oci_share_set(const struct kfd_dev *dev, const struct rules *rules, pid_t pid, const struct share_setting *setting,
		  uint64_t *group, char *why)
{
	char path[KFDLIB_PATH];
	struct oci_group made = { .cgroup = path };
	const struct rule *rule;
	int fd, ret;

	if (!kfd_dev_has_shares(dev, why))
		return -ENOTTY;
	ret = cgroup_of(pid, path, sizeof(path));
	if (ret) {
		snprintf(why, KFDLIB_WHY, "the cgroup of process %d is not known: %s", pid, strerror(-ret));
		return ret;
	}
	rule = oci_share_rule(rules, path);
	if (rule) {
		snprintf(why, KFDLIB_WHY, "the rule of %.200s:%u gives a share to a cgroup that the container is in, and holds", rule->file,
			 rule->line);
		return -EEXIST;
	}
	/* as cgroup_check() has it */
	if (!strcmp(path, "/"))
		*path = '\0';
	ret = alone_check(path, pid, why);
	if (!ret)
		ret = bound_check(dev, path, true, why);
	if (ret)
		return ret;
	fd = cgroup_name_open(path, &made.cgroup_id);
	if (fd < 0) {
		snprintf(why, KFDLIB_WHY, "the container's cgroup cannot be opened: %s", strerror(-fd));
		return fd;
	}
	ret = bind_to(dev, &made, fd, setting, why);
	*group = made.number;
	close(fd);
	return ret;
}
