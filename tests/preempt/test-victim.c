// SPDX-License-Identifier: GPL-2.0
/* What those do who are preempted must not hurt who preempts */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "preempt.h"
#include "../../tools/lib/mqds.h"

#define VICTIMS	12	/* more than VMIDs, but on the MI300X, which has 13 */

static void vmids(void)
{
	struct actor off[VICTIMS + 2], on;
	int i, n = !strcmp(getenv("KFDPRIO_SIM_GPU"), "mi300x") ? VICTIMS + 2 : VICTIMS;
	const struct event *map;
	struct events *e;
	long ns;

	on = online_start(0, 12);
	for (i = 0; i < n; i++)
		off[i] = offline_start(0, 100 * MS, 5);
	tap_ok(wait_mapped(0, n + 1), "vmids: %d processes", n + 1);
	if (!has_mes(0))
		tap_ok(strstr(sim_read(0, "state"), " over-subscribed") != NULL,
		       "vmids: the GPU is over-subscribed without preemption");
	e = events_start("kfd");
	actor_tell(&on, act_request, 60 * MS, 0);
	tap_ok(wait_mapped(0, 1), "vmids: all but one leave");
	tap_ok(!strstr(sim_read(0, "state"), " over-subscribed") &&
	       strstr(sim_read(0, "state"), "\nprocesses 1 "), "vmids: and take no VMID");
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	/* its own process quantum is 10 ms */
	tap_ok(ns < (long)(61 * MS), "vmids: 60 ms of work take %ld us", ns / 1000);
	tap_ok(wait_mapped(0, n + 1), "vmids: all return");
	events_stop(e);
	map = events_find(e, NULL, "kfd_map_queues", NULL, 0);
	if (!has_mes(0))
		tap_ok(map && !event_field(map, "over_subscribed") && event_field(map, "processes") == 1 &&
		       event_field(map, "queues") == 1, "vmids: kfd_map_queues says so");
	tap_eq(stat_of(&on, "preempted_count"), 0, "vmids: who preempts was never preempted");
	events_free(e);
	for (i = 0; i < n; i++)
		tap_ok(completes(&off[i]), "vmids: process %d completes, once", i);
	actor_kill(&on);
	for (i = 0; i < n; i++)
		actor_kill(&off[i]);
}

/* KFD says that the GPU is over-subscribed when it becomes so, not each time that victims return */
static void flood(void)
{
	static const char line[] = "getting oversubscribed";
	struct actor off[VICTIMS + 2], on;
	int i, n = !strcmp(getenv("KFDPRIO_SIM_GPU"), "mi300x") ? VICTIMS + 2 : VICTIMS, lines;
	long ns;

	if (has_mes(0)) {
		tap_skip("flood", "MES: no runlists");
		return;
	}
	lines = log_lines(line);
	on = online_start(0, 12);
	for (i = 0; i < n; i++)
		off[i] = offline_start(0, 20 * MS, 100);
	wait_mapped(0, n + 1);
	tap_eq(log_lines(line) - lines, 1, "flood: %d processes, a line says that they are too many", n + 1);
	for (i = 0; i < 20; i++) {
		ns = actor_do(&on, act_request, MS, 0);
		if (ns < 0 || !wait_mapped(0, n + 1))
			tap_bail("a request failed");
	}
	tap_ok(stat_of(&off[0], "preempted_count") >= 20, "flood: they leave and return 20 times");
	tap_eq(log_lines(line) - lines, 1, "flood: and no line says so again");
	/* a stock edge while they are away: fewer, and again too many */
	param_set("floor_pct", 0);
	actor_tell(&on, act_request, 2 * SEC, 0);
	wait_mapped(0, 1);
	while (n > 3)
		actor_kill(&off[--n]);
	nap_ns(500 * MS);	/* KFD ends a process in a worker */
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	wait_mapped(0, 4);
	tap_ok(!strstr(sim_read(0, "state"), " over-subscribed"), "flood: some end while they are away");
	for (; n < VICTIMS; n++)
		off[n] = offline_start(0, 20 * MS, 100);
	wait_mapped(0, n + 1);
	if (strcmp(getenv("KFDPRIO_SIM_GPU"), "mi300x"))
		tap_eq(log_lines(line) - lines, 2, "flood: too many again, a second line");
	actor_kill(&on);
	for (i = 0; i < n; i++)
		actor_kill(&off[i]);
}

