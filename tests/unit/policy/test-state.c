// SPDX-License-Identifier: GPL-2.0
/* What the policy remembers: tokens, preempted time, and a clock that jumps. */
#include "fixture.h"

#define T0	(77 * SEC + 1234567)

static struct kfd_prio_policy p;
static struct kfd_prio_params k;

static const struct kfd_prio_params defaults = PARAMS;

static int setup(void **state)
{
	(void)state;
	k = defaults;
	kfd_prio_policy_init(&p, &k, T0);
	return 0;
}

/* a process with priority 12 that works and makes progress all the time */
static struct kfd_prio_decision decide(u64 now)
{
	struct kfd_prio_claim c = { 12, true, true, now, now };
	struct kfd_prio_decision d;

	kfd_prio_policy_decide(&p, &k, &c, 1, 0, now, &d);
	return d;
}

/* begin and end preemptions at @now until that is refused */
static u32 begin_all(u64 now)
{
	u32 n;

	for (n = 0; decide(now).level == 12; n++) {
		kfd_prio_policy_commit(&p, &k, 12, 0, true, now);
		kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, now);
	}
	assert_int_equal(decide(now).reason, KFD_PRIO_REASON_RATE);
	return n;
}

static void test_init(void **state)
{
	(void)state;
	assert_int_equal(p.level, NONE);
	assert_int_equal(p.lowest, KFD_PRIO_RANK_NONE);
	assert_int_equal(p.floor.sum[0], 0);
}

static void test_tokens(void **state)
{
	(void)state;
	k.max_per_s = 100;
	kfd_prio_policy_init(&p, &k, T0);
	assert_int_equal(begin_all(T0), 100);
	assert_int_equal(decide(T0).decide_at, T0 + 10 * MS);
	assert_int_equal(begin_all(T0 + 10 * MS - 1), 0);
	assert_int_equal(begin_all(T0 + 10 * MS), 1);
	assert_int_equal(begin_all(T0 + 55 * MS), 4);
	/* the half that was left then is not lost */
	assert_int_equal(begin_all(T0 + 60 * MS), 1);
	assert_int_equal(begin_all(T0 + 560 * MS), 50);
	/* full after a second, and not more after many */
	assert_int_equal(begin_all(T0 + 1560 * MS), 100);
	assert_int_equal(begin_all(T0 + 9999 * SEC), 100);
	assert_int_equal(begin_all(T0 + 9999 * SEC + 999 * MS), 99);
}

static void test_tokens_max(void **state)
{
	(void)state;
	k.max_per_s = 10000;
	kfd_prio_policy_init(&p, &k, T0);
	/* fewer allowed from now on, then more: what was saved up does not come back */
	k.max_per_s = 7;
	assert_int_equal(begin_all(T0), 7);
	kfd_prio_policy_init(&p, &k, T0);
	k.max_per_s = 10000;
	assert_int_equal(begin_all(T0), 7);
	k.max_per_s = 1;
	assert_int_equal(begin_all(T0 + SEC), 1);
	/* forced ones do not make debts */
	kfd_prio_policy_commit(&p, &k, 12, 0, true, T0 + SEC);
	assert_int_equal(p.tokens, 0);
	kfd_prio_policy_commit(&p, &k, 14, 0, true, T0 + SEC);
	assert_int_equal(p.tokens, 0);
	kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, T0 + SEC);
	assert_int_equal(begin_all(T0 + 2 * SEC), 1);
}

/* only what is said to count does */
static void test_tokens_free(void **state)
{
	u32 i;

	(void)state;
	k.max_per_s = 2;
	kfd_prio_policy_init(&p, &k, T0);
	for (i = 0; i < 10; i++) {
		kfd_prio_policy_commit(&p, &k, 12, 0, false, T0);
		kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, T0);
	}
	assert_int_equal(begin_all(T0), 2);
}

