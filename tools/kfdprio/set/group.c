// SPDX-License-Identifier: GPL-2.0
/*
 * kfdprio -n PRIO --cgroup PATH, --user NAME, --tree -p PID...; likewise with -r
 *
 * A child inherits what is set for its parent when it is forked.  So one that has not the
 * priority was forked before its parent was set, and is there when the next pass begins: passes
 * are made until one finds nothing that was still to be set, and no process that ended before it
 * could be, since that may have forked another one meanwhile.
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

#define PASSES_MAX 100 /* more are needed only where processes come faster than they are found */

/* A process that was looked at; the time tells it from a later one with the same PID. */
struct seen {
	pid_t pid;
	unsigned long long start;
};

/**
 * struct group - processes that are set together
 * @dev: the device
 * @request: what is asked for
 * @seen: array of @nr_seen processes that were looked at
 * @nr_sorted: those of them that were found by earlier passes, sorted
 * @room: of @seen
 * @roots: of GROUP_TREE: the processes that were named
 * @entries: array of @nr_entries: the processes that use KFD, as of the beginning of a pass
 * @nr_entries: how many
 * @tasks: of GROUP_TREE: array of @nr_tasks, sorted: all processes, while orphans are set
 * @nr_tasks: how many
 * @found: there was a process in the group
 * @hidden: processes of the group that have no PID in this PID namespace
 * @unread: a part of the cgroup could not be read
 * @why: about the first one; KFDLIB_WHY bytes
 * @dir: the cgroup whose processes are looked at
 * @again: another pass is needed
 * @status: exit status
 */
struct group {
	const struct kfd_dev *dev;
	const struct kfdprio_request *request;
	struct seen *seen;
	size_t nr_seen, nr_sorted, room;
	struct proc_task *roots;
	struct kfd_prio_list_entry *entries;
	size_t nr_entries;
	struct proc_task *tasks;
	size_t nr_tasks;
	bool found;
	size_t hidden;
	bool unread;
	char why[KFDLIB_WHY];
	int dir;
	bool again;
	int status;
};

