/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the limit of a group's GPU time (max). Pure functions, as those of kfd_prio_policy.h,
 * also tested in user space.
 *
 * Time is divided into periods of one clock. Each limited group has a place in the period, and its
 * processes run in that place only. All limits of a node have the same period, so places stand one
 * after the other, and groups do not meet while their limits together are 100 % at most. If they
 * are more, places are chosen so that those which are used much do not meet.
 *
 * The end of a place takes some time: a grace period, the save of the waves, the thread that is
 * woken late. So each group also has a budget: it comes at the rate of the limit, and time in which
 * the group runs is taken from it. If a place was exceeded, the budget ends a later one earlier.
 *
 * All times are nanoseconds of one monotonic clock.
 */
#ifndef KFD_PRIO_QUOTA_H_INCLUDED
#define KFD_PRIO_QUOTA_H_INCLUDED

#include <linux/types.h>
#include "kfd_prio.h"
#ifndef __KERNEL__
#include <stdbool.h>
typedef __u64 u64;
typedef __u32 u32;
typedef __s64 s64;
#endif

/* A limit is given in hundredths of a percent */
#define KFD_PRIO_QUOTA_WHOLE	KFD_PRIO_MAX_NONE

/* Shares of GPU time that saves and restores for limits may cost: one part in so many, 2 % */
#define KFD_PRIO_QUOTA_COST	50

/* A place lasts for so many switches at least */
#define KFD_PRIO_QUOTA_SWITCHES	4

/* A group whose budget was used up runs again with this part of a place, one of so many */
#define KFD_PRIO_QUOTA_AGAIN	8

/* How much of its limit a group uses is counted in so many parts */
#define KFD_PRIO_QUOTA_USED	64

/* Time over which that is counted, ns: any period is a part of it */
#define KFD_PRIO_QUOTA_USED_NS	1000000000ULL

/* A place moves if that gains one part in so many of it at least */
#define KFD_PRIO_QUOTA_GAIN	8

/*
 * A period may be made longer at once, and shorter this time after it was last made longer, ns. A
 * place that has moved stays for this time
 */
#define KFD_PRIO_QUOTA_HOLD_NS	10000000000ULL

/* Taken for a switch (a save and a restore) before one was measured on any GPU, ns */
#define KFD_PRIO_QUOTA_SWITCH_NS	1000000ULL

/**
 * struct kfd_prio_quota - the limit of one group
 * @users: a user without CAP_SYS_NICE in the initial user namespace has made the group: others do
 *	not make way for it
 * @max: hundredths of a percent of each period, 1..KFD_PRIO_QUOTA_WHOLE; KFD_PRIO_QUOTA_WHOLE: no
 *	limit
 * @soft: the limit holds only while a process that is not in the group waits
 * @offset: begin of the place, hundredths of a percent of the period,
 *	0..KFD_PRIO_QUOTA_WHOLE - 1
 * @period_ns: the period
 * @least_ns: the shortest place
 * @budget_ns: time for which the group may run; below 0 after a place was exceeded
 * @spent: the budget was used up, and is still below a part of a place
 * @at: time up to which @budget_ns was counted
 * @runs: the group has run since @at: it was mapped with work on some GPU
 * @ran_ns: total time for which it has run
 * @used_ns: @ran_ns when @used was last counted
 * @used: how much of its limit it uses, 0..KFD_PRIO_QUOTA_USED
 * @moved_at: when its place was last moved; 0: never
 *
 * kfd_prio_quota_init() makes a group without a limit.
 */
struct kfd_prio_quota {
	bool users;
	u32 max;
	bool soft;
	u32 offset;
	u64 period_ns;
	u64 least_ns;
	s64 budget_ns;
	bool spent;
	u64 at;
	bool runs;
	u64 ran_ns;
	u64 used_ns;
	u32 used;
	u64 moved_at;
};

/**
 * struct kfd_prio_period - the period of all limits of a node
 * @ns: its length
 * @longer_at: when it was last as long as the limits require
 */
struct kfd_prio_period {
	u64 ns;
	u64 longer_at;
};

static inline bool kfd_prio_quota_limits(const struct kfd_prio_quota *q)
{
	return q->max < KFD_PRIO_QUOTA_WHOLE;
}

void kfd_prio_quota_init(struct kfd_prio_quota *q, bool users, u64 period_ns, u64 switch_ns,
			 u64 now);
void kfd_prio_quota_set(struct kfd_prio_quota *q, u32 max, bool soft, u32 offset, u64 now);
u32 kfd_prio_quota_place(const struct kfd_prio_quota *const *others, u32 n, u32 max);
bool kfd_prio_quota_move(struct kfd_prio_quota *q, const struct kfd_prio_quota *const *others,
			 u32 n, u64 now);
void kfd_prio_quota_period(struct kfd_prio_period *p, u32 n, u64 switch_ns, u64 now);
void kfd_prio_quota_stretch(struct kfd_prio_quota *q, u64 period_ns, u64 switch_ns, u64 now);
void kfd_prio_quota_used(struct kfd_prio_quota *q, u64 ns);
u32 kfd_prio_quota_switches(const struct kfd_prio_quota *q);
void kfd_prio_quota_count(struct kfd_prio_quota *q, bool runs, u64 now);
bool kfd_prio_quota_open(const struct kfd_prio_quota *q, u64 now);
u64 kfd_prio_quota_spent_at(const struct kfd_prio_quota *q, u64 now);
u64 kfd_prio_quota_change_at(const struct kfd_prio_quota *q, u64 now);

#endif /* KFD_PRIO_QUOTA_H_INCLUDED */
