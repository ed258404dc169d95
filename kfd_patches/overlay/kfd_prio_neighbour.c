// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: neighbours, the processes on a GPU that may be preempted and may not preempt.
 *
 * The update that puts a level in force takes off every neighbour below it. A neighbour counts as
 * preempted only if it has work. When it seems to have none, its doorbells are trapped until it
 * rings, whether a level is in force or not. So the state of each neighbour is known when a claim
 * rings, and the fault of the claim does not read user memory. A ring of a neighbour costs the
 * neighbour one fault. The engine acts on it only if the neighbour is taken off, or a level is in
 * force that would take it off.
 *
 * The MQDs of a neighbour that is taken off can prove that it has no work, see kfd_prio_proof.c. It
 * then stays off until it rings.
 *
 * A neighbour on the GPU seems to have no work when the indices of its queues are equal and
 * - it has never launched a packet: the indices are 0; or
 * - its indices have not moved for safety_poll_us, no runlist was sent during that time, and a
 *   later count shows no wave of it.
 *
 * Two decisions depend on this: which processes count as preempted, and which are parked. Waves are
 * not counted on a GPU of several XCCs (a count covers one of them), on a virtual function, from
 * gfx10 on, and while the runlist is over-subscribed (a process that waits for its turn has saved
 * waves, and none in flight).
 *
 * A queue that could not run even if its process were put back is ignored (kfd_prio_snapshot()).
 */
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_share.h"

/* Most neighbours that one observation includes: that may have work, and that have none */
#define KFD_PRIO_NEIGHBOUR_BUSY	64
#define KFD_PRIO_NEIGHBOUR_QUIET	8

/*
 * After so many reads, each of the indices or of the MQDs of a queue, the thread pauses. It runs at
 * a real-time priority, and a process whose doorbells have faulted must run before they are trapped
 * again, KFD_PRIO_REPEAT later, to repeat its store. Reading an MQD in VRAM takes 1 us.
 */
#define KFD_PRIO_NEIGHBOUR_READS	64

/*
 * The pause, ns. Claims that hold are not observed for a quarter of linger_us, which is half of the
 * pause by default
 */
#define KFD_PRIO_NEIGHBOUR_PAUSE	100000ULL

/*
 * Result of observing a neighbour:
 * - UNKNOWN: the observation has no result, and changes nothing;
 * - UNPROVED: the neighbour is taken off, its MQDs show no work, and its indices cannot be read;
 * - WORK: it has work, or may have waves;
 * - STALLED: it may have waves, but its indices have not moved for so long that it may be parked,
 *   after which its MQDs show whether it has waves;
 * - NONE: it seems to have no work.
 */
enum kfd_prio_found {
	KFD_PRIO_FOUND_UNKNOWN,
	KFD_PRIO_FOUND_UNPROVED,
	KFD_PRIO_FOUND_WORK,
	KFD_PRIO_FOUND_STALLED,
	KFD_PRIO_FOUND_NONE,
};

/**
 * struct kfd_prio_pass - state of one call of kfd_prio_neighbours_observe()
 * @s: buffer for a snapshot
 * @counted: the waves of all queues were counted in this call, or those of @of
 * @of: the process whose waves were counted last
 */
struct kfd_prio_pass {
	struct kfd_prio_snapshot *s;
	bool counted;
	const struct kfd_process_device *of;
};

/*
 * Counts waves, unless that was done in this call. One count serves all neighbours, where it covers
 * all processes. Return: whether a count is there
 */
static bool kfd_prio_neighbour_count(struct kfd_process_device *pdd, struct kfd_prio_pass *pass)
{
	if (!pass->counted || (!KFD_PRIO_COUNTS_ALL && pass->of != pdd))
		pass->counted = kfd_prio_count_waves(pdd, pass->s);
	pass->of = pdd;
	return pass->counted;
}

/*
 * Whether a neighbour that is on the GPU and has equal indices may have waves in flight. A kernel
 * of a queue that has not moved for so long was launched before the count. Soon after the queues
 * were mapped none is made, and a neighbour stays what it was.
 * @armed: the neighbour seemed to have no work
 */
static bool kfd_prio_neighbour_waves(struct kfd_process_device *pdd, struct kfd_prio_pass *pass,
				     u64 moved_at, bool armed)
{
	if (!kfd_prio_sees_waves(&pdd->qpd))
		return true;
	if (ktime_get_ns() < max(moved_at, kfd_prio_restored_at(&pdd->qpd)) +
	    kfd_prio_safety_poll_ns())
		return !armed;
	return !kfd_prio_neighbour_count(pdd, pass) || kfd_prio_waves(pdd, pass->s);
}

