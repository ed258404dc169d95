// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the engine, which observes, has the policy decide, and applies the decision to one GPU.
 *
 * A step (kfd_prio_engine_step()) runs under the DQM lock of the GPU
 * - in the fault of a doorbell, if the lock is free and the GPU has HWS, which is the fastest way;
 * - in the GPU's thread, after it has observed the claims. The thread is woken by its timer, by a
 *   ring that found the lock taken or whose unmap outlasts KFD_PRIO_FAULT_WAIT_NS, and by every
 *   change of processes or priorities.
 *
 * With HWS a step has its runlist built as KFD builds its own. KFD unmaps all queues, and before it
 * maps them again it calls kfd_prio_engine_mapping(), which decides again which processes the
 * runlist has. So the runlist includes a ring during the unmap, and an operation of KFD that sends
 * a runlist preempts and restores as well. kfd_prio_engine_unmapping() decides the same earlier,
 * while the GPU still saves waves. Both functions observe, decide and mark; only a step sends a
 * runlist.
 *
 * Locks, outer first: kfd_prio_gpu_mutex (the list of GPUs, threads), the DQM lock. The fault holds
 * mmap_lock or a VMA lock and must not wait for the DQM lock, which it takes by trylock only. The
 * thread drops the DQM lock to read indices (user memory) and to unmap doorbells (i_mmap_rwsem).
 */
#include <linux/sched/mm.h>
#include "kfd_prio_priv.h"
#include "kfd_prio_events.h"

/**
 * struct kfd_prio_step - one pass through the engine
 * @k: module parameters as they apply to the GPU
 * @now: begin of the pass, ktime_get_ns()
 * @dec: decision of the policy
 * @preemptor: the process whose claim holds the level; NULL if there is no level
 * @m: changes of the marks
 */
struct kfd_prio_step {
	struct kfd_prio_params k;
	u64 now;
	struct kfd_prio_decision dec;
	struct qcm_process_device *preemptor;
	struct kfd_prio_marked m;
};

/**
 * struct kfd_prio_end - a preemption that ends, traced after its victims were put back
 * @pid: PID of the process that began it
 * @level: its level
 * @seq: its number
 * @begun_at: when it began, ktime_get_ns(); 0: no preemption ends
 * @save_ns: its longest save, ns; 0: not known
 * @reason: why it ends
 */
struct kfd_prio_end {
	s32 pid;
	int level;
	u32 seq;
	u64 begun_at;
	u64 save_ns;
	enum kfd_prio_reason reason;
};

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

/*
 * Starts the timer for the next time at which something is due. Each runlist of KFD calls this
 * function, and users can cause any number of them. So each due time is a fixed point in time and
 * is not computed from the present time; otherwise a stream of updates would delay it for ever.
 */
static void kfd_prio_timer_set(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			       u64 look_at)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 at;

	/*
	 * The thread runs or will run, and starts the timer at its end. A due time that has passed
	 * would interrupt the update that is being sent.
	 */
	if (READ_ONCE(d->awake) || atomic_read(&d->kicked))
		return;
	at = min(look_at, kfd_prio_claim_poll_at(dqm, k));
	at = min(at, kfd_prio_breaker_due(dqm));

	/*
	 * Processes that may be parked or are parked must be polled, because a device may have
	 * rung. If a kick has interrupted an observation, the step that follows the kick resumes
	 * it.
	 */
	if (k->park_ns && !(list_empty(&d->neighbours) && list_empty(&d->resting)))
		at = min(at, kfd_prio_neighbour_poll_at(d));
	if (d->missed)
		at = min(at, d->retry_at);
	if (at != KFD_PRIO_NEVER && d->thread)
		hrtimer_start(&d->timer, ns_to_ktime(at), HRTIMER_MODE_ABS);
}

/* ---- observe and decide ---- */

/*
 * Whether a decision is possible now. It is not while the GPU is suspended or being reset, nor for
 * a while after a failed runlist: another unmap would delay the reset for as long as the first one
 * has.
 */
