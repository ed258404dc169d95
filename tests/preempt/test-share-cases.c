// SPDX-License-Identifier: GPL-2.0
/* Shares beside all else that keeps queues off a GPU: the table "What a share does not reach" of shares.rst */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "debugger.h"
#include "busy.h"

/* For so many ms copies of @bytes by SDMA, one after the other; how many */
static long act_sdma_for(long ms, long bytes)
{
	uint64_t end = kfdc_now() + ms * MS;
	long n, r;

	for (n = 0; kfdc_now() < end; n++) {
		r = act_sdma_copy(bytes, 0);
		if (r < 0)
			return r;
	}
	return n;
}

/* Copies by SDMA have the limit of their process; one that was begun ends first */
static void share_sdma(void)
{
	struct actor a = actor_start(0, 1, 7);
	struct group_time t;
	long alone, limited;
	long long ran;

	/* slower than this CPU copies */
	param_set("sdma_gbs", 1);
	actor_do(&a, act_sdma_for, 100, 4 << 20);
	alone = actor_do(&a, act_sdma_for, 1000, 4 << 20);
	t = group_time(limit(&a, 30 * PCT));
	actor_do(&a, act_sdma_for, 500, 4 << 20);
	group_ran(&t);
	limited = actor_do(&a, act_sdma_for, 3000, 4 << 20);
	ran = group_ran(&t);
	tap_ok(ran <= 310, "share_sdma: mapped with work for 31 %% at most (%lld per mille)", ran);
	tap_ok(limited >= alone * 3 * 22 / 100 && limited <= alone * 3 * 31 / 100, "share_sdma: copies have the limit (%ld of %ld)", limited,
	       alone * 3);
	actor_kill(&a);
	tap_ok(none_left(), "share_sdma: the group ends");
}

/* A debugger is attached: the limit holds, and a queue that it has suspended is not put back in the group's place */
static void share_debug(void)
{
	struct group_time t;
	struct actor a;
	long long ran;
	long left;

	if (!debuggee(&a, "share_debug"))
		return;
	actor_do(&a, act_submit, MS, 1000);
	t = group_time(limit(&a, 30 * PCT));
	nap_ns(300 * MS);
	group_ran(&t);
	nap_ns(SEC);
	tap_ok(in_time(group_ran(&t) * MS, 320 * MS), "share_debug: a process with a debugger has its limit");
	tap_eq(actor_do(&a, act_suspend, 0, 0), 1, "share_debug: its queue is suspended");
	left = actor_do(&a, act_left, 0, 0);
	group_ran(&t);
	nap_ns(500 * MS);
	tap_ok(actor_do(&a, act_left, 0, 0) == left, "share_debug: it stays suspended over several places");
	tap_eq(actor_do(&a, act_resume, 0, 0), 1, "share_debug: the queue is resumed");
	nap_ns(300 * MS);
	group_ran(&t);
	nap_ns(SEC);
	ran = group_ran(&t);
	tap_ok(in_time(ran * MS, 320 * MS) && actor_do(&a, act_left, 0, 0) < left,
	       "share_debug: it runs again, and has its limit (%lld per mille)", ran);
	tap_ok(completes(&a), "share_debug: all is complete, once");
	actor_kill(&a);
}

/* Time for which KFD keeps a process off is no time of its group, and the limit holds afterwards */
static void share_evicted(void)
{
	struct busy b = busy(MS);
	struct group_time t = group_time(limit(&b.a, 80 * PCT));
	long long ran, work;
	unsigned int i;

	nap_ns(500 * MS);
	group_ran(&t);
	pressure_on(&b.a);
	nap_ns(5 * MS);
	group_ran(&t);
	nap_ns(50 * MS);
	ran = group_ran(&t);
	tap_ok(ran == 0, "share_evicted: a process that KFD has evicted does not run (%lld per mille)", ran);
	for (i = 0; i < 5; i++) {
		nap_ns(sim_random(&(uint64_t){ sim_seed() + i }) % (200 * MS));
		pressure_on(&b.a);
	}
	nap_ns(500 * MS);
	group_ran(&t);
	measure(&b, 1, SEC, &work);
	ran = group_ran(&t);
	tap_ok(ran >= 760 && ran <= 810, "share_evicted: restored it has its limit (%lld per mille)", ran);
	actor_kill(&b.a);
	tap_ok(none_left(), "share_evicted: the group ends");
}

