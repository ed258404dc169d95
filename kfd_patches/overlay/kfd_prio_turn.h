/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: turns, by which groups of one rank get GPU time in proportion to their weights. Pure
 * functions, as those of kfd_prio_policy.h, also tested in user space.
 *
 * Groups take turns only on a GPU where two or more of them have work; nothing is switched
 * elsewhere. One group of the node is in turn at a time, on all GPUs where it has work. On another
 * GPU the next group in the order runs that has work there.
 *
 * All times are nanoseconds of one monotonic clock.
 */
#ifndef KFD_PRIO_TURN_H_INCLUDED
#define KFD_PRIO_TURN_H_INCLUDED

#include <linux/types.h>
#include "kfd_prio.h"
#ifndef __KERNEL__
#include <stdbool.h>
typedef __u64 u64;
typedef __u32 u32;
typedef __s64 s64;
#endif

/* Saves and restores for turns cost this share of GPU time at most, percent */
#define KFD_PRIO_TURN_COST_PCT	2

/* A turn lasts for so many switches at least */
#define KFD_PRIO_TURN_SWITCHES	8

/* Taken for a switch (a save and a restore) before one was measured on any GPU, ns */
#define KFD_PRIO_TURN_SWITCH_NS	1000000ULL

/**
 * struct kfd_prio_turn - a group that takes turns
 * @weight: KFD_PRIO_WEIGHT_MIN..KFD_PRIO_WEIGHT_MAX; 0: the group takes no turns, and @gpus is 0
 * @gpus: mask of the GPUs on which the group has work, and could run if it were in turn
 * @left_ns: time that is left of its part of the cycle in progress; below 0 if it has exceeded it
 */
struct kfd_prio_turn {
	u32 weight;
	u64 gpus;
	s64 left_ns;
};

/**
 * struct kfd_prio_turns - the turns of a node
 * @ring: the groups, in their order
 * @n: number of these
 * @now: index of the group that is in turn, or was in turn last
 * @begun: the group has begun its turn, and may go on
 * @held: mask of the GPUs on which a level is in force. A group that runs alone there does so by
 *	its priority, and the turn that the level has interrupted goes on afterwards
 * @runs: a group is in turn
 * @at: time up to which time was counted
 *
 * All zero: no group has work.
 */
struct kfd_prio_turns {
	struct kfd_prio_turn **ring;
	u32 n;
	u32 now;
	bool begun;
	bool runs;
	u64 held;
	u64 at;
};

/* A turn lasts for at least this time, ns */
static inline s64 kfd_prio_turn_least(u64 switch_ns)
{
	return KFD_PRIO_TURN_SWITCHES * switch_ns;
}

void kfd_prio_turns_count(struct kfd_prio_turns *t, u64 now);
u64 kfd_prio_turns_update(struct kfd_prio_turns *t, u64 switch_ns, u32 cost_pct, u64 now);
int kfd_prio_turns_on(const struct kfd_prio_turns *t, u32 gpu);
void kfd_prio_turns_drop(struct kfd_prio_turns *t, u32 i);

#endif /* KFD_PRIO_TURN_H_INCLUDED */
