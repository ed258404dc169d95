// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the steps of the engine, which apply the decisions of kfd_prio_commit.c to one GPU, and
 * the functions that the hooks call in the path of an unmap and of a runlist.
 *
 * A step (kfd_prio_engine_step()) runs under the DQM lock of the GPU
 * - in the fault of a doorbell, if the lock is free and the GPU has HWS, which is the fastest way;
 * - in the GPU's thread, after it has observed the claims. The thread is woken by its timer, by a
 *   ring that found the lock taken or whose unmap outlasts KFD_PRIO_FAULT_WAIT_NS, and by every
 *   change of processes or priorities.
 *
 * With HWS a step has its runlist built as KFD builds its own. KFD unmaps all queues, and before it
 * maps them again it calls kfd_prio_engine_mapping(), which decides again which processes the
 * runlist has. So the runlist takes a ring during the unmap into account, and an operation of KFD
 * that sends a runlist takes processes off and puts them back as well. kfd_prio_engine_unmap_sent()
 * marks by the decision of a step earlier, while the GPU still saves waves. Both functions mark;
 * only a step has an update sent. Each of these functions is an event for the table of
 * kfd_prio_state.c.
 *
 * Locks, outer first: kfd_prio_gpu_mutex (the list of GPUs, threads), the DQM lock. The fault holds
 * mmap_lock or a VMA lock and must not wait for the DQM lock, which it takes by trylock only. The
 * thread drops the DQM lock to read indices (user memory) and to unmap doorbells (i_mmap_rwsem).
 */
#include <linux/sched/mm.h>
#include "kfd_prio_engine.h"
#include "kfd_prio_share.h"

static bool kfd_prio_dqm_trylock(struct device_queue_manager *dqm)
{
	if (!mutex_trylock(&dqm->lock_hidden))
		return false;
	dqm->saved_flags = memalloc_noreclaim_save();
	return true;
}

/* ---- a step ---- */

/*
 * Updates MES: first has MES remove the queues that are marked as off, which makes room for the
 * queues that are added then. A queue that MES has not removed may run, so the event NOT_REMOVED
 * marks its process as on again. With amdgpu.gpu_recovery=0, KFD of Linux 7.3 and later requests no
 * reset then, so the breaker is opened here.
 */
static int kfd_prio_send_mes(struct device_queue_manager *dqm)
{
	int off, on;

	off = kfd_prio_dqm_remove(dqm);
	if (off && off != -EIO)
		kfd_prio_breaker_trip(dqm, KFD_PRIO_BREAKER_UNMAP);
	kfd_prio_engine_event(dqm, off ? KFD_PRIO_EVENT_NOT_REMOVED : KFD_PRIO_EVENT_REMOVED);
	/* -EIO: MES was not asked, and may accept commands by now */
	on = kfd_prio_dqm_add(dqm, off == -EIO ? 0 : off);
	return off ?: on;
}

/*
 * Sends the update. MES removes and adds one queue after the other, which may take longer than
 * linger_us, so that time does not count for any claim. For HWS kfd_prio_runlist_sent() does this.
 * @takes: see kfd_prio_dqm_runlist()
 *
 * Return: 0; -EIO if the GPU is being reset or memory for the runlist is short; -ETIME if the
 *	scheduler does not answer; -EINPROGRESS in the fault of a doorbell, if the unmap was not
 *	confirmed in time: the thread completes the update; -EAGAIN if a process has rung before MES
 *	was asked to add all queues: the thread decides again at once
 */
static int kfd_prio_send(struct device_queue_manager *dqm, bool takes)
{
	u64 start = ktime_get_ns();
	int ret;

	if (kfd_prio_uses_mes(dqm)) {
		ret = kfd_prio_send_mes(dqm);
		kfd_prio_claim_skip(dqm, start);
	} else {
		ret = kfd_prio_dqm_runlist(dqm, takes);
	}
	dqm->prio.totals.update_ns += ktime_get_ns() - start;
	if (ret == -EAGAIN && kfd_prio_uses_mes(dqm))
		kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_INTERRUPTED);
	else
		kfd_prio_engine_event(dqm, ret ? KFD_PRIO_EVENT_FAILED : KFD_PRIO_EVENT_DONE);
	return ret;
}

/*
 * Sends the unmap before any queue is marked. The walk over all queues then runs while the GPU
 * saves waves, and a ring does not wait for it. kfd_prio_engine_unmap_sent() marks.
 */
static void kfd_prio_unmap_first(struct device_queue_manager *dqm)
{
	kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_CHOOSE);
	kfd_prio_send(dqm, true);
}

