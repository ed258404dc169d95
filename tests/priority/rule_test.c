// SPDX-License-Identifier: GPL-2.0
/*
 * rule_test - KFD_PRIO_SET_RULE: which priorities a rule leaves alone, and how _GET and _LIST tell how
 * one was set.  Runs in the VM.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kfd.h"
#include "tap.h"

#define UNSET	KFD_PRIO_UNSET

static int kfd;

static int set(pid_t pid, int prio, unsigned int flags)
{
	struct kfd_prio_set_args a = { .pid = pid, .priority = prio, .flags = flags };
	int err;

	a.pidfd = syscall(SYS_pidfd_open, pid, 0);
	err = ioctl(kfd, KFD_PRIO_IOC_SET, &a) ? errno : 0;
	close(a.pidfd);
	return err;
}

/* As a user without the capability; the descriptors are inherited. */
static int set_as_user(pid_t pid, int prio, unsigned int flags)
{
	int status;

	fflush(stdout);
	if (!fork()) {
		if (setresuid(1000, 1000, 1000))
			_exit(255);
		_exit(set(pid, prio, flags));
	}
	wait(&status);
	return WEXITSTATUS(status);
}

/* A process of user 1000 that waits to be killed */
static pid_t process(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		tap_bail("pipe: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setresuid(1000, 1000, 1000) || write(ready[1], "!", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		tap_bail("no process");
	close(ready[0]);
	return pid;
}

static void has(pid_t pid, int prio, unsigned int by, const char *what)
{
	struct kfd_prio_get_args g = kfd_get(pid);

	tap_ok(g.priority == prio && g.set_by == by, "%s: priority %d, set by %u", what,
	       g.priority, g.set_by);
}

enum who { NOBODY, RULE, USER, ADMIN };

/* What is set, how; what the rule says; what becomes of it. */
static const struct {
	enum who who;
	int prio, rule, err, after;
	unsigned int by;
	const char *what;
} rows[] = {
	{ NOBODY, UNSET, 12, 0, 12, KFD_PRIO_BY_RULE, "nothing was set" },
	{ RULE, 3, 12, 0, 12, KFD_PRIO_BY_RULE, "another rule's, raised" },
	{ RULE, 12, 3, 0, 3, KFD_PRIO_BY_RULE, "another rule's, lowered" },
	{ RULE, 12, UNSET, 0, UNSET, KFD_PRIO_BY_NOBODY, "another rule's, taken away" },
	{ ADMIN, 3, 12, EEXIST, 3, KFD_PRIO_BY_ADMIN, "the administrator's, to be raised" },
	{ ADMIN, 12, 3, EEXIST, 12, KFD_PRIO_BY_ADMIN, "the administrator's, to be lowered" },
	{ ADMIN, 3, UNSET, EEXIST, 3, KFD_PRIO_BY_ADMIN, "the administrator's, to be taken away" },
	{ USER, 3, 12, EEXIST, 3, KFD_PRIO_BY_USER, "the user's, to be raised" },
	{ USER, 3, 3, EEXIST, 3, KFD_PRIO_BY_USER, "the user's, the same" },
	{ USER, 7, 2, 0, 2, KFD_PRIO_BY_RULE, "the user's, lowered: normal is no way out" },
};

static void test_rows(void)
{
	size_t i;
	pid_t pid;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		pid = process();
		if (rows[i].who == RULE)
			set(pid, rows[i].prio, KFD_PRIO_SET_RULE);
		else if (rows[i].who == ADMIN)
			set(pid, rows[i].prio, 0);
		else if (rows[i].who == USER)
			set_as_user(pid, rows[i].prio, 0);
		tap_eq(set(pid, rows[i].rule, KFD_PRIO_SET_RULE), rows[i].err, "%s", rows[i].what);
		has(pid, rows[i].after, rows[i].by, rows[i].what);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static void test_people(void)
{
	pid_t pid = process();

	tap_eq(set(pid, 12, KFD_PRIO_SET_RULE), 0, "a rule raises");
	tap_eq(set_as_user(pid, 3, 0), 0, "the user lowers what a rule gave");
	has(pid, 3, KFD_PRIO_BY_USER, "it is the user's then");
	tap_eq(set_as_user(pid, 12, 0), EPERM, "and cannot raise it again");
	tap_eq(set_as_user(pid, 12, KFD_PRIO_SET_RULE), EEXIST, "nor as a rule");
	tap_eq(set(pid, 12, 0), 0, "the administrator can");
	has(pid, 12, KFD_PRIO_BY_ADMIN, "it is the administrator's then");
	tap_eq(set_as_user(pid, 15, KFD_PRIO_SET_RULE), EEXIST, "a rule of a user has no say");
	tap_eq(set_as_user(pid, 9, 0), 0, "the user lowers it");
	tap_eq(set_as_user(pid, UNSET, 0), EPERM, "and cannot take it away: queues may ask for 15");
	tap_eq(set_as_user(pid, UNSET, KFD_PRIO_SET_RULE), EPERM, "nor as a rule");
	tap_eq(set_as_user(pid, 7, 0), 0, "the user lowers it to what counts for a process without one");
	tap_eq(set_as_user(pid, UNSET, 0), EPERM, "and cannot take that away");
	tap_eq(set(pid, 15, 0), 0, "the administrator gives the highest");
	tap_eq(set_as_user(pid, UNSET, 0), 0, "which the user may take away");
	tap_eq(set(pid, 12, 0), 0, "the administrator sets another");
	tap_eq(set(pid, UNSET, 0), 0, "taken away");
	has(pid, UNSET, KFD_PRIO_BY_NOBODY, "nobody's");
	tap_eq(set_as_user(pid, 12, KFD_PRIO_SET_RULE), EPERM, "a rule needs the same permission");
	tap_eq(set(pid, 3, 1U << 31), EINVAL, "an unknown flag: EINVAL");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* By _LIST and _GET, which must agree; KFD_PRIO_BY_NOBODY: it may be parked */
static unsigned int never_by(pid_t pid)
{
	struct kfd_prio_get_args g = kfd_get(pid);
	struct kfd_prio_list_entry e;

	if (!kfd_list(pid, &e, 1) || e.never_parked_by != g.never_parked_by ||
	    !(e.flags & KFD_PRIO_LIST_PARK_NEVER) != !g.never_parked_by)
		tap_bail("_LIST and _GET disagree: flags %#x, %u, %u", e.flags, e.never_parked_by,
			 g.never_parked_by);
	return g.never_parked_by;
}

/* park= of a rule: never and auto against a setting by hand */
static void test_park(void)
{
	const unsigned int never = KFD_PRIO_SET_KEEP | KFD_PRIO_SET_PARK_NEVER;
	const unsigned int parks = KFD_PRIO_SET_KEEP | KFD_PRIO_SET_PARK_AUTO;
	pid_t pid = kfd_child(7, false);

	tap_eq(set(pid, UNSET, never | KFD_PRIO_SET_RULE), 0, "park: a rule says never");
	tap_eq(never_by(pid), KFD_PRIO_BY_RULE, "park: never");
	has(pid, UNSET, KFD_PRIO_BY_NOBODY, "park: a rule for parking sets no priority");
	tap_eq(set(pid, UNSET, parks | KFD_PRIO_SET_RULE), 0, "park: a rule says auto after a rule");
	tap_eq(never_by(pid), KFD_PRIO_BY_NOBODY, "park: auto");
	tap_eq(set(pid, 9, KFD_PRIO_SET_PARK_NEVER), 0, "park: by hand, with a priority");
	tap_eq(set(pid, UNSET, parks | KFD_PRIO_SET_RULE), EEXIST, "park: a rule leaves the administrator's alone");
	tap_eq(never_by(pid), KFD_PRIO_BY_ADMIN, "park: still never");
	tap_eq(set(pid, 9, KFD_PRIO_SET_PARK_AUTO), 0, "park: auto by hand");
	tap_eq(set(pid, UNSET, never | KFD_PRIO_SET_RULE), 0, "park: which is as if nothing was set");
	has(pid, 9, KFD_PRIO_BY_ADMIN, "park: the priority is still the administrator's");
	kfd_child_end(pid);
}

/* A user's never is undone by a rule with auto, and is not taken over by one with never */
static void test_park_user(void)
{
	const unsigned int never = KFD_PRIO_SET_KEEP | KFD_PRIO_SET_PARK_NEVER;
	const unsigned int parks = KFD_PRIO_SET_KEEP | KFD_PRIO_SET_PARK_AUTO;
	pid_t pid = process();

	tap_eq(set_as_user(pid, UNSET, never), 0, "park: a user says never for their own");
	tap_eq(set(pid, UNSET, never | KFD_PRIO_SET_RULE), EEXIST, "park: a rule with never leaves it the user's");
	tap_eq(set(pid, UNSET, parks | KFD_PRIO_SET_RULE), 0, "park: a rule with auto undoes it");
	tap_eq(set(pid, UNSET, never | KFD_PRIO_SET_RULE), 0, "park: so that a rule may say never");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A child has its parent's, and as its parent has it. */
static void test_inherited(void)
{
	static const unsigned int by[] = { KFD_PRIO_BY_RULE, KFD_PRIO_BY_ADMIN };
	size_t i;
	pid_t pid;

	for (i = 0; i < 2; i++) {
		set(getpid(), 9, i ? 0 : KFD_PRIO_SET_RULE);
		pid = process();
		has(pid, 9, by[i], i ? "inherited from the administrator's" : "inherited from a rule's");
		tap_eq(set(pid, 4, KFD_PRIO_SET_RULE), i ? EEXIST : 0, "a rule for the child");
		has(getpid(), 9, by[i], "its parent's is as it was");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		set(getpid(), UNSET, 0);
	}
}

static void test_list(void)
{
	struct kfd_prio_list_entry e;
	pid_t pid = kfd_child(7, false);

	tap_ok(kfd_list(pid, &e, 1) && e.set_by == KFD_PRIO_BY_NOBODY, "_LIST: none set");
	set(pid, 9, KFD_PRIO_SET_RULE);
	tap_ok(kfd_list(pid, &e, 1) && e.set_by == KFD_PRIO_BY_RULE && e.effective == 9,
	       "_LIST: by a rule, %u", e.set_by);
	set(pid, 12, 0);
	tap_ok(kfd_list(pid, &e, 1) && e.set_by == KFD_PRIO_BY_ADMIN,
	       "_LIST: by the administrator, %u", e.set_by);
	kfd_child_end(pid);
}

int main(void)
{
	kfd = open("/dev/kfd", O_ACCMODE | O_CLOEXEC);
	if (kfd < 0)
		tap_bail("/dev/kfd: %s", strerror(errno));
	test_rows();
	test_people();
	test_park();
	test_park_user();
	test_inherited();
	test_list();
	return tap_done();
}
