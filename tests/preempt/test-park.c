// SPDX-License-Identifier: GPL-2.0
/* Processes without work leave the GPU, and return when they ring; beside preemption and KFD's evictions */
#include <stdio.h>
#include <string.h>
#include "preempt.h"

#define PARK_MS		20

unsigned long park_wakes;

static void parking_on(long ms)
{
	param_set("safety_poll_us", 1000);
	param_set("idle_park_ms", ms);
}

bool wait_parked(const struct actor *a, long long count)
{
	uint64_t end = kfdc_now() + 20 * SEC;

	while (stat_of(a, "parked_count") < count && kfdc_now() < end)
		nap_ns(MS);
	if (stat_of(a, "parked_count") >= count)
		return true;
	tap_diag("process %d: parked %lld times, not %lld", a->pid, stat_of(a, "parked_count"), count);
	return false;
}

long request(const struct actor *a, long ns)
{
	long took = actor_do(a, act_request, ns, 0);

	if (took < 0)
		tap_bail("no answer from process %d", a->pid);
	return took;
}

bool park_paired(const struct events *e)
{
	const struct event *ev, *begin;
	size_t i;

	for (i = 0; i < e->nr; i++) {
		ev = &e->event[i];
		if (strcmp(ev->name, "kfd_unpark"))
			continue;
		begin = events_find(e, NULL, "kfd_park", "seq", event_field(ev, "seq"));
		if (begin && (begin > ev || event_field(begin, "pid") != event_field(ev, "pid")))
			return false;
	}
	return true;
}

/* Neither a thread nor a fault; the process stays where it is */
static void park_off(void)
{
	struct actor a;

	tap_eq(param("idle_park_ms"), 0, "park_off: it is off");
	a = actor_start(0, 2, 7);
	request(&a, MS);
	nap_ns(500 * MS);
	tap_eq(mapped(0), 2, "park_off: a process without work stays on the GPU");
	tap_eq(actor_do(&a, act_faults, 100, 0), 0, "park_off: its rings do not fault");
	tap_eq(stat_of(&a, "parked_count"), 0, "park_off: it was never parked");
	actor_kill(&a);
}

static void park(void)
{
	struct commands before, after;
	const struct event *ev;
	struct events *e;
	struct actor a;
	long long us;
	bool polled;
	long ns;

	/* it must be seen mapped before it is parked again */
	parking_on(longer(PARK_MS));
	a = actor_start(0, 2, 7);
	e = events_start("kfd");
	request(&a, MS);
	tap_ok(wait_parked(&a, 1) && wait_mapped(0, 0), "park: a process without work leaves the GPU");
	us = stat_of(&a, "parked_us");
	nap_ns(50 * MS);
	us = stat_of(&a, "parked_us") - us;
	tap_ok(us >= 50000 && in_time(us * US, 80 * MS), "park: and the time is counted (%lld us of 50000)", us);
	tap_eq(stat_of(&a, "preempted_count"), 0, "park: it is not preempted");
	before = commands(0);
	ns = request(&a, MS);
	after = commands(0);
	tap_ok(ns >= (long)MS && in_time(ns, 2 * MS), "park: its next ring runs at once (%ld us)", ns / 1000);
	tap_ok(mapped(0) == 2 && (has_mes(0) ? after.maps - before.maps == 2 : after.maps - before.maps == 1) &&
	       after.unmaps == before.unmaps, "park: by one update (%lld unmaps, %lld maps)",
	       after.unmaps - before.unmaps, after.maps - before.maps);
	tap_ok(wait_parked(&a, 2), "park: and it leaves again");
	events_stop(e);
	ev = events_find(e, NULL, "kfd_park", "pid", a.pid);
	tap_ok(ev && event_field(ev, "queues") == 2 && event_field(ev, "reason") == PARK_IDLE &&
	       event_field(ev, "idle_ns") >= (long long)(PARK_MS * MS),
	       "park: kfd_park says for how long it had no work");
	ev = events_find(e, NULL, "kfd_unpark", "pid", a.pid);
	/* on a debug kernel the thread may read the write index, which the process stores first, before the ring */
	polled = ev && sim_debug_kernel() && event_field(ev, "reason") == UNPARK_POLL && event_field(ev, "wake_ns") == 0;
	if (!tap_ok(ev && (event_field(ev, "reason") == UNPARK_RING || polled) && event_field(ev, "queues") == 2 &&
		    (event_field(ev, "wake_ns") > 0 || polled) && in_time(event_field(ev, "wake_ns"), MS) &&
		    event_field(ev, "parked_ns") >= (long long)(50 * MS) && park_paired(e),
		    "park: kfd_unpark says how long the ring took to be answered (%lld ns)",
		    ev ? event_field(ev, "wake_ns") : -1))
		events_print(e);
	tap_eq(events_count(e, "kfd_preempt_begin", NULL, 0), 0, "park: no preemption");
	events_free(e);
	param_set("idle_park_ms", 0);
	tap_ok(wait_mapped(0, 2), "park: switched off, all return");
	nap_ns(3 * PARK_MS * MS);
	tap_eq(mapped(0), 2, "park: and stay");
	tap_ok(completes(&a), "park: all is complete, once");
	actor_kill(&a);
}

