// SPDX-License-Identifier: GPL-2.0
/*
 * Limits: places, the period, what a group can run for in any stretch of time, and what it gets. The driver is modelled
 * by a loop that asks when something changes and takes the group off some time later.
 */
#include "share.h"

#define T0	(77 * SEC + 1234567)
#define PCT	100U

static struct kfd_prio_quota quota(u32 max, u32 offset, u64 period_ns)
{
	struct kfd_prio_quota q;

	kfd_prio_quota_init(&q, false, period_ns, 1 * US, T0);
	kfd_prio_quota_set(&q, max, false, offset, T0);
	return q;
}

static void test_no_limit(void **state)
{
	struct kfd_prio_quota q;

	(void)state;
	kfd_prio_quota_init(&q, false, 100 * MS, SWITCH, T0);
	kfd_prio_quota_count(&q, true, T0);
	kfd_prio_quota_count(&q, true, T0 + 1000 * SEC);
	assert_true(kfd_prio_quota_open(&q, T0 + 1000 * SEC));
	assert_true(kfd_prio_quota_change_at(&q, T0) == NEVER);
	assert_int_equal(q.ran_ns, 1000 * SEC);
}

static const struct period_case {
	u32 n;
	u64 switch_ns, ms;
} period_cases[] = {
	{ 0, SWITCH, 100 },
	{ 1, SWITCH, 100 },
	{ 1, 0, 100 },
	{ 1, 1049 * US, 100 },
	{ 1, 1050 * US, 200 },
	{ 2, 670 * US, 100 },
	{ 2, SWITCH, 200 },
	{ 2, 0, 200 },
	{ 12, SWITCH, 500 },
	{ 13, SWITCH, 1000 },
	{ 200, SWITCH, 1000 },
};

static void test_period(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(period_cases) / sizeof(period_cases[0]); i++) {
		const struct period_case *c = &period_cases[i];
		struct kfd_prio_period p = {};

		kfd_prio_quota_period(&p, c->n, c->switch_ns, T0);
		if (p.ns != c->ms * MS)
			fail_msg("%u groups: %llu ms", c->n, (unsigned long long)(p.ns / MS));
	}
}

/* A longer period is in force at once, a shorter one after ten seconds: places must not move at a user's will */
static void test_period_holds(void **state)
{
	struct kfd_prio_period p = {};

	(void)state;
	kfd_prio_quota_period(&p, 1, SWITCH, T0);
	assert_int_equal(p.ns, 100 * MS);
	kfd_prio_quota_period(&p, 12, SWITCH, T0 + SEC);
	assert_int_equal(p.ns, 500 * MS);
	kfd_prio_quota_period(&p, 1, SWITCH, T0 + 11 * SEC - 1);
	assert_int_equal(p.ns, 500 * MS);
	/* still as long as required: the ten seconds begin anew */
	kfd_prio_quota_period(&p, 12, SWITCH, T0 + 8 * SEC);
	kfd_prio_quota_period(&p, 1, SWITCH, T0 + 18 * SEC - 1);
	assert_int_equal(p.ns, 500 * MS);
	kfd_prio_quota_period(&p, 1, SWITCH, T0 + 18 * SEC);
	assert_int_equal(p.ns, 100 * MS);
}

static u32 meets(const struct kfd_prio_quota *a, const struct kfd_prio_quota *b)
{
	u32 i, n = 0;

	for (i = 0; i < KFD_PRIO_QUOTA_WHOLE; i++)
		n += (i + KFD_PRIO_QUOTA_WHOLE - a->offset) % KFD_PRIO_QUOTA_WHOLE < a->max &&
		     (i + KFD_PRIO_QUOTA_WHOLE - b->offset) % KFD_PRIO_QUOTA_WHOLE < b->max;
	return n;
}

