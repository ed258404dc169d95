/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: the levels of the claims on one GPU, and which of them floors permit. Pure functions, a
 * part of the policy (kfd_prio_policy.h).
 */
#ifndef KFD_PRIO_LEVELS_H_INCLUDED
#define KFD_PRIO_LEVELS_H_INCLUDED

#include "kfd_prio_policy.h"

/**
 * struct kfd_prio_levels - the levels for which claims hold, and the level below the lowest of them
 * @claim: for each priority, index of the first claim that holds; -1 if none does
 * @count: number of levels that have a floor, which is all but the highest
 * @first: the lowest priority of these claims; KFD_PRIO_RANK_NONE if there is none
 * @last: the highest one; KFD_PRIO_LEVEL_NONE if there is none
 */
struct kfd_prio_levels {
	int claim[KFD_PRIO_RANKS];
	u32 count;
	int first;
	int last;
};

void kfd_prio_levels_add(struct kfd_prio_levels *l, const struct kfd_prio_claim *claims, int i);
int kfd_prio_levels_find(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			 const struct kfd_prio_claim *claims, int n, u64 now,
			 struct kfd_prio_levels *l, struct kfd_prio_decision *d);
bool kfd_prio_levels_joins(const struct kfd_prio_params *k, const struct kfd_prio_levels *l);
u64 kfd_prio_levels_begin(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			  const struct kfd_prio_levels *l);
u64 kfd_prio_levels_decide(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			   const struct kfd_prio_levels *l, int lowest, u64 now,
			   struct kfd_prio_decision *d);
u64 kfd_prio_levels_until(const struct kfd_prio_policy *p, const struct kfd_prio_params *k,
			  const struct kfd_prio_levels *l, int lowest, int level, u64 enough);

#endif /* KFD_PRIO_LEVELS_H_INCLUDED */