/* Nothing that a preempted process does reaches the hardware */
static void quiet(void)
{
	struct actor off[2] = { actor_start(0, 3, 7), actor_start(0, 3, 7) }, on = online_start(0, 12);
	struct commands before, after;
	long ns;

	param_set("floor_pct", 0);
	actor_do(&off[0], act_submit, 100 * MS, 1);
	actor_do(&off[1], act_submit, 100 * MS, 1);
	wait_mapped(0, 7);
	actor_tell(&on, act_request, 3 * SEC, 0);
	tap_ok(wait_mapped(0, 1), "quiet: a preemption holds");
	before = commands(0);
	tap_eq(actor_do(&off[0], act_create, 2, 7), 0, "quiet: creates two queues");
	tap_eq(actor_do(&off[0], act_update, 0, 0), 0, "quiet: updates one, off");
	tap_eq(actor_do(&off[0], act_update, 0, 100), 0, "quiet: updates it, on");
	tap_eq(actor_do(&off[0], act_submit_on, 4, MS), 0, "quiet: rings a new one");
	tap_eq(actor_do(&off[0], act_destroy_last, 0, 0), 0, "quiet: destroys that");
	prioritise(&off[0], 5);
	prioritise(&off[0], -1);
	after = commands(0);
	tap_ok(after.unmaps == before.unmaps && after.maps == before.maps,
	       "quiet: no command for it (%lld unmaps, %lld maps)", after.unmaps - before.unmaps,
	       after.maps - before.maps);
	actor_kill(&off[1]);
	nap_ns(300 * MS);	/* KFD ends a process in a worker */
	after = commands(0);
	tap_ok(after.unmaps == before.unmaps && after.maps == before.maps,
	       "quiet: nor when one is killed (%lld unmaps, %lld maps)", after.unmaps - before.unmaps,
	       after.maps - before.maps);
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	tap_ok(ns < (long)(3 * SEC + MS), "quiet: the online work takes no longer (%ld us)", ns / 1000);
	tap_ok(wait_mapped(0, 5), "quiet: the three, less one, and two queues return");
	/* the packet of the destroyed queue is lost */
	nap_ns(200 * MS);
	tap_eq(actor_do(&off[0], act_left, 0, 0), 1, "quiet: the other's work is complete");
	actor_kill(&on);
	actor_kill(&off[0]);
}

/* A process and a queue that are born while others are preempted */
static void newborn(void)
{
	struct actor on = online_start(0, 12), off = offline_start(0, 20 * MS, 20), young;
	struct commands before, after;
	struct events *e;
	long ns;

	param_set("floor_pct", 0);
	actor_tell(&on, act_request, 3 * SEC, 0);
	tap_ok(wait_mapped(0, 1), "newborn: a preemption holds");
	e = events_start("kfd");
	before = commands(0);
	young = actor_start(0, 2, 7);
	actor_do(&young, act_submit, 5 * MS, 3);
	actor_do(&young, act_submit_on, 1, 5 * MS);
	after = commands(0);
	if (!tap_ok(after.unmaps == before.unmaps && after.maps == before.maps && mapped(0) == 1,
	       "newborn: a new process begins preempted (%lld unmaps, %lld maps)",
	       after.unmaps - before.unmaps, after.maps - before.maps))
		tap_diag("%s", sim_read(0, "state"));
	nap_ns(100 * MS);
	tap_eq(actor_do(&young, act_left, 0, 0), 4, "newborn: and does not run");
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	tap_ok(ns < (long)(3 * SEC + MS), "newborn: the online work takes no longer (%ld us)", ns / 1000);
	tap_ok(wait_mapped(0, 4), "newborn: then it comes with the others");
	tap_ok(completes(&young) && completes(&off), "newborn: all is complete, once");
	tap_ok(stat_of(&young, "preempted_us") > 0, "newborn: its time was counted");
	events_stop(e);
	if (events_count(e, "kfd_preempt_end", NULL, 0) != 1)
		events_print(e);
	events_free(e);
	/* and one of higher priority is not held up */
	actor_tell(&on, act_request, 200 * MS, 0);
	wait_mapped(0, 1);
	actor_kill(&young);
	young = actor_bare(0);
	prioritise(&young, 14);
	if (actor_do(&young, act_open, 1, 7))
		tap_bail("the process cannot use the GPU");
	ns = actor_do(&young, act_request, 5 * MS, 0);
	tap_ok(ns > 0 && ns < (long)(7 * MS), "newborn: one of 14 beside 12 runs at once (%ld us)",
	       ns / 1000);
	actor_hear(&on, &ns, 20000);
	actor_kill(&young);
	actor_kill(&on);
	actor_kill(&off);
}

