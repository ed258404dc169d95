// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: what the engine asks of all claims of a GPU: which of them the policy gets, and when
 * they must be observed again. kfd_prio_claim.c observes them.
 */
#include "kfd_prio_priv.h"

/*
 * Lower limit of the least interval at which a claim that may have work is observed, ns, which is a
 * quarter of linger_us and at most KFD_PRIO_POLL_LINGER: see poll_ns()
 */
#define KFD_PRIO_POLL_MIN	20000ULL

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

/**
 * kfd_prio_claim_fold() - select one claim for each priority, for the policy
 * @dqm: device queue manager of the GPU
 * @k: module parameters
 * @in_fault: called from the fault of a doorbell
 * @now: ktime_get_ns()
 * @claims: out: room for KFD_PRIO_MAX_CLAIMS
 * @owners: out: the processes of @claims
 *
 * A claim that has rung since the last observation counts as having work from now on.
 *
 * Context: DQM lock
 * Return: number of claims
 */
int kfd_prio_claim_fold(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			bool in_fault, u64 now, struct kfd_prio_claim *claims,
			struct qcm_process_device **owners)
{
	s8 at[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_qpd *qp;
	int n = 0;

	memset(at, -1, sizeof(at));
	list_for_each_entry(qp, &dqm->prio.claims, claim) {
		struct qcm_process_device *qpd = container_of(qp, struct qcm_process_device, prio);
		bool rung = atomic_read(&qp->trap) == KFD_PRIO_TRAP_RUNG;
		struct kfd_prio_claim c;

		if (rung && !qp->rung)
			kfd_prio_claim_works(qpd, KFD_PRIO_WAKE_FAULT, in_fault, now);
		qp->rung = rung;
		c = kfd_prio_claim_of(qp);
		if (at[c.prio] < 0)
			at[c.prio] = n++;
		else if (!kfd_prio_claim_better(k, now, &c, &claims[at[c.prio]]))
			continue;
		claims[at[c.prio]] = c;
		owners[at[c.prio]] = qpd;
	}
	return n;
}

/**
 * kfd_prio_claim_skip() - do not count a span of time for the claims of a GPU
 * @dqm: device queue manager of the GPU
 * @since: begin of the span, which ends now, ktime_get_ns()
 *
 * Context: DQM lock
 */
void kfd_prio_claim_skip(struct device_queue_manager *dqm, u64 since)
{
	u64 now = ktime_get_ns(), ns = now - since;
	struct kfd_prio_qpd *qp;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(qp, &dqm->prio.claims, claim) {
		if (!qp->rung)
			continue;
		/* poll_ns() depends on the time for which the work has run */
		qp->rung_at = min(qp->rung_at + ns, now);
		qp->work_at = min(qp->work_at + ns, now);
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
	list_for_each_entry(qpd, &dqm->prio.claims, prio.claim)
		if (qpd->pqm->process->lead_thread->tgid == pid)
			return true;
	return false;
}

/**
 * kfd_prio_claim_rings() - whether a claim has rung since the last decision
 * @dqm: device queue manager of the GPU
 *
 * Context: DQM lock
 */
bool kfd_prio_claim_rings(struct device_queue_manager *dqm)
{
	struct kfd_prio_qpd *qp;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(qp, &dqm->prio.claims, claim)
		if (!qp->rung && atomic_read(&qp->trap) == KFD_PRIO_TRAP_RUNG)
			return true;
	return false;
}

/*
 * Returns the interval at which a claim is observed whose work has run for @since ns. It is a
 * sixteenth of that time, within limits, so that noticing the end of the work late costs at most a
 * sixteenth of it.
 */
static u64 poll_ns(const struct kfd_prio_params *k, u64 since)
{
	u64 high = min(kfd_prio_safety_poll_ns(), k->budget_ns / 4);
	u64 low = clamp_t(u64, k->linger_ns / 4, KFD_PRIO_POLL_MIN,
			  min(high, KFD_PRIO_POLL_LINGER));

	return clamp_t(u64, since / 16, low, high);
}

/**
 * kfd_prio_claim_poll_at() - time at which the claims of a GPU must be observed again
 * @dqm: device queue manager of the GPU
 * @k: module parameters
 *
 * Context: DQM lock
 * Return: ktime_get_ns() of that time, which may have passed; KFD_PRIO_NEVER if there is no claim.
 *	It depends on when the claims were last observed or have rung, not on the present time
 */
u64 kfd_prio_claim_poll_at(struct device_queue_manager *dqm, const struct kfd_prio_params *k)
{
	const struct kfd_prio_dqm *d = &dqm->prio;
	u64 at = KFD_PRIO_NEVER, since;
	struct kfd_prio_qpd *qp;

	list_for_each_entry(qp, &d->claims, claim) {
		if (qp->rung) {
			since = max(d->claims_at, qp->rung_at);
			at = min(at, since + poll_ns(k, since - qp->rung_at));
		} else {
			at = min(at, d->claims_polled_at + kfd_prio_safety_poll_ns());
		}
	}
	return at;
}
