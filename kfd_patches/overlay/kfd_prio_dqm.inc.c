// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: what needs the static functions of kfd_device_queue_manager.c.
 * Included at the end of that file.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/* What a queue must have while @prio, or KFD_PRIO_UNSET, is set for its process */
static u32 kfd_prio_target(struct queue *q, int prio)
{
	return prio == KFD_PRIO_UNSET ? q->prio.requested : prio;
}

/* One MQD; the queue is off the hardware.  is_active is recomputed by KFD. */
static void kfd_prio_update_mqd(struct device_queue_manager *dqm,
				struct qcm_process_device *qpd, struct queue *q)
{
	struct mqd_manager *mqd_mgr =
		dqm->mqd_mgrs[get_mqd_type_from_queue_type(q->properties.type)];
	bool was_active = q->properties.is_active;

	mqd_mgr->update_mqd(mqd_mgr, q->mqd, &q->properties, NULL);
	if (q->properties.is_active && !was_active)
		increment_queue_count(dqm, qpd, q);
	else if (!q->properties.is_active && was_active)
		decrement_queue_count(dqm, qpd, q);
}

/*
 * MES acts on single queues: off, change, on again.  It says -ETIMEDOUT where HWS says -ETIME,
 * which is what KFD_PRIO_IOC_SET promises.
 */
static int kfd_prio_update_mes(struct device_queue_manager *dqm,
			       struct qcm_process_device *qpd, struct queue *q, int prio)
{
	int ret = 0;

	if (q->properties.is_active)
		ret = remove_queue_mes(dqm, q, qpd);
	q->properties.priority = kfd_prio_target(q, prio);
	if (!ret) {
		kfd_prio_update_mqd(dqm, qpd, q);
		if (q->properties.is_active)
			ret = add_queue_mes(dqm, q, qpd);
	}
	return ret && ret != -EIO ? -ETIME : ret;
}

/* A runlist that lacks memory is tried so often */
#define KFD_PRIO_MAP_TRIES	8

/*
 * When an allocation of the runlist fails, KFD has unmapped all queues already, including those
 * of unrelated processes, and they stay unmapped until the next runlist.  So try again at once.
 *
 * @ret: of a call that maps.  Context: DQM lock.  Return: @ret, or what the last try has
 * returned; -EIO instead of -ENOMEM, which would mean that nothing has changed
 */
static int kfd_prio_map_again(struct device_queue_manager *dqm, int ret)
{
	int tries = KFD_PRIO_MAP_TRIES;

	lockdep_assert_held(&dqm->lock_hidden);
	while (ret == -ENOMEM && !dqm->active_runlist && tries--)
		ret = map_queues_cpsch(dqm);
	return ret == -ENOMEM ? -EIO : ret;
}

/**
 * kfd_prio_dqm_apply() - bring the queues of a process on a GPU to its priority
 * @pdd: the process on that GPU
 * @nr_queues: in and out: its queues are added
 *
 * With HWS one unmap and one runlist serve all its queues; without a change, or
 * with none of them active, the hardware is not touched.  With MES the first queue
 * that it does not take is the last one tried: each wait is of seconds, and a reset
 * is on its way.  Without a hardware scheduler (sched_policy=2) a loaded queue takes
 * the change when it is loaded next: KFD can load a queue in the context of its
 * owner only.
 *
 * The priority is read once, so that the same queues are unmapped and updated.  A change of the
 * priority meanwhile calls this function again, after us.
 *
 * Context: process; DQM lock
 * Return: 0; -EIO if the GPU is being reset or there is no memory, -ETIME if its scheduler does
 * not answer: the queues have the priority, the hardware has it after the reset
 */
int kfd_prio_dqm_apply(struct kfd_process_device *pdd, u32 *nr_queues)
{
	struct device_queue_manager *dqm = pdd->dev->dqm;
	struct qcm_process_device *qpd = &pdd->qpd;
	bool stale = false, active = false;
	int prio, ret = 0;
	struct queue *q;

	lockdep_assert_held(&dqm->lock_hidden);
	prio = kfd_prio_of_process(pdd->process);
	list_for_each_entry(q, &qpd->queues_list, list) {
		++*nr_queues;
		if (q->properties.priority == kfd_prio_target(q, prio))
			continue;
		stale = true;
		active |= q->properties.is_active;
	}
	if (!stale)
		return 0;

	if (kfd_prio_uses_mes(dqm)) {
		list_for_each_entry(q, &qpd->queues_list, list) {
			if (q->properties.priority == kfd_prio_target(q, prio))
				continue;
			if (ret)
				q->properties.priority = kfd_prio_target(q, prio);
			else
				ret = kfd_prio_update_mes(dqm, qpd, q, prio);
			trace_kfd_update_queue(q, ret);
		}
		return ret;
	}

	active &= dqm->sched_policy != KFD_SCHED_POLICY_NO_HWS;
	if (active)
		ret = kfd_prio_unmap_dynamic(dqm);
	list_for_each_entry(q, &qpd->queues_list, list) {
		if (q->properties.priority == kfd_prio_target(q, prio))
			continue;
		q->properties.priority = kfd_prio_target(q, prio);
		if (!ret)
			kfd_prio_update_mqd(dqm, qpd, q);
		trace_kfd_update_queue(q, ret);
	}
	if (active && !ret)
		ret = kfd_prio_map_again(dqm, map_queues_cpsch(dqm));
	return ret;
}

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

