// SPDX-License-Identifier: GPL-2.0
/* Beside a debugger: AMDKFD_IOC_DBG_TRAP, on oneself and on another; Linux 6.5 and later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "debugger.h"
#include "preempt.h"

/* Takes note of all queues, so that they can be suspended; how many there are */
static long act_snapshot(long unused, long unused2)
{
	struct dbgtrap_queue entry[MAX_QUEUES];
	struct dbgtrap t = { .snapshot = { .exceptions = EC_MASK(EC_NEW_QUEUE),
		.buf = (uintptr_t)entry, .count = MAX_QUEUES, .entry_size = sizeof(entry[0]) } };
	long r;

	(void)unused, (void)unused2;
	r = debug_trap(TRAP_QUEUE_SNAPSHOT, &t);
	return r ? r : t.snapshot.count;
}

/* act_open() of a process that is its own debugger */
static long act_debug_open(long queues, long prio)
{
	long r = act_open(0, 0);

	if (!r)
		r = act_runtime(0, 0);
	if (!r)
		r = act_attach(0, 0);
	if (!r)
		r = act_create(queues, prio);
	if (r)
		return r;
	r = act_snapshot(0, 0);
	return r == queues ? 0 : r < 0 ? r : -EPROTO;
}

long act_suspend(long unused, long unused2)
{
	uint32_t ids[MAX_QUEUES];
	struct dbgtrap t = { .suspend = { .ids = (uintptr_t)ids, .count = me.nq } };
	unsigned int i;

	(void)unused, (void)unused2;
	for (i = 0; i < me.nq; i++)
		ids[i] = me.q[i]->id;
	return debug_trap(TRAP_SUSPEND, &t);
}

long act_resume(long unused, long unused2)
{
	uint32_t ids[MAX_QUEUES];
	struct dbgtrap t = { .resume = { .ids = (uintptr_t)ids, .count = me.nq } };
	unsigned int i;

	(void)unused, (void)unused2;
	for (i = 0; i < me.nq; i++)
		ids[i] = me.q[i]->id;
	return debug_trap(TRAP_RESUME, &t);
}

/* Another's queue 0, which has that ID in a process with one */
static long act_suspend_other(long id, long unused)
{
	uint32_t ids[1] = { id };
	struct dbgtrap t = { .suspend = { .ids = (uintptr_t)ids, .count = 1 } };

	(void)unused;
	return debug_trap(TRAP_SUSPEND, &t);
}

static long act_queue_id(long unused, long unused2)
{
	(void)unused, (void)unused2;
	return me.q[0]->id;
}

bool debuggee(struct actor *a, const char *test)
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
	actor_do(&off, act_submit, longer(50 * MS), 10);
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

/* What sets the debugger's registers, and asks: each makes KFD send a runlist, or MES a command */
static long act_operation(long op, long gpu)
{
	struct dbgtrap_device dev[4];
	struct dbgtrap t = {};

	switch (op) {
	case TRAP_SET_OVERRIDE:
		t.override.bits = t.override.request = 0x80;
		break;
	case TRAP_SET_LAUNCH_MODE:
		t.launch.mode = 3;
		break;
	case TRAP_SET_WATCH:
		t.watch.addr = 0x1000;
		t.watch.mask = ~0U;
		t.watch.gpu_id = gpu;
		break;
	case TRAP_CLEAR_WATCH:
		t.clear.gpu_id = gpu;
		break;
	case TRAP_DEVICE_SNAPSHOT:
		t.snapshot.buf = (uintptr_t)dev;
		t.snapshot.count = 4;
		t.snapshot.entry_size = sizeof(dev[0]);
		break;
	}
	return debug_trap(op, &t);
}

