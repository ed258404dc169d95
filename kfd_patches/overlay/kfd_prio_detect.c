// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: observing claims: whether they have work, and arming the doorbell trap of those that do
 * not. kfd_prio_poll.c has when each claim is observed.
 */
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_claim.h"
#include "kfd_prio_share.h"

/*
 * When the packets of a claim first show that its work may have ended, the level stays in force for
 * this time, ns, or for a quarter of linger_us if that is less. KFD's worker, which signals the end
 * to the process, may need the CPU on which the GPU's thread runs; it took 21 to 33 us on the
 * simulated GPU.
 */
#define KFD_PRIO_SETTLE		50000ULL

/*
 * Whether no queue of a claim runs on the GPU: the claim is off, or all queues are being unmapped,
 * or the last runlist failed and will be sent again
 */
static bool kfd_prio_claim_off(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	return qpd->prio.preempted || dqm->prio.state == KFD_PRIO_STATE_LEFT ||
	       (kfd_prio_state_owes(dqm->prio.state) && !kfd_prio_uses_mes(dqm) &&
		!dqm->active_runlist);
}

/*
 * State of a claim before its indices are read. @stuck_at: after this time the waves of the claim
 * are counted even if its indices differ. @trust_until: see kfd_prio_claim_trust(). @signalled_at:
 * when an event of it was last signalled since the observation before; 0: none was. @off: no queue
 * of it runs on the GPU. @saved: it is taken off, and its MQDs show work. @first: it was not
 * observed since it became a claim. @shares: its GPU time is limited or divided.
 */
struct kfd_prio_before {
	u64 rptr_sum;
	u64 wptr_sum;
	u64 stuck_at;
	u64 trust_until;
	u64 signalled_at;
	u32 wakes;
	bool first;
	bool armed;
	bool waves;
	bool work;
	bool ended;
	bool off;
	bool saved;
	bool shares;
};

/*
 * Returns the time until which waves are not counted for a claim with equal indices whose signal
 * shows that the last packet still runs. The time is as long after the last count of waves as that
 * count was after the indices last moved, and at most a quarter of busy_budget_ms after it: the
 * process may use the signal for another purpose. 0: waves are to be counted now.
 */
static u64 kfd_prio_claim_trust(const struct kfd_prio_qpd *qp, const struct kfd_prio_params *k)
{
	u64 counted_at = qp->claim.counted_at, moved_at = qp->claim.moved_at;

	if (counted_at <= moved_at)
		return 0;
	return counted_at + min(counted_at - moved_at, k->budget_ns / 4);
}

/* Also clears the record of events, so that the next one is for the next observation */
static struct kfd_prio_before kfd_prio_claim_before(struct device_queue_manager *dqm,
						    struct qcm_process_device *qpd, bool saved,
						    const struct kfd_prio_params *k)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	return (struct kfd_prio_before) {
		.rptr_sum = qp->rptr_sum,
		.wptr_sum = qp->wptr_sum,
		.stuck_at = qp->progress_at + k->budget_ns / 2,
		.trust_until = kfd_prio_claim_trust(qp, k),
		.signalled_at = xchg(&qp->claim.signalled_at, 0) ?
				READ_ONCE(qp->claim.signal_at) : 0,
		.wakes = qp->claim.wakes,
		.first = !qp->claim.observed_at,
		.armed = kfd_prio_trap_armed(qp),
		.waves = qp->claim.waves,
		.work = qp->work,
		.ended = qp->claim.ended,
		.off = kfd_prio_claim_off(dqm, qpd),
		.saved = saved,
		.shares = kfd_prio_shares(qpd),
	};
}

/*
 * Whether the packets of a claim on the GPU show for the first time that its work has ended.
 * Packets before the last one may still run, so the next observation decides, which counts waves.
 * After the interrupt of an event this one decides: KFD's worker has run, for which the level
 * would wait.
 */
static bool kfd_prio_claim_settles(const struct kfd_prio_before *b,
				   const struct kfd_prio_seen *seen)
{
	return seen->ended && !b->ended && !seen->work && b->work && !b->armed && !b->off &&
	       !b->signalled_at;
}

/* Lets the next observation have the event that this one has found, and cannot use */
static void kfd_prio_claim_put_event(struct kfd_prio_qpd *qp, const struct kfd_prio_before *b)
{
	if (b->signalled_at)
		cmpxchg(&qp->claim.signalled_at, 0, b->signalled_at);
}

