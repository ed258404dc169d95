/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * kfdprio: groups of processes that share a limit of GPU time (kfd_prio_quota.h) or take turns
 * (kfd_prio_turn.h).
 */
#ifndef KFD_PRIO_GROUP_H_INCLUDED
#define KFD_PRIO_GROUP_H_INCLUDED

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/uidgid.h>
#include "kfd_prio_members.h"
#include "kfd_prio_quota.h"
#include "kfd_prio_turn.h"

/* GPUs have numbers below this one, kfd_prio_dqm.slot; others enforce no share */
#define KFD_PRIO_SLOTS	64

struct cgroup;

/**
 * struct kfd_prio_account - a group on one GPU
 * @link: link in kfd_prio_dqm.accounts while @users is not 0
 * @group: the group, to which the account has a reference while @users is not 0
 * @users: number of processes of the group that have queues on the GPU
 * @works: number of these that have work, or may have some, as of the last walk
 * @nested: number of these whose cgroup has a group with a limit as well
 * @turns: number of these that could run if the group were in turn
 * @runs: number of these that are mapped with work
 * @closed: the limit of the group keeps it off the GPU, as of the last decision
 * @spent: the budget of the group is used up, as of the last decision
 * @limited: the group has a limit that is enforced, as of the last decision
 * @unenforced: nothing keeps the group off the GPU, as of the last decision
 * @unrung: a process of the group has had work on the GPU that no ring of a CPU announced, see
 *	kfd_prio_share_observed(); never cleared
 * @running: @runs was not 0 when the group was last charged
 * @throttled: number of processes that are throttled on the GPU
 * @throttled_at: since when @throttled is not 0, ktime_get_ns()
 * @throttled_ns: total time for which @throttled was not 0, ns, without the time since
 *	@throttled_at
 * @throttled_count: how often that began
 * @shared_ns: see struct kfd_prio_share_entry
 *
 * Protected by the DQM lock of the GPU; @running, and @shared_ns and the counts for writing, by
 * kfd_prio_share_lock() as well, under which they are read for all GPUs.
 */
struct kfd_prio_account {
	struct list_head link;
	struct kfd_prio_group *group;
	u32 users;
	u32 works;
	u32 nested;
	u32 turns;
	u32 runs;
	bool closed;
	bool spent;
	bool limited;
	bool unenforced;
	bool unrung;
	bool running;
	u32 throttled;
	u64 throttled_at;
	u64 throttled_ns;
	u64 throttled_count;
	u64 shared_ns;
};

/**
 * struct kfd_prio_group - a group
 * @ref: references: entries of the priority table, KFD processes, accounts with users, callers, and
 *	the binding to a cgroup
 * @id: its number, not used again
 * @owner: effective UID of the caller that made it
 * @cgroup: the cgroup that it is bound to, with a reference; NULL: it is not bound to one;
 *	protected by the mutex of groups
 * @quota: its limit
 * @turn: its weight
 * @running: number of GPUs on which it is mapped with work
 * @rcu: its memory is freed after a grace period
 * @free: link in the list of groups that are to be freed
 * @on: the group on each GPU, by kfd_prio_dqm.slot
 *
 * @quota, @turn and @running are protected by kfd_prio_share_lock().
 */
struct kfd_prio_group {
	struct kref ref;
	u64 id;
	kuid_t owner;
	struct cgroup *cgroup;
	struct kfd_prio_quota quota;
	struct kfd_prio_turn turn;
	u32 running;
	struct rcu_head rcu;
	struct llist_node free;
	struct kfd_prio_account on[KFD_PRIO_SLOTS];
};

/**
 * struct kfd_prio_node - what all groups of the node have in common
 * @groups: the groups, in the order in which they were made
 * @n: number of these
 * @period: the period of their limits
 * @used_at: when it was last counted how much of the limits is used
 * @places_left: the search for better places goes on before this group; 0: it begins with the last
 * @turns: their turns. The first of its groups is @others, the next ones those of @groups
 * @ring: the groups of @turns
 * @others: the processes that are in no group with a weight
 * @scratch: buffer for the search of a place
 * @switch_ns: time of a save and a restore on each GPU, by its slot; 0: not known
 *
 * Protected by kfd_prio_share_lock().
 */
struct kfd_prio_node {
	struct kfd_prio_group *groups[KFD_PRIO_SHARE_ALL_MAX];
	u32 n;
	struct kfd_prio_period period;
	u64 used_at;
	u32 places_left;
	struct kfd_prio_turns turns;
	struct kfd_prio_turn *ring[KFD_PRIO_SHARE_ALL_MAX + 1];
	struct kfd_prio_turn others;
	const struct kfd_prio_quota *scratch[KFD_PRIO_SHARE_ALL_MAX];
	u64 switch_ns[KFD_PRIO_SLOTS];
};

/**
 * struct kfd_prio_group_setting - a requested change of a group
 * @set_max: set @max and @soft
 * @set_weight: set @weight
 * @soft: see KFD_PRIO_SHARE_SOFT
 * @max: 1..KFD_PRIO_MAX_NONE
 * @weight: KFD_PRIO_WEIGHT_NONE..KFD_PRIO_WEIGHT_MAX
 */
struct kfd_prio_group_setting {
	bool set_max;
	bool set_weight;
	bool soft;
	u32 max;
	u32 weight;
};

void kfd_prio_group_lock(void);
void kfd_prio_group_unlock(void);
struct kfd_prio_node *kfd_prio_share_lock(void);
void kfd_prio_share_unlock(void);
bool kfd_prio_group_get(struct kfd_prio_group *g);
void kfd_prio_group_put(struct kfd_prio_group *g);
struct kfd_prio_group *kfd_prio_group_new(bool privileged);
struct kfd_prio_group *kfd_prio_group_find(u64 id);
struct kfd_prio_group *kfd_prio_group_of_cgroup(struct cgroup *cgroup);
struct kfd_prio_group *kfd_prio_group_of_task(struct task_struct *task);
void kfd_prio_group_bind(struct kfd_prio_group *g, struct cgroup *cgroup);
void kfd_prio_group_unbind(struct kfd_prio_group *g);
void kfd_prio_group_sweep(void);
bool kfd_prio_group_owned(const struct kfd_prio_group *g);
bool kfd_prio_group_may_set(const struct kfd_prio_group *g,
			    const struct kfd_prio_group_setting *to);
void kfd_prio_group_set(struct kfd_prio_group *g, const struct kfd_prio_group_setting *to);
void kfd_prio_group_exit(void);

/* kfd_prio_place.c */
u64 kfd_prio_node_switch_ns(const struct kfd_prio_node *n);
u32 kfd_prio_group_place(struct kfd_prio_node *n, const struct kfd_prio_group *g, u32 max);
void kfd_prio_group_periods(struct kfd_prio_node *n, u64 now);

/**
 * kfd_prio_share_nests() - whether a process runs in the place of its cgroup's group
 * @qpd: the process on a GPU
 *
 * Otherwise it runs in the place of the group of its own.
 *
 * Context: DQM lock
 */
static inline bool kfd_prio_share_nests(const struct qcm_process_device *qpd)
{
	const struct kfd_prio_account *outer = qpd->prio.account[KFD_PRIO_GROUP_CGROUP];

	return qpd->prio.account[KFD_PRIO_GROUP_OWN] && outer && outer->limited;
}

#endif /* KFD_PRIO_GROUP_H_INCLUDED */
