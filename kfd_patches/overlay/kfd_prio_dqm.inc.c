// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: which processes of a GPU are off it, preempted or parked, and the update of the runlist
 * (or MES, queue by queue) that makes it so.
 *
 * Needs the static functions of kfd_device_queue_manager.c: included at the end of that file.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_role.h"
#include "kfd_prio_events.h"
#include "kfd_prio_mqd.inc.c"

static void kfd_prio_mark_queue(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				struct queue *q, bool off, struct kfd_prio_marked *m)
{
	q->properties.is_active = !off;
	/* marked still: MES refused the change that this one takes back */
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
 * A process counts as preempted from now on: it is off, and has work as far as is known.  Its
 * queues left the GPU now, or it was off before and seemed to have no work.
 */
static inline void kfd_prio_counted(struct qcm_process_device *qpd, u64 now,
				    struct kfd_prio_marked *m)
{
	qpd->prio.counted = true;
	qpd->prio.preempted_at = now;
	qpd->prio.preempted_count++;
	m->preempted++;
}

/* A process counts as preempted no more: it is put back, is parked, or is proved to have no work */
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

/* What is off goes on to be off, for another reason: the hardware is not touched */
static void kfd_prio_turn(struct qcm_process_device *qpd, bool parks, u64 now,
			  struct kfd_prio_marked *m)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	if (parks) {
		kfd_prio_counted_end(qpd, now);
		kfd_prio_park_begin(qpd, true, now);
	} else {
		kfd_prio_park_end(qpd, KFD_PRIO_UNPARK_PREEMPT, now);
		kfd_prio_counted(qpd, now, m);
		/* no save of it is to be read: it had no waves */
		qp->cost_seen = qp->taken_count;
	}
}

/*
 * A process is off and stays so.  What its MQDs or its own indices have shown since, or a ring,
 * decides whether it counts as preempted.
 */
static void kfd_prio_recount(struct qcm_process_device *qpd, const struct kfd_prio_weight *w,
			     u64 now, struct kfd_prio_marked *m)
{
	struct queue *q;

	if (qpd->prio.parked)
		return;
	if (qpd->prio.counted) {
		if (w->idle)
			kfd_prio_counted_end(qpd, now);
		return;
	}
	/* of one that is new, or was just taken off, the first look tells, if there is one */
	if (!w->works || (qpd->prio.mm && READ_ONCE(qpd->prio.look) && !qpd->prio.work))
		return;
	kfd_prio_counted(qpd, now, m);
	m->busy++;
	list_for_each_entry(q, &qpd->queues_list, list)
		m->shown += q->prio.off;
}

/*
 * One count of qpd->evicted is ours: the queues are deactivated with the first count and activated
 * with the last one, whether the count is KFD's or ours.  We activate only queues that we have
 * deactivated, which are marked: KFD deactivates a queue for good after a hang or a bad packet.
 *
 * Nothing happens to the hardware before kfd_prio_dqm_execute(), which must follow under the same
 * lock, or with HWS KFD's own runlist.
 *
 * Inline: in the walk over all processes, while the GPU saves.
 */
static inline void kfd_prio_take(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
				 bool parks, bool counts, u64 now, struct kfd_prio_marked *m)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	struct queue *q;

	qp->preempted = true;
	/* its MQDs tell now if it has waves */
	WRITE_ONCE(qp->look, true);
	WRITE_ONCE(dqm->prio.look_now, true);
	dqm->prio.quiet_taken |= qp->rests;
	qp->taken_epoch = m->epoch;
	qp->taken_at = now;
	qp->taken_count++;
	dqm->prio.victims++;
	dqm->prio.taken = true;
	if (parks)
		kfd_prio_park_begin(qpd, false, now);
	else if (counts)
		kfd_prio_counted(qpd, now, m);
	/* a debugger's kernel queue stays mapped */
	qp->skip = list_empty(&qpd->priv_queue_list);
	dqm->prio.skipped += qp->skip;
	qp->kfd_first = qpd->evicted++ > 0;
	if (qp->kfd_first)
		return;
	list_for_each_entry(q, &qpd->queues_list, list) {
		bool off = q->properties.is_active || kfd_prio_queue_is_suspended(q) ||
			   q->prio.late;

		/* one that KFD has evicted by itself is not ours */
		if (q->properties.is_evicted)
			continue;
		kfd_prio_hold(q);
		q->prio.off &= off;
		if (q->properties.is_active)
			kfd_prio_mark_queue(dqm, qpd, q, true, m);
	}
}

