// SPDX-License-Identifier: GPL-2.0
/* The fault of a doorbell waits for a few milliseconds, the GPU's thread for the rest */
#include <errno.h>
#include <sched.h>
#include "preempt.h"

/* A ring that preempts, and for how long its process did not run; 20 s at most */
static uint64_t ring(const struct actor *on, long ns)
{
	uint64_t begin = kfdc_now();
	long r;

	actor_tell(on, act_submit, ns, 1);
	if (!actor_hear(on, &r, 20000) || r)
		tap_bail("the process that rang does not return");
	return kfdc_now() - begin;
}

/* A ring, and at once, before the GPU's thread runs, the end of the other queue. Return: how long both took */
static long act_ring_destroy(long ns, long unused)
{
	struct sched_param param = { .sched_priority = 2 };	/* above the thread, below the simulated firmware */
	uint64_t begin = kfdc_now();
	long r;

	(void)unused;
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		return -errno;
	r = act_submit(ns, 1);
	if (!r)
		r = act_destroy_last(0, 0);
	param.sched_priority = 0;
	sched_setscheduler(0, SCHED_OTHER, &param);
	return r ? -EPROTO : (long)(kfdc_now() - begin);
}

/* Two rings of one process: the second finds the thread at it */
static void fault_hang(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 50 * MS, 5), other = online_start(0, 12);
	long long resets = sim_counter(0, "resets");
	uint64_t begin, ns, ns2;

	if (has_mes(0)) {
		tap_skip("fault_hang", "MES: the fault waits for nothing");
		actor_kill(&on);
		actor_kill(&off);
		actor_kill(&other);
		return;
	}
	wait_mapped(0, 3);
	param_set("queue_preemption_timeout_ms", 2000);
	sim_write(0, "hang", "1");
	begin = kfdc_now();
	ns = ring(&on, 5 * MS);
	ns2 = ring(&other, 5 * MS);
	tap_ok(in_time(ns, 20 * MS), "fault_hang: the scheduler hangs, a ring returns after %llu us",
	       (unsigned long long)ns / 1000);
	tap_ok(in_time(ns2, 20 * MS), "fault_hang: and that of another process after %llu us",
	       (unsigned long long)ns2 / 1000);
	tap_eq(sim_counter(0, "resets"), resets, "fault_hang: before the GPU is reset");
	tap_ok(wait_resets(0, resets + 1), "fault_hang: it is reset");
	ns = kfdc_now() - begin;
	tap_ok(ns > 1900 * MS && in_time(ns, 3000 * MS),
	       "fault_hang: after one queue_preemption_timeout_ms, not two: %llu ms", (unsigned long long)ns / 1000000);
	param_set("queue_preemption_timeout_ms", 9000);
	nap_ns(100 * MS);
	tap_ok(open_there(0) && sim_counter(0, "resets") == resets + 1, "fault_hang: once; the breaker is open");
	actor_kill(&on);
	actor_kill(&off);
	actor_kill(&other);
	param_set("kfd_preempt", 1);
	tap_ok(preempts(0), "fault_hang: new processes preempt");
}

/* An unmap that takes long, and what KFD does meanwhile: nothing of it may come before its end */
static void fault_slow(void)
{
	struct actor on = online_start(0, 12), off = actor_start(0, 2, 7);
	long long resets = sim_counter(0, "resets"), took, us;
	const struct event *wake, *done;
	struct events *e;
	uint64_t ns;
	int i;

	if (has_mes(0)) {
		tap_skip("fault_slow", "MES: the fault waits for nothing");
		actor_kill(&on);
		actor_kill(&off);
		return;
	}
	/* to the end of the test: only what runs takes time to save */
	if (actor_do(&off, act_submit, 400 * MS, 100))
		tap_bail("the offline work was refused");
	for (i = 0; i < 4; i++) {
		wait_mapped(0, 3 - (i == 3));
		nap_ns(20 * MS);
		took = stat_of(&on, "preempting_count");
		param_set("save_us", 50000);
		e = events_start("kfd");
		/* many short ones: equal indices end a claim where waves are not counted */
		ns = ring(&on, 5 * MS);
		if (actor_do(&on, act_submit, 5 * MS, 10))
			tap_bail("the online work was refused");
		tap_ok(in_time(ns, 20 * MS), "fault_slow: %d: an unmap of 50 ms, the ring returns after %llu us", i,
		       (unsigned long long)ns / 1000);
		/* first nobody, then an update, a queue that goes, a process that ends */
		if (i == 1)
			actor_do(&off, act_update, 0, 50);
		else if (i == 2)
			actor_do(&off, act_destroy_last, 0, 0);
		else if (i == 3)
			actor_kill(&off);
		tap_ok(wait_mapped(0, 1), "fault_slow: %d: the other leaves", i);
		param_set("save_us", 20);
		tap_ok(completes(&on), "fault_slow: %d: the online work is complete, once", i);
		events_stop(e);
		wake = events_find(e, NULL, "kfd_doorbell_wake", "pid", on.pid);
		done = wake ? events_find(e, wake, "kfd_unmap_queues_done", NULL, 0) : NULL;
		us = done && !event_field(done, "ret") ? event_field(done, "dur_ns") / 1000 : -1;
		if (!tap_ok(us > 45000, "fault_slow: %d: the unmap is done when the hardware has done it: %lld us", i, us))
			events_print(e);
		tap_ok(paired(e), "fault_slow: %d: each preemption that begins ends", i);
		events_free(e);
		tap_ok(stat_of(&on, "preempting_count") > took, "fault_slow: %d: a preemption is counted", i);
		if (i == 1)
			actor_do(&off, act_update, 0, 100);
	}
	tap_ok(sim_counter(0, "resets") == resets && !open_there(0), "fault_slow: no reset, the breaker is closed");
	actor_kill(&on);
}

