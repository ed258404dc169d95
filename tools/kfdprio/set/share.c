// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio --max, --max-soft, --weight and --group: groups with a limit of GPU time or a weight.
 *
 * A process is put into a new group, or into one that exists; or the group of a process, of a cgroup, or with a number
 * is changed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "kfdprio.h"
#include "message.h"
#include "share.h"

#define NEEDS_ROOT "needs CAP_SYS_NICE: run kfdprio as root"

/* What the driver has of a group */
static bool group_read(const struct kfd_dev *dev, uint64_t group, struct kfd_prio_share_entry *entry)
{
	const struct kfd_prio_share_entry *found;
	struct kfd_prio_share_entry *entries;
	size_t nr;

	if (!group || kfd_dev_shares(dev, &entries, &nr))
		return false;
	found = share_entry_find(entries, nr, group);
	if (found)
		*entry = *found;
	free(entries);
	return found;
}

/* The group that a process was put in or has inherited; 0: none, or the process does not use KFD */
static uint64_t group_of(const struct kfd_dev *dev, pid_t pid)
{
	struct kfd_prio_list_entry *entries;
	uint64_t group = 0;
	size_t nr, i;

	if (kfd_dev_list(dev, &entries, &nr))
		return 0;
	for (i = 0; i < nr; i++)
		if (entries[i].pid == pid && !(entries[i].flags & KFD_PRIO_LIST_ORPHAN))
			group = entries[i].share;
	free(entries);
	return group;
}

/* Why a setting of a group of the caller is refused.  False: it raises nothing, as far as is known. */
static bool why_raised(const struct kfd_prio_share_entry *now, const struct kfdprio_share *to, char *why)
{
	bool soft = to->flags & KFD_PRIO_SHARE_SOFT, was_soft = now->flags & KFD_PRIO_SHARE_IS_SOFT;
	char from_max[16], to_max[16];

	kfd_max_text(now->max, from_max, sizeof(from_max));
	kfd_max_text(to->max, to_max, sizeof(to_max));
	if (to->flags & KFD_PRIO_SHARE_MAX &&
	    (to->max > now->max || (soft && !was_soft && now->max != KFD_PRIO_MAX_NONE))) {
		snprintf(why, KFDLIB_WHY,
			 "cannot raise the limit of group %llu from %s%s to %s%s: raising a limit, or making it soft, " NEEDS_ROOT,
			 (unsigned long long)now->group, from_max, was_soft ? " (soft)" : "", to_max, soft ? " (soft)" : "");
		return true;
	}
	if (!(to->flags & KFD_PRIO_SHARE_WEIGHT) || to->weight == now->weight)
		return false;
	if (now->weight == KFD_PRIO_WEIGHT_NONE)
		snprintf(why, KFDLIB_WHY, "cannot set a weight of group %llu, which has none: that " NEEDS_ROOT,
			 (unsigned long long)now->group);
	else if (to->weight == KFD_PRIO_WEIGHT_NONE)
		snprintf(why, KFDLIB_WHY, "cannot remove the weight %u of group %llu: that " NEEDS_ROOT, now->weight,
			 (unsigned long long)now->group);
	else if (to->weight > now->weight)
		snprintf(why, KFDLIB_WHY, "cannot raise the weight of group %llu from %u to %u: that " NEEDS_ROOT,
			 (unsigned long long)now->group, now->weight, to->weight);
	else
		return false;
	return true;
}

/*
 * The kernel has one EPERM for several rules: the reason is found from /proc and from what the driver lists.  Both may
 * have changed since.  @pid: 0: no process is named.  @what: what was to be changed
 */
