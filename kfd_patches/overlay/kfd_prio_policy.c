// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the policy of preemption, see kfd_prio_policy.h. Pure functions, also tested in user
 * space.
 *
 * Too many requests. Each preemption costs a token. Tokens come at a rate at which saving and
 * restoring costs max_switch_pct of the GPU's time. When they are used up, max_switch_policy
 * decides:
 * - hold: a level that has no work any more stays in force, so the next request finds the GPU free.
 *   It ends only in the gaps between requests that are expected to leave most time to others
 *   (kfd_prio_gaps.c), and without a token in none. A level begins at any time. Floors alone limit
 *   the hold: the part of a floor that the gaps have not given comes in a block that no ring ends.
 *   The blocks of one period join into one.
 * - share: no level begins or rises, so the requests share the GPU, as without preemption.
 */
#include "kfd_prio_levels.h"
#ifdef __KERNEL__
#include <linux/math64.h>
#else
#define div_u64(dividend, divisor) ((u64)(dividend) / (divisor))
#define div64_u64	div_u64
#endif

#define TOKEN	1000000000ULL

/* A block gives at least this many times the time of a switch, so switching costs a fifth of it */
#define BLOCK_SWITCHES	4

/* One percent of a second */
#define PCT_NS	10000000ULL

static u64 tokens_max(const struct kfd_prio_params *k)
{
	return k->max_per_s * TOKEN;
}

/*
 * While there are so many tokens, they need not be saved for better use: half of all, one at least
 */
static u64 tokens_plenty(const struct kfd_prio_params *k)
{
	return k->max_per_s > 1 ? tokens_max(k) / 2 : TOKEN;
}

/* Returns when there will be @tokens tokens, of which some are missing now */
static u64 tokens_at(const struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 tokens)
{
	return p->floor.at + div_u64(tokens - p->tokens + k->max_per_s - 1, k->max_per_s);
}

/* Counts the time up to @now under the level in force; a @now that is counted already is ignored */
static void account(struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now)
{
	u32 ranks = kfd_prio_floor_ranks(p->lowest, p->level);
	u64 max = tokens_max(k);

	if (now > p->floor.at) {
		/* The bucket is full after one second; a shorter time cannot overflow. */
		if (now - p->floor.at >= TOKEN)
			p->tokens = max;
		else
			p->tokens += (now - p->floor.at) * k->max_per_s;
		if (p->block != KFD_PRIO_LEVEL_NONE)
			ranks |= 1U << KFD_PRIO_FLOOR_BLOCKS;
		kfd_prio_floor_count(&p->floor, k->period_ns, ranks, now);
	}
	if (p->tokens > max)
		p->tokens = max;
}

/**
 * kfd_prio_policy_rank() - the rank of a process, 0..15, by which it is compared with a level
 * @set: the priority that is set for the process, or KFD_PRIO_UNSET
 * @asked: the highest priority that its queues ask for, or KFD_PRIO_MAX
 *
 * Without a set priority a process ranks as KFD_PRIO_NORMAL at most, because every user may create
 * a queue of priority 15. The permission check passes KFD_PRIO_MAX as @asked.
 */
int kfd_prio_policy_rank(int set, int asked)
{
	if (set != KFD_PRIO_UNSET)
		return set;
	return asked < KFD_PRIO_NORMAL ? asked : KFD_PRIO_NORMAL;
}

/**
 * kfd_prio_policy_cost() - adapt the rate and the linger time to the measured cost of a save
 * @k: in: module parameters; out: linger_ns, max_per_s and switch_ns as they apply to the GPU
 * @save_ns: measured time of a save on the GPU, ns; 0: not known
 *
 * A preemption costs a save and a restore. The time of a restore is not measured and is taken to be
 * that of a save. max_per_s is reduced to as many preemptions as cost max_switch_pct of the GPU's
 * time, but not below 1. linger_ns is raised to a quarter of the cost of a preemption, so that
 * lingering adds a quarter to the cost of switching where it avoids preempting again soon. A
 * linger_us of 0 stays 0.
 */
