// SPDX-License-Identifier: GPL-2.0
/* Rules: what is looked at of a process. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules.h"

static void gids_read(const char *line, struct rules_subject *subject)
{
	unsigned long gid;
	char *end;

	while (subject->nr_gids < RULES_GROUPS) {
		gid = strtoul(line, &end, 10);
		if (end == line)
			return;
		subject->gids[subject->nr_gids++] = gid;
		line = end;
	}
}

static int groups_read(pid_t pid, struct rules_subject *subject)
{
	char path[64], *line = NULL;
	unsigned int gid;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -ESRCH;
	while (getline(&line, &room, file) > 0) {
		if (sscanf(line, "Gid: %*u %u", &gid) == 1)
			subject->gids[subject->nr_gids++] = gid;
		else if (!strncmp(line, "Groups:", 7))
			gids_read(line + 7, subject);
	}
	free(line);
	fclose(file);
	return subject->nr_gids ? 0 : -ESRCH;
}

/**
 * rules_process_read() - what rules look at of a process
 * @pid: PID in the caller's PID namespace
 * @exe: its program, too; that needs permission
 * @process: filled in
 *
 * Hold a pidfd of the process before: the driver then refuses to set what was read of another one.
 *
 * Return: 0 or -ESRCH.
 */
int rules_process_read(pid_t pid, bool exe, struct rules_process *process)
{
	static const char deleted[] = " (deleted)";
	char path[KFDLIB_PATH];
	ssize_t len = -1;

	process->subject = (struct rules_subject){ .nr_gids = 0 };
	if (proc_task_read(pid, &process->task) || groups_read(pid, &process->subject))
		return -ESRCH;
	process->subject.uid = process->task.euid;
	if (!cgroup_of(pid, process->cgroup, sizeof(process->cgroup)))
		process->subject.cgroup = process->cgroup;
	if (!exe)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, process->exe, sizeof(process->exe) - 1);
	if (len < 0)
		return 0;
	process->exe[len] = '\0';
	/* a program that was replaced while it runs, by an upgrade say */
	if ((size_t)len > strlen(deleted) && !strcmp(process->exe + len - strlen(deleted), deleted))
		process->exe[len - strlen(deleted)] = '\0';
	process->subject.exe = process->exe;
	return 0;
}
