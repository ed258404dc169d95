// SPDX-License-Identifier: GPL-2.0
/* How idleness is noticed, and claims that are none */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "preempt.h"

/* Launched at once: the read index equals the write index while it runs */
static void last_kernel(void)
{
	struct actor off, on;
	const struct event *end;
	struct events *e;
	uint64_t done;

	on = online_start(0, 12);
	e = events_start("kfd");
	off = offline_start(0, 100 * MS, 3);
	if (actor_do(&on, act_request, 50 * MS, 0) < 0)
		tap_bail("no answer from the online process");
	done = actor_do(&on, act_done_at, 0, 0);
	wait_mapped(0, 2);
	events_stop(e);
	end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
	tap_ok(events_count(e, "kfd_preempt_begin", NULL, 0) == 1 && end && end->ns >= done,
	       "last_kernel: equal indices and 50 ms to run: it keeps its claim to the end");
	tap_ok(end && in_time(end->ns - done, 5 * MS), "last_kernel: and not for longer (%lld us)",
	       end ? (long long)(end->ns - done) / 1000 : -1);
	events_free(e);
	tap_ok(completes(&off), "last_kernel: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* Bursts of one kernel that is longer than linger_us: what puts the others back must not save it */
static void bursts(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 20);
	long long saves = sim_counter(0, "saves");
	struct events *e = events_start("kfd");
	uint64_t most = 0;
	unsigned int i;
	long ns;

	for (i = 0; i < 5; i++) {
		ns = actor_do(&on, act_request, 5 * MS, 0);
		if (ns < 0)
			tap_bail("no answer from the online process");
		most = (uint64_t)ns > most ? (uint64_t)ns : most;
		nap_ns(20 * MS);
	}
	saves = sim_counter(0, "saves") - saves;
	events_stop(e);
	tap_ok(events_count(e, "kfd_preempt_begin", "pid", on.pid) == 5 && paired(e), "bursts: each preempts once");
	tap_eq(saves, 5, "bursts: saved are the queues of the process that is preempted, once for each");
	tap_ok(in_time(most, 6 * MS), "bursts: none takes longer than alone (5 ms, at most %llu us)",
	       (unsigned long long)most / 1000);
	events_free(e);
	tap_ok(completes(&off), "bursts: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

enum { BEHIND_DISPATCH, BEHIND_BARRIER, BEHIND_OTHERS };

/*
 * What HIP puts behind kernels to learn of their end: a barrier-AND packet without dependencies, whose
 * barrier bit lets it wait for all before it
 */
static long marker(void)
{
	struct {
		uint16_t header;
		uint16_t reserved[27];
		uint64_t signal;
	} p = { .header = 3 | 1 << 8, .signal = (uintptr_t)kfdc_signal_mem(me.s) };

	_Static_assert(sizeof(p) == 64, "an AQL packet");
	return kfdc_packet(me.q[0], &p, true);
}

/* A kernel, and a packet that waits for its end */
static long act_behind(long what, long ns)
{
	long r;

	__atomic_fetch_add((int64_t *)kfdc_signal_mem(me.s) + 1, 1, __ATOMIC_SEQ_CST);
	/* the kernel has no signal, as most have in HIP */
	r = kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = ns, .no_ring = true });
	if (r)
		return r;
	if (what == BEHIND_BARRIER)
		return marker();
	return kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = MS, .barrier = true, .signal = me.s });
}

