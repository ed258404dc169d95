// SPDX-License-Identifier: GPL-2.0
/* One decision each: claims and what is in force go in, the whole answer is compared. */
#include "fixture.h"

#define T0		(100000 * SEC)
#define MAX_CLAIMS	4

/* times of a claim are how long ago */
#define ARMED(p)		{ .prio = p }
#define WORKS(p, progress)	{ .prio = p, .rung = true, .work = true, .work_at = T0, \
				  .progress_at = T0 - (progress) }
#define DONE(p, ago)		{ .prio = p, .rung = true, .work_at = T0 - (ago), \
				  .progress_at = T0 - (ago) }

/**
 * struct decision_case - a decision at T0
 * @used: somebody was preempted for so long, by 15 or @used_level, until @gap before T0
 * @lowest: rank of the lowest process; @nobody: there is none
 * @no_tokens: max_preempt_per_s have begun at T0
 * @level: in force at T0, with victims
 * @params: all zero are the defaults
 * @claims: those with a priority > 0
 * @want: the answer; its decide_at is relative to T0
 */
static const struct decision_case {
	const char *name;
	u64 used, gap;
	int used_level, lowest;
	bool nobody, no_tokens;
	int level;
	struct kfd_prio_params params;
	struct kfd_prio_claim claims[MAX_CLAIMS];
	struct kfd_prio_decision want;
} cases[] = {
#define WANT(level, why, claim, at)	{ level, NONE, KFD_PRIO_REASON_ ## why, claim, at }
#define FLOOR(level, throttle, claim, at) { level, throttle, KFD_PRIO_REASON_FLOOR, claim, at }
#define NEVER				(KFD_PRIO_NEVER - T0)
	{ "no claim", .level = NONE, .want = WANT(NONE, NONE, -1, NEVER) },
	{ "no claim any more", .level = 12, .want = WANT(NONE, NONE, -1, NEVER) },
	{ "armed", .level = NONE, .claims = { ARMED(12), ARMED(15) }, .want = WANT(NONE, IDLE, -1, NEVER) },
	{ "armed, with old times", .level = NONE,
	  .claims = { { .prio = 12, .work_at = T0, .progress_at = T0 } },
	  .want = WANT(NONE, IDLE, -1, NEVER) },
	{ "armed over budget", .level = 12,
	  .claims = { { .prio = 12, .work = true, .work_at = T0, .progress_at = T0 - SEC } },
	  .want = WANT(NONE, BUDGET, -1, NEVER) },
	{ "armed, with work and progress of now", .level = NONE,
	  .claims = { { .prio = 12, .work = true, .work_at = T0, .progress_at = T0 } },
	  .want = WANT(NONE, BUDGET, -1, NEVER) },
	{ "a claim works", .level = NONE, .claims = { WORKS(12, 0) },
	  .want = WANT(12, WORK, 0, 100 * MS) },
	{ "it still does", .level = 12, .claims = { WORKS(12, 40 * MS) },
	  .want = WANT(12, WORK, 0, 60 * MS) },
	{ "priority 15", .level = NONE, .claims = { WORKS(15, 0) }, .want = WANT(15, WORK, 0, 100 * MS) },
	{ "priority 11, the lowest", .level = NONE, .claims = { WORKS(11, 0) },
	  .want = WANT(11, WORK, 0, 100 * MS) },
	{ "priority 10 is none", .level = NONE, .claims = { WORKS(10, 0) }, .want = WANT(NONE, NONE, -1, NEVER) },
	{ "priority 0 may, if so configured", .level = NONE,
	  .params = { true, 0, 200 * US, 5, 1000, 100 * MS }, .claims = { { 1, true, true, T0, T0 } },
	  .want = WANT(1, WORK, 0, 100 * MS) },
	{ "only 15 may, if so configured", .level = 14,
	  .params = { true, 15, 200 * US, 5, 1000, 100 * MS }, .claims = { WORKS(14, 0), ARMED(15) },
	  .want = WANT(NONE, IDLE, -1, NEVER) },
	{ "the highest counts", .level = NONE, .claims = { WORKS(11, 0), WORKS(14, 0), WORKS(12, 0) },
	  .want = WANT(14, WORK, 1, 100 * MS) },
	{ "the first of equals", .level = NONE, .claims = { ARMED(14), WORKS(14, 0), WORKS(14, 0) },
	  .want = WANT(14, WORK, 1, 100 * MS) },
	{ "the highest is idle", .level = 14, .claims = { WORKS(12, 0), ARMED(14) },
	  .want = WANT(12, WORK, 0, 100 * MS) },
	{ "a lower one expires first", .level = 14, .claims = { WORKS(12, 90 * MS), WORKS(14, 0) },
	  .want = WANT(14, WORK, 1, 10 * MS) },

	{ "lingers", .level = 12, .claims = { DONE(12, 0) }, .want = WANT(12, WORK, 0, 200 * US) },
	{ "lingers, its last ns", .level = 12, .claims = { DONE(12, 200 * US - 1) },
	  .want = WANT(12, WORK, 0, 1) },
	{ "has lingered", .level = 12, .claims = { DONE(12, 200 * US) }, .want = WANT(NONE, IDLE, -1, NEVER) },
	{ "no linger", .level = 12, .params = { true, 11, 0, 5, 1000, 100 * MS }, .claims = { DONE(12, 0) },
	  .want = WANT(NONE, IDLE, -1, NEVER) },
	{ "linger of a second", .level = 12, .params = { true, 11, SEC, 0, 1000, 100 * MS },
	  .claims = { DONE(12, 500 * MS) }, .want = WANT(12, WORK, 0, 500 * MS) },
	{ "lingering is not bounded by the budget", .level = 12, .params = { true, 11, SEC, 0, 1000, MS },
	  .claims = { { 12, true, false, T0, T0 - 10 * MS } }, .want = WANT(12, WORK, 0, SEC) },
	{ "work is not bounded by the linger", .level = 12,
	  .claims = { { 12, true, true, T0 - 10 * MS, T0 - 10 * MS } },
	  .want = WANT(12, WORK, 0, 90 * MS) },
	{ "work seen in the future", .level = 12, .claims = { { 12, true, false, T0 + 50 * US, T0 } },
	  .want = WANT(12, WORK, 0, 250 * US) },
	{ "progress in the future", .level = 12, .claims = { { 12, true, true, T0, T0 + MS } },
	  .want = WANT(12, WORK, 0, 101 * MS) },

	{ "budget, its last ns", .level = 12, .claims = { WORKS(12, 100 * MS - 1) },
	  .want = WANT(12, WORK, 0, 1) },
	{ "budget used up", .level = 12, .claims = { WORKS(12, 100 * MS) },
	  .want = WANT(NONE, BUDGET, -1, NEVER) },
	{ "budget of a second", .level = 12, .params = { true, 11, 200 * US, 0, 1000, SEC },
	  .claims = { WORKS(12, 100 * MS) }, .want = WANT(12, WORK, 0, 900 * MS) },
	{ "one idle, one over budget", .level = 12, .claims = { ARMED(12), WORKS(12, SEC) },
	  .want = WANT(NONE, BUDGET, -1, NEVER) },
	{ "one over budget, one idle", .level = 12, .claims = { WORKS(12, SEC), DONE(12, SEC) },
	  .want = WANT(NONE, BUDGET, -1, NEVER) },
	{ "the highest over budget", .level = 14, .claims = { WORKS(14, SEC), WORKS(12, 0) },
	  .want = WANT(12, WORK, 1, 100 * MS) },
	{ "over budget below the lowest", .level = NONE, .claims = { WORKS(10, SEC), ARMED(12) },
	  .want = WANT(NONE, IDLE, -1, NEVER) },

	{ "off", .level = 12, .params = { false, 11, 200 * US, 5, 1000, 100 * MS }, .claims = { WORKS(12, 0) },
	  .want = WANT(NONE, OFF, -1, NEVER) },
	{ "off, no claim", .level = NONE, .params = { false, 11, 200 * US, 5, 1000, 100 * MS },
	  .want = WANT(NONE, OFF, -1, NEVER) },

	{ "no token to begin", .no_tokens = true, .level = NONE, .claims = { WORKS(12, 0) },
	  .want = WANT(NONE, RATE, -1, MS) },
	{ "no token to begin, 10000 per s", .no_tokens = true, .level = NONE,
	  .params = { true, 11, 200 * US, 5, 10000, 100 * MS }, .claims = { WORKS(12, 0) },
	  .want = WANT(NONE, RATE, -1, 100 * US) },
	{ "no token to begin, 3 per s: the time is rounded up", .no_tokens = true, .level = NONE,
	  .params = { true, 11, 200 * US, 5, 3, SEC }, .claims = { WORKS(12, 0) },
	  .want = WANT(NONE, RATE, -1, 333333334) },
	{ "no token to begin, and will not hold until there is one", .no_tokens = true, .level = NONE,
	  .claims = { DONE(12, 0) }, .want = WANT(NONE, RATE, -1, 200 * US) },
	{ "no token to rise", .no_tokens = true, .level = 12, .claims = { WORKS(14, 0), WORKS(12, 0) },
	  .want = WANT(12, RATE, 0, MS) },
	{ "no token to rise, the lower one has gone", .no_tokens = true, .level = 12,
	  .claims = { ARMED(12), WORKS(14, 0) }, .want = WANT(12, RATE, 1, MS) },
	{ "no token to stay", .no_tokens = true, .level = 12, .claims = { WORKS(12, 0) },
	  .want = WANT(12, WORK, 0, 100 * MS) },
	{ "no token to be lowered", .no_tokens = true, .level = 14, .claims = { WORKS(12, 0) },
	  .want = WANT(12, WORK, 0, 100 * MS) },
	{ "no token to end", .no_tokens = true, .level = 14, .claims = { ARMED(14) },
	  .want = WANT(NONE, IDLE, -1, NEVER) },

	{ "floor far", .used = 500 * MS, .level = 12, .claims = { WORKS(12, 0) },
	  .want = WANT(12, WORK, 0, 100 * MS) },
	{ "floor near", .used = 900 * MS, .level = 12, .claims = { WORKS(12, 0) },
	  .want = WANT(12, WORK, 0, 50 * MS) },
	{ "floor next", .used = 950 * MS - 1, .level = 12, .claims = { WORKS(12, 0) },
	  .want = WANT(12, WORK, 0, 1) },
	{ "floor reached", .used = 950 * MS, .level = 12, .claims = { WORKS(12, 0) },
	  .want = FLOOR(NONE, 12, -1, 60 * MS) },
	{ "floor reached, and will not hold until it is over", .used = 950 * MS, .level = 12,
	  .claims = { WORKS(12, 50 * MS) }, .want = FLOOR(NONE, 12, -1, 50 * MS) },
	{ "floor reached, nobody to preempt", .used = 950 * MS, .level = 12, .claims = { ARMED(12) },
	  .want = WANT(NONE, IDLE, -1, NEVER) },
	{ "floor reached, no token either", .used = 950 * MS, .no_tokens = true, .level = NONE,
	  .claims = { WORKS(12, 0) }, .want = FLOOR(NONE, 12, -1, 60 * MS) },
	{ "floor: a slot is worth a beginning", .used = 940 * MS, .level = NONE, .claims = { WORKS(12, 0) },
	  .want = WANT(12, WORK, 0, 10 * MS) },
	{ "floor: less than a slot is not", .used = 940 * MS + 1, .level = NONE, .claims = { WORKS(12, 0) },
	  .want = FLOOR(NONE, 12, -1, 60 * MS) },
	{ "floor: less than a slot is worth going on", .used = 940 * MS + 1, .level = 12,
	  .claims = { WORKS(12, 0) }, .want = WANT(12, WORK, 0, 10 * MS - 1) },
	{ "floor over, as much leaves as comes", .used = 950 * MS, .gap = 60 * MS, .level = NONE,
	  .claims = { WORKS(12, 0) }, .want = WANT(12, WORK, 0, 100 * MS) },
	{ "floor not over, by 1 ns", .used = 950 * MS, .gap = 60 * MS - 1, .level = NONE,
	  .claims = { WORKS(12, 0) }, .want = FLOOR(NONE, 12, -1, 1) },
	{ "floor reached, with nobody below", .used = 950 * MS, .nobody = true, .level = 12,
	  .claims = { WORKS(12, 0) }, .want = WANT(12, WORK, 0, 100 * MS) },
	{ "floor reached, with nobody below 12", .used = 950 * MS, .lowest = 12, .level = 12,
	  .claims = { WORKS(12, 0) }, .want = WANT(12, WORK, 0, 100 * MS) },

	/* two levels have 5 % each, and two slots go */
	{ "three levels: the highest gives way first", .used = 880 * MS, .level = 15,
	  .claims = { WORKS(15, 0), WORKS(12, 0) }, .want = FLOOR(12, 15, 1, 70 * MS) },
	{ "three levels: not before", .used = 880 * MS - 1, .level = 15,
	  .claims = { WORKS(15, 0), WORKS(12, 0) }, .want = WANT(15, WORK, 0, 1) },
	{ "three levels: the next one works, the lowest waits still", .used = 940 * MS, .level = 12,
	  .claims = { WORKS(15, 0), WORKS(12, 0) }, .want = FLOOR(12, 15, 1, 10 * MS) },
	{ "three levels: then it gives way, too", .used = 950 * MS, .level = 12,
	  .claims = { WORKS(15, 0), WORKS(12, 0) }, .want = FLOOR(NONE, 12, -1, 60 * MS) },
	{ "three levels: what 12 took of the lowest forbids 15", .used = 950 * MS, .used_level = 12, .level = NONE,
	  .claims = { WORKS(15, 0), WORKS(12, 0) }, .want = FLOOR(NONE, 12, -1, 60 * MS) },
	{ "three levels: 12 idle, 15 may go on", .used = 900 * MS, .level = 15,
	  .claims = { WORKS(15, 0), ARMED(12) }, .want = WANT(15, WORK, 0, 50 * MS) },
	{ "three levels: what 12 took counts for 15 alone, too", .used = 950 * MS, .used_level = 12,
	  .level = 12, .claims = { WORKS(15, 0) }, .want = FLOOR(NONE, 15, -1, 60 * MS) },
	{ "two levels, nobody below: 12 has its floor", .used = 950 * MS, .lowest = 12, .level = 15,
	  .claims = { WORKS(15, 0), WORKS(12, 0) }, .want = FLOOR(12, 15, 1, 60 * MS) },
	{ "four levels", .used = 810 * MS, .level = 15,
	  .claims = { WORKS(15, 0), WORKS(12, 0), WORKS(13, 0) }, .want = FLOOR(13, 15, 2, 70 * MS) },
	{ "floors of 90 % of two levels are 44 % each", .used = 100 * MS - 1, .level = 15,
	  .params = { true, 11, 200 * US, 90, 1000, SEC }, .claims = { WORKS(15, 0), WORKS(12, 0) },
	  .want = WANT(15, WORK, 0, 1) },
	{ "no floor, three levels", .used = 5 * SEC, .params = { true, 11, 200 * US, 0, 1000, 100 * MS },
	  .level = 15, .claims = { WORKS(15, 0), WORKS(12, 0) }, .want = WANT(15, WORK, 0, 100 * MS) },
	{ "no floor", .used = 5 * SEC, .params = { true, 11, 200 * US, 0, 1000, 100 * MS }, .level = 12,
	  .claims = { WORKS(12, 0) }, .want = WANT(12, WORK, 0, 100 * MS) },
	{ "no floor, to begin", .used = 5 * SEC, .params = { true, 11, 200 * US, 0, 1000, 100 * MS },
	  .level = NONE, .claims = { WORKS(12, 0) }, .want = WANT(12, WORK, 0, 100 * MS) },
	{ "floor of 90 %", .used = 100 * MS, .params = { true, 11, 200 * US, 90, 1000, SEC }, .level = 12,
	  .claims = { WORKS(12, 0) }, .want = FLOOR(NONE, 12, -1, 910 * MS) },
	{ "floor of 90 %, near", .used = 20 * MS, .params = { true, 11, 200 * US, 90, 1000, SEC }, .level = 12,
	  .claims = { WORKS(12, 0) }, .want = WANT(12, WORK, 0, 80 * MS) },
	{ "floor: after an hour nothing is left of it", .used = 950 * MS, .gap = 3600 * SEC, .level = NONE,
	  .params = { true, 11, 200 * US, 5, 1000, 60 * SEC }, .claims = { WORKS(12, 0) },
	  .want = WANT(12, WORK, 0, 950 * MS) },
	{ "floor: an hour of preemption counts as a second of it", .used = 3600 * SEC,
	  .level = 12, .claims = { WORKS(12, 0) }, .want = FLOOR(NONE, 12, -1, 60 * MS) },
};

