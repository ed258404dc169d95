// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the role of each process on a GPU, and its standing there: its rank, whether it has
 * work, and whether a level keeps it off.
 *
 * A claim is a process with a set priority of at least preempt_min_prio that has a queue on the
 * GPU. It may preempt (kfd_prio_claim.c). A neighbour is any other process with a queue on the GPU
 * whose doorbells can be trapped. It may only be preempted (kfd_prio_neighbour.c). A process gets
 * its role when its priority is set or its first queue is created. It loses the role with its last
 * queue or with its mm.
 */
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_role.h"

/**
 * kfd_prio_refresh() - compute the rank of a process on a GPU again
 * @qpd: the process on the GPU
 *
 * The rank follows from the set priority, or without one from the priorities of the queues.
 *
 * Context: DQM lock
 */
void kfd_prio_refresh(struct qcm_process_device *qpd)
{
	int prio = kfd_prio_of_process(qpd->pqm->process), asked = KFD_PRIO_MIN;
	struct queue *q;

	WRITE_ONCE(qpd->prio.stale, false);
	if (prio == KFD_PRIO_UNSET)
		list_for_each_entry(q, &qpd->queues_list, list)
			asked = max_t(int, asked, q->properties.priority);
	qpd->prio.prio = kfd_prio_policy_rank(prio, asked);
}

/**
 * kfd_prio_armed_is_quiet() - whether an armed trap means that a process seems to have no work
 * @qpd: the process on the GPU, for which kfd_prio_is_armed() returns true
 *
 * Where waves are not counted, the trap of a claim is also armed when its last kernel runs for
 * longer than linger_us. So such a claim may have work while it is on the GPU. After it was taken
 * off, it seems to have no work once it was observed and its MQDs were read.
 *
 * Context: DQM lock
 */
bool kfd_prio_armed_is_quiet(struct qcm_process_device *qpd)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	if (qp->role != KFD_PRIO_ROLE_CLAIM)
		return true;
	return qp->preempted ? !READ_ONCE(qp->observe) : kfd_prio_sees_waves(qpd);
}

/**
 * kfd_prio_force_of() - the decision that is in force on a GPU, except for its level
 * @dqm: device queue manager of the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 *
 * Context: DQM lock
 * Return: @level, with the throttle in force, whether the GPU has claims, and whether claims
 *	without work make room, as of the last decision
 */
struct kfd_prio_force kfd_prio_force_of(struct device_queue_manager *dqm, int level)
{
	const struct kfd_prio_dqm *d = &dqm->prio;

	return (struct kfd_prio_force) {
		.level = level,
		.throttle = d->throttle,
		.claims = !list_empty(&d->claims) || !list_empty(&d->accounts),
		.crowded = d->parking.room,
		.now = d->parking.now,
	};
}

/**
 * kfd_prio_spares() - whether a claim makes room for the level in force
 * @qpd: the process on the GPU, which is a claim
 * @f: the level and the throttle in force
 *
 * Context: DQM lock
 */
bool kfd_prio_spares(struct qcm_process_device *qpd, const struct kfd_prio_force *f)
{
	struct kfd_prio_standing s = kfd_prio_standing(qpd);

	s.armed = kfd_prio_is_armed(qpd);
	s.spared = qpd->prio.spared;
	s.hold_until = qpd->prio.park.wakes.hold_until;
	return !s.ends && kfd_prio_policy_spares(f, &s);
}

/**
 * kfd_prio_is_victim() - whether a level, or the throttle in force, keeps a process off a GPU
 * @qpd: the process on the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 *
 * Context: DQM lock
 */
bool kfd_prio_is_victim(struct qcm_process_device *qpd, int level)
{
	const struct kfd_prio_force f = kfd_prio_force_of(qpd->dqm, level);

	return kfd_prio_weigh(qpd, &f, kfd_prio_share_throttle(qpd, f.level, f.throttle)).off;
}

/**
 * kfd_prio_works() - whether a process has work that it could run, or may have some
 * @qpd: the process on a GPU
 *
 * Context: DQM lock
 */
bool kfd_prio_works(struct qcm_process_device *qpd)
{
	const struct kfd_prio_standing s = kfd_prio_standing(qpd);

	return kfd_prio_may_be_victim(qpd) && kfd_prio_policy_works(&s);
}

/**
 * kfd_prio_woke() - record that a process may have work from now on
 * @qpd: the process on a GPU
 *
 * Lowers kfd_prio_dqm.lowest, and requests a new marking if a process is, or may have to be, off.
 *
 * Context: DQM lock
 */
void kfd_prio_woke(struct qcm_process_device *qpd)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	if (kfd_prio_works(qpd))
		d->lowest = min(d->lowest, qpd->prio.prio);
	d->recheck |= d->nr_off || d->policy.level != KFD_PRIO_LEVEL_NONE ||
		      d->throttle != KFD_PRIO_LEVEL_NONE || !list_empty(&d->accounts);
}

/**
 * kfd_prio_role_drop() - take the role of a process on a GPU away
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU, which has a role
 *
 * Its doorbells may stay unmapped. The next ring then faults once, and does not wake the thread.
 * The process stays taken off if it is; the thread, which is kicked, decides about that.
 *
 * Context: DQM lock
 */