/*
 * Whether a neighbour whose waves cannot be counted, and whose indices have not moved since
 * @moved_at, may be parked, so that its MQDs show whether it has waves. If the signal of its last
 * packet is not complete, it may not for busy_budget_ms more; after that the signal may be in use
 * for another purpose.
 */
static bool kfd_prio_neighbour_stalled(struct device_queue_manager *dqm,
				       struct qcm_process_device *qpd,
				       const struct kfd_prio_seen *seen, u64 moved_at)
{
	struct kfd_prio_params k;
	u64 now = ktime_get_ns();

	if (!kfd_prio_park_ns(dqm) || seen->runs || kfd_prio_sees_waves(qpd))
		return false;
	kfd_prio_gpu_params(dqm, &k);
	return now - moved_at >= k.park_ns + (seen->pending ? k.budget_ns : 0);
}

/*
 * Reads the indices of a neighbour, counts its waves if needed, and records the result. Drops the
 * DQM lock and takes it again; the neighbour may have lost its role then.
 *
 * Indices that were never used need no count, nor those that stay equal while the trap is armed. If
 * the GPU time of the process is limited or divided, they do: it may show other memory than the GPU
 * reads, and a GPU may ring for it. While its trap is armed, its waves are counted also if its
 * indices differ or cannot be read, see kfd_prio_share_observed().
 * @waves: the neighbour is taken off, and its MQDs show work
 */
static enum kfd_prio_found kfd_prio_neighbour_read(struct device_queue_manager *dqm,
						   struct qcm_process_device *qpd, bool waves,
						   struct kfd_prio_pass *pass)
{
	struct kfd_process_device *pdd = qpd_to_pdd(qpd);
	struct kfd_prio_qpd *qp = &qpd->prio;
	bool armed = kfd_prio_trap_armed(qp) && !qp->neighbour.stalled;
	bool off = qp->preempted;
	u64 rptr_sum = qp->rptr_sum, wptr_sum = qp->wptr_sum, moved_at = qp->progress_at;
	bool alive, moved, runs = false, shares = kfd_prio_shares(qpd);
	u64 marked_count = qp->marked_count;
	u32 unmap_seq = dqm->prio.unmap_seq;
	struct mm_struct *mm = qp->mm;
	struct kfd_prio_seen seen;

	kfd_prio_snapshot(qpd, pass->s);
	dqm->prio.neighbour_reads += 1 + pass->s->nr;
	mmgrab(mm);
	dqm_unlock(dqm);
	alive = kfd_prio_observe(pass->s, mm, &seen);
	moved = seen.rptr_sum != rptr_sum || seen.wptr_sum != wptr_sum;
	if (alive && !off && shares && armed)
		runs = kfd_prio_sees_waves(qpd) && kfd_prio_neighbour_count(pdd, pass) &&
		       kfd_prio_waves(pdd, pass->s);
	if (alive && !off && !seen.work && !seen.unreadable &&
	    (shares || (!seen.unused && (moved || !armed))))
		waves = moved || kfd_prio_neighbour_waves(pdd, pass, moved_at, armed);
	waves |= runs;
	mmdrop(mm);
	dqm_lock(dqm);
	if (qp->role != KFD_PRIO_ROLE_NEIGHBOUR)
		return KFD_PRIO_FOUND_UNKNOWN;
	if (!alive) {
		/* A process that is taken off stays so until KFD destroys it */
		WRITE_ONCE(qp->exiting, true);
		kfd_prio_role_drop(dqm, qpd);
		return KFD_PRIO_FOUND_UNKNOWN;
	}
	if (off != qp->preempted || marked_count != qp->marked_count)
		return KFD_PRIO_FOUND_UNKNOWN;
	if (!off && unmap_seq != dqm->prio.unmap_seq) {
		/*
		 * All queues may have been unmapped during the count, which other neighbours would
		 * use
		 */
		pass->counted = false;
		return KFD_PRIO_FOUND_UNKNOWN;
	}
	kfd_prio_share_observed(qpd, armed, runs, seen.work || waves);
	if (seen.unreadable && !waves) {
		if (off)
			qp->work = false;
		return off ? KFD_PRIO_FOUND_UNPROVED : KFD_PRIO_FOUND_UNKNOWN;
	}
	qp->rptr_sum = seen.rptr_sum;
	qp->wptr_sum = seen.wptr_sum;
	if (moved)
		qp->progress_at = ktime_get_ns();
	qp->work = seen.work || waves;
	qp->neighbour.stalled = !off && waves && !seen.work && !moved &&
				kfd_prio_neighbour_stalled(dqm, qpd, &seen, moved_at);
	if (qp->neighbour.stalled)
		return KFD_PRIO_FOUND_STALLED;
	if (qp->work)
		WRITE_ONCE(qp->park.woke_by, moved || seen.work ? KFD_PRIO_UNPARK_POLL :
								  KFD_PRIO_UNPARK_WAVES);
	return qp->work ? KFD_PRIO_FOUND_WORK : KFD_PRIO_FOUND_NONE;
}

