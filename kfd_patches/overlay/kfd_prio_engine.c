// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the floor, it carries out what the judge decides, one GPU at a time.
 *
 * A step (kfd_prio_engine_step()) asks the judge and applies the answer, under the DQM
 * lock of the GPU.  It runs
 *	- in the fault of a doorbell, if the lock is free and the GPU has HWS: the quickest;
 *	- in any operation of KFD that is about to map its runlist, which then is the one
 *	  that preempts or restores (kfd_prio_hook_map_prepare());
 *	- in the GPU's thread, after a look at the claims: woken by its timer, by a ring that
 *	  found the lock taken, and by everything that changes processes or priorities.
 *
 * Locks, outer first: kfd_prio_engine_mutex (the list of GPUs, threads), the DQM lock.
 * The fault holds mmap_lock or a VMA lock and must wait for nobody: it takes the DQM lock
 * by trylock only.  The thread drops the DQM lock to read indices (user memory) and to zap
 * doorbells (i_mmap_rwsem).
 */
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/* After a runlist that could not be sent, in ns */
#define KFD_PRIO_RETRY	10000000ULL

/* What kfd_prio_dqm.kicked says to the thread */
enum { KFD_PRIO_QUIET, KFD_PRIO_TIMER, KFD_PRIO_KICKED };

static DEFINE_MUTEX(kfd_prio_engine_mutex);
static LIST_HEAD(kfd_prio_gpus);	/* kfd_prio_engine_mutex */
static bool kfd_prio_started;		/* kfd_prio_engine_mutex */

static bool kfd_prio_dqm_trylock(struct device_queue_manager *dqm)
{
	if (!mutex_trylock(&dqm->lock_hidden))
		return false;
	dqm->saved_flags = memalloc_noreclaim_save();
	return true;
}

static s32 kfd_prio_pid_of(struct qcm_process_device *qpd)
{
	return qpd->pqm->process->lead_thread->tgid;
}

/**
 * kfd_prio_engine_kick() - something has changed on a GPU: its thread shall look
 * @dqm: of the GPU
 *
 * Context: any
 */
void kfd_prio_engine_kick(struct device_queue_manager *dqm)
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

static void kfd_prio_timer_set(struct device_queue_manager *dqm, const struct kfd_prio_knobs *k,
			       u64 look_at, u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 at = min(look_at, kfd_prio_claim_poll_at(dqm, k, now));

	if (d->missed)
		at = min(at, now + KFD_PRIO_RETRY);
	if (at != KFD_PRIO_NEVER && d->thread)
		hrtimer_start(&d->timer, ns_to_ktime(at), HRTIMER_MODE_ABS);
}

/* The runlist was sent, or it was not */
static void kfd_prio_missed(struct kfd_prio_dqm *d, int ret)
{
	d->missed = ret;
	if (ret)
		d->retry_at = ktime_get_ns() + KFD_PRIO_RETRY;
}

/* The end of the preemption in force; it is told when the victims are back. */
struct kfd_prio_end {
	s32 pid;
	int level;
	u32 seq;
	u64 begun_at;
	enum kfd_prio_reason reason;
};

static void kfd_prio_change(struct device_queue_manager *dqm, const struct kfd_prio_knobs *k,
			    const struct kfd_prio_decision *dec,
			    struct qcm_process_device *preemptor, bool execute, u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_end end = { .pid = d->begun_pid, .level = d->policy.level, .seq = d->seq,
				    .begun_at = d->begun_at, .reason = dec->reason };
	bool same = dec->level == end.level;
	struct kfd_prio_marked m;
	int ret = 0;

	d->recheck = false;
	kfd_prio_dqm_mark(dqm, dec->level, now, &m);
	kfd_prio_policy_commit(&d->policy, k, dec->level, d->victims,
			       m.preempted && dec->level > end.level, now);
	if (!same) {
		d->begun_at = 0;
		/* kfd_preempt=0 drops the claim, too */
		if (d->gone && dec->reason != KFD_PRIO_REASON_OFF)
			end.reason = KFD_PRIO_REASON_GONE;
	}
	/* if the level remains, another claim holds it, whose end is its own */
	d->gone = false;
	d->pid = preemptor ? kfd_prio_pid_of(preemptor) : 0;
	if (preemptor && d->victims && !d->begun_at) {
		d->begun_pid = d->pid;
		d->seq++;
		d->begun++;
		d->begun_at = now;
		d->victim_queues = m.off;
		preemptor->prio.preempting_count++;
		trace_kfd_preempt_begin(dqm, dec->reason);
	}

	if (execute && (m.off || m.on || d->missed))
		ret = kfd_prio_dqm_execute(dqm);
	kfd_prio_missed(d, ret);
	if (!same && end.begun_at)
		trace_kfd_preempt_end(dqm, end.pid, end.level, end.seq, end.reason, m.restored,
				      m.on, ktime_get_ns() - end.begun_at, ret);
}

