// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * kfdprio: the period of the node and the places of its groups, by what the groups use.
 *
 * Once a second the first decision of any GPU counts how much of its limit each group has used, and
 * adapts both. While no process of a group has work nothing is decided, and nothing has to be.
 */
#include "kfd_prio_priv.h"
#include "kfd_prio_group.h"

/**
 * kfd_prio_node_switch_ns() - the longest time that a save and a restore take on a GPU of the node
 * @n: the node
 *
 * Context: kfd_prio_share_lock()
 * Return: ns; 0: not known
 */
u64 kfd_prio_node_switch_ns(const struct kfd_prio_node *n)
{
	u64 most = 0;
	u32 i;

	for (i = 0; i < KFD_PRIO_SLOTS; i++)
		most = max(most, n->switch_ns[i]);
	return most;
}

/* In a second the search for better places looks at so many pairs of groups, or one group's more */
#define KFD_PRIO_GROUP_PAIRS	65536

/* The limits of all groups but one. With @used: of those that work. Share lock */
static u32 kfd_prio_group_others(struct kfd_prio_node *n, const struct kfd_prio_group *g, bool used)
{
	u32 i, nr = 0;

	for (i = 0; i < n->n; i++)
		if (n->groups[i] != g && (!used || n->groups[i]->quota.used))
			n->scratch[nr++] = &n->groups[i]->quota;
	return nr;
}

/**
 * kfd_prio_group_place() - find the begin of the place of a group's limit
 * @n: the node
 * @g: the group
 * @max: its new limit, hundredths of a percent
 *
 * A place that stays or shrinks does not move.
 *
 * Context: kfd_prio_share_lock()
 * Return: hundredths of a percent of the period
 */
u32 kfd_prio_group_place(struct kfd_prio_node *n, const struct kfd_prio_group *g, u32 max)
{
	if (max <= g->quota.max && kfd_prio_quota_limits(&g->quota))
		return g->quota.offset;
	return kfd_prio_quota_place(n->scratch, kfd_prio_group_others(n, g, false), max);
}

/* Moves places, the latest group first, so that those used much are shared less. Share lock */
static void kfd_prio_group_move(struct kfd_prio_node *n, u64 now)
{
	u32 i = n->places_left && n->places_left < n->n ? n->places_left : n->n;
	u32 nr, pairs = 0;

	while (i && pairs < KFD_PRIO_GROUP_PAIRS) {
		struct kfd_prio_quota *q = &n->groups[--i]->quota;

		if (!kfd_prio_quota_limits(q) || !q->used)
			continue;
		nr = kfd_prio_group_others(n, n->groups[i], true);
		kfd_prio_quota_move(q, n->scratch, nr, now);
		pairs += nr * nr;
	}
	n->places_left = i;
}

/*
 * How many limits are used up, of those that an administrator has set: the limits that users have
 * set on processes of their own do not make the period longer for others. Share lock
 */
static u32 kfd_prio_group_used(const struct kfd_prio_node *n)
{
	u32 i, used = 0;

	for (i = 0; i < n->n; i++)
		if (!n->groups[i]->quota.users)
			used += kfd_prio_quota_switches(&n->groups[i]->quota);
	return DIV_ROUND_CLOSEST(used, KFD_PRIO_QUOTA_USED);
}

/**
 * kfd_prio_group_periods() - adapt the period of all limits, and their places, to what the groups
 * use and to the cost of a switch
 * @n: the node
 * @now: ktime_get_ns()
 *
 * Context: kfd_prio_share_lock()
 */
void kfd_prio_group_periods(struct kfd_prio_node *n, u64 now)
{
	u64 switch_ns = kfd_prio_node_switch_ns(n);
	bool counts = now >= n->used_at + KFD_PRIO_QUOTA_USED_NS;
	u32 i;

	for (i = 0; counts && i < n->n; i++) {
		struct kfd_prio_quota *q = &n->groups[i]->quota;

		kfd_prio_quota_count(q, q->runs, now);
		kfd_prio_quota_used(q, now - n->used_at);
	}
	kfd_prio_quota_period(&n->period, kfd_prio_group_used(n), switch_ns, now);
	for (i = 0; i < n->n; i++)
		kfd_prio_quota_stretch(&n->groups[i]->quota, n->period.ns, switch_ns, now);
	if (!counts)
		return;
	n->used_at = now;
	kfd_prio_group_move(n, now);
}
