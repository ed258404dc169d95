// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the levels of claims and which of them floors permit, see kfd_prio_levels.h. Pure
 * functions, also tested in user space.
 *
 * The floor. kfd_prio_floor.c counts, for each rank, for how long processes were kept off in the
 * last period, and the policy keeps that at or below the share that floor_pct leaves.
 *
 * Several levels. If claims of priority 15 and 12 hold and processes of lower rank have work, the
 * two levels below 15 have a floor each. Level 12 may keep the lowest off for 1 - floor of a
 * period. Level 15 may keep both off for 1 - 2 floors, less two slots and two switches, by which
 * counting in slots and switching let the floor of the lowest shorten that of 12. So level 15 is
 * suspended first and 12 runs, then 12 is suspended. While a level has used up its time, no higher
 * level is in force: it would keep the same processes off.
 */
#include "kfd_prio_levels.h"
#ifdef __KERNEL__
#include <linux/math64.h>
#else
#define div_u64(dividend, divisor) ((u64)(dividend) / (divisor))
#endif

/* Where the blocks of a period join, a level begins if it may last for this part of a slot */
#define BEGIN_PART	10

/**
 * kfd_prio_levels_joins() - whether the blocks of one period join into one
 * @k: module parameters
 * @l: the levels
 *
 * If several levels have a floor, a block for one of them may last as long as the floor of another
 * leaves, and no longer.
 */
bool kfd_prio_levels_joins(const struct kfd_prio_params *k, const struct kfd_prio_levels *l)
{
	return k->hold && l->count <= 1;
}

/**
 * kfd_prio_levels_begin() - for how long a level must be permitted to last so that it begins
 * @p: state
 * @k: module parameters
 * @l: the levels
 *
 * Return: ns
 */
u64 kfd_prio_levels_begin(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			  const struct kfd_prio_levels *l)
{
	return div_u64(p->floor.slot_ns, kfd_prio_levels_joins(k, l) ? BEGIN_PART : 1);
}

/* Whether the level in force keeps @rank off */
static bool kept_off(const struct kfd_prio_policy *p, int rank)
{
	return p->lowest <= rank && rank < p->level;
}

/**
 * kfd_prio_policy_until() - the time, ns, until which a claim holds without further progress
 * @k: module parameters
 * @c: the claim, which holds
 */
u64 kfd_prio_policy_until(const struct kfd_prio_params *k, const struct kfd_prio_claim *c)
{
	return c->work ? c->progress_at + k->budget_ns : c->work_at + k->linger_ns;
}

/**
 * kfd_prio_policy_holds() - whether a claim may keep other processes off, floors and rate aside
 * @k: module parameters
 * @c: the claim
 * @now: the time, ns; times of @c that lie after it count as @now
 *
 * A claim that has work holds for less than busy_budget_ms after its last progress. A claim without
 * work holds for less than linger_us after its work was last observed. A claim whose
 * &struct kfd_prio_claim.rung is false does not hold, whatever its times are. The function does not
 * compare the claim's priority with preempt_min_prio.
 */
bool kfd_prio_policy_holds(const struct kfd_prio_params *k, const struct kfd_prio_claim *c,
			   u64 now)
{
	u64 since = c->work ? c->progress_at : c->work_at;

	return c->rung && (now > since ? now - since : 0) < (c->work ? k->budget_ns : k->linger_ns);
}

/*
 * For how long the lowest @below of the levels with a floor may be kept off in a period; 0: any
 * time
 */
static u64 floor_allowed(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			 const struct kfd_prio_levels *l, u32 below)
{
	return below && k->floor_pct ?
	       kfd_prio_floor_allowed(&p->floor, k->floor_pct, l->count, below, k->switch_ns) :
	       0;
}

/*
 * Whether a rank has room for @ns for sure, see kfd_prio_floor_room(). A ring waits for the
 * decision, so the part of the oldest slot that has left the period is not computed.
 */
static bool has_room(const struct kfd_prio_policy *p, int rank, u64 allowed, u64 ns)
{
	u64 sum = p->floor.sum[rank];

	return allowed > sum && allowed - sum >= ns;
}

/**
 * kfd_prio_levels_decide() - find the highest level that no floor forbids
 * @p: state
 * @k: module parameters
 * @l: the levels
 * @lowest: rank of the lowest process that has work and may be kept off, or KFD_PRIO_RANK_NONE
 * @now: the time, ns
 * @d: out: level and throttle; unchanged where there is none
 *
 * From the lowest level up, each keeps off the processes that the next lower one keeps off, and
 * those of that level.
 *
 * Return: when the throttle ends, ns; KFD_PRIO_NEVER if there is none
 */
