// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the proof that a process has no work on a GPU.
 *
 * Indices, packets and signals are in memory that the process writes, and it may map them to other
 * pages than the GPU uses. Equal indices therefore prove nothing. A count of zero waves proves
 * nothing either, because there are none between two kernels. MQDs are memory of the driver: when a
 * queue is unmapped, the firmware stores in its MQD the work that is left. A process is proved to
 * have no work when
 * - it is taken off the GPU, and the hardware has confirmed the unmap;
 * - the MQDs of its queues show no saved waves, no indirect buffer in progress and, for SDMA
 *   queues, no packet that was not executed;
 * - its indices can be read and are equal, because other devices may have rung since;
 * - its doorbells are trapped, so that its next ring is reported.
 *
 * Mapping the process voids the proof: the firmware then reads the write pointers from user memory,
 * and a GPU can ring a mapped doorbell without a fault. A process that forges a proof stays off
 * until it rings, to its own disadvantage.
 *
 * For compute queues the content of MQDs was verified on gfx9.4.3: after an indirect buffer has
 * ended, cp_hqd_ib_control holds no size, and the processing bit is clear. No measurement is known
 * for SDMA queues. If firmware does not clear a field, the process counts as having work.
 */
#include "kfd_prio_priv.h"

/* Members of CP_HQD_IB_CONTROL: IB_SIZE and PROCESSING_IB */
#define CP_IB_BUSY	(0x000fffff | BIT(31))

/*
 * Number of MQDs that are read before the DQM lock is dropped; the MQDs of the last queue may
 * exceed it. An MQD may lie in VRAM, where a read takes a microsecond. A process has up to
 * KFD_PRIO_MAX_INDEX queues, each with an MQD for each XCC.
 */
#define KFD_PRIO_PROOF_MQDS	32

/* Whether the MQDs of a compute queue, which is unmapped, show work */
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

/* Whether the MQD of an SDMA queue, which is unmapped, shows work */
static bool kfd_prio_sdma_pending(struct queue *q)
{
	struct kfd_prio_sdma_left left;

	if (!q->mqd)
		return true;
	left = kfd_prio_sdma_left(q);
	return left.rptr != left.wptr || left.ib;
}

/* Reads the MQDs that were not read since the process was taken off, KFD_PRIO_PROOF_MQDS at most */
static enum kfd_prio_shown kfd_prio_proof_read(struct qcm_process_device *qpd)
{
	unsigned int mqds = 0;
	struct queue *q;

	list_for_each_entry(q, &qpd->queues_list, list) {
		bool compute = q->properties.type == KFD_QUEUE_TYPE_COMPUTE;

		if (!q->prio.off || q->prio.proof_seen == qpd->prio.marked_count)
			continue;
		if (mqds >= KFD_PRIO_PROOF_MQDS)
			return KFD_PRIO_SHOWN_PART;
		mqds += compute ? kfd_prio_xccs(qpd->dqm) : 1;
		if (compute ? kfd_prio_compute_pending(q) : kfd_prio_sdma_pending(q))
			return KFD_PRIO_SHOWN_WORK;
		q->prio.proof_seen = qpd->prio.marked_count;
	}
	return KFD_PRIO_SHOWN_NONE;
}

/**
 * kfd_prio_shows_work() - whether the MQDs of a process that is taken off a GPU show work
 * @qpd: the process on the GPU, held
 *
 * Only queues that kfdprio makes active again later are read; other queues cannot run. The MQD of
 * an unmapped queue does not change, so each MQD is read once each time the process is taken off.
 * After KFD_PRIO_PROOF_MQDS of them the function drops the DQM lock, and ends early if the GPU was
 * kicked.
 *
 * Context: the GPU's thread; DQM lock, dropped and taken again. By then the process may have lost
 *	its role, and may be back on the GPU, or taken off once more
 * Return: the result for the present state of the process; KFD_PRIO_SHOWN_NONE if the process is
 *	not taken off
 */
enum kfd_prio_shown kfd_prio_shows_work(struct qcm_process_device *qpd)
{
	struct device_queue_manager *dqm = qpd->dqm;
	enum kfd_prio_shown shown;

	lockdep_assert_held(&dqm->lock_hidden);
	for (;;) {
		if (!qpd->prio.preempted)
			return KFD_PRIO_SHOWN_NONE;
		/* The CP has not confirmed the unmap and may still write the MQDs */
		if (dqm->prio.state == KFD_PRIO_STATE_LEFT)
			return KFD_PRIO_SHOWN_PART;
		shown = kfd_prio_proof_read(qpd);
		if (shown != KFD_PRIO_SHOWN_PART)
			return shown;
		dqm_unlock(dqm);
		dqm_lock(dqm);
		if (atomic_read(&dqm->prio.kicked))
			return KFD_PRIO_SHOWN_PART;
	}
}

/**
 * kfd_prio_prove() - record that a process is proved to have no work, if nothing has changed since
 * @qpd: the process on a GPU; its MQDs showed no work, and its indices were read and are equal
 * @marked_count: value of &struct kfd_prio_qpd.marked_count when the MQDs were read
 *
 * The caller may have dropped the DQM lock after it read the MQDs. So the function does nothing if
 * the process was put back or was taken off once more since. It does nothing either unless the
 * doorbell trap is armed now: an unarmed trap means that the process may have rung. After a proof
 * the next decision marks again: the process stays taken off, and no longer counts as preempted.
 *
 * Context: DQM lock
 */
void kfd_prio_prove(struct qcm_process_device *qpd, u64 marked_count)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	if (qp->proved || !qp->preempted || qp->marked_count != marked_count ||
	    !kfd_prio_trap_armed(qp))
		return;
	qp->proved = true;
	/* The next marking: the process stays off, and no longer counts as preempted */
	qpd->dqm->prio.recheck = true;
}
