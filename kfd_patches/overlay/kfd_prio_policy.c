// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the policy of preemption; see kfd_prio_policy.h. Pure: also tested in user space.
 *
 * The floor.  Preempted time is summed over the running slot and the FLOOR_SLOTS before
 * it, which cover every second that ends now.  The sum is kept at or below the share
 * that floor_pct leaves, so no stretch of a second, however it is laid, has more.
 *
 * Several levels.  With claims of 15 and 12 that hold and processes below, there are two levels
 * below 15, and each has its floor.  12 may keep the lowest off for 1 - floor of a second; 15 may
 * keep both off for 1 - 2 floors, less two slots: what the turn of the lowest may take from that
 * of 12, by the slots in which time is counted.  So 15 gives way first, 12 runs, and then 12 gives
 * way.  A level that has used up what it may is not in force, nor is any above it, which would
 * keep the same processes off.
 */
#include "kfd_prio_policy.h"
#ifdef __KERNEL__
#include <linux/math64.h>
#else
#define div_u64(dividend, divisor) ((u64)(dividend) / (divisor))
#define div64_u64	div_u64
#endif

#define SLOTS	(KFD_PRIO_FLOOR_SLOTS + 1)
#define SLOT_NS	((u32)KFD_PRIO_FLOOR_SLOT_NS)
#define TOKEN	1000000000ULL
#define PCT_NS	(KFD_PRIO_FLOOR_PERIOD_NS / 100)

static u64 tokens_max(const struct kfd_prio_params *k)
{
	return k->max_per_s * TOKEN;
}

static u32 slot_after(u32 slot, u32 n)
{
	return (slot + n) % SLOTS;
}

static void slot_advance(struct kfd_prio_policy *p)
{
	int r;

	p->slot_at += SLOT_NS;
	p->slot = slot_after(p->slot, 1);
	for (r = 0; r < KFD_PRIO_RANKS; r++) {
		p->preempted_sum[r] -= p->preempted_ns[r][p->slot];
		p->preempted_ns[r][p->slot] = 0;
	}
}

/* Is time counted for a rank? */
static bool counted(const struct kfd_prio_policy *p, int rank)
{
	return p->lowest <= rank && rank < p->level;
}

/* Time from @p->at to @until, both within the running slot */
static void slot_count(struct kfd_prio_policy *p, u64 until)
{
	int r;

	for (r = p->lowest; counted(p, r); r++) {
		p->preempted_ns[r][p->slot] += until - p->at;
		p->preempted_sum[r] += until - p->at;
	}
	p->at = until;
}

/* Bring @p up to @now under the level in force; a clock that goes back is ignored */
static void account(struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now)
{
	u64 max = tokens_max(k), slots;

	if (now > p->at) {
		/* The bucket fills in a second: so short a time cannot overflow. */
		if (now - p->at >= TOKEN)
			p->tokens = max;
		else
			p->tokens += (now - p->at) * k->max_per_s;

		slots = div_u64(now - p->slot_at, SLOT_NS);
		if (slots > SLOTS) {
			/* What is skipped would have slid out. */
			p->slot_at += (slots - SLOTS) * SLOT_NS;
			p->at = p->slot_at;
			slots = SLOTS;
		}
		for (; slots; slots--) {
			slot_count(p, p->slot_at + SLOT_NS);
			slot_advance(p);
		}
		slot_count(p, now);
	}
	if (p->tokens > max)
		p->tokens = max;
}

/*
 * How long the processes of @below of the @levels levels that have a floor may be kept off
 * in a second
 */
static u64 floor_allowed(const struct kfd_prio_params *k, u32 levels, u32 below)
{
	u64 floor = k->floor_pct * PCT_NS;
	u64 most = div_u64(KFD_PRIO_FLOOR_MAX_PCT * PCT_NS - (levels - 1) * 2 * SLOT_NS, levels);

	if (floor > most)
		floor = most;
	return KFD_PRIO_FLOOR_PERIOD_NS - below * floor - (below - 1) * 2 * SLOT_NS;
}

static u64 floor_room(u64 allowed, u64 sum)
{
	return allowed > sum ? allowed - sum : 0;
}

/* When there is no room left, if @rank is kept off from @p->at on */
static u64 floor_exhausted(const struct kfd_prio_policy *p, int rank, u64 allowed, u64 enough)
{
	u64 at = p->at, slot_end = p->slot_at + SLOT_NS, sum = p->preempted_sum[rank], room;
	u32 i;

	for (i = 1;; i++) {
		room = floor_room(allowed, sum);
		/* As good as never; and a second full of it always leaves no room. */
		if (room >= enough - at || i > SLOTS)
			return enough;
		if (room < slot_end - at || !room)
			return at + room;
		sum += slot_end - at;
		at = slot_end;
		slot_end += SLOT_NS;
		sum -= p->preempted_ns[rank][slot_after(p->slot, i)];
	}
}

