// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the interrupt of an event, with which a packet signals its end.
 *
 * A process that waits for its work with events of KFD causes an interrupt when the work ends. The
 * GPU's thread then observes its claims soon, so that it need not observe them often while they
 * work (kfd_prio_poll.c). A process may have no event, or wait for some of its work without one:
 * then its end is noticed late once, by the longer interval. The events of a process whose end was
 * not signalled start no timer.
 *
 * Cost: while no priority is set, one static key that is off, at each interrupt of an event. If the
 * only priorities are those of orphans the key may be off as well, and no event is recorded.
 */
#include "kfd_prio_claim.h"

/*
 * Records that an event of a process on a GPU was signalled at @now.
 * Return: true if the thread must be woken: it is the first event since the last observation. The
 *	others do not wake it, because users can cause any number of interrupts
 */
static bool kfd_prio_signal_record(struct kfd_prio_qpd *qp, u64 now)
{
	if (READ_ONCE(qp->role) != KFD_PRIO_ROLE_CLAIM || !kfd_prio_trap_rung(qp))
		return false;
	WRITE_ONCE(qp->claim.signal_at, now);
	if (READ_ONCE(qp->claim.signalled_at))
		return false;
	WRITE_ONCE(qp->claim.signalled_at, now);
	return READ_ONCE(qp->claim.signals);
}

/**
 * kfd_prio_hook_signal() - the GPU has signalled an event of a process
 * @p: the process, referenced
 *
 * The interrupt names the process and not the GPU, so the event counts on each GPU on which the
 * process may have work. The thread that the event has woken gets the CPU first, if it waits for
 * this one.
 *
 * Context: worker of KFD, may sleep; no lock
 */
void kfd_prio_hook_signal(struct kfd_process *p)
{
	u64 now;
	u32 i;

	if (!static_branch_unlikely(&kfd_prio_in_use))
		return;
	cond_resched();
	now = ktime_get_ns();
	for (i = 0; i < p->n_pdds; i++) {
		struct qcm_process_device *qpd = &p->pdds[i]->qpd;

		if (!kfd_prio_signal_record(&qpd->prio, now) || !kfd_prio_gpu_hold(qpd->dqm))
			continue;
		kfd_prio_gpu_wake_at(&qpd->dqm->prio, now + KFD_PRIO_SIGNAL_WAIT);
		kfd_prio_gpu_drop(qpd->dqm);
	}
}
