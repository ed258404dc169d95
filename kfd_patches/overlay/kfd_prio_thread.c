// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the thread that each GPU has while priorities are in use. It observes claims and
 * neighbours, and runs a step of the engine, whenever the GPU is kicked or its timer fires.
 */
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include "kfd_prio_claim.h"
#include "kfd_prio_engine.h"
#include "kfd_prio_share.h"

static bool kfd_prio_started;		/* the threads are in use; kfd_prio_gpu_lock() */
static bool kfd_prio_late;		/* a GPU has no ID yet; kfd_prio_gpu_lock() to write */

/* Whether a process on a GPU has a role, so that it is observed and may be trapped */
static bool kfd_prio_has_roles(const struct kfd_prio_dqm *d)
{
	return !list_empty(&d->claims) || !list_empty(&d->neighbours) ||
	       !list_empty(&d->quiet_neighbours);
}

/* Gives each process on a GPU the role that follows from its settings and the parameters */
static void kfd_prio_roles_update(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list)
		kfd_prio_role_update(dqm, cur->qpd);
}

/* Whether the thread must assign the roles again. While the breaker is open, no process has one. */
static bool kfd_prio_roles_due(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	bool due = kfd_prio_breaker_closes(dqm, ktime_get_ns());

	due |= d->breaker != KFD_PRIO_BREAKER_CLOSED && kfd_prio_has_roles(d);
	due |= xchg(&d->roles_due, false);
	return due;
}

/*
 * Runs a step before anything is observed, if a claim has rung, because a ring counts as work; if a
 * fault has left the unmap of its step; or if a process that is taken off may have rung. A retry
 * after an error is due later, and does not come first.
 */
static void kfd_prio_step_for_ring(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (kfd_prio_claim_rings(dqm) || d->state == KFD_PRIO_STATE_LEFT ||
	    (d->nr_off && atomic_read(&d->neighbour_rung)))
		kfd_prio_engine_step(dqm, KFD_PRIO_STEP_RING);
}

/* How long a poll waits for KFD to handle an interrupt, ns */
#define KFD_PRIO_POLL_WAIT	20000

/*
 * Lets KFD handle an interrupt before a poll, for example that of a packet that has ended. The
 * worker of KFD has no real-time priority, and the process that waits for the packet would wait for
 * the poll as well. Users can cause any number of interrupts, so the poll waits once. A kick ends
 * the wait.
 */
static enum kfd_prio_kick kfd_prio_poll_wait(struct device_queue_manager *dqm)
{
	ktime_t wait = KFD_PRIO_POLL_WAIT;

	if (!work_pending(&dqm->dev->interrupt_work))
		return KFD_PRIO_TIMER;
	set_current_state(TASK_IDLE);
	if (!atomic_read(&dqm->prio.kicked) && !kthread_should_stop())
		schedule_hrtimeout(&wait, HRTIMER_MODE_REL);
	__set_current_state(TASK_RUNNING);
	return max(KFD_PRIO_TIMER, atomic_xchg(&dqm->prio.kicked, KFD_PRIO_QUIET));
}

/*
 * The GPU's thread. Each time that it is woken: acts on orphans and on changed roles, runs a step
 * for rings, reads the cost of saves, observes the claims and neighbours that are due, and runs a
 * step that uses the result. A ring that comes between two observations is handled at once.
 */
static int kfd_prio_thread(void *data)
{
	struct device_queue_manager *dqm = data;
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_claim_pass pass;
	enum kfd_prio_kick kicked;

	while (!kthread_should_stop()) {
		kicked = kfd_prio_gpu_wait(d);
		if (kicked == KFD_PRIO_QUIET)
			continue;
		if (kicked == KFD_PRIO_TIMER)
			kicked = kfd_prio_poll_wait(dqm);
		WRITE_ONCE(d->awake, true);
		dqm_lock(dqm);
		kfd_prio_process_orphans(dqm);
		d->recheck |= kicked == KFD_PRIO_KICKED;
		if (kfd_prio_roles_due(dqm))
			kfd_prio_roles_update(dqm);
		kfd_prio_step_for_ring(dqm);
		/* Threads that wait for the DQM lock may take it before the next part */
		while (kfd_prio_cost_read(dqm)) {
			dqm_unlock(dqm);
			dqm_lock(dqm);
			kfd_prio_step_for_ring(dqm);
		}
		kfd_prio_claim_pass_begin(dqm, &pass);
		while (kfd_prio_claim_observe(dqm, d->scratch, &pass))
			kfd_prio_step_for_ring(dqm);
		kfd_prio_neighbours_observe(dqm, d->scratch);
		/* This step starts the timer, unless the GPU was kicked */
		WRITE_ONCE(d->awake, false);
		kfd_prio_engine_step(dqm, KFD_PRIO_STEP_OBSERVED);
		dqm_unlock(dqm);
		/* After the step, because a ring waits for it */
		kfd_prio_orphan_poll();
	}
	return 0;
}