/* a level that keeps nobody off uses nothing up */
static void test_without_victims(void **state)
{
	struct kfd_prio_policy copy;

	(void)state;
	kfd_prio_policy_commit(&p, &k, 12, KFD_PRIO_RANK_NONE, true, T0);
	assert_int_equal(decide(T0 + 5 * SEC).level, 12);
	kfd_prio_policy_commit(&p, &k, 12, 0, false, T0 + 5 * SEC);
	assert_int_equal(p.floor.sum[0], 0);
	copy = p;
	assert_int_equal(decide(T0 + 5949 * MS).level, 12);
	assert_int_equal(decide(T0 + 5950 * MS).reason, KFD_PRIO_REASON_FLOOR);
	p = copy;
	kfd_prio_policy_commit(&p, &k, 12, KFD_PRIO_RANK_NONE, false, T0 + 5500 * MS);
	assert_int_equal(p.floor.sum[0], 500 * MS);
	copy = p;
	assert_int_equal(decide(T0 + 5950 * MS).level, 12);
	p = copy;
	/* nor does no level, whatever is said of victims */
	kfd_prio_policy_commit(&p, &k, NONE, 0, false, T0 + 5500 * MS);
	kfd_prio_policy_commit(&p, &k, NONE, 0, false, T0 + 5600 * MS);
	assert_int_equal(p.floor.sum[0], 500 * MS);
}

/* time is counted where it was, also over many slots */
static void test_slots(void **state)
{
	(void)state;
	kfd_prio_policy_commit(&p, &k, 12, 0, true, T0 + 5 * MS);
	kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, T0 + 37 * MS);
	assert_int_equal(p.floor.sum[0], 32 * MS);
	assert_int_equal(p.floor.kept_ns[0][0], 5 * MS);
	assert_int_equal(p.floor.kept_ns[1][0], 10 * MS);
	assert_int_equal(p.floor.kept_ns[3][0], 7 * MS);
	assert_int_equal(p.floor.kept_ranks[3], 0xfff);
	kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, T0 + 1010 * MS - 1);
	assert_int_equal(p.floor.sum[0], 32 * MS);
	kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, T0 + 1010 * MS);
	assert_int_equal(p.floor.sum[0], 27 * MS);
	kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, T0 + 1035 * MS);
	assert_int_equal(p.floor.sum[0], 7 * MS);
	kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, T0 + 1040 * MS);
	assert_int_equal(p.floor.sum[0], 0);
	assert_int_equal(p.floor.kept_ranks[3], 0);
}

static void test_long_gap(void **state)
{
	(void)state;
	kfd_prio_policy_commit(&p, &k, 12, 0, true, T0 + 3 * MS);
	kfd_prio_policy_commit(&p, &k, 12, 0, false, T0 + 123456 * SEC + 3 * MS);
	/* 100 slots, and 3 ms of the running one */
	assert_int_equal(p.floor.sum[0], 1003 * MS);
	assert_int_equal(p.floor.at, T0 + 123456 * SEC + 3 * MS);
	kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, T0 + 123456 * SEC + 4 * MS);
	assert_int_equal(p.floor.sum[0], 1004 * MS);
	kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, T0 + 654321 * SEC);
	assert_int_equal(p.floor.sum[0], 0);
}

/* the clock goes back: nothing is counted, the level is taken */
static void test_backwards(void **state)
{
	struct kfd_prio_decision d;
	u64 now = T0 + 940 * MS + 1, tokens;

	(void)state;
	kfd_prio_policy_commit(&p, &k, 12, 0, true, T0);
	kfd_prio_policy_commit(&p, &k, NONE, KFD_PRIO_RANK_NONE, false, now);
	tokens = p.tokens;
	assert_int_equal(p.floor.sum[0], now - T0);
	/* the floor as of the last commit */
	d = decide(T0);
	assert_int_equal(d.reason, KFD_PRIO_REASON_FLOOR);
	kfd_prio_policy_commit(&p, &k, 12, 0, false, T0);
	assert_int_equal(p.level, 12);
	assert_int_equal(p.floor.at, now);
	assert_int_equal(p.tokens, tokens);
	assert_int_equal(p.floor.sum[0], now - T0);
	kfd_prio_policy_commit(&p, &k, 12, 0, false, now + MS);
	assert_int_equal(p.floor.sum[0], now + MS - T0);
}