/* A process is preempted from now on, that was on the GPU, or parked */
static inline void kfd_prio_taken(struct device_queue_manager *dqm, struct kfd_prio_qpd *qp,
				  u64 now, struct kfd_prio_marked *m)
{
	qp->cost_due = true;
	dqm->prio.cost_due = true;
	qp->preempted_at = now;
	qp->preempted_count++;
	m->preempted++;
}

/* What is off goes on to be off, for another reason: the hardware is not touched */
static void kfd_prio_turn(struct device_queue_manager *dqm, struct qcm_process_device *qpd,
			  bool parks, u64 now, struct kfd_prio_marked *m)
{
	struct kfd_prio_qpd *qp = &qpd->prio;

	if (parks) {
		qp->preempted_ns += now - qp->preempted_at;
		kfd_prio_park_begin(qpd, true, now);
	} else {
		kfd_prio_park_end(qpd, KFD_PRIO_UNPARK_PREEMPT, now);
		kfd_prio_taken(dqm, qp, now, m);
		/* no save of it is due: it had no waves */
		qp->cost_due = false;
	}
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
				 bool parks, u64 now, struct kfd_prio_marked *m)
{
	struct kfd_prio_qpd *qp = &qpd->prio;
	struct queue *q;

	qp->preempted = true;
	/* its MQDs tell now if it has waves */
	WRITE_ONCE(qp->look, true);
	WRITE_ONCE(dqm->prio.look_now, true);
	qp->taken_seq = dqm->prio.unmap_seq;
	dqm->prio.victims++;
	if (parks)
		kfd_prio_park_begin(qpd, false, now);
	else
		kfd_prio_taken(dqm, qp, now, m);
	/* a debugger's kernel queue stays mapped */
	qp->skip = list_empty(&qpd->priv_queue_list);
	dqm->prio.skipped += qp->skip;
	qp->kfd_first = qpd->evicted++ > 0;
	if (qp->kfd_first)
		return;
	list_for_each_entry(q, &qpd->queues_list, list) {
		bool off = q->properties.is_active || kfd_prio_queue_is_suspended(q);

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
		qp->preempted_ns += now - qp->preempted_at;
		m->restored++;
	}
	WRITE_ONCE(qp->preempted, false);
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
	struct kfd_prio_marked m = {};

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_take(dqm, qpd, false, ktime_get_ns(), &m);
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
	memset(m, 0, sizeof(*m));
	dqm->prio.lowest = KFD_PRIO_RANK_NONE;
	dqm->prio.charged = 0;
	list_for_each_entry(cur, &dqm->queues, list) {
		struct qcm_process_device *qpd = cur->qpd;

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
			kfd_prio_take(dqm, qpd, parks, now, m);
		else if (qpd->prio.parked != parks)
			kfd_prio_turn(dqm, qpd, parks, now, m);
		if (!w.works || parks)
			continue;
		dqm->prio.lowest = min(dqm->prio.lowest, qpd->prio.prio);
		if (qpd->prio.preempted) {
			dqm->prio.charged++;
			m->busy += !was;
		}
	}
}

/**
 * kfd_prio_dqm_take_back() - the unmap that was sent last is not done: nothing is off by it
 * @dqm: of the GPU
 * @now: ktime_get_ns()
 *
 * What was off before stays off.  A process that was put back in the same step stays marked so: a
 * runlist must follow in any case.
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
		if (qp->preempted && qp->taken_seq == dqm->prio.unmap_seq)
			kfd_prio_give_back(dqm, cur->qpd, now, &m);
		dqm->prio.charged += kfd_prio_is_preempted(qp) && kfd_prio_works(cur->qpd);
	}
}

/*
 * MES acts on single queues: those that leave first, so that one that comes finds room.
 * After an error it is not asked again: a reset is on its way, which leaves it no queue.
 * If the reset semaphore is held and no reset comes, MES is asked again later.
 */
