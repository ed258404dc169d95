// SPDX-License-Identifier: GPL-2.0
/*
 * fork_test - a priority is set for a child between the moment at which it can be named, by its PID
 * and pidfd, and the one at which it inherits its parent's.  Runs in the VM, on two CPUs.
 *
 * The number of the child is chosen by clone3(2), that of its pidfd can be foreseen: another thread sets
 * the priority again and again until it succeeds.  What makes the time between the two longer is a
 * trigger of ftrace on the tracepoint that is used for inheriting: whoever is attached to it first, is
 * called first.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "events.h"
#include "kfd.h"
#include "tap.h"

#define ROUNDS	300
#define MOST	10000	/* where two virtual CPUs share one, few rounds meet that time: more are made until one has */
#define FIRST	20000	/* PID of the first child */

static int kfd;
#define NOT_YET	(-2)	/* not a priority, nor KFD_PRIO_UNSET */

static volatile int aim_pid, aim_pidfd, result = NOT_YET;

static void *racer(void *unused)
{
	int pid;

	(void)unused;
	for (;;) {
		struct kfd_prio_set_args a = { .priority = 9 };

		pid = aim_pid;
		if (!pid || result != NOT_YET)
			continue;
		a.pid = pid;
		a.pidfd = aim_pidfd;
		if (!ioctl(kfd, KFD_PRIO_IOC_SET, &a)) {
			aim_pid = 0;
			__atomic_store_n(&result, a.old_priority, __ATOMIC_SEQ_CST);
		}
	}
	return NULL;
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
}

#define FORK	"/sys/kernel/tracing/events/sched/sched_process_fork/"

int main(void)
{
	int i, pidfd, next, old, hits = 0, wrong = 0, left = 0, inherited = 0;
	struct events *e;
	pthread_t thread;
	pid_t pid, want;

	kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	if (kfd < 0)
		tap_bail("/dev/kfd: %s", strerror(errno));
	/* no priority is set, nor was in the last ten seconds: it is called before the driver's probe */
	write_file(FORK "enable", "1");
	write_file(FORK "trigger", "stacktrace");
	if (kfd_set(getpid(), 12, NULL))
		tap_bail("no priority");
	if (pthread_create(&thread, NULL, racer, NULL))
		tap_bail("no thread");
	e = events_start("kfd");
	for (i = 0; i < ROUNDS || (!hits && i < MOST); i++) {
		pid_t tid[1] = { FIRST + i };
		struct clone_args args = {
			.flags = CLONE_PIDFD, .pidfd = (uintptr_t)&pidfd, .exit_signal = SIGCHLD,
			.set_tid = (uintptr_t)tid, .set_tid_size = 1,
		};

		next = dup(kfd);	/* the lowest that is free */
		close(next);
		want = FIRST + i;
		aim_pidfd = next;
		result = NOT_YET;
		__atomic_store_n(&aim_pid, want, __ATOMIC_SEQ_CST);
		pid = syscall(SYS_clone3, &args, sizeof(args));
		if (!pid) {
			pause();
			_exit(0);
		}
		if (pid != want || pidfd != next)
			tap_bail("clone3: %d, not %d, pidfd %d, not %d: %s", pid, want, pidfd, next, strerror(errno));
		while (result == NOT_YET)
			usleep(100);
		old = result;
		inherited += old == 12;
		hits += old != 12;
		wrong += kfd_get(pid).priority != 9;
		kfd_set(pid, KFD_PRIO_UNSET, NULL);
		left += kfd_get(pid).priority != KFD_PRIO_UNSET;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(pidfd);
	}
	events_stop(e);
	tap_diag("of %d children %d had a priority set before they inherited one", i, hits);
	tap_ok(hits > 0 && inherited + hits == i, "fork: the time between is met");
	tap_eq(wrong, 0, "fork: what was set for the child then is its priority");
	tap_eq(left, 0, "fork: taken away, it has none: there is one entry for it");
	tap_eq(events_count(e, "kfd_set_priority", "source", 1), inherited,
	       "fork: kfd_set_priority says of those that inherit, and of no other");
	events_free(e);
	write_file(FORK "trigger", "!stacktrace");
	write_file(FORK "enable", "0");
	kfd_set(getpid(), KFD_PRIO_UNSET, NULL);
	return tap_done();
}
