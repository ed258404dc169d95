// SPDX-License-Identifier: GPL-2.0
/* The circuit breaker: what has hurt a GPU once is not done to it again */
#include <errno.h>
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

bool preempts(unsigned int gpu)
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

bool open_there(unsigned int gpu)
{
	return debugfs_shows(gpu, "breaker: open");
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
	const struct event *ev, *begin;

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
	tap_ok(paired(e), "breaker_hang: each preemption that begins ends");
	tap_eq(events_count(e, "kfd_preempt_breaker", NULL, 0), 2, "breaker_hang: two events");
	ev = events_find(e, NULL, "kfd_preempt_breaker", "cause", BREAKER_UNMAP);
	/* The fault of the doorbell has left the unmap, which revokes the marks */
	tap_ok(ev && event_field(ev, "gpu_id") == gpu_id(0) && event_field(ev, "victims") == 0 &&
	       event_field(ev, "prio") == 12, "breaker_hang: UNMAP, the preemption it hit is in the event, nobody is off (victims %lld, priority %lld)",
	       ev ? event_field(ev, "victims") : -1, ev ? event_field(ev, "prio") : -1);
	begin = ev ? events_find(e, NULL, "kfd_preempt_begin", "seq", event_field(ev, "seq")) : NULL;
	tap_ok(begin && event_field(begin, "victims") == 1 && event_field(begin, "pid") == event_field(ev, "pid"),
	       "breaker_hang: its seq leads to the event of the preemption, which has taken one process off");
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
	tap_ok(paired(e), "breaker_reset: each preemption that begins ends");
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

const struct test tests_breaker[] = {
	{ "breaker_hang", breaker_hang }, { "breaker_queue", breaker_queue }, { "breaker_reset", breaker_reset },
	{ "breaker_again", breaker_again }, { "breaker_two", breaker_two, 2 }, {}
};