/* MES takes single queues: who preempts stays where he is, and a command sleeps */
static void mes_stays(void)
{
	struct actor off[3], on;
	const struct event *ev = NULL;
	struct events *e;
	long ns;
	int i;

	if (!has_mes(0)) {
		tap_skip("mes_stays", "HWS unmaps all queues of the GPU together");
		return;
	}
	on = online_start(0, 12);
	e = events_start("kfd");
	for (i = 0; i < 3; i++)
		off[i] = offline_start(0, 20 * MS, 10);
	wait_mapped(0, 4);
	for (i = 0; i < 5; i++) {
		ns = actor_do(&on, act_request, 5 * MS, 0);
		tap_ok(ns > 0 && wait_mapped(0, 4), "mes_stays: request %d takes %ld us", i, ns / 1000);
		nap_ns(5 * MS);
	}
	events_stop(e);
	tap_eq(events_count(e, "kfd_unmap_queues", "pid", on.pid), 0,
	       "mes_stays: the online queue was never removed");
	tap_eq(events_count(e, "kfd_preempt_begin", "pid", on.pid), 5, "mes_stays: five preemptions");
	for (i = 0; i < 3; i++)
		tap_eq(events_count(e, "kfd_unmap_queues", "pid", off[i].pid), 5,
		       "mes_stays: process %d was removed five times", i);
	i = 0;
	while ((ev = events_find(e, ev, "kfd_doorbell_wake", "handled", 1)))
		i++;
	tap_eq(i, 0, "mes_stays: never in the fault handler");
	events_free(e);
	for (i = 0; i < 3; i++) {
		tap_ok(completes(&off[i]), "mes_stays: process %d completes, once", i);
		actor_kill(&off[i]);
	}
	actor_kill(&on);
}

