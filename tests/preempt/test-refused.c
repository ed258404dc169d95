// SPDX-License-Identifier: GPL-2.0
/* What the scheduler, or a reset that holds its semaphore, refuses */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include "preempt.h"

/* In a process of its own: it returns when the semaphore is free again */
static long act_hold_reset_lock(long ms, long unused)
{
	char text[16];

	(void)unused;
	snprintf(text, sizeof(text), "%ld", ms);
	return -sim_write(0, "reset_lock", text);
}

/* The semaphore is taken and no reset comes: what was refused must be done later */
static void refused(void)
{
	long long resets = sim_counter(0, "resets");
	struct actor on, off, holder;
	long r;

	if (sim_old_kernel()) {
		tap_skip("refused", "the amdkfd of 6.1 does not ask for the reset semaphore");
		return;
	}
	on = online_start(0, 12);
	off = offline_start(0, 50 * MS, 40);
	holder = actor_bare(0);
	wait_mapped(0, 2);
	actor_tell(&holder, act_hold_reset_lock, 60, 0);
	nap_ns(10 * MS);
	/* many short ones: equal indices end a claim where waves are not counted */
	if (actor_do(&on, act_submit, 5 * MS, 60))
		tap_bail("the online work was refused");
	nap_ns(20 * MS);
	tap_eq(mapped(0), 2, "refused: the reset semaphore is taken, nobody leaves");
	tap_ok(wait_mapped(0, 1), "refused: the other leaves when it is free");
	if (!actor_hear(&holder, &r, 20000) || r)
		tap_bail("reset_lock: %ld", r);
	tap_ok(actor_do(&on, act_left, 0, 0) > 10, "refused: while there is still work");
	tap_ok(wait_mapped(0, 2), "refused: and returns");

	if (actor_do(&on, act_wait, 20000, 0) || actor_do(&on, act_submit, 5 * MS, 10))
		tap_bail("the online work was refused");
	tap_ok(wait_mapped(0, 1), "refused: a preemption holds");
	actor_tell(&holder, act_hold_reset_lock, 150, 0);
	if (actor_do(&on, act_wait, 20000, 0))
		tap_bail("the online work is not complete");
	nap_ns(20 * MS);
	tap_eq(mapped(0), 1, "refused: it ends while the semaphore is taken, nobody returns");
	if (!actor_hear(&holder, &r, 20000) || r)
		tap_bail("reset_lock: %ld", r);
	tap_ok(wait_mapped(0, 2), "refused: the other returns when it is free");
	tap_ok(completes(&off) && completes(&on), "refused: all is complete, once");
	tap_eq(sim_counter(0, "resets"), resets, "refused: without a reset");
	actor_kill(&on);
	actor_kill(&off);
	actor_kill(&holder);
}

