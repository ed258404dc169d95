// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: neighbours, the processes on a GPU that may be preempted and may not preempt.
 *
 * Each neighbour below a level is taken off by the update that puts the level in force, and counts
 * as preempted only if it has work.  Its doorbells are trapped once it seems to have none, whether
 * a level is in force or not, and stay so until it rings: so what is known of it is true at the
 * moment at which a claim rings, and the claim's fault need not look at user memory.  A ring costs
 * the neighbour one fault, and the engine nothing, unless the neighbour is off or a level is in
 * force that takes it off.
 *
 * A neighbour that is off the GPU is proved to have no work by its MQDs, see kfd_prio_rest.c.  It
 * stays off until it rings.
 *
 * A neighbour that is on the GPU seems to have no work when the indices of its queues are equal and
 *	- it seems to have never launched anything: they are 0; or
 *	- they have not moved for safety_poll_us, in which no runlist was sent, and a count after
 *	  that shows no wave of it.
 * That decides only what a level counts, and parking.  Waves are not counted on a GPU of several
 * XCCs (the count is of one of them), on a virtual function, from gfx10 on, or where the scheduler
 * gives turns because the runlist is over-subscribed (a process that waits for its turn has saved
 * waves, and none in flight).
 *
 * Queues that a process could not run count for nothing.
 */
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"

/* At most so many that may have work are looked at, and so many that have none, at a time */
#define KFD_PRIO_LOOK_BUSY	64
#define KFD_PRIO_LOOK_RESTING	8

/*
 * A neighbour leaves the list of those without work, in which it is while its trap is armed: it may
 * have some, and the decision must be made again.  One in the other list has been through here.
 */
static void kfd_prio_neighbour_rise(struct kfd_prio_dqm *d, struct kfd_prio_qpd *qp)
{
	list_move_tail(&qp->claim, &d->neighbours);
	if (!qp->rests)
		return;
	qp->rests = false;
	kfd_prio_woke(container_of(qp, struct qcm_process_device, prio));
}

/**
 * kfd_prio_neighbour_rang() - note which neighbours have rung, or have other queues now
 * @dqm: of the GPU
 *
 * The latter come first in their list: they are looked at next.
 *
 * Context: DQM lock
 */
void kfd_prio_neighbour_rang(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_qpd *qp, *tmp;
	LIST_HEAD(first);

	lockdep_assert_held(&dqm->lock_hidden);
	if (!atomic_read(&d->rang))
		return;
	/* then the traps: pairs with kfd_prio_neighbour_matters() */
	atomic_xchg(&d->rang, 0);
	/* a queue more or less may change the rank of its process */
	d->recheck |= d->policy.level != KFD_PRIO_LEVEL_NONE || d->throttle != KFD_PRIO_LEVEL_NONE;
	list_for_each_entry_safe(qp, tmp, &d->resting, claim) {
		if (atomic_read(&qp->trap) == KFD_PRIO_TRAP_RUNG)
			kfd_prio_neighbour_rise(d, qp);
		else if (READ_ONCE(qp->look))
			list_move_tail(&qp->claim, &first);
	}
	list_splice(&first, &d->resting);
}

/**
 * kfd_prio_neighbour_changed() - a process has one queue more or less, or an updated one
 * @qpd: the process on the GPU
 *
 * Such a queue may have packets already.  The next safety poll finds them: a user can update a
 * queue many thousand times in a second, and must not wake the thread each time.  A ring wakes it
 * at once.
 *
 * Context: any
 */
void kfd_prio_neighbour_changed(struct qcm_process_device *qpd)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;

	if (READ_ONCE(qpd->prio.role) != KFD_PRIO_ROLE_NEIGHBOUR)
		return;
	WRITE_ONCE(qpd->prio.look, true);
	atomic_set(&d->rang, 1);
}

/**
 * kfd_prio_neighbour_matters() - a neighbour has rung: has the engine anything to do?
 * @qpd: the neighbour on a GPU; its trap is KFD_PRIO_TRAP_RUNG now
 *
 * Context: fault
 * Return: true if it is off, or a level is in force that would take it off
 */
bool kfd_prio_neighbour_matters(struct qcm_process_device *qpd)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;

	atomic_set(&d->rang, 1);
	/* the trap and this, then what is in force: pairs with kfd_prio_engine_published() */
	smp_mb();
	return READ_ONCE(qpd->prio.preempted) ||
	       kfd_prio_policy_victim(READ_ONCE(d->policy.level), READ_ONCE(qpd->prio.prio));
}

/*
 * What a look at a neighbour has found; UNKNOWN changes nothing.  STILL: it may have waves, but its
 * indices have not moved for so long that it may be parked to see.  UNPROVED: it is off, its MQDs
 * show no work, and its indices cannot be read
 */