void kfd_prio_policy_cost(struct kfd_prio_params *k, u64 save_ns)
{
	u64 cost = 2 * save_ns, per_s, linger = cost / KFD_PRIO_LINGER_PART;

	k->switch_ns = k->hold ? cost : 0;
	if (!save_ns || !k->switch_pct)
		return;
	per_s = div64_u64(k->switch_pct * PCT_NS, cost);
	if (per_s < k->max_per_s)
		k->max_per_s = per_s ? per_s : 1;
	if (k->linger_ns && k->linger_ns < linger)
		k->linger_ns = linger;
}

/**
 * kfd_prio_policy_init() - initialise the state of a GPU on which nothing was preempted yet
 * @p: out: the state
 * @k: module parameters; max_preempt_per_s preemptions may begin at once
 * @now: the time, ns
 */
void kfd_prio_policy_init(struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now)
{
	*p = (struct kfd_prio_policy) {
		.level = KFD_PRIO_LEVEL_NONE,
		.lowest = KFD_PRIO_RANK_NONE,
		.tokens = tokens_max(k),
		.block = KFD_PRIO_LEVEL_NONE,
		.throttle = KFD_PRIO_LEVEL_NONE,
	};
	kfd_prio_floor_init(&p->floor, k->period_ns, now);
}

/* ---- gaps between requests ---- */

static struct kfd_prio_price price(const struct kfd_prio_params *k)
{
	return (struct kfd_prio_price) { k->linger_ns, k->switch_ns, k->max_per_s };
}

/*
 * Follows the gaps of the level in force. A gap goes on when the level has ended in it, and ends
 * when the level has work again. A gap is that of one level: if another level is in force, the gap
 * in progress is dropped.
 */
static void gaps_follow(struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			const struct kfd_prio_claim *claims, int n, u64 now)
{
	struct kfd_prio_gaps *g = &p->gaps;
	const struct kfd_prio_price c = price(k);
	bool works = false;
	u64 since = 0;
	int i, level;

	if (!k->hold || (p->level != KFD_PRIO_LEVEL_NONE && g->level != p->level))
		g->since = 0;
	level = g->since ? g->level : p->level;
	if (!k->hold || level == KFD_PRIO_LEVEL_NONE)
		return;
	for (i = 0; i < n; i++) {
		if (claims[i].prio < level || claims[i].prio < k->min_prio)
			continue;
		works |= claims[i].work && kfd_prio_policy_holds(k, &claims[i], now);
		if (claims[i].rung && claims[i].work_at > since)
			since = claims[i].work_at;
	}
	if (works && g->since)
		kfd_prio_gaps_end(g, now);
	else if (!works && !g->since)
		kfd_prio_gaps_begin(g, &c, level, since && since < now ? since : now);
}

/* Returns 0 if the level in force, which has no work, may end now; else when to ask again, ns */
static u64 hold_until(const struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now)
{
	const struct kfd_prio_price c = price(k);
	u64 plenty = tokens_plenty(k), at;

	if (p->tokens < TOKEN)
		return tokens_at(p, k, TOKEN);
	if (!p->gaps.since)
		return 0;
	at = kfd_prio_gaps_pays(&p->gaps, &c, p->tokens >= plenty, now);
	if (at > now && p->tokens < plenty && tokens_at(p, k, plenty) < at)
		at = tokens_at(p, k, plenty);
	return at > now ? at : 0;
}

/* ---- the decision ---- */

/*
 * Adds the claim that the block in progress keeps off, although it has no work any more, if the
 * block is not over. Otherwise the claim would be put back, and its next ring would take it off
 * again.
 */
static void block_find(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
		       const struct kfd_prio_claim *claims, int n, int lowest, u64 now,
		       struct kfd_prio_levels *l)
{
	struct kfd_prio_decision d = { .throttle = KFD_PRIO_LEVEL_NONE };
	struct kfd_prio_levels with = *l;
	int i;

