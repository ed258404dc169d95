// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the thread that each GPU has while priorities are in use.  It looks at claims and
 * neighbours, and runs a step of the engine, whenever the GPU is kicked or its timer fires.
 */
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"

static bool kfd_prio_started;		/* kfd_prio_gpu_lock() */
static bool kfd_prio_late;		/* the same; read without */

/* Has any process on a GPU a role: may it have been trapped, is it looked at? */
static bool kfd_prio_has_roles(const struct kfd_prio_dqm *d)
{
	return !list_empty(&d->claims) || !list_empty(&d->neighbours) || !list_empty(&d->resting);
}

/* Give each process on a GPU its role, as priorities and parameters are now */
static void kfd_prio_roles_update(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list)
		kfd_prio_role_update(dqm, cur->qpd);
}

/* Must the thread give roles anew?  An open breaker takes them all away. */
static bool kfd_prio_roles_due(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	bool due = kfd_prio_breaker_closes(dqm, ktime_get_ns());

	due |= d->breaker != KFD_PRIO_BREAKER_CLOSED && kfd_prio_has_roles(d);
	due |= xchg(&d->roles_due, false);
	return due;
}

/*
 * A ring is work: preempting for it does not wait until its indices are read.  The rest of a step
 * that a fault has begun does not wait either, nor does a parked process that has rung.  A retry
 * waits: it comes later.
 */
static void kfd_prio_rung(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (kfd_prio_claim_rings(dqm) || d->unmap_pending ||
	    (d->parked && atomic_read(&d->rang)))
		kfd_prio_engine_step(dqm, false);
}

static int kfd_prio_thread(void *data)
{
	struct device_queue_manager *dqm = data;
	struct kfd_prio_dqm *d = &dqm->prio;
	enum kfd_prio_kick kicked;

	while (!kthread_should_stop()) {
		kicked = kfd_prio_gpu_wait(d);
		if (kicked == KFD_PRIO_QUIET)
			continue;
		dqm_lock(dqm);
		kfd_prio_process_orphans(dqm);
		d->recheck |= kicked == KFD_PRIO_KICKED;
		if (kfd_prio_roles_due(dqm))
			kfd_prio_roles_update(dqm);
		kfd_prio_rung(dqm);
		/* whatever waits for the lock goes before the next part */
		while (kfd_prio_cost_look(dqm)) {
			dqm_unlock(dqm);
			dqm_lock(dqm);
			kfd_prio_rung(dqm);
		}
		kfd_prio_claim_look(dqm, d->scratch);
		/* the next look is due after a pause, however long this one took */
		d->claims_at = ktime_get_ns();
		kfd_prio_neighbour_look(dqm, d->scratch);
		kfd_prio_engine_step(dqm, false);
		dqm_unlock(dqm);
		/* not before: a ring waits for the step */
		kfd_prio_orphan_poll();
	}
	return 0;
}

/* kfd_prio_gpu_lock(); a GPU that gets no thread has no claims, and so no preemption */
static void kfd_prio_thread_start(struct kfd_prio_dqm *d)
{
	struct device_queue_manager *dqm = d->dqm;
	struct task_struct *thread = ERR_PTR(-ENOMEM);
	bool known, grace;

	if (d->thread)
		return;
	if (!dqm->dev->id) {	/* it is still coming */
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
	/* MES is waited for in a busy loop: not at a real-time priority */
	if (kfd_prio_uses_mes(dqm))
		sched_set_normal(thread, MIN_NICE);
	else
		sched_set_fifo_low(thread);
	known = kfd_prio_breaker_known(dqm);
	grace = kfd_prio_gpu_has_grace(dqm);
	dqm_lock(dqm);
	d->has_grace = grace;
	WRITE_ONCE(d->thread, thread);
	/* also where the breaker does not open now, because preemption is off */
	d->breaker_known = known;
	if (known)
		kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_KNOWN);
	/* d->thread before the exiting processes: pairs with kfd_prio_hook_process_exit() */
	smp_mb();
	kfd_prio_roles_update(dqm);
	dqm_unlock(dqm);
	wake_up_process(thread);
}

