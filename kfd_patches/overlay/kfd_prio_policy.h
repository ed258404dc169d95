/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the policy of preemption.  Pure functions of a snapshot: no lock, no allocation, no
 * clock, no kernel call, so that user space can compile and try them.
 *
 * A decision is a level: every process on the GPU whose priority is lower and that has work is
 * preempted.  Whether a process is off follows from the level and from the state of that process
 * alone (kfd_prio_policy_off()), so that the DQM lock is held for a few comparisons per process.
 *
 * All times are nanoseconds of one monotonic clock.
 */
#ifndef KFD_PRIO_POLICY_H_INCLUDED
#define KFD_PRIO_POLICY_H_INCLUDED

#include <linux/types.h>
#include "kfd_prio.h"
#include "kfd_prio_trace.h"
#ifndef __KERNEL__
#include <stdbool.h>
typedef __u64 u64;
typedef __u32 u32;
#endif

/* No process is preempted */
#define KFD_PRIO_LEVEL_NONE	(-1)

/* What a process counts as: 0..15, see kfd_prio_policy_rank(); and no process */
#define KFD_PRIO_RANKS		(KFD_PRIO_MAX + 1)
#define KFD_PRIO_RANK_NONE	KFD_PRIO_RANKS

/* Never look again */
#define KFD_PRIO_NEVER		(~0ULL)

/*
 * The floor is kept in every stretch of a second.  Preempted time is counted in slots;
 * those that touch the last second are the running one and FLOOR_SLOTS before it.
 *
 * Each level below the highest that has work has a floor: the claims of one priority are a level,
 * and all processes below the lowest claim are one.  Together floors are FLOOR_MAX_PCT at most.
 */
#define KFD_PRIO_FLOOR_PERIOD_NS	1000000000ULL
#define KFD_PRIO_FLOOR_SLOTS		100
#define KFD_PRIO_FLOOR_MAX_PCT		90
#define KFD_PRIO_FLOOR_SLOT_NS		(KFD_PRIO_FLOOR_PERIOD_NS / KFD_PRIO_FLOOR_SLOTS)

/**
 * struct kfd_prio_params - what the administrator has chosen; see kfd_prio_params.c
 * @enabled: kfd_preempt
 * @min_prio: preempt_min_prio, 0..15: lower ones never preempt
 * @linger_ns: linger_us: a claim holds that long after work was last seen
 * @floor_pct: floor_pct, 0..90: share of each second that each level of preempted work
 *	gets, if it has been preempted for the rest of it; 0 is none
 * @max_per_s: max_preempt_per_s, 1..10000
 * @budget_ns: busy_budget_ms: a claim with work and without progress holds that long
 * @switch_pct: max_switch_pct, 0..100: share of GPU time that preemption may cost by saving and
 *	restoring; 0: any
 * @park_ns: idle_park_ms: a process without work for that long may be parked; 0: none is
 */
struct kfd_prio_params {
	bool enabled;
	int min_prio;
	u64 linger_ns;
	u32 floor_pct;
	u32 max_per_s;
	u64 budget_ns;
	u32 switch_pct;
	u64 park_ns;
};

/**
 * struct kfd_prio_claim - a process with a set priority, on one GPU
 * @prio: 0..15, the one set
 * @rung: it may have work: its doorbells are not trapped now
 * @work: it had work when it was last looked at (or has just rung)
 * @work_at: when it was last seen with work; meaningful if @rung
 * @progress_at: when it last rang or made progress; meaningful if @rung
 */
struct kfd_prio_claim {
	int prio;
	bool rung;
	bool work;
	u64 work_at;
	u64 progress_at;
};

/**
 * struct kfd_prio_policy - what the policy remembers of one GPU
 * @level: in force, KFD_PRIO_LEVEL_NONE or 0..15
 * @lowest: rank of the lowest process that the level keeps off: its time counts;
 *	KFD_PRIO_RANK_NONE if there is none
 * @at: up to when time has been counted
 * @tokens: preemptions that may begin now, in billionths (token bucket; at most
 *	max_preempt_per_s of them)
 * @slot_at: start of the running slot
 * @slot: its index
 * @preempted_ns: for each rank and slot, how long a process of this rank or a lower one was
 *	kept off by a level above the rank
 * @preempted_sum: for each rank, their sum
 *
 * All zero but @level and @lowest is the state of a GPU that has never seen a preemption;
 * kfd_prio_policy_init() makes it.
 */
struct kfd_prio_policy {
	int level;
	int lowest;
	u64 at;
	u64 tokens;
	u64 slot_at;
	u32 slot;
	u32 preempted_ns[KFD_PRIO_RANKS][KFD_PRIO_FLOOR_SLOTS + 1];
	u64 preempted_sum[KFD_PRIO_RANKS];
};

/**
 * struct kfd_prio_decision - what is to be done
 * @level: from now on
 * @throttle: claims of at least this priority are off although they hold, because a level
 *	below them gets its floor; KFD_PRIO_LEVEL_NONE: none is
 * @reason: why
 * @claim: index of the claim that preempts; -1 if @level is KFD_PRIO_LEVEL_NONE
 * @look_at: when to decide again if nothing happens before, at the latest; only what
 *	follows from the clock alone. KFD_PRIO_NEVER: not before something happens
 */
