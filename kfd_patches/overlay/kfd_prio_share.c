// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: shares on one GPU: which groups may run there now.
 *
 * kfd_prio_share_decide() and kfd_prio_share_turn() are parts of each decision. The first one asks
 * the limits which groups are closed, before the policy decides: a claim of a closed group holds no
 * level. The second one finds out which group has its turn, among the processes that the level
 * leaves. The marks follow from both: kfd_prio_share_throttle(). After the update that follows,
 * kfd_prio_share_settle() charges the groups that run (kfd_prio_charge.c).
 *
 * If both groups of a process have a limit, it runs in the place of its cgroup's group, while the
 * other group has budget: the places of two groups need not meet.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_role.h"
#include "kfd_prio_group.h"
#include "kfd_prio_share.h"

/* ---- limits ---- */

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

/* Whether limits and weights hold on a GPU */
static bool kfd_prio_share_enabled(struct device_queue_manager *dqm,
				   const struct kfd_prio_params *k)
{
	/* Without CWSR an unmap would wait until all waves end, as kfd_prio_role_of() states */
	return k->enabled && dqm->sched_policy != KFD_SCHED_POLICY_NO_HWS &&
	       kfd_prio_has_cwsr(dqm);
}

/* Whether no process on a GPU is in a group, and none was until now */
static bool kfd_prio_share_unused(const struct kfd_prio_dqm *d)
{
	return d->slot < 0 || (list_empty(&d->accounts) && !d->takes_turns);
}

/**
 * kfd_prio_share_decide() - find out which groups their limits permit to run on a GPU now
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
	u64 at, switch_ns;

	lockdep_assert_held(&dqm->lock_hidden);
	if (kfd_prio_share_unused(d))
		return KFD_PRIO_NEVER;
	switch_ns = kfd_prio_switch_ns(d->save_recent_ns);
	n = kfd_prio_share_lock();
	n->switch_ns[d->slot] = switch_ns;
	if (now >= n->used_at + KFD_PRIO_QUOTA_USED_NS)
		kfd_prio_group_periods(n, now);
	at = kfd_prio_share_limits(d, kfd_prio_share_enabled(dqm, k), now);
	kfd_prio_share_unlock();
	return at;
}

/* ---- turns ---- */

/**
 * kfd_prio_share_part() - find out which groups take turns on a GPU while a level is in force
 * @dqm: device queue manager of the GPU
 * @n: the node
 * @level: KFD_PRIO_LEVEL_NONE or 0..15
 * @throttle: throttle of the decision
 * @now: ktime_get_ns()
 *
 * Context: DQM lock and share lock
 * Return: whether they are others than before
 */
bool kfd_prio_share_part(struct device_queue_manager *dqm, struct kfd_prio_node *n, int level,
			 int throttle, u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	u64 bit = BIT_ULL(d->slot), gpus;
	struct device_process_node *cur;
	struct kfd_prio_account *a;
	bool changed = false;
	u32 others = 0;

	list_for_each_entry(a, &d->accounts, link)
		a->turns = 0;
	if (!list_empty(&d->accounts))
		list_for_each_entry(cur, &dqm->queues, list) {
			if (!kfd_prio_share_works(cur->qpd) ||
			    !kfd_prio_may_be_victim(cur->qpd) || kfd_prio_share_closed(cur->qpd) ||
			    !kfd_prio_share_equal(cur->qpd, level, throttle))
				continue;
			a = kfd_prio_share_weighs(cur->qpd);
			if (a)
				a->turns++;
			else
				others++;
		}
	kfd_prio_turns_count(&n->turns, now);
	list_for_each_entry(a, &d->accounts, link) {
		gpus = a->turns ? a->group->turn.gpus | bit : a->group->turn.gpus & ~bit;
		changed |= gpus != a->group->turn.gpus;
		a->group->turn.gpus = gpus;
	}
	gpus = others ? n->others.gpus | bit : n->others.gpus & ~bit;
	changed |= gpus != n->others.gpus;
	n->others.gpus = gpus;
	gpus = level == KFD_PRIO_LEVEL_NONE ? n->turns.held & ~bit : n->turns.held | bit;
	changed |= gpus != n->turns.held;
	n->turns.held = gpus;
	d->turns_level = level;
	d->turns_throttle = throttle;
	return changed;
}

/* Finds out which group has its turn on a GPU. Returns when that changes. Share lock */
static u64 kfd_prio_share_next(struct kfd_prio_node *n, struct kfd_prio_dqm *d,
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
 * kfd_prio_share_turn() - find out which group has its turn on a GPU now
 * @dqm: device queue manager of the GPU
 * @k: module parameters as they apply to the GPU
 * @level: KFD_PRIO_LEVEL_NONE or 0..15, which the policy has decided
 * @throttle: throttle of that decision
 * @now: ktime_get_ns()
 *
 * The groups that take turns are those with work of the processes that the level leaves, so that
 * one update puts the level in force, or ends it, and has one group in turn. Requests a new marking
 * if that is another one.
 *
 * Context: DQM lock
 * Return: when to ask again, ktime_get_ns(); KFD_PRIO_NEVER: not before an event
 */
u64 kfd_prio_share_turn(struct device_queue_manager *dqm, const struct kfd_prio_params *k,
			int level, int throttle, u64 now)
{
	struct kfd_prio_dqm *d = &dqm->prio;
	struct kfd_prio_node *n;
	bool changed = false;
	u64 at;

	lockdep_assert_held(&dqm->lock_hidden);
	if (kfd_prio_share_unused(d))
		return KFD_PRIO_NEVER;
	n = kfd_prio_share_lock();
	if (level != d->turns_level || throttle != d->turns_throttle)
		changed = kfd_prio_share_part(dqm, n, level, throttle, now);
	at = kfd_prio_share_next(n, d, k, kfd_prio_share_enabled(dqm, k), now);
	kfd_prio_share_unlock();
	/* The turns of all GPUs may change */
	if (changed)
		kfd_prio_gpu_kick_all();
	return at;
}
