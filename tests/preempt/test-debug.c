// SPDX-License-Identifier: GPL-2.0
/* Beside a debugger that suspends queues: AMDKFD_IOC_DBG_TRAP, on oneself; Linux 6.5 and later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/kfd_ioctl.h>
#include "preempt.h"

/*
 * Numbers and layouts as in <linux/kfd_ioctl.h> of Linux 6.12; Debian 12's own header knows neither
 * ioctl. ENABLE, SUSPEND and SNAPSHOT have members of the same sizes in the same places.
 */
enum { TRAP_ENABLE = 0, TRAP_SUSPEND = 6, TRAP_RESUME = 7, TRAP_SNAPSHOT = 13 };

#define QUEUE_NEW	(1ULL << 30)	/* such a queue is not suspended until a snapshot has told of it */

struct trap {
	uint32_t pid, op;
	union {
		struct {
			uint64_t exceptions, array;
			uint32_t n, last;	/* last: dbg_fd, grace_period, entry_size */
		};
		struct {
			uint64_t array;
			uint32_t n;
		} resume;
	};
};

struct runtime {
	uint64_t r_debug;
	uint32_t mode, capabilities;
};

#define IOC_RUNTIME_ENABLE	_IOWR('K', 0x25, struct runtime)
#define IOC_DBG_TRAP		_IOWR('K', 0x26, struct trap)

static long trap(struct trap *t)
{
	int r;

	t->pid = getpid();
	r = ioctl(kfdc_fd(me.c), IOC_DBG_TRAP, t);
	return r < 0 ? -errno : r;
}

/* act_open() of a process that is its own debugger; -ENOTTY without DBG_TRAP */
static long act_debug_open(long queues, long prio)
{
	struct runtime on = { .mode = 1 };
	uint64_t info[2], entry[MAX_QUEUES];
	struct trap enable = { .op = TRAP_ENABLE, .array = (uintptr_t)info, .n = sizeof(info) };
	struct trap told = { .op = TRAP_SNAPSHOT, .exceptions = QUEUE_NEW,
		.array = (uintptr_t)entry, .n = queues, .last = sizeof(entry[0]) };
	long r = act_open(0, 0);
	int fds[2];

	if (r)
		return r;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	enable.last = fds[1];
	/* the runtime says that it can be debugged, before it has queues */
	if (ioctl(kfdc_fd(me.c), IOC_RUNTIME_ENABLE, &on))
		return errno == EINVAL ? -ENOTTY : -errno;
	r = trap(&enable);
	if (!r)
		r = act_create(queues, prio);
	return r ? r : trap(&told);
}

/* All queues; how many were */
static long act_suspend(long unused, long unused2)
{
	uint32_t ids[MAX_QUEUES];
	struct trap t = { .op = TRAP_SUSPEND, .array = (uintptr_t)ids, .n = me.nq };
	unsigned int i;

	(void)unused, (void)unused2;
	for (i = 0; i < me.nq; i++)
		ids[i] = me.q[i]->id;
	return trap(&t);
}

static long act_resume(long unused, long unused2)
{
	uint32_t ids[MAX_QUEUES];
	struct trap t = { .op = TRAP_RESUME, .resume = { .array = (uintptr_t)ids, .n = me.nq } };
	unsigned int i;

	(void)unused, (void)unused2;
	for (i = 0; i < me.nq; i++)
		ids[i] = me.q[i]->id;
	return trap(&t);
}

/* One that can be suspended; false, and a skipped test, if the driver has no such thing */
static bool debuggee(struct actor *a, const char *test)
{
	long r;

	*a = actor_bare(0);
	r = actor_do(a, act_debug_open, 1, 7);
	if (r == -ENOTTY) {
		tap_skip(test, "this kernel's amdkfd has no AMDKFD_IOC_DBG_TRAP");
		actor_kill(a);
		return false;
	}
	if (r)
		tap_bail("%s: a debugger's ioctls: %s", test, strerror(-r));
	return true;
}