/* Groups come and go: while there is room for a place, it meets no other, and no other place has moved */
static void test_places(void **state)
{
	const struct kfd_prio_quota *others[8];
	struct kfd_prio_quota q[8];
	u32 i, n = 0, max, sum, least, at, alone;

	(void)state;
	for (int step = 0; step < 2000; step++) {
		if (n == 8 || (n && !rnd(3))) {
			q[rnd(n)] = q[n - 1];
			n--;
			continue;
		}
		max = 1 + rnd(rnd(2) ? 2000 : 9999);
		for (i = 0; i < n; i++)
			others[i] = &q[i];
		q[n] = quota(max, kfd_prio_quota_place(others, n, max), 100 * MS);
		assert_true(q[n].offset < KFD_PRIO_QUOTA_WHOLE);
		for (i = 0, sum = 0; i < n; i++)
			sum += meets(&q[n], &q[i]);
		/* any place at all: none meets less, of those that begin where another ends, or at 0 */
		for (least = ~0U, at = 0; at <= n; at++) {
			struct kfd_prio_quota other = q[n];

			other.offset = at < n ? (q[at].offset + q[at].max) % KFD_PRIO_QUOTA_WHOLE : 0;
			for (i = 0, alone = 0; i < n; i++)
				alone += meets(&other, &q[i]);
			if (alone < least)
				least = alone;
		}
		assert_int_equal(sum, least);
		n++;
	}
}

/* Made one after the other, places stand one after the other while they are 100 % together */
static void test_places_fill(void **state)
{
	static const u32 max[] = { 3000, 2500, 2500, 2000 };
	const struct kfd_prio_quota *others[4];
	struct kfd_prio_quota q[4];
	u32 i, at = 0;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_int_equal(kfd_prio_quota_place(others, i, max[i]), at);
		q[i] = quota(max[i], at, 100 * MS);
		others[i] = &q[i];
		at += max[i];
	}
	/* the first goes; a smaller one takes its place */
	others[0] = &q[3];
	assert_int_equal(kfd_prio_quota_place(others, 3, 2900), 0);
}

/* What a group has used of its limit; half of what it used before counts for a second without work */
static void test_used(void **state)
{
	struct kfd_prio_quota q = quota(5000, 0, 100 * MS);

	(void)state;
	q.ran_ns = 7 * SEC;
	q.used_ns = 7 * SEC - 250 * MS;
	kfd_prio_quota_used(&q, SEC);
	assert_int_equal(q.used, KFD_PRIO_QUOTA_USED / 2);
	/* above the limit, which may be soft */
	q.ran_ns += 900 * MS;
	kfd_prio_quota_used(&q, SEC);
	assert_int_equal(q.used, KFD_PRIO_QUOTA_USED);
	q.ran_ns += 125 * MS;
	kfd_prio_quota_used(&q, SEC);
	assert_int_equal(q.used, KFD_PRIO_QUOTA_USED / 2);
	for (int i = 0; i < 6; i++)
		kfd_prio_quota_used(&q, SEC);
	assert_int_equal(q.used, 0);
	/* after 43 days without a decision: ns * max is a little more than 64 bits */
	q.ran_ns += 100 * MS;
	kfd_prio_quota_used(&q, 3689348814741911ULL);
	assert_int_equal(q.used, 0);
}

/* A place that comes in some periods only costs a switch in these */
static void test_switches(void **state)
{
	struct kfd_prio_quota q;

	(void)state;
	kfd_prio_quota_init(&q, false, 100 * MS, MS, T0);
	q.used = KFD_PRIO_QUOTA_USED;
	assert_int_equal(kfd_prio_quota_switches(&q), 0);
	kfd_prio_quota_set(&q, 400, false, 0, T0);
	assert_int_equal(kfd_prio_quota_switches(&q), KFD_PRIO_QUOTA_USED);
	q.used /= 2;
	assert_int_equal(kfd_prio_quota_switches(&q), KFD_PRIO_QUOTA_USED / 2);
	kfd_prio_quota_set(&q, 100, false, 0, T0);
	assert_int_equal(kfd_prio_quota_switches(&q), KFD_PRIO_QUOTA_USED / 8);
	/* the period that is in force does not matter */
	kfd_prio_quota_stretch(&q, SEC, MS, T0);
	assert_int_equal(kfd_prio_quota_switches(&q), KFD_PRIO_QUOTA_USED / 8);
}