/* The times that firmware leaves in MQDs, as 'kfdprio doctor --mqds' reads them from debugfs */
static void mqd_times(void)
{
	static const char *const when[] = { "while it is off", "when it is back" };
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 20);
	unsigned int step, xccs, odd;
	const struct event *end;
	const struct mqd_times *t;
	struct events *e = events_start("kfd");
	long long save_ns = -1, told;
	struct mqds mqds;
	char why[128];
	FILE *f;
	size_t i;
	int ret;

	for (step = 0; step < 2; step++) {
		if (!step)
			actor_tell(&on, act_request, 30 * MS, 0);
		wait_mapped(0, step ? 2 : 1);
		nap_ns(5 * MS);
		f = fopen("/sys/kernel/debug/kfd/mqds", "re");
		ret = f ? mqds_read(f, &mqds, why, sizeof(why)) : -errno;
		if (!tap_ok(!ret, "mqd_times: %s: the dump can be read", when[step]))
			tap_bail("%s", f ? why : strerror(-ret));
		fclose(f);
		for (i = xccs = odd = 0; i < mqds.nr; i++) {
			t = &mqds.times[i];
			if (t->pid != (unsigned int)off.pid || t->gpu_id != gpu_id(0))
				continue;
			/* 20 us, and the state of all waves: at most 60 us on the GPUs that are modelled */
			if (t->xcc != xccs++ || !t->saved || t->save_ns < 20 * US || t->save_ns > 80 * US ||
			    t->restored != step || (step && (t->gap_ns < 25 * MS || t->restore_ns > 80 * US)))
				odd++;
			if (!step && (long long)t->save_ns > save_ns)
				save_ns = t->save_ns;
			if (odd)
				tap_diag("xcc %u: saved %d, %llu ns; restored %d, %llu ns after %llu", t->xcc, t->saved,
					 (unsigned long long)t->save_ns, t->restored,
					 (unsigned long long)t->restore_ns, (unsigned long long)t->gap_ns);
		}
		free(mqds.times);
		tap_ok(xccs && !odd, "mqd_times: %s: %u MQDs have the times of the simulated GPU", when[step], xccs);
		if (!step)
			actor_hear(&on, &(long){ 0 }, 60000);
	}
	events_stop(e);
	end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
	told = end ? event_field(end, "save_ns") : -2;
	tap_ok(told > 0 && told == save_ns, "mqd_times: kfd_preempt_end has the longest of them (%lld ns, the MQDs: %lld)",
	       told, save_ns);
	events_free(e);
	tap_eq(stat_of(&off, "saved_count"), 1, "mqd_times: sysfs: saved_count");
	tap_eq(stat_of(&off, "saved_us"), save_ns / 1000, "mqd_times: sysfs: saved_us");
	tap_eq(stat_of(&off, "saved_max_us"), save_ns / 1000, "mqd_times: sysfs: saved_max_us");
	tap_eq(stat_of(&on, "saved_count"), 0, "mqd_times: sysfs: nothing of the one that preempts");
	tap_ok(completes(&off), "mqd_times: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* Time stamps that say nothing: what they say is not known, whatever earlier ones said */
static void save_unknown(void)
{
	static const char *const what[] = { "none is written", "the first", "the end is before the begin", "none again" };
	static const unsigned int mode[] = { 0, 1, 2, 0 };
	struct actor on = online_start(0, 12), off = offline_start(0, 100 * MS, 20);
	struct events *e = events_start("kfd");
	const struct event *end = NULL;
	unsigned int i;
	long long ns;

	for (i = 0; i < 4; i++) {
		param_set("mqd_times", mode[i]);
		wait_mapped(0, 2);
		if (actor_do(&on, act_request, 5 * MS, 0) < 0)
			tap_bail("no answer from the online process");
		/* the end is traced when the runlist is sent */
		nap_ns(20 * MS);
	}
	events_stop(e);
	for (i = 0; i < 4; i++) {
		end = events_find(e, end, "kfd_preempt_end", NULL, 0);
		ns = end ? event_field(end, "save_ns") : -2;
		tap_ok(mode[i] == 1 ? ns > 0 : ns == -1, "save_unknown: %s: save_ns %lld", what[i], ns);
		if (!end)
			break;
	}
	events_free(e);
	param_set("mqd_times", 1);
	tap_eq(stat_of(&off, "saved_count"), 1, "save_unknown: one of four was measured");
	tap_ok(completes(&off), "save_unknown: all is complete, once");
	actor_kill(&on);
	actor_kill(&off);
}

/* A producer has reserved a slot, and not written its packet yet: others have made the write index visible */
static long act_reserve(long unused, long unused2)
{
	(void)unused, (void)unused2;
	__atomic_store_n(me.q[0]->wptr, *me.q[0]->wptr + 1, __ATOMIC_SEQ_CST);
	return 0;
}

/* It writes the packet, and rings */
static long act_publish(long ns, long unused)
{
	struct kfdc_queue *q = me.q[0];
	uint64_t w = *q->wptr;
	long r;

	(void)unused;
	/* the CP never takes back what it has read of the index */
	__atomic_store_n(q->wptr, w - 1, __ATOMIC_SEQ_CST);
	r = act_submit_silently(ns, 0);
	kfdc_ring(q);
	return r;
}

/* Reserve, and publish after a time in which another process preempts, or not; does the packet complete? */
static bool torn_once(const struct actor *on, bool early, bool preempted)
{
	struct actor off = actor_start(0, 2, 7);
	long long before;
	bool done;

	/* it has work, so that it counts as preempted */
	if (actor_do(&off, act_submit_on, 1, longer(100 * MS)) || (early && actor_do(&off, act_reserve, 0, 0)))
		tap_bail("no work");
	nap_ns(2 * MS);
	before = stat_of(&off, "preempted_count");
	if (preempted && (actor_do(on, act_request, MS, 0) < 0 || !wait_mapped(0, 3)))
		tap_bail("no request");
	if (stat_of(&off, "preempted_count") - before != preempted)
		tap_bail("preempted %lld times", stat_of(&off, "preempted_count") - before);
	if (actor_do(&off, early ? act_publish : act_submit, MS, early ? 0 : 1))
		tap_bail("no packet");
	actor_do(&off, act_wait, 500, 0);
	done = !actor_do(&off, act_left, 0, 0);
	actor_kill(&off);
	actors_gone();
	return done;
}

/* rocm-systems pull request 10377, see bad-days.rst: a restore is a remap, which reads the write index */
static void torn(void)
{
	struct actor on = online_start(0, 12);

	if (param_try("torn_fetch", "Y"))
		tap_bail("the simulated GPU has no torn_fetch");
	tap_ok(torn_once(&on, true, false), "torn: a packet that is written late is whole without a remap");
	tap_ok(torn_once(&on, false, true), "torn: one that is written before its slot is visible is whole after a remap");
	tap_ok(!torn_once(&on, true, true), "torn: one whose slot is visible at the remap has a body of before: its signal never comes");
	param_set("torn_fetch", 0);
	tap_ok(torn_once(&on, true, true), "torn: on a host that fetches 64 bytes at once it is whole");
	works("torn");
	actor_kill(&on);
}

const struct test tests_victim[] = {
	{ "mqd_times", mqd_times }, { "save_unknown", save_unknown },
	{ "vmids", vmids, .deep = true }, { "flood", flood }, { "quiet", quiet, .waves = true }, { "newborn", newborn, .waves = true }, { "mes_stays", mes_stays },
	{ "torn", torn }, {}
};
