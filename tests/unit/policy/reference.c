// SPDX-License-Identifier: GPL-2.0
#include "reference.h"

void ref_init(struct reference *r, u64 now)
{
	memset(r, 0, sizeof(*r));
	r->start = r->since = now;
	r->level = NONE;
	r->lowest = KFD_PRIO_RANK_NONE;
	r->block = NONE;
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

static u32 ranks_of(int lowest, int level)
{
	u32 ranks = 0;

	for (int rank = lowest; rank < level; rank++)
		ranks |= 1U << rank;
	return ranks;
}

/*
 * Before ref_commit(), with max_switch_policy=hold: does a level end, or does a block begin or end? A
 * gap that is shorter than a switch goes on in the next one.
 */
void ref_gap(struct reference *r, const struct kfd_prio_params *k, int level, int lowest, int block, u64 now)
{
	u32 before = ranks_of(r->lowest, r->level), after = ranks_of(lowest, level), i = r->gaps;

	if (block != r->block)
		before |= ranks_of(0, block > r->block ? block : r->block);
	if ((level != r->level || block != r->block) && before != after) {
		if (i) {
			r->gap_to[i - 1] = now;
			if (now < r->gap_from[i - 1] + r->switch_ns)
				before |= r->gap_ranks[i - 1];
		}
		assert_true(i < REF_MAX);
		r->switch_ns = k->switch_ns < k->period_ns / 4 ? k->switch_ns : k->period_ns / 4;
		r->gap_from[i] = now;
		r->gap_to[i] = KFD_PRIO_NEVER;
		r->gap_ranks[i] = before & ~after;
		r->gap_block[i] = block != r->block;
		r->gaps++;
	}
	r->block = block;
}

/* As ref_preempted(), and the part of each gap that does not count for the floor at the time @to */
u64 ref_kept(const struct reference *r, int rank, u64 from, u64 to)
{
	u64 sum = ref_preempted(r, rank, from, to), a, b, length;

	for (u32 i = 0; i < r->gaps; i++) {
		if (!(r->gap_ranks[i] & 1U << rank))
			continue;
		a = r->gap_from[i];
		b = r->gap_to[i] < to ? r->gap_to[i] : to;
		length = r->switch_ns;
		/* longer than a switch: all but the restore counts for the floor, unless the rank is kept off again */
		if (!r->gap_block[i] && b - a >= r->switch_ns &&
		    !ref_preempted(r, rank, a + r->switch_ns - 1, a + r->switch_ns))
			length = r->switch_ns / 2;
		b = b - a > length ? a + length : b;
		a = a < from ? from : a;
		if (b > a)
			sum += b - a - ref_preempted(r, rank, a, b);
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

/* In a period, how long may @below of @levels levels be off? */
u64 ref_allowed(const struct kfd_prio_params *k, int levels, int below)
{
	u64 slots = 2 * REF_SLOT(k), each = k->period_ns / 100 * k->floor_pct;
	u64 all = 90 * (k->period_ns / 100) - (u64)(levels - 1) * slots;

	if (each * (u64)levels > all)
		each = all / (u64)levels;
	return k->period_ns - each * (u64)below - (u64)(below - 1) * slots;
}

/*
 * How long was a process of @rank off in the period before @t? Of the slot in which the period begins
 * only the time is known for which it was off in all of it: it may be the end of the slot.
 */
static u64 ref_used(const struct reference *r, const struct kfd_prio_params *k, int rank, u64 t)
{
	u64 next = r->start + (t - r->start) / REF_SLOT(k) * REF_SLOT(k) + REF_SLOT(k) - k->period_ns;
	u64 oldest = ref_preempted(r, rank, next - REF_SLOT(k), next), inside = next + k->period_ns - t;

	return (oldest < inside ? oldest : inside) + ref_preempted(r, rank, next, t);
}

/* The answer at @t, if nothing has been committed since; without decide_at */
struct kfd_prio_decision ref_decide(const struct reference *r, const struct kfd_prio_params *k,
				    const struct kfd_prio_claim *claims, int n, int lowest, u64 t)
{
	struct kfd_prio_decision d = { .level = NONE, .throttle = NONE,
				       .reason = KFD_PRIO_REASON_NONE, .claim = -1 };
	u64 used, allowed;
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
			used = ref_used(r, k, rank, t);
			allowed = ref_allowed(k, ref_levels(k, claims, n, lowest, top, t), below);
			now = r->level > rank && r->lowest <= rank;
			if (now ? used >= allowed : used + REF_SLOT(k) > allowed)
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
