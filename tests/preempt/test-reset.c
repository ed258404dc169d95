// SPDX-License-Identifier: GPL-2.0
/* Resets of the GPU: before, in and after a preemption */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "preempt.h"

#define CROWD	40

/*
 * Are so many queues mapped, or up to @others more?  Those of processes without work may stay where
 * they are, on the GPU or off it.
 */
static bool wait_mapped_beside(int want, int others)
{
	uint64_t end = kfdc_now() + SEC;
	int n;

	do {
		n = mapped(0);
		if (n >= want && n <= want + others)
			return true;
		nap_ns(200 * US);
	} while (kfdc_now() < end);
	return wait_mapped(0, want);
}

/* Others on the GPU have no work, or have ended */
bool works(const char *name)
{
	bool here, gone, back, ok;
	struct actor on, off;
	uint64_t begin;
	long long took;
	int others;
	long ns;

	actors_gone();
	others = mapped(0);
	on = online_start(0, 12);
	off = offline_start(0, 20 * MS, 3);
	here = wait_mapped_beside(2, others);
	/* its first request was a preemption of the dead */
	took = stat_of(&on, "preempting_count");
	begin = kfdc_now();
	/* the breaker may be open: see test-breaker.c */
	param_set("kfd_preempt", 1);
	/* four: also where nobody counts waves there is work until the last is launched */
	if (actor_do(&on, act_submit, longer(5 * MS), 4))
		tap_bail("%s: the online work was refused", name);
	gone = wait_mapped_beside(1, others);
	if (actor_do(&on, act_wait, 20000, 0))
		tap_bail("%s: the online work is not complete", name);
	ns = actor_do(&on, act_done_at, 0, 0) - begin;
	back = wait_mapped_beside(2, others) && completes(&off);
	took = stat_of(&on, "preempting_count") - took;
	ok = tap_ok(here && gone && back && took == 1 && stat_of(&off, "preempted_count") == 1 &&
		    (in_time(ns, 21 * MS) || !has_occupancy(0)), "%s: new processes run and preempt", name);
	if (!ok)
		tap_diag("mapped %d, off %d, back %d, preempting %lld, preempted %lld, %ld us", here, gone, back, took,
			 stat_of(&off, "preempted_count"), ns / 1000);
	actor_kill(&on);
	actor_kill(&off);
	return ok;
}

/* The GPU is reset while somebody is preempted: what ran is lost, nobody stays preempted */
static void reset_held(void)
{
	struct actor on = online_start(0, 12), off, other;
	struct events *e = events_start("kfd");
	long long us;

	off = offline_start(0, 50 * MS, 5);
	/* it is not the budget that ends the claim of a process whose queues are dead */
	param_set("busy_budget_ms", 20000);
	if (actor_do(&on, act_submit, 500 * MS, 2))
		tap_bail("the online work was refused");
	tap_ok(wait_mapped(0, 1), "reset_held: a preemption holds");
	reset_gpu();
	/* else it is the breaker by which nobody stays preempted */
	param_set("kfd_preempt", 1);
	/* the indices of the dead queues differ for ever */
	other = offline_start(0, 20 * MS, 2);
	tap_ok(completes(&other), "reset_held: a process that begins now runs");
	nap_ns(50 * MS);
	us = stat_of(&off, "preempted_us");
	nap_ns(200 * MS);
	tap_eq(stat_of(&off, "preempted_us"), us, "reset_held: nobody stays preempted");
	params_reset();
	events_stop(e);
	tap_ok(paired(e), "reset_held: each preemption that begins ends");
	events_free(e);
	works("reset_held, the dead still there");
	actor_kill(&other);
	actor_kill(&on);
	actor_kill(&off);
	works("reset_held");
}

