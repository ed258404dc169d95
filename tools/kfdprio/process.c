// SPDX-License-Identifier: GPL-2.0
/* The priority of one process: read, set, and in words. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfdprio.h"

/**
 * process_get() - read the priority of one process
 * @dev: the device
 * @pid: PID in the caller's PID namespace
 * @args: out: what the driver answered
 * @why: on failure, what is wrong; KFDLIB_WHY bytes
 *
 * Return: 0 or -errno, of proc_open() or KFD_PRIO_IOC_GET.
 */
int process_get(const struct kfd_dev *dev, pid_t pid, struct kfd_prio_get_args *args, char *why)
{
	int pidfd;
	int ret;

	ret = proc_open(pid, &pidfd, why);
	if (ret)
		return ret;
	*args = (struct kfd_prio_get_args){ .pid = pid, .pidfd = pidfd };
	ret = kfd_dev_get(dev, args);
	if (ret == -ESRCH)
		snprintf(why, KFDLIB_WHY, "process %d has ended", pid);
	else if (ret)
		snprintf(why, KFDLIB_WHY, "cannot read the priority of process %d: %s", pid,
			 strerror(-ret));
	close(pidfd);
	return ret;
}

static void prio_format(char *text, size_t size, int priority)
{
	if (priority == KFD_PRIO_UNSET)
		snprintf(text, size, "unset");
	else
		snprintf(text, size, "%d (%s)", priority, prio_band(priority));
}

/**
 * process_is_foreign() - does a process belong to another user?
 * @pid: PID in the caller's PID namespace
 * @why: out: that it cannot be changed for this reason, and what to do; KFDLIB_WHY bytes; not changed if the process
 *	does not belong to another user, or if that is not known
 *
 * Return: whether.
 */
bool process_is_foreign(pid_t pid, char *why)
{
	struct proc_info info;
	char name[KFDLIB_NAME];

	if (proc_read(pid, &info) || info.ruid == geteuid() || info.euid == geteuid())
		return false;
	user_name(info.euid, name, sizeof(name));
	snprintf(why, KFDLIB_WHY,
		 "cannot change process %d: it belongs to user '%s'; changing another user's process needs CAP_SYS_NICE: run kfdprio as root",
		 pid, name);
	return true;
}

/*
 * The kernel has one EPERM for two rules: another user's process, and raising.
 * The former is told from /proc, the latter from the priority there is.
 */
static void why_no_permission(const struct kfd_dev *dev, pid_t pid, int priority, uint32_t flags, char *why)
{
	struct kfd_prio_get_args now;
	char other[KFDLIB_WHY], from[KFDLIB_NAME], to[KFDLIB_NAME];

	if (process_is_foreign(pid, why))
		return;
	/* Another process may have the PID since, or the process another user. */
	if (process_get(dev, pid, &now, other) || flags & KFD_PRIO_SET_KEEP ||
	    (priority != KFD_PRIO_UNSET &&
	     priority <= (now.priority == KFD_PRIO_UNSET ? KFD_PRIO_NORMAL : now.priority))) {
		snprintf(why, KFDLIB_WHY,
			 "cannot change process %d: raising a priority, or changing another user's process, needs CAP_SYS_NICE: run kfdprio as root",
			 pid);
		return;
	}
	prio_format(from, sizeof(from), now.priority);
	prio_format(to, sizeof(to), priority);
	snprintf(why, KFDLIB_WHY,
		 "cannot raise process %d from %s to %s%s: raising a priority needs CAP_SYS_NICE: run kfdprio as root",
		 pid, from, to,
		 priority == KFD_PRIO_UNSET	? " (its queues may ask for up to 15)" :
		 now.priority == KFD_PRIO_UNSET ? " (unset counts as 7, normal)" :
						  "");
}

