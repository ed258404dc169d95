// SPDX-License-Identifier: GPL-2.0
/* idle_park_ms=auto: processes are parked where a GPU is over-subscribed, and nowhere else */
#include <errno.h>
#include "preempt.h"

#define AFTER		(1000 * MS)	/* KFD_PRIO_CROWD_AFTER_NS of the driver */
#define HOLD		(10000 * MS)	/* KFD_PRIO_CROWD_HOLD_NS */
#define CHECK		(1000 * MS)	/* KFD_PRIO_CROWD_CHECK_NS */
#define VMIDS		8		/* that a GPU has for KFD */
#define IDLE		12		/* with the one that works, more than that */

static void auto_on(void)
{
	int err = param_try("idle_park_ms", "auto");

	if (err)
		tap_bail("idle_park_ms=auto is refused: %d", err);
}

/* @n idle processes, which have had a request each */
static void idle_start(struct actor *idle, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		idle[i] = actor_start(0, 1, 7);
		request(&idle[i], MS);
	}
}

static bool idle_kill(struct actor *idle, int n)
{
	bool all = true;
	int i;

	for (i = 0; i < n; i++) {
		request(&idle[i], MS);
		all &= completes(&idle[i]);
		actor_kill(&idle[i]);
	}
	return all;
}

/* The values of the parameter */
static void auto_values(void)
{
	tap_eq(param_try("idle_park_ms", "auto"), 0, "auto_values: auto is accepted");
	tap_ok(param_is("idle_park_ms", "auto"), "auto_values: and read back");
	tap_eq(param_try("idle_park_ms", "60000"), 0, "auto_values: so is the highest number");
	tap_ok(param_is("idle_park_ms", "60000"), "auto_values: and read back");
	tap_eq(param_try("idle_park_ms", "60001"), EINVAL, "auto_values: one more is refused");
	tap_eq(param_try("idle_park_ms", "Auto"), EINVAL, "auto_values: so is another word");
	tap_eq(param_try("idle_park_ms", "auto1"), EINVAL, "auto_values: and a word behind it");
	tap_eq(param_try("idle_park_ms", "\n"), EINVAL, "auto_values: and nothing");
	tap_ok(param_is("idle_park_ms", "60000"), "auto_values: which changes nothing");
}

/* Room for all: no thread is started, none runs, no ring faults, and nothing is parked */
static void auto_alone(void)
{
	bool thread = engine_thread();
	struct actor idle[3], busy;
	struct ran before, after;
	struct events *e;

	auto_on();
	idle_start(idle, 3);
	busy = offline_start(0, 50 * MS, 100);
	/* an earlier test may have left work to the thread */
	nap_ns(100 * MS);
	e = events_start("kfd");
	before = engine_ran();
	nap_ns(3 * AFTER);
	after = engine_ran();
	tap_eq(after.runs - before.runs, 0, "auto_alone: the engine's thread does not run");
	tap_eq(engine_thread(), thread, "auto_alone: none is started");
	tap_eq(actor_do(&idle[0], act_faults, 10, 0), 0, "auto_alone: no ring faults");
	tap_eq(mapped(0), 4, "auto_alone: all are mapped");
	events_stop(e);
	tap_eq(events_count(e, "kfd_park", NULL, 0), 0, "auto_alone: nothing is parked");
	events_free(e);
	tap_ok(completes(&busy) && idle_kill(idle, 3), "auto_alone: all is complete, once");
	actor_kill(&busy);
}

