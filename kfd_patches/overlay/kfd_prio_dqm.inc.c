// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the marks that record which processes are taken off a GPU, for preemption or parking,
 * and the update of HWS that follows them, a runlist. kfd_prio_mes.inc.c has that of MES.
 *
 * kfd_device_queue_manager.c includes this file at its end, because it uses static functions of
 * that file.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_role.h"
#include "kfd_prio_events.h"
#include "kfd_prio_mqd.inc.c"
#include "kfd_prio_mes.inc.c"

/* Makes a queue inactive (@off) or active for KFD, and counts it in @m and in the counts of KFD */
static void kfd_prio_mark_queue(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				struct queue *q, bool off, struct kfd_prio_marked *m)
{
	q->properties.is_active = !off;
	/* A queue that is marked already: MES has refused the change that this one reverts */
	q->prio.marked = kfd_prio_uses_mes(dqm) && !q->prio.marked;
	if (off) {
		decrement_queue_count(dqm, qpd, q);
		m->off++;
	} else {
		increment_queue_count(dqm, qpd, q);
		m->on++;
	}
}

/*
 * Records that a process counts as preempted from now on, because it is off and has work as far as
 * is known. The process was just taken off, or was off before and seemed to have no work.
 */
static inline void kfd_prio_counted(struct qcm_process_device *qpd, u64 now,
				    struct kfd_prio_marked *m)
{
	qpd->prio.counted = true;
	qpd->prio.preempted_at = now;
	qpd->prio.preempted_count++;
	m->preempted++;
}

/*
 * Records that a process no longer counts as preempted, if it did: the process is put back, parked,
 * or proved to have no work
 */
static inline void kfd_prio_counted_end(struct qcm_process_device *qpd, u64 now)
{
	u64 ns = now - qpd->prio.preempted_at;

	if (!qpd->prio.counted)
		return;
	qpd->prio.counted = false;
	qpd->dqm->prio.counted--;
	qpd->prio.preempted_ns += ns;
	qpd->dqm->prio.totals.preempted_ns += ns;
}

/*
 * Changes the reason for which a process is taken off, from preemption to parking (@parks) or back.
 * Its queues stay inactive. @counts: a process that is off counts as preempted at once
 */
static void kfd_prio_switch(struct qcm_process_device *qpd, bool parks, bool counts, u64 now,
			    struct kfd_prio_marked *m)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	if (parks) {
		kfd_prio_counted_end(qpd, now);
		kfd_prio_park_begin(qpd, true, now);
	} else {
		kfd_prio_park_end(qpd, KFD_PRIO_UNPARK_PREEMPT, now);
		if (counts)
			kfd_prio_counted(qpd, now, m);
		/* The process had no waves, so its MQDs hold no new save: kfd_prio_cost_list() */
		qp->cost_count = qp->marked_count;
	}
}

/*
 * Decides whether a process that stays off counts as preempted from now on, from its MQDs, its
 * indices and its rings since it was taken off.
 */
static void kfd_prio_recount(struct qcm_process_device *qpd, struct kfd_prio_weight w,
			     bool throttled, u64 now, struct kfd_prio_marked *m)
{
	struct queue *q;

	if (qpd->prio.park.parked)
		return;
	if (qpd->prio.counted) {
		if (w.idle || throttled)
			kfd_prio_counted_end(qpd, now);
		return;
	}
	/*
	 * A process with a role that is new, or was just taken off, is about to be observed: the
	 * observation decides
	 */
	if (!w.works || throttled ||
	    (qpd->prio.mm && READ_ONCE(qpd->prio.observe) && !qpd->prio.work))
		return;
	kfd_prio_counted(qpd, now, m);
	m->busy++;
	list_for_each_entry(q, &qpd->queues_list, list)
		m->shown += q->prio.off;
}

