// SPDX-License-Identifier: GPL-2.0
/* Rules: what is looked at of a process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "message.h"
#include "rules.h"

#define ROOM_FIRST (2 * KFDLIB_PATH) /* bytes of /proc/PID/status at first: the lines of some 500 groups */

static void *grown(void *array, size_t *room, size_t size)
{
	array = reallocarray(array, *room ? 2 * *room : ROOM_FIRST / size, size);
	if (!array)
		err(EXIT_FAILURE, "cannot read a process");
	*room = *room ? 2 * *room : ROOM_FIRST / size;
	return array;
}

/* All of it, however many groups there are: the kernel makes the whole text at the first read. */
static int status_text(pid_t pid, struct rules_process *process)
{
	size_t len = 0;
	char path[64];
	ssize_t got;
	int fd, ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		if (process->status_room - len < 2)
			process->status = grown(process->status, &process->status_room, 1);
		got = read(fd, process->status + len, process->status_room - len - 1);
		if (got < 0)
			ret = -errno;
		else
			len += got;
	} while (got > 0);
	close(fd);
	process->status[len] = '\0';
	return ret;
}

static void gid_add(struct rules_process *process, gid_t gid)
{
	if (process->subject.nr_gids == process->gids_room)
		process->gids = grown(process->gids, &process->gids_room, sizeof(*process->gids));
	process->gids[process->subject.nr_gids++] = gid;
	process->subject.gids = process->gids;
}

static void gids_read(const char *line, struct rules_process *process)
{
	unsigned long gid;
	char *end;

	for (;; line = end) {
		gid = strtoul(line, &end, 10);
		if (end == line)
			return;
		gid_add(process, gid);
	}
}

/* @user: the effective UID, too; otherwise it is known from the driver, and stays as it is */
static int status_read(pid_t pid, bool user, struct rules_process *process)
{
	char *line, *rest;
	unsigned int gid;
	pid_t tgid = 0;

	if (status_text(pid, process))
		return -ESRCH;
	rest = process->status;
	while ((line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "Tgid:", 5))
			tgid = strtol(line + 5, NULL, 10);
		else if (user && !strncmp(line, "Uid:", 4))
			sscanf(line + 4, "%*u %u", &process->subject.uid);
		else if (!strncmp(line, "Gid:", 4) && sscanf(line + 4, "%*u %u", &gid) == 1)
			gid_add(process, gid);
		else if (!strncmp(line, "Groups:", 7))
			break;
	}
	if (line)
		gids_read(line + 7, process);
	return process->subject.nr_gids && tgid == pid ? 0 : -ESRCH;
}

static void exe_read(pid_t pid, struct rules_process *process)
{
	static const char deleted[] = " (deleted)";
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, process->exe, sizeof(process->exe) - 1);
	if (len < 0)
		return;
	process->exe[len] = '\0';
	/* a program that was replaced while it runs, by an upgrade say */
	if ((size_t)len > strlen(deleted) && !strcmp(process->exe + len - strlen(deleted), deleted))
		process->exe[len - strlen(deleted)] = '\0';
	process->subject.exe = process->exe;
}

/**
 * rules_process_read() - what rules look at of a process
 * @pid: PID in the caller's PID namespace
 * @look: bit mask of RULES_LOOK_*; RULES_LOOK_EXE needs permission
 * @process: filled in; without RULES_LOOK_USER its subject's uid is left as it is
 *
 * Hold a pidfd of the process before, or name it to the driver by its serial: the driver then refuses
 * to set what was read of another one.  After execve(2) a pidfd names the new program, and a serial
 * nothing.
 *
 * Return: 0; -ESRCH: there is no such process, as far as that was seen.
 */
int rules_process_read(pid_t pid, unsigned int look, struct rules_process *process)
{
	int ret;

	process->subject.cgroup = NULL;
	process->subject.cgroup_hidden = false;
	process->subject.exe = NULL;
	process->subject.nr_gids = 0;
	if (look & (RULES_LOOK_USER | RULES_LOOK_GROUP) &&
	    status_read(pid, look & RULES_LOOK_USER, process))
		return -ESRCH;
	if (look & RULES_LOOK_CGROUP) {
		ret = cgroup_of(pid, process->cgroup, sizeof(process->cgroup));
		process->subject.cgroup_hidden = ret == -ENAMETOOLONG;
		if (!ret)
			process->subject.cgroup = process->cgroup;
	}
	if (look & RULES_LOOK_EXE)
		exe_read(pid, process);
	return 0;
}

/**
 * rules_process_free() - free what grew
 * @process: may be read again afterwards
 */
void rules_process_free(struct rules_process *process)
{
	free(process->gids);
	free(process->status);
	process->gids = NULL;
	process->status = NULL;
	process->gids_room = process->status_room = 0;
}