static void kfd_prio_give_back(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
			       u64 now, struct kfd_prio_marked *m)
{
	struct kfd_process_device *pdd = qpd_to_pdd(qpd);
	struct kfd_prio_qpd *qp = &qpd->prio;
	struct queue *q;

	if (qp->parked) {
		kfd_prio_park_end(qpd, kfd_prio_park_ends(qpd), now);
		m->woken++;
	} else {
		m->restored += qp->counted;
		kfd_prio_counted_end(qpd, now);
	}
	hlist_del_init(&qp->cost);
	WRITE_ONCE(qp->preempted, false);
	qp->proved = false;
	dqm->prio.victims--;
	dqm->prio.skipped -= qp->skip;
	qp->skip = false;
	qp->kfd_first = false;
	if (WARN_ON_ONCE(!qpd->evicted) || --qpd->evicted > 0) {
		/* memory management or the debugger still holds it, and puts it back */
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

/**
 * kfd_prio_dqm_take_new() - a process becomes a victim before it has any queue
 * @dqm: of the GPU
 * @qpd: the process on that GPU, which is none yet
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_take_new(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	/* nothing of it was ever on the hardware */
	struct kfd_prio_marked m = { .epoch = dqm->prio.epoch - 1 };

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_take(dqm, qpd, false, false, ktime_get_ns(), &m);
}

/**
 * kfd_prio_dqm_mark() - take the processes of a GPU off that a level keeps off, or that are to be
 * parked, and no others
 * @dqm: of the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 * @by_kfd: a runlist is about to be sent that may be KFD's.  It may be the one that restores an
 *	evicted process, whose count KFD sets to 0 afterwards, ours with it: such a process is left
 *	to the thread
 * @now: ktime_get_ns()
 * @m: what was done
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_mark(struct device_queue_manager *dqm, int level, bool by_kfd, u64 now,
		       struct kfd_prio_marked *m)
{
	const struct kfd_prio_force f = kfd_prio_force_of(dqm, level);
	struct device_process_node *cur;
	struct kfd_prio_weight w;
	bool was, parks, off;

	lockdep_assert_held(&dqm->lock_hidden);
	*m = (struct kfd_prio_marked) { .epoch = kfd_prio_take_epoch(dqm) };
	dqm->prio.lowest = KFD_PRIO_RANK_NONE;
	dqm->prio.charged = 0;
	list_for_each_entry(cur, &dqm->queues, list) {
		struct qcm_process_device *qpd = cur->qpd;

		/* a ring waits for this walk: those that are parked may be many */
		if (kfd_prio_stays_parked(qpd, &dqm->prio.parking))
			continue;
		if (READ_ONCE(qpd->prio.stale))
			kfd_prio_refresh(qpd);
		w = kfd_prio_weigh(qpd, &f);
		was = qpd->prio.preempted;
		parks = dqm->prio.parking.after_ns && kfd_prio_parks(qpd, &dqm->prio.parking);
		off = w.off || parks;
		if (was && !off)
			kfd_prio_give_back(dqm, qpd, now, m);
		else if (!was && off && qpd->evicted && by_kfd)
			kfd_prio_gpu_kick(dqm);
		else if (!was && off)
			kfd_prio_take(dqm, qpd, parks, !w.quiet, now, m);
		else if (qpd->prio.parked != parks)
			kfd_prio_turn(qpd, parks, now, m);
		else if (was)
			kfd_prio_recount(qpd, &w, now, m);
		if (!w.works || parks)
			continue;
		dqm->prio.lowest = min(dqm->prio.lowest, qpd->prio.prio);
		if (qpd->prio.preempted) {
			dqm->prio.charged++;
			m->busy += !was;
		}
	}
	dqm->prio.counted += m->preempted;
	dqm->prio.totals.preempted_count += m->preempted;
}

