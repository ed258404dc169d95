// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the update of MES to the marks, queue by queue.
 *
 * MES removes one queue after the other, and a queue that runs is saved first. With mes_suspend the
 * gangs of all queues are suspended before many are removed, so that MES saves them at the same
 * time. Those of the processes that stay are resumed at once, one by one. The queues of the others
 * are then removed. The removal proves, as without mes_suspend, that a queue has left the hardware:
 * no answer to SUSPEND does. At the end all gangs are resumed.
 *
 * Only this last RESUME matters. If SUSPEND fails, queues are removed while they run: on Linux 7.2
 * and later it may fail because one queue hangs, and KFD then resets that queue when it is removed.
 * If a removal or the resume of all gangs fails, the next update resumes all gangs first.
 *
 * kfd_prio_dqm.inc.c includes this file, because it uses static functions of
 * kfd_device_queue_manager.c.
 */

/*
 * Before fewer queues with work are removed, suspending all would cost the others more than it
 * saves: MES removes a queue without work at once. The test of the engine in user space has fewer
 * queues, and defines another number.
 */
#ifndef KFD_PRIO_MES_SUSPEND_MIN
#define KFD_PRIO_MES_SUSPEND_MIN	4
#endif

#ifdef KFD_PRIO_HAVE_MES_SUSPEND
/*
 * Whether all gangs may be suspended on a GPU. amdgpu states for which firmware that is supported;
 * without it, or without code for it in the tree, the calls return 0 and do nothing. KFD does not
 * know the gangs of DRM user queues and could not resume them one by one, so where there may be any
 * none is suspended.
 */
static bool kfd_prio_mes_suspends(struct device_queue_manager *dqm)
{
	return READ_ONCE(kfd_prio_param_mes_suspend.value) && kfd_prio_user_queues() <= 0 &&
	       amdgpu_mes_suspend_resume_all_supported(dqm->dev->adev);
}

/*
 * Has MES suspend or resume the gang of @q, or all gangs if it is NULL.
 *
 * Return: 0; -EIO if MES cannot be asked now; another error of MES
 */
static int kfd_prio_mes_gangs(struct device_queue_manager *dqm, bool suspend, const struct queue *q)
{
	struct mes_suspend_gang_input off = { .suspend_all_gangs = !q };
	struct mes_resume_gang_input on = { .resume_all_gangs = !q };
	struct amdgpu_device *adev = dqm->dev->adev;
	int ret;

	if (q) {
		off.gang_context_addr = q->gang_ctx_gpu_addr;
		on.gang_context_addr = q->gang_ctx_gpu_addr;
	}
#ifdef KFD_PRIO_HAVE_MES_GANG_XCC
	off.xcc_id = ffs(dqm->dev->xcc_mask) - 1;
	on.xcc_id = off.xcc_id;
#endif
	if (!down_read_trylock(&adev->reset_domain->sem))
		return -EIO;
	amdgpu_mes_lock(&adev->mes);
	ret = suspend ? adev->mes.funcs->suspend_gang(&adev->mes, &off) :
			adev->mes.funcs->resume_gang(&adev->mes, &on);
	amdgpu_mes_unlock(&adev->mes);
	up_read(&adev->reset_domain->sem);
	return ret;
}

/* Whether a queue stays on the hardware, and its gang may be among those that MES suspends */
static bool kfd_prio_mes_stays(struct device_queue_manager *dqm, const struct queue *q)
{
	if (!q->properties.is_active || q->prio.marked)
		return false;
	/* From GFX12 on "all gangs" are those of compute queues */
	return q->properties.type == KFD_QUEUE_TYPE_COMPUTE ||
	       KFD_GC_VERSION(dqm->dev) < IP_VERSION(12, 0, 0);
}

/* Resumes the gangs that stay: of the process that preempts now, or of all others */
static void kfd_prio_mes_resume_those(struct device_queue_manager *dqm, bool preempts)
{
	struct device_process_node *cur;
	struct queue *q;

	list_for_each_entry(cur, &dqm->queues, list) {
		bool is_it = cur->qpd->pqm->process->lead_thread->tgid == dqm->prio.pid;

		if (is_it != preempts)
			continue;
		list_for_each_entry(q, &cur->qpd->queues_list, list)
			if (kfd_prio_mes_stays(dqm, q))
				kfd_prio_mes_gangs(dqm, false, q);
	}
}

/*
 * Suspends all gangs if many queues are to be removed, and resumes those of the queues that stay;
 * first that of the process that preempts. kfd_prio_dqm.suspended is set before MES is asked, and
 * stays set after an error, because MES may have suspended some.
 */