/* The scheduler hangs when it is told to preempt */
static void hang(void)
{
	struct actor on = online_start(0, 12), off;
	long long resets = sim_counter(0, "resets");
	struct events *e = events_start("kfd");
	long r;

	off = offline_start(0, 50 * MS, 5);
	wait_mapped(0, 2);
	param_set("queue_preemption_timeout_ms", 200);
	sim_write(0, "hang", "1");
	actor_tell(&on, act_submit, 5 * MS, 1);
	tap_ok(wait_resets(0, resets + 1), "hang: the scheduler hangs at a preemption, and is reset");
	if (!actor_hear(&on, &r, 20000))
		tap_bail("the process that rang does not return");
	nap_ns(param("busy_budget_ms") * MS + 100 * MS);
	tap_eq(sim_counter(0, "resets"), resets + 1, "hang: once");
	param_set("queue_preemption_timeout_ms", 9000);
	works("hang, the dead still there");
	events_stop(e);
	tap_ok(paired(e), "hang: each preemption that begins ends");
	events_free(e);
	actor_kill(&on);
	actor_kill(&off);
	works("hang");
}

/* A victim that does not let itself be preempted */
static void stubborn(void)
{
	struct actor on = online_start(0, 12), off;
	long long resets = sim_counter(0, "resets");
	struct events *e = events_start("kfd");
	char text[24];
	long r;

	off = offline_start(0, 50 * MS, 5);
	if (has_mes(0)) {
		tap_skip("stubborn", "MES: REMOVE_QUEUE that fails is in mes_refuses");
		actor_kill(&on);
		actor_kill(&off);
		events_stop(e);
		events_free(e);
		return;
	}
	wait_mapped(0, 2);
	param_set("queue_preemption_timeout_ms", 200);
	snprintf(text, sizeof(text), "pid %d", off.pid);
	sim_fault_set(0, "no_preempt", text);
	actor_tell(&on, act_submit, 5 * MS, 1);
	tap_ok(wait_resets(0, resets + 1), "stubborn: a queue that does not preempt ends in a reset");
	sim_fault_set(0, "no_preempt", "0");
	if (!actor_hear(&on, &r, 20000))
		tap_bail("the process that rang does not return");
	param_set("queue_preemption_timeout_ms", 9000);
	nap_ns(param("busy_budget_ms") * MS + 100 * MS);
	works("stubborn, the dead still there");
	events_stop(e);
	tap_ok(paired(e), "stubborn: each preemption that begins ends");
	events_free(e);
	actor_kill(&on);
	actor_kill(&off);
	works("stubborn");
}

/* At higher priority than the worker that resets: rings in the middle of a reset */
static long act_urgent(long unused, long unused2)
{
	struct sched_param p = { .sched_priority = 10 };

	(void)unused, (void)unused2;
	return sched_setscheduler(0, SCHED_FIFO, &p) ? -errno : 0;
}

static long act_ring_often(long n, long us)
{
	while (n--) {
		if (!kfdc_queue_full(me.q[0]))
			act_submit(20 * US, 1);
		nap_ns(us * US);
	}
	return 0;
}

/* amdgpu holds the reset semaphore: unmap and map are -EIO then */
static void reset_race(void)
{
	struct actor off[CROWD], on;
	const struct event *ev;
	struct events *e;
	long long refused = 0;
	long r;
	int i, round;

	for (round = 0; round < 4; round++) {
		on = online_start(0, 12);
		for (i = 0; i < CROWD; i++)
			off[i] = offline_start(0, 5 * MS, 2);
		if (actor_do(&on, act_urgent, 0, 0))
			tap_bail("SCHED_FIFO: %s", strerror(errno));
		param_set("linger_us", 0);
		e = events_start("kfd");
		actor_tell(&on, act_ring_often, 300, 150 + 20 * round);
		nap_ns(10 * MS + round * MS);
		reset_gpu();
		if (!actor_hear(&on, &r, 60000))
			tap_bail("the process that rings does not return");
		nap_ns(param("busy_budget_ms") * MS + 50 * MS);
		events_stop(e);
		for (ev = NULL; (ev = events_find(e, ev, "kfd_map_queues", "ret", -EIO)); )
			refused++;
		for (ev = NULL; (ev = events_find(e, ev, "kfd_unmap_queues_done", "ret", -EIO)); )
			refused++;
		for (ev = NULL; (ev = events_find(e, ev, "kfd_preempt_end", "ret", -EIO)); )
			refused++;
		tap_ok(paired(e), "reset_race: %d: each preemption that begins ends", round);
		events_free(e);
		params_reset();
		works("reset_race, the dead still there");
		actor_kill(&on);
		for (i = 0; i < CROWD; i++)
			actor_kill(&off[i]);
	}
	tap_diag("%lld commands were refused because of a reset", refused);
	works("reset_race");
}

