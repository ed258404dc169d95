// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the policy of preemption, see kfd_prio_policy.h. Pure functions, also tested in user
 * space.
 *
 * The floor. The policy sums, for each rank, the time for which processes were kept off during the
 * running slot and the FLOOR_SLOTS slots before it, which cover every second that ends now. The sum
 * is kept at or below the share that floor_pct leaves, so no stretch of one second exceeds it.
 *
 * Several levels. If claims of priority 15 and 12 hold and processes of lower rank have work, the
 * two levels below 15 have a floor each. Level 12 may keep the lowest off for 1 - floor of a
 * second. Level 15 may keep both off for 1 - 2 floors, less two slots, by which counting in slots
 * lets the floor of the lowest shorten that of 12. So level 15 is suspended first and 12 runs, then
 * 12 is suspended. While a level has used up its time, no higher level is in force: it would keep
 * the same processes off.
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

/* Whether the time that passes is counted for @rank */
static bool counted(const struct kfd_prio_policy *p, int rank)
{
	return p->lowest <= rank && rank < p->level;
}

/* Counts the time from @p->at to @until; both are within the running slot */
static void slot_count(struct kfd_prio_policy *p, u64 until)
{
	int r;

	for (r = p->lowest; counted(p, r); r++) {
		p->preempted_ns[r][p->slot] += until - p->at;
		p->preempted_sum[r] += until - p->at;
	}
	p->at = until;
}

