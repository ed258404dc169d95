// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: claims, the processes on a GPU that may preempt others (kfd_prio_role.c): whether they
 * have work, and arming the doorbell trap of those that do not.
 */
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/* Limits of the interval at which a claim that may have work is observed, ns: see poll_ns() */
#define KFD_PRIO_POLL_MIN	20000ULL
#define KFD_PRIO_POLL_MAX	1000000ULL

/*
 * When the packets of a claim first show that its work may have ended, the level stays in force for
 * this time, ns, or for a quarter of linger_us if that is less. KFD's worker, which signals the end
 * to the process, may need the CPU on which the GPU's thread runs; it took 21 to 33 us on the
 * simulated GPU.
 */
#define KFD_PRIO_SETTLE		50000ULL

static void kfd_prio_claim_works(struct qcm_process_device *qpd, enum kfd_prio_wake wake,
				 bool in_fault, u64 now)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	qp->rung = true;
	qp->wakes++;
	qp->waves = true;
	qp->ended = false;
	qp->rung_at = now;
	qp->moved_at = now;
	qp->work = true;
	qp->work_at = now;
	qp->progress_at = now;
	kfd_prio_woke(qpd);
	trace_kfd_doorbell_wake(qpd, wake, in_fault);
}

static struct kfd_prio_claim kfd_prio_claim_of(const struct kfd_prio_qpd *qp)
{
	return (struct kfd_prio_claim) {
		.prio = qp->set_prio,
		.rung = qp->rung,
		.work = qp->work,
		.work_at = qp->work_at,
		.progress_at = qp->progress_at,
	};
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
	u64 high = min(KFD_PRIO_POLL_MAX, k->budget_ns / 4);
	u64 low = clamp_t(u64, k->linger_ns / 4, KFD_PRIO_POLL_MIN, high);

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
	u64 at = KFD_PRIO_NEVER, since;
	struct kfd_prio_qpd *qp;

	list_for_each_entry(qp, &dqm->prio.claims, claim) {
		since = max(dqm->prio.claims_at, qp->rung ? qp->rung_at : 0);
		at = min(at, since + (qp->rung ? poll_ns(k, since - qp->rung_at) :
						 kfd_prio_safety_poll_ns()));
	}
	return at;
}

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

/* State of a claim before its indices are read */
struct kfd_prio_before {
	u64 rptr_sum;
	u64 wptr_sum;
	u64 stuck_at;
	u64 trust_until;
	u32 wakes;
	bool armed;
	bool waves;
	bool work;
	bool ended;
	bool off;
	bool saved;
};

/*
 * Returns until when to believe a signal that shows the last packet of a claim to be running. The
 * time is as long after the last count of waves as that count was after the launch of the packet,
 * and at most a quarter of busy_budget_ms: the process may use the signal for another purpose.
 */
static u64 kfd_prio_claim_trust(const struct kfd_prio_qpd *qp, const struct kfd_prio_params *k)
{
	if (qp->counted_at <= qp->moved_at)
		return 0;
	return qp->counted_at + min(qp->counted_at - qp->moved_at, k->budget_ns / 4);
}

static struct kfd_prio_before kfd_prio_claim_before(struct device_queue_manager *dqm,
						    struct qcm_process_device *qpd, bool saved,
						    const struct kfd_prio_params *k)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	return (struct kfd_prio_before) {
		.rptr_sum = qp->rptr_sum,
		.wptr_sum = qp->wptr_sum,
		.stuck_at = qp->progress_at + k->budget_ns / 2,
		.trust_until = kfd_prio_claim_trust(qp, k),
		.wakes = qp->wakes,
		.armed = atomic_read(&qp->trap) == KFD_PRIO_TRAP_ARMED,
		.waves = qp->waves,
		.work = qp->work,
		.ended = qp->ended,
		.off = kfd_prio_claim_off(dqm, qpd),
		.saved = saved,
	};
}

/*
 * Whether the packets of a claim on the GPU show for the first time that its work has ended.
 * Packets before the last one may still run, so the next observation counts waves.
 */