/* Twelve that use up their limits: the period is so long that their switches cost little, in a second or two */
static void share_twelve(void)
{
	struct kfd_prio_share_entry e;
	long long work[12], all = 0;
	struct busy b[12];
	uint64_t ns, group = 0;
	unsigned int i;

	param_set("save_us", 327);
	param_set("restore_us", 440);
	for (i = 0; i < 12; i++) {
		b[i] = busy(5 * MS);
		group = limit(&b[i].a, 8 * PCT);
	}
	nap_ns(4 * SEC);
	kfd_share_get(group, &e);
	tap_ok(e.period_ns == SEC, "share_twelve: the period is 1000 ms (%llu)", (unsigned long long)(e.period_ns / MS));
	ns = measure(b, 12, 3 * SEC, work);
	for (i = 0; i < 12; i++)
		all += work[i];
	tap_ok(per_mille(all, ns) >= 940, "share_twelve: 96 %% of the GPU is at work, but for their switches (%lld per mille)", per_mille(all, ns));
	for (i = 0; i < 12; i++)
		actor_kill(&b[i].a);
	tap_ok(none_left(), "share_twelve: the groups end");
}

/* Suspend to RAM, within a place and outside: afterwards the limit holds and all is complete */
static void share_asleep(void)
{
	struct busy b = busy(MS);
	struct group_time t = group_time(limit(&b.a, 50 * PCT));
	long long ran, work;
	unsigned int i;

	nap_ns(300 * MS);
	for (i = 0; i < 2; i++) {
		nap_ns(i * 50 * MS);
		machine_sleeps(true);
		nap_ns(150 * MS);
		group_ran(&t);
		nap_ns(50 * MS);
		ran = group_ran(&t);
		tap_ok(ran == 0, "share_asleep: nothing runs meanwhile (%lld per mille)", ran);
		machine_sleeps(false);
	}
	nap_ns(300 * MS);
	group_ran(&t);
	measure(&b, 1, SEC, &work);
	ran = group_ran(&t);
	tap_ok(ran >= 470 && ran <= 510 && work > 0, "share_asleep: then it has its limit (%lld per mille)", ran);
	actor_kill(&b.a);
}

/* After a reset dead processes take no turns, and hold no place: those that begin then have theirs */
static void share_reset(void)
{
	struct busy dead[2] = { busy(25 * MS), busy(MS) }, b[2];
	struct group_time t;
	long long ran, work[2];
	uint64_t ns, group;

	weigh(&dead[0].a, 100);
	limit(&dead[1].a, 50 * PCT);
	nap_ns(300 * MS);
	reset_gpu();
	param_set("kfd_preempt", 1);
	b[0] = busy(MS);
	group = weigh(&b[0].a, 1);
	nap_ns(300 * MS);
	ns = measure(&b[0], 1, SEC, work);
	tap_ok(per_mille(work[0], ns) >= 970, "share_reset: a process beside dead ones has the GPU, whatever weight they have (%lld per mille)",
	       per_mille(work[0], ns));
	b[1] = busy(MS);
	weigh(&b[1].a, 3);
	nap_ns(300 * MS);
	ns = measure(b, 2, 2 * SEC, work);
	ran = per_mille(work[1], work[0] + work[1]);
	tap_ok(ran >= 730 && ran <= 770, "share_reset: two new ones have their weights 1:3 (%lld per mille)", ran);
	actor_kill(&b[1].a);
	tap_eq(kfd_share(0, KFD_PRIO_SHARE_MAX, 30 * PCT, 0, &group), 0, "share_reset: a limit for one of them");
	t = group_time(group);
	nap_ns(300 * MS);
	group_ran(&t);
	measure(b, 1, SEC, work);
	ran = group_ran(&t);
	tap_ok(ran >= 280 && ran <= 310, "share_reset: and a limit holds (%lld per mille)", ran);
	actor_kill(&b[0].a);
	actor_kill(&dead[0].a);
	actor_kill(&dead[1].a);
	tap_ok(none_left(), "share_reset: all groups end");
}

/* A process whose queues are gone, or that has never rung, takes no turn */
static void share_no_queue(void)
{
	struct actor gone = actor_start(0, 1, 7), new = actor_start(0, 2, 7);
	struct busy b = busy(MS);
	struct kfd_prio_share_entry e;
	uint64_t group, ns;
	long long work;

	request(&gone, MS);
	group = weigh(&gone, 100);
	weigh(&new, 100);
	weigh(&b.a, 1);
	if (actor_do(&gone, act_destroy_last, 0, 0))
		tap_bail("cannot destroy a queue");
	nap_ns(500 * MS);
	ns = measure(&b, 1, SEC, &work);
	tap_ok(per_mille(work, ns) >= 970, "share_no_queue: another process has the GPU (%lld per mille)", per_mille(work, ns));
	tap_ok(kfd_share_get(group, &e) && !e.nr_running, "share_no_queue: its group does not run");
	actor_kill(&gone);
	actor_kill(&new);
	actor_kill(&b.a);
	tap_ok(none_left(), "share_no_queue: all groups end");
}

