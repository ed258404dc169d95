// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the runlist, and the unmap before it.
 *
 * KFD unmaps all queues of a GPU, waits for the end of the unmap, and sends the next runlist. This
 * file waits for an unmap in place of KFD, measures for how long no queue was mapped, and selects
 * the processes that a runlist leaves out.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/**
 * kfd_prio_unmap_begin() - KFD is about to ask HWS or MES for an unmap, of all queues or of one
 * @dqm: device queue manager of the GPU
 *
 * Counts the unmap, and records its begin if it is traced.
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
 * kfd_prio_mark_epoch() - the epoch of a process that is marked as off now
 * @dqm: device queue manager of the GPU, which has HWS
 *
 * The process has left the hardware when kfd_prio_dqm.epoch is higher.
 *
 * Context: DQM lock
 * Return: the present epoch, which the next confirmed unmap raises; the one before if no queue is
 *	mapped
 */
u32 kfd_prio_mark_epoch(const struct device_queue_manager *dqm)
{
	return dqm->active_runlist ? dqm->prio.epoch : dqm->prio.epoch - 1;
}

/**
 * kfd_prio_unmap_done() - HWS or MES has confirmed an unmap, or the unmap has failed
 * @dqm: device queue manager of the GPU
 * @ret: 0, or the error
 *
 * After a confirmed unmap the function raises the epoch. After an error of HWS it opens the circuit
 * breaker, unless no command was sent or a reset is on its way. After an error of MES it does not,
 * because from Linux 7.3 on KFD then tries to reset the queue alone; if KFD cannot, it requests a
 * reset of the GPU, and kfd_prio_hook_hws_hang() opens the breaker. It records the process whose
 * queue was not unmapped, if that is known.
 *
 * Context: DQM lock
 */
void kfd_prio_unmap_done(struct device_queue_manager *dqm, int ret)
{
	/* -EIO: a reset is on its way already; -ENOMEM: no command was sent */
	bool failed = ret && ret != -EIO && ret != -ENOMEM && !kfd_prio_resetting(dqm);

	if (dqm->prio.mes_queue)
		kfd_prio_breaker_suspect(dqm, ret ? dqm->prio.mes_queue : NULL);
	else if (dqm->prio.thread && ret != -ENOMEM)
		kfd_prio_breaker_suspect_hws(dqm);
	dqm->prio.mes_queue = NULL;
	dqm->prio.mes_failed = failed && kfd_prio_uses_mes(dqm);
	if (failed && !kfd_prio_uses_mes(dqm))
		kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_UNMAP);
	if (!ret)
		dqm->prio.epoch++;
	if (!dqm->prio.unmap_running)
		return;
	dqm->prio.unmap_running = false;
	trace_kfd_unmap_queues_done(dqm, ret);
}

/* Whether HWS has written the fence of the last unmap */
static bool kfd_prio_unmapped(struct device_queue_manager *dqm)
{
	return READ_ONCE(*dqm->fence_addr) == KFD_FENCE_COMPLETED;
}

/*
 * A wait for a save sleeps for slices of this length, ns, because the waves may end by themselves
 * before they are saved. It polls for the last part, ns, of the expected time of the save. With
 * 60 us for that part the P50 of a request on the simulated GPU was 4 us lower than with 40 us.
 */
#define KFD_PRIO_SAVE_SLICE_NS	100000ULL
#define KFD_PRIO_SAVE_POLL_NS	60000ULL

/**
 * kfd_prio_unmap_sleep() - sleep while the GPU saves the waves of preempted processes
 * @dqm: device queue manager of the GPU, to which an unmap was sent
 *
 * The time stamps of earlier saves are an estimate of the time that this one takes at least
 * (kfd_prio_dqm.save_short_ns). Polling for all of that time would use a CPU. The function returns
 * KFD_PRIO_SAVE_POLL_NS before that time has passed, or earlier at the end of a slice if HWS has
 * confirmed the unmap. The caller or KFD polls for the rest.
 *
 * Context: DQM lock; sleeps for kfd_prio_dqm.save_short_ns at most, and for KFD_PRIO_FAULT_WAIT_NS
 */
