// SPDX-License-Identifier: GPL-2.0
/*
 * Groups of processes on the driver made of text files: KFD_PRIO_IOC_SHARE and KFD_PRIO_IOC_SHARES, beside fake-kfd.c,
 * whose __wrap_ioctl() is built as fake_kfd_ioctl().  Files in $FAKE_KFD:
 *
 *	gpu-groups	lines "GROUP CGROUP EUID FLAGS MAX WEIGHT RAN_NS THROTTLED_NS"; missing: nothing here is done,
 *			and fake-share.c has the groups.  Written, too
 *	gpu-members	lines "PID GROUP CGROUP_GROUP THROTTLED_NS": what KFD_PRIO_IOC_LIST adds to the rows of PID. Written
 *	share share-list an errno name: that call fails so
 *	share.log	written: a line for each call of KFD_PRIO_IOC_SHARE that succeeds
 *	share.hook	a shell script that is run before the next call of KFD_PRIO_IOC_SHARE, once
 *
 * As in the driver, a group without a cgroup ends with its last process.  What is set for one of fork(2) is not inherited.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "share.h"

/* the Makefile renames it for fake-kfd.c */
#undef __wrap_ioctl

int fake_kfd_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

#define GROUPS 512

struct member {
	pid_t pid;
	unsigned long long group, cgroup_group, throttled_ns;
};

static struct kfd_prio_share_entry groups[GROUPS];
static struct member members[GROUPS];
static size_t nr_groups, nr_members;

static FILE *file_open(const char *name, const char *mode)
{
	const char *dir = getenv("FAKE_KFD");
	char path[PATH_MAX];

	if (!dir)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fopen(path, mode);
}

/* The errno that the file asks for, 0 if it asks for none. */
static int fault(const char *name)
{
	FILE *file = file_open(name, "re");
	char text[64] = "";
	int err = 0, i;

	if (file && fscanf(file, "%63s", text) == 1)
		for (i = 1; i < 256; i++)
			if (strerrorname_np(i) && !strcmp(strerrorname_np(i), text))
				err = i;
	if (file)
		fclose(file);
	return err;
}

static bool has_members(const struct kfd_prio_share_entry *group)
{
	size_t i;

	for (i = 0; i < nr_members; i++)
		if (members[i].group == group->group)
			return true;
	return false;
}

static void members_read(void)
{
	FILE *file = file_open("gpu-members", "re");
	struct member m;

	nr_members = 0;
	while (file && nr_members < GROUPS &&
	       fscanf(file, "%d %llu %llu %llu", &m.pid, &m.group, &m.cgroup_group, &m.throttled_ns) == 4)
		/* of an ended process its entry is gone */
		if (!kill(m.pid, 0) || errno == EPERM)
			members[nr_members++] = m;
	if (file)
		fclose(file);
}

/* Returns whether the driver has groups. */
static bool groups_read(void)
{
	FILE *file = file_open("gpu-groups", "re");
	struct kfd_prio_share_entry g = { 0 };
	unsigned long long number, cgroup, ran, throttled;

	if (!file)
		return false;
	members_read();
	nr_groups = 0;
	while (nr_groups < GROUPS && fscanf(file, "%llu %llu %u %u %u %u %llu %llu", &number, &cgroup, &g.euid, &g.flags, &g.max,
					    &g.weight, &ran, &throttled) == 8) {
		g.group = number;
		g.cgroup = cgroup;
		g.ran_ns = ran;
		g.throttled_ns = throttled;
		if (cgroup || has_members(&g))
			groups[nr_groups++] = g;
	}
	fclose(file);
	return true;
}

static void groups_write(void)
{
	FILE *file = file_open("gpu-groups", "we");
	size_t i;

	if (!file)
		abort();
	for (i = 0; i < nr_groups; i++)
		fprintf(file, "%llu %llu %u %u %u %u %llu %llu\n", (unsigned long long)groups[i].group,
			(unsigned long long)groups[i].cgroup, groups[i].euid, groups[i].flags, groups[i].max, groups[i].weight,
			(unsigned long long)groups[i].ran_ns, (unsigned long long)groups[i].throttled_ns);
	fclose(file);
	file = file_open("gpu-members", "we");
	if (!file)
		abort();
	for (i = 0; i < nr_members; i++)
		fprintf(file, "%d %llu %llu %llu\n", members[i].pid, members[i].group, members[i].cgroup_group,
			members[i].throttled_ns);
	fclose(file);
}

static struct member *member_of(pid_t pid)
{
	size_t i;

