// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the limit of a group's GPU time, see kfd_prio_quota.h. Pure functions, also tested in
 * user space.
 *
 * A group may run while it is in its place and its budget is above 0. If the budget is used up, the
 * group does not run before it has budget for a part of a place again, because each time that a
 * group is put back costs a switch.
 *
 * The budget holds one place at most, and lacks one place at most. It comes all the time, also in
 * the place, so a group that has exceeded no place for some time has budget for a little more than
 * one place, and the place ends it. In each stretch of n periods a group runs for n + 1 places at
 * most, however its place and the period change meanwhile.
 */
#include "kfd_prio_quota.h"
#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/math64.h>
#else
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define div_u64(dividend, divisor) ((u64)(dividend) / (divisor))
#define div64_u64	div_u64
#endif

/* The lengths of a period, ns. Each divides a second, so that a limit holds in any second. */
static const u64 lengths[] = { 100000000, 200000000, 500000000, 1000000000 };

/* Counting stops after a pause of so many periods, in which the budget is full or has no debt */
#define PAUSE	4

static u64 lesser(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 part(const struct kfd_prio_quota *q, u64 ns)
{
	return div_u64(ns * q->max, KFD_PRIO_QUOTA_WHOLE);
}

static s64 place_ns(const struct kfd_prio_quota *q)
{
	return part(q, q->period_ns);
}

/* Returns how long ago the last place has begun */
static u64 since_place(const struct kfd_prio_quota *q, u64 now)
{
	u64 from = now + q->period_ns - div_u64(q->period_ns * q->offset, KFD_PRIO_QUOTA_WHOLE);

	return from - div64_u64(from, q->period_ns) * q->period_ns;
}

/* The budget with which a group runs again after its budget was used up */
static s64 again_ns(const struct kfd_prio_quota *q)
{
	return place_ns(q) / KFD_PRIO_QUOTA_AGAIN;
}

/**
 * kfd_prio_quota_init() - initialise a group without a limit
 * @q: out: the group
 * @period_ns: the period of the node
 * @now: the time
 */
void kfd_prio_quota_init(struct kfd_prio_quota *q, u64 period_ns, u64 now)
{
	*q = (struct kfd_prio_quota) {
		.max = KFD_PRIO_QUOTA_WHOLE,
		.period_ns = period_ns,
		.budget_ns = period_ns,
		.at = now,
	};
}

/* Keeps the budget and the debt within one place, and finds out whether the budget is used up */
static void budget_bound(struct kfd_prio_quota *q)
{
	s64 most = place_ns(q);

	if (q->budget_ns > most)
		q->budget_ns = most;
	if (q->budget_ns < -most)
		q->budget_ns = -most;
	if (q->budget_ns <= 0)
		q->spent = true;
	else if (q->budget_ns >= again_ns(q))
		q->spent = false;
}

/**
 * kfd_prio_quota_count() - count the time up to @now
 * @q: the group
 * @runs: whether the group runs from now on: it is mapped with work on some GPU
 * @now: the time; if it lies before the time that is counted already, nothing is counted
 */
void kfd_prio_quota_count(struct kfd_prio_quota *q, bool runs, u64 now)
{
	bool ran = q->runs;
	u64 ns;

	q->runs = runs;
	if (now <= q->at)
		return;
	ns = now - q->at;
	q->at = now;
	if (ran)
		q->ran_ns += ns;
	if (!kfd_prio_quota_limits(q))
		return;
	ns = lesser(ns, PAUSE * q->period_ns);
	q->budget_ns += part(q, ns);
	if (ran)
		q->budget_ns -= ns;
	budget_bound(q);
}

/**
 * kfd_prio_quota_set() - change a limit
 * @q: the group, whose time is counted up to @now
 * @max: the limit, 1..KFD_PRIO_QUOTA_WHOLE
 * @soft: see struct kfd_prio_quota
 * @offset: begin of the place
 * @now: the time
 *
 * A group gets no budget by a change, so that a change, there and back, gives it no further place.
 */
void kfd_prio_quota_set(struct kfd_prio_quota *q, u32 max, bool soft, u32 offset, u64 now)
{
	kfd_prio_quota_count(q, q->runs, now);
	q->max = max;
	q->soft = soft;
	q->offset = offset;
	budget_bound(q);
}

/**
 * kfd_prio_quota_stretch() - change the period of a group to that of the node
 * @q: the group
 * @period_ns: the period of the node
 * @now: the time
 */
void kfd_prio_quota_stretch(struct kfd_prio_quota *q, u64 period_ns, u64 now)
{
	kfd_prio_quota_count(q, q->runs, now);
	q->period_ns = period_ns;
	budget_bound(q);
}

/* How much of [0, @len) lies in [@at, @at + @other), both on a circle of KFD_PRIO_QUOTA_WHOLE */
static u32 overlap(u32 len, u32 at, u32 other)
{
	u32 n = at < len ? lesser(other, len - at) : 0;

	if (at + other > KFD_PRIO_QUOTA_WHOLE)
		n += lesser(len, at + other - KFD_PRIO_QUOTA_WHOLE);
	return n;
}

/* How much of a place would be shared with other places, all of these together */
static u32 shared(const struct kfd_prio_quota *const *others, u32 n, u32 offset, u32 max)
{
	u32 i, sum = 0;

	for (i = 0; i < n; i++)
		if (kfd_prio_quota_limits(others[i]))
			sum += overlap(max, (others[i]->offset + KFD_PRIO_QUOTA_WHOLE - offset) %
				       KFD_PRIO_QUOTA_WHOLE, others[i]->max);
	return sum;
}

/**
 * kfd_prio_quota_place() - find a place for a limit
 * @others: the other groups of the node
 * @n: number of these
 * @max: the limit
 *
 * Other places do not move, so that no user can take a place away from a group by changing his own.
 *
 * Return: begin of the place: one that it shares with no other group, if there is room; else one
 *	that it shares least
 */
u32 kfd_prio_quota_place(const struct kfd_prio_quota *const *others, u32 n, u32 max)
{
	u32 i, at, sum, best = 0, least = shared(others, n, 0, max);

	for (i = 0; least && i < n; i++) {
		if (!kfd_prio_quota_limits(others[i]))
			continue;
		at = (others[i]->offset + others[i]->max) % KFD_PRIO_QUOTA_WHOLE;
		sum = shared(others, n, at, max);
		if (sum < least) {
			least = sum;
			best = at;
		}
	}
	return best;
}

/* The shortest period with which @n limits, of which @least is the lowest, cost little */
static u64 period_for(u32 n, u32 least, u64 switch_ns)
{
	u32 i;

	if (!switch_ns)
		switch_ns = KFD_PRIO_QUOTA_SWITCH_NS;
	for (i = 0; i < ARRAY_SIZE(lengths) - 1; i++)
		/* In thousandths, rounded down */
		if (div_u64((n + 1) * switch_ns * 1000, lengths[i]) <=
		    1000 / KFD_PRIO_QUOTA_COST &&
		    div_u64(lengths[i] * least, KFD_PRIO_QUOTA_WHOLE) >=
		    KFD_PRIO_QUOTA_SWITCHES * switch_ns)
			break;
	return lengths[i];
}

/**
 * kfd_prio_quota_period() - choose the period of a node
 * @p: the period; all zero at first
 * @n: number of groups with a limit
 * @least: the lowest limit, hundredths of a percent
 * @switch_ns: measured time of a save and a restore; 0: not known
 * @now: the time
 *
 * In a period each place begins and ends, where one ends another may begin: @n + 1 updates of the
 * runlist.
 *
 * Return: whether the period has changed: the caller calls kfd_prio_quota_stretch() for each group
 */
bool kfd_prio_quota_period(struct kfd_prio_period *p, u32 n, u32 least, u64 switch_ns, u64 now)
{
	u64 ns = period_for(n, least, switch_ns);

	if (ns >= p->ns || now - p->longer_at >= KFD_PRIO_QUOTA_HOLD_NS) {
		bool changes = ns != p->ns;

		p->ns = ns;
		p->longer_at = now;
		return changes;
	}
	return false;
}

/**
 * kfd_prio_quota_open() - whether a group may run now, as far as its limit is concerned
 * @q: the group; its time is counted up to @now
 * @now: the time
 */
bool kfd_prio_quota_open(const struct kfd_prio_quota *q, u64 now)
{
	return !kfd_prio_quota_limits(q) ||
	       (!q->spent && since_place(q, now) < (u64)place_ns(q));
}

/**
 * kfd_prio_quota_spent_at() - when the budget is used up, or is there again
 * @q: the group; its time is counted up to @now
 * @now: the time
 *
 * Return: the time, after @now, if nothing changes before; ~0ULL: neither happens
 */
u64 kfd_prio_quota_spent_at(const struct kfd_prio_quota *q, u64 now)
{
	if (!kfd_prio_quota_limits(q) || q->spent == q->runs)
		return ~0ULL;
	/* The budget comes at the rate of the limit, and shrinks at the rate that is left */
	if (q->spent)
		return now + 1 + div64_u64((u64)(again_ns(q) - q->budget_ns) *
					   KFD_PRIO_QUOTA_WHOLE, q->max);
	return now + 1 + div64_u64((u64)q->budget_ns * KFD_PRIO_QUOTA_WHOLE,
				   KFD_PRIO_QUOTA_WHOLE - q->max);
}

/**
 * kfd_prio_quota_change_at() - when kfd_prio_quota_open() changes, if nothing else does
 * @q: the group; its time is counted up to @now
 * @now: the time
 *
 * Return: the time, after @now; ~0ULL: never
 */
u64 kfd_prio_quota_change_at(const struct kfd_prio_quota *q, u64 now)
{
	u64 since, next, end, spent_at;

	if (!kfd_prio_quota_limits(q))
		return ~0ULL;
	since = since_place(q, now);
	next = now + q->period_ns - since;
	if (since >= (u64)place_ns(q))
		return next;
	end = now + place_ns(q) - since;
	spent_at = kfd_prio_quota_spent_at(q, now);
	if (q->spent)
		return spent_at < end ? spent_at : next;
	return lesser(spent_at, end);
}
