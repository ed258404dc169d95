// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: changes of a process on a GPU that concern preemption: its priority, its queues, its
 * end. The functions record the change, and the next step of the engine takes it into account.
 */
#include "kfd_prio_engine.h"
#include "kfd_prio_share.h"

/*
 * Updates rank and role of a process that has queues, after its settings have changed. While a
 * level is in force, the thread of the GPU decides again. DQM lock
 */
static void kfd_prio_priority_changed(struct device_queue_manager *dqm,
				      struct qcm_process_device *qpd)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (list_empty(&qpd->queues_list))
		return;		/* kfd_prio_process_queue_created() does this for the first queue */
	kfd_prio_refresh(qpd);
	kfd_prio_role_update(dqm, qpd);
	if (dqm->prio.policy.level != KFD_PRIO_LEVEL_NONE)
		kfd_prio_gpu_kick(dqm);
}

/*
 * Puts the settings of a process in force on one GPU, unless the GPU was removed: its rank and
 * role, and the priority of its queues. Takes the DQM lock.
 */
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
 * kfd_prio_process_apply() - give the queues of a thread group the priority in force, on all GPUs
 * @pid: the thread group
 * @nr_queues: out: number of its queues
 *
 * Also updates rank and role of the process on each GPU. After an error the other GPUs are tried as
 * well. A KFD process that the group has opened, and that is an orphan now, is not changed.
 *
 * Context: process, may sleep; takes DQM locks, one after the other, and waits for unmaps
 * Return: 0, or the error of the first GPU that failed, see kfd_prio_dqm_apply(): its queues take
 *	the priority after the reset
 */
int kfd_prio_process_apply(struct pid *pid, u32 *nr_queues)
{
	struct kfd_process *p = NULL;
	int i, r, ret = 0;

	*nr_queues = 0;
	while ((p = kfd_prio_processes_next(p))) {
		/* An orphan does not belong to the group any more */
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
 * kfd_prio_process_apply_orphan() - give the queues of an orphan the priority in force, on all GPUs
 * @family: serial of the orphan
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
 * kfd_prio_process_orphans() - act on orphans on a GPU that are new or whose settings have changed
 * @dqm: device queue manager of the GPU
 *
 * Does nothing unless kfd_prio_orphan_kick() was called for a process on the GPU since. Updates
 * the ranks and roles of all orphans on the GPU, and the priorities of their queues. An orphan has
 * no claim and the lowest rank, and its queues the lowest priority, unless a priority was set for
 * the orphan itself. One call sends one update at most. If more are needed, the function sets
 * kfd_prio_dqm.orphans again and kicks the thread; without a thread the caller calls it again.
 *
 * Context: DQM lock; the GPU's thread, or kfd_prio_process_orphans_now() if the GPU has none; waits
 *	for the unmap of an update
 */
void kfd_prio_process_orphans(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;
	u32 nr_queues = 0, unmap_seq = dqm->prio.unmap_seq;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!READ_ONCE(dqm->prio.orphans))
		return;
	WRITE_ONCE(dqm->prio.orphans, false);
	/*
	 * kfd_prio_dqm.orphans, then kfd_prio_process.orphan and .own: pairs with
	 * kfd_prio_orphan_kick()
	 */
	smp_mb();
	list_for_each_entry(cur, &dqm->queues, list)
		if (kfd_prio_is_orphan(cur->qpd->pqm->process))
			kfd_prio_priority_changed(dqm, cur->qpd);
	list_for_each_entry(cur, &dqm->queues, list) {
		if (!kfd_prio_is_orphan(cur->qpd->pqm->process))
			continue;
		/*
		 * If this fails, the properties of the queues have the priority, and the next
		 * runlist applies it
		 */
		kfd_prio_dqm_apply(qpd_to_pdd(cur->qpd), &nr_queues);
		if (dqm->prio.unmap_seq == unmap_seq)
			continue;
		/*
		 * An update was sent. The lock is dropped now, because a ring may wait for it; the
		 * next call does the rest.
		 */
		WRITE_ONCE(dqm->prio.orphans, true);
		kfd_prio_gpu_kick(dqm);
		return;
	}
}

/**
 * kfd_prio_process_orphans_now() - act on orphans that were found on GPUs without a thread
 *
 * A GPU has no thread until a priority that may preempt is set. KFD_PRIO_IOC_LIST, _SET and _GET
 * call this function, because they find orphans without a thread.
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
		/* One update for each time the lock is taken, as in the thread */
		while (!d->thread && READ_ONCE(d->orphans)) {
			dqm_lock(d->dqm);
			kfd_prio_process_orphans(d->dqm);
			dqm_unlock(d->dqm);
		}
	}
	kfd_prio_gpu_unlock();
}

