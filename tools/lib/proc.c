// SPDX-License-Identifier: GPL-2.0
/* Processes: what /proc says about them, and pidfds. */
#define _GNU_SOURCE
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "kfdlib.h"

#define PF_KTHREAD 0x00200000 /* of the flags in /proc/PID/stat; see linux/sched.h */

static FILE *proc_fopen(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

/* The name is raw in comm, while status and stat escape or bracket it. */
static int comm_read(pid_t pid, char *comm)
{
	FILE *file = proc_fopen(pid, "comm");
	size_t len;

	if (!file)
		return -errno;
	len = fread(comm, 1, KFDLIB_NAME - 1, file);
	fclose(file);
	if (!len)
		return -ESRCH;
	if (comm[len - 1] == '\n')
		len--;
	comm[len] = '\0';
	return 0;
}

static bool is_kthread(pid_t pid)
{
	FILE *file = proc_fopen(pid, "stat");
	unsigned int flags = 0;
	char line[1024];
	const char *tail;

	if (!file)
		return false;
	/* The name stands in brackets and may hold any byte: count from its end. */
	line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
	fclose(file);
	tail = strrchr(line, ')');
	return tail && sscanf(tail + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       (flags & PF_KTHREAD);
}

/**
 * proc_read() - what /proc says about a process
 * @pid: PID in the caller's PID namespace
 * @info: filled in
 *
 * Return: 0; -ESRCH if there is no such process; -ENOENT if there is one that
 * /proc does not show (hidepid, or no /proc); else -errno.
 */
int proc_read(pid_t pid, struct proc_info *info)
{
	FILE *file = proc_fopen(pid, "status");
	unsigned int threads = 0;
	char line[256];
	char state = '?';
	int ret;

	if (!file) {
		ret = -errno;
		if (kill(pid, 0) && errno == ESRCH)
			return -ESRCH;
		return ret == -ESRCH ? -ENOENT : ret;
	}
	memset(info, 0, sizeof(*info));
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "Tgid: %d", &info->tgid);
		sscanf(line, "Uid: %u %u", &info->ruid, &info->euid);
		sscanf(line, "Threads: %u", &threads);
	}
	fclose(file);
	if (!info->tgid)
		return -ESRCH;
	/* A main thread that has ended is a zombie too while other threads run. */
	info->zombie = (state == 'Z' || state == 'X') && threads <= 1;
	info->kthread = is_kthread(pid);
	ret = comm_read(pid, info->comm);
	return ret == -ENOENT ? -ESRCH : ret;
}

/**
 * proc_open() - a pidfd of a process that can have queues
 * @pid: PID in the caller's PID namespace
 * @pidfd: out, close-on-exec
 * @why: on failure, what is wrong with this PID; KFDLIB_WHY bytes
 *
 * Return: 0 or -errno: ESRCH (no such process, or it has ended), EINVAL (a thread, or
 * a kernel thread), or what pidfd_open(2) answered.
 */
int proc_open(pid_t pid, int *pidfd, char *why)
{
	struct proc_info info;
	int err;

	/* The pidfd comes first: what /proc says then is of this process or a dead one. */
	*pidfd = pidfd_open(pid, 0);
	err = *pidfd < 0 ? errno : 0;
	if (!proc_read(pid, &info)) {
		/* fopen(3) that fails has set errno: NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
		if (info.tgid != pid) {
			snprintf(why, KFDLIB_WHY,
				 "PID %d is a thread of process %d, and priorities and groups belong to processes: use %d",
				 pid, info.tgid, info.tgid);
			err = EINVAL;
			goto err_close;
		}
		if (info.kthread) {
			snprintf(why, KFDLIB_WHY,
				 "PID %d is a kernel thread, which has no queues and no priority: give the PID of a process",
				 pid);
			err = EINVAL;
			goto err_close;
		}
		if (info.zombie) {
			snprintf(why, KFDLIB_WHY,
				 "process %d has ended (it is a zombie)",
				 pid);
			err = ESRCH;
			goto err_close;
		}
	}
	if (!err)
		return 0;
	if (err == ESRCH)
		snprintf(why, KFDLIB_WHY, "no process with PID %d", pid);
	else if (err == EINVAL || err == ENOENT)
		snprintf(why, KFDLIB_WHY, "PID %d is not a process; if it is a thread, give the PID of its process", pid);
	else
		snprintf(why, KFDLIB_WHY, "cannot open process %d: %s", pid, strerror(err));
	return -err;

err_close:
	if (*pidfd >= 0)
		close(*pidfd);
	*pidfd = -1;
	return -err;
}

/**
 * user_name() - the login name of a user
 * @uid: the user
 * @name: out; the UID in digits if it has no name
 * @size: bytes of @name
 *
 * Return: whether it has a name.
 */
bool user_name(uid_t uid, char *name, size_t size)
{
	const struct passwd *passwd = getpwuid(uid);

	if (passwd)
		snprintf(name, size, "%s", passwd->pw_name);
	else
		snprintf(name, size, "%u", uid);
	return passwd;
}

/**
 * user_find() - a user from the command line
 * @text: a login name or a UID in decimal digits
 * @uid: out
 * @why: on failure, what is wrong with it; KFDLIB_WHY bytes
 *
 * Return: 0 or -EINVAL.
 */
int user_find(const char *text, uid_t *uid, char *why)
{
	const struct passwd *passwd = getpwnam(text);
	unsigned long long number;
	char *shown;

	if (passwd) {
		*uid = passwd->pw_uid;
		return 0;
	}
	/* the last number is no UID */
	if (*text && !text[strspn(text, "0123456789")]) {
		number = strtoull(text, NULL, 10);
		if (number < (uid_t)-1) {
			*uid = number;
			return 0;
		}
	}
	shown = text_printable(text);
	snprintf(why, KFDLIB_WHY, "no user '%.64s': give a login name or a UID", shown ? shown : "");
	free(shown);
	return -EINVAL;
}

/**
 * proc_outer_namespace() - whether PIDs here are those of the host
 *
 * Return: whether this process is in the initial PID namespace.
 */
bool proc_outer_namespace(void)
{
	/* see linux/proc_ns.h */
	static const char initial[] = "pid:[4026531836]";
	char text[64];
	ssize_t got = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	if (got < 0)
		return false;
	text[got] = '\0';
	return !strcmp(text, initial);
}
