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
 *
 * The place of a low limit, which would be shorter than its switches permit, is extended. Its group
 * has the place in those periods only for which it has saved the budget of all of it.
 *
 * The period and the places depend on the time that the groups have used in the last seconds, and
 * not on how many groups there are, or on what their limits would permit: anybody can make a group,
 * and a process that has no work costs nothing.
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

/* Counting stops after so long: the lowest limit saves 100 ms, more than a place and its debt */
#define PAUSE_NS	1000000000000ULL

/* More idle groups than there can be: those that share a place count less than one that works */
#define IDLE	(2 * KFD_PRIO_SHARE_ALL_MAX)

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
	u64 ns = part(q, q->period_ns);

	return ns < q->least_ns ? lesser(q->least_ns, q->period_ns) : ns;
}

static u64 least_ns(u64 switch_ns)
{
	return KFD_PRIO_QUOTA_SWITCHES * (switch_ns ?: KFD_PRIO_QUOTA_SWITCH_NS);
}

/* Returns how long ago the last place has begun */
static u64 since_place(const struct kfd_prio_quota *q, u64 now)
{
	u64 from = now + q->period_ns - div_u64(q->period_ns * q->offset, KFD_PRIO_QUOTA_WHOLE);

	return from - div64_u64(from, q->period_ns) * q->period_ns;
}

/* Whether the place of a low limit is longer than its part of the period */
static bool extended(const struct kfd_prio_quota *q)
{
	return place_ns(q) > (s64)part(q, q->period_ns);
}

/* The budget with which a group runs again after its budget was used up */
static s64 again_ns(const struct kfd_prio_quota *q)
{
	return place_ns(q) / KFD_PRIO_QUOTA_AGAIN;
}

/**
 * kfd_prio_quota_init() - initialise a group without a limit
 * @q: out: the group
 * @users: see struct kfd_prio_quota
 * @period_ns: the period of the node
 * @switch_ns: measured time of a save and a restore; 0: not known
 * @now: the time
 */
void kfd_prio_quota_init(struct kfd_prio_quota *q, bool users, u64 period_ns, u64 switch_ns,
			 u64 now)
{
	*q = (struct kfd_prio_quota) {
		.users = users,
		.max = KFD_PRIO_QUOTA_WHOLE,
		.period_ns = period_ns,
		.least_ns = least_ns(switch_ns),
		.budget_ns = period_ns,
		.at = now,
	};
}

/* Keeps the budget and the debt within one place, and finds out whether the budget is used up */
static void budget_bound(struct kfd_prio_quota *q)
{
	s64 most = place_ns(q);

	/* What comes until an extended place begins is saved for the next one */
	if (extended(q))
		most += part(q, q->period_ns);
	if (q->budget_ns > most)
		q->budget_ns = most;
	if (q->budget_ns < -most)
		q->budget_ns = -most;
	if (q->budget_ns <= 0)
		q->spent = true;
	else if (q->budget_ns >= again_ns(q) && !extended(q))
		q->spent = false;
}