/* When there is room for a slot again, if @rank is not kept off from @p->at on */
static u64 floor_free(const struct kfd_prio_policy *p, int rank, u64 allowed)
{
	u64 sum = p->preempted_sum[rank];
	u32 i;

	for (i = 1; i < SLOTS; i++) {
		sum -= p->preempted_ns[rank][slot_after(p->slot, i)];
		if (floor_room(allowed, sum) >= SLOT_NS)
			break;
	}
	return p->slot_at + (u64)i * SLOT_NS;
}

/**
 * kfd_prio_policy_rank() - what a process counts as
 * @set: the priority set for it, or KFD_PRIO_UNSET
 * @asked: the highest that its queues ask for, or KFD_PRIO_MAX
 *
 * Permission and preemption follow one rule: without a set priority a process counts as normal at
 * most, whatever its queues ask for.  Every user may create a queue of priority 15, which therefore
 * does not protect its process from preemption; every user may set a priority up to normal.
 */
int kfd_prio_policy_rank(int set, int asked)
{
	if (set != KFD_PRIO_UNSET)
		return set;
	return asked < KFD_PRIO_NORMAL ? asked : KFD_PRIO_NORMAL;
}

/**
 * kfd_prio_policy_cost() - what a save costs decides how often to preempt, and how long to linger
 * @k: module parameters: linger_ns and max_per_s become what holds for a GPU
 * @save_ns: how long a save takes there, as measured; 0: not known
 *
 * A preemption costs a save and a restore; nothing tells how long the waves take to come back, so
 * a restore counts as long as a save.  As many preemptions as cost max_switch_pct of the GPU's time
 * may begin, max_preempt_per_s at most, and one a second in any case.  linger_us keeps a process
 * off that would have to be taken off again soon: where that costs more it is longer, a quarter of
 * the cost, so that lingering adds a quarter to what switching costs.  A linger_us of 0 stays 0.
 */
void kfd_prio_policy_cost(struct kfd_prio_params *k, u64 save_ns)
{
	u64 cost = 2 * save_ns, per_s, linger = cost / KFD_PRIO_LINGER_PART;

	if (!save_ns || !k->switch_pct)
		return;
	per_s = div64_u64(k->switch_pct * PCT_NS, cost);
	if (per_s < k->max_per_s)
		k->max_per_s = per_s ? per_s : 1;
	if (k->linger_ns && k->linger_ns < linger)
		k->linger_ns = linger;
}

/**
 * kfd_prio_policy_until() - until when does a claim that holds, if nothing is heard of it?
 * @k: module parameters
 * @c: the claim
 */
u64 kfd_prio_policy_until(const struct kfd_prio_params *k, const struct kfd_prio_claim *c)
{
	return c->work ? c->progress_at + k->budget_ns : c->work_at + k->linger_ns;
}

/**
 * kfd_prio_policy_init() - the state of a GPU that has never seen a preemption
 * @p: to be initialised
 * @k: module parameters; as many preemptions as max_preempt_per_s may begin at once
 * @now: the time
 */
void kfd_prio_policy_init(struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now)
{
	*p = (struct kfd_prio_policy) {
		.level = KFD_PRIO_LEVEL_NONE,
		.lowest = KFD_PRIO_RANK_NONE,
		.at = now,
		.slot_at = now,
		.tokens = tokens_max(k),
	};
}

/**
 * kfd_prio_policy_holds() - may a claim keep others off, as far as it alone matters?
 * @k: module parameters
 * @c: the claim
 * @now: the time; a claim's times that lie after it count as this very moment
 *
 * Return: true if it has work and has made progress less than busy_budget_ms ago, or has
 * no work but had less than linger_us ago.
 */
bool kfd_prio_policy_holds(const struct kfd_prio_params *k, const struct kfd_prio_claim *c,
			   u64 now)
{
	u64 since = c->work ? c->progress_at : c->work_at;

	return c->rung && (now > since ? now - since : 0) < (c->work ? k->budget_ns : k->linger_ns);
}

/**
 * struct floors - the levels that claims ask for, and those below them
 * @claim: for each priority, index of the first claim that holds; -1 if none does
 * @levels: how many have a floor: all but the highest
 */
struct floors {
	int claim[KFD_PRIO_RANKS];
	u32 levels;
};