static bool kfd_prio_may_decide(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
				u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (!kfd_prio_sched_runs(dqm)) {
		if (d->retry_at <= now)
			d->retry_at = now + KFD_PRIO_RETRY_NS;
		kfd_prio_timer_set(dqm, k, d->victims ? d->retry_at : KFD_PRIO_NEVER);
		return false;
	}
	if ((d->missed || d->breaker) && now < d->retry_at) {
		kfd_prio_timer_set(dqm, k, d->retry_at);
		return false;
	}
	return true;
}

/* Return: false if no decision is possible now; the thread tries again */
static bool kfd_prio_decide(struct device_queue_manager *dqm, bool in_fault,
			    struct kfd_prio_step *s)
{
	struct qcm_process_device *owners[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_claim claims[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_dqm *d = &dqm->prio;
	int n;

	lockdep_assert_held(&dqm->lock_hidden);
	s->now = ktime_get_ns();
	kfd_prio_gpu_params(dqm, &s->k);
	if (!kfd_prio_may_decide(dqm, &s->k, s->now))
		return false;
	d->crowded = kfd_prio_over_subscribes(dqm, dqm->processes_count - d->skipped,
					      dqm->active_cp_queue_count);
	kfd_prio_neighbour_rang(dqm);
	n = kfd_prio_claim_fold(dqm, &s->k, in_fault, s->now, claims, owners);
	kfd_prio_policy_decide(&d->policy, &s->k, claims, n, d->lowest, s->now, &s->dec);
	d->parking = (struct kfd_prio_parking) {
		.after_ns = s->k.park_ns,
		.now = s->now,
		.pays = kfd_prio_policy_park_pays(&d->policy, &s->k, d->crowded),
		.free = kfd_prio_uses_mes(dqm),
	};
	d->park_update = false;
	s->preemptor = s->dec.claim < 0 ? NULL : owners[s->dec.claim];
	d->recheck |= s->dec.throttle != d->throttle;
	d->throttle = s->dec.throttle;
	return true;
}

/* ---- apply: mark ---- */

/*
 * Rank of the lowest process with work that is off, for which the policy counts the level in force
 */
static int kfd_prio_lowest_victim(const struct kfd_prio_dqm *d)
{
	return d->charged ? d->lowest : KFD_PRIO_RANK_NONE;
}

/*
 * Called after the level in force was stored. A neighbour that rings stores its trap and rang, and
 * then reads the level (kfd_prio_neighbour_matters()). The engine has read the traps before it
 * stored the level, and reads rang after it. So either the engine or the neighbour finds the
 * other's store.
 */
static void kfd_prio_engine_published(struct device_queue_manager *dqm)
{
	/* The level, then rang: pairs with kfd_prio_neighbour_matters() */
	smp_mb();
	if (atomic_read(&dqm->prio.rang))
		kfd_prio_gpu_kick(dqm);
}

/*
 * Returns why a preemption ends. kfd_preempt=0 takes all claims away, which is not reported as
 * GONE.
 */
static enum kfd_prio_reason kfd_prio_end_reason(struct device_queue_manager *dqm,
						const struct kfd_prio_decision *dec)
{
	return dec->reason != KFD_PRIO_REASON_OFF && !kfd_prio_claim_has(dqm, dqm->prio.pid) ?
	       KFD_PRIO_REASON_GONE : dec->reason;
}

static void kfd_prio_begin(struct device_queue_manager *dqm, const struct kfd_prio_step *s)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	d->begun_pid = d->pid;
	d->seq++;
	d->begun++;
	d->begun_at = s->now;
	d->save_ns = 0;
	d->victim_queues = s->m.off + s->m.shown;
	s->preemptor->prio.preempting_count++;
	trace_kfd_preempt_begin(dqm, s->dec.reason);
}

/*
 * Marks the processes by the decision, and commits it. The hardware does not change before a
 * runlist is sent.
 * @by_kfd: see kfd_prio_dqm_mark()
 */
static void kfd_prio_mark(struct device_queue_manager *dqm, struct kfd_prio_step *s, bool by_kfd,
			  struct kfd_prio_end *end)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	bool begins, beside = dqm->active_queue_count && !kfd_prio_uses_mes(dqm);
	int was = d->policy.level;

