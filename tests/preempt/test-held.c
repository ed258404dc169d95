// SPDX-License-Identifier: GPL-2.0
/* A level that is held, because more preemptions would exceed max_switch_pct */
#include "preempt.h"

/*
 * Requests of 500 us each 5 ms where a save takes a millisecond, so that 50 of the 200 preemptions a second are
 * permitted: the worst latency of the last 300, us.  @had: share of the time in which the others had the GPU, percent
 */
static long held_latency(const struct actor *online, const struct actor *offline, const char *policy, double *had)
{
	long ns, worst = 0, left = 0;
	uint64_t start = 0;
	int i;

	if (param_try("max_switch_policy", policy))
		tap_bail("max_switch_policy=%s is refused", policy);
	for (i = 0; i < 500; i++) {
		if (i == 200) {
			left = actor_do(offline, act_left, 0, 0);
			start = kfdc_now();
		}
		ns = actor_do(online, act_request, 500 * US, 0);
		if (ns < 0)
			tap_bail("no answer from the online process");
		if (i >= 200 && ns > worst)
			worst = ns;
		nap_ns(4500 * US);
	}
	left -= actor_do(offline, act_left, 0, 0);
	*had = 1000.0 * (double)left * MS / (double)(kfdc_now() - start);
	return worst / 1000;
}

/* More requests than max_switch_pct permits preemptions */
static void held(void)
{
	struct actor offline = offline_start(0, 10 * MS, 700), online = online_start(0, 12);
	double hold_had, share_had;
	long hold, share;

	param_set("save_us", 1000);
	param_set("restore_us", 1000);
	hold = held_latency(&online, &offline, "hold", &hold_had);
	share = held_latency(&online, &offline, "share", &share_had);
	tap_ok(hold < 500 + 1000 + 100, "held: with hold no request takes more than a save longer: %ld us", hold);
	tap_ok(hold_had > 7, "held: the others have %.1f %% of the GPU", hold_had);
	tap_ok(share > 500 + 2 * 1000, "held: with share a request takes up to %ld us", share);
	tap_ok(share_had > 2 * hold_had, "held: and the others have %.1f %%", share_had);
	param_set("save_us", 20);
	param_set("restore_us", 20);
	actor_kill(&online);
	tap_ok(completes(&offline), "held: all of them is complete, once");
	actor_kill(&offline);
}

/* An idle process of another priority, which is looked at while a level is held, does not end it */
static void held_beside(void)
{
	struct actor offline = offline_start(0, 10 * MS, 700), online = online_start(0, 12), other;
	long long saves, alone;
	double had;

	param_set("save_us", 1000);
	param_set("restore_us", 1000);
	saves = sim_counter(0, "saves");
	held_latency(&online, &offline, "hold", &had);
	alone = sim_counter(0, "saves") - saves;
	other = online_start(0, 14);
	saves = sim_counter(0, "saves");
	held_latency(&online, &offline, "hold", &had);
	saves = sim_counter(0, "saves") - saves;
	tap_ok(4 * saves <= 5 * alone, "held_beside: %lld saves beside an idle process of priority 14, %lld without it", saves, alone);
	param_set("save_us", 20);
	param_set("restore_us", 20);
	actor_kill(&other);
	actor_kill(&online);
	tap_ok(completes(&offline), "held_beside: all of them is complete, once");
	actor_kill(&offline);
}

const struct test tests_held[] = {
	{ "held", held, .deep = true }, { "held_beside", held_beside, .deep = true }, {}
};
