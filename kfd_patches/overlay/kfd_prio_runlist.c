// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the runlist, and the unmap before it.
 *
 * KFD unmaps all queues of a GPU, waits, and sends the next runlist.  This file completes an unmap
 * for which the fault of a doorbell did not wait, measures how long no queue was mapped, and
 * selects the processes that a runlist leaves out.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/**
 * kfd_prio_unmap_begin() - HWS or MES is about to be told to unmap
 * @dqm: of the GPU
 *
 * Context: DQM lock
 */
void kfd_prio_unmap_begin(struct device_queue_manager *dqm)
{
	dqm->prio.unmap_seq++;
	dqm->prio.unmap_running = trace_kfd_unmap_queues_enabled() ||
				  trace_kfd_unmap_queues_done_enabled();
	if (dqm->prio.unmap_running)
		dqm->prio.unmap_start = ktime_get();
}

/**
 * kfd_prio_take_epoch() - by which unmap does a process leave the hardware that is marked as off
 * now?
 * @dqm: of the GPU; HWS
 *
 * Context: DQM lock
 * Return: what &struct kfd_prio_dqm.epoch is until that unmap is confirmed; the one before if
 * nothing is mapped
 */
u32 kfd_prio_take_epoch(const struct device_queue_manager *dqm)
{
	bool mapped = dqm->active_runlist || dqm->prio.unmap_pending;

	return mapped ? dqm->prio.epoch : dqm->prio.epoch - 1;
}

/**
 * kfd_prio_unmap_done() - HWS or MES has answered, or not in time
 * @dqm: of its GPU
 * @ret: 0, or the error
 *
 * Context: DQM lock
 */
void kfd_prio_unmap_done(struct device_queue_manager *dqm, int ret)
{
	if (dqm->prio.mes_queue)
		kfd_prio_breaker_suspect(dqm, ret ? dqm->prio.mes_queue : NULL);
	else if (dqm->prio.thread && ret != -ENOMEM)
		kfd_prio_breaker_suspect_hws(dqm);
	dqm->prio.mes_queue = NULL;
	/* -EIO: a reset is on its way already; -ENOMEM: nothing was sent */
	if (ret && ret != -EIO && ret != -ENOMEM && !kfd_prio_resetting(dqm))
		kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_UNMAP);
	if (!ret)
		dqm->prio.epoch++;
	if (!dqm->prio.unmap_running)
		return;
	dqm->prio.unmap_running = false;
	trace_kfd_unmap_queues_done(dqm, ret);
}

/* The unmap that a fault has left is over, or lost */
static void kfd_prio_unmap_settled(struct device_queue_manager *dqm, int ret)
{
	if (!dqm->prio.unmap_pending)
		return;
	dqm->prio.unmap_pending = false;
	kfd_prio_unmap_done(dqm, ret);
}

/* Has HWS written the fence of the last unmap? */
static bool kfd_prio_unmapped(struct device_queue_manager *dqm)
{
	return READ_ONCE(*dqm->fence_addr) == KFD_FENCE_COMPLETED;
}

/**
 * kfd_prio_unmap_wait() - KFD is about to wait for the unmap that was sent
 * @dqm: of its GPU
 * @ret: out: what KFD's function returns
 *
 * The fault of a doorbell waits for a few milliseconds.  It runs under the VMA lock or mmap_lock,
 * and no signal ends it: KFD's own wait, queue_preemption_timeout_ms, is too long there.
 *
 * Context: DQM lock
 * Return: true if KFD shall return at once: the unmap goes on, and must be settled before the
 * next one, see kfd_prio_unmap_settle()
 */
bool kfd_prio_unmap_wait(struct device_queue_manager *dqm, int *ret)
{
	u64 end;

	dqm->prio.unmap_sent = ktime_get_ns();
	if (dqm->prio.unmap_lost) {
		/* HWS had all of its time for the unmap before this one */
		dqm->prio.unmap_lost = false;
		*ret = -ETIME;
		return true;
	}
	if (!dqm->prio.in_fault)
		return false;
	end = dqm->prio.unmap_sent + KFD_PRIO_FAULT_WAIT_NS;
	while (!kfd_prio_unmapped(dqm)) {
		if (ktime_get_ns() >= end) {
			dqm->prio.unmap_pending = true;
			*ret = -EINPROGRESS;
			return true;
		}
		schedule();
	}
	return false;
}

/**
 * kfd_prio_unmap_pause() - let other threads run while the scheduler is waited for in a loop
 *
 * Our thread has a real-time priority: with schedule() alone it would keep the CPU from threads of
 * lower priority, one of which may be the process whose queues it waits for.
 *
 * Context: DQM lock
 */
void kfd_prio_unmap_pause(void)
{
	if (rt_task(current) && current->flags & PF_KTHREAD)
		usleep_range(2, 5);
}

/**
 * kfd_prio_unmap_settle() - wait for the unmap that a fault has left, if there is one
 * @dqm: of the GPU
 *
 * Two queries must not be under way at once: the fence would not say which of them is done.
 *
 * Context: DQM lock; waits until HWS has had queue_preemption_timeout_ms, as KFD does, counted from
 * when the unmap was sent
 * Return: 0, or -ETIME if HWS does not answer, or cannot: the GPU is being reset, or has had a
 * fatal error
 */
int kfd_prio_unmap_settle(struct device_queue_manager *dqm)
{
	u64 end;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!dqm->prio.unmap_pending || !dqm->active_runlist || !dqm->sched_running)
		return 0;
	end = dqm->prio.unmap_sent + (u64)queue_preemption_timeout_ms * NSEC_PER_MSEC;
	while (!kfd_prio_unmapped(dqm)) {
		if (ktime_get_ns() >= end || kfd_prio_resetting(dqm) || kfd_prio_is_fed(dqm)) {
			kfd_prio_unmap_settled(dqm, -ETIME);
			return -ETIME;
		}
		kfd_prio_unmap_pause();
		schedule();
	}
	kfd_prio_unmap_settled(dqm, 0);
	return 0;
}