/*
 * Uses the event of a claim that was signalled since the observation before, if there was one.
 * @had: the claim had work in the observation before. An event of a claim that had none changes
 *	nothing: it may come from another GPU, or from waves that run on
 * @moved: the indices have moved since
 * @ends: this observation is the first that finds the end of the work
 */
static void kfd_prio_claim_signalled(struct kfd_prio_qpd *qp, const struct kfd_prio_before *b,
				     bool had, bool moved, bool ends)
{
	if (ends)
		WRITE_ONCE(qp->claim.signals, b->signalled_at);
	if (had || moved)
		qp->claim.work_at = max(qp->claim.work_at, b->signalled_at);
}

/*
 * Records the result @seen of observing a claim without the DQM lock.
 * @off: the claim was off the GPU during the observation, or is now. It cannot make progress there.
 *	Launched work of it has no waves, and is work all the same
 * @unsure: all queues were unmapped during the observation, or their waves may not be restored yet,
 *	so a count of zero waves proves nothing
 * @b: state when the snapshot was made; if the claim has rung since, @seen is discarded, because it
 *	does not include the work for which the claim has rung
 */
static void kfd_prio_claim_saw(struct qcm_process_device *qpd, const struct kfd_prio_seen *seen,
			       const struct kfd_prio_before *b, bool off, bool unsure,
			       const struct kfd_prio_params *k, u64 now)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	bool moved = seen->rptr_sum != qp->rptr_sum || seen->wptr_sum != qp->wptr_sum;
	bool had = qp->work, armed = kfd_prio_trap_armed(qp);
	/* A signal that is above 0 again, without a ring, is used for another purpose */
	bool work = seen->work || seen->waves || (seen->pending && !armed) || (off && had);
	bool settles = !off && kfd_prio_claim_settles(b, seen);
	bool runs = seen->counted && seen->waves && !off;
	u64 settled_at;

	if (qp->claim.wakes != b->wakes)
		return;
	/*
	 * A process that is off with saved waves must run on, even if its indices cannot be read;
	 * and one with a group is charged for waves that were counted
	 */
	if (seen->unreadable && !(seen->waves && (qp->preempted || (b->shares && runs)))) {
		kfd_prio_share_observed(qpd, b->armed, false, had);
		return;
	}
	qp->rptr_sum = seen->rptr_sum;
	qp->wptr_sum = seen->wptr_sum;
	if (moved || seen->waves || seen->runs || off)
		qp->progress_at = now;
	if (moved)
		qp->claim.moved_at = now;
	if (seen->counted)
		qp->claim.counted_at = now;
	if (unsure && had && (!work || settles)) {
		kfd_prio_claim_put_event(qp, b);
		return;
	}
	kfd_prio_claim_signalled(qp, b, had, moved,
				 had && !b->ended && (seen->ended || !work));
	qp->claim.ended = seen->ended;
	if (settles) {
		qp->work = false;
		settled_at = now + min(KFD_PRIO_SETTLE, k->linger_ns / 4) - k->linger_ns;
		qp->claim.work_at = max(qp->claim.work_at, settled_at);
		return;
	}
	qp->claim.waves = seen->waves || seen->work;
	qp->work = work;
	kfd_prio_share_observed(qpd, b->armed, runs, work);
	/*
	 * Work may have begun and ended since the last observation; an event shows when it ended.
	 * The first one has no indices to compare with: a new claim without work does not hold.
	 */
	if (work || (moved && !b->signalled_at && !b->first))
		qp->claim.work_at = now;
	if (work)
		WRITE_ONCE(qp->park.woke_by, moved || seen->work ? KFD_PRIO_UNPARK_POLL :
								   KFD_PRIO_UNPARK_WAVES);
	if (work && (moved || !had) &&
	    kfd_prio_trap_change(qp, KFD_PRIO_TRAP_ARMED, KFD_PRIO_TRAP_RUNG))
		kfd_prio_claim_works(qpd, KFD_PRIO_WAKE_POLL, false, now);
}

/*
 * Whether the doorbell trap of a claim may be armed: it does not hold, and is not in the fault of a
 * doorbell, nor was it recently. The store of such a fault may not have been repeated yet, and
 * would fault again, possibly without end.
 */
