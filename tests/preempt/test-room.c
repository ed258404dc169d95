// SPDX-License-Identifier: GPL-2.0
/*
 * Claims of one level on a GPU whose runlist is over-subscribed: those without work make room for one that has some, and return
 * when they ring.
 */
#include "preempt.h"

/* VMIDs that a GPU has for KFD; with the one that works, more processes than that */
#define VMIDS	8
#define IDLE	12

/* The time of @n dispatches of 1 ms, all of which wait in the queue from the beginning */
static long long batch(const struct actor *a, long n)
{
	uint64_t begin = kfdc_now();

	actor_do(a, act_submit, MS, n);
	actor_do(a, act_wait, 60000, 0);
	return kfdc_now() - begin;
}

static long long count_of(const struct events *e, const char *name)
{
	const struct event *ev = NULL;
	long long n = 0;

	while ((ev = events_find(e, ev, name, NULL, 0)))
		n++;
	return n;
}

/* One works, and the others have nothing: it has the GPU to itself, and they are neither preempted nor parked */
static void room(void)
{
	const struct event *ev, *last = NULL;
	struct actor busy, idle[IDLE];
	long long alone, beside, counted = 0;
	struct events *e;
	bool all = true;
	int i;

	busy = online_start(0, 12);
	alone = batch(&busy, 60);
	for (i = 0; i < IDLE; i++)
		/* one of higher priority, which comes first: its request takes those of lower priority off */
		idle[i] = online_start(0, i ? 12 : 14);
	e = events_start("kfd");
	beside = batch(&busy, 60);
	/* without room it has 8 of 13 turns */
	tap_ok(5 * beside < 6 * alone, "room: beside %d claims without work a batch takes %lld us, alone %lld", IDLE, beside / 1000, alone / 1000);
	actor_do(&busy, act_submit, MS, 100);
	nap_ns(20 * MS);
	i = mapped(0);
	tap_ok(i >= 1 && i <= VMIDS && actor_do(&busy, act_left, 0, 0) > 1, "room: while it has work, no more are mapped than there is room for (%d)", i);
	events_stop(e);
	for (ev = NULL; (ev = events_find(e, ev, "kfd_map_queues", NULL, 0));)
		last = ev;
	if (!has_mes(0))
		tap_ok(last && !event_field(last, "over_subscribed"), "room: the runlist is over-subscribed no more");
	tap_eq(count_of(e, "kfd_park") + count_of(e, "kfd_preempt_begin"), 0, "room: no process is parked or preempted for it");
	events_free(e);
	tap_ok(completes(&busy), "room: its work is complete, once");
	/* the one of higher priority last: whoever rings while it holds the level is preempted */
	for (i = IDLE; i-- > 0;) {
		request(&idle[i], MS);
		all &= completes(&idle[i]);
		counted += stat_of(&idle[i], "preempted_count");
	}
	tap_ok(all, "room: each of them runs when it rings");
	tap_eq(counted, 0, "room: and none counts as preempted");
	/* a ring beside the busy one */
	actor_do(&busy, act_submit, MS, 100);
	nap_ns(20 * MS);
	request(&idle[1], MS);
	tap_ok(actor_do(&busy, act_left, 0, 0) > 1, "room: one that rings is served beside the one that works");
	tap_ok(completes(&busy), "room: whose work is complete, once");
	for (i = 0; i < IDLE; i++)
		actor_kill(&idle[i]);
	actor_kill(&busy);
}

/* One dispatch that takes so many ms, in a queue of PM4 packets: nothing but its waves shows that it runs */
static long act_last_kernel(long ms, long unused)
{
	const struct kfdc_ring_attr attr = KFDC_PM4_DEFAULT;
	struct kfdc_ring *ring;
	long r;

	(void)unused;
	r = kfdc_ring_create(me.c, &attr, &ring);
	if (r)
		return r;
	__atomic_fetch_add((int64_t *)kfdc_signal_mem(me.s) + 1, 1, __ATOMIC_SEQ_CST);
	/* a full load of waves takes 20 us */
	r = kfdc_pm4_dispatch(ring, kfdc_max_waves(me.c) * 50 * ms);
	r = r ? r : kfdc_pm4_signal(ring, me.s);
	if (!r)
		kfdc_ring_submit(ring);
	return r;
}

/* The last kernel of one of them still runs: it is taken off, is seen to have waves, returns and stays */
static void room_last_kernel(void)
{
	struct actor busy, last, idle[IDLE];
	struct commands before, after;
	int i;

	busy = online_start(0, 12);
	last = online_start(0, 12);
	for (i = 0; i < IDLE; i++)
		idle[i] = online_start(0, 12);
	before = commands(0);
	tap_eq(actor_do(&last, act_last_kernel, 300, 0), 0, "room_last_kernel: it rings");
	/* it holds no more */
	nap_ns(param("linger_us") * US + 10 * MS);
	actor_do(&busy, act_submit, MS, 200);
	nap_ns(20 * MS);
	i = mapped(0);
	/* it has two queues */
	tap_ok(i >= 2 && i <= VMIDS + 1 && actor_do(&busy, act_left, 0, 0) > 1, "room_last_kernel: the others make room (%d are mapped)", i);
	tap_ok(completes(&last), "room_last_kernel: its kernel ends, once");
	tap_ok(completes(&busy), "room_last_kernel: and what runs beside it");
	after = commands(0);
	tap_ok(after.unmaps - before.unmaps <= (has_mes(0) ? 2 * IDLE : 8), "room_last_kernel: it cost %lld unmaps", after.unmaps - before.unmaps);
	for (i = 0; i < IDLE; i++)
		actor_kill(&idle[i]);
	actor_kill(&last);
	actor_kill(&busy);
}

/* There is room for all: nobody is taken off */
static void room_free(void)
{
	struct commands before, after;
	struct actor busy, idle;

	busy = online_start(0, 12);
	idle = online_start(0, 12);
	before = commands(0);
	batch(&busy, 60);
	after = commands(0);
	tap_eq(after.unmaps - before.unmaps, 0, "room_free: with room for both no runlist is sent");
	actor_kill(&idle);
	actor_kill(&busy);
}

/* All ring again and again: updates of the runlist end after ten of each in a second */
static void room_often(void)
{
	enum { ROUNDS = 40 };
	struct commands before, after;
	struct actor busy, idle[IDLE];
	bool all = true;
	int i, n;

	busy = online_start(0, 12);
	for (i = 0; i < IDLE; i++)
		idle[i] = online_start(0, 12);
	before = commands(0);
	for (n = 0; n < ROUNDS; n++) {
		actor_do(&busy, act_submit, MS, 10);
		for (i = 0; i < IDLE; i++)
			request(&idle[i], 20 * US);
		actor_do(&busy, act_wait, 60000, 0);
	}
	after = commands(0);
	for (i = 0; i < IDLE; i++)
		all &= completes(&idle[i]);
	tap_ok(all && completes(&busy), "room_often: all is complete, once");
	/* each taking off and each return is an update; with MES one command each */
	tap_ok(after.unmaps - before.unmaps <= 3 * 11 * IDLE, "room_often: %d rings cost %lld unmaps", ROUNDS * IDLE, after.unmaps - before.unmaps);
	for (i = 0; i < IDLE; i++)
		actor_kill(&idle[i]);
	actor_kill(&busy);
}

const struct test tests_room[] = {
	{ "room", room }, { "room_last_kernel", room_last_kernel }, { "room_free", room_free, .waves = true },
	{ "room_often", room_often, .waves = true, .deep = true }, {}
};
