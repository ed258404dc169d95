// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: claims, the processes on a GPU that may preempt others (kfd_prio_role.c): which have
 * rung, and which claims the policy decides about. kfd_prio_detect.c observes whether they have
 * work.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_claim.h"
#include "kfd_prio_share.h"
#include "kfd_prio_events.h"

/**
 * kfd_prio_claim_works() - record that a claim has work from now on: it has rung, or was observed
 * @qpd: the process on a GPU; its trap was armed, and is KFD_PRIO_TRAP_RUNG now
 * @wake: how the work was observed
 * @in_fault: called from the fault of a doorbell
 * @now: ktime_get_ns()
 *
 * Moves the claim to rung_claims, so that the next decision uses it, and traces kfd_doorbell_wake.
 * Runs no step and kicks no thread.
 *
 * Context: DQM lock
 */
void kfd_prio_claim_works(struct qcm_process_device *qpd, enum kfd_prio_wake wake, bool in_fault,
			  u64 now)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	list_move_tail(&qp->claim.link, &qpd->dqm->prio.rung_claims);
	qp->claim.rung = true;
	qp->claim.wakes++;
	qp->claim.waves = true;
	qp->claim.ended = false;
	qp->claim.rung_since = now;
	qp->claim.moved_at = now;
	qp->work = true;
	qp->claim.work_at = now;
	qp->progress_at = now;
	kfd_prio_woke(qpd);
	trace_kfd_doorbell_wake(qpd, wake, in_fault);
}

/* Records that those claims of a list have work whose trap is KFD_PRIO_TRAP_RUNG now */
static void kfd_prio_claim_rise(struct list_head *list, bool in_fault, u64 now)
{
	struct kfd_prio_qpd *qp, *tmp;

	list_for_each_entry_safe(qp, tmp, list, claim.link)
		if (kfd_prio_trap_rung(qp))
			kfd_prio_claim_works(container_of(qp, struct qcm_process_device, prio),
					     KFD_PRIO_WAKE_FAULT, in_fault, now);
}

/*
 * Whether @a represents the claims of its priority better than @b: a claim that holds comes before
 * one that does not, and the one that holds longest comes first; among the others one that has work
 * comes first
 */
static bool kfd_prio_claim_better(const struct kfd_prio_params *k, u64 now,
				  const struct kfd_prio_claim *a, const struct kfd_prio_claim *b)
{
	bool ha = kfd_prio_policy_holds(k, a, now), hb = kfd_prio_policy_holds(k, b, now);

	if (ha != hb)
		return ha;
	if (ha)
		return kfd_prio_policy_until(k, a) > kfd_prio_policy_until(k, b);
	return (a->rung && a->work) > (b->rung && b->work);
}

/* Returns the trapped claim that was armed or observed last; NULL if no claim is trapped */
static struct kfd_prio_qpd *kfd_prio_claim_last(const struct kfd_prio_dqm *d)
{
	const struct list_head *list = list_empty(&d->trapped_claims) ? &d->fresh_claims :
									&d->trapped_claims;

	return list_empty(list) ? NULL : list_last_entry(list, struct kfd_prio_qpd, claim.link);
}

/* Returns a trapped claim of a priority, if possible one without work; NULL if there is none */
static struct kfd_prio_qpd *kfd_prio_claim_idle(const struct kfd_prio_dqm *d, int prio)
{
	const struct list_head *lists[] = { &d->trapped_claims, &d->fresh_claims };
	struct kfd_prio_qpd *qp, *found = NULL;
	int i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		list_for_each_entry(qp, lists[i], claim.link) {
			if (qp->claim.prio != prio)
				continue;
			if (!qp->work)
				return qp;
			found = qp;
		}
	return found;
}

/* Whether the limit of its group keeps a claim off */
static bool kfd_prio_claim_closed(struct kfd_prio_qpd *qp)
{
	return kfd_prio_share_throttle(container_of(qp, struct qcm_process_device, prio),
				       KFD_PRIO_LEVEL_NONE, KFD_PRIO_LEVEL_NONE) ==
	       KFD_PRIO_THROTTLE_MAX;
}

/**
 * kfd_prio_claim_fold() - select one claim for each priority, for the policy
 * @dqm: device queue manager of the GPU
 * @k: module parameters
 * @in_fault: called from the fault of a doorbell
 * @now: ktime_get_ns()
 * @claims: out: room for KFD_PRIO_MAX_CLAIMS
 * @owners: out: the processes of @claims
 *
 * A claim that has rung since the last decision counts as having work from now on. A trapped claim
 * does not hold. So the policy gets only the one that was armed or observed last, whose work
 * affects only the reason of the decision (kfd_prio_policy_decide()), and with
 * max_switch_policy=hold one of the level in force and one of the block in progress, which may go
 * on without work. A claim that the limit of its group keeps off is left out: it cannot run, and
 * must not keep others off.
 *
 * Context: DQM lock
 * Return: number of claims
 */