static void why_not_set(const struct kfd_dev *dev, pid_t pid, int priority, uint32_t flags, int err,
			char *why)
{
	switch (err) {
	case EPERM:
		why_no_permission(dev, pid, priority, flags, why);
		break;
	case ESRCH:
		snprintf(why, KFDLIB_WHY, "process %d has ended: its priority was not changed", pid);
		break;
	case EINVAL:
		snprintf(why, KFDLIB_WHY,
			 "cannot change PID %d: the driver refuses kernel threads and single threads of a process; give the PID of a process",
			 pid);
		break;
	case EOPNOTSUPP:
		snprintf(why, KFDLIB_WHY,
			 "cannot change process %d: the driver cannot follow fork on this kernel, so children would not inherit a priority; see 'dmesg | grep kfdprio'",
			 pid);
		break;
	case EIO:
	case ETIME:
		snprintf(why, KFDLIB_WHY,
			 "process %d has the new priority, but a GPU could not update its queues (%s): they get the priority when they are mapped next; see 'dmesg'",
			 pid, strerror(err));
		break;
	default:
		snprintf(why, KFDLIB_WHY, "cannot change process %d: %s; its priority was not changed", pid,
			 strerror(err));
	}
}

/**
 * process_set_open() - set or take away the priority of a process that is held by a pidfd
 * @dev: the device
 * @pid: PID in the caller's PID namespace
 * @pidfd: of the process
 * @serial: of the process of KFD that it is, 0 if it is none or the driver tells of none
 * @priority: KFD_PRIO_MIN..KFD_PRIO_MAX or KFD_PRIO_UNSET
 * @flags: bit mask of KFD_PRIO_SET_*
 * @args: out: what the driver answered
 * @why: on failure, what is wrong and what to do; KFDLIB_WHY bytes
 *
 * Return: 0 or -errno, of KFD_PRIO_IOC_SET.
 */
int process_set_open(const struct kfd_dev *dev, pid_t pid, int pidfd, uint64_t serial, int priority, uint32_t flags,
		     struct kfd_prio_set_args *args, char *why)
{
	int ret;

	*args = (struct kfd_prio_set_args){ .pid = pid, .pidfd = pidfd, .priority = priority,
					    .flags = flags, .serial = serial };
	ret = kfd_dev_set(dev, args);
	if (ret)
		why_not_set(dev, pid, priority, flags, -ret, why);
	return ret;
}

/**
 * process_set() - set or take away the priority of one process
 * @dev: the device
 * @pid: PID in the caller's PID namespace
 * @priority: KFD_PRIO_MIN..KFD_PRIO_MAX or KFD_PRIO_UNSET
 * @flags: bit mask of KFD_PRIO_SET_*
 * @args: out: what the driver answered
 * @why: on failure, what is wrong and what to do; KFDLIB_WHY bytes
 *
 * Return: 0 or -errno, of proc_open() or KFD_PRIO_IOC_SET.
 */
int process_set(const struct kfd_dev *dev, pid_t pid, int priority, uint32_t flags,
		struct kfd_prio_set_args *args, char *why)
{
	int pidfd;
	int ret;

	ret = proc_open(pid, &pidfd, why);
	if (ret)
		return ret;
	ret = process_set_open(dev, pid, pidfd, 0, priority, flags, args, why);
	close(pidfd);
	return ret;
}

/**
 * set_format() - what --verbose says about a change
 * @text: out
 * @size: bytes of @text
 * @pid: the process
 * @args: what the driver answered
 */
void set_format(char *text, size_t size, pid_t pid, const struct kfd_prio_set_args *args)
{
	char from[KFDLIB_NAME], to[KFDLIB_NAME];
	const char *park = args->flags & KFD_PRIO_SET_PARK_NEVER ? "never parked" :
			   args->flags & KFD_PRIO_SET_PARK_AUTO	 ? "may be parked" :
								   "";

	if (args->flags & KFD_PRIO_SET_KEEP) {
		snprintf(text, size, "PID %d: %s", pid, park);
		return;
	}
	prio_format(from, sizeof(from), args->old_priority);
	prio_format(to, sizeof(to), args->priority);
	snprintf(text, size, "PID %d: priority %s -> %s, %u queue%s updated%s%s", pid, from, to,
		 args->nr_queues, args->nr_queues == 1 ? "" : "s", *park ? ", " : "", park);
}
