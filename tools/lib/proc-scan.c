// SPDX-License-Identifier: GPL-2.0
/* Processes, many at a time: all of /proc, or those of a cgroup. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfdlib.h"

#define PF_KTHREAD 0x00200000 /* of the flags in /proc/PID/stat; see linux/sched.h */

/* Bytes of /proc/PID/cgroup: a line for each hierarchy of the first version */
#define CGROUPS_MAX (16 * KFDLIB_PATH)

/**
 * proc_text_read() - read a file of a process in /proc
 * @path: of the file
 * @text: out: what is in it, as far as it fits, and a 0
 * @size: bytes of @text
 *
 * The kernel makes all of such a file at once, and one read(2) returns it.  kfdpriod reads for each
 * process that opens KFD: stdio would allocate, and ask for the size of the file.
 *
 * Return: 0 or -ESRCH.
 */
int proc_text_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -ESRCH;
	len = read(fd, text, size - 1);
	close(fd);
	if (len <= 0)
		return -ESRCH;
	text[len] = '\0';
	return 0;
}

/**
 * proc_stat_read() - what /proc/PID/stat says of a process, all but its user
 * @pid: PID in the caller's PID namespace
 * @task: filled in
 *
 * Return: 0 or -ESRCH.
 */
int proc_stat_read(pid_t pid, struct proc_task *task)
{
	char path[64], line[1024];
	unsigned int flags, threads;
	const char *tail;
	FILE *file;
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	*task = (struct proc_task){ .pid = pid };
	file = fopen(path, "re");
	if (!file)
		return -ESRCH;
	/* The name stands in brackets and may hold any byte: count from its end. */
	line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
	fclose(file);
	tail = strrchr(line, ')');
	if (!tail ||
	    sscanf(tail + 1,
		   " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u %*d %llu",
		   &state, &task->parent, &flags, &threads, &task->start) != 5)
		return -ESRCH;
	task->kthread = flags & PF_KTHREAD;
	/* A main thread that has ended is a zombie too while other threads run. */
	task->ended = (state == 'Z' || state == 'X') && threads <= 1;
	return 0;
}

/**
 * proc_task_read() - what is needed of a process to tell it from others
 * @pid: PID in the caller's PID namespace
 * @task: filled in
 *
 * Return: 0 or -ESRCH.
 */
int proc_task_read(pid_t pid, struct proc_task *task)
{
	struct proc_info info;

	if (proc_stat_read(pid, task) || proc_read(pid, &info) || info.tgid != pid)
		return -ESRCH;
	task->euid = info.euid;
	return 0;
}

/**
 * proc_scan() - all processes
 * @tasks: out: array, to be freed with free(3)
 * @nr: out: how many
 *
 * A process that exists from the beginning to the end of the call is in the array, unless
 * /proc hides it.  Threads of the kernel are left out.
 *
 * Return: 0 or -errno.
 */
int proc_scan(struct proc_task **tasks, size_t *nr)
{
	struct proc_task *all = NULL, *more;
	DIR *dir = opendir("/proc");
	size_t room = 0, used = 0;
	struct dirent *entry;
	pid_t pid;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = strtol(entry->d_name, NULL, 10);
		if (used == room) {
			room = room ? 2 * room : 256;
			more = reallocarray(all, room, sizeof(*all));
			if (!more) {
				free(all);
				closedir(dir);
				return -ENOMEM;
			}
			all = more;
		}
		if (!proc_task_read(pid, &all[used]) && !all[used].kthread)
			used++;
	}
	closedir(dir);
	*tasks = all;
	*nr = used;
	return 0;
}

/* Where the hierarchy is mounted that systemd keeps its units in. */
static const struct {
	const char *mount;
	const char *probe;
	const char *line;
} hierarchies[] = {
	/* of the second version alone; beside the first; none of the second */
	{ "/sys/fs/cgroup", "cgroup.controllers", "0::" },
	{ "/sys/fs/cgroup/unified", "cgroup.controllers", "0::" },
	{ "/sys/fs/cgroup/systemd", "cgroup.procs", ":name=systemd:" },
};

/* Its index, -1 if there is none.  Once found it is not looked for again. */
static int hierarchy_find(void)
{
	static int found = -1;
	char path[KFDLIB_PATH];
	size_t i;

	if (found >= 0)
		return found;
	for (i = 0; i < sizeof(hierarchies) / sizeof(*hierarchies); i++) {
		snprintf(path, sizeof(path), "%s%s/%s", kfd_system_root, hierarchies[i].mount,
			 hierarchies[i].probe);
		if (!access(path, F_OK)) {
			found = i;
			break;
		}
	}
	return found;
}