static void why_no_permission(const struct kfd_dev *dev, const struct kfdprio_share *to, pid_t pid, const char *what,
			      char *why)
{
	uint64_t has = pid ? group_of(dev, pid) : 0;
	struct kfd_prio_share_entry now;
	char owner[KFDLIB_NAME];

	if (pid && process_is_foreign(pid, why))
		return;
	if (has && to->group && has != to->group) {
		snprintf(why, KFDLIB_WHY,
			 "cannot put process %d into group %llu: it is in group %llu, and taking a process out of its group " NEEDS_ROOT,
			 pid, (unsigned long long)to->group, (unsigned long long)has);
		return;
	}
	if (group_read(dev, to->group ? to->group : has, &now)) {
		if (now.euid != geteuid()) {
			user_name(now.euid, owner, sizeof(owner));
			snprintf(why, KFDLIB_WHY,
				 "cannot use group %llu: user '%s' has made it; changing another user's group, or putting a process into it, " NEEDS_ROOT,
				 (unsigned long long)now.group, owner);
			return;
		}
		if (why_raised(&now, to, why))
			return;
	} else if (pid && !to->group && to->flags & KFD_PRIO_SHARE_WEIGHT) {
		snprintf(why, KFDLIB_WHY, "cannot give process %d a weight: setting a weight where there is none " NEEDS_ROOT,
			 pid);
		return;
	}
	snprintf(why, KFDLIB_WHY,
		 "cannot change %s: raising a limit, setting, raising or removing a weight, using another user's group, or taking a process out of its group " NEEDS_ROOT,
		 what);
}

/* Of errors that have the same reason for a process, a cgroup and a group.  @what: what was to be changed */
static void why_not_changed(const char *what, const struct kfdprio_share *to, int err, char *why)
{
	char user[KFDLIB_NAME];

	switch (err) {
	case ENOENT:
		snprintf(why, KFDLIB_WHY, "there is no group %llu: 'kfdprio --groups' prints those that exist",
			 (unsigned long long)to->group);
		break;
	case EDQUOT:
		user_name(geteuid(), user, sizeof(user));
		snprintf(why, KFDLIB_WHY,
			 "cannot change %s: user '%s' has %d groups already, the most without CAP_SYS_NICE: use one of them with --group (see 'kfdprio --groups'), or run kfdprio as root",
			 what, user, KFD_PRIO_SHARE_USER_MAX);
		break;
	case ENOSPC:
		snprintf(why, KFDLIB_WHY,
			 "cannot change %s: this host has %d groups already, and no more are possible: 'kfdprio --groups' prints them; a group ends with its last process, and that of a cgroup with --max none --weight none",
			 what, KFD_PRIO_SHARE_ALL_MAX);
		break;
	case ENOTTY:
		snprintf(why, KFDLIB_WHY,
			 "cannot change %s: the driver refuses the ioctl of groups (%s): the driver is older, and 1.7 is needed, or a seccomp filter refuses it",
			 what, strerror(err));
		break;
	case EFAULT:
		snprintf(why, KFDLIB_WHY, "cannot read what the driver has changed of %s: %s", what, strerror(err));
		break;
	default:
		snprintf(why, KFDLIB_WHY, "cannot change %s: %s; no group was changed", what, strerror(err));
	}
}

/* @group: the group that the process is in, 0: it is not known */
static void why_in_group(uint64_t group, char *why)
{
	if (group)
		snprintf(why, KFDLIB_WHY,
			 "cannot make a new group: kfdprio, and so the command, is in group %llu already, which it has inherited: change that group with --group %llu, or with -p PID of a process in it, or run kfdprio outside of the group",
			 (unsigned long long)group, (unsigned long long)group);
	else
		snprintf(why, KFDLIB_WHY,
			 "cannot make a new group: kfdprio, and so the command, is in a group already, which it has inherited: 'kfdprio --groups' prints the groups; run kfdprio outside of the group");
}

