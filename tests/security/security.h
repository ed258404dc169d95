/* SPDX-License-Identifier: GPL-2.0 */
/* Who may do what: the rows of Documentation/security.rst, and what tries them */
#ifndef TESTS_SECURITY_H
#define TESTS_SECURITY_H

#include <stdbool.h>
#include <sys/types.h>

#define ALICE	1001	/* ordinary users */
#define BOB	1002

/* What is tried, the columns */
enum what { GET, LOWER, RAISE, LIST, SYSFS, DEBUGFS, EVENTS, WHATS };

/* Results besides 0 and errno */
enum { HIDDEN = -1, NOT_TRIED = -2 };

/**
 * struct attempt - one caller and one target, in memory shared with the test
 * @nr: the target's PID as the caller would name it
 * @pidfd: a pidfd that goes with it
 * @kfd: descriptor to use; -1: the caller opens one for ioctls alone
 * @host: the target's PID in the initial namespace; 0: nobody looks at its priority afterwards
 * @found: what came out: 0, an errno, HIDDEN or NOT_TRIED
 * @done: the caller has tried everything
 * @failed: what of the setting could not be made, "" if all could
 */
struct attempt {
	pid_t nr;
	int pidfd;
	int kfd;
	pid_t host;
	int found[WHATS];
	volatile bool done;
	char failed[128];
};

/**
 * struct row - a row of the table
 * @who: the caller, its target
 * @set: runs as root in a process of its own: makes the target, becomes the caller, calls attempt() or attempt_unlisted()
 * @want: one word for each column: "yes", "no" (not listed), an errno, "-" (not tried)
 */
struct row {
	const char *who;
	void (*set)(struct attempt *a);
	const char *want;
};

extern const struct row rows_users[], rows_namespaces[], rows_processes[];

/* Try all columns on the target of an attempt, as whoever calls */
void attempt(struct attempt *a);

/* The same without the list and sysfs, where a process is for as long as KFD has not let go of it */
void attempt_unlisted(struct attempt *a);

/* The setting cannot be made: ends the process, and the row fails with this */
void broken(struct attempt *a, const char *what) __attribute__((noreturn));

/* Become an ordinary user, for good and in every respect */
void become(struct attempt *a, uid_t uid);

/**
 * target() - a process with priority 5 that has /dev/kfd open and waits to be killed
 * @a: nr, pidfd and host are set to it
 * @uid: whose it is
 * @then: what it does before it is ready; NULL: nothing
 */
pid_t target(struct attempt *a, uid_t uid, void (*then)(struct attempt *a));

/* No kernel address in any event, in the log, in our files: points of their own */
void test_addresses(void);

#endif
