// SPDX-License-Identifier: GPL-2.0
/* One caller tries everything on one target */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/kfd_prio.h>
#include "kfd.h"
#include "security.h"

void broken(struct attempt *a, const char *what)
{
	snprintf(a->failed, sizeof(a->failed), "%s: %s", what, strerror(errno));
	_exit(1);
}

void become(struct attempt *a, uid_t uid)
{
	if (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
		broken(a, "setresuid");
	/* lost with the UID; the other would keep its own user from tracing it, and /proc/self would be root's */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
}

pid_t target(struct attempt *a, uid_t uid, void (*then)(struct attempt *a))
{
	int fds[2];
	pid_t pid;
	char ch;

	if (pipe2(fds, O_CLOEXEC))
		broken(a, "pipe");
	pid = fork();
	if (!pid) {
		become(a, uid);
		errno = kfd_set(getpid(), 5, NULL);
		if (errno)
			broken(a, "a priority for the target");
		/* a descriptor that stays: it has a kfd_process, and is listed */
		if (open("/dev/kfd", O_RDWR) < 0)
			broken(a, "/dev/kfd");
		if (then)
			then(a);
		if (write(fds[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	if (pid < 0 || read(fds[0], &ch, 1) != 1)
		broken(a, "no target");
	close(fds[0]);
	a->nr = pid;
	a->host = pid;
	a->pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (a->pidfd < 0)
		broken(a, "pidfd_open");
	return pid;
}

static int try_set(int kfd, const struct attempt *a, int prio)
{
	struct kfd_prio_set_args s = { .pid = a->nr, .pidfd = a->pidfd, .priority = prio };

	return ioctl(kfd, KFD_PRIO_IOC_SET, &s) ? errno : 0;
}

static int try_list(int kfd, const struct attempt *a)
{
	struct kfd_prio_list_entry e[64] = { 0 };
	struct kfd_prio_list_args l = {
		.entries = (unsigned long)e, .entry_size = sizeof(*e), .nr_entries = 64,
	};
	unsigned int i;

	if (ioctl(kfd, KFD_PRIO_IOC_LIST, &l))
		return errno;
	for (i = 0; i < l.nr_entries && i < 64; i++)
		if (e[i].pid == a->nr)
			return 0;
	return HIDDEN;
}

static int try_read(const char *path)
{
	char ch;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return errno;
	err = read(fd, &ch, 1) == 1 ? 0 : errno;
	close(fd);
	return err;
}

static void try_all(struct attempt *a)
{
	struct kfd_prio_get_args g = { .pid = a->nr, .pidfd = a->pidfd };
	int kfd = a->kfd >= 0 ? a->kfd : open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	char path[128];

	if (kfd < 0) {
		a->found[GET] = a->found[LOWER] = a->found[RAISE] = a->found[LIST] = errno;
	} else {
		a->found[GET] = ioctl(kfd, KFD_PRIO_IOC_GET, &g) ? errno : 0;
		a->found[LOWER] = try_set(kfd, a, 4);
		a->found[RAISE] = try_set(kfd, a, 9);
		a->found[LIST] = try_list(kfd, a);
	}
	/* names in sysfs are those of the initial namespace */
	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/priority", a->host ? a->host : a->nr);
	a->found[SYSFS] = try_read(path);
	a->found[DEBUGFS] = try_read("/sys/kernel/debug/kfd/preempt");
	a->found[EVENTS] = try_read("/sys/kernel/tracing/events/kfd/enable");
}

void attempt(struct attempt *a)
{
	try_all(a);
	a->done = true;
}

void attempt_unlisted(struct attempt *a)
{
	try_all(a);
	a->found[LIST] = NOT_TRIED;
	a->found[SYSFS] = NOT_TRIED;
	a->done = true;
}
