/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second policy, slow and obvious, that shares no code with kfd_prio_policy.c: it keeps
 * everything that ever happened and answers every question from that, without sums, slots
 * that slide or tokens that are left.
 */
#ifndef POLICY_REFERENCE_H
#define POLICY_REFERENCE_H

#include "fixture.h"

#define REF_MAX	4096
#define REF_SLOT(k)	((k)->period_ns / 100)

/**
 * struct reference - the history of a GPU
 * @start: when it began; the slots are counted from here
 * @level: in force since @since
 * @lowest: rank of the lowest process that is preempted since @since, KFD_PRIO_RANK_NONE: nobody is
 * @from, @to: when somebody was preempted before that, @was_level, @was_lowest: as above; @n of them
 * @gap_from, @gap_to: when a level ended or a block began or ended, and when the next of these was; the
 *	ranks that were put back, and whether it was a block; @gaps of them, the last one is in progress
 * @switch_ns: of the parameters; @block: the block in force
 * @begun: when a preemption began or its level rose, @takes of them
 */
struct reference {
	u64 start, since;
	int level, lowest;
	u64 from[REF_MAX], to[REF_MAX], begun[REF_MAX];
	int was_level[REF_MAX], was_lowest[REF_MAX];
	u32 n, takes;
	u64 gap_from[REF_MAX], gap_to[REF_MAX], switch_ns;
	u32 gap_ranks[REF_MAX], gaps;
	bool gap_block[REF_MAX];
	int block;
};

void ref_init(struct reference *r, u64 now);
void ref_commit(struct reference *r, int level, int lowest, bool counts, u64 now);
void ref_gap(struct reference *r, const struct kfd_prio_params *k, int level, int lowest, int block, u64 now);
u64 ref_kept(const struct reference *r, int rank, u64 from, u64 to);
u64 ref_preempted(const struct reference *r, int rank, u64 from, u64 to);
u64 ref_allowed(const struct kfd_prio_params *k, int levels, int below);
int ref_levels(const struct kfd_prio_params *k, const struct kfd_prio_claim *claims, int n,
	       int lowest, int under, u64 t);
bool ref_may_begin(const struct reference *r, const struct kfd_prio_params *k, u64 t);
bool ref_holds(const struct kfd_prio_params *k, const struct kfd_prio_claim *c, u64 t);
struct kfd_prio_decision ref_decide(const struct reference *r, const struct kfd_prio_params *k,
				    const struct kfd_prio_claim *claims, int n, int lowest, u64 t);

#endif