/* The highest priority that would preempt, were it not for the floor */
static int kfd_prio_wanted(const struct kfd_prio_knobs *k, const struct kfd_prio_claim *claims,
			   int n, u64 now)
{
	int level = KFD_PRIO_LEVEL_NONE;

	while (n--)
		if (kfd_prio_policy_holds(k, &claims[n], now))
			level = max(level, claims[n].prio);
	return level;
}

/*
 * The unmap goes out before anybody is marked: the GPU saves while that is done
 * (kfd_prio_engine_unmapping()), and a ring does not wait for a walk over all queues.
 */
static void kfd_prio_unmap_first(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	int ret;

	d->unmap_first = true;
	ret = kfd_prio_dqm_execute(dqm);
	if (d->unmap_first)	/* nothing was mapped, or the GPU is being reset */
		kfd_prio_engine_unmapping(dqm);
	if (!ret)
		return;
	kfd_prio_missed(d, ret);
	hrtimer_start(&d->timer, ns_to_ktime(d->retry_at), HRTIMER_MODE_ABS);
}

/*
 * Ask the judge and do what it says.
 * @in_fault: in the fault of a doorbell
 * @execute: change the runlist; false if the caller is about to send one
 */
static void kfd_prio_engine_step(struct device_queue_manager *dqm, bool in_fault, bool execute)
{
	struct qcm_process_device *owners[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_claim claims[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_decision dec;
	int throttle = KFD_PRIO_LEVEL_NONE, n;
	struct kfd_prio_knobs k;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_knobs_read(&k);
	if (!kfd_prio_sched_runs(dqm)) {
		/* suspended or being reset: nothing runs, nobody can be served */
		kfd_prio_timer_set(dqm, &k, d->victims ? now + KFD_PRIO_RETRY : KFD_PRIO_NEVER,
				   now);
		return;
	}
	if (d->missed && now < d->retry_at) {
		/* another unmap now would keep the reset waiting, for as long as the first */
		kfd_prio_timer_set(dqm, &k, d->retry_at, now);
		return;
	}
	n = kfd_prio_claim_fold(dqm, &k, in_fault, now, claims, owners);
	kfd_prio_policy_decide(&d->policy, &k, claims, n, now, &dec);
	if (dec.reason == KFD_PRIO_REASON_FLOOR)
		throttle = kfd_prio_wanted(&k, claims, n, now);
	d->recheck |= throttle != d->throttle;
	d->throttle = throttle;
	if (execute && dec.level > d->policy.level && !d->missed && !kfd_prio_uses_mes(dqm) &&
	    kfd_prio_dqm_takes(dqm, dec.level)) {
		kfd_prio_unmap_first(dqm);
		return;
	}
	if (dec.level != d->policy.level || d->recheck || d->missed)
		kfd_prio_change(dqm, &k, &dec, dec.claim < 0 ? NULL : owners[dec.claim], execute,
				now);
	else
		kfd_prio_policy_commit(&d->policy, &k, dec.level, d->victims, false, now);
	/* the level may be held by another claim than the one that began */
	d->pid = dec.claim < 0 ? 0 : kfd_prio_pid_of(owners[dec.claim]);
	d->gone = false;
	d->last = dec;
	d->last_at = now;
	kfd_prio_timer_set(dqm, &k, dec.look_at, now);
}

/**
 * kfd_prio_engine_unmapping() - all queues of a GPU are being unmapped, by us
 * @dqm: of the GPU
 *
 * Context: DQM lock
 */
void kfd_prio_engine_unmapping(struct device_queue_manager *dqm)
{
	dqm->prio.unmap_first = false;
	kfd_prio_engine_step(dqm, false, false);
}

/**
 * kfd_prio_engine_rung() - a process has rung a trapped doorbell
 * @pdd: the process on a GPU; its ear is KFD_PRIO_EAR_RUNG now
 *
 * MES acts on one queue after the other, and the queue that rings stays mapped: its
 * process need not wait for that.
 *
 * Context: fault; mmap_lock or VMA lock
 */
void kfd_prio_engine_rung(struct kfd_process_device *pdd)
{
	struct device_queue_manager *dqm = pdd->dev->dqm;

	if (!kfd_prio_uses_mes(dqm) && kfd_prio_dqm_trylock(dqm)) {
		kfd_prio_engine_step(dqm, true, true);
		dqm_unlock(dqm);
	} else {
		kfd_prio_engine_kick(dqm);
	}
}

/**
 * kfd_prio_hook_map_prepare() - an operation of KFD is about to send its runlist
 * @dqm: of the GPU
 *
 * Context: DQM lock
 */
void kfd_prio_hook_map_prepare(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (d->thread && !dqm->active_runlist && !kfd_prio_uses_mes(dqm) &&
	    (d->victims || !list_empty(&d->claims))) {
		d->preparing = true;
		kfd_prio_engine_step(dqm, false, false);
		d->preparing = false;
	}
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
		kfd_prio_claim_look(dqm, d->scratch);
		kfd_prio_engine_step(dqm, false, true);
		dqm_unlock(dqm);
	}
	return 0;
}

static int kfd_prio_thread_start(struct kfd_prio_dqm *d)
{
	struct device_queue_manager *dqm = d->dqm;
	struct task_struct *thread;

	lockdep_assert_held(&kfd_prio_engine_mutex);
	if (d->thread)
		return 0;
	d->scratch = kvzalloc(sizeof(*d->scratch), GFP_KERNEL);
	if (!d->scratch)
		return -ENOMEM;
	thread = kthread_create(kfd_prio_thread, dqm, "kfd-prio/%u", dqm->dev->id);
	if (IS_ERR(thread)) {
		kvfree(d->scratch);
		d->scratch = NULL;
		return PTR_ERR(thread);
	}
	/* MES is waited for in a busy loop: not at a real-time priority */
	if (kfd_prio_uses_mes(dqm))
		sched_set_normal(thread, MIN_NICE);
	else
		sched_set_fifo_low(thread);
	dqm_lock(dqm);
	d->thread = thread;
	dqm_unlock(dqm);
	wake_up_process(thread);
	return 0;
}

static int kfd_prio_threads_start(void)
{
	struct kfd_prio_dqm *d;
	int r, ret = 0;

	lockdep_assert_held(&kfd_prio_engine_mutex);
	kfd_prio_started = true;
	list_for_each_entry(d, &kfd_prio_gpus, link) {
		r = kfd_prio_thread_start(d);
		if (r)
			pr_warn_ratelimited("kfdprio: no preemption on GPU %u: no thread (%d)\n",
					    d->dqm->dev->id, r);
		if (!ret)
			ret = r;
	}
	return ret;
}

/**
 * kfd_prio_engine_start() - a priority is about to be set: have a thread on each GPU
 * @prio: the priority; below preempt_min_prio it needs none
 *
 * Until then there is none.  A GPU without one has no claims, and so no preemption.
 *
 * Context: process, may sleep
 * Return: 0, or the first error; nothing is undone
 */
int kfd_prio_engine_start(int prio)
{
	struct kfd_prio_knobs k;
	int ret;

	kfd_prio_knobs_read(&k);
	if (!k.enabled || prio < k.min_prio)
		return 0;
	mutex_lock(&kfd_prio_engine_mutex);
	ret = kfd_prio_threads_start();
	mutex_unlock(&kfd_prio_engine_mutex);
	return ret;
}

/**
 * kfd_prio_engine_reconfigure() - a module parameter has changed
 *
 * Claims are made and dropped as preempt_min_prio and kfd_preempt say, and the judge is
 * asked again, before this returns.
 *
 * Context: process, may sleep
 */
void kfd_prio_engine_reconfigure(void)
{
	struct device_process_node *cur;
	struct kfd_prio_dqm *d;

	mutex_lock(&kfd_prio_engine_mutex);
	/* a priority set before may preempt now */
	if (kfd_prio_table_used())
		kfd_prio_threads_start();
	list_for_each_entry(d, &kfd_prio_gpus, link) {
		struct device_queue_manager *dqm = d->dqm;

		if (!d->thread)
			continue;
		dqm_lock(dqm);
		list_for_each_entry(cur, &dqm->queues, list)
			kfd_prio_claim_update(dqm, cur->qpd);
		d->recheck = true;
		kfd_prio_engine_step(dqm, false, true);
		dqm_unlock(dqm);
	}
	mutex_unlock(&kfd_prio_engine_mutex);
}

/**
 * kfd_prio_engine_priority_changed() - the priority of a process was set or taken away
 * @dqm: of a GPU
 * @qpd: the process on that GPU
 *
 * Context: DQM lock
 */
void kfd_prio_engine_priority_changed(struct device_queue_manager *dqm,
				      struct qcm_process_device *qpd)
{
	lockdep_assert_held(&dqm->lock_hidden);
	if (list_empty(&qpd->queues_list))
		return;		/* kfd_prio_engine_queue_created() will see it */
	kfd_prio_refresh(qpd);
	kfd_prio_claim_update(dqm, qpd);
	if (dqm->prio.policy.level != KFD_PRIO_LEVEL_NONE)
		kfd_prio_engine_kick(dqm);
}

/**
 * kfd_prio_engine_queue_created() - a queue is about to join its process
 * @dqm: of the GPU
 * @qpd: the process on that GPU
 * @q: the queue, not in any list yet; is_evicted tells if it may run
 *
 * A process that comes while others are preempted starts preempted.
 *
 * Context: DQM lock
 */
void kfd_prio_engine_queue_created(struct device_queue_manager *dqm,
				   struct qcm_process_device *qpd, struct queue *q)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_qpd *qp = &qpd->prio;
	struct kfd_prio_marked m = {};

	lockdep_assert_held(&dqm->lock_hidden);
	if (READ_ONCE(qp->stale) || list_empty(&qpd->queues_list))
		kfd_prio_refresh(qpd);
	qp->prio = max_t(int, qp->prio, q->properties.priority);
	kfd_prio_claim_update(dqm, qpd);
	if (d->policy.level == KFD_PRIO_LEVEL_NONE && d->throttle == KFD_PRIO_LEVEL_NONE)
		return;
	if (kfd_prio_is_victim(qpd, d->policy.level) == qp->preempted)
		return;
	if (!qp->preempted && list_empty(&qpd->queues_list)) {
		/* its first queue: nothing of it is on the hardware */
		kfd_prio_dqm_mark_one(dqm, qpd, true, ktime_get_ns(), &m);
		q->properties.is_evicted = true;
	}
	kfd_prio_engine_kick(dqm);
}

