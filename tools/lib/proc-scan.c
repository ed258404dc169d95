// SPDX-License-Identifier: GPL-2.0
/* Processes, many at a time: all of /proc. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfdlib.h"

#define PF_KTHREAD 0x00200000 /* of the flags in /proc/PID/stat; see linux/sched.h */

/**
 * proc_text_read() - read a file of a process in /proc
 * @path: of the file
 * @text: out: what is in it, as far as it fits, and a 0
 * @size: bytes of @text
 *
 * The kernel makes all of such a file at once, and one read(2) returns it.  kfdpriod reads for each
 * process that opens KFD: stdio would allocate, and ask for the size of the file.
 *
 * Return: 0; -ENAMETOOLONG: the kernel does not show it because a path in it has 4096 bytes or more; -ESRCH.
 */
int proc_text_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool too_long;
	ssize_t len;

	if (fd < 0)
		return -ESRCH;
	len = read(fd, text, size - 1);
	too_long = len < 0 && errno == ENAMETOOLONG;
	close(fd);
	if (len <= 0)
		return too_long ? -ENAMETOOLONG : -ESRCH;
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