/*
 * Many rings of many processes; the signal counts what is complete, lost or repeated.  With -r, until they were parked
 * so many times: the simulated GPU needs a host's minute for 1500 of them, so that there are many of them at a time
 */
static void park_cycles(void)
{
	enum { ACTORS = 12, MANY = 96, CYCLES = 25, LOOK = 16 };
	int actors = park_wakes ? MANY : ACTORS;
	long long want = park_wakes ? park_wakes : ACTORS * CYCLES * 8 / 10, parked = 0;
	int i, n, most = park_wakes ? 3 * (park_wakes / MANY + 1) : CYCLES;
	uint64_t t, begin;
	struct actor a[MANY];
	bool all = true;
	long long ns;

	parking_on(1);
	for (i = 0; i < actors; i++)
		a[i] = actor_start(0, 1, i % 16);
	begin = kfdc_now();
	ns = engine_ran().ns;
	for (n = 0; n < most && !(park_wakes && parked >= want); n++) {
		/* fewer than ten wakes a second each */
		t = kfdc_now() + 110 * MS;
		for (i = 0; i < actors; i++)
			if (actor_do(&a[i], act_submit, 20 * US * (1 + i % 3), 1 + n % 3))
				tap_bail("process %d cannot submit", a[i].pid);
		while (kfdc_now() < t)
			nap_ns(t - kfdc_now());
		if (!park_wakes || n % LOOK)
			continue;
		for (parked = 0, i = 0; i < actors; i++)
			parked += stat_of(&a[i], "parked_count");
		printf("# park_cycles: round %d, parked %lld times\n", n, parked);
		fflush(stdout);
	}
	ns = engine_ran().ns - ns;
	begin = kfdc_now() - begin;
	for (parked = 0, i = 0; i < actors; i++) {
		all &= completes(&a[i]);
		parked += stat_of(&a[i], "parked_count");
		actor_kill(&a[i]);
	}
	tap_ok(all, "park_cycles: no packet is lost, none is repeated");
	tap_ok(parked >= want, "park_cycles: they were parked %lld times in %d rounds of %d", parked, n, actors);
	/* a look that interrupts itself took 0.95 s at a time, until the scheduler throttled the thread; a debug kernel is slower */
	tap_ok(ns <= (long long)begin / (sim_debug_kernel() ? 2 : 4), "park_cycles: kfdprio's thread takes little CPU time (%lld of %llu ms)",
	       ns / 1000000, (unsigned long long)begin / 1000000);
}