/*
 * A process of priority above groups that take turns: it is not throttled, the turn goes on after its request, and the
 * GPU is at work
 */
static void share_above(void)
{
	struct actor on = online_start(0, 12);
	struct busy b[2] = { busy(25 * MS), busy(25 * MS) };
	long long work[2] = {}, all, online = 0, share;
	struct events *e;
	long ns, least = 0;
	uint64_t begin;
	unsigned int i;

	weigh(&b[0].a, 30);
	weigh(&b[1].a, 70);
	nap_ns(300 * MS);
	e = events_start("kfd");
	busy_done(&b[0]);
	busy_done(&b[1]);
	begin = kfdc_now();
	for (i = 0; i < 40; i++) {
		ns = actor_do(&on, act_request, 2 * MS, 0);
		online += 2 * MS;
		least = !least || ns < least ? ns : least;
		nap_ns(48 * MS);
		work[0] += busy_done(&b[0]);
		work[1] += busy_done(&b[1]);
	}
	all = per_mille(work[0] + work[1] + online, kfdc_now() - begin);
	share = per_mille(work[0], work[0] + work[1]);
	events_stop(e);
	/* Where waves are not counted, it may have work until it is off */
	if (sees_waves(0))
		tap_eq(events_count(e, "kfd_throttle_begin", "pid", on.pid), 0, "share_above: a process above is not throttled");
	events_free(e);
	tap_ok(in_time(least, 2 * MS + 400 * US), "share_above: its request takes a save more (%ld us)", least / (long)US);
	tap_ok(all >= 930, "share_above: the GPU is at work (%lld per mille)", all);
	tap_ok(share >= 270 && share <= 330, "share_above: and divided 30:70 (%lld per mille)", share);
	actor_kill(&on);
	actor_kill(&b[0].a);
	actor_kill(&b[1].a);
	tap_ok(none_left(), "share_above: all groups end");
}

#define THOUSAND	1000

/* Forks a thousand children that live until they are killed; how many there are */
static pid_t thousand[THOUSAND];

static long act_thousand(long n, long unused)
{
	long i;

	(void)unused;
	for (i = 0; i < n; i++) {
		thousand[i] = fork();
		if (thousand[i] < 0)
			return i;
		if (!thousand[i])
			for (;;)
				pause();
	}
	return i;
}

static long act_thousand_end(long n, long unused)
{
	(void)unused;
	while (n--) {
		kill(thousand[n], SIGKILL);
		waitpid(thousand[n], NULL, 0);
	}
	return 0;
}

#define OPENERS	32

static long act_openers(long begin, long unused)
{
	static pid_t pids[OPENERS];
	unsigned int i;

	(void)unused;
	for (i = 0; i < OPENERS; i++)
		if (begin)
			pids[i] = kfd_child_set(7, KFD_PRIO_UNSET, 2);
		else
			kfd_child_end(pids[i]);
	return 0;
}

/* A thousand children, of which many use the GPU, have the limit of one group, and leave nothing behind */
static void share_thousand(void)
{
	struct busy b = busy(MS);
	struct actor a = actor_bare(0);
	struct kfd_prio_share_entry e;
	long long ran, work;
	struct group_time t;
	uint64_t group, ns;

	group = limit(&a, 20 * PCT);
	tap_eq(actor_do(&a, act_thousand, THOUSAND, 0), THOUSAND, "share_thousand: a thousand children");
	if (actor_do(&a, act_openers, 1, 0))
		tap_bail("no children");
	tap_ok(kfd_share_get(group, &e) && e.nr_processes == OPENERS, "share_thousand: those that use the GPU are in the group");
	t = group_time(group);
	nap_ns(SEC);
	group_ran(&t);
	ns = measure(&b, 1, 2 * SEC, &work);
	ran = group_ran(&t);
	tap_ok(ran >= 190 && ran <= 210, "share_thousand: they run for 20 %% together (%lld per mille)", ran);
	tap_ok(per_mille(work, ns) >= 770, "share_thousand: another process has the rest (%lld per mille)", per_mille(work, ns));
	actor_do(&a, act_openers, 0, 0);
	actor_do(&a, act_thousand_end, THOUSAND, 0);
	actor_kill(&a);
	tap_ok(none_left(), "share_thousand: the group ends with the last of them");
	actor_kill(&b.a);
}

const struct test tests_share_cases[] = {
	{ "share_sdma", share_sdma }, { "share_debug", share_debug }, { "share_evicted", share_evicted },
	{ "share_asleep", share_asleep }, { "share_reset", share_reset }, { "share_no_queue", share_no_queue }, { "share_above", share_above }, { "share_thousand", share_thousand },
	{ "share_twelve", share_twelve }, {}
};