#define MANY	KFD_PRIO_SHARE_ALL_MAX

/* Idle groups have taken the place beside a tenant: the next one is put where nobody works, in any order */
static void test_places_used(void **state)
{
	const struct kfd_prio_quota *others[4], *many[MANY];
	struct kfd_prio_quota q[4] = { quota(5000, 0, 100 * MS), quota(5000, 5000, 100 * MS), quota(5000, 5000, 100 * MS),
				       quota(5000, 5000, 100 * MS) };
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++)
		others[i] = &q[i];
	q[0].used = KFD_PRIO_QUOTA_USED;
	assert_int_equal(kfd_prio_quota_place(others, 3, 5000), 5000);
	/* however many there are */
	for (i = 1; i < MANY; i++)
		many[i] = &q[1];
	many[0] = &q[0];
	assert_int_equal(kfd_prio_quota_place(many, MANY, 5000), 5000);
	/* so it is if these are a user's, and seem to work */
	for (i = 1; i < 4; i++) {
		q[i].users = true;
		q[i].used = KFD_PRIO_QUOTA_USED;
	}
	assert_int_equal(kfd_prio_quota_place(others, 3, 5000), 5000);
	/* nobody works yet: where fewer are */
	q[0].used = 0;
	assert_int_equal(kfd_prio_quota_place(others, 3, 5000), 0);
}

/* Two that work are in one place, the other place is that of a group without work: one of them moves, once */
static void test_moves(void **state)
{
	struct kfd_prio_quota q[3] = { quota(5000, 0, 100 * MS), quota(5000, 5000, 100 * MS), quota(5000, 0, 100 * MS) };
	const struct kfd_prio_quota *others[2] = { &q[0], &q[1] }, *of_first[2] = { &q[1], &q[2] };
	u64 now = T0 + SEC;

	(void)state;
	assert_false(kfd_prio_quota_move(&q[2], others, 2, now));
	/* A first place that is used for less than a quarter is no reason */
	q[0].used = KFD_PRIO_QUOTA_USED / 16;
	assert_false(kfd_prio_quota_move(&q[2], others, 2, now));
	q[0].used = KFD_PRIO_QUOTA_USED;
	/* as much as the other place */
	q[1].used = KFD_PRIO_QUOTA_USED;
	assert_false(kfd_prio_quota_move(&q[2], others, 2, now));
	q[1].used = KFD_PRIO_QUOTA_USED / 2;
	q[2].used = KFD_PRIO_QUOTA_USED;
	assert_true(kfd_prio_quota_move(&q[2], others, 2, now));
	assert_int_equal(q[2].offset, 5000);
	assert_int_equal(q[2].budget_ns, 0);
	assert_true(q[2].spent);
	/* the other has no reason any more */
	assert_false(kfd_prio_quota_move(&q[0], of_first, 2, now));
	/* used by the other in turn: it stays for ten seconds */
	q[0].used = 0;
	q[1].used = KFD_PRIO_QUOTA_USED;
	assert_false(kfd_prio_quota_move(&q[2], others, 2, now + KFD_PRIO_QUOTA_HOLD_NS - 1));
	assert_true(kfd_prio_quota_move(&q[2], others, 2, now + KFD_PRIO_QUOTA_HOLD_NS));
	assert_int_equal(q[2].offset, 0);
}

/*
 * The driver: at each change the group is mapped, or taken off @late ns later, by a random time of so much. @works:
 * whether it has work, asked at each change. Counts for each millisecond how long the group ran.
 */
#define SPAN_MS	40000

struct drive {
	struct kfd_prio_quota q;
	u64 now, late;
	u32 ran[SPAN_MS];	/* ns */
	bool mapped;
};

static void drive_ran(struct drive *d, u64 from, u64 to)
{
	while (from < to) {
		u64 ms = (from - T0) / MS, end = T0 + (ms + 1) * MS;

		if (end > to)
			end = to;
		if (ms < SPAN_MS)
			d->ran[ms] += end - from;
		from = end;
	}
}

