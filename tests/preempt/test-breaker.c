// SPDX-License-Identifier: GPL-2.0
/* The circuit breaker: what has hurt a GPU once is not done to it again */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include "preempt.h"

#define LOG_LINE	"kfdprio: preemption is off on GPU"

/* enum kfd_prio_breaker of the driver, cause of kfd_preempt_breaker */
enum { BREAKER_CLOSED, BREAKER_UNMAP, BREAKER_HANG, BREAKER_RESET };

/* Does the scheduler hang at the next preemption of @off by @on, and is the GPU reset? */
static bool hang(unsigned int gpu, const struct actor *on)
{
	long long resets = sim_counter(gpu, "resets");
	bool reset;
	long r;

	param_set("queue_preemption_timeout_ms", 200);
	sim_write(gpu, "hang", "1");
	actor_tell(on, act_submit, 5 * MS, 1);
	reset = wait_resets(gpu, resets + 1);
	if (!actor_hear(on, &r, 20000))
		tap_bail("the process that rang does not return");
	param_set("queue_preemption_timeout_ms", 9000);
	return reset;
}

/* Work of a high process beside that of a lower one, both new: is the lower one off meanwhile? */
static bool preempts(unsigned int gpu)
{
	int others = mapped(gpu);
	struct actor on = online_start(gpu, 12), off = offline_start(gpu, 20 * MS, 3);
	struct commands before, after;
	long long took = stat_of(&on, "preempting_count");
	bool off_then;

	if (!wait_mapped(gpu, others + 2))
		tap_bail("the queues are not mapped");
	before = commands(gpu);
	/* four: also where nobody counts waves there is work until the last is launched */
	if (actor_do(&on, act_submit, longer(5 * MS), 4))
		tap_bail("the online work was refused");
	nap_ns(3 * MS);
	off_then = mapped(gpu) == 1;
	if (actor_do(&on, act_wait, 20000, 0) || !completes(&off) || !wait_mapped(gpu, others + 2))
		tap_bail("the work is not complete");
	after = commands(gpu);
	tap_eq(stat_of(&on, "preempting_count") - took, off_then, "a preemption of GPU %u: %s", gpu,
	       off_then ? "counted" : "none is counted");
	if (!off_then)
		tap_ok(before.unmaps == after.unmaps && before.maps == after.maps,
		       "no preemption of GPU %u: no command for its scheduler", gpu);
	actor_kill(&on);
	actor_kill(&off);
	return off_then;
}

/* Is the breaker of a GPU open, as debugfs tells it? */
static bool open_there(unsigned int gpu)
{
	FILE *f = fopen("/sys/kernel/debug/kfd/preempt", "re");
	bool here = false, is_open = false;
	unsigned int id;
	char line[512];

	if (!f)
		tap_bail("debugfs: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "GPU %u", &id) == 1)
			here = id == gpu_id(gpu);
		is_open |= here && strstr(line, "breaker: open");
	}
	fclose(f);
	return is_open;
}

/* And as KFD_PRIO_IOC_LIST tells it, which needs a process there */
static bool listed_open(const struct actor *a)
{
	struct kfd_prio_list_entry e[2];
	unsigned int n = kfd_list(a->pid, e, 2), i;

	for (i = 0; i < n && i < 2; i++)
		if (e[i].gpu_id == gpu_id(a->gpu))
			return e[i].flags & KFD_PRIO_LIST_PREEMPT_OFF;
	tap_bail("process %d is not listed", a->pid);
}

static long act_ring_faults(long unused, long unused2)
{
	struct rusage before, after;

	(void)unused;
	(void)unused2;
	getrusage(RUSAGE_SELF, &before);
	kfdc_ring(me.q[0]);
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt;
}

/* Are the doorbells of a process of priority 7 without work trapped, beside one of 12? */
static bool traps(void)
{
	struct actor on = online_start(0, 12), idle = actor_start(0, 1, 7);
	long faults;

	actor_do(&idle, act_ring_faults, 0, 0);
	nap_ns(param("safety_poll_us") * US * 5);
	faults = actor_do(&idle, act_ring_faults, 0, 0);
	actor_kill(&on);
	actor_kill(&idle);
	return faults > 0;
}

