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

/*
 * So many MQDs are read in one go, and at most those of one queue more.  An MQD may lie in VRAM,
 * where a read takes a microsecond, and a process has up to KFD_PRIO_MAX_INDEX queues, each with an
 * MQD for each XCC.
 */
#define KFD_PRIO_REST_MQDS	32

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

/* Read the MQDs that were not read since their process was taken off, KFD_PRIO_REST_MQDS at most */
static enum kfd_prio_shown kfd_prio_rest_read(struct qcm_process_device *qpd)
{
	unsigned int mqds = 0;
	struct queue *q;

	list_for_each_entry(q, &qpd->queues_list, list) {
		bool compute = q->properties.type == KFD_QUEUE_TYPE_COMPUTE;

		if (!q->prio.off || q->prio.rest_seen == qpd->prio.taken_count)
			continue;
		if (mqds >= KFD_PRIO_REST_MQDS)
			return KFD_PRIO_SHOWN_PART;
		mqds += compute ? kfd_prio_xccs(qpd->dqm) : 1;
		if (compute ? kfd_prio_compute_pending(q) : kfd_prio_sdma_pending(q))
			return KFD_PRIO_SHOWN_WORK;
		q->prio.rest_seen = qpd->prio.taken_count;
	}
	return KFD_PRIO_SHOWN_NONE;
}

/**
 * kfd_prio_shows_work() - do the MQDs of a process that is off the GPU show work?
 * @qpd: the process on the GPU, held
 *
 * Only queues that preemption will put back count: others cannot run.  The MQD of a queue that is
 * off does not change, so each is read once, KFD_PRIO_REST_MQDS of them before the lock is dropped.
 * A kick goes before the rest.
 *
 * Context: our thread; DQM lock, dropped and taken again: the role of the process may be gone then,
 * and the process may be on the GPU, or off for another time
 * Return: for the process as it is now: KFD_PRIO_SHOWN_NONE also if it is not off
 */
enum kfd_prio_shown kfd_prio_shows_work(struct qcm_process_device *qpd)
{
	struct device_queue_manager *dqm = qpd->dqm;
	enum kfd_prio_shown shown;

	lockdep_assert_held(&dqm->lock_hidden);
	for (;;) {
		if (!qpd->prio.preempted)
			return KFD_PRIO_SHOWN_NONE;
		/* CP has not confirmed the unmap, and may still write the MQDs */
		if (dqm->prio.unmap_pending)
			return KFD_PRIO_SHOWN_PART;
		shown = kfd_prio_rest_read(qpd);
		if (shown != KFD_PRIO_SHOWN_PART)
			return shown;
		dqm_unlock(dqm);
		dqm_lock(dqm);
		if (atomic_read(&dqm->prio.kicked))
			return KFD_PRIO_SHOWN_PART;
	}
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