/* decide() counts the time that no commit has counted yet */
static void test_uncommitted(void **state)
{
	struct kfd_prio_decision d;

	(void)state;
	kfd_prio_policy_commit(&p, &k, 12, 0, true, T0);
	d = decide(T0 + 900 * MS);
	assert_int_equal(d.level, 12);
	assert_int_equal(d.decide_at, T0 + 950 * MS);
	d = decide(T0 + 950 * MS);
	assert_int_equal(d.reason, KFD_PRIO_REASON_FLOOR);
	assert_int_equal(d.decide_at, T0 + 1010 * MS);

	/* and the tokens that came meanwhile */
	kfd_prio_policy_init(&p, &k, T0);
	begin_all(T0);
	assert_int_equal(decide(T0 + MS - 1).reason, KFD_PRIO_REASON_RATE);
	assert_int_equal(decide(T0 + MS).level, 12);
}

/* one that works without end gets all but the floor, in long turns */
static void test_endless(void **state)
{
	u64 now, preempted = 0, turns = 0;
	struct kfd_prio_decision d;

	(void)state;
	k.budget_ns = 60 * SEC;
	for (now = T0; now < T0 + 101 * SEC; now = d.decide_at) {
		d = decide(now);
		if (d.level != NONE && p.level == NONE)
			turns++;
		if (d.level != NONE)
			preempted += d.decide_at - now;
		kfd_prio_policy_commit(&p, &k, d.level, 0, d.level > p.level, now);
	}
	assert_int_equal(turns, 100);
	assert_int_equal(preempted, 100 * 950 * MS);
}

#define MAX_SPANS	20000

/*
 * Levels that always work, and a lowest one that always waits: whatever they are, each has its share of every
 * second, and the highest nearly all the rest
 */
static void levels(const int *prios, int n, u32 floor_pct, u64 share)
{
	struct kfd_prio_claim c[5];
	struct kfd_prio_decision d;
	static u64 from[5][MAX_SPANS], to[5][MAX_SPANS];
	u32 spans[6] = { 0 };
	u64 now, end, had, part, period = k.period_ns;
	int i, top, runs;
	u32 a, b;

	share = share * period / SEC;
	k.floor_pct = floor_pct;
	kfd_prio_policy_init(&p, &k, T0);
	for (now = T0; now < T0 + 20 * SEC; now = d.decide_at) {
		for (i = 0; i < n - 1; i++)
			c[i] = (struct kfd_prio_claim){ prios[i], true, true, now, now };
		kfd_prio_policy_decide(&p, &k, c, n - 1, prios[n - 1], now, &d);
		/* the highest that is not off has the GPU */
		for (runs = 0; runs < n - 1; runs++)
			if (d.throttle == NONE || prios[runs] < d.throttle)
				break;
		assert_true(d.level == (runs < n - 1 ? prios[runs] : NONE));
		assert_true(spans[runs] < MAX_SPANS);
		if (!spans[runs] || to[runs][spans[runs] - 1] != now)
			from[runs][spans[runs]++] = now;
		to[runs][spans[runs] - 1] = d.decide_at;
		kfd_prio_policy_commit(&p, &k, d.level, prios[n - 1], d.level > p.level, now);
	}
	for (i = 1, top = 0; i < n; i++, top++)
		for (a = 0; a < spans[i]; a++) {
			/*
			 * The periods in which it has least begin when it has just had its turn. A turn begins
			 * with a switch, for which the level above it has waited no longer.
			 */
			end = to[i][a] + period + (u64)n * k.switch_ns;
			if (end > T0 + 19 * SEC)
				break;
			for (b = a + 1, had = 0; b < spans[i] && from[i][b] < end; b++) {
				part = (to[i][b] < end ? to[i][b] : end) - from[i][b];
				had += part > k.switch_ns ? part - k.switch_ns : 0;
			}
			if (had < share)
				fail_msg("floor %u, %d levels, period %llu ms, switch %llu us: in the period from +%llu ns on %d has %llu us, not %llu",
					 floor_pct, n, (unsigned long long)period / 1000000, (unsigned long long)k.switch_ns / 1000,
					 (unsigned long long)(to[i][a] - T0), prios[i],
					 (unsigned long long)had / 1000, (unsigned long long)share / 1000);
		}
	for (b = 0, had = 0; b < spans[0]; b++)
		had += to[0][b] - from[0][b];
	/* two slots for each level but one, one for what is counted too much, and the switches */
	if (had < 20 * SEC / period * (period - (u64)(n - 1) * (share + 3 * (period / 100) + 3 * k.switch_ns)))
		fail_msg("floor %u, %d levels: the highest has %llu ms of 20000", floor_pct, n,
			 (unsigned long long)had / 1000000);
}

