/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the gaps between the requests of the processes that preempt, and which of them are worth
 * a switch. Pure functions, as those of kfd_prio_policy.h.
 *
 * All times are nanoseconds of one monotonic clock.
 */
#ifndef KFD_PRIO_GAPS_H_INCLUDED
#define KFD_PRIO_GAPS_H_INCLUDED

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
typedef __u64 u64;
typedef __u32 u32;
#endif

/*
 * Gaps are sorted by their length into GAPS_CLASSES classes. Class i begins at GAPS_MIN_NS << i;
 * the first one includes all shorter gaps, and the last one all longer ones.
 */
#define KFD_PRIO_GAPS_CLASSES	12
#define KFD_PRIO_GAPS_MIN_NS	65536ULL

/* The past counts half as much after this number of gaps */
#define KFD_PRIO_GAPS_PAST	32

/**
 * struct kfd_prio_gaps_choice - in which gaps a level ends
 * @hold_ns: the level need not end before the gap is that long
 * @worth_ns: time that a gap which is as long as @hold_ns is expected to leave after a switch
 */
struct kfd_prio_gaps_choice {
	u64 hold_ns;
	u64 worth_ns;
};

/**
 * struct kfd_prio_gaps - the gaps between the requests of one level
 * @level: the level whose gap is in progress
 * @since: when that gap began; 0: no gap is in progress
 * @scarce: the choice while switches are to be saved for gaps that leave more
 * @plenty: the choice while they need not be
 * @at: when the last gap that was recorded ended
 * @total: number of gaps that were recorded
 * @span_ns: the time in which they were
 * @count: for each class, the number of gaps
 * @sum_ns: for each class, the sum of their lengths; a gap counts as twice the begin of the last
 *	class at most
 */
struct kfd_prio_gaps {
	int level;
	u64 since;
	struct kfd_prio_gaps_choice scarce;
	struct kfd_prio_gaps_choice plenty;
	u64 at;
	u32 total;
	u64 span_ns;
	u32 count[KFD_PRIO_GAPS_CLASSES];
	u64 sum_ns[KFD_PRIO_GAPS_CLASSES];
};

/**
 * struct kfd_prio_price - what ending a level in a gap costs
 * @linger_ns: linger_us, as adapted to the cost of a save: no level ends earlier
 * @switch_ns: time of a save and a restore, ns; 0: not known
 * @per_s: number of switches that are permitted per second
 */
struct kfd_prio_price {
	u64 linger_ns;
	u64 switch_ns;
	u32 per_s;
};

void kfd_prio_gaps_begin(struct kfd_prio_gaps *g, const struct kfd_prio_price *c, int level,
			 u64 since);
void kfd_prio_gaps_end(struct kfd_prio_gaps *g, u64 now);
u64 kfd_prio_gaps_pays(const struct kfd_prio_gaps *g, const struct kfd_prio_price *c, bool plenty,
		       u64 now);

#endif /* KFD_PRIO_GAPS_H_INCLUDED */