	for (i = 0; i < nr_members; i++)
		if (members[i].pid == pid)
			return &members[i];
	if (nr_members == GROUPS)
		abort();
	members[nr_members] = (struct member){ .pid = pid };
	return &members[nr_members++];
}

/* Numbers are not used again */
static uint64_t number_next(void)
{
	FILE *file = file_open("gpu-groups.last", "re");
	unsigned long long last = 0;

	if (file && fscanf(file, "%llu", &last) != 1)
		abort();
	if (file)
		fclose(file);
	file = file_open("gpu-groups.last", "we");
	if (!file)
		abort();
	fprintf(file, "%llu\n", ++last);
	fclose(file);
	return last;
}

static struct kfd_prio_share_entry *group_of(uint64_t number)
{
	size_t i;

	for (i = 0; i < nr_groups; i++)
		if (groups[i].group == number)
			return &groups[i];
	return NULL;
}

static struct kfd_prio_share_entry *group_make(uint64_t cgroup)
{
	if (nr_groups == KFD_PRIO_SHARE_ALL_MAX)
		return NULL;
	groups[nr_groups] = (struct kfd_prio_share_entry){ .group = number_next(), .cgroup = cgroup, .euid = geteuid(),
							   .max = KFD_PRIO_MAX_NONE };
	return &groups[nr_groups++];
}

/* A process is named as for KFD_PRIO_IOC_GET, which examines that */
static int process_check(int fd, const struct kfd_prio_share_args *a)
{
	struct kfd_prio_get_args get = { .pid = a->pid, .pidfd = a->pidfd, .start_ns = a->start_ns };

	return fake_kfd_ioctl(fd, KFD_PRIO_IOC_GET, &get) ? errno : 0;
}

/* The directory of the cgroup below the root of the test, which has a cgroup2 file system */
static int cgroup_check(int fd, uint64_t *id, char *path)
{
	char link[64], root[PATH_MAX], text[PATH_MAX], probe[PATH_MAX + 32];
	struct stat st;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, text, sizeof(text) - 1);
	if (len < 0 || fstat(fd, &st))
		return EBADF;
	text[len] = '\0';
	snprintf(root, sizeof(root), "%s/sys/fs/cgroup", kfd_system_root);
	snprintf(probe, sizeof(probe), "%s/cgroup.controllers", root);
	if (strncmp(text, root, strlen(root)) || access(probe, F_OK))
		return EINVAL;
	*id = st.st_ino;
	snprintf(path, PATH_MAX, "%s", text[strlen(root)] ? text + strlen(root) : "/");
	return 0;
}

static void log_share(const struct kfd_prio_share_args *a, uint64_t number, const char *cgroup)
{
	FILE *log = file_open("share.log", "ae");

	if (!log)
		abort();
	fprintf(log, "group %llu:", (unsigned long long)number);
	if (a->flags & KFD_PRIO_SHARE_PROCESS)
		fprintf(log, " process %d%s", a->pid, a->flags & KFD_PRIO_SHARE_NEW ? " new" : "");
	if (a->flags & KFD_PRIO_SHARE_CGROUP)
		fprintf(log, " cgroup %s", cgroup);
	if (a->flags & KFD_PRIO_SHARE_MAX)
		fprintf(log, " max %u%s", a->max, a->flags & KFD_PRIO_SHARE_SOFT ? " soft" : "");
	if (a->flags & KFD_PRIO_SHARE_WEIGHT)
		fprintf(log, " weight %u", a->weight);
	fputc('\n', log);
	fclose(log);
}

static void change(struct kfd_prio_share_entry *g, const struct kfd_prio_share_args *a)
{
	if (a->flags & KFD_PRIO_SHARE_MAX) {
		g->max = a->max;
		g->flags &= ~KFD_PRIO_SHARE_IS_SOFT;
		g->flags |= a->flags & KFD_PRIO_SHARE_SOFT ? KFD_PRIO_SHARE_IS_SOFT : 0;
	}
	if (a->flags & KFD_PRIO_SHARE_WEIGHT)
		g->weight = a->weight;
}

/* As kfd_prio_share_valid() of the driver */
static bool valid(const struct kfd_prio_share_args *a)
{
	bool process = a->flags & KFD_PRIO_SHARE_PROCESS, cgroup = a->flags & KFD_PRIO_SHARE_CGROUP;

	if (a->flags & ~63u || (process && cgroup) || (a->flags & KFD_PRIO_SHARE_NEW && !process))
		return false;
	if (a->flags & KFD_PRIO_SHARE_SOFT && !(a->flags & KFD_PRIO_SHARE_MAX))
		return false;
	if (a->group ? cgroup || a->flags & KFD_PRIO_SHARE_NEW : !process && !cgroup)
		return false;
	if (a->flags & KFD_PRIO_SHARE_MAX ? !a->max || a->max > KFD_PRIO_MAX_NONE : a->max)
		return false;
	return a->flags & KFD_PRIO_SHARE_WEIGHT ? a->weight <= KFD_PRIO_WEIGHT_MAX : !a->weight;
}