/**
 * cgroup_check() - a cgroup as people write it
 * @text: its path in the hierarchy, as in /proc/PID/cgroup, or below /sys/fs/cgroup
 * @path: out: the path in the hierarchy, without a slash at its end; "" is the root
 * @size: bytes of @path
 * @why: on failure, what is wrong with it; KFDLIB_WHY bytes
 *
 * Return: 0; -EINVAL (no path); -ENOENT (no such cgroup, or no hierarchy is mounted).
 */
int cgroup_check(const char *text, char *path, size_t size, char *why)
{
	char procs[KFDLIB_PATH];
	char *shown = text_printable(text);
	int ret = -ENOENT, at = hierarchy_find();
	size_t len, mount;

	if (at < 0) {
		snprintf(why, KFDLIB_WHY,
			 "no cgroup hierarchy that systemd uses is mounted: there is neither a cgroup2 file system below /sys/fs/cgroup nor /sys/fs/cgroup/systemd");
		goto out;
	}
	mount = strlen(hierarchies[at].mount);
	if (!strncmp(text, hierarchies[at].mount, mount) && (text[mount] == '/' || !text[mount]))
		text += mount;
	else if (text[0] != '/')
		ret = -EINVAL;
	len = strlen(text);
	while (len && text[len - 1] == '/')
		len--;
	if (ret == -EINVAL || len >= size) {
		ret = -EINVAL;
		snprintf(why, KFDLIB_WHY,
			 "'%.128s' is not the path of a cgroup: give it from the root of the hierarchy, as '/system.slice/serve.service', or as a directory of %s",
			 shown ? shown : "", hierarchies[at].mount);
		goto out;
	}
	snprintf(path, size, "%.*s", (int)len, text);
	snprintf(procs, sizeof(procs), "%s%s%s/cgroup.procs", kfd_system_root, hierarchies[at].mount, path);
	if (access(procs, R_OK)) {
		ret = -ENOENT;
		snprintf(why, KFDLIB_WHY, "no cgroup '%.128s' below %s: %s", shown ? shown : "",
			 hierarchies[at].mount, strerror(errno));
		goto out;
	}
	ret = 0;
out:
	free(shown);
	return ret;
}

static int procs_read(const char *path, void (*each)(void *context, pid_t pid), void *context)
{
	FILE *file = fopen(path, "re");
	pid_t pid;

	/* Gone, or threaded: the processes of that one are listed further up. */
	if (!file)
		return errno == ENOENT || errno == ENODEV ? 0 : -errno;
	while (fscanf(file, "%d", &pid) == 1)
		each(context, pid);
	fclose(file);
	return 0;
}

/**
 * cgroup_pids() - the processes of a cgroup and of all cgroups below it
 * @path: of cgroup_check()
 * @each: called for each; the PID is 0 when the caller's PID namespace has none for it
 * @context: for @each
 *
 * Return: 0 or -errno.
 */
int cgroup_pids(const char *path, void (*each)(void *context, pid_t pid), void *context)
{
	char top[KFDLIB_PATH], procs[KFDLIB_PATH + 16];
	char *const roots[] = { top, NULL };
	int at = hierarchy_find(), ret = 0;
	FTSENT *entry;
	FTS *fts;

	if (at < 0)
		return -ENOENT;
	snprintf(top, sizeof(top), "%s%s%s", kfd_system_root, hierarchies[at].mount, path);
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!fts)
		return -errno;
	while (!ret && (entry = fts_read(fts))) {
		if (entry->fts_info != FTS_D)
			continue;
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", entry->fts_path);
		ret = procs_read(procs, each, context);
	}
	fts_close(fts);
	return ret;
}

/**
 * cgroup_of() - the cgroup that a process is in
 * @pid: PID in the caller's PID namespace
 * @path: out: as in /proc/PID/cgroup, "/" for the root
 * @size: bytes of @path
 *
 * Return: 0 or -ESRCH.
 */
int cgroup_of(pid_t pid, char *path, size_t size)
{
	char name[KFDLIB_PATH], text[CGROUPS_MAX];
	char *line, *end, *found;
	int at = hierarchy_find();

	snprintf(name, sizeof(name), "%s/proc/%d/cgroup", kfd_system_root, pid);
	if (at < 0 || proc_text_read(name, text, sizeof(text)))
		return -ESRCH;
	/* what has no end did not fit */
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		found = strstr(line, hierarchies[at].line);
		if (!found || (hierarchies[at].line[0] == '0' && found != line))
			continue;
		found += strlen(hierarchies[at].line);
		if (strlen(found) >= size)
			return -ESRCH;
		strcpy(path, found);
		return 0;
	}
	return -ESRCH;
}

/**
 * cgroup_below() - is a cgroup another one, or below it?
 * @cgroup: of cgroup_of()
 * @path: of cgroup_check()
 *
 * Return: whether it is.
 */
bool cgroup_below(const char *cgroup, const char *path)
{
	size_t len = strlen(path);

	return !strncmp(cgroup, path, len) && (cgroup[len] == '/' || !cgroup[len]);
}
