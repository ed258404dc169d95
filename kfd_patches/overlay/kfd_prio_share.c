// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: shares on one GPU: which groups may run there now, and for how long they have run.
 *
 * kfd_prio_share_decide() is a part of each decision. It asks the limits which groups are closed,
 * and the turns which group has the GPU. The marks follow from both: kfd_prio_share_throttle().
 * After the update that follows, kfd_prio_share_settle() walks over the processes and charges each
 * group that runs; a group runs until the scheduler has confirmed that it is unmapped, and from
 * when it is mapped. The walk also finds which groups have work, so that they take part in turns.
 *
 * A process may have work from its ring until its trap is armed again. So a process that hides its
 * work in memory of its own is charged for more and not for less.
 *
 * If both groups of a process have a limit, it runs in the place of its cgroup's group, while the
 * other group has budget: the places of two groups need not meet.
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

	lockdep_assert_held(&dqm->lock_hidden);
	list_for_each_entry(cur, &dqm->queues, list)
		kfd_prio_share_detach(cur->qpd);
	kfd_prio_share_settle(dqm);
}

/* ---- decide ---- */

/* The group in whose turns a process runs; NULL: it is in no group with a weight */
static struct kfd_prio_account *kfd_prio_share_weighs(const struct qcm_process_device *qpd)
{
	struct kfd_prio_account *a;
	int i;

	for (i = 0; i < KFD_PRIO_GROUP_KINDS; i++) {
		a = qpd->prio.account[i];
		if (a && READ_ONCE(a->group->turn.weight))
			return a;
	}
	return NULL;
}

/* Whether a process runs in the place of its cgroup's group, and not in that of its own one */
static bool kfd_prio_share_nests(const struct qcm_process_device *qpd)
{
	const struct kfd_prio_account *outer = qpd->prio.account[KFD_PRIO_GROUP_CGROUP];

	return qpd->prio.account[KFD_PRIO_GROUP_OWN] && outer && outer->limited;
}

/* Whether a limit keeps a process off */
static bool kfd_prio_share_closed(const struct qcm_process_device *qpd)
{
	const struct kfd_prio_account *own = qpd->prio.account[KFD_PRIO_GROUP_OWN];
	const struct kfd_prio_account *outer = qpd->prio.account[KFD_PRIO_GROUP_CGROUP];

	if (outer && outer->closed)
		return true;
	return own && (kfd_prio_share_nests(qpd) ? own->spent : own->closed);
}

/*
 * Whether a process takes part in turns while a level is in force: claims of the level do, or,
 * without a level, all processes. The others are off.
 */
static bool kfd_prio_share_equal(const struct qcm_process_device *qpd, int level, int throttle)
{
	const struct kfd_prio_qpd *qp = &qpd->prio;

	if (level == KFD_PRIO_LEVEL_NONE && throttle == KFD_PRIO_LEVEL_NONE)
		return true;
	if (qp->role != KFD_PRIO_ROLE_CLAIM)
		return level == KFD_PRIO_LEVEL_NONE;
	return qp->claim.prio >= level &&
	       (throttle == KFD_PRIO_LEVEL_NONE || qp->claim.prio < throttle);
}

/**
 * kfd_prio_share_keeps_off() - whether a process is to be kept off a GPU by its groups
 * @qpd: the process on the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 * @throttle: throttle of the decision
 *
 * Context: DQM lock
 * Return: the reason; KFD_PRIO_THROTTLE_NONE if it may run
 */
enum kfd_prio_throttle kfd_prio_share_keeps_off(const struct qcm_process_device *qpd, int level,
						int throttle)
{
	const struct kfd_prio_dqm *d = &qpd->dqm->prio;
	const struct kfd_prio_account *a;

	if (kfd_prio_share_closed(qpd))
		return KFD_PRIO_THROTTLE_MAX;
	if (!d->takes_turns || !kfd_prio_share_equal(qpd, level, throttle))
		return KFD_PRIO_THROTTLE_NONE;
	a = kfd_prio_share_weighs(qpd);
	return d->turn == (a ? &a->group->turn : NULL) ? KFD_PRIO_THROTTLE_NONE :
							 KFD_PRIO_THROTTLE_WEIGHT;
}

/* Finds out which groups are closed on a GPU. Returns when that changes. Share lock */
static u64 kfd_prio_share_limits(struct kfd_prio_dqm *d, bool enabled, u64 now)
{
	struct kfd_prio_account *a;
	u64 at = KFD_PRIO_NEVER;

	list_for_each_entry(a, &d->accounts, link) {
		struct kfd_prio_quota *q = &a->group->quota;
		bool closed, spent, holds;

		kfd_prio_quota_count(q, a->group->running, now);
		holds = enabled && (!q->soft || d->share_works > a->works);
		closed = holds && !kfd_prio_quota_open(q, now);
		spent = holds && q->spent;
		a->unenforced = !enabled;
		a->limited = enabled && kfd_prio_quota_limits(q);
		d->recheck |= closed != a->closed || spent != a->spent;
		a->closed = closed;
		a->spent = spent;
		/* Without work nothing has to be done when the place ends, and a ring decides */
		if (!enabled || !a->works)
			continue;
		at = min(at, kfd_prio_quota_change_at(q, now));
		if (a->nested)
			at = min(at, kfd_prio_quota_spent_at(q, now));
	}
	return at;
}