static void decide(const struct decision_case *c)
{
	struct kfd_prio_params k = c->params.budget_ns ? c->params : (struct kfd_prio_params)PARAMS;
	u64 start = T0 - c->gap - c->used;
	struct kfd_prio_policy p;
	struct kfd_prio_decision d;
	int n = 0, level = c->level, lowest = c->nobody ? KFD_PRIO_RANK_NONE : c->lowest;
	u32 i;

	if (!k.period_ns)
		k.period_ns = SEC;
	while (n < MAX_CLAIMS && c->claims[n].prio)
		n++;
	kfd_prio_policy_init(&p, &k, start);
	if (c->used)
		kfd_prio_policy_commit(&p, &k, c->used_level ? c->used_level : 15, lowest, true, start);
	if (c->gap)
		kfd_prio_policy_commit(&p, &k, NONE, lowest, false, T0 - c->gap);
	for (i = 0; c->no_tokens && i < k.max_per_s; i++)
		kfd_prio_policy_commit(&p, &k, level, lowest, true, T0);
	kfd_prio_policy_commit(&p, &k, level, lowest, false, T0);
	for (i = 0; i < 2; i++) {
		kfd_prio_policy_decide(&p, &k, c->claims, n, lowest, T0, &d);
		if (i) {	/* its own result changes nothing */
			assert_int_equal(d.level, c->want.level);
			continue;
		}
		if (d.level != c->want.level || d.reason != c->want.reason ||
		    d.throttle != c->want.throttle || d.claim != c->want.claim || d.decide_at != T0 + c->want.decide_at)
			fail_msg("%s: level %d throttle %d reason %d claim %d decide_at +%lld, not %d %d %d %d +%lld",
				 c->name, d.level, d.throttle, d.reason, d.claim,
				 d.decide_at == KFD_PRIO_NEVER ? -1LL : (long long)(d.decide_at - T0),
				 c->want.level, c->want.throttle, c->want.reason, c->want.claim,
				 c->want.decide_at == NEVER ? -1LL : (long long)c->want.decide_at);
		kfd_prio_policy_commit(&p, &k, d.level, lowest, d.level > level, T0);
	}
}

