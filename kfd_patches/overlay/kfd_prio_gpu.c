// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the GPUs, and the thread and timer that each of them has while priorities are in
 * use.  What the thread does is in kfd_prio_claim.c (look) and kfd_prio_engine.c (decide).
 *
 * kfd_prio_gpu_mutex is outer to the DQM lock.
 */
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"

/* What kfd_prio_dqm.kicked says to the thread */
enum { KFD_PRIO_QUIET, KFD_PRIO_TIMER, KFD_PRIO_KICKED };

static DEFINE_MUTEX(kfd_prio_gpu_mutex);
static LIST_HEAD(kfd_prio_gpus);	/* kfd_prio_gpu_mutex */
static bool kfd_prio_started;		/* kfd_prio_gpu_mutex */
static bool kfd_prio_late;		/* the same; read without */

/**
 * kfd_prio_gpu_kick() - something has changed on a GPU: its thread shall look
 * @dqm: of the GPU
 *
 * Context: any
 */
void kfd_prio_gpu_kick(struct device_queue_manager *dqm)
{
	struct task_struct *thread;

	atomic_set(&dqm->prio.kicked, KFD_PRIO_KICKED);
	/* RCU: a GPU that goes stops its thread */
	rcu_read_lock();
	thread = READ_ONCE(dqm->prio.thread);
	if (thread)
		wake_up_process(thread);
	rcu_read_unlock();
}

static enum hrtimer_restart kfd_prio_timer(struct hrtimer *timer)
{
	struct kfd_prio_dqm *d = container_of(timer, struct kfd_prio_dqm, timer);
	struct task_struct *thread;

	atomic_cmpxchg(&d->kicked, KFD_PRIO_QUIET, KFD_PRIO_TIMER);
	/* it is stopped only after us */
	thread = READ_ONCE(d->thread);
	if (thread)
		wake_up_process(thread);
	return HRTIMER_NORESTART;
}

/* Has any process on a GPU a role: may it have been trapped, is it looked at? */
static bool kfd_prio_has_roles(const struct kfd_prio_dqm *d)
{
	return !list_empty(&d->claims) || !list_empty(&d->neighbours) || !list_empty(&d->resting);
}

/* Give each process on a GPU its role, as priorities and parameters are now */
static void kfd_prio_claims_update(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list)
		kfd_prio_claim_update(dqm, cur->qpd);
}

static int kfd_prio_thread(void *data)
{
	struct device_queue_manager *dqm = data;
	struct kfd_prio_dqm *d = &dqm->prio;
	int kicked;

	while (!kthread_should_stop()) {
		set_current_state(TASK_IDLE);
		if (!atomic_read(&d->kicked) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		kicked = atomic_xchg(&d->kicked, KFD_PRIO_QUIET);
		if (!kicked)
			continue;
		dqm_lock(dqm);
		d->recheck |= kicked == KFD_PRIO_KICKED;
		if (d->breaker != KFD_PRIO_BREAKER_CLOSED && kfd_prio_has_roles(d))
			kfd_prio_claims_update(dqm);
		/*
		 * A ring is work: preempting need not wait until its indices are read.  Nor the
		 * rest of what its fault has begun; a retry does, it comes later.
		 */
		if (kfd_prio_claim_rings(dqm) || d->unmap_pending)
			kfd_prio_engine_step(dqm, false, true);
		kfd_prio_claim_look(dqm, d->scratch);
		kfd_prio_neighbour_look(dqm, d->scratch);
		kfd_prio_engine_step(dqm, false, true);
		dqm_unlock(dqm);
	}
	return 0;
}

/* A GPU that gets no thread has no claims, and so no preemption */
static void kfd_prio_thread_start(struct kfd_prio_dqm *d)
{
	struct device_queue_manager *dqm = d->dqm;
	struct task_struct *thread = ERR_PTR(-ENOMEM);

	lockdep_assert_held(&kfd_prio_gpu_mutex);
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
		pr_warn_ratelimited("kfdprio: no preemption on GPU %u: no thread (%ld)\n",
				    dqm->dev->id, PTR_ERR(thread));
		return;
	}
	/* MES is waited for in a busy loop: not at a real-time priority */
	if (kfd_prio_uses_mes(dqm))
		sched_set_normal(thread, MIN_NICE);
	else
		sched_set_fifo_low(thread);
	dqm_lock(dqm);
	WRITE_ONCE(d->thread, thread);
	/* the thread, then who is exiting: pairs with kfd_prio_hook_process_exit() */
	smp_mb();
	kfd_prio_claims_update(dqm);
	dqm_unlock(dqm);
	wake_up_process(thread);
}

static void kfd_prio_threads_start(void)
{
	struct kfd_prio_dqm *d;

	lockdep_assert_held(&kfd_prio_gpu_mutex);
	kfd_prio_started = true;
	WRITE_ONCE(kfd_prio_late, false);
	list_for_each_entry(d, &kfd_prio_gpus, link)
		kfd_prio_thread_start(d);
}

/**
 * kfd_prio_gpu_start() - a priority is about to be set: have a thread on each GPU
 * @prio: the priority; below preempt_min_prio it needs none
 *
 * Until then there is none.
 *
 * Context: process, may sleep
 */
