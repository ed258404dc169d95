// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the judge of preemption; see kfd_prio_policy.h. Pure: compiles and is
 * tested in user space too.
 *
 * The floor.  Preempted time is summed over the running slot and the FLOOR_SLOTS before
 * it, which cover every second that ends now.  The sum is kept at or below the share
 * that floor_pct leaves, so no stretch of a second, however it is laid, has more.
 */
#include "kfd_prio_policy.h"
#ifdef __KERNEL__
#include <linux/math64.h>
#else
static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}
#endif

#define SLOTS	(KFD_PRIO_FLOOR_SLOTS + 1)
#define SLOT_NS	((u32)KFD_PRIO_FLOOR_SLOT_NS)
#define TOKEN	1000000000ULL

static u64 tokens_max(const struct kfd_prio_knobs *k)
{
	return k->max_per_s * TOKEN;
}

static u32 slot_after(u32 slot, u32 n)
{
	return (slot + n) % SLOTS;
}

static void slot_advance(struct kfd_prio_policy *p)
{
	p->slot_at += SLOT_NS;
	p->slot = slot_after(p->slot, 1);
	p->preempted_sum -= p->preempted_ns[p->slot];
	p->preempted_ns[p->slot] = 0;
}

/* Time from @p->at to @until, both within the running slot */
static void slot_count(struct kfd_prio_policy *p, u64 until)
{
	if (p->level != KFD_PRIO_LEVEL_NONE && p->victims) {
		p->preempted_ns[p->slot] += until - p->at;
		p->preempted_sum += until - p->at;
	}
	p->at = until;
}

/* Bring @p up to @now under the level in force; a clock that goes back is ignored */
static void account(struct kfd_prio_policy *p, const struct kfd_prio_knobs *k, u64 now)
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

/* How long somebody may still be preempted in this second */
static u64 floor_room(const struct kfd_prio_knobs *k, u64 sum)
{
	u64 allowed = (100 - k->floor_pct) * (KFD_PRIO_FLOOR_PERIOD_NS / 100);

	if (!k->floor_pct)
		return KFD_PRIO_NEVER;
	return allowed > sum ? allowed - sum : 0;
}

/* When there is no room left, if somebody is preempted from @p->at on */
static u64 floor_exhausted(const struct kfd_prio_policy *p, const struct kfd_prio_knobs *k,
			   u64 enough)
{
	u64 at = p->at, slot_end = p->slot_at + SLOT_NS, sum = p->preempted_sum, room;
	u32 i;

	for (i = 1;; i++) {
		room = floor_room(k, sum);
		/* As good as never; and a second full of it always leaves no room. */
		if (room >= enough - at || i > SLOTS)
			return enough;
		if (room < slot_end - at || !room)
			return at + room;
		sum += slot_end - at;
		at = slot_end;
		slot_end += SLOT_NS;
		sum -= p->preempted_ns[slot_after(p->slot, i)];
	}
}

/* When there is room for a slot again, if nobody is preempted from @p->at on */
static u64 floor_free(const struct kfd_prio_policy *p, const struct kfd_prio_knobs *k)
{
	u64 sum = p->preempted_sum;
	u32 i;

	for (i = 1; i < SLOTS; i++) {
		sum -= p->preempted_ns[slot_after(p->slot, i)];
		if (floor_room(k, sum) >= SLOT_NS)
			break;
	}
	return p->slot_at + (u64)i * SLOT_NS;
}

/**
 * kfd_prio_policy_rank() - what a process counts as
 * @set: the priority set for it, or KFD_PRIO_UNSET
 * @asked: the highest that its queues ask for, or KFD_PRIO_MAX
 *
 * The one rule behind both permission and preemption: without a set priority a process counts
 * as normal at most, whatever its queues ask for.  What anybody may do for nothing, create a
 * queue of priority 15, keeps nobody from being preempted; what anybody may set, up to normal,
 * is no more than that.
 */
int kfd_prio_policy_rank(int set, int asked)
{
	if (set != KFD_PRIO_UNSET)
		return set;
	return asked < KFD_PRIO_NORMAL ? asked : KFD_PRIO_NORMAL;
}

/**
 * kfd_prio_policy_until() - until when does a claim that holds, if nothing is heard of it?
 * @k: knobs
 * @c: the claim
 */
u64 kfd_prio_policy_until(const struct kfd_prio_knobs *k, const struct kfd_prio_claim *c)
{
	return c->work ? c->progress_at + k->budget_ns : c->work_at + k->linger_ns;
}