/*
 * Finds out whether a neighbour has work, from its MQDs if it is taken off, then from its indices
 * and waves. Drops the DQM lock and takes it again; the neighbour may have lost its role then.
 */
static enum kfd_prio_found kfd_prio_neighbour_find(struct device_queue_manager *dqm,
						   struct qcm_process_device *qpd,
						   struct kfd_prio_pass *pass)
{
	enum kfd_prio_shown shown = kfd_prio_shows_work(qpd);

	if (qpd->prio.role != KFD_PRIO_ROLE_NEIGHBOUR)
		return KFD_PRIO_FOUND_UNKNOWN;
	if (shown == KFD_PRIO_SHOWN_PART) {
		/* 32 MQDs were read (KFD_PRIO_PROOF_MQDS); the next step reads others, at once */
		kfd_prio_neighbour_changed(qpd);
		WRITE_ONCE(dqm->prio.observe_now, true);
		dqm->prio.neighbour_reads += KFD_PRIO_NEIGHBOUR_READS / 2;
		return KFD_PRIO_FOUND_UNKNOWN;
	}
	return kfd_prio_neighbour_read(dqm, qpd, shown == KFD_PRIO_SHOWN_WORK, pass);
}

/* Records that a neighbour may have work */
static void kfd_prio_neighbour_wake(struct device_queue_manager *dqm, struct kfd_prio_qpd *qp)
{
	qp->neighbour.stalled = false;
	/* First, because a neighbour whose trap is armed counts as having no work */
	kfd_prio_trap_change(qp, KFD_PRIO_TRAP_ARMED, KFD_PRIO_TRAP_RUNG);
	kfd_prio_neighbour_rise(&dqm->prio, qp);
	/* A process that is off and does not count as preempted: the next marking counts it */
	dqm->prio.recheck |= qp->preempted && !qp->counted;
}

/*
 * Arms the doorbell trap of a neighbour that seems to have no work, or that is stalled, and
 * observes it again. Drops the DQM lock and takes it again.
 * @proves: if the trap was armed before the last observation, that observation proves that the
 *	neighbour has no work; its marked_count was @marked_count then
 */
static void kfd_prio_neighbour_arm(struct device_queue_manager *dqm,
				   struct qcm_process_device *qpd, struct kfd_prio_pass *pass,
				   bool proves, u64 marked_count)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	enum kfd_prio_found found;
	bool armed;

	if (kfd_prio_in_fault(qp, ktime_get_ns()))
		return;
	armed = kfd_prio_trap_change(qp, KFD_PRIO_TRAP_RUNG, KFD_PRIO_TRAP_ARMED);
	/* Before the lock is dropped, because rings are looked for in this list only */
	list_move_tail(&qp->link, &dqm->prio.quiet_neighbours);
	qp->neighbour.quiet = true;
	if (!armed && proves) {
		kfd_prio_prove(qpd, marked_count);
	} else if (armed) {
		marked_count = qp->marked_count;
		dqm_unlock(dqm);
		kfd_prio_doorbell_zap(qpd_to_pdd(qpd));
		dqm_lock(dqm);
		if (qp->role != KFD_PRIO_ROLE_NEIGHBOUR)
			return;
		found = kfd_prio_neighbour_find(dqm, qpd, pass);
		if (found < KFD_PRIO_FOUND_STALLED && found != KFD_PRIO_FOUND_UNPROVED) {
			if (qp->role == KFD_PRIO_ROLE_NEIGHBOUR)
				kfd_prio_neighbour_wake(dqm, qp);
			return;
		}
		/* Of a neighbour that is stalled, the time without movement counts */
		qp->park.quiet_at = qp->neighbour.stalled ? qp->progress_at : ktime_get_ns();
		if (found == KFD_PRIO_FOUND_NONE)
			kfd_prio_prove(qpd, marked_count);
		/* The set of processes with work, whose time off is counted, has changed */
		dqm->prio.recheck = true;
	}
	if (kfd_prio_trap_rung(qp))
		kfd_prio_neighbour_rise(&dqm->prio, qp);
}