/**
 * kfd_prio_process_queue_created() - a queue is about to be added to its process
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU
 * @q: the queue, which is in no list yet; its is_evicted is set here if it must not run
 *
 * Computes rank and role of the process, and charges it to its groups. A process whose first queue
 * is created below a level in force, or while its group may not run, is off from the start.
 * Otherwise the thread is kicked if the process must be taken off.
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
	if (static_branch_unlikely(&kfd_prio_shares_in_use.key))
		kfd_prio_share_attach(qpd);
	if (kfd_prio_works(qpd))
		d->lowest = min(d->lowest, qp->prio);
	kfd_prio_neighbour_changed(qpd);
	if ((d->policy.level != KFD_PRIO_LEVEL_NONE || d->throttle != KFD_PRIO_LEVEL_NONE ||
	     !list_empty(&d->accounts)) &&
	    kfd_prio_is_victim(qpd, d->policy.level) != qp->preempted) {
		/* The first queue of the process: nothing of it is on the hardware */
		if (!qp->preempted && list_empty(&qpd->queues_list)) {
			kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_BORN);
			kfd_prio_dqm_mark_new(dqm, qpd);
		}
		kfd_prio_gpu_kick(dqm);
	}
	if (qp->preempted && !qp->kfd_first)
		kfd_prio_hold(q);
}

/**
 * kfd_prio_process_queue_changed() - a queue was updated or destroyed
 * @q: the queue
 *
 * Its process is observed again, if it is a neighbour, and the next decision computes its rank. The
 * thread is not woken.
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
	/* The rank of the process may have changed: the next decision computes it */
	atomic_set(&dqm->prio.neighbour_rung, 1);
}

/**
 * kfd_prio_hook_unregister_process() - end role, parking and preemption of a process on a GPU
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU, which is not in dqm->queues any more
 *
 * The process has left the GPU: it ends, its last queue was destroyed, or its first queue could not
 * be created. Queues that kfdprio keeps inactive stay so. The hook records whether the process was
 * taken off and had no active queue, for kfd_prio_hook_terminate_preempted(). If the process was
 * taken off or had a role, the thread is kicked.
 *
 * Context: DQM lock
 */
void kfd_prio_hook_unregister_process(struct device_queue_manager *dqm,
				      struct qcm_process_device *qpd)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	struct queue *q;

	qp->left_preempted = qp->preempted;
	list_for_each_entry(q, &qpd->queues_list, list)
		qp->left_preempted &= !q->properties.is_active;
	if (qp->mm)
		kfd_prio_role_drop(dqm, qpd);
	kfd_prio_park_gone(qpd);
	kfd_prio_share_detach(qpd);
	if (!qp->preempted)
		return;
	kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_GONE);
	kfd_prio_dqm_gone(dqm, qpd);
	kfd_prio_gpu_kick(dqm);
}

/**
 * kfd_prio_hook_process_exit() - the mm of a process has lost its last user: end its roles
 * @p: the process, whose queues are destroyed later
 *
 * Also reports the end to notify descriptors. Takes the DQM lock of a GPU only if the GPU has a
 * thread.
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
		 * exiting, then the thread: pairs with kfd_prio_thread_start(). Without a thread
		 * there is no claim, and a thread that starts now creates none for this process.
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