int kfd_prio_claim_fold(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			bool in_fault, u64 now, struct kfd_prio_claim *claims,
			struct qcm_process_device **owners)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	const int held[] = { d->policy.level, d->policy.block };
	struct kfd_prio_qpd *trapped[1 + ARRAY_SIZE(held)] = {};
	s8 at[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_qpd *qp;
	int n = 0, i;

	/* claim_rung, then the traps: pairs with kfd_prio_doorbell_rung() */
	if (atomic_read(&d->claim_rung) && atomic_xchg(&d->claim_rung, 0)) {
		kfd_prio_claim_rise(&d->fresh_claims, in_fault, now);
		kfd_prio_claim_rise(&d->trapped_claims, in_fault, now);
	}
	memset(at, -1, sizeof(at));
	list_for_each_entry(qp, &d->rung_claims, claim.link) {
		const struct kfd_prio_claim c = kfd_prio_claim_of(qp);

		if (kfd_prio_claim_closed(qp))
			continue;
		if (at[c.prio] < 0)
			at[c.prio] = n++;
		else if (!kfd_prio_claim_better(k, now, &c, &claims[at[c.prio]]))
			continue;
		claims[at[c.prio]] = c;
		owners[at[c.prio]] = container_of(qp, struct qcm_process_device, prio);
	}
	trapped[0] = kfd_prio_claim_last(d);
	for (i = 0; i < ARRAY_SIZE(held); i++)
		if (k->hold && held[i] != KFD_PRIO_LEVEL_NONE && at[held[i]] < 0)
			trapped[i + 1] = kfd_prio_claim_idle(d, held[i]);
	for (i = 0; i < ARRAY_SIZE(trapped); i++) {
		qp = trapped[i];
		if (!qp || at[qp->claim.prio] >= 0 || kfd_prio_claim_closed(qp))
			continue;
		at[qp->claim.prio] = n;
		claims[n] = kfd_prio_claim_of(qp);
		owners[n++] = container_of(qp, struct qcm_process_device, prio);
	}
	return n;
}

/**
 * kfd_prio_claim_skip() - do not count a span of time for the claims of a GPU
 * @dqm: device queue manager of the GPU
 * @since: begin of the span, which ends now, ktime_get_ns()
 *
 * For the claims of rung_claims, the times of ring, work and progress become later by the span, so
 * that these claims hold for that much longer.
 *
 * Context: DQM lock
 */
void kfd_prio_claim_skip(struct device_queue_manager *dqm, u64 since)
{
	u64 now = ktime_get_ns(), ns = now - since;
	struct kfd_prio_qpd *qp;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(qp, &dqm->prio.rung_claims, claim.link) {
		/* kfd_prio_poll_ns() depends on the time for which the work has run */
		qp->claim.rung_since = min(qp->claim.rung_since + ns, now);
		qp->claim.work_at = min(qp->claim.work_at + ns, now);
		qp->progress_at = min(qp->progress_at + ns, now);
	}
}

/**
 * kfd_prio_claim_has() - whether a process has a claim on a GPU
 * @dqm: device queue manager of the GPU
 * @pid: PID of the process in the initial namespace
 *
 * Context: DQM lock
 */
bool kfd_prio_claim_has(struct device_queue_manager *dqm, s32 pid)
{
	struct qcm_process_device *qpd;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(qpd, &dqm->prio.claims, prio.link)
		if (qpd->pqm->process->lead_thread->tgid == pid)
			return true;
	return false;
}

static bool kfd_prio_claim_list_rings(const struct list_head *list)
{
	struct kfd_prio_qpd *qp;

	list_for_each_entry(qp, list, claim.link)
		if (kfd_prio_trap_rung(qp))
			return true;
	return false;
}

/**
 * kfd_prio_claim_rings() - whether a trapped claim has rung since the last decision
 * @dqm: device queue manager of the GPU
 *
 * Changes nothing: the next decision records the ring (kfd_prio_claim_fold()).
 *
 * Context: DQM lock
 */
bool kfd_prio_claim_rings(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	lockdep_assert_held(&dqm->lock_hidden);
	/* claim_rung, then the traps: pairs with kfd_prio_doorbell_rung() */
	return atomic_read_acquire(&d->claim_rung) &&
	       (kfd_prio_claim_list_rings(&d->trapped_claims) ||
		kfd_prio_claim_list_rings(&d->fresh_claims));
}
