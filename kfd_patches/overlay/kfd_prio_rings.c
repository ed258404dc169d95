// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: rings of neighbours (kfd_prio_neighbour.c), and changes of their queues.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_share.h"

/**
 * kfd_prio_neighbour_rise() - record that a neighbour may have work
 * @d: the GPU
 * @qp: the neighbour
 *
 * Moves a neighbour whose trap was armed from the list quiet_neighbours to neighbours, and has the
 * next decision mark again (kfd_prio_woke()). A neighbour that is in neighbours already goes to its
 * end. Does not kick the thread.
 *
 * Context: DQM lock
 */
void kfd_prio_neighbour_rise(struct kfd_prio_dqm *d, struct kfd_prio_qpd *qp)
{
	list_move_tail(&qp->link, &d->neighbours);
	if (!qp->neighbour.quiet)
		return;
	qp->neighbour.quiet = false;
	kfd_prio_woke(container_of(qp, struct qcm_process_device, prio));
}

/**
 * kfd_prio_neighbour_rings() - find the neighbours that have rung, or whose queues have changed
 * @dqm: device queue manager of the GPU
 *
 * Neighbours that have rung move from quiet_neighbours to neighbours, and count as having work from
 * now on. Those whose queues have changed move to the front of quiet_neighbours, so that they are
 * observed next. Reads no memory of a process, and does nothing unless neighbour_rung is set.
 * While a level or a throttle is in force, the decision that follows marks again.
 *
 * Context: DQM lock
 */
void kfd_prio_neighbour_rings(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_qpd *qp, *tmp;
	LIST_HEAD(first);

	lockdep_assert_held(&dqm->lock_hidden);
	if (!atomic_read(&d->neighbour_rung))
		return;
	/* neighbour_rung, then the traps: pairs with kfd_prio_neighbour_matters() */
	atomic_xchg(&d->neighbour_rung, 0);
	/* A new, updated or destroyed queue may change the rank of its process */
	d->recheck |= d->policy.level != KFD_PRIO_LEVEL_NONE ||
		      d->throttle != KFD_PRIO_LEVEL_NONE || !list_empty(&d->accounts);
	list_for_each_entry_safe(qp, tmp, &d->quiet_neighbours, link) {
		if (kfd_prio_trap_rung(qp))
			kfd_prio_neighbour_rise(d, qp);
		else if (READ_ONCE(qp->observe))
			list_move_tail(&qp->link, &first);
	}
	list_splice(&first, &d->quiet_neighbours);
}

/**
 * kfd_prio_neighbour_changed() - have a neighbour observed again, because its queues have changed
 * @qpd: the process on the GPU; without the role of a neighbour nothing is done
 *
 * A queue was created, updated, destroyed or restored, and may have packets already. The thread
 * observes it at the next safety poll. The thread is not woken, because a user can update a queue
 * many thousand times in a second. A ring wakes the thread at once.
 *
 * Context: any
 */
void kfd_prio_neighbour_changed(struct qcm_process_device *qpd)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;

	if (READ_ONCE(qpd->prio.role) != KFD_PRIO_ROLE_NEIGHBOUR)
		return;
	WRITE_ONCE(qpd->prio.observe, true);
	atomic_set(&d->neighbour_rung, 1);
}

/**
 * kfd_prio_neighbour_matters() - whether the engine must act on the ring of a neighbour
 * @qpd: the neighbour on a GPU; its trap is KFD_PRIO_TRAP_RUNG now
 *
 * The function also sets neighbour_rung, so that the next decision finds the ring.
 *
 * Context: fault of a doorbell
 * Return: true if the neighbour is off or parked, a level is in force that would take it off, it is
 *	in a group, or groups take turns: the caller kicks the thread
 */
bool kfd_prio_neighbour_matters(struct qcm_process_device *qpd)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;

	atomic_set(&d->neighbour_rung, 1);
	/*
	 * The trap and neighbour_rung, then the level in force: pairs with
	 * kfd_prio_engine_published()
	 */
	smp_mb();
	return READ_ONCE(qpd->prio.preempted) || kfd_prio_shares(qpd) ||
	       kfd_prio_policy_victim(READ_ONCE(d->policy.level), READ_ONCE(qpd->prio.prio));
}
