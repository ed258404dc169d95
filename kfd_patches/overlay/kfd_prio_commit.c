// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: decide, commit and roll back.
 *
 * The engine observes, has the policy decide a level, marks the processes that the level keeps off
 * a GPU, and updates the hardware. kfd_prio_commit() is the only function that marks processes by a
 * decision and puts its level in force; kfd_prio_roll_back() is the only one that revokes marks.
 * Beside them only the first queue of a process (kfd_prio_dqm_mark_new()) and the end of a process
 * (kfd_prio_hook_unregister_process()) change marks, those of that process.
 * kfd_prio_engine_event() calls kfd_prio_roll_back() if the table of kfd_prio_state.c has
 * KFD_PRIO_ACT_BACK.
 *
 * Context of all functions: DQM lock.
 */
#include "kfd_prio_engine.h"
#include "kfd_prio_share.h"
#include "kfd_prio_events.h"

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
			       u64 decide_at)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 at;

	/*
	 * The thread runs or will run, and starts the timer at its end. A due time that has passed
	 * would interrupt the update that is being sent.
	 */
	if (READ_ONCE(d->awake) || atomic_read(&d->kicked))
		return;
	at = min(decide_at, kfd_prio_claim_poll_at(dqm, k));
	at = min(at, kfd_prio_breaker_due(dqm));

	/*
	 * Processes that may be parked or are parked must be polled, because a device may have
	 * rung, and those of groups, to find out when their work ends. If a kick has interrupted an
	 * observation, the step that follows the kick resumes it.
	 */
	if ((k->park_ns || !list_empty(&d->accounts)) &&
	    !(list_empty(&d->neighbours) && list_empty(&d->quiet_neighbours)))
		at = min(at, kfd_prio_neighbour_poll_at(d));
	/* With idle_park_ms=auto: is the GPU still over-subscribed? See kfd_prio_decide() */
	if (k->park_ns && d->crowd.parks)
		at = min(at, d->crowd.check_at);
	if (d->state == KFD_PRIO_STATE_ROLLED_BACK)
		at = min(at, d->retry_at);
	if (at != KFD_PRIO_NEVER && d->thread)
		hrtimer_start(&d->timer, ns_to_ktime(at), HRTIMER_MODE_ABS);
}

/* ---- the state ---- */

/*
 * Rank of the lowest process with work that is off, for which the policy counts the level in force
 */
static int kfd_prio_lowest_victim(const struct kfd_prio_dqm *d)
{
	return d->charged ? d->lowest : KFD_PRIO_RANK_NONE;
}

/*
 * Marks as on all processes whose unmap the hardware has not confirmed. The level stays in force,
 * and a later step marks again.
 */
static void kfd_prio_roll_back(struct device_queue_manager *dqm, const struct kfd_prio_params *k)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	kfd_prio_dqm_unmark(dqm, ktime_get_ns());
	d->recheck = true;
	kfd_prio_policy_commit(&d->policy, k, d->policy.level, kfd_prio_lowest_victim(d), false,
			       ktime_get_ns());
}

/*
 * Reports an event that the state does not expect. Users must not be able to stop a host with
 * panic_on_warn, nor to fill its log, so that a WARN is for kernels with lockdep.
 */
static void kfd_prio_unexpected(struct device_queue_manager *dqm, enum kfd_prio_event ev)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	d->unexpected++;
	if (d->step)
		d->step->unexpected = true;
	dev_warn_ratelimited(dqm->dev->adev->dev, "kfdprio: unexpected event %s in state %s\n",
			     kfd_prio_event_name(ev), kfd_prio_state_name(d->state));
	WARN_ON_ONCE(IS_ENABLED(CONFIG_PROVE_LOCKING));
}

/**
 * kfd_prio_engine_event() - an event changes the state of a GPU
 * @dqm: device queue manager of the GPU
 * @ev: the event
 *
 * Sets the next state, and does what the table of kfd_prio_state.c asks for, except for marking:
 * recalls an unmap, rolls back, arranges a retry. After an event that the state does not expect it
 * rolls back and has the thread try again, and the step in progress decides again.
 *
 * Context: DQM lock
 * Return: KFD_PRIO_ACT_*; the caller does KFD_PRIO_ACT_MARK and KFD_PRIO_ACT_AGAIN
 */
u8 kfd_prio_engine_event(struct device_queue_manager *dqm, enum kfd_prio_event ev)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_transition t = kfd_prio_state_next(d->state, ev);
	struct kfd_prio_params k;

	lockdep_assert_held(&dqm->lock_hidden);
	if (unlikely(!t.expected))
		kfd_prio_unexpected(dqm, ev);
	d->state = t.next;
	if (likely(!(t.act & ~(KFD_PRIO_ACT_MARK | KFD_PRIO_ACT_AGAIN))))
		return t.act;
	kfd_prio_gpu_params(dqm, &k);
	/* KFD keeps its runlist in force if the unmap was given up */
	if (t.act & KFD_PRIO_ACT_RECALL && dqm->active_runlist)
		d->epoch--;
	if (t.act & KFD_PRIO_ACT_BACK)
		kfd_prio_roll_back(dqm, &k);
	if (t.act & KFD_PRIO_ACT_RETRY) {
		d->retry_at = ktime_get_ns() + KFD_PRIO_RETRY_NS;
		kfd_prio_timer_set(dqm, &k, d->retry_at);
	}
	if (t.act & KFD_PRIO_ACT_AT_ONCE) {
		d->retry_at = 0;
		kfd_prio_gpu_kick(dqm);
	}
	return t.act;
}

