// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio -n PRIO and -r, for orphans: processes of KFD whose owner has ended or executes another program.
 *
 * The thread groups that share the memory of an orphan may belong to several users and cgroups.  What lowers
 * the orphan needs one that was chosen, so that no second group evades it; what raises it needs all of them.
 * They are read once more before an orphan is raised.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfdprio.h"
#include "message.h"

#define GROUPS_MAX 16 /* that the driver lists */

/**
 * struct groups - the thread groups of an orphan
 * @pid: of each, in order
 * @nr: how many are listed
 * @chosen: how many of these were chosen
 */
struct groups {
	pid_t pid[GROUPS_MAX];
	size_t nr, chosen;
};

static void groups_read(const struct kfd_prio_list_entry *entries, size_t nr, const struct kfd_prio_list_entry *orphan,
			const struct orphan_choice *choice, struct groups *groups)
{
	const struct kfd_prio_list_entry *entry;

	*groups = (struct groups){ 0 };
	for (entry = entries; entry < entries + nr && groups->nr < GROUPS_MAX; entry++) {
		if (entry->serial != orphan->serial || entry->gpu_id != orphan->gpu_id || !entry->nr_groups)
			continue;
		groups->pid[groups->nr++] = entry->pid;
		groups->chosen += choice->chosen(choice->context, entry->pid, entry->euid);
	}
}

/* Do the same groups share it still, now that they were looked at? */
static bool groups_stay(const struct kfd_dev *dev, const struct kfd_prio_list_entry *orphan,
			const struct orphan_choice *choice, const struct groups *before)
{
	struct kfd_prio_list_entry *entries;
	struct groups now;
	size_t nr;

	if (kfd_dev_list(dev, &entries, &nr))
		return false;
	groups_read(entries, nr, orphan, choice, &now);
	free(entries);
	return now.nr == before->nr && now.chosen == now.nr && !memcmp(now.pid, before->pid, sizeof(now.pid));
}

/* What no priority counts as: an orphan without one is the lowest */
static int rank(int priority)
{
	return priority == KFD_PRIO_UNSET ? KFD_PRIO_MIN : priority;
}

static int orphan_set(const struct kfd_dev *dev, const struct kfdprio_request *request,
		      const struct kfd_prio_list_entry *orphan)
{
	struct kfd_prio_set_args args = { .pid = orphan->pid, .serial = orphan->serial, .priority = request->priority,
					  .flags = request->flags | KFD_PRIO_SET_ORPHAN };
	char text[KFDLIB_WHY];
	int ret = kfd_dev_set(dev, &args);

	/* it has ended meanwhile */
	if (ret == -ESRCH)
		return EXIT_SUCCESS;
	if (ret) {
		warnx("cannot change the orphan with serial %llu: %s%s", (unsigned long long)orphan->serial, strerror(-ret),
		      ret == -EPERM ? "; raising it, or changing another user's, needs CAP_SYS_NICE: run kfdprio as root" : "");
		return EXIT_FAILURE;
	}
	if (request->verbose) {
		set_format(text, sizeof(text), orphan->pid, &args);
		printf("%s (orphan, serial %llu)\n", text, (unsigned long long)orphan->serial);
	}
	return EXIT_SUCCESS;
}

/* Is it to be set, with these groups? */
static bool orphan_wanted(const struct kfd_dev *dev, const struct kfdprio_request *request,
			  const struct kfd_prio_list_entry *orphan, const struct orphan_choice *choice,
			  const struct groups *groups)
{
	bool keep = request->flags & KFD_PRIO_SET_KEEP;

	if (!groups->chosen ||
	    (!keep && !(request->flags & (KFD_PRIO_SET_PARK_NEVER | KFD_PRIO_SET_PARK_AUTO)) &&
	     orphan->priority == request->priority))
		return false;
	if ((keep || rank(request->priority) <= rank(orphan->priority)) && !(request->flags & KFD_PRIO_SET_PARK_NEVER))
		return true;
	if (groups->nr == orphan->nr_groups && groups_stay(dev, orphan, choice, groups))
		return true;
	warnx("the orphan with serial %llu is not raised: %zu of the %u processes that share its memory were chosen, and that needs all",
	      (unsigned long long)orphan->serial, groups->chosen, orphan->nr_groups);
	return false;
}

/**
 * orphans_set() - set or take away the priority of orphans whose memory chosen processes share
 * @dev: the device; a driver that knows of no orphans has none
 * @request: the priority
 * @choice: which processes are chosen
 * @found: set to true if an orphan was set; else left as it is
 *
 * An orphan that nobody shares any more is left alone: its last PID may be that of another process.
 *
 * Return: EXIT_FAILURE if any failed.
 */
int orphans_set(const struct kfd_dev *dev, const struct kfdprio_request *request, const struct orphan_choice *choice,
		bool *found)
{
	struct kfd_prio_list_entry *entries;
	int ret, status = EXIT_SUCCESS;
	struct groups groups;
	size_t nr, i, before;

	if (dev->version.minor < KFDLIB_ORPHAN_MINOR)
		return EXIT_SUCCESS;
	ret = kfd_dev_list(dev, &entries, &nr);
	if (ret) {
		warnx("cannot list the processes that use KFD: %s", strerror(-ret));
		return EXIT_FAILURE;
	}
	for (i = 0; i < nr; i++) {
		if (!(entries[i].flags & KFD_PRIO_LIST_ORPHAN))
			continue;
		/* once for all its GPUs */
		for (before = 0; before < i && entries[before].serial != entries[i].serial; before++)
			;
		if (before < i)
			continue;
		groups_read(entries, nr, &entries[i], choice, &groups);
		if (!orphan_wanted(dev, request, &entries[i], choice, &groups))
			continue;
		*found = true;
		if (orphan_set(dev, request, &entries[i]))
			status = EXIT_FAILURE;
	}
	free(entries);
	return status;
}