/* More processes than VMIDs, of which one works: those without work leave, and the runlist has room */
static void park_crowded(void)
{
	enum { IDLE = 12 };
	struct actor busy, idle[IDLE];
	const struct event *ev, *last = NULL;
	long long most = 0;
	struct events *e;
	bool all = true;
	int i;

	busy = actor_start(0, 1, 7);
	for (i = 0; i < IDLE; i++) {
		idle[i] = actor_start(0, 1, 7);
		request(&idle[i], MS);
	}
	e = events_start("kfd");
	/* packets that wait, so that the GPU is never taken for idle: only the crowd is a reason */
	actor_do(&busy, act_submit, 100 * MS, 20);
	nap_ns(20 * MS);
	parking_on(PARK_MS);
	tap_ok(wait_mapped(0, 1) && actor_do(&busy, act_left, 0, 0) > 1,
	       "park_crowded: all but the process with work leave, while it has some");
	nap_ns(200 * MS);
	tap_eq(mapped(0), 1, "park_crowded: which stays");
	/* one of them returns beside it */
	request(&idle[0], MS);
	tap_ok(completes(&busy), "park_crowded: its work is complete, once");
	events_stop(e);
	for (ev = NULL; (ev = events_find(e, ev, "kfd_map_queues", NULL, 0));)
		last = ev;
	if (!has_mes(0))
		tap_ok(last && event_field(last, "over_subscribed") == 0, "park_crowded: and the runlist is over-subscribed no more");
	for (ev = NULL; (ev = events_find(e, ev, "kfd_park", NULL, 0));)
		if (event_field(ev, "pid") == busy.pid)
			most++;
	tap_ok(most <= 1, "park_crowded: the busy process is tried once at most (%lld)", most);
	if (!tap_ok(park_paired(e), "park_crowded: events are paired"))
		events_print(e);
	events_free(e);
	for (i = 0; i < IDLE; i++) {
		request(&idle[i], MS);
		all &= completes(&idle[i]);
		actor_kill(&idle[i]);
	}
	tap_ok(all, "park_crowded: they all run when they ring");
	actor_kill(&busy);
}

/* A long kernel in flight: equal indices are no reason */
static void park_waves(void)
{
	struct events *e;
	struct actor a;
	long ns;

	parking_on(PARK_MS);
	a = actor_start(0, 1, 7);
	e = events_start("kfd");
	ns = request(&a, 400 * MS);
	events_stop(e);
	tap_ok(ns >= (long)(400 * MS) && in_time(ns, 405 * MS), "park_waves: a kernel of 400 ms takes no longer (%ld us)",
	       ns / 1000);
	if (has_occupancy(0))
		tap_eq(events_count(e, "kfd_park", NULL, 0), 0, "park_waves: it is not parked while it has waves");
	else if (!tap_ok(events_count(e, "kfd_park", NULL, 0) <= 1 &&
			 events_count(e, "kfd_unpark", "reason", UNPARK_WAVES) == events_count(e, "kfd_park", NULL, 0),
			 "park_waves: it is tried once at most, and returns by itself"))
		events_print(e);
	events_free(e);
	tap_ok(completes(&a), "park_waves: all is complete, once");
	actor_kill(&a);
}

/* Eleven wakes in a second are too many */
static void park_often(void)
{
	struct actor a;
	long long n;
	int i;

	parking_on(1);
	a = actor_start(0, 1, 7);
	for (i = 0; i < 40; i++) {
		request(&a, 20 * US);
		nap_ns(25 * MS);
	}
	n = stat_of(&a, "parked_count");
	tap_ok(n >= 8 && n <= 13, "park_often: a process that rings every 25 ms is parked %lld times in a second", n);
	nap_ns(300 * MS);
	tap_ok(mapped(0) == 1 && stat_of(&a, "parked_count") == n, "park_often: and not again for a while");
	tap_ok(completes(&a), "park_often: all is complete, once");
	actor_kill(&a);
}

