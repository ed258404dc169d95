// SPDX-License-Identifier: GPL-2.0
/*
 * max_switch_policy and floor_period_ms: requests at rates up to more than the GPU can serve, against
 * the policy, on the model of a GPU in rate.c.
 */
#include "rate.h"

static const u64 saves[] = { 40 * US, 87 * US, 327 * US };

static struct rate_run run_of(enum rate_arrivals arrivals, u64 every, u64 request, u64 save, u64 period)
{
	struct rate_run r = { PARAMS, arrivals, every, save, request, 3 * SEC, 0 };

	r.k.hold = true;
	r.k.period_ns = period;
	srandom(1);
	return r;
}

#define US_OF(ns)	((unsigned long long)(ns) / 1000)

/* No request waits for more than a save, wherever the gaps give the floor */
static void test_latency(void **state)
{
	static const u32 rates[] = { 10, 50, 100, 150, 160, 200, 250, 300, 350, 400, 450 };
	static const u64 periods[] = { 100 * MS, SEC };
	struct rate_result o;
	struct rate_run r;
	u32 i, s, p;

	(void)state;
	for (p = 0; p < 2; p++)
		for (s = 0; s < 3; s++)
			for (i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
				r = run_of(RATE_EVEN, SEC / rates[i], MS, saves[s], periods[p]);
				rate_play(&r, &o);
				if (o.max > MS + saves[s] + 15 * US || o.n < 3 * rates[i] - 2)
					fail_msg("%u a second, save %llu us: P99 %llu us, max %llu us", rates[i],
						 US_OF(saves[s]), US_OF(o.p99), US_OF(o.max));
			}
	for (s = 0; s < 3; s++) {
		r = run_of(RATE_EVEN, 2 * MS, MS, saves[s], 100 * MS);
		r.k.floor_pct = 2;
		rate_play(&r, &o);
		if (o.max > MS + saves[s] + 15 * US)
			fail_msg("500 a second, save %llu us: max %llu us", US_OF(saves[s]), US_OF(o.max));
	}
}

/* The offline share falls with the rate down to the floor, and not off a cliff; switching stays within its share */
static void test_share(void **state)
{
	struct rate_result o;
	struct rate_run r;
	double was, switching;
	u32 rate, s;

	(void)state;
	for (s = 0; s < 3; s++)
		for (rate = 25, was = 1; rate <= 1000; rate += rate < 200 ? 25 : 50) {
			r = run_of(RATE_EVEN, SEC / rate, MS, saves[s], 100 * MS);
			rate_play(&r, &o);
			switching = (double)(2 * saves[s] * o.switches) / 4e9;
			if (o.offline > was + 0.005 || o.offline < 0.045 || o.offline < was - 0.26 || switching > 0.14)
				fail_msg("save %llu us: offline %.3f at %u a second, %.3f before; switching %.3f",
					 US_OF(saves[s]), o.offline, rate, was, switching);
			was = o.offline;
		}
	/* a request each 5 ms leaves 4 ms: what a preemption costs is lost, and what is not spent on one is */
	r = run_of(RATE_EVEN, 5 * MS, MS, 327 * US, 100 * MS);
	rate_play(&r, &o);
	if (o.offline < 0.45)
		fail_msg("offline %.3f at 200 a second", o.offline);
}

