// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: processes that are preempted while KFD evicts and restores them, for memory management,
 * a debugger or hibernation.
 */
#include "kfd_prio_priv.h"

/*
 * KFD lets go of a process that stays preempted.  If KFD was first, it has taken the queues off,
 * and would put them back now, all of them: that is left to us.
 */
static void kfd_prio_inherit(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct queue *q;

	if (!qpd->prio.kfd_first)
		return;
	qpd->prio.kfd_first = false;
	list_for_each_entry(q, &qpd->queues_list, list)
		kfd_prio_hold(q);
}

/**
 * kfd_prio_evicted() - KFD has taken the queues of a process off a GPU
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 *
 * If the process is preempted KFD finds the queues off already and does nothing more.  What it does
 * for its first reason is done here: the start of its own statistics, MQDs that hibernation would
 * lose and, on MES, the flush without which memory could be freed under a late access.
 *
 * Context: DQM lock
 */
void kfd_prio_evicted(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (!qpd->prio.preempted)
		return;
	/* before a reset KFD evicts all processes; one without work has not caused it */
	if (kfd_prio_resetting(dqm) && kfd_prio_is_preempted(&qpd->prio))
		kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_RESET);
	if (qpd->evicted == 2) {
		qpd_to_pdd(qpd)->last_evict_timestamp = get_jiffies_64();
		kfd_prio_dqm_unpin(dqm, qpd);
		if (kfd_prio_uses_mes(dqm))
			kfd_prio_flush_tlb(qpd_to_pdd(qpd));
	}
	/* an evicted process is owed no share: decide again */
	kfd_prio_gpu_kick(dqm);
}

/**
 * kfd_prio_restored() - KFD has put the queues of a process back, or would have
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 *
 * Context: DQM lock
 */
void kfd_prio_restored(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct kfd_process_device *pdd = qpd_to_pdd(qpd);

	lockdep_assert_held(&dqm->lock_hidden);
	if (qpd->prio.preempted && qpd->evicted == 1) {
		kfd_prio_inherit(dqm, qpd);
		atomic64_add(get_jiffies_64() - pdd->last_evict_timestamp,
			     &pdd->evict_duration_counter);
		kfd_prio_dqm_repin(dqm, qpd);
	}
	/* the process may have rung before; its queues were not looked at since then */
	if (qpd->prio.mm) {
		kfd_prio_neighbour_changed(qpd);
		kfd_prio_gpu_kick(dqm);
	}
}
