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
 *	  found the lock taken or whose unmap takes longer than KFD_PRIO_FAULT_WAIT_NS, and by
 *	  everything that changes processes or priorities.
 *
 * Locks, outer first: kfd_prio_gpu_mutex (the list of GPUs, threads), the DQM lock.
 * The fault holds mmap_lock or a VMA lock and must wait for nobody: it takes the DQM lock
 * by trylock only.  The thread drops the DQM lock to read indices (user memory) and to zap
 * doorbells (i_mmap_rwsem).
 */
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

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

static void kfd_prio_timer_set(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			       u64 look_at, u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 at = min(look_at, kfd_prio_claim_poll_at(dqm, k, now));

	if (d->missed)
		at = min(at, now + KFD_PRIO_RETRY_NS);
	if (at != KFD_PRIO_NEVER && d->thread)
		hrtimer_start(&d->timer, ns_to_ktime(at), HRTIMER_MODE_ABS);
}

/* The runlist was sent, or it was not: then it is tried again, after a while */
static void kfd_prio_missed(struct kfd_prio_dqm *d, int ret)
{
	d->missed = ret;
	if (ret)
		d->retry_at = ktime_get_ns() + KFD_PRIO_RETRY_NS;
}

/*
 * Change the runlist.  MES takes queues one after the other, which may take longer than linger_us:
 * that time counts for no claim.  HWS: kfd_prio_hook_map_queues().
 *
 * Return: as kfd_prio_dqm_execute(); with @in_fault also -EINPROGRESS, after which
 * kfd_prio_leave_to_thread() must follow under the same lock
 */
static int kfd_prio_execute(struct device_queue_manager *dqm, bool in_fault)
{
	u64 start = ktime_get_ns();
	int ret;

	dqm->prio.in_fault = in_fault;
	ret = kfd_prio_dqm_execute(dqm);
	dqm->prio.in_fault = false;
	if (kfd_prio_uses_mes(dqm))
		kfd_prio_claim_skip(dqm, start);
	return ret;
}

/* The end of the preemption in force; it is told when the victims are back. */
struct kfd_prio_end {
	s32 pid;
	int level;
	u32 seq;
	u64 begun_at;
	enum kfd_prio_reason reason;
};

/* The lowest process with work that is off: for it the level in force counts */
static int kfd_prio_lowest_victim(const struct kfd_prio_dqm *d)
{
	return d->charged ? d->lowest : KFD_PRIO_RANK_NONE;
}

/*
 * What is in force was stored.  A neighbour that rings stores its ear and rang, then reads what is
 * in force (kfd_prio_neighbour_matters()); the ears were read before it was stored.  One of the two
 * sees the other.
 */
static void kfd_prio_engine_published(struct device_queue_manager *dqm)
{
	/* the level, then rang: pairs with kfd_prio_neighbour_matters() */
	smp_mb();
	if (atomic_read(&dqm->prio.rang))
		kfd_prio_gpu_kick(dqm);
}

/*
 * An unmap takes longer than the fault may wait, see kfd_prio_hook_unmap_wait().  The queues that
 * it takes off are marked as off, but the hardware may be saving them: KFD would free their memory
 * without another unmap.  So their marks are taken back, whatever the reason for which they were
 * made; the level stays in force, and the thread marks them again.
 */
static void kfd_prio_leave_to_thread(struct device_queue_manager *dqm,
				     const struct kfd_prio_params *k)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_dqm_take_back(dqm, now);
	kfd_prio_policy_commit(&d->policy, k, d->policy.level, kfd_prio_lowest_victim(d), false,
			       now);
	d->missed = true;
	d->retry_at = 0;
	kfd_prio_gpu_kick(dqm);
}