static bool kfd_prio_claim_quiet(const struct kfd_prio_qpd *qp, const struct kfd_prio_params *k)
{
	const struct kfd_prio_claim c = kfd_prio_claim_of(qp);
	u64 now = ktime_get_ns();

	return !kfd_prio_policy_holds(k, &c, now) && !kfd_prio_in_fault(qp, now);
}

/*
 * Whether a claim has waves. They are counted only where the count can change the result: if the
 * indices are equal, or have not moved for half of busy_budget_ms. They are not counted for a claim
 * whose trap is armed and whose indices have not moved, unless its GPU time is limited or divided;
 * nor for a claim that is off the GPU, whose MQDs decide (@b->saved). While the signal of the last
 * packet shows it to be running, the intervals between counts double. Until the next count is
 * permitted, a claim that has launched packets since the last one counts as having waves.
 */
static bool kfd_prio_claim_waves(struct kfd_process_device *pdd, struct kfd_prio_snapshot *s,
				 const struct kfd_prio_before *b, struct kfd_prio_seen *seen)
{
	bool moved = seen->rptr_sum != b->rptr_sum || seen->wptr_sum != b->wptr_sum;

	if (!s->nr || b->off || !kfd_prio_counts_waves(pdd))
		return b->saved;
	if (seen->work ? ktime_get_ns() <= b->stuck_at : b->armed && !moved && !b->shares)
		return false;
	if (seen->in_flight && !seen->work && !moved && b->waves &&
	    ktime_get_ns() < b->trust_until)
		return true;
	seen->counted = kfd_prio_count_waves(pdd, s);
	if (seen->counted)
		return kfd_prio_waves(pdd, s);
	return !seen->work && (moved || b->waves);
}

/*
 * The second part of kfd_prio_claim_read(): reads the indices of @qpd, counts its waves if needed,
 * and records the result. @saved: the claim is taken off, and its MQDs show work
 */
static bool kfd_prio_claim_indices(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				   bool saved, struct kfd_prio_snapshot *s,
				   struct kfd_prio_claim_pass *pass,
				   const struct kfd_prio_params *k)
{
	const struct kfd_prio_before before = kfd_prio_claim_before(dqm, qpd, saved, k);
	struct kfd_process_device *pdd = qpd_to_pdd(qpd);
	struct mm_struct *mm = qpd->prio.mm;
	bool alive, preempted = qpd->prio.preempted;
	u64 begin = ktime_get_ns(), mapped_at = dqm->prio.mapped_at;
	bool restoring = begin < kfd_prio_restored_at(qpd);
	u64 marked_count = qpd->prio.marked_count;
	u32 unmap_seq = dqm->prio.unmap_seq;
	struct kfd_prio_seen seen;

	kfd_prio_snapshot(qpd, s);
	*pass->reads += KFD_PRIO_POLL_CLAIM + s->nr;
	if (preempted)
		*pass->reads += s->nr * KFD_PRIO_POLL_MQD;
	mmgrab(mm);
	dqm_unlock(dqm);
	alive = kfd_prio_observe(s, mm, &seen);
	if (alive)
		seen.waves = kfd_prio_claim_settles(&before, &seen) ? before.waves :
			     kfd_prio_claim_waves(pdd, s, &before, &seen);
	mmdrop(mm);
	dqm_lock(dqm);
	if (qpd->prio.role != KFD_PRIO_ROLE_CLAIM)
		return false;
	if (!alive) {
		kfd_prio_role_drop(dqm, qpd);
		return false;
	}
	/* If the claim was taken off during the observation, it is to be observed again */
	kfd_prio_claim_observed(dqm, &qpd->prio,
				marked_count == qpd->prio.marked_count ? ktime_get_ns() : begin);
	/* The time of a restore is an estimate; the signal shows that the work has not ended */
	restoring |= seen.in_flight && begin < mapped_at + KFD_PRIO_RESTORE_MAX_NS;
	kfd_prio_claim_saw(qpd, &seen, &before, before.off || kfd_prio_claim_off(dqm, qpd),
			   restoring || unmap_seq != dqm->prio.unmap_seq, k, ktime_get_ns());
	if (preempted && qpd->prio.preempted && !seen.unreadable) {
		WRITE_ONCE(qpd->prio.observe, false);
		if (!before.saved && !seen.work)
			kfd_prio_prove(qpd, marked_count);
	}
	return true;
}

