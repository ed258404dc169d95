// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: what needs the static functions of kfd_device_queue_manager.c.
 * Included at the end of that file.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

static bool kfd_prio_queue_stale(struct queue *q)
{
	return q->properties.priority != kfd_prio_of_queue(q);
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
			       struct qcm_process_device *qpd, struct queue *q)
{
	int ret = 0;

	if (q->properties.is_active)
		ret = remove_queue_mes(dqm, q, qpd);
	q->properties.priority = kfd_prio_of_queue(q);
	if (!ret) {
		kfd_prio_update_mqd(dqm, qpd, q);
		if (q->properties.is_active)
			ret = add_queue_mes(dqm, q, qpd);
	}
	return ret && ret != -EIO ? -ETIME : ret;
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
 * Context: process, takes the DQM lock
 * Return: 0; -EIO if the GPU is being reset, -ETIME if its scheduler does not
 * answer: the queues have the priority, the hardware has it after the reset
 */
int kfd_prio_dqm_apply(struct kfd_process_device *pdd, u32 *nr_queues)
{
	struct device_queue_manager *dqm = pdd->dev->dqm;
	struct qcm_process_device *qpd = &pdd->qpd;
	bool stale = false, active = false;
	int ret = 0;
	struct queue *q;

	if (!dqm)
		return 0;
	dqm_lock(dqm);
	list_for_each_entry(q, &qpd->queues_list, list) {
		++*nr_queues;
		if (!kfd_prio_queue_stale(q))
			continue;
		stale = true;
		active |= q->properties.is_active;
	}
	if (!stale)
		goto out;

	if (kfd_prio_uses_mes(dqm)) {
		list_for_each_entry(q, &qpd->queues_list, list) {
			if (!kfd_prio_queue_stale(q))
				continue;
			if (ret)
				q->properties.priority = kfd_prio_of_queue(q);
			else
				ret = kfd_prio_update_mes(dqm, qpd, q);
			trace_kfd_update_queue(q, ret);
		}
		goto out;
	}

	active &= dqm->sched_policy != KFD_SCHED_POLICY_NO_HWS;
	if (active)
		ret = kfd_prio_unmap_dynamic(dqm);
	list_for_each_entry(q, &qpd->queues_list, list) {
		if (!kfd_prio_queue_stale(q))
			continue;
		q->properties.priority = kfd_prio_of_queue(q);
		if (!ret)
			kfd_prio_update_mqd(dqm, qpd, q);
		trace_kfd_update_queue(q, ret);
	}
	if (active && !ret)
		ret = map_queues_cpsch(dqm);
out:
	dqm_unlock(dqm);
	return ret;
}
