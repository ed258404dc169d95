// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes are parked: a table, what a decision must not depend on, and a random history that is compared with
 * a reference which keeps every wake.
 */
#include "fixture.h"

#define T0	(77 * SEC + 1234567)
#define AFTER	(500 * MS)

/* Parking after 500 ms, at @at ms after T0; by default nothing but time speaks for it */
#define GPU(at, ...)	{ .after_ns = AFTER, .now = T0 + (at) * MS, ##__VA_ARGS__ }
#define OFF(at, ...)	{ .after_ns = 0, .now = T0 + (at) * MS, ##__VA_ARGS__ }
/* A process that is quiet since T0 */
#define QUIET(...)	{ .quiet = true, .quiet_at = T0, ##__VA_ARGS__ }
#define RINGS(...)	{ .quiet = false, .quiet_at = T0, ##__VA_ARGS__ }

static const struct park_case {
	const char *name;
	struct kfd_prio_parking g;
	struct kfd_prio_lull l;
	bool parks;
} park_cases[] = {
	{ "parking is off", OFF(5000, .free = true, .pays = true), QUIET(), false },
	{ "parking was switched off", OFF(5000, .free = true), QUIET(.parked = true), false },
	{ "a GPU with others that work, no update", GPU(5000), QUIET(), false },
	{ "an update follows anyway", GPU(500, .free = true), QUIET(), true },
	{ "just too early for it", GPU(499, .free = true), QUIET(), false },
	{ "the runlist is over-subscribed", GPU(500, .pays = true), QUIET(), true },
	{ "over-subscribed, just too early", GPU(499, .pays = true), QUIET(), false },
	{ "the clock goes back", GPU(-1, .free = true), QUIET(), false },
	{ "it has work", GPU(5000, .free = true, .pays = true), RINGS(), false },
	{ "parked, it rings", GPU(5000, .free = true, .pays = true), RINGS(.parked = true), false },
	{ "parked, nothing happens", GPU(501), QUIET(.parked = true), true },
	{ "parked, after a look", GPU(1), QUIET(.parked = true), true },
	{ "parked, it is to be no more", GPU(501), QUIET(.parked = true, .exempt = true), false },
	{ "never to be parked", GPU(5000, .free = true, .pays = true), QUIET(.exempt = true), false },
	{ "preempted without work", GPU(500), QUIET(.off = true), true },
	{ "preempted without work, too early", GPU(499), QUIET(.off = true), false },
	{ "preempted with work", GPU(5000), RINGS(.off = true), false },
	{ "evicted by KFD", GPU(5000, .free = true), QUIET(.evicted = true), false },
	{ "parked, then evicted by KFD", GPU(5000), QUIET(.parked = true, .evicted = true), true },
	{ "preempted and evicted", GPU(5000), QUIET(.off = true, .evicted = true), false },
	{ "woken too often", GPU(5000, .free = true), QUIET(.hold_until = T0 + 5001 * MS), false },
	{ "woken too often, some time ago", GPU(5000, .free = true), QUIET(.hold_until = T0 + 5000 * MS), true },
	{ "parked, though it was woken too often", GPU(1), QUIET(.parked = true, .hold_until = T0 + SEC), true },
	{ "put back because it was never to be parked, just now", GPU(5000, .free = true, .pays = true), QUIET(.ended_at = T0 + 4501 * MS), false },
	{ "the same, as long ago as a lull", GPU(5000, .free = true, .pays = true), QUIET(.ended_at = T0 + 4500 * MS), true },
	{ "the same, and preempted without work", GPU(5000), QUIET(.off = true, .ended_at = T0 + 4501 * MS), false },
	{ "parked before it was put back", GPU(501), QUIET(.parked = true, .ended_at = T0 + 400 * MS), true },
	{ "it ends", GPU(5000, .free = true), QUIET(.ends = true), false },
	{ "it ends while it is parked", GPU(5000), RINGS(.ends = true, .parked = true), true },
	{ "it ends while it is parked, exempt", GPU(5000), QUIET(.ends = true, .parked = true, .exempt = true), true },
};

static void test_parks(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(park_cases) / sizeof(park_cases[0]); i++)
		if (kfd_prio_policy_parks(&park_cases[i].g, &park_cases[i].l) != park_cases[i].parks)
			fail_msg("%s: %d", park_cases[i].name, !park_cases[i].parks);
}

/* Decided again once it is so, it is the same, also without the update that parked it */
static void test_parks_stays(void **state)
{
	(void)state;
	for (int bits = 0; bits < 512; bits++)
		for (u64 at = 0; at <= 2 * AFTER; at += AFTER / 2) {
			struct kfd_prio_parking g = { bits & 1 ? AFTER : 0, T0 + at, bits & 2, bits & 4 };
			struct kfd_prio_lull l = {
				bits & 8, T0, bits & 16 ? T0 + SEC : 0, 0, false, bits & 32, bits & 64,
				bits & 128, bits & 256,
			};
			bool parks = kfd_prio_policy_parks(&g, &l);

			l.parked = parks;
			l.off &= !parks;
			assert_int_equal(kfd_prio_policy_parks(&g, &l), parks);
			g.free = g.pays = false;
			assert_int_equal(kfd_prio_policy_parks(&g, &l), parks);
		}
}