u64 kfd_prio_levels_decide(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			   const struct kfd_prio_levels *l, int lowest, u64 now,
			   struct kfd_prio_decision *d)
{
	u64 begin = kfd_prio_levels_begin(p, k, l);
	u64 allowed, room, at, ends = 0;
	int prio, rank = lowest;
	bool blocked = false;
	u32 below = 0;

	for (prio = 0; prio < KFD_PRIO_RANKS; prio++) {
		if (l->claim[prio] < 0)
			continue;
		if (!below && lowest < prio)
			below = 1;
		allowed = floor_allowed(p, k, l, below);
		for (; allowed && rank < prio; rank++) {
			if (has_room(p, rank, allowed, begin))
				continue;
			room = kfd_prio_floor_room(&p->floor, rank, allowed);
			if (room >= begin)
				continue;
			at = kfd_prio_floor_free(&p->floor, rank, allowed, begin);
			if (at > ends)
				ends = at;
			blocked |= !kept_off(p, rank) || !room;
		}
		/* The block in progress goes on */
		if (allowed && prio == p->block && now < p->block_until) {
			blocked = true;
			if (ends < p->block_until)
				ends = p->block_until;
		}
		if (blocked) {
			d->throttle = prio;
			return ends;
		}
		d->level = prio;
		below++;
		rank = prio;
		ends = 0;
	}
	return KFD_PRIO_NEVER;
}

/**
 * kfd_prio_levels_until() - when a level has used up the time that the floors below it leave
 * @p: state
 * @k: module parameters
 * @l: the levels
 * @lowest: rank of the lowest process that has work and may be kept off, or KFD_PRIO_RANK_NONE
 * @level: the level
 * @enough: the latest time that the caller asks for
 *
 * Return: ns; @enough at most
 */
u64 kfd_prio_levels_until(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			  const struct kfd_prio_levels *l, int lowest, int level, u64 enough)
{
	u64 allowed, at;
	int prio, rank = lowest;
	u32 below = 0;

	for (prio = 0; prio < KFD_PRIO_RANKS; prio++) {
		if (l->claim[prio] < 0)
			continue;
		if (!below && lowest < prio)
			below = 1;
		allowed = floor_allowed(p, k, l, below);
		for (; allowed && rank < prio && rank < level; rank++) {
			if (has_room(p, rank, allowed, enough - p->floor.at))
				continue;
			at = kfd_prio_floor_exhausted(&p->floor, rank, allowed, enough);
			if (at < enough)
				enough = at;
		}
		below++;
		rank = prio;
	}
	return enough;
}

/**
 * kfd_prio_levels_add() - add a claim to the levels
 * @l: the levels
 * @claims: all claims
 * @i: index of the claim
 */
void kfd_prio_levels_add(struct kfd_prio_levels *l, const struct kfd_prio_claim *claims, int i)
{
	int prio = claims[i].prio;

	if (l->claim[prio] < 0) {
		l->claim[prio] = i;
		l->count++;
	}
	if (prio < l->first)
		l->first = prio;
	if (prio > l->last)
		l->last = prio;
}

/**
 * kfd_prio_levels_find() - find the claims that hold
 * @p: state
 * @k: module parameters
 * @claims: all claims
 * @n: number of claims
 * @now: the time, ns
 * @l: out: the levels; @l.count includes the highest
 * @d: out: the reason if no claim holds, and the next time at which a claim does not hold any more
 *
 * Return: index of the first claim of the level in force that has no work; -1: there is none
 */
int kfd_prio_levels_find(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			 const struct kfd_prio_claim *claims, int n, u64 now,
			 struct kfd_prio_levels *l, struct kfd_prio_decision *d)
{
	int i, idle = -1;
	u64 at;

	l->count = 0;
	l->first = KFD_PRIO_RANK_NONE;
	l->last = KFD_PRIO_LEVEL_NONE;
	for (i = 0; i < KFD_PRIO_RANKS; i++)
		l->claim[i] = -1;
	for (i = 0; i < n; i++) {
		if (claims[i].prio < k->min_prio)
			continue;
		if (claims[i].prio == p->level && !claims[i].work && idle < 0)
			idle = i;
		if (!kfd_prio_policy_holds(k, &claims[i], now)) {
			/*
			 * The trap does not matter: the engine arms it for a claim that holds no
			 * more
			 */
			if (claims[i].work)
				d->reason = KFD_PRIO_REASON_BUDGET;
			else if (d->reason == KFD_PRIO_REASON_NONE)
				d->reason = KFD_PRIO_REASON_IDLE;
			continue;
		}
		kfd_prio_levels_add(l, claims, i);
		at = kfd_prio_policy_until(k, &claims[i]);
		if (at < d->decide_at)
			d->decide_at = at;
	}
	return idle;
}