/* Whether a process without work leaves to make room for @level, and not because it is below it */
static noinline bool kfd_prio_makes_room(struct qcm_process_device *qpd, int level)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;
	int throttle = qpd->dqm->prio.throttle;

	return qp->role == KFD_PRIO_ROLE_CLAIM && level != KFD_PRIO_LEVEL_NONE &&
	       qp->claim.prio >= level &&
	       (throttle == KFD_PRIO_LEVEL_NONE || qp->claim.prio < throttle);
}

/*
 * Marks a process as off: takes one count of qpd->evicted and makes its queues inactive.
 * @parks: the process is parked; otherwise it is off
 * @counts: a process that is off counts as preempted at once
 * @throttled: a group of the process keeps it off
 *
 * The first count of qpd->evicted makes the queues inactive and the last one makes them active
 * again, whether the count is of KFD or of kfdprio. kfdprio puts back only queues that it has
 * marked (q->prio.off), because KFD makes a queue inactive for good after a hang or a bad packet.
 *
 * The hardware does not change before kfd_prio_dqm_runlist(), or kfd_prio_dqm_remove(), which must
 * follow under the same lock; with HWS a runlist of KFD may follow instead.
 *
 * Inline because kfd_prio_dqm_mark() calls it for each process while the GPU saves.
 */
static __always_inline void
kfd_prio_mark(struct device_queue_manager *dqm, struct qcm_process_device *qpd, bool parks,
	      bool counts, bool throttled, u64 now, struct kfd_prio_marked *m)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	struct queue *q;

	qp->preempted = true;
	/* Its MQDs now show whether it has waves */
	WRITE_ONCE(qp->observe, true);
	WRITE_ONCE(dqm->prio.observe_now, true);
	if (unlikely(qp->neighbour.quiet))
		dqm->prio.quiet_marked = true;
	if (unlikely(qp->role == KFD_PRIO_ROLE_CLAIM && !qp->claim.rung))
		dqm->prio.claim_marked = true;
	qp->marked_epoch = m->epoch;
	qp->marked_at = now;
	qp->marked_count++;
	dqm->prio.nr_off++;
	dqm->prio.marked = true;
	if (parks)
		kfd_prio_park_begin(qpd, false, now);
	else if (likely(counts))
		kfd_prio_counted(qpd, now, m);
	else
		qp->spared = !throttled && kfd_prio_makes_room(qpd, m->level);
	/* A debugger's kernel queue stays mapped */
	qp->skip = list_empty(&qpd->priv_queue_list);
	dqm->prio.skipped += qp->skip;
	qp->kfd_first = qpd->evicted++ > 0;
	if (qp->kfd_first)
		return;
	list_for_each_entry(q, &qpd->queues_list, list) {
		/* KFD has evicted this queue alone */
		if (q->properties.is_evicted)
			continue;
		kfd_prio_hold(q);
		if (q->properties.is_active)
			kfd_prio_mark_queue(dqm, qpd, q, true, m);
		else
			q->prio.off &= kfd_prio_queue_is_suspended(q) || q->prio.late;
	}
}