/* Ten wakes in a second are allowed; the eleventh is not, nor is one wake with saved waves */
static void test_wakes(void **state)
{
	struct kfd_prio_wakes w = {};
	u64 t = T0;
	int i;

	(void)state;
	for (i = 0; i < 50; i++, t += 100 * MS)
		kfd_prio_policy_park_woke(&w, false, t);
	assert_int_equal(w.hold_until, 0);
	/* the tenth before was 999,999,999 ns ago */
	t -= 1;
	kfd_prio_policy_park_woke(&w, false, t);
	assert_int_equal(w.hold_until, t + 10 * SEC);
	/* of a process that was never woken nothing is ten wakes ago */
	memset(&w, 0, sizeof(w));
	for (i = 0; i < 10; i++)
		kfd_prio_policy_park_woke(&w, false, MS + i);
	assert_int_equal(w.hold_until, 0);
	kfd_prio_policy_park_woke(&w, false, MS + i);
	assert_int_equal(w.hold_until, MS + i + 10 * SEC);
	memset(&w, 0, sizeof(w));
	kfd_prio_policy_park_woke(&w, true, T0);
	assert_int_equal(w.hold_until, T0 + 10 * SEC);
}

/* Wakes beside others that work take from max_preempt_per_s down to half of it, where parking stops */
static void test_pays(void **state)
{
	struct kfd_prio_params k = PARAMS;
	struct kfd_prio_claim c = { 12, true, true, T0, T0 };
	struct kfd_prio_decision d;
	struct kfd_prio_policy p;
	int i;

	(void)state;
	k.max_per_s = 100;
	kfd_prio_policy_init(&p, &k, T0);
	assert_false(kfd_prio_policy_park_pays(&p, &k, false));
	assert_true(kfd_prio_policy_park_pays(&p, &k, true));
	for (i = 0; i < 49; i++)
		kfd_prio_policy_park_cost(&p, &k, T0);
	assert_true(kfd_prio_policy_park_pays(&p, &k, true));
	kfd_prio_policy_park_cost(&p, &k, T0);
	assert_false(kfd_prio_policy_park_pays(&p, &k, true));
	/* a preemption may begin all the same */
	kfd_prio_policy_decide(&p, &k, &c, 1, 0, T0, &d);
	assert_int_equal(d.level, 12);
	kfd_prio_policy_decide(&p, &k, &c, 1, 0, T0 + 10 * MS, &d);
	assert_true(kfd_prio_policy_park_pays(&p, &k, true));
	/* none is owed, and half of them are left */
	for (i = 0; i < 100; i++)
		kfd_prio_policy_park_cost(&p, &k, T0 + 10 * MS);
	kfd_prio_policy_park_cost(&p, &k, T0 + 20 * MS);
	assert_int_equal(p.tokens, 50 * SEC);
	assert_false(kfd_prio_policy_park_pays(&p, &k, true));
	kfd_prio_policy_decide(&p, &k, &c, 0, 0, T0 + 30 * MS, &d);
	assert_true(kfd_prio_policy_park_pays(&p, &k, true));
	/* preemptions take the other half, and a wake takes nothing more */
	for (i = 0; i < 50; i++)
		kfd_prio_policy_commit(&p, &k, 12, 0, true, T0 + 30 * MS);
	kfd_prio_policy_park_cost(&p, &k, T0 + 30 * MS);
	assert_int_equal(p.tokens, SEC);
}

/* However many parked processes wake, a preemption may begin, at any rate */
static void test_wakes_leave(void **state)
{
	static const u32 rates[] = { 1, 2, 3, 10, 1000, 10000 };
	struct kfd_prio_params k = PARAMS;
	struct kfd_prio_claim c = { 12, true, true, T0, T0 };
	struct kfd_prio_decision d;
	struct kfd_prio_policy p;
	unsigned int r;
	u32 i, left;

	(void)state;
	for (r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
		k.max_per_s = rates[r];
		kfd_prio_policy_init(&p, &k, T0);
		for (i = 0; i < 2 * rates[r]; i++)
			kfd_prio_policy_park_cost(&p, &k, T0);
		left = p.tokens / SEC;
		assert_true(left >= (rates[r] > 1 ? rates[r] / 2 : 1));
		for (i = 0; i < left; i++) {
			kfd_prio_policy_park_cost(&p, &k, T0);
			kfd_prio_policy_decide(&p, &k, &c, 1, 0, T0, &d);
			assert_int_equal(d.level, 12);
			kfd_prio_policy_commit(&p, &k, 12, 0, true, T0);
			kfd_prio_policy_commit(&p, &k, KFD_PRIO_LEVEL_NONE, KFD_PRIO_RANK_NONE, false, T0);
		}
		kfd_prio_policy_decide(&p, &k, &c, 1, 0, T0, &d);
		assert_int_equal(d.reason, KFD_PRIO_REASON_RATE);
	}
}

