// SPDX-License-Identifier: GPL-2.0
/* What preemption is: who leaves the GPU, for how long, at what cost in commands */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "preempt.h"

#define MANY	100

/* Lines of /proc/timer_list that are the engine's */
static int timers(void)
{
	FILE *f = fopen("/proc/timer_list", "re");
	char line[256];
	int n = 0;

	if (!f)
		tap_bail("/proc/timer_list: %s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "kfd_prio") != NULL;
	fclose(f);
	return n;
}

static bool nothing(const char *when)
{
	bool thread = engine_thread();
	int n = timers();

	if (thread || n)
		tap_diag("%s: %s thread, %d timers", when, thread ? "a" : "no", n);
	return !thread && !n;
}

#define TRACING	"/sys/kernel/tracing/"

static void tracing(const char *file, const char *text)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		tap_bail("%s: %s: %s", path, text, strerror(errno));
	close(fd);
}

/* Mutexes that our hook takes when a process ends that has used the GPU; -1 if it was not called */
static int locks_at_exit(void)
{
	/* from the first call of the hook to its end, what its task locks */
	static const char count[] = "awk '/ in: / && !task { task = $1 } / lock: / && task == $1 && !done { n++ } "
		"/ out: / && task == $1 { done = 1 } END { print done ? n + 0 : -1 }' " TRACING "trace";
	struct actor a;
	FILE *f;
	int n;

	tracing("kprobe_events", "p:kfdtest/in kfd_prio_hook_process_exit\n");
	tracing("kprobe_events", "r:kfdtest/out kfd_prio_hook_process_exit\n");
	tracing("kprobe_events", "p:kfdtest/lock mutex_lock\n");
	a = actor_start(0, 1, 7);
	if (actor_do(&a, act_request, MS, 0) < 0)
		tap_bail("a request failed");
	tracing("events/kfdtest/enable", "1");
	actor_kill(&a);
	nap_ns(50 * MS);
	tracing("events/kfdtest/enable", "0");
	f = popen(count, "r");
	if (!f || fscanf(f, "%d", &n) != 1)
		tap_bail("awk does not count what was traced");
	pclose(f);
	tracing("kprobe_events", "-:kfdtest/in\n");
	tracing("kprobe_events", "-:kfdtest/out\n");
	tracing("kprobe_events", "-:kfdtest/lock\n");
	f = fopen(TRACING "trace", "we");	/* empties it */
	if (f)
		fclose(f);
	return n;
}

static void unused(void)
{
	struct actor a, b;
	struct events *e;
	int err;

	/* as just loaded */
	err = sim_unload();
	err = err ? err : sim_load("");
	if (err)
		tap_bail("the module cannot be loaded anew: %s", strerror(err));
	e = events_start("kfd");
	a = offline_start(0, MS, 20);
	tap_ok(nothing("without a priority"), "unused: no thread and no timer");
	tap_eq(locks_at_exit(), 0, "unused: the end of a process takes no lock of ours");
	tap_eq(actor_do(&a, act_faults, 1000, 0), 0, "unused: a ring does not fault");
	prioritise(&a, param("preempt_min_prio") - 1);
	tap_eq(actor_do(&a, act_request, MS, 0) < 0, 0, "unused: a request at 10");
	tap_ok(nothing("with a priority of 10"),
	       "unused: nor with a priority below preempt_min_prio");
	nap_ns(20 * MS);
	tap_eq(actor_do(&a, act_faults, 1000, 0), 0, "unused: nor does a ring fault then");
	b = online_start(0, 11);
	tap_ok(engine_thread(), "unused: with one of 11 there is a thread");
	tap_ok(locks_at_exit() > 0, "unused: and the end of a process takes the lock");
	tap_eq(actor_do(&a, act_faults, 1000, 0), 0, "unused: only rings of who may preempt fault");
	tap_ok(actor_do(&b, act_faults, 1, 0) >= 0 && completes(&a) && completes(&b),
	       "unused: all complete");
	actor_kill(&b);
	actor_kill(&a);
	events_stop(e);
	tap_eq(events_count(e, "kfd_doorbell_wake", "pid", a.pid), 0, "unused: no ring of them woke");
	events_free(e);
}