/* Marks, and sends an update if a mark has changed, or if one is due in any case (@owes) */
static void kfd_prio_mark_first(struct device_queue_manager *dqm, struct kfd_prio_step *s,
				bool owes)
{
	struct kfd_prio_end end = {};
	int ret = 0;

	if (!(kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_MARK) & KFD_PRIO_ACT_MARK))
		return;
	kfd_prio_commit(dqm, s, false, &end);
	if (s->m.off || s->m.on || owes)
		ret = kfd_prio_send(dqm, s->m.off && s->m.preempted);
	else
		kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_KEEP);
	kfd_prio_ended(dqm, &end, &s->m, ret);
	if (!ret)
		kfd_prio_park_report(dqm);
	kfd_prio_decided(dqm, s);
}

/*
 * Requests a new marking if a process is to be parked, or to be parked no more. The update that
 * follows may serve no other purpose.
 */
static void kfd_prio_park_check(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (!d->parking.after_ns && !d->parked)
		return;
	d->parking.free |= kfd_prio_park_idle(dqm);
	d->recheck |= kfd_prio_park_due(dqm);
}

/*
 * Requests a new marking if claims without work are to make room for the level. The update that
 * follows may serve no other purpose.
 */
static void kfd_prio_room_check(struct device_queue_manager *dqm, int level)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (d->parking.room && level != KFD_PRIO_LEVEL_NONE && !d->recheck)
		d->recheck = kfd_prio_runlist_marks(dqm, level);
}

/*
 * Waits for the unmap that a fault has left, before the step decides. If HWS does not answer, the
 * function has KFD reset the GPU at once: KFD would find the hang only after another full wait.
 */
static void kfd_prio_settle(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;

	if (d->state != KFD_PRIO_STATE_LEFT || !dqm->sched_running)
		return;
	if (!kfd_prio_engine_settle(dqm))
		return;
	kfd_prio_dqm_hang(dqm);
	kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_FAILED);
}

/*
 * Decides, and then does one of three things. If the level rises and a queue must leave the GPU
 * (HWS): sends the unmap, and marks while the GPU saves. If the marks may change, or an update is
 * due: marks, and sends an update if needed. Otherwise: commits the decision alone.
 */
static void kfd_prio_step(struct device_queue_manager *dqm, struct kfd_prio_step *s)
{
	bool in_fault = s->by == KFD_PRIO_STEP_FAULT, owes, rises;
	struct kfd_prio_dqm *d = &dqm->prio;

	if (!in_fault)
		kfd_prio_settle(dqm);
	if (!kfd_prio_decide(dqm, s))
		return;
	owes = kfd_prio_state_owes(d->state);
	if (in_fault && (s->dec.level < d->policy.level || owes)) {
		/* The fault need not wait for a lower level or a retry, which may take long */
		kfd_prio_gpu_kick(dqm);
		return;
	}
	if (s->by == KFD_PRIO_STEP_OBSERVED) {
		kfd_prio_park_check(dqm);
		kfd_prio_room_check(dqm, s->dec.level);
	}
	rises = s->dec.level > d->policy.level || (in_fault && d->recheck);
	if (rises && !owes && !kfd_prio_uses_mes(dqm) &&
	    kfd_prio_runlist_marks(dqm, s->dec.level)) {
		kfd_prio_unmap_first(dqm);
	} else if (kfd_prio_changes(d, s) || owes) {
		kfd_prio_mark_first(dqm, s, owes);
	} else {
		kfd_prio_commit_nothing(dqm, s);
		kfd_prio_decided(dqm, s);
	}
}

/* Charges the groups for what runs now, unless an update is still to come */
static void kfd_prio_engine_settled(struct device_queue_manager *dqm)
{
	if (static_branch_unlikely(&kfd_prio_shares_in_use.key) &&
	    dqm->prio.state == KFD_PRIO_STATE_COMMITTED)
		kfd_prio_share_settle(dqm);
}

/**
 * kfd_prio_engine_charge() - KFD has evicted or restored a process: charge the groups anew
 * @dqm: device queue manager of the GPU
 *
 * Context: DQM lock
 */
void kfd_prio_engine_charge(struct device_queue_manager *dqm)
{
	dqm->prio.share_due = true;
	if (!dqm->prio.step)
		kfd_prio_engine_settled(dqm);
}

/**
 * kfd_prio_engine_step() - decide the level of a GPU and apply the decision, once
 * @dqm: device queue manager of the GPU
 * @by: the caller
 *
 * A step uses the last observation of each process, and counts a ring since then as work. If the
 * marks change, the step sends one update and waits for its unmap. If the update fails, the thread
 * tries again.
 *
 * In a fault the step does not send an update that lowers the level, nor a retry; it kicks the
 * thread for these. Only a step with KFD_PRIO_STEP_OBSERVED sends an update just to park processes,
 * or just to make room for the level. If an event came that the state does not expect, the step
 * runs once more.
 *
 * Context: DQM lock; waits for the unmap, in a fault for KFD_PRIO_FAULT_WAIT_NS at most
 */