static int group_for(const struct kfd_prio_share_args *a, uint64_t cgroup, struct kfd_prio_share_entry **g)
{
	struct member *m = a->flags & KFD_PRIO_SHARE_PROCESS ? member_of(a->pid) : NULL;
	size_t i;

	*g = NULL;
	if (m && m->group && a->flags & KFD_PRIO_SHARE_NEW)
		return EBUSY;
	if (a->group || (m && m->group)) {
		*g = group_of(a->group ? a->group : m->group);
		return *g ? 0 : ENOENT;
	}
	for (i = 0; cgroup && !*g && i < nr_groups; i++)
		if (groups[i].cgroup == cgroup)
			*g = &groups[i];
	if (!*g)
		*g = group_make(cgroup);
	return *g ? 0 : ENOSPC;
}

static void hook_run(void)
{
	FILE *file = file_open("share.hook", "re");

	if (!file)
		return;
	fclose(file);
	if (system("hook=$(cat \"$FAKE_KFD/share.hook\"); rm \"$FAKE_KFD/share.hook\"; eval \"$hook\""))
		abort();
	groups_read();
}

static int share(int fd, struct kfd_prio_share_args *a)
{
	struct kfd_prio_share_entry *g;
	char path[PATH_MAX] = "";
	uint64_t cgroup = 0;
	int err = fault("share");

	hook_run();
	if (!err && !valid(a))
		err = EINVAL;
	if (!err && a->flags & KFD_PRIO_SHARE_PROCESS)
		err = process_check(fd, a);
	if (!err && a->flags & KFD_PRIO_SHARE_CGROUP)
		err = cgroup_check(a->cgroup, &cgroup, path);
	if (!err)
		err = group_for(a, cgroup, &g);
	if (err) {
		errno = err;
		return -1;
	}
	change(g, a);
	log_share(a, g->group, path);
	a->group = g->group;
	a->max = g->max;
	a->weight = g->weight;
	if (a->flags & KFD_PRIO_SHARE_PROCESS)
		member_of(a->pid)->group = g->group;
	/* one that is bound to a cgroup ends with limit and weight */
	if (g->cgroup && g->max == KFD_PRIO_MAX_NONE && !g->weight)
		*g = groups[--nr_groups];
	groups_write();
	return 0;
}

static int shares(struct kfd_prio_shares_args *a)
{
	struct kfd_prio_share_entry *to = (void *)(uintptr_t)a->entries;
	int err = fault("share-list");
	size_t i;

	if (!err && (a->flags || a->pad || a->entry_size != sizeof(*to)))
		err = EINVAL;
	if (err) {
		errno = err;
		return -1;
	}
	for (i = 0; i < nr_groups && i < a->nr_entries; i++)
		to[i] = groups[i];
	a->nr_entries = nr_groups;
	return 0;
}

static void list_add(struct kfd_prio_list_args *a, unsigned int room)
{
	struct kfd_prio_list_entry *to = (void *)(uintptr_t)a->entries;
	size_t i, j;

	for (i = 0; i < a->nr_entries && i < room; i++)
		for (j = 0; j < nr_members; j++) {
			if (members[j].pid != to[i].pid)
				continue;
			to[i].share = members[j].group;
			to[i].cgroup_share = members[j].cgroup_group;
			to[i].throttled_ns = members[j].throttled_ns;
		}
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	unsigned int room = 0;
	va_list va;
	void *args;
	int ret;

	va_start(va, request);
	args = va_arg(va, void *);
	va_end(va);
	if ((request == KFD_PRIO_IOC_SHARE || request == KFD_PRIO_IOC_SHARES) && groups_read())
		return request == KFD_PRIO_IOC_SHARE ? share(fd, args) : shares(args);
	if (request == KFD_PRIO_IOC_LIST)
		room = ((struct kfd_prio_list_args *)args)->nr_entries;
	ret = fake_kfd_ioctl(fd, request, args);
	if (ret || (request != KFD_PRIO_IOC_VERSION && request != KFD_PRIO_IOC_LIST) || !groups_read())
		return ret;
	if (request == KFD_PRIO_IOC_VERSION)
		((struct kfd_prio_version_args *)args)->features |= KFD_PRIO_FEATURE_SHARES;
	else
		list_add(args, room);
	return 0;
}