/* Is a process marked as off by an update that the hardware has not confirmed? */
static bool kfd_prio_unconfirmed(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct queue *q;

	if (!qpd->prio.preempted)
		return false;
	if (!kfd_prio_uses_mes(dqm))
		return qpd->prio.taken_epoch == dqm->prio.epoch;
	/* MES: a queue whose removal it has not confirmed */
	list_for_each_entry(q, &qpd->queues_list, list)
		if (q->prio.marked && !q->properties.is_active)
			return true;
	return false;
}

/**
 * kfd_prio_dqm_take_back() - roll back: what the hardware has not confirmed as off is not off
 * @dqm: of the GPU
 * @now: ktime_get_ns()
 *
 * KFD frees an MQD, or lets memory move, without an unmap where queues are marked as off.  So these
 * marks may stay only while the hardware is known to have left the queues.  What was off before
 * stays off.  A process that was put back in the same step stays marked so: a runlist must follow
 * in any case.
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_take_back(struct device_queue_manager *dqm, u64 now)
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
		dqm->prio.charged += qp->preempted && !qp->parked && kfd_prio_works(cur->qpd);
	}
}

/*
 * MES acts on single queues: those that leave first, so that one that comes finds room.
 * After an error MES is not asked again.  A queue whose removal MES has not confirmed stays marked,
 * whatever the error is: it may be running until a reset has begun, and a reset that is on its way
 * may take long to begin.
 */
static int kfd_prio_remove_mes(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;
	struct queue *q;
	int ret = 0;

	list_for_each_entry(cur, &dqm->queues, list)
		list_for_each_entry(q, &cur->qpd->queues_list, list) {
			if (!q->prio.marked || q->properties.is_active)
				continue;
			if (!ret)
				ret = remove_queue_mes(dqm, q, cur->qpd);
			q->prio.marked = ret;
		}
	return ret;
}

/*
 * A queue that MES was not asked to add, or that it could not be asked to add (-EIO), is not on the
 * hardware.  It is marked as off until it is added: KFD asks MES to remove a queue that is marked
 * as active, and takes a refusal for a hang.  After another error the queue may be on the hardware,
 * and is marked so.
 * @ret: 0; or an error after which MES is not asked
 */
static int kfd_prio_add_mes(struct device_queue_manager *dqm, int ret)
{
	struct device_process_node *cur;
	bool asked;
	struct queue *q;

	list_for_each_entry(cur, &dqm->queues, list)
		list_for_each_entry(q, &cur->qpd->queues_list, list) {
			if (q->prio.late && !q->properties.is_active &&
			    QUEUE_IS_ACTIVE(q->properties) && !kfd_prio_queue_is_reset(q)) {
				q->properties.is_active = true;
				increment_queue_count(dqm, cur->qpd, q);
				q->prio.marked = true;
			}
			q->prio.late = false;
			if (!q->prio.marked || !q->properties.is_active)
				continue;
			q->prio.marked = false;
			asked = !ret;
			if (asked)
				ret = add_queue_mes(dqm, q, cur->qpd);
			if (!ret || (asked && ret != -EIO))
				continue;
			q->prio.late = true;
			q->properties.is_active = false;
			decrement_queue_count(dqm, cur->qpd, q);
		}
	return ret;
}

