// SPDX-License-Identifier: GPL-2.0
#include "reference.h"

void ref_init(struct reference *r, u64 now)
{
	memset(r, 0, sizeof(*r));
	r->start = r->since = now;
	r->level = NONE;
}

/* How long somebody was preempted between two times; what is in force now goes on */
u64 ref_preempted(const struct reference *r, u64 from, u64 to)
{
	u64 sum = 0, a, b;

	for (u32 i = 0; i <= r->n; i++) {
		if (i == r->n && (r->level == NONE || !r->victims))
			break;
		a = i == r->n ? r->since : r->from[i];
		b = i == r->n ? to : r->to[i];
		a = a < from ? from : a;
		b = b > to ? to : b;
		sum += b > a ? b - a : 0;
	}
	return sum;
}

void ref_commit(struct reference *r, int level, bool victims, bool counts, u64 now)
{
	if (r->level != NONE && r->victims && now > r->since) {
		assert_true(r->n < REF_MAX);
		r->from[r->n] = r->since;
		r->to[r->n++] = now;
	}
	if (counts) {
		assert_true(r->takes < REF_MAX);
		r->begun[r->takes++] = now;
	}
	r->level = level;
	r->victims = victims;
	r->since = now;
}

/*
 * May a preemption begin at @t? From each one that has, to this one, there must be no more
 * than max_per_s, and max_per_s for each second that passed.
 */
bool ref_may_begin(const struct reference *r, const struct kfd_prio_knobs *k, u64 t)
{
	unsigned __int128 allowed;

	for (u32 i = 0; i < r->takes; i++) {
		allowed = (unsigned __int128)k->max_per_s * (SEC + t - r->begun[i]);
		if ((unsigned __int128)(r->takes - i + 1) * SEC > allowed)
			return false;
	}
	return true;
}

bool ref_holds(const struct kfd_prio_knobs *k, const struct kfd_prio_claim *c, u64 t)
{
	if (!c->rung)
		return false;
	if (c->work)
		return t < c->progress_at + k->budget_ns;
	/* of a linger of 0 nothing is left, wherever the time of the claim lies */
	return k->linger_ns && t < c->work_at + k->linger_ns;
}

/* The answer at @t, if nothing has been committed since; without look_at */
struct kfd_prio_decision ref_decide(const struct reference *r, const struct kfd_prio_knobs *k,
				    const struct kfd_prio_claim *claims, int n, u64 t)
{
	struct kfd_prio_decision d = { .level = NONE, .reason = KFD_PRIO_REASON_NONE, .claim = -1 };
	u64 slot = r->start + (t - r->start) / SLOT * SLOT, used, allowed;
	int prio, i;

	if (!k->enabled) {
		d.reason = KFD_PRIO_REASON_OFF;
		return d;
	}
	for (prio = 15; prio >= k->min_prio && d.claim < 0; prio--)
		for (i = n - 1; i >= 0; i--)
			if (claims[i].prio == prio && ref_holds(k, &claims[i], t))
				d.claim = i;
	if (d.claim < 0) {
		for (i = 0; i < n; i++)
			if (claims[i].prio >= k->min_prio)
				d.reason = KFD_PRIO_REASON_IDLE;
		for (i = 0; i < n; i++)
			if (claims[i].prio >= k->min_prio && claims[i].work)
				d.reason = KFD_PRIO_REASON_BUDGET;
		return d;
	}
	used = ref_preempted(r, slot - SEC, t);
	allowed = SEC - SEC * k->floor_pct / 100;
	if (k->floor_pct && (r->level == NONE ? used + SLOT > allowed : used >= allowed)) {
		d.reason = KFD_PRIO_REASON_FLOOR;
		d.claim = -1;
		return d;
	}
	d.reason = KFD_PRIO_REASON_WORK;
	d.level = claims[d.claim].prio;
	if (d.level > r->level && !ref_may_begin(r, k, t)) {
		d.reason = KFD_PRIO_REASON_RATE;
		d.level = r->level;
		if (d.level == NONE)
			d.claim = -1;
	}
	return d;
}