/* A hang at a preemption: off until a time is over, or kfd_preempt is written, whatever it was */
static void breaker_hang(void)
{
	struct actor on = online_start(0, 12), off;
	/* first: it takes a second or two, and a process without work is not preempted */
	struct events *e = events_start("kfd");
	int lines = log_lines(LOG_LINE);
	const struct event *ev;

	off = offline_start(0, 50 * MS, 20);
	wait_mapped(0, 2);
	tap_ok(!open_there(0) && !listed_open(&on), "breaker_hang: closed");
	tap_ok(hang(0, &on), "breaker_hang: the scheduler hangs at a preemption, and is reset");
	nap_ns(50 * MS);
	tap_ok(open_there(0), "breaker_hang: open, says debugfs");
	tap_ok(listed_open(&on) && listed_open(&off), "breaker_hang: open, says KFD_PRIO_IOC_LIST");
	tap_eq(log_lines(LOG_LINE) - lines, 1, "breaker_hang: one line in the log");
	tap_eq(stat_of(&off, "preempted_us"), (nap_ns(20 * MS), stat_of(&off, "preempted_us")),
	       "breaker_hang: nobody is preempted, the dead neither");
	actor_kill(&on);
	actor_kill(&off);
	tap_ok(!preempts(0), "breaker_hang: new processes do not preempt");
	tap_ok(!traps(), "breaker_hang: and no doorbell is trapped");
	param_set("linger_us", 300);
	tap_ok(!preempts(0), "breaker_hang: nor when another parameter is written");
	tap_eq(log_lines(LOG_LINE) - lines, 1, "breaker_hang: still one line in the log");
	param_set("kfd_preempt", 1);
	tap_ok(!open_there(0), "breaker_hang: kfd_preempt is written, with the value it has: closed");
	on = online_start(0, 12);
	tap_ok(!listed_open(&on), "breaker_hang: closed, says KFD_PRIO_IOC_LIST");
	actor_kill(&on);
	tap_ok(preempts(0), "breaker_hang: new processes preempt");
	tap_ok(traps(), "breaker_hang: and doorbells are trapped");
	events_stop(e);
	tap_ok(paired(e), "breaker_hang: what begins ends");
	tap_eq(events_count(e, "kfd_preempt_breaker", NULL, 0), 2, "breaker_hang: two events");
	ev = events_find(e, NULL, "kfd_preempt_breaker", "cause", BREAKER_UNMAP);
	tap_ok(ev && event_field(ev, "gpu_id") == gpu_id(0) && event_field(ev, "victims") == 1 &&
	       event_field(ev, "prio") == 12, "breaker_hang: UNMAP, the preemption it hit is in the event");
	ev = ev ? events_find(e, ev, "kfd_preempt_breaker", "cause", BREAKER_CLOSED) : NULL;
	tap_ok(ev && event_field(ev, "victims") == 0, "breaker_hang: then CLOSED");
	events_free(e);
}

/* MES does not remove a queue, and amdkfd resets that queue alone: the work of the others goes on, and so does preemption */
static void breaker_queue(void)
{
	long long resets = sim_counter(0, "resets");
	struct actor on, off;
	struct utsname u;

	if (!has_mes(0) || uname(&u) || strverscmp(u.release, "7.3") < 0) {
		tap_skip("breaker_queue", "amdkfd resets a queue alone with MES, from 7.3 on");
		return;
	}
	on = online_start(0, 12);
	off = offline_start(0, 50 * MS, 20);
	wait_mapped(0, 2);
	sim_fault_set(0, "mes_remove", "1");
	tap_ok(actor_do(&on, act_request, 5 * MS, 0) > 0, "breaker_queue: the online work is complete");
	sim_fault_set(0, "mes_remove", "0");
	tap_ok(sim_counter(0, "resets") == resets, "breaker_queue: the GPU is not reset");
	tap_ok(!open_there(0), "breaker_queue: closed");
	actor_kill(&on);
	actor_kill(&off);
	tap_ok(preempts(0), "breaker_queue: new processes preempt");
}

/* A reset for another reason: it matters if a process is preempted, and only then */
static void breaker_reset(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 50 * MS, 5);
	struct events *e = events_start("kfd");

	wait_mapped(0, 2);
	if (sim_write(0, "reset", "1"))
		tap_bail("reset");
	nap_ns(50 * MS);
	tap_ok(!open_there(0), "breaker_reset: nobody is preempted: closed");
	actor_kill(&on);
	actor_kill(&off);
	tap_ok(preempts(0), "breaker_reset: new processes preempt");

	on = online_start(0, 12);
	off = offline_start(0, 50 * MS, 5);
	wait_mapped(0, 2);
	if (actor_do(&on, act_submit, 500 * MS, 2))
		tap_bail("the online work was refused");
	tap_ok(wait_mapped(0, 1), "breaker_reset: a preemption holds");
	if (sim_write(0, "reset", "1"))
		tap_bail("reset");
	nap_ns(50 * MS);
	tap_ok(open_there(0), "breaker_reset: a process is preempted: open");
	actor_do(&on, act_ring_faults, 0, 0);
	nap_ns(param("safety_poll_us") * US * 5);
	tap_eq(actor_do(&on, act_ring_faults, 0, 0), 0, "breaker_reset: its doorbells are trapped no longer");
	actor_kill(&on);
	actor_kill(&off);
	tap_ok(!preempts(0), "breaker_reset: new processes do not preempt");
	/* off and on again: the whole of it */
	param_set("kfd_preempt", 0);
	tap_ok(!open_there(0), "breaker_reset: kfd_preempt=0: closed");
	tap_ok(!preempts(0), "breaker_reset: and off");
	param_set("kfd_preempt", 1);
	tap_ok(preempts(0), "breaker_reset: kfd_preempt=1: new processes preempt");
	events_stop(e);
	tap_ok(paired(e), "breaker_reset: what begins ends");
	tap_ok(events_count(e, "kfd_preempt_breaker", "cause", BREAKER_RESET) == 1 &&
	       events_count(e, "kfd_preempt_breaker", NULL, 0) == 2, "breaker_reset: RESET, then CLOSED");
	events_free(e);
}