/* Counts the time up to @now under the level in force; a @now before @p->at is ignored */
static void account(struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now)
{
	u64 max = tokens_max(k), slots;

	if (now > p->at) {
		/* The bucket is full after one second; a shorter time cannot overflow. */
		if (now - p->at >= TOKEN)
			p->tokens = max;
		else
			p->tokens += (now - p->at) * k->max_per_s;

		slots = div_u64(now - p->slot_at, SLOT_NS);
		if (slots > SLOTS) {
			/* The skipped slots are older than the sum covers. */
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

/* For how long the lowest @below of the @levels levels with a floor may be kept off in a second */
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

/*
 * Returns when the room for @rank is used up if @rank is kept off from @p->at on; @enough at most
 */
static u64 floor_exhausted(const struct kfd_prio_policy *p, int rank, u64 allowed, u64 enough)
{
	u64 at = p->at, slot_end = p->slot_at + SLOT_NS, sum = p->preempted_sum[rank], room;
	u32 i;

	for (i = 1;; i++) {
		room = floor_room(allowed, sum);
		/*
		 * @enough lies within the room. The loop ends: kept off for a whole second, @rank
		 *	has no room.
		 */
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

/* Returns when @rank has room for one slot again, if it is not kept off from @p->at on */
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
 * @k: in: module parameters; out: linger_ns and max_per_s as they apply to the GPU
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

	if (!save_ns || !k->switch_pct)
		return;
	per_s = div64_u64(k->switch_pct * PCT_NS, cost);
	if (per_s < k->max_per_s)
		k->max_per_s = per_s ? per_s : 1;
	if (k->linger_ns && k->linger_ns < linger)
		k->linger_ns = linger;
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
		.at = now,
		.slot_at = now,
		.tokens = tokens_max(k),
	};
}

/**
 * kfd_prio_policy_holds() - whether a claim may keep other processes off, floors and rate aside
 * @k: module parameters
 * @c: the claim
 * @now: the time, ns; times of @c that lie after it count as @now
 *
 * A claim holds for busy_budget_ms after progress if it has work, else for linger_us after its
 * work.
 */
bool kfd_prio_policy_holds(const struct kfd_prio_params *k, const struct kfd_prio_claim *c,
			   u64 now)
{
	u64 since = c->work ? c->progress_at : c->work_at;

	return c->rung && (now > since ? now - since : 0) < (c->work ? k->budget_ns : k->linger_ns);
}

/**
 * struct floors - the levels for which claims hold, and the level below the lowest of them
 * @claim: for each priority, index of the first claim that holds; -1 if none does
 * @levels: number of levels that have a floor, which is all but the highest
 */
struct floors {
	int claim[KFD_PRIO_RANKS];
	u32 levels;
};

/*
 * Finds the highest level that no floor forbids, from the lowest up: each keeps off the processes
 * that the next lower one keeps off, and those of that level. Sets level and throttle of @d,
 * returns when the throttle ends, ns; KFD_PRIO_NEVER if there is none.
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

/* Returns when @level has used up the time that the floors below it leave; @enough at most */
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
 * kfd_prio_policy_decide() - decide the level, the throttle, the reason and the next decision time
 * @p: state; time is counted up to @now, nothing else changes
 * @k: module parameters
 * @claims: claims on the GPU; those below preempt_min_prio are ignored
 * @n: number of claims
 * @lowest: rank of the lowest process that has work and may be kept off, or KFD_PRIO_RANK_NONE
 * @now: the time, ns
 * @d: out: the decision
 *
 * The level is the priority of the highest claim that holds; among equal ones the first preempts.
 * If a floor forbids that level, the highest permitted one is used and the claims above it are
 * throttled. While the rate forbids a higher level, the level in force stays. A level may end at
 * any time. A second decision at the same time, after the commit of the first, returns the same
 * level.
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
	d->decide_at = KFD_PRIO_NEVER;
	account(p, k, now);
	if (!k->enabled)
		return;

	for (i = 0; i < KFD_PRIO_RANKS; i++)
		f.claim[i] = -1;
	for (i = 0; i < n; i++) {
		if (claims[i].prio < k->min_prio)
			continue;
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
		if (f.claim[claims[i].prio] < 0) {
			f.claim[claims[i].prio] = i;
			f.levels++;
		}
		if (claims[i].prio < first)
			first = claims[i].prio;
		if (claims[i].prio > last)
			last = claims[i].prio;
		at = kfd_prio_policy_until(k, &claims[i]);
		if (at < d->decide_at)
			d->decide_at = at;
	}
	if (!f.levels)
		return;
	/* The highest level has no floor; the processes below the lowest claim have one */
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
	if (at < d->decide_at)
		d->decide_at = at;
	if (d->level != KFD_PRIO_LEVEL_NONE)
		d->decide_at = decide_until(p, k, &f, lowest, d->level, d->decide_at);
	if (d->decide_at <= now)
		d->decide_at = now + 1;
}

/*
 * Takes one token, or as much as there is above @least: for a preemption, or for waking a process
 */
static void token_take(struct kfd_prio_policy *p, u64 least)
{
	if (p->tokens > least)
		p->tokens -= p->tokens - least < TOKEN ? p->tokens - least : TOKEN;
}

/* The tokens that wakes of parked processes must leave: half of all, one at least */
static u64 tokens_reserved(const struct kfd_prio_params *k)
{
	return k->max_per_s > 1 ? tokens_max(k) / 2 : TOKEN;
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
	account(p, k, now);
	if (counts)
		token_take(p, 0);
	p->level = level;
	p->lowest = lowest;
}

/**
 * kfd_prio_policy_parks() - whether a process is to be parked, or to stay parked
 * @g: parking on the GPU
 * @l: the process
 *
 * A parked process stays parked until it rings or may not be parked any more. Parking a process
 * that is off already costs nothing. For any other process it takes an update of the runlist, for
 * which HWS unmaps every queue of the GPU.
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
	return crowded && p->tokens >= tokens_reserved(k) + TOKEN;
}

/**
 * kfd_prio_policy_park_woke() - record that a parked process has work
 * @w: the wakes of the process
 * @waves: the process had saved waves, so it should not have been parked
 * @now: the time, ns
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
 * kfd_prio_policy_park_cost() - take a token for waking parked processes, but leave half of all
 * @p: state
 * @k: module parameters
 * @now: the time, ns
 */
void kfd_prio_policy_park_cost(struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now)
{
	account(p, k, now);
	token_take(p, tokens_reserved(k));
}