/* ---- observe and decide ---- */

/*
 * Whether a decision is possible now. It is not while the GPU is suspended or being reset, nor for
 * a while after a failed update: another unmap would delay the reset for as long as the first one
 * has.
 */
static bool kfd_prio_may_decide(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
				u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (!kfd_prio_sched_runs(dqm)) {
		if (d->retry_at <= now)
			d->retry_at = now + KFD_PRIO_RETRY_NS;
		kfd_prio_timer_set(dqm, k, d->nr_off || d->policy.level != KFD_PRIO_LEVEL_NONE ?
				   d->retry_at : KFD_PRIO_NEVER);
		return false;
	}
	if ((d->state == KFD_PRIO_STATE_ROLLED_BACK || d->breaker) && now < d->retry_at) {
		kfd_prio_timer_set(dqm, k, d->retry_at);
		return false;
	}
	return true;
}

/**
 * kfd_prio_decide() - take new rings into account, and have the policy decide
 * @dqm: device queue manager of the GPU
 * @s: in: @by; out: parameters, decision, and the process that preempts
 *
 * Reads no memory of a process. Changes no mark and no level in force; kfd_prio_commit() does.
 *
 * Context: DQM lock
 * Return: false if no decision is possible now: the GPU is suspended or being reset, or an update
 *	has failed or the breaker has opened a short time ago. The thread tries again
 */
bool kfd_prio_decide(struct device_queue_manager *dqm, struct kfd_prio_step *s)
{
	struct qcm_process_device *owners[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_claim claims[KFD_PRIO_MAX_CLAIMS];
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 share_at;
	int n;

	lockdep_assert_held(&dqm->lock_hidden);
	s->now = ktime_get_ns();
	/* Walks over the queues that are off, so a step for a ring does not call it */
	if (s->by == KFD_PRIO_STEP_OBSERVED)
		kfd_prio_crowd_update(dqm, s->now);
	kfd_prio_gpu_params(dqm, &s->k);
	if (!kfd_prio_may_decide(dqm, &s->k, s->now))
		return false;
	d->crowded = kfd_prio_over_subscribes(dqm, dqm->processes_count - d->skipped,
					      dqm->active_cp_queue_count);
	kfd_prio_neighbour_rings(dqm);
	share_at = kfd_prio_share_decide(dqm, &s->k, s->now);
	n = kfd_prio_claim_fold(dqm, &s->k, s->by == KFD_PRIO_STEP_FAULT, s->now, claims, owners);
	kfd_prio_policy_decide(&d->policy, &s->k, claims, n, d->lowest, s->now, &s->dec);
	share_at = min(share_at, kfd_prio_share_turn(dqm, &s->k, s->dec.level, s->dec.throttle,
						     s->now));
	s->dec.decide_at = min(s->dec.decide_at, share_at);
	d->parking = (struct kfd_prio_parking) {
		.after_ns = s->k.park_ns,
		.now = s->now,
		.pays = kfd_prio_policy_park_pays(&d->policy, &s->k, d->crowded),
		.free = kfd_prio_uses_mes(dqm),
	};
	/* A level that is only held (max_switch_policy) needs no room */
	d->parking.room = d->parking.pays && s->dec.reason != KFD_PRIO_REASON_RATE;
	s->preemptor = s->dec.claim < 0 ? NULL : owners[s->dec.claim];
	d->recheck |= s->dec.throttle != d->throttle;
	d->throttle = s->dec.throttle;
	return true;
}

/**
 * kfd_prio_decided() - record a decision that was committed, and start the timer for the next one
 * @dqm: device queue manager of the GPU
 * @s: the decision
 *
 * Context: DQM lock
 */
void kfd_prio_decided(struct device_queue_manager *dqm, const struct kfd_prio_step *s)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	/* The level may now be held by another claim than the one that began the preemption */
	d->pid = s->preemptor ? kfd_prio_pid_of(s->preemptor) : 0;
	d->last = s->dec;
	d->last_at = s->now;
	kfd_prio_timer_set(dqm, &s->k, s->dec.decide_at);
}

/* ---- commit ---- */

/*
 * Called after the level in force was stored. The fault of a neighbour stores its trap and
 * neighbour_rung, and then reads the level (kfd_prio_neighbour_matters()). The engine has read the
 * traps before it stored the level, and reads neighbour_rung after it. So either the engine or the
 * fault reads what the other has stored.
 */