void kfd_prio_unmap_sleep(struct device_queue_manager *dqm)
{
	u64 end = dqm->prio.unmap_sent + min(dqm->prio.save_short_ns, KFD_PRIO_FAULT_WAIT_NS);
	u64 now = ktime_get_ns(), us;

	while (!kfd_prio_unmapped(dqm) && now + KFD_PRIO_SAVE_POLL_NS < end) {
		us = div_u64(min(end - now - KFD_PRIO_SAVE_POLL_NS, KFD_PRIO_SAVE_SLICE_NS),
			     NSEC_PER_USEC);
		/* usleep_range() does not return before its minimum has passed */
		usleep_range(us + 1, us + 2);
		now = ktime_get_ns();
	}
}

/**
 * kfd_prio_unmap_wait() - wait for an unmap in place of KFD, for a few milliseconds, in a fault
 * @dqm: device queue manager of the GPU
 *
 * The fault of a doorbell runs under the VMA lock or mmap_lock, and no signal ends it. KFD's own
 * wait, queue_preemption_timeout_ms, is too long there.
 *
 * Context: DQM lock; polls, and calls schedule()
 * Return: true if HWS has written the fence; false if it has not written the fence within
 *	KFD_PRIO_FAULT_WAIT_NS after the unmap was sent
 */
bool kfd_prio_unmap_wait(struct device_queue_manager *dqm)
{
	u64 end = dqm->prio.unmap_sent + KFD_PRIO_FAULT_WAIT_NS;

	while (!kfd_prio_unmapped(dqm)) {
		if (ktime_get_ns() >= end)
			return false;
		/* Only then: schedule() takes longer than the rest of the loop */
		if (need_resched())
			schedule();
		cpu_relax();
	}
	return true;
}

/**
 * kfd_prio_unmap_pause() - let other threads run during a loop that waits for the scheduler
 *
 * The GPU's thread has a real-time priority. If it called schedule() only, it would keep the CPU
 * from threads of lower priority, one of which may be that of the process for whose queues it
 * waits.
 *
 * Context: DQM lock
 */
void kfd_prio_unmap_pause(void)
{
	if (rt_task(current) && current->flags & PF_KTHREAD)
		usleep_range(2, 5);
}

/**
 * kfd_prio_unmap_settle() - wait for the unmap that a fault has left, and end it
 * @dqm: device queue manager of the GPU, whose runlist is in force for KFD
 *
 * Context: DQM lock; waits until queue_preemption_timeout_ms after the unmap was sent, as KFD does
 * Return: 0; -ETIME if HWS does not answer in time, or the GPU is being reset or has had a fatal
 *	error
 */
int kfd_prio_unmap_settle(struct device_queue_manager *dqm)
{
	u64 end = dqm->prio.unmap_sent + (u64)queue_preemption_timeout_ms * NSEC_PER_MSEC;
	int ret = 0;

	lockdep_assert_held(&dqm->lock_hidden);
	while (!ret && !kfd_prio_unmapped(dqm)) {
		if (ktime_get_ns() >= end || kfd_prio_resetting(dqm) || kfd_prio_is_fed(dqm)) {
			ret = -ETIME;
		} else {
			kfd_prio_unmap_pause();
			schedule();
		}
	}
	kfd_prio_unmap_done(dqm, ret);
	return ret;
}

/**
 * kfd_prio_runlist_unmap() - KFD is about to ask HWS to unmap queues of processes
 * @dqm: device queue manager of the GPU
 *
 * As kfd_prio_unmap_begin(), and records since when all queues are unmapped.
 *
 * Context: DQM lock
 */
void kfd_prio_runlist_unmap(struct device_queue_manager *dqm)
{
	kfd_prio_unmap_begin(dqm);
	if (!dqm->prio.unmapped_at)
		dqm->prio.unmapped_at = ktime_get_ns();
}

/*
 * Keeps KFD's record of over-subscription after a runlist was built.
 *
 * KFD prints a line under the DQM lock when a runlist is over-subscribed and the previous one was
 * not. Preemption removes processes from the runlist and puts them back up to max_preempt_per_s
 * times a second, and each return would print a line. So if the previous runlist was
 * over-subscribed, and this one would be without preemption, KFD's record stays set. A runlist that
 * becomes over-subscribed while processes are off is reported when they return.
 */