void kfd_prio_engine_step(struct device_queue_manager *dqm, enum kfd_prio_step_by by)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_step s;
	int tries = 2;

	lockdep_assert_held(&dqm->lock_hidden);
	do {
		s = (struct kfd_prio_step) { .by = by };
		d->step = &s;
		kfd_prio_step(dqm, &s);
		d->step = NULL;
	} while (s.unexpected && --tries);
	kfd_prio_engine_settled(dqm);
}

/*
 *---- callers of the engine ----
 */

/**
 * kfd_prio_engine_rung() - a process has rung a trapped doorbell
 * @pdd: the process on a GPU; its trap is KFD_PRIO_TRAP_RUNG now
 *
 * For a claim the function runs a step, or kicks the thread if the DQM lock is taken or the GPU has
 * MES. MES removes one queue after the other, and the queue that rings stays mapped, so its process
 * need not wait for that. For a neighbour the function kicks the thread, unless the neighbour is on
 * the GPU and no level would take it off. The fault of a neighbour does not take the DQM lock: it
 * might lose the CPU to other processes of low priority, and claims and the thread would wait.
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
 * kfd_prio_engine_settle() - wait for the end of the unmap that a fault has left
 * @dqm: device queue manager of the GPU, whose state is KFD_PRIO_STATE_LEFT
 *
 * Two unmaps must not be in progress at once, because they share the fence.
 *
 * Context: DQM lock; waits as KFD does
 * Return: 0 if no unmap is in progress any more; -ETIME if HWS has not confirmed it in time
 */
int kfd_prio_engine_settle(struct device_queue_manager *dqm)
{
	int ret;

	if (!dqm->active_runlist) {
		kfd_prio_unmap_done(dqm, -EIO);
		kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_RESET);
		return 0;
	}
	ret = kfd_prio_unmap_settle(dqm);
	kfd_prio_engine_event(dqm, ret ? KFD_PRIO_EVENT_EXPIRED : KFD_PRIO_EVENT_SETTLED);
	return ret;
}

/**
 * kfd_prio_engine_unmap() - KFD is about to ask HWS to unmap queues, for itself or for a step
 * @dqm: device queue manager of the GPU
 *
 * Context: DQM lock; first waits for an unmap that a fault has left
 */
void kfd_prio_engine_unmap(struct device_queue_manager *dqm)
{
	if (dqm->prio.state == KFD_PRIO_STATE_LEFT)
		kfd_prio_engine_settle(dqm);
	kfd_prio_runlist_unmap(dqm);
}

/**
 * kfd_prio_engine_unmap_sent() - an unmap of all queues of a GPU was sent, or could not be sent
 * @dqm: device queue manager of the GPU
 * @ret: 0, or the error: HWS unmaps nothing
 *
 * If a step has sent the unmap before it has marked (KFD_PRIO_STATE_CHOSEN), the function marks by
 * the decision of the step, while the GPU saves waves. What has rung since then is found later, by
 * kfd_prio_engine_mapping().
 *
 * Context: DQM lock
 */
void kfd_prio_engine_unmap_sent(struct device_queue_manager *dqm, int ret)
{
	if (ret) {
		kfd_prio_unmap_done(dqm, ret);
		kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_REFUSED);
	} else if (kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_SENT) & KFD_PRIO_ACT_MARK) {
		kfd_prio_mark_runlist(dqm, dqm->prio.step, false);
	}
}

/**
 * kfd_prio_engine_unmap_wait() - KFD is about to wait for the unmap that was sent
 * @dqm: device queue manager of the GPU
 * @ret: out: the result of KFD's function if this one returns true
 *
 * If HWS has not confirmed the previous unmap in its full time (KFD_PRIO_STATE_LOST), KFD does not
 * wait for this one. If a step has taken processes with work off, the function first sleeps
 * (kfd_prio_unmap_sleep()). In the fault of a doorbell it then waits itself, until
 * KFD_PRIO_FAULT_WAIT_NS after the unmap was sent.
 *
 * Context: DQM lock
 * Return: true if KFD shall return *@ret at once: -ETIME, or -EINPROGRESS if the fault does not
 *	wait any longer for the unmap. False if KFD shall wait as usual; HWS may have written the
 *	fence already
 */
