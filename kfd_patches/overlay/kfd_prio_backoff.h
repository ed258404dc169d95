/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: for how long preemption stays off on a GPU after a failure. Pure functions, as those of
 * kfd_prio_policy.h.
 *
 * The time doubles with each failure, from KFD_PRIO_BACKOFF_MIN_NS to KFD_PRIO_BACKOFF_MAX_NS. It
 * is halved each time that preemption has been on for that long without a failure.
 */
#ifndef KFD_PRIO_BACKOFF_H_INCLUDED
#define KFD_PRIO_BACKOFF_H_INCLUDED

#include <linux/types.h>
#ifndef __KERNEL__
typedef __u64 u64;
#endif

#define KFD_PRIO_BACKOFF_MIN_NS		(60ULL * 1000000000ULL)
#define KFD_PRIO_BACKOFF_MAX_NS		(64 * KFD_PRIO_BACKOFF_MIN_NS)

/**
 * struct kfd_prio_backoff - the failures of one GPU
 * @ns: for how long the next failure switches preemption off, as of @since, ns; 0: no failure was
 *	recorded
 * @since: start of the present time without a failure and with preemption on, ns; it lies in the
 *	future while preemption is off
 */
struct kfd_prio_backoff {
	u64 ns;
	u64 since;
};

u64 kfd_prio_backoff_next(const struct kfd_prio_backoff *b, u64 now);
u64 kfd_prio_backoff_fail(struct kfd_prio_backoff *b, u64 now);
void kfd_prio_backoff_on(struct kfd_prio_backoff *b, u64 now);

#endif
