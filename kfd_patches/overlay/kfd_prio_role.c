// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the role of each process on a GPU, and what a process counts as there: its rank, whether
 * it has work, whether a level keeps it off.
 *
 * A claim is a process with a set priority of at least preempt_min_prio that has a queue
 * on the GPU: it may preempt (kfd_prio_claim.c).  A neighbour is any other process with a queue on
 * the GPU whose doorbells can be trapped: it may only be preempted (kfd_prio_neighbour.c).  A role
 * is given when the priority is set or the first queue is created, and ends with the last queue, or
 * when the process's mm goes, whichever is first.
 */
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_role.h"

/**
 * kfd_prio_refresh() - the priority of a process on a GPU, made anew
 * @qpd: the process on that GPU
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
 * kfd_prio_rests() - does a trapped doorbell mean that a process seems to have no work?
 * @qpd: the process on that GPU; its doorbells are trapped, and it was seen without work
 *
 * A claim's doorbells are trapped, too, when its last kernel is longer than linger_us, where waves
 * are not counted: on the GPU nothing is known of it there, off the GPU its MQDs tell.  Doorbells
 * that cannot be trapped tell nothing.
 *
 * Context: DQM lock
 */
bool kfd_prio_rests(struct qcm_process_device *qpd)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	if (!kfd_prio_doorbell_traps(qpd))
		return false;
	if (qp->role != KFD_PRIO_ROLE_CLAIM)
		return true;
	return qp->preempted ? !READ_ONCE(qp->look) : kfd_prio_sees_waves(qpd);
}

/**
 * kfd_prio_force_of() - what a level would put in force on a GPU
 * @dqm: of the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 *
 * Context: DQM lock
 */
struct kfd_prio_force kfd_prio_force_of(struct device_queue_manager *dqm, int level)
{
	const struct kfd_prio_dqm *d = &dqm->prio;

	return (struct kfd_prio_force) {
		.level = level,
		.throttle = d->throttle,
		.claims = !list_empty(&d->claims),
	};
}

/**
 * kfd_prio_is_victim() - is a process to be kept off a GPU?
 * @qpd: the process on that GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 *
 * Context: DQM lock
 */
bool kfd_prio_is_victim(struct qcm_process_device *qpd, int level)
{
	const struct kfd_prio_force f = kfd_prio_force_of(qpd->dqm, level);

	return kfd_prio_weigh(qpd, &f).off;
}

/**
 * kfd_prio_works() - has a process work that it could run, or may it have some?
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
 * kfd_prio_woke() - a process may have work from now on
 * @qpd: the process on a GPU
 *
 * Context: DQM lock
 */
void kfd_prio_woke(struct qcm_process_device *qpd)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	if (kfd_prio_works(qpd))
		d->lowest = min(d->lowest, qpd->prio.prio);
	d->recheck |= d->victims || d->policy.level != KFD_PRIO_LEVEL_NONE ||
		      d->throttle != KFD_PRIO_LEVEL_NONE;
}

/**
 * kfd_prio_role_drop() - a process has no role any more on a GPU
 * @dqm: of the GPU
 * @qpd: the process on that GPU, which has one
 *
 * Its doorbells may stay zapped: the next ring maps them and does not wake the thread.
 *
 * Context: DQM lock
 */
void kfd_prio_role_drop(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&dqm->lock_hidden);
	atomic_set(&qp->trap, KFD_PRIO_TRAP_OFF);
	list_del(&qp->claim);
	mmdrop(qp->mm);
	qp->mm = NULL;
	qp->rung = false;
	WRITE_ONCE(qp->role, KFD_PRIO_ROLE_NONE);
	kfd_prio_gpu_kick(dqm);
}

/* Nothing is known of the work of a process yet: as far as anybody can tell it has rung */
static void kfd_prio_role_make(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
			       enum kfd_prio_role role)
{
	struct kfd_process *p = qpd->pqm->process;
	struct kfd_prio_qpd *qp = &qpd->prio;

	/*
	 * exiting is set before p->mm can go: kfd_prio_hook_process_exit() then takes this lock,
	 * or has seen no thread
	 */
	mmgrab(p->mm);
	qp->mm = p->mm;
	qp->rung = true;
	qp->rung_at = ktime_get_ns();
	qp->proved = false;
	qp->work = false;
	qp->work_at = 0;
	qp->progress_at = role == KFD_PRIO_ROLE_CLAIM ? 0 : qp->rung_at;
	qp->rptr_sum = 0;
	qp->wptr_sum = 0;
	qp->waves = true;
	qp->still = false;
	qp->look = true;
	qp->rests = false;
	list_add_tail(&qp->claim, role == KFD_PRIO_ROLE_CLAIM ? &dqm->prio.claims :
								&dqm->prio.neighbours);
	WRITE_ONCE(qp->role, role);
	atomic_set(&qp->trap, KFD_PRIO_TRAP_RUNG);
	WRITE_ONCE(dqm->prio.look_now, true);
}

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
	/* without the trap there is nothing to be gained by looks */
	return kfd_prio_doorbell_traps(qpd) ? KFD_PRIO_ROLE_NEIGHBOUR : KFD_PRIO_ROLE_NONE;
}

/**
 * kfd_prio_role_update() - give a process the role that its priority asks for
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 *
 * A new claim holds nothing until it is seen with work.
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
	changed = exempt != qp->exempt;
	qp->exempt = exempt;
	/* what is set: an orphan without a priority has the lowest, and no claim */
	prio = kfd_prio_process_values(qpd->pqm->process).prio;
	role = kfd_prio_role_of(dqm, qpd, prio);
	if (qp->mm && role != qp->role)
		kfd_prio_role_drop(dqm, qpd);
	if (role == KFD_PRIO_ROLE_CLAIM) {
		changed |= qp->set_prio != prio;
		qp->set_prio = prio;
		/* both at once: its own level must not find it below */
		qp->prio = kfd_prio_policy_rank(prio, prio);
	}
	if (role != KFD_PRIO_ROLE_NONE && !qp->mm) {
		kfd_prio_role_make(dqm, qpd, role);
		changed = true;
	}
	/* not for each queue that comes: a user can make many in a second */
	if (changed && (role == KFD_PRIO_ROLE_CLAIM || !list_empty(&dqm->prio.claims) ||
			kfd_prio_park_ns(dqm)))
		kfd_prio_gpu_kick(dqm);
}