/* A packet without a ring that the CPU could see: a device may have rung */
static void park_silent(void)
{
	struct actor a;
	uint64_t t;

	parking_on(PARK_MS);
	a = actor_start(0, 1, 7);
	request(&a, MS);
	wait_parked(&a, 1);
	t = kfdc_now();
	if (actor_do(&a, act_submit_silently, MS, 0))
		tap_bail("cannot submit");
	tap_ok(completes(&a), "park_silent: it is found without a ring");
	tap_ok(in_time((long long)(kfdc_now() - t), 30 * MS), "park_silent: within the safety poll (%llu us)",
	       (unsigned long long)(kfdc_now() - t) / 1000);
	actor_kill(&a);
}

/* Queues are created, updated and destroyed, memory is evicted and processes end while they are parked */
static void park_changes(void)
{
	struct commands before, after;
	struct actor a, b;

	parking_on(PARK_MS);
	a = actor_start(0, 2, 7);
	b = actor_start(0, 1, 7);
	request(&a, MS);
	tap_ok(wait_parked(&a, 1) && wait_parked(&b, 1) && wait_mapped(0, 0), "park_changes: two processes are parked");
	before = commands(0);
	tap_eq(actor_do(&a, act_destroy_last, 0, 0), 0, "park_changes: a queue is destroyed");
	tap_eq(actor_do(&a, act_create, 2, 9), 0, "park_changes: two are created");
	tap_eq(actor_do(&a, act_update, 0, 50), 0, "park_changes: one is updated");
	actor_kill(&b);
	nap_ns(10 * MS);
	after = commands(0);
	tap_ok(after.unmaps == before.unmaps && mapped(0) == 0, "park_changes: the hardware is not touched (%lld unmaps, %lld maps)",
	       after.unmaps - before.unmaps, after.maps - before.maps);
	tap_eq(actor_do(&a, act_submit_on, 2, MS), 0, "park_changes: the youngest queue rings");
	tap_ok(completes(&a), "park_changes: and runs");
	tap_ok(wait_mapped(0, 3) || wait_parked(&a, 2), "park_changes: with the others");
	tap_ok(wait_parked(&a, 2), "park_changes: parked again");
	tap_eq(actor_do(&a, act_update, 0, 0), 0, "park_changes: a queue is switched off");
	tap_eq(actor_do(&a, act_submit, MS, 1), 0, "park_changes: and rings");
	nap_ns(20 * MS);
	tap_eq(actor_do(&a, act_left, 0, 0), 1, "park_changes: which does not run");
	tap_eq(actor_do(&a, act_update, 0, 100), 0, "park_changes: switched on");
	tap_ok(completes(&a), "park_changes: it runs");
	actor_kill(&a);
}

static void park_evicted(void)
{
	struct events *e;
	struct actor a;
	long long n;
	uint64_t t;

	parking_on(PARK_MS);
	a = actor_start(0, 1, 7);
	request(&a, MS);
	tap_ok(wait_parked(&a, 1) && wait_mapped(0, 0), "park_evicted: a process is parked");
	/* on a debug kernel it may have been before its request, too */
	n = stat_of(&a, "parked_count");
	e = events_start("kfd");
	pressure_on(&a);
	nap_ns(300 * MS);
	events_stop(e);
	if (!tap_ok(mapped(0) == 0 && stat_of(&a, "parked_count") == n,
		    "park_evicted: KFD evicts and restores it, it stays parked (%d mapped, parked %lld times)", mapped(0),
		    stat_of(&a, "parked_count")))
		events_print(e);
	events_free(e);
	tap_ok(request(&a, MS) >= (long)MS && completes(&a), "park_evicted: it runs when it rings");
	wait_parked(&a, n + 1);
	pressure_on(&a);
	nap_ns(10 * MS);
	/* evicted, and it rings: KFD puts it back after 100 ms or so */
	t = kfdc_now();
	if (actor_do(&a, act_submit, MS, 2))
		tap_bail("cannot submit");
	tap_ok(completes(&a), "park_evicted: one that rings while KFD holds it runs when KFD lets go (%llu ms)",
	       (unsigned long long)(kfdc_now() - t) / 1000000);
	actor_kill(&a);
}