	if (p->block <= l->last || p->block < k->min_prio)
		return;
	for (i = 0; i < n && (claims[i].prio != p->block || claims[i].work); i++)
		;
	if (i == n)
		return;
	kfd_prio_levels_add(&with, claims, i);
	with.count -= lowest >= with.first;
	kfd_prio_levels_decide(p, k, &with, lowest, now, &d);
	if (d.throttle == p->block)
		kfd_prio_levels_add(l, claims, i);
}

/*
 * Returns for how long the block lasts that begins now: at least as long as all blocks of the last
 * period together, but it gives no more than a floor. Otherwise the floor would be given in as many
 * small blocks as before, each of which costs a switch.
 */
static u64 block_ns(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
		    const struct kfd_prio_levels *l)
{
	u64 least = (BLOCK_SWITCHES + 1) * k->switch_ns, blocks, most;

	if (!kfd_prio_levels_joins(k, l))
		return 0;
	blocks = p->floor.sum[KFD_PRIO_FLOOR_BLOCKS];
	most = k->switch_ns + kfd_prio_levels_begin(p, k, l) +
	       kfd_prio_floor_pct(&p->floor, k->floor_pct, l->count, k->switch_ns);
	if (least < blocks)
		least = blocks;
	return least < most ? least : most;
}

/* A block begins, goes on or ends. A block for a lower level begins anew. */
static void block_follow(struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			 const struct kfd_prio_levels *l, int throttle, u64 now)
{
	if (!k->hold)
		throttle = KFD_PRIO_LEVEL_NONE;
	if (throttle != KFD_PRIO_LEVEL_NONE &&
	    (p->block == KFD_PRIO_LEVEL_NONE || throttle < p->block))
		p->block_until = now + block_ns(p, k, l);
	p->block = throttle;
}

/**
 * kfd_prio_policy_decide() - decide the level, the throttle, the reason and the next decision time
 * @p: state; time is counted up to @now, and a gap between requests may begin or end
 * @k: module parameters
 * @claims: claims on the GPU; those below preempt_min_prio are ignored
 * @n: number of claims
 * @lowest: rank of the lowest process that has work and may be kept off, or KFD_PRIO_RANK_NONE
 * @now: the time, ns
 * @d: out: the decision
 *
 * The level is the priority of the highest claim that holds; among equal ones the first preempts.
 * With max_switch_policy=hold, the level in force may be held although no claim holds for it any
 * more; then its first claim preempts. If a floor forbids that level, the highest permitted one is
 * used and the claims above it are throttled. With max_switch_policy=share, the level in force
 * stays while the rate forbids a higher one, and a level may end at any time. A second decision at
 * the same time, after the commit of the first, returns the same level.
 */
void kfd_prio_policy_decide(struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			    const struct kfd_prio_claim *claims, int n, int lowest, u64 now,
			    struct kfd_prio_decision *d)
{
	enum kfd_prio_reason reason = KFD_PRIO_REASON_WORK;
	struct kfd_prio_levels l;
	int idle;
	u64 at;

	d->level = KFD_PRIO_LEVEL_NONE;
	d->throttle = KFD_PRIO_LEVEL_NONE;
	d->reason = k->enabled ? KFD_PRIO_REASON_NONE : KFD_PRIO_REASON_OFF;
	d->claim = -1;
	d->decide_at = KFD_PRIO_NEVER;
	account(p, k, now);
	if (!k->enabled) {
		p->block = KFD_PRIO_LEVEL_NONE;
		p->gaps.since = 0;
		return;
	}

	gaps_follow(p, k, claims, n, now);
	idle = kfd_prio_levels_find(p, k, claims, n, now, &l, d);
	block_find(p, k, claims, n, lowest, now, &l);
	at = k->hold && idle >= 0 && p->level > l.last ? hold_until(p, k, now) : 0;
	if (at) {
		kfd_prio_levels_add(&l, claims, idle);
		reason = KFD_PRIO_REASON_RATE;
		if (at < d->decide_at)
			d->decide_at = at;
	}
	if (!l.count) {
		p->block = KFD_PRIO_LEVEL_NONE;
		return;
	}
	/* The highest level has no floor; the processes below the lowest claim have one */
	l.count -= lowest >= l.first;