static void kfd_prio_change(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			    const struct kfd_prio_decision *dec,
			    struct qcm_process_device *preemptor, bool in_fault, bool execute,
			    u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_end end = { .pid = d->begun_pid, .level = d->policy.level, .seq = d->seq,
				    .begun_at = d->begun_at, .reason = dec->reason };
	bool same = dec->level == end.level, begins;
	struct kfd_prio_marked m;
	int ret = 0;

	d->recheck = false;
	kfd_prio_dqm_mark(dqm, dec->level, now, &m);
	begins = preemptor && d->charged && (!same || !d->begun_at);
	kfd_prio_policy_commit(&d->policy, k, dec->level, kfd_prio_lowest_victim(d),
			       m.busy && (begins || dec->level > end.level), now);
	kfd_prio_engine_published(dqm);
	if (!same) {
		d->begun_at = 0;
		/* kfd_preempt=0 drops the claim, too */
		if (d->gone && dec->reason != KFD_PRIO_REASON_OFF)
			end.reason = KFD_PRIO_REASON_GONE;
	}
	/* if the level remains, another claim holds it, whose end is its own */
	d->gone = false;
	d->pid = preemptor ? kfd_prio_pid_of(preemptor) : 0;
	if (begins) {
		d->begun_pid = d->pid;
		d->seq++;
		d->begun++;
		d->begun_at = now;
		d->victim_queues = m.off;
		preemptor->prio.preempting_count++;
		trace_kfd_preempt_begin(dqm, dec->reason);
	}

	/* without @execute the caller's runlist does it, or not: kfd_prio_engine_mapped() */
	if (execute) {
		if (m.off || m.on || d->missed)
			ret = kfd_prio_execute(dqm, in_fault);
		kfd_prio_missed(d, ret);
		if (ret == -EINPROGRESS)
			kfd_prio_leave_to_thread(dqm, k);
	}
	if (!same && end.begun_at)
		trace_kfd_preempt_end(dqm, end.pid, end.level, end.seq, end.reason, m.restored,
				      m.on, ktime_get_ns() - end.begun_at, ret);
}

/*
 * The unmap goes out before anybody is marked: the GPU saves while that is done
 * (kfd_prio_engine_unmapping()), and a ring does not wait for a walk over all queues.
 */
static void kfd_prio_unmap_first(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
				 bool in_fault)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	int ret;

	d->unmap_first = true;
	ret = kfd_prio_execute(dqm, in_fault);
	if (d->unmap_first)	/* nothing was mapped, or the GPU is being reset */
		kfd_prio_engine_unmapping(dqm);
	if (!ret)
		return;
	if (ret == -EINPROGRESS) {
		kfd_prio_leave_to_thread(dqm, k);
		return;
	}
	kfd_prio_missed(d, ret);
	hrtimer_start(&d->timer, ns_to_ktime(d->retry_at), HRTIMER_MODE_ABS);
}

/**
 * kfd_prio_engine_step() - ask the judge and do what it says
 * @dqm: of the GPU
 * @in_fault: in the fault of a doorbell
 * @execute: change the runlist; false if the caller is about to send one
 *
 * Context: DQM lock; with @execute it waits for the unmap
 */
