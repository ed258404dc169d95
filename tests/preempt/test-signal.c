// SPDX-License-Identifier: GPL-2.0
/* Tests of preemption: the interrupt with which work signals its end */
#include "preempt.h"

#define REQUESTS	10
#define WORK		(10 * MS)
#define GAP		(2 * MS)	/* longer than linger_us */

/* From now on its signal has no event: the GPU sends no interrupt, and the process polls the signal */
static long act_no_event(long unused, long unused2)
{
	(void)unused, (void)unused2;
	return kfdc_signal_create(me.c, false, &me.s);
}

/* How often the engine's thread ran for @n requests, one after the other */
static long long runs_of_requests(const struct actor *a, int n)
{
	struct ran before = engine_ran();

	while (n--) {
		if (actor_do(a, act_request, longer(WORK), 0) < 0)
			tap_bail("no answer from the online process");
		nap_ns(GAP);
	}
	return engine_ran().runs - before.runs;
}

/*
 * A process whose work signals its end is looked at less often than one whose work does not. One that does so no more is noticed to
 * have none all the same.
 */
static void signals(void)
{
	struct actor online = online_start(0, 12), offline = offline_start(0, 50 * MS, 40);
	const struct event *end;
	long long with, without;
	struct events *e;
	uint64_t done;

	runs_of_requests(&online, 2);
	with = runs_of_requests(&online, REQUESTS);

	e = events_start("kfd");
	if (actor_do(&online, act_no_event, 0, 0))
		tap_bail("no signal without an event");
	if (actor_do(&online, act_request, longer(WORK), 0) < 0)
		tap_bail("no answer from the online process");
	done = actor_do(&online, act_done_at, 0, 0);
	tap_ok(wait_mapped(0, 2), "signals: the end of work that signals none is noticed");
	events_stop(e);
	end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
	/* a quarter of the work, linger_us, and the time of a step */
	tap_ok(end && in_time(end->ns - done, longer(WORK) / 4 + 2 * MS), "signals: after at most a quarter of the work (%lld us)",
	       end ? (long long)(end->ns - done) / 1000 : -1);
	events_free(e);

	without = runs_of_requests(&online, REQUESTS);
	tap_ok(with * 2 < without, "signals: the thread runs %lld times for %d requests that signal their end, and %lld times for others",
	       with, REQUESTS, without);
	actor_kill(&online);
	tap_ok(completes(&offline), "signals: the other's work is complete, once");
	actor_kill(&offline);
}

#define PACKETS		1000
#define PACKET		(100 * US)

static long long runs_of_packets(const struct actor *a)
{
	struct ran before;

	/* the intervals grow with the time since the ring that has woken the thread: let the doorbells be trapped first */
	nap_ns(20 * MS);
	before = engine_ran();
	if (actor_do(a, act_submit, PACKET, PACKETS) || actor_do(a, act_wait, 60000, 0))
		tap_bail("the packets were not done");
	return engine_ran().runs - before.runs;
}

/* A process can have the GPU send any number of interrupts: they cost no more observations than the time of its work does */
static void signals_many(void)
{
	struct actor online = online_start(0, 12);
	long long with = runs_of_packets(&online), without;

	/* the end of the last packet may be noticed late by a sixteenth of the time of all */
	nap_ns(20 * MS);
	/* the end of one request shows that the process waits with no event any more */
	if (actor_do(&online, act_no_event, 0, 0) || actor_do(&online, act_request, 1 * MS, 0) < 0)
		tap_bail("no signal without an event");
	without = runs_of_packets(&online);
	/* most interrupts come while the thread waits for the next observation, and wake it once more */
	tap_ok(with <= 2 * without, "signals_many: the thread runs %lld times for %d packets that signal their end, and %lld times for others",
	       with, PACKETS, without);
	tap_ok(with < PACKETS / 2, "signals_many: which is not once for each interrupt");
	actor_kill(&online);
}

const struct test tests_signal[] = {
	{ "signals", signals },
	{ "signals_many", signals_many },
	{ 0 }
};