/* The first unmap after the preemption of a process has ended. @sender: out: PID of its sender. Return: its end, or NULL */
static const struct event *unmap_after(const struct events *e, pid_t pid, pid_t *sender)
{
	const struct event *ev = events_find(e, NULL, "kfd_preempt_end", "pid", pid);

	ev = ev ? events_find(e, ev, "kfd_unmap_queues", NULL, 0) : NULL;
	*sender = ev ? event_field(ev, "common_pid") : 0;
	return ev ? events_find(e, ev, "kfd_unmap_queues_done", "seq", event_field(ev, "seq")) : NULL;
}

/*
 * A process that is off without work rings while no level is in force: the GPU's thread puts it back.  Its own fault holds
 * the lock of the GPU for no time, and waits for no unmap
 */
static void fault_neighbour(void)
{
	struct actor on = online_start(0, 12), other = actor_start(0, 2, 7), busy;
	long long resets = sim_counter(0, "resets"), us;
	pid_t pid = other.pid, sender;
	const struct event *done;
	struct events *e;
	uint64_t ns;
	int i;

	if (has_mes(0)) {
		tap_skip("fault_neighbour", "MES: the fault waits for nothing");
		actor_kill(&on);
		actor_kill(&other);
		return;
	}
	param_set("floor_pct", 0);
	busy = offline_start(0, 500 * MS, 100);
	for (i = 0; i < 4; i++) {
		e = events_start("kfd");	/* takes a second or two */
		actor_do(&on, act_request, 20 * MS, 0);
		nap_ns(param("safety_poll_us") * US * 3);
		tap_eq(mapped(0), 2, "fault_neighbour: %d: an idle neighbour is off, a busy one has returned", i);
		param_set("save_us", i ? 50000 : 20);
		/* first nothing else, then its second queue goes, then the process ends */
		if (i == 2) {
			/* the queue is off the hardware, so KFD need not unmap it */
			ns = actor_do(&other, act_ring_destroy, 5 * MS, 0);
			tap_ok(in_time(ns, 20 * MS),
			       "fault_neighbour: %d: a queue that ends before the thread runs ends after %llu us", i,
			       (unsigned long long)ns / 1000);
		} else {
			ns = ring(&other, 5 * MS);
			tap_ok(in_time(ns, 20 * MS), "fault_neighbour: %d: an unmap of %d us, its ring returns after %llu us", i,
			       i ? 50000 : 20, (unsigned long long)ns / 1000);
		}
		if (i == 3)
			actor_kill(&other);
		else
			tap_ok(completes(&other), "fault_neighbour: %d: its work is complete, once", i);
		param_set("save_us", 20);
		events_stop(e);
		done = unmap_after(e, on.pid, &sender);
		us = done && !event_field(done, "ret") ? event_field(done, "dur_ns") / 1000 : -1;
		if (!tap_ok(us > (i ? 45000 : 0), "fault_neighbour: %d: the unmap is done when the hardware has done it: %lld us",
			    i, us))
			events_print(e);
		tap_ok(sender && sender != pid, "fault_neighbour: %d: its ring sends no unmap", i);
		tap_ok(paired(e), "fault_neighbour: %d: each preemption that begins ends", i);
		events_free(e);
	}
	tap_ok(sim_counter(0, "resets") == resets && !open_there(0), "fault_neighbour: no reset, the breaker is closed");
	actor_kill(&busy);
	actor_kill(&on);
}

const struct test tests_fault[] = {
	{ "fault_hang", fault_hang }, { "fault_slow", fault_slow }, { "fault_neighbour", fault_neighbour, .waves = true }, {}
};
