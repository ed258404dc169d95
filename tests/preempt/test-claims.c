// SPDX-License-Identifier: GPL-2.0
/* What processes that may preempt cost while they have no work, and when work of them is found for which a device has rung */
#include <stdio.h>
#include "preempt.h"

#define CLAIMS		24
#define QUEUES		8
#define POLLED		8	/* so many idle claims are observed every safety_poll_us */
#define BUSY_NS		(60 * MS)
#define LOOK_NS		(55 * US)

/* The thread's CPU time for each time that it runs, ns, while @on has work */
static long long look_ns(const struct actor *on, const char *what)
{
	unsigned long long begun, ended;
	long long ns = engine_ran(&begun);

	if (actor_do(on, act_request, BUSY_NS, 0) < 0)
		tap_bail("a request failed");
	ns = engine_ran(&ended) - ns;
	if (ended == begun)
		tap_bail("the thread did not run");
	tap_diag("%s: it runs %llu times in a request of %lld ms", what, ended - begun, BUSY_NS / MS);
	return ns / (long long)(ended - begun);
}

static struct actor claim_start(void)
{
	struct actor a = actor_start(0, QUEUES, 7);

	prioritise(&a, 12);
	if (actor_do(&a, act_request, 10 * US, 0) < 0)
		tap_bail("a request failed");
	return a;
}

/* Observing costs what has work, and of idle claims it costs the same however many they are */
static void idle_claims(void)
{
	long long poll_ns = param("safety_poll_us") * US, alone, many, share, took, worst = 0;
	struct actor on, idle[CLAIMS];
	uint64_t begin;
	int i;

	/* more processes than VMIDs, which would wait for their turns */
	param_set("idle_park_ms", 10);
	on = claim_start();
	nap_ns(10 * MS);
	alone = look_ns(&on, "idle_claims: alone");
	for (i = 0; i < CLAIMS; i++)
		idle[i] = claim_start();
	nap_ns(100 * MS);
	many = look_ns(&on, "idle_claims: beside the others");
	tap_ok(many <= (long long)LOOK_NS, "idle_claims: beside %d of %d queues each the thread runs for %lld ns at a time (alone %lld), at most %llu", CLAIMS,
	       QUEUES, many, alone, LOOK_NS);
	share = engine_ran(NULL);
	nap_ns(SEC);
	share = engine_ran(NULL) - share;
	tap_ok(share <= 8 * (long long)MS, "idle_claims: all idle, the thread takes %lld us of a second, at most 8000", share / 1000);
	for (i = 0; i < CLAIMS; i += CLAIMS / 4) {
		begin = kfdc_now();
		if (actor_do(&idle[i], act_submit_silently, 10 * US, 0))
			tap_bail("the packet was refused");
		if (!completes(&idle[i]))
			tap_ok(false, "idle_claims: work without a ring completes");
		took = actor_do(&idle[i], act_done_at, 0, 0) - begin;
		worst = took > worst ? took : worst;
	}
	tap_ok(worst < (CLAIMS / POLLED + 2) * poll_ns, "idle_claims: work without a ring is found within %lld us, less than %lld", worst / 1000,
	       (CLAIMS / POLLED + 2) * poll_ns / 1000);
	for (i = 0; i < CLAIMS; i++)
		actor_kill(&idle[i]);
	actor_kill(&on);
}

const struct test tests_claims[] = {
	{ "idle_claims", idle_claims }, {}
};
