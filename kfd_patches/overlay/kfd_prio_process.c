// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: what a change of a process on a GPU means to preemption there: a priority, a queue more
 * or less, the end.  The engine's next step acts on it.
 */
#include "kfd_prio_priv.h"

/* The priority of a process was set or taken away.  DQM lock */
static void kfd_prio_priority_changed(struct device_queue_manager *dqm,
				      struct qcm_process_device *qpd)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (list_empty(&qpd->queues_list))
		return;		/* kfd_prio_process_queue_created() will see it */
	kfd_prio_refresh(qpd);
	kfd_prio_role_update(dqm, qpd);
	if (dqm->prio.policy.level != KFD_PRIO_LEVEL_NONE)
		kfd_prio_gpu_kick(dqm);
}

static int kfd_prio_apply_on(struct kfd_process_device *pdd, u32 *nr_queues)
{
	struct device_queue_manager *dqm = pdd->qpd.dqm;
	int ret;

	if (!kfd_prio_gpu_hold(dqm))
		return 0;
	dqm_lock(dqm);
	kfd_prio_priority_changed(dqm, &pdd->qpd);
	ret = kfd_prio_dqm_apply(pdd, nr_queues);
	dqm_unlock(dqm);
	kfd_prio_gpu_drop(dqm);
	return ret;
}

/**
 * kfd_prio_process_apply() - bring the live queues of a thread group to its priority
 * @pid: the thread group
 * @nr_queues: out: number of its queues
 *
 * Every GPU is tried, also after an error.  A KFD process that the group has opened and whose mm it
 * has lost is left alone.
 *
 * Context: process, may sleep; takes DQM locks, one after the other
 * Return: 0, or the first error of a GPU (-EIO in reset, -ETIME no answer)
 */
int kfd_prio_process_apply(struct pid *pid, u32 *nr_queues)
{
	struct kfd_process *p = NULL;
	int i, r, ret = 0;

	*nr_queues = 0;
	while ((p = kfd_prio_processes_next(p))) {
		/* an orphan is no process of the group any more */
		if (p->prio.lead != pid || READ_ONCE(p->prio.gone) || kfd_prio_orphan_check(p))
			continue;
		for (i = 0; i < p->n_pdds; i++) {
			r = kfd_prio_apply_on(p->pdds[i], nr_queues);
			if (!ret)
				ret = r;
		}
	}
	return ret;
}

/**
 * kfd_prio_process_apply_orphan() - bring the queues of an orphan to what is set for it
 * @family: serial of the process
 * @nr_queues: out: number of its queues
 *
 * Context: process, may sleep; takes DQM locks, one after the other
 * Return: as kfd_prio_process_apply()
 */
int kfd_prio_process_apply_orphan(u64 family, u32 *nr_queues)
{
	struct kfd_process *p = NULL;
	int i, r, ret = 0;

	*nr_queues = 0;
	while ((p = kfd_prio_processes_next(p))) {
		if (READ_ONCE(p->prio.family) != family || !kfd_prio_orphan_check(p))
			continue;
		for (i = 0; i < p->n_pdds; i++) {
			r = kfd_prio_apply_on(p->pdds[i], nr_queues);
			if (!ret)
				ret = r;
		}
	}
	return ret;
}

/**
 * kfd_prio_process_orphans() - processes on a GPU have become orphans: act on it
 * @dqm: of the GPU
 *
 * An orphan has no claim, the lowest rank, and queues of the lowest priority, unless a priority was
 * set for it since.
 *
 * Context: the GPU's thread, or kfd_prio_process_orphans_now() if it has none; DQM lock
 */
void kfd_prio_process_orphans(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;
	u32 nr_queues = 0, unmap_seq = dqm->prio.unmap_seq;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!READ_ONCE(dqm->prio.orphans))
		return;
	WRITE_ONCE(dqm->prio.orphans, false);
	/* @orphans, then the flag and what is set: pairs with kfd_prio_orphan_kick() */
	smp_mb();
	list_for_each_entry(cur, &dqm->queues, list)
		if (kfd_prio_is_orphan(cur->qpd->pqm->process))
			kfd_prio_priority_changed(dqm, cur->qpd);
	list_for_each_entry(cur, &dqm->queues, list) {
		if (!kfd_prio_is_orphan(cur->qpd->pqm->process))
			continue;
		/* what fails has its priority in its properties, and the next runlist has it */
		kfd_prio_dqm_apply(qpd_to_pdd(cur->qpd), &nr_queues);
		if (dqm->prio.unmap_seq == unmap_seq)
			continue;
		/* an update was sent: a ring that waits for the lock goes before the rest */
		WRITE_ONCE(dqm->prio.orphans, true);
		kfd_prio_gpu_kick(dqm);
		return;
	}
}