	d->recheck = false;
	kfd_prio_dqm_mark(dqm, s->dec.level, by_kfd, s->now, &s->m);
	begins = s->preemptor && d->charged && (s->dec.level != was || !d->begun_at);
	kfd_prio_policy_commit(&d->policy, &s->k, s->dec.level, kfd_prio_lowest_victim(d),
			       s->m.busy && (begins || s->dec.level > was), s->now);
	/* HWS unmaps all queues to put one process back */
	if (s->m.woken && beside)
		kfd_prio_policy_park_cost(&d->policy, &s->k, s->now);
	kfd_prio_engine_published(dqm);
	if (s->dec.level != was) {
		*end = (struct kfd_prio_end) { .pid = d->begun_pid, .level = was, .seq = d->seq,
					       .begun_at = d->begun_at,
					       .save_ns = d->save_ns,
					       .reason = kfd_prio_end_reason(dqm, &s->dec) };
		d->begun_at = 0;
	}
	d->pid = s->preemptor ? kfd_prio_pid_of(s->preemptor) : 0;
	if (begins)
		kfd_prio_begin(dqm, s);
}

static void kfd_prio_ended(struct device_queue_manager *dqm, const struct kfd_prio_end *end,
			   const struct kfd_prio_marked *m, int ret)
{
	if (end->begun_at)
		trace_kfd_preempt_end(dqm, end->pid, end->level, end->seq, end->reason, m->restored,
				      m->on, ktime_get_ns() - end->begun_at, ret, end->save_ns);
}

/*
 * Whether processes must be marked again: the level has changed, the set of processes may have, or
 * the last update failed
 */
static bool kfd_prio_changes(const struct kfd_prio_dqm *d, const struct kfd_prio_step *s)
{
	return s->dec.level != d->policy.level || d->recheck || d->missed;
}

static void kfd_prio_decided(struct device_queue_manager *dqm, const struct kfd_prio_step *s)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	/* The level may now be held by another claim than the one that began the preemption */
	d->pid = s->preemptor ? kfd_prio_pid_of(s->preemptor) : 0;
	d->last = s->dec;
	d->last_at = s->now;
	kfd_prio_timer_set(dqm, &s->k, s->dec.look_at);
}

/* Commits a decision that changes nothing, so that its time is counted */
static void kfd_prio_stay(struct device_queue_manager *dqm, const struct kfd_prio_step *s)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	kfd_prio_policy_commit(&d->policy, &s->k, s->dec.level, kfd_prio_lowest_victim(d), false,
			       s->now);
}

/* Decides and marks which processes the next runlist has. KFD or a step sends it. */
static void kfd_prio_engine_prepare(struct device_queue_manager *dqm, bool by_kfd)
{
	struct kfd_prio_end end = {};
	struct kfd_prio_step s;

	if (!kfd_prio_decide(dqm, false, &s))
		return;
	/* The update follows in any case, so processes can be parked at no cost */
	dqm->prio.parking.free = true;
	dqm->prio.park_update = true;
	if (kfd_prio_changes(&dqm->prio, &s) || s.k.park_ns) {
		kfd_prio_mark(dqm, &s, by_kfd, &end);
		kfd_prio_ended(dqm, &end, &s.m, 0);
	} else {
		kfd_prio_stay(dqm, &s);
	}
	kfd_prio_decided(dqm, &s);
}

/* ---- apply: send ---- */

/* Records the result of an update. A failed one is tried again after KFD_PRIO_RETRY_NS. */
static void kfd_prio_missed(struct kfd_prio_dqm *d, int ret)
{
	d->missed = ret;
	if (ret)
		d->retry_at = ktime_get_ns() + KFD_PRIO_RETRY_NS;
}

/*
 * Handles an update that was not confirmed: HWS or MES has refused it or does not answer, or the
 * unmap takes longer than the fault may wait (-EINPROGRESS, see kfd_prio_unmap_wait()).
 * kfd_prio_dqm_execute() has marked all processes whose unmap is not confirmed as on, because the
 * hardware may be running or saving their queues. The level stays in force, and the thread marks
 * the processes again: at once after -EINPROGRESS, else after KFD_PRIO_RETRY_NS.
 */