/* Does the GPU of a process that preempts hang, and for how long is preemption off for that?  In s, -1: no event */
static long long off_after_hang(const char *when)
{
	struct actor on = online_start(0, 12), off;
	struct events *e = events_start("kfd");
	const struct event *ev;
	long long ns, culprit;

	off = offline_start(0, 50 * MS, 20);
	wait_mapped(0, 2);
	tap_ok(hang(0, &on), "breaker_again: %s: the scheduler hangs, and is reset", when);
	nap_ns(50 * MS);
	events_stop(e);
	ev = events_find(e, NULL, "kfd_preempt_breaker", "cause", BREAKER_UNMAP);
	ns = ev ? event_field(ev, "off_ns") : -(long long)SEC;
	culprit = ev ? event_field(ev, "culprit") : -1;
	/* MES acts on one queue after the other; HWS that does not answer names none */
	tap_eq(culprit, has_mes(0) ? off.pid : 0, "breaker_again: %s: the process that is named", when);
	events_free(e);
	actor_kill(&on);
	actor_kill(&off);
	return ns / (long long)SEC;
}

/* A breaker closes by itself, after a time that doubles; the administrator makes it forget */
static void breaker_again(void)
{
	int lines = log_lines("kfdprio: preemption is on again on GPU");
	long long first, second;
	struct events *e;

	first = off_after_hang("once");
	tap_eq(first, 60, "breaker_again: off for a minute");
	nap_ns((first - 2) * SEC);
	tap_ok(open_there(0), "breaker_again: open until the time is over");
	e = events_start("kfd");
	nap_ns(10 * SEC);
	events_stop(e);
	tap_ok(!open_there(0), "breaker_again: closed when it is over, on a GPU without a process");
	tap_eq(events_count(e, "kfd_preempt_breaker", "cause", BREAKER_CLOSED), 1, "breaker_again: an event");
	events_free(e);
	tap_eq(log_lines("kfdprio: preemption is on again on GPU") - lines, 1, "breaker_again: and a line in the log");
	tap_ok(preempts(0), "breaker_again: new processes preempt");
	second = off_after_hang("twice");
	tap_eq(second, 120, "breaker_again: off for two minutes");
	nap_ns((second - 10) * SEC);
	tap_ok(open_there(0) && !preempts(0), "breaker_again: no process preempts until they are over");
	nap_ns(15 * SEC);
	tap_ok(!open_there(0), "breaker_again: closed when they are over");
	/* as long without a failure */
	nap_ns(250 * SEC);
	tap_eq(off_after_hang("after as long without"), 120, "breaker_again: off for two minutes, not four");
	param_set("kfd_preempt", 1);
	tap_eq(off_after_hang("after the administrator"), 60, "breaker_again: off for a minute");
	param_set("kfd_preempt", 1);
}

/* Each GPU has its own */
static void breaker_two(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 50 * MS, 5);

	wait_mapped(0, 2);
	tap_ok(hang(0, &on), "breaker_two: the first GPU hangs at a preemption, and is reset");
	actor_kill(&on);
	actor_kill(&off);
	tap_ok(open_there(0) && !open_there(1), "breaker_two: open on the first, not on the second");
	tap_ok(!preempts(0) && preempts(1), "breaker_two: off on the first, not on the second");
	param_set("kfd_preempt", 1);
	tap_ok(preempts(0) && preempts(1), "breaker_two: on again");
}

/* ---- the fault of a doorbell waits for a few milliseconds, the GPU's thread for the rest ---- */

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
		tap_ok(paired(e), "fault_slow: %d: what begins ends", i);
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
		tap_ok(paired(e), "fault_neighbour: %d: what begins ends", i);
		events_free(e);
	}
	tap_ok(sim_counter(0, "resets") == resets && !open_there(0), "fault_neighbour: no reset, the breaker is closed");
	actor_kill(&busy);
	actor_kill(&on);
}

const struct test tests_breaker[] = {
	{ "breaker_hang", breaker_hang }, { "breaker_queue", breaker_queue }, { "breaker_reset", breaker_reset },
	{ "breaker_again", breaker_again }, { "breaker_two", breaker_two, 2 }, { "fault_hang", fault_hang },
	{ "fault_slow", fault_slow }, { "fault_neighbour", fault_neighbour, .waves = true }, {}
};
