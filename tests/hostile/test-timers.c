// SPDX-License-Identifier: GPL-2.0
/*
 * Runlists of a user must not put off what the engine does by time: beside an idle claim its thread examines the GPU
 * every safety_poll_us, however often a process of lower priority updates a queue.
 */
#include <errno.h>
#include <string.h>
#include "hostile.h"

#define WATCH_NS	SEC

/* Updates of one queue until the parent says stop: shared->count[1]; how many: shared->count[0] */
static long act_updates(long every_us, long unused)
{
	struct kfdc_queue *q;
	long r = kfdc_queue_create(me.c, NULL, &q);

	(void)unused;
	while (!r && !shared->count[1]) {
		nap_ns(every_us * US);
		r = kfdc_queue_update(q, 100, 7);
		shared->count[0]++;
	}
	return r;
}

static void poll_beside(unsigned int per_s)
{
	struct actor user = user_start(0);
	long long wakes, updates;
	uint64_t at, ns, least;
	long r = 0;

	shared->count[0] = shared->count[1] = 0;
	if (per_s)
		actor_tell(&user, act_updates, 1000000 / per_s, 0);
	nap_ns(100 * MS);
	at = kfdc_now();
	updates = shared->count[0];
	wakes = engine_wakes();
	nap_ns(WATCH_NS);
	wakes = engine_wakes() - wakes;
	updates = shared->count[0] - updates;
	ns = kfdc_now() - at;
	shared->count[1] = 1;
	if (per_s && (!actor_hear(&user, &r, 10000) || r))
		tap_bail("updates of a queue: %s", strerror(-r));
	least = ns / (param("safety_poll_us") * US) * 95 / 100;
	tap_ok(wakes >= (long long)least,
	       "poll: beside %u updates a second (%lld) the engine's thread wakes 95 times of 100 (%lld times in a second, at least %lld)",
	       per_s, updates * (long long)SEC / (long long)ns, wakes, (long long)least);
	actor_kill(&user);
}

static void poll(void)
{
	static const unsigned int rates[] = { 0, 50, 110, 200, 1000 };
	struct actor on = online_start(0, 12);
	unsigned int i;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		poll_beside(rates[i]);
	actor_kill(&on);
}

const struct test tests_timers[] = {
	{ "poll", poll },
	{}
};