static bool kfd_prio_claim_settles(const struct kfd_prio_before *b,
				   const struct kfd_prio_seen *seen)
{
	return seen->ended && !b->ended && !seen->work && b->work && !b->armed && !b->off;
}

/*
 * Records the result @seen of observing a claim without the DQM lock.
 * @off: the claim was off the GPU during the observation, or is now. It cannot make progress there.
 *	Launched work of it has no waves, and is work all the same
 * @unsure: all queues were unmapped during the observation, or their waves may not be restored yet,
 *	so a count of zero waves proves nothing
 * @b: state when the snapshot was made; if the claim has rung since, @seen says nothing about the
 *	work that it rang for
 */
static void kfd_prio_claim_saw(struct qcm_process_device *qpd, const struct kfd_prio_seen *seen,
			       const struct kfd_prio_before *b, bool off, bool unsure,
			       const struct kfd_prio_params *k, u64 now)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	bool moved = seen->rptr_sum != qp->rptr_sum || seen->wptr_sum != qp->wptr_sum;
	bool had = qp->work, armed = atomic_read(&qp->trap) == KFD_PRIO_TRAP_ARMED;
	/* A signal that is above 0 again, without a ring, is used for another purpose */
	bool work = seen->work || seen->waves || (seen->pending && !armed) || (off && had);
	bool settles = !off && kfd_prio_claim_settles(b, seen);

	/* A parked process with saved waves must run on, even if its indices cannot be read */
	if ((seen->unreadable && !(qp->parked && seen->waves)) || qp->wakes != b->wakes)
		return;
	qp->rptr_sum = seen->rptr_sum;
	qp->wptr_sum = seen->wptr_sum;
	if (moved || seen->waves || seen->runs || off)
		qp->progress_at = now;
	if (moved)
		qp->moved_at = now;
	if (seen->counted)
		qp->counted_at = now;
	if (unsure && had && (!work || settles))
		return;
	qp->ended = seen->ended;
	if (settles) {
		qp->work = false;
		qp->work_at = max(qp->work_at,
				  now + min(KFD_PRIO_SETTLE, k->linger_ns / 4) - k->linger_ns);
		return;
	}
	qp->waves = seen->waves || seen->work;
	qp->work = work;
	if (work)
		qp->work_at = now;
	if (work)
		WRITE_ONCE(qp->woke_by, moved || seen->work ? KFD_PRIO_UNPARK_POLL :
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
 * whose trap is armed and whose indices have not moved, nor for a claim that is off the GPU, whose
 * MQDs decide (@b->saved). While the signal of the last packet shows it to be running, the
 * intervals between counts double. Until the next count is permitted, a claim that has launched
 * packets since the last one counts as having waves.
 */
static bool kfd_prio_claim_waves(struct kfd_process_device *pdd, struct kfd_prio_snapshot *s,
				 const struct kfd_prio_before *b, struct kfd_prio_seen *seen)
{
	bool moved = seen->rptr_sum != b->rptr_sum || seen->wptr_sum != b->wptr_sum;

	if (!s->nr || b->off || !kfd_prio_counts_waves(pdd))
		return b->saved;
	if (seen->work ? ktime_get_ns() <= b->stuck_at : b->armed && !moved)
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
 * Reads the indices of @qpd, as kfd_prio_claim_read(). @saved: it is off the GPU and its MQDs show
 * work
 */
static bool kfd_prio_claim_indices(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				   bool saved, struct kfd_prio_snapshot *s,
				   const struct kfd_prio_params *k)
{
	const struct kfd_prio_before before = kfd_prio_claim_before(dqm, qpd, saved, k);
	struct kfd_process_device *pdd = qpd_to_pdd(qpd);
	struct mm_struct *mm = qpd->prio.mm;
	bool alive, preempted = qpd->prio.preempted;
	u64 begin = ktime_get_ns(), mapped_at = dqm->prio.mapped_at;
	bool restoring = begin < dqm->prio.restored_at;
	u64 taken_count = qpd->prio.taken_count;
	u32 unmap_seq = dqm->prio.unmap_seq;
	struct kfd_prio_seen seen;

	kfd_prio_snapshot(qpd, s);
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
	/* The time of a restore is an estimate; the signal shows that the work has not ended */
	restoring |= seen.in_flight && begin < mapped_at + KFD_PRIO_RESTORE_MAX_NS;
	kfd_prio_claim_saw(qpd, &seen, &before, before.off || kfd_prio_claim_off(dqm, qpd),
			   restoring || unmap_seq != dqm->prio.unmap_seq, k, ktime_get_ns());
	if (preempted && qpd->prio.preempted && !seen.unreadable) {
		WRITE_ONCE(qpd->prio.look, false);
		if (!before.saved && !seen.work)
			kfd_prio_prove(qpd, taken_count);
	}
	return true;
}

/*
 * Reads the MQDs of @qpd if it is off the GPU, and then its indices. Drops the DQM lock and takes
 * it again.
 * Return: false if the claim is gone, or a kick came first: the next step reads it
 */
static bool kfd_prio_claim_read(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				struct kfd_prio_snapshot *s, const struct kfd_prio_params *k)
{
	enum kfd_prio_shown shown = kfd_prio_shows_work(qpd);

	if (shown == KFD_PRIO_SHOWN_PART || qpd->prio.role != KFD_PRIO_ROLE_CLAIM)
		return false;
	return kfd_prio_claim_indices(dqm, qpd, shown == KFD_PRIO_SHOWN_WORK, s, k);
}

/*
 * Arms the doorbell trap of a claim that does not hold any more, unmaps its doorbells and reads its
 * indices again. Drops the DQM lock and takes it again. @rung is cleared under the lock together
 * with arming, so that a fault never finds a stale @rung.
 */
static void kfd_prio_claim_arm(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
			       struct kfd_prio_snapshot *s, const struct kfd_prio_params *k)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!kfd_prio_trap_change(qp, KFD_PRIO_TRAP_RUNG, KFD_PRIO_TRAP_ARMED))
		return;
	qp->rung = false;
	qp->quiet_at = ktime_get_ns();
	dqm_unlock(dqm);
	kfd_prio_doorbell_zap(qpd_to_pdd(qpd));
	dqm_lock(dqm);
	/* A queue may have been created meanwhile: take a new snapshot */
	if (qp->role == KFD_PRIO_ROLE_CLAIM)
		kfd_prio_claim_read(dqm, qpd, s, k);
	/* The claim may not have to be kept off by a higher level any more */
	dqm->prio.recheck = true;
}