/* In no period does the offline work have less than its floor, and no block is longer than that needs */
static void test_floor(void **state)
{
	static const u64 periods[] = { 100 * MS, 250 * MS, SEC };
	static const struct { enum rate_arrivals arrivals; u64 every, request; } t[] = {
		{ RATE_CLOSED, 50 * US, MS }, { RATE_CLOSED, 50 * US, 20 * MS }, { RATE_CLOSED, 400 * US, MS },
		{ RATE_CLOSED, 0, 5 * MS }, { RATE_EVEN, 1250 * US, MS }, { RATE_EVEN, 1700 * US, MS },
		{ RATE_POISSON, 1250 * US, MS }, { RATE_POISSON, 6250 * US, 5 * MS }, { RATE_POISSON, 2 * MS, MS },
		/* rings that end each gap at once */
		{ RATE_EVEN, 100 * US, 20 * US }, { RATE_EVEN, 350 * US, 20 * US },
	};
	struct rate_result o;
	struct rate_run r;
	u64 floor, longest;
	u32 i, p, s;

	(void)state;
	for (p = 0; p < 3; p++)
		for (s = 0; s < 3; s++)
			for (i = 0; i < sizeof(t) / sizeof(*t); i++) {
				r = run_of(t[i].arrivals, t[i].every, t[i].request, saves[s], periods[p]);
				rate_play(&r, &o);
				floor = periods[p] / 20;
				/* the updates beside save and restore are not known to the policy */
				if (o.floor_least < floor - floor / 40)
					fail_msg("case %u, save %llu us, period %llu us: %llu us of it", i, US_OF(saves[s]),
						 US_OF(periods[p]), US_OF(o.floor_least));
				longest = floor + 2 * saves[s] + periods[p] / 1000 + 1;
				if (o.block_max > longest || (!p && o.block_max > 6 * MS))
					fail_msg("case %u, save %llu us, period %llu us: a block of %llu us", i,
						 US_OF(saves[s]), US_OF(periods[p]), US_OF(o.block_max));
				/* an always busy process has all but the floor and what it costs */
				if (t[i].every <= 100 * US && o.offline > 0.06)
					fail_msg("case %u, save %llu us, period %llu us: offline %.3f", i, US_OF(saves[s]),
						 US_OF(periods[p]), o.offline);
			}
}

/* Gaps of two lengths: switches are spent on the long ones */
static void test_longest(void **state)
{
	struct rate_result o;
	struct rate_run r;

	(void)state;
	/* 20 requests with gaps of 1 ms, then one of 39 ms: 12.6 times a second, so 252 gaps a second */
	r = run_of(RATE_BURSTS, 2 * MS, MS, 327 * US, 100 * MS);
	r.burst = 20;
	r.k.switch_pct = 2;
	r.k.floor_pct = 0;
	rate_play(&r, &o);
	/* 30 switches a second are permitted; the 12.6 long gaps leave 48 % */
	if (o.offline < 0.45 || o.max > MS + 342 * US)
		fail_msg("offline %.3f, max %llu us", o.offline, US_OF(o.max));
}

/*
 * The rate rises: long gaps of the past do not keep switches from the gaps of the present for longer than two periods
 * of the floor, in which blocks give it
 */
static void test_past(void **state)
{
	static const u32 before[] = { 5, 30, 100, 500 };
	struct rate_result o;
	struct rate_run r;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(before) / sizeof(*before); i++) {
		/* 200 a second, of which 50 may preempt; a gap of 4.5 ms leaves 2 ms */
		r = run_of(RATE_RISES, 5 * MS, 500 * US, MS, 250 * MS);
		r.burst = before[i];
		r.ns = before[i] * 40 * MS + 3 * SEC;
		rate_play(&r, &o);
		if (o.blocks > 2 || o.switches < 50 * (r.ns - before[i] * 40 * MS) / SEC)
			fail_msg("%u long gaps before: %u blocks, %u switches", before[i], o.blocks, o.switches);
	}
}

/* Without a floor a level is held for as long as it may not end; with share it is not */
static void test_policies(void **state)
{
	struct rate_result hold, share;
	struct rate_run r = run_of(RATE_EVEN, 2 * MS, MS, 327 * US, 100 * MS);

	(void)state;
	rate_play(&r, &hold);
	r.k.hold = false;
	rate_play(&r, &share);
	assert_true(hold.p50 <= MS && share.p50 > 2 * MS && share.p99 > 5 * MS);
	assert_true(share.offline > 0.3 && hold.offline < 0.1);
}

int rate_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_floor),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_past),
		cmocka_unit_test(test_policies),
	};

	return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