/* More processes than VMIDs: those without work leave by themselves until there is room, each once */
static void auto_crowd(void)
{
	struct actor busy, idle[IDLE];
	const struct event *ev;
	long alone, beside, left;
	struct events *e;
	int i, most = 0;
	uint64_t t;

	auto_on();
	busy = actor_start(0, 1, 7);
	alone = request(&busy, 20 * MS);
	e = events_start("kfd");
	idle_start(idle, IDLE);
	actor_do(&busy, act_submit, longer(100 * MS), 25);
	/* the driver parks no more of them then: idle ones that take no turns cost the others nothing */
	t = kfdc_now();
	while (mapped(0) > VMIDS && kfdc_now() - t < 20 * SEC)
		nap_ns(MS);
	left = actor_do(&busy, act_left, 0, 0);
	tap_ok(mapped(0) <= VMIDS && left > 1, "auto_crowd: so many leave that the others need no turns, while one works (%d are mapped, %ld dispatches left)",
	       mapped(0), left);
	nap_ns(2 * AFTER);
	tap_ok(completes(&busy), "auto_crowd: its work is complete, once");
	/* the busy process may have been parked meanwhile, so its next request is not the one that is measured */
	request(&busy, MS);
	beside = request(&busy, 20 * MS);
	tap_ok(in_time(beside, alone + alone / 100), "auto_crowd: it takes no longer than alone (%ld us, alone %ld)", beside / 1000, alone / 1000);
	events_stop(e);
	for (i = 0; i < IDLE; i++) {
		int n = events_count(e, "kfd_park", "pid", idle[i].pid);

		most = n > most ? n : most;
	}
	tap_eq(most, 1, "auto_crowd: each is parked once");
	ev = events_find(e, NULL, "kfd_park", NULL, 0);
	tap_ok(ev && event_field(ev, "idle_ns") >= (long long)AFTER, "auto_crowd: and not before it was without work for %llu ms",
	       AFTER / MS);
	if (!tap_ok(park_paired(e), "auto_crowd: events are paired") || left <= 1)
		events_print(e);
	events_free(e);
	tap_ok(engine_thread(), "auto_crowd: the engine's thread runs");
	tap_ok(idle_kill(idle, IDLE), "auto_crowd: all run when they ring");
	actor_kill(&busy);
}

/* The first request of a parked process while the others have none: its restore, and little more */
static void auto_wakes(void)
{
	long long restore = param("restore_us") * US;
	struct actor idle[IDLE + 1];
	long ns, most = 0;
	bool off = true;
	int i;

	auto_on();
	idle_start(idle, IDLE + 1);
	for (i = 0; i <= IDLE; i++) {
		off &= wait_mapped(0, 0);
		ns = request(&idle[i], MS) - MS;
		most = ns > most ? ns : most;
	}
	tap_ok(off, "auto_wakes: all leave, and again after each ring");
	tap_ok(in_time(most, restore + 50 * US), "auto_wakes: each begins at most its restore and 50 us after its ring (%ld us)", most / 1000);
	/* without that wait HWS unmaps those that have rung before */
	wait_mapped(0, 0);
	for (most = 0, i = 0; i <= IDLE; i++) {
		ns = request(&idle[i], MS) - MS;
		most = ns > most ? ns : most;
	}
	tap_diag("auto_wakes: %ld us at most while others without work are mapped", most / 1000);
	tap_ok(idle_kill(idle, IDLE + 1), "auto_wakes: all is complete, once");
}

/* One of @idle that is parked */
static const struct actor *parked_one(const struct actor *idle, int n)
{
	uint64_t end = kfdc_now() + 20 * SEC;
	long long us;
	int i;

	for (i = 0; kfdc_now() < end; i = (i + 1) % n) {
		us = stat_of(&idle[i], "parked_us");
		nap_ns(2 * MS);
		if (us && stat_of(&idle[i], "parked_us") > us)
			return &idle[i];
	}
	tap_bail("no process is parked within 20 s");
}

/*
 * Beside a process that works. With HWS the update for the ring saves the waves of the other, and a request does not wait for the end
 * of the other's kernel, as that of an unparked process does. With MES it waits for no longer than that.
 */
static void auto_wakes_busy(void)
{
	long long limit = (param("restore_us") + param("save_us") + 50) * US + longer(100 * MS);
	long ns, mapped_ns = 0, parked_ns = 0;
	struct actor busy, idle[IDLE];
	int i;

	busy = offline_start(0, 100 * MS, 600);
	idle_start(idle, 1);
	for (i = 0; i < 40; i++) {
		nap_ns(AFTER / 40 + i * 100 * US);
		ns = request(&idle[0], MS) - MS;
		mapped_ns = ns > mapped_ns ? ns : mapped_ns;
	}
	idle_start(idle + 1, IDLE - 1);
	auto_on();
	for (i = 0; i < 12; i++) {
		ns = request(parked_one(idle, IDLE), MS) - MS;
		parked_ns = ns > parked_ns ? ns : parked_ns;
	}
	if (!has_mes(0))
		limit = mapped_ns / 10;
	tap_ok(in_time(parked_ns, limit), "auto_wakes_busy: a request takes %ld us more than its time, unparked %ld (at most %lld)",
	       parked_ns / 1000, mapped_ns / 1000, limit / 1000);
	actor_kill(&busy);
	tap_ok(idle_kill(idle, IDLE), "auto_wakes_busy: all is complete, once");
}