/* Finds out which group has its turn on a GPU. Returns when that changes. Share lock */
static u64 kfd_prio_share_turns(struct kfd_prio_node *n, struct kfd_prio_dqm *d,
				const struct kfd_prio_params *k, bool enabled, u64 now)
{
	struct kfd_prio_turn *turn = NULL;
	bool takes_turns;
	u64 at;
	int on;

	kfd_prio_turns_count(&n->turns, now);
	at = kfd_prio_turns_update(&n->turns, kfd_prio_node_switch_ns(n),
				   k->switch_pct ?: KFD_PRIO_TURN_COST_PCT, now);
	on = enabled ? kfd_prio_turns_on(&n->turns, d->slot) : -1;
	takes_turns = on >= 0;
	/* The processes without a group of their own have no struct kfd_prio_group */
	if (takes_turns && n->ring[on] != &n->others)
		turn = n->ring[on];
	if (takes_turns != d->takes_turns || turn != d->turn) {
		d->takes_turns = takes_turns;
		d->turn = turn;
		d->recheck = true;
	}
	return takes_turns ? at : KFD_PRIO_NEVER;
}

/**
 * kfd_prio_share_decide() - find out which groups may run on a GPU now
 * @dqm: device queue manager of the GPU
 * @k: module parameters as they apply to the GPU
 * @now: ktime_get_ns()
 *
 * Requests a new marking if that has changed.
 *
 * Context: DQM lock
 * Return: when to ask again, ktime_get_ns(); KFD_PRIO_NEVER: not before an event
 */
u64 kfd_prio_share_decide(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			  u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_node *n;
	bool enabled;
	u64 at;

	lockdep_assert_held(&dqm->lock_hidden);
	if (d->slot < 0 || (list_empty(&d->accounts) && !d->takes_turns))
		return KFD_PRIO_NEVER;
	/* Without CWSR an unmap would wait until all waves end, as kfd_prio_role_of() states */
	enabled = k->enabled && dqm->sched_policy != KFD_SCHED_POLICY_NO_HWS &&
		  kfd_prio_has_cwsr(dqm);
	n = kfd_prio_share_lock();
	if (n->switch_ns[d->slot] != 2 * d->save_recent_ns) {
		n->switch_ns[d->slot] = 2 * d->save_recent_ns;
		kfd_prio_group_periods(n, now);
	}
	at = kfd_prio_share_limits(d, enabled, now);
	at = min(at, kfd_prio_share_turns(n, d, k, enabled, now));
	kfd_prio_share_unlock();
	return at;
}

/* ---- settle ---- */

/* Counts one process for its groups */
static void kfd_prio_share_walk(struct qcm_process_device *qpd, u32 *others)
{
	struct kfd_prio_dqm *d = &qpd->dqm->prio;
	struct kfd_prio_account *a;
	int i;

	/* Also if it cannot be taken off, for example because a debugger has a queue in it */
	if (kfd_prio_seems_idle(qpd) || qpd->evicted > qpd->prio.preempted)
		return;
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
	if (!kfd_prio_may_be_victim(qpd) || kfd_prio_share_closed(qpd) ||
	    !kfd_prio_share_equal(qpd, d->policy.level, d->throttle))
		return;
	a = kfd_prio_share_weighs(qpd);
	if (a)
		a->turns++;
	else
		++*others;
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
 * Does nothing unless kfd_prio_dqm.share_due.
 * If the groups that take turns have changed, the function kicks the threads of all GPUs.
 *
 * Context: DQM lock; the hardware agrees with the marks
 */
void kfd_prio_share_settle(struct device_queue_manager *dqm)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct device_process_node *cur;
	struct kfd_prio_account *a;
	struct kfd_prio_node *n;
	u64 now, bit, gpus;
	bool changed = false;
	u32 others = 0;

	lockdep_assert_held(&dqm->lock_hidden);
	if (!d->share_due || d->slot < 0)
		return;
	d->share_due = false;
	now = ktime_get_ns();
	bit = BIT_ULL(d->slot);
	n = kfd_prio_share_lock();
	kfd_prio_share_divide(d, now);
	d->share_works = 0;
	d->share_runs = 0;
	list_for_each_entry(a, &d->accounts, link) {
		a->works = 0;
		a->nested = 0;
		a->turns = 0;
		a->runs = 0;
	}
	if (!list_empty(&d->accounts))
		list_for_each_entry(cur, &dqm->queues, list)
			kfd_prio_share_walk(cur->qpd, &others);
	kfd_prio_turns_count(&n->turns, now);
	list_for_each_entry(a, &d->accounts, link) {
		kfd_prio_share_charge(a, now);
		gpus = a->turns ? a->group->turn.gpus | bit : a->group->turn.gpus & ~bit;
		changed |= gpus != a->group->turn.gpus;
		a->group->turn.gpus = gpus;
	}
	gpus = others ? n->others.gpus | bit : n->others.gpus & ~bit;
	changed |= gpus != n->others.gpus;
	n->others.gpus = gpus;
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
