// SPDX-License-Identifier: GPL-2.0
/*
 * A driver made of text files, see fake-kfd.c: groups with shares of GPU time.
 *
 * The files "shares" and "members" are read for each call, and written by a change.  It needs no permission: the file
 * "share" has the errno of a refusal.  A change is a line of share.log:
 *
 *	process PID|cgroup NAME|group N, the group that is named or 0, "new" if that is demanded, and what is set:
 *	max, soft, weight
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "fake-kfd.h"
#include "share.h"

#define ROOM 300

typedef unsigned long long number_t;

/* The groups of a process */
struct member {
	pid_t pid;
	number_t own, cgroup, throttled_count, throttled_ns;
};

static struct kfd_prio_share_entry entries[ROOM];
static struct member members[ROOM];
static size_t nr_entries, nr_members;

static void files_read(void)
{
	struct kfd_prio_share_entry *e = entries;
	struct member *m = members;
	FILE *file = file_open("shares", "re");

	while (file && e < entries + ROOM &&
	       fscanf(file, "%llu %llu %u %u %u %u %u %u %llu %llu %llu %llu %llu", (number_t *)&e->group,
		      (number_t *)&e->cgroup, &e->euid, &e->flags, &e->max, &e->weight, &e->nr_processes, &e->nr_running,
		      (number_t *)&e->period_ns, (number_t *)&e->ran_ns, (number_t *)&e->shared_ns,
		      (number_t *)&e->throttled_ns, (number_t *)&e->throttled_count) == 13)
		e++;
	nr_entries = e - entries;
	if (file)
		fclose(file);
	file = file_open("members", "re");
	while (file && m < members + ROOM &&
	       fscanf(file, "%d %llu %llu %llu %llu", &m->pid, &m->own, &m->cgroup, &m->throttled_count,
		      &m->throttled_ns) == 5)
		m++;
	nr_members = m - members;
	if (file)
		fclose(file);
}

static void files_write(void)
{
	FILE *file = file_open("shares", "we");
	size_t i;

	if (!file)
		abort();
	for (i = 0; i < nr_entries; i++) {
		const struct kfd_prio_share_entry *e = &entries[i];

		fprintf(file, "%llu %llu %u %u %u %u %u %u %llu %llu %llu %llu %llu\n", (number_t)e->group,
			(number_t)e->cgroup, e->euid, e->flags, e->max, e->weight, e->nr_processes, e->nr_running,
			(number_t)e->period_ns, (number_t)e->ran_ns, (number_t)e->shared_ns, (number_t)e->throttled_ns,
			(number_t)e->throttled_count);
	}
	fclose(file);
	file = file_open("members", "we");
	if (!file)
		abort();
	for (i = 0; i < nr_members; i++)
		fprintf(file, "%d %llu %llu %llu %llu\n", members[i].pid, members[i].own, members[i].cgroup,
			members[i].throttled_count, members[i].throttled_ns);
	fclose(file);
}

static struct member *member_find(pid_t pid)
{
	size_t i;

	for (i = 0; i < nr_members; i++)
		if (members[i].pid == pid)
			return &members[i];
	return NULL;
}

/**
 * entry_share() - the groups of a process that is listed
 * @entry: the process on a GPU; filled in
 */
void entry_share(struct kfd_prio_list_entry *entry)
{
	const struct member *member;

	files_read();
	member = member_find(entry->pid);
	if (!member)
		return;
	entry->share = member->own;
	entry->cgroup_share = member->cgroup;
	entry->throttled_count = member->throttled_count;
	entry->throttled_ns = member->throttled_ns;
}

/* As the driver checks them */
static bool args_valid(const struct kfd_prio_share_args *args)
{
	const unsigned int all = KFD_PRIO_SHARE_PROCESS | KFD_PRIO_SHARE_CGROUP | KFD_PRIO_SHARE_MAX |
				 KFD_PRIO_SHARE_WEIGHT | KFD_PRIO_SHARE_SOFT | KFD_PRIO_SHARE_NEW;
	bool process = args->flags & KFD_PRIO_SHARE_PROCESS, cgroup = args->flags & KFD_PRIO_SHARE_CGROUP;

	if (args->flags & ~all || (process && cgroup) || (!args->group && !process && !cgroup))
		return false;
	if (args->flags & KFD_PRIO_SHARE_NEW && (!process || args->group))
		return false;
	if ((cgroup && args->group) || (!process && args->pid))
		return false;
	if (args->flags & KFD_PRIO_SHARE_SOFT && !(args->flags & KFD_PRIO_SHARE_MAX))
		return false;
	if (args->flags & KFD_PRIO_SHARE_MAX ? !args->max || args->max > KFD_PRIO_MAX_NONE : args->max)
		return false;
	return args->flags & KFD_PRIO_SHARE_WEIGHT ? args->weight <= KFD_PRIO_WEIGHT_MAX : !args->weight;
}

static struct kfd_prio_share_entry *group_new(void)
{
	struct kfd_prio_share_entry *entry = &entries[nr_entries];
	size_t i;

	if (nr_entries == ROOM)
		abort();
	*entry = (struct kfd_prio_share_entry){ .group = 1, .euid = geteuid(), .max = KFD_PRIO_MAX_NONE };
	for (i = 0; i < nr_entries; i++)
		if (entries[i].group >= entry->group)
			entry->group = entries[i].group + 1;
	nr_entries++;
	return entry;
}

/* Of a cgroup: the group that is bound to it, or a new one */
static struct kfd_prio_share_entry *group_of_cgroup(uint64_t id)
{
	struct kfd_prio_share_entry *entry;
	size_t i;