static void behind(void)
{
	static const char *const names[] = { "a kernel", "a barrier packet" };
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 80);
	const struct event *end;
	struct events *e;
	uint64_t done;
	long what;

	param_set("busy_budget_ms", 50);
	for (what = 0; what < BEHIND_OTHERS; what++) {
		e = events_start("kfd");
		if (actor_do(&on, act_behind, what, 300 * MS))
			tap_bail("the packets were refused");
		tap_ok(completes(&on), "behind: %s waits for one of 300 ms: complete, once", names[what]);
		done = actor_do(&on, act_done_at, 0, 0);
		nap_ns(20 * MS);
		events_stop(e);
		end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
		if (!tap_ok(events_count(e, "kfd_preempt_begin", NULL, 0) == 1 && end && end->ns >= done &&
			    in_time(end->ns - done, 11 * MS),	/* safety_poll_us, less than a sixteenth of the work */
			    "behind: %s: it keeps its claim to the end, beyond busy_budget_ms (50), and not for longer",
			    names[what]))
			events_print(e);
		events_free(e);
	}
	tap_ok(completes(&off), "behind: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

static long act_expect(long n, long unused)
{
	(void)unused;
	__atomic_fetch_add((int64_t *)kfdc_signal_mem(me.s) + 1, n, __ATOMIC_SEQ_CST);
	return 0;
}

/* Not rung for, and without a signal */
static long act_unrung(long ns, long unused)
{
	(void)unused;
	return kfdc_dispatch(me.q[0], &(struct kfdc_dispatch){ .ns = ns, .no_ring = true });
}

/* What looks like work and is none: a signal that is above 0 again; a packet that nobody rings for */
static void false_work(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 60);
	struct events *e;
	int way, most;
	long long us;

	param_set("busy_budget_ms", 50);
	for (way = 0; way < 2; way++) {
		us = stat_of(&off, "preempted_us");
		actor_do(&on, act_expect, !way, 0);
		nap_ns(100 * MS);
		tap_eq(stat_of(&off, "preempted_us") - us, 0, "false_work: nothing of it preempts without a ring");
		e = events_start("kfd");
		if (actor_do(&on, act_submit, 5 * MS, 1))
			tap_bail("the work was refused");
		/* it is launched; then nobody tells the GPU */
		nap_ns(20 * MS);
		if (way && actor_do(&on, act_unrung, MS, 0))
			tap_bail("the work was refused");
		nap_ns(200 * MS);
		events_stop(e);
		us = stat_of(&off, "preempted_us") - us;
		/* where all waves are counted, a signal is believed for as long again as the kernel ran */
		most = way || !sees_waves(0) ? 60 : 15;
		if (!tap_ok(us >= 5000 && in_time(us * US, most * MS) && paired(e),
			    "false_work: %s: the others are off for %d ms at most (%lld us)",
			    way ? "a packet without a ring" : "a signal that is above 0 again", most, us))
			events_print(e);
		events_free(e);
		actor_do(&on, act_expect, -!way, 0);
	}
	/* the next ring is for both */
	if (actor_do(&on, act_request, MS, 0) < 0)
		tap_bail("no answer from the online process");
	tap_ok(completes(&on) && completes(&off), "false_work: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

static struct kfdc_signal *never;

/* A barrier on a signal that nobody sets */
static long act_stuck(long unused, long unused2)
{
	long r;

	(void)unused, (void)unused2;
	r = never ? 0 : kfdc_signal_create(me.c, false, &never);
	if (r)
		return r;
	kfdc_signal_set(never, 1);
	__atomic_fetch_add((int64_t *)kfdc_signal_mem(me.s) + 1, 1, __ATOMIC_SEQ_CST);
	/* one more behind it: unequal indices */
	r = kfdc_barrier(me.q[0], false, &never, 1, me.s);
	return r ? r : act_submit(MS, 1);
}

static long act_unstick(long unused, long unused2)
{
	(void)unused, (void)unused2;
	kfdc_signal_set(never, 0);
	return 0;
}

static void barrier(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 60);
	const struct event *begin, *end;
	struct events *e;
	long ns, left;

	param_set("busy_budget_ms", 50);
	e = events_start("kfd");
	if (actor_do(&on, act_stuck, 0, 0))
		tap_bail("the barrier was refused");
	tap_ok(wait_mapped(0, 1), "barrier: a packet preempts");
	tap_ok(wait_mapped(0, 2), "barrier: but not when it waits for ever");
	events_stop(e);
	begin = events_find(e, NULL, "kfd_preempt_begin", NULL, 0);
	end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
	ns = begin && end ? (long)(end->ns - begin->ns) : -1;
	tap_ok(ns >= (long)(49 * MS) && in_time(ns, 60 * MS) &&
	       event_field(end, "reason") == REASON_BUDGET,
	       "barrier: it ends after busy_budget_ms (50: %ld us)", ns / 1000);
	events_free(e);
	e = events_start("kfd");
	left = actor_do(&off, act_left, 0, 0);
	nap_ns(longer(300 * MS));
	if (!tap_ok(actor_do(&off, act_left, 0, 0) < left && mapped(0) == 2,
		    "barrier: the others run, as long as it waits"))
		tap_diag("%ld left, then %ld:\n%s", left, actor_do(&off, act_left, 0, 0),
			 sim_read(0, "state"));
	events_stop(e);
	if (!tap_ok(!events_count(e, "kfd_preempt_begin", NULL, 0),
		    "barrier: it does not preempt meanwhile"))
		events_print(e);
	events_free(e);
	e = events_start("kfd");
	actor_do(&on, act_unstick, 0, 0);
	tap_ok(completes(&on), "barrier: it goes on when the signal comes");
	if (actor_do(&on, act_request, 10 * MS, 0) < 0)
		tap_bail("no answer from the online process");
	nap_ns(10 * MS);
	events_stop(e);
	tap_ok(events_count(e, "kfd_preempt_begin", "pid", on.pid) >= 1 && paired(e),
	       "barrier: and may preempt again");
	events_free(e);
	tap_ok(completes(&off), "barrier: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* A process that is stopped: what it has submitted runs to its end, and keeps the others off no longer */
static void stopped(void)
{
	static const char *const names[] = { "kernels", "a barrier packet" };
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 60);
	const struct event *end;
	struct events *e;
	int what;
	long left;

	param_set("busy_budget_ms", 50);
	for (what = 0; what < 2; what++) {
		e = events_start("kfd");
		if (what ? actor_do(&on, act_stuck, 0, 0) : actor_do(&on, act_submit, 100 * MS, 3))
			tap_bail("the work was refused");
		if (kill(on.pid, SIGSTOP) || waitpid(on.pid, NULL, WUNTRACED) != on.pid)
			tap_bail("the process cannot be stopped");
		/* on MES our thread takes them off, not the fault */
		tap_ok(wait_mapped(0, 1), "stopped: %s: the others are off", names[what]);
		tap_ok(wait_mapped(0, 2), "stopped: %s: and return while it is stopped", names[what]);
		left = actor_do(&off, act_left, 0, 0);
		nap_ns(300 * MS);
		tap_ok(actor_do(&off, act_left, 0, 0) < left && mapped(0) == 2, "stopped: %s: they run", names[what]);
		events_stop(e);
		end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
		if (!tap_ok(events_count(e, "kfd_preempt_begin", NULL, 0) == 1 && end &&
			    event_field(end, "reason") == (what ? REASON_BUDGET : REASON_IDLE),
			    "stopped: %s: they were off once, until %s", names[what],
			    what ? "busy_budget_ms (50) was over" : "its work was done"))
			events_print(e);
		events_free(e);
		kill(on.pid, SIGCONT);
		if (what)
			actor_do(&on, act_unstick, 0, 0);
		tap_ok(completes(&on), "stopped: %s: all of it is complete, once", names[what]);
	}
	tap_ok(completes(&off), "stopped: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

static void sdma(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 20);
	const struct event *end;
	struct events *e;
	long ns;

	/* slower than this CPU copies, so that the engine's thread runs meanwhile */
	param_set("sdma_gbs", 1);
	if (actor_do(&on, act_sdma_copy, 16 << 20, 0) < 0)
		tap_bail("the copy failed");
	nap_ns(param("linger_us") * US + 10 * MS);
	e = events_start("kfd");
	ns = actor_do(&on, act_sdma_copy, 16 << 20, 0);
	nap_ns(param("linger_us") * US + 10 * MS);
	events_stop(e);
	/*
	 * The runlist alone makes the GPU read the write index. On one CPU, which the model's copy
	 * keeps busy, the store that has faulted may be repeated when all is over, and fault again.
	 */
	tap_ok(ns > 0 && events_count(e, "kfd_doorbell_wake", "pid", on.pid) >= 1 &&
	       events_count(e, "kfd_preempt_begin", "pid", on.pid) >= 1 && paired(e),
	       "sdma: a copy of the online process preempts");
	end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
	tap_ok(end && event_field(end, "dur_ns") > ns * 3 / 4,
	       "sdma: for as long as it lasts (%ld us, %lld us)", ns / 1000,
	       end ? event_field(end, "dur_ns") / 1000 : -1);
	events_free(e);
	tap_ok(completes(&off), "sdma: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* Its indices are of 32 bits, in dwords, and the read index wraps */
static void pm4(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 20);
	const struct event *end;
	struct events *e;
	long r;

	nap_ns(param("linger_us") * US + 10 * MS);
	e = events_start("kfd");
	r = actor_do(&on, act_pm4, 20, 0);
	nap_ns(param("linger_us") * US + 10 * MS);
	events_stop(e);
	end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
	tap_ok(!r && end && event_field(end, "dur_ns") > (long long)(15 * MS) && paired(e),
	       "pm4: 20 ms of dispatches in a queue of PM4 packets preempt (%lld us)",
	       end ? event_field(end, "dur_ns") / 1000 : -1);
	tap_ok(end && event_field(end, "reason") == REASON_IDLE, "pm4: until they are done");
	events_free(e);
	tap_ok(wait_mapped(0, 3) && completes(&off), "pm4: then the other runs, and all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/*
 * A runlist that is none of the level's saves and restores the waves of a claim, a millisecond after its kernel was
 * launched. The restore takes a hundred times as long as the save, and until it ends a count of waves finds none.
 */
static void slow_restore(void)
{
	struct actor on = online_start(0, 12), off;
	const struct event *end;
	struct events *e;
	long long ns;

	param_set("save_us", 20);
	param_set("restore_us", 4000);
	e = events_start("kfd");
	off = offline_start(0, 100 * MS, 20);
	nap_ns(20 * MS);
	if (actor_do(&on, act_submit, 20 * MS, 1))
		tap_bail("the online work was refused");
	nap_ns(MS);
	/* KFD maps the new queue by a runlist; MES leaves the other queue alone */
	if (actor_do(&on, act_create, 1, 7))
		tap_bail("no second queue");
	nap_ns(60 * MS);
	events_stop(e);
	end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
	ns = end ? event_field(end, "dur_ns") : -1;
	if (!tap_ok(events_count(e, "kfd_preempt_begin", NULL, 0) == 1 && ns > (long long)(20 * MS),
		    "slow_restore: one preemption, until the end of the kernel (%lld us)", ns / 1000))
		events_print(e);
	events_free(e);
	param_set("save_us", 20);
	param_set("restore_us", 20);
	actor_kill(&on);
	actor_kill(&off);
}

enum { GONE_PROTECT, GONE_DONTNEED, GONE_UNMAP, GONE_BACK };

/* The page of the indices, as the CPU sees it */
static long act_index_page(long what, long unused)
{
	struct kfdc_bo *bo = &me.q[0]->ptr_bo;

	(void)unused;
	switch (what) {
	case GONE_PROTECT:
		return mprotect(bo->va, bo->size, PROT_NONE) ? -errno : 0;
	case GONE_DONTNEED:
		return madvise(bo->va, bo->size, MADV_DONTNEED) ? -errno : 0;
	case GONE_UNMAP:
		return mmap(bo->va, bo->size, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? -errno : 0;
	case GONE_BACK:
		return mprotect(bo->va, bo->size, PROT_READ | PROT_WRITE) ? -errno : 0;
	}
	return -EINVAL;
}

/* One dispatch, and the page goes right behind its ring */
static long act_submit_and_lose(long ns, long what)
{
	long r = act_submit(ns, 1);

	return r ? r : act_index_page(what, 0);
}

static void index_page(void)
{
	static const char * const names[] = { "protected", "not present", "unmapped" };
	struct actor off, on;
	long what, left;
	uint64_t at;

	for (what = GONE_PROTECT; what <= GONE_UNMAP; what++) {
		on = online_start(0, 12);
		off = offline_start(0, 20 * MS, 50);
		at = kfdc_now();
		if (actor_do(&on, act_submit_and_lose, 5 * MS, what))
			tap_bail("the page of the indices cannot be changed");
		/* the read index is the GPU's: 2 queues again only if the engine gives up or sees it */
		tap_ok(actor_do(&on, act_wait, 1000, 0) == 0, "index_page: %s: the work completes",
		       names[what]);
		tap_ok(wait_mapped(0, 2) && in_time(kfdc_now() - at, 400 * MS),
		       "index_page: %s: the other returns within busy_budget_ms (%llu us)", names[what],
		       (unsigned long long)(kfdc_now() - at) / 1000);
		left = actor_do(&off, act_left, 0, 0);
		nap_ns(100 * MS);
		tap_ok(actor_do(&off, act_left, 0, 0) < left, "index_page: %s: and runs", names[what]);
		if (what != GONE_UNMAP) {
			actor_do(&on, act_index_page, GONE_BACK, 0);
			tap_ok(actor_do(&on, act_request, MS, 0) > 0, "index_page: %s: works when it is back",
			       names[what]);
		}
		tap_ok(completes(&off), "index_page: %s: all is complete, once", names[what]);
		actor_kill(&on);
		actor_kill(&off);
	}
}

const struct test tests_claim[] = {
	{ "last_kernel", last_kernel }, { "bursts", bursts }, { "behind", behind, .deep = true }, { "false_work", false_work, .deep = true },
	{ "barrier", barrier, .deep = true }, { "stopped", stopped, .deep = true }, { "sdma", sdma },
	{ "pm4", pm4 }, { "slow_restore", slow_restore, .waves = true }, { "index_page", index_page }, {}
};
