// SPDX-License-Identifier: GPL-2.0
/*
 * The user who called a tool that runs as root, through sudo(8), and becoming that user for a command.
 *
 * sudo gives its command another PATH (secure_path).  The PATH of the caller is in the environment
 * of the sudo process itself.  It is used only after root was given up: whatever it holds, its owner runs it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caller.h"
#include "kfdlib.h"

#define SUDO_LEVELS 8 /* of parents: sudo may have a process of its own for the terminal */

static bool id_parse(const char *text, unsigned long *id)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*id = strtoul(text, &end, 10);
	return !errno && !*end && *id < UINT_MAX;
}

/**
 * caller_find() - find the calling user: the one that sudo names, else the present one
 * @caller: filled in
 */
void caller_find(struct caller *caller)
{
	unsigned long uid, gid;

	caller->uid = geteuid();
	caller->gid = getegid();
	if (!geteuid() && id_parse(getenv("SUDO_UID"), &uid) && id_parse(getenv("SUDO_GID"), &gid)) {
		caller->uid = uid;
		caller->gid = gid;
	}
}

/* PATH in the environment of a process; to be freed, NULL if there is none. */
static char *path_of(pid_t pid)
{
	char file[64], *line = NULL, *path = NULL;
	size_t room = 0;
	FILE *environ;

	snprintf(file, sizeof(file), "/proc/%d/environ", pid);
	environ = fopen(file, "re");
	if (!environ)
		return NULL;
	while (!path && getdelim(&line, &room, '\0', environ) > 0)
		if (!strncmp(line, "PATH=", 5))
			path = strdup(line + 5);
	free(line);
	fclose(environ);
	return path;
}

/* The PATH with which sudo was called; to be freed, NULL if it is not known. */
static char *sudo_path(void)
{
	struct proc_task task;
	struct proc_info info;
	pid_t pid = getppid();
	int level;

	for (level = 0; level < SUDO_LEVELS && pid > 1; level++, pid = task.parent) {
		if (proc_read(pid, &info) || proc_task_read(pid, &task))
			return NULL;
		if (!info.euid && !strcmp(info.comm, "sudo"))
			return path_of(pid);
	}
	return NULL;
}

/**
 * caller_become() - give up root for good, for the calling user
 * @caller: of caller_find(); nothing is done if it is the present user
 *
 * The environment is the user's, as far as sudo has changed it.
 *
 * Return: 0 or -errno; some of it may have been done then.
 */
int caller_become(const struct caller *caller)
{
	const struct passwd *user;
	char *path;
	int ret = 0;

	if (caller->uid == geteuid())
		return 0;
	path = sudo_path();
	user = getpwuid(caller->uid);
	if ((user ? initgroups(user->pw_name, caller->gid) : setgroups(0, NULL)) ||
	    setresgid(caller->gid, caller->gid, caller->gid) ||
	    setresuid(caller->uid, caller->uid, caller->uid) ||
	    (user && (setenv("HOME", user->pw_dir, 1) || setenv("USER", user->pw_name, 1) ||
		      setenv("LOGNAME", user->pw_name, 1) || setenv("SHELL", user->pw_shell, 1))) ||
	    (path && setenv("PATH", path, 1)))
		ret = -errno;
	free(path);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unsetenv("SUDO_USER");
	unsetenv("SUDO_COMMAND");
	return ret;
}
