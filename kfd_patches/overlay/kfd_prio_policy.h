/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the policy of preemption. Pure functions of a snapshot: they take no lock, allocate no
 * memory, read no clock and call no kernel function, so that user space can compile and test them.
 *
 * The policy decides a level for each GPU: every process on the GPU whose rank is lower and that
 * has work is preempted. Whether a process is off follows from the level and from the state of that
 * process alone (kfd_prio_policy_off()), so that the DQM lock is held for a few comparisons per
 * process.
 *
 * All times are nanoseconds of one monotonic clock.
 */
#ifndef KFD_PRIO_POLICY_H_INCLUDED
#define KFD_PRIO_POLICY_H_INCLUDED

#include <linux/types.h>
#include "kfd_prio.h"
#include "kfd_prio_floor.h"
#include "kfd_prio_gaps.h"
#include "kfd_prio_trace.h"

/* The time at which something is due that is never due */
#define KFD_PRIO_NEVER		(~0ULL)

/**
 * struct kfd_prio_params - module parameters of the policy, see kfd_prio_params.c
 * @enabled: kfd_preempt
 * @min_prio: preempt_min_prio, 0..15: lowest set priority of a claim
 * @linger_ns: linger_us: for how long a claim holds after its work was last observed
 * @floor_pct: floor_pct, 0..90: share of each period that each level of preempted processes gets;
 *	0: none
 * @max_per_s: max_preempt_per_s, 1..10000
 * @budget_ns: busy_budget_ms: for how long a claim with work holds without progress
 * @switch_pct: max_switch_pct, 0..100: share of GPU time that saves and restores for preemption may
 *	cost; 0: no limit
 * @hold: max_switch_policy: a level whose end would cost more than @switch_pct permits is held;
 *	else no further level begins
 * @switch_ns: measured time of a save and a restore on the GPU, 0: not known, or @hold is not set;
 *	see kfd_prio_policy_cost()
 * @period_ns: floor_period_ms: the period of @floor_pct
 * @park_ns: idle_park_ms: time without work after which a process may be parked; 0: none is
 */
struct kfd_prio_params {
	bool enabled;
	int min_prio;
	u64 linger_ns;
	u32 floor_pct;
	u32 max_per_s;
	u64 budget_ns;
	u32 switch_pct;
	bool hold;
	u64 switch_ns;
	u64 period_ns;
	u64 park_ns;
};

/**
 * struct kfd_prio_claim - a process on one GPU that may preempt, for the policy
 * @prio: the priority that is set for the process, 0..15
 * @rung: the claim may have work: its doorbells are not trapped now
 * @work: the claim had work when it was last observed, or has rung since
 * @work_at: when work was last observed; valid if @rung
 * @progress_at: when the claim last rang or made progress; valid if @rung
 */
struct kfd_prio_claim {
	int prio;
	bool rung;
	bool work;
	u64 work_at;
	u64 progress_at;
};

/**
 * struct kfd_prio_policy - the state of the policy for one GPU
 * @level: the level in force, KFD_PRIO_LEVEL_NONE or 0..15
 * @lowest: rank of the lowest process with work that @level keeps off, from which time is counted;
 *	KFD_PRIO_RANK_NONE if there is none
 * @tokens: preemptions that may begin now, in billionths (token bucket of at most
 *	max_preempt_per_s)
 * @floor: for how long processes were kept off; its @at is the time up to which tokens and floor
 *	have been counted
 * @gaps: the gaps between the requests of the level
 * @block: the throttle of the last decision; KFD_PRIO_LEVEL_NONE: no block is in progress
 * @block_until: the block is not over before this time; valid if @block
 * @throttle: @block as of the last commit
 *
 * kfd_prio_policy_init() makes the state of a GPU on which nothing was preempted yet.
 */
struct kfd_prio_policy {
	int level;
	int lowest;
	u64 tokens;
	struct kfd_prio_floor floor;
	struct kfd_prio_gaps gaps;
	int block;
	u64 block_until;
	int throttle;
};

/**
 * struct kfd_prio_decision - the result of the policy
 * @level: the level from now on
 * @throttle: claims of at least this priority are kept off although they hold, because a level
 *	below them gets its floor; KFD_PRIO_LEVEL_NONE: no claim is
 * @reason: the reason for @level
 * @claim: index of the claim that preempts; -1 if @level is KFD_PRIO_LEVEL_NONE
 * @decide_at: the latest time for the next decision if no event comes before, as far as it follows
 *	from the clock; KFD_PRIO_NEVER: not before an event
 */
struct kfd_prio_decision {
	int level;
	int throttle;
	enum kfd_prio_reason reason;
	int claim;
	u64 decide_at;
};

/**
 * kfd_prio_policy_victim() - whether a level keeps a process off the GPU while the process has work
 * @level: the level in force
 * @prio: rank of the process, see kfd_prio_policy_rank()
 */
