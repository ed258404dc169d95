// SPDX-License-Identifier: GPL-2.0
/* Beside KFD's own evictions: memory pressure, changed userptrs; and what else holds queues */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <linux/kfd_ioctl.h>
#include "preempt.h"

/* When the @nth event of that name and process came, 0: it did not */
static uint64_t at(const struct events *e, const char *name, pid_t pid, int nth)
{
	const struct event *ev = NULL;

	do {
		ev = events_find(e, ev, name, "pid", pid);
	} while (ev && --nth > 0);
	return ev ? ev->ns : 0;
}

/* KFD's eviction begins while a preemption holds, and ends after it */
static void evict_inside(void)
{
	struct actor on = online_start(0, 12), off;
	struct events *e = events_start("kfd");
	uint64_t end, restore;
	long ns, left;

	off = offline_start(0, 50 * MS, 10);
	actor_tell(&on, act_request, 40 * MS, 0);
	tap_ok(wait_mapped(0, 1), "evict_inside: a preemption holds");
	pressure_on(&off);	/* KFD puts it back after 100 ms or so */
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	tap_ok(in_time(ns, 41 * MS), "evict_inside: the online work takes no longer (%ld us)", ns / 1000);
	left = actor_do(&off, act_left, 0, 0);
	nap_ns(20 * MS);
	tap_ok(mapped(0) == 1 && actor_do(&off, act_left, 0, 0) == left,
	       "evict_inside: it ends, and KFD holds the other yet");
	tap_ok(wait_mapped(0, 2), "evict_inside: until it puts it back");
	tap_ok(completes(&off), "evict_inside: all is complete, once");
	events_stop(e);
	end = at(e, "kfd_preempt_end", on.pid, 1);
	restore = at(e, "kfd_restore_process", off.pid, 1);
	tap_ok(end && restore > end, "evict_inside: it was in this order");
	events_free(e);
	actor_kill(&on);
	actor_kill(&off);
}

/* KFD's eviction begins before a preemption, and ends while it holds */
static void evict_outside(void)
{
	struct actor on = online_start(0, 12), off;
	struct events *e = events_start("kfd");
	uint64_t begun, begin, end, restore;
	long ns, left;

	off = offline_start(0, 50 * MS, 10);
	param_set("floor_pct", 0);
	wait_mapped(0, 2);
	pressure_on(&off);
	tap_ok(wait_mapped(0, 1), "evict_outside: KFD has evicted a process");
	left = actor_do(&off, act_left, 0, 0);
	/* many short ones: equal indices end a claim where waves are not counted */
	begun = kfdc_now();
	if (actor_do(&on, act_submit, 5 * MS, 120))
		tap_bail("the online work was refused");
	nap_ns(400 * MS);
	tap_ok(mapped(0) == 1 && actor_do(&off, act_left, 0, 0) == left,
	       "evict_outside: KFD puts it back, and a preemption holds it");
	if (actor_do(&on, act_wait, 20000, 0))
		tap_bail("the online work is not complete");
	ns = (long)(kfdc_now() - begun);
	tap_ok(in_time(ns, 605 * MS), "evict_outside: the online work takes no longer (%ld us)",
	       ns / 1000);
	tap_ok(wait_mapped(0, 2), "evict_outside: until it ends");
	tap_ok(completes(&off), "evict_outside: all is complete, once");
	events_stop(e);
	begin = at(e, "kfd_preempt_begin", on.pid, 1);
	end = at(e, "kfd_preempt_end", on.pid, 1);
	restore = at(e, "kfd_restore_process", off.pid, 1);
	if (!tap_ok(restore && begin > restore && begin < end,
		    "evict_outside: what KFD has evicted is no victim: the preemption begins when KFD lets go"))
		events_print(e);
	events_free(e);
	actor_kill(&on);
	actor_kill(&off);
}