/* Until @until: the group always has work */
static void drive(struct drive *d, u64 until)
{
	u64 next, off;

	while (d->now < until) {
		bool open = kfd_prio_quota_open(&d->q, d->now);

		if (open && !d->mapped) {
			kfd_prio_quota_count(&d->q, true, d->now);
			d->mapped = true;
		} else if (!open && d->mapped) {
			off = d->now + d->late / 2 + (d->late ? rnd(d->late) : 0);
			drive_ran(d, d->now, off);
			d->now = off;
			kfd_prio_quota_count(&d->q, false, off);
			d->mapped = false;
			continue;	/* the next place may have begun */
		}
		next = kfd_prio_quota_change_at(&d->q, d->now);
		assert_true(next > d->now);
		if (next > until)
			next = until;
		if (d->mapped)
			drive_ran(d, d->now, next);
		d->now = next;
		kfd_prio_quota_count(&d->q, d->mapped, d->now);
	}
}

/* The most and the least that ran in any @ms milliseconds, from @first on */
static void span(const struct drive *d, u32 first, u32 last, u32 ms, u64 *least, u64 *most)
{
	u64 sum = 0;
	u32 i;

	*least = NEVER;
	*most = 0;
	for (i = first; i < last; i++) {
		sum += d->ran[i];
		if (i >= first + ms)
			sum -= d->ran[i - ms];
		if (i + 1 < first + ms)
			continue;
		if (sum > *most)
			*most = sum;
		if (sum < *least)
			*least = sum;
	}
}

static const struct limit_case {
	u32 max, offset;
	u64 period_ms, late;
} limit_cases[] = {
	{ 3000, 0, 100, 0 },
	{ 3000, 9000, 100, 0 },
	{ 3000, 0, 100, SWITCH },
	{ 3000, 8500, 100, 2 * SWITCH },
	{ 5000, 5000, 100, SWITCH },
	{ 500, 0, 500, SWITCH },
	{ 9900, 1234, 100, SWITCH },
	{ 1000, 0, 1000, SWITCH },
};

/* A place that is too short for its switches is as long as four, in those periods for which there is budget */
static void test_low(void **state)
{
	struct drive *d = calloc(1, sizeof(*d));
	u64 least, most, place = 4 * SWITCH;
	u32 i, ends = 0;

	(void)state;
	kfd_prio_quota_init(&d->q, false, 100 * MS, SWITCH, T0);
	kfd_prio_quota_set(&d->q, 50, false, 3000, T0);
	d->now = T0;
	drive(d, T0 + SPAN_MS * MS);
	span(d, 0, SPAN_MS, 10000, &least, &most);
	assert_in_range(most, 50 * MS, 50 * MS + place);
	assert_in_range(least, 50 * MS - place, 50 * MS);
	/* each time that it ran it had a whole place */
	for (i = 1, most = 0; i < SPAN_MS; i++) {
		most += d->ran[i];
		if (d->ran[i] || !d->ran[i - 1])
			continue;
		ends++;
		assert_in_range(most, ends > 1 ? place - MS / 10 : 1, place + MS / 10);
		most = 0;
	}
	assert_in_range(ends, 55, 66);
	free(d);
}

/* Always busy: in ten seconds no more than a hundredth of time above the limit and no less than a hundredth below it */
static void test_limit(void **state)
{
	struct drive *d = malloc(sizeof(*d));
	u64 least, most, share;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(limit_cases) / sizeof(limit_cases[0]); i++) {
		const struct limit_case *c = &limit_cases[i];

		memset(d, 0, sizeof(*d));
		d->q = quota(c->max, c->offset, c->period_ms * MS);
		d->now = T0;
		d->late = c->late;
		drive(d, T0 + SPAN_MS * MS);
		share = 10 * SEC * c->max / KFD_PRIO_QUOTA_WHOLE;
		span(d, 0, SPAN_MS, 10000, &least, &most);
		if (most > share + 100 * MS || least + 100 * MS < share)
			fail_msg("%u at %u: %llu to %llu us of 10 s", c->max, c->offset,
				 (unsigned long long)(least / US), (unsigned long long)(most / US));
		span(d, 0, SPAN_MS, 1000, &least, &most);
		if (most > share / 10 + 50 * MS)
			fail_msg("%u at %u: %llu us of 1 s", c->max, c->offset, (unsigned long long)(most / US));
		/* Nothing exceeds a place: exactly the limit */
		if (!c->late) {
			span(d, 1000, SPAN_MS - 1000, c->period_ms, &least, &most);
			assert_in_range(least, share * c->period_ms / 10000 - 1000, share * c->period_ms / 10000);
			assert_in_range(most, share * c->period_ms / 10000, share * c->period_ms / 10000 + 1000);
		}
	}
	free(d);
}