static void kfd_prio_mes_suspend(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;
	unsigned int leave = 0;
	struct queue *q;

	if (!kfd_prio_mes_suspends(dqm))
		return;
	list_for_each_entry(cur, &dqm->queues, list)
		list_for_each_entry(q, &cur->qpd->queues_list, list)
			leave += q->prio.marked && !q->properties.is_active &&
				 cur->qpd->prio.counted;
	if (leave < KFD_PRIO_MES_SUSPEND_MIN)
		return;
	dqm->prio.suspended = true;
	if (kfd_prio_mes_gangs(dqm, true, NULL))
		return;
	kfd_prio_mes_resume_those(dqm, true);
	kfd_prio_mes_resume_those(dqm, false);
}

/*
 * Resumes all gangs if some may be suspended. An error but -EIO means that MES does not answer or
 * refuses, and processes could wait without end, so that KFD resets the GPU.
 *
 * Return: 0; -EIO if MES cannot be asked now; another error of MES
 */
static int kfd_prio_mes_resume_all(struct device_queue_manager *dqm)
{
	int ret;

	if (!dqm->prio.suspended)
		return 0;
	ret = kfd_prio_mes_gangs(dqm, false, NULL);
	if (!ret) {
		dqm->prio.suspended = false;
	} else if (ret != -EIO) {
		dev_err(dqm->dev->adev->dev, "kfdprio: MES cannot resume all gangs (%d): reset the GPU\n",
			ret);
		kfd_hws_hang(dqm);
	}
	return ret;
}
#else
static void kfd_prio_mes_suspend(struct device_queue_manager *dqm)
{
}

static int kfd_prio_mes_resume_all(struct device_queue_manager *dqm)
{
	return 0;
}
#endif

/**
 * kfd_prio_dqm_remove() - have MES remove the queues that are marked as off
 * @dqm: device queue manager of the GPU, which has MES
 *
 * After an error MES is not asked to remove the other queues. For a queue whose removal MES has not
 * confirmed, kfd_prio_queue.marked stays set, whatever the error is: the queue may run until a
 * reset has begun, and a reset that is on its way may take long to begin.
 *
 * Context: DQM lock
 * Return: 0, or the error of the first queue that MES has not removed, or of the resume of all
 *	gangs (mes_suspend), which the next call repeats
 */
int kfd_prio_dqm_remove(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;
	struct queue *q;
	int ret;

	/* An earlier step may have left gangs suspended */
	ret = kfd_prio_mes_resume_all(dqm);
	if (!ret)
		kfd_prio_mes_suspend(dqm);
	list_for_each_entry(cur, &dqm->queues, list)
		list_for_each_entry(q, &cur->qpd->queues_list, list) {
			if (!q->prio.marked || q->properties.is_active)
				continue;
			if (!ret)
				ret = remove_queue_mes(dqm, q, cur->qpd);
			q->prio.marked = ret;
		}
	/* After an error MES is not asked again now: the thread repeats the update */
	return ret ?: kfd_prio_mes_resume_all(dqm);
}

/**
 * kfd_prio_dqm_add() - have MES add the queues that are marked as on
 * @dqm: device queue manager of the GPU, which has MES
 * @ret: 0; or an error after which MES is not asked
 *
 * A queue that MES was not asked to add, or could not be asked to add (-EIO), is not on the
 * hardware. It becomes inactive, and kfd_prio_queue.late is set until MES has added it: KFD would
 * ask MES to remove an active queue, and take the refusal for a hang. After any other error the
 * queue may be on the hardware, and stays active.
 *
 * Each queue takes MES some ten microseconds, and a claim that rings then may preempt the
 * processes that are being put back. So a ring of a claim ends the function, after one queue at
 * least.
 *
 * Context: DQM lock
 * Return: @ret, or the error of the first queue that MES has not added; -EAGAIN if MES was not
 *	asked to add all queues, because a process has rung
 */
int kfd_prio_dqm_add(struct device_queue_manager *dqm, int ret)
{
	struct device_process_node *cur;
	bool asked, any = false;
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
			if (!ret && any && kfd_prio_claim_rings(dqm))
				ret = -EAGAIN;
			asked = !ret;
			if (asked)
				ret = add_queue_mes(dqm, q, cur->qpd);
			any = true;
			if (!ret || (asked && ret != -EIO))
				continue;
			q->prio.late = true;
			q->properties.is_active = false;
			decrement_queue_count(dqm, cur->qpd, q);
		}
	return ret;
}