/*
 * Whether an observation of a neighbour has no use: KFD has evicted it; or all queues are being
 * unmapped; or work of it was observed since it was taken off. The last condition is not used for a
 * process that was parked because it was stalled.
 */
static bool kfd_prio_neighbour_known(const struct qcm_process_device *qpd)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	return qpd->evicted > qp->preempted || qpd->dqm->prio.state == KFD_PRIO_STATE_LEFT ||
	       (qp->preempted && qp->work && !qp->neighbour.stalled && !READ_ONCE(qp->observe));
}

/* Observes one neighbour and acts on the result. Drops the DQM lock and takes it again. */
static void kfd_prio_neighbour_observe(struct device_queue_manager *dqm,
				       struct qcm_process_device *qpd, struct kfd_prio_pass *pass)
{
	struct kfd_process *p = qpd->pqm->process;
	u64 marked_count = qpd->prio.marked_count;
	enum kfd_prio_found found;

	if (kfd_prio_neighbour_known(qpd) || !kfd_prio_process_hold(p))
		return;
	WRITE_ONCE(qpd->prio.observe, false);
	found = kfd_prio_neighbour_find(dqm, qpd, pass);
	switch (found) {
	case KFD_PRIO_FOUND_NONE:
	case KFD_PRIO_FOUND_STALLED:
	case KFD_PRIO_FOUND_UNPROVED:
		kfd_prio_neighbour_arm(dqm, qpd, pass, found == KFD_PRIO_FOUND_NONE, marked_count);
		break;
	case KFD_PRIO_FOUND_WORK:
		kfd_prio_neighbour_wake(dqm, &qpd->prio);
		break;
	case KFD_PRIO_FOUND_UNKNOWN:
		break;
	}
	kfd_prio_process_drop(p);
}

/*
 * Returns the first neighbour of a list; with @unchanged the first one whose queues have not
 * changed
 */
static struct kfd_prio_qpd *kfd_prio_neighbour_first(struct list_head *list, bool unchanged)
{
	struct kfd_prio_qpd *qp;

	list_for_each_entry(qp, list, link)
		if (!unchanged || !READ_ONCE(qp->observe))
			return qp;
	return NULL;
}

/*
 * Observes the first @n neighbours of a list, and at least one unless @n is 0. Each of them moves
 * to the end of this list or of the other. With @unchanged, neighbours whose queues have changed
 * are skipped; another walk observes them. Drops the DQM lock and takes it again.
 * Return: number of neighbours that are left, because a kick has interrupted the walk or a pause is
 *	due
 */
static unsigned int kfd_prio_neighbour_walk(struct device_queue_manager *dqm,
					    struct list_head *list, unsigned int n, bool unchanged,
					    struct kfd_prio_pass *pass)
{
	struct kfd_prio_qpd *qp;

	/* The list may change while the lock is dropped */
	while (n--) {
		qp = kfd_prio_neighbour_first(list, unchanged);
		if (!qp)
			break;
		list_move_tail(&qp->link, list);
		kfd_prio_neighbour_observe(dqm, container_of(qp, struct qcm_process_device, prio),
					   pass);
		if (n && (dqm->prio.neighbour_reads >= KFD_PRIO_NEIGHBOUR_READS ||
			  atomic_read(&dqm->prio.kicked)))
			return n;
	}
	return 0;
}

/*
 * Counts the neighbours to be observed. @busy: of those that may have work; all of them if one was
 * just taken off. @changed: of those without work whose queues have changed, which
 * kfd_prio_neighbour_rings() has moved to the front.
 */
static void kfd_prio_neighbour_due(struct kfd_prio_dqm *d, unsigned int *busy,
				   unsigned int *changed)
{
	unsigned int n = 0;
	struct kfd_prio_qpd *qp;
	bool fresh = false;

	list_for_each_entry(qp, &d->neighbours, link) {
		fresh |= qp->preempted && READ_ONCE(qp->observe);
		n++;
	}
	*busy = fresh ? n : min(n, d->busy_left);
	*changed = 0;
	list_for_each_entry(qp, &d->quiet_neighbours, link) {
		if (!READ_ONCE(qp->observe))
			break;
		++*changed;
	}
}

