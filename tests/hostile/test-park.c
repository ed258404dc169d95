// SPDX-License-Identifier: GPL-2.0
/*
 * Users who want more of an over-subscribed GPU than their turns: with idle_park_ms=auto they gain no more by hiding
 * their work, by pretending to have some, or by ringing whenever they are parked than they have with idle_park_ms=0.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "disguise.h"

#define CROWD		12		/* with the process that works, more than the GPU has VMIDs for KFD */
#define REQUESTS	(long_form ? 1000 : 150)
#define AFTER		(1000 * MS)	/* KFD_PRIO_CROWD_AFTER_NS of the driver */

/* Rings whenever it was parked, with work of 10 us, until the parent says stop: shared->count[1] */
static long act_ring_parked(long unused, long unused2)
{
	struct actor self = { .pid = getpid(), .gpu = 0 };
	long long parked = 0, now;
	long r = act_create(1, 7);

	(void)unused, (void)unused2;
	r = r ? r : act_submit(10 * US, 1);
	while (!r && !shared->count[1]) {
		nap_ns(5 * MS);
		now = stat_of(&self, "parked_count");
		if (now > parked) {
			parked = now;
			r = act_submit(10 * US, 1);
			shared->count[2]++;
		}
	}
	return r ? r : act_wait(10000, 0);
}

/* Requests of 1 ms a second of a process beside the crowd */
static long rate(const struct actor *on)
{
	requests(on, REQUESTS, MS, 0);
	return (long)(REQUESTS * SEC / (shared->end[REQUESTS - 1] - shared->begin[0]));
}

/* A process completes nine of ten requests with auto that it completes with 0, beside the crowd */
static void gain(const char *what, const struct actor *on)
{
	long none = rate(on), with;

	if (param_try("idle_park_ms", "auto"))
		tap_bail("idle_park_ms=auto is refused");
	nap_ns(3 * AFTER);
	with = rate(on);
	tap_ok(in_time(none * 9 / 10, with + 1), "%s: %s: a process completes %ld requests a second beside them, without parking %ld",
	       test_name, what, with, none);
	param_set("idle_park_ms", 0);
}

static struct actor worker(void)
{
	struct actor on = user_start(0);

	if (actor_do(&on, act_create, 1, 7))
		tap_bail("a queue");
	return on;
}

static void park_hide(void)
{
	static const char *const as[] = { "hide_pretend", "hide_page", "hide_absent" };
	struct actor on = worker(), crowd[CROWD];
	unsigned int i, k;

	for (k = 0; k < sizeof(as) / sizeof(as[0]); k++) {
		for (i = 0; i < CROWD; i++) {
			crowd[i] = user_start(0);
			if (actor_do(&crowd[i], act_batch, disguise_of(as[k]), 0))
				tap_bail("%s", as[k]);
		}
		gain(disguises[disguise_of(as[k])].what, &on);
		for (i = 0; i < CROWD; i++)
			actor_kill(&crowd[i]);
	}
	actor_kill(&on);
}

static void park_rings(void)
{
	struct actor on = worker(), crowd[CROWD];
	uint64_t at = kfdc_now();
	unsigned int i;
	long r = 0;

	for (i = 0; i < CROWD; i++) {
		crowd[i] = user_start(0);
		actor_tell(&crowd[i], act_ring_parked, 0, 0);
	}
	nap_ns(500 * MS);
	gain("ring whenever they are parked", &on);
	tap_ok(shared->count[2] >= CROWD / 2 && shared->count[2] <= CROWD * ((kfdc_now() - at) / AFTER + 1),
	       "park_rings: each was parked at most once a second (%llu times in all)", (unsigned long long)shared->count[2]);
	shared->count[1] = 1;
	for (i = 0; i < CROWD; i++) {
		if (!actor_hear(&crowd[i], &r, 20000) || r)
			tap_bail("park_rings: %s", strerror(-r));
		actor_kill(&crowd[i]);
	}
	actor_kill(&on);
}

const struct test tests_parked[] = {
	{ "park_hide", park_hide },
	{ "park_rings", park_rings },
	{}
};