/* Requests of an online process; each time @rest queues of the others must come back, no more */
static bool come_back(const struct actor *on, int requests, int rest)
{
	bool fine = true;
	long ns;

	while (requests--) {
		actor_tell(on, act_submit, 5 * MS, 4);
		if (!actor_hear(on, &ns, 20000))
			tap_bail("the process that rang does not return");
		fine &= wait_mapped(0, 1);
		actor_do(on, act_wait, 20000, 0);
		fine &= wait_mapped(0, 1 + rest);
		nap_ns(20 * MS);
		fine &= mapped(0) == 1 + rest;
	}
	return fine;
}

/* One queue of a victim is taken off for good by KFD: it stays off, the other one comes back */
static void dead(void)
{
	long long resets = sim_counter(0, "resets"), hqds = sim_counter(0, "hqd_resets"),
		errors = sim_counter(0, "queue_errors");
	struct actor on, off;
	char text[24];
	int i;

	if (sim_old_kernel() || (sim_new_kernel() && has_mes(0)) || (!has_mes(0) && !has_occupancy(0))) {
		tap_skip("dead", "this amdkfd resets no single queue of this GPU");
		return;
	}
	if (has_mes(0) && !alone) {
		tap_skip("dead", "the amdkfd of 6.12 leaks a process with a bad packet: to be run alone");
		return;
	}
	/* in this order: the first request of the one would take the other off, which has no work */
	on = online_start(0, 12);
	off = actor_start(0, 2, 7);
	if (!wait_mapped(0, 3))
		tap_bail("the queues are not mapped");
	if (has_mes(0)) {
		left_by_stock = "kfd_dqm_suspend_bad_queue_mes() keeps a reference to the process for ever";
		if (actor_do(&off, act_bad_packet, 1, 0))
			tap_bail("the packet was refused");
		tap_ok(wait_mapped(0, 2), "dead: a queue with a bad packet is taken off by KFD");
	} else {
		/* the address of its ring is no other process's: by that KFD finds the queue */
		if (actor_do(&off, act_submit_on, 1, 100 * MS))
			tap_bail("the offline work was refused");
		nap_ns(5 * MS);
		snprintf(text, sizeof(text), "pid %d", off.pid);
		sim_fault_set(0, "hang_queue", text);
		/* all its work was lost: it has none, and comes back when it rings */
		tap_ok(come_back(&on, 1, 0), "dead: preempted, a process whose only work died stays off");
		tap_eq(sim_counter(0, "hqd_resets") - hqds, 1, "dead: its queue was reset alone");
	}
	for (i = 0; i < 200; i++)
		if (actor_do(&off, act_submit_on, 0, 5 * MS))
			tap_bail("the offline work was refused");
	tap_ok(wait_mapped(0, 2), "dead: one of two queues comes back");
	tap_ok(come_back(&on, 3, 1), "dead: and again");
	nap_ns(2 * SEC);
	tap_eq(actor_do(&off, act_left, 0, 0), !has_mes(0), "dead: it works, the dead one's dispatch is lost");
	if (has_mes(0)) {
		refused_packets += sim_counter(0, "queue_errors") - errors;
		tap_eq(sim_counter(0, "queue_errors") - errors, 1, "dead: the bad packet was met once");
	}
	tap_eq(sim_counter(0, "resets"), resets, "dead: without a reset of the GPU");
	actor_kill(&on);
	actor_kill(&off);
	works("dead");
}