	at = kfd_prio_levels_decide(p, k, &l, lowest, now, d);
	d->reason = d->throttle == KFD_PRIO_LEVEL_NONE ? reason : KFD_PRIO_REASON_FLOOR;
	if (d->level != KFD_PRIO_LEVEL_NONE)
		d->claim = l.claim[d->level];
	if (!k->hold && d->level > p->level && p->tokens < TOKEN) {
		d->level = p->level;
		d->throttle = KFD_PRIO_LEVEL_NONE;
		d->reason = KFD_PRIO_REASON_RATE;
		d->claim = d->level == KFD_PRIO_LEVEL_NONE ? -1 : l.claim[l.last];
		at = tokens_at(p, k, TOKEN);
	}
	if (at < d->decide_at)
		d->decide_at = at;
	if (d->level != KFD_PRIO_LEVEL_NONE)
		d->decide_at = kfd_prio_levels_until(p, k, &l, lowest, d->level, d->decide_at);
	if (d->decide_at <= now)
		d->decide_at = now + 1;
	block_follow(p, k, &l, d->throttle, now);
}

/*
 * Takes one token, or as much as there is above @least: for a preemption, or for waking a process
 */
static void token_take(struct kfd_prio_policy *p, u64 least)
{
	if (p->tokens > least)
		p->tokens -= p->tokens - least < TOKEN ? p->tokens - least : TOKEN;
}

/**
 * kfd_prio_policy_commit() - record the level, or a changed set of preempted processes, in force
 * @p: state
 * @k: module parameters
 * @level: the level in force from now on
 * @lowest: rank of the lowest process with work that @level keeps off, or KFD_PRIO_RANK_NONE
 * @counts: a preemption began or its level rose, which takes a token
 * @now: the time, ns; the time since the last commit is counted under the previous level
 *
 * max_preempt_per_s is a token bucket that holds the tokens of one second: in T seconds at most (T
 * + 1) * max_preempt_per_s preemptions begin.
 */
void kfd_prio_policy_commit(struct kfd_prio_policy *p, const struct kfd_prio_params *k, int level,
			    int lowest, bool counts, u64 now)
{
	u32 before = kfd_prio_floor_ranks(p->lowest, p->level);

	account(p, k, now);
	if (counts)
		token_take(p, 0);
	/* When a block begins or ends, all that runs below it is saved and restored as well */
	if (p->block != p->throttle)
		before |= kfd_prio_floor_ranks(0, p->block > p->throttle ? p->block : p->throttle);
	if (level != p->level || p->block != p->throttle)
		kfd_prio_floor_gap(&p->floor, before, kfd_prio_floor_ranks(lowest, level),
				   k->switch_ns, p->block != p->throttle);
	p->throttle = p->block;
	p->level = level;
	p->lowest = lowest;
}

/**
 * kfd_prio_policy_park_pays() - whether an update of the runlist just for parking is worth its cost
 * @p: state, counted up to now by kfd_prio_policy_decide()
 * @k: module parameters
 * @crowded: the runlist is over-subscribed
 *
 * Each parked process costs another update when it wakes. Wakes take tokens of max_preempt_per_s.
 */
bool kfd_prio_policy_park_pays(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			       bool crowded)
{
	return crowded && p->tokens >= tokens_plenty(k) + TOKEN;
}

/**
 * kfd_prio_policy_park_cost() - take a token of max_preempt_per_s for an update that puts back
 *	processes that were parked or had made room for a level
 * @p: state
 * @k: module parameters
 * @now: the time, ns
 *
 * Half of the tokens, one at least, are left for preemptions.
 */
void kfd_prio_policy_park_cost(struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now)
{
	account(p, k, now);
	token_take(p, tokens_plenty(k));
}