/**
 * kfd_prio_process_orphans_now() - act on orphans that were noticed on GPUs without a thread
 *
 * No priority that may preempt was ever set then: LIST, SET and GET notice orphans.
 *
 * Context: process, may sleep; takes DQM locks, one after the other
 */
void kfd_prio_process_orphans_now(void)
{
	struct kfd_prio_dqm *d;

	if (!kfd_prio_orphan_unattended())
		return;
	kfd_prio_gpu_lock();
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d)) {
		/* one update at a time, as the thread does */
		while (!d->thread && READ_ONCE(d->orphans)) {
			dqm_lock(d->dqm);
			kfd_prio_process_orphans(d->dqm);
			dqm_unlock(d->dqm);
		}
	}
	kfd_prio_gpu_unlock();
}

/**
 * kfd_prio_process_queue_created() - a queue is about to join its process
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 * @q: the queue, not in any list yet; is_evicted tells if it may run
 *
 * A process that comes while others are preempted starts preempted.
 *
 * Context: DQM lock
 */
void kfd_prio_process_queue_created(struct device_queue_manager *dqm,
				    struct qcm_process_device *qpd, struct queue *q)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_qpd *qp = &qpd->prio;
	int rank;

	lockdep_assert_held(&dqm->lock_hidden);
	if (READ_ONCE(qp->stale) || list_empty(&qpd->queues_list))
		kfd_prio_refresh(qpd);
	rank = kfd_prio_policy_rank(kfd_prio_of_process(qpd->pqm->process), q->properties.priority);
	qp->prio = max(qp->prio, rank);
	kfd_prio_role_update(dqm, qpd);
	if (kfd_prio_works(qpd))
		d->lowest = min(d->lowest, qp->prio);
	kfd_prio_neighbour_changed(qpd);
	if ((d->policy.level != KFD_PRIO_LEVEL_NONE || d->throttle != KFD_PRIO_LEVEL_NONE) &&
	    kfd_prio_is_victim(qpd, d->policy.level) != qp->preempted) {
		/* its first queue: nothing of it is on the hardware */
		if (!qp->preempted && list_empty(&qpd->queues_list))
			kfd_prio_dqm_take_new(dqm, qpd);
		kfd_prio_gpu_kick(dqm);
	}
	if (qp->preempted && !qp->kfd_first)
		kfd_prio_hold(q);
}

/**
 * kfd_prio_process_queue_changed() - a queue was updated, or is gone
 * @q: the queue
 *
 * Context: any
 */
void kfd_prio_process_queue_changed(struct queue *q)
{
	struct device_queue_manager *dqm = q->device->dqm;
	struct kfd_process_device *pdd = kfd_get_process_device_data(q->device, q->process);

	if (!pdd)
		return;
	WRITE_ONCE(pdd->qpd.prio.stale, true);
	kfd_prio_neighbour_changed(&pdd->qpd);
	/* its rank may be another: the next decision looks */
	atomic_set(&dqm->prio.rang, 1);
}

/**
 * kfd_prio_hook_process_exit() - the mm of a process goes
 * @p: the process; its queues are destroyed later
 *
 * Where no priority that may preempt was ever set, and no notify descriptor is open, no lock is
 * taken.
 *
 * Context: process, no lock
 */
void kfd_prio_hook_process_exit(struct kfd_process *p)
{
	u32 i;

	WRITE_ONCE(p->prio.gone, true);
	kfd_prio_identity_going(p);
	if (static_branch_unlikely(&kfd_prio_notify_in_use))
		kfd_prio_notify_gone(p);
	for (i = 0; i < p->n_pdds; i++) {
		struct qcm_process_device *qpd = &p->pdds[i]->qpd;
		struct device_queue_manager *dqm = qpd->dqm;

		WRITE_ONCE(qpd->prio.exiting, true);
		/*
		 * exiting, then the thread: pairs with kfd_prio_thread_start().  Without a thread
		 * there is no claim, and none is made by a thread that starts now.
		 */
		smp_mb();
		if (!kfd_prio_gpu_hold(dqm))
			continue;
		if (READ_ONCE(dqm->prio.thread)) {
			dqm_lock(dqm);
			if (qpd->prio.mm)
				kfd_prio_role_drop(dqm, qpd);
			dqm_unlock(dqm);
		}
		kfd_prio_gpu_drop(dqm);
	}
}
