// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: changes of MQDs: the priority of a process, updates of a queue by its owner while its
 * process is taken off, and pinning for hibernation.
 *
 * kfd_prio_dqm.inc.c includes this file, because it uses static functions of
 * kfd_device_queue_manager.c.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/*
 * The priority in force for a queue if @prio is that of its process; KFD_PRIO_UNSET if none is set
 */
static u32 kfd_prio_target(struct queue *q, int prio)
{
	return prio == KFD_PRIO_UNSET ? q->prio.requested : prio;
}

/*
 * Writes the properties of a queue to its MQD, and counts the queue if KFD changes is_active. The
 * queue must be off the hardware.
 */
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
 * Changes the priority of a queue with MES: removes it, updates its MQD, and adds it again. MES
 * returns -ETIMEDOUT where HWS returns -ETIME, which is the error that KFD_PRIO_IOC_SET documents.
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

/* Number of further tries for a runlist whose allocation failed */
#define KFD_PRIO_MAP_TRIES	8

/*
 * Sends a runlist again whose allocation has failed. KFD has unmapped all queues by then, including
 * those of unrelated processes, and they stay unmapped until the next runlist.
 *
 * @ret: result of the first try
 *
 * Context: DQM lock
 * Return: @ret, or the result of the last try; -EIO instead of -ENOMEM, which
 *	kfd_prio_dqm_apply() must not return, because it means that no queue has changed
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
 * kfd_prio_dqm_apply() - give the queues of a process on a GPU the priority in force
 * @pdd: the process on the GPU
 * @nr_queues: in and out: the number of its queues is added
 *
 * With HWS one unmap and one runlist serve all queues; if no active queue changes, the hardware is
 * not touched. With MES no further queue is removed after the first one that MES refuses, because
 * each wait takes seconds and a reset is on its way. Without a hardware scheduler (sched_policy=2)
 * a loaded queue takes the priority when it is loaded next, because KFD can load a queue in the
 * context of its owner only.
 *
 * The priority is read once, so that the same queues are unmapped and updated. A caller that
 * changes the priority concurrently calls this function again.
 *
 * Context: process; DQM lock
 * Return: 0; -EIO if the GPU is being reset or memory is short, -ETIME if its scheduler does not
 *	answer: the properties of the queues have the priority, and the hardware takes it after the
 *	reset. After -EIO because the ring for commands to HWS is full they do not have it
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
	/* No packet was sent: the queues run on with their priority; the next call changes it */
	if (ret == -ENOMEM)
		return -EIO;
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
 * kfd_prio_dqm_unpin() - unpin the MQDs of a process that is taken off, and that KFD evicts
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU
 *
 * KFD unpins the MQDs of a process that it evicts, because hibernation does not save pinned memory.
 * For this process it only increments qpd->evicted, and would leave the MQDs pinned.
 *
 * Context: DQM lock
 */
void kfd_prio_dqm_unpin(struct device_queue_manager *dqm, struct qcm_process_device *qpd)
{
	struct queue *q;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(q, &qpd->queues_list, list) {
		q->properties.is_evicted = false;
		/* Only these: KFD pins no others when it restores the process */
		if (QUEUE_IS_ACTIVE(q->properties))
			kfd_prio_mqd_unpin(dqm, q);
		q->properties.is_evicted = true;
	}
}

/**
 * kfd_prio_dqm_repin() - pin the MQDs of a process that KFD restores and that stays taken off
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU
 *
 * The owner may update the queues from now on, which writes to the MQDs. If an MQD cannot be
 * pinned, kfdprio tries again when it puts the process back.
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
 * kfd_prio_hook_update_preempted() - update a queue whose process is taken off, instead of KFD
 * @pdd: the process of the queue on its GPU
 * @q: the queue, with its new properties
 * @minfo: KFD's argument for the MQD
 * @ret: out: the result of the update if this function returns true
 *
 * KFD would unmap all queues of the GPU for the update, also those of the process that preempts.
 *
 * Context: DQM lock
 * Return: true if the update is complete: the MQD was updated, or the update is refused. False if
 *	KFD has to do the update: the process is not taken off, or the queue is active
 */
bool kfd_prio_hook_update_preempted(struct kfd_process_device *pdd, struct queue *q,
				    struct mqd_update_info *minfo, int *ret)
{
	struct device_queue_manager *dqm = q->device->dqm;
	struct mqd_manager *mqd_mgr;

	/*
	 * KFD refuses the update as well, but after unmapping all queues of the GPU, and sends no
	 * runlist
	 */
	if (kfd_prio_has_reset_queue(pdd)) {
		*ret = -EACCES;
		return true;
	}
	/* The hardware has confirmed the unmap of a queue that is marked as off */
	if (!pdd->qpd.prio.preempted || q->properties.is_active)
		return false;
	*ret = 0;
	mqd_mgr = dqm->mqd_mgrs[get_mqd_type_from_queue_type(q->properties.type)];
	mqd_mgr->update_mqd(mqd_mgr, q->mqd, &q->properties, minfo);
	q->properties.is_gws = !!q->gws;
	/* The update may have made a queue runnable that its owner had disabled */
	if (q->prio.held)
		kfd_prio_hold(q);
	return true;
}
