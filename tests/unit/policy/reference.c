// SPDX-License-Identifier: GPL-2.0
#include "reference.h"

void ref_init(struct reference *r, u64 now)
{
	memset(r, 0, sizeof(*r));
	r->start = r->since = now;
	r->level = NONE;
	r->lowest = KFD_PRIO_RANK_NONE;
}

/*
 * How long between two times a level above @rank has kept off a process of that rank or of a lower
 * one; what is in force now goes on
 */
u64 ref_preempted(const struct reference *r, int rank, u64 from, u64 to)
{
	u64 sum = 0, a, b;

	for (u32 i = 0; i <= r->n; i++) {
		int level = i == r->n ? r->level : r->was_level[i];
		int lowest = i == r->n ? r->lowest : r->was_lowest[i];

		if (level <= rank || lowest > rank)
			continue;
		a = i == r->n ? r->since : r->from[i];
		b = i == r->n ? to : r->to[i];
		a = a < from ? from : a;
		b = b > to ? to : b;
		sum += b > a ? b - a : 0;
	}
	return sum;
}

void ref_commit(struct reference *r, int level, int lowest, bool counts, u64 now)
{
	if (r->level != NONE && r->lowest < r->level && now > r->since) {
		assert_true(r->n < REF_MAX);
		r->from[r->n] = r->since;
		r->was_level[r->n] = r->level;
		r->was_lowest[r->n] = r->lowest;
		r->to[r->n++] = now;
	}
	if (counts) {
		assert_true(r->takes < REF_MAX);
		r->begun[r->takes++] = now;
	}
	r->level = level;
	r->lowest = lowest;
	r->since = now;
}

/*
 * May a preemption begin at @t? From each one that has, to this one, there must be no more
 * than max_per_s, and max_per_s for each second that passed.
 */
bool ref_may_begin(const struct reference *r, const struct kfd_prio_params *k, u64 t)
{
	unsigned __int128 allowed;

	for (u32 i = 0; i < r->takes; i++) {
		allowed = (unsigned __int128)k->max_per_s * (SEC + t - r->begun[i]);
		if ((unsigned __int128)(r->takes - i + 1) * SEC > allowed)
			return false;
	}
	return true;
}

bool ref_holds(const struct kfd_prio_params *k, const struct kfd_prio_claim *c, u64 t)
{
	if (!c->rung)
		return false;
	if (c->work)
		return t < c->progress_at + k->budget_ns;
	/* of a linger of 0 nothing is left, wherever the time of the claim lies */
	return k->linger_ns && t < c->work_at + k->linger_ns;
}

static bool wants(const struct kfd_prio_params *k, const struct kfd_prio_claim *claims, int n, int prio, u64 t)
{
	for (int i = 0; i < n; i++)
		if (claims[i].prio == prio && prio >= k->min_prio && ref_holds(k, &claims[i], t))
			return true;
	return false;
}

/* Levels below @under that have a floor: each priority of claims that hold, and all that is below those */
int ref_levels(const struct kfd_prio_params *k, const struct kfd_prio_claim *claims, int n,
	       int lowest, int under, u64 t)
{
	int levels = 0, bottom = under;

	for (int prio = under - 1; prio >= 0; prio--)
		if (wants(k, claims, n, prio, t)) {
			levels++;
			bottom = prio;
		}
	return levels + (lowest < bottom);
}

/* In a second, how long may @below of @levels levels be off? */
u64 ref_allowed(const struct kfd_prio_params *k, int levels, int below)
{
	u64 each = SEC / 100 * k->floor_pct, all = 90 * (SEC / 100) - (u64)(levels - 1) * 20 * MS;

	if (each * (u64)levels > all)
		each = all / (u64)levels;
	return SEC - each * (u64)below - (u64)(below - 1) * 20 * MS;
}

/* The answer at @t, if nothing has been committed since; without decide_at */
struct kfd_prio_decision ref_decide(const struct reference *r, const struct kfd_prio_params *k,
				    const struct kfd_prio_claim *claims, int n, int lowest, u64 t)
{
	struct kfd_prio_decision d = { .level = NONE, .throttle = NONE,
				       .reason = KFD_PRIO_REASON_NONE, .claim = -1 };
	u64 slot = r->start + (t - r->start) / SLOT * SLOT, used, allowed;
	int prio, top = NONE, rank, below, i;
	bool now;

	if (!k->enabled) {
		d.reason = KFD_PRIO_REASON_OFF;
		return d;
	}
	for (prio = 15; prio >= 0 && top == NONE; prio--)
		if (wants(k, claims, n, prio, t))
			top = prio;
	if (top == NONE) {
		for (i = 0; i < n; i++)
			if (claims[i].prio >= k->min_prio)
				d.reason = KFD_PRIO_REASON_IDLE;
		for (i = 0; i < n; i++)
			if (claims[i].prio >= k->min_prio && claims[i].work)
				d.reason = KFD_PRIO_REASON_BUDGET;
		return d;
	}
	/* each level is forbidden that a floor forbids, or that is above one that is forbidden */
	for (prio = top; prio >= 0; prio--) {
		if (!wants(k, claims, n, prio, t))
			continue;
		below = ref_levels(k, claims, n, lowest, prio, t);
		if (!below || !k->floor_pct)
			continue;
		/* whom it would keep off that the next claims below it do not */
		for (rank = prio - 1; rank >= 0 && !wants(k, claims, n, rank, t); rank--)
			;
		for (rank = rank < 0 ? lowest : rank; rank < prio; rank++) {
			used = ref_preempted(r, rank, slot - SEC, t);
			allowed = ref_allowed(k, ref_levels(k, claims, n, lowest, top, t), below);
			now = r->level > rank && r->lowest <= rank;
			if (now ? used >= allowed : used + SLOT > allowed)
				d.throttle = prio;
		}
	}
	for (prio = 0; prio <= top; prio++)
		if (wants(k, claims, n, prio, t) && (d.throttle == NONE || prio < d.throttle))
			d.level = prio;
	d.reason = d.throttle == NONE ? KFD_PRIO_REASON_WORK : KFD_PRIO_REASON_FLOOR;
	for (i = n - 1; i >= 0; i--)
		if (claims[i].prio == d.level && ref_holds(k, &claims[i], t))
			d.claim = i;
	if (d.level > r->level && !ref_may_begin(r, k, t)) {
		d.reason = KFD_PRIO_REASON_RATE;
		d.throttle = NONE;
		d.level = r->level;
		/* who must wait: the highest */
		for (i = n - 1, d.claim = -1; i >= 0 && d.level != NONE; i--)
			if (claims[i].prio == top && ref_holds(k, &claims[i], t))
				d.claim = i;
	}
	return d;
}
