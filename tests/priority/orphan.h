/* SPDX-License-Identifier: GPL-2.0 */
/* What orphan_test.c and orphan_ways.c share. */
#ifndef TESTS_PRIORITY_ORPHAN_H
#define TESTS_PRIORITY_ORPHAN_H

#include <stdbool.h>
#include <sys/types.h>

#define USER	65534
#define SUID	"/run/orphan-suid"	/* a copy of sleep(1) of root, set-user-ID */

/* Shared by all processes of a case; a pipe would be open in all of them */
struct orphan_case {
	volatile pid_t helper;		/* of the initial PID namespace */
	volatile int queue;		/* the queue is there; -1: it is refused */
	volatile int leave;		/* the helper is told to leave it */
	volatile int left;
	volatile int busy;		/* its work is submitted */
	volatile int stalled;		/* the exec of the helper is stalled in the kernel */
	volatile pid_t sharer;		/* a second process that shares the memory */
	volatile pid_t keeper;		/* has a copy of the descriptor, and another mm */
};

extern struct orphan_case *s;

/**
 * struct way - how a helper leaves its queue to others
 * @name: of it
 * @leave: what the helper does; it does not return, but where the lead group is to stay
 * @groups: thread groups that share the memory afterwards; 0: the memory is gone
 * @honest: the lead group has the mm still: the process is none
 * @execs: the lead group lives on with another program
 * @stalls: its execve(2) does not end
 * @claims: also with a claim
 */
struct way {
	const char *name;
	void (*leave)(void);
	unsigned int groups;
	bool honest, execs, stalls, claims;
};

extern const struct way ways[];

void nap_ms(unsigned int ms);

/* Until it is set, 20 s at most; false: it is not, or is negative */
bool wait_for(volatile int *flag);

/* In a child: become a user, and end with the test */
void user_become(uid_t uid);

/* In a child: the batch process of a case */
void batch(const struct way *way);

#endif