/* The same with what a switch costs */
static void test_levels_hold(void **state)
{
	static const u64 saves[] = { 0, 40 * US, 327 * US }, periods[] = { 100 * MS, 250 * MS, SEC };
	static const int two[] = { 15, 5 }, three[] = { 15, 12, 5 }, four[] = { 15, 13, 11, 7 },
		five[] = { 15, 14, 13, 12, 0 };

	(void)state;
	for (int s = 0; s < 3; s++)
		for (int i = 0; i < 3; i++) {
			k = defaults;
			k.budget_ns = 60 * SEC;
			k.hold = true;
			k.period_ns = periods[i];
			kfd_prio_policy_cost(&k, saves[s]);
			levels(two, 2, 5, 50 * MS);
			levels(three, 3, 5, 50 * MS);
			levels(three, 3, 20, 200 * MS);
			levels(four, 4, 5, 50 * MS);
			levels(five, 5, 5, 50 * MS);
		}
}

static void test_levels(void **state)
{
	static const int two[] = { 15, 5 }, three[] = { 15, 12, 5 }, near[] = { 15, 14, 13 },
		four[] = { 15, 13, 11, 7 }, five[] = { 15, 14, 13, 12, 0 };

	(void)state;
	k.budget_ns = 60 * SEC;
	levels(two, 2, 5, 50 * MS);
	levels(three, 3, 5, 50 * MS);
	levels(near, 3, 5, 50 * MS);
	levels(three, 3, 1, 10 * MS);
	levels(three, 3, 20, 200 * MS);
	levels(three, 3, 40, 400 * MS);
	/* more than there is */
	levels(three, 3, 90, 440 * MS);
	levels(four, 4, 5, 50 * MS);
	levels(four, 4, 20, 200 * MS);
	levels(five, 5, 5, 50 * MS);
	levels(five, 5, 90, 210 * MS);
}

/* a lower process that comes does not make those wait again that have waited */
static void test_lowest(void **state)
{
	struct kfd_prio_claim c = { 12, true, true, T0 + SEC, T0 + SEC };
	struct kfd_prio_decision d;

	(void)state;
	k.budget_ns = 60 * SEC;
	kfd_prio_policy_commit(&p, &k, 12, 6, true, T0);
	kfd_prio_policy_commit(&p, &k, 12, 4, false, T0 + 900 * MS);
	kfd_prio_policy_decide(&p, &k, &c, 1, 4, T0 + 900 * MS, &d);
	assert_int_equal(d.decide_at, T0 + 950 * MS);
	kfd_prio_policy_decide(&p, &k, &c, 1, 4, T0 + 950 * MS, &d);
	assert_int_equal(d.reason, KFD_PRIO_REASON_FLOOR);
	assert_int_equal(d.throttle, 12);
}

int state_tests(void)
{
#define T(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		T(test_init),
		T(test_tokens),
		T(test_tokens_max),
		T(test_tokens_free),
		T(test_without_victims),
		T(test_slots),
		T(test_long_gap),
		T(test_backwards),
		T(test_uncommitted),
		T(test_endless),
		T(test_levels),
		T(test_levels_hold),
		T(test_lowest),
	};

	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