/**
 * kfd_prio_engine_queue_changed() - a queue was updated, or is gone
 * @q: the queue
 *
 * Context: any
 */
void kfd_prio_engine_queue_changed(struct queue *q)
{
	struct device_queue_manager *dqm = q->device->dqm;
	struct kfd_process_device *pdd = kfd_get_process_device_data(q->device, q->process);

	if (!pdd)
		return;
	WRITE_ONCE(pdd->qpd.prio.stale, true);
	if (READ_ONCE(dqm->prio.policy.level) != KFD_PRIO_LEVEL_NONE)
		kfd_prio_engine_kick(dqm);
}

/**
 * kfd_prio_hook_process_exit() - the mm of a process goes
 * @p: the process; its queues are destroyed later
 *
 * Context: process, no lock
 */
void kfd_prio_hook_process_exit(struct kfd_process *p)
{
	u32 i;

	for (i = 0; i < p->n_pdds; i++) {
		struct qcm_process_device *qpd = &p->pdds[i]->qpd;
		struct device_queue_manager *dqm = p->pdds[i]->dev->dqm;

		if (!dqm)
			continue;
		dqm_lock(dqm);
		qpd->prio.exiting = true;
		if (qpd->prio.mm)
			kfd_prio_claim_drop(dqm, qpd);
		dqm_unlock(dqm);
	}
}