/* A runlist of KFD's own fails while others are preempted: all queues are off the GPU, and nobody but us tries again */
static void runlist_fails(void)
{
	struct actor on, off;
	uint64_t begin;
	long r, ns;

	if (has_mes(0)) {
		tap_skip("runlist_fails", "MES: no runlists");
		return;
	}
	on = online_start(0, 12);
	off = offline_start(0, 50 * MS, 4);
	wait_mapped(0, 2);
	/* neither of the two shall bring them back */
	param_set("busy_budget_ms", 20000);
	param_set("floor_pct", 0);
	begin = kfdc_now();
	if (actor_do(&on, act_submit, 100 * MS, 1))
		tap_bail("the online work was refused");
	tap_ok(wait_mapped(0, 1), "runlist_fails: a preemption holds");
	sim_fault_set(0, "alloc_runlist", "1");
	r = actor_do(&on, act_create, 1, 7);
	tap_eq(r, -ENOMEM, "runlist_fails: a queue is not created, there is no memory for the runlist");
	actor_do(&on, act_wait, 5000, 0);
	ns = actor_do(&on, act_done_at, 0, 0) - begin;
	tap_ok(!actor_do(&on, act_left, 0, 0) && in_time(ns, 130 * MS),
	       "runlist_fails: 100 ms of work of who preempts take %ld us", ns / 1000);
	tap_ok(wait_mapped(0, 2) && completes(&off), "runlist_fails: the other is back, its work is complete, once");

	/* ours fails, again and again, with operations of KFD in between */
	begin = kfdc_now();
	sim_fault_set(0, "alloc_runlist", "always");
	if (actor_do(&off, act_submit, MS, 4) || actor_do(&on, act_submit, 20 * MS, 1))
		tap_bail("the work was refused");
	while (kfdc_now() < begin + 100 * MS) {
		actor_do(&on, act_update, 0, 0);
		actor_do(&on, act_update, 0, 100);
		nap_ns(3 * MS);
	}
	sim_fault_set(0, "alloc_runlist", "0");
	actor_do(&on, act_wait, 5000, 0);
	ns = actor_do(&on, act_done_at, 0, 0) - begin;
	tap_ok(!actor_do(&on, act_left, 0, 0) && in_time(ns, 160 * MS),
	       "runlist_fails: no runlist for 100 ms: 20 ms of work are done after %ld us", ns / 1000);
	tap_ok(wait_mapped(0, 2) && completes(&off), "runlist_fails: both are back, all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* What of the stock amdkfd is in the way where MES refuses something; NULL if nothing */
static const char *stock_fails(void)
{
	if (sim_old_kernel())
		return "the amdkfd of 6.1 does not survive a queue that MES does not remove";
	/* a reset does not evict the others, which are removed after it, when MES has none of them */
	return sim_new_kernel() ? "the amdkfd of 7.x stops at the first queue that it cannot evict" : NULL;
}

/* MES does not remove or add: the first queue of a batch, or one in the middle of it */
static void mes_refuses(void)
{
	static const struct {
		const char *fault, *setting;
		int victims;
		bool suspends, goes_on;
	} t[] = {
		{ "mes_remove", "1", 1 }, { "mes_add", "1", 1 },
		{ "mes_remove", "4", 6 }, { "mes_add", "4", 6 },
		/* all are suspended; that of who preempts is resumed; while all but that are suspended; all are resumed */
		{ "mes_suspend", "1", 6, true, true }, { "mes_resume", "1", 6, true, true },
		{ "mes_remove", "4", 6, true }, { "mes_resume", "2", 6, true },
	};
	struct actor off[6], on;
	long long resets;
	unsigned int i;
	int k;
	long r;

	if (!has_mes(0)) {
		tap_skip("mes_refuses", "HWS");
		return;
	}
	if (stock_fails()) {
		tap_skip("mes_refuses", stock_fails());
		return;
	}
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		param_set("mes_suspend", t[i].suspends);
		on = online_start(0, 12);
		for (k = 0; k < t[i].victims; k++)
			off[k] = offline_start(0, 50 * MS, 3);
		wait_mapped(0, t[i].victims + 1);
		resets = sim_counter(0, "resets");
		sim_fault_set(0, t[i].fault, t[i].setting);
		actor_tell(&on, act_submit, 5 * MS, 1);
		if (!actor_hear(&on, &r, 20000))
			tap_bail("the process that rang does not return");
		if (t[i].goes_on)
			tap_ok(completes(&on) && sim_counter(0, "resets") == resets, "mes_refuses: %s fails, number %s of %d, with mes_suspend: no reset",
			       t[i].fault, t[i].setting, t[i].victims);
		else
			tap_ok(wait_resets(0, resets + 1), "mes_refuses: %s fails, number %s of %d%s: a reset", t[i].fault,
			       t[i].setting, t[i].victims, t[i].suspends ? ", with mes_suspend" : "");
		sim_fault_set(0, t[i].fault, "0");
		nap_ns(param("busy_budget_ms") * MS + 100 * MS);
		works("mes_refuses, the dead still there");
		actor_kill(&on);
		for (k = 0; k < t[i].victims; k++)
			actor_kill(&off[k]);
		works("mes_refuses");
	}
}

static struct kfdc_bo pages;

/* A userptr, whose pages go with a madvise(2) */
static long act_userptr(long unused, long unused2)
{
	void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused, (void)unused2;
	if (p == MAP_FAILED)
		return -errno;
	memset(p, 1, 65536);
	return kfdc_userptr(me.c, p, 65536, &pages);
}

static long act_evict(long unused, long unused2)
{
	(void)unused, (void)unused2;
	return madvise(pages.va, pages.size, MADV_DONTNEED) ? -errno : 0;
}

/* A userptr, and work on each of two queues */
static struct actor victim_start(void)
{
	struct actor a = actor_start(0, 2, 7);
	unsigned int i;

	if (actor_do(&a, act_userptr, 0, 0))
		tap_bail("a userptr");
	for (i = 0; i < 2; i++)
		if (actor_do(&a, act_submit_on, i, longer(500 * MS)))
			tap_bail("the work of a victim was refused");
	return a;
}

/*
 * MES does not confirm that a queue is removed, and the reset that amdkfd asks for begins late.  Until it begins, the
 * queue and those behind it run: an eviction must not find them marked as off.
 */
static void mes_unconfirmed(void)
{
	static const char * const removal[] = { "1", "2", "3" };
	struct actor off[2], on;
	long long moved, resets;
	unsigned int i, k;

	if (!has_mes(0)) {
		tap_skip("mes_unconfirmed", "HWS: refused_evict of tests/hostile");
		return;
	}
	if (stock_fails()) {
		tap_skip("mes_unconfirmed", stock_fails());
		return;
	}
	/* the first queue of a process, its second, and the first of the other process */
	for (i = 0; i < 3; i++) {
		on = online_start(0, 12);
		for (k = 0; k < 2; k++)
			off[k] = victim_start();
		wait_mapped(0, 5);
		moved = sim_counter(0, "mapped_moved");
		resets = sim_counter(0, "resets");
		param_set("reset_delay_ms", 400);
		sim_fault_set(0, "mes_remove", removal[i]);
		/* the engine's next step comes 10 ms later: lines on the console take as long */
		klogctl(6 /* SYSLOG_ACTION_CONSOLE_OFF */, NULL, 0);
		if (actor_do(&on, act_submit, 5 * MS, 1))
			tap_bail("the online work was refused");
		nap_ns(2 * MS);
		for (k = 0; k < 2; k++)
			actor_do(&off[k], act_evict, 0, 0);
		klogctl(7 /* SYSLOG_ACTION_CONSOLE_ON */, NULL, 0);
		tap_eq(sim_counter(0, "mapped_moved") - moved, 0,
		       "mes_unconfirmed: removal %s fails: no buffer moves under a mapped queue", removal[i]);
		tap_ok(wait_resets(0, resets + 1), "mes_unconfirmed: removal %s fails: a reset", removal[i]);
		sim_fault_set(0, "mes_remove", "0");
		param_set("reset_delay_ms", 0);
		nap_ns(param("busy_budget_ms") * MS + 100 * MS);
		actor_kill(&on);
		for (k = 0; k < 2; k++)
			actor_kill(&off[k]);
		works("mes_unconfirmed");
	}
}

/* A priority is set, and the scheduler does not do what it takes */
static void set_refused(void)
{
	static const char * const faults[][2] = { { "no_fence" }, { "mes_remove", "mes_add" } };
	const char *fault;
	struct actor a;
	long long resets;
	int i;

	if (has_mes(0) && stock_fails()) {
		tap_skip("set_refused", stock_fails());
		return;
	}
	for (i = 0; i < 2 && faults[has_mes(0)][i]; i++) {
		fault = faults[has_mes(0)][i];
		resets = sim_counter(0, "resets");
		/* with MES the first is refused, the others are not tried */
		a = actor_start(0, 3, 7);
		if (!wait_mapped(0, 3))
			tap_bail("the queues are not mapped");
		param_set("queue_preemption_timeout_ms", 200);
		sim_fault_set(0, fault, "1");
		tap_eq(kfd_set(a.pid, 12, NULL), ETIME, "set_refused: %s: ETIME", fault);
		tap_ok(wait_resets(0, resets + 1), "set_refused: %s: a reset", fault);
		sim_fault_set(0, fault, "0");
		param_set("queue_preemption_timeout_ms", 9000);
		tap_eq(kfd_get(a.pid).priority, 12, "set_refused: %s: the priority is set all the same", fault);
		actor_kill(&a);
	}
	works("set_refused");
}

const struct test tests_refused[] = {
	{ "refused", refused }, { "mes_refuses", mes_refuses },
	{ "mes_unconfirmed", mes_unconfirmed }, { "runlist_fails", runlist_fails },
	{ "set_refused", set_refused }, {}
};