enum kfd_prio_found {
	KFD_PRIO_FOUND_UNKNOWN,
	KFD_PRIO_FOUND_UNPROVED,
	KFD_PRIO_FOUND_WORK,
	KFD_PRIO_FOUND_STILL,
	KFD_PRIO_FOUND_NONE,
};

/**
 * struct kfd_prio_look - a look at all neighbours
 * @s: memory for it
 * @counted: the waves of all queues were counted in this look
 */
struct kfd_prio_look {
	struct kfd_prio_snapshot *s;
	bool counted;
};

/*
 * May this neighbour, which is on the GPU and whose indices are equal, have waves in flight?  They
 * are counted once for all neighbours: what has not moved for so long was launched before that.
 */
static bool kfd_prio_neighbour_waves(struct kfd_process_device *pdd, struct kfd_prio_look *l,
				     u64 moved_at)
{
	u64 restored_at = READ_ONCE(pdd->dev->dqm->prio.restored_at);

	if (!kfd_prio_sees_waves(&pdd->qpd) ||
	    ktime_get_ns() < max(moved_at, restored_at) + kfd_prio_safety_poll_ns())
		return true;
	if (!l->counted || !KFD_PRIO_COUNTS_ALL)
		l->counted = kfd_prio_count_waves(pdd, l->s);
	return !l->counted || kfd_prio_waves(pdd, l->s);
}

/*
 * Nothing of a neighbour has moved since @moved_at, and its waves cannot be counted.  May it be
 * parked, so that its MQDs show whether it has any?  A signal that says that its last packet is not
 * complete may be used for something else by now: it counts for busy_budget_ms.
 */
static bool kfd_prio_neighbour_still(struct device_queue_manager *dqm,
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
 * Read the indices of a neighbour, and count its waves if need be.  Drops the DQM lock and takes it
 * again; its role may be gone then.
 * @waves: it is off, and its MQDs show work
 */
static enum kfd_prio_found kfd_prio_neighbour_read(struct device_queue_manager *dqm,
						   struct qcm_process_device *qpd, bool waves,
						   struct kfd_prio_look *l)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	bool armed = atomic_read(&qp->trap) == KFD_PRIO_TRAP_ARMED && !qp->still;
	bool off = qp->preempted;
	u64 rptr_sum = qp->rptr_sum, wptr_sum = qp->wptr_sum, moved_at = qp->progress_at;
	bool alive, moved;
	u64 taken_count = qp->taken_count;
	u32 unmap_seq = dqm->prio.unmap_seq;
	struct mm_struct *mm = qp->mm;
	struct kfd_prio_seen seen;

	kfd_prio_snapshot(qpd, l->s);
	mmgrab(mm);
	dqm_unlock(dqm);
	alive = kfd_prio_observe(l->s, mm, &seen);
	moved = seen.rptr_sum != rptr_sum || seen.wptr_sum != wptr_sum;
	if (alive && !off && !seen.work && !seen.unused && !seen.unreadable && (moved || !armed))
		waves = moved || kfd_prio_neighbour_waves(qpd_to_pdd(qpd), l, moved_at);
	mmdrop(mm);
	dqm_lock(dqm);
	if (qp->role != KFD_PRIO_ROLE_NEIGHBOUR)
		return KFD_PRIO_FOUND_UNKNOWN;
	if (!alive) {
		/* what is off stays off until KFD destroys it */
		WRITE_ONCE(qp->exiting, true);
		kfd_prio_role_drop(dqm, qpd);
		return KFD_PRIO_FOUND_UNKNOWN;
	}
	if (off != qp->preempted || taken_count != qp->taken_count)
		return KFD_PRIO_FOUND_UNKNOWN;
	if (!off && unmap_seq != dqm->prio.unmap_seq) {
		/* all queues may have been unmapped when waves were counted, for others too */
		l->counted = false;
		return KFD_PRIO_FOUND_UNKNOWN;
	}
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
	qp->still = !off && waves && !seen.work && !moved &&
		    kfd_prio_neighbour_still(dqm, qpd, &seen, moved_at);
	if (qp->still)
		return KFD_PRIO_FOUND_STILL;
	if (qp->work)
		WRITE_ONCE(qp->woke_by, moved || seen.work ? KFD_PRIO_UNPARK_POLL :
							     KFD_PRIO_UNPARK_WAVES);
	return qp->work ? KFD_PRIO_FOUND_WORK : KFD_PRIO_FOUND_NONE;
}