/**
 * kfd_prio_hook_dqm_init() - a GPU comes
 * @dqm: of the GPU, complete
 */
void kfd_prio_hook_dqm_init(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_knobs k;

	kfd_prio_knobs_read(&k);
	d->dqm = dqm;
	INIT_LIST_HEAD(&d->claims);
	kfd_prio_timer_init(&d->timer, kfd_prio_timer);
	kfd_prio_policy_init(&d->policy, &k, ktime_get_ns());
	d->throttle = KFD_PRIO_LEVEL_NONE;
	d->last.level = KFD_PRIO_LEVEL_NONE;
	d->last.claim = -1;

	mutex_lock(&kfd_prio_engine_mutex);
	list_add_tail(&d->link, &kfd_prio_gpus);
	if (kfd_prio_started)
		kfd_prio_thread_start(d);
	mutex_unlock(&kfd_prio_engine_mutex);
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

	mutex_lock(&kfd_prio_engine_mutex);
	list_del(&d->link);
	dqm_lock(dqm);
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
	mutex_unlock(&kfd_prio_engine_mutex);
}

/**
 * kfd_prio_engine_first() - begin a walk over all GPUs
 *
 * GPUs neither come nor go before kfd_prio_engine_last(), which must follow in any case.
 *
 * Context: process, may sleep
 * Return: ours of the first GPU, or NULL
 */
struct kfd_prio_dqm *kfd_prio_engine_first(void)
{
	mutex_lock(&kfd_prio_engine_mutex);
	return list_first_entry_or_null(&kfd_prio_gpus, struct kfd_prio_dqm, link);
}

/**
 * kfd_prio_engine_next() - the next GPU of a walk
 * @d: this one
 *
 * Return: ours of the next GPU, or NULL
 */
struct kfd_prio_dqm *kfd_prio_engine_next(struct kfd_prio_dqm *d)
{
	return list_is_last(&d->link, &kfd_prio_gpus) ? NULL : list_next_entry(d, link);
}

/**
 * kfd_prio_engine_last() - end a walk over all GPUs
 */
void kfd_prio_engine_last(void)
{
	mutex_unlock(&kfd_prio_engine_mutex);
}
