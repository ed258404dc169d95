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
 * The engine looks less often at a process whose work signals its end than at one whose work does not. If a process signals no end any
 * more, the engine finds the first such end all the same.
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

	/* the level of the last of these has ended */
	if (!wait_mapped(0, 2))
		tap_bail("the queues are not mapped");
	e = events_start("kfd");
	if (actor_do(&online, act_no_event, 0, 0))
		tap_bail("no signal without an event");
	if (actor_do(&online, act_request, longer(WORK), 0) < 0)
		tap_bail("no answer from the online process");
	done = actor_do(&online, act_done_at, 0, 0);
	tap_ok(wait_mapped(0, 2), "signals: the end of work that signals none is noticed");
	events_stop(e);
	end = events_find(e, NULL, "kfd_preempt_end", NULL, 0);
	/* a quarter of the work, or linger_us if that is more; then linger_us, and the time of a step */
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
	long long with, without;

	/* the end of a request shows that the process waits with an event */
	runs_of_requests(&online, 1);
	with = runs_of_packets(&online);
	/* the end of the last packet may be noticed late by a sixteenth of the time of all */
	nap_ns(20 * MS);
	/* the end of one request shows that the process waits with no event any more */
	if (actor_do(&online, act_no_event, 0, 0) || actor_do(&online, act_request, 1 * MS, 0) < 0)
		tap_bail("no signal without an event");
	without = runs_of_packets(&online);
	/* each observation permits one interrupt to wake the thread, which may find nothing due; counts of waves take time as well */
	tap_ok(with <= 3 * without, "signals_many: the thread runs %lld times for %d packets that signal their end, and %lld times for others",
	       with, PACKETS, without);
	tap_ok(with < PACKETS / 2, "signals_many: which is not once for each interrupt");
	actor_kill(&online);
}

static struct kfdc_queue *second_queue;
static struct kfdc_signal *second_signal;

/* Queues on two GPUs, and for each a signal that has an event */
static long act_open_both(long unused, long unused2)
{
	struct kfdc_queue_attr attr = { .priority = 7, .percentage = 100, .packets = 1024 };
	struct kfdc *second;
	long r;

	(void)unused, (void)unused2;
	r = kfdc_open(&me.c, 0);
	r = r ? r : kfdc_open(&second, 1);
	r = r ? r : kfdc_signal_create(me.c, true, &me.s);
	r = r ? r : kfdc_signal_create(second, true, &second_signal);
	r = r ? r : act_create(1, 7);
	return r ? r : kfdc_queue_create(second, &attr, &second_queue);
}

/* @n packets of @ns on its own GPU, and one of 2 ms on the other. Return: when the latter was complete, kfdc_now() */
static long act_on_both(long ns, long n)
{
	uint64_t start, end;
	long r;

	kfdc_signal_set(second_signal, 1);
	r = kfdc_dispatch(second_queue, &(struct kfdc_dispatch){ .ns = 2 * MS, .signal = second_signal });
	r = r ? r : act_submit(ns, n);
	r = r ? r : kfdc_signal_wait(second_signal, 20 * SEC);
	if (r)
		return r;
	kfdc_signal_times(second_signal, &start, &end);
	return end;
}

/* The interrupt names no GPU: events of one GPU hold no level on another, where the process has no work any more */
static void signals_two(void)
{
	struct actor online = actor_bare(0), offline;
	const struct event *end;
	struct events *e;
	uint64_t done;
	long r;

	if (actor_do(&online, act_open_both, 0, 0))
		tap_bail("no queues on both GPUs");
	prioritise(&online, 12);
	if (actor_do(&online, act_on_both, PACKET, 1) < 0 || actor_do(&online, act_wait, 20000, 0))
		tap_bail("no answer from the online process");
	/* the start of the tracing instance may take seconds, in which the other process would complete its work */
	e = events_start("kfd");
	offline = offline_start(1, 100 * MS, 8);
	if (!wait_mapped(1, 2))
		tap_bail("the queues are not mapped");
	r = actor_do(&online, act_on_both, PACKET, PACKETS);
	if (r < 0)
		tap_bail("no answer from the online process");
	done = r;
	r = actor_do(&online, act_wait, 20000, 0);
	tap_ok(!r && wait_mapped(1, 2), "signals_two: all is complete");
	events_stop(e);
	end = events_find(e, NULL, "kfd_preempt_end", "gpu_id", gpu_id(1));
	tap_ok(end && in_time(end->ns - done, PACKET * PACKETS / 4),
	       "signals_two: the level of the other GPU ends after %lld us, while the events of the first one go on for %llu ms",
	       end ? (long long)(end->ns - done) / 1000 : -1, PACKET * PACKETS / MS);
	events_free(e);
	actor_kill(&online);
	tap_ok(completes(&offline), "signals_two: the other's work is complete, once");
	actor_kill(&offline);
}

const struct test tests_signal[] = {
	{ "signals", signals },
	{ "signals_many", signals_many },
	{ "signals_two", signals_two, 2 },
	{ 0 }
};