/* When there is room again for some time, the parked ones return, and rings fault no more */
static void auto_ends(void)
{
	struct actor idle[IDLE + 1];
	uint64_t t;

	auto_on();
	idle_start(idle, IDLE + 1);
	tap_ok(wait_mapped(0, 0), "auto_ends: all leave");
	t = kfdc_now();
	idle_kill(idle + 2, IDLE - 1);
	nap_ns(HOLD / 2);
	tap_eq(mapped(0), 0, "auto_ends: the last two stay parked for some time");
	tap_ok(wait_mapped(0, 2), "auto_ends: then they return by themselves");
	t = kfdc_now() - t;
	/* the driver counts from when it has last looked, which it does once in a second */
	tap_ok(t >= HOLD - CHECK && in_time(t, HOLD + 2 * CHECK), "auto_ends: after %llu s (%llu ms)", HOLD / SEC, (unsigned long long)t / MS);
	actor_do(&idle[0], act_faults, 1, 0);
	nap_ns(2 * AFTER);
	tap_eq(actor_do(&idle[0], act_faults, 10, 0), 0, "auto_ends: their rings fault no more");
	tap_eq(mapped(0), 2, "auto_ends: and they stay");
	tap_ok(idle_kill(idle, 2), "auto_ends: all is complete, once");
}

/* The GPU becomes over-subscribed for a moment again and again; a process rings at once after each parking */
static void auto_flaps(void)
{
	struct actor idle[IDLE], one, last;
	long long parked, before;
	uint64_t t, end;

	auto_on();
	idle_start(idle, IDLE);
	one = actor_start(0, 1, 7);
	t = kfdc_now();
	before = stat_of(&one, "parked_count");
	for (end = t + 5 * SEC; kfdc_now() < end;) {
		last = actor_start(0, 1, 7);
		request(&last, MS);
		if (stat_of(&one, "parked_count") > before) {
			before = stat_of(&one, "parked_count");
			request(&one, MS);
		}
		actor_kill(&last);
		nap_ns(100 * MS);
	}
	parked = stat_of(&one, "parked_count");
	tap_ok(parked >= 2, "auto_flaps: a process that rings whenever it was parked is parked again (%lld times)", parked);
	tap_ok(parked <= (long long)((kfdc_now() - t) / AFTER), "auto_flaps: once in a second at most (%lld times in %llu ms)", parked,
	       (unsigned long long)(kfdc_now() - t) / MS);
	tap_ok(completes(&one), "auto_flaps: its work is complete, once");
	actor_kill(&one);
	tap_ok(idle_kill(idle, IDLE), "auto_flaps: so is that of the others");
}

static bool said(void)
{
	return debugfs_shows(0, "idle_park_ms=auto: processes are parked");
}

/* --park=never puts a parked process back, and any user may say so of its own: not more often than a ring would */
static void auto_toggles(void)
{
	struct actor busy, idle[IDLE];
	const struct actor *one;
	long long parked, unmaps;
	long before, after;
	int i, n = 0;
	uint64_t t;

	auto_on();
	busy = offline_start(0, 2 * MS, 900);
	/* with the one that works these fill the GPU, so that it is over-subscribed when another returns */
	idle_start(idle, IDLE);
	for (i = 0; i < VMIDS - 1; i++)
		if (kfd_may_park(idle[i].pid, false))
			tap_bail("auto_toggles: process %d", i);
	one = parked_one(idle + i, IDLE - i);
	before = actor_do(&busy, act_left, 0, 0);
	nap_ns(AFTER / 2);
	before -= actor_do(&busy, act_left, 0, 0);
	parked = stat_of(one, "parked_count");
	unmaps = commands(0).unmaps;
	after = actor_do(&busy, act_left, 0, 0);
	for (t = kfdc_now(); kfdc_now() - t < AFTER / 2; n++) {
		if (kfd_may_park(one->pid, false) || kfd_may_park(one->pid, true))
			tap_bail("auto_toggles: %d", n);
		nap_ns(500 * US);
	}
	after -= actor_do(&busy, act_left, 0, 0);
	parked = stat_of(one, "parked_count") - parked;
	tap_ok(n > 10 && parked <= 1, "auto_toggles: a process that %d times in half a second is never to be parked, and then is, is parked once (%lld times)",
	       n, parked);
	unmaps = commands(0).unmaps - unmaps;
	tap_ok(unmaps <= 10, "auto_toggles: others are not unmapped for it (%lld times)", unmaps);
	/* while it is not parked, it has its turns */
	tap_ok(after >= before * 2 / 5 || sim_debug_kernel(), "auto_toggles: and have their turns (%ld dispatches, %ld before)", after, before);
	actor_kill(&busy);
	tap_ok(idle_kill(idle, IDLE), "auto_toggles: all is complete, once");
}