/* kfd_prio_gpu_lock() */
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
 * kfd_prio_thread_use() - a priority is about to be set: have a thread on each GPU
 * @prio: the priority; below preempt_min_prio it needs none
 *
 * Until then there is none.
 *
 * Context: process, may sleep
 */
void kfd_prio_thread_use(int prio)
{
	struct kfd_prio_params k;

	kfd_prio_params_read(&k);
	if (!k.enabled || prio < k.min_prio)
		return;
	kfd_prio_gpu_lock();
	kfd_prio_threads_start();
	kfd_prio_gpu_unlock();
}

/**
 * kfd_prio_thread_opened() - a process is about to use the GPUs
 *
 * A GPU that came while priorities were in use had no ID yet when its device queue manager was
 * made.  It has one now, so its thread gets the right name.  No process has used the GPU so far:
 * it sees those GPUs that were there when it opened KFD.
 *
 * Context: process, may sleep
 */
void kfd_prio_thread_opened(void)
{
	if (!READ_ONCE(kfd_prio_late))
		return;
	kfd_prio_gpu_lock();
	kfd_prio_threads_start();
	kfd_prio_gpu_unlock();
}

/**
 * kfd_prio_thread_reconfigure() - a module parameter was written
 * @rearm: kfd_preempt was: preemption that was switched off on a GPU is on again
 *
 * Claims are made and dropped as preempt_min_prio and kfd_preempt say, and the policy is
 * asked again, before this returns.
 *
 * Context: process, may sleep
 */
void kfd_prio_thread_reconfigure(bool rearm)
{
	struct kfd_prio_dqm *d;

	kfd_prio_gpu_lock();
	/* a priority set before may preempt now; parking needs none */
	if (kfd_prio_table_used() || READ_ONCE(kfd_prio_param_idle_park_ms.value))
		kfd_prio_threads_start();
	for (d = kfd_prio_gpu_first(); d; d = kfd_prio_gpu_next(d)) {
		struct device_queue_manager *dqm = d->dqm;

		if (!d->thread)
			continue;
		dqm_lock(dqm);
		if (rearm)
			kfd_prio_breaker_rearm(dqm);
		kfd_prio_roles_update(dqm);
		d->recheck = true;
		kfd_prio_engine_step(dqm, false);
		dqm_unlock(dqm);
	}
	kfd_prio_gpu_unlock();
}

/**
 * kfd_prio_hook_dqm_init() - a GPU comes
 * @dqm: of the GPU, complete
 */
void kfd_prio_hook_dqm_init(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_params k;

	kfd_prio_params_read(&k);
	kfd_prio_gpu_init(dqm);
	kfd_prio_policy_init(&d->policy, &k, ktime_get_ns());
	d->throttle = KFD_PRIO_LEVEL_NONE;
	d->lowest = KFD_PRIO_RANK_NONE;
	d->last.level = KFD_PRIO_LEVEL_NONE;
	d->last.throttle = KFD_PRIO_LEVEL_NONE;
	d->last.claim = -1;

	kfd_prio_gpu_lock();
	kfd_prio_gpu_add(d);
	/* its thread waits until it has an ID, see kfd_prio_thread_opened() */
	if (kfd_prio_started)
		WRITE_ONCE(kfd_prio_late, true);
	kfd_prio_gpu_unlock();
}

/**
 * kfd_prio_hook_dqm_uninit() - a GPU goes
 * @dqm: of the GPU; its scheduler may have been stopped
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
	list_splice_init(&d->resting, &d->claims);
	list_for_each_entry_safe(qp, tmp, &d->claims, claim)
		kfd_prio_role_drop(dqm, container_of(qp, struct qcm_process_device, prio));
	thread = d->thread;
	WRITE_ONCE(d->thread, NULL);
	dqm_unlock(dqm);
	/* nothing starts the timer again without a thread */
	hrtimer_cancel(&d->timer);
	if (thread)
		kthread_stop(thread);
	kvfree(d->scratch);
	kfd_prio_gpu_unlock();
}