/**
 * kfd_prio_policy_init() - the state of a GPU that has never seen a preemption
 * @p: to be initialised
 * @k: knobs; as many preemptions as max_preempt_per_s may begin at once
 * @now: the time
 */
void kfd_prio_policy_init(struct kfd_prio_policy *p, const struct kfd_prio_knobs *k, u64 now)
{
	*p = (struct kfd_prio_policy) {
		.level = KFD_PRIO_LEVEL_NONE,
		.at = now,
		.slot_at = now,
		.tokens = tokens_max(k),
	};
}

/**
 * kfd_prio_policy_holds() - may a claim keep others off, as far as it alone matters?
 * @k: knobs
 * @c: the claim
 * @now: the time; a claim's times that lie after it count as this very moment
 *
 * Return: true if it has work and has made progress less than busy_budget_ms ago, or has
 * no work but had less than linger_us ago.
 */
bool kfd_prio_policy_holds(const struct kfd_prio_knobs *k, const struct kfd_prio_claim *c, u64 now)
{
	u64 since = c->work ? c->progress_at : c->work_at;

	return c->rung && (now > since ? now - since : 0) < (c->work ? k->budget_ns : k->linger_ns);
}

/**
 * kfd_prio_policy_decide() - who is to be preempted, why, and until when
 * @p: state; not changed, and need not be up to date
 * @k: knobs
 * @claims: of this GPU; those below preempt_min_prio count for nothing
 * @n: how many
 * @now: the time
 * @d: the decision
 *
 * The claim with the highest priority of those that hold decides; among equals the
 * first.  While the floor or the rate forbid more, nobody is preempted, or those who
 * are already; less is always allowed.  Decided again after its own commit at the same
 * time, the level is the same.
 */
void kfd_prio_policy_decide(const struct kfd_prio_policy *p, const struct kfd_prio_knobs *k,
			    const struct kfd_prio_claim *claims, int n, u64 now,
			    struct kfd_prio_decision *d)
{
	struct kfd_prio_policy s = *p;
	u64 look_at = KFD_PRIO_NEVER, at, room;
	int best = -1, i;

	d->level = KFD_PRIO_LEVEL_NONE;
	d->reason = k->enabled ? KFD_PRIO_REASON_NONE : KFD_PRIO_REASON_OFF;
	d->claim = -1;
	d->look_at = KFD_PRIO_NEVER;
	if (!k->enabled)
		return;

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
		if (best < 0 || claims[i].prio > claims[best].prio)
			best = i;
		at = kfd_prio_policy_until(k, &claims[i]);
		if (at < look_at)
			look_at = at;
	}
	if (best < 0)
		return;

	account(&s, k, now);
	room = floor_room(k, s.preempted_sum);
	if (s.level == KFD_PRIO_LEVEL_NONE ? room < SLOT_NS : !room) {
		d->reason = KFD_PRIO_REASON_FLOOR;
		at = floor_free(&s, k);
		goto out;
	}

	d->level = claims[best].prio;
	d->claim = best;
	d->reason = KFD_PRIO_REASON_WORK;
	at = KFD_PRIO_NEVER;
	if (d->level > s.level && s.tokens < TOKEN) {
		d->level = s.level;
		d->reason = KFD_PRIO_REASON_RATE;
		if (d->level == KFD_PRIO_LEVEL_NONE)
			d->claim = -1;
		at = s.at + div_u64(TOKEN - s.tokens + k->max_per_s - 1, k->max_per_s);
	}
	if (at < look_at)
		look_at = at;
	if (d->level != KFD_PRIO_LEVEL_NONE)
		at = floor_exhausted(&s, k, look_at);
out:
	if (at < look_at)
		look_at = at;
	d->look_at = look_at > now ? look_at : now + 1;
}

/**
 * kfd_prio_policy_commit() - a decision, or a change of who is preempted, is in force
 * @p: state
 * @k: knobs
 * @level: from now on
 * @victims: it keeps at least one process off
 * @counts: a preemption began or its level rose: takes one of max_preempt_per_s
 * @now: the time
 *
 * Time since the last commit is counted under the level that was in force.
 *
 * max_preempt_per_s is a token bucket that holds a second's worth: in a stretch of T
 * seconds at most (T + 1) * max_preempt_per_s preemptions begin.
 */
void kfd_prio_policy_commit(struct kfd_prio_policy *p, const struct kfd_prio_knobs *k, int level,
			    bool victims, bool counts, u64 now)
{
	account(p, k, now);
	if (counts)
		p->tokens -= p->tokens < TOKEN ? p->tokens : TOKEN;
	p->level = level;
	p->victims = victims;
}