void kfd_prio_role_drop(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&dqm->lock_hidden);
	atomic_set(&qp->doorbell.trap, KFD_PRIO_TRAP_OFF);
	list_del(&qp->link);
	if (qp->role == KFD_PRIO_ROLE_CLAIM)
		list_del(&qp->claim.link);
	mmdrop(qp->mm);
	qp->mm = NULL;
	qp->claim.rung = false;
	WRITE_ONCE(qp->role, KFD_PRIO_ROLE_NONE);
	kfd_prio_gpu_kick(dqm);
}

/* Gives a process a role. Its work is not known yet, so it counts as having rung. */
static void kfd_prio_role_make(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
			       enum kfd_prio_role role)
{
	struct kfd_process *p = qpd->pqm->process;
	struct kfd_prio_qpd *qp = &qpd->prio;

	/*
	 * p->mm is valid: the caller has found @exiting clear, and kfd_prio_hook_process_exit()
	 * sets it before p->mm can go. That hook then takes the DQM lock, or has found that the GPU
	 * has no thread.
	 */
	mmgrab(p->mm);
	qp->mm = p->mm;
	qp->claim.rung = true;
	qp->claim.rung_since = ktime_get_ns();
	qp->proved = false;
	qp->work = false;
	qp->claim.work_at = 0;
	qp->progress_at = role == KFD_PRIO_ROLE_CLAIM ? 0 : qp->claim.rung_since;
	qp->rptr_sum = 0;
	qp->wptr_sum = 0;
	qp->claim.waves = true;
	qp->neighbour.stalled = false;
	qp->observe = true;
	qp->neighbour.quiet = false;
	list_add_tail(&qp->link, role == KFD_PRIO_ROLE_CLAIM ? &dqm->prio.claims :
								&dqm->prio.neighbours);
	if (role == KFD_PRIO_ROLE_CLAIM)
		list_add_tail(&qp->claim.link, &dqm->prio.rung_claims);
	qp->claim.observed_at = 0;
	WRITE_ONCE(qp->claim.signals, false);
	WRITE_ONCE(qp->claim.signalled_at, 0);
	WRITE_ONCE(qp->role, role);
	atomic_set(&qp->doorbell.trap, KFD_PRIO_TRAP_RUNG);
	WRITE_ONCE(dqm->prio.observe_now, true);
}

/*
 * Returns the role that a process should have. It has none if preemption and parking are disabled,
 * the GPU has no thread, its mm has no user any more, the GPU cannot preempt (no hardware
 * scheduler, or no CWSR), or its doorbells cannot be trapped and it is no claim.
 */
static enum kfd_prio_role kfd_prio_role_of(struct device_queue_manager *dqm,
					   struct qcm_process_device *qpd, int prio)
{
	struct kfd_process *p = qpd->pqm->process;
	struct kfd_prio_params k;

	kfd_prio_gpu_params(dqm, &k);
	if ((!k.enabled && !k.park_ns) || !dqm->prio.thread ||
	    READ_ONCE(qpd->prio.exiting) || !p->mm ||
	    dqm->sched_policy == KFD_SCHED_POLICY_NO_HWS || !kfd_prio_has_cwsr(dqm))
		return KFD_PRIO_ROLE_NONE;
	if (k.enabled && prio != KFD_PRIO_UNSET && prio >= k.min_prio)
		return KFD_PRIO_ROLE_CLAIM;
	/* Without the trap an observation has no use */
	return kfd_prio_doorbell_traps(qpd) ? KFD_PRIO_ROLE_NEIGHBOUR : KFD_PRIO_ROLE_NONE;
}

/**
 * kfd_prio_role_update() - give a process the role that its settings and the parameters call for
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU
 *
 * The function takes a role away, gives one, or changes it, and kicks the thread if that matters to
 * a decision. A new claim does not hold until work of it is observed.
 *
 * Context: DQM lock
 */
void kfd_prio_role_update(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	enum kfd_prio_role role;
	bool changed, exempt;
	int prio;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!dqm->prio.thread && !qp->mm)
		return;
	exempt = kfd_prio_never_parks(qpd->pqm->process);
	changed = exempt != qp->park.exempt;
	qp->park.exempt = exempt;
	/* The set priority: an orphan without one has the lowest priority in force, and no claim */
	prio = kfd_prio_process_values(qpd->pqm->process).prio;
	role = kfd_prio_role_of(dqm, qpd, prio);
	if (qp->mm && role != qp->role)
		kfd_prio_role_drop(dqm, qpd);
	if (role == KFD_PRIO_ROLE_CLAIM) {
		changed |= qp->claim.prio != prio;
		qp->claim.prio = prio;
		/* Both change together, so that the rank of a claim is never below its own level */
		qp->prio = kfd_prio_policy_rank(prio, prio);
	}
	if (role != KFD_PRIO_ROLE_NONE && !qp->mm) {
		kfd_prio_role_make(dqm, qpd, role);
		changed = true;
	}
	/* No kick for a new queue that changes nothing: a user can create many in a second */
	if (changed && (role == KFD_PRIO_ROLE_CLAIM || !list_empty(&dqm->prio.claims) ||
			!list_empty(&dqm->prio.accounts) || kfd_prio_park_ns(dqm)))
		kfd_prio_gpu_kick(dqm);
}