/* Has a neighbour work?  Drops the DQM lock and takes it again; its role may be gone then. */
static enum kfd_prio_found kfd_prio_neighbour_find(struct device_queue_manager *dqm,
						   struct qcm_process_device *qpd,
						   struct kfd_prio_look *l)
{
	enum kfd_prio_shown shown = kfd_prio_shows_work(qpd);

	if (qpd->prio.role != KFD_PRIO_ROLE_NEIGHBOUR)
		return KFD_PRIO_FOUND_UNKNOWN;
	if (shown == KFD_PRIO_SHOWN_PART) {
		/* the rest in the next step, which comes at once */
		kfd_prio_neighbour_changed(qpd);
		WRITE_ONCE(dqm->prio.look_now, true);
		return KFD_PRIO_FOUND_UNKNOWN;
	}
	return kfd_prio_neighbour_read(dqm, qpd, shown == KFD_PRIO_SHOWN_WORK, l);
}

/* A neighbour may have work, whatever was known of it */
static void kfd_prio_neighbour_wake(struct device_queue_manager *dqm, struct kfd_prio_qpd *qp)
{
	qp->still = false;
	/* first: one that is armed counts as one without work */
	kfd_prio_trap_change(qp, KFD_PRIO_TRAP_ARMED, KFD_PRIO_TRAP_RUNG);
	kfd_prio_neighbour_rise(&dqm->prio, qp);
	/* a process that came while others were preempted counts as preempted from now on */
	dqm->prio.recheck |= qp->preempted && !qp->counted;
}

/*
 * Trap the next ring of a neighbour that seems to have no work, or that is still, and look again:
 * drops the lock, too.
 * @proves: if its doorbells were trapped already, the look before this proves that it has no work;
 *	it began when its taken_count was @taken_count
 */
static void kfd_prio_neighbour_rest(struct device_queue_manager *dqm,
				    struct qcm_process_device *qpd, struct kfd_prio_look *l,
				    bool proves, u64 taken_count)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	enum kfd_prio_found found;
	bool armed;

	if (kfd_prio_in_fault(qp, ktime_get_ns()))
		return;
	armed = kfd_prio_trap_change(qp, KFD_PRIO_TRAP_RUNG, KFD_PRIO_TRAP_ARMED);
	/* before the lock is dropped: a ring is looked for in that list */
	list_move_tail(&qp->claim, &dqm->prio.resting);
	qp->rests = true;
	if (!armed && proves) {
		kfd_prio_prove(qpd, taken_count);
	} else if (armed) {
		taken_count = qp->taken_count;
		dqm_unlock(dqm);
		kfd_prio_doorbell_zap(qpd_to_pdd(qpd));
		dqm_lock(dqm);
		if (qp->role != KFD_PRIO_ROLE_NEIGHBOUR)
			return;
		found = kfd_prio_neighbour_find(dqm, qpd, l);
		if (found < KFD_PRIO_FOUND_STILL && found != KFD_PRIO_FOUND_UNPROVED) {
			if (qp->role == KFD_PRIO_ROLE_NEIGHBOUR)
				kfd_prio_neighbour_wake(dqm, qp);
			return;
		}
		/* of one that is still, the time in which nothing moved counts already */
		qp->quiet_at = qp->still ? qp->progress_at : ktime_get_ns();
		if (found == KFD_PRIO_FOUND_NONE)
			kfd_prio_prove(qpd, taken_count);
		/* the set of processes with work, whose time counts, has changed */
		dqm->prio.recheck = true;
	}
	if (atomic_read(&qp->trap) == KFD_PRIO_TRAP_RUNG)
		kfd_prio_neighbour_rise(&dqm->prio, qp);
}

/*
 * Is there nothing to learn?  KFD holds it off; or all queues are being unmapped; or it was seen
 * with work since it is off, which does not hold for one that was parked to see.
 */
static bool kfd_prio_neighbour_known(const struct qcm_process_device *qpd)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	return qpd->evicted > qp->preempted || qpd->dqm->prio.unmap_pending ||
	       (qp->preempted && qp->work && !qp->still && !READ_ONCE(qp->look));
}

static void kfd_prio_neighbour_look_at(struct device_queue_manager *dqm,
				       struct qcm_process_device *qpd, struct kfd_prio_look *l)
{
	struct kfd_process *p = qpd->pqm->process;
	u64 taken_count = qpd->prio.taken_count;
	enum kfd_prio_found found;