/* Each operation on a process while it is preempted: it stays off, and completes when that is over */
static void debug_operations(void)
{
	static const enum dbgtrap_op ops[] = { TRAP_SET_OVERRIDE, TRAP_SET_LAUNCH_MODE, TRAP_SET_WATCH,
		TRAP_CLEAR_WATCH, TRAP_SET_FLAGS, TRAP_DEVICE_SNAPSHOT, TRAP_SET_EXCEPTIONS };
	struct actor on, off;
	unsigned int i;
	long left;

	if (!debuggee(&off, "debug_operations"))
		return;
	actor_do(&off, act_submit, 50 * MS, 10);
	on = online_start(0, 12);
	actor_do(&on, act_submit, 300 * MS, 4);
	tap_ok(wait_mapped(0, 1), "debug_operations: a preemption holds");
	left = actor_do(&off, act_left, 0, 0);
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		tap_eq(actor_do(&off, act_operation, ops[i], gpu_id(0)), 0, "debug_operations: number %d",
		       ops[i]);
		tap_eq(mapped(0), 1, "debug_operations: the preemption holds after it");
	}
	tap_eq(actor_do(&off, act_snapshot, 0, 0), 1, "debug_operations: a snapshot of the queue");
	tap_eq(actor_do(&off, act_left, 0, 0), left, "debug_operations: it has not run meanwhile");
	tap_ok(completes(&on), "debug_operations: the online work is complete");
	tap_ok(wait_mapped(0, 2), "debug_operations: and back");
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		tap_eq(actor_do(&off, act_operation, ops[i], gpu_id(0)), 0,
		       "debug_operations: number %d while it runs", ops[i]);
	tap_ok(completes(&off), "debug_operations: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* A debugger comes and goes while a process is preempted: it stays off until that is over */
static void debug_attach(void)
{
	struct actor on, off;
	long left;
	int i;

	if (!debuggee(&off, "debug_attach"))
		return;
	actor_do(&off, act_submit, 50 * MS, 10);
	on = online_start(0, 12);
	for (i = 0; i < 2; i++) {
		actor_do(&on, act_submit, 60 * MS, 4);
		tap_ok(wait_mapped(0, 1), "debug_attach: a preemption holds");
		left = actor_do(&off, act_left, 0, 0);
		tap_eq(actor_do(&off, i ? act_attach : act_detach, 0, 0), 0, "debug_attach: the debugger %s",
		       i ? "attaches" : "detaches");
		nap_ns(60 * MS);
		tap_ok(mapped(0) == 1 && actor_do(&off, act_left, 0, 0) == left,
		       "debug_attach: and the process stays off");
		tap_ok(completes(&on), "debug_attach: the online work is complete");
		tap_ok(wait_mapped(0, 2), "debug_attach: and back");
	}
	tap_ok(completes(&off), "debug_attach: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/*
 * Another process is the debugger.  It suspends who is preempted, and is killed: KFD detaches it and
 * resumes the queue, which stays off as long as the preemption holds
 */
static void debug_other(void)
{
	struct actor on, off, dbg = actor_bare(0);
	long id, left, r;

	off = actor_bare(0);
	r = actor_do(&off, act_open, 0, 0);
	if (!r)
		r = actor_do(&off, act_runtime, 0, 0);
	if (r == -ENOTTY) {
		tap_skip("debug_other", "this kernel's amdkfd has no AMDKFD_IOC_DBG_TRAP");
		actor_kill(&off);
		actor_kill(&dbg);
		return;
	}
	if (r || actor_do(&off, act_create, 1, 7) || actor_do(&dbg, act_open, 0, 0))
		tap_bail("debug_other: a process and its debugger: %s", strerror(-r));
	id = actor_do(&off, act_queue_id, 0, 0);
	actor_do(&off, act_submit, 50 * MS, 10);
	tap_eq(actor_do(&dbg, act_trace, off.pid, 0), 0, "debug_other: it is traced");
	tap_eq(actor_do(&dbg, act_attach, 0, 0), 0, "debug_other: a debugger attaches");
	tap_eq(actor_do(&dbg, act_snapshot, 0, 0), 1, "debug_other: and sees its queue");
	on = online_start(0, 12);
	actor_do(&on, act_submit, 200 * MS, 4);
	tap_ok(wait_mapped(0, 1), "debug_other: a preemption holds");
	left = actor_do(&off, act_left, 0, 0);
	tap_eq(actor_do(&dbg, act_suspend_other, id, 0), 1, "debug_other: the queue is suspended");
	actor_kill(&dbg);
	nap_ns(100 * MS);
	tap_ok(mapped(0) == 1 && actor_do(&off, act_left, 0, 0) == left,
	       "debug_other: the debugger is killed, the process stays off");
	tap_ok(completes(&on), "debug_other: the online work is complete");
	tap_ok(wait_mapped(0, 2), "debug_other: and back, without a debugger");
	tap_ok(completes(&off), "debug_other: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

const struct test tests_debug[] = {
	{ "debug_inside", debug_inside }, { "debug_outside", debug_outside },
	{ "debug_claimant", debug_claimant }, { "debug_operations", debug_operations },
	{ "debug_attach", debug_attach }, { "debug_other", debug_other }, {}
};