/* Those that are parked count: as long as they would over-subscribe the GPU, none returns */
static void auto_stays(void)
{
	struct actor idle[IDLE];
	long long parked = 0;
	int i;

	auto_on();
	idle_start(idle, IDLE);
	tap_ok(wait_mapped(0, 0), "auto_stays: all leave");
	nap_ns(HOLD + 3 * CHECK);
	for (i = 0; i < IDLE; i++)
		parked += stat_of(&idle[i], "parked_count");
	tap_ok(!mapped(0) && parked == IDLE, "auto_stays: and none has returned after %d s (parked %lld times)",
	       (int)((HOLD + 3 * CHECK) / SEC), parked);
	tap_ok(idle_kill(idle, IDLE), "auto_stays: all is complete, once");
}

/* The GPU is over-subscribed for a moment every two seconds: parking does not end */
static void auto_moments(void)
{
	struct actor idle[VMIDS], last;
	uint64_t t = kfdc_now();
	int n = 0, ended = 0;

	auto_on();
	idle_start(idle, VMIDS);
	for (; kfdc_now() - t < HOLD + 4 * CHECK; n++) {
		ended += n && !said();
		last = actor_start(0, 1, 7);
		request(&last, MS);
		actor_kill(&last);
		nap_ns(3 * CHECK / 2 + n * 137 % 500 * MS);
	}
	tap_eq(ended, 0, "auto_moments: over-subscribed %d times in %d s: parking does not end", n, (int)((HOLD + 4 * CHECK) / SEC));
	tap_ok(idle_kill(idle, VMIDS), "auto_moments: all is complete, once");
}

/* All processes end while they are parked: parking ends too, and the thread sleeps */
static void auto_gone(void)
{
	struct actor idle[IDLE];
	struct ran before, after;
	int i;

	auto_on();
	/* the interval of the safety poll is not what decides about it */
	param_set("safety_poll_us", 1000000);
	idle_start(idle, IDLE);
	tap_ok(wait_mapped(0, 0) && said(), "auto_gone: all leave, and debugfs says so");
	for (i = 0; i < IDLE; i++)
		actor_kill(&idle[i]);
	nap_ns(HOLD + 3 * CHECK);
	tap_ok(!said(), "auto_gone: when all have ended parking does, as debugfs says");
	before = engine_ran();
	nap_ns(2 * CHECK);
	after = engine_ran();
	tap_eq(after.runs - before.runs, 0, "auto_gone: the engine's thread does not run");
}

/* With 0 no process is parked; auto that is written while the GPU is over-subscribed parks at once */
static void auto_never(void)
{
	struct actor idle[IDLE + 1];

	param_set("idle_park_ms", 0);
	idle_start(idle, IDLE + 1);
	nap_ns(2 * AFTER);
	tap_eq(mapped(0), IDLE + 1, "auto_never: with 0 all stay");
	auto_on();
	tap_ok(wait_mapped(0, 0), "auto_never: with auto they leave");
	param_set("idle_park_ms", 0);
	tap_ok(wait_mapped(0, IDLE + 1), "auto_never: with 0 they return");
	tap_ok(idle_kill(idle, IDLE + 1), "auto_never: all is complete, once");
}

const struct test tests_auto[] = {
	/* the first: is no thread started? */
	{ "auto_alone", auto_alone }, { "auto_values", auto_values }, { "auto_crowd", auto_crowd }, { "auto_wakes", auto_wakes }, { "auto_wakes_busy", auto_wakes_busy },
	{ "auto_ends", auto_ends }, { "auto_flaps", auto_flaps }, { "auto_toggles", auto_toggles },
	{ "auto_stays", auto_stays }, { "auto_moments", auto_moments }, { "auto_gone", auto_gone }, { "auto_never", auto_never }, {}
};
