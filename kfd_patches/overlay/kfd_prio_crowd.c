// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the GPUs on which processes are parked. With a number in idle_park_ms that is every GPU;
 * with auto, a GPU whose runlist is over-subscribed by all the processes that have queues there. On
 * any other GPU auto costs a comparison for each runlist (MES: for each queue that is added): no
 * timer runs and no doorbell is trapped. No GPU has a thread before auto parks on one of them.
 */
#include <linux/time64.h>
#include <linux/workqueue.h>
#include "kfd_prio_priv.h"

static bool kfd_prio_parks_auto(void)
{
	return READ_ONCE(kfd_prio_param_idle_park_ms.value) == KFD_PRIO_PARK_AUTO;
}

/**
 * kfd_prio_park_ns() - time without work after which processes of a GPU may be parked
 * @dqm: device queue manager of the GPU
 *
 * Context: any
 * Return: ns; 0 if parking is disabled or the breaker is open, or with idle_park_ms=auto if the GPU
 *	was not over-subscribed for KFD_PRIO_CROWD_HOLD_NS
 */
u64 kfd_prio_park_ns(struct device_queue_manager *dqm)
{
	u32 ms = READ_ONCE(kfd_prio_param_idle_park_ms.value);

	if (READ_ONCE(dqm->prio.breaker) != KFD_PRIO_BREAKER_CLOSED)
		return 0;
	if (ms == KFD_PRIO_PARK_AUTO)
		return READ_ONCE(dqm->prio.crowd.parks) ? KFD_PRIO_CROWD_AFTER_NS : 0;
	return (u64)ms * NSEC_PER_MSEC;
}

/**
 * kfd_prio_over_subscribed() - whether the runlist would be over-subscribed without kfdprio
 * @dqm: device queue manager of the GPU
 *
 * By the conditions of pm_calc_rlib_size(), as if no process were taken off.
 *
 * Context: DQM lock
 */
bool kfd_prio_over_subscribed(struct device_queue_manager *dqm)
{
	unsigned int compute = dqm->active_cp_queue_count;
	struct device_process_node *cur;
	struct queue *q;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list) {
		if (!cur->qpd->prio.preempted || cur->qpd->evicted > 1)
			continue;
		list_for_each_entry(q, &cur->qpd->queues_list, list)
			compute += q->prio.off && q->properties.type == KFD_QUEUE_TYPE_COMPUTE;
	}
	return kfd_prio_over_subscribes(dqm, dqm->processes_count, compute);
}

static void (*kfd_prio_threads)(void);		/* see kfd_prio_crowd_init() */

/* Starts the threads, which cannot be done under the DQM lock */
static void kfd_prio_crowd_work(struct work_struct *work)
{
	kfd_prio_threads();
}

static DECLARE_WORK(kfd_prio_crowd_start, kfd_prio_crowd_work);

/*
 * Has the thread of the GPU assign the roles again, which depend on whether processes are parked,
 * and mark again
 */
static void kfd_prio_crowd_changed(struct device_queue_manager *dqm)
{
	if (!dqm->prio.thread) {
		schedule_work(&kfd_prio_crowd_start);
		return;
	}
	WRITE_ONCE(dqm->prio.roles_due, true);
	kfd_prio_gpu_kick(dqm);
}

/**
 * kfd_prio_crowd_see() - KFD maps queues: park from now on if the GPU is over-subscribed
 * @dqm: device queue manager of the GPU
 *
 * Does nothing unless idle_park_ms is auto.
 *
 * The function counts all processes, but no queue of a process that is taken off. If these queues
 * over-subscribe the GPU, that is found by kfd_prio_crowd_update(), or when they return.
 *
 * Context: DQM lock; the MES lock may be held
 */
void kfd_prio_crowd_see(struct device_queue_manager *dqm)
{
	struct kfd_prio_crowd *c = &dqm->prio.crowd;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!kfd_prio_parks_auto() ||
	    dqm->sched_policy == KFD_SCHED_POLICY_NO_HWS || !kfd_prio_has_cwsr(dqm))
		return;
	if (!kfd_prio_over_subscribes(dqm, dqm->processes_count, dqm->active_cp_queue_count))
		return;
	if (kfd_prio_policy_crowd(c, true, ktime_get_ns()))
		kfd_prio_crowd_changed(dqm);
}

/**
 * kfd_prio_crowd_update() - idle_park_ms=auto: find out whether a GPU is still over-subscribed
 * @dqm: device queue manager of the GPU
 * @now: ktime_get_ns()
 *
 * Walks over all queues that kfdprio has taken off, once in KFD_PRIO_CROWD_CHECK_NS.
 *
 * Context: DQM lock
 */
void kfd_prio_crowd_update(struct device_queue_manager *dqm, u64 now)
{
	struct kfd_prio_crowd *c = &dqm->prio.crowd;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!c->parks || now < c->check_at)
		return;
	if (kfd_prio_policy_crowd(c, kfd_prio_over_subscribed(dqm), now))
		kfd_prio_crowd_changed(dqm);
}

/**
 * kfd_prio_crowd_reset() - idle_park_ms was written
 * @dqm: device queue manager of a GPU
 *
 * Context: DQM lock
 */
void kfd_prio_crowd_reset(struct device_queue_manager *dqm)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (!kfd_prio_parks_auto())
		dqm->prio.crowd.parks = false;
	kfd_prio_crowd_see(dqm);
}

/**
 * kfd_prio_crowd_init() - set the function that starts the threads of all GPUs
 * @start: may sleep
 *
 * Context: module load
 */
void kfd_prio_crowd_init(void (*start)(void))
{
	kfd_prio_threads = start;
}

/**
 * kfd_prio_crowd_exit() - wait until no thread is being started
 *
 * Context: module unload; may sleep
 */
void kfd_prio_crowd_exit(void)
{
	cancel_work_sync(&kfd_prio_crowd_start);
}