static int kfd_prio_execute_mes(struct device_queue_manager *dqm, bool active)
{
	struct device_process_node *cur;
	struct queue *q;
	int ret = 0;

	list_for_each_entry(cur, &dqm->queues, list)
		list_for_each_entry(q, &cur->qpd->queues_list, list) {
			if (!q->prio.marked || q->properties.is_active != active)
				continue;
			if (!ret)
				ret = active ? add_queue_mes(dqm, q, cur->qpd) :
					       remove_queue_mes(dqm, q, cur->qpd);
			q->prio.marked = ret == -EIO && !kfd_prio_in_reset(dqm);
		}
	return ret;
}

/**
 * kfd_prio_dqm_execute() - make the hardware run what is marked
 * @dqm: of the GPU
 * @takes: a process with work is taken off, and another waits for that: with short_grace waves
 *	are saved at once.  KFD's default is 64,000 cycles of the GPU's clock, 45 us at 1.4 GHz,
 *	in which they may end.  HWS only: MES has its own times
 *
 * HWS: one unmap and one runlist, however many queues; and two packets more to set the grace period
 * and to set it back, where the tree can and @takes.  If the unmap takes longer than the fault may
 * wait it is set back by the next one, which comes soon.
 *
 * Context: DQM lock; waits for the unmap, as every operation of KFD does
 * Return: 0; -EIO if the GPU is being reset or there is no memory for the runlist, -ETIME if its
 * scheduler does not answer
 */
int kfd_prio_dqm_execute(struct device_queue_manager *dqm, bool takes)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	bool at_once;
	int off, on;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!kfd_prio_uses_mes(dqm)) {
		/* it has had its time: KFD need not wait once more to find out */
		if (kfd_prio_unmap_settle(dqm)) {
			if (!kfd_prio_resetting(dqm))
				kfd_hws_hang(dqm);
			return -ETIME;
		}
		at_once = d->has_grace && (d->grace_set ||
			  (takes && READ_ONCE(kfd_prio_param_short_grace.value)));
		on = kfd_prio_execute_dynamic(dqm, at_once);
		d->grace_set = at_once && on == -EINPROGRESS;
		return kfd_prio_map_again(dqm, on);
	}
	off = kfd_prio_execute_mes(dqm, false);
	on = kfd_prio_execute_mes(dqm, true);
	return off ?: on;
}

/**
 * kfd_prio_dqm_unpin() - KFD evicts a process that is preempted, perhaps to hibernate
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 *
 * KFD finds its queues off already, and would leave their MQDs where they are lost.
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_unpin(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct queue *q;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(q, &qpd->queues_list, list) {
		q->properties.is_evicted = false;
		/* no others: KFD restores no others */
		if (QUEUE_IS_ACTIVE(q->properties))
			kfd_prio_mqd_unpin(dqm, q);
		q->properties.is_evicted = true;
	}
}

/**
 * kfd_prio_dqm_repin() - KFD restores a process that stays preempted
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 *
 * Its queues may be updated from now on.  An MQD that cannot be pinned is tried again when the
 * process is put back.
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_repin(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct queue *q;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(q, &qpd->queues_list, list)
		if (kfd_prio_mqd_repin(dqm, q))
			pr_warn("kfdprio: queue %u of process %d has no MQD\n",
				q->properties.queue_id, q->process->lead_thread->tgid);
}

/**
 * kfd_prio_hook_update_preempted() - a queue is about to be updated
 * @pdd: its process on its GPU
 * @q: the queue, with its new properties
 * @minfo: KFD's, for the MQD
 * @ret: out: what the update returns
 *
 * Context: DQM lock
 * Return: true if it is preempted and its MQD has the update now
 */
bool kfd_prio_hook_update_preempted(struct kfd_process_device *pdd, struct queue *q,
				    struct mqd_update_info *minfo, int *ret)
{
	struct device_queue_manager *dqm = q->device->dqm;
	struct mqd_manager *mqd_mgr;

	if (!pdd->qpd.prio.preempted || q->properties.is_active || dqm->prio.missed)
		return false;
	*ret = 0;
	if (kfd_prio_has_reset_queue(pdd)) {
		*ret = -EACCES;
		return true;
	}
	mqd_mgr = dqm->mqd_mgrs[get_mqd_type_from_queue_type(q->properties.type)];
	mqd_mgr->update_mqd(mqd_mgr, q->mqd, &q->properties, minfo);
	q->properties.is_gws = !!q->gws;
	/* it may be one that its owner had switched off */
	if (q->prio.held)
		kfd_prio_hold(q);
	return true;
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

	qp->left_preempted = qp->preempted && !dqm->prio.missed;
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
