// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: when the claims of a GPU are observed.
 *
 * A claim is in one of three lists:
 * - rung_claims: its trap was KFD_PRIO_TRAP_RUNG when the engine last read it, so it may have work.
 *   It is observed at an interval of a sixteenth of the time for which its work has run, and when
 *   it would hold no longer. If the process waits with events of KFD for its work
 *   (kfd_prio_signal.c), the interval is a quarter of that time, and an event ends it.
 * - trapped_claims: its trap was KFD_PRIO_TRAP_ARMED, so a ring of its process faults. It is
 *   observed only because a device may ring without a fault: every safety_poll_us, and of all
 *   trapped claims KFD_PRIO_POLL_TRAPPED in that time, in turn.
 * - fresh_claims: as trapped_claims, but it was armed or taken off and not observed since. It is
 *   observed at once: a ring before its doorbells were unmapped may not be known, and its MQDs show
 *   its work now.
 * So the cost of a pass of the GPU's thread over the claims depends on those that may have work.
 *
 * The fault of a doorbell and kfd_prio_mark() move no claim. They set kfd_prio_dqm.claim_rung and
 * .claim_marked, and the next decision or the next pass moves the claim.
 *
 * Each time at which a claim is due follows from past events and the module parameters, and not
 * from the present time, because users can cause any number of passes. While there are groups, that
 * of a trapped claim also follows from a random number, which is drawn when the last one was
 * observed (kfd_prio_early()).
 *
 * A pass ends after KFD_PRIO_POLL_READS reads. The thread then pauses in proportion to them, and
 * for at least as long as they have taken, because it runs at a real-time priority: on a host that
 * reads slowly it must not take a whole CPU. A ring, the end of a level and a claim of rung_claims
 * that was taken off do not wait.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_claim.h"

/*
 * The shortest interval at which a claim that may have work is observed, ns, is a quarter of
 * linger_us within these limits. The longest one is safety_poll_us, or a quarter of busy_budget_ms
 * if that is less.
 */
#define KFD_PRIO_POLL_MIN	20000ULL
#define KFD_PRIO_POLL_MIN_MAX	1000000ULL

/* Number of trapped claims that are observed in safety_poll_us */
#define KFD_PRIO_POLL_TRAPPED	8

/*
 * Reads of a trapped claim that count as one observation: those of 24 queues. A claim with more
 * queues counts as several, so that the number of queues does not change the share of the CPU.
 */
#define KFD_PRIO_POLL_TURN	(1 + KFD_PRIO_POLL_CLAIM + 24)

/*
 * Rest after a read, ns. On the simulated GPU a read took 0.4 us, so that reads take a fifth of a
 * CPU at most.
 */
#define KFD_PRIO_POLL_REST	2000ULL

/* A claim whose end is signalled is observed at an interval that is so many times as long */
#define KFD_PRIO_POLL_SIGNALS	4

static u64 kfd_prio_poll_max(const struct kfd_prio_params *k)
{
	return min(kfd_prio_safety_poll_ns(), k->budget_ns / 4);
}

static u64 kfd_prio_poll_min(const struct kfd_prio_params *k)
{
	return clamp_t(u64, k->linger_ns / 4, KFD_PRIO_POLL_MIN,
		       min(kfd_prio_poll_max(k), KFD_PRIO_POLL_MIN_MAX));
}

/*
 * Returns the interval at which a claim is observed whose work has run for @since ns. It is a
 * sixteenth of that time, within limits, so that noticing the end of the work late costs at most a
 * sixteenth of it.
 */
static u64 kfd_prio_poll_ns(const struct kfd_prio_params *k, u64 since)
{
	return clamp_t(u64, since / 16, kfd_prio_poll_min(k), kfd_prio_poll_max(k));
}

/* Whether a claim was taken off and not observed since, so that its MQDs show its work now */
static bool kfd_prio_poll_marked(const struct kfd_prio_qpd *qp)
{
	return qp->preempted && READ_ONCE(qp->observe) && qp->claim.observed_at <= qp->marked_at;
}

/* Whether the last pass has ended before it had observed all claims that were due */
static bool kfd_prio_poll_full(const struct kfd_prio_dqm *d)
{
	return d->claims_reads >= KFD_PRIO_POLL_READS;
}