/* Marks a process as on: the reverse of kfd_prio_mark() */
static void kfd_prio_give_back(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
			       u64 now, struct kfd_prio_marked *m)
{
	struct kfd_process_device *pdd = qpd_to_pdd(qpd);
	struct kfd_prio_qpd *qp = &qpd->prio;
	struct queue *q;

	if (qp->park.parked) {
		kfd_prio_park_end(qpd, kfd_prio_park_ends(qpd), now);
		m->woken++;
	} else {
		m->restored += qp->counted;
		kfd_prio_counted_end(qpd, now);
	}
	if (unlikely(qp->share.throttle))
		kfd_prio_share_throttled(qpd, KFD_PRIO_THROTTLE_NONE, now);
	hlist_del_init(&qp->cost);
	WRITE_ONCE(qp->preempted, false);
	/* The update that puts it back may save others first */
	if (!qp->proved)
		WRITE_ONCE(qp->restored_at, now + min(kfd_prio_switch_ns(dqm->prio.save_recent_ns),
						      KFD_PRIO_RESTORE_MAX_NS));
	qp->proved = false;
	qp->spared = false;
	dqm->prio.nr_off--;
	dqm->prio.skipped -= qp->skip;
	qp->skip = false;
	qp->kfd_first = false;
	if (WARN_ON_ONCE(!qpd->evicted) || --qpd->evicted > 0) {
		/*
		 * Memory management or a debugger has a count as well, and will put the queues back
		 */
		list_for_each_entry(q, &qpd->queues_list, list) {
			q->prio.held = false;
			q->prio.off = false;
		}
		return;
	}
	if (pdd->drm_priv)
		qpd->page_table_base = amdgpu_amdkfd_gpuvm_get_process_page_dir(pdd->drm_priv);
	list_for_each_entry(q, &qpd->queues_list, list) {
		bool off = q->prio.off;

		if (!q->prio.held)
			continue;
		q->prio.held = false;
		q->prio.off = false;
		q->properties.is_evicted = false;
		if (off && QUEUE_IS_ACTIVE(q->properties) && !kfd_prio_queue_is_reset(q) &&
		    !kfd_prio_mqd_repin(dqm, q))
			kfd_prio_mark_queue(dqm, qpd, q, false, m);
	}
}

/*
 * Marks a process as on, by a decision. If the process is a claim that has made room for a level
 * (kfd_prio_policy_spares()), its return is counted as the wake of a parked process is, also if it
 * has no work, but was not proved to have none before the level has ended.
 */
static void kfd_prio_return(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
			    u64 now, struct kfd_prio_marked *m)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	if (qp->spared && !qp->park.parked) {
		m->woken++;
		kfd_prio_policy_park_woke(&qp->park.wakes, kfd_prio_trap_rung(qp) &&
					  READ_ONCE(qp->park.woke_by) == KFD_PRIO_UNPARK_WAVES,
					  now);
	}
	kfd_prio_give_back(dqm, qpd, now, m);
}

/*
 * Records whether a process is throttled: it is off, has work, and a group of it keeps it off.
 * @throttle: whether a group keeps it off
 * @works: it has work, and is not parked
 * Return: whether it is throttled
 */
static bool kfd_prio_throttle(struct qcm_process_device *qpd, enum kfd_prio_throttle throttle,
			      bool works, u64 now)
{
	if (!qpd->prio.preempted || !works)
		throttle = KFD_PRIO_THROTTLE_NONE;
	kfd_prio_share_throttled(qpd, throttle, now);
	return throttle != KFD_PRIO_THROTTLE_NONE;
}

/**
 * kfd_prio_dqm_mark_new() - mark a process as off before its first queue is created
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU, which has no queue yet
 *
 * No update of the hardware is needed. The caller keeps the queue inactive (kfd_prio_hold()). The
 * process does not count as preempted yet.
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_mark_new(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	/* No queue of the process was ever on the hardware, so its unmap counts as confirmed */
	struct kfd_prio_marked m = {
		.epoch = dqm->prio.epoch - 1, .level = KFD_PRIO_LEVEL_NONE,
	};

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_mark(dqm, qpd, false, false, false, ktime_get_ns(), &m);
}

/*
 * kfd_prio_dqm_mark(), once for GPUs without groups, and once for the others: without groups each
 * process that is marked while the GPU saves costs nothing more.
 * @shares: a group exists
 */