/*
 * Observes the claim @qpd: reads its MQDs if it is taken off, and then its indices. Drops the DQM
 * lock and takes it again.
 * Return: false if the process has lost its claim, or a kick or an unmap that is not confirmed came
 *	first
 */
static bool kfd_prio_claim_read(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				struct kfd_prio_snapshot *s, struct kfd_prio_claim_pass *pass,
				const struct kfd_prio_params *k)
{
	enum kfd_prio_shown shown = kfd_prio_shows_work(qpd);

	if (qpd->prio.role != KFD_PRIO_ROLE_CLAIM)
		return false;
	if (shown == KFD_PRIO_SHOWN_PART) {
		*pass->reads += KFD_PRIO_POLL_READS / 4;
		return false;
	}
	return kfd_prio_claim_indices(dqm, qpd, shown == KFD_PRIO_SHOWN_WORK, s, pass, k);
}

/*
 * Arms the doorbell trap of a claim that does not hold any more, unmaps its doorbells and reads its
 * indices again. Drops the DQM lock and takes it again. kfd_prio_qpd_claim.rung is cleared in the
 * critical section that arms the trap, so that the step of a fault never finds a stale value. The
 * claim is in fresh_claims until its indices were read.
 */
static void kfd_prio_claim_arm(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
			       struct kfd_prio_snapshot *s, struct kfd_prio_claim_pass *pass,
			       const struct kfd_prio_params *k)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!kfd_prio_trap_change(qp, KFD_PRIO_TRAP_RUNG, KFD_PRIO_TRAP_ARMED))
		return;
	qp->claim.rung = false;
	qp->park.quiet_at = ktime_get_ns();
	list_move_tail(&qp->claim.link, &dqm->prio.fresh_claims);
	dqm_unlock(dqm);
	kfd_prio_doorbell_zap(qpd_to_pdd(qpd));
	dqm_lock(dqm);
	/* A queue may have been created while the lock was dropped: take a new snapshot */
	if (qp->role == KFD_PRIO_ROLE_CLAIM)
		kfd_prio_claim_read(dqm, qpd, s, pass, k);
	/* The claim may now seem to have no work, which changes what the marks count */
	dqm->prio.recheck = true;
}

/**
 * kfd_prio_claim_observe() - observe the next claim that is due, and trap it if it no longer holds
 * @dqm: device queue manager of the GPU
 * @s: buffer for a snapshot
 * @pass: the pass, begun by kfd_prio_claim_pass_begin()
 *
 * Context: the GPU's thread; DQM lock, which is dropped and taken again, because user memory is
 *	read and doorbells are unmapped without it
 * Return: true if another claim may be due in the pass; false if the pass has ended
 */
bool kfd_prio_claim_observe(struct device_queue_manager *dqm, struct kfd_prio_snapshot *s,
			    struct kfd_prio_claim_pass *pass)
{
	struct qcm_process_device *qpd;
	struct kfd_prio_params k;
	struct kfd_prio_qpd *qp;
	struct kfd_process *p;
	bool more = true;
	u64 begin;

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_gpu_params(dqm, &k);
	begin = ktime_get_ns();
	qp = kfd_prio_claim_pass_next(dqm, pass, &k);
	if (!qp) {
		kfd_prio_claim_pass_end(dqm, pass);
		return false;
	}
	qpd = container_of(qp, struct qcm_process_device, prio);
	p = qpd->pqm->process;
	if (!kfd_prio_process_hold(p)) {	/* its release has begun */
		kfd_prio_claim_observed(dqm, qp, ktime_get_ns());
		return true;
	}
	if (!kfd_prio_claim_read(dqm, qpd, s, pass, &k))
		/* If the process still has its claim, a kick or an unmap needs a step first */
		more = qp->role != KFD_PRIO_ROLE_CLAIM;
	else if (qp->claim.rung && kfd_prio_claim_quiet(qp, &k))
		kfd_prio_claim_arm(dqm, qpd, s, pass, &k);
	kfd_prio_process_drop(p);
	pass->ns += ktime_get_ns() - begin;
	if (!more)
		kfd_prio_claim_pass_end(dqm, pass);
	return more;
}
