// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: parking, which takes a process that has queues on a GPU and no work off it until it
 * rings.
 *
 * A parked process is kept off by the same count of qpd->evicted as a preempted one, and its
 * doorbells are trapped. kfd_prio_policy_parks() decides. This file provides the facts for that
 * decision, and records and traces the parking of a process.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/*
 * Whether the next ring of a process faults, and no work of the process is known. A process that is
 * stalled may have waves; it counts as quiet, because its MQDs show its waves once it is parked. A
 * neighbour whose queues have changed since the last observation may have work, and does not count
 * as quiet unless it is parked.
 */
static bool kfd_prio_is_quiet(struct qcm_process_device *qpd)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	if (!kfd_prio_trap_armed(qp) ||
	    !kfd_prio_doorbell_traps(qpd) || !kfd_prio_may_be_victim(qpd))
		return false;
	if (qp->work && !qp->neighbour.stalled && !qp->park.parked)
		return false;
	return qp->park.parked || qp->role != KFD_PRIO_ROLE_NEIGHBOUR || !READ_ONCE(qp->observe);
}

/**
 * kfd_prio_parks() - whether a process is to be parked, or to stay parked
 * @qpd: the process on a GPU
 * @g: parking on the GPU
 *
 * Changes nothing: kfd_prio_dqm_mark() parks the process.
 *
 * Context: DQM lock
 */
bool kfd_prio_parks(struct qcm_process_device *qpd, const struct kfd_prio_parking *g)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;
	const struct kfd_prio_lull l = {
		.quiet = kfd_prio_is_quiet(qpd),
		.quiet_at = qp->park.quiet_at,
		.hold_until = qp->park.wakes.hold_until,
		.ended_at = qp->park.ended_at,
		.parked = qp->park.parked,
		.off = kfd_prio_is_off(qp),
		.evicted = qpd->evicted > qp->preempted,
		.exempt = qp->park.exempt,
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
 * kfd_prio_park_idle() - whether no process that is mapped on a GPU has, or may have, work
 * @dqm: device queue manager of the GPU
 *
 * If so, an update of the runlist disturbs no process.
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
 * kfd_prio_park_due() - whether any process is to be parked now, or to be parked no more
 * @dqm: device queue manager of the GPU
 *
 * Uses kfd_prio_dqm.parking, the facts as of the last decision. Changes nothing.
 *
 * Context: DQM lock
 */
bool kfd_prio_park_due(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list)
		if (!kfd_prio_stays_parked(cur->qpd, &dqm->prio.parking) &&
		    cur->qpd->prio.park.parked != kfd_prio_parks(cur->qpd, &dqm->prio.parking))
			return true;
	return false;
}

static enum kfd_prio_park_reason kfd_prio_park_reason(const struct kfd_prio_dqm *d, bool preempted)
{
	if (preempted)
		return KFD_PRIO_PARK_PREEMPTED;
	/* In any other state the runlist that follows would be sent without parking as well */
	if (d->state != KFD_PRIO_STATE_MARKED)
		return KFD_PRIO_PARK_UPDATE;
	return d->parking.free ? KFD_PRIO_PARK_IDLE : KFD_PRIO_PARK_CROWDED;
}

static void kfd_prio_park_trace(struct qcm_process_device *qpd, u64 now)
{
	struct kfd_prio_qpd_park *park = &qpd->prio.park;
	u64 rung_at = READ_ONCE(qpd->prio.doorbell.rung_at);

	park->trace_due = false;
	trace_kfd_unpark(qpd, park->ended_by,
			 park->ended_by == KFD_PRIO_UNPARK_RING ? now - rung_at : 0,
			 park->last_ns);
}

/**
 * kfd_prio_park_begin() - record and trace that a process is parked from now on
 * @qpd: the process on a GPU, which is marked as off
 * @preempted: the process was off already, without work; else its queues are about to leave the GPU
 * @now: ktime_get_ns()
 *
 * The GPU's thread then reads those MQDs of the process that it has not read since the process was
 * taken off: saved waves end the parking.
 *
 * Context: DQM lock
 */
void kfd_prio_park_begin(struct qcm_process_device *qpd, bool preempted, u64 now)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	if (qp->park.trace_due)
		kfd_prio_park_trace(qpd, now);
	qp->park.parked = true;
	qp->park.at = now;
	qp->park.count++;
	d->totals.parked_count++;
	d->parked++;
	qp->park.seq = ++d->park_seq;
	atomic_set(&d->neighbour_rung, 1);
	trace_kfd_park(qpd, kfd_prio_park_reason(d, preempted), now - min(now, qp->park.quiet_at));
}

/**
 * kfd_prio_park_ends() - the reason why a parked process is put back
 * @qpd: the process on a GPU
 *
 * It is how the process was woken, or KFD_PRIO_UNPARK_OFF if its trap is not KFD_PRIO_TRAP_RUNG.
 *
 * Context: DQM lock
 */
enum kfd_prio_unpark_reason kfd_prio_park_ends(struct qcm_process_device *qpd)
{
	if (!kfd_prio_trap_rung(&qpd->prio))
		return KFD_PRIO_UNPARK_OFF;
	return READ_ONCE(qpd->prio.park.woke_by);
}

/**
 * kfd_prio_park_end() - record that a process is parked no more
 * @qpd: the process on a GPU, still marked as off
 * @reason: the reason
 * @now: ktime_get_ns()
 *
 * If the process was woken, the function counts the wake: a process that wakes often is not parked
 * for some time (kfd_prio_policy_park_woke()).
 *
 * kfd_unpark is traced at once for a process that stays off or is gone, and for another one after
 * the runlist with its queues was sent.
 *
 * Context: DQM lock
 */
void kfd_prio_park_end(struct qcm_process_device *qpd, enum kfd_prio_unpark_reason reason,
		       u64 now)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	qp->park.parked = false;
	qp->park.last_ns = now - qp->park.at;
	qp->park.ended_at = now;
	qp->park.total_ns += qp->park.last_ns;
	d->totals.parked_ns += qp->park.last_ns;
	d->parked--;
	if (reason <= KFD_PRIO_UNPARK_PREEMPT)
		kfd_prio_policy_park_woke(&qp->park.wakes, reason == KFD_PRIO_UNPARK_WAVES, now);
	qp->park.ended_by = reason;
	if (reason == KFD_PRIO_UNPARK_PREEMPT || reason == KFD_PRIO_UNPARK_GONE) {
		kfd_prio_park_trace(qpd, now);
	} else if (trace_kfd_unpark_enabled()) {
		qp->park.trace_due = true;
		d->unpark_due = true;
	}
}

/**
 * kfd_prio_park_gone() - end the parking of a process that leaves a GPU
 * @qpd: the process on the GPU; it need not be parked
 *
 * If the parking has ended before and kfd_unpark was not traced yet, it is traced now.
 *
 * Context: DQM lock
 */
void kfd_prio_park_gone(struct qcm_process_device *qpd)
{
	u64 now = ktime_get_ns();

	if (qpd->prio.park.parked)
		kfd_prio_park_end(qpd, KFD_PRIO_UNPARK_GONE, now);
	else if (qpd->prio.park.trace_due)
		kfd_prio_park_trace(qpd, now);
}

/**
 * kfd_prio_park_report() - trace kfd_unpark for the parked processes that were put back
 * @dqm: device queue manager of the GPU; its scheduler has the queues of these processes now
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
		if (cur->qpd->prio.park.trace_due)
			kfd_prio_park_trace(cur->qpd, now);
}