static __always_inline void kfd_prio_mark_all(struct device_queue_manager *dqm, int level,
					      bool by_kfd, u64 now, struct kfd_prio_marked *m,
					      const bool shares)
{
	const struct kfd_prio_force f = kfd_prio_force_of(dqm, level);
	const bool may_park = dqm->prio.parking.after_ns;
	enum kfd_prio_throttle throttle = KFD_PRIO_THROTTLE_NONE;
	int lowest = KFD_PRIO_RANK_NONE;
	struct device_process_node *cur;
	struct kfd_prio_weight w;
	bool was, parks, off;
	u32 charged = 0;

	*m = (struct kfd_prio_marked) { .epoch = kfd_prio_mark_epoch(dqm), .level = level };
	list_for_each_entry(cur, &dqm->queues, list) {
		struct qcm_process_device *qpd = cur->qpd;

		/* A ring waits for this walk, and many processes may be parked */
		if (kfd_prio_stays_parked(qpd, &dqm->prio.parking))
			continue;
		if (READ_ONCE(qpd->prio.stale))
			kfd_prio_refresh(qpd);
		if (shares)
			throttle = kfd_prio_may_be_victim(qpd) ?
				   kfd_prio_share_keeps_off(qpd, f.level, f.throttle) :
				   KFD_PRIO_THROTTLE_NONE;
		w = kfd_prio_weigh(qpd, &f, throttle);
		was = qpd->prio.preempted;
		parks = may_park && kfd_prio_parks(qpd, &dqm->prio.parking);
		off = w.off || parks;
		if (was && !off)
			kfd_prio_return(dqm, qpd, now, m);
		else if (!was && off && qpd->evicted && by_kfd)
			kfd_prio_gpu_kick(dqm);
		else if (!was && off)
			kfd_prio_mark(dqm, qpd, parks, !w.quiet && !throttle, throttle, now, m);
		else if (qpd->prio.park.parked != parks)
			kfd_prio_switch(qpd, parks, !w.quiet && !throttle, now, m);
		else if (was)
			kfd_prio_recount(qpd, w, throttle, now, m);
		if (shares && (throttle || qpd->prio.share.throttle))
			m->busy += kfd_prio_throttle(qpd, throttle,
						     !parks && kfd_prio_share_works(qpd), now) &&
				   !was;
		if (!w.works || parks)
			continue;
		lowest = min(lowest, qpd->prio.prio);
		if (qpd->prio.preempted && !throttle) {
			charged++;
			m->busy += !was;
		}
	}
	dqm->prio.share_due = true;
	dqm->prio.lowest = lowest;
	dqm->prio.charged = charged;
	dqm->prio.counted += m->preempted;
	dqm->prio.totals.preempted_count += m->preempted;
}

/**
 * kfd_prio_dqm_mark() - mark each process of a GPU as off or as on, as a level requires
 * @dqm: device queue manager of the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 * @by_kfd: the runlist that follows may be one of KFD. It may restore an evicted process, whose
 *	qpd->evicted KFD then sets to 0, including the count of kfdprio. So an evicted process is
 *	not marked as off now, and the GPU's thread is kicked to mark it
 * @now: ktime_get_ns()
 * @m: out: the changes, which reach the hardware with the update that follows
 *
 * Takes off the processes that the level and the throttle keep off, the claims that make room for
 * the level and the processes that are to be parked. Puts back all others, but for those that stay
 * off because they have no work or end (kfd_prio_policy_off()). Decides which of them count as
 * preempted, and computes kfd_prio_dqm.lowest and .charged.
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_mark(struct device_queue_manager *dqm, int level, bool by_kfd, u64 now,
		       struct kfd_prio_marked *m)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (static_branch_unlikely(&kfd_prio_shares_in_use.key))
		kfd_prio_mark_all(dqm, level, by_kfd, now, m, true);
	else
		kfd_prio_mark_all(dqm, level, by_kfd, now, m, false);
}

/* Whether a process is marked as off, and the hardware has not yet confirmed its unmap */
static bool kfd_prio_unconfirmed(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct queue *q;

	if (!qpd->prio.preempted)
		return false;
	if (!kfd_prio_uses_mes(dqm))
		return qpd->prio.marked_epoch == dqm->prio.epoch;
	/* MES: a queue whose removal it has not confirmed */
	list_for_each_entry(q, &qpd->queues_list, list)
		if (q->prio.marked && !q->properties.is_active)
			return true;
	return false;
}