/* ---- doorbells that a reset takes away ---- */

static long act_ring_on(long unused, long unused2)
{
	uint64_t end = kfdc_now() + 60 * SEC;

	(void)unused, (void)unused2;
	while (kfdc_now() < end)
		kfdc_ring(me.q[0]);
	return 0;
}

static long act_ring_anew(long unused, long unused2)
{
	long r = kfdc_doorbells_remap(me.q[0]);

	(void)unused, (void)unused2;
	if (!r)
		kfdc_ring(me.q[0]);
	return r;
}

static void reset_takes_doorbells(void)
{
	sim_fault_set(0, "doorbells", "1");
	reset_gpu();
}

/*
 * Stock amdkfd, MES: a process that ends during a reset is not suspended, and its queues stay marked as active. When KFD
 * destroys them, MES refuses to remove what it does not know, and KFD resets the GPU once more (testing.rst). A packet
 * that was refused so has a reset that nobody asked for; any other one is a failure.
 */
static void allow_second_resets(long long resets, long long asked)
{
	long long more;

	if (!has_mes(0))
		return;
	/* until KFD has destroyed the queues of all that have ended */
	nap_ns(100 * MS);
	more = sim_counter(0, "resets") - resets - asked;
	if (more)
		tap_diag("%lld resets by stock amdkfd, for queues of processes that ended during a reset", more);
	refused_packets += more;
	/* preemption is on again, which such a reset switches off */
	params_reset();
}

/* As amdgpu does from 7.2 on */
static void doorbells(void)
{
	long long resets = sim_counter(0, "resets");
	struct actor on = online_start(0, 12), off = offline_start(0, 50 * MS, 5);
	struct actor anew = online_start(0, 12), late = actor_start(0, 1, 7), none = actor_bare(0);
	bool bus = true;
	int round;

	reset_takes_doorbells();
	tap_eq(actor_do(&anew, act_ring_anew, 0, 0), 0, "doorbells: mapped anew after the reset they can be rung");
	actor_tell(&on, act_faults, 1, 0);
	tap_ok(actor_ends_by_sigbus(&on), "doorbells: taken away while they are trapped: SIGBUS");
	actor_tell(&off, act_faults, 1, 0);
	tap_ok(actor_ends_by_sigbus(&off), "doorbells: taken away while they are mapped: SIGBUS");
	actor_tell(&late, act_faults, 1, 0);
	tap_ok(actor_ends_by_sigbus(&late), "doorbells: taken away before the first ring: SIGBUS");
	tap_ok(!actor_do(&none, act_open, 1, 7) && actor_do(&none, act_request, MS, 0) > 0,
	       "doorbells: who had none maps them and rings");
	works("doorbells, one of them still there");
	actor_kill(&anew);
	actor_kill(&none);
	for (round = 0; round < 10 && bus; round++) {
		on = online_start(0, 12);
		off = offline_start(0, 5 * MS, 2);
		param_set("linger_us", 0);
		actor_tell(&on, act_ring_on, 0, 0);
		actor_tell(&off, act_ring_on, 0, 0);
		nap_ns(10 * MS + round * 300 * US);
		reset_takes_doorbells();
		bus = actor_ends_by_sigbus(&on) & actor_ends_by_sigbus(&off);
		params_reset();
	}
	tap_ok(bus, "doorbells: taken away in the middle of rings: SIGBUS, each of %d times", round);
	allow_second_resets(resets, 1 + round);
	works("doorbells");
	actor_kill(&on);
	actor_kill(&off);
}

const struct test tests_reset[] = {
	{ "reset_held", reset_held }, { "hang", hang }, { "stubborn", stubborn },
	{ "reset_race", reset_race }, { "dead", dead }, { "doorbells", doorbells }, {}
};
