// SPDX-License-Identifier: GPL-2.0
/* Rules: what is looked at of a process. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "rules.h"

/* So many bytes of /proc/PID/status that RULES_GROUPS groups are among them, with all that is before */
#define STATUS_MAX (2 * KFDLIB_PATH)

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

/* @user: the effective UID, too; otherwise it is known from the driver, and stays as it is */
static int status_read(pid_t pid, bool user, struct rules_subject *subject)
{
	char path[64], text[STATUS_MAX], *line, *rest = text;
	unsigned int gid;
	pid_t tgid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (proc_text_read(path, text, sizeof(text)))
		return -ESRCH;
	while ((line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "Tgid:", 5))
			tgid = strtol(line + 5, NULL, 10);
		else if (user && !strncmp(line, "Uid:", 4))
			sscanf(line + 4, "%*u %u", &subject->uid);
		else if (!strncmp(line, "Gid:", 4) && sscanf(line + 4, "%*u %u", &gid) == 1)
			subject->gids[subject->nr_gids++] = gid;
		else if (!strncmp(line, "Groups:", 7))
			break;
	}
	if (line)
		gids_read(line + 7, subject);
	return subject->nr_gids && tgid == pid ? 0 : -ESRCH;
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
	    status_read(pid, look & RULES_LOOK_USER, &process->subject))
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
