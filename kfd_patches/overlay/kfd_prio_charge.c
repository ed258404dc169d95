// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: shares on one GPU: accounts of groups, and the time that they are charged for.
 *
 * After each update of the hardware kfd_prio_share_settle() walks over the processes and charges
 * each group that runs; a group runs until the scheduler has confirmed that it is unmapped, and
 * from when it is mapped. The walk also finds which groups have work, so that they take part in
 * turns.
 *
 * A process may have work from its ring until its trap is armed again. So a process that hides its
 * work in memory of its own is charged for more and not for less. Its waves are counted also while
 * the trap is armed, see kfd_prio_neighbour_read().
 *
 * A GPU without a process that is in a group has an empty list of accounts, and does nothing.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_role.h"
#include "kfd_prio_group.h"
#include "kfd_prio_share.h"
#include "kfd_prio_events.h"

/* ---- the groups of a process ---- */

static void kfd_prio_account_use(struct device_queue_manager *dqm, struct kfd_prio_account *a)
{
	if (a->users++)
		return;
	kref_get(&a->group->ref);
	list_add_tail(&a->link, &dqm->prio.accounts);
	a->works = 0;
	a->nested = 0;
	a->turns = 0;
	a->runs = 0;
	a->closed = false;
	a->spent = false;
	a->limited = false;
}

/* Ends the use of an account. Its group runs there no more. */
static void kfd_prio_account_end(struct kfd_prio_account *a, u32 slot, u64 now)
{
	struct kfd_prio_node *n = kfd_prio_share_lock();
	struct kfd_prio_group *g = a->group;

	kfd_prio_turns_count(&n->turns, now);
	g->turn.gpus &= ~BIT_ULL(slot);
	if (a->running) {
		g->running--;
		kfd_prio_quota_count(&g->quota, g->running, now);
	}
	a->running = false;
	kfd_prio_share_unlock();
	list_del(&a->link);
	kfd_prio_group_put(g);
}

/**
 * kfd_prio_share_attach() - charge a process on a GPU to its groups
 * @qpd: the process on the GPU, which has a queue, or is about to have its first one
 *
 * Context: DQM lock
 */
void kfd_prio_share_attach(struct qcm_process_device *qpd)
{
	struct device_queue_manager *dqm = qpd->dqm;
	struct kfd_prio_group *g;
	int i;

	lockdep_assert_held(&dqm->lock_hidden);
	if (dqm->prio.slot < 0)
		return;
	for (i = 0; i < KFD_PRIO_GROUP_KINDS; i++) {
		/* The process has a reference until kfd_prio_share_join() has changed all GPUs */
		g = READ_ONCE(qpd->pqm->process->prio.group[i]);
		if (!g || qpd->prio.account[i])
			continue;
		qpd->prio.account[i] = &g->on[dqm->prio.slot];
		kfd_prio_account_use(dqm, qpd->prio.account[i]);
		dqm->prio.share_due = true;
		dqm->prio.recheck = true;
	}
}

/**
 * kfd_prio_share_detach() - charge a process on a GPU to no group any more
 * @qpd: the process on the GPU
 *
 * A process that is throttled is so no more; the next decision puts it back.
 *
 * Context: DQM lock
 */
void kfd_prio_share_detach(struct qcm_process_device *qpd)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;
	struct kfd_prio_account *a;
	int i;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	for (i = 0; i < KFD_PRIO_GROUP_KINDS; i++) {
		a = qpd->prio.account[i];
		if (!a)
			continue;
		kfd_prio_share_throttled(qpd, KFD_PRIO_THROTTLE_NONE, ktime_get_ns());
		qpd->prio.account[i] = NULL;
		d->share_due = true;
		d->recheck = true;
		if (!--a->users)
			kfd_prio_account_end(a, d->slot, ktime_get_ns());
	}
}

/**
 * kfd_prio_share_gone() - a GPU is removed: no group runs there any more
 * @dqm: device queue manager of the GPU
 *
 * Context: DQM lock
 */
void kfd_prio_share_gone(struct device_queue_manager *dqm)
{
	struct device_process_node *cur;
	struct kfd_prio_node *n;

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list)
		kfd_prio_share_detach(cur->qpd);
	kfd_prio_share_settle(dqm);
	if (dqm->prio.slot < 0)
		return;
	n = kfd_prio_share_lock();
	n->turns.held &= ~BIT_ULL(dqm->prio.slot);
	kfd_prio_share_unlock();
}

/**
 * kfd_prio_share_unrung() - whether work of the groups of a process was found on a GPU that no ring
 * announced
 * @qpd: the process on the GPU
 *
 * Context: DQM lock
 */
bool kfd_prio_share_unrung(const struct qcm_process_device *qpd)
{
	int i;

	for (i = 0; i < KFD_PRIO_GROUP_KINDS; i++)
		if (qpd->prio.account[i] && qpd->prio.account[i]->unrung)
			return true;
	return false;
}

/**
 * kfd_prio_share_observed() - record for the groups of a process what an observation of it found
 * @qpd: the process on a GPU
 * @armed: its doorbells were trapped when the observation began
 * @waves: waves of it were counted
 * @works: it has work, or may have some
 *
 * A process without work, whose doorbells are trapped, has work again when a CPU rings, and the
 * ring changes the state of the trap. If waves are counted and the state has not changed, the
 * process hides its work, or a GPU has rung. Such a process would have the time between two counts
 * for nothing, again and again. So from then on each process of its groups counts as having work
 * while it is on the GPU, until it was taken off and its MQDs show that it has none. Others of the
 * group count too, because the group may have many processes, and new ones.
 *
 * Context: DQM lock
 */