bool kfd_prio_engine_unmap_wait(struct device_queue_manager *dqm, int *ret)
{
	const struct kfd_prio_step *step = dqm->prio.step;

	dqm->prio.unmap_sent = ktime_get_ns();
	if (dqm->prio.state == KFD_PRIO_STATE_LOST) {
		kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_TIMED_OUT);
		/* KFD has not waited, and so has not found the hang */
		kfd_prio_dqm_hang(dqm);
		*ret = -ETIME;
		return true;
	}
	if (step && step->saves)
		kfd_prio_unmap_sleep(dqm);
	if (!step || step->by != KFD_PRIO_STEP_FAULT || kfd_prio_unmap_wait(dqm))
		return false;
	kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_LEAVE);
	*ret = -EINPROGRESS;
	return true;
}

/**
 * kfd_prio_engine_unmap_done() - HWS or MES has confirmed an unmap, or the unmap has failed
 * @dqm: device queue manager of the GPU
 * @ret: 0, or the error
 *
 * With HWS this is an event for the state of the GPU. With MES it concerns one queue, and
 * kfd_prio_send_mes() reports the event when all queues were removed.
 *
 * Context: DQM lock
 */
void kfd_prio_engine_unmap_done(struct device_queue_manager *dqm, int ret)
{
	kfd_prio_unmap_done(dqm, ret);
	if (!kfd_prio_uses_mes(dqm))
		kfd_prio_engine_event(dqm, ret ? KFD_PRIO_EVENT_TIMED_OUT :
						 KFD_PRIO_EVENT_CONFIRMED);
}

/*
 * Whether the engine is to mark again before the runlist of a step is sent: a process has rung
 * since the step has marked, or no process that has rung waits for the runlist
 */
static bool kfd_prio_marks_again(struct device_queue_manager *dqm)
{
	const struct kfd_prio_step *step = dqm->prio.step;

	return (step && step->by == KFD_PRIO_STEP_OBSERVED) || kfd_prio_claim_rings(dqm) ||
	       atomic_read(&dqm->prio.neighbour_rung);
}

static bool kfd_prio_may_mark(struct device_queue_manager *dqm)
{
	const struct kfd_prio_dqm *d = &dqm->prio;

	return d->nr_off || !list_empty(&d->claims) || !list_empty(&d->accounts) ||
	       kfd_prio_park_ns(dqm) || d->policy.level != KFD_PRIO_LEVEL_NONE;
}

/**
 * kfd_prio_engine_mapping() - KFD is about to send a runlist, for itself or for a step
 * @dqm: device queue manager of the GPU
 *
 * Decides and marks which processes the runlist has, unless a step has marked already and no
 * process has rung since. Does nothing if KFD will send no runlist, because one is in force or the
 * scheduler does not run, and on MES.
 *
 * Context: DQM lock
 */
void kfd_prio_engine_mapping(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u8 act;

	if (d->state == KFD_PRIO_STATE_OFF || dqm->active_runlist || kfd_prio_uses_mes(dqm) ||
	    !kfd_prio_sched_runs(dqm))
		return;
	/* KFD sends no runlist before all queues are unmapped, so a reset has ended the unmap */
	if (d->state == KFD_PRIO_STATE_LEFT)
		kfd_prio_engine_settle(dqm);
	act = kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_PREPARE);
	if (((act & KFD_PRIO_ACT_AGAIN && kfd_prio_marks_again(dqm)) ||
	     act & KFD_PRIO_ACT_MARK) && kfd_prio_may_mark(dqm))
		kfd_prio_prepare(dqm, true);
	if (dqm->active_queue_count && dqm->processes_count)
		return;
	/*
	 * No queue has run since the unmap, and none can run before the next runlist, which may be
	 * sent much later. So the time until then counts for the claims (kfd_prio_claim_skip()).
	 */
	d->unmapped_at = 0;
	kfd_prio_engine_event(dqm, KFD_PRIO_EVENT_EMPTY);
}

/**
 * kfd_prio_engine_mapped() - a runlist, of a step or of KFD, was sent or has failed
 * @dqm: device queue manager of the GPU
 * @ret: 0, or the error
 *
 * A runlist that was sent has exactly the queues that are marked as on. After a failed one no queue
 * of the GPU is mapped, including those of the process that preempts, and the caller in KFD does
 * not try again. So the engine arranges a retry.
 *
 * Context: DQM lock
 */
void kfd_prio_engine_mapped(struct device_queue_manager *dqm, int ret)
{
	lockdep_assert_held(&dqm->lock_hidden);
	kfd_prio_engine_event(dqm, ret ? KFD_PRIO_EVENT_NOT_MAPPED : KFD_PRIO_EVENT_MAPPED);
	if (!ret)
		kfd_prio_park_report(dqm);
	if (!dqm->prio.step)
		kfd_prio_engine_settled(dqm);
}