/* Returns the time before which no claim of rung_claims is due by its interval alone */
static u64 kfd_prio_poll_rest_at(const struct kfd_prio_dqm *d, const struct kfd_prio_params *k)
{
	return max(d->claims_at + max(kfd_prio_poll_min(k), d->claims_reads * KFD_PRIO_POLL_REST),
		   d->rest_at);
}

/*
 * Returns the time at which the interval of a claim of rung_claims ends. If an event was signalled
 * at the end of the last work, the interval is KFD_PRIO_POLL_SIGNALS times as long, and an event
 * ends it, but not before it would end for any other claim: users can cause any number of events.
 */
static u64 kfd_prio_poll_work_at(const struct kfd_prio_qpd *qp, const struct kfd_prio_params *k)
{
	u64 since = max(qp->claim.observed_at, qp->claim.rung_since);
	u64 ns = kfd_prio_poll_ns(k, since - qp->claim.rung_since);
	u64 signalled_at = READ_ONCE(qp->claim.signalled_at), at;

	/* If the work may have ended, the next observation decides */
	if (!qp->claim.signals || qp->claim.ended)
		return since + ns;
	at = since + min(KFD_PRIO_POLL_SIGNALS * ns, kfd_prio_poll_max(k));
	if (signalled_at)
		at = min(at, max(signalled_at + KFD_PRIO_SIGNAL_WAIT, since + ns));
	return at;
}

/*
 * Returns the time at which a claim of rung_claims is due: at the end of its interval, or when it
 * holds no longer if that is earlier, because the thread must observe it before the level ends, and
 * may then arm its trap. If the trap could not be armed then, the interval is the shortest one.
 */
static u64 kfd_prio_poll_rung_at(const struct kfd_prio_dqm *d, const struct kfd_prio_qpd *qp,
				 const struct kfd_prio_params *k)
{
	const struct kfd_prio_claim c = kfd_prio_claim_of(qp);
	u64 rest_at = kfd_prio_poll_rest_at(d, k);
	u64 at, ends = kfd_prio_policy_until(k, &c);

	if (qp->claim.observed_at >= ends)
		ends = max(qp->claim.observed_at + kfd_prio_poll_min(k), d->rest_at);
	at = min(ends, max(rest_at, kfd_prio_poll_work_at(qp, k)));
	/* No MQD is read before the hardware has confirmed the unmap; a step follows that */
	if (d->state == KFD_PRIO_STATE_LEFT && qp->preempted)
		return KFD_PRIO_NEVER;
	if (kfd_prio_poll_marked(qp))
		at = 0;
	return kfd_prio_poll_full(d) ? max(at, rest_at) : at;
}

/* Returns the time for which no other trapped claim is observed after the last one, ns */
static u64 kfd_prio_poll_turn(const struct kfd_prio_dqm *d)
{
	return DIV_ROUND_UP(d->trapped_reads, KFD_PRIO_POLL_TURN) *
	       div_u64(kfd_prio_safety_poll_ns(), KFD_PRIO_POLL_TRAPPED);
}

/*
 * Returns the time at which the first claim of trapped_claims is due. The list is in the order in
 * which the claims were last observed.
 */
static u64 kfd_prio_poll_trapped_at(struct kfd_prio_dqm *d)
{
	const struct kfd_prio_qpd *qp;
	u64 at;

	qp = list_first_entry_or_null(&d->trapped_claims, struct kfd_prio_qpd, claim.link);
	if (!qp)
		return KFD_PRIO_NEVER;
	at = max(qp->claim.observed_at + kfd_prio_safety_poll_ns(),
		 d->trapped_at + kfd_prio_poll_turn(d));
	at -= mul_u64_u32_shr(at - max(qp->claim.observed_at, d->trapped_at), d->trapped_early, 32);
	return max(at, d->rest_at);
}

/*
 * Returns the time at which the first claim of fresh_claims is due. No claim is due while an unmap
 * is not confirmed (KFD_PRIO_STATE_LEFT), because its MQDs may still change; a step follows.
 */