struct kfd_prio_decision {
	int level;
	int throttle;
	enum kfd_prio_reason reason;
	int claim;
	u64 look_at;
};

/**
 * kfd_prio_policy_victim() - does a level keep a process off the GPU while it has work?
 * @level: in force
 * @prio: of the process, by kfd_prio_policy_rank()
 */
static inline bool kfd_prio_policy_victim(int level, int prio)
{
	return prio < level;
}

/**
 * struct kfd_prio_standing - a process on one GPU, as far as it may have to give way
 * @rank: kfd_prio_policy_rank()
 * @claim: the priority of its claim; KFD_PRIO_UNSET if it has none
 * @idle: it is proved to have no work: it is off the GPU, the driver's own memory shows none, and
 *	it has not rung since
 * @quiet: it seems to have no work, by what the process itself has written; implied by @idle
 * @off: preemption keeps it off the GPU
 * @evicted: KFD keeps it off the GPU
 * @ends: it can only end: its memory is gone
 */
struct kfd_prio_standing {
	int rank;
	int claim;
	bool idle;
	bool quiet;
	bool off;
	bool evicted;
	bool ends;
};

/**
 * struct kfd_prio_force - what is in force on one GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 * @throttle: of the decision
 * @claims: there is a claim
 */
struct kfd_prio_force {
	int level;
	int throttle;
	bool claims;
};

/**
 * kfd_prio_policy_off() - is a process kept off the GPU?
 * @f: what is in force
 * @s: the process
 *
 * While a level gets its floor, the claims above it are kept off too: mapped, they would win
 * every arbitration, and what they preempted would get nothing.
 *
 * Every process below a level is taken off, whether it seems to have work or not: a process writes
 * its indices, packets and signals itself, so they prove nothing.  Off the GPU, the driver's own
 * memory may prove that a process has no work.  Such a process stays off, also when the level ends,
 * until it rings: an update of the runlist that puts it back would disturb those that have work,
 * and the next level would take it off again.  The last claim lets all go.  A process that ends
 * runs nothing any more.
 */
static inline bool kfd_prio_policy_off(const struct kfd_prio_force *f,
				       const struct kfd_prio_standing *s)
{
	bool below = kfd_prio_policy_victim(f->level, s->rank) ||
		     (f->throttle != KFD_PRIO_LEVEL_NONE && s->claim >= f->throttle);

	if (s->ends)
		return s->off || below;
	if (s->idle)
		return f->claims && s->off;
	return below;
}

/**
 * kfd_prio_policy_works() - does it cost a process something to be kept off?
 * @s: the process
 *
 * Only of such a process the time is counted for its floor, and only such a process is preempted:
 * as an event, and as one of max_preempt_per_s.  A process that only seems to have no work counts
 * as such until its MQDs, or its own indices, show some.
 */
static inline bool kfd_prio_policy_works(const struct kfd_prio_standing *s)
{
	return !s->quiet && !s->evicted;
}

/*
 * Parking: a process that wakes more often than PARK_WAKES times in a second is not parked for
 * PARK_HOLD_NS, nor is one that had saved waves when it was parked.
 */
#define KFD_PRIO_PARK_WAKES	10
#define KFD_PRIO_PARK_PERIOD_NS	1000000000ULL
#define KFD_PRIO_PARK_HOLD_NS	10000000000ULL

/**
 * struct kfd_prio_parking - what decides on one GPU whether processes are parked
 * @after_ns: kfd_prio_params.park_ns
 * @now: the time
 * @pays: the runlist is over-subscribed, and the rate allows it: an update pays that does nothing
 *	but take processes off that have no work
 * @free: parking disturbs nobody: an update of the runlist follows anyway, or no process on the GPU
 *	has work, or the scheduler takes single queues off
 */
struct kfd_prio_parking {
	u64 after_ns;
	u64 now;
	bool pays;
	bool free;
};

/**
 * struct kfd_prio_wakes - how often a process was woken while it was parked
 * @at: when, the last PARK_WAKES times, in turn; 0: never
 * @next: index of the oldest
 * @hold_until: it is not parked before
 */
struct kfd_prio_wakes {
	u64 at[KFD_PRIO_PARK_WAKES];
	u32 next;
	u64 hold_until;
};

/**
 * struct kfd_prio_lull - a process on one GPU, as far as it may be parked
 * @quiet: its next ring faults, and nothing is known that it has to do
 * @quiet_at: since when; meaningful if @quiet
 * @hold_until: see struct kfd_prio_wakes
 * @parked: it is parked
 * @off: it is preempted
 * @evicted: KFD keeps it off the GPU
 * @exempt: it is never to be parked
 * @ends: it can only end
 */
struct kfd_prio_lull {
	bool quiet;
	u64 quiet_at;
	u64 hold_until;
	bool parked;
	bool off;
	bool evicted;
	bool exempt;
	bool ends;
};

/* Of what a preemption costs, linger may leave the GPU idle for so small a part */
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
void kfd_prio_policy_park_woke(struct kfd_prio_wakes *w, bool waves, u64 now);
void kfd_prio_policy_park_cost(struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			       u64 now);

#endif /* KFD_PRIO_POLICY_H_INCLUDED */
