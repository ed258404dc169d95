// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the MQDs of queues: the priority of a process, updates by the owner of a queue that is
 * off the GPU, and MQDs that hibernation would lose.
 *
 * Needs the static functions of kfd_device_queue_manager.c: included by kfd_prio_dqm.inc.c.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/* The priority of a queue while @prio, or KFD_PRIO_UNSET, is set for its process */
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
 * Return: true if KFD has nothing left to do: the queue is preempted and its MQD has the update, or
 * the update is refused
 */
bool kfd_prio_hook_update_preempted(struct kfd_process_device *pdd, struct queue *q,
				    struct mqd_update_info *minfo, int *ret)
{
	struct device_queue_manager *dqm = q->device->dqm;
	struct mqd_manager *mqd_mgr;

	/* KFD refuses it, too, but has unmapped all queues of the GPU by then, and maps none */
	if (kfd_prio_has_reset_queue(pdd)) {
		*ret = -EACCES;
		return true;
	}
	/* marked as off means that the hardware has confirmed it */
	if (!pdd->qpd.prio.preempted || q->properties.is_active)
		return false;
	*ret = 0;
	mqd_mgr = dqm->mqd_mgrs[get_mqd_type_from_queue_type(q->properties.type)];
	mqd_mgr->update_mqd(mqd_mgr, q->mqd, &q->properties, minfo);
	q->properties.is_gws = !!q->gws;
	/* it may be one that its owner had switched off */
	if (q->prio.held)
		kfd_prio_hold(q);
	return true;
}
