/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the account of the floor, which sums for how long processes were kept off a GPU. Pure
 * functions, as those of kfd_prio_policy.h, which explains rank and level.
 *
 * All times are nanoseconds of one monotonic clock.
 */
#ifndef KFD_PRIO_FLOOR_H_INCLUDED
#define KFD_PRIO_FLOOR_H_INCLUDED

#include <linux/types.h>
#include "kfd_prio.h"
#ifndef __KERNEL__
#include <stdbool.h>
typedef __u64 u64;
typedef __u32 u32;
#endif

/* The level while no process is preempted */
#define KFD_PRIO_LEVEL_NONE	(-1)

/* Ranks are 0..15, see kfd_prio_policy_rank(); KFD_PRIO_RANK_NONE is the rank of no process */
#define KFD_PRIO_RANKS		(KFD_PRIO_MAX + 1)
#define KFD_PRIO_RANK_NONE	KFD_PRIO_RANKS

/*
 * A slot is one percent of a period.
 *
 * The floor is kept in every stretch of a period, floor_period_ms. The time for which processes are
 * kept off is counted in slots: the running one and the FLOOR_SLOTS before it. The oldest of these
 * lies partly outside the last period: it counts with the part of it that may lie inside.
 *
 * Each level below the highest one that has work has a floor. The claims of one priority are a
 * level, and all processes below the lowest claim are one. All floors together are FLOOR_MAX_PCT of
 * the period at most.
 */
#define KFD_PRIO_FLOOR_SLOTS		100
#define KFD_PRIO_FLOOR_MAX_PCT		90

/* The account counts the time of blocks as if they kept off one more rank */
#define KFD_PRIO_FLOOR_BLOCKS		KFD_PRIO_RANKS

/**
 * struct kfd_prio_floor - for how long processes of each rank were kept off in the last period
 * @at: time up to which time has been counted
 * @slot_at: start of the running slot
 * @slot_ns: length of a slot
 * @slot: index of the running slot
 * @kept_ranks: for each slot, mask of the ranks whose time in it may not be 0
 * @kept_ns: for each slot and rank, time for which a level above the rank kept off a process of
 *	this rank or a lower one
 * @sum: for each rank, the sum over its slots
 * @gap_ranks: mask of the ranks that the end of a level has put back, for as long as the gap is
 *	shorter than a switch
 * @gap_until: when that gap is as long as a switch; valid if @gap_ranks
 * @gap_ns: the part of a switch that counts for the floor then: all but the restore
 *
 * kfd_prio_floor_init() makes the account of a GPU on which nothing was preempted yet.
 */
struct kfd_prio_floor {
	u64 at;
	u64 slot_at;
	u32 slot_ns;
	u32 slot;
	u32 kept_ranks[KFD_PRIO_FLOOR_SLOTS + 1];
	u32 kept_ns[KFD_PRIO_FLOOR_SLOTS + 1][KFD_PRIO_RANKS + 1];
	u64 sum[KFD_PRIO_RANKS + 1];
	u32 gap_ranks;
	u64 gap_until;
	u64 gap_ns;
};

/**
 * kfd_prio_floor_ranks() - mask of the ranks from @lowest to the one below @level
 * @lowest: 0..15 or KFD_PRIO_RANK_NONE
 * @level: 0..15 or KFD_PRIO_LEVEL_NONE
 */
static inline u32 kfd_prio_floor_ranks(int lowest, int level)
{
	return lowest < level ? (1U << level) - (1U << lowest) : 0;
}

void kfd_prio_floor_init(struct kfd_prio_floor *f, u64 period_ns, u64 now);
void kfd_prio_floor_count(struct kfd_prio_floor *f, u64 period_ns, u32 ranks, u64 now);
void kfd_prio_floor_gap(struct kfd_prio_floor *f, u32 before, u32 after, u64 switch_ns, bool block);
u64 kfd_prio_floor_allowed(const struct kfd_prio_floor *f, u32 pct, u32 levels, u32 below,
			   u64 switch_ns);
u64 kfd_prio_floor_pct(const struct kfd_prio_floor *f, u32 pct, u32 levels, u64 switch_ns);
u64 kfd_prio_floor_room(const struct kfd_prio_floor *f, int rank, u64 allowed);
u64 kfd_prio_floor_exhausted(const struct kfd_prio_floor *f, int rank, u64 allowed, u64 enough);
u64 kfd_prio_floor_free(const struct kfd_prio_floor *f, int rank, u64 allowed, u64 room);

#endif /* KFD_PRIO_FLOOR_H_INCLUDED */