/* Who preempts is evicted itself: no claim, no use; then it comes back and preempts */
static void evict_claimant(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 20 * MS, 50);
	long ns;

	actor_tell(&on, act_request, 300 * MS, 0);
	tap_ok(wait_mapped(0, 1), "evict_claimant: a preemption holds");
	pressure_on(&on);
	if (!actor_hear(&on, &ns, 30000))
		tap_bail("no answer from the online process");
	tap_ok(ns >= (long)(300 * MS) && in_time(ns, SEC),
	       "evict_claimant: KFD evicts who preempts; its work is complete after %ld us", ns / 1000);
	tap_ok(wait_mapped(0, 2), "evict_claimant: the other returns");
	tap_ok(completes(&off), "evict_claimant: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* Memory of a preempted process that changes: the MMU notifier stops its queues, a worker resumes */
static long act_userptr(long rounds, long pause_us)
{
	const size_t size = 65536;
	struct kfdc_bo bo;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long r;

	if (p == MAP_FAILED)
		return -errno;
	memset(p, 1, size);
	r = kfdc_userptr(me.c, p, size, &bo);
	if (r)
		return r;
	while (rounds--) {
		if (mmap(p, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
			return -errno;
		memset(p, 2, size);
		nap_ns(pause_us * US);
	}
	return 0;
}

/* Rings of @on while KFD does not hold @off off: each has a process to preempt */
static size_t rings_beside(const struct events *e, pid_t on, pid_t off)
{
	size_t i, rings = 0;
	int held = 0;

	for (i = 0; i < e->nr; i++) {
		const struct event *ev = &e->event[i];

		if (!strcmp(ev->name, "kfd_evict_process"))
			held += event_field(ev, "pid") == off;
		else if (!strcmp(ev->name, "kfd_restore_process"))
			held -= event_field(ev, "pid") == off;
		else if (!strcmp(ev->name, "kfd_doorbell_wake"))
			rings += !held && event_field(ev, "pid") == on;
	}
	return rings;
}

static void userptr(void)
{
	struct actor on = online_start(0, 12), off;
	struct events *e = events_start("kfd");
	size_t rings, begun;
	long r, ns;
	int i;

	off = offline_start(0, 5 * MS, 200);
	actor_tell(&off, act_userptr, 40, 5000);
	for (i = 0; i < 10; i++) {
		ns = actor_do(&on, act_request, 10 * MS, 0);
		if (ns < 0)
			tap_bail("no answer from the online process");
		nap_ns(15 * MS);
	}
	if (!actor_hear(&off, &r, 60000) || r)
		tap_bail("the process whose memory changes failed: %ld", r);
	tap_ok(wait_mapped(0, 2), "userptr: both are mapped in the end");
	tap_ok(completes(&off) && completes(&on), "userptr: all is complete, once");
	events_stop(e);
	/*
	 * While KFD has evicted it, it is no victim: it is preempted when KFD lets go, if the claim
	 * still holds.  Where no waves are counted a claim holds little longer than the ring.  A ring
	 * while KFD is about to evict it counts as one before that: on a debug kernel for some milliseconds, in which
	 * most rings may come, and KFD restores it after the request.
	 */
	rings = sim_debug_kernel() ? 1 : rings_beside(e, on.pid, off.pid);
	begun = events_count(e, "kfd_preempt_begin", NULL, 0);
	tap_ok(paired(e) && rings && begun >= rings && begun >= (has_occupancy(0) && !sim_debug_kernel() ? 5u : 1u) &&
	       events_count(e, "kfd_evict_process", "pid", off.pid) >= 2 &&
	       events_count(e, "kfd_evict_process", "pid", off.pid) ==
	       events_count(e, "kfd_restore_process", "pid", off.pid),
	       "userptr: %zu preemptions, %zu rings while it is not evicted, %zu evictions, %zu restores",
	       begun, rings,
	       events_count(e, "kfd_evict_process", "pid", off.pid),
	       events_count(e, "kfd_restore_process", "pid", off.pid));
	events_free(e);
	actor_kill(&on);
	actor_kill(&off);
}

/* Suspend to RAM while a preemption holds, and while the online process is idle and rings in its sleep */
static void asleep(void)
{
	struct actor on = online_start(0, 12), off;
	struct events *e = events_start("kfd");
	long left, ns;
	int i;

	off = offline_start(0, 50 * MS, 10);
	param_set("floor_pct", 0);
	/* four: also where nobody counts waves there is work until the last is launched */
	actor_do(&on, act_submit, 60 * MS, 4);
	tap_ok(wait_mapped(0, 1), "asleep: a preemption holds");
	for (i = 0; i < 2; i++) {
		const char *when = i ? "idle" : "held";

		machine_sleeps(true);
		tap_eq(mapped(0), 0, "asleep, %s: nothing is mapped", when);
		left = actor_do(&on, act_left, 0, 0) + actor_do(&off, act_left, 0, 0);
		if (i)
			actor_do(&on, act_submit, 60 * MS, 4);
		nap_ns(300 * MS);
		tap_eq(actor_do(&on, act_left, 0, 0) + actor_do(&off, act_left, 0, 0),
		       left + (i ? 4 : 0), "asleep, %s: nothing runs", when);
		machine_sleeps(false);
		left = actor_do(&off, act_left, 0, 0);
		tap_ok(completes(&on), "asleep, %s: the online work is complete", when);
		/* without CU occupancy the other is back when the last one is launched */
		tap_ok(!has_occupancy(0) || actor_do(&off, act_left, 0, 0) == left,
		       "asleep, %s: nothing else ran meanwhile", when);
		tap_ok(wait_mapped(0, 2), "asleep, %s: then the other returns", when);
		nap_ns(param("linger_us") * US + 10 * MS);
	}
	ns = actor_do(&on, act_request, 10 * MS, 0);
	tap_ok(!has_occupancy(0) || (ns > 0 && in_time(ns, 11 * MS)),
	       "asleep: afterwards a request takes no longer than before (%ld us)", ns / 1000);
	tap_ok(completes(&off), "asleep: all is complete, once");
	events_stop(e);
	tap_ok(paired(e), "asleep: each preemption that begins ends");
	events_free(e);
	actor_kill(&on);
	actor_kill(&off);
}

const struct test tests_compose[] = {
	{ "evict_inside", evict_inside }, { "evict_outside", evict_outside },
	{ "evict_claimant", evict_claimant }, { "userptr", userptr }, { "asleep", asleep }, {}
};
