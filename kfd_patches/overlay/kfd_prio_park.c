// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: parking: a process that has queues on a GPU and no work leaves it until it rings.
 *
 * A parked process is off as a preempted one is, by the same count of qpd->evicted, and its
 * doorbells are trapped.  kfd_prio_policy_parks() decides.  This file makes the facts about a
 * process on which that depends, and keeps and traces what is known of one that is parked.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/*
 * Will a ring of a process be noticed, and is nothing known that it has to do?  One that is still
 * may have waves: parked, its MQDs show that.  What has changed since the last look is not known.
 */
static bool kfd_prio_is_quiet(struct qcm_process_device *qpd)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	if (atomic_read(&qp->trap) != KFD_PRIO_TRAP_ARMED ||
	    !kfd_prio_doorbell_traps(qpd) || !kfd_prio_may_be_victim(qpd))
		return false;
	if (qp->work && !qp->still && !qp->parked)
		return false;
	return qp->parked || qp->role != KFD_PRIO_ROLE_NEIGHBOUR || !READ_ONCE(qp->look);
}

/**
 * kfd_prio_parks() - is a process to be parked, or to stay so?
 * @qpd: the process on a GPU
 * @g: what decides it there
 *
 * Context: DQM lock
 */
bool kfd_prio_parks(struct qcm_process_device *qpd, const struct kfd_prio_parking *g)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;
	const struct kfd_prio_lull l = {
		.quiet = kfd_prio_is_quiet(qpd),
		.quiet_at = qp->quiet_at,
		.hold_until = qp->park_wakes.hold_until,
		.parked = qp->parked,
		.off = kfd_prio_is_off(qp),
		.evicted = qpd->evicted > qp->preempted,
		.exempt = qp->exempt,
		.ends = READ_ONCE(qp->exiting),
	};

	return kfd_prio_policy_parks(g, &l);
}

static bool kfd_prio_is_mapped(struct qcm_process_device *qpd)
{
	struct queue *q;

	list_for_each_entry(q, &qpd->queues_list, list)
		if (q->properties.is_active)
			return true;
	return false;
}

/**
 * kfd_prio_park_idle() - would an update of the runlist disturb nobody?
 * @dqm: of the GPU
 *
 * Context: DQM lock
 */
bool kfd_prio_park_idle(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list)
		if (kfd_prio_is_mapped(cur->qpd) && !kfd_prio_is_quiet(cur->qpd))
			return false;
	return true;
}

/**
 * kfd_prio_park_due() - is there a process to be parked now, or to be parked no more?
 * @dqm: of the GPU
 *
 * Context: DQM lock
 */
bool kfd_prio_park_due(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list)
		if (!kfd_prio_stays_parked(cur->qpd, &dqm->prio.parking) &&
		    cur->qpd->prio.parked != kfd_prio_parks(cur->qpd, &dqm->prio.parking))
			return true;
	return false;
}

static enum kfd_prio_park_reason kfd_prio_park_reason(const struct kfd_prio_dqm *d, bool preempted)
{
	if (preempted)
		return KFD_PRIO_PARK_PREEMPTED;
	if (d->park_update)
		return KFD_PRIO_PARK_UPDATE;
	return d->parking.free ? KFD_PRIO_PARK_IDLE : KFD_PRIO_PARK_CROWDED;
}

static void kfd_prio_park_trace(struct qcm_process_device *qpd, u64 now)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	qp->unpark_due = false;
	trace_kfd_unpark(qpd, qp->unparked,
			 qp->unparked == KFD_PRIO_UNPARK_RING ? now - READ_ONCE(qp->ring_at) : 0,
			 qp->park_last_ns);
}

/**
 * kfd_prio_park_begin() - a process is parked from now on
 * @qpd: the process on a GPU
 * @preempted: it was preempted without work; else its queues are about to leave the GPU
 * @now: ktime_get_ns()
 *
 * The GPU's thread looks soon whether it had waves after all.
 *
 * Context: DQM lock
 */
void kfd_prio_park_begin(struct qcm_process_device *qpd, bool preempted, u64 now)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	if (qp->unpark_due)
		kfd_prio_park_trace(qpd, now);
	qp->parked = true;
	qp->parked_at = now;
	qp->parked_count++;
	d->totals.parked_count++;
	d->parked++;
	qp->park_seq = ++d->park_seq;
	atomic_set(&d->rang, 1);
	trace_kfd_park(qpd, kfd_prio_park_reason(d, preempted), now - min(now, qp->quiet_at));
}

/**
 * kfd_prio_park_ends() - why is a process put back that is parked?
 * @qpd: the process on a GPU
 *
 * Context: DQM lock
 */
enum kfd_prio_unpark_reason kfd_prio_park_ends(struct qcm_process_device *qpd)
{
	return atomic_read(&qpd->prio.trap) == KFD_PRIO_TRAP_RUNG ? READ_ONCE(qpd->prio.woke_by) :
								    KFD_PRIO_UNPARK_OFF;
}

/**
 * kfd_prio_park_end() - a process is parked no more
 * @qpd: the process on a GPU; it is off still
 * @reason: why
 * @now: ktime_get_ns()
 *
 * Context: DQM lock
 */
void kfd_prio_park_end(struct qcm_process_device *qpd, enum kfd_prio_unpark_reason reason,
		       u64 now)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	qp->parked = false;
	qp->park_last_ns = now - qp->parked_at;
	qp->parked_ns += qp->park_last_ns;
	d->totals.parked_ns += qp->park_last_ns;
	d->parked--;
	if (reason <= KFD_PRIO_UNPARK_PREEMPT)
		kfd_prio_policy_park_woke(&qp->park_wakes, reason == KFD_PRIO_UNPARK_WAVES, now);
	qp->unparked = reason;
	if (reason == KFD_PRIO_UNPARK_PREEMPT || reason == KFD_PRIO_UNPARK_GONE) {
		kfd_prio_park_trace(qpd, now);
	} else if (trace_kfd_unpark_enabled()) {
		qp->unpark_due = true;
		d->unpark_due = true;
	}
}

/**
 * kfd_prio_park_gone() - a process leaves a GPU, parked or not
 * @qpd: the process on the GPU
 *
 * Context: DQM lock
 */
void kfd_prio_park_gone(struct qcm_process_device *qpd)
{
	u64 now = ktime_get_ns();

	if (qpd->prio.parked)
		kfd_prio_park_end(qpd, KFD_PRIO_UNPARK_GONE, now);
	else if (qpd->prio.unpark_due)
		kfd_prio_park_trace(qpd, now);
}

/**
 * kfd_prio_park_report() - what was put back runs: trace it
 * @dqm: of the GPU
 *
 * Context: DQM lock
 */
void kfd_prio_park_report(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;
	u64 now;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!dqm->prio.unpark_due)
		return;
	dqm->prio.unpark_due = false;
	now = ktime_get_ns();
	list_for_each_entry(cur, &dqm->queues, list)
		if (cur->qpd->prio.unpark_due)
			kfd_prio_park_trace(cur->qpd, now);
}