static void kfd_prio_engine_published(struct device_queue_manager *dqm)
{
	/* The level, then neighbour_rung: pairs with kfd_prio_neighbour_matters() */
	smp_mb();
	if (atomic_read(&dqm->prio.neighbour_rung))
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

/* Records and traces a preemption that begins. The level is in force, and the marks are made. */
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

/**
 * kfd_prio_commit() - mark the processes by a decision, and put its level in force
 * @dqm: device queue manager of the GPU
 * @s: the decision; out: @m, the changes of the marks
 * @by_kfd: see kfd_prio_dqm_mark()
 * @end: in: zeros; out: the preemption that ends, if one does, for kfd_prio_ended()
 *
 * Counts a preemption that begins or whose level rises against max_preempt_per_s, and traces
 * kfd_preempt_begin. The hardware does not change before the update that follows.
 *
 * Context: DQM lock
 */
void kfd_prio_commit(struct device_queue_manager *dqm, struct kfd_prio_step *s, bool by_kfd,
		     struct kfd_prio_end *end)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	bool begins, beside = dqm->active_queue_count && !kfd_prio_uses_mes(dqm);
	int was = d->policy.level;

	d->recheck = false;
	kfd_prio_dqm_mark(dqm, s->dec.level, by_kfd, s->now, &s->m);
	if (d->step)
		d->step->saves = s->m.busy;
	begins = s->preemptor && d->charged && (s->dec.level != was || !d->begun_at);
	kfd_prio_policy_commit(&d->policy, &s->k, s->dec.level, kfd_prio_lowest_victim(d),
			       s->m.busy && (begins || s->dec.level > was), s->now);
	/* With HWS, putting a parked process back unmaps all queues, which takes a token */
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

/**
 * kfd_prio_commit_nothing() - commit a decision that changes no mark
 * @dqm: device queue manager of the GPU
 * @s: the decision, whose level is in force already; kfd_prio_changes() returned false for it
 *
 * The policy counts the time since the last commit, which has passed under the level in force, for
 * its tokens and floors. The next commit counts from the time of @s on. No preemption begins, so no
 * token is taken. The caller then calls kfd_prio_decided().
 *
 * Context: DQM lock
 */
void kfd_prio_commit_nothing(struct device_queue_manager *dqm, const struct kfd_prio_step *s)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	kfd_prio_policy_commit(&d->policy, &s->k, s->dec.level, kfd_prio_lowest_victim(d), false,
			       s->now);
}

/**
 * kfd_prio_ended() - trace the end of a preemption, if one has ended
 * @dqm: device queue manager of the GPU
 * @end: the preemption, from kfd_prio_commit()
 * @m: the changes of the marks by which it ended
 * @ret: result of the update of the hardware
 *
 * Context: DQM lock
 */
void kfd_prio_ended(struct device_queue_manager *dqm, const struct kfd_prio_end *end,
		    const struct kfd_prio_marked *m, int ret)
{
	if (end->begun_at)
		trace_kfd_preempt_end(dqm, end->pid, end->level, end->seq, end->reason, m->restored,
				      m->on, ktime_get_ns() - end->begun_at, ret, end->save_ns);
}

/**
 * kfd_prio_changes() - whether a decision may change marks
 * @d: the GPU
 * @s: the decision
 *
 * It may if the level has changed, or the set of processes may have.
 *
 * Context: DQM lock
 */
bool kfd_prio_changes(const struct kfd_prio_dqm *d, const struct kfd_prio_step *s)
{
	return s->dec.level != d->policy.level || d->recheck;
}

/**
 * kfd_prio_mark_runlist() - mark which processes the next runlist has, by a decision
 * @dqm: device queue manager of the GPU, which has HWS; the caller sends the runlist in any case
 * @s: the decision, of kfd_prio_decide(), since which the DQM lock was held
 * @by_kfd: see kfd_prio_dqm_mark()
 *
 * A process that has rung since the decision is not taken into account;
 * kfd_prio_engine_mapping() is called later and decides again then.
 *
 * Context: DQM lock
 */
void kfd_prio_mark_runlist(struct device_queue_manager *dqm, struct kfd_prio_step *s, bool by_kfd)
{
	struct kfd_prio_end end = {};

	/* Parking costs nothing, because the runlist is sent in any case */
	dqm->prio.parking.free = true;
	if (kfd_prio_changes(&dqm->prio, s) || s->k.park_ns) {
		kfd_prio_commit(dqm, s, by_kfd, &end);
		kfd_prio_ended(dqm, &end, &s->m, 0);
	} else {
		kfd_prio_commit_nothing(dqm, s);
	}
	kfd_prio_decided(dqm, s);
}

/**
 * kfd_prio_prepare() - decide and mark which processes the next runlist has
 * @dqm: device queue manager of the GPU, which has HWS; the caller in KFD sends the runlist
 * @by_kfd: see kfd_prio_dqm_mark()
 *
 * The hook of a runlist calls this function. If no decision is possible now, no mark changes.
 *
 * Context: DQM lock
 */
void kfd_prio_prepare(struct device_queue_manager *dqm, bool by_kfd)
{
	struct kfd_prio_step s = { .by = KFD_PRIO_STEP_OBSERVED };

	if (kfd_prio_decide(dqm, &s))
		kfd_prio_mark_runlist(dqm, &s, by_kfd);
}