/* Whether neighbours are left of an observation that was interrupted or pauses */
static bool kfd_prio_neighbour_left(const struct kfd_prio_dqm *d)
{
	return d->busy_left || d->changed_left || d->quiet_left;
}

/*
 * Time of the next poll. It follows from that of the last poll, so that a shorter safety_poll_us is
 * in force at once.
 */
static u64 kfd_prio_neighbour_due_at(const struct kfd_prio_dqm *d)
{
	return d->polled_at + kfd_prio_safety_poll_ns();
}

/**
 * kfd_prio_neighbour_poll_at() - time at which the neighbours of a GPU must be observed again
 * @d: state of the GPU
 *
 * Context: DQM lock
 * Return: the time, ktime_get_ns(), which may have passed
 */
u64 kfd_prio_neighbour_poll_at(const struct kfd_prio_dqm *d)
{
	if (kfd_prio_neighbour_left(d) || READ_ONCE(d->observe_now))
		return d->paused_until;
	return max(d->paused_until, kfd_prio_neighbour_due_at(d));
}

/**
 * kfd_prio_neighbours_observe() - observe the neighbours, and trap those that have no work
 * @dqm: device queue manager of the GPU
 * @s: buffer for a snapshot
 *
 * Neighbours are observed every safety_poll_us, or within that time if there are groups, and those
 * that were taken off at once. Without a claim, a group and parking the function does nothing.
 *
 * A kick interrupts the observation, and the thread resumes it after the kick. After
 * KFD_PRIO_NEIGHBOUR_READS reads it pauses, and no neighbour is observed before
 * kfd_prio_dqm.paused_until. Users can cause any number of kicks. So the observation has three
 * parts: neighbours that may have work, those in quiet_neighbours whose queues have changed, and
 * the poll of the others. Each part has its own count of what is left, does not wait for another
 * part, and observes at least one neighbour in each call.
 *
 * Context: the GPU's thread; DQM lock, dropped and taken again for each neighbour
 */
void kfd_prio_neighbours_observe(struct device_queue_manager *dqm, struct kfd_prio_snapshot *s)
{
	struct kfd_prio_pass pass = { .s = s };
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 now = ktime_get_ns();
	bool due = now >= kfd_prio_neighbour_due_at(d);
	struct list_head *quiet = &d->quiet_neighbours;
	unsigned int busy, changed;

	lockdep_assert_held(&dqm->lock_hidden);
	if (now < d->paused_until)
		return;
	if (!due && !READ_ONCE(d->observe_now) && !kfd_prio_neighbour_left(d))
		return;
	if (list_empty(&d->claims) && list_empty(&d->accounts) && !kfd_prio_park_ns(dqm)) {
		d->busy_left = 0;
		d->changed_left = false;
		d->quiet_left = 0;
		return;
	}
	if (due || READ_ONCE(d->observe_now))
		d->busy_left = KFD_PRIO_NEIGHBOUR_BUSY;
	WRITE_ONCE(d->observe_now, false);
	if (due) {
		/*
		 * Set before the observation, so that a kick that interrupts it does not delay the
		 * next one
		 */
		d->polled_at = now - kfd_prio_early(d, kfd_prio_safety_poll_ns());
		d->quiet_left = KFD_PRIO_NEIGHBOUR_QUIET;
	}
	/* Neighbours of quiet_neighbours that were taken off go to the front as well */
	if (d->quiet_marked)
		atomic_set(&d->neighbour_rung, 1);
	d->quiet_marked = false;
	kfd_prio_neighbour_rings(dqm);
	kfd_prio_neighbour_due(d, &busy, &changed);
	d->busy_left = kfd_prio_neighbour_walk(dqm, &d->neighbours, busy, false, &pass);
	d->changed_left = kfd_prio_neighbour_walk(dqm, quiet, changed, false, &pass);
	d->quiet_left = kfd_prio_neighbour_walk(dqm, quiet, d->quiet_left, true, &pass);
	if (d->neighbour_reads >= KFD_PRIO_NEIGHBOUR_READS) {
		now = ktime_get_ns();
		d->paused_until = now + KFD_PRIO_NEIGHBOUR_PAUSE;
		/* The claims wait as well, or the thread would run again at once */
		d->claims_at = now;
		d->claims_reads = 0;
		d->neighbour_reads = 0;
	} else if (!kfd_prio_neighbour_left(d)) {
		d->neighbour_reads = 0;
	}
}