/* One end took a second: the group pays with one place, and no more */
static void test_debt(void **state)
{
	struct kfd_prio_quota q = quota(3000, 0, 100 * MS);
	u64 at = T0 - T0 % (100 * MS) + 100 * MS;

	(void)state;
	kfd_prio_quota_count(&q, true, at);
	assert_true(kfd_prio_quota_open(&q, at));
	kfd_prio_quota_count(&q, false, at + SEC);
	assert_false(kfd_prio_quota_open(&q, at + SEC));
	kfd_prio_quota_count(&q, false, at + SEC + 50 * MS);
	/* the debt of one place is paid in one period: then it has budget for an eighth of a place, and later for all */
	at += SEC + 100 * MS;
	kfd_prio_quota_count(&q, false, at);
	assert_false(kfd_prio_quota_open(&q, at));
	assert_int_equal(q.budget_ns, 0);
	kfd_prio_quota_count(&q, false, at + 13 * MS);
	assert_true(kfd_prio_quota_open(&q, at + 13 * MS));
	kfd_prio_quota_count(&q, false, at + 100 * MS);
	assert_int_equal(q.budget_ns, 30 * MS);
	/* and no more, however long it waits */
	kfd_prio_quota_count(&q, false, at + 10 * SEC);
	assert_int_equal(q.budget_ns, 30 * MS);
}

/* With all its budget a group may run in its place, and only there */
static void test_place(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		u32 max = 1 + rnd(9999), offset = rnd(KFD_PRIO_QUOTA_WHOLE);
		u64 period = 100 * MS * (1 + rnd(2)), now = T0 + rnd(SEC);
		struct kfd_prio_quota q = quota(max, offset, period);
		u64 at = (now + period - period * offset / KFD_PRIO_QUOTA_WHOLE) % period;

		kfd_prio_quota_count(&q, false, now);
		assert_int_equal(kfd_prio_quota_open(&q, now), at < period * max / KFD_PRIO_QUOTA_WHOLE);
	}
}

/* A change of the limit, of the place or of the period gives no budget */
static void test_change_gives_none(void **state)
{
	struct kfd_prio_quota q = quota(3000, 0, 100 * MS);

	(void)state;
	q.budget_ns = 2 * MS;
	kfd_prio_quota_set(&q, 5000, false, 7000, T0);
	assert_int_equal(q.budget_ns, 2 * MS);
	kfd_prio_quota_stretch(&q, 200 * MS, 1 * US, T0);
	assert_int_equal(q.budget_ns, 2 * MS);
	/* a lower limit holds less */
	q.budget_ns = 90 * MS;
	kfd_prio_quota_set(&q, 1000, false, 7000, T0);
	assert_int_equal(q.budget_ns, 20 * MS);
	kfd_prio_quota_stretch(&q, 100 * MS, 1 * US, T0);
	assert_int_equal(q.budget_ns, 10 * MS);
}

