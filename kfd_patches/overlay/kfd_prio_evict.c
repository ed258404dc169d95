// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: eviction and restore by KFD (for memory management, a debugger or hibernation) of
 * processes that kfdprio has taken off.
 */
#include "kfd_prio_priv.h"

/*
 * KFD restores a process that stays taken off. If KFD evicted the process before kfdprio took it
 * off, KFD made the queues inactive and would make all of them active now. kfdprio takes the queues
 * over instead, and makes them active when it puts the process back.
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
 * kfd_prio_evicted() - KFD has evicted a process from a GPU
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU
 *
 * If kfdprio has taken the process off, KFD finds qpd->evicted above 0 and only increments it. This
 * function then does what KFD does at the first eviction: it starts KFD's statistics and unpins the
 * MQDs, because hibernation does not save pinned memory. On MES it flushes the TLB, because KFD may
 * free or move memory that the GPU could still reach through it. Nothing is done for a process that
 * is not taken off.
 *
 * Context: DQM lock
 */
void kfd_prio_evicted(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (!qpd->prio.preempted)
		return;
	/*
	 * Before a reset KFD evicts all processes. A process that has no work, and is off, cannot
	 * have caused the reset.
	 */
	if (kfd_prio_resetting(dqm) &&
	    (kfd_prio_is_preempted(&qpd->prio) || qpd->prio.share.throttle))
		kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_RESET);
	if (qpd->evicted == 2) {
		qpd_to_pdd(qpd)->last_evict_timestamp = get_jiffies_64();
		kfd_prio_dqm_unpin(dqm, qpd);
		if (kfd_prio_uses_mes(dqm))
			kfd_prio_flush_tlb(qpd_to_pdd(qpd));
	}
	/* The policy counts no floor for an evicted process: decide again */
	kfd_prio_gpu_kick(dqm);
}

/**
 * kfd_prio_restored() - KFD has restored a process on a GPU
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU
 *
 * If kfdprio has taken the process off, KFD has only given its count of qpd->evicted back. With
 * KFD's last count the function ends KFD's statistics and pins the MQDs; kfdprio keeps the queues
 * inactive until it puts the process back. The thread observes a neighbour again, and is
 * kicked for a process with any role.
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
	/* The process may have rung while it was evicted, when its queues were not observed */
	if (qpd->prio.mm) {
		kfd_prio_neighbour_changed(qpd);
		kfd_prio_gpu_kick(dqm);
	}
}