void kfd_prio_share_observed(struct qcm_process_device *qpd, bool armed, bool waves, bool works)
{
	bool unrung = armed && waves && qpd->prio.share.quiet && kfd_prio_trap_armed(&qpd->prio);
	struct kfd_prio_dqm *d = &qpd->dqm->prio;
	int i;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	qpd->prio.share.quiet = armed && !works;
	for (i = 0; unrung && i < KFD_PRIO_GROUP_KINDS; i++) {
		if (!qpd->prio.account[i] || qpd->prio.account[i]->unrung)
			continue;
		qpd->prio.account[i]->unrung = true;
		d->share_due = true;
		d->recheck = true;
	}
}

/* ---- time ---- */

/*
 * Counts one process with work for its groups, also if it cannot be taken off, for example because
 * a debugger has a queue in it
 */
static void kfd_prio_share_walk(struct qcm_process_device *qpd)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;
	struct kfd_prio_account *a;
	int i;

	d->share_works++;
	d->share_runs += !qpd->prio.preempted;
	for (i = 0; i < KFD_PRIO_GROUP_KINDS; i++) {
		a = qpd->prio.account[i];
		if (!a)
			continue;
		a->works++;
		a->runs += !qpd->prio.preempted;
	}
	if (kfd_prio_share_nests(qpd))
		qpd->prio.account[KFD_PRIO_GROUP_OWN]->nested++;
}

/* Charges a group that has begun or ended to run. Share lock */
static void kfd_prio_share_charge(struct kfd_prio_account *a, u64 now)
{
	struct kfd_prio_group *g = a->group;
	bool runs = a->runs;

	if (runs == a->running)
		return;
	a->running = runs;
	g->running += runs ? 1 : -1;
	kfd_prio_quota_count(&g->quota, g->running, now);
}

/*
 * Divides the time since the last walk among the processes that have run, as of that walk. Share
 * lock
 */
static void kfd_prio_share_divide(struct kfd_prio_dqm *d, u64 now)
{
	struct kfd_prio_account *a;
	u64 ns = now - d->shared_at;

	d->shared_at = now;
	if (!d->share_runs)
		return;
	list_for_each_entry(a, &d->accounts, link)
		a->shared_ns += div_u64(ns * a->runs, d->share_runs);
}

/**
 * kfd_prio_share_settle() - find out which groups run on a GPU, after an update of the hardware
 * @dqm: device queue manager of the GPU
 *
 * Does nothing unless kfd_prio_dqm.share_due. If the groups that take turns have changed, the
 * function kicks the threads of all GPUs.
 *
 * Context: DQM lock; the hardware agrees with the marks
 */
void kfd_prio_share_settle(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct device_process_node *cur;
	struct kfd_prio_account *a;
	struct kfd_prio_node *n;
	bool changed;
	u64 now;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!d->share_due || d->slot < 0)
		return;
	d->share_due = false;
	now = ktime_get_ns();
	n = kfd_prio_share_lock();
	kfd_prio_share_divide(d, now);
	d->share_works = 0;
	d->share_runs = 0;
	list_for_each_entry(a, &d->accounts, link) {
		a->works = 0;
		a->nested = 0;
		a->runs = 0;
	}
	if (!list_empty(&d->accounts))
		list_for_each_entry(cur, &dqm->queues, list)
			if (kfd_prio_share_works(cur->qpd))
				kfd_prio_share_walk(cur->qpd);
	list_for_each_entry(a, &d->accounts, link)
		kfd_prio_share_charge(a, now);
	changed = kfd_prio_share_part(dqm, n, d->policy.level, d->throttle, now);
	kfd_prio_share_unlock();
	/* The turns of all GPUs may change */
	if (changed)
		kfd_prio_gpu_kick_all();
}

static u64 kfd_prio_account_id(const struct qcm_process_device *qpd, enum kfd_prio_group_kind kind)
{
	const struct kfd_prio_account *a = qpd->prio.account[kind];

	return a ? a->group->id : 0;
}

/**
 * kfd_prio_share_throttled() - record and trace that a process is throttled, or is so no more
 * @qpd: the process on a GPU
 * @why: the reason; KFD_PRIO_THROTTLE_NONE: it is not
 * @now: ktime_get_ns()
 *
 * Context: DQM lock
 */
void kfd_prio_share_throttled(struct qcm_process_device *qpd, enum kfd_prio_throttle why, u64 now)
{
	struct kfd_prio_totals *totals = &qpd->dqm->prio.totals;
	struct kfd_prio_qpd_share *s = &qpd->prio.share;
	struct kfd_prio_account *a;
	int i;

	lockdep_assert_held(&qpd->dqm->lock_hidden);
	if (s->throttle == why)
		return;
	if (s->throttle != KFD_PRIO_THROTTLE_NONE) {
		s->ns += now - s->at;
		totals->throttled_ns += now - s->at;
		trace_kfd_throttle_end(qpd, s->throttle, now - s->at);
	}
	for (i = 0; i < KFD_PRIO_GROUP_KINDS; i++) {
		a = qpd->prio.account[i];
		if (!a)
			continue;
		if (s->throttle == KFD_PRIO_THROTTLE_NONE && !a->throttled++) {
			a->throttled_at = now;
			a->throttled_count++;
		} else if (why == KFD_PRIO_THROTTLE_NONE && !--a->throttled) {
			a->throttled_ns += now - a->throttled_at;
		}
	}
	s->throttle = why;
	if (why == KFD_PRIO_THROTTLE_NONE)
		return;
	s->at = now;
	s->count++;
	totals->throttled_count++;
	s->seq = ++qpd->dqm->prio.throttle_seq;
	trace_kfd_throttle_begin(qpd, why, kfd_prio_account_id(qpd, KFD_PRIO_GROUP_OWN),
				 kfd_prio_account_id(qpd, KFD_PRIO_GROUP_CGROUP));
}