/**
 * kfd_prio_claim_look() - observe each claim of a GPU, and trap those that have no work
 * @dqm: device queue manager of the GPU
 * @s: buffer for a snapshot
 *
 * Context: the GPU's thread; DQM lock, which is dropped and taken again for each claim, because
 *	user memory is read and doorbells are unmapped without it
 */
void kfd_prio_claim_look(struct device_queue_manager *dqm, struct kfd_prio_snapshot *s)
{
	struct kfd_prio_qpd *qp;
	struct kfd_prio_params k;
	unsigned int n = 0;

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_gpu_params(dqm, &k);
	list_for_each_entry(qp, &dqm->prio.claims, claim)
		n++;
	/*
	 * The list may change while the lock is dropped. A claim that is missed is observed the
	 * next time.
	 */
	while (n-- && !list_empty(&dqm->prio.claims)) {
		struct qcm_process_device *qpd;
		struct kfd_process *p;

		qp = list_first_entry(&dqm->prio.claims, struct kfd_prio_qpd, claim);
		list_move_tail(&qp->claim, &dqm->prio.claims);
		qpd = container_of(qp, struct qcm_process_device, prio);
		p = qpd->pqm->process;
		if (!kfd_prio_process_hold(p))
			continue;	/* its release has begun */
		if (kfd_prio_claim_read(dqm, qpd, s, &k) && qp->rung &&
		    kfd_prio_claim_quiet(qp, &k))
			kfd_prio_claim_arm(dqm, qpd, s, &k);
		kfd_prio_process_drop(p);
	}
}