/* An online request while offline work fills the GPU */
static void simple(void)
{
	struct actor on = online_start(0, 12), off;
	const struct event *begin, *end, *wake;
	long long launched = sim_counter(0, "dispatches");
	struct events *e;
	long ns, left;

	/* in this order: the start of events may take longer than all of its work */
	e = events_start("kfd");
	off = offline_start(0, 100 * MS, 5);
	tap_ok(wait_mapped(0, 2), "simple: both are mapped");
	actor_tell(&on, act_request, 20 * MS, 0);
	tap_ok(wait_mapped(0, 1), "simple: only the online queue is, while it has work");
	left = actor_do(&off, act_left, 0, 0);
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	tap_ok(actor_do(&off, act_left, 0, 0) >= left, "simple: nothing of the other completes meanwhile");
	/* 104 CUs: all state of the waves takes 40 us at 1.6 TB/s; a poll of the firmware is 100 us */
	tap_ok(ns > (long)(20 * MS) && ns < (long)(20 * MS + 500 * US),
	       "simple: 20 ms of work take 20 ms (%ld us)", ns / 1000);
	tap_ok(wait_mapped(0, 2), "simple: then the other is mapped again");
	tap_ok(completes(&off) && completes(&on), "simple: all of it completes, once");
	tap_eq(sim_counter(0, "dispatches") - launched, 1 + 5, "simple: nothing is launched twice");
	events_stop(e);
	tap_ok(paired(e) && events_count(e, "kfd_preempt_begin", NULL, 0) == 1,
	       "simple: one preemption, which begins and ends");
	begin = events_find(e, NULL, "kfd_preempt_begin", "pid", on.pid);
	end = events_find(e, begin, "kfd_preempt_end", "pid", on.pid);
	wake = events_find(e, NULL, "kfd_doorbell_wake", "pid", on.pid);
	if (!begin || !end || !wake) {
		tap_ok(false, "simple: the events are there");
		events_print(e);
	} else {
		tap_ok(event_field(begin, "prio") == 12 && event_field(begin, "reason") == REASON_WORK &&
		       event_field(begin, "victims") == 1 && event_field(begin, "queues") == 1 &&
		       event_field(begin, "gpu_id") == gpu_id(0), "simple: fields of kfd_preempt_begin");
		tap_ok(event_field(end, "prio") == 12 && event_field(end, "reason") == REASON_IDLE &&
		       event_field(end, "seq") == event_field(begin, "seq") &&
		       event_field(end, "dur_ns") >= (long long)(20 * MS) && !event_field(end, "ret"),
		       "simple: fields of kfd_preempt_end");
		tap_ok(event_field(wake, "prio") == 12 && !event_field(wake, "source") &&
		       event_field(wake, "handled") == !has_mes(0) && wake->ns <= begin->ns,
		       "simple: it was its ring that began it, %s",
		       has_mes(0) ? "in the thread" : "in the fault handler");
	}
	tap_ok(stat_of(&off, "preempted_count") == 1 && stat_of(&on, "preempting_count") == 1 &&
	       stat_of(&off, "preempted_us") >= 20000 && stat_of(&on, "preempted_us") == 0,
	       "simple: statistics of both in sysfs");
	events_free(e);
	actor_kill(&on);
	actor_kill(&off);
}

/* However many leave, one unmap and one runlist; back likewise */
static void one_update(void)
{
	static const int counts[] = { 1, 10, MANY };
	struct actor off[MANY], on = online_start(0, 12);
	struct commands before, held, after;
	int n = 0, tries = 100;
	unsigned int i;
	long ns;

	for (i = 0; i < 3; i++) {
		/* each has a kernel of an hour: a process without work is not preempted */
		for (; n < counts[i]; n++)
			off[n] = offline_start(0, 3600 * SEC, 1);
		wait_mapped(0, n + 1);
		nap_ns(5 * MS);
		before = commands(0);
		actor_tell(&on, act_request, 200 * MS, 0);
		tap_ok(wait_mapped(0, 1), "one_update: %d victims leave", n);
		/* saved, and not yet in a new runlist: neither are the others then */
		for (held = commands(0); !has_mes(0) && held.maps == before.maps && tries--; held = commands(0))
			nap_ns(MS / 10);
		if (!actor_hear(&on, &ns, 60000))
			tap_bail("no answer from the online process");
		tap_ok(wait_mapped(0, n + 1), "one_update: %d victims return", n);
		after = commands(0);
		if (has_mes(0)) {
			if (!tap_ok(held.unmaps - before.unmaps == n && held.maps == before.maps &&
				    after.unmaps == held.unmaps && after.maps - held.maps == n,
				    "one_update: MES removes and adds %d queues, once each", n))
				tap_diag("removed %lld, then %lld; added %lld, then %lld", held.unmaps - before.unmaps,
					 after.unmaps - held.unmaps, held.maps - before.maps, after.maps - held.maps);
			continue;
		}
		tap_eq(held.unmaps - before.unmaps, 1, "one_update: one unmap for %d victims", n);
		tap_eq(held.maps - before.maps, 1, "one_update: one runlist for %d victims", n);
		tap_eq(after.unmaps - held.unmaps, 1, "one_update: one unmap to bring %d back", n);
		tap_eq(after.maps - held.maps, 1, "one_update: one runlist to bring %d back", n);
	}
	actor_kill(&on);
	while (n--)
		actor_kill(&off[n]);
}