static u64 kfd_prio_poll_fresh_at(const struct kfd_prio_dqm *d, const struct kfd_prio_params *k)
{
	if (d->state == KFD_PRIO_STATE_LEFT || (list_empty(&d->fresh_claims) && !d->claim_marked))
		return KFD_PRIO_NEVER;
	return max(d->fresh_at + max(kfd_prio_poll_min(k), d->fresh_reads * KFD_PRIO_POLL_REST),
		   d->rest_at);
}

/**
 * kfd_prio_claim_poll_at() - time at which a claim of a GPU must be observed next
 * @dqm: device queue manager of the GPU
 * @k: module parameters
 *
 * Context: DQM lock
 * Return: ktime_get_ns() of that time, which may have passed; KFD_PRIO_NEVER if there is no claim.
 *	It depends on when claims were observed, have rung or hold no longer, and not on the present
 *	time
 */
u64 kfd_prio_claim_poll_at(struct device_queue_manager *dqm, const struct kfd_prio_params *k)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 at = min(kfd_prio_poll_trapped_at(d), kfd_prio_poll_fresh_at(d, k));
	struct kfd_prio_qpd *qp;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(qp, &d->rung_claims, claim.link)
		at = min(at, kfd_prio_poll_rung_at(d, qp, k));
	return at;
}

/* Moves the claims of trapped_claims that were taken off to fresh_claims */
static void kfd_prio_poll_sort(struct kfd_prio_dqm *d)
{
	struct kfd_prio_qpd *qp, *tmp;

	if (!d->claim_marked)
		return;
	d->claim_marked = false;
	list_for_each_entry_safe(qp, tmp, &d->trapped_claims, claim.link)
		if (kfd_prio_poll_marked(qp))
			list_move_tail(&qp->claim.link, &d->fresh_claims);
}

/**
 * kfd_prio_claim_pass_begin() - begin a pass over the claims of a GPU
 * @dqm: device queue manager of the GPU
 * @pass: out: the pass
 *
 * Moves the claims that were taken off from trapped_claims to fresh_claims. Observes no claim:
 * kfd_prio_claim_observe() observes one after the other.
 *
 * Context: the GPU's thread; DQM lock
 */
void kfd_prio_claim_pass_begin(struct device_queue_manager *dqm, struct kfd_prio_claim_pass *pass)
{
	struct kfd_prio_qpd *qp;

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_poll_sort(&dqm->prio);
	*pass = (struct kfd_prio_claim_pass) { .begin = ktime_get_ns() };
	list_for_each_entry(qp, &dqm->prio.rung_claims, claim.link)
		pass->left++;
}

/* Returns the claim of trapped_claims that is observed in a pass; NULL if none is due */
static struct kfd_prio_qpd *kfd_prio_pass_trapped(struct kfd_prio_dqm *d,
						  struct kfd_prio_claim_pass *pass)
{
	u64 at = kfd_prio_poll_trapped_at(d);

	if (at > pass->begin)
		return NULL;
	/*
	 * The observation counts from the time at which it was due, so that the time which the
	 * thread takes to wake does not add up. Turns that were missed do not come all at once,
	 * because none is due before rest_at.
	 */
	d->trapped_at = at;
	d->trapped_early = kfd_prio_early(d, U32_MAX);
	d->trapped_reads = 1;
	pass->reads = &d->trapped_reads;
	return list_first_entry(&d->trapped_claims, struct kfd_prio_qpd, claim.link);
}

/* Returns the claim of fresh_claims that is observed in a pass; NULL if none is due */
static struct kfd_prio_qpd *kfd_prio_pass_fresh(struct kfd_prio_dqm *d,
						struct kfd_prio_claim_pass *pass,
						const struct kfd_prio_params *k)
{
	if (kfd_prio_poll_fresh_at(d, k) > pass->begin || list_empty(&d->fresh_claims))
		return NULL;
	d->fresh_at = pass->begin;
	d->fresh_reads = 1;
	pass->reads = &d->fresh_reads;
	return list_first_entry(&d->fresh_claims, struct kfd_prio_qpd, claim.link);
}