void kfd_prio_engine_step(struct device_queue_manager *dqm, bool in_fault, bool execute)
{
	struct qcm_process_device *owners[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_claim claims[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_decision dec;
	struct kfd_prio_params k;
	u64 now = ktime_get_ns();
	bool rises;
	int n;

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_gpu_params(dqm, &k);
	if (!kfd_prio_sched_runs(dqm)) {
		/* suspended or being reset: nothing runs, nobody can be served */
		kfd_prio_timer_set(dqm, &k, d->victims ? now + KFD_PRIO_RETRY_NS : KFD_PRIO_NEVER,
				   now);
		return;
	}
	if ((d->missed || d->breaker) && now < d->retry_at) {
		/* another unmap now would keep the reset waiting, for as long as the first */
		kfd_prio_timer_set(dqm, &k, d->retry_at, now);
		return;
	}
	d->crowded = kfd_prio_over_subscribes(dqm, dqm->processes_count - d->skipped,
					      dqm->active_cp_queue_count);
	kfd_prio_neighbour_rang(dqm);
	n = kfd_prio_claim_fold(dqm, &k, in_fault, now, claims, owners);
	kfd_prio_policy_decide(&d->policy, &k, claims, n, d->lowest, now, &dec);
	d->recheck |= dec.throttle != d->throttle;
	d->throttle = dec.throttle;
	if (in_fault && (dec.level < d->policy.level || d->missed || d->unmap_pending)) {
		/* nothing that the ring has to wait for; or a retry, which may take long */
		kfd_prio_gpu_kick(dqm);
		return;
	}
	/* a neighbour that rings below a level in force is taken off in its fault, too */
	rises = dec.level > d->policy.level || (in_fault && d->recheck);
	if (execute && rises && !d->missed && !kfd_prio_uses_mes(dqm) &&
	    kfd_prio_dqm_takes(dqm, dec.level)) {
		kfd_prio_unmap_first(dqm, &k, in_fault);
		return;
	}
	if (dec.level != d->policy.level || d->recheck || d->missed)
		kfd_prio_change(dqm, &k, &dec, dec.claim < 0 ? NULL : owners[dec.claim], in_fault,
				execute, now);
	else
		kfd_prio_policy_commit(&d->policy, &k, dec.level, kfd_prio_lowest_victim(d), false,
				       now);
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
 * @pdd: the process on a GPU; its trap is KFD_PRIO_TRAP_RUNG now
 *
 * MES acts on one queue after the other, and the queue that rings stays mapped: its
 * process need not wait for that.
 *
 * Context: fault; mmap_lock or VMA lock
 */
void kfd_prio_engine_rung(struct kfd_process_device *pdd)
{
	struct device_queue_manager *dqm = pdd->dev->dqm;

	if (READ_ONCE(pdd->qpd.prio.role) == KFD_PRIO_ROLE_NEIGHBOUR &&
	    !kfd_prio_neighbour_matters(&pdd->qpd))
		return;
	if (!kfd_prio_uses_mes(dqm) && kfd_prio_dqm_trylock(dqm)) {
		kfd_prio_engine_step(dqm, true, true);
		dqm_unlock(dqm);
	} else {
		kfd_prio_gpu_kick(dqm);
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

	if (!d->thread || dqm->active_runlist || kfd_prio_uses_mes(dqm) ||
	    (!d->victims && list_empty(&d->claims)))
		return;
	d->preparing = true;
	kfd_prio_engine_step(dqm, false, false);
	d->preparing = false;
	/* there is none to send: with all queues off the hardware is as they are marked */
	if (d->missed && (!dqm->active_queue_count || !dqm->processes_count) &&
	    kfd_prio_sched_runs(dqm))
		kfd_prio_missed(d, 0);
}

/**
 * kfd_prio_engine_mapped() - a runlist was sent, ours or KFD's own, or it was not
 * @dqm: of the GPU
 * @ret: 0, or why it was not
 *
 * A runlist has all that is marked.  One that fails has left every queue of the GPU off, those of
 * who preempts too, and KFD's caller does not try again.
 *
 * Context: DQM lock
 */
void kfd_prio_engine_mapped(struct device_queue_manager *dqm, int ret)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	lockdep_assert_held(&dqm->lock_hidden);
	if (ret && d->thread && (d->victims || !list_empty(&d->claims))) {
		kfd_prio_missed(d, ret);
		kfd_prio_gpu_kick(dqm);
	} else if (!ret && d->missed) {
		kfd_prio_missed(d, 0);
	}
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
		kfd_prio_gpu_kick(dqm);
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
	int rank;

	lockdep_assert_held(&dqm->lock_hidden);
	if (READ_ONCE(qp->stale) || list_empty(&qpd->queues_list))
		kfd_prio_refresh(qpd);
	rank = kfd_prio_policy_rank(kfd_prio_of_process(qpd->pqm->process), q->properties.priority);
	qp->prio = max(qp->prio, rank);
	kfd_prio_claim_update(dqm, qpd);
	if (kfd_prio_works(qpd))
		d->lowest = min(d->lowest, qp->prio);
	kfd_prio_neighbour_changed(qpd);
	if ((d->policy.level != KFD_PRIO_LEVEL_NONE || d->throttle != KFD_PRIO_LEVEL_NONE) &&
	    kfd_prio_is_victim(qpd, d->policy.level) != qp->preempted) {
		/* its first queue: nothing of it is on the hardware */
		if (!qp->preempted && list_empty(&qpd->queues_list))
			kfd_prio_dqm_mark_one(dqm, qpd, true, ktime_get_ns(), &m);
		kfd_prio_gpu_kick(dqm);
	}
	if (qp->preempted && !qp->kfd_first)
		kfd_prio_dqm_hold(q);
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
	kfd_prio_neighbour_changed(&pdd->qpd);
	if (READ_ONCE(dqm->prio.policy.level) != KFD_PRIO_LEVEL_NONE)
		kfd_prio_gpu_kick(dqm);
}

/**
 * kfd_prio_hook_process_exit() - the mm of a process goes
 * @p: the process; its queues are destroyed later
 *
 * Where no priority that may preempt was ever set, no lock is taken.
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
		WRITE_ONCE(qpd->prio.exiting, true);
		/*
		 * exiting, then the thread: pairs with kfd_prio_thread_start().  Without a thread
		 * there is no claim, and none is made by a thread that starts now.
		 */
		smp_mb();
		if (!READ_ONCE(dqm->prio.thread))
			continue;
		dqm_lock(dqm);
		if (qpd->prio.mm)
			kfd_prio_claim_drop(dqm, qpd);
		dqm_unlock(dqm);
	}
}