/* 15 over 12 over those that have none */
static void levels(void)
{
	struct actor mid = online_start(0, 12), top = online_start(0, 15), off;
	/* first: the start of events may take longer than all offline work */
	struct events *e = events_start("kfd");
	/* the first request of each was a preemption, too */
	long long mid_off = stat_of(&mid, "preempted_count"),
		mid_took = stat_of(&mid, "preempting_count"),
		top_took = stat_of(&top, "preempting_count");
	long left, mid_ns, top_ns;

	off = offline_start(0, 200 * MS, 2);
	actor_tell(&mid, act_request, 60 * MS, 0);
	tap_ok(wait_mapped(0, 2), "levels: 12 keeps one off");
	nap_ns(5 * MS);
	left = actor_do(&off, act_left, 0, 0);
	actor_tell(&top, act_request, 20 * MS, 0);
	tap_ok(wait_mapped(0, 1), "levels: 15 keeps that and 12 off");
	if (!actor_hear(&top, &top_ns, 20000))
		tap_bail("no answer from 15");
	tap_ok(top_ns < (long)(20 * MS + 500 * US), "levels: 15 does not wait (%ld us)", top_ns / 1000);
	tap_ok(wait_mapped(0, 2), "levels: then it is 12 again");
	if (!actor_hear(&mid, &mid_ns, 20000))
		tap_bail("no answer from 12");
	tap_ok(mid_ns > (long)(80 * MS) && mid_ns < (long)(82 * MS), "levels: 12 waits for 15 alone (%ld us)",
	       mid_ns / 1000);
	tap_ok(actor_do(&off, act_left, 0, 0) == left, "levels: the third had nothing meanwhile");
	tap_ok(wait_mapped(0, 3), "levels: then all are mapped");
	tap_ok(completes(&off), "levels: all of it completes, once");
	events_stop(e);
	tap_ok(paired(e), "levels: each preemption that begins ends");
	mid_off = stat_of(&mid, "preempted_count") - mid_off;
	mid_took = stat_of(&mid, "preempting_count") - mid_took;
	top_took = stat_of(&top, "preempting_count") - top_took;
	if (!tap_ok(mid_off == 1 && mid_took >= 1 && top_took == 1 && stat_of(&off, "preempted_count") == 1,
	       "levels: 12 was preempted %lld times, and preempted %lld times; 15 %lld times; the third was, %lld times",
	       mid_off, mid_took, top_took, stat_of(&off, "preempted_count")))
		events_print(e);
	events_free(e);
	actor_kill(&top);
	actor_kill(&mid);
	actor_kill(&off);
}

/* Equals do not preempt each other */
static void equals(void)
{
	struct actor a = online_start(0, 12), b = online_start(0, 12);
	struct commands before, after;
	long ns;

	nap_ns(5 * MS);
	before = commands(0);
	actor_tell(&a, act_request, 20 * MS, 0);
	actor_tell(&b, act_request, 20 * MS, 0);
	tap_ok(actor_hear(&a, &ns, 20000) && actor_hear(&b, &ns, 20000), "equals: both have their answer");
	nap_ns(5 * MS);
	after = commands(0);
	tap_ok(after.unmaps == before.unmaps && after.maps == before.maps,
	       "equals: no command was sent for it");
	actor_kill(&a);
	actor_kill(&b);
}

/* A process that has had requests and is idle becomes one that may preempt: no process is preempted before it rings */
static void given(void)
{
	struct actor idle = actor_start(0, 1, 7), off;
	struct events *e;
	int begun;

	request(&idle, MS);
	/* until the recording has begun it must have some left */
	off = offline_start(0, 50 * MS, 60);
	if (!wait_mapped(0, 2))
		tap_bail("the queues are not mapped");
	e = events_start("kfd");
	prioritise(&idle, 12);
	nap_ns(20 * MS);
	tap_eq(stat_of(&off, "preempted_count"), 0, "given: a priority is set for an idle process: nobody is preempted");
	param_set("kfd_preempt", 0);
	param_set("kfd_preempt", 1);
	nap_ns(20 * MS);
	tap_eq(stat_of(&off, "preempted_count"), 0, "given: nor when preemption is switched on");
	request(&idle, MS);
	nap_ns(20 * MS);
	events_stop(e);
	begun = events_count(e, "kfd_preempt_begin", NULL, 0);
	/* a debug kernel may take longer than linger_us until the store is repeated, which faults again then */
	if (!tap_ok(begun == 1 || (begun > 1 && sim_debug_kernel()), "given: its next request preempts, once (%d times)", begun))
		events_print(e);
	events_free(e);
	tap_ok(completes(&idle) && completes(&off), "given: all is complete, once");
	actor_kill(&idle);
	actor_kill(&off);
}

const struct test tests_basic[] = {
	{ "unused", unused }, { "simple", simple }, { "one_update", one_update },
	{ "levels", levels }, { "equals", equals }, { "given", given }, {}
};