void kfd_prio_gpu_start(int prio)
{
	struct kfd_prio_params k;

	kfd_prio_params_read(&k);
	if (!k.enabled || prio < k.min_prio)
		return;
	mutex_lock(&kfd_prio_gpu_mutex);
	kfd_prio_threads_start();
	mutex_unlock(&kfd_prio_gpu_mutex);
}

/**
 * kfd_prio_gpu_opened() - a process is about to use the GPUs
 *
 * A GPU that came while priorities were in use had no ID yet when its device queue manager was
 * made.  It has one now, so its thread gets the right name.  No process has used the GPU so far:
 * it sees those GPUs that were there when it opened KFD.
 *
 * Context: process, may sleep
 */
void kfd_prio_gpu_opened(void)
{
	if (!READ_ONCE(kfd_prio_late))
		return;
	mutex_lock(&kfd_prio_gpu_mutex);
	kfd_prio_threads_start();
	mutex_unlock(&kfd_prio_gpu_mutex);
}

/**
 * kfd_prio_gpu_reconfigure() - a module parameter was written
 * @rearm: kfd_preempt was: preemption that was switched off on a GPU is on again
 *
 * Claims are made and dropped as preempt_min_prio and kfd_preempt say, and the policy is
 * asked again, before this returns.
 *
 * Context: process, may sleep
 */
void kfd_prio_gpu_reconfigure(bool rearm)
{
	struct kfd_prio_dqm *d;

	mutex_lock(&kfd_prio_gpu_mutex);
	/* a priority set before may preempt now */
	if (kfd_prio_table_used())
		kfd_prio_threads_start();
	list_for_each_entry(d, &kfd_prio_gpus, link) {
		struct device_queue_manager *dqm = d->dqm;

		if (!d->thread)
			continue;
		dqm_lock(dqm);
		if (rearm)
			kfd_prio_breaker_rearm(dqm);
		kfd_prio_claims_update(dqm);
		d->recheck = true;
		kfd_prio_engine_step(dqm, false, true);
		dqm_unlock(dqm);
	}
	mutex_unlock(&kfd_prio_gpu_mutex);
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
	d->dqm = dqm;
	INIT_LIST_HEAD(&d->claims);
	INIT_LIST_HEAD(&d->neighbours);
	INIT_LIST_HEAD(&d->resting);
	kfd_prio_timer_init(&d->timer, kfd_prio_timer);
	kfd_prio_policy_init(&d->policy, &k, ktime_get_ns());
	d->throttle = KFD_PRIO_LEVEL_NONE;
	d->lowest = KFD_PRIO_RANK_NONE;
	d->last.level = KFD_PRIO_LEVEL_NONE;
	d->last.throttle = KFD_PRIO_LEVEL_NONE;
	d->last.claim = -1;

	mutex_lock(&kfd_prio_gpu_mutex);
	list_add_tail(&d->link, &kfd_prio_gpus);
	/* its thread waits until it has an ID, see kfd_prio_gpu_opened() */
	if (kfd_prio_started)
		WRITE_ONCE(kfd_prio_late, true);
	mutex_unlock(&kfd_prio_gpu_mutex);
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

	mutex_lock(&kfd_prio_gpu_mutex);
	list_del(&d->link);
	dqm_lock(dqm);
	list_splice_init(&d->neighbours, &d->claims);
	list_splice_init(&d->resting, &d->claims);
	list_for_each_entry_safe(qp, tmp, &d->claims, claim)
		kfd_prio_claim_drop(dqm, container_of(qp, struct qcm_process_device, prio));
	thread = d->thread;
	WRITE_ONCE(d->thread, NULL);
	dqm_unlock(dqm);
	/* without a thread nobody starts it again */
	hrtimer_cancel(&d->timer);
	if (thread)
		kthread_stop(thread);
	kvfree(d->scratch);
	mutex_unlock(&kfd_prio_gpu_mutex);
}

/**
 * kfd_prio_gpu_first() - begin a walk over all GPUs
 *
 * GPUs neither come nor go before kfd_prio_gpu_last(), which must follow in any case.
 *
 * Context: process, may sleep
 * Return: ours of the first GPU, or NULL
 */
struct kfd_prio_dqm *kfd_prio_gpu_first(void)
{
	mutex_lock(&kfd_prio_gpu_mutex);
	return list_first_entry_or_null(&kfd_prio_gpus, struct kfd_prio_dqm, link);
}

/**
 * kfd_prio_gpu_next() - the next GPU of a walk
 * @d: this one
 *
 * Return: ours of the next GPU, or NULL
 */
struct kfd_prio_dqm *kfd_prio_gpu_next(struct kfd_prio_dqm *d)
{
	return list_is_last(&d->link, &kfd_prio_gpus) ? NULL : list_next_entry(d, link);
}

/**
 * kfd_prio_gpu_last() - end a walk over all GPUs
 */
void kfd_prio_gpu_last(void)
{
	mutex_unlock(&kfd_prio_gpu_mutex);
}
