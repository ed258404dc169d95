// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the proof that a process has no work on a GPU.
 *
 * Indices, packets and signals are in memory that the process writes, and that it may map to other
 * pages than the GPU sees.  Equal indices prove nothing, nor does a count of no waves: between two
 * kernels there are none.  MQDs are the driver's own memory.  When a queue is unmapped, the
 * firmware leaves there what the queue still has to do.  So a process is proved to have no work
 * when
 *	- it is off the GPU, and the hardware has confirmed that;
 *	- the MQDs of its queues show no saved waves, no indirect buffer that is being processed
 *	  and, of SDMA queues, no packet that was not executed;
 *	- its indices can be read, and are equal: other devices may have rung since;
 *	- its doorbells are trapped, so that its next ring is noticed.
 *
 * A map voids the proof: the firmware reads write pointers from user memory, and a mapped doorbell
 * can be rung by a GPU without a fault.  A process that forges its way to a false proof stays off
 * until it rings, and only loses.
 *
 * What firmware leaves was seen on gfx9.4.3 for compute queues: after an indirect buffer ended,
 * cp_hqd_ib_control holds no size, and is not processing.  For SDMA queues no measurement is known.
 * A field that some firmware does not clear makes a process count as having work.
 */
#include "kfd_prio_priv.h"

/* Of CP_HQD_IB_CONTROL: IB_SIZE and PROCESSING_IB */
#define CP_IB_BUSY	(0x000fffff | BIT(31))

/* Is a compute queue that was unmapped in the middle of something? */
static bool kfd_prio_compute_pending(struct queue *q)
{
	const struct v9_mqd *m;
	unsigned int i;

	if (kfd_prio_compat_saved(q))
		return true;
	for (i = 0; i < kfd_prio_xccs(q->device->dqm); i++) {
		m = kfd_prio_mqd(q, i);
		if (!m || READ_ONCE(m->cp_hqd_ib_control) & CP_IB_BUSY)
			return true;
	}
	return false;
}

/* Is an SDMA queue that was unmapped in the middle of something, or before a packet? */
static bool kfd_prio_sdma_pending(struct queue *q)
{
	struct kfd_prio_sdma_left left;

	if (!q->mqd)
		return true;
	left = kfd_prio_sdma_left(q);
	return left.rptr != left.wptr || left.ib;
}

/**
 * kfd_prio_shows_work() - do the MQDs of a process that is off the GPU show work?
 * @qpd: the process on the GPU; the hardware has confirmed that its queues are off
 *
 * Only queues that preemption will put back count: others cannot run.
 *
 * Context: DQM lock
 */
bool kfd_prio_shows_work(struct qcm_process_device *qpd)
{
	struct queue *q;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	list_for_each_entry(q, &qpd->queues_list, list)
		if (q->prio.off && (q->properties.type == KFD_QUEUE_TYPE_COMPUTE ?
				    kfd_prio_compute_pending(q) : kfd_prio_sdma_pending(q)))
			return true;
	return false;
}

/**
 * kfd_prio_prove() - was a process seen to have no work, and is that a proof?
 * @qpd: the process on a GPU; its MQDs show no work, its indices were read and are equal
 * @taken_count: &struct kfd_prio_qpd.taken_count when the MQDs were looked at
 *
 * The DQM lock was dropped since then: the process may have been mapped meanwhile.
 *
 * Context: DQM lock
 */
void kfd_prio_prove(struct qcm_process_device *qpd, u64 taken_count)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	if (qp->proved || !qp->preempted || qp->taken_count != taken_count ||
	    atomic_read(&qp->trap) != KFD_PRIO_TRAP_ARMED)
		return;
	qp->proved = true;
	/* it stays off from now on, and counts as preempted no more */
	qpd->dqm->prio.recheck = true;
}