/* A budget that ends in a place: the group stays off until it has an eighth of a place */
static void test_spent(void **state)
{
	struct kfd_prio_quota q = quota(3000, 0, 100 * MS);
	u64 at = T0 - T0 % (100 * MS) + 100 * MS, end;

	(void)state;
	kfd_prio_quota_count(&q, false, at);
	q.budget_ns = 7 * MS;
	kfd_prio_quota_count(&q, true, at);
	end = kfd_prio_quota_change_at(&q, at);
	assert_int_equal(end, at + 10 * MS + 1);
	kfd_prio_quota_count(&q, false, end);
	assert_false(kfd_prio_quota_open(&q, end));
	/* 3.75 ms come in 12.5 ms, and the place lasts for 30 */
	assert_in_range(kfd_prio_quota_change_at(&q, end), end + 12500 * US, end + 12500 * US + 10);
	kfd_prio_quota_count(&q, false, end + 10 * MS);
	assert_true(q.budget_ns > 0);
	assert_false(kfd_prio_quota_open(&q, end + 10 * MS));
	kfd_prio_quota_count(&q, false, end + 12501 * US);
	assert_true(kfd_prio_quota_open(&q, end + 12501 * US));
	/* too late for this place */
	kfd_prio_quota_count(&q, true, at + 25 * MS);
	q.budget_ns = 0;
	kfd_prio_quota_count(&q, false, at + 26 * MS);
	assert_int_equal(kfd_prio_quota_change_at(&q, at + 26 * MS), at + 100 * MS);
	kfd_prio_quota_count(&q, false, at + 100 * MS);
	assert_true(kfd_prio_quota_open(&q, at + 100 * MS));
}

/*
 * A user who changes his limit, his place and the period at will, and works or not at will, runs for the limit and two
 * places in any second at most, by the highest limit that he had
 */
static void test_changes(void **state)
{
	struct drive *d = malloc(sizeof(*d));
	u64 least, most;
	int round;

	(void)state;
	for (round = 0; round < 20; round++) {
		memset(d, 0, sizeof(*d));
		d->q = quota(3000, 0, 100 * MS);
		d->now = T0;
		d->late = SWITCH;
		while (d->now < T0 + 20 * SEC) {
			drive(d, d->now + rnd(200 * MS));
			if (rnd(2))
				kfd_prio_quota_set(&d->q, rnd(2) ? 3000 : 1 + rnd(3000), false,
						   rnd(KFD_PRIO_QUOTA_WHOLE), d->now);
			else
				kfd_prio_quota_stretch(&d->q, rnd(2) ? 100 * MS : 200 * MS, SWITCH, d->now);
		}
		span(d, 0, 20000, 1000, &least, &most);
		assert_true(most <= 300 * MS + 2 * 60 * MS);
	}
	free(d);
}

/* It never says that nothing changes when something does */
static void test_change_at(void **state)
{
	const char *s = getenv("STEPS");
	u64 steps = s ? strtoull(s, NULL, 0) : 20000, now = T0, at;
	struct kfd_prio_quota q = quota(2500, 4000, 100 * MS), later;

	(void)state;
	while (steps--) {
		bool runs = rnd(2), open;

		kfd_prio_quota_count(&q, runs, now);
		if (!rnd(50))
			kfd_prio_quota_set(&q, 1 + rnd(10000), false, rnd(10000), now);
		open = kfd_prio_quota_open(&q, now);
		at = kfd_prio_quota_change_at(&q, now);
		assert_true(at > now);
		for (int i = 0; i < 3; i++) {
			u64 t = now + rnd(min_t(u64, at - now, 500 * MS));

			later = q;
			kfd_prio_quota_count(&later, runs, t);
			if (kfd_prio_quota_open(&later, t) != open)
				fail_msg("%d before it is due: %llu of %llu", open, (unsigned long long)(t - now),
					 (unsigned long long)(at - now));
		}
		if (at != NEVER && open && runs) {
			later = q;
			kfd_prio_quota_count(&later, runs, at);
			assert_false(kfd_prio_quota_open(&later, at));
		}
		now += 1 + rnd(rnd(2) ? 100 * MS : MS);
	}
}

int quota_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_period),
		cmocka_unit_test(test_period_holds),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_places_fill),
		cmocka_unit_test(test_used),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_places_used),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_low),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_change_gives_none),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_debt),
		cmocka_unit_test(test_spent),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_change_at),
	};

	return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