static inline bool kfd_prio_policy_victim(int level, int prio)
{
	return prio < level;
}

/**
 * struct kfd_prio_standing - the state of a process on one GPU that decides whether it is off
 * @rank: kfd_prio_policy_rank()
 * @claim: the priority of its claim; KFD_PRIO_UNSET if it has none
 * @idle: the process is proved to have no work: it is off the GPU, its MQDs show no work, and it
 *	has not rung since
 * @quiet: the process seems to have no work, by what it has written to its own memory; set whenever
 *	@idle is
 * @off: preemption keeps the process off the GPU
 * @evicted: KFD has evicted the process from the GPU
 * @ends: the mm of the process is gone: the process can only end
 * @armed: the next ring of the process faults, and no work of it is known. If @quiet is not set,
 *	its last kernel may still run
 * @spared: the process has made room (kfd_prio_policy_spares()), and is off since
 * @hold_until: see struct kfd_prio_wakes
 * @throttled: a group of the process may not run now, by its limit or because another one has its
 *	turn
 * @closed: it is the limit
 */
struct kfd_prio_standing {
	int rank;
	int claim;
	bool idle;
	bool quiet;
	bool off;
	bool evicted;
	bool ends;
	bool armed;
	bool spared;
	u64 hold_until;
	bool throttled;
	bool closed;
};

/**
 * struct kfd_prio_force - the decision in force on one GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 * @throttle: throttle of the decision
 * @claims: the GPU has at least one claim, or a process of a group
 * @crowded: the runlist is over-subscribed, and the rate permits an update of the runlist that
 *	makes room for the level (kfd_prio_policy_park_pays())
 * @now: the time of the decision, ns
 */
struct kfd_prio_force {
	int level;
	int throttle;
	bool claims;
	bool crowded;
	u64 now;
};

/**
 * kfd_prio_policy_spares() - whether a claim of the level, or above it, makes room for the level
 * @f: the decision in force
 * @s: the process
 *
 * HWS gives each process of an over-subscribed runlist a turn, with or without work. So a claim of
 * which no work is known is taken off while another one, which has work, holds the level. Waves do
 * not count, because those of a process that waits for its turn are saved, and a count shows none.
 * The claim is put back when it rings, or when its MQDs show saved waves or other work. A claim
 * that is put back often, or that had saved waves, is not taken off for some time (struct
 * kfd_prio_wakes).
 */
static inline bool kfd_prio_policy_spares(const struct kfd_prio_force *f,
					  const struct kfd_prio_standing *s)
{
	/* Most processes are no claim: a ring waits for this function */
	return s->claim != KFD_PRIO_UNSET && s->claim >= f->level &&
	       f->level != KFD_PRIO_LEVEL_NONE && s->armed &&
	       (s->spared || (f->crowded && f->now >= s->hold_until));
}

/**
 * kfd_prio_policy_off() - whether a process is kept off the GPU
 * @f: the decision in force
 * @s: the process
 *
 * While a level gets its floor, the claims above it are kept off. If they were mapped, they would
 * win every arbitration, and the processes that they preempted would get nothing.
 *
 * Every process below the level is taken off, even if it seems to have no work: the process writes
 * its indices, packets and signals itself, so they prove nothing. While the process is off, its
 * MQDs, which are memory of the driver, may prove that it has no work. A process so proved stays
 * off until it rings, even if the level ends: an update of the runlist that puts it back would
 * disturb processes with work, and the next level would take it off again. When the last claim
 * goes, and no process is in a group, all processes are put back. A process that ends is not put
 * back, because it runs nothing any more.
 */
static inline bool kfd_prio_policy_off(const struct kfd_prio_force *f,
				       const struct kfd_prio_standing *s)
{
	bool below = kfd_prio_policy_victim(f->level, s->rank) || s->throttled ||
		     (f->throttle != KFD_PRIO_LEVEL_NONE && s->claim >= f->throttle);

	if (s->ends)
		return s->off || below;
	if (s->idle)
		return f->claims && s->off;
	return below || kfd_prio_policy_spares(f, s);
}

/**
 * kfd_prio_policy_works() - whether a process has work that it could run if it were not off
 * @s: the process
 *
 * It has none if it seems to have no work, until its MQDs or its indices show some, if KFD has
 * evicted it, or if a limit of its group keeps it off: a floor does not lift a limit. Otherwise it
 * may have work. The time off counts towards the floor of such a process only. Only such a process
 * counts as preempted, in events and as one of max_preempt_per_s.
 */
static inline bool kfd_prio_policy_works(const struct kfd_prio_standing *s)
{
	return !s->quiet && !s->evicted && !s->closed;
}

/*
 * A process that wakes more often than PARK_WAKES times in PARK_PERIOD_NS is not parked for
 * PARK_HOLD_NS. The same holds for a process that had saved waves when it was parked.
 */