	for (i = 0; i < nr_entries; i++)
		if (entries[i].cgroup == id)
			return &entries[i];
	entry = group_new();
	entry->cgroup = id;
	return entry;
}

static struct kfd_prio_share_entry *group_find(uint64_t group)
{
	return (struct kfd_prio_share_entry *)share_entry_find(entries, nr_entries, group);
}

static struct kfd_prio_share_entry *group_of_process(const struct kfd_prio_share_args *args, struct member **member)
{
	*member = member_find(args->pid);
	if (args->group)
		return group_find(args->group);
	return *member && (*member)->own ? group_find((*member)->own) : group_new();
}

static void log_write(const struct kfd_prio_share_args *args)
{
	char link[64], path[PATH_MAX];
	FILE *log = file_open("share.log", "ae");
	ssize_t len;

	if (!log)
		abort();
	if (args->flags & KFD_PRIO_SHARE_PROCESS) {
		fprintf(log, "process %d group %llu", args->pid, (number_t)args->group);
	} else if (args->flags & KFD_PRIO_SHARE_CGROUP) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", args->cgroup);
		len = readlink(link, path, sizeof(path) - 1);
		path[len > 0 ? len : 0] = '\0';
		fprintf(log, "cgroup %s", strrchr(path, '/') + 1);
	} else {
		fprintf(log, "group %llu", (number_t)args->group);
	}
	if (args->flags & KFD_PRIO_SHARE_NEW)
		fputs(" new", log);
	if (args->flags & KFD_PRIO_SHARE_MAX)
		fprintf(log, " max %u%s", args->max, args->flags & KFD_PRIO_SHARE_SOFT ? " soft" : "");
	if (args->flags & KFD_PRIO_SHARE_WEIGHT)
		fprintf(log, " weight %u", args->weight);
	fputc('\n', log);
	fclose(log);
}

static void group_set(struct kfd_prio_share_entry *entry, const struct kfd_prio_share_args *args)
{
	if (args->flags & KFD_PRIO_SHARE_MAX) {
		entry->max = args->max;
		entry->flags &= ~KFD_PRIO_SHARE_IS_SOFT;
		entry->flags |= args->flags & KFD_PRIO_SHARE_SOFT ? KFD_PRIO_SHARE_IS_SOFT : 0;
		entry->period_ns = args->max == KFD_PRIO_MAX_NONE ? 0 : 100000000;
	}
	if (args->flags & KFD_PRIO_SHARE_WEIGHT)
		entry->weight = args->weight;
}

/* The errno of a target that the driver refuses, or 0 */
static int target_error(const struct kfd_prio_share_args *args, struct stat *st)
{
	const struct member *member;

	if (args->flags & KFD_PRIO_SHARE_CGROUP)
		return fstat(args->cgroup, st) ? EBADF : cgroup_is_v2(args->cgroup) ? 0 : EINVAL;
	if (args->group && !group_find(args->group))
		return ENOENT;
	if (!(args->flags & KFD_PRIO_SHARE_PROCESS))
		return 0;
	member = member_find(args->pid);
	if (args->flags & KFD_PRIO_SHARE_NEW && member && member->own)
		return EBUSY;
	return target_check(args->pid, args->pidfd, args->start_ns, 0);
}

static void member_put(pid_t pid, struct member *member, uint64_t group)
{
	if (!member) {
		if (nr_members == ROOM)
			abort();
		member = &members[nr_members++];
		*member = (struct member){ .pid = pid };
	}
	member->own = group;
}

/**
 * share() - KFD_PRIO_IOC_SHARE
 * @args: in, out
 *
 * Return: 0; -1 with errno.
 */
int share(struct kfd_prio_share_args *args)
{
	struct kfd_prio_share_entry *entry;
	struct member *member = NULL;
	struct stat st;
	int err;

	files_read();
	err = !args_valid(args) ? EINVAL : target_error(args, &st);
	/* which of them is answered first: a process that is in a group is found before anything is refused */
	if (!err)
		err = fault("share");
	if (err)
		return fail(err);
	if (args->flags & KFD_PRIO_SHARE_CGROUP)
		entry = group_of_cgroup(st.st_ino);
	else if (args->flags & KFD_PRIO_SHARE_PROCESS)
		entry = group_of_process(args, &member);
	else
		entry = group_find(args->group);
	group_set(entry, args);
	if (args->flags & KFD_PRIO_SHARE_PROCESS)
		member_put(args->pid, member, entry->group);
	/* a process that asks for the number of its group changes nothing */
	if (args->flags != KFD_PRIO_SHARE_PROCESS || args->group)
		log_write(args);
	args->group = entry->group;
	args->max = entry->max;
	args->weight = entry->weight;
	if (entry->cgroup && entry->max == KFD_PRIO_MAX_NONE && !entry->weight)
		*entry = entries[--nr_entries];
	files_write();
	return 0;
}

/**
 * shares() - KFD_PRIO_IOC_SHARES
 * @args: in, out
 *
 * Return: 0; -1 with errno.
 */
int shares(struct kfd_prio_shares_args *args)
{
	struct kfd_prio_share_entry *to = (void *)(uintptr_t)args->entries;
	size_t i;

	if (args->flags || args->pad || args->entry_size != sizeof(*to))
		return fail(EINVAL);
	if (fault("share-list"))
		return fail(fault("share-list"));
	files_read();
	for (i = 0; i < nr_entries && i < args->nr_entries; i++)
		to[i] = entries[i];
	args->nr_entries = nr_entries;
	return 0;
}
