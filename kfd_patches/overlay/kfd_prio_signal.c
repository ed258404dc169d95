// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the interrupt of an event, with which a packet signals that it has ended.
 *
 * A process that waits for its work with events of KFD causes an interrupt when the work ends. The
 * GPU's thread then observes its claims soon, so that it need not observe them often while they
 * work (kfd_prio_poll.c). A process may have no event, or wait for some of its work without one, so
 * an interrupt makes an observation earlier, and no observation depends on it.
 *
 * Cost: while no priority is set, one static key that is off, at each interrupt of an event.
 */
#include "kfd_prio_claim.h"

/*
 * Records that an event of a process on a GPU was signalled. The first one since the last
 * observation starts the timer for the next one. The others do not, because users can cause any
 * number of interrupts.
 */
static void kfd_prio_signal_claim(struct qcm_process_device *qpd)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	u64 now;

	if (READ_ONCE(qp->role) != KFD_PRIO_ROLE_CLAIM || !kfd_prio_trap_rung(qp))
		return;
	now = ktime_get_ns();
	WRITE_ONCE(qp->claim.signal_at, now);
	if (READ_ONCE(qp->claim.signalled_at) || !kfd_prio_gpu_hold(qpd->dqm))
		return;
	WRITE_ONCE(qp->claim.signalled_at, now);
	kfd_prio_gpu_wake_at(&qpd->dqm->prio, now + KFD_PRIO_SIGNAL_WAIT);
	kfd_prio_gpu_drop(qpd->dqm);
}

/**
 * kfd_prio_hook_signal() - the GPU has signalled an event of a process
 * @p: the process, referenced
 *
 * The interrupt names the process and not the GPU, so the event counts on each GPU on which the
 * process may have work.
 *
 * Context: worker of KFD; no lock
 */
void kfd_prio_hook_signal(struct kfd_process *p)
{
	u32 i;

	if (!static_branch_unlikely(&kfd_prio_in_use))
		return;
	for (i = 0; i < p->n_pdds; i++)
		kfd_prio_signal_claim(&p->pdds[i]->qpd);
}