static void kfd_prio_unconfirm(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			       int ret)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_policy_commit(&d->policy, k, d->policy.level, kfd_prio_lowest_victim(d), false,
			       ktime_get_ns());
	kfd_prio_missed(d, ret);
	if (ret != -EINPROGRESS) {
		kfd_prio_timer_set(dqm, k, d->retry_at);
		return;
	}
	d->retry_at = 0;
	kfd_prio_gpu_kick(dqm);
}

/*
 * Sends the update. MES removes and adds one queue after the other, which may take longer than
 * linger_us, so that time does not count for any claim. For HWS kfd_prio_runlist_sent() does this.
 *
 * Return: as kfd_prio_dqm_execute(). After -EINPROGRESS the thread completes the update
 */
static int kfd_prio_send(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			 bool in_fault, bool takes)
{
	u64 start = ktime_get_ns();
	int ret;

	dqm->prio.in_fault = in_fault;
	ret = kfd_prio_dqm_execute(dqm, takes);
	dqm->prio.in_fault = false;
	if (kfd_prio_uses_mes(dqm))
		kfd_prio_claim_skip(dqm, start);
	return ret;
}

/*
 * Sends the unmap before any queue is marked. The walk over all queues then runs while the GPU
 * saves waves, and a ring does not wait for it. kfd_prio_engine_unmapping() marks.
 */
static void kfd_prio_unmap_first(struct device_queue_manager *dqm, const struct kfd_prio_step *s,
				 bool in_fault)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	int ret;

	d->unmap_first = true;
	ret = kfd_prio_send(dqm, &s->k, in_fault, true);
	if (!ret)	/* no queue was mapped, so KFD has sent no unmap */
		kfd_prio_engine_unmapping(dqm);
	/* If KFD refused the unmap before it was sent, the next try marks */
	d->unmap_first = false;
	d->prepared = false;
	if (ret)
		kfd_prio_unconfirm(dqm, &s->k, ret);
}

/*
 * Marks, and sends the update if there is one
 * @rung: for a ring. The processes are not marked again before the runlist is sent, unless there is
 *	another ring meanwhile: the process that has rung waits for the runlist
 */
static void kfd_prio_mark_first(struct device_queue_manager *dqm, struct kfd_prio_step *s,
				bool in_fault, bool rung)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_end end = {};
	int ret = 0;

	kfd_prio_mark(dqm, s, false, &end);
	d->prepared = rung;
	if (s->m.off || s->m.on || d->missed)
		ret = kfd_prio_send(dqm, &s->k, in_fault, s->m.off && s->m.preempted);
	d->prepared = false;
	if (ret)
		kfd_prio_unconfirm(dqm, &s->k, ret);
	else
		kfd_prio_missed(d, 0);
	kfd_prio_ended(dqm, &end, &s->m, ret);
	if (!d->missed)
		kfd_prio_park_report(dqm);
}

/*
 * Requests a new marking if a process is to be parked, or to be parked no more, by an update just
 * for that
 */
static void kfd_prio_park_look(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (!d->parking.after_ns && !d->parked)
		return;
	d->parking.free |= kfd_prio_park_idle(dqm);
	d->recheck |= kfd_prio_park_due(dqm);
}

/**
 * kfd_prio_engine_step() - observe, decide and apply, once
 * @dqm: device queue manager of the GPU
 * @by: the caller
 *
 * A fault leaves to the thread a decision that lowers the level, and any retry. A step for a ring
 * parks no process by an update just for that; the step after the observation does.
 *
 * Context: DQM lock; waits for the unmap
 */
void kfd_prio_engine_step(struct device_queue_manager *dqm, enum kfd_prio_step_by by)
{
	bool in_fault = by == KFD_PRIO_STEP_FAULT;
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_step s;
	bool rises;

	if (!kfd_prio_decide(dqm, in_fault, &s))
		return;
	if (in_fault && (s.dec.level < d->policy.level || d->missed || d->unmap_pending)) {
		/* The ring need not wait for a lower level; a retry may take long */
		kfd_prio_gpu_kick(dqm);
		return;
	}
	if (by == KFD_PRIO_STEP_LOOK)
		kfd_prio_park_look(dqm);
	rises = s.dec.level > d->policy.level || (in_fault && d->recheck);
	if (rises && !d->missed && !kfd_prio_uses_mes(dqm) &&
	    kfd_prio_runlist_takes(dqm, s.dec.level)) {
		kfd_prio_unmap_first(dqm, &s, in_fault);
		return;
	}
	if (kfd_prio_changes(d, &s))
		kfd_prio_mark_first(dqm, &s, in_fault, by == KFD_PRIO_STEP_RING);
	else
		kfd_prio_stay(dqm, &s);
	kfd_prio_decided(dqm, &s);
}