#define KFD_PRIO_PARK_WAKES	10
#define KFD_PRIO_PARK_PERIOD_NS	1000000000ULL
#define KFD_PRIO_PARK_HOLD_NS	10000000000ULL

/**
 * struct kfd_prio_parking - the facts about one GPU that decide whether processes are parked there
 * @after_ns: kfd_prio_params.park_ns
 * @now: the time, ns
 * @pays: the runlist is over-subscribed and the rate permits an update of the runlist that only
 *	parks processes
 * @free: parking disturbs no process: an update of the runlist follows anyway, or no process on the
 *	GPU has work, or MES removes single queues
 * @room: @pays, and a claim with work holds the level: claims without work make room for it
 */
struct kfd_prio_parking {
	u64 after_ns;
	u64 now;
	bool pays;
	bool free;
	bool room;
};

/*
 * idle_park_ms=auto. A process is parked after KFD_PRIO_CROWD_AFTER_NS without work, so it is
 * parked at most once in that time. Parking goes on for KFD_PRIO_CROWD_HOLD_NS after the runlist
 * was last over-subscribed, so that a process that is started again and again, or evicted for a
 * moment, does not stop it.
 */
#define KFD_PRIO_CROWD_AFTER_NS	1000000000ULL
#define KFD_PRIO_CROWD_HOLD_NS	10000000000ULL
#define KFD_PRIO_CROWD_CHECK_NS	1000000000ULL

/**
 * struct kfd_prio_crowd - whether processes are parked on one GPU with idle_park_ms=auto
 * @parks: they are
 * @over_at: when the runlist was last found over-subscribed, ktime_get_ns(); valid if @parks
 * @check_at: when that is to be found out again, ktime_get_ns(); valid if @parks
 *
 * Over-subscribed means with all processes that have queues on the GPU, including those that
 * kfdprio has taken off. All zero: the GPU was never over-subscribed.
 */
struct kfd_prio_crowd {
	bool parks;
	u64 over_at;
	u64 check_at;
};

/**
 * struct kfd_prio_wakes - how often one process has rung, or had work, while it was parked or had
 *	made room for a level (kfd_prio_policy_spares())
 * @at: times of the last KFD_PRIO_PARK_WAKES such events, used in turn; 0: none
 * @next: index of the oldest
 * @hold_until: before this time the process is not parked and does not make room
 */
struct kfd_prio_wakes {
	u64 at[KFD_PRIO_PARK_WAKES];
	u32 next;
	u64 hold_until;
};

/**
 * struct kfd_prio_lull - the state of a process on one GPU that decides whether it is parked
 * @quiet: the next ring of the process faults, and no work of it is known
 * @quiet_at: since when @quiet is true; valid if @quiet
 * @hold_until: see struct kfd_prio_wakes
 * @ended_at: when its last parking ended; 0: it was never parked
 * @parked: the process is parked
 * @off: preemption keeps the process off the GPU
 * @evicted: KFD has evicted the process from the GPU
 * @exempt: the process is set never to be parked
 * @ends: the mm of the process is gone: the process can only end
 */
struct kfd_prio_lull {
	bool quiet;
	u64 quiet_at;
	u64 hold_until;
	u64 ended_at;
	bool parked;
	bool off;
	bool evicted;
	bool exempt;
	bool ends;
};

/* linger_ns is raised to the cost of a preemption divided by this */
#define KFD_PRIO_LINGER_PART	4

int kfd_prio_policy_rank(int set, int asked);
void kfd_prio_policy_cost(struct kfd_prio_params *k, u64 save_ns);
void kfd_prio_policy_init(struct kfd_prio_policy *p, const struct kfd_prio_params *k, u64 now);
bool kfd_prio_policy_holds(const struct kfd_prio_params *k, const struct kfd_prio_claim *c,
			   u64 now);
u64 kfd_prio_policy_until(const struct kfd_prio_params *k, const struct kfd_prio_claim *c);
void kfd_prio_policy_decide(struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			    const struct kfd_prio_claim *claims, int n, int lowest, u64 now,
			    struct kfd_prio_decision *d);
void kfd_prio_policy_commit(struct kfd_prio_policy *p, const struct kfd_prio_params *k, int level,
			    int lowest, bool counts, u64 now);
bool kfd_prio_policy_parks(const struct kfd_prio_parking *g, const struct kfd_prio_lull *l);
bool kfd_prio_policy_park_pays(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			       bool crowded);
bool kfd_prio_policy_crowd(struct kfd_prio_crowd *c, bool over, u64 now);
void kfd_prio_policy_park_woke(struct kfd_prio_wakes *w, bool waves, u64 now);
void kfd_prio_policy_park_cost(struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			       u64 now);

#endif /* KFD_PRIO_POLICY_H_INCLUDED */