/*
 * HWS: one unmap and one runlist, however many queues; and two packets more to set the grace period
 * and to set it back, where the tree can and @takes.  If the unmap takes longer than the fault may
 * wait it is set back by the next one, which comes soon.
 */
static int kfd_prio_execute(struct device_queue_manager *dqm, bool takes)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	bool at_once;
	int off, on;

	if (!kfd_prio_uses_mes(dqm)) {
		/* it has had its time: KFD need not wait once more to find out */
		if (kfd_prio_unmap_settle(dqm)) {
			kfd_prio_dqm_hang(dqm);
			return -ETIME;
		}
		at_once = d->has_grace && (d->grace_set ||
			  (takes && READ_ONCE(kfd_prio_param_short_grace.value)));
		on = kfd_prio_execute_dynamic(dqm, at_once);
		d->grace_set = at_once && on == -EINPROGRESS;
		return kfd_prio_map_again(dqm, on);
	}
	off = kfd_prio_remove_mes(dqm);
	/* a queue that MES has not removed may run, and its process is not off */
	if (off)
		kfd_prio_dqm_take_back(dqm, ktime_get_ns());
	/* -EIO: MES was not asked, and may be free by now */
	on = kfd_prio_add_mes(dqm, off == -EIO ? 0 : off);
	return off ?: on;
}

/**
 * kfd_prio_dqm_hang() - HWS does not answer: KFD resets the GPU, unless it does already
 * @dqm: of the GPU
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
 * kfd_prio_dqm_execute() - make the hardware run what is marked
 * @dqm: of the GPU
 * @takes: a process with work is taken off, and another waits for that: with short_grace waves
 *	are saved at once.  KFD's default is 64,000 cycles of the GPU's clock, 45 us at 1.4 GHz,
 *	in which they may end.  HWS only: MES has its own times
 *
 * After an error, what the hardware has not confirmed as off is marked as on again.
 *
 * Context: DQM lock; waits for the unmap, as every operation of KFD does
 * Return: 0; -EIO if the GPU is being reset or there is no memory for the runlist, -ETIME if its
 * scheduler does not answer
 */
int kfd_prio_dqm_execute(struct device_queue_manager *dqm, bool takes)
{
	u64 start = ktime_get_ns();
	u32 epoch;
	int ret;

	lockdep_assert_held(&dqm->lock_hidden);
	/* an unmap that a fault has left is settled before: the next one is that of this update */
	epoch = dqm->prio.epoch + dqm->prio.unmap_pending;
	ret = kfd_prio_execute(dqm, takes);
	if (ret && !kfd_prio_uses_mes(dqm)) {
		/* the fence came, and KFD found that the firmware had given the unmap up */
		if (dqm->active_runlist && (s32)(dqm->prio.epoch - epoch) > 0)
			dqm->prio.epoch--;
		kfd_prio_dqm_take_back(dqm, ktime_get_ns());
	}
	dqm->prio.totals.update_ns += ktime_get_ns() - start;
	return ret;
}

/**
 * kfd_prio_hook_unregister_process() - a process leaves a GPU: it ends, or its last queue did
 * @dqm: of the GPU
 * @qpd: the process on that GPU; not in the list of its processes any more
 *
 * Context: DQM lock
 */
void kfd_prio_hook_unregister_process(struct device_queue_manager *dqm,
				      struct qcm_process_device *qpd)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	struct kfd_prio_marked m = {};
	struct queue *q;

	qp->left_preempted = qp->preempted;
	list_for_each_entry(q, &qpd->queues_list, list)
		qp->left_preempted &= !q->properties.is_active;
	if (qp->mm)
		kfd_prio_role_drop(dqm, qpd);
	kfd_prio_park_gone(qpd);
	if (!qp->preempted)
		return;
	/* hold its queues off: they are going, and must not be counted again */
	qpd->evicted++;
	kfd_prio_give_back(dqm, qpd, ktime_get_ns(), &m);
	qpd->evicted--;
	kfd_prio_gpu_kick(dqm);
}