/*
 *---- callers of the engine ----
 */

/**
 * kfd_prio_engine_rung() - a process has rung a trapped doorbell
 * @pdd: the process on a GPU; its trap is KFD_PRIO_TRAP_RUNG now
 *
 * For a claim it runs a step, or kicks the thread if the DQM lock is taken or the GPU has MES. MES
 * removes one queue after the other, and the queue that rings stays mapped, so its process need not
 * wait for that. For a neighbour it kicks the thread, unless the neighbour is on the GPU and no
 * level would take it off. A neighbour must not hold the DQM lock here while other processes of
 * low priority have the CPU, because claims and the thread would wait for it.
 *
 * Context: fault of a doorbell; mmap_lock or VMA lock
 */
void kfd_prio_engine_rung(struct kfd_process_device *pdd)
{
	struct device_queue_manager *dqm = pdd->dev->dqm;

	if (READ_ONCE(pdd->qpd.prio.role) == KFD_PRIO_ROLE_NEIGHBOUR) {
		if (kfd_prio_neighbour_matters(&pdd->qpd))
			kfd_prio_gpu_kick(dqm);
		return;
	}
	if (!kfd_prio_uses_mes(dqm) && kfd_prio_dqm_trylock(dqm)) {
		kfd_prio_engine_step(dqm, KFD_PRIO_STEP_FAULT);
		dqm_unlock(dqm);
	} else {
		kfd_prio_gpu_kick(dqm);
	}
}

/**
 * kfd_prio_engine_unmapping() - KFD has sent an unmap of all queues of a GPU
 * @dqm: device queue manager of the GPU
 *
 * Decides and marks, if a step has sent the unmap before marking.
 *
 * Context: DQM lock
 */
void kfd_prio_engine_unmapping(struct device_queue_manager *dqm)
{
	if (!dqm->prio.unmap_first)
		return;
	dqm->prio.unmap_first = false;
	kfd_prio_engine_prepare(dqm, false);
	dqm->prio.prepared = true;
}

/**
 * kfd_prio_engine_mapping() - KFD is about to send a runlist, for itself or for a step
 * @dqm: device queue manager of the GPU
 *
 * Decides and marks which processes the runlist has.
 *
 * Context: DQM lock
 */
void kfd_prio_engine_mapping(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (!d->thread || dqm->active_runlist || kfd_prio_uses_mes(dqm) ||
	    (!d->victims && list_empty(&d->claims) && !kfd_prio_park_ns(dqm)))
		return;
	/*
	 * Not for a second time in a step, because the process that has rung waits for the runlist,
	 * unless another process has rung since
	 */
	if (!d->prepared || kfd_prio_claim_rings(dqm) || atomic_read(&d->rang))
		kfd_prio_engine_prepare(dqm, true);
	/*
	 * KFD will send no runlist. No queue has run since the unmap, and none can before the next
	 * runlist, so the time until then is not to be skipped for the claims.
	 */
	if (!dqm->active_queue_count || !dqm->processes_count)
		d->unmapped_at = 0;
	/*
	 * KFD will send no runlist, and none is missed: all queues are off the hardware, as they
	 * are marked
	 */
	if (d->missed && (!dqm->active_queue_count || !dqm->processes_count) &&
	    kfd_prio_sched_runs(dqm))
		kfd_prio_missed(d, 0);
}

/**
 * kfd_prio_engine_mapped() - a runlist, of a step or of KFD, was sent or has failed
 * @dqm: device queue manager of the GPU
 * @ret: 0, or the error
 *
 * A runlist that was sent has all processes as they are marked. After a failed one every queue of
 * the GPU is off, including those of the process that preempts, and the caller in KFD does not try
 * again. So the engine does.
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
	if (!ret)
		kfd_prio_park_report(dqm);
}