/**
 * kfd_prio_dqm_unmark() - roll back: mark as on all processes whose unmap is not confirmed
 * @dqm: device queue manager of the GPU
 * @now: ktime_get_ns()
 *
 * KFD frees the MQD of a queue that is marked as off, or lets its memory move, without an unmap. So
 * such a mark may stay only if the queue has certainly left the hardware. A process that was taken
 * off by an earlier step stays marked as off. A process that this step has put back stays marked as
 * on, because an update must follow in any case. The level in force does not change.
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_unmark(struct device_queue_manager *dqm, u64 now)
{
	struct device_process_node *cur;
	struct kfd_prio_marked m = {};
	struct kfd_prio_qpd *qp;

	lockdep_assert_held(&dqm->lock_hidden);
	dqm->prio.charged = 0;
	list_for_each_entry(cur, &dqm->queues, list) {
		qp = &cur->qpd->prio;
		if (kfd_prio_unconfirmed(dqm, cur->qpd))
			kfd_prio_give_back(dqm, cur->qpd, now, &m);
		dqm->prio.charged += qp->preempted && !qp->park.parked && !qp->share.throttle &&
				     kfd_prio_works(cur->qpd);
	}
	dqm->prio.share_due = true;
}

/**
 * kfd_prio_dqm_hang() - have KFD reset a GPU whose HWS does not answer, unless a reset is in
 * progress
 * @dqm: device queue manager of the GPU
 *
 * The reset runs later, in a work of KFD.
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_hang(struct device_queue_manager *dqm)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (!kfd_prio_resetting(dqm))
		kfd_hws_hang(dqm);
}

/**
 * kfd_prio_dqm_runlist() - update HWS to the marks: one unmap of all queues, and one runlist
 * @dqm: device queue manager of the GPU, which has HWS; no unmap is in progress
 * @takes: a process with work is taken off, and another waits for that. With short_grace its waves
 *	are then saved at once, instead of after the default grace period, in which waves may end:
 *	64,000 cycles of the GPU's clock, 45 us at 1.4 GHz. Two further packets set the grace period
 *	and set it back, if the tree supports that. If the unmap takes longer than the fault may
 *	wait, the next update, which follows soon, sets it back
 *
 * Context: DQM lock; waits for the unmap, as every operation of KFD does
 * Return: 0; -EIO if the GPU is being reset or memory for the runlist is short; -ETIME if HWS does
 *	not answer; -EINPROGRESS in the fault of a doorbell, if the unmap was not confirmed in time
 */
int kfd_prio_dqm_runlist(struct device_queue_manager *dqm, bool takes)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	bool at_once;
	int ret;

	lockdep_assert_held(&dqm->lock_hidden);
	at_once = d->has_grace && (d->grace_set ||
		  (takes && READ_ONCE(kfd_prio_param_short_grace.value)));
	ret = kfd_prio_execute_dynamic(dqm, at_once);
	d->grace_set = at_once && ret == -EINPROGRESS;
	return kfd_prio_map_again(dqm, ret);
}

/**
 * kfd_prio_dqm_gone() - end the marks of a process that has left a GPU
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU, which is marked as off and not in dqm->queues any more
 *
 * Gives back kfdprio's count of qpd->evicted, and ends the times for which the process was off or
 * parked. Its queues stay inactive. No update of the hardware is needed.
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_gone(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct kfd_prio_marked m = {};

	lockdep_assert_held(&dqm->lock_hidden);
	/*
	 * A second count keeps the queues inactive: KFD destroys them, and they must not be counted
	 * in dqm->active_queue_count again
	 */
	qpd->evicted++;
	kfd_prio_give_back(dqm, qpd, ktime_get_ns(), &m);
	qpd->evicted--;
}