static void why_process_not(const struct kfd_dev *dev, const struct kfdprio_share *to, pid_t pid, int pidfd, int err,
			    char *why)
{
	/* Of a process that is in a group this changes nothing, and no process leaves its group. */
	struct kfd_prio_share_args ask = { .flags = KFD_PRIO_SHARE_PROCESS, .pid = pid, .pidfd = pidfd };
	char what[32];

	snprintf(what, sizeof(what), "the group of process %d", pid);
	switch (err) {
	case EBUSY:
		why_in_group(kfd_dev_share(dev, &ask) ? 0 : ask.group, why);
		break;
	case EPERM:
		why_no_permission(dev, to, pid, what, why);
		break;
	case ESRCH:
		snprintf(why, KFDLIB_WHY, "process %d has ended: no group was changed", pid);
		break;
	case EINVAL:
		snprintf(why, KFDLIB_WHY,
			 "cannot change the group of PID %d: the driver refuses kernel threads and single threads of a process; give the PID of a process",
			 pid);
		break;
	case EOPNOTSUPP:
		snprintf(why, KFDLIB_WHY,
			 "cannot change the group of process %d: the driver cannot follow fork on this kernel, so children would not be in the group; see 'dmesg | grep kfdprio'",
			 pid);
		break;
	default:
		why_not_changed(what, to, err, why);
	}
}

/**
 * share_set_process() - put a process into a group, or change the group that it is in
 * @dev: the device, whose driver has groups
 * @to: the group and its settings
 * @pid: PID in the caller's PID namespace
 * @only_new: fail if the process is in a group, unless @to names one
 * @args: out: what the driver answered; KFD_PRIO_SHARE_NEW in its flags: the group is new
 * @why: on failure, what is wrong and what to do; KFDLIB_WHY bytes
 *
 * Return: 0 or -errno, of proc_open() or KFD_PRIO_IOC_SHARE.
 */
int share_set_process(const struct kfd_dev *dev, const struct kfdprio_share *to, pid_t pid, bool only_new,
		      struct kfd_prio_share_args *args, char *why)
{
	int pidfd, ret;

	ret = proc_open(pid, &pidfd, why);
	if (ret)
		return ret;
	*args = (struct kfd_prio_share_args){ .group = to->group, .flags = to->flags | KFD_PRIO_SHARE_PROCESS, .pid = pid,
					      .pidfd = pidfd, .max = to->max, .weight = to->weight };
	if (!to->group)
		args->flags |= KFD_PRIO_SHARE_NEW;
	ret = kfd_dev_share(dev, args);
	if (ret == -EBUSY && !only_new) {
		args->flags &= ~KFD_PRIO_SHARE_NEW;
		ret = kfd_dev_share(dev, args);
	}
	if (ret)
		why_process_not(dev, to, pid, pidfd, -ret, why);
	close(pidfd);
	return ret;
}

/**
 * share_set_text() - what --verbose prints about a change
 * @dev: the device
 * @args: what the driver answered
 * @text: out
 * @size: bytes of @text
 */
void share_set_text(const struct kfd_dev *dev, const struct kfd_prio_share_args *args, char *text, size_t size)
{
	struct kfd_prio_share_entry now = { 0 };
	char share[64];

	/* what the answer does not have: whether a limit that was not changed is soft */
	group_read(dev, args->group, &now);
	share_format(share, sizeof(share), args->max,
		     args->flags & KFD_PRIO_SHARE_SOFT ||
			     (!(args->flags & KFD_PRIO_SHARE_MAX) && now.flags & KFD_PRIO_SHARE_IS_SOFT),
		     args->weight);
	snprintf(text, size, "%sgroup %llu: %s", args->flags & KFD_PRIO_SHARE_NEW ? "new " : "", (unsigned long long)args->group,
		 share);
}

/* Those that cannot be put into a group are taken out of @request, so that nothing else is changed of them. */
static int set_processes(const struct kfd_dev *dev, struct kfdprio_request *request)
{
	const struct kfdprio_share *to = &request->share;
	struct kfd_prio_share_args args;
	int status = EXIT_SUCCESS;
	char text[KFDLIB_WHY];
	size_t i, nr = 0;

	for (i = 0; i < request->nr_pids; i++) {
		pid_t pid = request->pids[i];

		if (share_set_process(dev, to, pid, false, &args, text)) {
			warnx("%s", text);
			status = EXIT_FAILURE;
			continue;
		}
		request->pids[nr++] = pid;
		if (!request->verbose)
			continue;
		share_set_text(dev, &args, text, sizeof(text));
		printf("PID %d: %s%s\n", pid, text,
		       to->group || args.flags & KFD_PRIO_SHARE_NEW ? "; children that exist already do not join" : "");
	}
	request->nr_pids = nr;
	return status;
}