/*
 * Starts the thread of a GPU; kfd_prio_gpu_lock(). A GPU without a thread has no claims and no
 * preemption.
 */
static void kfd_prio_thread_start(struct kfd_prio_dqm *d)
{
	struct device_queue_manager *dqm = d->dqm;
	struct task_struct *thread = ERR_PTR(-ENOMEM);
	bool known, grace;

	if (d->thread)
		return;
	if (!dqm->dev->id) {	/* the GPU is still being added */
		WRITE_ONCE(kfd_prio_late, true);
		return;
	}
	d->scratch = kvzalloc(sizeof(*d->scratch), GFP_KERNEL);
	if (d->scratch)
		thread = kthread_create(kfd_prio_thread, dqm, "kfd-prio/%u", dqm->dev->id);
	if (IS_ERR(thread)) {
		kvfree(d->scratch);
		d->scratch = NULL;
		pr_warn_ratelimited("kfdprio: preemption is not available on GPU %u: cannot start its thread (%ld)\n",
				    dqm->dev->id, PTR_ERR(thread));
		return;
	}
	/* KFD waits for MES in a busy loop, which must not run at a real-time priority */
	if (kfd_prio_uses_mes(dqm))
		sched_set_normal(thread, MIN_NICE);
	else
		sched_set_fifo_low(thread);
	known = kfd_prio_breaker_known(dqm);
	grace = kfd_prio_gpu_has_grace(dqm);
	dqm_lock(dqm);
	d->has_grace = grace;
	WRITE_ONCE(d->thread, thread);
	kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_START);
	/* Also if the breaker does not open now, because preemption is disabled */
	d->breaker_known = known;
	if (known)
		kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_KNOWN);
	/* d->thread, then the exiting flags: pairs with kfd_prio_hook_process_exit() */
	smp_mb();
	kfd_prio_roles_update(dqm);
	dqm_unlock(dqm);
	wake_up_process(thread);
}

/* Starts the thread of each GPU that has none; kfd_prio_gpu_lock() */
static void kfd_prio_threads_start(void)
{
	struct kfd_prio_dqm *d;

	kfd_prio_started = true;
	kfd_prio_orphan_watch();
	WRITE_ONCE(kfd_prio_late, false);
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d))
		kfd_prio_thread_start(d);
}

/**
 * kfd_prio_thread_start_all() - start the threads of all GPUs
 *
 * A GPU keeps its thread until the GPU is removed.
 *
 * Context: process, may sleep
 */
void kfd_prio_thread_start_all(void)
{
	kfd_prio_gpu_lock();
	kfd_prio_threads_start();
	kfd_prio_gpu_unlock();
}

/**
 * kfd_prio_thread_use() - start the threads of all GPUs, because a priority was set
 * @prio: the priority; below preempt_min_prio, or if kfd_preempt is 0, no thread is needed
 *
 * Context: process, may sleep
 */
void kfd_prio_thread_use(int prio)
{
	struct kfd_prio_params k;

	kfd_prio_params_read(&k);
	if (k.enabled && prio >= k.min_prio)
		kfd_prio_thread_start_all();
}

/**
 * kfd_prio_thread_opened() - start the threads of GPUs that were added late, when a process opens
 * KFD
 *
 * A GPU that is added while priorities are in use has no ID yet when its device queue manager is
 * created, and the name of its thread contains the ID. It has one when a process opens KFD. No
 * process has used the GPU before, because a process uses only the GPUs that existed when it opened
 * KFD.
 *
 * Context: process, may sleep
 */