/* Returns the next claim of rung_claims that is observed in a pass; NULL if none is due */
static struct kfd_prio_qpd *kfd_prio_pass_rung(struct kfd_prio_dqm *d,
					       struct kfd_prio_claim_pass *pass,
					       const struct kfd_prio_params *k)
{
	struct kfd_prio_qpd *qp;

	pass->reads = &pass->rung_reads;
	while (pass->left && pass->rung_reads < KFD_PRIO_POLL_READS &&
	       !list_empty(&d->rung_claims)) {
		pass->left--;
		qp = list_first_entry(&d->rung_claims, struct kfd_prio_qpd, claim.link);
		list_move_tail(&qp->claim.link, &d->rung_claims);
		if (kfd_prio_poll_rung_at(d, qp, k) <= pass->begin) {
			pass->rung_reads++;
			return qp;
		}
	}
	return NULL;
}

/**
 * kfd_prio_claim_pass_next() - select the claim that is observed next in a pass
 * @dqm: device queue manager of the GPU
 * @pass: the pass
 * @k: module parameters
 *
 * A pass includes one claim of trapped_claims, one of fresh_claims, and then those of rung_claims
 * that are due, so that no list can delay another. A pass ends at KFD_PRIO_POLL_READS reads; the
 * claims of rung_claims that it has not reached are the first of the next pass.
 *
 * The function counts the selection as one read in *@pass->reads, and the caller adds the reads of
 * the observation: KFD_PRIO_POLL_CLAIM, one for each queue, and KFD_PRIO_POLL_MQD for each queue
 * whose MQD is read. A claim of rung_claims moves to the end of its list. A claim of the other two
 * lists stays first there until the caller calls kfd_prio_claim_observed() or the trap of the claim
 * changes.
 *
 * Context: the GPU's thread; DQM lock, which may be dropped between two calls
 * Return: the claim, or NULL if none is due any more: the caller then calls
 *	kfd_prio_claim_pass_end()
 */
struct kfd_prio_qpd *kfd_prio_claim_pass_next(struct device_queue_manager *dqm,
					      struct kfd_prio_claim_pass *pass,
					      const struct kfd_prio_params *k)
{
	struct kfd_prio_qpd *qp = NULL;

	lockdep_assert_held(&dqm->lock_hidden);
	if (pass->list == KFD_PRIO_PASS_TRAPPED) {
		pass->list++;
		qp = kfd_prio_pass_trapped(&dqm->prio, pass);
	}
	if (!qp && pass->list == KFD_PRIO_PASS_FRESH) {
		pass->list++;
		qp = kfd_prio_pass_fresh(&dqm->prio, pass, k);
	}
	return qp ?: kfd_prio_pass_rung(&dqm->prio, pass, k);
}

/**
 * kfd_prio_claim_pass_end() - end a pass
 * @dqm: device queue manager of the GPU
 * @pass: the pass
 *
 * If the pass has read claims of rung_claims, the function records its end and its number of reads.
 * The time for which the thread then observes none of them by their interval follows from both, and
 * from the time that the observations of the pass have taken.
 *
 * Context: the GPU's thread; DQM lock
 */
void kfd_prio_claim_pass_end(struct device_queue_manager *dqm,
			     const struct kfd_prio_claim_pass *pass)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (pass->ns)
		dqm->prio.rest_at = ktime_get_ns() + pass->ns;
	/*
	 * A pass that has read nothing does not delay the next one, because users can cause any
	 * number of passes
	 */
	if (!pass->rung_reads)
		return;
	dqm->prio.claims_at = ktime_get_ns();
	dqm->prio.claims_reads = pass->rung_reads;
}

/**
 * kfd_prio_claim_observed() - record when a claim was observed
 * @dqm: device queue manager of the GPU
 * @qp: the claim
 * @at: ktime_get_ns(): end of the observation; its begin if the claim was taken off during the
 *	observation, so that it is observed again at once
 *
 * A trapped claim goes to the end of trapped_claims.
 *
 * Context: DQM lock
 */
void kfd_prio_claim_observed(struct device_queue_manager *dqm, struct kfd_prio_qpd *qp, u64 at)
{
	lockdep_assert_held(&dqm->lock_hidden);
	qp->claim.observed_at = at;
	if (!qp->claim.rung)
		list_move_tail(&qp->claim.link, &dqm->prio.trapped_claims);
}