/* ---- a random history ---- */

#define HISTORY	2000

static u32 rnd(u32 n)
{
	return (u32)(random() >> 4) % n;
}

/**
 * struct history - all that ever happened to a process
 * @woke: when it was woken from parking, @n times
 * @waves: with saved waves
 * @lull_at: when it last began to have no work; 0: it has some
 */
static struct history {
	u64 woke[HISTORY];
	bool waves[HISTORY];
	u32 n;
	u64 lull_at;
	bool parked;
} h;

/* Is it held because of a wake up to now?  From all of them, without a ring of the last */
static bool ref_held(u64 now)
{
	u32 i, j, near;

	for (i = 0; i < h.n; i++) {
		for (j = 0, near = 0; j < i; j++)
			near += h.woke[i] - h.woke[j] < SEC;
		if ((h.waves[i] || near >= 10) && now < h.woke[i] + 10 * SEC)
			return true;
	}
	return false;
}

static bool ref_parks(u64 now, u64 after, bool chance)
{
	if (!h.lull_at)
		return false;
	return h.parked || (chance && now >= h.lull_at + after && !ref_held(now));
}

#define HOLD	KFD_PRIO_CROWD_HOLD_NS

/* idle_park_ms=auto: begins at once, ends only when the runlist has had room for the whole time of the hysteresis */
static void test_crowd(void **state)
{
	struct kfd_prio_crowd c = {};
	uint64_t at;

	(void)state;
	assert_false(kfd_prio_policy_crowd(&c, false, T0));
	assert_false(c.parks);
	assert_true(kfd_prio_policy_crowd(&c, true, T0));
	assert_true(c.parks);
	assert_int_equal(c.check_at, T0 + KFD_PRIO_CROWD_CHECK_NS);
	assert_false(kfd_prio_policy_crowd(&c, true, T0 + SEC));

	/* room, and again none just before it ends: the time begins anew */
	assert_false(kfd_prio_policy_crowd(&c, false, T0 + SEC + HOLD - 1));
	assert_true(c.parks);
	assert_false(kfd_prio_policy_crowd(&c, true, T0 + SEC + HOLD));
	for (at = T0 + 2 * SEC + HOLD; at < T0 + SEC + 2 * HOLD; at += SEC) {
		assert_false(kfd_prio_policy_crowd(&c, false, at));
		assert_int_equal(c.check_at, at + KFD_PRIO_CROWD_CHECK_NS);
	}
	assert_true(kfd_prio_policy_crowd(&c, false, T0 + SEC + 2 * HOLD));
	assert_false(c.parks);

	/* without over-subscription it does not begin, also within the time of the last one */
	assert_false(kfd_prio_policy_crowd(&c, false, T0 + SEC + HOLD + 1));
	assert_false(c.parks);
	assert_true(kfd_prio_policy_crowd(&c, true, T0 + SEC + 2 * HOLD));
	assert_true(c.parks);
}

static void test_random(void **state)
{
	const char *steps = getenv("STEPS");
	u64 worlds = (steps ? strtoull(steps, NULL, 0) : 1000000) / 20000, i, parked = 0, held = 0;

	(void)state;
	srandom(getenv("SEED") ? atoi(getenv("SEED")) : 1);
	for (i = 0; i < worlds; i++) {
		u64 now = T0, after = (1 + rnd(400)) * MS;
		struct kfd_prio_wakes w = {};
		int step;

		memset(&h, 0, sizeof(h));
		for (step = 0; step < HISTORY; step++) {
			u64 scale = step / 100 % 2 ? 2000 * MS : 120 * MS;
			bool pays = rnd(2), free = rnd(2), waves = !rnd(200), want;
			const struct kfd_prio_parking g = { after, now += rnd(scale), pays, free };
			const struct kfd_prio_lull l = {
				.quiet = h.lull_at, .quiet_at = h.lull_at, .hold_until = w.hold_until,
				.parked = h.parked,
			};

			want = ref_parks(now, after, pays || free);
			if (kfd_prio_policy_parks(&g, &l) != want)
				fail_msg("world %llu, step %d: %d", (unsigned long long)i, step, !want);
			parked += want && !h.parked;
			held += h.lull_at && !want && ref_held(now);
			h.parked = want;
			if (!h.lull_at) {
				h.lull_at = now;
			} else if (rnd(2)) {
				if (h.parked) {
					h.waves[h.n] = waves;
					h.woke[h.n++] = now;
					kfd_prio_policy_park_woke(&w, waves, now);
				}
				h.lull_at = 0;
				h.parked = false;
			}
		}
	}
	/* both were tried */
	assert_true(!worlds || (parked > 100 && held > 100));
}

int park_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parks),
		cmocka_unit_test(test_parks_stays),
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_pays),
		cmocka_unit_test(test_wakes_leave),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("park", tests, NULL, NULL);
}