/* @shown: the path as it was given, fit for a message */
static void why_cgroup_not(const struct kfdprio_share *to, const char *shown, int err, char *why)
{
	char what[KFDLIB_WHY / 2];

	snprintf(what, sizeof(what), "the group of cgroup '%.128s'", shown);
	switch (err) {
	case EPERM:
		snprintf(why, KFDLIB_WHY, "cannot change %s: that " NEEDS_ROOT " on the host, not in a container", what);
		break;
	case EINVAL:
		snprintf(why, KFDLIB_WHY,
			 "cannot change %s: it is not a cgroup of version 2: boot with systemd.unified_cgroup_hierarchy=1, or put processes into a group with -p PID",
			 what);
		break;
	case EOPNOTSUPP:
		snprintf(why, KFDLIB_WHY,
			 "cannot change %s: the driver has no groups of cgroups on this kernel: put processes into a group with -p PID",
			 what);
		break;
	default:
		why_not_changed(what, to, err, why);
	}
}

static int set_cgroup(const struct kfd_dev *dev, const struct kfdprio_request *request)
{
	const struct kfdprio_share *to = &request->share;
	struct kfd_prio_share_args args = { .flags = to->flags | KFD_PRIO_SHARE_CGROUP, .max = to->max,
					    .weight = to->weight };
	char *shown = text_printable(request->group_text);
	int ret, status = EXIT_FAILURE;
	char text[KFDLIB_WHY];

	args.cgroup = cgroup_open(request->cgroup);
	if (args.cgroup < 0) {
		warnx("cannot open cgroup '%.128s': %s", shown ? shown : "", strerror(-args.cgroup));
		free(shown);
		return EXIT_FAILURE;
	}
	ret = cgroup_is_v2(args.cgroup) ? kfd_dev_share(dev, &args) : -EINVAL;
	if (ret) {
		why_cgroup_not(to, shown ? shown : "", -ret, text);
		warnx("%s", text);
		goto out;
	}
	status = EXIT_SUCCESS;
	if (!request->verbose)
		goto out;
	if (args.max == KFD_PRIO_MAX_NONE && args.weight == KFD_PRIO_WEIGHT_NONE)
		snprintf(text, sizeof(text), "no group");
	else
		share_set_text(dev, &args, text, sizeof(text));
	text_line(stdout, "cgroup '%.128s': %s", shown ? shown : "", text);
out:
	close(args.cgroup);
	free(shown);
	return status;
}

static int set_group(const struct kfd_dev *dev, const struct kfdprio_request *request)
{
	const struct kfdprio_share *to = &request->share;
	struct kfd_prio_share_args args = { .group = to->group, .flags = to->flags, .max = to->max, .weight = to->weight };
	char text[KFDLIB_WHY], what[32];
	int ret;

	ret = kfd_dev_share(dev, &args);
	if (ret) {
		snprintf(what, sizeof(what), "group %llu", (unsigned long long)to->group);
		if (ret == -EPERM)
			why_no_permission(dev, to, 0, what, text);
		else
			why_not_changed(what, to, -ret, text);
		warnx("%s", text);
		return EXIT_FAILURE;
	}
	if (request->verbose) {
		share_set_text(dev, &args, text, sizeof(text));
		puts(text);
	}
	return EXIT_SUCCESS;
}

/**
 * kfdprio_share() - change groups, or put processes into one
 * @dev: the device, whose driver has groups
 * @request: the settings, and the processes, the cgroup or the group; out: without the processes that failed
 *
 * Goes on after a process that fails.
 *
 * Return: EXIT_FAILURE if any failed.
 */
int kfdprio_share(const struct kfd_dev *dev, struct kfdprio_request *request)
{
	if (request->group == GROUP_CGROUP)
		return set_cgroup(dev, request);
	return request->nr_pids ? set_processes(dev, request) : set_group(dev, request);
}