static void test_decisions(void **state)
{
	(void)state;
	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		decide(&cases[i]);
}

static void test_victims(void **state)
{
	(void)state;
	for (int prio = 0; prio < 16; prio++) {
		assert_false(kfd_prio_policy_victim(NONE, prio));
		for (int level = 0; level < 16; level++)
			assert_int_equal(kfd_prio_policy_victim(level, prio), prio < level);
	}
}

/* What a save costs decides how often to preempt, and how long to linger */
static void test_cost(void **state)
{
	static const struct {
		u64 save_ns;
		u32 pct, max_per_s;
		u64 linger_ns;
		u32 per_s;
		u64 lingers_ns;
	} t[] = {
		/* not known; no limit */
		{ 0, 10, 1000, 200 * US, 1000, 200 * US },
		{ MS, 0, 1000, 200 * US, 1000, 200 * US },
		/* 10 % of a second is 1000 times 50 us twice */
		{ 50 * US, 10, 1000, 200 * US, 1000, 200 * US },
		{ 51 * US, 10, 1000, 200 * US, 980, 200 * US },
		{ 327 * US, 10, 1000, 200 * US, 152, 200 * US },
		/* a quarter of save and restore */
		{ 400 * US, 10, 1000, 200 * US, 125, 200 * US },
		{ 402 * US, 10, 1000, 200 * US, 124, 201 * US },
		{ 754 * US, 10, 1000, 200 * US, 66, 377 * US },
		{ MS, 10, 1000, 200 * US, 50, 500 * US },
		{ 3 * MS, 10, 1000, 200 * US, 16, 1500 * US },
		{ MS, 1, 1000, 200 * US, 5, 500 * US },
		{ MS, 100, 1000, 200 * US, 500, 500 * US },
		/* what the administrator has chosen is a bound */
		{ MS, 10, 3, 200 * US, 3, 500 * US },
		{ MS, 10, 1000, 700 * US, 50, 700 * US },
		{ MS, 10, 1000, 1, 50, 500 * US },
		{ MS, 10, 1000, 0, 50, 0 },
		/* one a second in any case */
		{ 60 * SEC, 10, 1000, 200 * US, 1, 30 * SEC },
		{ 60 * SEC, 1, 1, 200 * US, 1, 30 * SEC },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct kfd_prio_params k = PARAMS, was;

		k.switch_pct = t[i].pct;
		k.max_per_s = t[i].max_per_s;
		k.linger_ns = t[i].linger_ns;
		was = k;
		kfd_prio_policy_cost(&k, t[i].save_ns);
		if (k.max_per_s != t[i].per_s || k.linger_ns != t[i].lingers_ns)
			fail_msg("row %u: %u a second, linger %llu ns", i, k.max_per_s, (unsigned long long)k.linger_ns);
		/* what many preemptions cost is within the share, but for one a second */
		if (t[i].save_ns && t[i].pct && k.max_per_s > 1)
			assert_true(2 * t[i].save_ns * k.max_per_s <= t[i].pct * SEC / 100);
		/* and nothing else changes */
		was.max_per_s = k.max_per_s;
		was.linger_ns = k.linger_ns;
		assert_memory_equal(&k, &was, sizeof(k));
	}
}