	if (kfd_prio_neighbour_known(qpd) || !kfd_prio_process_hold(p))
		return;
	WRITE_ONCE(qpd->prio.look, false);
	found = kfd_prio_neighbour_find(dqm, qpd, l);
	switch (found) {
	case KFD_PRIO_FOUND_NONE:
	case KFD_PRIO_FOUND_STILL:
	case KFD_PRIO_FOUND_UNPROVED:
		kfd_prio_neighbour_rest(dqm, qpd, l, found == KFD_PRIO_FOUND_NONE, taken_count);
		break;
	case KFD_PRIO_FOUND_WORK:
		kfd_prio_neighbour_wake(dqm, &qpd->prio);
		break;
	case KFD_PRIO_FOUND_UNKNOWN:
		break;
	}
	kfd_prio_process_drop(p);
}

/* The first neighbour of a list; with @unchanged the first that has not changed */
static struct kfd_prio_qpd *kfd_prio_neighbour_first(struct list_head *list, bool unchanged)
{
	struct kfd_prio_qpd *qp;

	list_for_each_entry(qp, list, claim)
		if (!unchanged || !READ_ONCE(qp->look))
			return qp;
	return NULL;
}

/*
 * Look at the first @n of a list, at one at least unless @n is 0; each goes to the end of this
 * list or of the other.  With @unchanged only at those that have not changed: the others have a
 * walk of their own.
 * Return: how many are left because there is something more urgent to do
 */
static unsigned int kfd_prio_neighbour_walk(struct device_queue_manager *dqm,
					    struct list_head *list, unsigned int n, bool unchanged,
					    struct kfd_prio_look *l)
{
	struct kfd_prio_qpd *qp;

	/* the list may change while the lock is dropped */
	while (n--) {
		qp = kfd_prio_neighbour_first(list, unchanged);
		if (!qp)
			break;
		list_move_tail(&qp->claim, list);
		kfd_prio_neighbour_look_at(dqm, container_of(qp, struct qcm_process_device, prio),
					   l);
		if (n && atomic_read(&dqm->prio.kicked))
			return n;
	}
	return 0;
}

/*
 * How many with work are to be looked at: all if one of them was just taken off.  And how many of
 * those without work have changed: kfd_prio_neighbour_rang() has put them first.
 */
static void kfd_prio_neighbour_due(struct kfd_prio_dqm *d, unsigned int *busy,
				   unsigned int *changed)
{
	unsigned int n = 0;
	struct kfd_prio_qpd *qp;
	bool fresh = false;

	list_for_each_entry(qp, &d->neighbours, claim) {
		fresh |= qp->preempted && READ_ONCE(qp->look);
		n++;
	}
	*busy = fresh ? n : min(n, d->look_rest);
	*changed = 0;
	list_for_each_entry(qp, &d->resting, claim) {
		if (!READ_ONCE(qp->look))
			break;
		++*changed;
	}
}

/**
 * kfd_prio_neighbour_look() - look which neighbours have work, trap those that have none
 * @dqm: of the GPU
 * @s: memory for it
 *
 * Every safety_poll_us, and at once at those that were taken off.  Without a claim, and without
 * parking, nothing depends on the answer.
 *
 * Kicks interrupt a look, and users can make as many kicks as they like.  So each part of a look
 * has a count of its own of what is left, no part waits for the end of another, and each call looks
 * at one neighbour of each part at least.
 *
 * Context: our thread; DQM lock, dropped and taken again for each
 */
void kfd_prio_neighbour_look(struct device_queue_manager *dqm, struct kfd_prio_snapshot *s)
{
	struct kfd_prio_look l = { .s = s };
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 now = ktime_get_ns();
	bool due = now >= d->look_at;
	unsigned int busy, changed;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!due && !READ_ONCE(d->look_now) && !d->look_rest && !d->look_more && !d->poll_rest)
		return;
	if (list_empty(&d->claims) && !kfd_prio_park_ns(dqm)) {
		d->look_rest = 0;
		d->look_more = false;
		d->poll_rest = 0;
		return;
	}
	if (due || READ_ONCE(d->look_now))
		d->look_rest = KFD_PRIO_LOOK_BUSY;
	WRITE_ONCE(d->look_now, false);
	if (due) {
		/* set before the look: a kick that interrupts it does not put off the next one */
		d->look_at = now + kfd_prio_safety_poll_ns();
		d->poll_rest = KFD_PRIO_LOOK_RESTING;
	}
	/* those that were taken off and seemed to have no work come first, too */
	if (d->quiet_taken)
		atomic_set(&d->rang, 1);
	d->quiet_taken = false;
	kfd_prio_neighbour_rang(dqm);
	kfd_prio_neighbour_due(d, &busy, &changed);
	d->look_rest = kfd_prio_neighbour_walk(dqm, &d->neighbours, busy, false, &l);
	d->look_more = kfd_prio_neighbour_walk(dqm, &d->resting, changed, false, &l);
	d->poll_rest = kfd_prio_neighbour_walk(dqm, &d->resting, d->poll_rest, true, &l);
}