/* Does one of its dispatches complete within 20 s? */
static bool runs(const struct actor *a)
{
	long left = actor_do(a, act_left, 0, 0);
	int i;

	for (i = 0; i < 2000 && actor_do(a, act_left, 0, 0) == left; i++)
		nap_ns(10 * MS);
	return i < 2000;
}

/* Suspended while preempted: it stays off when the preemption is over */
static void debug_inside(void)
{
	struct actor on, off;
	long left;

	if (!debuggee(&off, "debug_inside"))
		return;
	actor_do(&off, act_submit, 50 * MS, 10);
	on = online_start(0, 12);
	/* four: also where nobody counts waves there is work until the last is launched */
	actor_do(&on, act_submit, 30 * MS, 4);
	tap_ok(wait_mapped(0, 1), "debug_inside: a preemption holds");
	tap_eq(actor_do(&off, act_suspend, 0, 0), 1, "debug_inside: the queue is suspended meanwhile");
	tap_ok(completes(&on), "debug_inside: the online work is complete");
	left = actor_do(&off, act_left, 0, 0);
	nap_ns(200 * MS);
	tap_ok(mapped(0) == 1 && actor_do(&off, act_left, 0, 0) == left,
	       "debug_inside: the preemption ends, and the queue stays suspended");
	tap_eq(actor_do(&off, act_resume, 0, 0), 1, "debug_inside: the queue is resumed");
	tap_ok(wait_mapped(0, 2), "debug_inside: and back");
	tap_ok(completes(&off), "debug_inside: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* Suspended before it is preempted, and resumed while it is: it stays off until that is over */
static void debug_outside(void)
{
	struct actor on, off;
	long left;

	if (!debuggee(&off, "debug_outside"))
		return;
	actor_do(&off, act_submit, 50 * MS, 10);
	on = online_start(0, 12);
	wait_mapped(0, 2);
	tap_eq(actor_do(&off, act_suspend, 0, 0), 1, "debug_outside: a queue is suspended");
	tap_ok(wait_mapped(0, 1), "debug_outside: and off");
	left = actor_do(&off, act_left, 0, 0);
	actor_do(&on, act_submit, 60 * MS, 4);
	nap_ns(50 * MS);
	tap_eq(actor_do(&off, act_resume, 0, 0), 1, "debug_outside: it is resumed beside online work");
	nap_ns(50 * MS);
	tap_ok(mapped(0) == 1 && actor_do(&off, act_left, 0, 0) == left,
	       "debug_outside: and stays off, preempted");
	tap_ok(completes(&on), "debug_outside: the online work is complete");
	tap_ok(wait_mapped(0, 2), "debug_outside: until it is over");
	tap_ok(completes(&off), "debug_outside: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* Who preempts is suspended with work: it holds nobody off for it, and preempts again when it is resumed */
static void debug_claimant(void)
{
	struct actor on, off;

	if (!debuggee(&on, "debug_claimant"))
		return;
	off = offline_start(0, 20 * MS, 50);
	prioritise(&on, 12);
	actor_do(&on, act_submit, 300 * MS, 2);
	tap_ok(wait_mapped(0, 1), "debug_claimant: a preemption holds");
	tap_eq(actor_do(&on, act_suspend, 0, 0), 1, "debug_claimant: the queue of who preempts is suspended");
	tap_ok(runs(&off), "debug_claimant: the other runs");
	tap_eq(actor_do(&on, act_resume, 0, 0), 1, "debug_claimant: it is resumed");
	tap_ok(completes(&on), "debug_claimant: its work completes, once");
	tap_ok(completes(&off), "debug_claimant: and the other's");
	actor_kill(&on);
	actor_kill(&off);
}

const struct test tests_debug[] = {
	{ "debug_inside", debug_inside }, { "debug_outside", debug_outside },
	{ "debug_claimant", debug_claimant }, {}
};
