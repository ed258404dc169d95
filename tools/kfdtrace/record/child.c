// SPDX-License-Identifier: GPL-2.0
/* The command that is recorded: as the caller's user, with its ROCm log if asked for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

static int log_ask(const struct recording *rec)
{
	char path[PATH_MAX + sizeof(AMD_LOG_FILE) + 1], level[16];
	char dir[PATH_MAX], link[64];
	ssize_t used;

	if (!rec->options->amd_log)
		return 0;
	/* The command may change its directory, and the name that was given may mean another one by now. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", rec->dir_fd);
	used = readlink(link, dir, sizeof(dir) - 1);
	if (used < 0)
		return -errno;
	dir[used] = '\0';
	snprintf(path, sizeof(path), "%s/" AMD_LOG_FILE, dir);
	snprintf(level, sizeof(level), "%d", rec->options->amd_log);
	if (setenv("AMD_LOG_LEVEL", level, 1) || setenv("AMD_LOG_LEVEL_FILE", path, 1))
		return -errno;
	return 0;
}

static __attribute__((noreturn)) void child_run(const struct recording *rec, int go, int told)
{
	sigset_t none;
	char byte;
	int err;

	/* When the parent ends before it says go, nothing is run. */
	if (read(go, &byte, 1) != 1)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	err = -log_ask(rec);
	if (!err && !rec->options->root)
		err = -caller_become(&rec->caller);
	if (!err) {
		execvp(rec->options->command[0], rec->options->command);
		err = errno;
	}
	if (write(told, &err, sizeof(err)) < 0)
		_exit(1);
	_exit(0);
}

static int told_fd = -1;

/**
 * child_fork() - the process that becomes the command when told to
 * @rec: the recording; child is filled in
 * @go_fd: out: for child_go()
 * @why: on failure, what is wrong; RECORD_WHY bytes
 *
 * Return: 0 or -errno.
 */
int child_fork(struct recording *rec, int *go_fd, char *why)
{
	int go[2], told[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(told, O_CLOEXEC))
		goto err_why;
	rec->child = fork();
	if (rec->child < 0) {
		rec->child = 0;
		goto err_why;
	}
	if (!rec->child) {
		close(go[1]);
		close(told[0]);
		child_run(rec, go[0], told[1]);
	}
	close(go[0]);
	close(told[1]);
	*go_fd = go[1];
	told_fd = told[0];
	return 0;

err_why:
	snprintf(why, RECORD_WHY, "cannot start a process: %s", strerror(errno));
	return -errno;
}

/**
 * child_go() - let it become the command
 * @rec: the recording
 * @go_fd: of child_fork(); is closed
 * @exec_errno: out: why the command cannot be run, 0 if it runs
 *
 * Return: 0 or -errno.
 */
int child_go(struct recording *rec, int go_fd, int *exec_errno)
{
	int ret = 0;

	*exec_errno = 0;
	if (write(go_fd, "g", 1) != 1)
		ret = -errno;
	close(go_fd);
	/* exec(2) closes the other end: nothing to read means that it runs. */
	if (!ret && read(told_fd, exec_errno, sizeof(*exec_errno)) < 0)
		ret = -errno;
	close(told_fd);
	process_see(rec, rec->child);
	return ret;
}