/**
 * kfd_prio_runlist_unmap() - HWS is about to be told to unmap all queues of processes
 * @dqm: of the GPU
 *
 * Context: DQM lock; waits for an unmap that a fault has left
 */
void kfd_prio_runlist_unmap(struct device_queue_manager *dqm)
{
	dqm->prio.unmap_lost = kfd_prio_unmap_settle(dqm);
	kfd_prio_unmap_begin(dqm);
	if (!dqm->prio.unmapped_at)
		dqm->prio.unmapped_at = ktime_get_ns();
}

/* Would the runlist be over-subscribed without preemption?  As in pm_calc_rlib_size(). */
static bool kfd_prio_over_subscribed(struct device_queue_manager *dqm)
{
	unsigned int compute = dqm->active_cp_queue_count;
	struct device_process_node *cur;
	struct queue *q;

	list_for_each_entry(cur, &dqm->queues, list) {
		if (!cur->qpd->prio.preempted || cur->qpd->evicted > 1)
			continue;
		list_for_each_entry(q, &cur->qpd->queues_list, list)
			compute += q->prio.off && q->properties.type == KFD_QUEUE_TYPE_COMPUTE;
	}
	return kfd_prio_over_subscribes(dqm, dqm->processes_count, compute);
}

/*
 * A runlist was made: what KFD knows of over-subscription.
 *
 * KFD prints a line when a runlist is over-subscribed and the one before was not.  Preemption
 * takes processes out of the runlist and puts them back, up to max_preempt_per_s times a second,
 * and each return would print one, under the DQM lock.  So what was over-subscribed before, and
 * would be without preemption, KFD goes on to take for that.  What becomes over-subscribed while
 * processes are preempted is printed when they return.
 */
static void kfd_prio_over_subscribed_keep(struct device_queue_manager *dqm)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (dqm->prio.victims && dqm->prio.was_over && !kfd_prio_over_subscription_get(dqm) &&
	    kfd_prio_over_subscribed(dqm))
		kfd_prio_over_subscription_set(dqm);
}

/**
 * kfd_prio_runlist_sent() - a runlist was sent, ours or KFD's own, or it was not
 * @dqm: of the GPU
 * @ret: 0, or why it was not
 *
 * While all queues were unmapped no claim has run, which may take longer than linger_us: that time
 * counts for no claim.
 *
 * Context: DQM lock
 */
void kfd_prio_runlist_sent(struct device_queue_manager *dqm, int ret)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 now = ktime_get_ns();

	/* a reset came first: KFD sends no runlist before all is unmapped */
	kfd_prio_unmap_settled(dqm, -EIO);
	if (!ret && d->unmapped_at) {
		kfd_prio_claim_skip(dqm, d->unmapped_at);
		WRITE_ONCE(d->restored_at,
			   now + min(now - d->unmapped_at, KFD_PRIO_RESTORE_MAX_NS));
		d->unmapped_at = 0;
	}
	kfd_prio_over_subscribed_keep(dqm);
}

/**
 * kfd_prio_runlist_takes() - would a level take any queue off the hardware?
 * @dqm: of the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 *
 * Context: DQM lock
 */
bool kfd_prio_runlist_takes(struct device_queue_manager *dqm, int level)
{
	struct device_process_node *cur;
	struct queue *q;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list) {
		struct qcm_process_device *qpd = cur->qpd;

		if (READ_ONCE(qpd->prio.stale))
			kfd_prio_refresh(qpd);
		if (qpd->evicted || qpd->prio.preempted || !kfd_prio_is_victim(qpd, level))
			continue;
		list_for_each_entry(q, &qpd->queues_list, list)
			if (q->properties.is_active)
				return true;
	}
	return false;
}

/**
 * kfd_prio_hook_runlist_size() - how many processes will be in the runlist?
 * @dqm: of the GPU
 * @processes: in: all of them; out: without those that are left out.  It decides if the
 *	runlist is over-subscribed, and the size of its buffer
 *
 * Context: DQM lock
 */
void kfd_prio_hook_runlist_size(struct device_queue_manager *dqm, unsigned int *processes)
{
	*processes -= dqm->prio.skipped;
	dqm->prio.was_over = kfd_prio_over_subscription_get(dqm);
}

/**
 * kfd_prio_hook_runlist_skip() - is a process left out of the runlist?
 * @qpd: the process on that GPU
 *
 * KFD maps processes that have no active queue too; each takes a VMID, and with more of
 * them than VMIDs the firmware takes turns.
 *
 * Context: DQM lock
 */
bool kfd_prio_hook_runlist_skip(struct qcm_process_device *qpd)
{
	return qpd->prio.skip;
}

/**
 * kfd_prio_hook_terminate_preempted() - a process has ended, its queues are to leave the GPU
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 * @filter: enum kfd_unmap_queues_filter that KFD chose
 *
 * Context: DQM lock
 * Return: true if they have left it already
 */
bool kfd_prio_hook_terminate_preempted(struct device_queue_manager *dqm,
				       struct qcm_process_device *qpd, u32 filter)
{
	return qpd->prio.left_preempted && filter == KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES;
}

/**
 * kfd_prio_hook_fence_wait() - KFD waits for the scheduler, in a loop
 *
 * Context: DQM lock
 */
void kfd_prio_hook_fence_wait(void)
{
	kfd_prio_unmap_pause();
}