static void kfd_prio_over_subscribed_keep(struct device_queue_manager *dqm)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (dqm->prio.nr_off && dqm->prio.was_over && !kfd_prio_over_subscription_get(dqm) &&
	    kfd_prio_over_subscribed(dqm))
		kfd_prio_over_subscription_set(dqm);
}

/**
 * kfd_prio_runlist_sent() - a runlist, of kfdprio or KFD, was sent or has failed
 * @dqm: device queue manager of the GPU
 * @ret: 0, or the error
 *
 * No claim could run while all queues were unmapped, which may last longer than linger_us. So after
 * a runlist was sent, that time does not count for any claim.
 *
 * Context: DQM lock
 */
void kfd_prio_runlist_sent(struct device_queue_manager *dqm, int ret)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 now = ktime_get_ns();

	if (!ret && d->unmapped_at) {
		kfd_prio_claim_skip(dqm, d->unmapped_at);
		WRITE_ONCE(d->mapped_at, now);
		WRITE_ONCE(d->restored_at,
			   now + min(now - d->unmapped_at, KFD_PRIO_RESTORE_MAX_NS));
		d->unmapped_at = 0;
	}
	kfd_prio_over_subscribed_keep(dqm);
}

/**
 * kfd_prio_runlist_marks() - whether a level would take an active queue off the hardware
 * @dqm: device queue manager of the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 *
 * The function also considers the throttle in force, but not parking, and no process that is taken
 * off or evicted already. It computes again the ranks of processes whose queues have changed, and
 * changes no mark. With HWS a step whose level rises calls it before any process is marked: if a
 * queue would be taken off, the step sends the unmap first, and marks while the GPU saves waves.
 *
 * Context: DQM lock
 */
bool kfd_prio_runlist_marks(struct device_queue_manager *dqm, int level)
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
 * kfd_prio_hook_runlist_size() - reduce the number of processes of a runlist by those left out
 * @dqm: device queue manager of the GPU
 * @processes: in: all processes; out: those in the runlist. KFD derives the size of the buffer from
 *	it, and whether the runlist is over-subscribed
 *
 * Also copies KFD's record of over-subscription before KFD changes it
 * (kfd_prio_over_subscribed_keep()). With idle_park_ms=auto, parking may begin.
 *
 * Context: DQM lock
 */
void kfd_prio_hook_runlist_size(struct device_queue_manager *dqm, unsigned int *processes)
{
	kfd_prio_crowd_see(dqm);
	*processes -= dqm->prio.skipped;
	dqm->prio.was_over = kfd_prio_over_subscription_get(dqm);
}

/**
 * kfd_prio_hook_runlist_skip() - whether a process is left out of the runlist
 * @qpd: the process on the GPU
 *
 * A process that is taken off is left out, unless it has a debugger's kernel queue. KFD would map a
 * process without an active queue as well. It takes a VMID, and if there are more processes than
 * VMIDs, the firmware runs them in turns.
 *
 * Context: DQM lock
 */
bool kfd_prio_hook_runlist_skip(struct qcm_process_device *qpd)
{
	return qpd->prio.skip;
}

/**
 * kfd_prio_hook_terminate_preempted() - whether KFD may omit the unmap for a process that has ended
 * @dqm: device queue manager of the GPU
 * @qpd: the process on the GPU
 * @filter: enum kfd_unmap_queues_filter that KFD would use
 *
 * Context: DQM lock
 * Return: true if the process was taken off and no queue of it was active when it left the GPU, and
 *	@filter unmaps only queues of processes
 */
bool kfd_prio_hook_terminate_preempted(struct device_queue_manager *dqm,
				       struct qcm_process_device *qpd, u32 filter)
{
	return qpd->prio.left_preempted && filter == KFD_UNMAP_QUEUES_FILTER_DYNAMIC_QUEUES;
}

/**
 * kfd_prio_hook_fence_wait() - KFD polls for the answer of the scheduler
 *
 * Called once in each turn of KFD's loop. The GPU's thread sleeps for a moment.
 *
 * Context: DQM lock
 */
void kfd_prio_hook_fence_wait(void)
{
	kfd_prio_unmap_pause();
}