/* A parked process that preempts: one update does both.  One that rings below a level stays off for that */
static void park_preempts(void)
{
	struct commands before, after;
	struct actor on, off, low;
	const struct event *ev;
	struct events *e;
	long ns;

	parking_on(PARK_MS);
	on = online_start(0, 12);
	low = actor_start(0, 1, 7);
	request(&low, MS);
	tap_ok(wait_parked(&on, 1) && wait_parked(&low, 1), "park_preempts: a process that may preempt is parked, too");
	param_set("floor_pct", 0);
	/* before the work begins: under --icount that takes a second */
	e = events_start("kfd");
	off = offline_start(0, 50 * MS, 40);
	nap_ns(20 * MS);
	tap_ok(mapped(0) == 1 && actor_do(&off, act_left, 0, 0) > 0, "park_preempts: another works");
	before = commands(0);
	actor_tell(&on, act_request, 60 * MS, 0);
	nap_ns(20 * MS);
	after = commands(0);
	tap_eq(mapped(0), 1, "park_preempts: the ring preempts it");
	tap_ok(after.unmaps - before.unmaps == 1 && after.maps - before.maps == 1,
	       "park_preempts: one update does both (%lld unmaps, %lld maps)", after.unmaps - before.unmaps,
	       after.maps - before.maps);
	tap_eq(actor_do(&low, act_submit, MS, 2), 0, "park_preempts: a parked process rings below the level");
	nap_ns(10 * MS);
	tap_ok(mapped(0) == 1 && actor_do(&low, act_left, 0, 0) == 2 && stat_of(&low, "preempted_count") == 1,
	       "park_preempts: and is preempted instead");
	tap_eq(commands(0).maps, after.maps, "park_preempts: which nobody else feels");
	if (!actor_hear(&on, &ns, 20000))
		tap_bail("no answer from the online process");
	tap_ok(ns >= (long)(60 * MS) && in_time(ns, 62 * MS), "park_preempts: the online work takes no longer (%ld us)", ns / 1000);
	tap_ok(completes(&low), "park_preempts: it runs when that is done");
	events_stop(e);
	ev = events_find(e, NULL, "kfd_unpark", "pid", low.pid);
	if (!tap_ok(ev && event_field(ev, "reason") == UNPARK_PREEMPT && park_paired(e) && paired(e),
		    "park_preempts: kfd_unpark says so"))
		events_print(e);
	events_free(e);
	tap_ok(completes(&off), "park_preempts: all is complete, once");
	actor_kill(&on);
	actor_kill(&low);
	actor_kill(&off);
}

static void park_two(void)
{
	struct actor a, b;

	parking_on(PARK_MS);
	a = actor_start(0, 1, 7);
	b = actor_start(1, 1, 7);
	if (actor_do(&a, act_submit, 300 * MS, 2))
		tap_bail("cannot submit");
	tap_ok(wait_parked(&b, 1) && wait_mapped(1, 0), "park_two: a process is parked on one GPU");
	tap_eq(mapped(0), 1, "park_two: another works on the other one");
	tap_ok(request(&b, MS) >= (long)MS && completes(&b), "park_two: it rings, and runs");
	tap_ok(completes(&a), "park_two: all is complete, once");
	actor_kill(&a);
	actor_kill(&b);
}

const struct test tests_park[] = {
	{ "park_off", park_off }, { "park", park }, { "park_cycles", park_cycles }, { "park_crowded", park_crowded },
	{ "park_waves", park_waves }, { "park_often", park_often }, { "park_silent", park_silent },
	{ "park_changes", park_changes }, { "park_evicted", park_evicted }, { "park_preempts", park_preempts },
	{ "park_two", park_two, 2 }, {}
};