void kfd_prio_thread_opened(void)
{
	if (READ_ONCE(kfd_prio_late))
		kfd_prio_thread_start_all();
}

/**
 * kfd_prio_thread_reconfigure() - put a changed module parameter in force
 * @rearm: the parameter is kfd_preempt, which closes all circuit breakers
 *
 * Assigns the roles again and runs a step on each GPU before it returns.
 *
 * Context: process, may sleep
 */
void kfd_prio_thread_reconfigure(bool rearm)
{
	u32 park = READ_ONCE(kfd_prio_param_idle_park_ms.value);
	struct kfd_prio_dqm *d;

	kfd_prio_gpu_lock();
	/* A priority that is set already may preempt now; parking does not need one */
	if (kfd_prio_table_used() || (park && park != KFD_PRIO_PARK_AUTO))
		kfd_prio_threads_start();
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d)) {
		struct device_queue_manager *dqm = d->dqm;

		dqm_lock(dqm);
		kfd_prio_crowd_reset(dqm);
		if (!d->thread) {
			dqm_unlock(dqm);
			continue;
		}
		if (rearm)
			kfd_prio_breaker_rearm(dqm);
		kfd_prio_roles_update(dqm);
		d->recheck = true;
		kfd_prio_engine_step(dqm, KFD_PRIO_STEP_OBSERVED);
		dqm_unlock(dqm);
	}
	kfd_prio_gpu_unlock();
}

/**
 * kfd_prio_hook_dqm_init() - a GPU is added
 * @dqm: device queue manager of the GPU, complete
 *
 * Adds the GPU to the list. It gets its thread when preemption or parking comes into use; if it is
 * in use already, when the next process opens KFD.
 *
 * Context: process, may sleep; no lock
 */
void kfd_prio_hook_dqm_init(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_params k;

	kfd_prio_params_read(&k);
	kfd_prio_gpu_init(dqm);
	kfd_prio_policy_init(&d->policy, &k, ktime_get_ns());
	d->throttle = KFD_PRIO_LEVEL_NONE;
	d->turns_level = KFD_PRIO_LEVEL_NONE;
	d->turns_throttle = KFD_PRIO_LEVEL_NONE;
	d->lowest = KFD_PRIO_RANK_NONE;
	d->last.level = KFD_PRIO_LEVEL_NONE;
	d->last.throttle = KFD_PRIO_LEVEL_NONE;
	d->last.claim = -1;

	kfd_prio_gpu_lock();
	kfd_prio_gpu_add(d);
	/* The thread is started when the GPU has an ID, see kfd_prio_thread_opened() */
	if (kfd_prio_started)
		WRITE_ONCE(kfd_prio_late, true);
	kfd_prio_gpu_unlock();
}

/**
 * kfd_prio_hook_dqm_uninit() - a GPU is removed
 * @dqm: device queue manager of the GPU, whose scheduler may be stopped already
 *
 * Waits for the users of the GPU (kfd_prio_gpu_hold()), takes all roles away, and stops the thread.
 *
 * Context: process, may sleep; no lock
 */
void kfd_prio_hook_dqm_uninit(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_qpd *qp, *tmp;
	struct task_struct *thread;

	kfd_prio_gpu_lock();
	kfd_prio_gpu_del(d);
	dqm_lock(dqm);
	list_splice_init(&d->neighbours, &d->claims);
	list_splice_init(&d->quiet_neighbours, &d->claims);
	list_for_each_entry_safe(qp, tmp, &d->claims, link)
		kfd_prio_role_drop(dqm, container_of(qp, struct qcm_process_device, prio));
	kfd_prio_share_gone(dqm);
	thread = d->thread;
	WRITE_ONCE(d->thread, NULL);
	kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_STOP);
	dqm_unlock(dqm);
	kfd_prio_gpu_slot_free(d);
	/* Without d->thread, and without a holder, no code starts the timers again */
	hrtimer_cancel(&d->timer);
	hrtimer_cancel(&d->signal_timer);
	if (thread)
		kthread_stop(thread);
	kvfree(d->scratch);
	kfd_prio_gpu_unlock();
}