static int seen_compare(const void *left, const void *right)
{
	const struct seen *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Whether an earlier pass has looked at a process; if not, it is remembered. */
static bool seen_before(struct group *group, const struct proc_task *task)
{
	struct seen one = { .pid = task->pid, .start = task->start };

	if (group->nr_sorted &&
	    bsearch(&one, group->seen, group->nr_sorted, sizeof(one), seen_compare))
		return true;
	if (group->nr_seen == group->room) {
		group->room = group->room ? 2 * group->room : 256;
		group->seen = reallocarray(group->seen, group->room, sizeof(one));
		if (!group->seen)
			err(EXIT_FAILURE, "cannot remember the processes");
	}
	group->seen[group->nr_seen++] = one;
	return false;
}

/* What the driver says of a process that uses KFD and is no orphan, or NULL */
static const struct kfd_prio_list_entry *entry_of(const struct group *group, pid_t pid)
{
	size_t i;

	for (i = 0; i < group->nr_entries; i++)
		if (group->entries[i].pid == pid && !(group->entries[i].flags & KFD_PRIO_LIST_ORPHAN))
			return &group->entries[i];
	return NULL;
}

/* Read after the pidfd was opened: it is of that process, or the driver answers ESRCH. */
static bool belongs(const struct group *group, const struct proc_task *task)
{
	char cgroup[KFDLIB_PATH];
	int ret;

	switch (group->request->group) {
	case GROUP_CGROUP:
		ret = cgroup_of(task->pid, cgroup, sizeof(cgroup));
		return ret == -ENAMETOOLONG ? cgroup_has(group->dir, task->pid) :
					      !ret && cgroup_below(cgroup, group->request->cgroup);
	case GROUP_USER:
		return task->euid == group->request->uid;
	default:
		return true;
	}
}

static void member_set(struct group *group, const struct proc_task *task, int pidfd)
{
	const struct kfd_prio_list_entry *entry = entry_of(group, task->pid);
	struct kfd_prio_set_args args;
	char text[KFDLIB_WHY];
	int ret;

	/* with the serial the driver refuses what the process has become by execve(2) since it was looked at */
	ret = process_set_open(group->dev, task->pid, pidfd, entry ? entry->serial : 0, group->request->priority, 0,
			       &args, text);
	if (ret == -ESRCH) {
		group->again = true;
		return;
	}
	group->found = true;
	if (ret) {
		warnx("%s", text);
		group->status = EXIT_FAILURE;
		group->again = true;
	} else if (args.old_priority != group->request->priority) {
		group->again = true;
		if (group->request->verbose) {
			set_format(text, sizeof(text), task->pid, &args);
			text_line(stdout, "%s", text);
		}
	}
}

/* @start: when the process began, 0 if it is not known */
static void member(struct group *group, pid_t pid, unsigned long long start)
{
	struct proc_task task;
	char why[KFDLIB_WHY];
	int pidfd;

	if (!pid) {
		group->hidden++;
		return;
	}
	if (pid == getpid())
		return;
	if (proc_open(pid, &pidfd, why)) {
		/* It has ended, or is no process that could have a priority. */
		if (!proc_task_read(pid, &task) && !task.kthread && !seen_before(group, &task))
			group->again = true;
		return;
	}
	if (proc_task_read(pid, &task))
		group->again = true;
	else if ((!start || start == task.start) && belongs(group, &task) &&
		 !seen_before(group, &task))
		member_set(group, &task, pidfd);
	close(pidfd);
}

static void member_of_cgroup(void *context, pid_t pid, int dir)
{
	struct group *group = context;

	group->dir = dir;
	member(group, pid, 0);
}

static int task_compare(const void *left, const void *right)
{
	const struct proc_task *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

/* A chain of parents is no longer than there are processes. */
static bool in_tree(const struct group *group, const struct proc_task *tasks, size_t nr,
		    const struct proc_task *task)
{
	size_t steps, i;

	for (steps = 0; task && steps < nr; steps++) {
		struct proc_task parent = { .pid = task->parent };

		for (i = 0; i < group->request->nr_pids; i++)
			if (group->roots[i].pid == task->pid && group->roots[i].start == task->start)
				return true;
		task = bsearch(&parent, tasks, nr, sizeof(*tasks), task_compare);
	}
	return false;
}

static int pass_proc(struct group *group)
{
	bool tree = group->request->group == GROUP_TREE;
	struct proc_task *tasks;
	size_t nr, i;
	int ret;

	ret = proc_scan(&tasks, &nr);
	if (ret)
		return ret;
	qsort(tasks, nr, sizeof(*tasks), task_compare);
	for (i = 0; i < nr; i++)
		if (tree ? in_tree(group, tasks, nr, &tasks[i]) :
			   tasks[i].euid == group->request->uid)
			member(group, tasks[i].pid, tasks[i].start);
	free(tasks);
	return 0;
}

static int pass(struct group *group)
{
	int ret = 0;

	group->hidden = 0;
	group->again = false;
	free(group->entries);
	group->entries = NULL;
	group->nr_entries = 0;
	if (group->dev->version.minor >= KFDLIB_ORPHAN_MINOR) {
		ret = kfd_dev_list(group->dev, &group->entries, &group->nr_entries);
		if (ret)
			return ret;
	}
	if (group->request->group == GROUP_CGROUP)
		group->unread = cgroup_pids(group->request->cgroup, member_of_cgroup, group, group->why);
	else
		ret = pass_proc(group);
	if (group->nr_seen)
		qsort(group->seen, group->nr_seen, sizeof(*group->seen), seen_compare);
	group->nr_sorted = group->nr_seen;
	return ret;
}

/* The roots of trees must be there at the beginning; they may end meanwhile. */
static bool roots_read(struct group *group)
{
	const struct kfdprio_request *request = group->request;
	char why[KFDLIB_WHY];
	size_t i;
	int pidfd;

	group->roots = calloc(request->nr_pids, sizeof(*group->roots));
	if (!group->roots)
		err(EXIT_FAILURE, "cannot remember the processes");
	for (i = 0; i < request->nr_pids; i++) {
		if (!proc_open(request->pids[i], &pidfd, why)) {
			close(pidfd);
			if (!proc_task_read(request->pids[i], &group->roots[i]))
				continue;
			snprintf(why, sizeof(why), "process %d has ended meanwhile", request->pids[i]);
		}
		warnx("%s", why);
		group->status = EXIT_FAILURE;
	}
	return group->status == EXIT_SUCCESS;
}

/* Of those that share the memory of an orphan */
static bool group_chosen(void *context, pid_t pid, uid_t euid)
{
	const struct group *group = context;
	struct proc_task key = { .pid = pid };
	char cgroup[KFDLIB_PATH];

	switch (group->request->group) {
	case GROUP_CGROUP:
		return !cgroup_of(pid, cgroup, sizeof(cgroup)) && cgroup_below(cgroup, group->request->cgroup);
	case GROUP_USER:
		return euid == group->request->uid;
	default:
		return in_tree(group, group->tasks, group->nr_tasks,
			       bsearch(&key, group->tasks, group->nr_tasks, sizeof(key), task_compare));
	}
}

static void group_orphans(struct group *group)
{
	const struct orphan_choice choice = { .chosen = group_chosen, .context = group };

	if (group->request->group == GROUP_TREE) {
		if (proc_scan(&group->tasks, &group->nr_tasks))
			return;
		qsort(group->tasks, group->nr_tasks, sizeof(*group->tasks), task_compare);
	}
	if (orphans_set(group->dev, group->request, &choice, &group->found))
		group->status = EXIT_FAILURE;
	free(group->tasks);
}

static void group_name(const struct group *group, char *text, size_t size)
{
	char *shown;

	if (group->request->group == GROUP_TREE) {
		snprintf(text, size, "the tree");
		return;
	}
	shown = text_printable(group->request->group_text);
	snprintf(text, size, "%s '%.128s'", group->request->group == GROUP_USER ? "user" : "cgroup",
		 shown ? shown : "");
	free(shown);
}

/**
 * kfdprio_set_group() - set or take away the priority of all processes of a group
 * @dev: the device
 * @request: the priority and the group
 *
 * Goes on after a process that fails.  A process that is forked meanwhile is not missed; one
 * that comes into the group by other ways, or leaves it, may be.
 *
 * Return: EXIT_FAILURE if any failed, or if there was none.
 */
int kfdprio_set_group(const struct kfd_dev *dev, const struct kfdprio_request *request)
{
	struct group group = { .dev = dev, .request = request, .status = EXIT_SUCCESS };
	char name[KFDLIB_WHY];
	unsigned int passes = 0;
	int ret;

	if (request->group == GROUP_TREE && !roots_read(&group)) {
		free(group.roots);
		return EXIT_FAILURE;
	}
	group_name(&group, name, sizeof(name));
	do {
		ret = pass(&group);
	} while (!ret && group.again && ++passes < PASSES_MAX);
	if (!ret)
		group_orphans(&group);
	if (ret)
		warnx("cannot find the processes of %s: %s", name, strerror(-ret));
	else if (group.again)
		warnx("processes of %s come faster than they are found: after %u passes some may not have the priority",
		      name, passes);
	else if (group.hidden)
		warnx("processes of %s that are in another PID namespace were not changed, %zu of them: run kfdprio on the host",
		      name, group.hidden);
	else if (!group.found && !group.unread)
		warnx("there is no process of %s", name);
	if (group.unread)
		warnx("%s: processes there were not changed", group.why);
	if (ret || group.unread || group.again || group.hidden || !group.found)
		group.status = EXIT_FAILURE;
	free(group.roots);
	free(group.seen);
	free(group.entries);
	return group.status;
}
