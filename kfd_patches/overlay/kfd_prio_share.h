/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* kfdprio: shares of GPU time on one GPU, kfd_prio_share.c. */
#ifndef KFD_PRIO_SHARE_H_INCLUDED
#define KFD_PRIO_SHARE_H_INCLUDED

#include "kfd_prio_priv.h"

struct kfd_prio_group;
struct kfd_prio_node;

/* kfd_prio_join.c */
void kfd_prio_join(struct kfd_process *p, enum kfd_prio_group_kind kind, struct kfd_prio_group *g);
void kfd_prio_join_thread_group(struct pid *pid, struct kfd_prio_group *g);
void kfd_prio_join_cgroups(void);
void kfd_prio_join_own(struct kfd_process *p);

/* kfd_prio_charge.c */
void kfd_prio_share_attach(struct qcm_process_device *qpd);
void kfd_prio_share_detach(struct qcm_process_device *qpd);
void kfd_prio_share_gone(struct device_queue_manager *dqm);
void kfd_prio_share_settle(struct device_queue_manager *dqm);
bool kfd_prio_share_unrung(const struct qcm_process_device *qpd);
void kfd_prio_share_observed(struct qcm_process_device *qpd, bool armed, bool waves, bool works);
void kfd_prio_share_throttled(struct qcm_process_device *qpd, enum kfd_prio_throttle why, u64 now);

/* kfd_prio_share.c */
enum kfd_prio_throttle kfd_prio_share_keeps_off(const struct qcm_process_device *qpd, int level,
						int throttle);
u64 kfd_prio_share_decide(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			  u64 now);
u64 kfd_prio_share_turn(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			int level, int throttle, u64 now);
bool kfd_prio_share_part(struct device_queue_manager *dqm, struct kfd_prio_node *n, int level,
			 int throttle, u64 now);

/**
 * kfd_prio_share_throttle() - as kfd_prio_share_keeps_off(), at no cost while no group exists
 * @qpd: the process on the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 * @throttle: throttle of the decision
 *
 * Context: DQM lock
 */
static inline enum kfd_prio_throttle
kfd_prio_share_throttle(const struct qcm_process_device *qpd, int level, int throttle)
{
	return static_branch_unlikely(&kfd_prio_shares_in_use.key) ?
	       kfd_prio_share_keeps_off(qpd, level, throttle) : KFD_PRIO_THROTTLE_NONE;
}

/**
 * kfd_prio_shares() - whether GPU time of a process is limited or divided on a GPU
 * @qpd: the process on the GPU
 *
 * Context: any
 */
static inline bool kfd_prio_shares(const struct qcm_process_device *qpd)
{
	return static_branch_unlikely(&kfd_prio_shares_in_use.key) &&
	       (READ_ONCE(qpd->dqm->prio.takes_turns) ||
		READ_ONCE(qpd->prio.account[KFD_PRIO_GROUP_OWN]) ||
		READ_ONCE(qpd->prio.account[KFD_PRIO_GROUP_CGROUP]));
}

#endif /* KFD_PRIO_SHARE_H_INCLUDED */