/* Counts the time up to @now for the budget */
static void charge(struct kfd_prio_quota *q, bool ran, u64 now)
{
	u64 ns = lesser(now - q->at, PAUSE_NS);

	q->at = now;
	q->budget_ns += part(q, ns);
	if (ran)
		q->budget_ns -= ns;
	budget_bound(q);
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
	u64 begin;

	q->runs = runs;
	if (now <= q->at)
		return;
	if (ran)
		q->ran_ns += now - q->at;
	if (!kfd_prio_quota_limits(q)) {
		q->at = now;
		return;
	}
	/* An extended place is for the group if it has the budget of all of it when it begins */
	begin = now - since_place(q, now);
	if (extended(q) && begin > q->at) {
		charge(q, ran, begin);
		q->spent = q->budget_ns < place_ns(q);
	}
	charge(q, ran, now);
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
 * @switch_ns: measured time of a save and a restore; 0: not known
 * @now: the time
 */
void kfd_prio_quota_stretch(struct kfd_prio_quota *q, u64 period_ns, u64 switch_ns, u64 now)
{
	kfd_prio_quota_count(q, q->runs, now);
	q->period_ns = period_ns;
	q->least_ns = least_ns(switch_ns);
	budget_bound(q);
}

/**
 * kfd_prio_quota_used() - find out how much of its limit a group has used since the last call
 * @q: the group; its time is counted up to @now
 * @ns: time since the last call
 *
 * A group that has used less than before counts as half of that at least: one second without work
 * is no reason to give its place to another group.
 */
void kfd_prio_quota_used(struct kfd_prio_quota *q, u64 ns)
{
	u64 most = part(q, lesser(ns, PAUSE_NS)), used = q->ran_ns - q->used_ns;

	q->used_ns = q->ran_ns;
	used = used < most ? div64_u64(used * KFD_PRIO_QUOTA_USED, most) : KFD_PRIO_QUOTA_USED;
	q->used = used > q->used / 2 ? used : q->used / 2;
}

/**
 * kfd_prio_quota_switches() - how often the place of a group costs a switch, by what it has used
 * @q: the group
 *
 * Return: parts of KFD_PRIO_QUOTA_USED: all, if it uses up its limit in each of the shortest
 *	periods; less, if its place is extended, and comes in some of them
 */
u32 kfd_prio_quota_switches(const struct kfd_prio_quota *q)
{
	u64 ns = part(q, lengths[0]);

	if (!kfd_prio_quota_limits(q))
		return 0;
	return ns < q->least_ns ? div64_u64(q->used * ns, q->least_ns) : q->used;
}

/* How much of [0, @len) lies in [@at, @at + @other), both on a circle of KFD_PRIO_QUOTA_WHOLE */
static u32 overlap(u32 len, u32 at, u32 other)
{
	u32 n = at < len ? lesser(other, len - at) : 0;

	if (at + other > KFD_PRIO_QUOTA_WHOLE)
		n += lesser(len, at + other - KFD_PRIO_QUOTA_WHOLE);
	return n;
}

/*
 * How much of a place would be shared with the places of other groups, by what these have used. All
 * groups that there can be count less than one that works if they are idle, and yet more than none,
 * so that the places of groups that are made before they work stand one after the other. The group
 * of a user counts as idle. The user can use it up without a kernel: a packet that waits for ever
 * is work.
 */
static u64 shared(const struct kfd_prio_quota *const *others, u32 n, u32 offset, u32 max)
{
	u64 sum = 0;
	u32 i, at;

	for (i = 0; i < n; i++) {
		if (!kfd_prio_quota_limits(others[i]))
			continue;
		at = (others[i]->offset + KFD_PRIO_QUOTA_WHOLE - offset) % KFD_PRIO_QUOTA_WHOLE;
		sum += (u64)overlap(max, at, others[i]->max) *
		       (others[i]->users ? 1 : others[i]->used * IDLE + 1);
	}
	return sum;
}

/* Finds the place that is shared least. Returns how much it is shared */
static u64 place(const struct kfd_prio_quota *const *others, u32 n, u32 max, u32 *best)
{
	u64 sum, least = shared(others, n, 0, max);
	u32 i, at;

	*best = 0;
	for (i = 0; least && i < n; i++) {
		if (!kfd_prio_quota_limits(others[i]))
			continue;
		at = (others[i]->offset + others[i]->max) % KFD_PRIO_QUOTA_WHOLE;
		sum = shared(others, n, at, max);
		if (sum < least) {
			least = sum;
			*best = at;
		}
	}
	return least;
}

/**
 * kfd_prio_quota_place() - find a place for a limit
 * @others: the other groups of the node
 * @n: number of these
 * @max: the limit
 *
 * No other place moves.
 *
 * Return: begin of the place: one that it shares with no other group, if there is room; else one
 *	that it shares least, by what the others have used
 */
u32 kfd_prio_quota_place(const struct kfd_prio_quota *const *others, u32 n, u32 max)
{
	u32 best;

	place(others, n, max, &best);
	return best;
}

/**
 * kfd_prio_quota_move() - move the place of a group that it shares, if there is a better one
 * @q: the group
 * @others: the other groups of the node
 * @n: number of these
 * @now: the time
 *
 * A place was found by what the groups had used until then. If two that are used much are shared
 * since, and a place that is used little is elsewhere, one of the two moves there. A group that
 * moves begins without a budget, and so may lose a place. Others can cause that, so a place moves
 * once in KFD_PRIO_QUOTA_HOLD_NS.
 *
 * Return: whether the place has moved
 */
bool kfd_prio_quota_move(struct kfd_prio_quota *q, const struct kfd_prio_quota *const *others,
			 u32 n, u64 now)
{
	u64 gain = (u64)q->max * (KFD_PRIO_QUOTA_USED / KFD_PRIO_QUOTA_GAIN) * IDLE;
	u64 least, is = shared(others, n, q->offset, q->max);
	u32 best;

	if (is < gain ||
	    (q->moved_at && now - q->moved_at < KFD_PRIO_QUOTA_HOLD_NS))
		return false;
	least = place(others, n, q->max, &best);
	if (is - least < gain)
		return false;
	kfd_prio_quota_set(q, q->max, q->soft, best, now);
	/* It may have had its place in this period already */
	q->budget_ns = 0;
	budget_bound(q);
	q->moved_at = now;
	return true;
}

/* The shortest period with which @n limits that are used up cost little */
static u64 period_for(u32 n, u64 switch_ns)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lengths) - 1; i++)
		/* In thousandths, rounded down */
		if (div_u64((n + 1) * (switch_ns ?: KFD_PRIO_QUOTA_SWITCH_NS) * 1000, lengths[i]) <=
		    1000 / KFD_PRIO_QUOTA_COST)
			break;
	return lengths[i];
}

/**
 * kfd_prio_quota_period() - choose the period of a node
 * @p: the period; all zero at first
 * @n: number of limits that are used up
 * @switch_ns: measured time of a save and a restore; 0: not known
 * @now: the time
 *
 * In a period each place begins and ends, where one ends another may begin: @n + 1 updates of the
 * runlist.
 *
 * The caller calls kfd_prio_quota_stretch() for each group.
 */
void kfd_prio_quota_period(struct kfd_prio_period *p, u32 n, u64 switch_ns, u64 now)
{
	u64 ns = period_for(n, switch_ns);

	if (ns >= p->ns || now - p->longer_at >= KFD_PRIO_QUOTA_HOLD_NS) {
		p->ns = ns;
		p->longer_at = now;
	}
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
	/* Not before the next place begins, or the one in which it has the budget */
	if (q->spent && extended(q))
		return now + q->period_ns - since_place(q, now);
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
