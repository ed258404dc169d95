/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: short functions that read or change the state of a process on a GPU, which is struct
 * kfd_prio_qpd.
 */
#ifndef KFD_PRIO_QPD_H_INCLUDED
#define KFD_PRIO_QPD_H_INCLUDED

#include "kfd_prio_compat.h"
#include "kfd_prio_policy.h"

/*
 * The doorbells of a process are not trapped again for this time after a fault of one, ns; it is
 * the default of linger_us. The process must run again to repeat its store, and real-time threads
 * may run before it.
 */
#define KFD_PRIO_REPEAT		200000ULL

/**
 * kfd_prio_trap_change() - change the doorbell trap of a process on a GPU if it has the expected
 * state
 * @qp: the process on the GPU
 * @from: the expected state
 * @to: the new state
 *
 * Context: any
 * Return: true if the state was @from, and is @to now
 */
static inline bool kfd_prio_trap_change(struct kfd_prio_qpd *qp, enum kfd_prio_trap from,
					enum kfd_prio_trap to)
{
	return atomic_cmpxchg(&qp->doorbell.trap, from, to) == from;
}

/**
 * kfd_prio_trap_armed() - whether the next ring of a process on a GPU faults
 * @qp: the process on the GPU
 *
 * Context: any
 */
static inline bool kfd_prio_trap_armed(const struct kfd_prio_qpd *qp)
{
	return atomic_read(&qp->doorbell.trap) == KFD_PRIO_TRAP_ARMED;
}

/**
 * kfd_prio_trap_rung() - whether a process on a GPU has rung since its trap was armed
 * @qp: the process on the GPU
 *
 * Context: any
 */
static inline bool kfd_prio_trap_rung(const struct kfd_prio_qpd *qp)
{
	return atomic_read(&qp->doorbell.trap) == KFD_PRIO_TRAP_RUNG;
}

/**
 * kfd_prio_in_fault() - whether a process is, or was recently, in the fault of a doorbell
 * @qp: the process on a GPU
 * @now: ktime_get_ns()
 *
 * Such a process may not have repeated its store yet. If its doorbells were trapped now, the store
 * would fault again, possibly without end. "Recently" is within KFD_PRIO_REPEAT.
 *
 * Context: any
 */
static inline bool kfd_prio_in_fault(const struct kfd_prio_qpd *qp, u64 now)
{
	return atomic_read_acquire(&qp->doorbell.faults) ||
	       now <= READ_ONCE(qp->doorbell.fault_end) + KFD_PRIO_REPEAT;
}

/**
 * kfd_prio_hold() - have KFD take a queue to be evicted, for as long as its process is taken off
 * @q: the queue; its process is taken off
 *
 * The function records that kfdprio makes the queue active again when it puts the process back,
 * unless KFD has reset the queue alone. The caller makes the queue inactive if it is active.
 *
 * Context: DQM lock
 */
static inline void kfd_prio_hold(struct queue *q)
{
	q->properties.is_evicted = true;
	q->prio.held = true;
	q->prio.off = !q->prio.dead;
}

/**
 * kfd_prio_is_off() - whether preemption keeps a process off a GPU
 * @qp: the process on the GPU
 *
 * A parked process is not off in this sense. kfd_prio_qpd.preempted is true for both.
 *
 * Context: DQM lock
 */
static inline bool kfd_prio_is_off(const struct kfd_prio_qpd *qp)
{
	return qp->preempted && !qp->park.parked;
}

/**
 * kfd_prio_is_preempted() - whether a process counts as preempted on a GPU: it is off, and has work
 * @qp: the process on the GPU
 *
 * A process whose work is not known counts as having some.
 *
 * Context: DQM lock
 */
static inline bool kfd_prio_is_preempted(const struct kfd_prio_qpd *qp)
{
	return qp->counted;
}

/**
 * kfd_prio_restored_at() - when all waves of a process on a GPU are restored, as far as is known
 * @qpd: the process on the GPU
 *
 * Those that the last unmap saved, and those of a process that was put back, which an earlier one
 * has saved.
 *
 * Context: any
 * Return: ktime_get_ns() of that time, an estimate
 */
static inline u64 kfd_prio_restored_at(const struct qcm_process_device *qpd)
{
	return max(READ_ONCE(qpd->dqm->prio.restored_at), READ_ONCE(qpd->prio.restored_at));
}

/**
 * kfd_prio_preempted_ns() - total time for which a process has been preempted on a GPU, ns
 * @qp: the process on the GPU
 *
 * Context: DQM lock
 */
static inline u64 kfd_prio_preempted_ns(const struct kfd_prio_qpd *qp)
{
	return qp->preempted_ns +
	       (kfd_prio_is_preempted(qp) ? ktime_get_ns() - qp->preempted_at : 0);
}

/**
 * kfd_prio_parked_ns() - total time for which a process has been parked on a GPU, ns
 * @qp: the process on the GPU
 *
 * Context: DQM lock
 */
static inline u64 kfd_prio_parked_ns(const struct kfd_prio_qpd *qp)
{
	return qp->park.total_ns + (qp->park.parked ? ktime_get_ns() - qp->park.at : 0);
}

/**
 * kfd_prio_is_orphan() - whether a process is marked as an orphan, see kfd_prio_identity.c
 * @p: the process
 *
 * Context: any
 */
static inline bool kfd_prio_is_orphan(const struct kfd_process *p)
{
	return unlikely(READ_ONCE(p->prio.orphan));
}

/**
 * kfd_prio_may_be_victim() - whether a process can be kept off a GPU
 * @qpd: the process on the GPU
 *
 * This excludes a process without a VM on the GPU, which KFD may create for a debugger, and one
 * with a debugger's kernel queue, which stays mapped.
 *
 * Context: DQM lock
 */
static inline bool kfd_prio_may_be_victim(struct qcm_process_device *qpd)
{
	return qpd_to_pdd(qpd)->drm_priv && !qpd->is_debug;
}

/**
 * kfd_prio_stays_parked() - whether a process is parked, and no decision can change that
 * @qpd: the process on a GPU
 * @g: parking on the GPU
 *
 * A quick check for walks over many processes. If it returns false, kfd_prio_parks() decides
 * whether the process stays parked.
 *
 * Context: DQM lock
 */
static inline bool kfd_prio_stays_parked(struct qcm_process_device *qpd,
					 const struct kfd_prio_parking *g)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	return qp->park.parked && g->after_ns && !qp->park.exempt &&
	       kfd_prio_trap_armed(qp) && kfd_prio_may_be_victim(qpd) &&
	       !READ_ONCE(qp->doorbell.untrapped) && !kfd_prio_doorbells_are_kfds();
}

#endif /* KFD_PRIO_QPD_H_INCLUDED */