/* the priority set, what its queues ask for, what it counts as */
static void test_rank(void **state)
{
	static const int t[][3] = {
		{ -1, 0, 0 }, { -1, 6, 6 }, { -1, 7, 7 }, { -1, 8, 7 }, { -1, 15, 7 },
		{ 0, 15, 0 }, { 6, 7, 6 }, { 7, 0, 7 }, { 8, 8, 8 }, { 15, 0, 15 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(kfd_prio_policy_rank(t[i][0], t[i][1]), t[i][2]);
}

/* A process with work that is on the GPU, unless it is said otherwise */
#define RANK(r, ...)	{ .rank = r, .claim = KFD_PRIO_UNSET, ##__VA_ARGS__ }
#define CLAIM(p, ...)	{ .rank = p, .claim = p, ##__VA_ARGS__ }
#define FORCE(l, t)	{ .level = l, .throttle = t, .claims = true }
#define CROWD(l)	{ .level = l, .throttle = NONE, .claims = true, .crowded = true, .now = 100 }
#define NOBODY(l)	{ .level = l, .throttle = NONE }
#define TRAPPED		.armed = true
#define SEEMS_IDLE	.quiet = true, TRAPPED
#define IDLE		.idle = true, SEEMS_IDLE

static const struct off_case {
	const char *name;
	struct kfd_prio_force f;
	struct kfd_prio_standing s;
	bool off;
} off_cases[] = {
	{ "below the level, with work", FORCE(12, NONE), RANK(7), true },
	{ "just below it", FORCE(12, NONE), RANK(11), true },
	{ "at the level", FORCE(12, NONE), CLAIM(12), false },
	{ "above it", FORCE(12, NONE), CLAIM(15), false },
	{ "no level", FORCE(NONE, NONE), RANK(0), false },
	{ "no level, off until now", FORCE(NONE, NONE), RANK(0, .off = true), false },
	{ "no level, nobody may preempt", NOBODY(NONE), RANK(0, .off = true), false },
	{ "a floor: the claim at the throttle", FORCE(NONE, 12), CLAIM(12), true },
	{ "a floor: a claim above it", FORCE(NONE, 12), CLAIM(15), true },
	{ "a floor: a claim below it, which is in force", FORCE(12, 15), CLAIM(12), false },
	{ "a floor: between the two", FORCE(12, 15), CLAIM(14), false },
	{ "a floor: who is owed it", FORCE(NONE, 12), RANK(7), false },
	{ "a floor: a rank is no claim", FORCE(NONE, 5), RANK(7), false },
	{ "seems to have no work, on the GPU", FORCE(12, NONE), RANK(7, SEEMS_IDLE), true },
	{ "seems to have no work, at the level", FORCE(12, NONE), CLAIM(12, SEEMS_IDLE), false },
	{ "seems to have no work, no level", FORCE(NONE, NONE), RANK(7, SEEMS_IDLE), false },
	{ "seems to have no work, off, the level has ended", FORCE(NONE, NONE), RANK(7, SEEMS_IDLE, .off = true), false },
	{ "without work, off the GPU", FORCE(12, NONE), RANK(7, IDLE, .off = true), true },
	{ "without work, off, the level has ended", FORCE(NONE, NONE), RANK(7, IDLE, .off = true), true },
	{ "without work, off, above the level", FORCE(11, NONE), CLAIM(15, IDLE, .off = true), true },
	{ "without work, off, nobody may preempt any more", NOBODY(NONE), RANK(7, IDLE, .off = true), false },
	{ "a floor: a claim that seems to have no work", FORCE(NONE, 12), CLAIM(15, SEEMS_IDLE), true },
	{ "a floor: a claim without work", FORCE(NONE, 12), CLAIM(15, IDLE, .off = true), true },
	{ "crowded: at the level, with work", CROWD(12), CLAIM(12), false },
	{ "crowded: at the level, seems to have none", CROWD(12), CLAIM(12, SEEMS_IDLE), true },
	{ "crowded: at the level, its last kernel may run", CROWD(12), CLAIM(12, TRAPPED), true },
	{ "crowded: above the level, seems to have none", CROWD(12), CLAIM(15, SEEMS_IDLE), true },
	{ "crowded: below preempt_min_prio, no claim, at the level", CROWD(7), RANK(7, SEEMS_IDLE), false },
	{ "crowded: no level", CROWD(NONE), CLAIM(12, SEEMS_IDLE), false },
	{ "crowded: it was put back often a short time ago", CROWD(12), CLAIM(12, SEEMS_IDLE, .hold_until = 101), false },
	{ "crowded: it was put back often some time ago", CROWD(12), CLAIM(12, SEEMS_IDLE, .hold_until = 100), true },
	{ "there is room: seems to have no work, off", FORCE(12, NONE), CLAIM(12, SEEMS_IDLE, .off = true, .spared = true), true },
	{ "there is room: seems to have no work, off, held", FORCE(12, NONE), CLAIM(12, SEEMS_IDLE, .off = true, .spared = true, .hold_until = 101), true },
	{ "there is room: a higher level took it off, its last kernel may run", FORCE(12, NONE), CLAIM(12, TRAPPED, .off = true), false },
	{ "there is room: its MQDs were not read yet, off", FORCE(12, NONE), CLAIM(12, TRAPPED, .off = true, .spared = true), true },
	{ "there is room: its last kernel may run", FORCE(12, NONE), CLAIM(12, TRAPPED), false },
	{ "there is room: without work, off", FORCE(12, NONE), CLAIM(12, IDLE, .off = true), true },
	{ "it has made room and rings", FORCE(12, NONE), CLAIM(12, .off = true), false },
	{ "crowded: it has made room and rings", CROWD(12), CLAIM(12, .off = true), false },
	{ "it has made room, no work is known, and the level ends", FORCE(NONE, NONE), CLAIM(12, SEEMS_IDLE, .off = true), false },
	{ "it rings while it is off, below the level", FORCE(12, NONE), RANK(7, .off = true), true },
	{ "evicted, with work", FORCE(12, NONE), RANK(7, .evicted = true), true },
	{ "evicted, no level", FORCE(NONE, NONE), RANK(7, .evicted = true, .off = true), false },
	{ "it ends, off", FORCE(NONE, NONE), RANK(7, .ends = true, .off = true), true },
	{ "it ends, off, nobody may preempt", NOBODY(NONE), RANK(7, .ends = true, .off = true), true },
	{ "it ends, on the GPU", FORCE(NONE, NONE), RANK(7, .ends = true), false },
	{ "it ends, on the GPU, below the level", FORCE(12, NONE), RANK(7, .ends = true), true },
};

static void test_off(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(off_cases) / sizeof(off_cases[0]); i++)
		if (kfd_prio_policy_off(&off_cases[i].f, &off_cases[i].s) != off_cases[i].off)
			fail_msg("%s: %d", off_cases[i].name, !off_cases[i].off);
}

/* Decided again once it is so, it is the same: nobody is taken off and put back in turns */
static void test_off_stays(void **state)
{
	(void)state;
	for (int level = NONE; level < 16; level++)
		for (int throttle = NONE; throttle < 16; throttle++)
			for (int rank = 0; rank < 16; rank++)
				for (int bits = 0; bits < 1024; bits++) {
					const struct kfd_prio_force f = {
						level, throttle, bits & 1, bits & 128, 100,
					};
					struct kfd_prio_standing s = {
						rank, bits & 2 ? rank : KFD_PRIO_UNSET, bits & 4,
						bits & 8, bits & 16, bits & 32, bits & 64,
						bits & 512, false, bits & 256 ? 101 : 0,
					};

					s.spared = kfd_prio_policy_spares(&f, &s);
					s.off = kfd_prio_policy_off(&f, &s);
					assert_int_equal(kfd_prio_policy_off(&f, &s), s.off);
				}
}

/* A process that seems to have no work, or could not run it, is owed nothing: where it is does not matter */
static void test_works(void **state)
{
	(void)state;
	for (int bits = 0; bits < 16; bits++) {
		const struct kfd_prio_standing s = {
			.rank = 7, .claim = KFD_PRIO_UNSET, .quiet = bits & 1, .off = bits & 4,
			.evicted = bits & 2, .ends = bits & 8,
		};

		assert_int_equal(kfd_prio_policy_works(&s), !(bits & 3));
	}
}

int table_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decisions),
		cmocka_unit_test(test_victims),
		cmocka_unit_test(test_rank),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_off_stays),
		cmocka_unit_test(test_works),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