/*
 * The highest level that no floor forbids, from the lowest up: each keeps off whom the one below
 * it keeps off, and one level more, the ranks from that one up.  Sets level and throttle of @d;
 * returns when the throttle ends.
 */
static u64 decide_level(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			const struct floors *f, int lowest, struct kfd_prio_decision *d)
{
	u64 allowed, room, at, ends = 0;
	int prio, rank = lowest;
	bool blocked = false;
	u32 below = 0;

	for (prio = 0; prio < KFD_PRIO_RANKS; prio++) {
		if (f->claim[prio] < 0)
			continue;
		if (!below && lowest < prio)
			below = 1;
		allowed = below && k->floor_pct ? floor_allowed(k, f->levels, below) : 0;
		for (; allowed && rank < prio; rank++) {
			room = floor_room(allowed, p->preempted_sum[rank]);
			if (room >= SLOT_NS)
				continue;
			at = floor_free(p, rank, allowed);
			if (at > ends)
				ends = at;
			blocked |= !counted(p, rank) || !room;
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

/* When a level that is in force has used up what a floor leaves it, or @enough */
static u64 decide_until(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			const struct floors *f, int lowest, int level, u64 enough)
{
	u64 allowed, at;
	int prio, rank = lowest;
	u32 below = 0;

	for (prio = 0; prio < KFD_PRIO_RANKS; prio++) {
		if (f->claim[prio] < 0)
			continue;
		if (!below && lowest < prio)
			below = 1;
		allowed = below && k->floor_pct ? floor_allowed(k, f->levels, below) : 0;
		for (; allowed && rank < prio && rank < level; rank++) {
			at = floor_exhausted(p, rank, allowed, enough);
			if (at < enough)
				enough = at;
		}
		below++;
		rank = prio;
	}
	return enough;
}

/**
 * kfd_prio_policy_decide() - decide which processes are preempted, the reason, and for how long
 * @p: state; time is counted up to @now, nothing else is changed
 * @k: module parameters
 * @claims: of this GPU; those below preempt_min_prio count for nothing
 * @n: how many
 * @lowest: rank of the lowest process that would have to give way, and has work;
 *	KFD_PRIO_RANK_NONE if there is none
 * @now: the time
 * @d: the decision
 *
 * The claim with the highest priority of those that hold decides; among equals the
 * first.  While the floor of a level below forbids that, the highest that it does not forbid does,
 * and those above it are throttled.  While the floor or the rate forbid new preemptions, no process
 * is preempted except those that are preempted already; ending a preemption is always allowed.  A
 * second decision at the same time, after the commit of the first one, has the same level.
 */
void kfd_prio_policy_decide(struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			    const struct kfd_prio_claim *claims, int n, int lowest, u64 now,
			    struct kfd_prio_decision *d)
{
	struct floors f = { .levels = 0 };
	int i, first = KFD_PRIO_RANK_NONE, last = 0;
	u64 at;

	d->level = KFD_PRIO_LEVEL_NONE;
	d->throttle = KFD_PRIO_LEVEL_NONE;
	d->reason = k->enabled ? KFD_PRIO_REASON_NONE : KFD_PRIO_REASON_OFF;
	d->claim = -1;
	d->look_at = KFD_PRIO_NEVER;
	account(p, k, now);
	if (!k->enabled)
		return;

	for (i = 0; i < KFD_PRIO_RANKS; i++)
		f.claim[i] = -1;
	for (i = 0; i < n; i++) {
		if (claims[i].prio < k->min_prio)
			continue;
		if (!kfd_prio_policy_holds(k, &claims[i], now)) {
			/* trapped again or not: the engine traps what holds nothing */
			if (claims[i].work)
				d->reason = KFD_PRIO_REASON_BUDGET;
			else if (d->reason == KFD_PRIO_REASON_NONE)
				d->reason = KFD_PRIO_REASON_IDLE;
			continue;
		}
		if (f.claim[claims[i].prio] < 0) {
			f.claim[claims[i].prio] = i;
			f.levels++;
		}
		if (claims[i].prio < first)
			first = claims[i].prio;
		if (claims[i].prio > last)
			last = claims[i].prio;
		at = kfd_prio_policy_until(k, &claims[i]);
		if (at < d->look_at)
			d->look_at = at;
	}
	if (!f.levels)
		return;
	/* the highest has no floor, what is below the lowest has one */
	f.levels -= lowest >= first;

	at = decide_level(p, k, &f, lowest, d);
	d->reason = d->throttle == KFD_PRIO_LEVEL_NONE ? KFD_PRIO_REASON_WORK :
							 KFD_PRIO_REASON_FLOOR;
	if (d->level != KFD_PRIO_LEVEL_NONE)
		d->claim = f.claim[d->level];
	if (d->level > p->level && p->tokens < TOKEN) {
		d->level = p->level;
		d->throttle = KFD_PRIO_LEVEL_NONE;
		d->reason = KFD_PRIO_REASON_RATE;
		d->claim = d->level == KFD_PRIO_LEVEL_NONE ? -1 : f.claim[last];
		at = p->at + div_u64(TOKEN - p->tokens + k->max_per_s - 1, k->max_per_s);
	}
	if (at < d->look_at)
		d->look_at = at;
	if (d->level != KFD_PRIO_LEVEL_NONE)
		d->look_at = decide_until(p, k, &f, lowest, d->level, d->look_at);
	if (d->look_at <= now)
		d->look_at = now + 1;
}

/* Take a token, or what there is of one above @least: for a preemption, or to wake a process */
static void token_take(struct kfd_prio_policy *p, u64 least)
{
	if (p->tokens > least)
		p->tokens -= p->tokens - least < TOKEN ? p->tokens - least : TOKEN;
}

/* The tokens that wakes of parked processes leave: half, enough for one preemption at least */
static u64 tokens_reserved(const struct kfd_prio_params *k)
{
	return k->max_per_s > 1 ? tokens_max(k) / 2 : TOKEN;
}

/**
 * kfd_prio_policy_commit() - a decision, or a change of the preempted processes, is in force
 * @p: state
 * @k: module parameters
 * @level: from now on
 * @lowest: rank of the lowest process with work that it keeps off; KFD_PRIO_RANK_NONE if it
 *	keeps none off
 * @counts: a preemption began or its level rose: takes one of max_preempt_per_s
 * @now: the time
 *
 * Time since the last commit is counted under the level that was in force.
 *
 * max_preempt_per_s is a token bucket that holds a second's worth: in a stretch of T
 * seconds at most (T + 1) * max_preempt_per_s preemptions begin.
 */
void kfd_prio_policy_commit(struct kfd_prio_policy *p, const struct kfd_prio_params *k, int level,
			    int lowest, bool counts, u64 now)
{
	account(p, k, now);
	if (counts)
		token_take(p, 0);
	p->level = level;
	p->lowest = lowest;
}

/**
 * kfd_prio_policy_parks() - is a process to be parked, or to stay so?
 * @g: its GPU
 * @l: the process
 *
 * A parked process stays parked until it rings, or may not be parked any more.  One that is
 * preempted and has no work is parked at no cost.  For all others it takes an update of the
 * runlist, for which HWS unmaps every queue of the GPU.
 */
bool kfd_prio_policy_parks(const struct kfd_prio_parking *g, const struct kfd_prio_lull *l)
{
	if (!g->after_ns)
		return false;
	if (l->ends)
		return l->parked;
	if (!l->quiet || l->exempt)
		return false;
	if (l->parked)
		return true;
	if (l->evicted || g->now < l->hold_until || g->now < l->quiet_at ||
	    g->now - l->quiet_at < g->after_ns)
		return false;
	return l->off || g->free || g->pays;
}

/**
 * kfd_prio_policy_park_pays() - does it pay to park processes by an update of their own?
 * @p: state, counted up to now by kfd_prio_policy_decide()
 * @k: module parameters
 * @crowded: the runlist is over-subscribed
 *
 * Each parked process costs another update when it wakes.  Wakes take from max_preempt_per_s, which
 * max_switch_pct limits: half of it is left to preemption.
 */
bool kfd_prio_policy_park_pays(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			       bool crowded)
{
	return crowded && p->tokens >= tokens_reserved(k) + TOKEN;
}

/**
 * kfd_prio_policy_park_woke() - a parked process has work
 * @w: of the process
 * @waves: it had saved waves: it should not have been parked
 * @now: the time
 */
void kfd_prio_policy_park_woke(struct kfd_prio_wakes *w, bool waves, u64 now)
{
	u64 oldest = w->at[w->next];

	if (waves || (oldest && now - oldest < KFD_PRIO_PARK_PERIOD_NS))
		w->hold_until = now + KFD_PRIO_PARK_HOLD_NS;
	w->at[w->next] = now;
	w->next = (w->next + 1) % KFD_PRIO_PARK_WAKES;
}

/**
 * kfd_prio_policy_park_cost() - parked processes are woken beside others that work
 * @p: state
 * @k: module parameters
 * @now: the time
 *
 * Half of the tokens stay: wakes alone cannot keep a process from preempting.
 */
void kfd_prio_policy_park_cost(struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now)
{
	account(p, k, now);
	token_take(p, tokens_reserved(k));
}
